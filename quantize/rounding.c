#include "quantize/rounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "quantize/workers.h"
#include "relay_ir/validate/validate.h"

static const double damping =
    0.01; /* of the mean of H's diagonal, added to it; as GPTQ's authors */

/* --- grids ------------------------------------------------------------------------------------ */

struct code {
    double number;
    uint8_t byte;
};

static int compare_quantized(const void *a, const void *b)
{
    const struct code *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->byte < y->byte ? -1 : x->byte > y->byte; /* of the zeros, the positive one first */
}

/* Every code of the format, in no order. */
static int list_quantized(const struct type *quantized, struct code *list)
{
    const bool integer = quantized->dtype == DTYPE_I8 || quantized->dtype == DTYPE_I4;
    const int most = quantized->dtype == DTYPE_I4 ? 7 : 127;
    struct type type = type_make(quantized->dtype, 1, (int64_t[]){ 256 });
    uint8_t bytes[256];
    const struct tensor all = { type, bytes };
    const int n_quantized = integer ? 256 : 1 << type_packed_bits(quantized);
    int n = 0;

    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    for (int i = 0; i < n_quantized; i++) {
        const double number = integer ? (double)(int8_t)bytes[i]
                              : quantized->dtype == DTYPE_AFP
                                  ? (double)minifloat_decode(type_minifloat(quantized), bytes[i])
                                  : tensor_at(&all, i);

        if (isfinite(number) && !(integer && fabs(number) > most))
            list[n++] = (struct code){ number, bytes[i] };
    }
    return n;
}

struct grid grid_of(const struct type *quantized)
{
    struct grid grid = { .n = 0 };
    struct code list[256];
    const int n = list_quantized(quantized, list);

    qsort(list, (size_t)n, sizeof *list, compare_quantized);
    for (int i = 0; i < n; i++) {
        if (grid.n && grid.at[grid.n - 1] == list[i].number)
            continue;
        grid.at[grid.n] = list[i].number;
        grid.code[grid.n++] = list[i].byte;
    }
    return grid;
}

int grid_nearest(const struct grid *grid, double x)
{
    int low = 0, high = grid->n - 1;

    while (high - low > 1) {
        const int middle = (low + high) / 2;

        if (grid->at[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return x - grid->at[low] <= grid->at[high] - x ? low : high;
}

/* To the neighbour that is farther away. */
static double grid_step(const struct grid *grid, int index)
{
    const double below = index > 0 ? grid->at[index] - grid->at[index - 1] : 0;
    const double above = index + 1 < grid->n ? grid->at[index + 1] - grid->at[index] : 0;

    return fmax(below, above);
}

/* --- the factor of H -------------------------------------------------------------------------- */

struct factor {
    int64_t *order; /* [k]: of the weights; the last one is rounded first */
    double *l;      /* [k, k], lower: H, damped and in this order, is L times L transposed */
};

struct energy {
    float number;
    int64_t index;
};

static int compare_energies(const void *a, const void *b)
{
    const struct energy *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->index > y->index ? -1 : x->index < y->index;
}

/* Four sums, as a processor adds several at once, in an order that is fixed here. */
static double dot(const double *a, const double *b, int64_t n)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int64_t i = 0;

    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++)
        s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

/* Cholesky's factor, row by row. Of our own: LAPACK would be a library that every relayc needs to
 * run, for thirty lines that take seconds at most. */
static bool factorise(double *l, int64_t k)
{
    for (int64_t i = 0; i < k; i++) {
        double *row = l + i * k, rest;

        for (int64_t j = 0; j < i; j++)
            row[j] = (row[j] - dot(row, l + j * k, j)) / l[j * k + j];
        rest = row[i] - dot(row, row, i);
        if (!(rest > 0) || !isfinite(rest))
            return false;
        row[i] = sqrt(rest);
    }
    return true;
}

static bool factor_of(const struct rows *rows, struct arena *arena, struct factor *out)
{
    const int64_t k = rows->k;
    struct energy *energies = arena_array(arena, struct energy, k);
    double mean = 0;

    out->order = arena_array(arena, int64_t, k);
    out->l = arena_array(arena, double, k *k);
    for (int64_t i = 0; i < k; i++) {
        energies[i] = (struct energy){ rows->h[i * k + i], i };
        mean += (double)rows->h[i * k + i] / (double)k;
    }
    if (!(mean > 0) || !isfinite(mean))
        return false;
    qsort(energies, (size_t)k, sizeof *energies, compare_energies);
    for (int64_t i = 0; i < k; i++)
        out->order[i] = energies[i].index;
    for (int64_t i = 0; i < k; i++) {
        for (int64_t j = 0; j <= i; j++)
            out->l[i * k + j] = (double)rows->h[out->order[i] * k + out->order[j]];
        out->l[i * k + i] += damping * mean;
    }
    return factorise(out->l, k);
}

/* --- one row ---------------------------------------------------------------------------------- */

struct room {
    double *error;    /* [k]: weight - what stands for it */
    double *gradient; /* [k]: H times error; gptq: what is still to be made up for */
    uint8_t *index;   /* [k] */
    uint8_t *other;   /* [k]: adaround: the number on the other side of the weight */
};

static double number_of(const struct rows *rows, const struct grid *grid, int64_t at, int index)
{
    return (double)rows->scales[at] * grid->at[index];
}

/* error H error; leaves H error in the room. */
static double quadratic(const struct rows *rows, const struct room *room)
{
    double sum = 0;

    for (int64_t i = 0; i < rows->k; i++) {
        const float *h = rows->h + i * rows->k;
        double s = 0;

        for (int64_t j = 0; j < rows->k; j++)
            s += (double)h[j] * room->error[j];
        room->gradient[i] = s;
        sum += s * room->error[i];
    }
    return sum;
}

static double error_of(const struct rows *rows, const struct grid *grid, int64_t row,
                       const struct room *room)
{
    for (int64_t i = 0; i < rows->k; i++) {
        const int64_t at = row * rows->k + i;

        room->error[i] = (double)rows->w[at] - number_of(rows, grid, at, room->index[i]);
    }
    return quadratic(rows, room);
}

/* With R = L transposed, the error is |R e|^2; from the last weight on, e_i is chosen so that
 * element i of R e is as near to 0 as the grid allows. */
static void round_gptq(const struct rows *rows, const struct grid *grid,
                       const struct factor *factor, int64_t row, const struct room *room)
{
    memset(room->gradient, 0, (size_t)rows->k * sizeof *room->gradient);
    for (int64_t i = rows->k - 1; i >= 0; i--) {
        const double *l = factor->l + i * rows->k;
        const int64_t place = factor->order[i], at = row * rows->k + place;
        const double wanted = (double)rows->w[at] + room->gradient[i] / l[i];
        const int index = grid_nearest(grid, wanted / (double)rows->scales[at]);
        const double error = (double)rows->w[at] - number_of(rows, grid, at, index);

        room->index[place] = (uint8_t)index;
        for (int64_t j = 0; j < i; j++)
            room->gradient[j] += l[j] * error;
    }
}

/* The weight lies between its nearest number and this one; where it lies on it, or beyond the last,
 * there is no other. */
static uint8_t other_side(const struct grid *grid, double error, double scale, uint8_t index)
{
    const bool above = scale > 0 ? error > 0 : error < 0;

    if (error == 0 || (above ? index + 1 == grid->n : index == 0))
        return index;
    return (uint8_t)(above ? index + 1 : index - 1);
}

/* From the nearest numbers, whose error and gradient are in the room. */
static void round_adaround(const struct rows *rows, const struct grid *grid, int64_t row,
                           const struct room *room)
{
    const int64_t k = rows->k;

    for (int64_t i = 0; i < k; i++)
        room->other[i] =
            other_side(grid, room->error[i], (double)rows->scales[row * k + i], room->index[i]);
    for (int64_t flips = 0; flips < 4 * k; flips++) {
        double most = 0, step = 0;
        int64_t best = -1;

        for (int64_t i = 0; i < k; i++) {
            const int64_t at = row * k + i;
            const double d =
                (double)rows->scales[at] * (grid->at[room->other[i]] - grid->at[room->index[i]]);
            const double gain = 2 * d * room->gradient[i] - d * d * (double)rows->h[i * k + i];

            if (gain > most) {
                most = gain;
                best = i;
                step = d;
            }
        }
        if (best < 0)
            break;
        for (int64_t j = 0; j < k; j++) /* H is symmetric: a column is a row */
            room->gradient[j] -= step * (double)rows->h[best * k + j];
        {
            const uint8_t was = room->index[best];

            room->index[best] = room->other[best];
            room->other[best] = was;
        }
    }
}

/* --- all rows --------------------------------------------------------------------------------- */

/* Where weights saturate, the plane that is nearest may be far off: such rows stay as they are. */
static bool is_near(const struct rows *rows, const struct grid *grid, int64_t row,
                    const uint8_t *was, const uint8_t *now)
{
    double moved = 0, step = 0;

    for (int64_t i = 0; i < rows->k; i++) {
        const int64_t at = row * rows->k + i;
        const double scale = (double)rows->scales[at];

        moved += pow(scale * (grid->at[now[i]] - grid->at[was[i]]), 2);
        step = fmax(step, fabs(scale) * fmax(grid_step(grid, was[i]), grid_step(grid, now[i])));
    }
    return moved <= pow(NEAR_STEPS * step, 2) * (double)rows->k;
}

struct worker {
    struct rows *rows;
    const struct grid *grid;
    const struct factor *factor;
    struct room room;
    int index, n_workers;
    double *before, *after; /* [n]: of each row; shared */
};

static void work(void *user)
{
    struct worker *worker = user;
    struct rows *rows = worker->rows;
    const struct room *room = &worker->room;

    for (int64_t row = worker->index; row < rows->n; row += worker->n_workers) {
        uint8_t *index = rows->index + row * rows->k;

        memcpy(room->index, index, (size_t)rows->k);
        worker->before[row] = worker->after[row] = error_of(rows, worker->grid, row, room);
        if (rows->method == ROUND_GPTQ)
            round_gptq(rows, worker->grid, worker->factor, row, room);
        else
            round_adaround(rows, worker->grid, row, room);
        worker->after[row] = error_of(rows, worker->grid, row, room);
        if (worker->after[row] < worker->before[row] &&
            is_near(rows, worker->grid, row, index, room->index))
            memcpy(index, room->index, (size_t)rows->k);
        else
            worker->after[row] = worker->before[row];
    }
}

bool rows_round(struct ctx *ctx, const struct grid *grid, struct rows *rows)
{
    const int64_t most = rows->n_threads > 0 ? rows->n_threads : 1;
    const int n = (int)(rows->n < most ? rows->n : most);
    struct arena arena = { NULL };
    struct worker *workers = arena_array(&arena, struct worker, n);
    double *before = arena_array(&arena, double, rows->n);
    double *after = arena_array(&arena, double, rows->n);
    struct factor factor = { .l = NULL };
    bool ok = rows->method != ROUND_GPTQ || factor_of(rows, &arena, &factor);

    for (int i = 0; ok && i < n; i++)
        workers[i] = (struct worker){ .rows = rows,
                                      .grid = grid,
                                      .factor = &factor,
                                      .room = { arena_array(&arena, double, rows->k),
                                                arena_array(&arena, double, rows->k),
                                                arena_array(&arena, uint8_t, rows->k),
                                                arena_array(&arena, uint8_t, rows->k) },
                                      .index = i,
                                      .n_workers = n,
                                      .before = before,
                                      .after = after };
    ok = ok && workers_run(ctx, workers, sizeof *workers, n, work);
    rows->before = rows->after = 0;
    rows->n_changed = 0;
    for (int64_t i = 0; ok && i < rows->n; i++) {
        rows->before += before[i];
        rows->after += after[i];
        rows->n_changed += after[i] < before[i];
    }
    arena_release(&arena);
    return ok;
}
