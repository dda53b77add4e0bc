/* convert_layout on random graphs of feature maps: what they compute stays the same, to the last
 * bit. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/layout.h"
#include "relay_ir/passes/layout/rows.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/random_graph.h"

enum { N_GRAPHS = 400, N_NODES = 24, MOST = 3000 };

struct growth {
    struct function *fn;
    struct value *values[N_NODES + 4];
    int n;
    unsigned seed;
    bool odd; /* dims of 1 and equal ones, transposes of any order, also between views */
};

static int below(struct growth *g, int n)
{
    g->seed = g->seed * 1664525u + 1013904223u;
    return (int)((g->seed >> 8) % (unsigned)n);
}

static struct value *pick(struct growth *g)
{
    return g->values[g->n - 1 - below(g, g->n < 5 ? g->n : 5)];
}

static struct value *constant(struct growth *g, int rank, const int64_t *dim)
{
    return random_constant(g->fn, "c", rank, dim, -1, 1, &g->seed);
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
    const int64_t c = x->type.dim[1], k = 1 + 2 * below(g, 2);
    const bool grouped = below(g, 3) == 0;
    const int64_t out_c = grouped ? c : 1 + below(g, 5);
    union attrs attrs = { .conv = { .padding = ints_fill(4, k / 2), .groups = grouped ? c : 1 } };
    struct value *w = constant(g, 4, (int64_t[]){ out_c, grouped ? 1 : c, k, k });

    attrs.conv.strides = ints_fill(2, 1 + below(g, 2));
    return make(g, OP_CONV2D, &attrs, 2, (struct value *[]){ x, w });
}

static struct value *grow_transposed_conv(struct growth *g, struct value *x)
{
    union attrs attrs = { .conv_transpose = { .strides = ints_fill(2, 2), .groups = 1 } };
    struct value *w = constant(g, 4, (int64_t[]){ x->type.dim[1], 2, 2, 2 });

    return make(g, OP_CONV2D_TRANSPOSE, &attrs, 2, (struct value *[]){ x, w });
}

static struct value *grow_norm(struct growth *g, struct value *x)
{
    const int64_t c = x->type.dim[1];
    const bool halves = c % 2 == 0 && below(g, 2);
    const union attrs attrs = { .norm = { .axis = 1, .groups = halves ? 2 : 1, .epsilon = 0.01 } };

    return make(g, below(g, 2) ? OP_GROUP_NORM : OP_INSTANCE_NORM, &attrs, 3,
                (struct value *[]){ x, constant(g, 1, &c), constant(g, 1, &c) });
}

static struct value *grow_pool(struct growth *g, struct value *x)
{
    static const enum op ops[] = { OP_MAX_POOL2D, OP_AVG_POOL2D, OP_GLOBAL_AVG_POOL };
    const union attrs attrs = { .pool = { .pool_size = ints_fill(2, 2),
                                          .strides = ints_fill(2, 1 + below(g, 2)) } };
    const int which = x->type.dim[2] < 2 || x->type.dim[3] < 2 ? 2 : below(g, 3);

    return make1(g, ops[which], which == 2 ? NULL : &attrs, x);
}

static struct value *grow_resize(struct growth *g, struct value *x)
{
    union attrs attrs = { .resize = { .size = ints_of(4, x->type.dim) } };

    attrs.resize.method = below(g, 2) ? "linear" : "nearest_neighbor";
    attrs.resize.size.at[2] *= 2;
    attrs.resize.size.at[3] += 1;
    return make1(g, OP_RESIZE, &attrs, x);
}

/* With a constant of a channel's number, of some dims, or of all. */
static struct value *grow_broadcast(struct growth *g, struct value *x)
{
    static const enum op ops[] = { OP_ADD, OP_MULTIPLY, OP_MAXIMUM, OP_SUBTRACT };
    const enum op op = ops[below(g, 4)];
    int64_t dim[4];
    struct value *c;

    for (int i = 0; i < 4; i++)
        dim[i] = below(g, 2) ? x->type.dim[i] : 1;
    c = below(g, 2) ? constant(g, 4, dim) : constant(g, 3, dim + 1);
    return make(g, op, NULL, 2,
                below(g, 2) ? (struct value *[]){ x, c } : (struct value *[]){ c, x });
}

static struct value *grow_axis(struct growth *g, struct value *x)
{
    const int axis = below(g, 4);
    union attrs attrs = { .axis = { .axis = axis } };

    switch (below(g, 4)) {
    case 0: return make1(g, OP_SOFTMAX, &attrs, x);
    case 1:
        return make(g, OP_BIAS_ADD, &attrs, 2,
                    (struct value *[]){ x, constant(g, 1, &x->type.dim[axis]) });
    case 2: return make(g, OP_CONCATENATE, &attrs, 2, (struct value *[]){ x, x });
    default:
        attrs = (union attrs){ .split = { .axis = axis } };
        if (x->type.dim[axis] < 2)
            return NULL;
        attrs.split.sizes = ints_of(2, (int64_t[]){ 1, x->type.dim[axis] - 1 });
        return node_new(g->fn, &(struct node_args){ .op = OP_SPLIT,
                                                    .n_inputs = 1,
                                                    .inputs = &x,
                                                    .n_outputs = 2,
                                                    .attrs = &attrs })
            ->outputs[1];
    }
}

static struct value *grow_move(struct growth *g, struct value *x)
{
    union attrs attrs = { .pad = { .pad_before = { 4, { 0, below(g, 2), 1, 0 } },
                                   .pad_after = { 4, { 0, 0, 0, below(g, 3) } },
                                   .value = 1 } };

    switch (below(g, 4)) {
    case 0: return make1(g, OP_PAD, &attrs, x);
    case 1:
        attrs = (union attrs){ .slice = { .begin = ints_fill(4, 0),
                                          .strides = ints_fill(4, 1),
                                          .size = ints_of(4, x->type.dim) } };
        attrs.slice.size.at[1 + below(g, 3)] = 1;
        return make1(g, OP_STRIDED_SLICE, &attrs, x);
    case 2:
        attrs = (union attrs){ .reduce = { .axis = { 2, { 2, 3 } }, .keepdims = true } };
        return make1(g, below(g, 2) ? OP_MEAN : OP_MAX, &attrs, x);
    default:
        attrs = (union attrs){ .shape = { .shape = { 4, { 1, 1 + below(g, 2), 1, 2 } } } };
        return make1(g, OP_TILE, &attrs, x);
    }
}

static struct value *grow_order(struct growth *g, struct value *x)
{
    union attrs attrs = { .axes = { .axes = { .n = x->type.rank } } };

    for (int i = 0; i < x->type.rank; i++) { /* Fisher and Yates */
        const int j = below(g, i + 1);

        attrs.axes.axes.at[i] = attrs.axes.axes.at[j];
        attrs.axes.axes.at[j] = i;
    }
    return make1(g, OP_TRANSPOSE, &attrs, x);
}

static struct value *grow_transpose(struct growth *g, struct value *x)
{
    static const int64_t orders[][4] = { { 0, 2, 3, 1 }, { 0, 3, 1, 2 }, { 0, 1, 3, 2 } };
    const union attrs attrs = { .axes = { .axes = ints_of(4, orders[below(g, 3)]) } };

    return g->odd ? grow_order(g, x) : make1(g, OP_TRANSPOSE, &attrs, x);
}

/* x.squeeze(i).transpose(...).unsqueeze(j), as PyTorch's users write it. */
static struct value *grow_squeezed(struct growth *g, struct value *x)
{
    union attrs attrs = { .shape = { .shape = { .n = 0 } } };
    int one = 0;

    while (one < 4 && x->type.dim[one] != 1)
        one++;
    if (one == 4)
        return NULL;
    for (int i = 0; i < 4; i++)
        if (i != one)
            attrs.shape.shape.at[attrs.shape.shape.n++] = x->type.dim[i];
    x = grow_order(g, make1(g, OP_RESHAPE, &attrs, x));
    one = below(g, 4);
    attrs.shape.shape.n = 4;
    for (int i = 0, from = 0; i < 4; i++)
        attrs.shape.shape.at[i] = i == one ? 1 : x->type.dim[from++];
    return make1(g, OP_RESHAPE, &attrs, x);
}

/* A view and back, so that there are feature maps still; or a dense layer. */
static struct value *grow_view(struct growth *g, struct value *x)
{
    const int64_t *d = x->type.dim, n = type_elements(&x->type);
    const int64_t shapes[][4] = { { d[0], d[1], d[2] * d[3], 1 },
                                  { d[0], 1, d[1], d[2] * d[3] },
                                  { d[0], d[1] * d[2], d[3], 1 },
                                  { 1, d[0] * d[1], d[2], d[3] } };
    union attrs attrs = { .shape = { .shape = ints_of(4, shapes[below(g, 4)]) } };
    struct value *y;

    if (below(g, 3) > 0)
        return make1(g, OP_RESHAPE, &attrs, x);
    attrs.shape.shape = ints_of(2, (int64_t[]){ d[0], n / d[0] });
    y = make1(g, OP_RESHAPE, &attrs, x);
    if (below(g, 2))
        y = make1(g, OP_RELU, NULL, y);
    y = make(g, OP_DENSE, NULL, 2,
             (struct value *[]){ y, constant(g, 2, (int64_t[]){ 6, n / d[0] }) });
    attrs.shape.shape = ints_of(4, (int64_t[]){ d[0], 3, 1, 2 });
    return make1(g, OP_RESHAPE, &attrs, y);
}

static struct value *grow_join(struct growth *g, struct value *x)
{
    struct value *y = pick(g);

    return type_same_shape(&x->type, &y->type)
               ? make(g, OP_ADD, NULL, 2, (struct value *[]){ x, y })
               : make1(g, below(g, 2) ? OP_RELU : OP_TANH, NULL, x);
}

static struct value *grow_space(struct growth *g, struct value *x)
{
    const union attrs attrs = { .block = { .block_size = ints_fill(2, 2) } };

    if (x->type.dim[1] % 4 == 0)
        return make1(g, OP_DEPTH_TO_SPACE, &attrs, x);
    return x->type.dim[2] % 2 == 0 && x->type.dim[3] % 2 == 0
               ? make1(g, OP_SPACE_TO_DEPTH, &attrs, x)
               : NULL;
}

static struct value *(*const pieces[])(struct growth *, struct value *) = {
    grow_conv, grow_conv,      grow_conv, grow_transposed_conv, grow_pool,  grow_resize,
    grow_axis, grow_broadcast, grow_move, grow_transpose,       grow_space, grow_view,
    grow_join, grow_join,      grow_axis, grow_broadcast,       grow_norm,
};

static struct type input_type(struct growth *g)
{
    static const int64_t odd[] = { 1, 1, 2, 2, 3, 8 };
    struct type type = type_make(
        DTYPE_F32, 4, (int64_t[]){ 1 + below(g, 2), 1 + below(g, 4), 2 + below(g, 4), 3 });

    for (int i = 0; i < 4 && g->odd; i++)
        type.dim[i] = odd[below(g, sizeof odd / sizeof *odd)];
    return type;
}

/* The same seed gives the same graph. */
static struct module *grow(struct ctx *ctx, unsigned seed, bool odd)
{
    struct module *module = module_new(ctx);
    struct growth g = { .fn = module->main, .seed = seed * 2654435761u, .odd = odd };
    const struct type type = input_type(&g);

    g.values[g.n++] = param_new(module->main, "x", &type);
    for (int i = 0; i < N_NODES && g.n < N_NODES; i++) {
        const bool squeezes = odd && below(&g, 4) == 0;
        struct value *y = squeezes
                              ? grow_squeezed(&g, pick(&g))
                              : pieces[below(&g, sizeof pieces / sizeof *pieces)](&g, pick(&g));

        if (y && y->type.rank == 4 && type_elements(&y->type) <= MOST)
            g.values[g.n++] = y;
    }
    for (int i = 0; i < g.n; i++)
        if (!g.values[i]->uses || below(&g, 8) == 0)
            result_add(module->main, g.values[i], "y");
    return module;
}

static bool run_pass(struct module *module, void *user)
{
    (void)user;
    return pass_convert_layout(module);
}

/* Check's messages have no room for graphs. */
static void show(struct ctx *ctx, const struct module *before, const struct module *after)
{
    fprintf(stderr, "%s%s\nafter\n%s\n", expect_text(ctx), graph_text(before, false),
            graph_text(after, false));
    ck_abort_msg("convert_layout failed, or changed what this network computes");
}

static void check_pair(struct ctx *ctx, struct module *before, struct module *after)
{
    const struct pipeline_options options = { .dump_after = NULL };
    struct bulk bulk = { NULL, 0 };
    const struct tensor *wanted, *got;

    if (!pipeline_run_step(after, "convert_layout", PROMISE_BITS, run_pass, NULL, &options))
        show(ctx, before, after);
    wanted = graph_run(before, 5, &bulk);
    got = graph_run(after, 5, &bulk);
    ck_assert(wanted && got);
    for (int i = 0; i < before->main->ret->n_inputs; i++)
        if (!tensor_equal(&wanted[i], &got[i]))
            show(ctx, before, after);
    bulk_release(&bulk);
}

/* Spatial operators of the table read, or write, the channels last; those that take planes, too,
 * read and write alike. */
static void check_layouts(const struct module *module)
{
    for (const struct node *n = module->main->first; n; n = n->next) {
        const char *in = node_layout(n), *out = node_out_layout(n);
        const bool mixes = n->op == OP_CONV2D && n->attrs.conv.groups == 1;

        if (*in && layout_takes_channels_first(n))
            ck_assert_int_eq(layout_is_last(in), layout_is_last(out));
        else if (*in && !mixes && n->op != OP_CONV2D_TRANSPOSE)
            ck_assert_msg(layout_is_last(in) && layout_is_last(out), "%s",
                          graph_text(module, false));
    }
}

START_TEST(numbers_stay_the_same)
{
    for (int i = 0; i < 20; i++) {
        const unsigned seed = (unsigned)(20 * _i + i);
        struct ctx *ctx = ctx_new(NULL);
        struct module *before = grow(ctx, seed, false), *after = grow(ctx, seed, false);

        check_pair(ctx, before, after);
        check_layouts(after);
        module_free(before);
        module_free(after);
        ctx_free(ctx);
    }
}
END_TEST

/* Dims of 1 and equal ones make orders look alike that are not. */
START_TEST(numbers_of_odd_shapes_stay_the_same)
{
    for (int i = 0; i < 50; i++) {
        const unsigned seed = (unsigned)(50 * _i + i);
        struct ctx *ctx = ctx_new(NULL);
        struct module *before = grow(ctx, seed, true), *after = grow(ctx, seed, true);

        check_pair(ctx, before, after);
        module_free(before);
        module_free(after);
        ctx_free(ctx);
    }
}
END_TEST

START_TEST(numbers_of_networks_stay_the_same)
{
    for (int i = 0; i < 20; i++) {
        const unsigned seed = (unsigned)(20 * _i + i);
        struct ctx *ctx = ctx_new(NULL);
        struct module *before = random_graph(ctx, 40, seed), *after = random_graph(ctx, 40, seed);

        check_pair(ctx, before, after);
        module_free(before);
        module_free(after);
        ctx_free(ctx);
    }
}
END_TEST

static int64_t moved_bytes(const struct module *module)
{
    int64_t bytes = 0;

    for (const struct node *n = module->main->first; n; n = n->next)
        bytes += n->op == OP_TRANSPOSE ? (int64_t)type_bytes(&n->outputs[0]->type) : 0;
    return bytes;
}

/* What has been converted is as cheap as it gets. */
START_TEST(a_second_time_moves_no_more)
{
    struct ctx *ctx = ctx_new(NULL);
    const struct pipeline_options options = { .dump_after = NULL };

    for (unsigned seed = 0; seed < 40; seed++) {
        struct module *module = grow(ctx, seed, seed % 2 == 1);
        int64_t once;

        ck_assert(
            pipeline_run_step(module, "convert_layout", PROMISE_BITS, run_pass, NULL, &options));
        once = moved_bytes(module);
        ck_assert(
            pipeline_run_step(module, "convert_layout", PROMISE_BITS, run_pass, NULL, &options));
        ck_assert_int_le(moved_bytes(module), once);
        module_free(module);
    }
    ctx_free(ctx);
}
END_TEST

/* Convolutions with what follows them, fused into regions: oneDNN sees the channels first in dims
 * that are turned. */
START_TEST(the_engine_knows_channels_last)
{
    const struct pipeline_options options = { .dump_after = NULL };
    int n_onednn = 0, n_reference = 0;

    for (int i = 0; i < 20; i++) {
        unsigned seed = (unsigned)(20 * _i + i);
        struct ctx *ctx = ctx_new(NULL);
        struct bulk bulk = { NULL, 0 };
        struct module *module = grow(ctx, seed, seed % 2 == 1);
        const struct tensor *inputs;
        struct engine *engine;
        int onednn, reference;

        ck_assert(pipeline_run_one(module, "dead_code"));
        ck_assert(
            pipeline_run_step(module, "convert_layout", PROMISE_BITS, run_pass, NULL, &options));
        ck_assert_msg(pipeline_run_one(module, "fuse_ops"), "%s", expect_text(ctx));
        inputs = random_inputs(&ctx->perm, &bulk, module->main, -2, 2, &seed);
        engine = engine_new(ctx, module->main);
        ck_assert_msg(engine, "%s", expect_text(ctx));
        ck_assert_double_lt(engine_difference(ctx, module->main, engine, inputs, 1), 1e-5);
        engine_count(engine, &onednn, &reference);
        n_onednn += onednn;
        n_reference += reference;
        engine_free(engine);
        bulk_release(&bulk);
        module_free(module);
        ctx_free(ctx);
    }
    ck_assert_int_gt(n_onednn, n_reference);
}
END_TEST

START_TEST(ten_thousand_nodes_are_quick)
{
    struct ctx *ctx = ctx_new(NULL);
    const struct pipeline_options options = { .dump_after = NULL };
    struct module *module = random_graph(ctx, 10000, 1);

    ck_assert(pipeline_run_step(module, "convert_layout", PROMISE_BITS, run_pass, NULL, &options));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("convert_layout_random");
    TCase *tcase = tcase_create("convert_layout_random");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, numbers_stay_the_same, 0, N_GRAPHS / 20);
    tcase_add_loop_test(tcase, numbers_of_odd_shapes_stay_the_same, 0, 20);
    tcase_add_loop_test(tcase, numbers_of_networks_stay_the_same, 0, 10);
    tcase_add_loop_test(tcase, the_engine_knows_channels_last, 0, 10);
    tcase_add_test(tcase, a_second_time_moves_no_more);
    tcase_add_test(tcase, ten_thousand_nodes_are_quick);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
