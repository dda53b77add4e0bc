/* v, of a type of n bits, shifted right towards minus infinity; counts outside of 0 .. n - 1 shift everything
 * out. Shifting negative numbers right is implementation-defined, hence the complement. */
static int64_t right_shift_int(int64_t v, int64_t count, int n)
{
    const int steps = count < 0 || count >= n ? n - 1 : (int)count;

    return v < 0 ? ~(~v >> steps) : v >> steps;
}
