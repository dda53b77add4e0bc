/* relayc_dnnl.h - what NAME_dnnl.c needs around oneDNN's C API (version 2).
 *
 * A region is a chain of primitives on plain row-major memory that the caller owns: oneDNN is
 * handed pointers, never asked for buffers of activations or weights. Its scratchpads are its own;
 * primitives come from its cache after the first run. The first failure sticks in `status`, and
 * what follows does nothing, so that a region checks once, at its end. */
#ifndef RELAYC_DNNL_H
#define RELAYC_DNNL_H

#include <math.h> /* INFINITY, in clips that are open on one side */
#include <oneapi/dnnl/dnnl.h>
#include <stddef.h>
#include <stdint.h>

#if DNNL_VERSION_MAJOR != 2
#error "this C is written for oneDNN 2.x"
#endif

enum { RELAYC_DNNL_ARGS = 12, RELAYC_DNNL_POST_OPS = 4 };

struct relayc_dnnl {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_status_t status;
    /* Of the primitive that comes next. */
    dnnl_post_ops_t post_ops;
    int n_post_ops, n_args;
    int x_zero; /* zero point of its source */
    dnnl_exec_arg_t args[RELAYC_DNNL_ARGS];
};

static inline void relayc_dnnl_begin(struct relayc_dnnl *d)
{
    d->engine = NULL;
    d->stream = NULL;
    d->post_ops = NULL;
    d->n_post_ops = d->n_args = d->x_zero = 0;
    d->status = dnnl_engine_create(&d->engine, dnnl_cpu, 0);
    if (d->status == dnnl_success)
        d->status = dnnl_stream_create(&d->stream, d->engine, dnnl_stream_default_flags);
    if (d->status == dnnl_success)
        d->status = dnnl_post_ops_create(&d->post_ops);
}

/* Forgets what was bound for one primitive. */
static inline void relayc_dnnl_clear(struct relayc_dnnl *d)
{
    while (d->n_args > 0)
        dnnl_memory_destroy(d->args[--d->n_args].memory);
    if (d->post_ops)
        dnnl_post_ops_destroy(d->post_ops);
    d->post_ops = NULL;
    d->n_post_ops = d->x_zero = 0;
}

/* What the region's function returns: 0, or oneDNN's status. */
static inline int relayc_dnnl_end(struct relayc_dnnl *d)
{
    relayc_dnnl_clear(d);
    if (d->stream)
        dnnl_stream_destroy(d->stream);
    if (d->engine)
        dnnl_engine_destroy(d->engine);
    return (int)d->status;
}

/* Dense row-major f32 memory. */
static inline dnnl_memory_desc_t relayc_dnnl_dense(int n, const dnnl_dim_t *dims)
{
    dnnl_memory_desc_t desc;
    dnnl_dims_t all = { 0 }; /* the parameter is declared as an array of them */

    for (int i = 0; i < n; i++)
        all[i] = dims[i];
    /* Without strides: dense, the last dim innermost. */
    if (dnnl_memory_desc_init_by_strides(&desc, n, all, dnnl_f32, NULL) != dnnl_success)
        desc.ndims = 0; /* the primitive refuses it */
    return desc;
}

static inline void relayc_dnnl_bind(struct relayc_dnnl *d, int arg, const dnnl_memory_desc_t *desc,
                                    const void *data)
{
    if (d->status != dnnl_success)
        return;
    if (d->n_args == RELAYC_DNNL_ARGS) {
        d->status = dnnl_invalid_arguments;
        return;
    }
    d->args[d->n_args].arg = arg;
    d->status =
        dnnl_memory_create(&d->args[d->n_args].memory, desc, d->engine, (void *)(size_t)data);
    d->n_args += d->status == dnnl_success;
}

/* An element-wise function on the result of the primitive that comes next. */
static inline void relayc_dnnl_act(struct relayc_dnnl *d, dnnl_alg_kind_t algorithm, float alpha,
                                   float beta)
{
    if (d->status == dnnl_success)
        d->status = dnnl_post_ops_append_eltwise(d->post_ops, 1.0F, algorithm, alpha, beta);
    d->n_post_ops++;
}

/* The primitive that comes next adds a tensor of its result's shape. */
static inline void relayc_dnnl_sum(struct relayc_dnnl *d, int n, const dnnl_dim_t *dims,
                                   const float *residual)
{
    const dnnl_memory_desc_t desc = relayc_dnnl_dense(n, dims);

    if (d->status == dnnl_success)
        d->status = dnnl_post_ops_append_binary(d->post_ops, dnnl_binary_add, &desc);
    relayc_dnnl_bind(d, DNNL_ARG_ATTR_MULTIPLE_POST_OP(d->n_post_ops) | DNNL_ARG_SRC_1, &desc,
                     residual);
    d->n_post_ops++;
}

/* Makes the primitive, executes it on what was bound, and clears for the next one. */
static inline void relayc_dnnl_run(struct relayc_dnnl *d, dnnl_status_t described,
                                   const_dnnl_op_desc_t desc)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t primitive_desc = NULL;
    dnnl_primitive_t primitive = NULL;

    if (d->status == dnnl_success)
        d->status = described;
    if (d->status == dnnl_success)
        d->status = dnnl_primitive_attr_create(&attr);
    if (d->status == dnnl_success)
        d->status = dnnl_primitive_attr_set_post_ops(attr, d->post_ops);
    if (d->status == dnnl_success && d->x_zero)
        d->status =
            dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_SRC, 1, 0, &(int32_t){ d->x_zero });
    if (d->status == dnnl_success)
        d->status = dnnl_primitive_desc_create(&primitive_desc, desc, attr, d->engine, NULL);
    if (d->status == dnnl_success)
        d->status = dnnl_primitive_create(&primitive, primitive_desc);
    if (d->status == dnnl_success)
        d->status = dnnl_primitive_execute(primitive, d->stream, d->n_args, d->args);
    if (d->status == dnnl_success)
        d->status = dnnl_stream_wait(d->stream);
    if (primitive)
        dnnl_primitive_destroy(primitive);
    if (primitive_desc)
        dnnl_primitive_desc_destroy(primitive_desc);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    relayc_dnnl_clear(d);
    if (d->status == dnnl_success)
        d->status = dnnl_post_ops_create(&d->post_ops);
}

/* A convolution of n spatial dims. w_dims: [groups,] out, in, spatial. Paddings and dilations as
 * oneDNN has them (a dilation of 0 has no gaps). */
struct relayc_dnnl_conv {
    int n, groups;
    const dnnl_dim_t *x_dims, *w_dims, *y_dims, *strides, *dilation, *begin, *end;
    const float *x, *w, *b; /* b may be NULL */
    float *y;
};

static inline void relayc_dnnl_conv(struct relayc_dnnl *d, const struct relayc_dnnl_conv *c)
{
    const dnnl_memory_desc_t x = relayc_dnnl_dense(2 + c->n, c->x_dims);
    const dnnl_memory_desc_t w = relayc_dnnl_dense(2 + c->n + (c->groups > 1), c->w_dims);
    const dnnl_memory_desc_t b = relayc_dnnl_dense(1, &c->y_dims[1]);
    const dnnl_memory_desc_t y = relayc_dnnl_dense(2 + c->n, c->y_dims);
    dnnl_convolution_desc_t desc;

    relayc_dnnl_bind(d, DNNL_ARG_SRC, &x, c->x);
    relayc_dnnl_bind(d, DNNL_ARG_WEIGHTS, &w, c->w);
    if (c->b)
        relayc_dnnl_bind(d, DNNL_ARG_BIAS, &b, c->b);
    relayc_dnnl_bind(d, DNNL_ARG_DST, &y, c->y);
    relayc_dnnl_run(d,
                    dnnl_dilated_convolution_forward_desc_init(
                        &desc, dnnl_forward_inference, dnnl_convolution_direct, &x, &w,
                        c->b ? &b : NULL, &y, c->strides, c->dilation, c->begin, c->end),
                    &desc);
}

/* As relayc_dnnl_conv; the weights lie as [groups,] in, out, spatial. */
static inline void relayc_dnnl_deconv(struct relayc_dnnl *d, const struct relayc_dnnl_conv *c)
{
    const int at = c->groups > 1, rank = 2 + c->n + at;
    const dnnl_memory_desc_t x = relayc_dnnl_dense(2 + c->n, c->x_dims);
    const dnnl_memory_desc_t stored = relayc_dnnl_dense(rank, c->w_dims);
    const dnnl_memory_desc_t b = relayc_dnnl_dense(1, &c->y_dims[1]);
    const dnnl_memory_desc_t y = relayc_dnnl_dense(2 + c->n, c->y_dims);
    dnnl_memory_desc_t w = stored;
    dnnl_deconvolution_desc_t desc;
    int order[DNNL_MAX_NDIMS];

    for (int i = 0; i < rank; i++)
        order[i] = i;
    order[at] = at + 1;
    order[at + 1] = at;
    if (d->status == dnnl_success)
        d->status = dnnl_memory_desc_permute_axes(&w, &stored, order);
    relayc_dnnl_bind(d, DNNL_ARG_SRC, &x, c->x);
    relayc_dnnl_bind(d, DNNL_ARG_WEIGHTS, &w, c->w);
    if (c->b)
        relayc_dnnl_bind(d, DNNL_ARG_BIAS, &b, c->b);
    relayc_dnnl_bind(d, DNNL_ARG_DST, &y, c->y);
    relayc_dnnl_run(d,
                    dnnl_dilated_deconvolution_forward_desc_init(
                        &desc, dnnl_forward_inference, dnnl_deconvolution_direct, &x, &w,
                        c->b ? &b : NULL, &y, c->strides, c->dilation, c->begin, c->end),
                    &desc);
}

/* y[rows][columns] = x[rows][depth] * w + b; w is [columns][depth] (turned) or [depth][columns]. */
static inline void relayc_dnnl_dense_layer(struct relayc_dnnl *d, dnnl_dim_t rows, dnnl_dim_t depth,
                                           dnnl_dim_t columns, const float *x, const float *w,
                                           const float *b, float *y)
{
    const dnnl_dim_t x_dims[] = { rows, depth };
    const dnnl_dims_t w_dims = { depth, columns };
    const dnnl_dims_t w_strides = { 1, depth };
    const dnnl_dim_t y_dims[] = { rows, columns };
    const dnnl_dim_t b_dims[] = { 1, columns };
    const dnnl_memory_desc_t src = relayc_dnnl_dense(2, x_dims);
    const dnnl_memory_desc_t bias = relayc_dnnl_dense(2, b_dims);
    const dnnl_memory_desc_t dst = relayc_dnnl_dense(2, y_dims);
    dnnl_memory_desc_t weights;
    dnnl_matmul_desc_t desc;

    if (d->status == dnnl_success)
        d->status = dnnl_memory_desc_init_by_strides(&weights, 2, w_dims, dnnl_f32, w_strides);
    if (d->status != dnnl_success)
        return;
    relayc_dnnl_bind(d, DNNL_ARG_SRC, &src, x);
    relayc_dnnl_bind(d, DNNL_ARG_WEIGHTS, &weights, w);
    if (b)
        relayc_dnnl_bind(d, DNNL_ARG_BIAS, &bias, b);
    relayc_dnnl_bind(d, DNNL_ARG_DST, &dst, y);
    relayc_dnnl_run(d, dnnl_matmul_desc_init(&desc, &src, &weights, b ? &bias : NULL, &dst), &desc);
}

/* Stacks of matrices of the same rank; a_dims and b_dims are those that are stored, the last
 * two swapped where turned. */
static inline void relayc_dnnl_matmul(struct relayc_dnnl *d, int n, const dnnl_dim_t *a_dims,
                                      int a_turned, const dnnl_dim_t *b_dims, int b_turned,
                                      const dnnl_dim_t *y_dims, const float *a, const float *b,
                                      float *y)
{
    const dnnl_memory_desc_t stored_a = relayc_dnnl_dense(n, a_dims);
    const dnnl_memory_desc_t stored_b = relayc_dnnl_dense(n, b_dims);
    const dnnl_memory_desc_t dst = relayc_dnnl_dense(n, y_dims);
    dnnl_memory_desc_t src = stored_a, weights = stored_b;
    dnnl_matmul_desc_t desc;
    int order[DNNL_MAX_NDIMS];

    for (int i = 0; i < n; i++)
        order[i] = i;
    order[n - 2] = n - 1;
    order[n - 1] = n - 2;
    if (d->status == dnnl_success && a_turned)
        d->status = dnnl_memory_desc_permute_axes(&src, &stored_a, order);
    if (d->status == dnnl_success && b_turned)
        d->status = dnnl_memory_desc_permute_axes(&weights, &stored_b, order);
    relayc_dnnl_bind(d, DNNL_ARG_SRC, &src, a);
    relayc_dnnl_bind(d, DNNL_ARG_WEIGHTS, &weights, b);
    relayc_dnnl_bind(d, DNNL_ARG_DST, &dst, y);
    relayc_dnnl_run(d, dnnl_matmul_desc_init(&desc, &src, &weights, NULL, &dst), &desc);
}

static inline void relayc_dnnl_pool(struct relayc_dnnl *d, dnnl_alg_kind_t algorithm, int n,
                                    const dnnl_dim_t *x_dims, const dnnl_dim_t *y_dims,
                                    const dnnl_dim_t *size, const dnnl_dim_t *strides,
                                    const dnnl_dim_t *dilation, const dnnl_dim_t *begin,
                                    const dnnl_dim_t *end, const float *x, float *y)
{
    const dnnl_memory_desc_t src = relayc_dnnl_dense(2 + n, x_dims);
    const dnnl_memory_desc_t dst = relayc_dnnl_dense(2 + n, y_dims);
    dnnl_pooling_v2_desc_t desc;

    relayc_dnnl_bind(d, DNNL_ARG_SRC, &src, x);
    relayc_dnnl_bind(d, DNNL_ARG_DST, &dst, y);
    relayc_dnnl_run(d,
                    dnnl_pooling_v2_forward_desc_init(&desc, dnnl_forward_inference, algorithm,
                                                      &src, &dst, strides, size, dilation, begin,
                                                      end),
                    &desc);
}

static inline void relayc_dnnl_eltwise(struct relayc_dnnl *d, dnnl_alg_kind_t algorithm,
                                       float alpha, float beta, dnnl_dim_t elements, const float *x,
                                       float *y)
{
    const dnnl_memory_desc_t data = relayc_dnnl_dense(1, &elements);
    dnnl_eltwise_desc_t desc;

    relayc_dnnl_bind(d, DNNL_ARG_SRC, &data, x);
    relayc_dnnl_bind(d, DNNL_ARG_DST, &data, y);
    relayc_dnnl_run(d,
                    dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_inference, algorithm, &data,
                                                   alpha, beta),
                    &desc);
}

/* Both operands have rank n; a dim of 1 is repeated. */
static inline void relayc_dnnl_binary(struct relayc_dnnl *d, dnnl_alg_kind_t algorithm, int n,
                                      const dnnl_dim_t *a_dims, const dnnl_dim_t *b_dims,
                                      const dnnl_dim_t *y_dims, const float *a, const float *b,
                                      float *y)
{
    const dnnl_memory_desc_t src0 = relayc_dnnl_dense(n, a_dims);
    const dnnl_memory_desc_t src1 = relayc_dnnl_dense(n, b_dims);
    const dnnl_memory_desc_t dst = relayc_dnnl_dense(n, y_dims);
    dnnl_binary_desc_t desc;

    relayc_dnnl_bind(d, DNNL_ARG_SRC_0, &src0, a);
    relayc_dnnl_bind(d, DNNL_ARG_SRC_1, &src1, b);
    relayc_dnnl_bind(d, DNNL_ARG_DST, &dst, y);
    relayc_dnnl_run(d, dnnl_binary_desc_init(&desc, algorithm, &src0, &src1, &dst), &desc);
}

static inline void relayc_dnnl_softmax(struct relayc_dnnl *d, dnnl_alg_kind_t algorithm, int n,
                                       const dnnl_dim_t *dims, int axis, const float *x, float *y)
{
    const dnnl_memory_desc_t data = relayc_dnnl_dense(n, dims);
    dnnl_softmax_v2_desc_t desc;

    relayc_dnnl_bind(d, DNNL_ARG_SRC, &data, x);
    relayc_dnnl_bind(d, DNNL_ARG_DST, &data, y);
    relayc_dnnl_run(d,
                    dnnl_softmax_v2_forward_desc_init(&desc, dnnl_forward_inference, algorithm,
                                                      &data, &data, axis),
                    &desc);
}

static inline void relayc_dnnl_layer_norm(struct relayc_dnnl *d, dnnl_dim_t rows, dnnl_dim_t length,
                                          float epsilon, const float *x, const float *scale,
                                          const float *shift, float *y)
{
    const dnnl_dim_t dims[] = { rows, length };
    const dnnl_memory_desc_t data = relayc_dnnl_dense(2, dims);
    const dnnl_memory_desc_t vector = relayc_dnnl_dense(1, &length);
    dnnl_layer_normalization_desc_t desc;

    relayc_dnnl_bind(d, DNNL_ARG_SRC, &data, x);
    relayc_dnnl_bind(d, DNNL_ARG_SCALE, &vector, scale);
    if (shift)
        relayc_dnnl_bind(d, DNNL_ARG_SHIFT, &vector, shift);
    relayc_dnnl_bind(d, DNNL_ARG_DST, &data, y);
    relayc_dnnl_run(d,
                    dnnl_layer_normalization_forward_desc_init(
                        &desc, dnnl_forward_inference, &data, NULL, epsilon,
                        (unsigned)dnnl_use_scale | (shift ? (unsigned)dnnl_use_shift : 0U)),
                    &desc);
}

static inline void relayc_dnnl_lrn(struct relayc_dnnl *d, int n, const dnnl_dim_t *dims,
                                   dnnl_dim_t size, float alpha, float beta, float bias,
                                   const float *x, float *y)
{
    const dnnl_memory_desc_t data = relayc_dnnl_dense(n, dims);
    dnnl_lrn_desc_t desc;

    relayc_dnnl_bind(d, DNNL_ARG_SRC, &data, x);
    relayc_dnnl_bind(d, DNNL_ARG_DST, &data, y);
    relayc_dnnl_run(d,
                    dnnl_lrn_forward_desc_init(&desc, dnnl_forward_inference,
                                               dnnl_lrn_across_channels, &data, size, alpha, beta,
                                               bias),
                    &desc);
}

/* --- int8 --------------------------------------------------------------------------------------
 */

/* A convolution of 8-bit integers: sums[...] = b + sum of (x - x_zero) * w, 32 bits, exact. The
 * weights are handed over as they lie, so that no kernel is chosen that adds in 16 bits. */
struct relayc_dnnl_qnn_conv {
    int n, groups, x_zero;
    dnnl_data_type_t x_type; /* dnnl_s8 or dnnl_u8; weights are dnnl_s8 */
    const dnnl_dim_t *x_dims, *w_dims, *y_dims, *strides, *dilation, *begin, *end;
    const void *x;
    const int8_t *w;
    const int32_t *b; /* may be NULL */
    int32_t *sums;
};

static inline dnnl_memory_desc_t relayc_dnnl_dense_of(dnnl_data_type_t type, int n,
                                                      const dnnl_dim_t *dims)
{
    dnnl_memory_desc_t desc = relayc_dnnl_dense(n, dims);

    desc.data_type = type;
    return desc;
}

static inline void relayc_dnnl_qnn_conv(struct relayc_dnnl *d, const struct relayc_dnnl_qnn_conv *c)
{
    const dnnl_memory_desc_t x = relayc_dnnl_dense_of(c->x_type, 2 + c->n, c->x_dims);
    const dnnl_memory_desc_t w =
        relayc_dnnl_dense_of(dnnl_s8, 2 + c->n + (c->groups > 1), c->w_dims);
    const dnnl_memory_desc_t b = relayc_dnnl_dense_of(dnnl_s32, 1, &c->y_dims[1]);
    const dnnl_memory_desc_t y = relayc_dnnl_dense_of(dnnl_s32, 2 + c->n, c->y_dims);
    dnnl_convolution_desc_t desc;

    relayc_dnnl_bind(d, DNNL_ARG_SRC, &x, c->x);
    relayc_dnnl_bind(d, DNNL_ARG_WEIGHTS, &w, c->w);
    if (c->b)
        relayc_dnnl_bind(d, DNNL_ARG_BIAS, &b, c->b);
    relayc_dnnl_bind(d, DNNL_ARG_DST, &y, c->sums);
    d->x_zero = c->x_zero;
    relayc_dnnl_run(d,
                    dnnl_dilated_convolution_forward_desc_init(
                        &desc, dnnl_forward_inference, dnnl_convolution_direct, &x, &w,
                        c->b ? &b : NULL, &y, c->strides, c->dilation, c->begin, c->end),
                    &desc);
}

/* x * multiplier * 2^(shift - 31), rounded as the other kernels of relayc do: the high product to
 * nearest, halves up; for shift < 0 the rest of the shift again, halves away from zero. */
static inline int64_t relayc_dnnl_scaled(int32_t x, int32_t multiplier, int shift)
{
    const int right = shift < 0 ? -shift : 0, down = 31 - shift - right;
    const int64_t lift = (int64_t)1 << 62; /* a multiple of 2^down: division then rounds down */
    const int64_t product = (int64_t)x * multiplier + (down > 0 ? (int64_t)1 << (down - 1) : 0);
    const int64_t high = (product + lift) / ((int64_t)1 << down) - lift / ((int64_t)1 << down);
    const int64_t sum = high < INT32_MIN ? INT32_MIN : high > INT32_MAX ? INT32_MAX : high;
    const int64_t half = right > 0 ? (int64_t)1 << (right - 1) : 0;

    return sum < 0 ? -((half - sum) >> right) : (sum + half) >> right;
}

/* sums[outer][channels][inner] to 8 bits; table: multiplier and shift of each channel. */
static inline void relayc_dnnl_requantize(struct relayc_dnnl *d, const int32_t *sums, int64_t outer,
                                          int64_t channels, int64_t inner,
                                          const int32_t *multiplier, const int32_t *shift,
                                          int out_zero, int is_signed, void *y)
{
    const int least = is_signed ? -128 : 0, greatest = is_signed ? 127 : 255;

    for (int64_t i = 0; d->status == dnnl_success && i < outer * channels * inner; i++) {
        const int64_t c = i / inner % channels;
        const int64_t scaled = relayc_dnnl_scaled(sums[i], multiplier[c], shift[c]) + out_zero;
        const int64_t number = scaled < least ? least : scaled > greatest ? greatest : scaled;

        ((unsigned char *)y)[i] = (unsigned char)(number & 255);
    }
}

#endif
