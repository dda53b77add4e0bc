/* Convolutions whose weights stay in registers (codegen_c/kernels/conv/conv_stationary.c), as generated
 * C. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

#define N_ROWS(table) ((int)(sizeof(table) / sizeof *(table)))
#define LAST "groups=1, data_layout=\"NHWC\""

static const char *const machines_of[] = { "x86-64-v4", "znver5" };

static const struct kernel_case rows[] = {
#define POINTS(shape, in_c, out_c)                                                                 \
    {                                                                                              \
        "conv_stationary", "nn.conv2d", LAST,                                                      \
            "f32[" shape "," #in_c "]; const f32[" #out_c "," #in_c ",1,1]"                        \
    }
    /* one vector of channels: pixels that are whole tiles and not, whole strips and not */
    POINTS("1,2,5", 1, 16),
    POINTS("1,8,8", 8, 16),
    POINTS("1,9,10", 8, 16),
    POINTS("1,7,9", 12, 16),
    POINTS("1,19,19", 16, 16),
    POINTS("1,19,2", 20, 16),
    /* one of 8 or 4 lanes */
    POINTS("1,9,7", 8, 8),
    POINTS("1,7,11", 20, 8),
    POINTS("2,9,4", 6, 4),
    /* several */
    POINTS("1,11,9", 3, 32),
    POINTS("1,5,13", 8, 32),
    POINTS("1,13,5", 4, 48),
    POINTS("1,17,4", 2, 64),
    /* images, groups, other ranks */
    POINTS("3,5,7", 7, 16),
    { "conv_stationary", "nn.conv2d", "groups=2, data_layout=\"NHWC\"",
      "f32[1,7,7,10]; const f32[64,5,1,1]" },
    { "conv_stationary", "nn.conv2d", "groups=3, data_layout=\"NHWC\"",
      "f32[2,5,9,24]; const f32[48,8,1,1]" },
    { "conv_stationary", "nn.conv2d", "groups=4, data_layout=\"NHWC\"",
      "f32[1,5,9,24]; const f32[32,6,1,1]" },
    { "conv_stationary", "nn.conv1d", "groups=1, data_layout=\"NWC\"",
      "f32[1,41,6]; const f32[16,6,1]" },
    { "conv_stationary", "nn.conv3d", "groups=1, data_layout=\"NDHWC\"",
      "f32[1,3,4,5,6]; const f32[32,6,1,1,1]" },
    /* more weights than registers; channels that fill no vector; fewer pixels than a tile has;
       strides; results in planes */
    { "conv", "nn.conv2d", LAST, "f32[1,9,9,21]; const f32[16,21,1,1]" },
    { "conv", "nn.conv2d", LAST, "f32[1,9,9,9]; const f32[32,9,1,1]" },
    { "conv", "nn.conv2d", LAST, "f32[1,9,9,1]; const f32[128,1,1,1]" },
    { "conv", "nn.conv2d", LAST, "f32[1,9,9,8]; const f32[24,8,1,1]" },
    { "conv", "nn.conv2d", LAST, "f32[1,3,3,8]; const f32[16,8,1,1]" },
    { "conv", "nn.conv2d", LAST ", strides=[2,2]", "f32[1,9,9,8]; const f32[16,8,1,1]" },
    { "conv", "nn.conv2d", LAST ", out_layout=\"NCHW\"", "f32[1,9,9,8]; const f32[16,8,1,1]" },
};

START_TEST(rows_agree_with_the_reference)
{
    struct ctx *ctx = ctx_new("rows");

    kernel_cases_check_as(rows, N_ROWS(rows), 1e-6, WINOGRAD_AUTO,
                          machine_find(ctx, machines_of[_i]));
    ctx_free(ctx);
}
END_TEST

/* What follows a convolution of `in_c` channels to out_c ones. T is the type. */
static const struct {
    int in_c, out_c;
    const char *nodes;
} endings[] = {
    { 8, 16, "%y = nn.relu(%c)" },
    { 8, 16, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = clip(%d) {a_min=0, a_max=1}" },
    { 8, 32, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %e = add(%d, %r) : T\n %y = nn.relu(%e)" },
    { 5, 8, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = add(%r, %d)" },
    { 4, 48, "%y = nn.prelu(%c, @b)" },
    { 3, 4, "%y = nn.hard_swish(%c)" },
    /* over an array */
    { 16, 16, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = nn.silu(%d)" },
    { 6, 8, "%d = sigmoid(%c) : T\n %y = multiply(%d, %r)" },
};

enum { N_ENDINGS = sizeof endings / sizeof *endings };

/* All of them, each behind an x of its own, of 13 x 29 pixels; a `%` or `@` name of row i ends with
 * i. */
static const char *endings_text(struct ctx *ctx)
{
    struct arena *arena = &ctx->perm;
    struct str params = { .arena = arena }, constants = { .arena = arena },
               nodes = { .arena = arena }, results = { .arena = arena };

    for (int i = 0; i < N_ENDINGS; i++) {
        const int in_c = endings[i].in_c, out_c = endings[i].out_c;
        const char *type = arena_printf(arena, "(2,13,29,%d) f32", out_c);

        str_printf(&params, "%s%%x%d: (2,13,29,%d) f32, %%r%d: %s", i ? ", " : "", i, in_c, i,
                   type);
        str_printf(&results, "%s%%y%d", i ? ", " : "", i);
        str_printf(&constants,
                   "  const @w%d : (%d,%d,1,1) f32 = crc32:0000000%d\n"
                   "  const @b%d : (%d) f32 = crc32:0000001%d\n",
                   i, out_c, in_c, i, i, out_c, i);
        str_printf(&nodes,
                   "  %%c%d = nn.conv2d(%%x%d, @w%d) {groups=1, data_layout=\"NHWC\", "
                   "out_layout=\"NHWC\"} : %s\n ",
                   i, i, i, type);
        graph_add_numbered(&nodes, endings[i].nodes, type, i);
        str_printf(&nodes, " : %s\n", type);
    }
    return arena_printf(arena, "fn main(%s) -> (%s) {\n%s%s}\n", str_text(&params),
                        str_text(&results), str_text(&constants), str_text(&nodes));
}

static const char layers[] = "Weight-stationary: the weights of BLOCK channels stay in registers";

START_TEST(sums_go_from_registers_to_y)
{
    static const char *const names[] = { "_stores_relu(",
                                         "_stores_bias_add_within(",
                                         "_stores_bias_add_add_results_relu(",
                                         "_stores_bias_add_add_of_results_v_1(",
                                         "_stores_prelu(",
                                         "_stores_hard_swish(" };
    struct ctx *ctx = ctx_new("endings");
    struct generated_case row = { .text = endings_text(ctx),
                                  .tolerance = 1e-6,
                                  .machine = machine_find(ctx, machines_of[_i]) };

    ck_assert_int_eq(generated_count(ctx, &row, layers), N_ENDINGS);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(generated_count(ctx, &row, names[i]) > 0, "no %s", names[i]);
    ck_assert_int_eq(generated_count(ctx, &row, "_stores_bias_add_silu"), 0);
    generated_check(&row);
    row.parts = 3;
    row.one_build = true;
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* A result that lies right over what is read, one that overlaps it, and pixels that are parts
 * of greater ones. */
START_TEST(results_lie_over_what_is_read)
{
    struct ctx *ctx = ctx_new("over");
    struct generated_case row = {
#define CONV(y, x, w, channels)                                                                    \
    "  " y " = nn.conv2d(" x ", " w ") {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"} : "   \
    "(1,37,11," channels ") f32\n"
        .text = "fn main(%x: (1,37,11,8) f32) -> (%y) {\n"
                "  const @t : (16,8,1,1) f32 = crc32:00000000\n"
                "  const @u : (16,16,1,1) f32 = crc32:00000001\n"
                "  const @v : (32,8,1,1) f32 = crc32:00000002\n"
                "  const @w : (16,16,1,1) f32 = crc32:00000003\n"
                "  %a = tanh(%x) : (1,37,11,8) f32\n" CONV("%b", "%a", "@t", "16")
                    CONV("%c", "%b", "@u", "16") CONV("%d", "%a", "@v", "32")
                        CONV("%e", "%c", "@w",
                             "16") "  %f = concatenate(%e, %d) {axis=3} : (1,37,11,48) f32\n"
                                   "  %y = tanh(%f) : (1,37,11,48) f32\n"
                                   "}\n",
        .tolerance = 1e-5,
        .machine = machine_find(ctx, machines_of[_i])
    };

    ck_assert_int_eq(generated_count(ctx, &row, layers), 4);
    ck_assert_int_gt(generated_count(ctx, &row, "overlaps x: "), 0);
    ck_assert_int_gt(generated_count(ctx, &row, "OUT_PIXEL_STRIDE = 48"), 0);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_stationary");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, rows_agree_with_the_reference, 0, N_ROWS(machines_of));
    tcase_add_loop_test(tests, sums_go_from_registers_to_y, 0, N_ROWS(machines_of));
    tcase_add_loop_test(tests, results_lie_over_what_is_read, 0, N_ROWS(machines_of));
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
