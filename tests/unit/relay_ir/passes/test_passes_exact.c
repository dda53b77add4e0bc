/* fake_quant_to_exact: each rule on a small graph. What it leaves has no floats, and gives what the floats give, up to
 * one step. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"
#include "base/str.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/passes/rewrite.h"
#include "tests/support/codes.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

#define Z "  const @z : () f8e4m3 = [0x00]\n"
#define S "  const @s : () f32 = [0.05]\n  const @t : () f32 = [0.5]\n  const @u : () f32 = [0.3]\n"
#define DECODE(y, x, scale) "  %" y " = qnn.dequantize(%" x ", @" scale ", @z) {axis=0}\n"
#define ENCODE(y, x, scale)                                                                        \
    "  %" y " = qnn.quantize(%" x ", @" scale ", @z) {axis=0, saturate=true}\n"
#define W                                                                                          \
    "  const @w : (3,2,3,3) f8e4m3 = crc32:00000000\n  const @ws : (3) f32 = [0.01, 0.002, "       \
    "0.05]\n"                                                                                      \
    "  %wf = qnn.dequantize(@w, @ws, @z) {axis=0}\n"
#define SAME                                                                                       \
    "{strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, data_layout=\"NCHW\", "          \
    "kernel_layout=\"OIHW\"}"
#define POOL(padding, counted)                                                                     \
    "{pool_size=[2,2], strides=[2,2], padding=" padding ", dilation=[1,1], ceil_mode=false, "      \
    "count_include_pad=" counted ", p=0, storage_order=0, layout=\"NCHW\"}"

#define SCATTER                                                                                    \
    "fn main(%a: (2,3) f8e4m3, %b: (2,2) f8e4m3) -> (%y) {\n" Z S                                  \
    "  const @i : (2,2) i64 = [2, 0, 1, 1]\n"

static const struct exact_case {
    const char *rule; /* that must fire; NULL = nothing may, floats stay */
    const char *graph;
} cases[] = {
    { "exact_product",
      "fn main(%x: (1,2,5,5) f8e4m3) -> (%y) {\n" Z S W DECODE(
          "xf", "x", "s") "  %c = nn.conv2d(%xf, %wf) " SAME "\n" ENCODE("y", "c", "t") "}\n" },
    { "exact_product",
      "fn main(%x: (2,2,5,5) f8e4m3) -> (%y) {\n" Z S W DECODE(
          "xf", "x", "s") "  const @b : (3) f32 = [0.5, -3, 0.001]\n"
                          "  %c = nn.conv2d(%xf, %wf) " SAME
                          "\n  %d = nn.bias_add(%c, @b) {axis=1}\n"
                          "  %e = clip(%d) {a_min=0, a_max=6}\n" ENCODE("y", "e", "s") "}\n" },
    { "exact_product", /* a residual, and casts instead of a scale of 1 */
      "fn main(%x: (1,2,5,5) f8e4m3, %r: (1,3,5,5) f8e4m3) -> (%y) {\n" Z S W
      "  const @b : (3,1,1) f32 = [0.5, -3, 0.001]\n"
      "  %xf = cast(%x) {dtype=f32, saturate=true}\n" DECODE(
          "rf", "r",
          "t") "  %c = nn.conv2d(%xf, %wf) " SAME "\n  %d = add(%c, @b)\n  %e = add(%rf, %d)\n"
               "  %f = nn.relu(%e)\n  %y = cast(%f) {dtype=f8e4m3, saturate=true}\n}\n" },
    { "exact_product",
      "fn main(%x: (4,6) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  const @w : (5,6) f8e3m4 = crc32:00000000\n  const @b : (5) f32 = [1, "
                          "-1, 0.5, 0, 2]\n"
                          "  %wf = cast(@w) {dtype=f32, saturate=true}\n  %c = nn.dense(%xf, %wf)\n"
                          "  %d = nn.bias_add(%c, @b) {axis=1}\n  %e = nn.relu(%d)\n" ENCODE(
                              "y", "e", "t") "}\n" },
    { "exact_product", /* two computed operands */
      "fn main(%x: (2,4,6) f8e4m3, %v: (2,6,3) f8e4m3) -> (%y) {\n" Z S DECODE("xf", "x", "s")
          DECODE("vf", "v", "u") "  %c = nn.matmul(%xf, %vf) {transpose_a=false, "
                                 "transpose_b=false}\n" ENCODE("y", "c", "t") "}\n" },
    { "exact_polyphase",
      "fn main(%x: (1,3,5,4) f8e4m3) -> (%y) {\n" Z S
      "  const @w : (3,2,4,3) f8e4m3 = crc32:00000000\n  const @ws : (2) f32 = [0.01, 0.002]\n"
      "  %wf = qnn.dequantize(@w, @ws, @z) {axis=1}\n" DECODE(
          "xf", "x", "s") "  %c = nn.conv2d_transpose(%xf, %wf) {strides=[2,2], padding=[1,1,1,1], "
                          "groups=1}\n  %d = nn.relu(%c)\n" ENCODE("y", "d", "t") "}\n" },
    { "exact_binary",
      "fn main(%a: (2,3) f8e4m3, %b: (1,3) f8e4m3) -> (%y) {\n" Z S DECODE("af", "a", "s")
          DECODE("bf", "b", "t") "  %c = add(%af, %bf)\n  %d = nn.relu(%c)\n" ENCODE("y", "d",
                                                                                     "u") "}\n" },
    { "exact_binary",
      "fn main(%a: (2,3) f8e4m3, %b: (1,3) f8e4m3) -> (%y) {\n" Z S DECODE("af", "a", "s")
          DECODE("bf", "b", "t") "  %c = multiply(%af, %bf)\n" ENCODE("y", "c", "u") "}\n" },
    { "exact_average",
      "fn main(%x: (2,3,4,5) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = nn.global_avg_pool(%xf)\n" ENCODE("y", "c", "s") "}\n" },
    { "exact_average",
      "fn main(%x: (2,3,4,5) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = mean(%xf) {axis=[2,3], keepdims=false}\n" ENCODE("y", "c",
                                                                                   "s") "}\n" },
    { "exact_average", "fn main(%x: (2,3,6,5) f8e4m3) -> (%y) {\n" Z S
                           DECODE("xf", "x", "s") "  %c = nn.avg_pool2d(%xf) " POOL(
                               "[1,0,1,1]", "true") "\n" ENCODE("y", "c", "s") "}\n" },
    { "exact_average", "fn main(%x: (2,3,6,5) f8e4m3) -> (%y) {\n" Z S
                           DECODE("xf", "x", "s") "  %c = nn.avg_pool2d(%xf) " POOL(
                               "[1,0,1,1]", "false") "\n" ENCODE("y", "c", "s") "}\n" },
    { "exact_average", /* windows that hang over; bounds behind them; casts */
      "fn main(%x: (2,3,8,4,5) f8e4m3) -> (%y) {\n"
      "  %xf = cast(%x) {dtype=f32, saturate=true}\n"
      "  %c = nn.avg_pool3d(%xf) {pool_size=[3,2,2], strides=[2,3,2], padding=[1,0,1,1,1,0], "
      "dilation=[2,1,1], ceil_mode=true, count_include_pad=true, p=0, storage_order=0, "
      "layout=\"NCDHW\"}\n"
      "  %d = clip(%c) {a_min=0, a_max=6}\n"
      "  %y = cast(%d) {dtype=f8e3m4, saturate=true}\n}\n" },
    { "exact_average", "fn main(%x: (2,3,4,5) f8e4m3) -> (%y) {\n" Z S DECODE(
                           "xf", "x", "s") "  %c = mean(%xf) {axis=[0,2], "
                                           "keepdims=true}\n" ENCODE("y", "c", "s") "}\n" },
    { "exact_average",
      "fn main(%x: (2,3,4,5) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = sum(%xf) {axis=[1], keepdims=false}\n" ENCODE("y", "c",
                                                                                "t") "}\n" },
    { "exact_lp_pool",
      "fn main(%x: (2,3,6,5) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = nn.lp_pool2d(%xf) {pool_size=[3,2], strides=[2,1], "
                          "padding=[1,0,0,1], dilation=[1,2], p=1}\n" ENCODE("y", "c", "t") "}\n" },
    { NULL,
      "fn main(%x: (2,3,6) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = nn.lp_pool1d(%xf) {pool_size=[3], p=2}\n" ENCODE("y", "c",
                                                                                   "t") "}\n" },
    { "exact_softmax",
      "fn main(%x: (2,9,3) f8e4m3) -> (%y) {\n" Z S
      "  const @p : () f32 = [0.002232142857]\n" DECODE(
          "xf", "x", "s") "  %c = nn.softmax(%xf) {axis=1}\n" ENCODE("y", "c", "p") "}\n" },
    { "exact_softmax",
      "fn main(%x: (2,9,3) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = nn.log_softmax(%xf) {axis=1}\n" ENCODE("y", "c", "s") "}\n" },
    { "exact_norm",
      "fn main(%x: (2,3,8) f8e4m3) -> (%y) {\n" Z S
      "  const @g : (8) f32 = [1, 0.5, 1.5, 0.7, -1, 1, 1.2, 0.9]\n" DECODE(
          "xf", "x",
          "s") "  %c = nn.layer_norm(%xf, @g, @g) {axis=2, epsilon=1e-5}\n" ENCODE("y", "c",
                                                                                   "s") "}\n" },
    { "exact_norm", /* no bias, bounds behind it, casts */
      "fn main(%x: (2,8) f8e4m3) -> (%y) {\n"
      "  const @g : (8) f32 = [1, 0.5, 1.5, 0.7, -1, 1, 1.2, 0.9]\n"
      "  %xf = cast(%x) {dtype=f32, saturate=true}\n"
      "  %c = nn.layer_norm(%xf, @g) {axis=1, epsilon=1e-5}\n  %d = nn.relu(%c)\n"
      "  %y = cast(%d) {dtype=f8e3m4, saturate=true}\n}\n" },
    { "exact_norm", "fn main(%x: (2,4,3,3) f8e4m3) -> (%y) {\n" Z S
                    "  const @g : (4) f32 = [1, 0.5, 1.5, 0.7]\n" DECODE(
                        "xf", "x", "s") "  %c = nn.group_norm(%xf, @g, @g) {axis=1, groups=2, "
                                        "epsilon=1e-5}\n" ENCODE("y", "c", "u") "}\n" },
    { "exact_norm",
      "fn main(%x: (2,4,3,3) f8e4m3) -> (%y) {\n" Z S
      "  const @g : (4) f32 = [1, 0.5, 1.5, 0.7]\n" DECODE(
          "xf", "x",
          "s") "  %c = nn.instance_norm(%xf, @g, @g) {axis=1, epsilon=1e-5}\n" ENCODE("y", "c",
                                                                                      "u") "}\n" },
    { "exact_norm", /* the channels are last */
      "fn main(%x: (2,3,3,4) f8e4m3) -> (%y) {\n" Z S
      "  const @g : (4) f32 = [1, 0.5, 1.5, 0.7]\n" DECODE(
          "xf", "x",
          "s") "  %c = nn.instance_norm(%xf, @g, @g) {axis=3, epsilon=1e-5}\n" ENCODE("y", "c",
                                                                                      "u") "}\n" },
    { NULL, /* a scale of 2^25 least steps; one that is computed */
      "fn main(%x: (2,4) f8e4m3) -> (%y) {\n" Z S
      "  const @g : (4) f32 = [1, 0.5, 1.5, 40000]\n" DECODE(
          "xf", "x",
          "s") "  %c = nn.layer_norm(%xf, @g) {axis=1, epsilon=1e-5}\n" ENCODE("y", "c",
                                                                               "u") "}\n" },
    { NULL, "fn main(%x: (2,4) f8e4m3, %g: (4) f32) -> (%y) {\n" Z S DECODE(
                "xf", "x",
                "s") "  %c = nn.layer_norm(%xf, %g) {axis=1, epsilon=1e-5}\n" ENCODE("y", "c",
                                                                                     "u") "}\n" },
    { "exact_normalize",
      "fn main(%x: (2,5,6) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x",
          "s") "  %c = nn.lrn(%xf) {size=3, alpha=0.5, beta=0.75, bias=1}\n" ENCODE("y", "c",
                                                                                    "s") "}\n" },
    { NULL, "fn main(%x: (2,5,6) f8e4m3) -> (%y) {\n" Z S DECODE(
                "xf", "x",
                "s") "  %c = nn.lrn(%xf) {size=3, alpha=0.5, beta=5, bias=1}\n" ENCODE("y", "c",
                                                                                       "s") "}\n" },
    { "exact_normalize",
      "fn main(%x: (2,5,6) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = nn.lp_normalize(%xf) {axis=1, p=2}\n  %d = clip(%c) {a_min=0, "
                          "a_max=0.5}\n" ENCODE("y", "d", "s") "}\n" },
    { "exact_binary",
      "fn main(%a: (2,3) f8e4m3, %b: (1,3) f8e4m3) -> (%y) {\n" Z S DECODE("af", "a", "s")
          DECODE("bf", "b", "t") "  %c = divide(%af, %bf)\n" ENCODE("y", "c", "u") "}\n" },
    { "resize_before_decode",
      "fn main(%x: (1,2,4,5) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x",
          "s") "  %c = image.resize(%xf) {size=[1,2,7,9], method=\"nearest_neighbor\", "
               "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\"}\n" ENCODE(
                   "y", "c", "s") "}\n" },
    { "exact_binary", /* of two formats, to a third */
      "fn main(%a: (2,3) f8e4m3, %b: (1,3) f8e3m4) -> (%y) {\n" Z S
      "  const @e : () f8e3m4 = [0x00]\n  const @f : () f8e4m3fnuz = [0x00]\n" DECODE(
          "af", "a", "s") "  %bf = qnn.dequantize(%b, @t, @e) {axis=0}\n  %c = add(%af, %bf)\n"
                          "  %y = qnn.quantize(%c, @u, @f) {axis=0, saturate=true}\n}\n" },
    { "exact_binary",
      "fn main(%a: (2,3) f8e4m3, %b: (2,1) f8e3m4) -> (%y) {\n" Z S
      "  const @e : () f8e3m4 = [0x00]\n" DECODE(
          "af", "a", "s") "  %bf = qnn.dequantize(%b, @s, @e) {axis=0}\n  %c = multiply(%af, %bf)\n"
                          "  %r = nn.relu(%c)\n" ENCODE("y", "r", "u") "}\n" },
    { "encode_of_channels", /* slopes of a prelu */
      "fn main(%x: (2,3,4) f8e4m3) -> (%y) {\n" Z S
      "  const @k : (3,1) f32 = [0.5, -0.25, 2]\n" DECODE(
          "xf", "x", "s") "  %p = nn.prelu(%xf, @k)\n" ENCODE("y", "p", "u") "}\n" },
    { "encode_of_channels", /* a chain with several, and a bias */
      "fn main(%x: (2,3,4) f8e4m3) -> (%y) {\n" Z S "  const @k : (1,3,1) f32 = [0.5, -0.25, 2]\n"
      "  const @b : (3) f32 = [0.1, -3, 1]\n  const @two : () f32 = [2]\n" DECODE(
          "xf", "x",
          "s") "  %m = multiply(%xf, @k)\n  %a = nn.bias_add(%m, @b) {axis=1}\n"
               "  %g = sigmoid(%a)\n  %h = multiply(%g, @two)\n  %q = multiply(%h, %xf)\n" ENCODE(
                   "y", "q", "s") "}\n" },
    { NULL, /* along two axes */
      "fn main(%x: (2,3,4) f8e4m3) -> (%y) {\n" Z S
      "  const @k : (3,4) f32 = crc32:00000000\n" DECODE(
          "xf", "x", "s") "  %p = nn.prelu(%xf, @k)\n" ENCODE("y", "p", "u") "}\n" },
    { "exact_recurrent",
      "fn main(%x: (4,2,3) f8e4m3, %i: (1,2,3) f8e4m3) -> (%y, %h, %c) {\n" Z S
      "  const @w : (1,12,3) f8e4m3 = crc32:00000000\n"
      "  const @r : (1,12,3) f8e4m3 = crc32:00000000\n  const @b : (1,24) f32 = crc32:00000000\n"
      "  const @ws : (12) f32 = [0.01, 0.002, 0.005, 0.01, 0.002, 0.001, 0.01, 0.002, 0.005, 0.01, "
      "0.002, 0.001]\n  const @rs : () f32 = [0.002]\n" DECODE("xf", "x", "s")
          DECODE("if", "i", "rs") "  %rf = qnn.dequantize(@r, @rs, @z) {axis=0}\n"
                                  "  %wf = qnn.dequantize(@w, @ws, @z) {axis=1}\n"
                                  "  %o, %oh, %oc = nn.lstm(%xf, %wf, %rf, @b, _, %if, %if) "
                                  "{hidden_size=3}\n" ENCODE("y", "o", "s") ENCODE("h", "oh", "u")
                                      ENCODE("c", "oc", "t") "}\n" },
    { "exact_recurrent", /* scales of 1, bounds behind it */
      "fn main(%x: (4,2,3) f8e4m3) -> (%y) {\n" Z S "  const @w : (1,9,3) f8e3m4 = crc32:00000000\n"
      "  const @r : (1,9,3) f8e3m4 = crc32:00000000\n"
      "  %xf = cast(%x) {dtype=f32, saturate=true}\n"
      "  %wf = cast(@w) {dtype=f32, saturate=true}\n"
      "  %rf = cast(@r) {dtype=f32, saturate=true}\n"
      "  %o, %oh = nn.gru(%xf, %wf, %rf) {hidden_size=3, linear_before_reset=true}\n"
      "  %n = nn.relu(%o)\n" ENCODE("y", "n", "s") "}\n" },
    { NULL, /* its states may be beyond 1024 */
      "fn main(%x: (4,2,3) f8e4m3) -> (%y) {\n" Z S "  const @w : (1,3,3) f8e4m3 = crc32:00000000\n"
      "  const @r : (1,3,3) f8e4m3 = crc32:00000000\n" DECODE(
          "xf", "x",
          "s") "  %wf = qnn.dequantize(@w, @s, @z) {axis=0}\n"
               "  %rf = qnn.dequantize(@r, @s, @z) {axis=0}\n"
               "  %o, %oh = nn.rnn(%xf, %wf, %rf) {hidden_size=3, activations=\"Relu\"}\n"
               "  %y = cast(%o) {dtype=f8e4m3, saturate=true}\n}\n" },
    { "exact_resize",
      "fn main(%x: (1,2,4,5) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = image.resize(%xf) {size=[1,2,7,9], method=\"linear\", "
                          "coordinate_transformation_mode=\"half_pixel\"}\n" ENCODE("y", "c",
                                                                                    "s") "}\n" },
    { "exact_resize", /* in four dimensions, to another scale */
      "fn main(%x: (2,2,4,5) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = image.resize(%xf) {size=[4,4,8,10], method=\"linear\", "
                          "coordinate_transformation_mode=\"half_pixel\"}\n" ENCODE("y", "c",
                                                                                    "u") "}\n" },
    { NULL, "fn main(%x: (1,2,4,5) f8e4m3) -> (%y) {\n" Z S DECODE(
                "xf", "x", "s") "  %c = image.resize(%xf) {size=[1,2,7,9], method=\"cubic\", "
                                "coordinate_transformation_mode=\"half_pixel\", "
                                "cubic_alpha=-0.75}\n" ENCODE("y", "c", "u") "}\n" },
    { "arg_before_decode", "fn main(%x: (2,9,3) f8e4m3) -> (%y) {\n" Z S DECODE(
                               "xf", "x", "s") "  %y = argmax(%xf) {axis=1}\n}\n" },
    { "arg_before_decode",
      "fn main(%x: (2,9,3) f8e4m3) -> (%y) {\n  %xf = cast(%x) {dtype=f32, saturate=true}\n"
      "  %y = argmin(%xf) {axis=2, keepdims=true, select_last_index=true}\n}\n" },
    { "encode_of_decode", /* topk, whose two results no rule can have */
      "fn main(%x: (2,9,3) f8e4m3) -> (%y, %i) {\n" Z S DECODE(
          "xf", "x", "s") "  %v, %i = topk(%xf) {axis=1, k=3, largest=true, "
                          "sorted=true}\n" ENCODE("y", "v", "s") "}\n" },
    { "hardmax_before_decode",
      "fn main(%x: (2,9,3) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = nn.hardmax(%xf) {axis=1}\n" ENCODE("y", "c", "t") "}\n" },
    { "encode_of_elements", /* silu, written out: x * sigmoid(x) of two decoders, and a number */
      "fn main(%x: (2,3) f8e4m3) -> (%y) {\n" Z S DECODE("xf", "x", "s") DECODE(
          "xg", "x",
          "s") "  const @two : (1,3) f32 = [2, 2, 2]\n"
               "  %c = sigmoid(%xf)\n  %d = multiply(%c, %xg)\n  %e = multiply(%d, @two)\n" ENCODE(
                   "y", "e", "t") "}\n" },
    { "encode_of_elements", "fn main(%x: (2,3) f8e4m3) -> (%y) {\n" Z S DECODE("xf", "x", "s")
                                ENCODE("y", "xf", "t") "}\n" },
    { "exact_affine", /* another number for each element */
      "fn main(%x: (2,3) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  const @two : (3) f32 = [1, -2, 3]\n  %e = multiply(%xf, "
                          "@two)\n" ENCODE("y", "e", "t") "}\n" },
    { "exact_affine", /* a batch norm, bounds, casts */
      "fn main(%x: (2,3,4,5) f8e4m3) -> (%y) {\n"
      "  const @m : (3,1,1) f32 = [1.3, -0.02, 7]\n  const @b : (3) f32 = [0.1, 0, -12]\n"
      "  const @d : (5) f32 = [1, 3, 0.1, -1, 7]\n  const @e : (4,1) f32 = [1, 3, 0.1, -1]\n"
      "  %xf = cast(%x) {dtype=f32, saturate=true}\n  %c = multiply(@m, %xf)\n"
      "  %d0 = nn.bias_add(%c, @b) {axis=1}\n  %d1 = divide(%d0, @d)\n  %d2 = subtract(@e, %d1)\n"
      "  %d3 = subtract(%d2, @e)\n  %g = nn.relu(%d3)\n"
      "  %y = cast(%g) {dtype=f8e3m4, saturate=true}\n}\n" },
    { "exact_affine", /* positions are added */
      "fn main(%x: (2,3,5) f8e4m3) -> (%y) {\n" Z S
      "  const @p : (3,5) f32 = crc32:00000000\n" DECODE(
          "xf", "x", "s") "  %c = add(%xf, @p)\n" ENCODE("y", "c", "u") "}\n" },
    { "exact_affine", /* a mask */
      "fn main(%x: (2,3) f8e4m3) -> (%y) {\n" Z S "  const @p : (3) f32 = [0, -inf, inf]\n" DECODE(
          "xf", "x", "s") "  %c = add(%xf, @p)\n" ENCODE("y", "c", "u") "}\n" },
    { NULL, /* a factor 2^21 times another one's, and both are seen; along two axes */
      "fn main(%x: (2,2) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  const @two : (2,2) f32 = [1, 2097152, 1, 1]\n  %e = multiply(%xf, "
                          "@two)\n" ENCODE("y", "e", "t") "}\n" },
    { NULL, /* it becomes longer */
      "fn main(%x: (1,3) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  const @two : (2,1) f32 = [1, 2]\n  %e = multiply(%xf, "
                          "@two)\n" ENCODE("y", "e", "t") "}\n" },
    { "exact_binary",
      "fn main(%a: (2,3) f8e4m3, %b: (1,3) f8e4m3) -> (%y) {\n" Z S DECODE("af", "a", "s")
          DECODE("bf", "b", "t") "  %c = subtract(%af, %bf)\n" ENCODE("y", "c", "u") "}\n" },
    { "greatest_before_decode",
      "fn main(%x: (2,9,3) f8e4m3) -> (%y, %y2) {\n" Z S DECODE(
          "xf", "x",
          "s") "  %c = max(%xf) {axis=[1], keepdims=false}\n  %d = min(%xf) {axis=[0,2], "
               "keepdims=true}\n" ENCODE("y", "c", "t") ENCODE("y2", "d", "s") "}\n" },
    { "greatest_before_decode",
      "fn main(%x: (2,3,4,5) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = nn.global_max_pool(%xf)\n" ENCODE("y", "c", "s") "}\n" },
    { "exact_choice",
      "fn main(%a: (2,3) f8e4m3, %b: (1,3) f8e3m4) -> (%y) {\n" Z
      "  const @z4 : () f8e3m4 = [0x00]\n" S DECODE(
          "af", "a", "s") "  %bf = qnn.dequantize(%b, @t, @z4) {axis=0}\n  %c = maximum(%af, "
                          "%bf)\n" ENCODE("y", "c", "s") "}\n" },
    { "exact_choice",
      "fn main(%a: (2,3) f8e4m3) -> (%y) {\n" Z S
      "  const @p : (3) f32 = [0.31, -4, 11.3]\n" DECODE(
          "af", "a", "s") "  %c = minimum(@p, %af)\n  %d = nn.relu(%c)\n" ENCODE("y", "d",
                                                                                 "t") "}\n" },
    { "exact_choice",
      "fn main(%q: (1,3) f8e4m3, %a: (2,3) f8e4m3, %b: (2,1) f8e4m3) -> (%y) {\n" Z S
      "  const @yes : (3) bool = [1, 0, 1]\n" DECODE("af", "a", "s") DECODE("bf", "b", "t")
          DECODE("qf", "q", "s") "  %c = where(@yes, %af, %bf)\n" ENCODE("c8", "c", "s") DECODE(
              "cf", "c8", "s") "  %d = where(@yes, %qf, %cf)\n" ENCODE("y", "d", "u") "}\n" },
    { "compare_before_decode", /* two formats */
      "fn main(%a: (2,3) f8e4m3, %b: (1,3) f8e3m4) -> (%y) {\n" Z
      "  const @z4 : () f8e3m4 = [0x00]\n" S DECODE(
          "af", "a", "s") "  %bf = qnn.dequantize(%b, @t, @z4) {axis=0}\n  %y = greater(%af, "
                          "%bf)\n}\n" },
    { "compare_before_decode", /* numbers that the codes have, and others */
      "fn main(%a: (2,3) f8e4m3) -> (%y, %n) {\n"
      "  const @p : (2,3) f32 = [0.3125, -4, 11.3, 0, -0.0146484375, inf]\n"
      "  %af = cast(%a) {dtype=f32, saturate=true}\n  %y = less_equal(@p, %af)\n"
      "  %n = not_equal(%af, @p)\n}\n" },
    { "encode_of_bool",
      "fn main(%a: (2,3) f8e4m3, %b: (1,3) f8e4m3) -> (%y) {\n" Z S DECODE("af", "a", "s")
          DECODE("bf", "b", "t") "  %c = equal(%af, %bf)\n  %d = cast(%c) {dtype=f32, "
                                 "saturate=true}\n" ENCODE("y", "d", "s") "}\n" },
    { "exact_choice",
      "fn main(%a: (2,3) f8e4m3, %b: (2,2) f8e4m3) -> (%y, %g) {\n" Z S
      "  const @i : (2,2) i64 = [2, 0, 1, 1]\n" DECODE("af", "a", "s")
          DECODE("bf", "b",
                 "t") "  %c = scatter_elements(%af, @i, %bf) {axis=1, "
                      "reduction=\"none\"}\n  %d = scatter_elements(%af, @i, %bf) {axis=1, "
                      "reduction=\"max\"}\n" ENCODE("y", "c", "s") ENCODE("g", "d", "u") "}\n" },
    { "exact_sums", SCATTER DECODE("af", "a", "s")
                        DECODE("bf", "b", "t") "  %c = scatter_elements(%af, @i, %bf) {axis=1, "
                                               "reduction=\"add\"}\n" ENCODE("y", "c", "s") "}\n" },
    { "exact_sums",
      SCATTER DECODE(
          "af", "a",
          "s") "  const @n : (2,2) f32 = [0.25, -3, 0.01, 7]\n  %c = scatter_elements(%af, @i, @n) "
               "{axis=1, reduction=\"add\"}\n  %d = nn.relu(%c)\n" ENCODE("y", "d", "t") "}\n" },
    { "exact_sums",
      SCATTER DECODE("af", "a", "s") "  %c = cumsum(%af) {axis=1, reverse=true}\n" ENCODE(
          "y", "c", "t") "}\n" },
    { NULL, SCATTER DECODE("af", "a", "s")
                DECODE("bf", "b", "t") "  %c = scatter_elements(%af, @i, %bf) {axis=1, "
                                       "reduction=\"mul\"}\n" ENCODE("y", "c", "s") "}\n" },
    { "exact_prod",
      SCATTER DECODE("af", "a", "s") "  %c = prod(%af) {axis=[0]}\n  %d = nn.relu(%c)\n" ENCODE(
          "y", "d", "t") "}\n" },
    { NULL, SCATTER DECODE("af", "a", "s") "  %c = prod(%af) {axis=[0,1]}\n" ENCODE("y", "c",
                                                                                    "t") "}\n" },
    { "predicate_before_decode", SCATTER DECODE("af", "a", "s") "  %y = isfinite(%af)\n}\n" },
    { "predicate_before_decode", SCATTER DECODE("af", "a", "s") "  %y = isnan(%af)\n}\n" },
    { "encode_of_concatenate",
      "fn main(%a: (2,3) f8e4m3, %b: (2,1) f8e4m3) -> (%y) {\n" Z S DECODE("af", "a", "s") DECODE(
          "bf", "b", "t") "  %c = concatenate(%af, %bf) {axis=1}\n" ENCODE("y", "c", "t") "}\n" },
    { "join_before_decode",
      "fn main(%a: (2,3) f8e4m3, %b: (2,1) f8e4m3) -> (%y) {\n" Z S DECODE("af", "a", "s") DECODE(
          "bf", "b", "s") "  %c = concatenate(%af, %bf) {axis=1}\n" ENCODE("y", "c", "s") "}\n" },
    { "move_before_decode",
      "fn main(%x: (1,2,4,4) f8e4m3) -> (%y) {\n" Z S
          DECODE("xf", "x", "s") "  %c = nn.max_pool2d(%xf) " POOL(
              "[0,0,0,0]", "false") "\n"
                                    "  %d = transpose(%c) {axes=[0,2,3,1]}\n  %e = reshape(%d) "
                                    "{shape=[8]}\n" ENCODE("y", "e", "s") "}\n" },
    { "pad_before_decode",
      "fn main(%x: (2,3) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x",
          "s") "  %c = nn.pad(%xf) {pad_before=[1,0], pad_after=[0,2], mode=\"constant\", "
               "value=0}\n" ENCODE("y", "c", "s") "}\n" },
    { "encode_of_decode", "fn main(%x: (2,3) f8e4m3) -> (%y, %z2) {\n" Z S DECODE("xf", "x", "s")
                              ENCODE("y", "xf", "s") ENCODE("z2", "xf", "s") "}\n" },
    { NULL, "fn main(%x: (1,6) f8e5m2) -> (%y) {\n  const @z5 : () f8e5m2 = [0x00]\n" S
            "  %xf = qnn.dequantize(%x, @s, @z5) {axis=0}\n"
            "  const @w : (5,6) f8e5m2 = crc32:00000000\n"
            "  %wf = cast(@w) {dtype=f32, saturate=true}\n  %c = nn.dense(%xf, %wf)\n"
            "  %y = qnn.quantize(%c, @s, @z5) {axis=0, saturate=true}\n}\n" },
};

static void check_rule(struct ctx *ctx, const struct exact_case *row, const char *graph)
{
    struct module *before = graph_parse(ctx, graph, 1), *after = graph_parse(ctx, graph, 1);
    long n = 0, n_off = 0;

    codes_fill(before);
    codes_fill(after);
    ck_assert_msg(pass_fake_quant_to_exact(after) && pipeline_run_one(after, "dead_code"), "%s",
                  expect_text(ctx));
    ck_assert_msg(codes_has_floats(after) == !row->rule, "%s", graph_text(after, false));
    ck_assert_msg(!row->rule || map_get(&after->fired, row->rule), "%s did not fire:\n%s",
                  row->rule, graph_text(after, false));
    for (unsigned seed = 0; seed < 8; seed++)
        ck_assert_msg(codes_compare(ctx, before, after, seed, &n, &n_off) <= 1, "%s",
                      graph_text(after, false));
    /* which merges tables, among others */
    ck_assert(pass_fake_quant_to_integer(after) && pipeline_run_one(after, "dead_code"));
    for (unsigned seed = 0; seed < 8; seed++)
        ck_assert_msg(codes_compare(ctx, before, after, seed, &n, &n_off) <= 1, "%s",
                      graph_text(after, false));
    module_free(after);
    module_free(before);
}

START_TEST(rules_leave_no_floats)
{
    struct ctx *ctx = ctx_new(NULL);

    check_rule(ctx, &cases[_i], cases[_i].graph);
    ctx_free(ctx);
}
END_TEST

START_TEST(rules_take_formats_without_a_sign)
{
    static const char *const formats[] = { "u8e4m4", "u8e3m5", "u8e2m6" };
    struct ctx *ctx = ctx_new(NULL);

    for (int i = 0; i < N_ROWS(formats) && cases[_i].rule; i++)
        check_rule(ctx, &cases[_i], codes_in_format(&ctx->perm, cases[_i].graph, formats[i]));
    ctx_free(ctx);
}
END_TEST

START_TEST(every_rule_has_a_case)
{
    int n_rules;
    const struct rule *rules = fake_quant_to_exact_rules(&n_rules);

    for (int r = 0; r < n_rules; r++) {
        bool found = false;

        for (int i = 0; i < N_ROWS(cases); i++)
            found = found || (cases[i].rule && strcmp(cases[i].rule, rules[r].name) == 0);
        ck_assert_msg(found, "%s", rules[r].name);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fake_quant_to_exact");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, rules_leave_no_floats, 0, N_ROWS(cases));
    tcase_add_loop_test(tests, rules_take_formats_without_a_sign, 0, N_ROWS(cases));
    tcase_add_test(tests, every_rule_has_a_case);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
