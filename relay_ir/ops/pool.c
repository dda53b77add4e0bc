/* pool.c - nn.max_pool, avg_pool and lp_pool in 1 to 3 dimensions, max_pool_indices, global pools.
 *
 * out = (pad_before + in + pad_after - covers) / stride + 1, rounded down, or up with ceil_mode;
 * but a window that would start behind the input and the padding before it is left out. Where one
 * window is longer than all by less than a stride, it is the only one, as in ONNX Runtime. Elements of
 * the padding never win and add nothing. avg_pool divides by the number of the window's elements in
 * the input, or with count_include_pad in the input and its padding (not by those that ceil_mode
 * lets hang over). A dilated window may miss the input altogether: then the maximum is the least
 * number of the type, its index 0, and the average 0. A NaN is a maximum.
 *
 * qnn.avg_pool: sums as here, of narrow floats those of steps, which doubles hold exactly; averages
 * as qnn_reduce.c says. */
#include <math.h>

#include "base/minifloat.h"
#include "relay_ir/layout.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/ops/spatial.h"

static int spatial_rank(const struct node *node)
{
    const int rank = op_spatial_rank(node->op);

    return rank ? rank : input_type(node, 0)->rank - 2; /* max_pool_indices takes all ranks */
}

static bool is_max(enum op op)
{
    return op == OP_MAX_POOL1D || op == OP_MAX_POOL2D || op == OP_MAX_POOL3D ||
           op == OP_MAX_POOL_INDICES;
}

static bool is_lp(enum op op)
{
    return op == OP_LP_POOL1D || op == OP_LP_POOL2D || op == OP_LP_POOL3D;
}

/* Maxima of integers are found as doubles, which hold 32 bits exactly. */
static bool check_element(struct ctx *ctx, const struct node *node)
{
    const enum dtype dtype = input_type(node, 0)->dtype;
    const bool fp8 = is_max(node->op) && dtype_minifloat(dtype);
    const bool max = is_max(node->op) || node->op == OP_GLOBAL_MAX_POOL;

    if (!fp8 && !check_kinds(ctx, node, 0, max ? KINDS_NUMBER : KINDS_FLOAT))
        return false;
    if (dtype_is_integer(dtype) && dtype_bytes(dtype) > 4)
        return diag_error(
            ctx, DIAG_UNSUPPORTED_TYPE, node_origin(node),
            "%s of %s is not supported, expected a float or an integer of at most 32 bits",
            op_name(node->op), dtype_name(dtype));
    return true;
}

/* dims: the spatial ones of x. */
static struct spatial spatial_of(const struct node *node, const int64_t *dims)
{
    const struct pool_attrs *attrs = &node->attrs.pool;

    return spatial_make(spatial_rank(node), dims, attrs->pool_size.at, &attrs->strides,
                        &attrs->padding, &attrs->dilation);
}

/* A window in the padding alone has no maximum and no average. */
static bool check_padding(struct ctx *ctx, const struct node *node, int rank,
                          const struct spatial *spatial)
{
    for (int i = 0; i < rank; i++) {
        const struct slide *s = &spatial->dim[MAX_SPATIAL - rank + i];

        if (s->pad_before >= slide_covers(s) || s->pad_after >= slide_covers(s))
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: padding of %lld and %lld in spatial dimension %d, expected less "
                              "than the %lld elements that the window covers",
                              op_name(node->op), (long long)s->pad_before, (long long)s->pad_after,
                              i, (long long)slide_covers(s));
        if (s->in < 1)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: x of shape %s is empty",
                              op_name(node->op), shape_text(&ctx->perm, input_type(node, 0)));
    }
    return true;
}

/* The indices of a maximum count channels first. */
static bool check_layout(struct ctx *ctx, struct node *node, int rank)
{
    const char **layout = &node->attrs.pool.layout;

    if (!spatial_check_layout(ctx, node, "layout", rank, layout))
        return false;
    if (node->op != OP_MAX_POOL_INDICES || !layout_is_last(*layout))
        return true;
    return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                      "%s: layout is \"%s\", expected one with the channels first",
                      op_name(node->op), *layout);
}

static bool check_attrs(struct ctx *ctx, struct node *node, int rank)
{
    struct pool_attrs *attrs = &node->attrs.pool;

    if (is_lp(node->op) && attrs->p < 1)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s: p is %lld, expected 1 or more", op_name(node->op),
                          (long long)attrs->p);
    if (attrs->storage_order != 0 && attrs->storage_order != 1)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s: storage_order is %lld, expected 0 or 1", op_name(node->op),
                          (long long)attrs->storage_order);
    if (attrs->pool_size.n != rank)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: pool_size has %d entries, expected %d", op_name(node->op),
                          attrs->pool_size.n, rank);
    return spatial_check_list(ctx, node, "pool_size", rank, 1, 1, &attrs->pool_size) &&
           spatial_check(ctx, node, rank, &attrs->strides, &attrs->padding, &attrs->dilation) &&
           check_layout(ctx, node, rank);
}

/* A window that is longer than the room by less than a stride has one position: room / stride is 0.
 */
static int64_t pooled_extent(const struct slide *slide, bool ceil_mode)
{
    const int64_t room = slide->pad_before + slide->in + slide->pad_after - slide_covers(slide);
    int64_t out = room / slide->stride + 1;

    if (ceil_mode && room > 0 && room % slide->stride &&
        out * slide->stride < slide->in + slide->pad_before)
        out++;
    return out;
}

bool pool_shape(struct ctx *ctx, struct node *node, struct type *y)
{
    const int wanted = op_spatial_rank(node->op);
    struct spatial spatial;
    int rank, from;

    *y = *input_type(node, 0);
    if (!check_rank(ctx, node, 0, 2 + (wanted ? wanted : 1), 2 + (wanted ? wanted : MAX_SPATIAL)))
        return false;
    rank = spatial_rank(node);
    if (!check_attrs(ctx, node, rank))
        return false;
    from = layout_spatial_axis(node->attrs.pool.layout);
    spatial = spatial_of(node, y->dim + from);
    if (!check_padding(ctx, node, rank, &spatial) ||
        !spatial_check_fit(ctx, node, rank, &spatial, true))
        return false;
    for (int i = 0; i < rank; i++)
        y->dim[from + i] =
            pooled_extent(&spatial.dim[MAX_SPATIAL - rank + i], node->attrs.pool.ceil_mode);
    return true;
}

bool infer_pool(struct ctx *ctx, struct node *node)
{
    struct type y;

    if (!check_element(ctx, node) || !pool_shape(ctx, node, &y))
        return false;
    set_output(node, 0, y.dtype, &y);
    if (is_max(node->op))
        pass_scales_in_place(node, 0, 0);
    if (node->op == OP_MAX_POOL_INDICES)
        set_output(node, 1, DTYPE_I64, &y);
    return true;
}

/* --- evaluation ------------------------------------------------------------------------------- */

/* The taps of one output in one dimension: input positions at + k * dilation for from <= k < to.
 * n_padded of the kernel's taps are in the input or its padding. */
struct taps {
    int64_t at, from, to, n_padded;
};

/* How many k in 0 .. kernel - 1 have at + k * dilation < end. */
static int64_t taps_below(const struct slide *slide, int64_t at, int64_t end)
{
    const int64_t n = end > at ? (end - at + slide->dilation - 1) / slide->dilation : 0;

    return n < slide->kernel ? n : slide->kernel;
}

static struct taps taps_of(const struct slide *slide, int64_t o)
{
    const int64_t at = o * slide->stride - slide->pad_before;

    return (struct taps){ at, taps_below(slide, at, 0), taps_below(slide, at, slide->in),
                          taps_below(slide, at, slide->in + slide->pad_after) };
}

/* What a window holds so far. */
struct window {
    double best, sum;
    int64_t best_at, n; /* best_at: element of the plane */
};

static struct window look(const struct spatial *spatial, const struct taps *taps, const double *x,
                          int64_t p)
{
    const struct slide *s = spatial->dim;
    struct window window = { .best = 0 };

    for (int64_t kd = taps[0].from; kd < taps[0].to; kd++)
        for (int64_t kh = taps[1].from; kh < taps[1].to; kh++)
            for (int64_t kw = taps[2].from; kw < taps[2].to; kw++) {
                const int64_t id = taps[0].at + kd * s[0].dilation;
                const int64_t ih = taps[1].at + kh * s[1].dilation;
                const int64_t at = (id * s[1].in + ih) * s[2].in + taps[2].at + kw * s[2].dilation;

                if (window.n++ == 0 || x[at] > window.best || isnan(x[at])) {
                    window.best = x[at];
                    window.best_at = at;
                }
                window.sum += p ? pow(fabs(x[at]), (double)p) : x[at];
            }
    return window;
}

/* What the sum of an average is divided by. */
static int64_t counted(const struct node *node, const struct window *window,
                       const struct taps *taps)
{
    return node->attrs.pool.count_include_pad
               ? taps[0].n_padded * taps[1].n_padded * taps[2].n_padded
               : window->n;
}

/* The least number of a type that max_pool takes. */
static double least_number(enum dtype dtype)
{
    const double half = ldexp(1, 8 * (int)dtype_bytes(dtype) - 1);

    if (dtype_is_float(dtype) || dtype_minifloat(dtype))
        return -INFINITY;
    return dtype_kind(dtype) == KIND_UINT ? 0 : -half;
}

/* A maximum of FP8 is one of the quantised values; formats without infinities have no -infinity either. */
static void store(struct tensor *out, int64_t at, double y)
{
    const struct minifloat *format = dtype_minifloat(out->type.dtype);

    if (format)
        ((uint8_t *)out->data)[at] =
            (uint8_t)minifloat_encode(format, y, format->specials != MINIFLOAT_IEEE);
    else
        dtype_store(out->type.dtype, out->data, at, y);
}

/* The number of an element of a plane when columns are counted first. */
static int64_t column_major(const struct spatial *spatial, int64_t at)
{
    const struct slide *s = spatial->dim;
    const int64_t iw = at % s[2].in, ih = at / s[2].in % s[1].in, id = at / s[2].in / s[1].in;

    return id + (ih + iw * s[1].in) * s[0].in;
}

static int64_t plane_size(const struct spatial *spatial)
{
    const struct slide *s = spatial->dim;

    return s[0].in * s[1].in * s[2].in;
}

/* What a pool of one kind makes of a window: element `to` of the result, and the place of the
 * greatest, which is one of plane `plane`. */
static void put_result(const struct node *node, const struct spatial *spatial,
                       const struct window *window, int64_t n_counted, int64_t plane, int64_t to,
                       struct tensor *out)
{
    double y = window->best;

    if (is_lp(node->op))
        y = pow(window->sum, 1 / (double)node->attrs.pool.p);
    else if (!is_max(node->op))
        y = n_counted ? window->sum / (double)n_counted : 0;
    else if (window->n == 0)
        y = least_number(out->type.dtype);
    store(out, to, y);
    if (node->op == OP_MAX_POOL_INDICES)
        ((int64_t *)out[1].data)[to] =
            window->n == 0
                ? 0
                : plane * plane_size(spatial) + (node->attrs.pool.storage_order
                                                     ? column_major(spatial, window->best_at)
                                                     : window->best_at);
}

/* scales: of averages of integers or of steps, else NULL. */
static void pool_one(const struct node *node, const struct spatial *spatial, const double *x,
                     const struct qnn_scales *scales, int64_t plane, int64_t i, struct tensor *out)
{
    const struct slide *s = spatial->dim;
    const struct taps taps[] = { taps_of(&s[0], i / s[2].out / s[1].out),
                                 taps_of(&s[1], i / s[2].out % s[1].out),
                                 taps_of(&s[2], i % s[2].out) };
    const int64_t p = is_lp(node->op) ? node->attrs.pool.p : 0;
    const struct window window = look(spatial, taps, x + plane * plane_size(spatial), p);
    const int64_t to = plane * s[0].out * s[1].out * s[2].out + i;
    const int64_t n = counted(node, &window, taps);

    if (scales && type_minifloat(&out->type))
        exact_put_average(node, scales, (int64_t)window.sum, n, out, to);
    else if (scales)
        qnn_put_saturated(
            out, to,
            qnn_average_of(node, scales, (int64_t)window.sum - window.n * scales->in_zero, n));
    else
        put_result(node, spatial, &window, n, plane, to, out);
}

static void pool_planes(const struct node *node, const struct tensor *from,
                        const struct qnn_scales *scales, struct tensor *out)
{
    const int rank = spatial_rank(node);
    const int64_t n_planes = type_span(&out->type, 0, 2);
    const int64_t n_out = type_span(&out->type, 2, 2 + rank);
    struct spatial spatial = spatial_of(node, from->type.dim + 2);
    struct bulk bulk = { NULL, 0 };
    const double *x = doubles_of(&bulk, from);

    for (int i = 0; i < MAX_SPATIAL; i++)
        spatial.dim[i].out =
            i < MAX_SPATIAL - rank ? 1 : out->type.dim[2 + i - (MAX_SPATIAL - rank)];
    for (int64_t plane = 0; plane < n_planes; plane++)
        for (int64_t i = 0; i < n_out; i++)
            pool_one(node, &spatial, x, scales, plane, i, out);
    bulk_release(&bulk);
}

static void pool_all(const struct node *node, const struct tensor *from,
                     const struct qnn_scales *scales, struct tensor *out)
{
    const char *layout = node->attrs.pool.layout;
    struct bulk bulk = { NULL, 0 };

    if (layout_is_last(layout)) { /* on turned copies */
        const struct tensor x = tensor_channels_first(&bulk, from, layout);
        struct tensor y = tensor_first_for(&bulk, out, layout);

        pool_planes(node, &x, scales, &y);
        tensor_store_first(&y, layout, out);
    } else {
        pool_planes(node, from, scales, out);
    }
    bulk_release(&bulk);
}

bool eval_pool(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
               struct tensor *out)
{
    (void)ctx;
    pool_all(node, in[0], NULL, out);
    return true;
}

bool infer_qnn_avg_pool(struct ctx *ctx, struct node *node)
{
    struct type y;

    if (!qnn_check_scales(ctx, node) || !pool_shape(ctx, node, &y))
        return false;
    set_scaled_output(node, input_type(node, 4)->dtype, &y, 3, 4, -1);
    return true;
}

bool eval_qnn_avg_pool(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                       struct tensor *out)
{
    const struct qnn_scales scales = qnn_scales_of(in);
    struct bulk bulk = { NULL, 0 };
    const struct tensor x = type_minifloat(&in[0]->type) ? exact_steps_of(&bulk, in[0]) : *in[0];

    (void)ctx;
    pool_all(node, &x, &scales, out);
    bulk_release(&bulk);
    return true;
}

bool infer_global_pool(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    const char **layout = &node->attrs.layout.layout;
    struct type y = *x;
    int from;

    if (!check_element(ctx, node) || !check_rank(ctx, node, 0, 3, MAX_RANK) ||
        !spatial_check_layout(ctx, node, "layout", x->rank - 2, layout))
        return false;
    from = layout_spatial_axis(*layout);
    for (int i = from; i < from + x->rank - 2; i++) {
        if (x->dim[i] < 1)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: x of shape %s is empty",
                              op_name(node->op), shape_text(&ctx->perm, x));
        y.dim[i] = 1;
    }
    set_output(node, 0, x->dtype, &y);
    return true;
}

bool eval_global_pool(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                      struct tensor *out)
{
    const struct type *x_type = &in[0]->type;
    const char *layout = node->attrs.layout.layout;
    const int64_t channels = x_type->dim[layout_channel_axis(layout, x_type->rank)];
    const int from = layout_spatial_axis(layout);
    const int64_t size = type_span(x_type, from, from + x_type->rank - 2);
    const struct layout_steps step = layout_steps(x_type, layout);

    (void)ctx;
    for (int64_t plane = 0; plane < x_type->dim[0] * channels; plane++) {
        const int64_t at = plane / channels * step.image + plane % channels * step.channel;
        double best = tensor_at(in[0], at), sum = best;

        for (int64_t i = 1; i < size; i++) {
            const double x = tensor_at(in[0], at + i * step.place);

            best = x > best || isnan(x) ? x : best;
            sum += x;
        }
        dtype_store(out->type.dtype, out->data, plane,
                    node->op == OP_GLOBAL_MAX_POOL ? best : sum / (double)size);
    }
    return true;
}
