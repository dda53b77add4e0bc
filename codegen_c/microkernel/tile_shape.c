/* tile_shape.c - see tile_shape.h. */
#include "codegen_c/microkernel/tile_shape.h"

#include "codegen_c/microkernel/tile.h"

enum {
    WIDE_VECTORS = 4, /* panels of 64, 16 lanes: fewer loads per product than 2 x 8 */
    WIDE_PIXELS = 6,
    SCALAR_COLUMNS = 4,
    NARROW_16 = 14,    /* pixels of a one-vector tile with 32 registers … */
    NARROW = 12,       /* … and with 16 */
    THIRDS_PIXELS = 4, /* pixels of a tile of three 8-lane vectors: 12 sums of 16 registers */
    NARROW_4 = 4,      /* pixels of a tile of two 4-lane vectors, 16 registers */
    LEAST_LANES = 4,   /* vectors of a tile */
    MOST_LANES = 16,   /* any tile */
    REGISTERS = 16,    /* if the CPU row has none */
    FEWEST_SUMS = 8,   /* sums that hide the latency of an addition, if registers allow */
    MOST_ADAPTED = 8,  /* pixels that may become one more, with 32 registers */
    PAIRS_PIXELS = 12, /* two vectors (docs/lab/kernels.md) */
    /* with inputs in registers, too: from 12 on, clang 14 spills sums (docs/lab/kernels.md) */
    PAIRS_PIXELS_REGISTERS = 10,
    FEWEST_PAIRS = 4, /* pixels: 8 sums */
    MOST_STEPPED = 16 /* one vector, 32 registers, one pointer for all pixels */
};

/* For --target generic: the same tiles as the rows of machines.def. */
const struct tile_shape tile_shapes[N_TILE_SHAPES] = {
    { "LANES == 16", 16, 2, 8, false },
    { "LANES == 8", 8, 2, 6, false },
    { "LANES == 4 && defined __aarch64__", 4, 2, 8, false },
    { "LANES == 4", 4, 4, 2, false },
    { "", 1, SCALAR_COLUMNS, 4, false },
};

int tile_channels(const struct tile_shape *shape)
{
    return shape->vectors * shape->lanes - (shape->short_end ? shape->lanes / 2 : 0);
}

int tile_group(const struct region *region)
{
    enum { MANY_LANES = 16 };

    return region->place.overlaps                 ? LEADING_TILES
           : region->machine->lanes >= MANY_LANES ? 2 * SMALL_TILES
                                                  : SMALL_TILES;
}

int tile_panel(const struct machine *machine)
{
    return machine->lanes == 1 ? SCALAR_COLUMNS : TILE_PANEL;
}

/* 16-lane vectors in tiles of `channels` channels over these columns; the last tile may be half a
 * tile. */
static int64_t vectors_made(int64_t columns, int64_t tile)
{
    const int64_t rest = columns % tile;

    return (columns / tile * 2 + (rest == 0 ? 0 : rest <= tile / 2 ? 1 : 2)) * (tile / 2 / 16);
}

/* Wide panels, unless they waste a sixteenth more. */
bool tile_is_wide(const struct machine *machine, int64_t columns)
{
    return (machine->lanes == 0 || machine->lanes == 16) && columns > TILE_PANEL &&
           vectors_made(columns, WIDE_TILE_PANEL) * 15 <= vectors_made(columns, TILE_PANEL) * 16;
}

int tile_panel_of(const struct machine *machine, int64_t columns)
{
    return tile_is_wide(machine, columns) ? WIDE_TILE_PANEL : tile_panel(machine);
}

struct tile_shape tile_widened(struct tile_shape shape)
{
    if (shape.lanes == 16) {
        shape.vectors = WIDE_VECTORS;
        shape.pixels = WIDE_PIXELS;
    }
    return shape;
}

/* One vector and many pixels where more vectors would hold no channels; the vector is no longer
 * than the channels need, as some CPUs run vectors of half the length at twice the rate. */
struct tile_shape tile_narrowed(struct tile_shape shape, int64_t columns)
{
    const int sums = shape.vectors * shape.pixels;

    if (shape.lanes > 1 && columns <= shape.lanes) {
        shape.vectors = 1;
        shape.pixels = shape.lanes == 16 ? NARROW_16 : sums < FEWEST_SUMS ? sums : NARROW;
        while (shape.lanes > LEAST_LANES && columns <= shape.lanes / 2)
            shape.lanes /= 2;
    } else if (shape.lanes > 1 && shape.vectors > 2 && columns <= 2 * shape.lanes) {
        shape.vectors = 2;
        shape.pixels = NARROW_4;
    }
    return shape;
}

/* One 16-lane and one 8-lane vector: CPUs with two 256-bit pipes take half the time for the latter.
 * All divide 24. */
struct tile_shape tile_three_quarters(struct tile_shape shape)
{
    if (shape.lanes == 16) {
        shape.short_end = true;
    } else if (shape.lanes == 8) {
        shape.vectors = 3;
        shape.pixels = THIRDS_PIXELS;
    } else if (shape.lanes > 1 && shape.vectors > 2) {
        shape.vectors = 2;
        shape.pixels = NARROW_4;
    }
    return shape;
}

bool tile_is_three_quarters(const struct machine *machine, int64_t columns)
{
    return columns > 16 && columns <= TILE_THREE_QUARTERS &&
           (machine->lanes == 0 || machine->lanes >= 8 ||
            (machine->lanes == 4 && machine->tile_vectors > 2));
}

struct tile_shape tile_shape_of_machine(const struct machine *machine)
{
    return (struct tile_shape){ .condition = "",
                                .lanes = machine->lanes,
                                .vectors = machine->tile_vectors,
                                .pixels = machine->tile_columns };
}

/* Scalars have one shape if there is no choice. More channels than a vector holds take two vectors
 * or more, and sums that fit 32 registers. */
int tile_most_pixels(const struct region *region, int64_t columns)
{
    if (region->machine->lanes == 1)
        return region->choice ? MOST_TILE_PIXELS : region->machine->tile_columns;
    return columns > MOST_LANES ? MOST_TILE_PIXELS / 2 : MOST_TILE_PIXELS;
}

static struct tile_shape usual_shape(const struct machine *machine, int64_t columns)
{
    return tile_narrowed(machine->lanes ? tile_shape_of_machine(machine) : tile_shapes[0], columns);
}

void tile_extents(const struct machine *machine, int64_t rows, int64_t columns, int *pixels,
                  int *channels)
{
    const struct tile_shape shape = tile_fitted(usual_shape(machine, columns), rows, false);

    *pixels = shape.pixels;
    *channels = tile_channels(&shape);
}

void tile_extents_of_pairs(const struct machine *machine, int64_t rows, int64_t columns,
                           int *pixels, int *channels)
{
    const struct tile_shape shape =
        tile_fitted_to_pairs(machine, usual_shape(machine, columns), rows, false);

    *pixels = shape.pixels;
    *channels = tile_channels(&shape);
}

/* Predicted time of one k step, less the cost common to all tiles: products, two of which begin at
 * a time but wait for the sums of the step before; loads of weights; the loop. */
static int64_t tile_cost(int64_t vectors, int64_t pixels)
{
    const int64_t sums = vectors * pixels;

    return (sums < FEWEST_SUMS ? FEWEST_SUMS : sums) + vectors + 2;
}

/* The number of pixels in `fewest` .. `most` that minimises the time of all rows: 7 for 49. */
static struct tile_shape fitted(struct tile_shape shape, int64_t rows, int fewest, int most)
{
    const int usual = shape.pixels;
    int64_t least = 0;

    for (int pixels = fewest; pixels <= most; pixels++) {
        const int64_t tiles = (rows + pixels - 1) / pixels;
        const int64_t cost = tiles * tile_cost(shape.vectors, pixels);

        if (least == 0 || cost <= least) {
            least = cost;
            shape.pixels = pixels;
        }
    }
    /* Not worth more code for less than a twentieth. */
    if (least * 20 > (rows + usual - 1) / usual * tile_cost(shape.vectors, usual) * 19)
        shape.pixels = usual;
    return shape;
}

struct tile_shape tile_fitted(struct tile_shape shape, int64_t rows, bool stepped)
{
    const int usual = shape.pixels;
    const bool one_more = usual == MOST_ADAPTED || shape.vectors == WIDE_VECTORS;
    const int most = shape.vectors > 1                      ? usual + one_more
                     : stepped && shape.pixels == NARROW_16 ? MOST_STEPPED
                                                            : usual;

    if (rows == 0 || shape.lanes == 1 || (shape.vectors > 2 && shape.lanes < 16))
        return shape;
    return fitted(shape, rows, usual / 2, most);
}

/* Predicted time of all rows if those left over have a tile of their own; with the cost of loading
 * weights for fewer. */
static int64_t cost_with_rest(const struct tile_shape *shape, int64_t rows)
{
    const int64_t rest = rows % shape->pixels;

    return rows / shape->pixels * tile_cost(shape->vectors, shape->pixels) +
           (rest > 0 ? tile_cost(shape->vectors, rest) + (shape->pixels - rest) / 2 : 0);
}

/* The largest number of pixels, or one that saves a fiftieth: 10 for 49, also 9; 8 for 16. */
static struct tile_shape fitted_with_rest(struct tile_shape shape, int64_t rows)
{
    struct tile_shape best;

    if (shape.pixels > rows)
        shape.pixels = (int)rows;
    best = shape;
    for (; shape.pixels >= FEWEST_PAIRS; shape.pixels--)
        if (cost_with_rest(&shape, rows) * 50 < cost_with_rest(&best, rows) * 49)
            best = shape;
    return best;
}

struct tile_shape tile_fitted_to_pairs(const struct machine *machine, struct tile_shape shape,
                                       int64_t rows, bool rest)
{
    if (shape.vectors == 2)
        shape.pixels = machine->adders == ADDERS_REGISTERS ? PAIRS_PIXELS_REGISTERS : PAIRS_PIXELS;
    return rows == 0 ? shape
           : rest    ? fitted_with_rest(shape, rows)
                     : fitted(shape, rows, FEWEST_PAIRS, shape.pixels);
}

/* See tile_shape.h. One vector of many channels loads twice for each sum: not worth a trial. */
bool tile_is_possible(const struct machine *machine, int64_t panel, int64_t vectors, int64_t pixels,
                      int64_t columns)
{
    const int64_t lanes = machine->lanes, sums = vectors * pixels;
    const int64_t registers = machine->registers ? machine->registers : REGISTERS;

    return panel % (vectors * lanes) == 0 && sums + vectors <= registers &&
           sums >= (lanes > 1 && registers > FEWEST_SUMS ? FEWEST_SUMS : FEWEST_SUMS / 2) &&
           (vectors == 1 ? columns <= lanes || lanes == 1 : (vectors - 1) * lanes < columns);
}

/* The class of columns: those for which every shape is the same. */
int64_t tile_class(const struct machine *machine, int64_t columns)
{
    static const int64_t classes[] = { 4, 8, 16 };

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const int64_t lanes = machine->lanes;

        if (columns <= classes[i] &&
            (lanes == 0 ||
             (lanes > 1 && lanes * (machine->tile_vectors > 2 ? 2 : 1) >= classes[i])))
            return classes[i];
    }
    return 0;
}

/* Compares tiles row by row with tiles over all pixels. */
static bool fills(struct tile_shape usual, int64_t rows, int64_t len)
{
    const struct tile_shape by_row = tile_fitted(usual, len, true),
                            all = tile_fitted(usual, rows * len, false);
    const int64_t row_time =
        (len + by_row.pixels - 1) / by_row.pixels * tile_cost(by_row.vectors, by_row.pixels);
    const int64_t time =
        (rows * len + all.pixels - 1) / all.pixels * tile_cost(all.vectors, all.pixels);

    return rows * row_time * 20 <= time * 21;
}

bool tiles_fill_rows(const struct machine *machine, int64_t rows, int64_t len, int64_t columns)
{
    const bool wide = tile_is_wide(machine, columns);

    for (int i = 0; i < (machine->lanes ? 1 : N_TILE_SHAPES); i++) {
        const struct tile_shape usual =
            machine->lanes ? tile_shape_of_machine(machine) : tile_shapes[i];
        const struct tile_shape shape = wide ? tile_widened(usual)
                                        : tile_is_three_quarters(machine, columns)
                                            ? tile_three_quarters(usual)
                                            : tile_narrowed(usual, columns);

        if (!fills(shape, rows, len))
            return false;
    }
    return true;
}
