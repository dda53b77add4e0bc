/* tile_time.c - see tile_time.h. */
#include "codegen_c/microkernel/tile_time.h"

#include <stdlib.h>
#include <string.h>

/* Percent of the default tile's time: another tile is more code. */
#define NOTICEABLE 0.98

static const struct tile_times {
    const char *machine;
    bool whole; /* vectors have the CPU's length; else shorter, for few channels */
    int vectors, pixels;
    double step, begin; /* picoseconds: per element of a sum, and per tile */
} times[] = {
#define TILE_TIME(machine, whole, vectors, pixels, step, begin)                                    \
    { machine, whole, vectors, pixels, step, begin },
#include "codegen_c/machine/tile_times.def"
};

static const struct {
    const char *machine, *rows;
} alike[] = {
#define TILE_TIMES_OF(machine, rows) { machine, rows },
#include "codegen_c/machine/tile_times.def"
};

enum { N_TIMES = sizeof times / sizeof *times, FEWEST_SUMS = 8 };

static const char *rows_of(const struct machine *machine)
{
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (strcmp(alike[i].machine, machine->name) == 0)
            return alike[i].rows;
    return machine->name;
}

/* Whether the row is for vectors like the shape's. */
static bool is_like(const struct tile_times *row, const struct machine *machine,
                    const struct tile_shape *shape)
{
    return row->whole == (shape->lanes == machine->lanes) &&
           strcmp(row->machine, rows_of(machine)) == 0;
}

static const struct tile_times *times_of(const struct machine *machine,
                                         const struct tile_shape *shape, int vectors)
{
    for (size_t i = 0; i < N_TIMES; i++)
        if (times[i].vectors == vectors && times[i].pixels == shape->pixels &&
            is_like(&times[i], machine, shape))
            return &times[i];
    return NULL;
}

struct tile_counts tile_counts_of(const struct tile_shape *shape, const struct tile_product *p)
{
    const int64_t tile = (int64_t)shape->vectors * shape->lanes, rest = p->columns % tile;
    const bool half = shape->vectors > 1 && rest > 0 && rest <= tile / 2;
    const double places = (double)((p->rows + shape->pixels - 1) / shape->pixels);

    return (struct tile_counts){
        .whole = places * (double)(p->columns / tile + (rest > 0 && !half)),
        .halves = half ? places : 0,
    };
}

double tile_time(const struct machine *machine, const struct tile_shape *shape,
                 const struct tile_product *p)
{
    const struct tile_counts n = tile_counts_of(shape, p);
    const struct tile_times *whole = times_of(machine, shape, shape->vectors);
    const struct tile_times *half = times_of(machine, shape, shape->vectors / 2);
    const double len = (double)p->len;

    if (shape->short_end || (n.whole > 0 && !whole) || (n.halves > 0 && !half))
        return -1;
    return (n.whole > 0 ? n.whole * (len * whole->step + whole->begin) : 0) +
           (n.halves > 0 ? n.halves * (len * half->step + half->begin) : 0);
}

/* Whether half tiles have too few sums to hide the latency of an addition: too few trials tell
 * their time. */
static bool waits(const struct tile_shape *shape, const struct tile_product *p)
{
    return shape->vectors / 2 * shape->pixels < FEWEST_SUMS && tile_counts_of(shape, p).halves > 0;
}

/* Whether a register is left for an input beside sums and weights. gcc 12 needs none for 4 x 3 in
 * 16 registers; clang 14 takes up to 1.7 times as long as for 2 x 6. */
static bool has_room(const struct machine *machine, const struct tile_shape *shape)
{
    return shape->vectors * (shape->pixels + 1) < machine->registers;
}

struct tile_shape tile_fastest(const struct machine *machine, struct tile_shape usual,
                               int64_t panel, const struct tile_product *p)
{
    struct tile_shape best = usual;
    double least;

    if (p->rows == 0 || p->len == 0)
        return usual;
    least = NOTICEABLE * tile_time(machine, &usual, p);
    for (size_t i = 0; i < N_TIMES; i++) {
        struct tile_shape shape = usual;
        double time;

        shape.vectors = times[i].vectors;
        shape.pixels = times[i].pixels;
        if (!is_like(&times[i], machine, &usual) || !has_room(machine, &shape) ||
            waits(&shape, p) ||
            !tile_is_possible(machine, panel, shape.vectors, shape.pixels, p->columns))
            continue;
        time = tile_time(machine, &shape, p);
        if (time >= 0 && time < least) {
            least = time;
            best = shape;
        }
    }
    return best;
}

/* --- features for cost models (features.h) --- */

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
