/* conv_features.c - see conv_features.h. */
#include "codegen_c/kernels/conv_features.h"

#include <stdlib.h>

#define PORTS 2.0       /* products, and loads, in a cycle */
#define CACHE_PART 0.75 /* of a cache that weights may fill; the rest is for data */

static double ratio_up(int64_t a, int64_t b)
{
    return (double)((a + b - 1) / b);
}

static struct features features_of(const struct machine *machine, const struct window *w,
                                   const struct panels *panels, int64_t vectors, int64_t pixels,
                                   int64_t chunk)
{
    const int64_t out_c = panels->n_rows, lanes = machine->lanes;
    const int64_t shared = chunk < out_c ? chunk : out_c;
    const double groups = (double)(w->batch * w->groups), len = (double)panels->len;
    const double places = groups * ratio_up(window_out_len(w), pixels); /* tiles of one column */
    const double chunks = ratio_up(out_c, chunk), columns = ratio_up(out_c, vectors * lanes);
    const double tiles = places * columns, sums = (double)(vectors * pixels);
    const double loads = (double)(vectors + pixels);
    const double all_bytes = (double)out_c * len * sizeof(float);
    const double chunk_bytes = (double)shared * len * sizeof(float);
    const double x_bytes =
        groups * (double)(window_in_len(w) * w->in_c / w->groups) * sizeof(float);
    const double passes = chunks > 1 ? chunks : 1; /* over x */
    struct features f = { .of = { 0 } };

    f.of[FEATURE_CYCLES] = tiles * len * (sums > loads ? sums : loads) / PORTS;
    f.of[FEATURE_TILES] = tiles;
    f.of[FEATURE_POINTERS] = places * chunks * (double)(pixels * window_k_len(w));
    f.of[FEATURE_OUTPUTS] = groups * (double)(window_out_len(w) * out_c);
    f.of[FEATURE_L2_BYTES] =
        (chunk_bytes > CACHE_PART * (double)machine->l1_bytes ? places * all_bytes : all_bytes) +
        passes * x_bytes;
    f.of[FEATURE_L3_BYTES] =
        (chunk_bytes > CACHE_PART * (double)machine->l2_bytes ? places * all_bytes : all_bytes) +
        (x_bytes > CACHE_PART * (double)machine->l2_bytes ? passes * x_bytes : x_bytes);
    return f;
}

void conv_tell_features(struct bind *bind, const struct window *w, const struct panels *panels)
{
    const struct knob_range *knobs = bind->region->knobs;
    const char *tile = knobs[KNOB_TILE].taken, *chunk = knobs[KNOB_CHUNK].taken;
    char *x;

    if (tile && chunk) {
        const int64_t vectors = strtoll(tile, &x, 10), pixels = strtoll(x + 1, NULL, 10);

        bind->region->features =
            features_of(bind->machine, w, panels, vectors, pixels, strtoll(chunk, NULL, 10));
    }
}
