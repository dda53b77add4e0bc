/* fake_quant_to_integer: what each rule makes of a graph, and what it leaves alone. Products are in
 * test_passes_fake_quant_product.c, averages, tables and the like in
 * test_passes_fake_quant_integer.c. */
#include <check.h>
#include <stdlib.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/fake_quant.h"

static const struct pass_case rows[] = {
    /* the scales lie along another axis afterwards */
    { "transpose_before_dequantize",
      "fn main(%x: (2,3) i8) -> (%y) {\n"
      "  const @xs : (3) f32 = [0.5, 1, 2]\n"
      "  const @xz : (3) i8 = [0, 1, 2]\n"
      "  %f = qnn.dequantize(%x, @xs, @xz) {axis=1}\n"
      "  %y = transpose(%f) {axes=[1,0]}\n"
      "}\n",
      "fn main(%x: (2,3) i8) -> (%y) {\n"
      "  const @xs : (3) f32 = [0.5, 1, 2]\n"
      "  const @xz : (3) i8 = [0, 1, 2]\n"
      "  %y.transpose = transpose(%x) {axes=[1,0]}\n"
      "  %y = qnn.dequantize(%y.transpose, @xs, @xz)\n"
      "}\n" },

    /* add */
    { "binary_to_integer", FN_AB IN B OUT DA DB "  %s = add(%af, %bf)\n" QUANTIZE("s") "}\n",
      FN_AB IN B OUT "  %y = qnn.add(%a, %b, @xs, @xz, @bs, @bz, @ys, @yz)\n"
                     "}\n" },

    /* multiply */
    { "binary_to_integer", FN_AB IN B OUT DA DB "  %s = multiply(%af, %bf)\n" QUANTIZE("s") "}\n",
      FN_AB IN B OUT "  %y = qnn.mul(%a, %b, @xs, @xz, @bs, @bz, @ys, @yz)\n"
                     "}\n" },

    /* two quantizers that do the same */
    { "binary_to_integer",
      "fn main(%a: (2,3) i8, %b: (1,3) i8) -> (%y, %z) {\n" IN B OUT DA DB
      "  %s = add(%af, %bf)\n" QUANTIZE(
          "s") "  %z = qnn.quantize(%s, @ys, @yz) {axis=0, saturate=true}\n"
               "}\n",
      "fn main(%a: (2,3) i8, %b: (1,3) i8) -> (%y, %z) {\n" IN B OUT
      "  %y = qnn.add(%a, %b, @xs, @xz, @bs, @bz, @ys, @yz)\n"
      "  %z = qnn.add(%a, %b, @xs, @xz, @bs, @bz, @ys, @yz)\n"
      "}\n" },

    /* two that do not */
    { "binary_to_integer",
      "fn main(%a: (2,3) i8, %b: (1,3) i8) -> (%y, %z) {\n" IN B OUT DA DB
      "  %s = add(%af, %bf)\n" QUANTIZE(
          "s") "  %z = qnn.quantize(%s, @xs, @yz) {axis=0, saturate=true}\n"
               "}\n",
      NULL },

    /* one scale is so great that the other operand would get lost */
    { "binary_to_integer",
      FN_AB "  const @xs : () f32 = [100000]\n"
            "  const @xz : () i8 = [0]\n" B "  const @ys : () f32 = [0.5]\n"
            "  const @yz : () i8 = [0]\n" DA DB "  %s = add(%af, %bf)\n" QUANTIZE("s") "}\n",
      NULL },

    /* products of 32 bits */
    { "binary_to_integer",
      "fn main(%a: (2,3) u16, %b: (1,3) u16) -> (%y) {\n"
      "  const @xs : () f32 = [0.5]\n"
      "  const @xz : () u16 = [0]\n"
      "  const @bs : () f32 = [0.5]\n"
      "  const @bz : () u16 = [0]\n"
      "  const @ys : () f32 = [2]\n"
      "  const @yz : () u16 = [0]\n" DA DB "  %s = multiply(%af, %bf)\n" QUANTIZE("s") "}\n",
      NULL },

    /* the same numbers */
    { "quantize_of_dequantize",
      "fn main(%x: (2,3) i8) -> (%y) {\n" IN DX
      "  %y = qnn.quantize(%xf, @xs, @xz) {axis=0, saturate=true}\n"
      "}\n",
      "fn main(%x: (2,3) i8) -> (%x as \"y\") {\n"
      "}\n" },

    /* others */
    { "quantize_of_dequantize",
      "fn main(%x: (2,3) i8) -> (%y) {\n" IN "  const @ys : () f32 = [0.3]\n"
      "  const @yz : () u8 = [128]\n" DX QUANTIZE("xf") "}\n",
      "fn main(%x: (2,3) i8) -> (%y) {\n"
      "  const @xs : () f32 = [0.5]\n"
      "  const @ys : () f32 = [0.3]\n"
      "  const @yz : () u8 = [128]\n"
      "  const @y.in_zero : () i32 = [3]\n"
      "  %y.cast = cast(%x) {dtype=i32, saturate=true}\n"
      "  %y = qnn.requantize(%y.cast, @xs, @y.in_zero, @ys, @yz) {axis=0, rounding=\"double\"}\n"
      "}\n" },

    /* a scale for each channel */
    { "quantize_of_dequantize",
      "fn main(%x: (2,3) i8) -> (%y) {\n"
      "  const @xs : (3) f32 = [0.5, 1, 2]\n"
      "  const @xz : () i8 = [0]\n" OUT
      "  %xf = qnn.dequantize(%x, @xs, @xz) {axis=1}\n" QUANTIZE("xf") "}\n",
      NULL },

    /* relu, where the type begins at 0 */
    { "quantize_of_clip",
      FN_AB IN B "  const @ys : () f32 = [2]\n"
                 "  const @yz : () i8 = [-128]\n" DA DB "  %s = add(%af, %bf)\n"
                 "  %r = nn.relu(%s)\n" QUANTIZE("r") "}\n",
      FN_AB IN B "  const @ys : () f32 = [2]\n"
                 "  const @yz : () i8 = [-128]\n"
                 "  %y = qnn.add(%a, %b, @xs, @xz, @bs, @bz, @ys, @yz)\n"
                 "}\n" },

    /* and where it does not */
    { "quantize_of_clip",
      FN_AB IN B OUT DA DB "  %s = add(%af, %bf)\n"
                           "  %r = nn.relu(%s)\n" QUANTIZE("r") "}\n",
      FN_AB IN B OUT "  %y.qnn.quantize = qnn.add(%a, %b, @xs, @xz, @bs, @bz, @ys, @yz)\n"
                     "  %y = clip(%y.qnn.quantize) {a_min=-5, a_max=127}\n"
                     "}\n" },

    /* relu6, which the type ends at */
    { "quantize_of_clip",
      FN_AB IN B "  const @ys : () f32 = [0.0234375]\n"
                 "  const @yz : () i8 = [-128]\n" DA DB "  %s = add(%af, %bf)\n"
                 "  %r = clip(%s) {a_min=0, a_max=6}\n" QUANTIZE("r") "}\n",
      FN_AB IN B "  const @ys : () f32 = [0.0234375]\n"
                 "  const @yz : () i8 = [-128]\n"
                 "  %y = qnn.add(%a, %b, @xs, @xz, @bs, @bz, @ys, @yz)\n"
                 "}\n" },

    /* and which it does not */
    { "quantize_of_clip",
      FN_AB IN B OUT DA DB "  %s = add(%af, %bf)\n"
                           "  %r = clip(%s) {a_min=0, a_max=6.5}\n" QUANTIZE("r") "}\n",
      FN_AB IN B OUT "  %y.qnn.quantize = qnn.add(%a, %b, @xs, @xz, @bs, @bz, @ys, @yz)\n"
                     "  %y = clip(%y.qnn.quantize) {a_min=-5, a_max=-2}\n"
                     "}\n" },

    /* behind floats */
    { "quantize_of_clip",
      "fn main(%x: (2,3) f32) -> (%y) {\n" OUT "  %e = exp(%x)\n"
      "  %r = nn.relu(%e)\n" QUANTIZE("r") "}\n",
      NULL },

    /* parts in other scales */
    { "quantize_of_concatenate",
      FN_AB IN B "  const @ys : () f32 = [0.5]\n"
                 "  const @yz : () i8 = [3]\n" DA DB
                 "  %s = concatenate(%af, %bf) {axis=0}\n" QUANTIZE("s") "}\n",
      FN_AB "  const @bs : () f32 = [0.25]\n"
            "  const @ys : () f32 = [0.5]\n"
            "  const @yz : () i8 = [3]\n"
            "  const @y.in_zero : () i32 = [1]\n"
            "  %y.cast = cast(%b) {dtype=i32, saturate=true}\n"
            "  %y.qnn.requantize = qnn.requantize(%y.cast, @bs, @y.in_zero, @ys, @yz) {axis=0, "
            "rounding=\"double\"}\n"
            "  %y = concatenate(%a, %y.qnn.requantize) {axis=0}\n"
            "}\n" },

    /* one part is of floats */
    { "quantize_of_concatenate",
      "fn main(%a: (2,3) i8, %b: (1,3) f32) -> (%y) {\n" IN OUT DA
      "  %s = concatenate(%af, %b) {axis=0}\n" QUANTIZE("s") "}\n",
      NULL },

    /* parts in one scale */
    { "join_before_dequantize",
      FN_AB IN DA "  %bf = qnn.dequantize(%b, @xs, @xz)\n"
                  "  %y = concatenate(%af, %bf) {axis=0}\n"
                  "}\n",
      FN_AB IN "  %y.concatenate = concatenate(%a, %b) {axis=0}\n"
               "  %y = qnn.dequantize(%y.concatenate, @xs, @xz) {axis=0}\n"
               "}\n" },

    /* in two */
    { "join_before_dequantize",
      FN_AB IN B DA DB "  %y = concatenate(%af, %bf) {axis=0}\n"
                       "}\n",
      NULL },

    /* one after another, and the names of the model stay */
    { "move_before_dequantize",
      "fn main(%x: (1,2,4,4) i8) -> (%y) {\n" IN DX
      "  %p = nn.max_pool2d(%xf) {pool_size=[2,2], strides=[2,2]} from MaxPool \"p\" #1\n"
      "  %pq = qnn.quantize(%p, @xs, @xz) {axis=0, saturate=true} from QuantizeLinear \"pq\" #2\n"
      "  %pf = qnn.dequantize(%pq, @xs, @xz) from DequantizeLinear \"pd\" #3\n"
      "  %t = transpose(%pf) {axes=[0,2,3,1]} from Transpose \"t\" #4\n"
      "  %y = reshape(%t) {shape=[1,8]} from Reshape \"r\" #5\n"
      "}\n",
      "fn main(%x: (1,2,4,4) i8) -> (%y) {\n" IN
      "  %pq = nn.max_pool2d(%x) {pool_size=[2,2], strides=[2,2]}  from MaxPool \"p\" #1\n"
      "  %t.transpose = transpose(%pq) {axes=[0,2,3,1]}  from DequantizeLinear \"pd\" #3 + "
      "Transpose \"t\" #4\n"
      "  %y.reshape = reshape(%t.transpose) {shape=[1,8]}  from DequantizeLinear \"pd\" #3 + "
      "Transpose \"t\" #4 + Reshape \"r\" #5\n"
      "  %y = qnn.dequantize(%y.reshape, @xs, @xz)  from DequantizeLinear \"pd\" #3 + Transpose "
      "\"t\" #4 + Reshape \"r\" #5\n"
      "}\n" },

    /* a slice */
    { "move_before_dequantize",
      "fn main(%x: (4) u8) -> (%y) {\n"
      "  const @xs : () f32 = [0.5]\n"
      "  const @xz : () u8 = [3]\n" DX
      "  %y = strided_slice(%xf) {begin=[3], strides=[-2], size=[2]}\n"
      "}\n",
      "fn main(%x: (4) u8) -> (%y) {\n"
      "  const @xs : () f32 = [0.5]\n"
      "  const @xz : () u8 = [3]\n"
      "  %y.strided_slice = strided_slice(%x) {begin=[3], strides=[-2], size=[2]}\n"
      "  %y = qnn.dequantize(%y.strided_slice, @xs, @xz)\n"
      "}\n" },

    /* rows of a table, which stays one of integers */
    { "move_before_dequantize",
      "fn main(%i: (2) i64) -> (%y) {\n" IN "  const @x : (2,3) i8 = [1, 2, 3, 4, 5, 6]\n"
      "  %xf = qnn.dequantize(@x, @xs, @xz)\n"
      "  %c = clip(%i) {a_min=0, a_max=1}\n"
      "  %y = take(%xf, %c) {axis=0}\n"
      "}\n",
      "fn main(%i: (2) i64) -> (%y) {\n" IN "  const @x : (2,3) i8 = [1, 2, 3, 4, 5, 6]\n"
      "  %c = clip(%i) {a_min=0, a_max=1}\n"
      "  %y.take = take(@x, %c) {axis=0}\n"
      "  %y = qnn.dequantize(%y.take, @xs, @xz)\n"
      "}\n" },

    /* floats */
    { "move_before_dequantize",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  %y = reshape(%x) {shape=[32]}\n"
      "}\n",
      NULL },

    /* zeros are the zero point */
    { "pad_before_dequantize",
      "fn main(%x: (2,2) i8) -> (%y) {\n" IN DX
      "  %y = nn.pad(%xf) {pad_before=[0,1], pad_after=[1,0], mode=\"constant\", value=0}\n"
      "}\n",
      "fn main(%x: (2,2) i8) -> (%y) {\n" IN
      "  %y.pad = nn.pad(%x) {pad_before=[0,1], pad_after=[1,0], mode=\"constant\", value=3}\n"
      "  %y = qnn.dequantize(%y.pad, @xs, @xz)\n"
      "}\n" },

    /* mirrored */
    { "pad_before_dequantize",
      "fn main(%x: (2,2) i8) -> (%y) {\n" IN DX
      "  %y = nn.pad(%xf) {pad_before=[0,1], pad_after=[1,0], mode=\"reflect\", value=0}\n"
      "}\n",
      "fn main(%x: (2,2) i8) -> (%y) {\n" IN
      "  %y.pad = nn.pad(%x) {pad_before=[0,1], pad_after=[1,0], mode=\"reflect\", value=0}\n"
      "  %y = qnn.dequantize(%y.pad, @xs, @xz)\n"
      "}\n" },

    /* a number that the type has not */
    { "pad_before_dequantize",
      "fn main(%x: (2,2) i8) -> (%y) {\n" IN DX
      "  %y = nn.pad(%xf) {pad_before=[0,1], pad_after=[1,0], mode=\"constant\", value=0.3}\n"
      "}\n",
      NULL },

    /* a number out of its range */
    { "pad_before_dequantize",
      "fn main(%x: (2,2) i8) -> (%y) {\n" IN DX
      "  %y = nn.pad(%xf) {pad_before=[0,1], pad_after=[1,0], mode=\"constant\", value=100}\n"
      "}\n",
      NULL },

    /* a convolution takes it in */
    { "pad_before_dequantize",
      FN_X IN
      "  const @w : (1,1,1,1) f32 = [2]\n" DX
      "  %p = nn.pad(%xf) {pad_before=[0,0,1,1], pad_after=[0,0,1,1], mode=\"constant\", value=0}\n"
      "  %y = nn.conv2d(%p, @w) {groups=1}\n"
      "}\n",
      NULL },

    /* relu */
    { "clip_before_dequantize",
      "fn main(%x: (2,3) i8) -> (%y) {\n" IN DX "  %y = nn.relu(%xf)\n"
      "}\n",
      "fn main(%x: (2,3) i8) -> (%y) {\n" IN "  %y.clip = clip(%x) {a_min=3, a_max=127}\n"
      "  %y = qnn.dequantize(%y.clip, @xs, @xz)\n"
      "}\n" },

    /* relu of what is never negative */
    { "clip_before_dequantize",
      "fn main(%x: (2,3) u8) -> (%y) {\n"
      "  const @xs : () f32 = [0.5]\n"
      "  const @xz : () u8 = [0]\n" DX "  %r = nn.relu(%xf)\n"
      "  %y = sigmoid(%r)\n"
      "}\n",
      "fn main(%x: (2,3) u8) -> (%y) {\n"
      "  const @xs : () f32 = [0.5]\n"
      "  const @xz : () u8 = [0]\n" DX "  %y = sigmoid(%xf)\n"
      "}\n" },

    /* bounds that the type has */
    { "clip_before_dequantize",
      "fn main(%x: (2,3) i8) -> (%y) {\n" IN DX "  %y = clip(%xf) {a_min=-1, a_max=2.5}\n"
      "}\n",
      "fn main(%x: (2,3) i8) -> (%y) {\n" IN "  %y.clip = clip(%x) {a_min=1, a_max=8}\n"
      "  %y = qnn.dequantize(%y.clip, @xs, @xz)\n"
      "}\n" },

    /* bounds beyond what it has */
    { "clip_before_dequantize",
      "fn main(%x: (2,3) i8) -> (%y) {\n" IN DX "  %y = clip(%xf) {a_min=0, a_max=1000.3}\n"
      "}\n",
      "fn main(%x: (2,3) i8) -> (%y) {\n" IN "  %y.clip = clip(%x) {a_min=3, a_max=127}\n"
      "  %y = qnn.dequantize(%y.clip, @xs, @xz)\n"
      "}\n" },

    /* a bound that it has not */
    { "clip_before_dequantize",
      "fn main(%x: (2,3) i8) -> (%y) {\n" IN DX "  %y = clip(%xf) {a_min=-1, a_max=2.3}\n"
      "}\n",
      NULL },

    /* chain to a product: pooled and padded without floats */
    { "quantize_of_dequantize",
      FN_X IN W W_SCALE OUT DX "  %p = nn.max_pool2d(%xf) {pool_size=[2,2]}\n"
                               "  %pq = qnn.quantize(%p, @xs, @xz) {axis=0, saturate=true}\n"
                               "  %pf = qnn.dequantize(%pq, @xs, @xz)\n" DW
                               "  %c = nn.conv2d(%pf, %wf) {groups=1}\n"
                               "  %r = nn.relu(%c)\n" QUANTIZE("r") "}\n",
      FN_X "  const @xz : () i8 = [3]\n" W "  const @wz : () i8 = [0]\n" OUT
           "  const @y.qnn.quantize.scale : () f32 = [0.125]\n"
           "  const @y.qnn.quantize.in_zero : () i32 = [0]\n"
           "  %pq = nn.max_pool2d(%x) {pool_size=[2,2], strides=[1,1]}\n"
           "  %y.qnn.quantize.qnn.conv2d = qnn.conv2d(%pq, @w, @xz, @wz) {groups=1}\n"
           "  %y.qnn.quantize = qnn.requantize(%y.qnn.quantize.qnn.conv2d, @y.qnn.quantize.scale, "
           "@y.qnn.quantize.in_zero, @ys, @yz) {axis=0, rounding=\"double\"}\n"
           "  %y = clip(%y.qnn.quantize) {a_min=-5, a_max=127}\n"
           "}\n" },
};

START_TEST(float_graphs_become_integer_graphs)
{
    fake_quant_check(&rows[_i]);
}
END_TEST

START_TEST(every_rule_has_a_row)
{
    int n;
    const struct rule *rules = fake_quant_to_integer_rules(&n);

    pass_case_coverage(rules, n, rules[0].name, "binary_to_integer", rows, N_ROWS(rows));
}
END_TEST

/* fold_constant would make f32 weights, of which nobody could tell that they were 8 bits wide. */
START_TEST(the_pass_stands_before_the_first_fold_constant)
{
    ck_assert(pipeline_find("fake_quant_to_integer") < pipeline_find("fold_constant"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fake_quant_to_integer");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, float_graphs_become_integer_graphs, 0, N_ROWS(rows));
    tcase_add_test(tests, every_rule_has_a_row);
    tcase_add_test(tests, the_pass_stands_before_the_first_fold_constant);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
