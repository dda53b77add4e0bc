#include "relay_ir/validate/code_grid.h"

#include <math.h>
#include <stdlib.h>

#include "base/minifloat.h"

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Zero is one number, whatever its sign. */
static void list_minifloat(const struct minifloat *format, struct code_grid *out)
{
    for (unsigned code = 0; code < 1u << minifloat_bits(format); code++) {
        const double number = (double)minifloat_decode(format, code);

        if (isfinite(number) && !(number == 0 && signbit(number)))
            out->at[out->n++] = number;
    }
    qsort(out->at, (size_t)out->n, sizeof *out->at, compare);
    out->most = out->n ? out->at[out->n - 1] : 0;
}

static void list_integers(int most, struct code_grid *out)
{
    for (int i = -most; i <= most; i++)
        out->at[out->n++] = i;
    out->most = most;
}

bool code_grid_of(const struct type *quantized, struct code_grid *out)
{
    const struct minifloat *format = type_minifloat(quantized);

    *out = (struct code_grid){ .n = 0 };
    switch (quantized->dtype) {
    case DTYPE_I4: list_integers(7, out); return true;
    case DTYPE_I8: list_integers(127, out); return true;
    case DTYPE_I16: *out = (struct code_grid){ .most = 32767, .half_step = 0.5 }; return true;
    case DTYPE_F16:
        *out = (struct code_grid){ .most = 65504, .relative = 0x1p-11, .half_step = 0x1p-25 };
        return true;
    case DTYPE_BF16:
        *out = (struct code_grid){ .most = 3.39e38, .relative = 0x1p-8, .half_step = 0x1p-134 };
        return true;
    default:
        if (!format || minifloat_bits(format) > 8)
            return false;
        list_minifloat(format, out);
        return true;
    }
}

int code_grid_index(const struct code_grid *grid, double x)
{
    int low = 0, high = grid->n - 1;

    while (high - low > 1) {
        const int middle = (low + high) / 2;

        if (grid->at[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return fabs(x - grid->at[low]) <= fabs(grid->at[high] - x) ? low : high;
}

double code_grid_distance(const struct code_grid *grid, double x)
{
    if (grid->n)
        return fabs(x - grid->at[code_grid_index(grid, x)]);
    if (fabs(x) > grid->most)
        return fabs(x) - grid->most + grid->half_step;
    return fmax(grid->half_step, grid->relative * fabs(x));
}

double code_grid_step(const struct code_grid *grid, int i)
{
    const double below = i > 0 ? grid->at[i] - grid->at[i - 1] : 0;
    const double above = i + 1 < grid->n ? grid->at[i + 1] - grid->at[i] : 0;

    return fmax(below, above);
}
