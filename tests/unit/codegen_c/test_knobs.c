/* What may be chosen about a region's code: that all values compute the same, that choices which do
 * not fit are told, and what regions are called in a tuning log. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/knob.h"
#include "codegen_c/machine/machine.h"
#include "codegen_c/select/signature.h"
#include "relay_ir/region.h"
#include "tests/support/expect.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"

static struct ctx *ctx;

static void begin(void)
{
    ctx = ctx_new("net.onnx");
}

static void end(void)
{
    ctx_free(ctx);
}

#define LAST ", data_layout=\"NHWC\", out_layout=\"NHWC\", kernel_layout=\"OIHW\""

/* Channels that fill panels and some that do not, planes and channels last, a few pixels and many,
 * rows of a dense layer, two computed operands. */
static const char net[] =
    "fn main(%x: (1,7,9,20) f32, %p: (1,3,11,10) f32, %r: (5,24) f32, %q: (1,24) f32) -> "
    "(%a, %b, %c, %d, %e, %f, %g) {\n"
    "  const @wa : (72,20,3,3) f32 = crc32:00000000\n"
    "  const @wb : (12,3,3,3) f32 = crc32:00000001\n"
    "  const @wc : (130,20,1,1) f32 = crc32:00000002\n"
    "  const @wd : (70,24) f32 = crc32:00000003\n"
    "  const @we : (20,1,3,3) f32 = crc32:00000004\n"
    "  %a = nn.conv2d(%x, @wa) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1" LAST
    "} : (1,7,9,72) f32\n"
    "  %b0 = nn.conv2d(%p, @wb) {strides=[2,2], padding=[1,1,1,1], dilation=[1,1], groups=1, "
    "data_layout=\"NCHW\", out_layout=\"NHWC\", kernel_layout=\"OIHW\"} : (1,6,5,12) f32\n"
    "  %b = nn.relu(%b0) : (1,6,5,12) f32\n"
    "  %c = nn.conv2d(%x, @wc) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1" LAST
    "} : (1,7,9,130) f32\n"
    "  %d = nn.dense(%r, @wd) : (5,70) f32\n"
    "  %e = nn.conv2d(%x, @we) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=20" LAST
    "} : (1,7,9,20) f32\n"
    "  %f = nn.dense(%q, @wd) : (1,70) f32\n"
    "  %z = nn.relu(%q) : (1,24) f32\n"
    "  %g = nn.dense(%z, @wd) : (1,70) f32\n" /* leaves out zeros; chosen for as %f is */
    "}\n";

/* Bytes: a convolution of more than one NC block, rows and one row of a dense layer whose
 * sums have a number of steps that can be halved twice. */
static const char bytes[] =
    "fn main(%x: (1,7,9,20) u8, %r: (5,32) i8, %q: (1,32) i8) -> (%a, %b, %c) {\n"
    "  const @wa : (72,20,3,3) i8 = crc32:00000000\n"
    "  const @wb : (70,32) i8 = crc32:00000001\n"
    "  const @zx : () u8 = [100]\n  const @zr : () i8 = [-7]\n  const @zw : () i8 = [0]\n"
    "  %a = qnn.conv2d(%x, @wa, @zx, @zw) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], "
    "groups=1" LAST "} : (1,7,9,72) i32\n"
    "  %b = qnn.dense(%r, @wb, @zr, @zw) : (5,70) i32\n"
    "  %c = qnn.dense(%q, @wb, @zr, @zw) : (1,70) i32\n"
    "}\n";

static const char *const nets[] = { net, bytes };
enum { N_NETS = sizeof nets / sizeof *nets };

static const struct machine *machine_named(const char *name)
{
    const struct machine *machine = machine_find(ctx, name);

    ck_assert_ptr_nonnull(machine);
    return machine;
}

/* By the machine, --winograd and the choices of the row. */
static struct codegen_result generate(struct module *module, const struct generated_case *row)
{
    struct temp_dir dir = temp_dir_new();
    const struct codegen_options options = { .name = "net",
                                             .dir = dir.path,
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .machine = row->machine,
                                             .winograd = row->winograd,
                                             .choices = row->choices };
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;

    ck_assert_msg(codegen_c(module, &options, &set, &result), "%s", expect_text(ctx));
    output_abort(&set);
    temp_dir_free(&dir);
    return result;
}

/* Value number i of each knob, counted round, for all regions. */
static struct choices choose(const struct codegen_result *result, int i)
{
    struct choices choices = { .by_signature = { .arena = &ctx->perm } };

    for (int r = 0; r < result->n_regions; r++) {
        const struct codegen_region *region = &result->regions[r];
        struct choice *choice = arena_new(&ctx->perm, struct choice);

        /* Which other knobs there are depends on the kernel: the usual one. */
        for (int k = 0; k < KNOB_COUNT; k++)
            if (k != KNOB_KERNEL && region->knobs[k].n)
                choice->value[k] = region->knobs[k].values[i % region->knobs[k].n];
        map_set(&choices.by_signature, region->signature, choice);
    }
    return choices;
}

static int most_values(const struct codegen_result *result)
{
    int most = 0;

    for (int r = 0; r < result->n_regions; r++)
        for (int k = 0; k < KNOB_COUNT; k++)
            most = result->regions[r].knobs[k].n > most ? result->regions[r].knobs[k].n : most;
    return most;
}

/* Of each: all nets. */
static const char *const machines_tried[] = { "generic", "x86-64-v3", "x86-64-v4", "cortex-m4" };
enum { MOST_TRIED = 6, N_MACHINES = sizeof machines_tried / sizeof *machines_tried };

START_TEST(all_values_compute_the_same)
{
    struct generated_case row = { .text = nets[_i / N_MACHINES],
                                  .tolerance = 1e-5,
                                  .low = _i / N_MACHINES ? -128 : 0,
                                  .high = _i / N_MACHINES ? 256 : 0,
                                  .one_build = true };
    struct module *module = generated_module(ctx, &row);
    struct codegen_result result;
    int n;

    row.machine = machine_named(machines_tried[_i % N_MACHINES]);
    result = generate(module, &row);
    n = most_values(&result);
    ck_assert_int_gt(n, 1);
    for (int i = 0; i < n; i += 1 + n / MOST_TRIED) {
        const struct choices choices = choose(&result, i);

        row.choices = &choices;
        generated_check_module(module, &row, NULL);
        ck_assert_msg(ctx->diags.n_warnings == 0, "%s", expect_text(ctx));
    }
    module_free(module);
}
END_TEST

START_TEST(all_kernels_compute_the_same)
{
    struct generated_case row = { .text = net, .tolerance = 1e-5, .one_build = true };
    struct module *module = generated_module(ctx, &row);
    struct codegen_result result;
    int most = 0;

    row.machine = machine_named(machines_tried[_i]);
    result = generate(module, &row);
    for (int r = 0; r < result.n_regions; r++)
        most = result.regions[r].knobs[KNOB_KERNEL].n > most
                   ? result.regions[r].knobs[KNOB_KERNEL].n
                   : most;
    ck_assert_int_gt(most, 2); /* conv, conv_small, conv_direct */
    for (int i = 0; i < most; i++) {
        struct choices choices = { .by_signature = { .arena = &ctx->perm } };

        for (int r = 0; r < result.n_regions; r++) {
            const struct knob_range *range = &result.regions[r].knobs[KNOB_KERNEL];
            struct choice *choice = arena_new(&ctx->perm, struct choice);

            choice->value[KNOB_KERNEL] = range->values[i % range->n];
            map_set(&choices.by_signature, result.regions[r].signature, choice);
        }
        row.choices = &choices;
        generated_check_module(module, &row, NULL);
        ck_assert_msg(ctx->diags.n_warnings == 0, "%s", expect_text(ctx));
    }
    module_free(module);
}
END_TEST

START_TEST(a_choice_is_seen_in_the_text)
{
    struct generated_case row = { .text = net,
                                  .machine = machine_named("x86-64-v3"),
                                  .winograd = WINOGRAD_OFF };
    struct module *module = generated_module(ctx, &row);
    const struct codegen_result usual = generate(module, &row);
    struct choices choices = { .by_signature = { .arena = &ctx->perm } };
    struct choice choice = { .value = { [KNOB_TILE] = "4x3", [KNOB_NC] = "32" } };
    struct codegen_result result;

    ck_assert_str_eq(usual.regions[0].kernel, "conv");
    ck_assert_str_eq(usual.regions[0].knobs[KNOB_TILE].usual, "2x6");
    ck_assert(!usual.regions[0].chosen);
    map_set(&choices.by_signature, usual.regions[0].signature, &choice);
    row.choices = &choices;
    result = generate(module, &row);
    ck_assert(result.regions[0].chosen);
    ck_assert(!result.regions[1].chosen);
    ck_assert_str_eq(result.regions[0].knobs[KNOB_TILE].taken, "4x3");
    ck_assert_str_eq(result.regions[0].knobs[KNOB_TILE].usual, "2x6");
    ck_assert_str_eq(result.regions[0].knobs[KNOB_NC].taken, "32");
    ck_assert_ptr_nonnull(
        strstr(generated_text(ctx, &row, ".c"), "enum { PIXELS_4x3 = 3, TILE_4x3 = 4 * LANES };"));
    ck_assert_ptr_nonnull(strstr(generated_text(ctx, &row, ".c"), "CHUNK = 32,"));
    module_free(module);
}
END_TEST

/* The values of a knob are those that fit: 180 products and 32 in steps of four. */
START_TEST(only_what_fits_is_offered)
{
    struct generated_case row = { .text = bytes, .machine = machine_named("x86-64-v4") };
    struct module *module = generated_module(ctx, &row);
    const struct codegen_result usual = generate(module, &row);
    struct choices choices = { .by_signature = { .arena = &ctx->perm } };
    struct choice choice = { .value = { [KNOB_UNROLL] = "4", [KNOB_NC] = "32" } };
    const char *text;

    for (int i = 0; i < 3; i++) {
        const struct knob_range *unroll = &usual.regions[i].knobs[KNOB_UNROLL];

        ck_assert_int_eq(unroll->n, i == 0 ? 1 : 3); /* 45 steps, 8 steps */
        ck_assert_str_eq(unroll->usual, "1");
        ck_assert_int_eq(usual.regions[i].knobs[KNOB_NC].n, i == 2 ? 0 : 3);
    }
    map_set(&choices.by_signature, usual.regions[1].signature, &choice);
    row.choices = &choices;
    text = generated_text(ctx, &row, ".c");
    ck_assert_ptr_nonnull(strstr(text, "dot_tile_by_4("));
    ck_assert_ptr_nonnull(strstr(text, "for (int chunk = 0; chunk < OUT_C; chunk += CHUNK)"));
    choice.value[KNOB_UNROLL] = "3";
    generate(module, &row);
    ck_assert_int_eq(ctx->diags.n_warnings, 1);
    ck_assert_str_eq(
        ctx->diags.first->message,
        "the tuning log says unroll=3, which the kernel qnn_dense_tiles does not offer here");
    module_free(module);
}
END_TEST

START_TEST(stale_choices_are_told_and_left)
{
    static const struct {
        enum knob knob;
        const char *value, *message;
    } cases[] = {
        { KNOB_KERNEL, "conv_of_yore",
          "says kernel=conv_of_yore, which does not take this region" },
        { KNOB_TILE, "5x5", "says tile=5x5, which the kernel conv does not offer here" },
        { KNOB_NC, "yes", "says nc=yes, which the kernel conv does not offer here" },
        { KNOB_UNROLL, "4", "says unroll=4, which the kernel conv does not offer here" },
    };
    struct generated_case row = { .text = net,
                                  .machine = machine_named("x86-64-v3"),
                                  .winograd = WINOGRAD_OFF };
    const char *usual = generated_text(ctx, &row, ".c");
    struct module *module = generated_module(ctx, &row);
    const struct codegen_result result = generate(module, &row);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct choices choices = { .by_signature = { .arena = &ctx->perm } };
        struct choice choice = { .value = { NULL } };
        struct diags before = diag_save(ctx);

        choice.value[cases[i].knob] = cases[i].value;
        map_set(&choices.by_signature, result.regions[0].signature, &choice);
        row.choices = &choices;
        ck_assert_str_eq(generated_text(ctx, &row, ".c"), usual);
        ck_assert_int_eq(ctx->diags.n_warnings, 1);
        ck_assert_msg(strstr(ctx->diags.first->message, cases[i].message), "%s",
                      ctx->diags.first->message);
        diag_restore(ctx, before);
    }
    module_free(module);
}
END_TEST

/* A depthwise convolution has no tile, whatever a log says. */
START_TEST(knobs_that_a_kernel_lacks_are_told)
{
    struct generated_case row = { .text = net };
    struct module *module = generated_module(ctx, &row);
    const struct codegen_result usual =
        generate(module, &(struct generated_case){ .machine = NULL });
    struct choices choices = { .by_signature = { .arena = &ctx->perm } };
    struct choice choice = { .value = { [KNOB_TILE] = "2x8" } };

    ck_assert_str_eq(usual.regions[4].kernel, "depthwise");
    map_set(&choices.by_signature, usual.regions[4].signature, &choice);
    generate(module, &(struct generated_case){ .choices = &choices });
    ck_assert_int_eq(ctx->diags.n_warnings, 1);
    ck_assert_str_eq(
        ctx->diags.first->message,
        "the tuning log says tile=2x8, which the kernel depthwise does not offer here");
    module_free(module);
}
END_TEST

/* Logs are found by these texts: a change here makes all logs stale. */
START_TEST(signatures_are_stable)
{
    static const char *const wanted[] = {
        "nn.conv2d(p0 f32[1,7,9,20], c f32[72,20,3,3]) {strides=[1,1], padding=[1,1,1,1], "
        "dilation=[1,1], groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\", "
        "kernel_layout=\"OIHW\"}",
        "nn.conv2d(p0 f32[1,3,11,10], c f32[12,3,3,3]) {strides=[2,2], padding=[1,1,1,1], "
        "dilation=[1,1], groups=1, data_layout=\"NCHW\", out_layout=\"NHWC\", "
        "kernel_layout=\"OIHW\"}; nn.relu(_)",
    };
    struct generated_case row = { .text = net };
    struct module *module = generated_module(ctx, &row);
    const struct codegen_result result =
        generate(module, &(struct generated_case){ .machine = NULL });

    for (int i = 0; i < 2; i++)
        ck_assert_str_eq(result.regions[i].signature, wanted[i]);
    ck_assert_str_eq(result.regions[3].signature, "nn.dense(p0 f32[5,24], c f32[70,24])");
    module_free(module);
}
END_TEST

/* Neither names nor the numbers of constants count; what is added twice does. */
START_TEST(signatures_tell_what_the_code_depends_on)
{
    static const char text[] = "fn main(%x: (4,8) f32, %z: (4,8) f32) -> (%y1, %y2, %y3, %y4) {\n"
                               "  const @a : (8,8) f32 = crc32:00000000\n"
                               "  const @b : (8,8) f32 = crc32:00000001\n"
                               "  const @s : (8) f32 = crc32:00000002\n"
                               "  const @t : (8) f32 = crc32:00000003\n"
                               "  %u1 = nn.dense(%x, @a) : (4,8) f32\n"
                               "  %y1 = add(%u1, @s) : (4,8) f32\n"
                               "  %u2 = nn.dense(%z, @b) : (4,8) f32\n"
                               "  %y2 = add(%u2, @t) : (4,8) f32\n"
                               "  %u3 = nn.dense(%x, @b) : (4,8) f32\n"
                               "  %y3 = add(%u3, %z) : (4,8) f32\n"
                               "  %u4 = nn.dense(%x, @b) : (4,8) f32\n"
                               "  %v4 = nn.relu(%u4) : (4,8) f32\n"
                               "  %y4 = multiply(%u4, %v4) : (4,8) f32\n"
                               "}\n";
    struct generated_case row = { .text = text };
    struct module *module = generated_module(ctx, &row);
    const struct codegen_result r = generate(module, &(struct generated_case){ .machine = NULL });

    ck_assert_str_eq(r.regions[0].signature, r.regions[1].signature);
    ck_assert_str_eq(r.regions[0].signature, "nn.dense(p0 f32[4,8], c f32[8,8]); add(_, c f32[8])");
    ck_assert_str_eq(r.regions[2].signature,
                     "nn.dense(p0 f32[4,8], c f32[8,8]); add(_, p1 f32[4,8])");
    ck_assert_str_eq(r.regions[3].signature,
                     "nn.dense(p0 f32[4,8], c f32[8,8]); nn.relu(_); multiply(_0, _)");
    module_free(module);
}
END_TEST

START_TEST(knobs_are_found_by_name)
{
    for (int k = 0; k < KNOB_COUNT; k++) {
        ck_assert_int_eq(knob_find(knob_name((enum knob)k)), k);
        ck_assert_str_ne(knob_what((enum knob)k), "");
    }
    ck_assert_int_eq(knob_find("nonsense"), KNOB_COUNT);
    ck_assert_int_eq(knob_find("chunk"), KNOB_NC); /* of older logs */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("knobs");
    TCase *tcase = tcase_create("knobs");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_loop_test(tcase, all_values_compute_the_same, 0, N_NETS * N_MACHINES);
    tcase_add_loop_test(tcase, all_kernels_compute_the_same, 0, N_MACHINES);
    tcase_add_test(tcase, a_choice_is_seen_in_the_text);
    tcase_add_test(tcase, only_what_fits_is_offered);
    tcase_add_test(tcase, stale_choices_are_told_and_left);
    tcase_add_test(tcase, knobs_that_a_kernel_lacks_are_told);
    tcase_add_test(tcase, signatures_are_stable);
    tcase_add_test(tcase, signatures_tell_what_the_code_depends_on);
    tcase_add_test(tcase, knobs_are_found_by_name);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
