#include <check.h>
#include <stdlib.h>

#include "tests/support/pass_case.h"

static const struct pass_case rows[] = {
    /* zeros around the image */
    { "pad_into_conv",
      "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"
      "  const @w : (4,2,3,3) f32 = crc32:00000000\n"
      "  %p = nn.pad(%x) {pad_before=[0,0,1,0], pad_after=[0,0,1,2], mode=\"constant\", "
      "value=0} : (1,2,5,5) f32 from Pad \"p\" #0\n"
      "  %y = nn.conv2d(%p, @w) " CONV_PADDED " : (1,4,5,5) f32 from Conv \"c\" #1\n"
      "}\n",
      "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"
      "  const @w : (4,2,3,3) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) {strides=[1,1], padding=[2,1,2,3], dilation=[1,1], groups=1, "
      "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : (1,4,5,5) f32  from Pad \"p\" #0 + Conv "
      "\"c\" #1\n"
      "}\n" },

    /* of a network with the channels last */
    { "pad_behind_transpose",
      "fn main(%x: (1,3,3,2) f32) -> (%y) {\n"
      "  %p = nn.pad(%x) {pad_before=[0,0,1,0], pad_after=[0,2,1,0], mode=\"constant\", "
      "value=0} : (1,5,5,2) f32\n"
      "  %y = transpose(%p) {axes=[0,3,1,2]} : (1,2,5,5) f32\n"
      "}\n",
      "fn main(%x: (1,3,3,2) f32) -> (%y) {\n"
      "  %y.transpose = transpose(%x) {axes=[0,3,1,2]} : (1,2,3,3) f32\n"
      "  %y = nn.pad(%y.transpose) {pad_before=[0,0,0,1], pad_after=[0,0,2,1], "
      "mode=\"constant\", value=0} : (1,2,5,5) f32\n"
      "}\n" },

    /* somebody else reads what is padded */
    { "pad_behind_transpose",
      "fn main(%x: (1,3,3,2) f32) -> (%y, %p) {\n"
      "  %p = nn.pad(%x) {pad_before=[0,0,1,0], pad_after=[0,2,1,0], mode=\"constant\", "
      "value=0} : (1,5,5,2) f32\n"
      "  %y = transpose(%p) {axes=[0,3,1,2]} : (1,2,5,5) f32\n"
      "}\n",
      NULL },

    /* causal, over time */
    { "pad_behind_reshape",
      "fn main(%x: (1,2,5) f32) -> (%y) {\n"
      "  %p = nn.pad(%x) {pad_before=[0,0,2], pad_after=[0,0,0], mode=\"constant\", "
      "value=0} : (1,2,7) f32\n"
      "  %y = reshape(%p) {shape=[1,2,1,7]} : (1,2,1,7) f32\n"
      "}\n",
      "fn main(%x: (1,2,5) f32) -> (%y) {\n"
      "  %y.reshape = reshape(%x) {shape=[1,2,1,5]} : (1,2,1,5) f32\n"
      "  %y = nn.pad(%y.reshape) {pad_before=[0,0,0,2], pad_after=[0,0,0,0], "
      "mode=\"constant\", value=0} : (1,2,1,7) f32\n"
      "}\n" },

    /* the dims are others */
    { "pad_behind_reshape",
      "fn main(%x: (1,2,5) f32) -> (%y) {\n"
      "  %p = nn.pad(%x) {pad_before=[0,0,2], pad_after=[0,0,1], mode=\"constant\", "
      "value=0} : (1,2,8) f32\n"
      "  %y = reshape(%p) {shape=[1,2,2,4]} : (1,2,2,4) f32\n"
      "}\n",
      NULL },

    /* another number */
    { "pad_into_conv",
      "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"
      "  const @w : (4,2,3,3) f32 = crc32:00000000\n"
      "  %p = nn.pad(%x) {pad_before=[0,0,1,1], pad_after=[0,0,1,1], mode=\"constant\", "
      "value=1} : (1,2,5,5) f32\n"
      "  %y = nn.conv2d(%p, @w) " CONV " : (1,4,3,3) f32\n"
      "}\n",
      NULL },

    /* channels, too */
    { "pad_into_conv",
      "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"
      "  const @w : (4,3,3,3) f32 = crc32:00000000\n"
      "  %p = nn.pad(%x) {pad_before=[0,1,1,1], pad_after=[0,0,1,1], mode=\"constant\", "
      "value=0} : (1,3,5,5) f32\n"
      "  %y = nn.conv2d(%p, @w) " CONV " : (1,4,3,3) f32\n"
      "}\n",
      NULL },

    /* mirrored */
    { "pad_into_conv",
      "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"
      "  const @w : (4,2,3,3) f32 = crc32:00000000\n"
      "  %p = nn.pad(%x) {pad_before=[0,0,1,1], pad_after=[0,0,1,1], mode=\"reflect\", "
      "value=0} : (1,2,5,5) f32\n"
      "  %y = nn.conv2d(%p, @w) " CONV " : (1,4,3,3) f32\n"
      "}\n",
      NULL },

    /* outer taps in the padding wherever the middle one is: 1x1 */
    { "cut_kernel",
      "fn main(%x: (1,2,4,5) f32) -> (%y) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) {strides=[1,1], padding=[6,6,6,6], dilation=[6,6], groups=1, " NCHW
      " : (1,3,4,5) f32 from Conv #0\n"
      "}\n",
      "fn main(%x: (1,2,4,5) f32) -> (%y) {\n"
      "  const @w : (3,2,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,3,4,5) f32  from Conv #0\n"
      "}\n" },

    /* in one direction, on one side, with strides: the last row reads what is behind */
    { "cut_kernel",
      "fn main(%x: (2,4,2,7) f32) -> (%y) {\n"
      "  const @w : (4,2,3,3) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) {strides=[2,2], padding=[1,1,1,1], dilation=[1,1], groups=2, " NCHW
      " : (2,4,1,4) f32\n"
      "}\n",
      "fn main(%x: (2,4,2,7) f32) -> (%y) {\n"
      "  const @w : (4,2,2,3) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) {strides=[2,2], padding=[0,1,0,1], dilation=[1,1], groups=2, " NCHW
      " : (2,4,1,4) f32\n"
      "}\n" },

    /* every tap lies over x somewhere */
    { "cut_kernel",
      "fn main(%x: (1,2,7) f32) -> (%y) {\n"
      "  const @w : (2,2,3) f32 = crc32:00000000\n"
      "  %y = nn.conv1d(%x, @w) {strides=[1], padding=[6,6], dilation=[6], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,7) f32\n"
      "}\n",
      NULL },

    /* none of them does */
    { "cut_kernel",
      "fn main(%x: (1,2,1) f32) -> (%y) {\n"
      "  const @w : (2,2,2) f32 = crc32:00000000\n"
      "  %y = nn.conv1d(%x, @w) {strides=[1], padding=[1,1], dilation=[2], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,1) f32\n"
      "}\n",
      NULL },

    /* padded on both sides, and cut off behind */
    { "slice_into_conv",
      "fn main(%x: (1,2,6) f32) -> (%y) {\n"
      "  const @w : (2,2,3) f32 = crc32:00000000\n"
      "  const @b : (2) f32 = crc32:00000000\n"
      "  %c = nn.conv1d(%x, @w) {strides=[1], padding=[4,4], dilation=[2], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,10) f32 from Conv #0\n"
      "  %d = nn.bias_add(%c, @b) {axis=1} : (1,2,10) f32 from Conv #0\n"
      "  %y = strided_slice(%d) {begin=[0,0,0], strides=[1,1,1], size=[1,2,6]} : (1,2,6) f32 from "
      "Slice #1\n"
      "}\n",
      "fn main(%x: (1,2,6) f32) -> (%y) {\n"
      "  const @w : (2,2,3) f32 = crc32:00000000\n"
      "  const @b : (2) f32 = crc32:00000000\n"
      "  %y.conv1d = nn.conv1d(%x, @w) {strides=[1], padding=[4,0], dilation=[2], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,6) f32  from Conv #0 + Slice #1\n"
      "  %y = nn.bias_add(%y.conv1d, @b) {axis=1} : (1,2,6) f32  from Conv #0 + Slice #1\n"
      "}\n" },

    /* with strides, on both sides; one row of x is under no window, before and behind */
    { "slice_into_conv",
      "fn main(%x: (1,2,6,5) f32) -> (%y) {\n"
      "  const @w : (2,2,3,3) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {strides=[2,2], padding=[2,2,1,2], dilation=[1,1], groups=1, " NCHW
      " : (1,2,4,4) f32\n"
      "  %y = strided_slice(%c) {begin=[0,0,1,1], strides=[1,1,1,1], size=[1,2,2,2]} : (1,2,2,2) "
      "f32\n"
      "}\n",
      "fn main(%x: (1,2,6,5) f32) -> (%y) {\n"
      "  const @w : (2,2,3,3) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) {strides=[2,2], padding=[0,0,0,0], dilation=[1,1], groups=1, " NCHW
      " : (1,2,2,2) f32\n"
      "}\n" },

    /* more than padding is cut off */
    { "slice_into_conv",
      "fn main(%x: (1,2,6) f32) -> (%y) {\n"
      "  const @w : (2,2,3) f32 = crc32:00000000\n"
      "  %c = nn.conv1d(%x, @w) {strides=[1], padding=[1,1], dilation=[1], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,6) f32\n"
      "  %y = strided_slice(%c) {begin=[0,0,2], strides=[1,1,1], size=[1,2,4]} : (1,2,4) f32\n"
      "}\n",
      NULL },

    /* channels are cut off */
    { "slice_into_conv",
      "fn main(%x: (1,2,6) f32) -> (%y) {\n"
      "  const @w : (2,2,3) f32 = crc32:00000000\n"
      "  %c = nn.conv1d(%x, @w) {strides=[1], padding=[1,1], dilation=[1], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,6) f32\n"
      "  %y = strided_slice(%c) {begin=[0,1,0], strides=[1,1,1], size=[1,1,6]} : (1,1,6) f32\n"
      "}\n",
      NULL },

    /* what is cut off has another reader */
    { "slice_into_conv",
      "fn main(%x: (1,2,6) f32) -> (%y, %c) {\n"
      "  const @w : (2,2,3) f32 = crc32:00000000\n"
      "  %c = nn.conv1d(%x, @w) {strides=[1], padding=[2,2], dilation=[1], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,8) f32\n"
      "  %y = strided_slice(%c) {begin=[0,0,0], strides=[1,1,1], size=[1,2,6]} : (1,2,6) f32\n"
      "}\n",
      NULL },

    /* of integers: the zero point */
    { "pad_into_qnn_conv",
      "fn main(%x: (1,1,3,3) i8) -> (%y) {\n"
      "  const @w : (1,1,2,2) i8 = [1, 2, 3, -4]\n"
      "  const @z : () i8 = [5]\n"
      "  const @wz : () i8 = [0]\n"
      "  %p = nn.pad(%x) {pad_before=[0,0,1,0], pad_after=[0,0,0,1], mode=\"constant\", value=5}\n"
      "  %y = qnn.conv2d(%p, @w, @z, @wz) {groups=1}\n"
      "}\n",
      "fn main(%x: (1,1,3,3) i8) -> (%y) {\n"
      "  const @w : (1,1,2,2) i8 = [1, 2, 3, -4]\n"
      "  const @z : () i8 = [5]\n"
      "  const @wz : () i8 = [0]\n"
      "  %y = qnn.conv2d(%x, @w, @z, @wz) {padding=[1,0,0,1], groups=1}\n"
      "}\n" },

    /* another number than the zero point */
    { "pad_into_qnn_conv",
      "fn main(%x: (1,1,3,3) i8) -> (%y) {\n"
      "  const @w : (1,1,2,2) i8 = [1, 2, 3, -4]\n"
      "  const @z : () i8 = [5]\n"
      "  const @wz : () i8 = [0]\n"
      "  %p = nn.pad(%x) {pad_before=[0,0,1,0], pad_after=[0,0,0,1], mode=\"constant\", value=0}\n"
      "  %y = qnn.conv2d(%p, @w, @z, @wz) {groups=1}\n"
      "}\n",
      NULL },

    /* no padding of its own */
    { "pad_into_average_pool",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  %p = nn.pad(%x) {pad_before=[0,0,1,1], pad_after=[0,0,1,1], mode=\"constant\", "
      "value=0} : (1,2,6,6) f32\n"
      "  %y = nn.avg_pool2d(%p) {pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,2,3,3) f32\n"
      "}\n",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  %y = nn.avg_pool2d(%x) {pool_size=[2,2], strides=[2,2], padding=[1,1,1,1], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=true, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,2,3,3) f32\n"
      "}\n" },

    /* its own padding is not counted */
    { "pad_into_average_pool",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  %p = nn.pad(%x) {pad_before=[0,0,1,1], pad_after=[0,0,1,1], mode=\"constant\", "
      "value=0} : (1,2,6,6) f32\n"
      "  %y = nn.avg_pool2d(%p) {pool_size=[3,3], strides=[2,2], padding=[1,1,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,2,3,3) f32\n"
      "}\n",
      NULL },

    /* behind relu */
    { "pad_into_max_pool",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  %r = nn.relu(%x) : (1,2,4,4) f32\n"
      "  %p = nn.pad(%r) {pad_before=[0,0,1,1], pad_after=[0,0,1,1], mode=\"constant\", "
      "value=0} : (1,2,6,6) f32\n"
      "  %y = nn.max_pool2d(%p) {pool_size=[3,3], strides=[2,2], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,2,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  %r = nn.relu(%x) : (1,2,4,4) f32\n"
      "  %y = nn.max_pool2d(%r) {pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,2,2,2) f32\n"
      "}\n" },

    /* numbers may be negative */
    { "pad_into_max_pool",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  %p = nn.pad(%x) {pad_before=[0,0,1,1], pad_after=[0,0,1,1], mode=\"constant\", "
      "value=0} : (1,2,6,6) f32\n"
      "  %y = nn.max_pool2d(%p) {pool_size=[3,3], strides=[2,2], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,2,2,2) f32\n"
      "}\n",
      NULL },

    /* windows of nothing but padding */
    { "pad_into_max_pool",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  %r = nn.relu(%x) : (1,2,4,4) f32\n"
      "  %p = nn.pad(%r) {pad_before=[0,0,1,1], pad_after=[0,0,1,1], mode=\"constant\", "
      "value=0} : (1,2,6,6) f32\n"
      "  %y = nn.max_pool2d(%p) {pool_size=[1,1], strides=[1,1], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,2,6,6) f32\n"
      "}\n",
      NULL },

    /* mean over the image */
    { "reduction_to_global_pool",
      "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"
      "  %y = mean(%x) {axis=[2,3], keepdims=true} : (1,2,1,1) f32\n"
      "}\n",
      "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"
      "  %y = nn.global_avg_pool(%x) : (1,2,1,1) f32\n"
      "}\n" },

    /* max, dims not kept */
    { "reduction_to_global_pool",
      "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"
      "  %y = max(%x) {axis=[3,2], keepdims=false} : (1,2) f32\n"
      "}\n",
      "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"
      "  %y.global_max_pool = nn.global_max_pool(%x) : (1,2,1,1) f32\n"
      "  %y = reshape(%y.global_max_pool) {shape=[1,2]} : (1,2) f32\n"
      "}\n" },

    /* over the channels */
    { "reduction_to_global_pool",
      "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"
      "  %y = mean(%x) {axis=[1,2], keepdims=true} : (1,1,1,3) f32\n"
      "}\n",
      NULL },

    /* one window */
    { "pool_to_global_pool",
      "fn main(%x: (1,2,4,3) f32) -> (%a, %m) {\n"
      "  %a = nn.avg_pool2d(%x) {pool_size=[4,3], strides=[4,3], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,2,1,1) f32\n"
      "  %m = nn.max_pool2d(%x) {pool_size=[4,3], strides=[1,1], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,2,1,1) f32\n"
      "}\n",
      "fn main(%x: (1,2,4,3) f32) -> (%a, %m) {\n"
      "  %a = nn.global_avg_pool(%x) : (1,2,1,1) f32\n"
      "  %m = nn.global_max_pool(%x) : (1,2,1,1) f32\n"
      "}\n" },

    /* a window and a half */
    { "pool_to_global_pool",
      "fn main(%x: (1,2,4,4) f32) -> (%a) {\n"
      "  %a = nn.avg_pool2d(%x) {pool_size=[3,3], strides=[3,3], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,2,1,1) f32\n"
      "}\n",
      NULL },

    /* there are no global pools of integers */
    { "pool_to_global_pool",
      "fn main(%x: (1,2,4,3) i8) -> (%m) {\n"
      "  %m = nn.max_pool2d(%x) {pool_size=[4,3], strides=[1,1], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,2,1,1) i8\n"
      "}\n",
      NULL },
};

START_TEST(padding_and_pooling_become_simple)
{
    pass_case_check("canonicalize", &rows[_i]);
}
END_TEST

START_TEST(every_rule_has_a_row)
{
    int n;
    const struct rule *rules = canonicalize_rules(&n);

    pass_case_coverage(rules, n, "pad_behind_transpose", "pool_to_global_pool", rows, N_ROWS(rows));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("canonicalize");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, padding_and_pooling_become_simple, 0, N_ROWS(rows));
    tcase_add_test(tests, every_rule_has_a_row);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
