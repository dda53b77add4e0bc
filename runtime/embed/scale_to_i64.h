#include <stdint.h>

/* x * multiplier * 2^shift, rounded to nearest, ties to even, saturated at a magnitude of 2^62. shift -127 .. 31.
 * The product has 95 bits: high * 2^32 + low. */
static int64_t scale_to_i64(int64_t x, int32_t multiplier, int shift)
{
    const uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    const uint64_t bottom = (uint64_t)(uint32_t)magnitude * (uint32_t)multiplier;
    const uint64_t high = (magnitude >> 32) * (uint32_t)multiplier + (bottom >> 32), low = (uint32_t)bottom;
    const uint64_t most = (uint64_t)1 << 62, half = (uint64_t)1 << 63;
    uint64_t whole = most, rest = 0; /* rest / 2^64 is the fraction */

    if (shift >= 0) {
        if (high >> 30 == 0 && (high << 32 | low) <= most >> shift)
            whole = (high << 32 | low) << shift;
    } else if (shift > -32) {
        if (high >> (30 - shift) == 0)
            whole = high << (32 + shift) | low >> -shift;
        rest = low << (64 + shift);
    } else if (shift == -32) {
        whole = high;
        rest = low << 32;
    } else if (shift > -95) {
        whole = high >> (-32 - shift);
        rest = high << (96 + shift) | (low != 0);
    } else {
        whole = 0;
    }
    whole += rest > half || (rest == half && whole % 2 == 1);
    whole = whole > most ? most : whole;
    return x < 0 ? -(int64_t)whole : (int64_t)whole;
}
