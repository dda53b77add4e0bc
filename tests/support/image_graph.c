#include "tests/support/image_graph.h"

#include <check.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"

enum { MOST_NODES = 64 };

struct growth {
    struct function *fn;
    struct value *values[MOST_NODES + 4];
    int n;
    unsigned seed;
    const struct image_graph *of;
};

static int below(struct growth *g, int n)
{
    g->seed = g->seed * 1664525u + 1013904223u;
    return (int)((g->seed >> 8) % (unsigned)n);
}

static struct value *pick(struct growth *g)
{
    return g->values[g->n - 1 - below(g, g->n < 6 ? g->n : 6)];
}

static struct value *make(struct growth *g, enum op op, const union attrs *attrs, int n,
                          struct value *const *inputs)
{
    return build(g->fn, op, attrs, "v", NULL, NULL, n, inputs);
}

static struct value *make1(struct growth *g, enum op op, const union attrs *attrs, struct value *x)
{
    return make(g, op, attrs, 1, &x);
}

static struct value *grow_conv(struct growth *g, struct value *x)
{
    const int64_t c = x->type.dim[3], k = 1 + 2 * below(g, 2);
    const bool grouped = below(g, 3) == 0;
    struct value *w, *y;
    const int64_t out_c = grouped ? c : 1 + below(g, g->of->most_c);
    union attrs attrs = {
        .conv = { .padding = ints_fill(4, k / 2), .groups = grouped ? c : 1, .data_layout = "NHWC" }
    };

    if (g->of->strides && below(g, 4) == 0)
        attrs.conv.strides = ints_fill(2, 2);
    w = random_constant(g->fn, "w", 4, (int64_t[]){ out_c, grouped ? 1 : c, k, k }, -1, 1,
                        &g->seed);
    y = make(g, OP_CONV2D, &attrs, 2, (struct value *[]){ x, w });
    return below(g, 2) ? make1(g, OP_RELU, NULL, y) : y;
}

static struct value *grow_pool(struct growth *g, struct value *x)
{
    union attrs attrs = {
        .pool = { .pool_size = ints_fill(2, 3), .padding = ints_fill(4, 1), .layout = "NHWC" }
    };

    if (g->of->strides && below(g, 4) == 0)
        attrs.pool.strides = ints_fill(2, 2);
    return make1(g, below(g, 2) ? OP_MAX_POOL2D : OP_AVG_POOL2D, &attrs, x);
}

static struct value *grow_resize(struct growth *g, struct value *x)
{
    union attrs attrs = { .resize = { .size = ints_of(4, x->type.dim) } };

    attrs.resize.method = below(g, 2) ? "linear" : "nearest_neighbor";
    attrs.resize.size.at[1] = g->of->h;
    attrs.resize.size.at[2] = g->of->w;
    return make1(g, OP_RESIZE, &attrs, x);
}

/* Of two or three values that have the other dims in common. */
static struct value *grow_concat(struct growth *g, struct value *x)
{
    const int axis = below(g, 3) ? 3 : below(g, 4), most = 2 + below(g, 2);
    const union attrs attrs = { .axis = { .axis = axis } };
    struct value *inputs[3] = { x };
    int n = 1;

    for (int i = g->n - 1; i >= 0 && n < most; i--) {
        struct value *y = g->values[i];
        bool fits = y != x || below(g, 8) == 0;

        for (int k = 0; k < 4; k++)
            fits = fits && (k == axis || y->type.dim[k] == x->type.dim[k]);
        if (fits && below(g, 4))
            inputs[n++] = y;
    }
    if (below(g, 2) && n > 1) {
        inputs[0] = inputs[1];
        inputs[1] = x;
    }
    return n > 1 ? make(g, OP_CONCATENATE, &attrs, n, inputs) : NULL;
}

static struct value *grow_split(struct growth *g, struct value *x)
{
    union attrs attrs = { .split = { .axis = 3 } };

    if (x->type.dim[3] < 2)
        return NULL;
    attrs.split.sizes = ints_of(2, (int64_t[]){ 1, x->type.dim[3] - 1 });
    g->values[g->n++] =
        node_new(g->fn,
                 &(struct node_args){
                     .op = OP_SPLIT, .n_inputs = 1, .inputs = &x, .n_outputs = 2, .attrs = &attrs })
            ->outputs[0];
    return g->values[g->n - 1]->def->outputs[1];
}

/* Pieces, of which some are computed on, put together again: mostly in their order, and mostly read
 * by nobody else. */
static struct value *grow_overlay(struct growth *g, struct value *x)
{
    const union attrs axis = { .axis = { .axis = 3 } };
    const int swap = below(g, 4) == 0;
    struct value *pieces[2], *joined[2], *last;

    if (x->type.dim[3] < 2)
        return NULL;
    last = grow_split(g, below(g, 4) ? make1(g, OP_TANH, NULL, x) : x);
    pieces[0] = last->def->outputs[0];
    pieces[1] = last;
    if (below(g, 4))
        g->n--; /* nobody else reads it */
    for (int i = 0; i < 2; i++)
        joined[i ^ swap] = below(g, 3) ? make1(g, OP_TANH, NULL, pieces[i]) : pieces[i];
    return make(g, OP_CONCATENATE, &axis, 2, joined);
}

static struct value *grow_slice(struct growth *g, struct value *x)
{
    union attrs attrs = { .slice = { .begin = ints_fill(4, 0),
                                     .strides = ints_fill(4, 1),
                                     .size = ints_of(4, x->type.dim) } };

    const int axis = below(g, 2) ? 3 : below(g, 4);
    const int size = 1 + below(g, (int)x->type.dim[axis]);

    attrs.slice.size.at[axis] = size;
    attrs.slice.begin.at[axis] = below(g, (int)x->type.dim[axis] - size + 1);
    return make1(g, OP_STRIDED_SLICE, &attrs, x);
}

static struct value *grow_elementwise(struct growth *g, struct value *x)
{
    struct value *y = pick(g);

    return type_same_shape(&x->type, &y->type) && x != y
               ? make(g, OP_ADD, NULL, 2, (struct value *[]){ x, y })
               : make1(g, OP_TANH, NULL, x);
}

static struct value *grow_view(struct growth *g, struct value *x)
{
    const int64_t *d = x->type.dim;
    const union attrs attrs = { .shape = {
                                    .shape = ints_of(4, (int64_t[]){ d[0], d[2], d[1], d[3] }) } };

    return make1(g, OP_RESHAPE, &attrs, x);
}

static struct value *grow_transpose(struct growth *g, struct value *x)
{
    const union attrs attrs = { .axes = { .axes = ints_of(4, (int64_t[]){ 0, 2, 1, 3 }) } };

    return make1(g, OP_TRANSPOSE, &attrs, x);
}

static struct value *(*const pieces[])(struct growth *, struct value *) = {
    grow_conv,   grow_conv,  grow_conv,  grow_pool,        grow_resize, grow_concat,    grow_concat,
    grow_concat, grow_split, grow_slice, grow_elementwise, grow_view,   grow_transpose, grow_overlay
};

struct module *image_graph(struct ctx *ctx, const struct image_graph *of, unsigned seed)
{
    struct module *module = module_new(ctx);
    struct growth g = { .fn = module->main, .seed = seed * 2654435761u, .of = of };
    const int batch = 1 + below(&g, of->most_n);
    const struct type type =
        type_make(DTYPE_F32, 4, (int64_t[]){ batch, of->h, of->w, 1 + below(&g, of->most_c / 2) });

    ck_assert_int_le(of->n_nodes, MOST_NODES);
    g.values[g.n++] = param_new(module->main, "x", &type);
    while (g.n < of->n_nodes) {
        const int n = (int)(sizeof pieces / sizeof *pieces) - !of->overlays; /* the last */
        struct value *y = pieces[below(&g, n)](&g, pick(&g));

        if (y && type_elements(&y->type) <= of->most_elements)
            g.values[g.n++] = y;
    }
    for (int i = 0; i < g.n; i++)
        if (!g.values[i]->uses || below(&g, 10) == 0)
            result_add(module->main, g.values[i], "y");
    ck_assert_msg(pipeline_run_one(module, "fuse_ops"), "%s", expect_text(ctx));
    return module;
}
