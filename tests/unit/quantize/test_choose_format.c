/* The format `auto` and unsigned formats: which format each value and each weight gets. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/steps.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

enum { N_SAMPLES = 2 };

/* Numbers in [least, 2). */
struct numbers {
    const struct function *fn;
    double least;
};

static bool load(void *user, struct ctx *own, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const struct numbers *numbers = user;
    unsigned seed = (unsigned)index + 1;

    (void)own;
    inputs[0] = tensor_new(bulk, &numbers->fn->params[0]->type);
    fill_random(&inputs[0], numbers->least, 2, &seed);
    return true;
}

/* A value, the operator that makes it of %x, and a product that reads it. */
static const char *graph_of(struct arena *arena, const char *made)
{
    return arena_printf(arena,
                        "fn main(%%x: (1,2,8,8) f32) -> (%%y) {\n"
                        "  const @w : (2,2,1,1) f32 = [1, 0.47, -0.83, 0.29]\n"
                        "  const @low : (1,1,1,1) f32 = [-0.5]\n"
                        "  %s"
                        "  %%y = nn.conv2d(%%r, @w) " CONV " : (1,2,8,8) f32\n"
                        "}\n",
                        made);
}

/* The type that `value` is stored in, "" if in f32. */
static const char *stored_as(const struct module *module, const char *value)
{
    for (const struct node *node = module->main->first; node; node = node->next)
        if ((node->op == OP_QNN_QUANTIZE || node->op == OP_CAST) &&
            strcmp(node->inputs[0]->name, value) == 0)
            return dtype_name(node->outputs[0]->type.dtype);
    return "";
}

static const char *weights_as(const struct module *module)
{
    for (const struct value *c = module->main->constants; c; c = c->next)
        if (strcmp(c->name, "w") == 0 && c->uses)
            return dtype_name(c->type.dtype);
    return "";
}

#define RELU "%r = nn.relu(%x) : (1,2,8,8) f32\n"
#define POOL                                                                                       \
    "%s = sigmoid(%x) : (1,2,8,8) f32\n"                                                           \
    "  %t = nn.relu(%x) : (1,2,8,8) f32\n"                                                         \
    "  %r = add(%s, %t) : (1,2,8,8) f32\n"
#define LOWERED                                                                                    \
    "%s = nn.relu(%x) : (1,2,8,8) f32\n"                                                           \
    "  %r = add(%s, @low) : (1,2,8,8) f32\n"
#define COPY "%r = tanh(%x) : (1,2,8,8) f32\n"

static const struct {
    const char *precision, *made;
    double least; /* number of the data; with calibration */
    bool calibrated;
    const char *data, *weights;
} rows[] = {
    /* what cannot be negative has no sign, with and without calibration */
    { "fp8=u8e2m6", RELU, -1, true, "u8e2m6", "f8e2m5" },
    { "fp8=u8e2m6", RELU, -1, false, "u8e2m6", "f8e2m5" },
    { "fp8=f8e3m4,u8e4m4", RELU, -1, false, "u8e4m4", "f8e3m4" },
    { "fp8=u8e3m5", POOL, -1, false, "u8e3m5", "f8e3m4" },
    /* what may be, has one, unless it was not when it was measured */
    { "fp8=u8e3m5", LOWERED, -1, false, "f8e3m4", "f8e3m4" },
    { "fp8=u8e2m6", LOWERED, -1, true, "f8e2m5", "f8e2m5" },
    { "fp8=u8e4m4", COPY, -1, false, "f8e4m3", "f8e4m3" },
    { "fp8=u8e4m4", COPY, -1, true, "f8e4m3", "f8e4m3" },
    { "fp8=u8e4m4", COPY, 0.125, true, "u8e4m4", "f8e4m3" },
    /* auto: evenly distributed numbers want bits of mantissa; unmeasured ones, range */
    { "fp8=auto", RELU, 0, true, "u8e2m6", "f8e2m5" },
    { "fp8=auto", COPY, -1, true, "f8e2m5", "f8e2m5" },
    { "fp8=auto", RELU, -1, false, "u8e4m4", "f8e2m5" },
    { "fp8=auto", COPY, -1, false, "f8e4m3", "f8e2m5" },
    { "fp8=f8e4m3,auto", COPY, -1, true, "f8e2m5", "f8e4m3" },
    /* others are as they were */
    { "fp8", RELU, -1, true, "f8e4m3", "f8e4m3" },
};

START_TEST(formats_fit_what_is_stored)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, graph_of(&ctx->perm, rows[_i].made), 1);
    struct numbers numbers = { module->main, rows[_i].least };
    struct calibration_source source = { N_SAMPLES, load, &numbers };
    struct quantize_options options = { .n_threads = 1, .simulate_only = true };
    struct quantize_report report;
    const struct pipeline_options pipeline = { .log = stderr };

    ck_assert(precision_parse(ctx, "", rows[_i].precision, &options.precision));
    options.samples = rows[_i].calibrated ? &source : NULL;
    ck_assert_msg(quantize_module(module, &options, &pipeline, &report), "%s", expect_text(ctx));
    ck_assert_str_eq(stored_as(module, "r"), rows[_i].data);
    ck_assert_str_eq(weights_as(module), rows[_i].weights);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("choose_format");
    TCase *tests = tcase_create("choose_format");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tests, formats_fit_what_is_stored, 0, N_ROWS(rows));
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
