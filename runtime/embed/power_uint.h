/* base^exponent modulo 2^64. */
static uint64_t power_uint(uint64_t base, uint64_t exponent)
{
    uint64_t power = 1;

    for (; exponent != 0; exponent >>= 1) {
        if ((exponent & 1) != 0)
            power *= base;
        base *= base;
    }
    return power;
}
