/* Regions in stripes: the same bits as layer by layer, whatever windows, strides, padding and
 * heights. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "codegen_c/core/stripe.h"
#include "tests/support/expect.h"
#include "tests/support/run_generated.h"
#include "tests/support/stripe_case.h"
#include "tests/support/temp_dir.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static const struct {
    const char *name, *text;
} cases[] = {
    { "two convolutions",
      HEAD("(1,11,9,3)") WEIGHT("w", "5,3,3,3")
          WEIGHT("v", "4,5,3,3") "  %a = nn.conv2d(%x, @w) " SAME ": (1,11,9,5) f32\n"
                                 "  %y = nn.conv2d(%a, @v) " SAME ": (1,11,9,4) f32\n}\n" },
    { "strides, padding on one side, an odd height",
      HEAD("(1,23,10,4)") WEIGHT("w", "6,4,3,3") WEIGHT("v", "4,6,3,3")
          WEIGHT("u", "3,4,2,2") "  %a = nn.conv2d(%x, @w) " CONV(
              "2,2", "0,0,1,1", "1,1",
              "1") ": (1,11,5,6) f32\n"
                   "  %b = nn.conv2d(%a, @v) " CONV("1,1", "2,1,0,1", "1,1",
                                                    "1") ": (1,11,5,4) f32\n"
                                                         "  %y = nn.conv2d(%b, @u) " CONV(
                                                             "3,2", "0,0,0,0", "1,1",
                                                             "1") ": (1,4,2,3) f32\n}\n" },
    { "dilation, wide kernels",
      HEAD("(1,17,12,4)") WEIGHT("w", "8,4,3,3")
          WEIGHT("v", "4,8,7,5") "  %a = nn.conv2d(%x, @w) " CONV(
              "1,1", "2,2,2,2", "2,2",
              "1") ": (1,17,12,8) f32\n"
                   "  %y = nn.conv2d(%a, @v) " CONV("1,1", "3,2,3,2", "1,1",
                                                    "1") ": (1,17,12,4) f32\n}\n" },
    { "an inverted residual", INVERTED_RESIDUAL },
    { "a residual inside, a depthwise convolution with stride 2",
      HEAD("(1,14,10,8)") WEIGHT("w", "8,8,3,3") WEIGHT("v", "8,8,3,3")
          WEIGHT("d", "8,1,3,3") "  %a = nn.conv2d(%x, @w) " SAME ": (1,14,10,8) f32\n"
                                 "  %b = nn.conv2d(%a, @v) " SAME ": (1,14,10,8) f32\n"
                                 "  %r = nn.conv2d(%b, @w) " SAME ": (1,14,10,8) f32\n"
                                 "  %c = add(%r, %a) : (1,14,10,8) f32\n"
                                 "  %y = nn.conv2d(%c, @d) " CONV("2,2", "1,1,1,1", "1,1",
                                                                  "8") ": (1,7,5,8) f32\n}\n" },
    { "pools", HEAD("(1,21,12,8)") WEIGHT("w", "8,8,3,3") "  %a = nn.max_pool2d(%x) " POOL(
                   "3,3", "2,2", "1,1,1,1", "false",
                   "false") ": (1,11,6,8) f32\n"
                            "  %b = nn.avg_pool2d(%a) " POOL(
                                "3,3", "1,1", "1,1,1,1", "false",
                                "true") ": (1,11,6,8) f32\n"
                                        "  %c = nn.conv2d(%b, @w) " SAME ": (1,11,6,8) f32\n"
                                        "  %d = nn.avg_pool2d(%c) " POOL(
                                            "3,3", "2,2", "1,1,1,1", "false",
                                            "false") ": (1,6,3,8) f32\n"
                                                     "  %y = nn.avg_pool2d(%d) " POOL(
                                                         "3,2", "3,2", "0,0,0,0", "true",
                                                         "true") ": (1,2,2,8) f32\n}\n" },
    { "a concatenation of branches",
      HEAD("(1,9,8,6)") WEIGHT("w", "4,6,1,1") WEIGHT("v", "8,4,3,3") WEIGHT("u", "8,4,1,1")
          WEIGHT("t", "4,16,3,3") "  %a = nn.conv2d(%x, @w) " POINT ": (1,9,8,4) f32\n"
                                  "  %b = nn.conv2d(%a, @v) " SAME ": (1,9,8,8) f32\n"
                                  "  %c = nn.conv2d(%a, @u) " POINT ": (1,9,8,8) f32\n"
                                  "  %d = concatenate(%b, %c) {axis=3} : (1,9,8,16) f32\n"
                                  "  %y = nn.conv2d(%d, @t) " CONV("2,2", "1,1,1,1", "1,1",
                                                                   "1") ": (1,5,4,4) f32\n}\n" },
    { "planes, and one operand for all rows",
      "fn main(%x: (1,3,15,10) f32, %v: (1,1,5,8) f32, %u: (8) f32) -> (%y) {\n" WEIGHT("w",
                                                                                        "8,3,3,3")
          WEIGHT("t", "8,8,3,3") "  %a = nn.conv2d(%x, @w) {strides=[2,2], padding=[1,1,1,1], "
                                 "dilation=[1,1], groups=1, "
                                 "data_layout=\"NCHW\", out_layout=\"NHWC\", "
                                 "kernel_layout=\"OIHW\"} : (1,8,5,8) f32\n"
                                 "  %b = multiply(%a, %v) : (1,8,5,8) f32\n"
                                 "  %c = nn.conv2d(%b, @t) " SAME ": (1,8,5,8) f32\n"
                                 "  %y = add(%c, %u) : (1,8,5,8) f32\n}\n" },
    { "a sequence",
      HEAD("(1,31,6)") WEIGHT("w", "8,6,5") WEIGHT(
          "v",
          "4,8,3") "  %a = nn.conv1d(%x, @w) {strides=[2], padding=[2,2], dilation=[1], groups=1, "
                   "data_layout=\"NWC\", kernel_layout=\"OIW\"} : (1,16,8) f32\n"
                   "  %y = nn.conv1d(%a, @v) {strides=[1], padding=[2,0], dilation=[1], groups=1, "
                   "data_layout=\"NWC\", kernel_layout=\"OIW\"} : (1,16,4) f32\n}\n" },
    { "results that are read outside as well",
      "fn main(%x: (1,12,8,4) f32) -> (%a, %y) {\n" WEIGHT("w", "4,4,3,3")
          WEIGHT("v", "4,4,3,3") "  %a = nn.conv2d(%x, @w) " SAME ": (1,12,8,4) f32\n"
                                 "  %y = nn.conv2d(%a, @v) " CONV("2,2", "1,1,0,0", "1,1",
                                                                  "1") ": (1,6,4,4) f32\n}\n" },
};

/* A stripe for each row, some rows, uneven ones, and half of the height. */
static const int64_t parts[] = { 100, 5, 3, 2 };

static int count_regions(const char *text)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });
    int n = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        n += node->op == OP_CALL;
    module_free(module);
    ctx_free(ctx);
    return n;
}

START_TEST(stripes_have_the_bits_of_layers)
{
    const char *text = cases[_i / N_ROWS(parts)].text;

    stripe_check_parts(text, 0, count_regions(text) - 1, parts[_i % N_ROWS(parts)]);
}
END_TEST

/* What is left outside reads and is read. */
START_TEST(some_of_the_regions)
{
    const char *text = cases[5].text;

    stripe_check_parts(text, 0, 2, 4);
    stripe_check_parts(text, 2, 4, 3);
}
END_TEST

/* An image in planes: rows are read where they lie, but for groups, whose planes are gathered. */
#define PLANES(padding, groups, rows)                                                              \
    "  %a = nn.conv2d(%x, @w) {strides=[2,2], padding=[" padding "], dilation=[1,1], "             \
    "groups=" groups ", data_layout=\"NCHW\", out_layout=\"NHWC\", kernel_layout=\"OIHW\"} "       \
    ": (1," rows ",9,6) f32\n"                                                                     \
    "  %y = nn.conv2d(%a, @t) " SAME ": (1," rows ",9,4) f32\n}\n"

static const struct {
    const char *text;
    bool gathers;
} images[] = {
    { HEAD("(1,3,37,18)") WEIGHT("w", "6,3,3,3") WEIGHT("t", "4,6,3,3")
          PLANES("1,1,1,1", "1", "19"),
      false },
    { HEAD("(1,3,37,19)") WEIGHT("w", "6,3,3,3") WEIGHT("t", "4,6,3,3")
          PLANES("0,0,0,0", "1", "18"),
      false },
    { HEAD("(1,40,37,18)") WEIGHT("w", "6,40,3,3") WEIGHT("t", "4,6,3,3")
          PLANES("1,1,1,1", "1", "19"),
      false }, /* more under the kernel than has offsets */
    { HEAD("(1,3,37,18)") WEIGHT("w", "6,1,3,3") WEIGHT("t", "4,6,3,3")
          PLANES("1,1,1,1", "3", "19"),
      true },
};

static bool has_text(struct ctx *ctx, const char *dir, const char *wanted)
{
    struct mapping file;
    const char *text;

    ck_assert(file_map(ctx, arena_printf(&ctx->perm, "%s/net.c", dir), &file));
    text = arena_printf(&ctx->perm, "%.*s", (int)file.size, (const char *)file.data);
    file_unmap(&file);
    return strstr(text, wanted) != NULL;
}

START_TEST(planes_are_read_where_they_lie)
{
    const struct generated_case row = { .text = images[_i].text };
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &row);
    struct temp_dir dir = temp_dir_new();
    struct stripe_choice choice = { 0, 1, 4 };

    stripe_check_parts(row.text, 0, 1, 4);
    stripe_check_parts(row.text, 0, 1, 100);
    ck_assert(stripes_outline(module, &(struct stripe_plan){ .n = 1, .at = &choice }));
    stripe_generate(module, dir.path, 0);
    ck_assert(has_text(ctx, dir.path, "gather_rows(") == images[_i].gathers);
    ck_assert(has_text(ctx, dir.path, "PLANE_H") != images[_i].gathers);
    temp_dir_free(&dir);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* What has no rows of this kind, and why. */
static const struct {
    const char *line, *why;
} refusals[] = {
    { "  %y = nn.max_pool2d(%x) " POOL("4,2", "3,2", "0,0,0,0", "true", "true") ": (1,3,4,4) f32\n",
      "its last window reaches beyond the padding" },
    { "  %y = nn.softmax(%x) {axis=1} : (1,9,8,4) f32\n",
      "its rows need more than a few rows of what it reads" },
    { "  %y = concatenate(%x, %x) {axis=1} : (1,18,8,4) f32\n", "it puts rows below each other" },
    { "  %a = nn.conv2d(%x, @w) " SAME ": (1,9,8,4) f32\n  %y = add(%a, %x) : (1,9,8,4) f32\n",
      "it reads an argument in two ways" },
};

START_TEST(what_has_no_stripes)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const char *text = arena_printf(&ctx->perm, "%s%s%s}\n", HEAD("(1,9,8,4)"),
                                    WEIGHT("w", "4,4,3,3"), refusals[_i].line);
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });

    ck_assert_str_eq(rows_of_region(&ctx->perm, module->main->last).why, refusals[_i].why);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* What one region hands to the next by rows that the latter does not read: channels of a feature
 * map in planes, of which there are as many as rows or more; and all of one row, for every row. */
static const char *const not_handed_on[] = {
    HEAD("(1,8,5,6)") WEIGHT("w", "4,8,3,3") "  %a = nn.relu(%x) : (1,8,5,6) f32\n"
                                             "  %y = nn.conv2d(%a, @w) {strides=[1,1], "
                                             "padding=[1,1,1,1], dilation=[1,1], groups=1, "
                                             "data_layout=\"NCHW\", out_layout=\"NHWC\", "
                                             "kernel_layout=\"OIHW\"} : (1,5,6,4) f32\n}\n",
    HEAD("(1,9,8,4)") "  %a = nn.max_pool2d(%x) " POOL("9,1", "1,1", "0,0,0,0", "false",
                                                       "false") ": (1,1,8,4) f32\n"
                                                                "  %y = multiply(%x, %a) "
                                                                ": (1,9,8,4) f32\n}\n",
};

START_TEST(what_hands_on_no_rows)
{
    const struct generated_case row = { .text = not_handed_on[_i] };
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &row);
    struct stripe_choice choice = { 0, 1, 2 };
    struct stripes stripes;

    ck_assert(stripes_outline(module, &(struct stripe_plan){ .n = 1, .at = &choice }));
    stripes = stripes_of(&ctx->perm, module->main->first->callee);
    for (int i = 0; i < 2; i++)
        ck_assert_ptr_null(stripes.regions[i].why);
    for (int64_t n = 1; n <= 9; n++) {
        int64_t work = INT64_MAX;

        ck_assert(!stripes_flow(&ctx->perm, &stripes, n, NULL, SIZE_MAX, &work));
    }
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* The first stripe has the rows that readers see beyond theirs, so that buffers never hold a whole
 * stripe more; not where it is one row. */
START_TEST(stripes_begin_together)
{
    static const struct generated_case row = {
        .text = HEAD("(1,49,8,4)") WEIGHT("w", "4,4,3,3") WEIGHT(
            "v", "4,4,3,3") "  %a = nn.conv2d(%x, @w) " SAME ": (1,49,8,4) f32\n"
                            "  %b = nn.conv2d(%a, @v) " SAME ": (1,49,8,4) f32\n"
                            "  %y = nn.max_pool2d(%b) " POOL("3,3", "2,2", "0,0,0,0", "false",
                                                             "false") ": (1,24,3,4) f32\n}\n"
    };
    static const struct {
        int64_t parts, step[3], top[3], held[3];
    } wanted[] = { { 4, { 12, 12, 6 }, { 14, 13, 6 }, { 14, 13, 0 } },
                   { 49, { 1, 1, 1 }, { 1, 1, 1 }, { 3, 3, 0 } } };
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &row);
    struct stripe_choice choice = { 0, 2, 4 };
    struct stripes stripes;

    ck_assert(stripes_outline(module, &(struct stripe_plan){ .n = 1, .at = &choice }));
    stripes = stripes_of(&ctx->perm, module->main->first->callee);
    for (int k = 0; k < 2; k++) {
        int64_t work = INT64_MAX;

        ck_assert(stripes_flow(&ctx->perm, &stripes, wanted[k].parts, NULL, SIZE_MAX, &work));
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(stripes.step[i], wanted[k].step[i]);
            ck_assert_int_eq(stripes.top[i], wanted[k].top[i]);
            ck_assert_int_eq(stripes.held[i], wanted[k].held[i]);
        }
    }
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stripes");
    TCase *operators = tcase_create("operators");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(operators, 0);
    tcase_add_loop_test(operators, stripes_have_the_bits_of_layers, 0,
                        N_ROWS(cases) * N_ROWS(parts));
    tcase_add_test(operators, some_of_the_regions);
    tcase_add_loop_test(operators, planes_are_read_where_they_lie, 0, N_ROWS(images));
    tcase_add_test(operators, stripes_begin_together);
    tcase_add_loop_test(operators, what_has_no_stripes, 0, N_ROWS(refusals));
    tcase_add_loop_test(operators, what_hands_on_no_rows, 0, N_ROWS(not_handed_on));
    suite_add_tcase(suite, operators);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
