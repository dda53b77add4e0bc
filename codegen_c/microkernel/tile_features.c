/* tile_features.c - see tile_features.h. */
#include "codegen_c/microkernel/tile_features.h"

#include <stdlib.h>

#include "codegen_c/microkernel/tile_time.h"

/* Few channels use vectors that are no longer than they need. */
static int lanes_of(const struct machine *machine, int vectors, int64_t columns)
{
    struct tile_shape shape = tile_shape_of_machine(machine);

    return vectors == 1 ? tile_narrowed(shape, columns).lanes : shape.lanes;
}

static struct features features_of(const struct machine *machine, const struct tiled *t,
                                   int vectors, int pixels)
{
    const struct tile_shape shape = { .lanes = lanes_of(machine, vectors, t->columns),
                                      .vectors = vectors,
                                      .pixels = pixels };
    const struct tile_product row = { t->row_len, t->columns, t->len };
    const struct tile_counts counts = tile_counts_of(&shape, &row);
    const double n = (double)(t->groups * t->rows);

    return (struct features){
        .of = { [FEATURE_LANES] = shape.lanes,
                [FEATURE_VECTORS] = vectors,
                [FEATURE_PIXELS] = pixels,
                [FEATURE_LENGTH] = (double)t->len,
                [FEATURE_TILES] = n * counts.whole,
                [FEATURE_HALVES] = n * counts.halves,
                [FEATURE_OUTPUTS] = n * (double)(t->row_len * t->columns) },
    };
}

/* Whether the tile has vectors of two lengths: its lanes then say little. */
static bool is_mixed(const struct machine *machine, const struct tiled *t, int vectors)
{
    const struct tile_shape mixed = tile_three_quarters(tile_shape_of_machine(machine));

    return !t->alike && tile_is_three_quarters(machine, t->columns) && mixed.short_end &&
           vectors == mixed.vectors;
}

struct tiled tiled_conv(const struct window *w, bool by_row)
{
    const int64_t row_len = by_row ? w->out[2] : window_out_len(w);

    return (struct tiled){ .groups = w->batch * w->groups,
                           .rows = window_out_len(w) / row_len,
                           .row_len = row_len,
                           .columns = w->out_c / w->groups,
                           .len = window_k_len(w) * w->in_c / w->groups };
}

void tile_tell_features(struct bind *bind, const struct tiled *tiled)
{
    const char *tile = bind->region->config.knobs[KNOB_TILE].taken;
    char *x;

    if (tile) { /* otherwise compiler macros choose */
        const int vectors = (int)strtol(tile, &x, 10), pixels = (int)strtol(x + 1, NULL, 10);

        if (!is_mixed(bind->machine, tiled, vectors))
            bind->region->config.features = features_of(bind->machine, tiled, vectors, pixels);
    }
}
