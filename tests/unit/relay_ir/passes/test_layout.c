/* Operators whose input or output has the channels last: the same numbers as with the channels
 * first between transposes. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/layout.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

enum { SEED = 11 };

/* In attributes, $I and $O stand for the layouts of input and output, $A for the axis of channels.
 */
struct row {
    const char *op, *x, *constants, *operands, *attrs;
    int rank;
};

static const struct row rows[] = {
    { "nn.conv2d", "(2,6,5,4) f32", "const @w : (4,6,3,2) f32 = crc32:00000000\n", ", @w",
      "strides=[2,1], padding=[1,0,1,1], dilation=[1,2], groups=1, data_layout=\"$I\", "
      "out_layout=\"$O\"",
      4 },
    { "nn.conv2d", "(1,6,5,4) f32", "const @w : (6,3,3,3) f32 = crc32:00000000\n", ", @w",
      "padding=[1,1,1,1], groups=2, data_layout=\"$I\", out_layout=\"$O\"", 4 },
    { "nn.conv2d", "(1,6,5,4) f32", "const @w : (12,1,3,3) f32 = crc32:00000000\n", ", @w",
      "groups=6, data_layout=\"$I\", out_layout=\"$O\"", 4 },
    { "nn.conv2d", "(1,6,3,2) f32", "const @w : (5,6,3,2) f32 = crc32:00000000\n", ", @w",
      "groups=1, data_layout=\"$I\", out_layout=\"$O\"", 4 },
    { "nn.conv1d", "(2,3,7) f32", "const @w : (4,3,3) f32 = crc32:00000000\n", ", @w",
      "padding=[1,1], groups=1, data_layout=\"$I\", out_layout=\"$O\"", 3 },
    { "nn.conv3d", "(1,2,3,4,5) f32", "const @w : (3,2,2,1,3) f32 = crc32:00000000\n", ", @w",
      "padding=[1,0,0,0,0,1], groups=1, data_layout=\"$I\", out_layout=\"$O\"", 5 },
    { "nn.conv2d_transpose", "(2,4,3,2) f32", "const @w : (4,3,3,2) f32 = crc32:00000000\n", ", @w",
      "strides=[2,3], padding=[1,0,0,0], groups=1, data_layout=\"$I\"", 4 },
    { "nn.conv1d_transpose", "(1,4,5) f32", "const @w : (4,2,3) f32 = crc32:00000000\n", ", @w",
      "strides=[2], output_padding=[1], groups=2, data_layout=\"$I\"", 3 },
    { "nn.max_pool2d", "(2,3,5,6) f32", "", "",
      "pool_size=[2,3], strides=[2,2], padding=[1,1,0,1], ceil_mode=true, layout=\"$I\"", 4 },
    { "nn.avg_pool2d", "(2,3,5,6) f32", "", "",
      "pool_size=[3,2], strides=[1,2], padding=[1,1,1,0], count_include_pad=true, layout=\"$I\"",
      4 },
    { "nn.lp_pool1d", "(2,3,5) f32", "", "", "pool_size=[2], p=2, layout=\"$I\"", 3 },
    { "nn.global_avg_pool", "(2,3,5,6) f32", "", "", "layout=\"$I\"", 4 },
    { "nn.global_max_pool", "(2,3,2,3,2) f32", "", "", "layout=\"$I\"", 5 },
    { "nn.lrn", "(2,7,3,2) f32", "", "", "size=4, alpha=0.1, beta=0.75, bias=1, layout=\"$I\"", 4 },
    { "nn.depth_to_space", "(2,12,3,2) f32", "", "", "block_size=[2,2], layout=\"$I\"", 4 },
    { "nn.depth_to_space", "(2,12,3,2) f32", "", "",
      "block_size=[2,2], mode=\"CRD\", layout=\"$I\"", 4 },
    { "nn.space_to_depth", "(2,3,4,6) f32", "", "", "block_size=[2,2], layout=\"$I\"", 4 },
    { "nn.instance_norm", "(2,3,4,5) f32",
      "const @s : (3) f32 = crc32:00000000\nconst @b : (3) f32 = crc32:00000000\n", ", @s, @b",
      "axis=$A, epsilon=0.001", 4 },
    { "nn.group_norm", "(2,6,4) f32",
      "const @s : (6) f32 = crc32:00000000\nconst @b : (6) f32 = crc32:00000000\n", ", @s, @b",
      "axis=$A, groups=3, epsilon=0.001", 3 },
    { "qnn.conv2d", "(1,6,5,4) i8",
      "const @w : (4,3,3,2) i8 = crc32:00000000\nconst @z : () i8 = [3]\nconst @wz : () i8 = [0]\n",
      ", @w, @z, @wz", "padding=[1,1,1,1], groups=2, data_layout=\"$I\", out_layout=\"$O\"", 4 },
    { "qnn.conv2d", "(1,6,5,4) f8e4m3",
      "const @w : (4,3,3,2) f8e4m3 = crc32:00000000\nconst @z : () f8e4m3 = [0x00]\n",
      ", @w, @z, @z", "padding=[1,1,1,1], groups=2, data_layout=\"$I\", out_layout=\"$O\"", 4 },
    { "qnn.avg_pool2d", "(1,3,5,4) i8",
      "const @s : () f32 = [0.5]\nconst @z : () i8 = [3]\nconst @o : () f32 = [0.25]\n",
      ", @s, @z, @o, @z", "pool_size=[2,2], padding=[1,0,0,1], layout=\"$I\"", 4 },
};

static const char *layout_word(bool last, int rank)
{
    static const char *const words[][2] = { { "NCW", "NWC" },
                                            { "NCHW", "NHWC" },
                                            { "NCDHW", "NDHWC" } };

    return words[rank - 3][last];
}

static void add_attrs(struct str *text, const struct row *row, bool in_last, bool out_last)
{
    for (const char *at = row->attrs; *at; at++)
        if (at[0] == '$' && at[1] == 'A')
            str_printf(text, "%d", in_last ? row->rank - 1 : 1), at++;
        else if (at[0] == '$')
            str_add(text, layout_word(at[1] == 'I' ? in_last : out_last, row->rank)), at++;
        else
            str_printf(text, "%c", *at);
}

static void add_transpose(struct str *text, const char *to, const char *from, int rank,
                          bool to_last)
{
    str_printf(text, "  %%%s = transpose(%%%s) {axes=[0", to, from);
    for (int i = 1; i < rank; i++)
        str_printf(text, ",%d",
                   to_last ? (i == rank - 1 ? 1 : i + 1) : (i == 1 ? rank - 1 : i - 1));
    str_add(text, "]}\n");
}

static const char *text_of(struct ctx *ctx, const struct row *row, bool in_last, bool out_last)
{
    struct str text = { .arena = &ctx->perm };

    str_printf(&text, "fn main(%%x: %s) -> (%%y) {\n%s", row->x, row->constants);
    if (in_last)
        add_transpose(&text, "t", "x", row->rank, true);
    str_printf(&text, "  %%%s = %s(%%%s%s) {", out_last ? "u" : "y", row->op, in_last ? "t" : "x",
               row->operands);
    add_attrs(&text, row, in_last, out_last);
    str_add(&text, "}\n");
    if (out_last)
        add_transpose(&text, "y", "u", row->rank, false);
    str_add(&text, "}\n");
    return str_text(&text);
}

/* The result for random inputs, by the evaluators or with the sums of generated C. */
static struct tensor result_of(struct ctx *ctx, struct bulk *bulk, const char *text, bool sums)
{
    struct module *module = graph_parse(ctx, text, SEED);
    struct tensor *got =
        sums ? graph_run_simulated(module, SEED, bulk) : graph_run(module, SEED, bulk);

    ck_assert_msg(got, "%s\n%s", text, expect_text(ctx));
    got->type.quant = NULL; /* of the module */
    module_free(module);
    return *got;
}

static void check_row(const struct row *row, bool in_last, bool out_last)
{
    struct ctx *ctx = ctx_new(NULL);
    struct bulk bulk = { NULL, 0 };
    const char *text = text_of(ctx, row, in_last, out_last);
    const char *planar = text_of(ctx, row, false, false);
    struct tensor wanted = result_of(ctx, &bulk, planar, false);
    struct tensor got = result_of(ctx, &bulk, text, false);

    ck_assert_msg(tensor_equal(&got, &wanted), "%s", text);
    wanted = result_of(ctx, &bulk, planar, true);
    got = result_of(ctx, &bulk, text, true);
    ck_assert_msg(graph_difference(&got, &wanted, 1) < 2e-6, "%s", text);
    bulk_release(&bulk);
    ctx_free(ctx);
}

START_TEST(layouts_give_the_same_numbers)
{
    const struct row *row = &rows[_i];

    check_row(row, true, true);
    if (strstr(row->attrs, "$O")) {
        check_row(row, true, false);
        check_row(row, false, true);
    }
}
END_TEST

START_TEST(the_layout_of_the_output_is_that_of_the_input_unless_it_is_said)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module =
        graph_parse(ctx,
                    "fn main(%x: (1,4,5,3) f32) -> (%y, %g) {\n"
                    "  const @w : (2,3,1,1) f32 = crc32:00000000\n"
                    "  %y = nn.conv2d(%x, @w) {groups=1, data_layout=\"NHWC\"}\n"
                    "  %g = nn.global_max_pool(%x)\n"
                    "}\n",
                    SEED);
    const struct node *conv = module->main->first, *pool = conv->next;

    ck_assert_str_eq(conv->attrs.conv.out_layout, "NHWC");
    ck_assert_str_eq(pool->attrs.layout.layout, "NCHW");
    ck_assert_str_eq(node_layout(conv), "NHWC");
    ck_assert_str_eq(node_out_layout(pool), "NCHW");
    ck_assert_int_eq(conv->outputs[0]->type.dim[3], 2);
    ck_assert_int_eq(pool->outputs[0]->type.dim[1], 4);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layout");
    TCase *tcase = tcase_create("layout");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, layouts_give_the_same_numbers, 0, sizeof rows / sizeof *rows);
    tcase_add_test(tcase, the_layout_of_the_output_is_that_of_the_input_unless_it_is_said);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
