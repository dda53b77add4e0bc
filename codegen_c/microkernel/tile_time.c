/* tile_time.c - see tile_time.h. */
#include "codegen_c/microkernel/tile_time.h"

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
