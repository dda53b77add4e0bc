/* Element-wise operators as generated C, for every element type, on ordinary and on special
 * numbers; broadcasting; chains; and what the text looks like. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/run_generated.h"

enum { F = 1 << KIND_FLOAT, I = 1 << KIND_INT, U = 1 << KIND_UINT, B = 1 << KIND_BOOL };

/* Every operator of one result of the operands' type. `%a` `%b` `%c` are operands, where's
 * condition is `%p`. */
static const struct {
    unsigned kinds;
    const char *line;
} operators[] = {
    { F | I | U, "abs(%a)" },
    { F, "acos(%a)" },
    { F, "acosh(%a)" },
    { F | I | U, "add(%a, %b)" },
    { F, "asin(%a)" },
    { F, "asinh(%a)" },
    { F, "atan(%a)" },
    { F, "atanh(%a)" },
    { F | I | U, "nn.bias_add(%a, %v) {axis=1}" },
    { I | U, "bitwise_and(%a, %b)" },
    { I | U, "bitwise_not(%a)" },
    { I | U, "bitwise_or(%a, %b)" },
    { I | U, "bitwise_xor(%a, %b)" },
    { F, "ceil(%a)" },
    { F, "nn.celu(%a) {alpha=0.7, beta=0}" },
    { F | I | U, "clip(%a) {a_min=-0.5, a_max=1}" },
    { F | I | U, "clip(%a) {a_min=0.25, a_max=inf}" },
    { F | I | U, "clip(%a) {a_min=-inf, a_max=1.5}" },
    { F | I | U, "clip(%a) {a_min=-inf, a_max=inf}" },
    { F | I | U, "clip(%a) {a_min=2, a_max=1}" },
    { F | I | U | B, "copy(%a)" },
    { F, "cos(%a)" },
    { F, "cosh(%a)" },
    { F | I | U, "divide(%a, %b)" },
    { F, "nn.elu(%a) {alpha=0.3, beta=0}" },
    { F, "erf(%a)" },
    { F, "exp(%a)" },
    { F, "floor(%a)" },
    { F | I | U, "floor_mod(%a, %b)" },
    { F, "nn.gelu(%a) {approximate=\"none\"}" },
    { F, "nn.gelu(%a) {approximate=\"tanh\"}" },
    { F, "nn.hard_sigmoid(%a) {alpha=0.2, beta=0.5}" },
    { F, "nn.hard_swish(%a)" },
    { F, "nn.leaky_relu(%a) {alpha=0.01, beta=0}" },
    { I | U, "left_shift(%a, %b)" },
    { F, "log(%a)" },
    { B, "logical_and(%a, %b)" },
    { B, "logical_not(%a)" },
    { B, "logical_or(%a, %b)" },
    { B, "logical_xor(%a, %b)" },
    { F | I | U, "maximum(%a, %b)" },
    { F | I | U, "minimum(%a, %b)" },
    { F, "nn.mish(%a)" },
    { F | I | U, "mod(%a, %b)" },
    { F | I | U, "multiply(%a, %b)" },
    { F | I, "negative(%a)" },
    { F | I | U, "power(%a, %b)" },
    { F | I | U, "nn.prelu(%a, %v)" },
    { F, "reciprocal(%a)" },
    { F | I | U, "nn.relu(%a)" },
    { I | U, "right_shift(%a, %b)" },
    { F, "round(%a)" },
    { F, "rsqrt(%a)" },
    { F, "nn.selu(%a) {alpha=1.67, beta=1.05}" },
    { F | I | U, "nn.shrink(%a) {alpha=0.5, beta=0.25}" },
    { F | I | U, "nn.shrink(%a) {alpha=-1.5, beta=-1}" },
    { F, "sigmoid(%a)" },
    { F | I | U, "sign(%a)" },
    { F, "nn.silu(%a)" },
    { F, "sin(%a)" },
    { F, "sinh(%a)" },
    { F, "nn.softplus(%a)" },
    { F, "nn.softsign(%a)" },
    { F, "sqrt(%a)" },
    { F | I | U, "subtract(%a, %b)" },
    { F, "tan(%a)" },
    { F, "tanh(%a)" },
    { F, "nn.thresholded_relu(%a) {alpha=0.5, beta=0}" },
    { F | I | U | B, "where(%p, %a, %b)" },
};

/* The same with a bool for a result. */
static const struct {
    unsigned kinds;
    const char *line;
} predicates[] = {
    { F | I | U | B, "equal(%a, %b)" },
    { F | I | U, "greater(%a, %b)" },
    { F | I | U, "greater_equal(%a, %b)" },
    { F, "isfinite(%a)" },
    { F, "isinf(%a) {detect_negative=true, detect_positive=true}" },
    { F, "isinf(%a) {detect_negative=false, detect_positive=true}" },
    { F, "isinf(%a) {detect_negative=true, detect_positive=false}" },
    { F, "isinf(%a) {detect_negative=false, detect_positive=false}" },
    { F, "isnan(%a)" },
    { F | I | U, "less(%a, %b)" },
    { F | I | U, "less_equal(%a, %b)" },
    { F | I | U | B, "not_equal(%a, %b)" },
};

static const enum dtype dtypes[] = { DTYPE_F32, DTYPE_F64, DTYPE_I8,  DTYPE_I16,
                                     DTYPE_I32, DTYPE_I64, DTYPE_U8,  DTYPE_U16,
                                     DTYPE_U32, DTYPE_U64, DTYPE_BOOL };
enum { N_DTYPES = sizeof dtypes / sizeof *dtypes };

struct graph {
    struct arena *arena;
    struct str lines, results;
    int n;
};

static void add_line(struct graph *graph, const char *operation, enum dtype result)
{
    str_printf(&graph->lines, "  %%y%d = %s : (7,9) %s\n", graph->n, operation, dtype_name(result));
    str_printf(&graph->results, "%s%%y%d", graph->n ? ", " : "", graph->n);
    graph->n++;
}

/* All operators on one type, each an output. */
static const char *all_operators(struct arena *arena, enum dtype dtype)
{
    struct graph graph = { .arena = arena, .lines.arena = arena, .results.arena = arena };
    const unsigned kind = 1u << dtype_kind(dtype);
    const char *name = dtype_name(dtype);

    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].kinds & kind)
            add_line(&graph, operators[i].line, dtype);
    for (size_t i = 0; i < sizeof predicates / sizeof *predicates; i++)
        if (predicates[i].kinds & kind)
            add_line(&graph, predicates[i].line, DTYPE_BOOL);
    for (int i = 0; i < N_DTYPES; i++)
        add_line(&graph,
                 arena_printf(arena, "cast(%%a) {dtype=%s, saturate=true}", dtype_name(dtypes[i])),
                 dtypes[i]);
    return arena_printf(
        arena,
        "fn main(%%a: (7,9) %s, %%b: (7,9) %s, %%v: (9) %s, %%p: (7,9) bool) -> (%s) "
        "{\n%s}\n",
        name, name, name, str_text(&graph.results), str_text(&graph.lines));
}

START_TEST(operators_agree_with_the_reference)
{
    struct arena arena = { NULL };

    generated_check(
        &(struct generated_case){ .text = all_operators(&arena, dtypes[_i]),
                                  .tolerance = dtypes[_i] == DTYPE_F64 ? 1e-12 : 2e-6 });
    arena_release(&arena);
}
END_TEST

/* Numbers at which something happens; every pair of them meets in %a and %b. */
static const double special[] = { 0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.5,
                                  -0.5,
                                  1.5,
                                  2.5,
                                  INFINITY,
                                  -INFINITY,
                                  NAN,
                                  1e-40,
                                  127,
                                  128,
                                  -128,
                                  -129,
                                  255,
                                  256,
                                  32767,
                                  65536,
                                  -32769,
                                  2147483647.0,
                                  2147483648.0,
                                  -2147483649.0,
                                  4294967296.0,
                                  9223372036854775807.0,
                                  -9223372036854775808.0,
                                  1e30 };

static void fill_special(const struct tensor *tensor, int64_t step)
{
    const int64_t n_special = (int64_t)(sizeof special / sizeof *special);
    const enum dtype dtype = tensor->type.dtype;

    for (int64_t i = 0; i < type_elements(&tensor->type); i++) {
        const double number = special[i * step / 63 * 5 % n_special];

        dtype_store(dtype, tensor->data, i, special[(i * step + i / n_special) % n_special]);
        if (dtype_is_integer(dtype) && isnan(number))
            dtype_store_int(dtype, tensor->data, i, INT64_MIN);
    }
}

/* Powers and sums of such numbers overflow a float at places where a double does not: only
 * operators whose results are exact, or selected, are asked. */
static const char *const exact[] = {
    "abs(%a)",
    "nn.relu(%a)",
    "sign(%a)",
    "maximum(%a, %b)",
    "minimum(%a, %b)",
    "clip(%a) {a_min=-1, a_max=1}",
    "clip(%a) {a_min=0, a_max=inf}",
};

static const char *exact_operators(struct arena *arena, enum dtype dtype)
{
    struct graph graph = { .arena = arena, .lines.arena = arena, .results.arena = arena };
    const unsigned kind = 1u << dtype_kind(dtype);
    const char *name = dtype_name(dtype);

    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].kinds & kind && dtype_is_integer(dtype) &&
            !strstr(operators[i].line, "shrink"))
            add_line(&graph, operators[i].line, dtype);
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        add_line(&graph, exact[i], dtype);
    for (size_t i = 0; i < sizeof predicates / sizeof *predicates; i++)
        if (predicates[i].kinds & kind)
            add_line(&graph, predicates[i].line, DTYPE_BOOL);
    for (int i = 0; i < N_DTYPES; i++)
        add_line(&graph,
                 arena_printf(arena, "cast(%%a) {dtype=%s, saturate=true}", dtype_name(dtypes[i])),
                 dtypes[i]);
    return arena_printf(
        arena,
        "fn main(%%a: (7,9) %s, %%b: (7,9) %s, %%v: (9) %s, %%p: (7,9) bool) -> (%s) "
        "{\n%s}\n",
        name, name, name, str_text(&graph.results), str_text(&graph.lines));
}

START_TEST(special_numbers_agree_with_the_reference)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct bulk bulk = { NULL, 0 };
    const struct generated_case row = { .text = exact_operators(&ctx->perm, dtypes[_i]) };
    struct module *module = generated_module(ctx, &row);
    unsigned seed = 1;
    struct tensor *inputs = random_inputs(&ctx->perm, &bulk, module->main, -1, 1, &seed);

    fill_special(&inputs[0], 1);
    fill_special(&inputs[1], 5);
    generated_check_module(module, &row, inputs);
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- shapes ----------------------------------------------------------------------------------- */

static const char *const graphs[] = {
    /* everything merges into one loop */
    "fn main(%x: (2,3,4) f32, %z: (1,2,3,4) f32) -> (%y) {\n"
    "  %y = add(%x, %z) : (1,2,3,4) f32\n}\n",
    /* a scalar, a row, a column, an outer product */
    "fn main(%x: (4,5) f32, %s: () f32) -> (%y) {\n  %y = add(%x, %s) : (4,5) f32\n}\n",
    "fn main(%x: (4,5) f32, %s: (5) f32) -> (%y) {\n  %y = add(%s, %x) : (4,5) f32\n}\n",
    "fn main(%x: (4,5) f32, %s: (4,1) f32) -> (%y) {\n  %y = add(%x, %s) : (4,5) f32\n}\n",
    "fn main(%x: (4,1) f32, %z: (1,5) f32) -> (%y) {\n  %y = multiply(%x, %z) : (4,5) f32\n}\n",
    "fn main(%x: (2,1,3,1,2) f32, %z: (4,1,5,1) f32) -> (%y) {\n"
    "  %y = subtract(%x, %z) : (2,4,3,5,2) f32\n}\n",
    "fn main(%x: (2,3,4,5) f32, %z: (3,1,1) f32, %w: (4,5) f32) -> (%y) {\n"
    "  %a = multiply(%x, %z) : (2,3,4,5) f32\n  %y = add(%a, %w) : (2,3,4,5) f32\n}\n",
    "fn main(%x: (2,3,4,5) i8, %z: (3) i8) -> (%y) {\n"
    "  %y = nn.bias_add(%x, %z) {axis=1} : (2,3,4,5) i8\n}\n",
    "fn main(%x: () f32) -> (%y) {\n  %y = exp(%x) : () f32\n}\n",
    "fn main(%x: (1,1,1) f32, %z: () f32) -> (%y) {\n  %y = add(%x, %z) : (1,1,1) f32\n}\n",
    "fn main(%x: (0,3) f32, %z: (3) f32) -> (%y) {\n  %y = add(%x, %z) : (0,3) f32\n}\n",
    "fn main(%x: (2,3,3,2,2,2,3,2) f32, %z: (3,1,2,1,2,1,2) f32) -> (%y) {\n"
    "  %y = add(%x, %z) : (2,3,3,2,2,2,3,2) f32\n}\n",
    /* constants: uniform, small, large, shared, infinite */
    "fn main(%x: (2,2) f32) -> (%y) {\n  const @c : (2,2) f32 = [0.1,0.1,0.1,0.1]\n"
    "  %y = add(%x, @c) : (2,2) f32\n}\n",
    "fn main(%x: (4,5) f32) -> (%y) {\n  const @c : (5) f32 = [0.1,inf,-inf,nan,-0.25]\n"
    "  %y = add(%x, @c) : (4,5) f32\n}\n",
    "fn main(%x: (40,50) f32) -> (%y) {\n  const @c : (40,50) f32 = crc32:00000000\n"
    "  const @d : (50) f64 = crc32:00000000\n  %a = multiply(%x, @c) : (40,50) f32\n"
    "  %b = cast(%a) {dtype=f64, saturate=true} : (40,50) f64\n  %y = add(%b, @d) : (40,50) "
    "f64\n}\n",
    "fn main(%x: (3) i64) -> (%y) {\n"
    "  const @c : (3) i64 = [-9223372036854775808,9223372036854775807,4294967296]\n"
    "  %a = bitwise_xor(%x, @c) : (3) i64\n  %y = minimum(%a, @c) : (3) i64\n}\n",
    "fn main(%x: (101) i8) -> (%y) {\n  const @c : (101) i8 = crc32:00000000\n"
    "  %y = add(%x, @c) : (101) i8\n}\n",
    /* a chain through several types */
    "fn main(%x: (6,7) f32, %z: (7) f32) -> (%y) {\n"
    "  %a = greater(%x, %z) : (6,7) bool\n  %b = cast(%a) {dtype=i32, saturate=true} : (6,7) i32\n"
    "  const @c : (6,1) i32 = [1,2,3,4,5,6]\n  %d = multiply(%b, @c) : (6,7) i32\n"
    "  %e = cast(%d) {dtype=f32, saturate=true} : (6,7) f32\n  %f = where(%a, %x, %e) : (6,7) f32\n"
    "  %y = nn.hard_swish(%f) : (6,7) f32\n}\n",
};

START_TEST(operands_are_broadcast)
{
    generated_check(&(struct generated_case){ .text = graphs[_i], .tolerance = 1e-6 });
    generated_check(&(struct generated_case){ .text = graphs[_i],
                                              .tolerance = 1e-6,
                                              .weights = WEIGHTS_FILE,
                                              .step = true,
                                              .one_build = true });
}
END_TEST

/* --- the text --------------------------------------------------------------------------------- */

static const struct {
    const char *text, *want;
} texts[] = {
    { "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @c : (3) f32 = [0.5,0.1,3]\n"
      "  %a = multiply(%x, @c) : (2,3) f32  from Mul \"scale\"\n"
      "  %y = nn.relu(%a) : (2,3) f32  from Relu \"relu 1\"\n}\n",
      "/* scale (Mul) + relu 1 (Relu)\n"
      " * x f32 [2,3] -> y f32 [2,3] */\n"
      "static NOINLINE void region_scale(const float *restrict x, float *restrict y)\n"
      "{\n"
      "    enum { N0 = 2, N1 = 3 };\n"
      "\n"
      "    for (int i0 = 0; i0 < N0; i0++) {\n"
      "        for (int i1 = 0; i1 < N1; i1++) {\n"
      "            const int at = (i0 * N1) + i1;\n"
      "            const float multiply_1 = x[at] * net_c[i1];\n"
      "            const float relu_2 = (multiply_1 < 0.0f) ? 0.0f : multiply_1;\n"
      "\n"
      "            y[at] = relu_2;\n"
      "        }\n"
      "    }\n"
      "}\n" },
    { "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @c : () f32 = [-0.5]\n"
      "  %a = clip(%x) {a_min=0, a_max=6} : (2,3) f32\n"
      "  %y = subtract(%a, @c) : (2,3) f32\n}\n",
      "    for (int i = 0; i < LEN; i++) {\n"
      "        const float clip_1 = clamp_f32(x[i], 0.0f, 6.0f);\n"
      "        const float subtract_2 = clip_1 - (-0.5f);\n"
      "\n"
      "        y[i] = subtract_2;\n"
      "    }\n" },
    { "fn main(%x: (2) f32) -> (%y) {\n  %y = nn.leaky_relu(%x) {alpha=0.5} : (2) f32\n}\n",
      "        const float x_1 = x[i];\n"
      "        const float leaky_relu_2 = choose_f32(x_1 < 0.0f, 0.5f * x_1, x_1);\n" },
    { "fn main(%x: (2) f32) -> (%y) {\n  %y = nn.silu(%x) : (2) f32\n}\n",
      "        const float silu_1 = silu_f32(x[i]);\n" },
    { "fn main(%x: (2) f32) -> (%y) {\n  const @c : (2) f32 = [0.1,1e10]\n"
      "  %y = add(%x, @c) : (2) f32\n}\n",
      "/* c: f32 [2], 0.1 .. 1e+10, crc32 1493e02b */\n"
      "static const float net_c[2] = {\n"
      "    0.1f, 1e+10f,\n"
      "};\n" },
};

START_TEST(the_text_reads_as_c)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const char *text =
        generated_text(ctx, &(struct generated_case){ .text = texts[_i].text }, ".c");

    ck_assert_msg(strstr(text, texts[_i].want), "wanted\n%s\nfound\n%s", texts[_i].want, text);
    ctx_free(ctx);
}
END_TEST

/* What is refused for its type is helped otherwise than what is too big. */
START_TEST(what_has_no_kernel_is_refused_all_at_once)
{
    static const char text[] =
        "fn main(%x: (2) f16, %z: (3) bf16, %v: (1073741824) f32) -> (%y, %w, %s) {\n"
        "  %y = nn.relu(%x) : (2) f16\n  %w = exp(%z) : (3) bf16\n"
        "  %s = sum(%v) {axis=[0]} : () f32\n}\n";
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });
    const struct codegen_options options = { .name = "net",
                                             .dir = "/nonexistent",
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "" };
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;

    ck_assert(!codegen_c(module, &options, &set, &result));
    ck_assert(expect_error(ctx, DIAG_NO_KERNEL, "this element-wise chain of (2) f16"));
    ck_assert(expect_error(ctx, DIAG_NO_KERNEL, "this element-wise chain of (3) bf16"));
    ck_assert_ptr_nonnull(
        strstr(expect_text(ctx), "bf16 has no arithmetic in C: it is moved and cast only"));
    ck_assert_ptr_nonnull(strstr(expect_text(ctx), "help: export the model in float32, or "));
    ck_assert(expect_error(ctx, DIAG_NO_KERNEL, "no kernel takes sum of (1073741824) f32"));
    ck_assert_ptr_nonnull(strstr(expect_text(ctx), "help: compute this part outside of the model"));
    output_abort(&set);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codegen_elementwise");
    TCase *tcase = tcase_create("codegen_elementwise");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, operators_agree_with_the_reference, 0, N_DTYPES);
    tcase_add_loop_test(tcase, special_numbers_agree_with_the_reference, 0, N_DTYPES - 1);
    tcase_add_loop_test(tcase, operands_are_broadcast, 0, (int)(sizeof graphs / sizeof *graphs));
    tcase_add_loop_test(tcase, the_text_reads_as_c, 0, (int)(sizeof texts / sizeof *texts));
    tcase_add_test(tcase, what_has_no_kernel_is_refused_all_at_once);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
