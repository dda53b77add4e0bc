/* Translation validation: steps that change what a network computes are found, whatever the
 * verifier says of the graph; steps that keep their promise are not. */
#include <check.h>
#include <string.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

/* A network with what passes move about: a convolution, a view, a transpose, a residual, a product.
 */
static const char *const network =
    "fn main(%x: (1,4,6,5) f32) -> (%y) {\n"
    "  const @w : (4,4,3,3) f32 = crc32:00000000\n"
    "  const @b : (4) f32 = crc32:00000001\n"
    "  const @pos.s : (4,1,1) f32 = crc32:00000002\n"
    "  const @m : (30,7) f32 = crc32:00000003\n"
    "  %c = nn.conv2d(%x, @w) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1}\n"
    "  %d = nn.bias_add(%c, @b) {axis=1}\n"
    "  %e = multiply(%d, @pos.s)\n"
    "  %r = subtract(%e, %x)\n"
    "  %t = transpose(%r) {axes=[0,1,3,2]}\n"
    "  %v = reshape(%t) {shape=[4,30]}\n"
    "  %y = nn.matmul(%v, @m)\n"
    "}\n";

static struct node *find(struct module *module, enum op op)
{
    struct node *node = module->main->first;

    while (node && node->op != op)
        node = node->next;
    ck_assert_ptr_nonnull(node);
    return node;
}

/* A constant with other numbers. */
static void scale_constant(struct module *module, struct node *node, int input, double factor,
                           int64_t from, int64_t n)
{
    struct value *was = node->inputs[input];
    float *data = constant_alloc(module->main, &was->type);

    memcpy(data, was->data, type_bytes(&was->type));
    for (int64_t i = from; i < from + n; i++)
        data[i] = (float)(data[i] * factor);
    node_set_input(node, input, constant_new(module->main, "changed", &was->type, data));
}

/* --- wrong steps ------------------------------------------------------------------------------ */

static bool transpose_vanishes(struct module *module, void *user)
{
    struct node *view = find(module, OP_RESHAPE);

    (void)user;
    node_set_input(view, 0, find(module, OP_TRANSPOSE)->inputs[0]); /* as many elements */
    return true;
}

static bool operands_change_places(struct module *module, void *user)
{
    struct node *node = find(module, OP_SUBTRACT);
    struct value *a = node->inputs[0];

    (void)user;
    node_set_input(node, 0, node->inputs[1]);
    node_set_input(node, 1, a);
    return true;
}

static bool bias_is_dropped(struct module *module, void *user)
{
    struct node *bias = find(module, OP_BIAS_ADD);

    (void)user;
    value_replace(bias->outputs[0], bias->inputs[0]);
    return true;
}

static bool padding_moves(struct module *module, void *user)
{
    struct ints *padding = &find(module, OP_CONV2D)->attrs.conv.padding;

    (void)user;
    padding->at[1] = 0;
    padding->at[3] = 2;
    return true;
}

static bool one_weight_is_off(struct module *module, void *user)
{
    (void)user;
    scale_constant(module, find(module, OP_CONV2D), 1, 1.001, 17, 1);
    return true;
}

static bool a_channel_is_off(struct module *module, void *user)
{
    (void)user;
    scale_constant(module, find(module, OP_MULTIPLY), 1, 1.0001, 2, 1);
    return true;
}

static bool result_is_another(struct module *module, void *user)
{
    struct node *node = find(module, OP_MATMUL);
    struct value *x = node->outputs[0];
    struct value *y = build(module->main, OP_RELU, NULL, "relu", node->origin, NULL, 1, &x);

    (void)user;
    node_set_input(module->main->ret, 0, y);
    return y != NULL;
}

/* --- right steps ------------------------------------------------------------------------------ */

static bool nothing(struct module *module, void *user)
{
    (void)module;
    (void)user;
    return true;
}

/* (x + b) * s = x * s + b * s, with s in the weights: other roundings. */
static bool scale_is_folded(struct module *module, void *user)
{
    (void)user;
    return pass_fold_scale_axis(module) && pass_fold_constant(module);
}

static bool layouts(struct module *module, void *user)
{
    (void)user;
    return pass_convert_layout(module);
}

static bool regions(struct module *module, void *user)
{
    (void)user;
    return pass_fuse_ops(module);
}

static const struct {
    const char *name;
    bool (*run)(struct module *module, void *user);
    enum promise promise;
    bool is_kept;
    const char *blames; /* a value that the error names */
} steps[] = {
    { "transpose_vanishes", transpose_vanishes, PROMISE_BITS, false, "\"v\"" },
    { "transpose_vanishes", transpose_vanishes, PROMISE_ROUNDING, false, "\"v\"" },
    { "transpose_vanishes", transpose_vanishes, PROMISE_CODES, false, "\"v\"" },
    { "operands_change_places", operands_change_places, PROMISE_ROUNDING, false, "\"r\"" },
    { "bias_is_dropped", bias_is_dropped, PROMISE_ROUNDING, false, "\"e\"" },
    { "padding_moves", padding_moves, PROMISE_ROUNDING, false, "\"c\"" },
    { "one_weight_is_off", one_weight_is_off, PROMISE_ROUNDING, false, "\"" },
    { "a_channel_is_off", a_channel_is_off, PROMISE_ROUNDING, false, "\"" },
    { "a_channel_is_off", a_channel_is_off, PROMISE_BITS, false, "\"e\"" },
    { "result_is_another", result_is_another, PROMISE_ROUNDING, false, "\"y\"" },
    { "scale_is_folded", scale_is_folded, PROMISE_BITS, false, "\"" },
    { "nothing", nothing, PROMISE_BITS, true, NULL },
    { "scale_is_folded", scale_is_folded, PROMISE_ROUNDING, true, NULL },
    { "layouts", layouts, PROMISE_BITS, true, NULL },
    { "regions", regions, PROMISE_BITS, true, NULL },
};

START_TEST(a_step_is_held_to_its_promise)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = graph_parse(ctx, network, 1);
    struct pipeline_options options = { .validation = validation_new(module, NULL) };
    const bool ok =
        pipeline_run_step(module, steps[_i].name, steps[_i].promise, steps[_i].run, NULL, &options);

    ck_assert(!validation_is_blind(options.validation));
    ck_assert_msg(ok == steps[_i].is_kept, "%s\n%s", steps[_i].name, expect_text(ctx));
    if (!ok) {
        ck_assert_msg(expect_error(ctx, DIAG_MEANING, steps[_i].name) &&
                          expect_error(ctx, DIAG_MEANING, steps[_i].blames),
                      "%s", expect_text(ctx));
        ck_assert_int_eq(diag_exit_code(ctx), 70);
    }
    validation_free(options.validation);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Each step within its bound, all together beyond it: what is left is not what was imported. */
START_TEST(the_end_is_held_to_the_beginning)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = graph_parse(ctx, network, 1);
    struct pipeline_options options = { .validation = validation_new(module, NULL) };

    for (int i = 0; i < 40; i++) {
        scale_constant(module, find(module, OP_MULTIPLY), 1, 1 + 0x1p-20, 0, 4);
        ck_assert_msg(pipeline_run_step(module, "drift", PROMISE_ROUNDING, nothing, NULL, &options),
                      "%s", expect_text(ctx));
    }
    ck_assert(!validation_end(options.validation, module));
    ck_assert(expect_error(ctx, DIAG_MEANING, "the steps together"));
    validation_free(options.validation);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

static bool integers(struct module *module, void *user)
{
    (void)user;
    return pass_fake_quant_to_exact(module);
}

static bool divisions_change_places(struct module *module, void *user)
{
    struct node *node = find(module, OP_DIVIDE);
    struct value *a = node->inputs[0];

    (void)user;
    node_set_input(node, 0, node->inputs[1]);
    node_set_input(node, 1, a);
    return pass_fake_quant_to_exact(module);
}

static bool division_is_a_sum(struct module *module, void *user)
{
    struct node *node = find(module, OP_DIVIDE);
    struct value *y = build(module->main, OP_ADD, NULL, "sum", node->origin, NULL, 2, node->inputs);

    (void)user;
    value_replace(node->outputs[0], y);
    return pass_fake_quant_to_exact(module);
}

static const struct {
    bool (*run)(struct module *module, void *user);
    bool is_kept;
} divisions[] = {
    { integers, true },
    { divisions_change_places, false },
    { division_is_a_sum, false },
};

/* 0 / 0 is NaN of floats and 0 of integers, and so is what follows from it; all else is judged as ever. */
START_TEST(nan_may_become_0_where_integers_compute)
{
    static const char *const formats[] = { "f8e4m3", "f8e2m5" };
    const int n = (int)(sizeof divisions / sizeof *divisions);
    struct ctx *ctx = ctx_new("net.onnx");
    const char *format = formats[_i / n];
    const char *text =
        arena_printf(&ctx->perm,
                     "fn main(%%a: (20) %s, %%b: (20) %s) -> (%%y) {\n"
                     "  const @one : () f32 = [1]\n  const @zero : () %s = [0x00]\n"
                     "  %%af = qnn.dequantize(%%a, @one, @zero) {axis=0}\n"
                     "  %%bf = qnn.dequantize(%%b, @one, @zero) {axis=0}\n"
                     "  %%q = divide(%%af, %%bf)\n"
                     "  %%qq = qnn.quantize(%%q, @one, @zero) {axis=0, saturate=true}\n"
                     "  %%qf = qnn.dequantize(%%qq, @one, @zero) {axis=0}\n"
                     "  %%c = add(%%qf, %%af)\n"
                     "  %%y = qnn.quantize(%%c, @one, @zero) {axis=0, saturate=true}\n"
                     "}\n",
                     format, format, format);
    struct module *module = graph_parse(ctx, text, 1);
    struct pipeline_options options = { .validation = validation_new(module, NULL) };
    bool ok;

    ck_assert(!validation_is_blind(options.validation));
    ok = pipeline_run_step(module, "divide", PROMISE_CODES, divisions[_i % n].run, NULL, &options);
    ck_assert_msg(ok == divisions[_i % n].is_kept, "%s %s", format, expect_text(ctx));
    ck_assert(!ok || validation_end(options.validation, module));
    validation_free(options.validation);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Indices out of range with random numbers: the inputs of small ones are taken. */
START_TEST(inputs_are_found_that_can_be_evaluated)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = graph_parse(ctx,
                                        "fn main(%i: (40) i64) -> (%y) {\n"
                                        "  const @t : (2,3) f32 = crc32:00000000\n"
                                        "  %y = take(@t, %i) {axis=0}\n"
                                        "}\n",
                                        1);
    struct validation *validation = validation_new(module, NULL);

    ck_assert(!validation_is_blind(validation));
    ck_assert_int_eq(ctx->diags.n_errors, 0);
    ck_assert(validation_step(validation, module, "nothing", PROMISE_BITS));
    validation_free(validation);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* A network that is too big for who has not asked. */
START_TEST(a_limit_is_kept)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = graph_parse(ctx, network, 1);
    const struct validation_options options = { .limit = 1000 };
    struct validation *validation = validation_new(module, &options);

    ck_assert(validation_is_blind(validation));
    ck_assert(bias_is_dropped(module, NULL));
    ck_assert(validation_step(validation, module, "not judged", PROMISE_BITS));
    ck_assert_int_eq(validation_n_steps(validation), 0);
    validation_free(validation);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("validate");
    TCase *all = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(all, a_step_is_held_to_its_promise, 0, (int)(sizeof steps / sizeof *steps));
    tcase_add_test(all, the_end_is_held_to_the_beginning);
    tcase_add_loop_test(all, nan_may_become_0_where_integers_compute, 0,
                        2 * (int)(sizeof divisions / sizeof *divisions));
    tcase_add_test(all, inputs_are_found_that_can_be_evaluated);
    tcase_add_test(all, a_limit_is_kept);
    suite_add_tcase(suite, all);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
