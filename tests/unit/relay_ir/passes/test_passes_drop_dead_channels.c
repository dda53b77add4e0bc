/* drop_dead_channels: which channels go, where what they hold goes, and what must stay. */
#include <check.h>
#include <stdlib.h>

#include "base/str.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/verify.h"
#include "tests/support/graph.h"

#define CONV(n, padding, groups)                                                                   \
    "{strides=[1,1], padding=[" padding "], dilation=[1,1], groups=" groups                        \
    ", data_layout=\"NCHW\", kernel_layout=\"OIHW\", out_dtype=i32} : (1," n ",1,1) i32\n"
#define CONSTANTS                                                                                  \
    "  const @xz : () i8 = [3]\n  const @wz : () i8 = [0]\n  const @z : () i32 = [0]\n"            \
    "  const @i : () f32 = [0.5]\n  const @o : () f32 = [1]\n"                                     \
    "  const @b : (8) i32 = [1, 2, 3, 4, 5, 6, 7, 8]\n"
#define READER                                                                                     \
    "  const @v : (1,8,1,1) i8 = [1, 1, 1, 2, 1, 1, 1, 10]\n  const @c : (1) i32 = [100]\n"
#define FIRST(weights)                                                                             \
    "fn main(%x: (1,1,1,1) i8) -> (%y) {\n" CONSTANTS READER                                       \
    "  const @w : (8,1,1,1) i8 = [" weights "]\n"                                                  \
    "  %s = qnn.conv2d(%x, @w, @xz, @wz) " CONV(                                                   \
        "8", "0,0,0,0",                                                                            \
        "1") "  %a = nn.bias_add(%s, @b) {axis=1} : (1,8,1,1) i32\n"                               \
             "  %r = qnn.requantize(%a, @i, @z, @o, @xz) {axis=0} : (1,8,1,1) i8\n"
#define LAST(x)                                                                                    \
    "  %t = qnn.conv2d(%" x ", @v, @xz, @wz) " CONV(                                               \
        "1", "0,0,0,0", "1") "  %y = nn.bias_add(%t, @c) {axis=1} : (1,1,1,1) i32\n}\n"

static const struct {
    const char *before;
    const char *channels; /* of the nodes that are left */
    int bias;             /* of the reader */
} rows[] = {
    /* channels 1, 3, 4 and 7 hold 3 + (2, 4, 5, 8) / 2, ties away from 0: 1, 2, 3 and 4 beside the zero point */
    { FIRST("3, 0, 1, 0, 0, -2, 5, 0") LAST("r"), "4 4 4 1 1",
      100 + 1 * 1 + 2 * 2 + 1 * 3 + 10 * 4 },
    /* a multiple of four stays: the last of what is dead */
    { FIRST("3, 0, 1, 9, 0, -2, 5, 0") LAST("r"), "8 8 8 1 1", 100 },
    { FIRST("0, 0, 0, 0, 0, -2, 5, 0") LAST("r"), "4 4 4 1 1", 100 + 1 + 1 * 1 + 1 * 2 + 2 * 2 },
    /* none */
    { FIRST("3, 1, 1, 1, 1, -2, 5, 1") LAST("r"), "8 8 8 1 1", 100 },
    /* through bounds and a depthwise convolution */
    { FIRST("3, 0, 1, 0, 0, -2, 5, 0") "  const @d : (8,1,1,1) i8 = [1, 2, 1, 1, 1, 1, 1, 1]\n"
                                       "  %k = clip(%r) {a_min=3, a_max=5} : (1,8,1,1) i8\n"
                                       "  %e = qnn.conv2d(%k, @d, @xz, @wz) " CONV(
                                           "8", "0,0,0,0",
                                           "8") "  %f = nn.bias_add(%e, @b) {axis=1} : (1,8,1,1) "
                                                "i32\n"
                                                "  %g = qnn.requantize(%f, @o, @z, @o, @xz) "
                                                "{axis=0} : (1,8,1,1) i8\n" LAST("g"),
      "4 4 4 4 4 4 4 1 1", 100 + (2 * 1 + 2) + 2 * (2 + 4) + (2 + 5) + 10 * (2 + 8) },
    /* another reader */
    { FIRST("3, 0, 1, 0, 0, -2, 5, 0") "  %p = qnn.conv2d(%r, @v, @xz, @wz) " CONV(
          "1", "0,0,0,0",
          "1") "  %t = qnn.conv2d(%r, @v, @xz, @wz) " CONV("1", "0,0,0,0",
                                                           "1") "  %q = add(%p, %t) : (1,1,1,1) "
                                                                "i32\n  %y = nn.bias_add(%q, @c) "
                                                                "{axis=1} : (1,1,1,1) i32\n}\n",
      "8 8 8 1 1 1 1", 100 },
    /* the reader's padding is the zero point, which no dead channel holds */
    { FIRST("3, 0, 1, 0, 0, -2, 5, 0") "  %t = qnn.conv2d(%r, @v, @xz, @wz) {strides=[3,3], "
                                       "padding=[1,1,1,1], dilation=[1,1], "
                                       "groups=1, data_layout=\"NCHW\", kernel_layout=\"OIHW\", "
                                       "out_dtype=i32} : (1,1,1,1) i32\n"
                                       "  %y = nn.bias_add(%t, @c) {axis=1} : (1,1,1,1) i32\n}\n",
      "8 8 8 1 1", 100 },
};

START_TEST(dead_channels_go_into_biases)
{
    struct ctx *ctx = ctx_new("dead");
    struct module *module = graph_parse(ctx, rows[_i].before, 1);
    const struct value *bias;
    struct str channels = { .arena = &ctx->perm };

    ck_assert(pipeline_run_one(module, "drop_dead_channels"));
    ck_assert(module_verify(module, "drop_dead_channels"));
    for (const struct node *node = module->main->first; node; node = node->next)
        str_printf(&channels, "%s%lld", node->prev ? " " : "",
                   (long long)node->outputs[0]->type.dim[1]);
    ck_assert_str_eq(str_text(&channels), rows[_i].channels);
    bias = module->main->last->inputs[1];
    ck_assert_int_eq(*(const int32_t *)bias->data, rows[_i].bias);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("drop_dead_channels");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, dead_channels_go_into_biases, 0, (int)(sizeof rows / sizeof *rows));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
