#include "relay_ir/interpret.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/support/expect.h"

/* What a test builds; made and freed around each. */
static struct ctx *ctx;
static struct module *module;
static struct bulk bulk;

static void begin(void)
{
    ctx = ctx_new(NULL);
    module = module_new(ctx);
    bulk = (struct bulk){ NULL, 0 };
}

static void end(void)
{
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}

static struct type vector(int64_t n)
{
    return type_make(DTYPE_F32, 1, &n);
}

static struct value *number(struct function *fn, float x)
{
    const struct type type = vector(1);
    float *data = constant_alloc(fn, &type);

    *data = x;
    return constant_new(fn, "number", &type, data);
}

static struct value *apply(struct function *fn, enum op op, struct value *a, struct value *b)
{
    return build(fn, op, NULL, "y", NULL, NULL, b ? 2 : 1, (struct value *[]){ a, b });
}

static struct tensor tensor_of(const float *numbers, int64_t n)
{
    const struct type type = vector(n);
    struct tensor tensor = tensor_new(&bulk, &type);

    memcpy(tensor.data, numbers, (size_t)n * sizeof *numbers);
    return tensor;
}

static float at(const struct tensor *tensor, int64_t i)
{
    return ((const float *)tensor->data)[i];
}

/* fn(p, q) = (p + q, p), with a region of its own. */
static struct function *region(const char *name)
{
    struct function *fn = function_new(module, name);
    const struct type type = vector(2);
    struct value *p = param_new(fn, "p", &type), *q = param_new(fn, "q", &type);

    result_add(fn, apply(fn, OP_ADD, p, q), "sum");
    result_add(fn, p, "p");
    return fn;
}

static struct node *call(struct function *callee, struct value *a, struct value *b)
{
    return node_new(module->main, &(struct node_args){ .op = OP_CALL,
                                                       .n_inputs = 2,
                                                       .inputs = (struct value *[]){ a, b },
                                                       .n_outputs = callee->ret->n_inputs,
                                                       .callee = callee });
}

START_TEST(every_result_has_a_payload_of_its_own)
{
    const struct type type = vector(2);
    struct value *x = param_new(module->main, "x", &type);
    struct value *y = apply(module->main, OP_ADD, x, number(module->main, 1));
    struct value *z = apply(module->main, OP_NEGATIVE, y, NULL);
    struct value *results[] = { y, x, y, number(module->main, 7), z };
    const float wanted[] = { 3, 2, 3, 7, -3 };
    const struct tensor in = tensor_of((float[]){ 2, 5 }, 2);
    struct tensor out[5];

    for (int i = 0; i < 5; i++)
        result_add(module->main, results[i], "r");
    ck_assert(interpret(ctx, module->main, &in, out, &bulk, NULL));
    for (int i = 0; i < 5; i++) {
        ck_assert_float_eq(at(&out[i], 0), wanted[i]);
        ((float *)out[i].data)[0] = 99; /* must change nothing else */
    }
    ck_assert_float_eq(at(&out[0], 1), 6);
    ck_assert_float_eq(at(&in, 0), 2);
    ck_assert_float_eq(((const float *)results[3]->data)[0], 7);
}
END_TEST

START_TEST(regions_are_called)
{
    const struct type type = vector(2);
    struct value *x = param_new(module->main, "x", &type);
    struct function *fn = region("region");
    struct node *first = call(fn, x, x), *second = call(fn, first->outputs[0], first->outputs[1]);
    const struct tensor in = tensor_of((float[]){ 1, 10 }, 2);
    struct tensor out[2];

    result_add(module->main, second->outputs[0], "a");
    result_add(module->main, second->outputs[1], "b");
    ck_assert(interpret(ctx, module->main, &in, out, &bulk, NULL));
    ck_assert_float_eq(at(&out[0], 1), 30);
    ck_assert_float_eq(at(&out[1], 1), 20);
    ck_assert(interpret_node(ctx, first, (const struct tensor *[]){ &in, &out[0] }, out, &bulk));
    ck_assert_float_eq(at(&out[0], 0), 4);
    ck_assert_float_eq(at(&out[1], 0), 1);
}
END_TEST

static void note(void *user, const struct value *value, const struct tensor *tensor)
{
    str_printf(user, "%s:%s=%g ", value->fn->name, value->name, tensor_at(tensor, 0));
}

START_TEST(observers_see_values_in_execution_order)
{
    const struct type type = vector(2);
    struct value *x = param_new(module->main, "x", &type);
    struct node *node = call(region("region"), x, x);
    struct value *unused = apply(module->main, OP_NEGATIVE, x, NULL);
    const struct tensor in = tensor_of((float[]){ 1, 10 }, 2);
    struct str seen = { .arena = &ctx->perm };
    struct observer observer = { note, &seen, false };
    struct tensor out;

    ck_assert(unused != NULL);
    result_add(module->main, node->outputs[0], "a");
    ck_assert(interpret(ctx, module->main, &in, &out, &bulk, &observer));
    ck_assert_str_eq(str_text(&seen), "main:call=2 main:call_2=1 main:y=-1 ");
    seen = (struct str){ .arena = &ctx->perm };
    observer.inside_regions = true;
    ck_assert(interpret(ctx, module->main, &in, &out, &bulk, &observer));
    ck_assert_str_eq(str_text(&seen), "region:y=2 main:call=2 main:call_2=1 main:y=-1 ");
}
END_TEST

START_TEST(absent_inputs_stay_absent)
{
    const union attrs attrs = { .norm = { .axis = 0 } };
    const struct type type = vector(2);
    struct value *x = param_new(module->main, "x", &type);
    struct value *y = build(module->main, OP_LAYER_NORM, &attrs, "y", NULL, NULL, 3,
                            (struct value *[]){ x, x, NULL });
    const struct tensor in = tensor_of((float[]){ 1, 3 }, 2);
    struct tensor out;

    result_add(module->main, y, "y");
    ck_assert(interpret(ctx, module->main, &in, &out, &bulk, NULL));
    ck_assert_float_eq(at(&out, 0), -1);
    ck_assert_float_eq(at(&out, 1), 3);
}
END_TEST

START_TEST(failing_evaluators_end_the_run)
{
    const union attrs attrs = { .axis = { 0 } };
    const struct type floats = vector(2), index = type_scalar(DTYPE_I64);
    struct value *inputs[] = { param_new(module->main, "x", &floats),
                               param_new(module->main, "i", &index) };
    struct value *y = build(module->main, OP_TAKE, &attrs, "y", NULL, NULL, 2, inputs);
    int64_t beyond = 2;
    struct tensor in[] = { tensor_of((float[]){ 1, 3 }, 2), { index, &beyond } };
    struct tensor out;

    result_add(module->main, apply(module->main, OP_NEGATIVE, y, NULL), "z");
    ck_assert(!interpret(ctx, module->main, in, &out, &bulk, NULL));
    ck_assert(expect_error(ctx, DIAG_SHAPE, "index 2 is out of range"));
    beyond = 1;
    ck_assert(interpret(ctx, module->main, in, &out, &bulk, NULL));
    ck_assert_float_eq(at(&out, 0), -3);
}
END_TEST

#ifndef __SANITIZE_ADDRESS__ /* its shadow memory knows no limit */
START_TEST(intermediate_values_die_after_their_last_use)
{
    enum { N = 64, MIB = 1 << 20 };
    const struct rlimit limit = { (rlim_t)512 * MIB, (rlim_t)512 * MIB };
    const struct type type = vector(4 * MIB);
    struct value *v = param_new(module->main, "x", &type);
    const struct tensor in = tensor_new(&bulk, &type);
    struct tensor out;

    ((float *)in.data)[7] = 3;
    for (int i = 0; i < N; i++) /* 16 MiB each */
        v = apply(module->main, OP_COPY, v, NULL);
    result_add(module->main, v, "y");
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert(interpret(ctx, module->main, &in, &out, &bulk, NULL));
    ck_assert_float_eq(at(&out, 7), 3);
}
END_TEST
#endif

START_TEST(constants_are_found_behind_nodes)
{
    struct value *c = number(module->main, 3);
    struct value *y = apply(module->main, OP_MULTIPLY, c, number(module->main, 5));
    struct tensor tensor;

    ck_assert(interpret_constant(ctx, c, 1, &bulk, &tensor));
    ck_assert_ptr_eq(tensor.data, c->data);
    ck_assert(interpret_constant(ctx, y, 1, &bulk, &tensor));
    ck_assert_float_eq(at(&tensor, 0), 15);
    ck_assert_int_eq(ctx->diags.n_errors, 0);
}
END_TEST

START_TEST(constants_are_found_through_calls)
{
    struct function *fn = function_new(module, "region");
    const struct type type = vector(1);
    struct value *p = param_new(fn, "p", &type);
    struct value *argument = number(module->main, 4);
    struct tensor tensor;
    struct node *node;

    result_add(fn, apply(fn, OP_ADD, p, number(fn, 1)), "r");
    node = node_new(
        module->main,
        &(struct node_args){
            .op = OP_CALL, .n_inputs = 1, .inputs = &argument, .n_outputs = 1, .callee = fn });
    ck_assert(interpret_constant(ctx, node->outputs[0], 1, &bulk, &tensor));
    ck_assert_float_eq(at(&tensor, 0), 5);
    ck_assert(!interpret_constant(ctx, fn->ret->inputs[0], 1, &bulk, &tensor));
}
END_TEST

START_TEST(what_is_no_constant_is_refused_in_silence)
{
    const union attrs attrs = { .axis = { 0 } }, shape = { .shape = { { 1, { 1 << 25 } } } };
    const struct type type = vector(1), index_type = type_scalar(DTYPE_I64);
    static const int64_t beyond = 9;
    struct value *x = param_new(module->main, "x", &type), *c = number(module->main, 3);
    struct value *index = constant_new(module->main, "i", &index_type, &beyond);
    struct value *failing =
        build(module->main, OP_TAKE, &attrs, "t", NULL, NULL, 2, (struct value *[]){ c, index });
    struct value *big = build(module->main, OP_BROADCAST_TO, &shape, "b", NULL, NULL, 1, &c);
    struct value *behind_big =
        build(module->main, OP_TAKE, &attrs, "t", NULL, NULL, 2, (struct value *[]){ big, index });
    struct value *const refused[] = { x, apply(module->main, OP_ADD, c, x), failing, big,
                                      behind_big };
    struct tensor tensor;

    diag_error(ctx, DIAG_USAGE, NULL, "an earlier error");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        ck_assert(!interpret_constant(ctx, refused[i], 100, &bulk, &tensor));
    ck_assert(!interpret_constant(ctx, c, 0, &bulk, &tensor));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    /* The one that is only too big for the first call. */
    ck_assert(interpret_constant(ctx, behind_big, 1 << 25, &bulk, &tensor));
    ck_assert_float_eq(at(&tensor, 0), 3);
}
END_TEST

START_TEST(deep_graphs_do_not_exhaust_the_stack)
{
    struct value *one = number(module->main, 1), *v = one;
    struct tensor tensor;

    for (int i = 0; i < 100000; i++)
        v = apply(module->main, OP_ADD, v, one);
    ck_assert(interpret_constant(ctx, v, 1, &bulk, &tensor));
    ck_assert_float_eq(at(&tensor, 0), 100001);
}
END_TEST

/* With an evaluation per path this would take 2^60 of them. */
START_TEST(shared_values_are_computed_once)
{
    struct value *v = number(module->main, 1);
    struct tensor tensor;

    for (int i = 0; i < 60; i++)
        v = apply(module->main, OP_ADD, v, v);
    ck_assert(interpret_constant(ctx, v, 1, &bulk, &tensor));
    ck_assert_float_eq(at(&tensor, 0), (float)(1ll << 60));
}
END_TEST

START_TEST(inputs_that_do_not_fit_are_all_reported)
{
    const struct type type = vector(2);
    const struct tensor in[] = { tensor_of((float[]){ 1, 2 }, 2),
                                 tensor_of((float[]){ 1, 2, 3 }, 3),
                                 { type_make(DTYPE_F64, 1, (int64_t[]){ 2 }), NULL } };

    for (int i = 0; i < 3; i++)
        param_new(module->main, (const char *[]){ "a", "b\033[m", "c" }[i], &type);
    ck_assert(!interpret_check_inputs(ctx, module->main, 3, in));
    ck_assert_int_eq(ctx->diags.n_errors, 2);
    ck_assert(
        expect_error(ctx, DIAG_INPUT_MISMATCH, "input \"b\\x1B[m\" is (3) f32, expected (2) f32"));
    ck_assert(expect_error(ctx, DIAG_INPUT_MISMATCH, "input \"c\" is (2) f64, expected (2) f32"));
    ck_assert(!interpret_check_inputs(ctx, module->main, 1, in));
    ck_assert(expect_error(ctx, DIAG_INPUT_MISMATCH, "1 input tensors are given, expected 3"));
    ck_assert_int_eq(ctx->diags.n_errors, 3);
}
END_TEST

START_TEST(inputs_that_fit_are_accepted)
{
    const struct type type = vector(2);
    const struct tensor in[] = { tensor_of((float[]){ 1, 2 }, 2) };

    param_new(module->main, "a", &type);
    ck_assert(interpret_check_inputs(ctx, module->main, 1, in));
    ck_assert_int_eq(ctx->diags.n_errors, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interpret");
    TCase *tcase = tcase_create("interpret");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, every_result_has_a_payload_of_its_own);
    tcase_add_test(tcase, regions_are_called);
    tcase_add_test(tcase, observers_see_values_in_execution_order);
    tcase_add_test(tcase, absent_inputs_stay_absent);
    tcase_add_test(tcase, failing_evaluators_end_the_run);
#ifndef __SANITIZE_ADDRESS__
    tcase_add_test(tcase, intermediate_values_die_after_their_last_use);
#endif
    tcase_add_test(tcase, constants_are_found_behind_nodes);
    tcase_add_test(tcase, constants_are_found_through_calls);
    tcase_add_test(tcase, what_is_no_constant_is_refused_in_silence);
    tcase_add_test(tcase, deep_graphs_do_not_exhaust_the_stack);
    tcase_add_test(tcase, shared_values_are_computed_once);
    tcase_add_test(tcase, inputs_that_do_not_fit_are_all_reported);
    tcase_add_test(tcase, inputs_that_fit_are_accepted);
    suite_add_tcase(suite, tcase);
    srunner_set_fork_status(runner, CK_FORK); /* a test limits its memory */
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
