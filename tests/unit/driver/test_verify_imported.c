/* Whether `relayc verify` sees that the graph after the passes means something else than the
 * imported one, and does not cry where values only lie otherwise. Both graphs are text here, so
 * that the mistakes can be planted. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "driver/commands/verify.h"
#include "relay_ir/text.h"

static struct driver_state driver;
static struct verification v;
static struct verify_set set;

static struct module *parse(const char *text)
{
    struct module *module = module_parse(driver.ctx, text, NULL, false);

    if (!module)
        diag_print(driver.ctx, stderr, false, 9);
    ck_assert_ptr_nonnull(module);
    return module;
}

/* Numbers without a pattern in -1 .. 1. */
static struct tensor numbers(const struct type *type)
{
    const struct tensor tensor = tensor_new(&driver.bulk, type);
    uint32_t state = 12345;

    for (int64_t i = 0; i < type_elements(type); i++) {
        state = state * 1664525u + 1013904223u;
        dtype_store(type->dtype, tensor.data, i, (double)(state >> 8) * 0x1p-23 - 1);
    }
    return tensor;
}

/* Who quantises: nobody, the model, or --precision. */
enum rounding { FLOATS, MODEL_ROUNDS, ROUNDS_ANEW };

/* Runs both graphs, which have one parameter. */
static void run(const char *imported, const char *after, enum rounding rounding)
{
    driver = driver_begin(ctx_new("test"), COMMAND_VERIFY);
    v = (struct verification){ .driver = &driver, .n_sets = 1, .sets = &set, .tolerance = 1e-4 };
    v.imported = parse(imported);
    v.module = parse(after);
    v.rounds = rounding != FLOATS;
    v.rounds_anew = rounding == ROUNDS_ANEW;
    set = (struct verify_set){ .what = "test" };
    set.given = arena_array(&driver.ctx->perm, struct tensor, 1);
    set.given[0] = numbers(&v.imported->main->params[0]->type);
    set.inputs = set.given;
    function_number(v.module->main);
    ck_assert(verify_run_reference(&v));
    ck_assert(verify_run_imported(&v));
}

static void end(void)
{
    module_free(v.imported);
    module_free(v.module);
    driver_free(&driver);
    ctx_free(driver.ctx);
}

static bool differs(const char *name)
{
    const struct layer *layer = map_get(&v.layers, name);

    ck_assert_ptr_nonnull(layer);
    ck_assert(!isnan(layer->column[IMPORTED].error)); /* it was compared */
    return layer->column[IMPORTED].error > layer->column[IMPORTED].limit;
}

static bool is_compared(const char *name)
{
    const struct layer *layer = map_get(&v.layers, name);

    return !isnan(layer->column[IMPORTED].error);
}

#define IMPORTED_GRAPH                                                                             \
    "fn main(%x: (1,2,2,2) f32) -> (%y) {\n"                                                       \
    "  %a = tanh(%x) : (1,2,2,2) f32\n"                                                            \
    "  %b = sigmoid(%a) : (1,2,2,2) f32\n"                                                         \
    "  %y = exp(%b) : (1,2,2,2) f32\n"                                                             \
    "}\n"

START_TEST(same_graph)
{
    run(IMPORTED_GRAPH, IMPORTED_GRAPH, FLOATS);
    ck_assert_int_eq(v.n_matched, 3);
    ck_assert(!differs("a") && !differs("b") && !differs("y"));
    end();
}
END_TEST

/* All dims are equal: only the numbers can say how a value lies. */
START_TEST(channels_last_between)
{
    run(IMPORTED_GRAPH,
        "fn main(%x: (1,2,2,2) f32) -> (%y) {\n"
        "  %x.nhwc = transpose(%x) {axes=[0,2,3,1]} : (1,2,2,2) f32\n"
        "  %a.nhwc = tanh(%x.nhwc) : (1,2,2,2) f32\n"
        "  %b = sigmoid(%a.nhwc) : (1,2,2,2) f32\n"
        "  %b.nchw = transpose(%b) {axes=[0,3,1,2]} : (1,2,2,2) f32\n"
        "  %y = exp(%b.nchw) : (1,2,2,2) f32\n"
        "}\n",
        FLOATS);
    ck_assert(!differs("a.nhwc") && !differs("b") && !differs("b.nchw") && !differs("y"));
    ck_assert(!is_compared("x.nhwc")); /* a parameter of the model: no node computes it */
    end();
}
END_TEST

/* What the layout bugs of squeezed transposes did: a view stands in a transpose's place. */
START_TEST(view_for_transpose)
{
    run(IMPORTED_GRAPH,
        "fn main(%x: (1,2,2,2) f32) -> (%y) {\n"
        "  %x.nhwc = transpose(%x) {axes=[0,2,3,1]} : (1,2,2,2) f32\n"
        "  %a.nhwc = tanh(%x.nhwc) : (1,2,2,2) f32\n"
        "  %b = sigmoid(%a.nhwc) : (1,2,2,2) f32\n"
        "  %b.nchw = reshape(%b) {shape=[1,2,2,2]} : (1,2,2,2) f32\n"
        "  %y = exp(%b.nchw) : (1,2,2,2) f32\n"
        "}\n",
        FLOATS);
    ck_assert(!differs("a.nhwc") && !differs("b"));
    ck_assert(differs("y"));
    end();
}
END_TEST

/* A result lies as the model says, whatever agrees otherwise. */
START_TEST(result_in_another_order)
{
    run(IMPORTED_GRAPH,
        "fn main(%x: (1,2,2,2) f32) -> (%y) {\n"
        "  %x.nhwc = transpose(%x) {axes=[0,2,3,1]} : (1,2,2,2) f32\n"
        "  %a = tanh(%x.nhwc) : (1,2,2,2) f32\n"
        "  %b = sigmoid(%a) : (1,2,2,2) f32\n"
        "  %y = exp(%b) : (1,2,2,2) f32\n"
        "}\n",
        FLOATS);
    ck_assert(!differs("a") && !differs("b"));
    ck_assert(differs("y"));
    end();
}
END_TEST

/* Each layer goes on with what the graph after the passes has: only the wrong one is named. */
START_TEST(one_wrong_layer)
{
    run(IMPORTED_GRAPH,
        "fn main(%x: (1,2,2,2) f32) -> (%y) {\n"
        "  %a = sigmoid(%x) : (1,2,2,2) f32\n"
        "  %b = sigmoid(%a) : (1,2,2,2) f32\n"
        "  %y = exp(%b) : (1,2,2,2) f32\n"
        "}\n",
        FLOATS);
    ck_assert(differs("a"));
    ck_assert(!differs("b") && !differs("y"));
    end();
}
END_TEST

/* A map that is flattened as it lies, in front of turned weights, and squeezed ones. */
START_TEST(views)
{
    run("fn main(%x: (1,3,2,4) f32) -> (%y) {\n"
        "  %a = tanh(%x) : (1,3,2,4) f32\n"
        "  %f = reshape(%a) {shape=[1,24]} : (1,24) f32\n"
        "  %r = exp(%f) : (1,24) f32\n"
        "  %y = sum(%r) {axis=[1], keepdims=false} : (1) f32\n"
        "}\n",
        "fn main(%x: (1,3,2,4) f32) -> (%y) {\n"
        "  %x.nhwc = transpose(%x) {axes=[0,2,3,1]} : (1,2,4,3) f32\n"
        "  %a = tanh(%x.nhwc) : (1,2,4,3) f32\n"
        "  %f = reshape(%a) {shape=[24]} : (24) f32\n"
        "  %r = exp(%f) : (24) f32\n"
        "  %s = sum(%r) {axis=[0], keepdims=false} : () f32\n"
        "  %y = reshape(%s) {shape=[1]} : (1) f32\n"
        "}\n",
        FLOATS);
    ck_assert(!differs("a") && !differs("f") && !differs("r") && !differs("y"));
    ck_assert(!is_compared("s")); /* no name of the model's */
    end();
}
END_TEST

static const char quantised[] =
    "fn main(%%x: (1,2,3,4) f32) -> (%%y) {\n"
    "  const @scale : () f32 = [%s]\n"
    "  const @zero : () i8 = [5]\n"
    "  %%a = tanh(%%x) : (1,2,3,4) f32\n"
    "  %%a.i8 = qnn.quantize(%%a, @scale, @zero) {axis=1, saturate=true} "
    ": (1,2,3,4) i8\n"
    "  %%y = qnn.dequantize(%%a.i8, @scale, @zero) {axis=1} "
    ": (1,2,3,4) f32\n"
    "}\n";

static const char plain[] = "fn main(%x: (1,2,3,4) f32) -> (%y) {\n"
                            "  %a = tanh(%x) : (1,2,3,4) f32\n"
                            "  %y = abs(%a) : (1,2,3,4) f32\n"
                            "}\n";

START_TEST(codes_and_what_they_mean)
{
    char text[1000];

    snprintf(text, sizeof text, quantised, "0.0078125");
    run(plain, text, MODEL_ROUNDS);
    ck_assert(!differs("a") && !differs("a.i8"));
    ck_assert(differs("y")); /* no abs */
    end();
    snprintf(text, sizeof text, quantised, "0.0015"); /* saturates at a fifth */
    run(plain, text, MODEL_ROUNDS);
    ck_assert(differs("a.i8"));
    end();
}
END_TEST

static const struct saturation *saturation(const char *name)
{
    const struct saturation *seen = map_get(&v.saturated, name);

    ck_assert_ptr_nonnull(seen);
    return seen;
}

/* A scale that is too fine is no mistake of a pass; what is stored then must be the end. */
START_TEST(numbers_beyond_a_scale)
{
    char text[1000];

    snprintf(text, sizeof text, quantised, "0.0015");
    run(plain, text, ROUNDS_ANEW);
    ck_assert(!differs("a.i8"));
    ck_assert(differs("y")); /* no abs */
    ck_assert_int_eq(saturation("a.i8")->n, 24);
    ck_assert_int_gt(saturation("a.i8")->n_beyond, 12);
    ck_assert_double_eq_tol(saturation("a.i8")->high, 122 * 0.0015, 1e-6);
    end();
    snprintf(text, sizeof text, quantised, "0.0078125");
    run(plain, text, ROUNDS_ANEW);
    ck_assert_int_eq(saturation("a.i8")->n_beyond, 0);
    end();
}
END_TEST

static const char region[] =
    "fn main(%%x: (1,2,3,4) f32) -> (%%y) {\n"
    "  %%y = call y(%%x) : (1,2,3,4) f32\n"
    "}\n"
    "fn y(%%x: (1,2,3,4) f32) -> (%%y) compiler \"c\" composite \"c.test\" {\n"
    "  const @scale : () f32 = [0.0015]\n"
    "  const @zero : () i8 = [%s]\n"
    "  const @other : () i8 = [%s]\n"
    "  %%a = tanh(%%x) : (1,2,3,4) f32\n"
    "  %%a.i8 = qnn.quantize(%%a, @scale, @zero) {axis=1, saturate=true} : (1,2,3,4) i8 "
    "scaled(scale=0.0015, zero=%s)\n"
    "  %%a.f = qnn.dequantize(%%a.i8, @scale, @other) {axis=1} : (1,2,3,4) f32\n"
    "  %%y = exp(%%a.f) : (1,2,3,4) f32\n"
    "}\n";

/* What saturates inside a region reaches its result, and nothing else does. */
START_TEST(numbers_beyond_a_scale_inside)
{
    static const char imported[] = "fn main(%x: (1,2,3,4) f32) -> (%y) {\n"
                                   "  %a = tanh(%x) : (1,2,3,4) f32\n"
                                   "  %y = exp(%a) : (1,2,3,4) f32\n"
                                   "}\n";
    char text[1000];

    snprintf(text, sizeof text, region, "5", "5", "5");
    run(imported, text, ROUNDS_ANEW);
    ck_assert(!differs("y"));
    ck_assert_double_lt(((struct layer *)map_get(&v.layers, "y"))->column[IMPORTED].error, 1e-5);
    ck_assert_int_gt(saturation("a.i8")->n_beyond, 12);
    end();
    snprintf(text, sizeof text, region, "5", "-120", "5"); /* is read otherwise */
    run(imported, text, ROUNDS_ANEW);
    ck_assert_double_gt(((struct layer *)map_get(&v.layers, "y"))->column[IMPORTED].error, 1e-2);
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verify_imported");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tests, same_graph);
    tcase_add_test(tests, channels_last_between);
    tcase_add_test(tests, view_for_transpose);
    tcase_add_test(tests, result_in_another_order);
    tcase_add_test(tests, one_wrong_layer);
    tcase_add_test(tests, views);
    tcase_add_test(tests, codes_and_what_they_mean);
    tcase_add_test(tests, numbers_beyond_a_scale);
    tcase_add_test(tests, numbers_beyond_a_scale_inside);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
