/* pool.c - max, average and Lp pooling, and global pooling. 1-D is bound as 2-D of height 1. */
#include <inttypes.h>
#include <math.h>

#include "base/minifloat.h"
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/lead.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/kernels/pool/average.h"
#include "codegen_c/kernels/pool/pool.h"

bool accepts_max_pool(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    return takes_number(region, why) && takes_window(&w, why) &&
           takes_channels_first(region->anchor->attrs.pool.layout,
                                region->anchor->attrs.pool.layout, why);
}

static bool accepts_pool(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    return takes_float(region, why) && takes_window(&w, why) &&
           takes_channels_first(region->anchor->attrs.pool.layout,
                                region->anchor->attrs.pool.layout, why);
}

struct window bind_pool_window(struct bind *bind)
{
    const struct window w = window_of_pool(bind->region);

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_window(bind, &w);
    bind_int(bind, "planes", w.batch * w.in_c);
    if (w.padded)
        bind_helper(bind, "window");
    return w;
}

bool bind_pool_epilogue(struct bind *bind, const struct window *w, const char *acc)
{
    static const char *const names[] = { "od", "oh", "ow" };
    const long long c = (long long)w->in_c;
    struct position position;
    const char **const channel = &position.coord[w->channels_last ? w->rank + 1 : 1];

    position_by_division(bind, "at", &position);
    if (w->in_c > 1)
        *channel = w->batch == 1 ? "plane" : arena_printf(bind->arena, "plane %% %lld", c);
    if (w->batch > 1)
        position.coord[0] = w->in_c == 1 ? "plane" : arena_printf(bind->arena, "plane / %lld", c);
    for (int i = 0; i < w->rank; i++)
        if (w->out[3 - w->rank + i] > 1)
            position.coord[(w->channels_last ? 1 : 2) + i] = names[3 - w->rank + i];
    return bind_epilogue(bind, acc, &position);
}

/* For templates of both layouts: indices of the elements under the window (id, ih, iw), and of the
 * result; `deep`: with depth. Channels last, the loop over planes is innermost. */
static void bind_pool_places(struct bind *bind, const struct window *w, bool deep)
{
    const long long c = (long long)w->in_c;
    const char *in = deep ? "((id * IN_H + ih) * IN_W + iw)" : "(ih * IN_W + iw)";
    const char *image = w->batch == 1 ? "" : arena_printf(bind->arena, "plane / %lld", c);
    const char *channel = w->batch == 1 ? "plane" : arena_printf(bind->arena, "plane %% %lld", c);
    const char *row;

    bind_flag(bind, "last", w->channels_last);
    if (!w->channels_last) {
        bind_text(bind, "in_at", "plane * IN_LEN");
        bind_text(bind, "in_shape", deep ? "[IN_D, IN_H, IN_W]" : "[IN_H, IN_W]");
        bind_text(bind, "from", deep ? "(id * IN_H + ih) * IN_W + iw" : "ih * IN_W + iw");
        bind_text(bind, "at",
                  deep ? "((plane * OUT_D + od) * OUT_H + oh) * OUT_W + ow"
                       : "(plane * OUT_H + oh) * OUT_W + ow");
        return;
    }
    bind_text(bind, "in_shape", deep ? "[IN_D, IN_H, IN_W, %lld]" : "[IN_H, IN_W, %lld]", c);
    bind_text(bind, "from", "%s * %lld", in, c);
    if (w->batch == 1) {
        bind_text(bind, "in_at", "plane");
        row = deep ? "(od * OUT_H + oh)" : "oh";
    } else {
        bind_text(bind, "in_at", "%s * IN_LEN * %lld + %s", image, c, channel);
        row = arena_printf(bind->arena,
                           deep ? "((%s * OUT_D + od) * OUT_H + oh)" : "(%s * OUT_H + oh)", image);
    }
    bind_text(bind, "at", "(%s * OUT_W + ow) * %lld + %s", row, c, channel);
}

static bool bind_max_pool(struct bind *bind)
{
    const struct window w = bind_pool_window(bind);

    bind_lowest(bind);
    return bind_pool_epilogue(bind, &w, "best");
}

static bool accepts_max_pool_codes(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    *why = "the element type is no small float";
    return type_minifloat(anchor_input(region, 0)) && takes_sizes(region, why) &&
           takes_window(&w, why);
}

/* The least value; formats without infinity have no -infinity either (relay_ir/ops/pool.c). */
static unsigned lowest_code(const struct minifloat *format)
{
    return minifloat_encode(format, -INFINITY, format->specials != MINIFLOAT_IEEE);
}

enum { FEWEST_CODES = 16 }; /* values compared at once */

/* Bytes at a time: whole vectors, or all channels. */
static int64_t codes_at_once(const struct region *region)
{
    const int64_t channels = window_of_pool(region).in_c;
    int64_t n = 4 * region->machine->lanes;

    while (n > FEWEST_CODES && n > channels)
        n /= 2;
    return n;
}

static bool accepts_max_pool_lanes(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    if (!accepts_max_pool_codes(region, why))
        return false;
    *why = "it is for vectors of bytes, of PCs";
    if (!machine_has_deep_stack(region->machine) || type_packed_bits(anchor_input(region, 0)) != 8)
        return false;
    *why = "something is computed from the code";
    if (region->fn->ret->inputs[0] != region->anchor->outputs[0])
        return false;
    *why = "the channels are not last, or few";
    return w.channels_last && w.in_c >= FEWEST_CODES;
}

static bool bind_max_pool_lanes(struct bind *bind)
{
    const struct minifloat *format = type_minifloat(anchor_input(bind->region, 0));
    const struct window w = window_of_pool(bind->region);
    const int64_t n = codes_at_once(bind->region);
    const char *name = arena_printf(bind->arena, "vector%d_i8", (int)n);
    struct window deep = w;
    struct keys keys;

    deep.rank = 3;
    bind_vector(bind);
    if (!bind_own_helper(bind, name)) {
        keys_init(&keys, bind->arena);
        keys_set_int(&keys, "bytes", n);
        bind_new_helper(bind, name, "templates/helpers/vector_i8.c.tmpl", &keys);
    }
    bind_text(bind, "vector", "%s", bind_own_helper(bind, name));
    bind_int(bind, "lanes", n);
    bind_input(bind, "x", 0);
    bind_window(bind, &deep);
    keys_offer(bind->keys, "padded", "");
    bind_helper(bind, "window");
    bind_flag(bind, "batched", w.batch > 1);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "in_c", w.in_c);
    bind_text(bind, "image", w.batch > 1 ? "image * IN_D + " : "");
    bind_text(bind, "out_image", w.batch > 1 ? "image * OUT_D + " : "");
    bind_int(bind, "lowest", lowest_code(format));
    bind_flag(bind, "nan", format->specials != MINIFLOAT_NONE);
    if (format->specials == MINIFLOAT_FNUZ)
        bind_text(bind, "is_nan", "v == (int8_t)%u", minifloat_nan(format));
    else
        bind_text(bind, "is_nan", "(size > %u)", lowest_code(format) & 127);
    return true;
}

/* 8-bit floats of any rank: lower ranks have a depth of 1. */
static bool bind_max_pool_codes(struct bind *bind)
{
    const struct minifloat *format = type_minifloat(anchor_input(bind->region, 0));
    const struct window w = window_of_pool(bind->region);
    const unsigned sign = 1u << (minifloat_bits(format) - 1);
    const unsigned nan = format->specials == MINIFLOAT_NONE ? ~0u : minifloat_nan(format);
    struct window deep = w;

    deep.rank = 3;
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_window(bind, &deep);
    bind_int(bind, "planes", w.batch * w.in_c);
    bind_helper(bind, "window");
    bind_helper(bind, "minifloat_above");
    bind_int(bind, "lowest", lowest_code(format));
    bind_text(bind, "format", "%uu, %uu, %uu", lowest_code(format) & (sign - 1), nan, sign);
    bind_pool_places(bind, &w, true);
    return bind_pool_epilogue(bind, &w, "best");
}

/* For any rank: lower ranks have a depth of 1. */
static bool bind_max_pool_indices(struct bind *bind)
{
    struct window w = window_of_pool(bind->region);

    w.rank = 3;
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_window(bind, &w);
    bind_int(bind, "planes", w.batch * w.in_c);
    bind_helper(bind, "window");
    bind_lowest(bind);
    bind_flag(bind, "column_major", bind->region->anchor->attrs.pool.storage_order == 1);
    return true;
}

/* Whether some window reaches beyond the padding at the end (ceil_mode): those taps never count. */
static bool bind_padded_extents(struct bind *bind, const struct window *w)
{
    static const char *const names[] = { "padded_d", "padded_h", "padded_w" };
    const struct ints *padding = &bind->region->anchor->attrs.pool.padding;
    bool beyond = false;

    for (int i = 0; i < w->rank; i++) {
        int dim = 3 - w->rank + i;
        int64_t behind = w->in[dim] + (padding->n ? padding->at[w->rank + i] : 0);
        int64_t last = (w->out[dim] - 1) * w->stride[dim] + (w->k[dim] - 1) * w->dil[dim];

        bind_int(bind, names[dim], behind);
        beyond = beyond || last - w->pad[dim] >= behind;
    }
    if (w->rank == 1)
        bind_int(bind, names[1], 1);
    return beyond;
}

static bool bind_avg_pool(struct bind *bind)
{
    const struct window w = bind_pool_window(bind);
    const bool counts = bind->region->anchor->attrs.pool.count_include_pad;
    const bool beyond = bind_padded_extents(bind, &w);

    /* Only dilated windows can miss an input between their taps. */
    bind_flag(bind, "may_miss",
              w.padded && !counts && (w.dil[0] > 1 || w.dil[1] > 1 || w.dil[2] > 1));
    bind_flag(bind, "includes_padding", w.padded && counts);
    bind_flag(bind, "excludes_padding", w.padded && !counts);
    bind_flag(bind, "clips_padding", w.padded && counts && beyond);
    bind_flag(bind, "counts_all", !w.padded || (counts && !beyond));
    return bind_pool_epilogue(bind, &w, "sum");
}

/* --- averages of quantised values ------------------------------------------------------------- */

static bool accepts_qnn_avg_pool(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    return takes_sizes(region, why) && takes_window(&w, why) &&
           takes_qnn_scales(region, window_k_len(&w), why);
}

/* Element n of a table of n_max + 1 entries, as C. */
static const char *entry(struct bind *bind, const char *ending, enum dtype dtype, int64_t n_max,
                         const void *data)
{
    const int64_t n = n_max + 1;
    const struct type type = type_make(dtype, 1, &n);
    const char *name =
        arena_printf(bind->arena, "%s_%s", bind->region->anchor->outputs[0]->name, ending);

    return arena_printf(bind->arena, "%s[n]",
                        bind_operand(bind, constant_new(bind->region->fn, name, &type, data)));
}

/* A table of factors for every number of elements under a window. */
static const char *average_by_table(struct bind *bind, int64_t n)
{
    int32_t *multipliers = table_new(bind, DTYPE_I32, n + 1);
    int8_t *shifts = table_new(bind, DTYPE_I8, n + 1);
    const char *multiplier;

    for (int64_t i = 0; i <= n; i++) {
        const struct fixed_point factor = average_factor(bind->region->anchor, i);

        multipliers[i] = factor.multiplier;
        shifts[i] = (int8_t)factor.shift;
    }
    multiplier = entry(bind, "multiplier", DTYPE_I32, n, multipliers);
    return rescaled_sum_by(bind, "sum", multiplier, entry(bind, "shift", DTYPE_I8, n, shifts));
}

/* How a window's elements are counted. */
struct counting {
    bool padded, counts; /* some tap is outside; padding counts */
    bool varies;         /* the number varies between windows */
    bool may_be_none;
};

/* Turns the sum of values into one less the zero point. */
static void bind_shift(struct bind *bind, const struct counting *c, int64_t zero)
{
    const bool inside = c->padded && c->counts;

    bind_flag(bind, "shifted", zero != 0);
    bind_flag(bind, "counts_inside", zero != 0 && inside);
    bind_text(bind, "shift", "-= %s * %" PRId64, inside ? "n_inside" : c->varies ? "n" : "N", zero);
}

static const char *average_text(struct bind *bind, const struct counting *c,
                                const struct qnn_scales *scales, int64_t n, bool plain)
{
    const char *average;

    if (!plain && c->varies)
        return average_by_table(bind, n);
    if (!plain)
        return rescaled_sum(bind, "sum", average_factor(bind->region->anchor, n));
    average = plain_average(bind, "sum", n, c->varies ? "n" : NULL);
    return c->may_be_none ? arena_printf(bind->arena, "(%s)(n == 0 ? %" PRId64 " : %s)",
                                         dtype_c_type(anchor_output(bind->region, 0)->dtype),
                                         scales->out_zero, average)
                          : average;
}

static bool bind_qnn_avg_pool(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct qnn_scales scales = known_qnn_scales(node);
    const bool plain = qnn_average_is_plain(node, &scales);
    const struct window w = bind_pool_window(bind);
    const bool beyond = bind_padded_extents(bind, &w);
    struct counting c = { .padded = w.padded, .counts = node->attrs.pool.count_include_pad };

    c.varies = w.padded && (!c.counts || beyond);
    c.may_be_none = w.padded && !c.counts && (w.dil[0] > 1 || w.dil[1] > 1 || w.dil[2] > 1);
    bind_flag(bind, "deep", w.rank == 3);
    bind_pool_places(bind, &w, w.rank == 3);
    bind_flag(bind, "includes_padding", c.padded && c.counts);
    bind_flag(bind, "counts", c.counts);
    bind_flag(bind, "clips_padding", c.varies && c.counts);
    bind_flag(bind, "plain", plain);
    bind_text(bind, "tsum", "%s", bind_average_sum(bind, window_k_len(&w)));
    bind_shift(bind, &c, scales.in_zero);
    bind_text(bind, "ty", "%s", dtype_c_type(anchor_output(bind->region, 0)->dtype));
    bind_text(bind, "mean", "%s", average_text(bind, &c, &scales, window_k_len(&w), plain));
    return bind_pool_epilogue(bind, &w, "mean");
}

static bool bind_lp_pool(struct bind *bind)
{
    const struct window w = bind_pool_window(bind);
    const int64_t p = bind->region->anchor->attrs.pool.p;

    bind_lp(bind, p);
    return bind_pool_epilogue(bind, &w, "sum");
}

static bool takes_planes(const struct region *region, const char **why)
{
    const char *layout = region->anchor->attrs.layout.layout;

    return takes_channels_first(layout, layout, why);
}

static bool accepts_global_avg_pool(const struct region *region, const char **why)
{
    return takes_float(region, why) && takes_planes(region, why);
}

static bool accepts_global_max_pool(const struct region *region, const char **why)
{
    return takes_number(region, why) && takes_planes(region, why);
}

static bool bind_global_pool(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);
    const bool is_max = bind->region->anchor->op == OP_GLOBAL_MAX_POOL;
    const bool by_rows = reads_rows(bind->region, type_span(x, 2, x->rank));

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_int(bind, "planes", x->dim[0] * x->dim[1]);
    bind_int(bind, "len", type_span(x, 2, x->rank));
    bind_flag(bind, "by_rows", by_rows);
    if (by_rows)
        bind_helper(bind, is_max ? "row_max_f32" : "row_sum_f32");
    else if (is_max)
        bind_lowest(bind);
    return bind_epilogue_at(bind, is_max ? "best" : "sum", "plane");
}

const struct kernel kernel_avg_pool2d = {
    .name = "avg_pool2d",
    .forms = { { OPS(OP_AVG_POOL1D, OP_AVG_POOL2D), accepts_pool, bind_avg_pool } },
};

const struct kernel kernel_avg_pool3d = {
    .name = "avg_pool3d",
    .forms = { { OPS(OP_AVG_POOL3D), accepts_pool, bind_avg_pool } },
};

const struct kernel kernel_global_avg_pool = {
    .name = "global_avg_pool",
    .forms = { { OPS(OP_GLOBAL_AVG_POOL), accepts_global_avg_pool, bind_global_pool } },
};

const struct kernel kernel_global_max_pool = {
    .name = "global_max_pool",
    .forms = { { OPS(OP_GLOBAL_MAX_POOL), accepts_global_max_pool, bind_global_pool } },
};

const struct kernel kernel_lp_pool2d = {
    .name = "lp_pool2d",
    .forms = { { OPS(OP_LP_POOL1D, OP_LP_POOL2D), accepts_pool, bind_lp_pool } },
};

const struct kernel kernel_lp_pool3d = {
    .name = "lp_pool3d",
    .forms = { { OPS(OP_LP_POOL3D), accepts_pool, bind_lp_pool } },
};

const struct kernel kernel_max_pool_lanes = {
    .name = "max_pool_lanes",
    .leads = leads_pool,
    .forms = { { OPS(OP_MAX_POOL1D, OP_MAX_POOL2D, OP_MAX_POOL3D), accepts_max_pool_lanes,
                 bind_max_pool_lanes } },
};

const struct kernel kernel_max_pool_codes = {
    .name = "max_pool_codes",
    .leads = leads_pool,
    .forms = { { OPS(OP_MAX_POOL1D, OP_MAX_POOL2D, OP_MAX_POOL3D), accepts_max_pool_codes,
                 bind_max_pool_codes } },
};

const struct kernel kernel_max_pool2d = {
    .name = "max_pool2d",
    .forms = { { OPS(OP_MAX_POOL1D, OP_MAX_POOL2D), accepts_max_pool, bind_max_pool } },
};

const struct kernel kernel_max_pool3d = {
    .name = "max_pool3d",
    .forms = { { OPS(OP_MAX_POOL3D), accepts_max_pool, bind_max_pool } },
};

const struct kernel kernel_max_pool_indices = {
    .name = "max_pool_indices",
    .forms = { { OPS(OP_MAX_POOL_INDICES), accepts_max_pool, bind_max_pool_indices } },
};

const struct kernel kernel_qnn_avg_pool = {
    .name = "qnn_avg_pool",
    .leads = leads_pool,
    .forms = { { OPS(OP_QNN_AVG_POOL1D, OP_QNN_AVG_POOL2D, OP_QNN_AVG_POOL3D), accepts_qnn_avg_pool,
                 bind_qnn_avg_pool } },
};
