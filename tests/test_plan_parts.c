/* Concatenations whose operands are written straight into them: random graphs with the channels
 * last, the places that the plan gives checked element by element, and the numbers that the
 * generated C computes there. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "codegen_c/codegen.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/run_generated.h"

enum { N_PLANS = 300, N_RUNS = 10, N_NODES = 26, MOST = 2000 };

/* --- graphs -------------------------------------------------------------------------------------
 */

struct growth {
    struct function *fn;
    struct value *values[N_NODES + 4];
    int n;
    unsigned seed;
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
    const int64_t out_c = grouped ? c : 1 + below(g, 10);
    union attrs attrs = {
        .conv = { .padding = ints_fill(4, k / 2), .groups = grouped ? c : 1, .data_layout = "NHWC" }
    };
    struct value *w = random_constant(g->fn, "w", 4, (int64_t[]){ out_c, grouped ? 1 : c, k, k },
                                      -1, 1, &g->seed);
    struct value *y = make(g, OP_CONV2D, &attrs, 2, (struct value *[]){ x, w });

    return below(g, 2) ? make1(g, OP_RELU, NULL, y) : y;
}

static struct value *grow_pool(struct growth *g, struct value *x)
{
    const union attrs attrs = {
        .pool = { .pool_size = ints_fill(2, 3), .padding = ints_fill(4, 1), .layout = "NHWC" }
    };

    return make1(g, below(g, 2) ? OP_MAX_POOL2D : OP_AVG_POOL2D, &attrs, x);
}

static struct value *grow_resize(struct growth *g, struct value *x)
{
    union attrs attrs = { .resize = { .size = ints_of(4, x->type.dim) } };

    attrs.resize.method = below(g, 2) ? "linear" : "nearest_neighbor";
    attrs.resize.size.at[1] = 4;
    attrs.resize.size.at[2] = 5;
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
    grow_conv,   grow_conv,  grow_conv,  grow_pool,        grow_resize, grow_concat,   grow_concat,
    grow_concat, grow_split, grow_slice, grow_elementwise, grow_view,   grow_transpose
};

/* The same seed gives the same graph. */
static struct module *grow(struct ctx *ctx, unsigned seed)
{
    struct module *module = module_new(ctx);
    struct growth g = { .fn = module->main, .seed = seed * 2654435761u };
    const struct type type =
        type_make(DTYPE_F32, 4, (int64_t[]){ 1 + below(&g, 2), 4, 5, 1 + below(&g, 5) });

    g.values[g.n++] = param_new(module->main, "x", &type);
    while (g.n < N_NODES) {
        struct value *y = pieces[below(&g, sizeof pieces / sizeof *pieces)](&g, pick(&g));

        if (y && type_elements(&y->type) <= MOST)
            g.values[g.n++] = y;
    }
    for (int i = 0; i < g.n; i++)
        if (!g.values[i]->uses || below(&g, 10) == 0)
            result_add(module->main, g.values[i], "y");
    ck_assert_msg(pipeline_run_one(module, "fuse_ops"), "%s", expect_text(ctx));
    return module;
}

/* --- places -------------------------------------------------------------------------------------
 */

/* What an element is: which one of which value computed it. A concatenation has its operands', what
 * is a piece of a value has those of that. */
struct content {
    const struct value *value;
    int64_t element;
};

static struct content content_of(const struct value *value, int64_t element);

/* Of a result of a split or slice without strides. */
static struct content content_of_piece(const struct value *value, int64_t element)
{
    const struct node *call = value->def, *node = call->callee->first;
    const struct type *x = &node->inputs[0]->type;
    int64_t at[MAX_RANK], index = 0;
    int k = 0;

    for (int d = value->type.rank - 1; d >= 0; d--) {
        at[d] = element % value->type.dim[d];
        element /= value->type.dim[d];
    }
    for (int d = 0; d < x->rank && node->op == OP_STRIDED_SLICE; d++)
        at[d] += node->attrs.slice.begin.at[d];
    for (; node->op == OP_SPLIT && call->outputs[k] != value; k++)
        at[node->attrs.split.axis] += node->outputs[k]->type.dim[node->attrs.split.axis];
    for (int d = 0; d < x->rank; d++)
        index = index * x->dim[d] + at[d];
    return content_of(call->inputs[0], index);
}

static struct content content_of(const struct value *value, int64_t element)
{
    const struct node *def = value->def, *concat;
    int64_t at[MAX_RANK], rest = element, index = 0;
    int axis, i = 0;

    while (def && def->op != OP_CALL) { /* a view */
        value = def->inputs[0];
        def = value->def;
    }
    concat = def ? def->callee->first : NULL;
    if (concat && def->callee->last == concat &&
        (concat->op == OP_SPLIT || concat->op == OP_STRIDED_SLICE))
        return content_of_piece(value, element);
    if (!concat || concat->op != OP_CONCATENATE || def->callee->last != concat)
        return (struct content){ value, element };
    axis = (int)concat->attrs.axis.axis;
    for (int k = value->type.rank - 1; k >= 0; k--) {
        at[k] = rest % value->type.dim[k];
        rest /= value->type.dim[k];
    }
    while (at[axis] >= concat->inputs[i]->type.dim[axis])
        at[axis] -= concat->inputs[i++]->type.dim[axis];
    for (int k = 0; k < value->type.rank; k++)
        index = index * concat->inputs[i]->type.dim[k] + at[k];
    return content_of(def->inputs[concat->inputs[i]->index], index);
}

/* Memory as the regions leave it: the arena first, then the outputs, an entry per element. */
struct memory {
    const struct codegen_result *result;
    struct content *elements;
    int64_t *output; /* where each begins */
    int n;
};

static struct content *element_at(const struct memory *m, const struct value *value,
                                  int64_t element)
{
    const struct codegen_place *place = &m->result->places[value->id];
    const int64_t pixel = value->type.dim[value->type.rank - 1];
    const int64_t within =
        place->pitch ? element / pixel * place->pitch + element % pixel : element;
    const int64_t begin = place->kind == PLACE_OUTPUT ? m->output[place->index] : 0;

    ck_assert_uint_eq(place->offset % 4, 0);
    if (place->kind != PLACE_OUTPUT && place->kind != PLACE_ARENA)
        return NULL;
    ck_assert_int_lt(begin + (int64_t)place->offset / 4 + within, m->n);
    return &m->elements[begin + (int64_t)place->offset / 4 + within];
}

static void read_values(const struct memory *m, const struct node *call)
{
    for (int i = 0; i < call->n_inputs; i++)
        for (int64_t e = 0; e < type_elements(&call->inputs[i]->type); e++) {
            const struct content *found = element_at(m, call->inputs[i], e);
            const struct content wanted = content_of(call->inputs[i], e);

            ck_assert_msg(
                !found || (found->value == wanted.value && found->element == wanted.element),
                "element %d of '%s' is not where it should be", (int)e, call->inputs[i]->name);
        }
}

static void write_values(const struct memory *m, const struct node *call)
{
    for (int i = 0; i < call->n_outputs; i++)
        for (int64_t e = 0; e < type_elements(&call->outputs[i]->type); e++)
            *element_at(m, call->outputs[i], e) = content_of(call->outputs[i], e);
}

static struct memory memory_new(struct ctx *ctx, const struct module *module,
                                const struct codegen_result *result)
{
    const struct node *ret = module->main->ret;
    struct memory m = { .result = result, .n = (int)(result->arena_bytes / 4) };

    m.output = arena_array(&ctx->perm, int64_t, ret->n_inputs);
    for (int i = 0; i < ret->n_inputs; i++) {
        m.output[i] = m.n;
        m.n += (int)type_elements(&ret->inputs[i]->type);
    }
    m.elements = arena_array(&ctx->perm, struct content, m.n);
    return m;
}

static void check_places(struct ctx *ctx, struct module *module,
                         const struct codegen_result *result)
{
    const struct memory m = memory_new(ctx, module, result);

    for (int r = 0; r < result->n_regions; r++) {
        read_values(&m, result->regions[r].call);
        write_values(&m, result->regions[r].call);
    }
    read_values(&m, module->main->ret);
}

/* Regions of this operator alone that are not left, and (in *n) how many there were. */
static int count_gone(const struct module *module, const struct codegen_result *result, enum op op,
                      int *n)
{
    int gone = 0;

    for (const struct node *node = module->main->first; node; node = node->next) {
        if (node->op != OP_CALL || node->callee->first->op != op)
            continue;
        ++*n;
        ++gone;
        for (int r = 0; r < result->n_regions; r++)
            gone -= result->regions[r].call == node;
    }
    return gone;
}

START_TEST(every_element_is_where_it_is_read)
{
    int gone = 0, concats = 0, views = 0, n_pieces = 0;

    for (unsigned seed = 0; seed < N_PLANS; seed++) {
        struct ctx *ctx = ctx_new(NULL);
        struct module *module = grow(ctx, seed);
        const struct codegen_options options = { .name = "net",
                                                 .dir = "/nonexistent",
                                                 .model_file = "net.onnx",
                                                 .model_sha256 = "",
                                                 .command = "" };
        struct output_set set = { .ctx = ctx };
        struct codegen_result result;

        ck_assert_msg(codegen_c(module, &options, &set, &result), "%u: %s", seed, expect_text(ctx));
        output_abort(&set);
        check_places(ctx, module, &result);
        gone += count_gone(module, &result, OP_CONCATENATE, &concats);
        views += count_gone(module, &result, OP_SPLIT, &n_pieces) +
                 count_gone(module, &result, OP_STRIDED_SLICE, &n_pieces);
        module_free(module);
        ctx_free(ctx);
    }
    ck_assert_msg(gone > concats / 4, "%d of %d concatenations have no region", gone, concats);
    ck_assert_msg(views > n_pieces / 8, "%d of %d splits and slices have no region", views,
                  n_pieces);
    printf("%d of %d concatenations have no region, %d of %d splits and slices\n", gone, concats,
           views, n_pieces);
}
END_TEST

START_TEST(random_graphs_compute_the_same_in_parts)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = grow(ctx, (unsigned)_i + N_PLANS);
    const struct generated_case row = { .tolerance = 1e-4, .low = -1, .high = 1 };

    generated_check_module(module, &row, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan_parts");
    TCase *places = tcase_create("places"), *runs = tcase_create("runs");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(places, 0);
    tcase_add_test(places, every_element_is_where_it_is_read);
    tcase_set_timeout(runs, 0);
    tcase_add_loop_test(runs, random_graphs_compute_the_same_in_parts, 0, N_RUNS);
    suite_add_tcase(suite, places);
    suite_add_tcase(suite, runs);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
