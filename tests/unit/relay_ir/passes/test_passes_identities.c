#include <check.h>
#include <stdlib.h>

#include "tests/support/pass_case.h"

static const struct pass_case rows[] = {
    /* squeeze and expand_dims, which merge */
    { "view_to_reshape",
      "fn main(%x: (2,1,3) f32) -> (%z) {\n"
      "  %y = squeeze(%x) {axes=[1]} : (2,3) f32 from Squeeze \"s\" #0\n"
      "  %z = expand_dims(%y) {axes=[0]} : (1,2,3) f32 from Unsqueeze \"u\" #1\n"
      "}\n",
      "fn main(%x: (2,1,3) f32) -> (%z) {\n"
      "  %z = reshape(%x) {shape=[1,2,3]} : (1,2,3) f32  from Squeeze \"s\" #0 + Unsqueeze "
      "\"u\" #1\n"
      "}\n" },

    /* the first one still has a reader */
    { "merge_reshapes",
      "fn main(%x: (2,6) f32) -> (%z, %y) {\n"
      "  %y = reshape(%x) {shape=[3,4]} : (3,4) f32\n"
      "  %z = reshape(%y) {shape=[12]} : (12) f32\n"
      "}\n",
      "fn main(%x: (2,6) f32) -> (%z, %y) {\n"
      "  %y = reshape(%x) {shape=[3,4]} : (3,4) f32\n"
      "  %z = reshape(%x) {shape=[12]} : (12) f32\n"
      "}\n" },

    /* to the shape it has */
    { "drop_reshape",
      "fn main(%x: (2,6) f32) -> (%z) {\n"
      "  %y = reshape(%x) {shape=[2,6]} : (2,6) f32\n"
      "  %z = nn.relu(%y) : (2,6) f32\n"
      "}\n",
      "fn main(%x: (2,6) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (2,6) f32\n"
      "}\n" },

    /* only a dim of 1 moves */
    { "drop_transpose",
      "fn main(%x: (2,1,3) f32) -> (%y) {\n"
      "  %y = transpose(%x) {axes=[1,0,2]} : (1,2,3) f32\n"
      "}\n",
      "fn main(%x: (2,1,3) f32) -> (%y) {\n"
      "  %y = reshape(%x) {shape=[1,2,3]} : (1,2,3) f32\n"
      "}\n" },

    /* the identity */
    { "drop_transpose",
      "fn main(%x: (2,2,3) f32) -> (%z) {\n"
      "  %y = transpose(%x) {axes=[0,1,2]} : (2,2,3) f32\n"
      "  %z = exp(%y) : (2,2,3) f32\n"
      "}\n",
      "fn main(%x: (2,2,3) f32) -> (%z) {\n"
      "  %z = exp(%x) : (2,2,3) f32\n"
      "}\n" },

    /* rows, and then columns of these, the last ones first */
    { "merge_slices",
      "fn main(%x: (9,8) f32) -> (%z, %w) {\n"
      "  %y = strided_slice(%x) {begin=[1,0], strides=[2,1], size=[4,8]} : (4,8) f32 from Slice "
      "\"a\" #0\n"
      "  %z = strided_slice(%y) {begin=[0,7], strides=[1,-2], size=[4,4]} : (4,4) f32 from Slice "
      "\"b\" #1\n"
      "  %w = strided_slice(%y) {begin=[3,0], strides=[1,2], size=[1,4]} : (1,4) f32 from Slice "
      "\"c\" #2\n"
      "}\n",
      "fn main(%x: (9,8) f32) -> (%z, %w) {\n"
      "  %z = strided_slice(%x) {begin=[1,7], strides=[2,-2], size=[4,4]} : (4,4) f32  from Slice "
      "\"a\" #0 + "
      "Slice \"b\" #1\n"
      "  %w = strided_slice(%x) {begin=[7,0], strides=[1,2], size=[1,4]} : (1,4) f32  from Slice "
      "\"a\" #0 + "
      "Slice \"c\" #2\n"
      "}\n" },

    /* what others read, or all together more than there is, is sliced once */
    { "merge_slices",
      "fn main(%x: (9,8) f32) -> (%z, %y) {\n"
      "  %y = strided_slice(%x) {begin=[1,0], strides=[2,1], size=[4,8]} : (4,8) f32\n"
      "  %z = strided_slice(%y) {begin=[0,0], strides=[1,2], size=[4,4]} : (4,4) f32\n"
      "}\n",
      NULL },
    { "merge_slices",
      "fn main(%x: (9,8) f32) -> (%z, %w) {\n"
      "  %y = strided_slice(%x) {begin=[1,0], strides=[2,1], size=[4,8]} : (4,8) f32\n"
      "  %z = strided_slice(%y) {begin=[0,0], strides=[1,1], size=[4,6]} : (4,6) f32\n"
      "  %w = strided_slice(%y) {begin=[0,2], strides=[1,1], size=[4,6]} : (4,6) f32\n"
      "}\n",
      NULL },

    /* real work stays */
    { "drop_transpose",
      "fn main(%x: (2,2,3) f32) -> (%y) {\n"
      "  %y = transpose(%x) {axes=[1,0,2]} : (2,2,3) f32\n"
      "}\n",
      NULL },

    /* two that are one */
    { "merge_transposes",
      "fn main(%x: (2,3,4) f32) -> (%z) {\n"
      "  %y = transpose(%x) {axes=[2,0,1]} : (4,2,3) f32 from Transpose \"a\" #0\n"
      "  %z = transpose(%y) {axes=[2,0,1]} : (3,4,2) f32 from Transpose \"b\" #1\n"
      "}\n",
      "fn main(%x: (2,3,4) f32) -> (%z) {\n"
      "  %z = transpose(%x) {axes=[1,2,0]} : (3,4,2) f32  from Transpose \"a\" #0 + Transpose "
      "\"b\" #1\n"
      "}\n" },

    /* two that are none */
    { "merge_transposes",
      "fn main(%x: (2,3,4) f32) -> (%r) {\n"
      "  %y = transpose(%x) {axes=[2,0,1]} : (4,2,3) f32\n"
      "  %z = transpose(%y) {axes=[1,2,0]} : (2,3,4) f32\n"
      "  %r = exp(%z) : (2,3,4) f32\n"
      "}\n",
      "fn main(%x: (2,3,4) f32) -> (%r) {\n"
      "  %r = exp(%x) : (2,3,4) f32\n"
      "}\n" },

    /* along the last axis, when it is turned */
    { "softmax_behind_transpose",
      "fn main(%x: (2,3,4) f32) -> (%z) {\n"
      "  %y = nn.softmax(%x) {axis=1} : (2,3,4) f32\n"
      "  %z = transpose(%y) {axes=[0,2,1]} : (2,4,3) f32\n"
      "}\n",
      "fn main(%x: (2,3,4) f32) -> (%z) {\n"
      "  %z.transpose = transpose(%x) {axes=[0,2,1]} : (2,4,3) f32\n"
      "  %z = nn.softmax(%z.transpose) {axis=2} : (2,4,3) f32\n"
      "}\n" },

    /* the same, with a dim more in between */
    { "softmax_behind_transpose",
      "fn main(%x: (2,3,4) f32) -> (%z) {\n"
      "  %y = nn.log_softmax(%x) {axis=1} : (2,3,4) f32\n"
      "  %v = reshape(%y) {shape=[2,1,3,4]} : (2,1,3,4) f32\n"
      "  %z = transpose(%v) {axes=[0,3,1,2]} : (2,4,1,3) f32\n"
      "}\n",
      "fn main(%x: (2,3,4) f32) -> (%z) {\n"
      "  %z.reshape = reshape(%x) {shape=[2,1,3,4]} : (2,1,3,4) f32\n"
      "  %z.transpose = transpose(%z.reshape) {axes=[0,3,1,2]} : (2,4,1,3) f32\n"
      "  %z = nn.log_softmax(%z.transpose) {axis=3} : (2,4,1,3) f32\n"
      "}\n" },

    /* along the last axis as it is */
    { "softmax_behind_transpose",
      "fn main(%x: (2,3,4) f32) -> (%z) {\n"
      "  %y = nn.softmax(%x) {axis=2} : (2,3,4) f32\n"
      "  %z = transpose(%y) {axes=[0,2,1]} : (2,4,3) f32\n"
      "}\n",
      NULL },

    /* a copy in the middle */
    { "drop_copy",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %y = copy(%x) : (2) f32\n"
      "  %z = nn.relu(%y) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (2) f32\n"
      "}\n" },

    /* to the type it has */
    { "drop_cast",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %y = cast(%x) {dtype=f32, saturate=true} : (2) f32\n"
      "  %z = nn.relu(%y) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (2) f32\n"
      "}\n" },

    /* to another type */
    { "drop_cast",
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  %y = cast(%x) {dtype=f64, saturate=true} : (2) f64\n"
      "}\n",
      NULL },

    /* the whole */
    { "drop_slice",
      "fn main(%x: (4,2) f32) -> (%z) {\n"
      "  %y = strided_slice(%x) {begin=[0,0], strides=[1,1], size=[4,2]} : (4,2) f32\n"
      "  %z = nn.relu(%y) : (4,2) f32\n"
      "}\n",
      "fn main(%x: (4,2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (4,2) f32\n"
      "}\n" },

    /* backwards, with the same shape */
    { "drop_slice",
      "fn main(%x: (4,2) f32) -> (%y) {\n"
      "  %y = strided_slice(%x) {begin=[3,0], strides=[-1,1], size=[4,2]} : (4,2) f32\n"
      "}\n",
      NULL },

    /* nothing */
    { "drop_pad",
      "fn main(%x: (4,2) f32) -> (%z) {\n"
      "  %y = nn.pad(%x) {pad_before=[0,0], pad_after=[0,0], mode=\"constant\", value=0} : "
      "(4,2) f32\n"
      "  %z = nn.relu(%y) : (4,2) f32\n"
      "}\n",
      "fn main(%x: (4,2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (4,2) f32\n"
      "}\n" },

    /* as much cut off as put on */
    { "drop_pad",
      "fn main(%x: (4,2) f32) -> (%y) {\n"
      "  %y = nn.pad(%x) {pad_before=[1,0], pad_after=[-1,0], mode=\"constant\", value=0} : "
      "(4,2) f32\n"
      "}\n",
      NULL },

    /* of one */
    { "drop_concatenate",
      "fn main(%x: (4,2) f32) -> (%z) {\n"
      "  %y = concatenate(%x) {axis=1} : (4,2) f32\n"
      "  %z = nn.relu(%y) : (4,2) f32\n"
      "}\n",
      "fn main(%x: (4,2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (4,2) f32\n"
      "}\n" },

    /* along one axis */
    { "flatten_concatenate",
      "fn main(%x: (1,2) f32, %y: (1,3) f32) -> (%b) {\n"
      "  %a = concatenate(%x, %y) {axis=1} : (1,5) f32 from Concat \"inner\" #0\n"
      "  %b = concatenate(%y, %a, %x) {axis=1} : (1,10) f32 from Concat \"outer\" #1\n"
      "}\n",
      "fn main(%x: (1,2) f32, %y: (1,3) f32) -> (%b) {\n"
      "  %b = concatenate(%y, %x, %y, %x) {axis=1} : (1,10) f32  from Concat \"inner\" #0 + "
      "Concat \"outer\" #1\n"
      "}\n" },

    /* the inner one is read elsewhere */
    { "flatten_concatenate",
      "fn main(%x: (1,2) f32, %y: (1,3) f32) -> (%b, %a) {\n"
      "  %a = concatenate(%x, %y) {axis=1} : (1,5) f32\n"
      "  %b = concatenate(%a, %x) {axis=1} : (1,7) f32\n"
      "}\n",
      NULL },

    /* along another axis */
    { "flatten_concatenate",
      "fn main(%x: (1,2) f32) -> (%b) {\n"
      "  %a = concatenate(%x, %x) {axis=0} : (2,2) f32\n"
      "  %b = concatenate(%a, %a) {axis=1} : (2,4) f32\n"
      "}\n",
      NULL },

    /* all parts in order */
    { "join_split",
      "fn main(%x: (5,2) f32) -> (%z) {\n"
      "  %a, %b = split(%x) {axis=0, sizes=[2,3]} : (2,2) f32, (3,2) f32\n"
      "  %y = concatenate(%a, %b) {axis=0} : (5,2) f32\n"
      "  %z = nn.relu(%y) : (5,2) f32\n"
      "}\n",
      "fn main(%x: (5,2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (5,2) f32\n"
      "}\n" },

    /* in another order */
    { "join_split",
      "fn main(%x: (4,2) f32) -> (%y) {\n"
      "  %a, %b = split(%x) {axis=0, sizes=[2,2]} : (2,2) f32, (2,2) f32\n"
      "  %y = concatenate(%b, %a) {axis=0} : (4,2) f32\n"
      "}\n",
      NULL },

    /* along another axis */
    { "join_split",
      "fn main(%x: (4,4) f32) -> (%y) {\n"
      "  %a, %b = split(%x) {axis=0, sizes=[2,2]} : (2,4) f32, (2,4) f32\n"
      "  %y = concatenate(%a, %b) {axis=1} : (2,8) f32\n"
      "}\n",
      NULL },

    /* into one part */
    { "drop_split",
      "fn main(%x: (4,2) f32) -> (%z) {\n"
      "  %y = split(%x) {axis=0, sizes=[4]} : (4,2) f32\n"
      "  %z = nn.relu(%y) : (4,2) f32\n"
      "}\n",
      "fn main(%x: (4,2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (4,2) f32\n"
      "}\n" },

    /* to the shape it has */
    { "drop_broadcast",
      "fn main(%x: (4,2) f32) -> (%z) {\n"
      "  %y = broadcast_to(%x) {shape=[4,2]} : (4,2) f32\n"
      "  %t = tile(%y) {shape=[1,1]} : (4,2) f32\n"
      "  %z = nn.relu(%t) : (4,2) f32\n"
      "}\n",
      "fn main(%x: (4,2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (4,2) f32\n"
      "}\n" },

    /* to the size it has */
    { "drop_resize",
      "fn main(%x: (1,1,4,2) f32) -> (%z) {\n"
      "  %y = image.resize(%x) {size=[1,1,4,2], scales=[], roi=[], method=\"linear\", "
      "coordinate_transformation_mode=\"half_pixel\", rounding_method=\"round_prefer_floor\", "
      "cubic_alpha=-0.75, exclude_outside=false, antialias=false, extrapolation_value=0} : "
      "(1,1,4,2) f32\n"
      "  %z = nn.relu(%y) : (1,1,4,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,4,2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (1,1,4,2) f32\n"
      "}\n" },

    /* a crop of the size it has */
    { "drop_resize",
      "fn main(%x: (1,1,4,2) f32) -> (%y) {\n"
      "  %y = image.resize(%x) {size=[1,1,4,2], scales=[], roi=[0,0,0,0,1,1,0.5,0.5], "
      "method=\"linear\", coordinate_transformation_mode=\"tf_crop_and_resize\", "
      "rounding_method=\"round_prefer_floor\", cubic_alpha=-0.75, exclude_outside=false, "
      "antialias=false, extrapolation_value=0} : (1,1,4,2) f32\n"
      "}\n",
      NULL },

    /* of floats too: NaN is the lesser of NaN and NaN */
    { "drop_own_twin",
      "fn main(%x: (1,4) f32, %b: (1,4) bool) -> (%z, %c) {\n"
      "  %y = minimum(%x, %x) : (1,4) f32\n"
      "  %z = nn.relu(%y) : (1,4) f32\n"
      "  %a = logical_and(%b, %b) : (1,4) bool\n"
      "  %c = logical_not(%a) : (1,4) bool\n"
      "}\n",
      "fn main(%x: (1,4) f32, %b: (1,4) bool) -> (%z, %c) {\n"
      "  %z = nn.relu(%x) : (1,4) f32\n"
      "  %c = logical_not(%b) : (1,4) bool\n"
      "}\n" },

    /* windows of one element */
    { "drop_pool",
      "fn main(%x: (1,1,4,2) f32) -> (%z) {\n"
      "  %y = nn.avg_pool2d(%x) {pool_size=[1,1], strides=[1,1], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,1,4,2) f32\n"
      "  %m = nn.max_pool2d(%y) {pool_size=[1,1], strides=[1,1], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,1,4,2) f32\n"
      "  %z = nn.relu(%m) : (1,1,4,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,4,2) f32) -> (%z) {\n"
      "  %z = nn.relu(%x) : (1,1,4,2) f32\n"
      "}\n" },

    /* with strides */
    { "drop_pool",
      "fn main(%x: (1,1,4,2) f32) -> (%y) {\n"
      "  %y = nn.max_pool2d(%x) {pool_size=[1,1], strides=[2,2], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,1,2,1) f32\n"
      "}\n",
      NULL },

    /* of one element each */
    { "drop_reduction",
      "fn main(%x: (2,1,3) f32) -> (%z) {\n"
      "  %y = sum(%x) {axis=[1], keepdims=false} : (2,3) f32\n"
      "  %z = nn.relu(%y) : (2,3) f32\n"
      "}\n",
      "fn main(%x: (2,1,3) f32) -> (%z) {\n"
      "  %y = reshape(%x) {shape=[2,3]} : (2,3) f32\n"
      "  %z = nn.relu(%y) : (2,3) f32\n"
      "}\n" },

    /* of several */
    { "drop_reduction",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  %y = sum(%x) {axis=[1], keepdims=true} : (2,1) f32\n"
      "}\n",
      NULL },
};

START_TEST(nodes_that_change_nothing_vanish)
{
    pass_case_check("canonicalize", &rows[_i]);
}
END_TEST

START_TEST(every_rule_has_a_row)
{
    int n;
    const struct rule *rules = canonicalize_rules(&n);

    pass_case_coverage(rules, n, "view_to_reshape", "drop_reduction", rows, N_ROWS(rows));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("canonicalize");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, nodes_that_change_nothing_vanish, 0, N_ROWS(rows));
    tcase_add_test(tests, every_rule_has_a_row);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
