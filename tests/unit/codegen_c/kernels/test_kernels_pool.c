/* Pools as generated C: the kernels of codegen_c/kernels/pool/. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

static const struct kernel_case pools[] = {
    { "max_pool_planes", "nn.max_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1]",
      "f32[1,3,7,9]" },
    { "max_pool2d", "nn.max_pool2d", "pool_size=[2,2], strides=[2,2]", "f64[2,2,8,8]" },
    { "max_pool_planes", "nn.max_pool2d",
      "pool_size=[3,2], strides=[2,1], padding=[0,1,2,0], dilation=[2,3], ceil_mode=true",
      "f32[1,1,8,7]" },
    { "max_pool_planes", "nn.max_pool1d", "pool_size=[3], strides=[2], padding=[1,0]",
      "f32[2,3,11]" },
    { "max_pool3d", "nn.max_pool3d",
      "pool_size=[2,3,2], strides=[1,2,2], padding=[1,0,1,0,1,0], dilation=[1,1,2]",
      "f32[2,2,4,5,6]" },
    { "max_pool3d", "nn.max_pool3d", "pool_size=[2,2,2], strides=[2,2,2]", "f32[1,2,4,4,6]" },
    { "max_pool_planes", "nn.max_pool2d", "pool_size=[2,2], padding=[1,1,1,1], dilation=[3,3]",
      "f32[1,2,2,5]" },
    { "avg_pool2d", "nn.avg_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1]",
      "f32[1,3,7,9]" },
    { "avg_pool2d", "nn.avg_pool2d", "pool_size=[2,2], strides=[2,2]", "f64[2,2,8,8]" },
    { "avg_pool2d", "nn.avg_pool2d",
      "pool_size=[3,2], strides=[2,1], padding=[0,1,2,0], dilation=[2,3], ceil_mode=true",
      "f32[1,1,8,7]" },
    { "avg_pool2d", "nn.avg_pool1d", "pool_size=[3], strides=[2], padding=[1,0]", "f32[2,3,11]" },
    { "avg_pool3d", "nn.avg_pool3d",
      "pool_size=[2,3,2], strides=[1,2,2], padding=[1,0,1,0,1,0], dilation=[1,1,2]",
      "f32[2,2,4,5,6]" },
    { "avg_pool3d", "nn.avg_pool3d", "pool_size=[2,2,2], strides=[2,2,2]", "f32[1,2,4,4,6]" },
    { "avg_pool2d", "nn.avg_pool2d", "pool_size=[2,2], padding=[1,1,1,1], dilation=[3,3]",
      "f32[1,2,2,5]" },
    { "lp_pool2d", "nn.lp_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], p=2",
      "f32[1,3,7,9]" },
    { "lp_pool2d", "nn.lp_pool2d", "pool_size=[2,2], strides=[2,2], p=2", "f64[2,2,8,8]" },
    { "lp_pool2d", "nn.lp_pool2d",
      "pool_size=[3,2], strides=[2,1], padding=[0,1,2,0], dilation=[2,3], ceil_mode=true, "
      "p=2",
      "f32[1,1,8,7]" },
    { "lp_pool2d", "nn.lp_pool1d", "pool_size=[3], strides=[2], padding=[1,0], p=2",
      "f32[2,3,11]" },
    { "lp_pool3d", "nn.lp_pool3d",
      "pool_size=[2,3,2], strides=[1,2,2], padding=[1,0,1,0,1,0], dilation=[1,1,2], p=2",
      "f32[2,2,4,5,6]" },
    { "lp_pool3d", "nn.lp_pool3d", "pool_size=[2,2,2], strides=[2,2,2], p=2", "f32[1,2,4,4,6]" },
    { "lp_pool2d", "nn.lp_pool2d", "pool_size=[2,2], padding=[1,1,1,1], dilation=[3,3], p=2",
      "f32[1,2,2,5]" },
    /* counting the padding, and not what ceil_mode adds to it */
    { "avg_pool2d", "nn.avg_pool2d",
      "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], count_include_pad=true", "f32[1,3,7,9]" },
    { "avg_pool2d", "nn.avg_pool2d",
      "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], count_include_pad=true, "
      "ceil_mode=true",
      "f32[1,3,7,8]" },
    { "avg_pool3d", "nn.avg_pool3d",
      "pool_size=[3,3,2], strides=[2,2,2], padding=[1,1,1,1,1,1], count_include_pad=true, "
      "ceil_mode=true",
      "f32[1,3,7,8,4]" },
    { "avg_pool2d", "nn.avg_pool1d",
      "pool_size=[3], strides=[2], padding=[1,1], count_include_pad=true, ceil_mode=true",
      "f32[1,3,8]" },
    /* other norms and types */
    { "lp_pool2d", "nn.lp_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], p=1",
      "f32[1,3,7,9]" },
    { "lp_pool2d", "nn.lp_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], p=3",
      "f64[1,3,7,9]" },
    { "max_pool2d", "nn.max_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1]",
      "i8[1,3,7,9]" },
    { "max_pool2d", "nn.max_pool2d", "pool_size=[2,2]", "u8[1,3,7,9]" },
    { "max_pool3d", "nn.max_pool3d", "pool_size=[2,2,2], padding=[1,1,1,1,1,1]", "i32[1,2,3,4,3]" },
    /* NaN wins wherever it stands */
    { "max_pool_planes", "nn.max_pool1d", "pool_size=[3], padding=[1,1]",
      "f32[1,1,9] 1 2 nan 3 4 5 6 inf nan" },
    { "global_max_pool", "nn.global_max_pool", "", "f32[1,3,4] 1 nan 2 3 nan 1 5 -1 -1 -2 -3 nan" },
    { "global_max_pool", "nn.global_max_pool", "", "f64[2,3,4,5]" },
    { "global_max_pool", "nn.global_max_pool", "", "f32[2,3,5,7]" },
    { "global_max_pool", "nn.global_max_pool", "", "f32[1,5,4,4] -2 -1 -3 -inf nan -5 -6" },
    { "global_avg_pool", "nn.global_avg_pool", "", "f32[2,3,4,5]" },
    { "global_avg_pool", "nn.global_avg_pool", "", "f64[1,5,3]" },
    { "global_avg_pool", "nn.global_avg_pool", "", "f32[1,3,2,2,3]" },
    { "max_pool2d", "nn.max_pool1d", "pool_size=[3], strides=[2], padding=[1,0]", "f64[2,3,11]" },
};

/* Rows of whole vectors, with a rest, and of few columns; windows that the last rows and columns
 * are not under, that are all in the padding, and more than once in a row of the kernel. */
static const struct kernel_case planes[] = {
    { "max_pool_planes", "nn.max_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1]",
      "f32[2,3,19,35]" },
    { "max_pool_planes", "nn.max_pool2d", "pool_size=[2,2], strides=[2,2]", "f32[1,5,9,32]" },
    { "max_pool_planes", "nn.max_pool2d", "pool_size=[5,5], padding=[2,2,2,2]", "f32[1,3,7,20]" },
    { "max_pool_planes", "nn.max_pool2d", "pool_size=[2,3], strides=[3,5]", "f32[1,2,10,71]" },
    { "max_pool_planes", "nn.max_pool2d",
      "pool_size=[3,3], strides=[2,3], dilation=[2,7], ceil_mode=true", "f32[1,2,9,50]" },
    { "max_pool_planes", "nn.max_pool2d", "pool_size=[2,2], padding=[2,5,2,5], dilation=[4,9]",
      "f32[1,2,2,17]" },
    { "max_pool_planes", "nn.max_pool2d", "pool_size=[1,1], strides=[2,2]", "f32[1,3,4,8]" },
    { "max_pool_planes", "nn.max_pool1d", "pool_size=[9], strides=[4], padding=[4,4]",
      "f32[2,3,40] 1 -inf nan 3 -4 5 6 inf 0 -0 2 2 2 -7 1 1 1" },
};

static const struct kernel_case indices[] = {
    { "max_pool_indices", "nn.max_pool_indices",
      "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1]", "f32[2,3,7,9]" },
    { "max_pool_indices", "nn.max_pool_indices", "pool_size=[3], strides=[2], padding=[1,1]",
      "f64[2,3,9]" },
    { "max_pool_indices", "nn.max_pool_indices",
      "pool_size=[2,3,2], strides=[1,2,2], padding=[1,0,1,0,1,0], dilation=[1,1,2]",
      "i8[2,2,4,5,6]" },
    { "max_pool_indices", "nn.max_pool_indices",
      "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], storage_order=1", "f32[2,3,7,9]" },
    { "max_pool_indices", "nn.max_pool_indices",
      "pool_size=[3], strides=[2], padding=[1,1], storage_order=1", "f64[2,3,9]" },
    { "max_pool_indices", "nn.max_pool_indices",
      "pool_size=[2,3,2], strides=[1,2,2], padding=[1,0,1,0,1,0], dilation=[1,1,2], "
      "storage_order=1",
      "i8[2,2,4,5,6]" },
};

/* "f32[1,3,7,9] 1 2" as "f32[1,7,9,3] 1 2". */
static const char *type_with_channels_last(struct arena *arena, const char *type)
{
    const char *batch = strchr(type, ',') + 1, *channels = batch, *end = strchr(type, ']');
    const char *rest = channels + strcspn(channels, ",") + 1;

    return arena_printf(arena, "%.*s%.*s,%.*s%s", (int)(batch - type), type, (int)(end - rest),
                        rest, (int)(rest - 1 - channels), channels, end);
}

/* The row with the channels last, and the kernel that takes it then. */
static struct kernel_case with_channels_last(struct arena *arena, const struct kernel_case *row)
{
    static const char *const layouts[] = { "NWC", "NHWC", "NDHWC" };
    struct kernel_case last = *row;
    int rank = -1;

    for (const char *at = row->inputs; *at != ']'; at++)
        rank += *at == ',';
    /* Windows that miss the input have no tiles. */
    if (str_starts(row->op, "nn.global"))
        last.kernel = "global_pool";
    else if (str_starts(row->inputs, "f32") && rank < 3 && !str_starts(row->op, "nn.lp") &&
             !strstr(row->attrs, "dilation=[3,3]"))
        last.kernel = "pool_tiles";
    else
        last.kernel = "pool";
    last.attrs = arena_printf(arena, "%s%slayout=\"%s\"", row->attrs, *row->attrs ? ", " : "",
                              layouts[rank - 1]);
    last.inputs = type_with_channels_last(arena, row->inputs);
    return last;
}

START_TEST(planes_are_reduced_by_vectors_along_rows)
{
    static const char *const names[] = { "generic", "x86-64", "x86-64-v3", "x86-64-v4" };
    struct ctx *ctx = ctx_new("machine");

    kernel_cases_check_as(planes, (int)(sizeof planes / sizeof *planes), 0, WINOGRAD_OFF,
                          machine_find(ctx, names[_i]));
    ctx_free(ctx);
}
END_TEST

/* Without a deep stack rows of at most 256 columns, whole vectors and padding, wait there. */
START_TEST(long_rows_need_a_deep_stack)
{
    static const struct {
        const char *machine, *kernel;
        int columns;
    } rows[] = { { "generic", "max_pool_planes", 240 },    { "generic", "max_pool2d", 242 },
                 { "cortex-m55", "max_pool_planes", 240 }, { "cortex-m55", "max_pool2d", 242 },
                 { "x86-64", "max_pool_planes", 1000 },    { "x86-64", "max_pool2d", 1100 } };
    struct ctx *ctx = ctx_new("machine");
    const struct kernel_case pool = { rows[_i].kernel, "nn.max_pool2d",
                                      "pool_size=[3,3], padding=[1,1,1,1]",
                                      arena_printf(&ctx->perm, "f32[1,2,5,%d]", rows[_i].columns) };

    kernel_cases_check_as(&pool, 1, 0, WINOGRAD_OFF, machine_find(ctx, rows[_i].machine));
    ctx_free(ctx);
}
END_TEST

START_TEST(channels_that_are_last_are_reduced_side_by_side)
{
    enum { N = sizeof pools / sizeof *pools };
    static const struct kernel_case many[] = {
        { "pool_tiles", "nn.max_pool2d",
          "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], layout=\"NHWC\"", "f32[2,9,9,144]" },
        { "pool_tiles", "nn.avg_pool2d", "pool_size=[2,2], strides=[2,2], layout=\"NHWC\"",
          "f32[1,4,4,67]" },
        { "global_pool", "nn.global_avg_pool", "layout=\"NHWC\"", "f32[2,7,7,160]" },
        { "pool_tiles", "nn.max_pool2d",
          "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], layout=\"NHWC\"",
          "f32[1,7,9,16] 1 nan 2 -3 -inf 7 inf -1 -2 nan nan -5 0 -0 9 4 8" },
        { "pool_tiles", "nn.max_pool2d", "pool_size=[2,5], layout=\"NHWC\"",
          "f32[2,5,8,24] -1 -2 -3 nan 5 -inf -7 -8 9 -10 nan nan -13" },
    };
    struct arena arena = { NULL };
    struct kernel_case rows[N];

    for (int i = 0; i < N; i++)
        rows[i] = with_channels_last(&arena, &pools[i]);
    kernel_cases_check(rows, N, 1e-5);
    KERNEL_CASES_CHECK(many, 1e-5);
    arena_release(&arena);
}
END_TEST

/* Vectors of every length, of channels that fill them and that do not; NaN in all places of a
 * window. */
START_TEST(machines_have_vectors_of_channels)
{
    static const char *const names[] = { "x86-64", "x86-64-v3", "x86-64-v4", "znver5" };
    static const struct kernel_case vectors[] = {
        { "global_pool", "nn.global_avg_pool", "layout=\"NHWC\"", "f32[1,5,5,64]" },
        { "global_pool", "nn.global_avg_pool", "layout=\"NHWC\"", "f32[2,3,7,48]" },
        { "global_pool", "nn.global_avg_pool", "layout=\"NHWC\"", "f32[1,1,2,20]" },
        { "global_pool", "nn.global_avg_pool", "layout=\"NHWC\"", "f32[3,4,4,272]" },
    };
    struct ctx *ctx = ctx_new("machines");

    kernel_cases_check_as(vectors, (int)(sizeof vectors / sizeof *vectors), 1e-5, WINOGRAD_OFF,
                          machine_find(ctx, names[_i]));
    ctx_free(ctx);
}
END_TEST

START_TEST(windows_are_reduced_as_the_reference_does)
{
    KERNEL_CASES_CHECK(pools, 1e-5);
}
END_TEST

START_TEST(maxima_come_with_their_places)
{
    KERNEL_CASES_CHECK(indices, 1e-5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_pool");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, channels_that_are_last_are_reduced_side_by_side);
    tcase_add_loop_test(tests, machines_have_vectors_of_channels, 0, 4);
    tcase_add_test(tests, windows_are_reduced_as_the_reference_does);
    tcase_add_loop_test(tests, planes_are_reduced_by_vectors_along_rows, 0, 4);
    tcase_add_loop_test(tests, long_rows_need_a_deep_stack, 0, 6);
    tcase_add_test(tests, maxima_come_with_their_places);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
