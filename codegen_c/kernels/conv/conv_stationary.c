/* conv_stationary.c - weight-stationary 1x1 convolutions in f32: all weights, constant and few,
 * stay in registers while pixels go by; x and y are channels last.
 *
 * needs    vectors of 16 lanes and 32 registers
 * method   tiles of some pixels' sums as in conv, with the same bits, but the loop over inputs is
 *          unrolled, so that only inputs are loaded. If each input meets one vector of channels,
 *          products would wait for other loads; if sums are short, for the ends of loops */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/microkernel/limits.h"
#include "codegen_c/microkernel/pixel_stride.h"

enum {
    LANES = 16, /* of the CPUs it was measured on, which have … */
    REGISTERS = 32,
    OTHERS = 3,      /* … some for limits, and for an input that several vectors read */
    FEWEST_SUMS = 8, /* sums that hide the latency of an addition */
    MOST_SUMS = 14,  /* more gain nothing */
    FEWEST_PIXELS = 2,
    MOST_PIXELS = 10,
    MOST_INPUTS = 8 /* inputs of several vectors, which share its load; longer sums gain nothing */
};

/* The tile: vectors of channels by pixels; 0 if weights and sums do not fit. */
struct stationary {
    int64_t vectors, pixels;
};

/* Whether channels are whole vectors, or one of half or a quarter of the length. */
static bool fills_vectors(int64_t out_c)
{
    return out_c % LANES == 0 || out_c == LANES / 2 || out_c == LANES / 4;
}

static struct stationary stationary_of(const struct window *w)
{
    const int64_t in_c = w->in_c / w->groups, out_c = w->out_c / w->groups;
    const int64_t vectors = (out_c + LANES - 1) / LANES;
    const int64_t left = REGISTERS - OTHERS - vectors * (in_c + 1); /* biases take registers as
                                                                       well */
    const int64_t sums = left < MOST_SUMS ? left : MOST_SUMS;
    const int64_t fit = sums / vectors;
    const int64_t pixels = fit < MOST_PIXELS ? fit : MOST_PIXELS;
    const bool fits = pixels >= FEWEST_PIXELS && pixels * vectors >= FEWEST_SUMS &&
                      (vectors == 1 || in_c <= MOST_INPUTS);

    return (struct stationary){ vectors, fits ? pixels : 0 };
}

static bool accepts_conv_stationary(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);
    const struct stationary tile = stationary_of(&w);

    if (!accepts_conv(region, why))
        return false;
    *why = "the machine has no vectors of 16 numbers in 32 registers";
    if (region->machine->lanes != LANES || region->machine->registers < REGISTERS)
        return false;
    *why = "the kernel is not of extent 1, or padded, or strided";
    if (!conv_is_pointwise(&w))
        return false;
    *why = "channels are not last, or fill no whole vectors";
    if (!w.channels_last || !w.out_channels_last || !fills_vectors(w.out_c / w.groups))
        return false;
    *why = "weights and sums do not fit into the registers, or there are too few pixels";
    return tile.pixels > 0 && window_out_len(&w) >= tile.pixels;
}

/* "DO(0) DO(1)" with `before` and `after` in the parentheses. */
static const char *each(struct bind *bind, const char *before, int64_t n, const char *after)
{
    struct str out = { .arena = bind->arena };

    for (int i = 0; i < (int)n; i++)
        str_printf(&out, "%sDO(%s%d%s)", i ? " " : "", before, i, after);
    return str_text(&out);
}

/* Requests the microkernel. `end` NULL: y is an array of sums, and the function is not inlined, as
 * the epilogue's functions need registers. */
static const char *bind_stationary_tile(struct bind *bind, int64_t in_c,
                                        const struct stationary *tile,
                                        const struct row_vector *vector,
                                        const struct epilogue_store *end)
{
    const char *name = arena_printf(bind->arena, "tile_stationary_%dto%d_by%d%s%s", (int)in_c,
                                    (int)tile->vectors * vector->most, (int)tile->pixels,
                                    end ? "_stores" : "", end ? end->name : "");
    const char *fn = bind_own_helper(bind, name), *y;
    struct keys keys;

    if (!end)
        bind_helper(bind, "apart");
    if (fn)
        return fn;
    keys_init(&keys, bind->arena);
    keys_set_int(&keys, "len", in_c);
    keys_set_flag(&keys, "lone", in_c == 1);
    keys_set_int(&keys, "pixels", tile->pixels);
    keys_set(&keys, "vector", vector->type);
    keys_set(&keys, "lanes", vector->lanes);
    keys_offer(&keys, "short", vector->most < LANES ? "1" : "");
    keys_offer(&keys, "fuse", vector->fuse);
    keys_set(&keys, "each_input", each(bind, "", in_c, ""));
    keys_set(&keys, "each_pixel", each(bind, "", tile->pixels, ", k"));
    keys_set(&keys, "each_vector", each(bind, "j, k, ", tile->vectors, ""));
    keys_set(&keys, "linkage", end ? "static inline" : "static APART");
    keys_set(&keys, "then", end ? ", then the epilogue" : "");
    keys_set(&keys, "end_params", end ? end->params : "");
    keys_set(&keys, "end_shared", end ? end->shared : "");
    keys_set_flag(&keys, "channels", end && *end->channel);
    keys_offer(&keys, "end_channel", end ? end->channel : "");
    y = arena_printf(bind->arena, "y[j * y_step + v * %s]", vector->lanes);
    keys_set(&keys, "end",
             end ? epilogue_store_text(bind, end, "sum", y, false, true)
                 : arena_printf(bind->arena, "%s(&%s, sum);",
                                bind_vector_fn(bind, "store_here", vector->type), y));
    return bind_new_helper(bind, name, "templates/helpers/tile_stationary.c.tmpl", &keys);
}

static bool bind_conv_stationary(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct stationary tile = stationary_of(&w);
    const struct panels panels = conv_panels(&w, w.out_c / w.groups);
    const struct tile_place place = conv_tile_place(bind, &w);
    const struct row_vector vector = bind_row_vector(bind, panels.n_rows);
    struct epilogue_store end;
    const bool stores = epilogue_store_of(bind, &w, &place, vector.type, vector.lanes, &end);

    bind_conv_places(bind, &w);
    bind_conv_weights(bind, &panels);
    bind_flag(bind, "stores", stores);
    bind_int(bind, "strip", MOST_TILE_PIXELS / tile.pixels * tile.pixels);
    if (tile.vectors > 1)
        bind_text(bind, "tile", "%d * %s", (int)tile.vectors, vector.lanes);
    else
        bind_text(bind, "tile", "%s", vector.lanes);
    bind_text(bind, "tile_fn", "%s",
              bind_stationary_tile(bind, panels.len, &tile, &vector, stores ? &end : NULL));
    bind_text(bind, "weight_at", "&weight[%sblock]", conv_group_start(bind, &w, &panels, "IN_C"));
    if (stores) {
        bind_text(bind, "results", "%s%s", epilogue_store_y(bind, &place), end.args);
        return true;
    }
    bind_text(bind, "results", "sum, BLOCK");
    bind_helper(bind, "keep_loop");
    return bind_conv_position(bind, &w, "sum[j * BLOCK + i]");
}

/* Strips of pixels, as long as a tile at most. */
static bool overlaps_conv_stationary(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_conv(region);

    overlap->bytes = overlap_of_windows(region, &w, MOST_TILE_PIXELS);
    return window_is_last(&w) && w.groups == 1;
}

const struct kernel kernel_conv_stationary = {
    .name = "conv_stationary",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .reads_strided = reads_conv_pixels,
    .writes_strided = writes_conv_pixels,
    .overlaps = overlaps_conv_stationary,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv_stationary,
                 bind_conv_stationary } },
};
