#include "runtime/embed/transpose_4x4_f32.h"
#include "runtime/embed/transpose_8x8_f32.h"

/* y[j * y_step + i] = x[i * x_step + j] for i < rows, j < columns; in blocks of 8 x 8 if vectors are that long,
 * else 4 x 4. */
static void transpose_f32(const float *restrict x, int x_step, float *restrict y, int y_step, int rows,
                          int columns)
{
    const int whole_rows = rows - rows % 4, whole_columns = columns - columns % 4;
#ifdef TRANSPOSES_EIGHTS
    const int eight_rows = rows - rows % 8, eight_columns = columns - columns % 8;
    const int strip = rows > 256 ? 16 : 8; /* the L1 cannot keep a cache line for each of more rows */

    for (int left = 0; left < eight_columns; left += strip)
        for (int i = 0; i < eight_rows; i += 8)
            for (int j = left; j < left + strip && j < eight_columns; j += 8)
                transpose_8x8_f32(&x[i * x_step + j], x_step, &y[j * y_step + i], y_step);
#else
    const int eight_rows = 0, eight_columns = 0;
#endif

    for (int j = 0; j < whole_columns; j += 4)
        for (int i = j < eight_columns ? eight_rows : 0; i < whole_rows; i += 4)
            transpose_4x4_f32(&x[i * x_step + j], x_step, &y[j * y_step + i], y_step);
    for (int j = 0; j < columns; j++)
        for (int i = j < whole_columns ? whole_rows : 0; i < rows; i++)
            y[j * y_step + i] = x[i * x_step + j];
}
