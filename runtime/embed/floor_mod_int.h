/* The remainder, with the sign of the divisor; 0 if b is 0. */
static int64_t floor_mod_int(int64_t a, int64_t b)
{
    const int64_t rest = b == 0 || b == -1 ? 0 : a % b;

    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
