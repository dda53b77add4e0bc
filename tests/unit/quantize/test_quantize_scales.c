/* quantize_module: the scales of what is quantised, which values stay f32, and what is refused. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/quantize.h"
#include "quantize/steps.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/quantized_case.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static const char pooled[] = X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                 "  %p = nn.max_pool2d(%c) " POOL "\n"
                                 "  %y = nn.conv2d(%p, @w) " CONV "\n"
                                 "}\n";

/* --- scales ----------------------------------------------------------------------------------- */

static const struct node *find(const struct quantized_case *q, enum op op, int nth)
{
    const struct node *node = q->module->main->first;

    for (; node; node = node->next)
        if (node->op == op && nth-- == 0)
            break;
    ck_assert_ptr_nonnull(node);
    return node;
}

static double number(const struct value *value)
{
    const struct tensor tensor = value_tensor(value);

    return tensor_at(&tensor, 0);
}

START_TEST(fp8_scales_are_threshold_by_greatest)
{
    struct quantized_case q = quantized_case(quantized_two_convs, "fp8", true);

    q.options.simulate_only = true;
    quantized_run(&q);
    ck_assert_float_eq((float)number(find(&q, OP_QNN_QUANTIZE, 0)->inputs[1]), 6.0f / 448);
    quantized_end(&q);
}
END_TEST

START_TEST(integer_scales_cover_the_range_and_zero)
{
    struct quantized_case q = quantized_case(quantized_two_convs, "int8", true);
    const struct node *quantize;

    q.options.simulate_only = true;
    quantized_run(&q);
    quantize = find(&q, OP_QNN_QUANTIZE, 0);
    ck_assert_float_eq((float)number(quantize->inputs[1]), (float)(8.0 / 255));
    ck_assert_double_eq(number(quantize->inputs[2]), -64); /* -128 + 2 / (8 / 255), rounded */
    quantized_end(&q);
}
END_TEST

/* The maximum of codes is a code: one scale for what is pooled and the pool. */
START_TEST(moved_numbers_keep_their_scale)
{
    struct quantized_case q = quantized_case(pooled, "int8", true);

    q.table.at[1].max = 3; /* %c */
    q.table.at[1].thresholds[0].value = 3;
    quantized_run(&q);
    ck_assert_msg(q.ok, "%s", expect_text(q.ctx));
    ck_assert_str_eq(quantized_operators(&q),
                     "qnn.quantize qnn.conv2d qnn.requantize max_pool2d qnn.conv2d "
                     "qnn.requantize qnn.dequantize");
    ck_assert_float_eq((float)number(find(&q, OP_QNN_REQUANTIZE, 0)->inputs[3]), 5.0f / 255);
    quantized_end(&q);
}
END_TEST

#define PADDED(value, pool)                                                                        \
    X W "  %c = nn.conv2d(%x, @w) " CONV "\n"                                                      \
        "  %p = nn.pad(%c) {pad_before=[0,0,0,0], pad_after=[0,0,1,1], value=" value "}\n"         \
        "  %y = " pool "(%p) " POOL "\n}\n"

/* What lies below the range may saturate where the greatest is wanted; elsewhere it may not. */
static const struct {
    const char *text;
    bool keeps;
} paddings[] = {
    { PADDED("-3e38", "nn.max_pool2d"), true },
    { PADDED("0", "nn.avg_pool2d"), true },
    { PADDED("-3e38", "nn.avg_pool2d"), false },
    { PADDED("50", "nn.max_pool2d"), false },
};

START_TEST(a_pad_has_a_scale_of_its_own_where_its_number_counts)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, paddings[_i].text, QUANTIZED_SEED);
    const struct node *conv = module->main->first, *pad = conv->next;

    ck_assert_ptr_eq(data_scale_source(pad->outputs[0]),
                     paddings[_i].keeps ? conv->outputs[0] : pad->outputs[0]);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* What a caller gets as a state can be given in again as it is, whichever of both was measured to
 * be greater. */
START_TEST(a_state_has_one_scale_at_both_ends)
{
    struct quantized_case q = quantized_case(quantized_streaming, "int8", true);
    int n_states = 0;

    for (int i = 0; i < q.table.n; i++)
        if (strcmp(q.table.at[i].name, _i ? "s" : "n") == 0) { /* at the other end it is 6 */
            q.table.at[i].max = 20;
            q.table.at[i].thresholds[0].value = 20;
        }
    q.options.simulate_only = true;
    quantized_run(&q);
    ck_assert_msg(q.ok, "%s", expect_text(q.ctx));
    for (const struct node *node = q.module->main->first; node; node = node->next)
        if (node->op == OP_QNN_QUANTIZE &&
            (strcmp(node->inputs[0]->name, "s") == 0 || strcmp(node->inputs[0]->name, "n") == 0)) {
            ck_assert_int_eq(node->outputs[0]->type.dtype, DTYPE_I16);
            ck_assert_float_eq((float)number(node->inputs[1]), 20.0f / 32767);
            n_states++;
        }
    ck_assert_int_eq(n_states, 2);
    quantized_end(&q);
}
END_TEST

/* --- choices ---------------------------------------------------------------------------------- */

START_TEST(what_is_kept_stays_f32)
{
    static const char *const keep[] = { "y" };
    struct quantized_case q = quantized_case(quantized_two_convs, "fp8", false);

    q.options.keep = keep;
    q.options.n_keep = 1;
    quantized_run(&q);
    ck_assert_str_eq(quantized_operators(&q), "cast conv2d multiply bias_add relu conv2d");
    ck_assert_int_eq(q.report.n_products, 2);
    ck_assert_int_eq(q.report.n_quantized_products, 1);
    quantized_end(&q);
}
END_TEST

START_TEST(first_last_and_worst_are_kept)
{
    struct quantized_case q = quantized_case(quantized_two_convs, "fp8w", false);

    q.options.keep_first = true;
    quantized_run(&q);
    ck_assert_str_eq(quantized_operators(&q), "conv2d bias_add relu conv2d multiply");
    quantized_end(&q);
    q = quantized_case(quantized_two_convs, "fp8w", false);
    q.options.keep_last = true;
    quantized_run(&q);
    ck_assert_str_eq(quantized_operators(&q), "conv2d multiply bias_add relu conv2d");
    quantized_end(&q);
    q = quantized_case(quantized_two_convs, "fp8w", false);
    q.options.topk = 5;
    quantized_run(&q);
    ck_assert_str_eq(quantized_operators(&q), "conv2d bias_add relu conv2d");
    quantized_end(&q);
}
END_TEST

/* --- what cannot be --------------------------------------------------------------------------- */

static const char infinite[] =
    "fn main(%x: (1,2) f32)" RESULT "  const @w : (2,2) f32 = [1, inf, 2, 3]\n"
    "  const @v : (2,2) f32 = [nan, 1, 2, 3]\n"
    "  %c = nn.dense(%x, @w)\n"
    "  %y = nn.dense(%c, @v)\n"
    "}\n";

START_TEST(all_weights_that_are_not_finite_are_named)
{
    struct quantized_case q = quantized_case(infinite, "int8w", false);

    quantized_run(&q);
    ck_assert(!q.ok);
    ck_assert_int_eq(q.ctx->diags.n_errors, 2);
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "element 1 of the weight 'w' is infinite"));
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "element 0 of the weight 'v' is NaN"));
    quantized_end(&q);
}
END_TEST

START_TEST(integers_want_a_calibration)
{
    struct quantized_case q = quantized_case(quantized_two_convs, "int8", false);

    quantized_run(&q);
    ck_assert(!q.ok);
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "needs the range of 3 tensors: 'x', 'r'"));
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "--calib"));
    quantized_end(&q);
}
END_TEST

START_TEST(a_calibration_of_something_else_is_refused)
{
    struct quantized_case q = quantized_case(quantized_two_convs, "int8", true);

    q.table.at[3].name = "elsewhere"; /* %r */
    q.table.at[0].non_finite = 3;     /* %x */
    quantized_run(&q);
    ck_assert(!q.ok);
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "lacks data of 1 tensor: 'r'"));
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "infinities or NaN in 1 tensor: 'x'"));
    quantized_end(&q);
}
END_TEST

/* But for the batch, which changes no range; and a file may have been given another name. */
START_TEST(a_calibration_of_other_shapes_is_refused)
{
    struct quantized_case q = quantized_case(quantized_two_convs, "int8", true);

    for (int i = 0; i < q.table.n; i++)
        q.table.at[i].shape = "7x2x4x4";
    q.table.at[3].shape = "1x2x4x5"; /* %r */
    q.table.model = "another.onnx";
    q.ctx->diags.input_name = "folder/net.onnx";
    quantized_run(&q);
    ck_assert(!q.ok);
    ck_assert_int_eq(q.ctx->diags.n_errors, 1);
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "table is of 'another.onnx'"));
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "than the model: 'r' is (1,2,4,4) f32, "
                                                     "1x2x4x5 in the table"));
    quantized_end(&q);
}
END_TEST

START_TEST(names_that_no_node_has_are_refused)
{
    static const char *const keep[] = { "yy", "r", "nothing like it" };
    struct quantized_case q = quantized_case(quantized_two_convs, "fp8w", false);

    q.options.keep = keep;
    q.options.n_keep = 3;
    quantized_run(&q);
    ck_assert(!q.ok);
    ck_assert_int_eq(q.ctx->diags.n_errors, 2);
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "no node is called 'yy'"));
    ck_assert_ptr_nonnull(strstr(expect_text(q.ctx), "did you mean 'y'?"));
    quantized_end(&q);
}
END_TEST

START_TEST(a_tensor_of_zeros_has_a_scale)
{
    struct quantized_case q = quantized_case(quantized_two_convs, "int8", true);

    q.table.at[0].min = q.table.at[0].max = 0;
    q.table.at[0].thresholds[0].value = 0;
    quantized_run(&q);
    ck_assert_msg(q.ok, "%s", expect_text(q.ctx));
    ck_assert_double_eq(number(find(&q, OP_QNN_QUANTIZE, 0)->inputs[1]), 1);
    ck_assert_msg(expect_warning(q.ctx, DIAG_CALIB_TABLE, "1 tensor contained only zeros"), "%s",
                  expect_text(q.ctx));
    quantized_end(&q);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantize_scales");
    TCase *tcase = tcase_create("quantize_scales");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tcase, fp8_scales_are_threshold_by_greatest);
    tcase_add_test(tcase, integer_scales_cover_the_range_and_zero);
    tcase_add_test(tcase, moved_numbers_keep_their_scale);
    tcase_add_loop_test(tcase, a_pad_has_a_scale_of_its_own_where_its_number_counts, 0,
                        N_ROWS(paddings));
    tcase_add_loop_test(tcase, a_state_has_one_scale_at_both_ends, 0, 2);
    tcase_add_test(tcase, what_is_kept_stays_f32);
    tcase_add_test(tcase, first_last_and_worst_are_kept);
    tcase_add_test(tcase, all_weights_that_are_not_finite_are_named);
    tcase_add_test(tcase, integers_want_a_calibration);
    tcase_add_test(tcase, a_calibration_of_something_else_is_refused);
    tcase_add_test(tcase, a_calibration_of_other_shapes_is_refused);
    tcase_add_test(tcase, names_that_no_node_has_are_refused);
    tcase_add_test(tcase, a_tensor_of_zeros_has_a_scale);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
