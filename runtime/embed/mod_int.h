/* The remainder, with the sign of the dividend; 0 if b is 0. */
static int64_t mod_int(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}
