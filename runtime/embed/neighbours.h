/* The two of `len` elements around a coordinate, and the weight of the second. Returns 0 if the coordinate is
 * more than one element outside, or NaN. */
static int neighbours(double place, int len, int at[2], double *second)
{
    if (!(place >= -1 && place <= len))
        return 0;
    place = place < 0 ? 0 : place;
    at[0] = (int)place;
    at[1] = at[0] + 1;
    *second = place - at[0];
    if (at[0] >= len - 1) {
        at[0] = at[1] = len - 1;
        *second = 0;
    }
    return 1;
}
