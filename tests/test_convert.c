/* The converters of ONNX operators where the ONNX backend tests (tests/conformance) do not reach:
 * forms of older operator sets, extensions, run-time operands in place of constants, mistakes. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/import.h"
#include "relay_ir/interpret.h"
#include "tests/support/expect.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/op_case.h"

enum { MAX_OPERANDS = 12 };

/* One node. Inputs are written as in op_case.h; a '=' in front makes an initialiser of one. With an
 * error, `want` is a part of the message. */
struct row {
    int opset;
    const char *op, *attrs, *inputs, *want;
    enum diag_code error;
};

static const struct row rows[] = {
    /* --- shapes, by attributes --- */
    { 9, "Slice", "axes=[1] starts=[1] ends=[-1]", "f32[2,4] 1 2 3 4 5 6 7 8", "f32[2,2] 2 3 6 7",
      0 },
    { 9, "Slice", "starts=[1] ends=[9]", "f32[3,1] 1 2 3", "f32[2,1] 2 3", 0 },
    { 13, "Slice", "", "f32[4] 1 2 3 4; =i32[1] -1; =i32[1] -9; =i32[1] 0; =i32[1] -1",
      "f32[4] 4 3 2 1", 0 },
    { 13, "Slice", "", "f32[4] 1 2 3 4; =i64[1] 3; =i64[1] 1", "f32[0]", 0 },
    { 13, "Slice", "",
      "f32[4] 1 2 3 4; =i64[1] 0; =i64[1] 9223372036854775807; =i64[1] 0; =i64[1] 3", "f32[2] 1 4",
      0 },
    { 11, "Squeeze", "axes=[0,-1]", "f32[1,2,1] 1 2", "f32[2] 1 2", 0 },
    { 13, "Squeeze", "", "f32[1,2,1] 1 2", "f32[2] 1 2", 0 },
    { 13, "Squeeze", "", "f32[2] 1 2; =i64[0]", "f32[2] 1 2", 0 },
    { 11, "Unsqueeze", "axes=[-1,0]", "f32[2] 1 2", "f32[1,2,1] 1 2", 0 },
    { 11, "Split", "axis=1 split=[1,2]", "f32[2,3] 1 2 3 4 5 6", "f32[2,1] 1 4; f32[2,2] 2 3 5 6",
      0 },
    { 18, "Split", "num_outputs=2", "f32[3] 1 2 3", "f32[2] 1 2; f32[1] 3", 0 },
    { 8, "Reshape", "", "f32[2,3] 1 2 3 4 5 6; =i64[2] 0 -1", "f32[2,3] 1 2 3 4 5 6", 0 },
    { 14, "Reshape", "allowzero=1", "f32[0,3]; =i64[2] 3 0", "f32[3,0]", 0 },
    { 10, "Pad", "pads=[1,0] value=9.0", "f32[2] 1 2", "f32[3] 9 1 2", 0 },
    { 10, "Pad", "pads=[-1,2] mode='edge'", "f32[3] 1 2 3", "f32[4] 2 3 3 3", 0 },
    { 18, "Pad", "", "f32[1,2] 1 2; =i64[2] 1 0; _; =i64[1] -1", "f32[1,3] 0 1 2", 0 },
    { 18, "CenterCropPad", "axes=[1]", "f32[1,4] 1 2 3 4; =i64[1] 3", "f32[1,3] 1 2 3", 0 },
    { 13, "Expand", "", "f32[2,1] 1 2; =i64[1] 2", "f32[2,2] 1 1 2 2", 0 },
    { 15, "Shape", "start=-2", "f32[2,3,4] 0", "i64[2] 3 4", 0 },
    { 13, "Size", "", "f32[2,3] 0", "i64[] 6", 0 },
    { 9, "ConstantOfShape", "", "=i64[2] 1 2", "f32[1,2] 0 0", 0 },
    { 11, "Range", "", "=i64[] 5; =i64[] 0; =i64[] -2", "i64[3] 5 3 1", 0 },
    { 11, "Range", "", "=f32[] 1; =f32[] 1; =f32[] 1", "f32[0]", 0 },
    { 9, "EyeLike", "k=-1", "f32[2,3] 0", "f32[2,3] 0 0 0 1 0 0", 0 },

    /* --- arithmetic --- */
    { 7, "Clip", "min=0.0 max=6.0", "f32[3] -1 3 7", "f32[3] 0 3 6", 0 },
    { 10, "Clip", "max=6.0", "f32[3] -1 3 7", "f32[3] -1 3 6", 0 },
    { 13, "Clip", "", "f32[3] -1 3 7; f32[] 0; f32[] 6", "f32[3] 0 3 6", 0 },
    { 13, "Clip", "", "i64[3] -1 3 9007199254740995; =i64[] 0; =i64[] 9007199254740993",
      "i64[3] 0 3 9007199254740993", 0 },
    { 13, "Clip", "", "i8[3] -1 3 7; _; =i8[] 6", "i8[3] -1 3 6", 0 },
    { 13, "Clip", "", "f32[2] -1 3", "f32[2] -1 3", 0 },
    { 13, "Pow", "", "i32[2] 4 9; f32[] 0.5", "i32[2] 2 3", 0 },
    { 13, "Pow", "", "f32[2] 2 3; i64[] 2", "f32[2] 4 9", 0 },
    { 13, "Mean", "", "f32[2] 1 2; f32[] 4; f32[2] 4 6", "f32[2] 3 4", 0 },
    { 11, "Dropout", "", "f32[2] 1 2", "f32[2] 1 2; bool[2] 1 1", 0 },
    { 7, "Dropout", "", "f32[2] 1 2", "f32[2] 1 2; f32[2] 1 1", 0 },
    { 13, "Gemm", "alpha=2.0 beta=3.0", "f32[1,2] 1 2; =f32[2,2] 1 2 3 4; =f32[2] 10 20",
      "f32[1,2] 44 80", 0 },
    { 13, "Gemm", "transA=1 transB=1", "f32[2,1] 1 2; =f32[2,2] 1 2 3 4; f32[] 1", "f32[1,2] 6 12",
      0 },
    { 13, "Gemm", "alpha=0.5", "f32[1,2] 1 2; f32[2,1] 3 4", "f32[1,1] 5.5", 0 },
    { 13, "Gemm", "beta=0.0", "i32[1,2] 1 2; i32[2,1] 3 4; i32[] 9", "i32[1,1] 11", 0 },
    { 13, "MatMul", "", "f32[2] 1 2; f32[2] 3 4", "f32[] 11", 0 },
    { 13, "MatMul", "", "f32[2] 1 2; =f32[2,2] 1 2 3 4", "f32[2] 7 10", 0 },
    { 13, "MatMul", "", "f32[1,2] 1 2; =f32[2,2] 1 2 3 4", "f32[1,2] 7 10", 0 },
    { 12, "Einsum", "equation='i,j->ij'", "f32[2] 1 2; f32[2] 3 4", "f32[2,2] 3 4 6 8", 0 },
    { 12, "Einsum", "equation='ij,jk'", "f32[1,2] 1 2; f32[2,1] 3 4", "f32[1,1] 11", 0 },
    { 12, "Einsum", "equation='ii'", "f32[2,2] 1 2 3 4", "f32[] 5", 0 },
    { 12, "Einsum", "equation='ij->ji'", "f32[1,2] 1 2", "f32[2,1] 1 2", 0 },
    { 12, "Einsum", "equation='i,i,i->'", "f32[2] 1 2; f32[2] 3 4; f32[2] 5 6", "f32[] 63", 0 },
    { 12, "Einsum", "equation='...ij,...jk->...ik'", "f32[1,1,2] 1 2; f32[2,2,1] 3 4 5 6",
      "f32[2,1,1] 11 17", 0 },

    /* --- FP8, by its codes --- */
    { 19, "Cast", "to=17", "f32[3] 1 1000 nan", "f8e4m3[3] 0x38 0x7e 0x7f", 0 },
    { 19, "Cast", "to=17 saturate=0", "f32[3] 1 1000 nan", "f8e4m3[3] 0x38 0x7f 0x7f", 0 },
    { 19, "Cast", "to=19 saturate=1", "f32[2] -1e9 inf", "f8e5m2[2] 0xfb 0x7b", 0 },
    { 19, "Cast", "to=19 saturate=0", "f32[2] -1e9 inf", "f8e5m2[2] 0xfc 0x7c", 0 },
    { 19, "Cast", "to=1 saturate=0", "f8e5m2fnuz[2] 0x40 0x80", "f32[2] 1 nan", 0 },
    { 19, "CastLike", "saturate=0", "f32[2] 1 1000; f8e4m3fnuz[1] 0", "f8e4m3fnuz[2] 0x40 0x80",
      0 },
    { 19, "CastLike", "", "=f32[2] 1 1000; f8e4m3fnuz[1] 0", "f8e4m3fnuz[2] 0x40 0x7f", 0 },
    { 19, "Transpose", "", "=f8e4m3[1,2] 0x7f 1", "f8e4m3[2,1] 0x7f 1", 0 },
    { 19, "Add", "", "f8e4m3[1] 1; f8e4m3[1] 1", "is f8e4m3", DIAG_TYPE },
    { 19, "Relu", "", "f8e4m3[1] 1", "is f8e4m3", DIAG_TYPE },
    { 19, "MaxPool", "kernel_shape=[1]", "f8e4m3[1,1,1] 1", "is f8e4m3", DIAG_TYPE },
    { 19, "ReduceMax", "", "f8e4m3[1] 1", "is f8e4m3", DIAG_TYPE },
    { 19, "Equal", "", "f8e4m3[1] 1; f8e4m3[1] 1", "is f8e4m3", DIAG_TYPE },
    { 23, "Cast", "to=24", "f32[1] 1", "a conversion to this element type", DIAG_UNSUPPORTED_TYPE },

    /* --- reductions --- */
    { 11, "ReduceSum", "axes=[-1] keepdims=0", "f32[2,2] 1 2 3 4", "f32[2] 3 7", 0 },
    { 13, "ReduceSum", "noop_with_empty_axes=1", "f32[2] 1 2; =i64[0]", "f32[2] 1 2", 0 },
    { 18, "ReduceL1", "noop_with_empty_axes=1", "f32[2] -1 2", "f32[2] 1 2", 0 },
    { 18, "ReduceL2", "keepdims=0", "i32[2] 3 4", "i32[] 5", 0 },
    { 18, "ReduceLogSumExp", "keepdims=0", "f32[2] 1000 1000", "f32[] 1000.69314718", 0 },
    { 18, "ReduceLogSumExp", "keepdims=0", "f32[2] -inf -inf", "f32[] -inf", 0 },
    { 11, "Softmax", "axis=1", "f32[1,2,2] 0 0 0 0", "f32[1,2,2] 0.25 0.25 0.25 0.25", 0 },
    { 13, "Softmax", "", "f32[1,2,2] 0 0 0 0", "f32[1,2,2] 0.5 0.5 0.5 0.5", 0 },
    { 9, "TopK", "k=2", "f32[3] 1 3 2", "f32[2] 3 2; i64[2] 1 2", 0 },

    /* --- windows --- */
    { 11, "LpPool", "kernel_shape=[2] p=1", "f32[1,1,3] 1 -2 3", "f32[1,1,2] 3 5", 0 },
    { 7, "GlobalLpPool", "", "f32[1,1,2] 3 4", "f32[1,1,1] 5", 0 },
    { 11, "MaxPool", "kernel_shape=[2] strides=[2] auto_pad='SAME_UPPER'", "f32[1,1,3] 1 2 3",
      "f32[1,1,2] 2 3", 0 },
    { 11, "Conv", "auto_pad='SAME_LOWER'", "f32[1,1,2] 1 2; =f32[1,1,2] 1 10; =f32[1] 100",
      "f32[1,1,2] 110 121", 0 },
    { 11, "ConvTranspose", "strides=[2] output_shape=[3]", "f32[1,1,2] 1 2; =f32[1,1,2] 1 10",
      "f32[1,1,3] 10 2 20", 0 },
    { 11, "ConvTranspose", "strides=[2] auto_pad='SAME_UPPER'", "f32[1,1,2] 1 2; =f32[1,1,1] 1",
      "f32[1,1,4] 1 0 2 0", 0 },
    { 7, "Upsample", "scales=[1.0,2.0]", "f32[1,2] 1 2", "f32[1,4] 1 1 2 2", 0 },
    { 10, "Resize", "", "f32[1,4] 1 2 3 4; =f32[2] 1 0.5", "f32[1,2] 1 3", 0 },
    { 18, "Resize", "axes=[1] keep_aspect_ratio_policy='not_larger'",
      "f32[1,2] 1 2; _; _; =i64[1] 4", "f32[1,4] 1 1 2 2", 0 },

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
    { 10, "MatMulInteger", "", "u8[1,2] 1 2; f32[2,1] 3 4", "is f32, wanted is i8 or u8",
      DIAG_TYPE },
    { 10, "QLinearMatMul", "",
      "i8[1,1] 1; =f32[] 0; =i8[] 0; =i8[1,1] 3; =f32[] 1; =i8[] 0; =f32[] 2; =i8[] 1",
      "input 1 is a scale of 0", DIAG_UNSUPPORTED_FORM },
    { 13, "QuantizeLinear", "", "f32[2] 1 2; =f32[3] 1; =i8[] 0", "axis 1 is out of range",
      DIAG_SHAPE },
    { 13, "QuantizeLinear", "", "f32[2] 1 2; =f32[] 1; =i32[] 0", "wanted is i8, u8, i16 or u16",
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
    { 21, "DequantizeLinear", "block_size=2", "i8[1,3] 1; =f32[1,1] 2", "no number for each block",
      DIAG_SHAPE },
    { 21, "DequantizeLinear", "block_size=2", "i8[1,3] 1; =f32[1,2] 2; =i8[1,1] 2",
      "no number for each block", DIAG_SHAPE },
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
      "u8[1,1,1] 1; =f32[] 0.5; =u8[] 0; =i8[1,1,1] 2; =f32[] 0.5; =i8[] 0; f32[] 1; =u8[] 10",
      "input 6 (\"x6\") must be known at compile time", DIAG_UNSUPPORTED_DYNAMIC },
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
    { 13, "com.microsoft:QLinearAveragePool", "kernel_shape=[2] channels_last=1",
      "u8[1,1,4] 1 3 5 8; =f32[] 1; =u8[] 0; =f32[] 1; =u8[] 1", "relayc takes channels first",
      DIAG_UNSUPPORTED_FORM },
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

    /* --- normalisations --- */
    { 7, "BatchNormalization", "epsilon=0.0",
      "f32[1,2] 3 5; =f32[2] 1 2; =f32[2] 10 20; =f32[2] 1 1; =f32[2] 4 4", "f32[1,2] 11 24", 0 },
    { 18, "GroupNormalization", "num_groups=1 epsilon=0.0", "f32[1,2,1] 1 3; =f32[1] 2; =f32[1] 10",
      "f32[1,2,1] 8 12", 0 },
    { 21, "GroupNormalization", "num_groups=1 epsilon=0.0",
      "f32[1,2,1] 1 3; =f32[2] 2 4; =f32[2] 10 20", "f32[1,2,1] 8 24", 0 },
    { 17, "LayerNormalization", "epsilon=0.0", "f32[1,2] 1 3; =f32[1] 2",
      "f32[1,2] -2 2; f32[1,1] 2; f32[1,1] 1", 0 },
    { 17, "SimplifiedLayerNormalization", "epsilon=0.0", "f32[1,2] 3 3; =f32[2] 1 2",
      "f32[1,2] 1 2", 0 },
    { 17, "com.microsoft:SkipLayerNormalization", "epsilon=0.0",
      "f32[1,1,2] 0 1; f32[1,1,2] 1 2; =f32[2] 1 1; =f32[2] 5 5", "f32[1,1,2] 4 6", 0 },
    { 17, "com.microsoft:Gelu", "", "f32[2] 0 1", "f32[2] 0 0.8413447", 0 },
    { 17, "com.microsoft:FastGelu", "", "f32[1] 0; f32[1] 1", "f32[1] 0.8411920", 0 },
    { 17, "com.microsoft:BiasGelu", "", "f32[1] 0; f32[1] 1", "f32[1] 0.8413447", 0 },
    { 17, "com.microsoft:QuickGelu", "alpha=1.0", "f32[1] 0", "f32[1] 0", 0 },
    { 14, "RNN", "hidden_size=1", "f32[1,1,1] 1; =f32[1,1,1] 1; =f32[1,1,1] 0; _; =i32[1] 1",
      "f32[1,1,1,1] 0.76159416; f32[1,1,1] 0.76159416", 0 },

    /* --- signals --- */
    { 17, "HannWindow", "", "=i64[] 4", "f32[4] 0 0.5 1 0.5", 0 },
    { 17, "HannWindow", "periodic=0", "=i64[] 1", "f32[1] 0", 0 },
    { 17, "DFT", "onesided=1", "f32[1,4,1] 1 2 3 4", "f32[1,3,2] 10 0 -2 2 -2 0", 0 },
    { 17, "DFT", "inverse=1", "f32[1,2,2] 3 0 -1 0", "f32[1,2,2] 1 0 2 0", 0 },
    { 20, "DFT", "", "f32[1,2,1] 1 2; =i64[] 4; =i64[] 1", "f32[1,4,2] 3 0 1 -2 -1 0 1 2", 0 },
    { 17, "STFT", "", "f32[1,4] 1 2 3 4; =i64[] 2; =f32[2] 1 1", "f32[1,2,2,2] 3 0 -1 0 7 0 -1 0",
      0 },

    /* --- mistakes --- */
    { 13, "Relu", "", "f32[1] 0; f32[1] 0", "Relu takes at most 1", DIAG_ONNX_GRAPH },
    { 13, "Add", "", "f32[1] 0", "input 1 is missing", DIAG_ONNX_GRAPH },
    { 13, "Exp", "", "i32[1] 0", "takes a floating-point type", DIAG_TYPE },
    { 13, "Not", "", "f32[1] 0", "takes bool", DIAG_TYPE },
    { 13, "Softmax", "axis=2", "f32[1,1] 0", "axis is 2, wanted -2 to 1", DIAG_ONNX_ATTRIBUTE },
    { 13, "Conv", "strides=[0,1]", "f32[1,1,2,2] 0; f32[1,1,1,1] 1",
      "attribute strides has 0, wanted 1 or more", DIAG_ONNX_ATTRIBUTE },
    { 13, "Conv", "strides=[1]", "f32[1,1,2,2] 0; f32[1,1,1,1] 1",
      "attribute strides has 1 numbers, wanted 2", DIAG_ONNX_ATTRIBUTE },
    { 13, "Conv", "pads=[-1,0,0,0]", "f32[1,1,2,2] 0; f32[1,1,1,1] 1", "attribute pads has -1",
      DIAG_ONNX_ATTRIBUTE },
    { 13, "Conv", "kernel_shape=[3,3]", "f32[1,1,2,2] 0; f32[1,1,1,1] 1",
      "differs from the shape of the weights", DIAG_ONNX_ATTRIBUTE },
    { 13, "Conv", "group=0", "f32[1,1,2,2] 0; f32[1,1,1,1] 1", "attribute group is 0",
      DIAG_ONNX_ATTRIBUTE },
    { 13, "Conv", "auto_pad='BOTH'", "f32[1,1,2,2] 0; f32[1,1,1,1] 1", "auto_pad is none of",
      DIAG_ONNX_ATTRIBUTE },
    { 13, "Conv", "", "f32[1,1,1,1,1,1] 0; f32[1,1,1,1,1,1] 1", "relayc takes 3 to 5 dimensions",
      DIAG_SHAPE },
    { 13, "MaxPool", "", "f32[1,1,2] 0", "kernel_shape is missing", DIAG_ONNX_ATTRIBUTE },
    { 13, "Reshape", "", "f32[2] 0; =i64[2] -1 -1", "one -1 is allowed", DIAG_SHAPE },
    { 13, "Reshape", "", "f32[2] 0; =i64[1] 3", "holds 3 elements", DIAG_SHAPE },
    { 13, "Reshape", "", "f32[2] 0; =i64[3] 4611686018427387904 4 2", "overflows", DIAG_TOO_BIG },
    { 13, "Reshape", "", "f32[2] 0; i64[1] 2", "must be known at compile time",
      DIAG_UNSUPPORTED_DYNAMIC },
    { 13, "Squeeze", "", "f32[2] 0; =i64[1] 0", "is not 1", DIAG_SHAPE },
    { 13, "Transpose", "perm=[0,0]", "f32[1,1] 0", "axis 0 is given twice", DIAG_ONNX_ATTRIBUTE },
    { 13, "Split", "", "f32[3] 0; =i64[0]", "1 outputs for 0 pieces", DIAG_ONNX_GRAPH },
    { 13, "Slice", "", "f32[2] 0; =i64[1] 0; =i64[1] 1; =i64[1] 0; =i64[1] 0", "a step is 0",
      DIAG_ONNX_ATTRIBUTE },
    { 13, "Pad", "mode='mirror'", "f32[2] 0; =i64[2] 0 0", "none of constant",
      DIAG_ONNX_ATTRIBUTE },
    { 13, "TopK", "", "f32[2] 0; =i64[1] 3", "from 0 to 2", DIAG_SHAPE },
    { 13, "Resize", "mode='lanczos'", "f32[2] 0; _; =f32[1] 2", "\"lanczos\"",
      DIAG_UNSUPPORTED_FORM },
    { 13, "Resize", "", "f32[2] 0; _; =f32[1] -2", "the scale of axis 0 is -2",
      DIAG_ONNX_ATTRIBUTE },
    { 13, "LSTM", "hidden_size=1", "f32[1,1,1] 0; f32[1,3,1] 0; f32[1,4,1] 0",
      "W has shape 1x3x1, wanted 1x4x1", DIAG_SHAPE },
    { 13, "Dropout", "", "f32[1] 0; _; =bool[] 1", "asks for training", DIAG_UNSUPPORTED_FORM },
    { 8, "BatchNormalization", "spatial=0", "f32[1,1] 0; f32[1] 1; f32[1] 1; f32[1] 1; f32[1] 1",
      "spatial=0", DIAG_UNSUPPORTED_FORM },
    { 12, "Einsum", "equation='ij->ik'", "f32[1,1] 0", "a label that no operand has",
      DIAG_ONNX_ATTRIBUTE },
    { 12, "Einsum", "equation='ij,jk->ik'", "f32[1,1] 0", "more or fewer operands",
      DIAG_ONNX_ATTRIBUTE },
    { 12, "Einsum", "equation='ijk->ik'", "f32[1,1] 0", "more or fewer dims", DIAG_ONNX_ATTRIBUTE },
    { 11, "Range", "", "=f32[] 0; =f32[] 1; =f32[] 0", "too long", DIAG_TOO_BIG },
    { 11, "Range", "", "=i64[] 0; =i64[] 1; =i64[] 0", "the step of the range is 0",
      DIAG_ONNX_ATTRIBUTE },
    { 18, "GroupNormalization", "num_groups=2", "f32[1,3,1] 0; f32[2] 0; f32[2] 0",
      "a divisor of 3 channels", DIAG_ONNX_ATTRIBUTE },
};

/* --- a model of one node -----------------------------------------------------------------------
 */

static const char *dims_text(struct arena *arena, const struct type *type)
{
    const char *text = "";

    for (int i = 0; i < type->rank; i++)
        text = arena_printf(arena, "%s%s%lld", text, i ? "," : "", (long long)type->dim[i]);
    return text;
}

/* The next tensor of a list; NULL data for "_". */
static struct tensor next_tensor(struct arena *arena, struct bulk *bulk, const char **list,
                                 bool *constant)
{
    const size_t n = strcspn(*list, ";");
    const char *text = arena_strndup(arena, *list, n);

    *list += n + ((*list)[n] == ';');
    text += strspn(text, " ");
    *constant = *text == '=';
    return *text == '_' ? (struct tensor){ .data = NULL }
                        : tensor_from_text(bulk, text + *constant);
}

struct fixture {
    struct ctx *ctx;
    struct bulk bulk;
    struct onnx_builder *builder;
    struct tensor inputs[MAX_OPERANDS]; /* those that are no initialisers */
    int n_inputs;
    struct tensor wanted[MAX_OPERANDS];
    int n_wanted;
};

/* As ONNX has them in a file: two of 4 bits in a byte. */
static const void *packed(struct arena *arena, const struct tensor *tensor)
{
    const int64_t n = type_elements(&tensor->type);
    const uint8_t *codes = tensor->data;
    uint8_t *bytes = arena_array(arena, uint8_t, n + 1);

    if (dtype_packed_bits(tensor->type.dtype) >= 8)
        return codes;
    for (int64_t i = 0; i < n; i++)
        bytes[i / 2] |= (uint8_t)((codes[i] & 15) << i % 2 * 4);
    return bytes;
}

static void build_model(struct fixture *f, const struct row *row)
{
    struct arena *arena = &f->ctx->perm;
    const char *names = "", *outputs = "", *list = row->inputs;
    bool constant;

    f->builder = builder_new(row->opset);
    builder_domain(f->builder, "com.microsoft", 1);
    for (int i = 0; *list; i++) {
        struct tensor tensor = next_tensor(arena, &f->bulk, &list, &constant);
        const char *name = tensor.data ? arena_printf(arena, "x%d", i) : "_";

        names = arena_printf(arena, "%s%s%s", names, i ? " " : "", name);
        if (constant)
            builder_tensor(f->builder, name, tensor.type.dtype, dims_text(arena, &tensor.type),
                           packed(arena, &tensor));
        else if (tensor.data)
            builder_input(f->builder, name, tensor.type.dtype, dims_text(arena, &tensor.type));
        if (tensor.data && !constant)
            f->inputs[f->n_inputs++] = tensor;
    }
    for (list = row->error ? "f32[1] 0" : row->want; *list; f->n_wanted++) {
        const char *name = arena_printf(arena, "y%d", f->n_wanted);

        f->wanted[f->n_wanted] = next_tensor(arena, &f->bulk, &list, &constant);
        outputs = arena_printf(arena, "%s%s%s", outputs, f->n_wanted ? " " : "", name);
        if (!row->error)
            builder_output(f->builder, name, f->wanted[f->n_wanted].type.dtype,
                           dims_text(arena, &f->wanted[f->n_wanted].type));
    }
    if (row->error)
        builder_output(f->builder, "y0", DTYPE_F32, NULL);
    builder_node(f->builder, row->op, names, outputs);
    builder_attrs(f->builder, "%s", row->attrs);
}

static struct module *import_model(struct fixture *f)
{
    const struct import_options options = { 0 };
    size_t n;
    const uint8_t *bytes = builder_bytes(f->builder, &n);

    return onnx_import_bytes(f->ctx, bytes, n, NULL, &options);
}

static void check_tensor(const struct row *row, const struct tensor *wanted,
                         const struct tensor *found)
{
    ck_assert_msg(wanted->type.dtype == found->type.dtype &&
                      type_same_shape(&wanted->type, &found->type),
                  "%s gives another type", row->op);
    if (dtype_kind(wanted->type.dtype) == KIND_MINIFLOAT) {
        ck_assert_msg(tensor_equal(wanted, found), "%s {%s} gives other codes", row->op,
                      row->attrs);
        return;
    }
    for (int64_t i = 0; i < type_elements(&wanted->type); i++) {
        const double want = tensor_at(wanted, i), is = tensor_at(found, i);

        if (!dtype_is_float(wanted->type.dtype))
            ck_assert_int_eq(tensor_int_at(found, i), tensor_int_at(wanted, i));
        else
            ck_assert_msg(want == is || (isnan(want) && isnan(is)) ||
                              fabs(want - is) <= 1e-6 * fmax(1, fabs(want)),
                          "%s {%s}: element %d is %.9g, wanted %.9g", row->op, row->attrs, (int)i,
                          is, want);
    }
}

static struct fixture fixture_of(const struct row *row)
{
    struct fixture f = { .ctx = ctx_new("test.onnx") };

    build_model(&f, row);
    return f;
}

static void fixture_free(struct fixture *f, struct module *module)
{
    module_free(module);
    builder_free(f->builder);
    bulk_release(&f->bulk);
    ctx_free(f->ctx);
}

static void check_results(const struct row *row, struct fixture *f, struct module *module)
{
    struct tensor outputs[MAX_OPERANDS];

    ck_assert_msg(module != NULL, "%s {%s}: %s", row->op, row->attrs, expect_text(f->ctx));
    ck_assert_int_eq(module->main->ret->n_inputs, f->n_wanted);
    ck_assert_msg(interpret(f->ctx, module->main, f->inputs, outputs, &f->bulk, NULL), "%s: %s",
                  row->op, expect_text(f->ctx));
    for (int i = 0; i < f->n_wanted; i++)
        check_tensor(row, &f->wanted[i], &outputs[i]);
}

START_TEST(a_node_is_converted_or_refused)
{
    const struct row *row = &rows[_i];
    struct fixture f = fixture_of(row);
    struct module *module = import_model(&f);

    if (row->error) {
        ck_assert_msg(!module, "%s {%s} is accepted", row->op, row->attrs);
        ck_assert_msg(expect_error(f.ctx, row->error, row->want), "%s: wanted \"%s\", got %s",
                      row->op, row->want, expect_text(f.ctx));
    } else {
        check_results(row, &f, module);
    }
    fixture_free(&f, module);
}
END_TEST

/* Weights that are known become nn.dense with a folded factor, so that Gemm costs one kernel. */
START_TEST(gemm_with_known_weights_scales_nothing_at_run_time)
{
    static const struct row row = { 13,
                                    "Gemm",
                                    "alpha=2.0 beta=3.0",
                                    "f32[1,2] 1 2; =f32[2,2] 1 2 3 4; =f32[2] 10 20",
                                    "f32[1,2] 0 0",
                                    0 };
    struct fixture f = fixture_of(&row);
    struct module *module = import_model(&f);

    ck_assert_ptr_nonnull(module);
    for (const struct node *n = module->main->first; n; n = n->next)
        if (n->op == OP_MULTIPLY)
            ck_assert(n->inputs[0]->kind == VALUE_CONSTANT && n->inputs[1]->kind == VALUE_CONSTANT);
    ck_assert_int_eq(module->main->last->op, OP_BIAS_ADD);
    fixture_free(&f, module);
}
END_TEST

/* A list of strings, which builder_attrs cannot write. */
static void add_activation(struct onnx_builder *b, const char *name)
{
    Onnx__AttributeProto *attr =
        builder_attr(b, "activations", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);

    attr->n_strings = 1;
    attr->strings = arena_array(&b->arena, ProtobufCBinaryData, 1);
    attr->strings[0].len = strlen(name);
    attr->strings[0].data = (uint8_t *)arena_strdup(&b->arena, name);
}

START_TEST(activations_are_found_whatever_their_case_and_take_their_numbers)
{
    static const struct row row = { 14,
                                    "RNN",
                                    "hidden_size=1 activation_alpha=[2.0]",
                                    "f32[1,1,1] 3; =f32[1,1,1] 1; =f32[1,1,1] 0",
                                    "f32[1,1,1,1] 6; f32[1,1,1] 6",
                                    0 };
    struct fixture f = fixture_of(&row);
    struct module *module;

    add_activation(f.builder, "affine");
    module = import_model(&f);
    check_results(&row, &f, module);
    fixture_free(&f, module);
}
END_TEST

START_TEST(an_unknown_activation_is_named)
{
    static const struct row row = { 14,
                                    "RNN",
                                    "hidden_size=1",
                                    "f32[1,1,1] 3; =f32[1,1,1] 1; =f32[1,1,1] 0",
                                    "f32[1,1,1,1] 6; f32[1,1,1] 6",
                                    0 };
    struct fixture f = fixture_of(&row);

    add_activation(f.builder, "Sw\033[1mish");
    ck_assert_ptr_null(import_model(&f));
    ck_assert(expect_error(f.ctx, DIAG_UNSUPPORTED_FORM,
                           "the activation \"Sw\\x1B[1mish\" is not known"));
    fixture_free(&f, NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("convert");
    TCase *tcase = tcase_create("converters");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_loop_test(tcase, a_node_is_converted_or_refused, 0, N_ROWS(rows));
    tcase_add_test(tcase, activations_are_found_whatever_their_case_and_take_their_numbers);
    tcase_add_test(tcase, an_unknown_activation_is_named);
    tcase_add_test(tcase, gemm_with_known_weights_scales_nothing_at_run_time);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
