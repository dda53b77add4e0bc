/* The converters of ONNX operators where the ONNX backend tests (tests/conformance) do not reach:
 * forms of older operator sets, extensions, run-time operands in place of constants, mistakes.
 * Quantised operators: test_convert_quantised.c. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/expect.h"
#include "tests/support/onnx_row.h"

#define POWERS                                                                                     \
    "f32[12] 0 1.5 1.49 3 -3 inf nan 2.04169428e+38 5.87747175e-39 7.34683969e-39 8.81620763e-39 " \
    "2.93873588e-39"

static const struct onnx_row rows[] = {
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

    /* --- attention: where all keys are alike, a query gets the mean of the values --- */
    { 23, "Attention", "", "f32[1,1,1,2] 1 2; f32[1,1,2,2] 0; f32[1,1,2,2] 1 3 5 7",
      "f32[1,1,1,2] 3 5", 0 },
    { 23, "Attention", "scale=1.0", "f32[1,1,1,1] 1; f32[1,1,2,1] 0 1.0986123; f32[1,1,2,1] 0 4",
      "f32[1,1,1,1] 3", 0 },
    { 23, "Attention", "scale=1.0 softcap=1.0",
      "f32[1,1,1,1] 1; f32[1,1,2,1] 0 0.54930614; f32[1,1,2,1] 0 4; f32[1,2] 0 0.59861229",
      "f32[1,1,1,1] 3", 0 },
    { 23, "Attention", "is_causal=1 q_num_heads=2 kv_num_heads=2",
      "f32[1,2,2] 0; f32[1,2,2] 0; f32[1,2,2] 1 2 3 4", "f32[1,2,2] 1 2 2 3", 0 },
    { 23, "Attention", "q_num_heads=4 kv_num_heads=2", "f32[1,1,4] 0; f32[1,1,2] 0; f32[1,1,2] 5 7",
      "f32[1,1,4] 5 5 7 7", 0 },
    { 23, "Attention", "is_causal=1",
      "f32[1,1,1,1] 0; f32[1,1,2,1] 0; f32[1,1,2,1] 3 9; _; f32[1,1,1,1] 0; f32[1,1,1,1] 1",
      "f32[1,1,1,1] 2; f32[1,1,3,1] 0 0 0; f32[1,1,3,1] 1 3 9", 0 },
    { 23, "Attention", "", "f32[1,1,2,1] 0; f32[1,1,2,1] 0; f32[1,1,2,1] 3 9; bool[2,2] 0 0 0 1",
      "f32[1,1,2,1] 0 9", 0 },
    { 23, "Attention", "", "f32[1,1,2,1] 0; f32[1,1,2,1] 0; f32[1,1,2,1] 3 9; f32[2,1] 7 -inf",
      "f32[1,1,2,1] 6 0", 0 },
    { 24, "Attention", "",
      "f32[2,1,1,1] 0; f32[2,1,2,1] 0; f32[2,1,2,1] 3 9 3 9; _; _; _; i64[2] 1 2",
      "f32[2,1,1,1] 3 6", 0 },
    { 24, "Attention", "", "f32[1,1,2,1] 0; f32[1,1,2,1] 0; f32[1,1,2,1] 3 9; f32[2,1] 7 -inf",
      "f32[1,1,2,1] 3 0", 0 },
    { 24, "Attention", "", "f32[1,1,1,1] 0; f32[1,1,3,1] 0; f32[1,1,3,1] 3 9 7; bool[1,2] 1",
      "f32[1,1,1,1] 6", 0 },
    { 24, "Attention", "is_causal=1",
      "f32[1,1,2,1] 0; f32[1,1,3,1] 0; f32[1,1,3,1] 3 9 1; _; _; _; i64[1] 2", "f32[1,1,2,1] 3 6",
      0 },
    { 25, "Attention", "left_window_size=0 right_window_size=1",
      "f32[1,1,3,1] 0; f32[1,1,3,1] 0; f32[1,1,3,1] 2 4 8", "f32[1,1,3,1] 3 6 8", 0 },
    { 25, "Attention", "left_window_size=0", "f32[1,1,3,1] 0; f32[1,1,2,1] 0; f32[1,1,2,1] 2 4",
      "f32[1,1,3,1] 3 4 0", 0 },
    { 23, "Attention", "qk_matmul_output_mode=3",
      "f32[1,1,1,1] 0; f32[1,1,2,1] 0; f32[1,1,2,1] 1 3",
      "f32[1,1,1,1] 2; f32[1,1,2,1] 0 0; f32[1,1,2,1] 1 3; f32[1,1,1,2] 0.5 0.5", 0 },
    { 23, "Attention", "q_num_heads=3 kv_num_heads=2", "f32[1,1,3] 0; f32[1,1,2] 0; f32[1,1,2] 5 7",
      "3 heads of queries, 2 of keys and values", DIAG_ONNX_ATTRIBUTE },
    { 23, "Attention", "", "f32[1,1,3] 0; f32[1,1,3,1] 0; f32[1,1,2] 5 7", "wanted 3 or 4 each",
      DIAG_SHAPE },
    { 27, "CausalConvWithState", "", "f32[1,1,3] 1 2 3; =f32[1,1,2] 10 1",
      "f32[1,1,3] 1 12 23; f32[1,1,1] 3", 0 },
    { 27, "CausalConvWithState", "",
      "f32[1,2,1] 1 2; =f32[2,1,3] 1 10 100; f32[2] 5 6; f32[1,2,2] 3 4 7 8",
      "f32[1,2,1] 148 293; f32[1,2,2] 4 1 8 2", 0 },
    { 27, "CausalConvWithState", "activation='silu'", "f32[1,1,1] 1; =f32[1,1,1] 1",
      "f32[1,1,1] 0.73105858; f32[1,1,0]", 0 },
    { 27, "CausalConvWithState", "activation='relu'", "f32[1,1,1] 1; =f32[1,1,1] 1",
      "none of none, silu", DIAG_ONNX_ATTRIBUTE },
    { 27, "CausalConvWithState", "", "f32[1,2,1] 1; =f32[2,1,3] 1; _; f32[1,2,3] 1", "wanted 1x2x2",
      DIAG_SHAPE },
    { 23, "RotaryEmbedding", "", "f32[1,1,1,2] 3 4; f32[2,1] 1 0; f32[2,1] 0 1; i64[1,1] 1",
      "f32[1,1,1,2] -4 3", 0 },
    { 23, "RotaryEmbedding", "num_heads=2 interleaved=1",
      "f32[1,1,8] 1 2 3 4 5 6 7 8; f32[1,1,2] 0 1; f32[1,1,2] 1 0", "f32[1,1,8] -2 1 3 4 -6 5 7 8",
      0 },
    { 23, "RotaryEmbedding", "rotary_embedding_dim=2",
      "f32[1,1,1,3] 1 2 9; f32[1,1,1] 0; f32[1,1,1] 1", "f32[1,1,1,3] -2 1 9", 0 },
    { 23, "RotaryEmbedding", "rotary_embedding_dim=3", "f32[1,1,1,4] 0; f32[1,1,1] 0; f32[1,1,1] 1",
      "wanted an even number", DIAG_ONNX_ATTRIBUTE },

    { 27, "LinearAttention", "q_num_heads=1 kv_num_heads=1 scale=0.5",
      "f32[1,2,2] 1 2 3 -1; f32[1,2,2] 0.5 1 -1 2; f32[1,2,2] 1 -2 2 0.5; _; f32[1,2,1] -1 -0.5; "
      "f32[1,2,1] 0.5 0.25",
      "f32[1,2,2] 0.625 -1.25 -0.88987243 -1.0327551; "
      "f32[1,1,2,2] -0.23464283 -0.65571433 1.0758164 0.09836733",
      0 },
    { 27, "LinearAttention", "q_num_heads=1 kv_num_heads=1 update_rule='linear'",
      "f32[1,1,1] 1; f32[1,1,1] 1; f32[1,1,1] 1; _; f32[1,1,1] 1", "linear takes no decay",
      DIAG_ONNX_GRAPH },
    { 27, "LinearAttention", "q_num_heads=3 kv_num_heads=2",
      "f32[1,1,3] 1; f32[1,1,2] 1; f32[1,1,2] 1; "
      "_; f32[1,1,2] 1; f32[1,1,2] 1",
      "wanted a multiple", DIAG_ONNX_ATTRIBUTE },

    /* --- bits --- */
    { 26, "BitCast", "to=6", "f32[2] 1 -0", "i32[2] 1065353216 -2147483648", 0 },
    { 26, "BitCast", "to=11", "i64[1] 4607182418800017408", "f64[1] 1", 0 },
    { 26, "BitCast", "to=22", "u4[2] 7 9", "i4[2] 7 -7", 0 },
    { 26, "BitCast", "to=23", "i4[2] -1 2", "f4e2m1[2] 0xf 0x2", 0 },
    { 26, "BitCast", "to=22", "f4e2m1[2] 0xf 0x2", "i4[2] -1 2", 0 },
    { 26, "BitCast", "to=2", "f32[1] 1", "the bits of f32 are not those of u8",
      DIAG_ONNX_ATTRIBUTE },
    { 23, "Cast", "to=22", "f32[3] -9 8 3.7", "i4[3] -8 7 3", 0 },
    { 24, "Cast", "to=22", "f32[3] -9 8 3.7", "i4[3] 7 -8 3", 0 },
    { 25, "Cast", "to=25", "f32[3] -1 4 2", "u2[3] 3 0 2", 0 },
    { 25, "Cast", "to=26", "=i8[3] -1 2 1", "i2[3] -1 -2 1", 0 },
    { 25, "DequantizeLinear", "", "i2[3] -2 1 0; =f32[1] 0.5; =i2[1] 1", "f32[3] -1.5 0 -0.5", 0 },
    { 25, "QuantizeLinear", "", "f32[3] -9 0.5 1; =f32[1] 0.5; =u2[1] 1", "u2[3] 0 2 3", 0 },

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
    { 23, "Cast", "to=27", "f32[1] 1", "a conversion to this element type", DIAG_UNSUPPORTED_TYPE },

    /* --- f8e8m0: what ONNX Runtime 1.32 gives --- */
    { 24, "Cast", "to=24 saturate=1 round_mode='up'", POWERS,
      "f8e8m0[12] 0x00 0x80 0x80 0x81 0x00 0xfe 0xff 0xfe 0x00 0x01 0x01 0x00", 0 },
    { 24, "Cast", "to=24 saturate=0 round_mode='up'", POWERS,
      "f8e8m0[12] 0xff 0x80 0x80 0x81 0xff 0xff 0xff 0xff 0x00 0x01 0x01 0xff", 0 },
    { 24, "Cast", "to=24 saturate=1 round_mode='down'", POWERS,
      "f8e8m0[12] 0x00 0x7f 0x7f 0x80 0x00 0xfe 0xff 0xfe 0x00 0x00 0x00 0x00", 0 },
    { 24, "Cast", "to=24 saturate=0 round_mode='down'", POWERS,
      "f8e8m0[12] 0xff 0x7f 0x7f 0x80 0xff 0xff 0xff 0xff 0x00 0x00 0x00 0xff", 0 },
    { 24, "Cast", "to=24 saturate=1 round_mode='nearest'", POWERS,
      "f8e8m0[12] 0x00 0x80 0x7f 0x81 0x00 0xfe 0xff 0xfe 0x00 0x00 0x01 0x00", 0 },
    { 24, "Cast", "to=24 saturate=0 round_mode='nearest'", POWERS,
      "f8e8m0[12] 0xff 0x80 0x7f 0x81 0xff 0xff 0xff 0xff 0x00 0x00 0x01 0xff", 0 },
    { 24, "Cast", "to=24", "f16[3] 0.124 1.1 8", "f8e8m0[3] 0x7c 0x80 0x82", 0 },
    { 24, "Cast", "to=24", "i32[3] 5 0 -1", "f8e8m0[3] 0x82 0x00 0x00", 0 },
    { 24, "Cast", "to=1", "f8e8m0[5] 0 1 0x7f 0xfe 0xff",
      "f32[5] 5.87747175e-39 1.17549435e-38 1 1.70141183e+38 nan", 0 },
    { 24, "Cast", "to=10", "=f8e8m0[4] 0 0x70 0x82 0xfe", "f16[4] 0 3.0517578e-05 8 inf", 0 },
    { 25, "CastLike", "round_mode='down'", "f32[2] 1.9 4; f8e8m0[1] 0", "f8e8m0[2] 0x7f 0x81", 0 },
    { 26, "BitCast", "to=2", "f8e8m0[2] 0x80 0xff", "u8[2] 128 255", 0 },
    { 26, "BitCast", "to=24", "u8[2] 128 255", "f8e8m0[2] 0x80 0xff", 0 },
    { 25, "Transpose", "", "f8e8m0[1,2] 0x7f 1", "f8e8m0[2,1] 0x7f 1", 0 },
    { 25, "DequantizeLinear", "output_dtype=1 block_size=2",
      "i8[1,4] 3 -1 2 1; =f8e8m0[1,2] 0x80 0x7e", "f32[1,4] 6 -2 1 0.5", 0 },
    { 25, "DequantizeLinear", "output_dtype=1", "i8[2] 3 -1; f8e8m0[] 0x81", "f32[2] 12 -4", 0 },
    { 25, "QuantizeLinear", "", "f32[3] 9 -4 2; =f8e8m0[] 0x80; =i8[] 0", "i8[3] 4 -2 1", 0 },
    { 25, "DequantizeLinear", "", "i8[1] 3; f8e8m0[] 0x81", "need the attribute output_dtype",
      DIAG_ONNX_ATTRIBUTE },
    { 24, "Cast", "to=24 round_mode='odd'", "f32[1] 1", "wanted up, down or nearest",
      DIAG_ONNX_ATTRIBUTE },
    { 25, "Add", "", "f8e8m0[1] 1; f8e8m0[1] 1", "is f8e8m0", DIAG_TYPE },
    { 25, "Relu", "", "f8e8m0[1] 1", "is f8e8m0", DIAG_TYPE },

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

    /* --- normalisations --- */
    { 7, "BatchNormalization", "epsilon=0.0",
      "f32[1,2] 3 5; =f32[2] 1 2; =f32[2] 10 20; =f32[2] 1 1; =f32[2] 4 4", "f32[1,2] 11 24", 0 },
    { 14, "BatchNormalization", "epsilon=0.0 momentum=0.5 training_mode=1",
      "f32[2,2] 1 3 3 7; =f32[2] 1 2; =f32[2] 10 20; =f32[2] 4 4; =f32[2] 2 2",
      "f32[2,2] 9 18 11 22; f32[2] 3 4.5; f32[2] 1.5 3", 0 },
    { 18, "GroupNormalization", "num_groups=1 epsilon=0.0", "f32[1,2,1] 1 3; =f32[1] 2; =f32[1] 10",
      "f32[1,2,1] 8 12", 0 },
    { 21, "GroupNormalization", "num_groups=1 epsilon=0.0",
      "f32[1,2,1] 1 3; =f32[2] 2 4; =f32[2] 10 20", "f32[1,2,1] 8 24", 0 },
    { 17, "LayerNormalization", "epsilon=0.0", "f32[1,2] 1 3; =f32[1] 2",
      "f32[1,2] -2 2; f32[1,1] 2; f32[1,1] 1", 0 },
    { 23, "RMSNormalization", "epsilon=0.0", "f32[1,2] 3 3; =f32[2] 1 2", "f32[1,2] 1 2", 0 },
    { 17, "SimplifiedLayerNormalization", "epsilon=0.0", "f32[1,2] 3 3; =f32[2] 1 2",
      "f32[1,2] 1 2", 0 },
    { 17, "com.microsoft:SkipLayerNormalization", "epsilon=0.0",
      "f32[1,1,2] 0 1; f32[1,1,2] 1 2; =f32[2] 1 1; =f32[2] 5 5", "f32[1,1,2] 4 6", 0 },
    { 17, "com.microsoft:Gelu", "", "f32[2] 0 1", "f32[2] 0 0.8413447", 0 },
    { 17, "com.microsoft:FastGelu", "", "f32[1] 0; f32[1] 1", "f32[1] 0.8411920", 0 },
    { 17, "com.microsoft:BiasGelu", "", "f32[1] 0; f32[1] 1", "f32[1] 0.8413447", 0 },
    { 17, "com.microsoft:QuickGelu", "alpha=1.0", "f32[1] 0", "f32[1] 0", 0 },
    { 24, "TensorScatter", "mode='circular'", "f32[1,4,1] 1 2 3 4; f32[1,2,1] 8 9; i64[1] 3",
      "f32[1,4,1] 9 2 3 8", 0 },
    { 24, "TensorScatter", "axis=1", "f32[2,3] 1 2 3 4 5 6; f32[2,2] 7 8 9 10; i64[2] 1 0",
      "f32[2,3] 1 7 8 9 10 6", 0 },
    { 24, "TensorScatter", "axis=1", "f32[1,3] 1 2 3; f32[1,2] 7 8", "f32[1,3] 7 8 3", 0 },
    { 17, "Det", "", "f32[3,3] 2 0 1 1 3 2 1 1 4", "f32[] 18", 0 },
    { 24, "Swish", "", "f32[2] 0 1", "f32[2] 0 0.73105858", 0 },
    { 24, "Swish", "alpha=2.0", "f32[1] 1", "f32[1] 0.88079708", 0 },
    { 28, "SwiGLU", "", "f32[2] 0 1; f32[2] 5 10", "f32[2] 0 7.3105858", 0 },
    { 28, "Mod", "", "f32[4] 5 -5 5 -5; f32[4] 3 3 -3 -3", "f32[4] 2 1 -1 -2", 0 },
    { 27, "Mod", "", "f32[1] 5; f32[1] 3", "fmod must be 1", DIAG_ONNX_ATTRIBUTE },
    { 28, "BitShift", "direction='RIGHT'", "i32[3] -9 9 -9; i32[3] 1 1 40", "i32[3] -5 4 -1", 0 },
    { 28, "BitShift", "direction='LEFT'", "i8[2] -3 127; i8[2] 1 1", "i8[2] -6 -2", 0 },
    { 27, "BitShift", "direction='LEFT'", "i8[1] 1; i8[1] 1", "takes unsigned integers",
      DIAG_TYPE },
    { 14, "RNN", "hidden_size=1", "f32[1,1,1] 1; =f32[1,1,1] 1; =f32[1,1,1] 0; _; =i32[1] 1",
      "f32[1,1,1,1] 0.76159416; f32[1,1,1] 0.76159416", 0 },

    /* --- signals --- */
    { 17, "HannWindow", "", "=i64[] 4", "f32[4] 0 0.5 1 0.5", 0 },
    { 17, "HannWindow", "periodic=0", "=i64[] 1", "f32[1] 0", 0 },
    { 17, "DFT", "onesided=1", "f32[1,4,1] 1 2 3 4", "f32[1,3,2] 10 0 -2 2 -2 0", 0 },
    { 17, "DFT", "inverse=1", "f32[1,2,2] 3 0 -1 0", "f32[1,2,2] 1 0 2 0", 0 },
    { 20, "DFT", "", "f32[1,2,1] 1 2; =i64[] 4; =i64[] 1", "f32[1,4,2] 3 0 1 -2 -1 0 1 2", 0 },
    { 17, "DFT", "onesided=1 inverse=1", "f32[1,3,2] 10 0 -2 2 -2 0", "f32[1,4,1] 1 2 3 4", 0 },
    { 17, "DFT", "onesided=1 inverse=1", "f32[1,3,2] 15 0 -2.5 3.4409548 -2.5 0.81229924; =i64[] 5",
      "f32[1,5,1] 1 2 3 4 5", 0 },
    { 17, "DFT", "onesided=1 inverse=1", "f32[1,3,2] 10 9 -2 2 -2 0; =i64[] 2", "f32[1,2,1] 4 6",
      0 },
    { 17, "DFT", "onesided=1 inverse=1", "f32[1,3,1] 1 2 3", "wanted complex ones", DIAG_SHAPE },
    { 17, "STFT", "", "f32[1,4] 1 2 3 4; =i64[] 2; f32[2] 1 2", "f32[1,2,2,2] 5 0 -3 0 11 0 -5 0",
      0 },
    { 17, "STFT", "", "f32[1,4,1] 1 2 3 4; =i64[] 2; f32[2] 1 2", "f32[1,2,2,2] 5 0 -3 0 11 0 -5 0",
      0 },
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
    { 13, "Dropout", "", "f32[1] 0; _; =bool[] 1", "is for training", DIAG_UNSUPPORTED_FORM },
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

START_TEST(a_node_is_converted_or_refused)
{
    onnx_row_test(&rows[_i]);
}
END_TEST

/* Weights that are known become nn.dense with a folded factor, so that Gemm costs one kernel. */
START_TEST(gemm_with_known_weights_scales_nothing_at_run_time)
{
    static const struct onnx_row row = { 13,
                                         "Gemm",
                                         "alpha=2.0 beta=3.0",
                                         "f32[1,2] 1 2; =f32[2,2] 1 2 3 4; =f32[2] 10 20",
                                         "f32[1,2] 0 0",
                                         0 };
    struct onnx_row_case f = onnx_row_new(&row);
    struct module *module = onnx_row_import(&f);

    ck_assert_ptr_nonnull(module);
    for (const struct node *n = module->main->first; n; n = n->next)
        if (n->op == OP_MULTIPLY)
            ck_assert(n->inputs[0]->kind == VALUE_CONSTANT && n->inputs[1]->kind == VALUE_CONSTANT);
    ck_assert_int_eq(module->main->last->op, OP_BIAS_ADD);
    onnx_row_free(&f, module);
}
END_TEST

/* A list of strings, which builder_attrs cannot write. */
static void add_activations(struct onnx_builder *b, int n, const char *const *names)
{
    Onnx__AttributeProto *attr =
        builder_attr(b, "activations", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);

    attr->n_strings = (size_t)n;
    attr->strings = arena_array(&b->arena, ProtobufCBinaryData, n);
    for (int i = 0; i < n; i++) {
        attr->strings[i].len = strlen(names[i]);
        attr->strings[i].data = (uint8_t *)arena_strdup(&b->arena, names[i]);
    }
}

static void add_activation(struct onnx_builder *b, const char *name)
{
    add_activations(b, 1, &name);
}

START_TEST(activations_are_found_whatever_their_case_and_take_their_numbers)
{
    static const struct onnx_row row = { 14,
                                         "RNN",
                                         "hidden_size=1 activation_alpha=[2.0]",
                                         "f32[1,1,1] 3; =f32[1,1,1] 1; =f32[1,1,1] 0",
                                         "f32[1,1,1,1] 6; f32[1,1,1] 6",
                                         0 };
    struct onnx_row_case f = onnx_row_new(&row);
    struct module *module;

    add_activation(f.builder, "affine");
    module = onnx_row_import(&f);
    onnx_row_check(&row, &f, module);
    onnx_row_free(&f, module);
}
END_TEST

/* The layer has a kernel for directions that are alike; others are written out. */
START_TEST(directions_may_have_activations_of_their_own)
{
    static const struct onnx_row row = {
        14,
        "RNN",
        "hidden_size=1 direction='bidirectional' activation_alpha=[2.0]",
        "f32[1,1,1] 3; =f32[2,1,1] 1; =f32[2,1,1] 0",
        "f32[1,2,1,1] 6 3; f32[2,1,1] 6 3",
        0
    };
    static const char *const names[][2] = { { "Affine", "Relu" }, { "Relu", "Affine" } };
    struct onnx_row swapped = row;
    struct onnx_row_case f;
    struct module *module;

    swapped.want = _i ? "f32[1,2,1,1] 3 6; f32[2,1,1] 3 6" : row.want;
    f = onnx_row_new(&swapped);
    add_activations(f.builder, 2, names[_i]);
    module = onnx_row_import(&f);
    onnx_row_check(&swapped, &f, module);
    for (const struct node *n = module->main->first; n; n = n->next)
        ck_assert_int_ne(n->op, OP_RNN);
    onnx_row_free(&f, module);
}
END_TEST

START_TEST(an_unknown_activation_is_named)
{
    static const struct onnx_row row = { 14,
                                         "RNN",
                                         "hidden_size=1",
                                         "f32[1,1,1] 3; =f32[1,1,1] 1; =f32[1,1,1] 0",
                                         "f32[1,1,1,1] 6; f32[1,1,1] 6",
                                         0 };
    struct onnx_row_case f = onnx_row_new(&row);

    add_activation(f.builder, "Sw\033[1mish");
    ck_assert_ptr_null(onnx_row_import(&f));
    ck_assert(expect_error(f.ctx, DIAG_UNSUPPORTED_FORM,
                           "the activation \"Sw\\x1B[1mish\" is not known"));
    onnx_row_free(&f, NULL);
}
END_TEST

/* 2 * 1.7 = 3.4: three elements, whose last one is x's last by PyTorch. */
START_TEST(corners_are_aligned_as_the_exporter_aligns_them)
{
    static const struct {
        const char *producer;
        struct onnx_row row;
    } cases[] = {
        { "pytorch",
          { 13, "Resize", "mode='linear' coordinate_transformation_mode='align_corners'",
            "f32[2] 0 12; _; =f32[1] 1.7", "f32[3] 0 6 12", 0 } },
        { "onnx",
          { 13, "Resize", "mode='linear' coordinate_transformation_mode='align_corners'",
            "f32[2] 0 12; _; =f32[1] 1.7", "f32[3] 0 5 10", 0 } },
    };
    struct onnx_row_case f = onnx_row_new(&cases[_i].row);
    struct module *module;

    f.builder->model->producer_name = arena_strdup(&f.builder->arena, cases[_i].producer);
    module = onnx_row_import(&f);
    onnx_row_check(&cases[_i].row, &f, module);
    ck_assert_int_eq(expect_warning(f.ctx, DIAG_SHAPE, "corners are aligned for 3.4"), _i == 1);
    onnx_row_free(&f, module);
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
    tcase_add_loop_test(tcase, directions_may_have_activations_of_their_own, 0, 2);
    tcase_add_test(tcase, an_unknown_activation_is_named);
    tcase_add_loop_test(tcase, corners_are_aligned_as_the_exporter_aligns_them, 0, 2);
    tcase_add_test(tcase, gemm_with_known_weights_scales_nothing_at_run_time);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
