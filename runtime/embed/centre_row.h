#include <stdint.h>

/* Subtracts block zero points from values first .. first + n - 1 of a row with blocks of `len`. */
static void centre_row(const int8_t *zero, int len, int first, int n, float *code)
{
    for (int i = 0; i < n; i++)
        code[i] -= (float)zero[(first + i) / len];
}
