#include <stdint.h>

/* Subtracts from codes first .. first + n - 1 of a row the zero point that their block of `len`
 * shares. */
static void centre_row(const int8_t *zero, int len, int first, int n, float *code)
{
    for (int i = 0; i < n; i++)
        code[i] -= (float)zero[(first + i) / len];
}
