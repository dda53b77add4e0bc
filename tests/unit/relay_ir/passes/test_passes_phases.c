/* Transposed convolutions in integers: random ones of all dimensions, strides, dilations, padding,
 * groups, scales and zero points, with what may stand behind them. None may stay one; int8 is at
 * most one step, FP8 one code from the floats; the C gives the bits of the reference. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/codes.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/fake_quant.h"
#include "tests/support/graph.h"
#include "tests/support/run_generated.h"

enum { N_LAYERS = 600, BATCH = 20, N_COMPILED = 16 };

static int pick(unsigned *seed, int n)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (int)((*seed >> 8) % (unsigned)n);
}

static void add_floats(struct str *out, const char *name, int n, double least, unsigned *seed)
{
    str_printf(out, "  const @%s : (%d) f32 = [", name, n);
    for (int i = 0; i < n; i++)
        str_printf(out, "%s%.9g", i ? ", " : "", least * (1 + pick(seed, 100) / 50.0));
    str_printf(out, "]\n");
}

static void add_zeros(struct str *out, const char *name, int n, const char *dtype, int most,
                      unsigned *seed)
{
    const int least = *dtype == 'u' ? 100 : -20;

    if (n == 0)
        str_printf(out, "  const @%s : () %s = [%d]\n", name, dtype, least + pick(seed, most));
    else
        str_printf(out, "  const @%s : (%d) %s = [", name, n, dtype);
    for (int i = 0; i < n; i++)
        str_printf(out, "%s%d%s", i ? ", " : "", least + pick(seed, most), i + 1 < n ? "" : "]\n");
}

/* "2,3" */
static const char *list(struct arena *arena, int n, const int *numbers)
{
    struct str out = { .arena = arena };

    for (int i = 0; i < n; i++)
        str_printf(&out, "%s%d", i ? "," : "", numbers[i]);
    return str_text(&out);
}

struct shape {
    int rank, groups, in_c, out_c; /* in_c and out_c of a group */
    int in[3], k[3], stride[3], dil[3], pad[6], longer[3], out[3];
};

static struct shape random_shape(unsigned *seed)
{
    struct shape s = { .rank = 1 + pick(seed, 3), .groups = pick(seed, 3) ? 1 : 1 + pick(seed, 3) };

    s.in_c = s.groups > 1 && pick(seed, 2) ? 1 : 1 + pick(seed, 3);
    s.out_c = s.groups > 1 && pick(seed, 2) ? 1 : 1 + pick(seed, 3);
    for (int i = 0; i < s.rank; i++) {
        s.in[i] = 1 + pick(seed, 4);
        s.k[i] = 1 + pick(seed, 4);
        s.stride[i] = 1 + pick(seed, s.rank == 3 ? 2 : 3);
        s.dil[i] = s.rank == 3 || pick(seed, 4) ? 1 : 1 + pick(seed, 3);
        s.longer[i] = pick(seed, 3) ? 0 : pick(seed, s.stride[i] + 1);
        s.out[i] = (s.in[i] - 1) * s.stride[i] + (s.k[i] - 1) * s.dil[i] + 1 + s.longer[i];
        for (int side = 0; side < 2; side++) {
            const int covers = (s.k[i] - 1) * s.dil[i];
            const int most = s.out[i] - 1 < covers ? s.out[i] - 1 : covers;

            s.pad[i + side * s.rank] = pick(seed, most + 1);
            s.out[i] -= s.pad[i + side * s.rank];
        }
    }
    return s;
}

/* A scale or zero point for all, or for each along the dim `axis` of the weights. */
static int n_of(const struct shape *s, int axis, unsigned *seed)
{
    return !pick(seed, 3) ? 0 : axis == 1 ? s->out_c : s->groups;
}

static const char *int8_layer(struct ctx *ctx, unsigned seed)
{
    static const char *const types[] = { "i8", "u8", "i16" };
    struct str text = { .arena = &ctx->perm };
    struct arena *arena = &ctx->perm;
    const struct shape s = random_shape(&seed);
    const char *type = types[pick(&seed, 3)], *weights = types[pick(&seed, 2)];
    const int axis = s.in_c == 1 && pick(&seed, 2) ? 0 : 1, channels = s.groups * s.out_c;
    const int bias = pick(&seed, 4), n_scales = n_of(&s, axis, &seed);
    const double scale = strcmp(type, "i16") == 0 ? 0.0002 : 0.05;
    const double sum = s.in_c * pow(2, s.rank) * 128 * 128 * scale * 0.01;

    str_printf(&text, "fn main(%%x: (2,%d,%s) %s) -> (%%y) {\n", s.groups * s.in_c,
               list(arena, s.rank, s.in), type);
    str_printf(&text, "  const @xs : () f32 = [%.9g]\n  const @ys : () f32 = [%.9g]\n", scale,
               sum / 256);
    add_zeros(&text, "xz", 0, type, 40, &seed);
    add_zeros(&text, "yz", 0, "i8", 40, &seed);
    str_printf(&text, "  const @w : (%d,%d,%s) %s = crc32:00000000\n", s.groups * s.in_c, s.out_c,
               list(arena, s.rank, s.k), weights);
    if (n_scales)
        add_floats(&text, "ws", n_scales, 0.01, &seed);
    else
        str_printf(&text, "  const @ws : () f32 = [0.01]\n");
    add_zeros(&text, "wz", n_of(&s, axis, &seed), weights, 40, &seed);
    if (bias == 1)
        add_floats(&text, "b", channels, sum / 8, &seed);
    if (bias == 2) /* as exporters write it: in the units of the sums */
        str_printf(&text,
                   "  const @q : (%d) i32 = crc32:00000000\n  const @qs : () f32 = [%.9g]\n"
                   "  const @qz : () i32 = [0]\n  %%b = qnn.dequantize(@q, @qs, @qz) {axis=0}\n",
                   channels, scale * 0.01);
    if (bias == 3)
        str_printf(&text, "  const @b : (%d%s) f32 = crc32:00000000\n", channels,
                   s.rank == 1   ? ",1"
                   : s.rank == 2 ? ",1,1"
                                 : ",1,1,1");
    str_printf(&text,
               "  %%xf = qnn.dequantize(%%x, @xs, @xz)\n"
               "  %%wf = qnn.dequantize(@w, @ws, @wz) {axis=%d}\n",
               n_scales || axis ? axis : 0);
    str_printf(&text,
               "  %%c = nn.conv%dd_transpose(%%xf, %%wf) {strides=[%s], padding=[%s], "
               "dilation=[%s], output_padding=[%s], groups=%d}\n",
               s.rank, list(arena, s.rank, s.stride), list(arena, 2 * s.rank, s.pad),
               list(arena, s.rank, s.dil), list(arena, s.rank, s.longer), s.groups);
    if (bias)
        str_printf(&text,
                   bias == 3 ? "  %%s = add(%%c, @b)\n"
                             : "  %%s = nn.bias_add(%%c, %sb) {axis=1}\n",
                   bias == 2 ? "%" : "@");
    if (pick(&seed, 2))
        str_printf(&text, "  %%r = nn.relu(%%%s)\n", bias ? "s" : "c");
    else
        str_printf(&text, "  %%r = clip(%%%s) {a_min=%g, a_max=%g}\n", bias ? "s" : "c", -sum / 3,
                   sum / 4);
    str_printf(&text, "  %%y = qnn.quantize(%%r, @ys, @yz) {axis=0, saturate=true}\n}\n");
    return str_text(&text);
}

static const char *fp8_layer(struct ctx *ctx, unsigned seed)
{
    static const char *const formats[] = { "f8e4m3", "f8e3m4", "f8e4m3fnuz" };
    struct str text = { .arena = &ctx->perm };
    struct arena *arena = &ctx->perm;
    const struct shape s = random_shape(&seed);
    const char *f = formats[pick(&seed, 3)], *g = formats[pick(&seed, 3)];
    const bool plain = !pick(&seed, 3);
    const double scale = 0.02, sum = scale * 0.01 * s.in_c * pow(2, s.rank) * 4;

    str_printf(&text, "fn main(%%x: (1,%d,%s) %s) -> (%%y) {\n", s.groups * s.in_c,
               list(arena, s.rank, s.in), f);
    str_printf(&text,
               "  const @z : () %s = [0x00]\n  const @zw : () %s = [0x00]\n"
               "  const @s : () f32 = [%.9g]\n  const @t : () f32 = [%.9g]\n",
               f, g, scale, plain ? sum * 100 : sum);
    str_printf(&text, "  const @w : (%d,%d,%s) %s = crc32:00000000\n", s.groups * s.in_c, s.out_c,
               list(arena, s.rank, s.k), g);
    add_floats(&text, "b", s.groups * s.out_c, sum, &seed);
    str_printf(&text, "  %%xf = qnn.dequantize(%%x, @s, @z) {axis=0}\n");
    if (plain) {
        str_printf(&text, "  %%wf = cast(@w) {dtype=f32, saturate=true}\n");
    } else {
        if (s.groups == 1)
            add_floats(&text, "ws", s.out_c, 0.01, &seed);
        else
            str_printf(&text, "  const @ws : () f32 = [0.01]\n");
        str_printf(&text, "  %%wf = qnn.dequantize(@w, @ws, @zw) {axis=1}\n");
    }
    str_printf(&text,
               "  %%c = nn.conv%dd_transpose(%%xf, %%wf) {strides=[%s], padding=[%s], "
               "dilation=[%s], output_padding=[%s], groups=%d}\n",
               s.rank, list(arena, s.rank, s.stride), list(arena, 2 * s.rank, s.pad),
               list(arena, s.rank, s.dil), list(arena, s.rank, s.longer), s.groups);
    str_printf(&text, "  %%d = nn.bias_add(%%c, @b) {axis=1}\n");
    if (pick(&seed, 2))
        str_printf(&text, "  %%e = nn.relu(%%d)\n");
    else
        str_printf(&text, "  %%e = clip(%%d) {a_min=%g, a_max=%g}\n", -sum * 30, sum * 40);
    str_printf(&text, "  %%y = qnn.quantize(%%e, @t, @z) {axis=0, saturate=true}\n}\n");
    return str_text(&text);
}

START_TEST(int8_is_at_most_one_step_from_floats)
{
    for (unsigned i = 0; i < BATCH; i++) {
        const unsigned seed = (unsigned)_i * BATCH + i;
        struct ctx *ctx = ctx_new(NULL);
        const char *text = int8_layer(ctx, seed * 2654435761U + 1);
        struct module *before = graph_parse(ctx, text, seed), *after = graph_parse(ctx, text, seed);

        ck_assert_msg(pipeline_run_one(after, "fake_quant_to_integer"), "%s\n%s", text,
                      expect_text(ctx));
        ck_assert_msg(!codes_has_floats(after), "%s\n%s", text, graph_text(after, false));
        fake_quant_compare(after, before, seed);
        module_free(after);
        module_free(before);
        ctx_free(ctx);
    }
}
END_TEST

START_TEST(fp8_is_at_most_one_code_from_floats)
{
    long n = 0, n_off = 0;

    for (unsigned i = 0; i < BATCH; i++) {
        const unsigned seed = (unsigned)_i * BATCH + i;
        struct ctx *ctx = ctx_new(NULL);
        const char *text = fp8_layer(ctx, seed * 2654435761U + 1);
        struct module *before = graph_parse(ctx, text, seed), *after = graph_parse(ctx, text, seed);

        codes_fill(before);
        codes_fill(after);
        ck_assert_msg(pass_fake_quant_to_exact(after) && pipeline_run_one(after, "dead_code"),
                      "%s\n%s", text, expect_text(ctx));
        ck_assert_msg(!codes_has_floats(after), "%s\n%s", text, graph_text(after, false));
        ck_assert_msg(codes_compare(ctx, before, after, seed, &n, &n_off) <= 1, "%s", text);
        module_free(after);
        module_free(before);
        ctx_free(ctx);
    }
    ck_assert_msg(n_off * 200 <= n, "%ld of %ld differ", n_off, n);
}
END_TEST

/* The whole pipeline, layouts included. */
START_TEST(generated_code_has_the_bits_of_the_reference)
{
    struct ctx *ctx = ctx_new(NULL);

    generated_check(&(struct generated_case){ .text = int8_layer(ctx, (unsigned)_i * 40503U + 7),
                                              .low = -128,
                                              .high = 127,
                                              .whole_pipeline = true });
    ctx_free(ctx);
}
END_TEST

/* A kernel of two taps for each phase, which begins in the padding: cut off in front; and a bias of
 * one channel. */
START_TEST(kernels_are_as_short_as_can_be)
{
    static const struct {
        const char *x, *w, *attrs;
        int64_t weight[4];
        bool cut;
    } rows[] = {
        { "(1,3,4,4)", "(3,2,2,2)", "strides=[2,2]", { 8, 3, 1, 1 }, false },
        { "(1,3,4,4)", "(3,2,4,4)", "strides=[2,2], padding=[1,1,1,1]", { 8, 3, 2, 2 }, true },
        { "(1,3,4,4)",
          "(3,2,3,3)",
          "strides=[2,2], padding=[1,1,1,1], output_padding=[1,1]",
          { 8, 3, 2, 2 },
          false },
        { "(1,3,4,4)",
          "(3,1,5,3)",
          "strides=[2,1], padding=[2,1,2,1], output_padding=[1,0]",
          { 2, 3, 3, 3 },
          false },
        { "(1,3,4,4)", "(3,2,3,3)", "strides=[1,1], padding=[1,1,1,1]", { 2, 3, 3, 3 }, false },
    };
    struct ctx *ctx = ctx_new(NULL);
    const char *text =
        arena_printf(&ctx->perm,
                     "fn main(%%x: %s i8) -> (%%y) {\n%s  const @w : %s i8 = crc32:00000000\n%s"
                     "  %%c = nn.conv2d_transpose(%%xf, %%wf) {%s, groups=1}\n%s}\n",
                     rows[_i].x, IN OUT W_SCALE, rows[_i].w, DX DW, rows[_i].attrs, QUANTIZE("c"));
    struct module *module = graph_parse(ctx, text, 1);
    bool cut = false;

    ck_assert(pipeline_run_one(module, "fake_quant_to_integer"));
    for (const struct node *node = module->main->first; node; node = node->next) {
        cut = cut || node->op == OP_STRIDED_SLICE;
        for (int i = 0; i < 4 && node->op == OP_QNN_CONV2D; i++)
            ck_assert_int_eq(node->inputs[1]->type.dim[i], rows[_i].weight[i]);
    }
    ck_assert(cut == rows[_i].cut);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* What has no such form: strides far beyond the kernel, weights that are computed, sums that others
 * read. */
START_TEST(others_stay)
{
    static const char *const texts[] = {
        "fn main(%x: (1,1,3,3) i8) -> (%y) {\n" IN OUT W_SCALE
        "  const @w : (1,1,1,1) i8 = [3]\n" DX DW
        "  %c = nn.conv2d_transpose(%xf, %wf) {strides=[5,5], groups=1}\n" QUANTIZE("c") "}\n",
        "fn main(%x: (1,1,3,3) i8, %w: (1,1,2,2) i8) -> (%y) {\n" IN OUT W_SCALE DX
        "  %wf = qnn.dequantize(%w, @ws, @wz)\n"
        "  %c = nn.conv2d_transpose(%xf, %wf) {strides=[2,2], groups=1}\n" QUANTIZE("c") "}\n",
        "fn main(%x: (1,1,3,3) i8) -> (%y, %c) {\n" IN OUT W_SCALE
        "  const @w : (1,1,2,2) i8 = [3, 1, 2, 4]\n" DX DW
        "  %c = nn.conv2d_transpose(%xf, %wf) {strides=[2,2], groups=1}\n" QUANTIZE("c") "}\n",
        "fn main(%x: (1,1,3,3) i8, %b: (1) f32) -> (%y) {\n" IN OUT W_SCALE
        "  const @w : (1,1,2,2) i8 = [3, 1, 2, 4]\n" DX DW
        "  %c = nn.conv2d_transpose(%xf, %wf) {strides=[2,2], groups=1}\n"
        "  %d = nn.bias_add(%c, %b) {axis=1}\n" QUANTIZE("d") "}\n",
    };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, texts[_i], 1),
                  *before = graph_parse(ctx, texts[_i], 1);

    ck_assert(pipeline_run_one(module, "fake_quant_to_integer"));
    ck_assert_str_eq(graph_text(module, true), graph_text(before, true));
    ck_assert_int_eq(ctx->diags.n_errors, 0);
    module_free(before);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("phases");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, int8_is_at_most_one_step_from_floats, 0, N_LAYERS / BATCH);
    tcase_add_loop_test(tests, fp8_is_at_most_one_code_from_floats, 0, N_LAYERS / BATCH);
    tcase_add_loop_test(tests, generated_code_has_the_bits_of_the_reference, 0, N_COMPILED);
    tcase_add_loop_test(tests, kernels_are_as_short_as_can_be, 0, 5);
    tcase_add_loop_test(tests, others_stay, 0, 4);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
