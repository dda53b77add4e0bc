/* The engine's own loops between f32 and quantised values: to the bit as the reference evaluator,
 * in any layout that oneDNN leaves. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

struct native_case {
    const char *name, *text;
    int n_steps; /* reorders not counted */
};

/* 1200 is more than a block of any loop, and no multiple of one. */
#define F32 "fn main(%x: (4,300) f32) -> (%y) {\n"
#define CONSTANTS(scale, zero)                                                                     \
    "  const @s : () f32 = [" scale "]\n"                                                          \
    "  const @z : () " zero "\n"
#define QUANTIZE(x) "qnn.quantize(" x ", @s, @z) {axis=0, saturate=true}\n"
#define DEQUANTIZE(x) "qnn.dequantize(" x ", @s, @z) {axis=0}\n"

static const struct native_case cases[] = {
    { "to f8e4m3", F32 CONSTANTS("0.3", "f8e4m3 = [0x0]") "  %y = " QUANTIZE("%x") "}\n", 1 },
    { "to f8e4m3, without saturation",
      F32 CONSTANTS("0.001", "f8e4m3 = [0x0]") "  %y = qnn.quantize(%x, @s, @z) {axis=0, "
                                               "saturate=false}\n}\n",
      1 },
    { "to f8e5m2", F32 CONSTANTS("7e-05", "f8e5m2 = [0x0]") "  %y = " QUANTIZE("%x") "}\n", 1 },
    { "to i8", F32 CONSTANTS("0.25", "i8 = [-7]") "  %y = " QUANTIZE("%x") "}\n", 1 },
    { "to i8, no zero", F32 CONSTANTS("0.01", "i8 = [0]") "  %y = " QUANTIZE("%x") "}\n", 1 },
    { "to u8", F32 CONSTANTS("0.1", "u8 = [131]") "  %y = " QUANTIZE("%x") "}\n", 1 },
    { "to i16: the reference", F32 CONSTANTS("0.1", "i16 = [131]") "  %y = " QUANTIZE("%x") "}\n",
      1 },
    { "cast to f8e3m4", F32 "  %y = cast(%x) {dtype=f8e3m4, saturate=true}\n}\n", 1 },
    { "cast to f4e2m1", F32 "  %y = cast(%x) {dtype=f4e2m1, saturate=true}\n}\n", 1 },
    { "there and back",
      F32 CONSTANTS("0.3",
                    "f8e4m3 = [0x0]") "  %q = " QUANTIZE("%x") "  %y = " DEQUANTIZE("%q") "}\n",
      2 },
    { "from i8",
      "fn main(%x: (4,300) i8) -> (%y) {\n" CONSTANTS("0.3",
                                                      "i8 = [-5]") "  %y = " DEQUANTIZE("%x") "}\n",
      1 },
    { "from u8",
      "fn main(%x: (4,300) u8) -> (%y) {\n" CONSTANTS("0.3", "u8 = [200]") "  %y = " DEQUANTIZE(
          "%x") "}\n",
      1 },
    { "cast from i8", "fn main(%x: (4,300) i8) -> (%y) {\n  %y = cast(%x) {dtype=f32}\n}\n", 1 },
    { "clip of i8", "fn main(%x: (4,300) i8) -> (%y) {\n  %y = clip(%x) {a_min=-3, a_max=60}\n}\n",
      1 },
    { "relu of i8", "fn main(%x: (4,300) i8) -> (%y) {\n  %y = nn.relu(%x)\n}\n", 1 },
    { "from i8 along an axis",
      "fn main(%x: (2,3,50) i8) -> (%y) {\n"
      "  const @s : (3) f32 = [0.3, 0.7, 1.1]\n"
      "  const @z : (3) i8 = [0, 0, 0]\n"
      "  %y = qnn.dequantize(%x, @s, @z) {axis=1}\n"
      "}\n",
      1 },
    { "from i8 along an axis, with zero points: the reference",
      "fn main(%x: (2,3,50) i8) -> (%y) {\n"
      "  const @s : (3) f32 = [0.3, 0.7, 1.1]\n"
      "  const @z : (3) i8 = [0, 1, 2]\n"
      "  %y = qnn.dequantize(%x, @s, @z) {axis=1}\n"
      "}\n",
      1 },
    { "a scale that is computed: the reference",
      "fn main(%x: (4,300) f32, %s: () f32) -> (%y) {\n"
      "  const @z : () i8 = [0]\n"
      "  %e = exp(%s)\n"
      "  %y = qnn.quantize(%x, %e, @z) {axis=0, saturate=true}\n"
      "}\n",
      2 },
    { "constants are evaluated once",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (2,3) i8 = [1, -2, 3, 4, 5, -128]\n"
      "  const @s : (2) f32 = [0.3, 0.7]\n"
      "  const @z : (2) i8 = [0, 0]\n"
      "  %d = qnn.dequantize(@w, @s, @z) {axis=0}\n"
      "  %y = add(%x, %d)\n"
      "}\n",
      1 },
};

/* Whole numbers, so that every sum is exact; 20 and 5 channels fill no block of oneDNN. */
#define CONV                                                                                       \
    "{strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, data_layout=\"NCHW\", "          \
    "kernel_layout=\"OIHW\"}"
#define BETWEEN(scale, zero, then)                                                                 \
    "fn main(%x: (1,3,9,9) i8, %w: (20,3,3,3) i8, %v: (5,20,3,3) i8) -> (%y) {\n"                  \
    "  %xf = cast(%x) {dtype=f32}\n"                                                               \
    "  %wf = cast(%w) {dtype=f32}\n"                                                               \
    "  %vf = cast(%v) {dtype=f32}\n" CONSTANTS(scale, zero) "  %c = nn.conv2d(%xf, %wf) " CONV     \
                                                            "\n"                                   \
                                                            "  %q = " QUANTIZE("%c") then          \
        "  %y = nn.conv2d(%d, %vf) " CONV "\n"                                                     \
        "}\n"

static const struct native_case layouts[] = {
    { "f8e4m3 between convolutions", BETWEEN("0.5", "f8e4m3 = [0x0]", "  %d = " DEQUANTIZE("%q")),
      7 },
    { "i8 between convolutions", BETWEEN("4", "i8 = [9]", "  %d = " DEQUANTIZE("%q")), 7 },
    { "a table that moves zero",
      BETWEEN("4", "u8 = [9]",
              "  %r = clip(%q) {a_min=30, a_max=60}\n"
              "  %d = " DEQUANTIZE("%r")),
      8 },
};

static struct ctx *ctx;
static struct module *module;
static struct bulk bulk;

static void setup(void)
{
    ctx = ctx_new(NULL);
    bulk = (struct bulk){ 0 };
}

static void teardown(void)
{
    module_free(module);
    module = NULL;
    bulk_release(&bulk);
    ctx_free(ctx);
}

/* Ties, both sides of every bound, subnormals, and what is no number. */
static void add_extremes(const struct tensor *tensor)
{
    static const float extremes[] = { 0.0f,    -0.0f,      0.125f,  -0.375f, 0.15f,   448 * 0.3f,
                                      139.21f, 1e30f,      -1e30f,  1e-30f,  NAN,     INFINITY,
                                      464.0f,  -INFINITY,  -0.0f,   1e-45f,  57344.f, 0.0009765625f,
                                      31.875f, -32.00001f, 3.4e38f, 0.45f,   -0.45f,  12.75f };
    float *x = tensor->data;

    if (tensor->type.dtype == DTYPE_F32 && type_elements(&tensor->type) > 500)
        for (int i = 0; i < N_ROWS(extremes); i++)
            x[i * 50 + i] = extremes[i];
}

static void check(const struct native_case *row, double low, double high)
{
    unsigned seed = 5;
    struct engine *engine;
    struct tensor *inputs, wanted, got;
    int n_nodes, n_reorders;

    module = graph_parse(ctx, row->text, 1);
    inputs = random_inputs(&ctx->perm, &bulk, module->main, low, high, &seed);
    add_extremes(&inputs[0]);
    engine = engine_new(ctx, module->main);
    ck_assert_msg(engine != NULL, "%s: %s", row->name, expect_text(ctx));
    engine_steps(engine, &n_nodes, &n_reorders);
    ck_assert_msg(n_nodes == row->n_steps, "%s: %d steps, expected %d", row->name, n_nodes,
                  row->n_steps);
    ck_assert(interpret(ctx, module->main, inputs, &wanted, &bulk, NULL));
    for (int run = 0; run < 2; run++) {
        ck_assert(engine_run(engine, inputs, &got, &bulk, NULL));
        ck_assert_msg(tensor_equal(&got, &wanted), "%s: run %d differs by %g", row->name, run,
                      difference(&got, &wanted));
    }
    engine_free(engine);
}

START_TEST(loops_are_the_reference_to_the_bit)
{
    check(&cases[_i], -150, 150);
}
END_TEST

START_TEST(layouts_and_what_fills_blocks_do_not_matter)
{
    check(&layouts[_i], -8, 8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_native");
    TCase *tcase = tcase_create("engine_native");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, loops_are_the_reference_to_the_bit, 0, N_ROWS(cases));
    tcase_add_loop_test(tcase, layouts_and_what_fills_blocks_do_not_matter, 0, N_ROWS(layouts));
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
