#include "tests/support/partition_graph.h"

#include <assert.h>

#include "tests/support/executions.h"

struct growth {
    struct function *fn;
    unsigned *seed;
    int n;
    struct value **values; /* of (1,4,2,2) */
};

static unsigned below(struct growth *g, unsigned n)
{
    *g->seed = *g->seed * 1664525u + 1013904223u;
    return (*g->seed >> 8) % n;
}

/* Mostly one of the latest. */
static struct value *pick(struct growth *g)
{
    const unsigned back = below(g, 3) ? below(g, 4) : below(g, (unsigned)g->n);

    return g->values[g->n - 1 - (int)(back < (unsigned)g->n ? back : 0)];
}

static struct value *op1(struct function *fn, enum op op, const union attrs *attrs, struct value *x)
{
    struct value *made = build(fn, op, attrs, op_name(op), NULL, NULL, 1, &x);

    assert(made);
    return made;
}

static struct value *op2(struct function *fn, enum op op, const union attrs *attrs, struct value *a,
                         struct value *b)
{
    struct value *made =
        build(fn, op, attrs, op_name(op), NULL, NULL, 2, (struct value *[]){ a, b });

    assert(made);
    return made;
}

static struct value *zeros(struct function *fn, int rank, const int64_t *dim)
{
    const struct type type = type_make(DTYPE_F32, rank, dim);

    return constant_new(fn, "w", &type, constant_alloc(fn, &type));
}

static struct value *conv(struct function *fn, struct value *x, struct value *w)
{
    const int64_t pad = w->type.dim[2] / 2;
    const union attrs attrs = { .conv = { .strides = ints_fill(2, 1),
                                          .padding = ints_fill(4, pad),
                                          .dilation = ints_fill(2, 1),
                                          .groups = 1,
                                          .data_layout = "NCHW",
                                          .kernel_layout = "OIHW" } };

    return op2(fn, OP_CONV2D, &attrs, x, w);
}

/* --- random ----------------------------------------------------------------------------------- */

static struct value *random_weight(struct growth *g, int rank, const int64_t *dim)
{
    return random_constant(g->fn, "w", rank, dim, -1, 1, g->seed);
}

/* Two halves of the channels, one or both changed, and joined again. */
static struct value *grow_halves(struct growth *g)
{
    const union attrs attrs = { .split = { .axis = 1, .sizes = ints_of(2, (int64_t[]){ 2, 2 }) } };
    const union attrs axis = { .axis = { .axis = 1 } };
    struct value *x = pick(g);
    struct node *split = node_new(
        g->fn, &(struct node_args){
                   .op = OP_SPLIT, .n_inputs = 1, .inputs = &x, .n_outputs = 2, .attrs = &attrs });
    struct value *a = split->outputs[0], *b = split->outputs[1];

    a = below(g, 2) ? op2(g->fn, OP_MULTIPLY, NULL, a, b) : op1(g->fn, OP_TANH, NULL, a);
    return op2(g->fn, OP_CONCATENATE, &axis, a, below(g, 2) ? b : a);
}

static struct value *grow_view(struct growth *g)
{
    union attrs attrs = { .shape = { .shape = ints_of(2, (int64_t[]){ 4, 4 }) } };
    struct value *x = op1(g->fn, OP_RESHAPE, &attrs, pick(g));

    if (below(g, 2))
        x = op1(g->fn, OP_RELU, NULL, x);
    attrs.shape.shape = ints_of(4, (int64_t[]){ 1, 4, 2, 2 });
    return op1(g->fn, OP_RESHAPE, &attrs, x);
}

static struct value *grow(struct growth *g)
{
    const union attrs relu6 = { .clip = { 0, 6 } }, axis = { .axis = { .axis = 1 } };
    struct value *x = pick(g);

    switch (below(g, 16)) {
    case 0:
    case 1:
    case 2: return conv(g->fn, x, random_weight(g, 4, (int64_t[]){ 4, 4, 1, 1 }));
    case 3: return op2(g->fn, OP_BIAS_ADD, &axis, x, random_weight(g, 1, (int64_t[]){ 4 }));
    case 4: return op1(g->fn, OP_TANH, NULL, x);
    case 5: return op1(g->fn, OP_SIGMOID, NULL, x);
    case 6: return op1(g->fn, OP_CLIP, &relu6, x);
    case 7: return op1(g->fn, OP_SOFTMAX, &axis, x);
    case 8:
    case 9: return op2(g->fn, OP_ADD, NULL, x, pick(g));
    case 10: return op2(g->fn, OP_MULTIPLY, NULL, x, pick(g));
    case 11: return op2(g->fn, OP_MAXIMUM, NULL, x, pick(g));
    case 12:
        x = op2(g->fn, OP_CONCATENATE, &axis, x, pick(g));
        return conv(g->fn, x, random_weight(g, 4, (int64_t[]){ 4, 8, 1, 1 }));
    case 13: return grow_halves(g);
    case 14: return grow_view(g);
    default: return op1(g->fn, OP_RELU, NULL, x);
    }
}

struct module *partition_graph_random(struct ctx *ctx, int n, unsigned *seed)
{
    const struct type type = type_make(DTYPE_F32, 4, (int64_t[]){ 1, 4, 2, 2 });
    struct module *module = module_new(ctx);
    struct growth g = { .fn = module->main, .seed = seed };

    g.values = arena_array(&ctx->perm, struct value *, n + 2);
    g.values[g.n++] = param_new(module->main, "x", &type);
    g.values[g.n++] = param_new(module->main, "y", &type);
    for (int i = 0; i < n; i++) {
        struct value *grown = grow(&g);

        g.values[g.n++] = grown;
    }
    for (int i = 2; i < g.n; i++)
        if (!g.values[i]->uses || below(&g, 12) == 0)
            result_add(module->main, g.values[i], g.values[i]->name);
    if (below(&g, 6) == 0)
        result_add(module->main, g.values[g.n - 1], "again");
    return module;
}

/* --- large ------------------------------------------------------------------------------------ */

static struct value *image(struct module *module, int64_t channels)
{
    const struct type type = type_make(DTYPE_F32, 4, (int64_t[]){ 1, channels, 4, 4 });

    return param_new(module->main, "data", &type);
}

static struct value *scaled(struct function *fn, struct value *x)
{
    const int64_t dim[] = { 1, x->type.dim[1], 1, 1 };

    x = op2(fn, OP_MULTIPLY, NULL, x, zeros(fn, 4, dim));
    return op1(fn, OP_RELU, NULL, op2(fn, OP_ADD, NULL, x, zeros(fn, 4, dim)));
}

static struct value *conv_bias(struct function *fn, struct value *x, int64_t channels, int64_t k)
{
    const union attrs axis = { .axis = { .axis = 1 } };

    x = conv(fn, x, zeros(fn, 4, (int64_t[]){ channels, x->type.dim[1], k, k }));
    return op2(fn, OP_BIAS_ADD, &axis, x, zeros(fn, 1, (int64_t[]){ channels }));
}

struct module *partition_graph_densenet(struct ctx *ctx)
{
    static const int layers[] = { 6, 12, 24, 16 };
    const union attrs axis = { .axis = { .axis = 1 } };
    struct module *module = module_new(ctx);
    struct function *fn = module->main;
    struct value *x = conv_bias(fn, image(module, 3), 64, 3);

    for (int block = 0; block < 4; block++) {
        struct value *features[32] = { x };

        for (int i = 0; i < layers[block]; i++) {
            struct value *all =
                build(fn, OP_CONCATENATE, &axis, "all", NULL, NULL, i + 1, features);

            all = op1(fn, OP_RELU, NULL, conv_bias(fn, scaled(fn, all), 128, 1));
            features[i + 1] = conv(fn, all, zeros(fn, 4, (int64_t[]){ 32, 128, 3, 3 }));
        }
        x = build(fn, OP_CONCATENATE, &axis, "all", NULL, NULL, layers[block] + 1, features);
        x = conv_bias(fn, scaled(fn, x), x->type.dim[1] / 2, 1);
    }
    result_add(fn, op1(fn, OP_SOFTMAX, &axis, x), "scores");
    return module;
}

struct module *partition_graph_long(struct ctx *ctx, int n_nodes)
{
    const union attrs axis = { .axis = { .axis = 1 } };
    struct module *module = module_new(ctx);
    struct function *fn = module->main;
    struct value *x = image(module, 4);

    for (int n = 0, block = 0; n < n_nodes; n += 7, block++) {
        struct value *inner = op1(fn, OP_RELU, NULL, conv_bias(fn, x, 4, 3));

        x = op2(fn, OP_ADD, NULL, x, conv_bias(fn, inner, 4, 1));
        x = block % 50 == 49 ? op1(fn, OP_SOFTMAX, &axis, x) : op1(fn, OP_RELU, NULL, x);
    }
    result_add(fn, x, "scores");
    return module;
}
