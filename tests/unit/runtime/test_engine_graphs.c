/* The engine on whole graphs: layouts between primitives, fusion, observers, results of every kind,
 * errors; and where its plan puts intermediate values. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/passes/pipeline.h"
#include "runtime/engine/plan.h"
#include "tests/support/executions.h"

static struct ctx *ctx;
static struct module *module;
static struct function *fn;
static unsigned seed;

static void set_up(void)
{
    ctx = ctx_new(NULL);
    module = module_new(ctx);
    fn = module->main;
    seed = 1;
}

static void tear_down(void)
{
    module_free(module);
    ctx_free(ctx);
}

/* --- small graphs ----------------------------------------------------------------------------- */

static struct value *image(int64_t channels, int64_t size)
{
    const struct type type = type_make(DTYPE_F32, 4, (int64_t[]){ 1, channels, size, size });

    return param_new(fn, "image", &type);
}

static struct value *unary(enum op op, struct value *x)
{
    return build(fn, op, NULL, "", NULL, NULL, 1, &x);
}

static struct value *binary(enum op op, struct value *a, struct value *b)
{
    return build(fn, op, NULL, "", NULL, NULL, 2, (struct value *[]){ a, b });
}

/* 3x3, with bias and relu. */
static struct value *conv(struct value *x, int64_t channels)
{
    const union attrs channel = { .axis = { 1 } };
    const union attrs attrs = { .conv = { .strides = ints_fill(2, 1),
                                          .padding = ints_fill(4, 1),
                                          .dilation = ints_fill(2, 1),
                                          .groups = 1,
                                          .data_layout = "",
                                          .kernel_layout = "" } };
    const int64_t dims[] = { channels, x->type.dim[1], 3, 3 };
    struct value *weight = random_constant(fn, "weight", 4, dims, -1, 1, &seed);
    struct value *bias = random_constant(fn, "bias", 1, &channels, -1, 1, &seed);
    struct value *y =
        build(fn, OP_CONV2D, &attrs, "", NULL, NULL, 2, (struct value *[]){ x, weight });

    y = build(fn, OP_BIAS_ADD, &channel, "", NULL, NULL, 2, (struct value *[]){ y, bias });
    return unary(OP_RELU, y);
}

static struct value *max_pool(struct value *x)
{
    const union attrs attrs = { .pool = { .pool_size = ints_fill(2, 2),
                                          .strides = ints_fill(2, 2),
                                          .padding = ints_fill(4, 0),
                                          .dilation = ints_fill(2, 1),
                                          .layout = "" } };

    return build(fn, OP_MAX_POOL2D, &attrs, "", NULL, NULL, 1, &x);
}

static struct value *flatten(struct value *x)
{
    const int64_t dims[] = { 1, type_elements(&x->type) };
    const union attrs attrs = { .shape = { ints_of(2, dims) } };

    return build(fn, OP_RESHAPE, &attrs, "", NULL, NULL, 1, &x);
}

static struct value *concatenate(struct value *a, struct value *b)
{
    const union attrs attrs = { .axis = { 1 } };

    return build(fn, OP_CONCATENATE, &attrs, "", NULL, NULL, 2, (struct value *[]){ a, b });
}

/* --- comparing -------------------------------------------------------------------------------- */

/* Runs the function twice on both; checks the difference, and how many steps are nodes (unless
 * negative). Returns how many change a layout. */
static int agrees(int wanted_nodes)
{
    struct arena arena = { NULL };
    struct bulk bulk = { 0 };
    const struct tensor *inputs = random_inputs(&arena, &bulk, fn, -1, 1, &seed);
    struct engine *engine = engine_new(ctx, fn);
    int n_nodes, n_reorders;

    ck_assert_ptr_nonnull(engine);
    ck_assert_double_le(engine_difference(ctx, fn, engine, inputs, 2), 1e-5);
    engine_steps(engine, &n_nodes, &n_reorders);
    if (wanted_nodes >= 0)
        ck_assert_int_eq(n_nodes, wanted_nodes);
    engine_free(engine);
    bulk_release(&bulk);
    arena_release(&arena);
    return n_reorders;
}

static void fuse(void)
{
    ck_assert(pipeline_run_one(module, "fuse_ops"));
}

START_TEST(a_region_is_one_primitive)
{
    result_add(fn, conv(conv(image(16, 8), 16), 16), "y");
    fuse();
    agrees(2);
}
END_TEST

/* How often layouts change depends on the processor; the bounds hold for what oneDNN prefers on
 * any: one change at each end, one around a residual connection. */
START_TEST(primitives_hand_their_layouts_on)
{
    struct value *x = image(3, 16), *y;
    int n_reorders;

    y = max_pool(conv(x, 16));
    y = concatenate(conv(y, 32), conv(y, 16));
    y = unary(OP_GLOBAL_AVG_POOL, unary(OP_SIGMOID, conv(y, 32)));
    result_add(fn, y, "y");
    fuse();
    n_reorders = agrees(7);
    ck_assert_int_le(n_reorders, 2);
}
END_TEST

START_TEST(a_residual_connection_is_added)
{
    struct value *x = conv(image(16, 8), 16);

    result_add(fn, unary(OP_RELU, binary(OP_ADD, conv(x, 16), x)), "y");
    fuse();
    agrees(-1);
}
END_TEST

static struct value *with(enum op op, const union attrs *attrs, struct value *x)
{
    return build(fn, op, attrs, "", NULL, NULL, 1, &x);
}

/* oneDNN 2.6 computes post-ops of one algorithm all with the first one's numbers. */
START_TEST(functions_of_one_kind_keep_their_numbers)
{
    const union attrs both = { .clip = { -1, 1 } }, above = { .clip = { 0, 0.5 } };
    const union attrs flat = { .alpha_beta = { 0.1, 0 } };
    const union attrs sigmoid = { .alpha_beta = { 0.2, 0.3 } };
    struct value *x = image(16, 8), *y = unary(OP_NEGATIVE, conv(x, 16));

    y = with(OP_CLIP, &above, unary(OP_TANH, with(OP_CLIP, &both, y)));
    result_add(fn, y, "clips");
    result_add(fn, with(OP_LEAKY_RELU, &flat, unary(OP_NEGATIVE, conv(x, 16))), "slopes");
    result_add(fn, with(OP_HARD_SIGMOID, &sigmoid, unary(OP_NEGATIVE, conv(x, 16))), "factors");
    fuse();
    agrees(-1);
}
END_TEST

/* oneDNN 2.6 has no functions with another operand behind them for vectors and for six dimensions: 0.5 - x. */
START_TEST(a_number_less_a_tensor_of_any_rank_is_right)
{
    static const int64_t dims[] = { 2, 3, 2, 2, 3, 2 };
    const struct type type = type_make(DTYPE_F32, _i, dims);
    struct value *x = param_new(fn, "x", &type), *b = param_new(fn, "b", &type);
    struct value *half = random_constant(fn, "half", 0, dims, 0.4, 0.6, &seed);
    struct value *less = binary(OP_SUBTRACT, half, x),
                 *by = binary(OP_DIVIDE, half, unary(OP_EXP, b));

    result_add(fn, binary(OP_ADD, less, b), "less");
    result_add(fn, binary(OP_MULTIPLY, by, x), "by");
    fuse();
    agrees(-1);
}
END_TEST

START_TEST(channels_that_do_not_fill_blocks_are_joined)
{
    struct value *x = image(3, 8);

    result_add(fn, conv(concatenate(conv(x, 20), conv(x, 5)), 7), "y");
    fuse();
    agrees(4);
}
END_TEST

START_TEST(a_view_of_a_blocked_value_is_flat)
{
    struct value *x = flatten(conv(image(3, 8), 32));
    const int64_t dims[] = { 10, x->type.dim[1] };

    x = binary(OP_DENSE, x, random_constant(fn, "w", 2, dims, -1, 1, &seed));
    result_add(fn, x, "y");
    agrees(4);
}
END_TEST

START_TEST(readers_share_a_change_of_layout)
{
    struct value *x = conv(image(16, 8), 32);
    int n_with_one_reader;

    result_add(fn, unary(OP_ERF, x), "a");
    n_with_one_reader = agrees(4);
    result_add(fn, unary(OP_SIN, x), "b");
    result_add(fn, flatten(x), "c");
    ck_assert_int_eq(agrees(5), n_with_one_reader);
}
END_TEST

START_TEST(results_may_be_anything)
{
    const int64_t dims[] = { 3 };
    struct value *x = image(2, 4), *constant = random_constant(fn, "c", 1, dims, -1, 1, &seed);
    struct value *y = unary(OP_RELU, x);

    result_add(fn, x, "a parameter");
    result_add(fn, constant, "a constant");
    result_add(fn, y, "a value");
    result_add(fn, y, "the same again");
    result_add(fn, flatten(x), "a view of a parameter");
    result_add(fn, flatten(constant), "a view of a constant");
    ck_assert_int_eq(agrees(1), 0);
}
END_TEST

START_TEST(other_element_types_go_to_the_reference)
{
    const struct type whole = type_make(DTYPE_I64, 1, (int64_t[]){ 6 });
    const struct type real = type_make(DTYPE_F64, 1, (int64_t[]){ 6 });
    struct value *i = param_new(fn, "i", &whole), *d = param_new(fn, "d", &real);

    result_add(fn, binary(OP_ADD, i, i), "sum");
    result_add(fn, unary(OP_SIGMOID, d), "sigmoid");
    result_add(fn, binary(OP_LESS, i, i), "less");
    ck_assert_int_eq(agrees(3), 0);
}
END_TEST

START_TEST(empty_tensors_are_computed)
{
    const struct type empty = type_make(DTYPE_F32, 2, (int64_t[]){ 0, 4 });
    struct value *x = param_new(fn, "x", &empty);

    result_add(fn, unary(OP_RELU, x), "y");
    result_add(fn, binary(OP_ADD, x, x), "z");
    ck_assert_int_eq(agrees(2), 0);
}
END_TEST

START_TEST(extremes_of_infinite_numbers_are_infinite)
{
    static const union attrs attrs = { .reduce = { { 1, { 1 } }, false } };
    const struct type type = type_make(DTYPE_F32, 2, (int64_t[]){ 2, 2 });
    float numbers[] = { -INFINITY, -INFINITY, INFINITY, INFINITY };
    const struct tensor input = { type, numbers };
    struct value *x = param_new(fn, "x", &type);
    struct bulk bulk = { 0 };
    struct tensor outputs[2];
    struct engine *engine;

    result_add(fn, build(fn, OP_MAX, &attrs, "", NULL, NULL, 1, &x), "most");
    result_add(fn, build(fn, OP_MIN, &attrs, "", NULL, NULL, 1, &x), "least");
    engine = engine_new(ctx, fn);
    ck_assert_ptr_nonnull(engine);
    ck_assert(engine_run(engine, &input, outputs, &bulk, NULL));
    for (int i = 0; i < 2; i++) {
        const float *const y = outputs[i].data;

        ck_assert(isinf(y[0]) && y[0] < 0);
        ck_assert(isinf(y[1]) && y[1] > 0);
    }
    engine_free(engine);
    bulk_release(&bulk);
}
END_TEST

/* A function called twice has its own intermediate values each time. */
START_TEST(a_function_is_called_twice)
{
    const struct type type = type_make(DTYPE_F32, 4, (int64_t[]){ 1, 16, 8, 8 });
    struct function *callee = function_new(module, "callee");
    struct node_args args = { .op = OP_CALL, .n_inputs = 1, .n_outputs = 1, .callee = callee };
    struct value *x, *y;

    fn = callee;
    x = param_new(fn, "x", &type);
    result_add(fn, conv(x, 16), "y");
    fn = module->main;
    x = image(16, 8);
    for (int i = 0; i < 2; i++) {
        args.inputs = &x;
        y = node_new(fn, &args)->outputs[0];
        x = y;
    }
    result_add(fn, x, "y");
    agrees(2);
}
END_TEST

/* --- observers -------------------------------------------------------------------------------- */

/* What an observer saw, as tensors by name. */
struct record {
    struct arena arena;
    struct bulk bulk;
    struct str order;
    struct map seen;
};

static void record_value(void *user, const struct value *value, const struct tensor *tensor)
{
    struct record *record = user;
    struct tensor *copy = arena_new(&record->arena, struct tensor);

    ck_assert(type_equal(&value->type, &tensor->type));
    *copy = tensor_new(&record->bulk, &tensor->type);
    memcpy(copy->data, tensor->data, type_bytes(&tensor->type));
    str_printf(&record->order, "%s %s\n", value->fn->name, value->name);
    map_set(&record->seen, arena_printf(&record->arena, "%s %s", value->fn->name, value->name),
            copy);
}

static void record_open(struct record *record)
{
    memset(record, 0, sizeof *record);
    record->order.arena = record->seen.arena = &record->arena;
}

static void record_close(struct record *record)
{
    bulk_release(&record->bulk);
    arena_release(&record->arena);
}

/* _i: whether to look inside regions. */
START_TEST(an_observer_sees_what_the_reference_shows)
{
    struct arena arena = { NULL };
    struct bulk bulk = { 0 };
    struct record wanted, got;
    struct observer observer = { record_value, &wanted, _i };
    struct tensor outputs[1];
    const struct tensor *inputs;
    struct engine *engine;
    struct value *x = image(3, 16);

    x = max_pool(conv(x, 16));
    x = binary(OP_ADD, conv(x, 16), x);
    result_add(fn, unary(OP_ERF, flatten(x)), "y");
    fuse();
    record_open(&wanted);
    record_open(&got);
    inputs = random_inputs(&arena, &bulk, fn, -1, 1, &seed);
    ck_assert(interpret(ctx, fn, inputs, outputs, &bulk, &observer));
    observer.user = &got;
    engine = engine_new(ctx, fn);
    ck_assert_ptr_nonnull(engine);
    ck_assert(engine_run(engine, inputs, outputs, &bulk, &observer));
    ck_assert_str_eq(str_text(&got.order), str_text(&wanted.order));
    ck_assert(wanted.seen.n > (_i ? 8u : 4u));
    for (size_t i = 0; i < wanted.seen.n; i++)
        ck_assert_double_le(difference(map_get(&got.seen, wanted.seen.entries[i].key),
                                       wanted.seen.entries[i].value),
                            1e-5);
    engine_free(engine);
    record_close(&wanted);
    record_close(&got);
    bulk_release(&bulk);
    arena_release(&arena);
}
END_TEST

/* --- errors ----------------------------------------------------------------------------------- */

START_TEST(an_error_of_an_evaluator_is_reported_and_survived)
{
    const struct type table = type_make(DTYPE_F32, 2, (int64_t[]){ 4, 3 });
    const struct type index = type_make(DTYPE_I64, 1, (int64_t[]){ 1 });
    const union attrs attrs = { .axis = { 0 } };
    float numbers[12] = { 0 };
    int64_t at[] = { 9 };
    const struct tensor inputs[] = { { table, numbers }, { index, at } };
    struct tensor outputs[1];
    struct bulk bulk = { 0 };
    struct value *x[] = { param_new(fn, "table", &table), param_new(fn, "index", &index) };
    struct engine *engine;

    result_add(fn, build(fn, OP_TAKE, &attrs, "y", NULL, NULL, 2, x), "y");
    engine = engine_new(ctx, fn);
    ck_assert_ptr_nonnull(engine);
    ck_assert(!engine_run(engine, inputs, outputs, &bulk, NULL));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    at[0] = 3;
    ck_assert(engine_run(engine, inputs, outputs, &bulk, NULL));
    engine_free(engine);
    bulk_release(&bulk);
}
END_TEST

START_TEST(inputs_that_do_not_fit_are_refused)
{
    const struct type type = type_make(DTYPE_F32, 4, (int64_t[]){ 1, 2, 4, 5 });
    struct bulk bulk = { 0 };
    const struct tensor input = tensor_new(&bulk, &type);
    struct tensor output;
    struct engine *engine;

    result_add(fn, unary(OP_RELU, image(2, 4)), "y");
    engine = engine_new(ctx, fn);
    ck_assert_ptr_nonnull(engine);
    ck_assert(!engine_run(engine, &input, &output, &bulk, NULL));
    ck_assert_int_eq((int)ctx->diags.first->code, DIAG_INPUT_MISMATCH);
    engine_free(engine);
    bulk_release(&bulk);
}
END_TEST

/* --- the plan --------------------------------------------------------------------------------- */

START_TEST(values_share_memory_but_never_at_the_same_time)
{
    enum { N = 60 };
    struct plan plan = { 0 };
    size_t sum = 0, end = 0;

    for (int i = 0; i < N; i++) {
        struct storage *s = arena_new(&plan.arena, struct storage);

        seed = seed * 1664525u + 1013904223u;
        s->bytes = 1 + (seed >> 8) % 1000;
        s->first = i;
        s->last = i + (int)(seed >> 20) % 5;
        s->next = plan.storages;
        plan.storages = s;
    }
    plan_place(&plan);
    for (struct storage *a = plan.storages; a; a = a->next) {
        sum += a->bytes;
        end = a->offset + a->bytes > end ? a->offset + a->bytes : end;
        for (struct storage *b = a->next; b; b = b->next)
            ck_assert(a->last < b->first || b->last < a->first ||
                      a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset);
    }
    ck_assert_uint_eq(plan.pool_memory.bytes, end);
    ck_assert_uint_lt(end, sum / 4);
    bulk_release(&plan.pool_memory);
    arena_release(&plan.arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_graphs");
    TCase *tcase = tcase_create("graphs");
    SRunner *runner;
    int n_failed;

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_region_is_one_primitive);
    tcase_add_test(tcase, primitives_hand_their_layouts_on);
    tcase_add_test(tcase, a_residual_connection_is_added);
    tcase_add_test(tcase, functions_of_one_kind_keep_their_numbers);
    tcase_add_loop_test(tcase, a_number_less_a_tensor_of_any_rank_is_right, 1, 7);
    tcase_add_test(tcase, channels_that_do_not_fill_blocks_are_joined);
    tcase_add_test(tcase, a_view_of_a_blocked_value_is_flat);
    tcase_add_test(tcase, readers_share_a_change_of_layout);
    tcase_add_test(tcase, results_may_be_anything);
    tcase_add_test(tcase, other_element_types_go_to_the_reference);
    tcase_add_test(tcase, empty_tensors_are_computed);
    tcase_add_test(tcase, extremes_of_infinite_numbers_are_infinite);
    tcase_add_test(tcase, a_function_is_called_twice);
    tcase_add_loop_test(tcase, an_observer_sees_what_the_reference_shows, 0, 2);
    tcase_add_test(tcase, an_error_of_an_evaluator_is_reported_and_survived);
    tcase_add_test(tcase, inputs_that_do_not_fit_are_refused);
    tcase_add_test(tcase, values_share_memory_but_never_at_the_same_time);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
