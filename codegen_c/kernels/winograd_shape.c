/* winograd_shape.c - whether a convolution is worth Winograd's transforms, of which size. */
#include "codegen_c/kernels/tile.h"
#include "codegen_c/kernels/winograd.h"

/* What things cost in the time of a multiply-accumulate of a register tile; measured
 * (docs/kernels.md). */
enum {
    CALL = 4,      /* per sum of a tile */
    TRANSFORM = 8, /* per element of what is multiplied, and of the products */
    STREAM = 10,   /* per weight, if they do not lie in the second cache … */
    NEAR = 1       /* … and if they do */
};

enum {
    /* Where the machine is not told: the multiply-accumulates of a layer worth it, its second
       cache. */
    SMALLEST = 1 << 20,
    CACHE = 512 << 10,
    PERCENT = 90,      /* of the direct products' time; the rest is for what is not in the model */
    PERCENT_FOUR = 88, /* of the time of F(2,3), whose weights and errors are smaller */
    FEWEST = 16,       /* tiles at a time: each weight that is read serves all of them */
    MOST_GROUP = 32    /* of 16 channels 28 are as fast as 56, and 14 are slower */
};

struct plain { /* what both ways have in common */
    const struct machine *machine;
    const struct window *w;
    int pixels, channels; /* of a register tile */
};

static int64_t round_up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

static int64_t cache_of(const struct machine *machine)
{
    return machine->lanes == 0 ? CACHE : (int64_t)machine->l2_bytes;
}

/* n_products matrices of n rows of in_c by those of in_c by out_c. */
static int64_t products_cost(const struct plain *p, int64_t n_products, int64_t n, int64_t len)
{
    const int64_t out_c = round_up(p->w->out_c, p->channels);
    const int64_t weights = n_products * p->w->in_c * p->w->out_c;
    const bool streamed = weights * (int64_t)sizeof(float) > cache_of(p->machine) / 2;

    return n_products / len * round_up(n, p->pixels) * out_c * (len * p->w->in_c + CALL) +
           weights * (streamed ? STREAM : NEAR);
}

static int64_t tiles_of(const struct window *w, int m)
{
    return (w->out[1] + m - 1) / m * ((w->out[2] + m - 1) / m);
}

static int64_t winograd_cost(const struct plain *p, int m)
{
    const int64_t products = (m + 2) * (m + 2), tiles = tiles_of(p->w, m);

    return products_cost(p, products, tiles, 1) +
           tiles * products * TRANSFORM * (p->w->in_c + round_up(p->w->out_c, p->channels));
}

static int cheapest(const struct plain *p)
{
    const int64_t direct = products_cost(p, 9, p->w->out[1] * p->w->out[2], 9);
    const int64_t two = winograd_cost(p, 2), four = winograd_cost(p, 4);
    const bool is_four = four < two / 100 * PERCENT_FOUR;

    if ((is_four ? four : two) > direct / 100 * PERCENT)
        return 0;
    return is_four ? 4 : 2;
}

/* Whole register tiles; what is computed of a group lies in half of the second cache. */
static int64_t group_of(const struct plain *p, int m)
{
    const int64_t tile_bytes =
        (m + 2) * (m + 2) * (int64_t)sizeof(float) * (p->w->in_c + p->channels);
    const int64_t fit = cache_of(p->machine) / 2 / tile_bytes;
    const int64_t wanted = fit < FEWEST ? FEWEST : fit > MOST_GROUP ? MOST_GROUP : fit;
    const int64_t tiles = round_up(tiles_of(p->w, m), p->pixels);
    const int64_t whole = wanted / p->pixels * p->pixels;

    return tiles < whole ? tiles : whole > 0 ? whole : p->pixels;
}

static int size_of(const struct region *region, const struct plain *p)
{
    const struct machine *machine = region->machine;
    const struct window *w = p->w;

    switch (region->winograd) {
    case WINOGRAD_OFF: return 0;
    case WINOGRAD_F2: return 2;
    case WINOGRAD_F4: return 4;
    case WINOGRAD_AUTO: break;
    }
    if (machine->lanes == 0 && 9 * w->in_c * w->out_c * w->out[1] * w->out[2] < SMALLEST)
        return 0;
    return machine->l2_bytes ? cheapest(p) : 0;
}

struct winograd_shape winograd_shape_of(const struct region *region, const struct window *w, int m)
{
    struct plain p = { .machine = region->machine, .w = w };
    struct winograd_shape shape = { .m = m };

    tile_extents(region->machine, w->out_c, &p.pixels, &p.channels);
    if (m) {
        shape.tiles = tiles_of(w, m);
        shape.group = group_of(&p, m);
    }
    return shape;
}

struct winograd_shape winograd_shape(const struct region *region, const struct window *w)
{
    struct plain p = { .machine = region->machine, .w = w };

    tile_extents(region->machine, w->out_c, &p.pixels, &p.channels);
    return winograd_shape_of(region, w, size_of(region, &p));
}
