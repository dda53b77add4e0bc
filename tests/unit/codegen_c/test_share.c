/* --optimize size: regions that differ in constants share a function; the results stay. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/run_generated.h"

#define CONV                                                                                       \
    "{strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, "                                \
    "data_layout=\"NHWC\", kernel_layout=\"OIHW\"} : (1,9,7,16) f32\n"

/* Three convolutions of one shape, the last with another activation. */
static const char convolutions[] =
    "fn main(%x: (1,9,7,16) f32) -> (%y) {\n"
    "  const @w1 : (16,16,3,3) f32 = crc32:00000001\n"
    "  const @w2 : (16,16,3,3) f32 = crc32:00000002\n"
    "  const @w3 : (16,16,3,3) f32 = crc32:00000003\n"
    "  %a = nn.conv2d(%x, @w1) " CONV "  %b = nn.relu(%a) : (1,9,7,16) f32\n"
    "  %c = nn.conv2d(%b, @w2) " CONV "  %d = nn.relu(%c) : (1,9,7,16) f32\n"
    "  %e = nn.conv2d(%d, @w3) " CONV "  %y = tanh(%e) : (1,9,7,16) f32\n"
    "}\n";

static int count(const char *text, const char *what)
{
    int n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

START_TEST(equal_shapes_share_a_function)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct generated_case row = { .text = convolutions, .tolerance = 1e-4, .optimize_size = true };
    const char *c = generated_text(ctx, &row, ".c");

    ck_assert_msg(count(c, "void shared_conv_9x7x16(") == 1, "%s", c);
    ck_assert_int_eq(count(c, "    shared_conv_9x7x16("), 2);
    ck_assert_ptr_nonnull(strstr(c, "const float *restrict array1")); /* w1, w2: no common name */
    ck_assert_int_eq(count(c, "NOINLINE"), 4); /* the last one by itself, and the macro twice */
    ck_assert_int_eq(count(c, "array2"), 0);
    generated_check(&row);
    row.step = true;
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* For a CPU without vectors the lists of a tile are written out (codegen_c/text/macros.h). */
START_TEST(scalar_cores_have_no_lists)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct generated_case row = { .text = convolutions, .tolerance = 1e-4 };

    ck_assert_ptr_nonnull(strstr(generated_text(ctx, &row, ".c"), "EACH_PIXEL"));
    row.machine = machine_find(ctx, "cortex-m4");
    ck_assert_ptr_null(strstr(generated_text(ctx, &row, ".c"), "EACH_"));
    ck_assert_int_eq(count(generated_text(ctx, &row, ".c"), "#define"), 3); /* NOINLINE, restrict of C++ */
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* What nobody shares has the text that it has without the option. */
START_TEST(alone_it_keeps_its_arrays)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct generated_case row = { .text = "fn main(%x: (3,40) f32) -> (%y) {\n"
                                          "  const @w : (30,40) f32 = crc32:00000001\n"
                                          "  %a = nn.dense(%x, @w) : (3,30) f32\n"
                                          "  %y = nn.softmax(%a) {axis=1} : (3,30) f32\n"
                                          "}\n" };
    const char *alone = generated_text(ctx, &row, ".c");

    row.optimize_size = true;
    ck_assert_str_eq(generated_text(ctx, &row, ".c"), alone);
    ctx_free(ctx);
}
END_TEST

/* A constant read twice is one argument; then the function is another than where there are two. */
START_TEST(one_array_twice_is_another_function)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct generated_case row = { .text = "fn main(%x: (5,300) f32) -> (%y) {\n"
                                          "  const @v : (300) f32 = crc32:00000001\n"
                                          "  const @w : (300) f32 = crc32:00000002\n"
                                          "  %a = nn.softmax(%x) {axis=1} : (5,300) f32\n"
                                          "  %b = multiply(%a, @v) : (5,300) f32\n"
                                          "  %c = add(%b, @v) : (5,300) f32\n"
                                          "  %d = nn.softmax(%c) {axis=1} : (5,300) f32\n"
                                          "  %e = multiply(%d, @v) : (5,300) f32\n"
                                          "  %f = add(%e, @w) : (5,300) f32\n"
                                          "  %g = nn.softmax(%f) {axis=1} : (5,300) f32\n"
                                          "  %h = multiply(%g, @w) : (5,300) f32\n"
                                          "  %i = add(%h, @v) : (5,300) f32\n"
                                          "  %j = nn.softmax(%i) {axis=1} : (5,300) f32\n"
                                          "  %k = multiply(%j, @w) : (5,300) f32\n"
                                          "  %l = add(%k, @w) : (5,300) f32\n"
                                          "  %y = nn.softmax(%l) {axis=1} : (5,300) f32\n"
                                          "}\n",
                                  .tolerance = 1e-5,
                                  .optimize_size = true };
    const char *c = generated_text(ctx, &row, ".c");

    ck_assert_int_eq(count(c, "float *restrict array2"), 1);
    ck_assert_int_eq(count(c, "void region_"), 3);
    ck_assert_ptr_nonnull(strstr(c, ", net_v, net_w);"));
    ck_assert_ptr_nonnull(strstr(c, ", net_w, net_v);"));
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

#define CONV_1X1(y, x, w, h, wide, c)                                                              \
    "  %" y " = nn.conv2d(%" x ", @" w ") {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], "     \
    "groups=1, data_layout=\"NHWC\", kernel_layout=\"OIHW\"} : (1," h "," wide "," c ") f32\n"

/* Pointwise convolutions of three shapes, the last with another activation. */
static const char shapes[] =
    "fn main(%x: (1,9,7,16) f32) -> (%y) {\n"
    "  const @a.weight : (24,16,1,1) f32 = crc32:00000001\n"
    "  const @b.weight : (12,24,1,1) f32 = crc32:00000002\n"
    "  const @c.weight : (20,12,1,1) f32 = crc32:00000003\n"
    "  const @d.weight : (8,20,1,1) f32 = crc32:00000004\n" CONV_1X1("a", "x", "a.weight", "9", "7", "24") "  %b = nn.relu(%a) : (1,9,7,24) f32\n" CONV_1X1(
        "c", "b", "b.weight", "9",
        "7", "12") "  %d = nn.relu(%c) : (1,9,7,12) f32\n" CONV_1X1("e", "d", "c.weight", "9", "7",
                                                                    "20") "  %f = nn.relu(%e) : "
                                                                          "(1,9,7,20) "
                                                                          "f32\n" CONV_1X1("g", "f",
                                                                                           "d."
                                                                                           "weight",
                                                                                           "9", "7",
                                                                                           "8") "  "
                                                                                                "%y"
                                                                                                " ="
                                                                                                " t"
                                                                                                "an"
                                                                                                "h("
                                                                                                "%g"
                                                                                                ") "
                                                                                                ": "
                                                                                                "(1"
                                                                                                ",9"
                                                                                                ",7"
                                                                                                ",8"
                                                                                                ") "
                                                                                                "f3"
                                                                                                "2"
                                                                                                "\n"
                                                                                                "}"
                                                                                                "\n";

/* Regions that differ in their shape, too, share a function, which is given that. */
START_TEST(other_shapes_share_a_function)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct generated_case row = { .text = shapes, .tolerance = 1e-4, .optimize_size = true };
    const char *c;

    row.machine = machine_find(ctx, "cortex-m4");
    c = generated_text(ctx, &row, ".c");
    ck_assert_msg(count(c, "void shared_conv(const struct conv_shape *shape, ") == 1, "%s", c);
    ck_assert_int_eq(count(c, "static const struct conv_shape "), 3);
    ck_assert_int_eq(count(c, "    shared_conv(&"), 3);
    ck_assert_int_eq(count(c, "void region_"), 1); /* the tanh */
    ck_assert_ptr_nonnull(strstr(c, "y may overlap x: "));
    ck_assert_ptr_nonnull(strstr(c, "shape, const float *x, float *y,")); /* so no restrict */
    ck_assert_msg(strstr(c, "const float *restrict weight") != NULL, "%s", c);
    ck_assert_msg(strstr(c, "OUT_C = shape->out_c;") != NULL, "%s", c);
    ck_assert_ptr_null(strstr(c, "IN_H = shape->in_h;")); /* nothing reads it */
    generated_check(&row);
    row.step = true;
    generated_check(&row);
    row.machine = NULL;
    generated_check(&row);
    row.optimize_size = false;
    ck_assert_ptr_null(strstr(generated_text(ctx, &row, ".c"), "shape->"));
    ctx_free(ctx);
}
END_TEST

START_TEST(parts_of_a_shared_function)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct generated_case row = { .tolerance = 1e-5, .optimize_size = true, .parts = 3 };
    const char *c;

    row.text = "fn main(%x: (60,128) f32) -> (%y) {\n"
               "  const @w : (128,128) f32 = crc32:00000001\n"
               "  const @v : (128,128) f32 = crc32:00000002\n"
               "  %a = nn.dense(%x, @w) : (60,128) f32\n"
               "  %b = nn.softmax(%a) {axis=1} : (60,128) f32\n"
               "  %y = nn.dense(%b, @v) : (60,128) f32\n"
               "}\n";
    c = generated_text(ctx, &row, ".c");
    ck_assert_msg(count(c, "void shared_dense_tiles_60x128(") == 1 &&
                      strstr(c, "    const float *array1;\n"),
                  "%s", c);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* A weight that is computed is packed into scratch, of which there is as much as without the option,
 * although the region is configured twice. */
START_TEST(scratch_is_that_of_one_region)
{
    struct generated_case row = {
        .text = "fn main(%x: (1,9,7,16) f32, %w: (16,16,3,3) f32) -> (%y) {\n"
                "  %y = nn.conv2d(%x, %w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], "
                "groups=1, data_layout=\"NHWC\", kernel_layout=\"OIHW\"} : (1,7,5,16) f32\n}\n"
    };
    struct ctx *ctx = ctx_new("net.onnx");
    const char *alone = strstr(generated_text(ctx, &row, ".h"), "NET_ARENA_BYTES"), *shared;

    row.optimize_size = true;
    shared = strstr(generated_text(ctx, &row, ".h"), "NET_ARENA_BYTES");
    ck_assert(alone && shared);
    ck_assert_str_eq(arena_strndup(&ctx->perm, shared, strcspn(shared, "\n")),
                     arena_strndup(&ctx->perm, alone, strcspn(alone, "\n")));
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("share");
    TCase *tests = tcase_create("share");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, equal_shapes_share_a_function);
    tcase_add_test(tests, scalar_cores_have_no_lists);
    tcase_add_test(tests, scratch_is_that_of_one_region);
    tcase_add_test(tests, alone_it_keeps_its_arrays);
    tcase_add_test(tests, one_array_twice_is_another_function);
    tcase_add_test(tests, other_shapes_share_a_function);
    tcase_add_test(tests, parts_of_a_shared_function);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
