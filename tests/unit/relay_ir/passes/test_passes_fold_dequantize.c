/* fold_dequantize: what products make of operands that are stored small; unshare_dequantize. */
#include <check.h>
#include <stdlib.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

#define CONV_F32                                                                                   \
    "{strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, data_layout=\"NCHW\", "          \
    "kernel_layout=\"OIHW\", out_dtype=f32}"
#define CONV_OUT                                                                                   \
    "{strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NCHW\", "          \
    "kernel_layout=\"OIHW\", out_dtype=f32}"
#define IN "(%x: (1,2,4,4) f32) -> (%y) {\n"
#define NUMBERS                                                                                    \
    "3, 1, 4, -1, 5, -8, 2, 6, -5, 3, 5, -7, 7, 0, 2, -3, 3, 1, -4, 1, 5, 7, 2, -6, 5, 3, -5, 7, " \
    "-7, 0, 2, 3"
#define IN8 "(%x: (1,2,4,4) f8e4m3) -> (%y) {\n"

static const struct pass_case rows[] = {
    /* weights with a scale per output channel */
    { "product_of_quantized",
      "fn main" IN "  const @w : (3,2,3,3) i8 = crc32:00000000\n"
      "  const @s : (3) f32 = [0.5, 0.25, 2]\n"
      "  const @z : () i8 = [0]\n"
      "  %f = qnn.dequantize(@w, @s, @z) {axis=0}\n"
      "  %y = nn.conv2d(%x, %f) " CONV_PADDED "\n"
      "}\n",
      "fn main" IN "  const @w : (3,2,3,3) i8 = crc32:00000000\n"
      "  const @y.float_scale : (3,1,1) f32 = [0.5, 0.25, 2]\n"
      "  %y.conv2d = nn.conv2d(%x, @w) " CONV_F32 "\n"
      "  %y = multiply(%y.conv2d, @y.float_scale)\n"
      "}\n" },

    /* one scale for all */
    { "product_of_quantized",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (4,3) f8e5m2 = [0x3c, 0x40, 0xbc, 0x44, 0x3c, 0x3c, 0x40, 0x3c, 0x3c, 0x3c, "
      "0x3c, "
      "0x3c]\n"
      "  const @s : () f32 = [0.5]\n"
      "  const @z : () f8e5m2 = [0x00]\n"
      "  %f = qnn.dequantize(@w, @s, @z)\n"
      "  %y = nn.dense(%x, %f)\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (4,3) f8e5m2 = [0x3c, 0x40, 0xbc, 0x44, 0x3c, 0x3c, 0x40, 0x3c, 0x3c, 0x3c, "
      "0x3c, "
      "0x3c]\n"
      "  const @y.float_scale : () f32 = [0.5]\n"
      "  %y.dense = nn.dense(%x, @w) {out_dtype=f32}\n"
      "  %y = multiply(%y.dense, @y.float_scale)\n"
      "}\n" },

    /* halves, and scales of 1, need no multiplication */
    { "product_of_quantized",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (3,4) f16 = [0.5, ...]\n"
      "  %f = cast(@w) {dtype=f32, saturate=true}\n"
      "  %y = nn.matmul(%x, %f)\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (3,4) f16 = [0.5, ...]\n"
      "  %y = nn.matmul(%x, @w) {out_dtype=f32}\n"
      "}\n" },

    /* FP8 on both sides: the scales are one */
    { "product_of_quantized",
      "fn main" IN8 "  const @w : (1,2,3,3) f8e4m3 = [0x38, ...]\n"
      "  const @xs : () f32 = [0.5]\n"
      "  const @ws : (1) f32 = [4]\n"
      "  const @z : () f8e4m3 = [0x00]\n"
      "  %xf = qnn.dequantize(%x, @xs, @z)\n"
      "  %wf = qnn.dequantize(@w, @ws, @z) {axis=0}\n"
      "  %y = nn.conv2d(%xf, %wf) " CONV_PADDED "\n"
      "}\n",
      "fn main" IN8 "  const @w : (1,2,3,3) f8e4m3 = [0x38, ...]\n"
      "  const @y.float_scale : () f32 = [2]\n"
      "  %y.conv2d = nn.conv2d(%x, @w) " CONV_F32 "\n"
      "  %y = multiply(%y.conv2d, @y.float_scale)\n"
      "}\n" },

    /* a product of computed values */
    { "product_of_quantized",
      "fn main(%a: (2,3) f8e4m3, %b: (3,4) f8e4m3) -> (%y) {\n"
      "  const @s : () f32 = [0.5]\n"
      "  const @z : () f8e4m3 = [0x00]\n"
      "  %af = qnn.dequantize(%a, @s, @z)\n"
      "  %bf = cast(%b) {dtype=f32, saturate=true}\n"
      "  %y = nn.matmul(%af, %bf)\n"
      "}\n",
      "fn main(%a: (2,3) f8e4m3, %b: (3,4) f8e4m3) -> (%y) {\n"
      "  const @y.float_scale : () f32 = [0.5]\n"
      "  %y.matmul = nn.matmul(%a, %b) {out_dtype=f32}\n"
      "  %y = multiply(%y.matmul, @y.float_scale)\n"
      "}\n" },

    /* integers as data stay behind their dequantize: their weights need not */
    { "product_of_quantized",
      "fn main(%x: (2,3) i8) -> (%y) {\n"
      "  const @w : (4,3) i8 = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n"
      "  const @s : () f32 = [0.5]\n"
      "  const @z : () i8 = [0]\n"
      "  %xf = qnn.dequantize(%x, @s, @z)\n"
      "  %wf = qnn.dequantize(@w, @s, @z)\n"
      "  %y = nn.dense(%xf, %wf)\n"
      "}\n",
      "fn main(%x: (2,3) i8) -> (%y) {\n"
      "  const @w : (4,3) i8 = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n"
      "  const @s : () f32 = [0.5]\n"
      "  const @z : () i8 = [0]\n"
      "  const @y.float_scale : () f32 = [0.5]\n"
      "  %xf = qnn.dequantize(%x, @s, @z)\n"
      "  %y.dense = nn.dense(%xf, @w) {out_dtype=f32}\n"
      "  %y = multiply(%y.dense, @y.float_scale)\n"
      "}\n" },

    /* zero points go into the codes where these stay codes */
    { "quantized_of_weights",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (2,3) i8 = [3, 4, -127, 0, 1, 2]\n"
      "  const @s : () f32 = [0.5]\n"
      "  const @z : () i8 = [1]\n"
      "  %f = qnn.dequantize(@w, @s, @z)\n"
      "  %y = nn.dense(%x, %f)\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (2,3) i8 = [2, 3, -128, -1, 0, 1]\n"
      "  const @y.float_scale : () f32 = [0.5]\n"
      "  %y.dense = nn.dense(%x, @w) {out_dtype=f32}\n"
      "  %y = multiply(%y.dense, @y.float_scale)\n"
      "}\n" },
    /* unsigned, of windows, a zero point for each channel */
    { "quantized_of_weights",
      "fn main(%x: (1,1,2,2) f32) -> (%y) {\n"
      "  const @w : (2,1,1,2) u8 = [3, 255, 127, 0]\n"
      "  const @s : (2) f32 = [0.5, 0.25]\n"
      "  const @z : (2) u8 = [128, 127]\n"
      "  %f = qnn.dequantize(@w, @s, @z) {axis=0}\n"
      "  %y = nn.conv2d(%x, %f) " CONV "\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%y) {\n"
      "  const @w : (2,1,1,2) i8 = [-125, 127, 0, -127]\n"
      "  const @y.float_scale : (2,1,1) f32 = [0.5, 0.25]\n"
      "  %y.conv2d = nn.conv2d(%x, @w) " CONV_OUT "\n"
      "  %y = multiply(%y.conv2d, @y.float_scale)\n"
      "}\n" },
    /* else a row is a block; of windows it cannot be */
    { "quantized_of_weights",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (2,3) u8 = [3, 255, 0, 0, 1, 2]\n"
      "  const @s : (2) f32 = [0.5, 2]\n"
      "  const @z : (2) u8 = [100, 130]\n"
      "  %f = qnn.dequantize(@w, @s, @z) {axis=0}\n"
      "  %y = nn.dense(%x, %f)\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (2,3) i8 blocks(32, scale=[0.5, 2], zero=[-28, 2]) = [-125, 127, -128, -128, "
      "-127, "
      "-126]\n"
      "  %y = nn.dense(%x, @w) {out_dtype=f32}\n"
      "}\n" },
    { "quantized_of_weights",
      "fn main(%x: (1,1,2,2) f32) -> (%y) {\n"
      "  const @w : (2,1,1,2) u8 = [3, 255, 127, 0]\n"
      "  const @s : (2) f32 = [0.5, 0.25]\n"
      "  const @z : (2) u8 = [100, 127]\n"
      "  %f = qnn.dequantize(@w, @s, @z) {axis=0}\n"
      "  %y = nn.conv2d(%x, %f) " CONV "\n"
      "}\n",
      NULL },
    /* four bits with a zero point stay four bits */
    { "quantized_of_weights",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (2,3) u4 = [3, 15, 0, 0, 1, 2]\n"
      "  const @s : () f32 = [0.5]\n"
      "  const @z : () u4 = [5]\n"
      "  %f = qnn.dequantize(@w, @s, @z)\n"
      "  %y = nn.dense(%x, %f)\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (2,3) i4 blocks(32, scale=[0.5, 0.5], zero=[-3, -3]) = [-5, 7, -8, -8, -7, "
      "-6]\n"
      "  %y = nn.dense(%x, @w) {out_dtype=f32}\n"
      "}\n" },
    /* scales along the inputs */
    { "quantized_of_weights",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (2,3) i8 = [3, 1, 4, 1, 5, 9]\n"
      "  const @s : (3) f32 = [0.5, 1, 2]\n"
      "  const @z : () i8 = [0]\n"
      "  %f = qnn.dequantize(@w, @s, @z) {axis=1}\n"
      "  %y = nn.dense(%x, %f)\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (3,2) i8 blocks(32, scale=[0.5, 1, 2]) = [3, 1, 1, 5, 4, 9]\n"
      "  %y = nn.matmul(%x, @w) {transpose_a=false, transpose_b=false, out_dtype=f32}\n"
      "}\n" },
    /* weights of matmul, as ONNX has them */
    { "turn_before_decoder",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (3,2) i4 = [3, 1, 4, 1, 5, 7]\n"
      "  const @s : (2) f32 = [0.5, 2]\n"
      "  const @z : () i4 = [0]\n"
      "  %f = qnn.dequantize(@w, @s, @z) {axis=1}\n"
      "  %t = transpose(%f) {axes=[1,0]}\n"
      "  %y = nn.dense(%x, %t)\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (2,3) i4 = [3, 4, 5, 1, 1, 7]\n"
      "  const @y.float_scale : (2) f32 = [0.5, 2]\n"
      "  %y.dense = nn.dense(%x, @w) {out_dtype=f32}\n"
      "  %y = multiply(%y.dense, @y.float_scale)\n"
      "}\n" },
    { "turned_quantized",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (3,2) f8e4m3 = [0x38, 0x39, 0x40, 0x41, 0x42, 0x43]\n"
      "  %t = transpose(@w) {axes=[1,0]}\n"
      "  %f = cast(%t) {dtype=f32, saturate=true}\n"
      "  %y = nn.dense(%x, %f)\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (2,3) f8e4m3 = [0x38, 0x40, 0x42, 0x39, 0x41, 0x43]\n"
      "  %y = nn.dense(%x, @w) {out_dtype=f32}\n"
      "}\n" },

    /* tables: scales of rows are read with them, those of columns stay with what is read */
    { "take_of_quantized",
      "fn main(%i: (4) i64) -> (%y) {\n"
      "  const @w : (3,2) u8 = [3, 1, 4, 1, 5, 9]\n"
      "  const @s : (3) f32 = [0.5, 1, 2]\n"
      "  const @z : (3) u8 = [1, 2, 3]\n"
      "  %f = qnn.dequantize(@w, @s, @z) {axis=0}\n"
      "  %y = take(%f, %i) {axis=0}\n"
      "}\n",
      "fn main(%i: (4) i64) -> (%y) {\n"
      "  const @w : (3,2) u8 = [3, 1, 4, 1, 5, 9]\n"
      "  const @z.rows : (3,1) f32 = [1, 2, 3]\n"
      "  const @s.rows : (3,1) f32 = [0.5, 1, 2]\n"
      "  %y.take = take(@w, %i) {axis=0}\n"
      "  %y.cast = cast(%y.take) {dtype=f32, saturate=true}\n"
      "  %y.take_2 = take(@z.rows, %i) {axis=0}\n"
      "  %y.subtract = subtract(%y.cast, %y.take_2)\n"
      "  %y.take_3 = take(@s.rows, %i) {axis=0}\n"
      "  %y = multiply(%y.subtract, %y.take_3)\n"
      "}\n" },
    { "take_of_quantized",
      "fn main(%i: () i64) -> (%y) {\n"
      "  const @w : (3,2) i8 = [3, 1, 4, 1, 5, 9]\n"
      "  const @s : (3) f32 = [0.5, 1, 2]\n"
      "  const @z : () i8 = [7]\n"
      "  %f = qnn.dequantize(@w, @s, @z) {axis=0}\n"
      "  %y = take(%f, %i) {axis=0}\n"
      "}\n",
      "fn main(%i: () i64) -> (%y) {\n"
      "  const @w : (3,2) i8 = [3, 1, 4, 1, 5, 9]\n"
      "  const @z.rows : (1) f32 = [7]\n"
      "  const @s.rows : (3,1) f32 = [0.5, 1, 2]\n"
      "  %y.take = take(@w, %i) {axis=0}\n"
      "  %y.cast = cast(%y.take) {dtype=f32, saturate=true}\n"
      "  %y.subtract = subtract(%y.cast, @z.rows)\n"
      "  %y.take_2 = take(@s.rows, %i) {axis=0}\n"
      "  %y = multiply(%y.subtract, %y.take_2)\n"
      "}\n" },
    { "take_of_quantized",
      "fn main(%i: (4,2) i64) -> (%y) {\n"
      "  const @w : (3,2) i8 = [3, 1, 4, 1, 5, 9]\n"
      "  const @s : (2) f32 = [0.5, 1]\n"
      "  const @z : () i8 = [0]\n"
      "  %f = qnn.dequantize(@w, @s, @z) {axis=1}\n"
      "  %y = take(%f, %i) {axis=0}\n"
      "}\n",
      "fn main(%i: (4,2) i64) -> (%y) {\n"
      "  const @w : (3,2) i8 = [3, 1, 4, 1, 5, 9]\n"
      "  const @s : (2) f32 = [0.5, 1]\n"
      "  const @z : () i8 = [0]\n"
      "  %y.take = take(@w, %i) {axis=0}\n"
      "  %y = qnn.dequantize(%y.take, @s, @z) {axis=2}\n"
      "}\n" },
    { "take_of_quantized",
      "fn main(%i: (2) i64) -> (%y) {\n"
      "  const @w : (3,8) i4 blocks(4, scale=[1, 2, 3, 4, 5, 6], zero=[1, 1, 1, 0, 0, 0]) = [3, "
      "...]\n"
      "  %f = cast(@w) {dtype=f32, saturate=true}\n"
      "  %y = take(%f, %i) {axis=0}\n"
      "}\n",
      "fn main(%i: (2) i64) -> (%y) {\n"
      "  const @w.rows : (3,8) i4 = [3, ...]\n"
      "  const @w.scale : (3,2) f32 = [1, 2, 3, 4, 5, 6]\n"
      "  const @w.zero : (3,2) f32 = [1, 1, 1, 0, 0, 0]\n"
      "  %y.take = take(@w.rows, %i) {axis=0}\n"
      "  %y.cast = cast(%y.take) {dtype=f32, saturate=true}\n"
      "  %y.reshape = reshape(%y.cast) {shape=[2,2,4]}\n"
      "  %y.take_2 = take(@w.scale, %i) {axis=0}\n"
      "  %y.take_3 = take(@w.zero, %i) {axis=0}\n"
      "  %y.reshape_2 = reshape(%y.take_3) {shape=[2,2,1]}\n"
      "  %y.subtract = subtract(%y.reshape, %y.reshape_2)\n"
      "  %y.reshape_3 = reshape(%y.take_2) {shape=[2,2,1]}\n"
      "  %y.multiply = multiply(%y.subtract, %y.reshape_3)\n"
      "  %y = reshape(%y.multiply) {shape=[2,8]}\n"
      "}\n" },

    /* weights that are computed, of data that is not small */
    { "product_of_quantized",
      "fn main(%x: (2,3) f32, %w: (4,3) i8) -> (%y) {\n"
      "  const @s : () f32 = [0.5]\n"
      "  const @z : () i8 = [0]\n"
      "  %f = qnn.dequantize(%w, @s, @z)\n"
      "  %y = nn.dense(%x, %f)\n"
      "}\n",
      NULL },

    /* blocks, as they lie and turned */
    { "product_of_quantized",
      "fn main(%x: (2,8) f32) -> (%y) {\n"
      "  const @w : (3,8) i4 blocks(4, scale=[0.3, ...], zero=[1, ...]) = [3, ...]\n"
      "  %f = cast(@w) {dtype=f32, saturate=true}\n"
      "  %y = nn.dense(%x, %f)\n"
      "}\n",
      "fn main(%x: (2,8) f32) -> (%y) {\n"
      "  const @w : (3,8) i4 blocks(4, scale=[0.3, ...], zero=[1, ...]) = [3, ...]\n"
      "  %y = nn.dense(%x, @w) {out_dtype=f32}\n"
      "}\n" },
    { "product_of_quantized",
      "fn main(%x: (2,8) f32) -> (%y) {\n"
      "  const @w : (8,4) i4 blocks(4, scale=[0.3, 0.5, 1, 2, 0.25, 0.1, 0.2, 0.7]) = [" NUMBERS
      "]\n"
      "  %f = cast(@w) {dtype=f32, saturate=true}\n"
      "  %t = transpose(%f) {axes=[1,0]}\n"
      "  %y = nn.dense(%x, %t)\n"
      "}\n",
      "fn main(%x: (2,8) f32) -> (%y) {\n"
      "  const @w : (8,4) i4 blocks(4, scale=[0.3, 0.5, 1, 2, 0.25, 0.1, 0.2, 0.7]) = [" NUMBERS
      "]\n"
      "  %y = nn.matmul(%x, @w) {transpose_a=false, transpose_b=false, out_dtype=f32}\n"
      "}\n" },
    { "product_of_quantized",
      "fn main(%x: (2,8) f32) -> (%y) {\n"
      "  const @w : (3,8) f8e4m3 blocks(4, scale=[0.3, ...]) = [0x38, ...]\n"
      "  %f = cast(@w) {dtype=f32, saturate=true}\n"
      "  %t = transpose(%f) {axes=[1,0]}\n"
      "  %y = nn.matmul(%x, %t)\n"
      "}\n",
      "fn main(%x: (2,8) f32) -> (%y) {\n"
      "  const @w : (3,8) f8e4m3 blocks(4, scale=[0.3, ...]) = [0x38, ...]\n"
      "  %y = nn.matmul(%x, @w) {transpose_a=false, transpose_b=true, out_dtype=f32}\n"
      "}\n" },
    { "product_of_quantized",
      "fn main(%x: (2,8) f32) -> (%y) {\n"
      "  const @w : (3,8) i8 blocks(8, scale=[0.3, 0.2, 0.1]) = [3, ...]\n"
      "  %f = cast(@w) {dtype=f32, saturate=true}\n"
      "  %t = transpose(%f) {axes=[1,0]}\n"
      "  %u = transpose(%t) {axes=[1,0]}\n"
      "  %y = nn.dense(%x, %u)\n"
      "}\n",
      "fn main(%x: (2,8) f32) -> (%y) {\n"
      "  const @w : (3,8) i8 blocks(8, scale=[0.3, 0.2, 0.1]) = [3, ...]\n"
      "  %y = nn.dense(%x, @w) {out_dtype=f32}\n"
      "}\n" },

    /* a joined scale that would be subnormal */
    { "product_of_quantized",
      "fn main(%x: (2,3) f8e4m3) -> (%y) {\n"
      "  const @w : (4,3) f8e4m3 = [0x38, ...]\n"
      "  const @s : () f32 = [1e-30]\n"
      "  const @z : () f8e4m3 = [0x00]\n"
      "  %xf = qnn.dequantize(%x, @s, @z)\n"
      "  %wf = qnn.dequantize(@w, @s, @z)\n"
      "  %y = nn.dense(%xf, %wf)\n"
      "}\n",
      NULL },
};

START_TEST(products_read_codes)
{
    pass_case_check("fold_dequantize", &rows[_i]);
}
END_TEST

/* What is not read as codes becomes f32, and takes eight times the flash. */
START_TEST(blocks_that_become_f32_are_said)
{
    static const char text[] = "fn main(%x: (3,8) f32) -> (%y) {\n"
                               "  const @w : (3,8) i4 blocks(4, scale=[0.3, ...]) = [3, ...]\n"
                               "  %f = cast(@w) {dtype=f32, saturate=true}\n"
                               "  %y = add(%x, %f)\n"
                               "}\n";
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, text, 1);

    ck_assert(pass_fold_dequantize(module));
    ck_assert_msg(expect_warning(ctx, DIAG_QUANTIZE, "'w' are in blocks of 4, and become f32"),
                  "%s", expect_text(ctx));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(codes_that_become_f32_are_said)
{
    static const char text[] = "fn main(%x: (1,1,9,9) f32) -> (%y) {\n"
                               "  const @w : (1,1,8,8) u8 = [255, ...]\n"
                               "  const @s : () f32 = [0.5]\n"
                               "  const @z : () u8 = [100]\n"
                               "  %f = qnn.dequantize(@w, @s, @z)\n"
                               "  %y = nn.conv2d(%x, %f) " CONV "\n"
                               "}\n";
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, text, 1);

    ck_assert(pass_fold_dequantize(module));
    ck_assert_msg(expect_warning(ctx, DIAG_QUANTIZE,
                                 "'w' is stored as u8, and becomes f32: nn.conv2d reads it"),
                  "%s", expect_text(ctx));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(all_rules_fire)
{
    int n;
    const struct rule *rules = fold_dequantize_rules(&n);

    pass_case_coverage(rules, n, rules[0].name, rules[n - 1].name, rows, N_ROWS(rows));
}
END_TEST

static const struct pass_case shared[] = {
    /* two readers and the caller */
    { NULL,
      "fn main(%x: (4) f8e4m3) -> (%f, %a, %b) {\n"
      "  %f = cast(%x) {dtype=f32, saturate=true}\n"
      "  %a = nn.relu(%f)\n"
      "  %b = add(%f, %f)\n"
      "}\n",
      "fn main(%x: (4) f8e4m3) -> (%f, %a, %b) {\n"
      "  %f = cast(%x) {dtype=f32, saturate=true}\n"
      "  %f_2 = cast(%x) {dtype=f32, saturate=true}\n"
      "  %a = nn.relu(%f_2)\n"
      "  %f_3 = cast(%x) {dtype=f32, saturate=true}\n"
      "  %b = add(%f_3, %f_3)\n"
      "}\n" },
    /* no quantised value */
    { NULL,
      "fn main(%x: (4) f32) -> (%a, %b) {\n"
      "  %f = nn.relu(%x)\n"
      "  %a = abs(%f)\n"
      "  %b = add(%f, %f)\n"
      "}\n",
      "fn main(%x: (4) f32) -> (%a, %b) {\n"
      "  %f = nn.relu(%x)\n"
      "  %a = abs(%f)\n"
      "  %b = add(%f, %f)\n"
      "}\n" },
};

START_TEST(each_reader_decodes_for_itself)
{
    pass_case_check("unshare_dequantize", &shared[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fold_dequantize");
    TCase *tcase = tcase_create("fold_dequantize");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, products_read_codes, 0, N_ROWS(rows));
    tcase_add_test(tcase, blocks_that_become_f32_are_said);
    tcase_add_test(tcase, codes_that_become_f32_are_said);
    tcase_add_test(tcase, all_rules_fire);
    tcase_add_loop_test(tcase, each_reader_decodes_for_itself, 0, N_ROWS(shared));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
