#include "tests/support/random_graph.h"

#include <math.h>

#include "tests/support/executions.h"

enum { MAX_VALUES = 20000, MAX_ELEMENTS = 2000 };

struct growth {
    struct arena *scratch;
    struct function *fn;
    struct value **values; /* that a node may read */
    int n;
    unsigned seed;
    int n_origins;
};

static unsigned below(struct growth *growth, unsigned n)
{
    growth->seed = growth->seed * 1664525u + 1013904223u;
    return (growth->seed >> 8) % n;
}

/* Mostly a recent value, so that graphs get deep; sometimes any. */
static struct value *pick(struct growth *growth)
{
    const unsigned back = below(growth, 4) ? below(growth, 3) : below(growth, (unsigned)growth->n);

    return growth->values[growth->n - 1 - (int)(back < (unsigned)growth->n ? back : 0)];
}

static struct value *pick_rank(struct growth *growth, int rank)
{
    for (int i = 0; i < 8; i++) {
        struct value *value = pick(growth);

        if (value->type.rank == rank)
            return value;
    }
    return NULL;
}

static const struct origin *new_origin(struct growth *growth, const char *op_type)
{
    struct origin *origin = arena_new(&growth->fn->module->arena, struct origin);

    origin->name = arena_printf(&growth->fn->module->arena, "node %d", growth->n_origins);
    origin->op_type = op_type;
    origin->index = growth->n_origins++;
    return origin;
}

static struct value *make(struct growth *growth, enum op op, const union attrs *attrs, int n,
                          struct value *const *inputs)
{
    return build(growth->fn, op, attrs, op_name(op), new_origin(growth, op_name(op)), NULL, n,
                 inputs);
}

static struct value *make1(struct growth *growth, enum op op, const union attrs *attrs,
                           struct value *x)
{
    return make(growth, op, attrs, 1, &x);
}

static struct value *make2(struct growth *growth, enum op op, const union attrs *attrs,
                           struct value *a, struct value *b)
{
    return make(growth, op, attrs, 2, (struct value *[]){ a, b });
}

static struct value *constant(struct growth *growth, int rank, const int64_t *dim, double low,
                              double high)
{
    return random_constant(growth->fn, "w", rank, dim, low, high, &growth->seed);
}

static struct value *number(struct growth *growth, double number_)
{
    const struct type type = type_scalar(DTYPE_F32);
    void *data = constant_alloc(growth->fn, &type);

    dtype_store(DTYPE_F32, data, 0, number_);
    return constant_new(growth->fn, "n", &type, data);
}

/* --- pieces of networks ----------------------------------------------------------------------- */

static struct value *grow_conv(struct growth *growth)
{
    struct value *x = pick_rank(growth, 4);
    const int64_t k = 1 + (int64_t)below(growth, 2) * 2, pad = k / 2 * (int64_t)below(growth, 2);
    union attrs attrs = { .conv = { .strides = ints_fill(2, 1),
                                    .padding = ints_fill(4, pad),
                                    .dilation = ints_fill(2, 1),
                                    .groups = 1,
                                    .data_layout = "NCHW",
                                    .kernel_layout = "OIHW" } };
    int64_t out_c, dim[4];

    if (!x || x->type.dim[2] + 2 * pad < k || x->type.dim[3] + 2 * pad < k)
        return NULL;
    out_c = x->type.dim[1];
    if (out_c % 2 == 0 && below(growth, 3) == 0)
        attrs.conv.groups = below(growth, 2) ? out_c : 2;
    else if (below(growth, 2))
        out_c = 2 + (int64_t)below(growth, 3) * 2;
    dim[0] = out_c;
    dim[1] = x->type.dim[1] / attrs.conv.groups;
    dim[2] = dim[3] = k;
    return make2(growth, OP_CONV2D, &attrs, x, constant(growth, 4, dim, -0.5, 0.5));
}

static struct value *grow_batch_norm(struct growth *growth)
{
    const union attrs attrs = { .batch_norm = { .axis = 1, .epsilon = 1e-3 } };
    struct value *inputs[5] = { pick_rank(growth, 4) };

    if (!inputs[0])
        return NULL;
    for (int i = 1; i < 5; i++)
        inputs[i] = constant(growth, 1, &inputs[0]->type.dim[1], i == 1 || i == 4 ? 0.5 : -1, 1.5);
    return make(growth, OP_BATCH_NORM, &attrs, 5, inputs);
}

/* A constant per channel, per tensor or of the whole shape. */
static struct value *grow_constant_operand(struct growth *growth)
{
    static const enum op ops[] = { OP_ADD,    OP_SUBTRACT, OP_MULTIPLY,
                                   OP_DIVIDE, OP_MAXIMUM,  OP_MINIMUM };
    struct value *x = pick(growth), *c;
    const enum op op = ops[below(growth, 6)];
    const bool positive = op == OP_DIVIDE || below(growth, 2);
    int64_t dim[MAX_RANK];

    for (int i = 0; i < x->type.rank; i++)
        dim[i] = x->type.rank < 2 || i == 1 ? x->type.dim[i] : 1;
    switch (below(growth, 3)) {
    case 0: c = number(growth, op == OP_DIVIDE ? 2 : (double)below(growth, 3)); break;
    case 1: c = constant(growth, x->type.rank, dim, positive ? 0.5 : -1, 1.5); break;
    default: c = constant(growth, x->type.rank, x->type.dim, positive ? 0.5 : -1, 1.5);
    }
    if (op != OP_DIVIDE && op != OP_SUBTRACT && below(growth, 2))
        return make2(growth, op, NULL, c, x);
    return make2(growth, op, NULL, x, c);
}

static struct value *grow_activation(struct growth *growth)
{
    static const enum op ops[] = { OP_RELU, OP_SIGMOID, OP_TANH, OP_ABS,     OP_NEGATIVE,
                                   OP_COPY, OP_SILU,    OP_CLIP, OP_SOFTPLUS };
    const union attrs attrs = { .clip = { below(growth, 2) ? 0 : -1,
                                          below(growth, 2) ? 6 : INFINITY } };
    const enum op op = ops[below(growth, 9)];

    return make1(growth, op, op == OP_CLIP ? &attrs : NULL, pick(growth));
}

/* x sigmoid(x), hard swish, gelu, as exporters write them. */
static struct value *grow_composed(struct growth *growth)
{
    const union attrs relu6 = { .clip = { 0, 6 } };
    struct value *x = pick(growth), *y;

    switch (below(growth, 3)) {
    case 0: return make2(growth, OP_MULTIPLY, NULL, x, make1(growth, OP_SIGMOID, NULL, x));
    case 1:
        y = make1(growth, OP_CLIP, &relu6, make2(growth, OP_ADD, NULL, x, number(growth, 3)));
        return make2(growth, OP_DIVIDE, NULL, make2(growth, OP_MULTIPLY, NULL, x, y),
                     number(growth, 6));
    default:
        y = make2(growth, OP_DIVIDE, NULL, x, number(growth, sqrt(2)));
        y = make2(growth, OP_ADD, NULL, make1(growth, OP_ERF, NULL, y), number(growth, 1));
        return make2(growth, OP_MULTIPLY, NULL, make2(growth, OP_MULTIPLY, NULL, x, y),
                     number(growth, 0.5));
    }
}

static struct value *grow_join(struct growth *growth)
{
    const union attrs attrs = { .axis = { .axis = 1 } };
    struct value *a = pick(growth), *b = pick(growth);

    if (!type_same_shape(&a->type, &b->type) || a->type.rank < 2)
        return NULL;
    switch (below(growth, 3)) {
    case 0: return make2(growth, OP_CONCATENATE, &attrs, a, b);
    case 1: return make2(growth, OP_MULTIPLY, NULL, make1(growth, OP_TANH, NULL, a), b);
    default: return make2(growth, OP_ADD, NULL, a, b);
    }
}

static struct value *grow_pool(struct growth *growth)
{
    struct value *x = pick_rank(growth, 4);
    union attrs attrs = { .pool = { .pool_size = ints_fill(2, 2),
                                    .strides = ints_fill(2, 1 + (int64_t)below(growth, 2)),
                                    .padding = ints_fill(4, (int64_t)below(growth, 2)),
                                    .dilation = ints_fill(2, 1),
                                    .count_include_pad = below(growth, 2),
                                    .layout = "NCHW" } };

    if (!x || x->type.dim[2] < 2 || x->type.dim[3] < 2)
        return NULL;
    if (below(growth, 4) == 0)
        return make1(growth, below(growth, 2) ? OP_GLOBAL_AVG_POOL : OP_GLOBAL_MAX_POOL, NULL, x);
    return make1(growth, below(growth, 2) ? OP_AVG_POOL2D : OP_MAX_POOL2D, &attrs, x);
}

static struct value *grow_pad(struct growth *growth)
{
    struct value *x = pick_rank(growth, 4);
    union attrs attrs = { .pad = { .pad_before = { 4, { 0, 0, 1, 1 } },
                                   .pad_after = { 4, { 0, 0, 1, 0 } },
                                   .mode = "constant",
                                   .value = below(growth, 4) ? 0 : 1 } };

    return x ? make1(growth, OP_PAD, &attrs, x) : NULL;
}

static struct value *grow_view(struct growth *growth)
{
    struct value *x = pick(growth);
    const struct type *type = &x->type;
    union attrs attrs = { .shape = { .shape = ints_of(type->rank, type->dim) } };
    struct ints *shape = &attrs.shape.shape;

    if (type->rank == 4 && below(growth, 3) == 0) { /* flatten */
        *shape = ints_of(2, (int64_t[]){ type->dim[0], type_span(type, 1, 4) });
    } else if (type->rank == 2 && below(growth, 3) == 0) { /* and back */
        *shape = ints_of(4, (int64_t[]){ type->dim[0], type->dim[1], 1, 1 });
    } else if (type->rank == 2) {
        *shape = ints_of(3, (int64_t[]){ 1, type->dim[0], type->dim[1] });
    } else if (type->rank == 3) {
        *shape = ints_of(2, (int64_t[]){ type->dim[0] * type->dim[1], type->dim[2] });
    }
    return make1(growth, OP_RESHAPE, &attrs, x);
}

static struct value *grow_transpose(struct growth *growth)
{
    struct value *x = pick(growth);
    union attrs attrs = { .axes = { .axes = { .n = x->type.rank } } };

    for (int i = 0; i < x->type.rank; i++)
        attrs.axes.axes.at[i] = i;
    if (x->type.rank >= 2) { /* swap the last two; twice is nothing */
        attrs.axes.axes.at[x->type.rank - 2] = x->type.rank - 1;
        attrs.axes.axes.at[x->type.rank - 1] = x->type.rank - 2;
    }
    return make1(growth, OP_TRANSPOSE, &attrs, x);
}

static struct value *grow_product(struct growth *growth)
{
    struct value *x = pick(growth), *w;
    const union attrs attrs = { .matmul = { false, below(growth, 2) } };
    const int64_t k = x->type.rank ? x->type.dim[x->type.rank - 1] : 0;
    const int64_t n = 2 + below(growth, 4);

    if (x->type.rank < 2 || k == 0)
        return NULL;
    w = constant(growth, 2, attrs.matmul.transpose_b ? (int64_t[]){ n, k } : (int64_t[]){ k, n },
                 -0.5, 0.5);
    if (x->type.rank == 2 && attrs.matmul.transpose_b)
        return make2(growth, OP_DENSE, NULL, x, w);
    return make2(growth, OP_MATMUL, &attrs, x, w);
}

static struct value *grow_reduction(struct growth *growth)
{
    struct value *x = pick(growth);
    union attrs attrs = { .reduce = { .keepdims = true } };

    if (x->type.rank < 2)
        return NULL;
    attrs.reduce.axis = ints_fill(1, x->type.rank - 1);
    if (x->type.rank == 4)
        attrs.reduce.axis = ints_of(2, (int64_t[]){ 2, 3 });
    return make1(growth, below(growth, 2) ? OP_MEAN : OP_MAX, &attrs, x);
}

static struct value *grow_softmax(struct growth *growth)
{
    struct value *x = pick(growth);
    const union attrs attrs = { .axis = { .axis = x->type.rank - 1 } };

    return x->type.rank ? make1(growth, OP_SOFTMAX, &attrs, x) : NULL;
}

static struct value *(*const pieces[])(struct growth *) = {
    grow_conv,       grow_conv,       grow_conv,
    grow_batch_norm, grow_batch_norm, grow_constant_operand,
    grow_join,       grow_activation, grow_composed,
    grow_activation, grow_join,       grow_constant_operand,
    grow_pool,       grow_pad,        grow_view,
    grow_view,       grow_transpose,  grow_product,
    grow_join,       grow_product,    grow_reduction,
    grow_softmax,
};

struct module *random_graph(struct ctx *ctx, int n_nodes, unsigned seed)
{
    struct module *module = module_new(ctx);
    struct growth growth = { .scratch = &ctx->scratch,
                             .fn = module->main,
                             .seed = seed * 2654435761u };
    const struct type image = type_make(DTYPE_F32, 4, (int64_t[]){ 1, 4, 6, 5 });
    const struct type row = type_make(DTYPE_F32, 2, (int64_t[]){ 3, 4 });

    growth.values = arena_array(&ctx->scratch, struct value *, n_nodes + 3);
    growth.values[growth.n++] = param_new(module->main, "row", &row);
    growth.values[growth.n++] = param_new(module->main, "image", &image);
    for (int i = 0; i < 8 * n_nodes && growth.n < n_nodes + 2; i++) {
        struct value *value = pieces[below(&growth, sizeof pieces / sizeof *pieces)](&growth);

        if (value && type_elements(&value->type) <= MAX_ELEMENTS)
            growth.values[growth.n++] = value;
    }
    for (int i = 0; i < growth.n; i++)
        if (!growth.values[i]->uses && (growth.values[i]->def || i + 1 == growth.n))
            result_add(module->main, growth.values[i], growth.values[i]->name);
    if (below(&growth, 3) == 0 && module->main->ret->n_inputs > 0)
        result_add(module->main, growth.values[below(&growth, (unsigned)growth.n)], "again");
    return module;
}
