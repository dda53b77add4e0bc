/* fake_quant_to_integer: convolutions, dense layers and matrix products, their biases, and what
 * must stay in floats. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/fake_quant.h"

static const struct pass_case rows[] = {
    /* a bias in the scale of the product is taken as it is */
    { "product_to_integer",
      FN_X IN W W_SCALE
      "  const @b : (2) i32 = [10, -20]\n"
      "  const @bs : () f32 = [0.125]\n"
      "  const @bz : () i32 = [0]\n" OUT
      "  %xf = qnn.dequantize(%x, @xs, @xz) from DequantizeLinear \"dx\" #0\n"
      "  %wf = qnn.dequantize(@w, @ws, @wz) from DequantizeLinear \"dw\" #1\n"
      "  %bf = qnn.dequantize(@b, @bs, @bz) from DequantizeLinear \"db\" #2\n"
      "  %c = nn.conv2d(%xf, %wf) {groups=1} from Conv \"c\" #3\n"
      "  %s = nn.bias_add(%c, %bf) {axis=1} from Conv \"c\" #3\n"
      "  %y = qnn.quantize(%s, @ys, @yz) {axis=0, saturate=true} from QuantizeLinear \"q\" #4\n"
      "}\n",
      FN_X "  const @xz : () i8 = [3]\n" W "  const @wz : () i8 = [0]\n"
           "  const @b : (2) i32 = [10, -20]\n" OUT "  const @y.scale : () f32 = [0.125]\n"
           "  const @y.in_zero : () i32 = [0]\n"
           "  %y.qnn.conv2d = qnn.conv2d(%x, @w, @xz, @wz) {groups=1}  from DequantizeLinear "
           "\"dx\" #0 + DequantizeLinear \"dw\" #1 + DequantizeLinear \"db\" #2 + Conv \"c\" #3 + "
           "QuantizeLinear \"q\" #4\n"
           "  %y.bias_add = nn.bias_add(%y.qnn.conv2d, @b) {axis=1}  from DequantizeLinear \"dx\" "
           "#0 + DequantizeLinear \"dw\" #1 + DequantizeLinear \"db\" #2 + Conv \"c\" #3 + "
           "QuantizeLinear \"q\" #4\n"
           "  %y = qnn.requantize(%y.bias_add, @y.scale, @y.in_zero, @ys, @yz) {axis=0, "
           "rounding=\"double\"}  from DequantizeLinear \"dx\" #0 + DequantizeLinear \"dw\" #1 + "
           "DequantizeLinear \"db\" #2 + Conv \"c\" #3 + QuantizeLinear \"q\" #4\n"
           "}\n" },

    /* a bias of floats is rounded; a scale and zero point for each channel; the image is u8 */
    { "product_to_integer",
      "fn main(%x: (1,1,3,3) u8) -> (%y) {\n"
      "  const @xs : () f32 = [0.5]\n"
      "  const @xz : () u8 = [128]\n" W "  const @ws : (2) f32 = [0.25, 0.5]\n"
      "  const @wz : (2) i8 = [1, -1]\n"
      "  const @b : (2) f32 = [1.1, -2]\n" OUT DX DW
      "  %c = nn.conv2d(%xf, %wf) {strides=[2,2], padding=[1,1,1,1], groups=1}\n"
      "  %s = nn.bias_add(%c, @b) {axis=1}\n" QUANTIZE("s") "}\n",
      "fn main(%x: (1,1,3,3) u8) -> (%y) {\n"
      "  const @xz : () u8 = [128]\n" W "  const @wz : (2) i8 = [1, -1]\n" OUT
      "  const @b : (2) i32 = [9, -8]\n"
      "  const @y.scale : (2) f32 = [0.125, 0.25]\n"
      "  const @y.in_zero : () i32 = [0]\n"
      "  %y.qnn.conv2d = qnn.conv2d(%x, @w, @xz, @wz) {strides=[2,2], padding=[1,1,1,1], "
      "groups=1}\n"
      "  %y.bias_add = nn.bias_add(%y.qnn.conv2d, @b) {axis=1}\n"
      "  %y = qnn.requantize(%y.bias_add, @y.scale, @y.in_zero, @ys, @yz) {axis=1, "
      "rounding=\"double\"}\n"
      "}\n" },

    /* no bias; 16 bits in, u16 out */
    { "product_to_integer",
      "fn main(%x: (1,1,5) i16) -> (%y) {\n"
      "  const @xs : () f32 = [0.5]\n"
      "  const @xz : () i16 = [0]\n"
      "  const @w : (2,1,2) u8 = [1, 2, 3, 4]\n"
      "  const @ws : () f32 = [0.25]\n"
      "  const @wz : () u8 = [2]\n"
      "  const @ys : () f32 = [2]\n"
      "  const @yz : () u16 = [500]\n" DX DW
      "  %c = nn.conv1d(%xf, %wf) {groups=1}\n" QUANTIZE("c") "}\n",
      "fn main(%x: (1,1,5) i16) -> (%y) {\n"
      "  const @xz : () i16 = [0]\n"
      "  const @w : (2,1,2) u8 = [1, 2, 3, 4]\n"
      "  const @wz : () u8 = [2]\n"
      "  const @ys : () f32 = [2]\n"
      "  const @yz : () u16 = [500]\n"
      "  const @y.scale : () f32 = [0.125]\n"
      "  const @y.in_zero : () i32 = [0]\n"
      "  %y.qnn.conv1d = qnn.conv1d(%x, @w, @xz, @wz) {groups=1}\n"
      "  %y = qnn.requantize(%y.qnn.conv1d, @y.scale, @y.in_zero, @ys, @yz) {axis=0, "
      "rounding=\"double\"}\n"
      "}\n" },

    /* dense, whose weights are turned by the importer; the bias is added */
    { "product_to_integer",
      "fn main(%x: (2,3) i8) -> (%y) {\n" IN "  const @w : (3,2) i8 = [1, -2, 3, 4, 5, 6]\n"
      "  const @ws : (2) f32 = [0.25, 0.5]\n"
      "  const @wz : (2) i8 = [0, 0]\n"
      "  const @b : (2) f32 = [1, -2]\n" OUT DX "  %wf = qnn.dequantize(@w, @ws, @wz) {axis=1}\n"
      "  %t = transpose(%wf) {axes=[1,0]}\n"
      "  %d = nn.dense(%xf, %t)\n"
      "  %s = add(%d, @b)\n" QUANTIZE("s") "}\n",
      "fn main(%x: (2,3) i8) -> (%y) {\n"
      "  const @xz : () i8 = [3]\n"
      "  const @w : (3,2) i8 = [1, -2, 3, 4, 5, 6]\n"
      "  const @wz : (2) i8 = [0, ...]\n" OUT "  const @b : (2) i32 = [8, -8]\n"
      "  const @y.scale : (2) f32 = [0.125, 0.25]\n"
      "  const @y.in_zero : () i32 = [0]\n"
      "  %t.transpose = transpose(@w) {axes=[1,0]}\n"
      "  %y.qnn.dense = qnn.dense(%x, %t.transpose, @xz, @wz)\n"
      "  %y.bias_add = nn.bias_add(%y.qnn.dense, @b) {axis=1}\n"
      "  %y = qnn.requantize(%y.bias_add, @y.scale, @y.in_zero, @ys, @yz) {axis=1, "
      "rounding=\"double\"}\n"
      "}\n" },

    /* two computed operands */
    { "product_to_integer",
      "fn main(%x: (2,2,3) i8, %w: (2,3,4) i8) -> (%y) {\n" IN W_SCALE OUT DX
      "  %wf = qnn.dequantize(%w, @ws, @wz)\n"
      "  %m = nn.matmul(%xf, %wf)\n" QUANTIZE("m") "}\n",
      "fn main(%x: (2,2,3) i8, %w: (2,3,4) i8) -> (%y) {\n"
      "  const @xz : () i8 = [3]\n"
      "  const @wz : () i8 = [0]\n" OUT "  const @y.scale : () f32 = [0.125]\n"
      "  const @y.in_zero : () i32 = [0]\n"
      "  %y.qnn.matmul = qnn.matmul(%x, %w, @xz, @wz)\n"
      "  %y = qnn.requantize(%y.qnn.matmul, @y.scale, @y.in_zero, @ys, @yz) {axis=0, "
      "rounding=\"double\"}\n"
      "}\n" },

    /* sums of 2^15 products of 16 and 8 bits do not fit into 32 bits */
    { "product_to_integer",
      "fn main(%x: (1,32768) i16) -> (%y) {\n"
      "  const @xs : () f32 = [0.5]\n"
      "  const @xz : () i16 = [0]\n"
      "  const @w : (1,32768) i8 = [127, ...]\n" W_SCALE OUT DX DW
      "  %d = nn.dense(%xf, %wf)\n" QUANTIZE("d") "}\n",
      NULL },

    /* weights that are not known: the coarse bound */
    { "product_to_integer",
      "fn main(%x: (1,40000) u8, %w: (40000,2) i8) -> (%y) {\n"
      "  const @xs : () f32 = [0.5]\n"
      "  const @xz : () u8 = [0]\n" W_SCALE OUT DX "  %wf = qnn.dequantize(%w, @ws, @wz)\n"
      "  %d = nn.matmul(%xf, %wf)\n" QUANTIZE("d") "}\n",
      NULL },

    /* the sum is read as floats, too */
    { "product_to_integer",
      "fn main(%x: (1,1,3,3) i8) -> (%y, %c) {\n" IN W W_SCALE OUT DX DW
      "  %c = nn.conv2d(%xf, %wf) {groups=1}\n" QUANTIZE("c") "}\n",
      NULL },

    /* weights of floats */
    { "product_to_integer",
      FN_X IN "  const @w : (2,1,2,2) f32 = [1, -2, 3, 4, 5, 6, -7, 8]\n" OUT DX
              "  %c = nn.conv2d(%xf, @w) {groups=1}\n" QUANTIZE("c") "}\n",
      NULL },

    /* weights of 16 bits */
    { "product_to_integer",
      FN_X IN "  const @w : (2,1,2,2) i16 = [1, -2, 3, 4, 5, 6, -7, 8]\n"
              "  const @ws : () f32 = [0.25]\n"
              "  const @wz : () i16 = [0]\n" OUT DX DW
              "  %c = nn.conv2d(%xf, %wf) {groups=1}\n" QUANTIZE("c") "}\n",
      NULL },

    /* a scale for each input channel */
    { "product_to_integer",
      "fn main(%x: (1,2,3,3) i8) -> (%y) {\n" IN "  const @w : (2,2,2,2) i8 = [3, ...]\n"
      "  const @ws : (2) f32 = [0.25, 1]\n"
      "  const @wz : () i8 = [0]\n" OUT DX "  %wf = qnn.dequantize(@w, @ws, @wz) {axis=1}\n"
      "  %c = nn.conv2d(%xf, %wf) {groups=1}\n" QUANTIZE("c") "}\n",
      NULL },

    /* a bias that would be rounded by more than half a step */
    { "product_to_integer",
      FN_X IN W "  const @ws : () f32 = [64]\n"
                "  const @wz : () i8 = [0]\n"
                "  const @b : (2) f32 = [15.5, 0]\n" OUT DX DW
                "  %c = nn.conv2d(%xf, %wf) {groups=1}\n"
                "  %s = nn.bias_add(%c, @b) {axis=1}\n" QUANTIZE("s") "}\n",
      NULL },

    /* a scale that is computed */
    { "product_to_integer",
      "fn main(%x: (1,1,3,3) i8, %s: () f32) -> (%y) {\n" IN W W_SCALE
      "  const @yz : () i8 = [-5]\n" DX DW "  %c = nn.conv2d(%xf, %wf) {groups=1}\n"
      "  %y = qnn.quantize(%c, %s, @yz) {axis=0, saturate=true}\n"
      "}\n",
      NULL },

    /* FP8 out */
    { "product_to_integer",
      FN_X IN W W_SCALE "  const @ys : () f32 = [2]\n"
                        "  const @yz : () f8e4m3 = [0x00]\n" DX DW
                        "  %c = nn.conv2d(%xf, %wf) {groups=1}\n" QUANTIZE("c") "}\n",
      NULL },

    /* the dequantized image has another reader, for which it stays */
    { "product_to_integer",
      "fn main(%x: (1,1,3,3) i8) -> (%y, %z) {\n" IN W W_SCALE OUT DX DW
      "  %c = nn.conv2d(%xf, %wf) {groups=1}\n" QUANTIZE("c") "  %z = sigmoid(%xf)\n"
                                                              "}\n",
      "fn main(%x: (1,1,3,3) i8) -> (%y, %z) {\n" IN W "  const @wz : () i8 = [0]\n" OUT
      "  const @y.scale : () f32 = [0.125]\n"
      "  const @y.in_zero : () i32 = [0]\n" DX
      "  %y.qnn.conv2d = qnn.conv2d(%x, @w, @xz, @wz) {groups=1}\n"
      "  %y = qnn.requantize(%y.qnn.conv2d, @y.scale, @y.in_zero, @ys, @yz) {axis=0, "
      "rounding=\"double\"}\n"
      "  %z = sigmoid(%xf)\n"
      "}\n" },
};

START_TEST(products_become_integer_products)
{
    fake_quant_check(&rows[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fake_quant_to_integer");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, products_become_integer_products, 0, N_ROWS(rows));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
