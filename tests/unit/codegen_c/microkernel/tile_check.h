/* tile_check.h - part of the program that test_microkernels builds: naive loops, and calls of register tiles, which
 * must give the same numbers. All numbers are small and whole, so sums are exact in any order and with FMA. */
#include <stdio.h>
#include <string.h>

enum {
    LEN = 11,
    TAPS = 3,
    STRIDE = 64,
    STORE_STEP = 80,
    MOST_MR = 16,
    MOST_TILE = 64,
    MOST_K = TAPS * LEN
};

/* Where a tile's inputs are. */
enum form {
    BY_TAPS,
    BY_OFFSETS,
    BY_STEPS,
    BY_ROWS,
    BY_PARTS,
    PAIRS,
    PAIRS_BY_STEPS,
    PAIRS_BY_ROWS,
    COLUMNS_OF_PIXELS
};

struct arguments {
    const float *const *points; /* [TAPS * MR] */
    const float *x;
    const int *offset; /* [LEN] */
    const float *weights, *ahead, *bias;
    const float *x_pairs, *w_pairs, *scale, *back; /* of Winograd inner products */
    int width, n_pixels;
    float *out;
    float *const *to; /* of pixel vectors: where each goes */
};

struct tile {
    const char *name;
    void (*call)(const struct arguments *a);
    enum form form;
    int mr, tile, adds, stores, scaled, lanes, splat;
};

static float numbers[8 * STRIDE * MOST_MR], bias[MOST_TILE];
static float weights[MOST_K * MOST_TILE * 2],
    splat[MOST_K * MOST_TILE * 2]; /* splat: each several times */
static float out[STORE_STEP * MOST_MR + MOST_TILE], wanted[STORE_STEP * MOST_MR + MOST_TILE];

static void fill(float *to, int n, unsigned seed)
{
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        to[i] = (float)((int)(seed >> 28) - 7);
    }
}

static float input(const struct tile *tile, const struct arguments *a, int j, int k)
{
    switch (tile->form) {
    case BY_TAPS: return a->points[k / LEN * tile->mr + j][k % LEN];
    case BY_OFFSETS: return a->points[j][a->offset[k]];
    case BY_STEPS: return a->x[a->offset[k] + j * STRIDE];
    case BY_ROWS: return a->x[j * STRIDE + k];
    case PAIRS_BY_STEPS:
    case PAIRS_BY_ROWS: return a->x[j * STRIDE + k];
    case BY_PARTS:
    case COLUMNS_OF_PIXELS:
    case PAIRS: break;
    }
    return a->points[j][k];
}

/* The same by naive loops; what is not to be written keeps its number. */
static void expect(const struct tile *tile, const struct arguments *a)
{
    const int n = tile->form == BY_TAPS ? TAPS * LEN : LEN;
    const int rows = tile->stores ? a->n_pixels : tile->mr,
              step = tile->stores ? STORE_STEP : tile->tile;

    for (int j = 0; j < rows; j++)
        for (int i = 0; i < tile->tile; i++) {
            float sum = tile->adds ? wanted[j * step + i] : 0;

            for (int k = 0; k < n; k++)
                sum += input(tile, a, j, k) * a->weights[k * a->width + i];
            if (tile->scaled)
                sum *= a->scale[i] * *a->back;
            if (tile->stores)
                sum = sum + a->bias[i] < 0 ? 0 : sum + a->bias[i];
            wanted[j * step + i] = sum;
        }
}

/* Pixel vectors: tile->mr channels c by so many pixels, a pixel a lane; weights are each stored tile->splat times. */
static void expect_columns(const struct tile *tile, const struct arguments *a)
{
    const int lanes = tile->lanes;

    for (int c = 0; c < tile->mr; c++)
        for (int i = 0; i < tile->tile; i++) {
            float sum = 0;

            for (int k = 0; k < LEN; k++)
                sum += a->points[i / lanes][a->offset[k] + i % lanes] *
                       a->weights[(k * a->width + c) * tile->splat];
            if (tile->stores)
                sum = sum < 0 ? 0 : sum;
            wanted[a->to[i / lanes] - a->out + c * STORE_STEP + i % lanes] = sum;
        }
}

/* x0 * x1 - x2 * x3 + ... of pixel j, and of channel i. */
static void find_pairs(const struct tile *tile, const struct arguments *a, float *x_pairs,
                       float *w_pairs)
{
    const int paired = LEN / 3 * 2;

    for (int j = 0; j < tile->mr; j++)
        x_pairs[j] = 0;
    for (int i = 0; i < MOST_TILE; i++)
        w_pairs[i] = 0;
    for (int k = 0; k < paired; k += 2) {
        const float sign = k % 4 ? -1 : 1;

        for (int j = 0; j < tile->mr; j++)
            x_pairs[j] += sign * input(tile, a, j, k) * input(tile, a, j, k + 1);
        for (int i = 0; i < tile->tile; i++)
            w_pairs[i] += sign * a->weights[k * a->width + i] * a->weights[(k + 1) * a->width + i];
    }
}

static int check(const struct tile *tile)
{
    static const float back = 0.5f;
    float x_pairs[MOST_MR], w_pairs[MOST_TILE], scale[MOST_TILE];
    static const int offset[LEN] = { 3, 0, 1, 9, 8, 30, 2 };
    const float *points[TAPS * MOST_MR];
    struct arguments a = { points,  numbers, offset, weights,        weights, bias, x_pairs,
                           w_pairs, scale,   &back,  tile->tile + 4, 0,       out,  NULL };
    const int all = tile->form >= PAIRS; /* pixels of pairs, and columns, are all stored */
    float *to[MOST_TILE];

    for (int i = 0; i < TAPS * MOST_MR; i++)
        points[i] = &numbers[(i * 37) % (7 * STRIDE)];
    for (int i = 0; i < MOST_TILE; i++)
        scale[i] = (float)(2 << i % 3);
    for (int v = 0; v < tile->tile / tile->lanes; v++)
        to[v] = &out[v * tile->lanes];
    a.to = to;
    for (int i = 0; i < (int)(sizeof splat / sizeof *splat); i++)
        splat[i] = weights[i / tile->splat];
    a.weights = splat;
    if (tile->form == COLUMNS_OF_PIXELS)
        a.width = tile->mr + 1;
    else if (all)
        find_pairs(tile, &a, x_pairs, w_pairs);
    for (a.n_pixels = tile->stores && !all ? 1 : tile->mr; a.n_pixels <= tile->mr; a.n_pixels++) {
        fill(out, (int)(sizeof out / sizeof *out), 3);
        memcpy(wanted, out, sizeof out);
        if (tile->form == COLUMNS_OF_PIXELS)
            expect_columns(tile, &a);
        else
            expect(tile, &a);
        tile->call(&a);
        for (size_t i = 0; i < sizeof out / sizeof *out; i++)
            if (out[i] != wanted[i]) {
                printf("%s, %d pixels: [%d] is %g, not %g\n", tile->name, a.n_pixels, (int)i,
                       (double)out[i], (double)wanted[i]);
                return 1;
            }
    }
    return 0;
}

static int check_all(const struct tile *tiles, int n)
{
    int failed = 0;

    fill(numbers, (int)(sizeof numbers / sizeof *numbers), 1);
    fill(weights, (int)(sizeof weights / sizeof *weights), 2);
    fill(bias, MOST_TILE, 4);
    for (int i = 0; i < n; i++)
        failed |= check(&tiles[i]);
    return failed;
}
