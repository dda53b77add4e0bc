/* The length that two spans share, whose ends are in either order; below 0: the gap between them. */
static float overlap_of_spans(float a, float a_end, float b, float b_end)
{
    const float a_least = a < a_end ? a : a_end, b_least = b < b_end ? b : b_end;
    const float a_most = a < a_end ? a_end : a, b_most = b < b_end ? b_end : b;

    return (a_most < b_most ? a_most : b_most) - (a_least > b_least ? a_least : b_least);
}
