/* fake_quant_to_integer on random layers: dequantize, what moves or bounds, an operator, a bias, a
 * bound, quantize; averages, tables, choices; of all types, shapes and scales. With the pass, each
 * must give what it gives without it, up to one step; and most must have become integers. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "relay_ir/ops/qnn.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/fake_quant.h"
#include "tests/support/graph.h"

enum { N_GRAPHS = 600, BATCH = 20 };

struct layer {
    struct function *fn;
    unsigned seed;
    enum dtype dtype; /* of the operands */
    double scale;     /* of the first one */
};

/* 0 .. n - 1 */
static int pick(struct layer *layer, int n)
{
    layer->seed = layer->seed * 1664525U + 1013904223U;
    return (int)((layer->seed >> 8) % (unsigned)n);
}

static double real_between(struct layer *layer, double low, double high)
{
    return low + (high - low) * pick(layer, 1 << 16) / (1 << 16);
}

static struct value *scalar(struct layer *layer, enum dtype dtype, double number, const char *name)
{
    const struct type type = type_scalar(dtype);
    void *data = constant_alloc(layer->fn, &type);

    dtype_store(dtype, data, 0, number);
    return constant_new(layer->fn, name, &type, data);
}

static struct value *make(struct layer *layer, enum op op, const union attrs *attrs, int n,
                          struct value *const *inputs)
{
    struct value *y = build(layer->fn, op, attrs, "v", NULL, NULL, n, inputs);

    ck_assert_msg(y != NULL, "%s", expect_text(layer->fn->module->ctx));
    return y;
}

static double least(enum dtype dtype)
{
    return dtype_kind(dtype) == KIND_INT ? -ldexp(1, (int)dtype_bytes(dtype) * 8 - 1) : 0;
}

static double range(enum dtype dtype)
{
    return ldexp(1, (int)dtype_bytes(dtype) * 8) - 1;
}

/* The least number, the one in the middle, or any. */
static struct value *zero_point(struct layer *layer, enum dtype dtype)
{
    const double at[] = { 0, ceil(range(dtype) / 2), (double)pick(layer, (int)range(dtype)) };

    return scalar(layer, dtype, least(dtype) + at[pick(layer, 3)], "zero");
}

static struct value *operand(struct layer *layer, int rank, const int64_t *dim, double scale,
                             struct value *zero)
{
    const struct type type = type_make(layer->dtype, rank, dim);
    const union attrs attrs = { .axis = { 0 } };
    struct value *x = pick(layer, 4)
                          ? param_new(layer->fn, "x", &type)
                          : random_constant(layer->fn, "x", rank, dim, 0, 1, &layer->seed);

    if (x->kind == VALUE_CONSTANT) {
        const struct tensor filled = { type, constant_alloc(layer->fn, &type) };

        fill_random(&filled, least(layer->dtype), least(layer->dtype) + range(layer->dtype),
                    &layer->seed);
        x = constant_new(layer->fn, "c", &type, filled.data);
    }
    return make(layer, OP_QNN_DEQUANTIZE, &attrs, 3,
                (struct value *[]){ x, scalar(layer, DTYPE_F32, scale, "scale"), zero });
}

/* Weights of 8 bits with one scale, or one for each of the n along the axis. */
static struct value *weights(struct layer *layer, int rank, const int64_t *dim, int axis,
                             double scale)
{
    const enum dtype dtype = pick(layer, 2) ? DTYPE_I8 : DTYPE_U8;
    const struct type type = type_make(dtype, rank, dim);
    const struct tensor w = { type, constant_alloc(layer->fn, &type) };
    const union attrs attrs = { .axis = { .axis = axis } };
    const bool vector = pick(layer, 2);
    struct value *scales = scalar(layer, DTYPE_F32, scale, "w_scale");

    fill_random(&w, least(dtype), least(dtype) + range(dtype), &layer->seed);
    if (vector)
        scales =
            random_constant(layer->fn, "w_scale", 1, &dim[axis], scale / 3, scale, &layer->seed);
    return make(layer, OP_QNN_DEQUANTIZE, &attrs, 3,
                (struct value *[]){ constant_new(layer->fn, "w", &type, w.data), scales,
                                    zero_point(layer, dtype) });
}

/* As the last layer is written: with a bias of floats, or none. */
static struct value *biased(struct layer *layer, struct value *y, int axis, double size)
{
    const union attrs attrs = { .axis = { .axis = axis } };
    struct value *bias =
        random_constant(layer->fn, "bias", 1, &y->type.dim[axis], -size, size, &layer->seed);

    return pick(layer, 3) ? make(layer, OP_BIAS_ADD, &attrs, 2, (struct value *[]){ y, bias }) : y;
}

static struct value *convolution(struct layer *layer, double *size)
{
    static const enum op ops[] = { OP_CONV1D, OP_CONV2D, OP_CONV3D };
    const int n = 1 + pick(layer, 3), channels = 1 + pick(layer, 4);
    const bool depthwise = pick(layer, 3) == 0;
    int64_t x[5] = { 1, channels },
            w[5] = { depthwise ? channels : 1 + pick(layer, 5), depthwise ? 1 : channels };
    union attrs attrs = { .conv = { .groups = depthwise ? channels : 1 } };
    const double w_scale = real_between(layer, 0.001, 0.02);
    struct value *y;

    attrs.conv.padding.n = 2 * n;
    for (int i = 0; i < n; i++) {
        x[2 + i] = 3 + pick(layer, 4);
        w[2 + i] = 1 + pick(layer, 3);
        attrs.conv.padding.at[i] = pick(layer, 2);
    }
    y = make(
        layer, ops[n - 1], &attrs, 2,
        (struct value *[]){ operand(layer, 2 + n, x, layer->scale, zero_point(layer, layer->dtype)),
                            weights(layer, 2 + n, w, 0, w_scale) });
    *size = layer->scale * range(layer->dtype) * w_scale * 128 *
            sqrt((double)type_span(&y->def->inputs[1]->type, 1, 2 + n));
    return biased(layer, y, 1, *size);
}

static struct value *dense(struct layer *layer, double *size)
{
    const int64_t rows = 1 + pick(layer, 3), k = 1 + pick(layer, 40), columns = 1 + pick(layer, 9);
    const double w_scale = real_between(layer, 0.001, 0.02);
    const int form = pick(layer, 3);
    struct value *x =
        operand(layer, 2, (int64_t[]){ rows, k }, layer->scale, zero_point(layer, layer->dtype));
    struct value *w, *y;
    union attrs attrs = { .axes = { { .n = 2, .at = { 1, 0 } } } };

    *size = layer->scale * range(layer->dtype) * w_scale * 128 * sqrt((double)k);
    if (form == 0) {
        w = weights(layer, 2, (int64_t[]){ columns, k }, 0, w_scale);
        y = make(layer, OP_DENSE, NULL, 2, (struct value *[]){ x, w });
    } else {
        w = weights(layer, 2, (int64_t[]){ k, columns }, 1, w_scale);
        if (form == 1)
            w = make(layer, OP_TRANSPOSE, &attrs, 1, &w);
        y = make(layer, form == 1 ? OP_DENSE : OP_MATMUL, NULL, 2, (struct value *[]){ x, w });
    }
    return biased(layer, y, 1, *size);
}

static struct value *binary(struct layer *layer, double *size)
{
    static const enum op ops[] = { OP_ADD,     OP_MULTIPLY, OP_CONCATENATE,
                                   OP_MAXIMUM, OP_MINIMUM,  OP_SUBTRACT };
    const int form = pick(layer, 6);
    const int64_t a[] = { 2, 3, 4 }, b[] = { pick(layer, 2) || form == 2 ? 2 : 1, 3, 4 };
    const double b_scale =
        form == 2 && pick(layer, 2) ? layer->scale : real_between(layer, 0.01, 0.5);
    struct value *a_zero = zero_point(layer, layer->dtype);
    struct value *b_zero = b_scale == layer->scale ? a_zero : zero_point(layer, layer->dtype);

    *size = fmax(layer->scale, b_scale) * range(layer->dtype);
    if (form == 1)
        *size = layer->scale * b_scale * range(layer->dtype) * range(layer->dtype) / 4;
    return make(layer, ops[form], NULL, 2,
                (struct value *[]){ operand(layer, 3, a, layer->scale, a_zero),
                                    operand(layer, 3, b, b_scale, b_zero) });
}

static struct value *moved(struct layer *layer, double *size)
{
    union attrs attrs = { .pad = { .mode = "constant" } };
    struct value *x =
        operand(layer, 4, (int64_t[]){ 1, 2, 4, 4 }, layer->scale, zero_point(layer, layer->dtype));

    *size = layer->scale * range(layer->dtype);
    for (int i = 0; i < 4; i++)
        attrs.pad.pad_before.at[i] = pick(layer, 2);
    attrs.pad.pad_before.n = attrs.pad.pad_after.n = 4;
    if (pick(layer, 2))
        x = make(layer, OP_PAD, &attrs, 1, &x);
    if (pick(layer, 2))
        x = make(layer, OP_RELU, NULL, 1, &x);
    attrs = (union attrs){ .pool = { .pool_size = { .n = 2, .at = { 2, 2 } } } };
    if (pick(layer, 2))
        x = make(layer, OP_MAX_POOL2D, &attrs, 1, &x);
    attrs = (union attrs){ .axes = { { .n = 4, .at = { 0, 2, 3, 1 } } } };
    return make(layer, OP_TRANSPOSE, &attrs, 1, &x);
}

/* Averages over windows, planes and axes, sums, softmax, log_softmax. */
static struct value *reduced(struct layer *layer, double *size)
{
    static const enum op ops[] = { OP_AVG_POOL2D, OP_GLOBAL_AVG_POOL, OP_MEAN,
                                   OP_SUM,        OP_SOFTMAX,         OP_LOG_SOFTMAX };
    const int form = pick(layer, 6);
    union attrs attrs = { .axis = { .axis = 1 } };
    struct value *x = operand(layer, 4, (int64_t[]){ 1, 2, 3 + pick(layer, 4), 4 + pick(layer, 3) },
                              layer->scale, zero_point(layer, layer->dtype));

    *size = layer->scale * range(layer->dtype) / 2;
    if (ops[form] == OP_GLOBAL_AVG_POOL) {
        attrs = (union attrs){ .layout = { .layout = "" } };
    } else if (form == 0) {
        attrs = (union attrs){
            .pool = { .pool_size = { .n = 2, .at = { 2 + pick(layer, 2), 2 + pick(layer, 2) } } }
        };
        attrs.pool.layout = "";
        attrs.pool.count_include_pad = pick(layer, 2);
        attrs.pool.ceil_mode = pick(layer, 2);
        attrs.pool.strides = ints_of(2, (int64_t[]){ 1 + pick(layer, 3), 1 + pick(layer, 3) });
        attrs.pool.padding = ints_of(
            4, (int64_t[]){ pick(layer, 2), pick(layer, 2), pick(layer, 2), pick(layer, 2) });
    } else if (form == 2 || form == 3) {
        attrs = (union attrs){ .reduce = { .keepdims = pick(layer, 2) } };
        for (int i = 1; i < 4; i++)
            if (pick(layer, 2))
                attrs.reduce.axis.at[attrs.reduce.axis.n++] = i;
        *size *= form == 3 ? 4 : 1;
    } else if (form >= 4) {
        *size = form == 4 ? 1 : *size * 2 + 2;
    }
    return make(layer, ops[form], &attrs, 1, &x);
}

/* Norms of all kinds, quotients, hardmax. */
static struct value *normed(struct layer *layer, double *size)
{
    static const enum op ops[] = { OP_LAYER_NORM, OP_INSTANCE_NORM, OP_GROUP_NORM, OP_LP_NORMALIZE,
                                   OP_LRN,        OP_HARDMAX,       OP_DIVIDE };
    const int form = pick(layer, 7);
    const int64_t dim[] = { 2, 4, 3 + pick(layer, 40) };
    struct value *x, *inputs[3];
    union attrs attrs = {
        .norm = { .axis = form == 0 ? 2 : 1, .groups = 2, .epsilon = real_between(layer, 0, 0.01) }
    };

    x = inputs[0] = operand(layer, 3, dim, layer->scale, zero_point(layer, layer->dtype));
    *size = form < 3 ? 4 : 1;
    for (int i = 1; i < 3 && form < 3; i++)
        inputs[i] =
            random_constant(layer->fn, "scale", 1, &dim[form == 0 ? 2 : 1], -1, 2, &layer->seed);
    if (form < 3)
        return make(layer, ops[form], &attrs, form == 0 && pick(layer, 2) ? 2 : 3, inputs);
    if (form == 3)
        attrs =
            (union attrs){ .lp_normalize = { .axis = pick(layer, 3), .p = 1 + pick(layer, 2) } };
    if (form == 4)
        attrs = (union attrs){ .lrn = { .size = 1 + pick(layer, 5),
                                        .alpha = real_between(layer, 0, 2),
                                        .beta = real_between(layer, 0, 1),
                                        .bias = real_between(layer, 1, 2),
                                        .layout = "" } };
    if (form == 5)
        attrs = (union attrs){ .axis = { .axis = pick(layer, 3) } };
    if (form < 6) {
        *size = form == 4 ? layer->scale * range(layer->dtype) / 2 : 1;
        return make(layer, ops[form], &attrs, 1, &x);
    }
    /* by one sign, and hardly ever by 0: 0 / 0 is 0 in integers, but no number in floats */
    inputs[1] =
        operand(layer, 3, dim, real_between(layer, 0.01, 0.5),
                scalar(layer, layer->dtype, least(layer->dtype) + range(layer->dtype), "z"));
    *size = layer->scale * range(layer->dtype);
    return make(layer, OP_DIVIDE, NULL, 2, inputs);
}

/* What goes through a table; of 16 bits through segments, or stays (slopes along an axis). */
static struct value *curved(struct layer *layer, double *size)
{
    static const enum op ops[] = {
        OP_SIGMOID, OP_TANH, OP_HARD_SWISH, OP_SQRT, OP_ABS, OP_NEGATIVE
    };
    struct value *x, *y;

    x = operand(layer, 3, (int64_t[]){ 2, 3, 4 }, layer->scale, zero_point(layer, layer->dtype));
    y = make(layer, ops[pick(layer, 6)], NULL, 1, &x);
    if (pick(layer, 2))
        y = make(layer, OP_MULTIPLY, NULL, 2, (struct value *[]){ y, x });
    if (pick(layer, 2))
        y = make(layer, OP_PRELU, NULL, 2,
                 (struct value *[]){ y, random_constant(layer->fn, "slope", 2, (int64_t[]){ 3, 1 },
                                                        -1, 1, &layer->seed) });
    *size = fmax(layer->scale * range(layer->dtype) / 4, 1);
    return y;
}

static struct value *with_constant(struct layer *layer, double *size)
{
    static const enum op ops[] = { OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE };
    const int form = pick(layer, 4), side = form == 3 ? 0 : pick(layer, 2);
    struct value *x =
        operand(layer, 3, (int64_t[]){ 2, 3, 4 }, layer->scale, zero_point(layer, layer->dtype));
    struct value *c = random_constant(layer->fn, "c", 2, (int64_t[]){ 3, pick(layer, 2) ? 4 : 1 },
                                      0.5, 3, &layer->seed);

    *size = layer->scale * range(layer->dtype);
    return make(layer, ops[form], NULL, 2,
                side ? (struct value *[]){ c, x } : (struct value *[]){ x, c });
}

/* Windows of magnitudes and squares; results that hardly saturate, and such that do. */
static struct value *pooled(struct layer *layer, double *size)
{
    const int p = 1 + pick(layer, 2), rank = 1 + pick(layer, 2);
    const int64_t dim[] = { 2, 3, 5 + pick(layer, 4), 4 + pick(layer, 3) };
    union attrs attrs = { .pool = { .p = p, .layout = "" } };
    struct value *x;

    if (dtype_bytes(layer->dtype) != 1)
        layer->dtype = pick(layer, 2) ? DTYPE_I8 : DTYPE_U8;
    x = operand(layer, 2 + rank, dim, layer->scale, zero_point(layer, layer->dtype));
    attrs.pool.pool_size.n = attrs.pool.strides.n = rank;
    attrs.pool.padding.n = 2 * rank;
    *size = layer->scale * range(layer->dtype) / 2;
    for (int i = 0; i < rank; i++) {
        attrs.pool.pool_size.at[i] = 2 + pick(layer, 3);
        attrs.pool.strides.at[i] = 1 + pick(layer, 2);
        attrs.pool.padding.at[i] = pick(layer, 2);
        attrs.pool.padding.at[rank + i] = pick(layer, 2);
        *size *= pow((double)attrs.pool.pool_size.at[i], 1.0 / p);
    }
    return make(layer, rank == 1 ? OP_LP_POOL1D : OP_LP_POOL2D, &attrs, 1, &x);
}

/* As a number that is 0 or 1, or as the condition of a choice; of two values, of one scale or two,
 * or of a value and constants, half of which are numbers that it can be. */
static struct value *compared(struct layer *layer, double *size)
{
    static const enum op ops[] = { OP_EQUAL, OP_GREATER,    OP_GREATER_EQUAL,
                                   OP_LESS,  OP_LESS_EQUAL, OP_NOT_EQUAL };
    const union attrs cast = { .cast = { .dtype = DTYPE_F32, .saturate = true } };
    const int64_t dim[] = { 2, 3, 4 };
    const int form = pick(layer, 3), side = pick(layer, 2);
    struct value *pair[2], *x, *truth;

    if (dtype_bytes(layer->dtype) != 1 && form != 0)
        layer->dtype = pick(layer, 2) ? DTYPE_I8 : DTYPE_U8;
    x = pair[side] = operand(layer, 3, dim, layer->scale, zero_point(layer, layer->dtype));
    if (form == 0) {
        pair[1 - side] = operand(layer, 3, dim, layer->scale, x->def->inputs[2]);
    } else if (form == 1) {
        pair[1 - side] = operand(layer, 3, dim, layer->scale * (pick(layer, 2) ? 3 : 1),
                                 zero_point(layer, layer->dtype));
    } else {
        const struct type type = type_make(DTYPE_F32, 2, &dim[1]);
        float *numbers = constant_alloc(layer->fn, &type);

        for (int i = 0; i < 12; i++)
            numbers[i] = (float)((double)(float)layer->scale * (pick(layer, 400) - 200) / 2);
        pair[1 - side] = constant_new(layer->fn, "numbers", &type, numbers);
    }
    truth = make(layer, ops[pick(layer, 6)], NULL, 2, pair);
    *size = layer->scale * range(layer->dtype);
    if (pick(layer, 2))
        return make(layer, OP_WHERE, NULL, 3, (struct value *[]){ truth, pair[0], pair[1] });
    *size = 1;
    return make(layer, OP_CAST, &cast, 1, &truth);
}

/* Into one of the numbers of each line, or the greatest or least of both. */
static struct value *scattered(struct layer *layer, double *size)
{
    static const char *const reductions[] = { "none", "max", "min" };
    const int64_t dim[] = { 2, 3, 4 }, short_dim[] = { 2, 1, 4 };
    const struct type type = type_make(DTYPE_I64, 3, short_dim);
    int64_t *indices = constant_alloc(layer->fn, &type);
    union attrs attrs = { .scatter = { .axis = 1, .reduction = reductions[pick(layer, 3)] } };
    struct value *inputs[3];

    for (int i = 0; i < 8; i++)
        indices[i] = pick(layer, 3);
    inputs[0] = operand(layer, 3, dim, layer->scale, zero_point(layer, layer->dtype));
    inputs[1] = constant_new(layer->fn, "indices", &type, indices);
    inputs[2] = operand(layer, 3, short_dim, real_between(layer, 0.01, 0.5),
                        zero_point(layer, layer->dtype));
    *size = layer->scale * range(layer->dtype);
    return make(layer, OP_SCATTER_ELEMENTS, &attrs, 3, inputs);
}

static struct value *bounded(struct layer *layer, struct value *x, double size)
{
    const union attrs attrs = { .clip = { real_between(layer, -size, 0),
                                          real_between(layer, 0, size) } };

    switch (pick(layer, 3)) {
    case 0: return x;
    case 1: return make(layer, OP_RELU, NULL, 1, &x);
    default: return make(layer, OP_CLIP, &attrs, 1, &x);
    }
}

static struct module *random_layer(struct ctx *ctx, unsigned seed)
{
    static struct value *(*const kinds[])(struct layer * layer, double *size) = {
        convolution,   dense,  binary,   moved,     reduced, curved,
        with_constant, normed, compared, scattered, pooled
    };
    static const enum dtype dtypes[] = { DTYPE_I8, DTYPE_U8,  DTYPE_I8,
                                         DTYPE_U8, DTYPE_I16, DTYPE_U16 };
    struct module *module = module_new(ctx);
    struct layer layer = { .fn = module->main, .seed = seed * 2654435761U + 1 };
    const union attrs attrs = { .quantize = { .saturate = true } };
    const enum dtype out = dtypes[(pick(&layer, 6))];
    double size, scale;
    struct value *y;

    layer.dtype = pick(&layer, 3) ? out : dtypes[pick(&layer, 6)];
    layer.scale = real_between(&layer, 0.01, 0.5) / (dtype_bytes(layer.dtype) == 2 ? 256 : 1);
    y = kinds[pick(&layer, 11)](&layer, &size);
    y = bounded(&layer, y, size);
    scale = pick(&layer, 4) ? size / range(out) * real_between(&layer, 0.2, 2) : layer.scale;
    y = make(&layer, OP_QNN_QUANTIZE, &attrs, 3,
             (struct value *[]){ y, scalar(&layer, DTYPE_F32, scale, "y_scale"),
                                 zero_point(&layer, out) });
    result_add(layer.fn, y, "y");
    return module;
}

static bool has_floats(const struct module *module)
{
    for (const struct node *n = module->main->first; n; n = n->next)
        if (dtype_is_float(n->outputs[0]->type.dtype))
            return true;
    return false;
}

START_TEST(integers_are_at_most_one_step_from_floats)
{
    int n_floats = 0;

    for (unsigned i = 0; i < BATCH; i++) {
        const unsigned seed = (unsigned)_i * BATCH + i;
        struct ctx *ctx = ctx_new(NULL);
        struct module *before = random_layer(ctx, seed), *after = random_layer(ctx, seed);

        ck_assert_msg(pipeline_run_one(after, "fake_quant_to_integer"), "%s", expect_text(ctx));
        fake_quant_compare(after, before, seed);
        n_floats += has_floats(after);
        module_free(after);
        module_free(before);
        ctx_free(ctx);
    }
    ck_assert_int_le(n_floats, BATCH / 2);
}
END_TEST

/* Rounded as ONNX has it: sums of products are exact there, and those of floats are not. */
START_TEST(onnx_is_at_most_one_step_from_floats)
{
    for (unsigned i = 0; i < BATCH; i++) {
        const unsigned seed = (unsigned)_i * BATCH + i;
        struct ctx *ctx = ctx_new(NULL);
        struct module *before = random_layer(ctx, seed), *after = random_layer(ctx, seed);

        after->rounds_as_onnx = true;
        ck_assert_msg(pipeline_run_one(after, "fake_quant_to_integer"), "%s", expect_text(ctx));
        if (map_get(&after->fired, "product_to_integer"))
            fake_quant_compare(after, before, seed);
        else
            fake_quant_compare_exactly(after, before, seed);
        module_free(after);
        module_free(before);
        ctx_free(ctx);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fake_quant_to_integer, random");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, integers_are_at_most_one_step_from_floats, 0, N_GRAPHS / BATCH);
    tcase_add_loop_test(tests, onnx_is_at_most_one_step_from_floats, 0, N_GRAPHS / BATCH);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
