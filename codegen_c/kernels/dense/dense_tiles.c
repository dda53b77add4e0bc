/* dense_tiles.c - f32 matrix products by register tiles (tile.h): with constant weights, packed at
 * compile time, and of two computed operands, the second of which is packed panel by panel. */
#include <stdint.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/kernels/dense/dense.h"
#include "codegen_c/kernels/dense/dense_accepts.h"
#include "codegen_c/kernels/dense/dense_tiles.h"
#include "codegen_c/microkernel/nc_block.h"
#include "codegen_c/microkernel/tile.h"
#include "codegen_c/microkernel/tile_time.h"

enum {
    SCALARS = 4,        /* columns that every panel has (panels.h, ragged) */
    TIGHT_NUMBERS = 704 /* floats of scratch in the low-scratch form: 16 elements of the widest
                           panel */
};

/* Returns the C expression of a sum in its tile. */
static const char *bind_columns(struct bind *bind, const struct tile *tile, int64_t columns)
{
    const bool ragged = columns % tile_panel(bind->machine) != 0;

    bind_text(bind, "tile_f32", "%s", tile->fn);
    bind_int(bind, "most_pixels", tile->most_pixels);
    bind_int(bind, "panel", tile_panel(bind->machine));
    bind_flag(bind, "ragged", ragged);
    bind_text(bind, "n_columns", "%s", ragged ? "n_columns" : tile->channels);
    return arena_printf(bind->arena, "sum[j * %s + i]", tile->channels);
}

/* Binds the epilogue of each sum; the last two coordinates are variables of the templates. */
static bool bind_tile_epilogue(struct bind *bind, const char *sum, int64_t rows, const char *column)
{
    const struct type *y = anchor_output(bind->region, 0);
    struct position position;

    position_by_division(bind, "at", &position);
    if (y->dim[y->rank - 1] > 1)
        position.coord[y->rank - 1] = column;
    if (y->rank > 1 && y->dim[y->rank - 2] > 1 && y->dim[y->rank - 2] == rows)
        position.coord[y->rank - 2] = "row";
    return bind_epilogue(bind, sum, &position);
}

/* --- constant weights ------------------------------------------------------------------------- */

static bool takes_dense_tiles(const struct region *region, const char **why)
{
    *why = "the product, the data or the weights are not f32";
    return anchor_output(region, 0)->dtype == DTYPE_F32 && !data_is_small(region) &&
           !weight_is_small(region);
}

static bool accepts_dense_tiles(const struct region *region, const char **why)
{
    return takes_dense_tiles(region, why) && accepts_dense_rows(region, why);
}

static bool accepts_matmul_dense_tiles(const struct region *region, const char **why)
{
    return takes_dense_tiles(region, why) && accepts_matmul_dense_rows(region, why);
}

/* Whether the kernel conv takes rows as pixels. Its prefetched NC blocks are worth it if the L3 is
 * slow, there are several blocks, and more than one tile of rows uses them. */
static bool takes_conv(const struct region *region, const char **why)
{
    struct panels panels;
    struct window window;
    struct dense dense;
    int pixels, channels;

    *why = "the machine's third cache is near, or it has none";
    if (!region->machine->far_l3 || !window_is_dense(region, &dense))
        return false;
    *why = "its weights are one NC block";
    panels = (struct panels){ .n_rows = dense.out_c,
                              .len = dense.in_c,
                              .width = tile_panel_of(region->machine, dense.out_c) };
    window = window_of_conv(region);
    if (conv_usual_nc(region->machine, &window, &panels, false) >= dense.out_c)
        return false;
    *why = "its rows are one tile";
    tile_extents(region->machine, 0, dense.out_c, &pixels, &channels);
    return dense.rows > pixels;
}

bool accepts_dense_conv(const struct region *region, const char **why)
{
    return accepts_dense_tiles(region, why) && takes_conv(region, why);
}

bool accepts_matmul_dense_conv(const struct region *region, const char **why)
{
    return accepts_matmul_dense_tiles(region, why) && takes_conv(region, why);
}

static bool bind_dense_tiles_shape(struct bind *bind, const struct dense *d)
{
    const int width = tile_panel(bind->machine);
    const struct panels panels = { .groups = 1,
                                   .n_rows = d->out_c,
                                   .len = d->in_c,
                                   .row_step = d->transposed ? 1 : d->in_c,
                                   .len_step = d->transposed ? d->out_c : 1,
                                   .width = width,
                                   .ragged = true,
                                   .slack = width - SCALARS };
    const struct tiled tiled = { .groups = 1,
                                 .rows = 1,
                                 .row_len = d->rows,
                                 .columns = d->out_c,
                                 .len = d->in_c,
                                 .alike = true };
    const struct tile tile = bind_tile_f32(bind, 0, d->out_c, TILE_TAPS);
    const char *sum = bind_columns(bind, &tile, d->out_c);

    tile_tell_features(bind, &tiled);
    bind_input(bind, "x", 0);
    bind_panels(bind, "weight", 1, &panels,
                arena_printf(bind->arena, "panels of %d of out_c: [in_c, %d]", width, width));
    bind_int(bind, "rows", d->rows);
    bind_int(bind, "in_c", d->in_c);
    bind_int(bind, "out_c", d->out_c);
    return bind_tile_epilogue(bind, sum, d->rows, "oc");
}

static bool bind_dense_tiles(struct bind *bind)
{
    const struct dense dense = dense_of(bind->region);

    return bind_dense_tiles_shape(bind, &dense);
}

static bool bind_matmul_dense_tiles(struct bind *bind)
{
    const struct dense dense = dense_of_matmul(bind->region);

    return bind_dense_tiles_shape(bind, &dense);
}

/* --- two computed operands -------------------------------------------------------------------- */

static bool accepts_matmul_tiles(const struct region *region, const char **why)
{
    if (!accepts_matmul_float(region, why))
        return false;
    *why = "the product is not f32, or known weights are decoded";
    if (anchor_output(region, 0)->dtype != DTYPE_F32 ||
        (weight_is_small(region) && region->anchor->inputs[1]->kind == VALUE_CONSTANT))
        return false;
    *why = "there is one row only";
    return product_of(region).m > 1;
}

/* Floats of a panel and of `pixels` rows, `part` elements of INNER at a time. */
static int64_t panel_numbers(int64_t part, int panel, int pixels)
{
    return (part + 1) * panel + part * pixels;
}

/* Elements of a K-block in the low-scratch form, of about equal size; y holds the sums between
 * them. */
static int64_t part_of_inner(int64_t inner, int panel, int pixels)
{
    const int64_t most = (TIGHT_NUMBERS - panel) / (panel + pixels);
    const int64_t n_parts = (inner + most - 1) / most;

    return n_parts ? (inner + n_parts - 1) / n_parts : 0;
}

/* Only if operands are dequantised: f32 keeps whole panels, as K-blocks take up to 1.45 times as
 * long. */
static size_t scratch_matmul_tiles(const struct region *region)
{
    const struct product p = product_of(region);
    const struct value *y = region->fn->ret->inputs[0];
    const int panel = tile_panel(region->machine);
    int pixels, channels;

    tile_extents(region->machine, 0, p.n, &pixels, &channels);
    if (region->choice) /* tuning may choose another tile */
        pixels = MOST_TILE_PIXELS;
    if (!data_is_small(region) || region->fn->ret->n_inputs != 1 || y->type.dtype != DTYPE_F32 ||
        region->place.in_place || p.k <= part_of_inner(p.k, panel, pixels))
        return 0;
    return (size_t)panel_numbers(p.k, panel, pixels) * sizeof(float);
}

/* The tile for whole sums, with an epilogue store if possible. */
static struct tile bind_whole_sums(struct bind *bind, const struct product *p, int64_t rows,
                                   int64_t n_columns)
{
    const struct window columns = { .out_c = p->n, .out_channels_last = true };
    const struct tile_stores stores = {
        .w = &columns,
        .place = { .pixel = p->batch > 1 ? "(batch * ROWS + top)" : "top",
                   .channel = "left + first",
                   .channels = "COLUMNS" },
    };
    const struct tile tile = bind_tile_of_product(bind, rows, n_columns, &stores);

    bind_text(bind, "results", "%s",
              !tile.stores ? " sum"
                           : arena_printf(bind->arena, "\n    %s, n_rows%s%s", tile.place,
                                          tile.some ? ", n_columns" : "", tile.args));
    bind_flag(bind, "counted",
              tile.halves || tile.some ||
                  (!tile.stores && n_columns % tile_panel(bind->machine) != 0));
    return tile;
}

/* How columns of b are packed: by transposed blocks, and the last ones by masked vectors. */
static void bind_packing(struct bind *bind, const struct product *p, bool whole_and_rest)
{
    enum { MASKED_LANES = 16, BLOCK = 8 };
    const int lanes = bind->machine->lanes;
    const bool plain = !weight_is_small(bind->region);
    const bool transposes = plain && p->transpose_b && lanes != 1 && p->k >= BLOCK && p->n >= BLOCK;
    const bool masks = plain && !p->transpose_b && whole_and_rest && lanes == MASKED_LANES;

    bind_flag(bind, "transposes", transposes);
    bind_flag(bind, "masks", masks);
    if (transposes)
        bind_helper(bind, "transpose_f32");
    if (masks)
        bind_bytes_helper(bind, "load_some");
}

static bool bind_matmul_tiles(struct bind *bind)
{
    const struct product p = product_of(bind->region);
    const bool parts = bind->region->place.low_scratch;
    const bool gathered = p.transpose_a || data_is_small(bind->region);
    const int panel = tile_panel(bind->machine);
    /* Of any number of columns: whole panels, and a rest. */
    const int64_t n = bind->region->columns_vary ? 2 * panel + 1 : p.n;
    const bool whole_and_rest = bind->machine->lanes != 1 && n > panel && n % panel != 0;
    /* Gathered rows have room for the default tile. */
    const int64_t rows = gathered || parts || bind->region->size_varies ? 0 : p.m;
    const struct tile tile =
        parts ? bind_tile_f32(bind, rows, n, (struct tile_form){ .input = TILE_ROWS, .adds = true })
              : bind_whole_sums(bind, &p, rows, n);
    const char *sum = bind_columns(bind, &tile, n);
    const int64_t part = parts ? part_of_inner(p.k, panel, tile.most_pixels) : p.k;

    bind_data(bind);
    bind_product_shape(bind, &p);
    bind_input(bind, "weight", 1);
    bind_weight_elements(bind);
    bind_flag(bind, "b_is_transposed", p.transpose_b);
    bind_flag(bind, "gathered", gathered);
    bind_flag(bind, "whole_and_rest", whole_and_rest);
    bind_flag(bind, "parts", parts);
    bind_int(bind, "part", part);
    bind_flag(bind, "even", part > 0 && p.k % part == 0);
    bind_text(bind, "part_len", part > 0 && p.k % part == 0 ? "PART" : "len");
    bind_scratch_numbers(bind, panel_numbers(part, panel, gathered ? tile.most_pixels : 0));
    if (!parts)
        bind_packing(bind, &p, whole_and_rest);
    return tile.stores || bind_tile_epilogue(bind, sum, p.m, "column");
}

const struct kernel kernel_dense_tiles = {
    .name = "dense_tiles",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .forms = { { OPS(OP_DENSE), accepts_dense_tiles, bind_dense_tiles },
               { OPS(OP_MATMUL), accepts_matmul_dense_tiles, bind_matmul_dense_tiles } },
};

const struct kernel kernel_matmul_tiles = {
    .name = "matmul_tiles",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .spares = scratch_matmul_tiles,
    .forms = { { OPS(OP_DENSE, OP_MATMUL), accepts_matmul_tiles, bind_matmul_tiles } },
};
