/* tile_features.c - see tile_features.h. */
#include "codegen_c/kernels/tile_features.h"

#include <stdlib.h>

#define CACHE_PART 0.75 /* of a cache that weights may fill; the rest is for data */
#define CHAINS 8        /* sums that hide how long it takes to add to one */

static double ratio_up(int64_t a, int64_t b)
{
    return (double)((a + b - 1) / b);
}

/* Of the vectors of a tile those that the last columns need: half, where that is enough. */
static int64_t last_vectors(int64_t columns, int64_t vectors, int64_t lanes)
{
    const int64_t rest = columns % (vectors * lanes);

    return rest == 0 ? 0 : vectors > 1 && rest <= vectors * lanes / 2 ? vectors / 2 : vectors;
}

/* Adds so many tiles. */
static void add_tiles(struct features *f, double tiles, int64_t len, int64_t vectors,
                      int64_t pixels)
{
    const int64_t sums = vectors * pixels;
    const double steps = tiles * (double)len;

    f->of[FEATURE_PRODUCTS] += steps * (double)sums;
    f->of[FEATURE_WAITS] += steps * (double)(sums < CHAINS ? CHAINS - sums : 0);
    f->of[FEATURE_LOADS] += steps * (double)vectors;
    f->of[FEATURE_STEPS] += steps;
    f->of[FEATURE_TILES] += tiles;
}

static struct features features_of(const struct machine *machine, const struct tiled *t,
                                   int64_t vectors, int64_t pixels, int64_t chunk)
{
    const int64_t last = last_vectors(t->columns, vectors, machine->lanes);
    const int64_t full = t->columns / (vectors * machine->lanes);
    const double places = (double)(t->groups * t->rows) * ratio_up(t->row_len, pixels);
    const double chunks = ratio_up(t->columns, chunk);
    const double number = (double)sizeof(float), groups = (double)t->groups;
    const double column = (double)t->len * number; /* bytes */
    const double weights = groups * (double)t->columns * column;
    const double chunk_bytes = (double)(chunk < t->columns ? chunk : t->columns) * column;
    const double x = (double)t->x_bytes;
    /* Every tile of places reads the weights of a chunk, and every chunk all of x. */
    const double rereads = places / groups * weights;
    const double l1 = CACHE_PART * (double)machine->l1_bytes;
    const double l2 = CACHE_PART * (double)machine->l2_bytes;
    struct features f = { .of = { 0 } };

    add_tiles(&f, places * (double)full, t->len, vectors, pixels);
    if (last > 0)
        add_tiles(&f, places, t->len, last, pixels);
    f.of[FEATURE_POINTERS] = places * (double)pixels * chunks * (double)t->pointers;
    f.of[FEATURE_OUTPUTS] = (double)(t->groups * t->rows * t->row_len * t->columns);
    f.of[FEATURE_L2_BYTES] = (chunk_bytes > l1 ? rereads : weights) + chunks * x;
    f.of[FEATURE_L3_BYTES] = (chunk_bytes > l2 ? rereads : weights) + (x > l2 ? chunks * x : x);
    return f;
}

struct tiled tiled_conv(const struct window *w, bool by_row)
{
    const int64_t row_len = by_row ? w->out[2] : window_out_len(w);

    return (struct tiled){ .groups = w->batch * w->groups,
                           .rows = window_out_len(w) / row_len,
                           .row_len = row_len,
                           .columns = w->out_c / w->groups,
                           .len = window_k_len(w) * w->in_c / w->groups,
                           .pointers = window_k_len(w),
                           .x_bytes =
                               w->batch * window_in_len(w) * w->in_c * (int64_t)sizeof(float) };
}

void tile_tell_features(struct bind *bind, const struct tiled *tiled)
{
    const struct knob_range *knobs = bind->region->knobs;
    const char *tile = knobs[KNOB_TILE].taken, *chunk = knobs[KNOB_CHUNK].taken;
    char *x;

    if (tile) { /* else it is the compiler of the C that chooses */
        const int64_t vectors = strtoll(tile, &x, 10), pixels = strtoll(x + 1, NULL, 10);

        bind->region->features = features_of(bind->machine, tiled, vectors, pixels,
                                             chunk ? strtoll(chunk, NULL, 10) : tiled->columns);
    }
}
