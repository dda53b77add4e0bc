#ifndef EMBED_UNPACK_F32_H
#define EMBED_UNPACK_F32_H

/* Copies floats first .. first + n - 1 of an array. */
static void unpack_f32(const float *restrict array, int first, int n, float *restrict numbers)
{
    for (int i = 0; i < n; i++)
        numbers[i] = array[first + i];
}

#endif
