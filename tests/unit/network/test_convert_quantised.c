/* The converters of ONNX's and ONNX Runtime's quantised operators, where the ONNX backend tests
 * (tests/conformance) do not reach: forms, extensions, mistakes. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/onnx_row.h"

static const struct onnx_row rows[] = {
    /* --- quantised: scale and zero point --- */
    { 13, "QuantizeLinear", "", "f32[3] 1 2 300; =f32[] 2; =u8[] 5", "u8[3] 5 6 155", 0 },
    { 13, "QuantizeLinear", "", "f32[2] -1 3; =f32[] 1", "u8[2] 0 3", 0 },
    { 13, "QuantizeLinear", "axis=0", "f32[2,1] 4 4; =f32[2] 1 2; =i8[2] 0 1", "i8[2,1] 4 3", 0 },
    { 13, "QuantizeLinear", "", "i32[2] 4 -4; f32[] 2; i8[] 0", "i8[2] 2 -2", 0 },
    { 21, "QuantizeLinear", "output_dtype=3", "f32[2] -1 300; =f32[] 1", "i8[2] -1 127", 0 },
    { 21, "QuantizeLinear", "", "f32[2] -1 3e9; =f32[] 1; =i16[] 2", "i16[2] 1 32767", 0 },
    { 19, "QuantizeLinear", "saturate=0", "f32[2] 2 1e9; =f32[] 2; =f8e4m3[] 0",
      "f8e4m3[2] 0x38 0x7f", 0 },
    { 19, "QuantizeLinear", "", "f32[2] 2 1e9; =f32[] 2; =f8e4m3[] 0", "f8e4m3[2] 0x38 0x7e", 0 },
    { 13, "com.microsoft:QuantizeLinear", "", "f32[1] 4; =f32[] 1; =i16[] 300", "i16[1] 304", 0 },
    { 21, "QuantizeLinear", "block_size=2 axis=0", "f32[3] 1 2.5 300; =f32[2] 1 2; =i8[2] 0 5",
      "i8[3] 1 2 127", 0 },
    { 21, "QuantizeLinear", "block_size=1 output_dtype=4", "f32[2,2] 1 2 3 -4; =f32[2,2] 1 2 0.5 1",
      "u16[2,2] 1 1 6 0", 0 },
    { 13, "QuantizeLinear", "", "f32[2] 1 2; =f32[1,1] 1; =i8[] 0",
      "input 1 of qnn.quantize has shape 1x1", DIAG_SHAPE },
    { 13, "QuantizeLinear", "", "f32[2] 1 2; =f32[] -1; =i8[] 0", "a scale of -1",
      DIAG_UNSUPPORTED_FORM },
    { 13, "QuantizeLinear", "", "f32[2] 1 2; =i8[] 1; =i8[] 0", "takes a floating-point type",
      DIAG_TYPE },
    { 13, "QuantizeLinear", "axis=0", "f32[2] 1 2; =f32[2] 1 inf; =i8[] 0", "a scale of inf",
      DIAG_UNSUPPORTED_FORM },
    { 10, "MatMulInteger", "", "u8[1,2] 1 2; f32[2,1] 3 4", "is f32, expected i8 or u8",
      DIAG_TYPE },
    { 10, "QLinearMatMul", "",
      "i8[1,1] 1; =f32[] 0; =i8[] 0; =i8[1,1] 3; =f32[] 1; =i8[] 0; =f32[] 2; =i8[] 1",
      "input 1 is a scale of 0", DIAG_UNSUPPORTED_FORM },
    { 13, "QuantizeLinear", "", "f32[2] 1 2; =f32[3] 1; =i8[] 0", "axis 1 is out of range",
      DIAG_SHAPE },
    { 13, "QuantizeLinear", "", "f32[2] 1 2; =f32[] 1; =i32[] 0", "expected i8, u8, i16 or u16",
      DIAG_TYPE },
    { 21, "DequantizeLinear", "block_size='two'", "i8[1,3] 1; =f32[1] 2", "block_size",
      DIAG_ONNX_ATTRIBUTE },
    { 21, "QuantizeLinear", "output_dtype=99", "f32[2] 1 2; =f32[] 1", "output_dtype is 99",
      DIAG_ONNX_ATTRIBUTE },
    { 13, "DequantizeLinear", "", "u8[2] 0 255; =f32[] 0.5; =u8[] 128", "f32[2] -64 63.5", 0 },
    { 13, "DequantizeLinear", "axis=-1", "i8[1,2] 3 -4; f32[2] 1 2", "f32[1,2] 3 -8", 0 },
    { 10, "DequantizeLinear", "", "i32[2] 100000 -1; =f32[] 0.5", "f32[2] 50000 -0.5", 0 },
    { 19, "DequantizeLinear", "", "f8e4m3[2] 0x38 0xb8; =f32[] 3", "f32[2] 3 -3", 0 },
    { 21, "DequantizeLinear", "block_size=2", "i8[1,3] 1 2 3; =f32[1,2] 2 10; =i8[1,2] 1 -1",
      "f32[1,3] 0 2 40", 0 },
    { 21, "DequantizeLinear", "axis=0 block_size=2", "u8[4,1] 1 2 3 4; f32[2,1] 2 10",
      "f32[4,1] 2 4 30 40", 0 },
    /* weights keep their blocks: of 4, the last one shorter; u4 with zero points that do not go
     * into the codes, and with such that do; a scale of 0 */
    { 21, "DequantizeLinear", "block_size=4 axis=0",
      "=i4[5,2] 1 2 3 4 5 6 7 -8 -1 -2; =f32[2,2] 2 10 0.5 3",
      "f32[5,2] 2 20 6 40 10 60 14 -80 -0.5 -6", 0 },
    { 21, "DequantizeLinear", "block_size=4",
      "=u4[2,5] 1 2 3 4 5 6 7 8 9 15; =f32[2,2] 2 10 0.5 3; =u4[2,2] 0 15 8 1",
      "f32[2,5] 2 4 6 8 -100 -1 -0.5 0 0.5 42", 0 },
    { 21, "DequantizeLinear", "block_size=4",
      "=u8[1,5] 0 255 128 127 5; =f32[1,2] 0.5 0; =u8[1,2] 128 3", "f32[1,5] -64 63.5 0 -0.5 0",
      0 },
    { 21, "DequantizeLinear", "block_size=4 output_dtype=11",
      "=f8e4m3[1,4,1] 0x38 0x40 0xb8 0x30; =f32[1,1,1] 3; =f8e4m3[1,1,1] 0",
      "f64[1,4,1] 3 6 -3 1.5", 0 },
    { 21, "DequantizeLinear", "block_size=4", "=i8[1,5] 1 2 3 4 5; =f32[1,2] 2 -10",
      "f32[1,5] 2 4 6 8 -50", 0 },
    { 21, "DequantizeLinear", "block_size=2", "i8[1,3] 1; =f32[1,1] 2",
      "not a number for each block", DIAG_SHAPE },
    { 21, "DequantizeLinear", "block_size=2", "i8[1,3] 1; =f32[1,2] 2; =i8[1,1] 2",
      "not a number for each block", DIAG_SHAPE },
    { 21, "DequantizeLinear", "block_size=4", "=i4[2,5] 1; =f32[2,2] 2; =u4[2,2] 15",
      "input 2 is a zero point of type u4, expected i4", DIAG_TYPE },
    { 21, "DequantizeLinear", "block_size=-1", "i8[1,3] 1; =f32[1,2] 2", "block_size is -1",
      DIAG_ONNX_ATTRIBUTE },
    { 21, "QuantizeLinear", "block_size=2 axis=0", "f32[3] 1 2 -4; =f32[2] 1 2; =f8e4m3[2] 0",
      "f8e4m3[3] 0x38 0x40 0xc0", 0 },
    { 21, "QuantizeLinear", "block_size=2 axis=0", "f32[3] 1 2.5 -40; =f32[2] 0.5 2; =i4[2] 0 1",
      "i4[3] 2 5 -8", 0 },
    { 21, "DequantizeLinear", "block_size=2 axis=0", "i4[3] 1 2 -8; =f32[2] 0.5 2; =i4[2] 0 1",
      "f32[3] 0.5 1 -18", 0 },
    { 23, "DequantizeLinear", "axis=0", "f4e2m1[3] 0x01 0x02 0x0f; =f32[3] 0.5 1 2",
      "f32[3] 0.25 1 -12", 0 },
    { 23, "DequantizeLinear", "output_dtype=11", "u4[3] 1 2 15; =f32[] 0.5; =u4[] 1",
      "f64[3] 0 0.5 7", 0 },
    { 23, "DequantizeLinear", "output_dtype=3", "u4[3] 1; =f32[] 0.5", "output_dtype is 3",
      DIAG_ONNX_ATTRIBUTE },
    { 23, "QuantizeLinear", "precision=1", "f32[1] 3; =f32[] 1; =u4[] 14", "u4[1] 15", 0 },
    { 23, "QuantizeLinear", "precision=10", "f32[1] 3; =f32[] 1; =u4[] 14", "precision is 10",
      DIAG_ONNX_ATTRIBUTE },
    { 23, "Cast", "to=23", "f32[4] 1 100 -0.25 0.75", "f4e2m1[4] 0x02 0x07 0x08 0x02", 0 },
    { 21, "Cast", "to=22", "f32[4] 1.9 100 -100 -1.9", "i4[4] 1 7 -8 -1", 0 },
    { 21, "CastLike", "", "u4[3] 1 7 15; =i8[1] 0", "i8[3] 1 7 15", 0 },
    { 11, "DynamicQuantizeLinear", "", "f32[6] 0 2 -3 -2.5 1.34 0.5",
      "u8[6] 153 255 0 26 221 179; f32[] 0.0196078438; u8[] 153", 0 },
    { 11, "DynamicQuantizeLinear", "", "f32[2] 0 0", "u8[2] 0 0; f32[] 1; u8[] 0", 0 },
    { 11, "DynamicQuantizeLinear", "", "f32[2] 255 51", "u8[2] 255 51; f32[] 1; u8[] 0", 0 },

    /* --- quantised: products --- */
    { 10, "QLinearConv", "",
      "u8[1,1,2,2] 1 2 3 4; =f32[] 0.5; =u8[] 0; =i8[1,1,1,1] 2; =f32[] 0.5; =i8[] 0; =f32[] 1; "
      "=u8[] 10; =i32[1] 4",
      "u8[1,1,2,2] 12 12 13 13", 0 },
    { 10, "QLinearConv", "pads=[1,0] group=2",
      "u8[1,2,1] 3 5; =f32[1] 1; =u8[1] 1; =u8[2,1,2] 2; =f32[2] 1 2; =u8[2] 1 0; =f32[1] 1; "
      "=u8[1] 1",
      "u8[1,2,1] 3 17", 0 },
    { 10, "QLinearConv", "",
      "u8[1,1,1] 1; =f32[] 0.5; =u8[] 0; =i8[1,1,1] 2; =f32[] 0.5; =i8[] 0; f32[] 0.25; =u8[] 10",
      "u8[1,1,1] 12", 0 },
    { 10, "QLinearConv", "",
      "u8[1,1,1] 1; =f32[2] 0.5; =u8[] 0; =i8[1,1,1] 2; =f32[] 0.5; =i8[] 0; =f32[] 1; =u8[] 10",
      "relayc takes one scale for the first operand", DIAG_UNSUPPORTED_FORM },
    { 10, "QLinearConv", "", "u8[1,1,1] 1; =f32[] 0.5", "input 2 is missing", DIAG_ONNX_GRAPH },
    { 10, "ConvInteger", "", "u8[1,1,1,2] 3 5; =u8[1,1,1,1] 7; =u8[] 1; =u8[] 5",
      "i32[1,1,1,2] 4 8", 0 },
    { 10, "ConvInteger", "", "i8[1,1,2] -3 5; i8[2,1,1] 7 -1", "i32[1,2,2] -21 35 3 -5", 0 },
    { 10, "MatMulInteger", "", "u8[1,2] 1 2; i8[2,1] 3 4; u8[] 1; i8[1] 3", "i32[1,1] 1", 0 },
    { 10, "MatMulInteger", "", "u8[1,2] 1 2; =i8[2,2] 1 2 3 4; =u8[] 0; =i8[2] 1 0",
      "i32[1,2] 4 10", 0 },
    { 10, "MatMulInteger", "", "u8[2] 1 2; =i8[2] 3 4", "i32[] 11", 0 },
    { 10, "MatMulInteger", "", "u8[2,2] 1; =i8[2,1] 1; =u8[2] 1 2", "relayc takes one number there",
      DIAG_UNSUPPORTED_FORM },
    { 10, "QLinearMatMul", "",
      "i8[2] 1 2; =f32[] 1; =i8[] 0; =i8[2] 3 4; =f32[] 1; =i8[] 0; =f32[] 2; =i8[] 1", "i8[] 7",
      0 },
    { 10, "QLinearMatMul", "",
      "u8[1,2] 3 4; =f32[1] 1; =u8[1] 1; =i8[2,2] 1 2 3 4; =f32[2] 1 0.5; =i8[2] 0 1; =f32[1] 1; "
      "=u8[1] 0",
      "u8[1,2] 11 6", 0 },
    { 13, "com.microsoft:QGemm", "",
      "u8[1,2] 3 4; =f32[] 0.5; =u8[] 0; =i8[2,2] 1 2 3 4; =f32[] 0.5; =i8[] 0; =i32[2] 1 1; "
      "=f32[] 1; =u8[] 0",
      "u8[1,2] 4 6", 0 },
    { 13, "com.microsoft:QGemm", "transB=1 alpha=2.0",
      "u8[1,2] 3 4; =f32[] 0.5; =u8[] 0; =i8[2,2] 1 2 3 4; =f32[] 0.5; =i8[] 0",
      "f32[1,2] 5.5 12.5", 0 },
    { 13, "com.microsoft:QGemm", "transA=1",
      "u8[2,1] 3 4; =f32[] 0.5; =u8[] 0; i8[2,2] 1 2 3 4; =f32[] 0.5; =i8[] 0; i32[1,1] 1",
      "f32[1,2] 4 5.75", 0 },

    /* --- quantised: of ONNX Runtime --- */
    { 13, "com.microsoft:QLinearAdd", "",
      "i8[2] 10 20; =f32[] 1; =i8[] 0; i8[2] 1 2; =f32[] 1; =i8[] 0; =f32[] 1; =i8[] 5",
      "i8[2] 16 27", 0 },
    { 13, "com.microsoft:QLinearAdd", "",
      "u8[1] 10; =f32[] 1; _; =u8[2] 1 2; =f32[] 1; _; =f32[] 1", "u8[2] 11 12", 0 },
    { 13, "com.microsoft:QLinearMul", "",
      "i8[1] 10; =f32[] 0.5; =i8[] 0; i8[1] 3; =f32[] 0.5; =i8[] 0; =f32[] 1; =i8[] 0", "i8[1] 8",
      0 },
    { 13, "com.microsoft:QLinearMul", "",
      "i8[1] 10; f32[] 0.5; =i8[] 0; i8[1] 3; =f32[] 0.5; =i8[] 0; =f32[] 1; =i8[] 0",
      "must be known at compile time", DIAG_UNSUPPORTED_DYNAMIC },
    { 13, "com.microsoft:QLinearMul", "", "i8[1] 10; =f32[] 0.5", "input 3 is missing",
      DIAG_ONNX_GRAPH },
    { 13, "com.microsoft:QLinearAveragePool", "kernel_shape=[2] strides=[2]",
      "u8[1,1,4] 1 3 5 8; =f32[] 1; =u8[] 0; =f32[] 1; =u8[] 1", "u8[1,1,2] 3 7", 0 },
    { 13, "com.microsoft:QLinearAveragePool", "kernel_shape=[2] strides=[2] channels_last=1",
      "u8[1,4,1] 1 3 5 8; =f32[] 1; =u8[] 0; =f32[] 1; =u8[] 1", "u8[1,2,1] 3 7", 0 },
    { 13, "com.microsoft:QLinearGlobalAveragePool", "",
      "i8[1,1,2] 1 4; =f32[] 1; =i8[] 0; =f32[] 1; =i8[] 0", "i8[1,1,1] 2", 0 },
    { 13, "com.microsoft:QLinearSoftmax", "opset=13 axis=-1",
      "u8[2,2] 3 3 3 3; =f32[] 1; =u8[] 0; =f32[] 0.00390625; =u8[] 0", "u8[2,2] 128 128 128 128",
      0 },
    { 13, "com.microsoft:QLinearSoftmax", "opset=12 axis=0",
      "u8[2,2] 3 3 3 3; =f32[] 1; =u8[] 0; =f32[] 0.00390625; =u8[] 0", "u8[2,2] 64 64 64 64", 0 },
    { 13, "com.microsoft:QLinearSigmoid", "", "u8[1] 7; =f32[] 1; =u8[] 7; =f32[] 0.00390625",
      "u8[1] 128", 0 },
    { 13, "com.microsoft:QLinearLeakyRelu", "alpha=0.5",
      "i8[2] -4 4; =f32[] 1; =i8[] 0; =f32[] 1; =i8[] 1", "i8[2] -1 5", 0 },
    { 13, "com.microsoft:QLinearLeakyRelu", "alpha=0.5", "i8[2] -4 4; =f32[] 1",
      "input 3 is missing", DIAG_ONNX_GRAPH },
    { 13, "com.microsoft:QLinearConcat", "axis=0",
      "=f32[] 1; =u8[] 0; u8[1] 4; =f32[] 2; =u8[] 0; u8[1] 6; =f32[] 0.5; =u8[] 2", "u8[2] 8 2",
      0 },
    { 13, "com.microsoft:QLinearConcat", "axis=0",
      "=f32[] 1; =u8[] 0; u8[1] 4; =f32[] 2; _; u8[1] 6; =f32[] 0.5", "u8[2] 8 3", 0 },
    { 13, "com.microsoft:QLinearConcat", "axis=0",
      "=f32[] 1; =u8[] 0; u8[1] 4; =f32[] 1; _; u8[1] 6", "input 5 or 6 is missing",
      DIAG_ONNX_GRAPH },
};

START_TEST(a_node_is_converted_or_refused)
{
    onnx_row_test(&rows[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("convert quantised");
    TCase *tcase = tcase_create("converters");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_loop_test(tcase, a_node_is_converted_or_refused, 0, N_ROWS(rows));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
