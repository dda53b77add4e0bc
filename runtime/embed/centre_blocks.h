#include <stdint.h>

/* Subtracts block zero points from values [n, 4]: zero[k * k_step + j * j_step] from value (k, j). */
static void centre_blocks(const int8_t *zero, int k_step, int j_step, int n, float *code)
{
    for (int k = 0; k < n; k++)
        for (int j = 0; j < 4; j++)
            code[k * 4 + j] -= (float)zero[k * k_step + j * j_step];
}
