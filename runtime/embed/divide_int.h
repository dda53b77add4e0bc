/* a / b, truncated; 0 if b is 0; the one quotient that overflows wraps. */
static int64_t divide_int(int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
