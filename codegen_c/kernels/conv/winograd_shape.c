/* winograd_shape.c - whether Winograd pays for a convolution, and with which tiles: a model of time,
 * and its knobs. */
#include "codegen_c/expr/decode.h"
#include "codegen_c/kernels/conv/winograd.h"
#include "codegen_c/microkernel/pairs.h"
#include "codegen_c/microkernel/tile.h"

/* Costs, in multiply-adds of a register tile; measured (docs/lab/kernels.md). */
enum {
    CALL = 4,              /* per sum of a tile */
    TRANSFORM = 8,         /* per transformed element of inputs and products */
    TRANSFORM_STRIDED = 3, /* the same with stride 2: most are only moved, or one subtraction */
    NEAR = 1,              /* per weight */
    STREAM = 10,           /* per weight from beyond the L2: prefetched while others are in use */
    STREAM_FAR = 25,       /* the same if the L3 is slow, and memory as slow again … */
    OVERLAP = 4,    /* … and a quarter of it even beside direct products that take longer */
    LATE = 150,     /* per 3 x 3 weight transformed at run time … */
    LATE_SUM = 12,  /* … and per sum of a tile, which is added to for each LATE_DEPTH inputs */
    LATE_DEPTH = 16 /* inputs whose transformed weights fit in the L1 beside the sums */
};

enum {
    /* For --target generic: the multiply-adds of a layer worth it, and the L2. */
    SMALLEST = 1 << 20,
    CACHE = 512 << 10,
    PERCENT = 90,          /* of the direct products' time; the rest is for what the model lacks */
    PERCENT_FAR = 94,      /* the same if the L3 is slow; waiting is in the model */
    PERCENT_PAIRS = 95,    /* of the time of plain products */
    FEWEST_PAIRED = 48,    /* fewest inputs: tiles of fewer wait for the L2 (docs/lab/kernels.md) */
    PERCENT_FOUR = 88,     /* of the time of F(2,3), which has fewer weights and smaller errors */
    PERCENT_FOUR_FAR = 95, /* the same if the L3 is slow */
    PERCENT_LATE = 98,     /* of the time with weights transformed at compile time */
    FEWEST = 16,           /* fewest tiles at a time, which share each weight */
    MOST_GROUP = 32,       /* with 16 channels 28 are as fast as 56, and 14 slower */
    MOST_GROUP_PAIRS = 36, /* three tiles of 12 pixels */
    FAR_PERCENT = 70,      /* percent of the L2 */
    STRIDED_GROUP = 8      /* as fast as 16, which take twice the scratch: there are 81 products */
};

struct plain { /* common to direct and Winograd products */
    const struct machine *machine;
    const struct window *w;
    int stride;
    bool pairs; /* Winograd inner products are possible */
};

static struct plain plain_of(const struct region *region, const struct window *w)
{
    return (struct plain){ .machine = region->machine,
                           .w = w,
                           .stride = (int)w->stride[1],
                           .pairs = region->machine->adders != ADDERS_NONE &&
                                    winograd_takes_pairs(region, w) };
}

/* Inputs of a tile, and products, in each direction. */
static int inputs_of(const struct plain *p, int m)
{
    return p->stride * (m - 1) + 3;
}

static int64_t round_up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

static int64_t cache_of(const struct machine *machine)
{
    return machine->lanes == 0 ? CACHE : (int64_t)machine->l2_bytes;
}

static bool takes_depth(const struct plain *p, int m, int64_t depth)
{
    return m == 4 && p->stride == 1 && p->machine->lanes > 0 &&
           p->w->out_c % tile_panel(p->machine) == 0 && p->w->in_c % depth == 0;
}

struct extents { /* the register tile */
    int pixels, channels;
};

static struct extents tile_of(const struct plain *p, int64_t rows, bool pairs)
{
    struct extents tile;

    if (pairs)
        tile_extents_of_pairs(p->machine, rows, p->w->out_c, &tile.pixels, &tile.channels);
    else
        tile_extents(p->machine, rows, p->w->out_c, &tile.pixels, &tile.channels);
    return tile;
}

/* Whether n_matrices matrices of weights exceed the L2. */
static bool streams_weights(const struct plain *p, int64_t n_matrices)
{
    const int64_t bytes = n_matrices * p->w->in_c * p->w->out_c * (int64_t)sizeof(float);

    return bytes > cache_of(p->machine) / 4 * 3;
}

/* Cost of weights, and of waiting for those that stream, beside n multiplications with each. */
static int64_t weights_cost(const struct plain *p, int64_t n_matrices, int64_t n)
{
    const bool far = p->machine->far_l3;
    const int64_t stream = far ? STREAM_FAR : STREAM, least = far ? STREAM_FAR / OVERLAP : 0;
    const int64_t waits = stream - n > least ? stream - n : least;

    return n_matrices * p->w->in_c * p->w->out_c *
           (NEAR + (streams_weights(p, n_matrices) ? waits : 0));
}

/* The same for Winograd's products, for each group of tiles. With a slow L3, the wait is as long as
 * without computing. */
static int64_t matrices_cost(const struct plain *p, int64_t n_matrices, int64_t n, int64_t n_groups)
{
    if (!p->machine->far_l3)
        return weights_cost(p, n_matrices, n);
    return n_matrices * p->w->in_c * p->w->out_c *
           (NEAR + (streams_weights(p, n_matrices) ? STREAM_FAR * n_groups : 0));
}

/* n_products products of [n, in_c] by [in_c, out_c]. */
static int64_t products_cost(const struct plain *p, int64_t n_products, int64_t n, int64_t len)
{
    const struct extents tile = tile_of(p, n, false);
    const int64_t out_c = round_up(p->w->out_c, tile.channels);

    return n_products / len * round_up(n, tile.pixels) * out_c * (len * p->w->in_c + CALL);
}

/* The same with inner products; tiles have halves. */
static int64_t pairs_cost(const struct plain *p, int64_t n_products, int64_t n)
{
    const struct extents tile = tile_of(p, n, true);
    const int64_t vectors = (p->w->out_c + PAIRS_LANES - 1) / PAIRS_LANES;
    const double time = pairs_time(p->machine, vectors, p->w->in_c) + (double)(vectors * CALL) +
                        pairs_sum_time(p->machine, p->w->in_c);

    return n_products * round_up(n, tile.pixels) * (int64_t)(time * PAIRS_LANES);
}

static int64_t tiles_of(const struct window *w, int m)
{
    return (w->out[1] + m - 1) / m * ((w->out[2] + m - 1) / m);
}

/* If inputs are in registers, products take half the time of a Zen 4's and wait for weights from
 * beyond the L2; inner products, whose weights come in two streams, then take longer
 * (docs/lab/kernels.md). */
static bool pays_in_pairs(const struct plain *p, int m)
{
    const int64_t n = (int64_t)inputs_of(p, m) * inputs_of(p, m), matrices = (m + 2) * (m + 2);
    const int64_t tiles = tiles_of(p->w, m), weights = weights_cost(p, matrices, tiles);

    if (p->machine->adders == ADDERS_REGISTERS && (streams_weights(p, matrices) || p->stride > 1))
        return false;
    return p->pairs && p->w->in_c >= FEWEST_PAIRED &&
           pairs_cost(p, n, tiles) + weights <
               (products_cost(p, n, tiles, 1) + weights) / 100 * PERCENT_PAIRS;
}

/* With a slow L3 each group waits for all weights: as few groups as fit in most of the L2, of equal
 * size. */
static int64_t group_of_far(const struct plain *p, int64_t tiles, int64_t tile_bytes, int pixels)
{
    const int64_t fit = cache_of(p->machine) / 100 * FAR_PERCENT / tile_bytes / pixels * pixels;
    const int64_t groups = fit > 0 ? (tiles + fit - 1) / fit : tiles;

    return round_up((tiles + groups - 1) / groups, pixels);
}

/* The tiles per group: whole register tiles whose data fits in half of the L2. */
static int64_t group_of(const struct plain *p, int m, bool pairs, bool late)
{
    const struct extents tile = tile_of(p, tiles_of(p->w, m), pairs);
    const int64_t tile_bytes = (int64_t)inputs_of(p, m) * inputs_of(p, m) * (int64_t)sizeof(float) *
                               (p->w->in_c + tile.channels);

    if (late || (p->machine->far_l3 && streams_weights(p, (m + 2) * (m + 2))))
        return group_of_far(p, tiles_of(p->w, m), tile_bytes, tile.pixels);

    const int64_t fit = cache_of(p->machine) / 2 / tile_bytes;
    const int64_t fewest = p->stride == 2 ? STRIDED_GROUP : FEWEST;
    const int64_t most = p->stride == 2 ? STRIDED_GROUP : pairs ? MOST_GROUP_PAIRS : MOST_GROUP;
    const int64_t wanted = fit < fewest ? fewest : fit > most ? most : fit;
    const int64_t tiles = round_up(tiles_of(p->w, m), tile.pixels);
    const int64_t whole = wanted / tile.pixels * tile.pixels;
    const int64_t group = whole < fewest ? whole + tile.pixels : whole;

    return tiles < group ? tiles : group;
}

static int64_t groups_of(const struct plain *p, int m, bool pairs, bool late)
{
    const int64_t group = group_of(p, m, pairs, late);

    return (tiles_of(p->w, m) + group - 1) / group;
}

/* Cost of the transforms of inputs and products. */
static int64_t transforms_cost(const struct plain *p, int m, bool pairs)
{
    const int64_t tiles = tiles_of(p->w, m), n = inputs_of(p, m);
    const int64_t out_c = round_up(p->w->out_c, tile_of(p, tiles, pairs).channels);

    return tiles * n * n * (p->stride == 2 ? TRANSFORM_STRIDED : TRANSFORM) * (p->w->in_c + out_c);
}

static int64_t winograd_cost(const struct plain *p, int m)
{
    const int64_t products = (int64_t)inputs_of(p, m) * inputs_of(p, m), tiles = tiles_of(p->w, m);
    const bool pairs = pays_in_pairs(p, m);

    return (pairs ? pairs_cost(p, products, tiles) : products_cost(p, products, tiles, 1)) +
           matrices_cost(p, (m + 2) * (m + 2), tiles, groups_of(p, m, pairs, false)) +
           transforms_cost(p, m, pairs);
}

/* Cost of F(4,3) with weights transformed at run time. */
static int64_t late_cost(const struct plain *p)
{
    const int64_t tiles = tiles_of(p->w, 4), in_c = p->w->in_c, out_c = p->w->out_c;
    const int64_t products = (int64_t)inputs_of(p, 4) * inputs_of(p, 4);
    const int64_t rows = round_up(tiles, tile_of(p, tiles, false).pixels);

    return products * rows * out_c * (in_c + in_c / LATE_DEPTH * LATE_SUM) +
           groups_of(p, 4, false, true) * in_c * out_c * LATE + transforms_cost(p, 4, false);
}

struct choice_of_shape {
    int m;
    int64_t depth;
};

static struct choice_of_shape cheapest(const struct plain *p)
{
    const int64_t positions = p->w->out[1] * p->w->out[2];
    const int64_t direct = products_cost(p, 9, positions, 9) + weights_cost(p, 9, positions);
    const int64_t two = winograd_cost(p, 2), four = winograd_cost(p, 4);
    const bool is_four = four < two / 100 * (p->machine->far_l3 ? PERCENT_FOUR_FAR : PERCENT_FOUR);
    struct choice_of_shape best = { .m = is_four ? 4 : 2 };
    int64_t cost = is_four ? four : two;

    if (p->machine->far_l3 && takes_depth(p, 4, LATE_DEPTH) &&
        late_cost(p) < cost / 100 * PERCENT_LATE) {
        best = (struct choice_of_shape){ .m = 4, .depth = LATE_DEPTH };
        cost = late_cost(p);
    }
    if (cost > direct / 100 * (p->machine->far_l3 ? PERCENT_FAR : PERCENT))
        return (struct choice_of_shape){ 0 };
    return best;
}

static struct choice_of_shape choice_of(const struct region *region, const struct plain *p)
{
    const struct machine *machine = region->machine;
    const struct window *w = p->w;

    switch (region->winograd) {
    case WINOGRAD_OFF: return (struct choice_of_shape){ 0 };
    case WINOGRAD_F2: return (struct choice_of_shape){ .m = 2 };
    case WINOGRAD_F4: return (struct choice_of_shape){ .m = 4 };
    case WINOGRAD_AUTO: break;
    }
    if (machine->lanes == 0 && 9 * w->in_c * w->out_c * w->out[1] * w->out[2] < SMALLEST)
        return (struct choice_of_shape){ 0 };
    return machine->l2_bytes ? cheapest(p) : (struct choice_of_shape){ 0 };
}

static struct winograd_shape shape_of(const struct plain *p, int m, bool pairs, int64_t depth)
{
    struct winograd_shape shape = {
        .m = m, .stride = p->stride, .pairs = m && pairs, .depth = depth
    };

    if (m) {
        shape.n = inputs_of(p, m);
        shape.tiles = tiles_of(p->w, m);
        shape.group = group_of(p, m, pairs, depth > 0);
    }
    return shape;
}

struct winograd_shape winograd_shape_of(const struct region *region, const struct window *w, int m,
                                        bool pairs, int64_t depth)
{
    const struct plain p = plain_of(region, w);

    return shape_of(&p, m, pairs, depth);
}

struct winograd_shape winograd_shape(const struct region *region, const struct window *w)
{
    const struct plain p = plain_of(region, w);
    const struct choice_of_shape best = choice_of(region, &p);

    return shape_of(&p, best.m, best.m && !best.depth && pays_in_pairs(&p, best.m), best.depth);
}

bool winograd_is_best_by_channels(const struct window *w, const struct winograd_shape *s,
                                  int channels, int parts)
{
    const int64_t groups = (s->tiles + s->group - 1) / s->group;
    const int64_t blocks = (w->out_c + channels - 1) / channels;
    const int64_t input = w->in_c * (s->stride == 2 ? TRANSFORM_STRIDED : TRANSFORM);
    const int64_t block = channels * (w->in_c + TRANSFORM); /* of a tile's products */
    const int64_t most_groups = (groups + parts - 1) / parts,
                  most_blocks = (blocks + parts - 1) / parts;

    return s->tiles * (input + most_blocks * block) <
           most_groups * s->group * (input + blocks * block);
}

bool winograd_takes_depth(const struct region *region, const struct window *w, int m, int64_t depth)
{
    const struct plain p = plain_of(region, w);

    return takes_depth(&p, m, depth);
}

bool winograd_takes_pairs(const struct region *region, const struct window *w)
{
    return region->machine->lanes == PAIRS_LANES && w->in_c >= PAIRS_LANES &&
           w->out_c > PAIRS_LANES && decode_are_finite(region->anchor->inputs[1]);
}

/* --- after tuning (knob.h) --- */

/* The inputs whose weights are transformed together. */
static int64_t chosen_depth(struct bind *bind, const struct window *w,
                            const struct winograd_shape *s)
{
    static const int64_t depths[] = { 8, 16, 32, 64, 128 };
    enum { N_DEPTHS = sizeof depths / sizeof *depths };
    int64_t values[N_DEPTHS + 1] = { 0 };
    int n = 1;

    for (int i = 0; i < N_DEPTHS; i++)
        if (winograd_takes_depth(bind->region, w, s->m, depths[i]))
            values[n++] = depths[i];
    return n > 1 ? bind_knob(bind, KNOB_NC, s->depth, n, values) : 0;
}

struct winograd_shape winograd_chosen_shape(struct bind *bind, const struct window *w)
{
    static const int64_t sizes[] = { 2, 4 }, tiles_of_group[] = { 1, 2, 3, 4, 6, 8, 12 };
    static const int64_t without_and_with[] = { 0, 1 };
    enum { N_GROUPS = sizeof tiles_of_group / sizeof *tiles_of_group };
    struct winograd_shape s = winograd_shape(bind->region, w);
    int64_t groups[N_GROUPS];
    int n = 0, pixels, channels;

    if (bind->region->winograd == WINOGRAD_AUTO) {
        s.m = (int)bind_knob(bind, KNOB_WINOGRAD, s.m ? s.m : 4, 2, sizes);
        if (winograd_takes_pairs(bind->region, w))
            s.pairs = bind_knob(bind, KNOB_PAIRS, s.pairs, 2, without_and_with) != 0;
        if (!s.pairs)
            s.depth = chosen_depth(bind, w, &s);
        s = winograd_shape_of(bind->region, w, s.m, s.pairs, s.pairs ? 0 : s.depth);
    }
    if (s.pairs)
        tile_extents_of_pairs(bind->machine, s.tiles, w->out_c, &pixels, &channels);
    else
        tile_extents(bind->machine, s.tiles, w->out_c, &pixels, &channels);
    for (; n < N_GROUPS && (n == 0 || groups[n - 1] < s.tiles); n++)
        groups[n] = tiles_of_group[n] * pixels;
    s.group = bind_knob(bind, KNOB_GROUP, s.group, n, groups);
    if (s.group > s.tiles)
        s.group = s.tiles;
    return s;
}
