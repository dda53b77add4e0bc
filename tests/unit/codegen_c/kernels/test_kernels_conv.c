/* Convolutions as generated C: the kernels of codegen_c/kernels/conv/. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

static const struct kernel_case general[] = {
    /* strides, asymmetric padding, dilation, odd sizes, tails of channels and positions */
    { "conv_band", "nn.conv2d", "groups=1, padding=[1,1,1,1]", "f32[1,3,7,9]; const f32[5,3,3,3]" },
    { "conv_band", "nn.conv2d", "groups=1, strides=[2,1], padding=[0,1,2,0], dilation=[1,2]",
      "f32[1,4,8,5]; const f32[6,4,3,2]" },
    { "conv", "nn.conv2d", "groups=1, strides=[2,2]", "f32[1,4,6,6]; const f32[8,4,3,3]" },
    { "conv", "nn.conv2d", "groups=1, strides=[2,2]", "f32[1,4,7,7]; const f32[8,4,1,1]" },
    { "conv_band", "nn.conv2d", "groups=1, padding=[5,5,5,5]", "f32[1,3,3,3]; const f32[5,3,3,3]" },
    { "conv_band", "nn.conv2d", "groups=1, padding=[1,1,1,1]", "f32[1,2,1,1]; const f32[3,2,3,3]" },
    { "conv_direct", "nn.conv2d", "groups=1, padding=[0,1,0,1]",
      "f64[1,3,4,5]; const f64[4,3,3,3]" },
    /* several bands; a single channel, which is also channels last; nothing of x under the kernel
     */
    { "conv_band", "nn.conv2d", "groups=1, strides=[2,2], padding=[1,1,1,1]",
      "f32[1,3,19,300]; const f32[24,3,3,3]" },
    { "conv_band", "nn.conv2d", "groups=1, strides=[2,2], padding=[0,4,1,3], data_layout=\"NHWC\"",
      "f32[1,9,10,1]; const f32[40,1,5,4]" },
    { "conv", "nn.conv2d", "groups=1, strides=[1,9], padding=[0,4,0,0]",
      "f32[1,2,3,2]; const f32[3,2,2,3]" },
    /* images and groups */
    { "conv", "nn.conv2d", "groups=1", "f32[3,2,5,4]; const f32[3,2,2,3]" },
    { "conv_band", "nn.conv2d", "groups=2, padding=[1,0,1,0]", "f32[2,4,5,4]; const f32[6,2,3,2]" },
    { "conv", "nn.conv2d", "groups=3", "f32[1,6,5,4]; const f32[15,2,2,2]" },
    { "conv", "nn.conv2d", "groups=2", "f32[1,2,5,4]; const f32[10,1,2,2]" },
    /* other ranks */
    { "conv_band", "nn.conv1d", "groups=1, strides=[2], padding=[1,2], dilation=[2]",
      "f32[1,3,20]; const f32[5,3,4]" },
    { "conv", "nn.conv1d", "groups=1", "f32[2,3,9]; const f32[4,3,3]" },
    { "conv", "nn.conv3d", "groups=1, strides=[1,2,1], padding=[1,0,1,0,1,1], dilation=[1,1,2]",
      "f32[2,3,4,5,6]; const f32[4,3,2,3,3]" },
    { "conv", "nn.conv3d", "groups=2", "f32[1,4,4,5,6]; const f32[4,2,2,3,3]" },
    { "conv", "nn.conv3d", "groups=2, padding=[1,1,1,1,1,1]",
      "f32[1,2,3,3,3]; const f32[2,1,3,3,3]" },
};

/* Channels last; tiles of every width, panels that are not full. */
static const struct kernel_case channels_last[] = {
    /* more taps in the padding than over x: those of a tile are left out; all of some tiles are */
    { "conv", "nn.conv2d", "groups=1, padding=[7,7,7,7], dilation=[7,7], data_layout=\"NHWC\"",
      "f32[1,9,10,20]; const f32[32,20,3,3]" },
    { "conv", "nn.conv2d", "groups=1, padding=[4,9,5,8], dilation=[9,9], data_layout=\"NHWC\"",
      "f32[2,8,8,7]; const f32[13,7,2,2]" },
    { "conv", "nn.conv2d", "groups=2, padding=[30,6,6,6], dilation=[6,6], data_layout=\"NHWC\"",
      "f32[1,7,8,8]; const f32[12,4,3,3]" },
    { "conv", "nn.conv1d", "groups=1, padding=[48,48], dilation=[24], data_layout=\"NWC\"",
      "f32[1,30,9]; const f32[8,9,5]" },
    { "conv", "nn.conv3d",
      "groups=1, padding=[1,3,3,1,3,3], dilation=[1,3,3], data_layout=\"NDHWC\"",
      "f32[1,2,4,4,5]; const f32[16,5,3,3,3]" },
    { "conv", "nn.conv2d", "groups=1, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "f32[1,7,9,3]; const f32[5,3,3,3]" },
    { "conv", "nn.conv2d",
      "groups=1, strides=[2,1], padding=[0,1,2,0], dilation=[1,2], data_layout=\"NHWC\"",
      "f32[1,8,5,4]; const f32[6,4,3,2]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"", "f32[1,5,7,6]; const f32[32,6,1,1]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"", "f32[1,5,7,6]; const f32[16,6,1,1]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"", "f32[1,5,7,6]; const f32[8,6,1,1]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "f32[1,5,7,30]; const f32[24,30,1,1]" },
    { "conv", "nn.conv2d", "groups=2, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "f32[1,5,7,6]; const f32[40,3,3,3]" },
    { "conv", "nn.conv2d", "groups=1, strides=[2,2], data_layout=\"NHWC\"",
      "f32[2,5,7,6]; const f32[70,6,1,1]" },
    { "conv", "nn.conv2d", "groups=2, padding=[1,0,1,0], data_layout=\"NHWC\"",
      "f32[2,5,4,4]; const f32[74,2,3,2]" },
    { "conv", "nn.conv2d", "groups=3, data_layout=\"NHWC\"", "f32[1,5,4,6]; const f32[15,2,2,2]" },
    /* rows of the kernel as runs: both sides, one, most of them beyond x */
    { "conv", "nn.conv2d", "groups=1, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "f32[2,5,11,6]; const f32[24,6,3,3]" },
    { "conv", "nn.conv2d", "groups=1, strides=[2,2], padding=[0,0,1,1], data_layout=\"NHWC\"",
      "f32[1,6,12,4]; const f32[40,4,3,3]" },
    { "conv", "nn.conv2d", "groups=1, padding=[0,3,0,3], data_layout=\"NHWC\"",
      "f32[1,4,2,5]; const f32[144,5,2,5]" },
    { "conv", "nn.conv3d", "groups=1, padding=[1,1,1,1,1,1], data_layout=\"NDHWC\"",
      "f32[1,3,4,5,4]; const f32[48,4,3,3,3]" },
    { "conv", "nn.conv2d", "groups=1, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "f32[1,3,3,600]; const f32[72,600,3,3]" },
    { "conv", "nn.conv1d",
      "groups=1, strides=[2], padding=[1,2], dilation=[2], data_layout=\"NWC\"",
      "f32[2,20,3]; const f32[5,3,4]" },
    { "conv", "nn.conv3d",
      "groups=2, strides=[1,2,1], padding=[1,0,1,0,1,1], dilation=[1,1,2], data_layout=\"NDHWC\"",
      "f32[2,4,5,6,4]; const f32[6,2,2,3,3]" },
    { "gemv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"", "f32[1,1,1,9]; const f32[17,9,1,1]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"", "f32[1,3,2,9]; const f32[17,9,3,2]" },
};

static const struct kernel_case special[] = {
    { "conv", "nn.conv2d", "groups=1", "f32[1,4,6,6]; const f32[8,4,1,1]" },
    { "conv", "nn.conv2d", "groups=1", "f32[1,5,3,1]; const f32[3,5,1,1]" },
    { "conv", "nn.conv2d", "groups=3", "f32[2,6,5,3]; const f32[9,2,1,1]" },
    { "conv_direct", "nn.conv1d", "groups=1", "f64[1,4,7]; const f64[6,4,1]" },
    { "conv", "nn.conv3d", "groups=1", "f32[2,4,4,3,2]; const f32[6,4,1,1,1]" },
    { "dense_rows", "nn.conv2d", "groups=1", "f32[2,3,4,4]; const f32[7,3,4,4]" },
    { "gemv", "nn.conv2d", "groups=1", "f32[1,9,1,1]; const f32[17,9,1,1]" },
    { "gemv", "nn.conv1d", "groups=1", "f32[1,3,5]; const f32[8,3,5]" },
    { "conv_depthwise", "nn.conv2d", "groups=6, padding=[1,1,1,1]",
      "f32[1,6,9,9]; const f32[6,1,3,3]" },
    { "conv_depthwise", "nn.conv2d", "groups=3, strides=[2,2], padding=[2,0,1,3], dilation=[1,2]",
      "f32[2,3,9,8]; const f32[6,1,3,5]" },
    { "conv_depthwise", "nn.conv2d", "groups=3, strides=[1,2]",
      "f32[2,3,8,8]; const f32[3,1,3,3]" },
    { "conv_depthwise", "nn.conv2d", "groups=4, padding=[1,1,1,1], strides=[2,2]",
      "f32[1,4,1,1]; const f32[4,1,3,3]" },
    { "conv_depthwise", "nn.conv2d", "groups=2, padding=[4,4,4,4], dilation=[3,3]",
      "f64[1,2,4,5]; const f64[6,1,3,3]" },
    { "conv_depthwise", "nn.conv2d", "groups=2, padding=[1,1,1,1]", "f32[1,2,5,6]; f32[2,1,3,3]" },
    { "conv_depthwise", "nn.conv1d", "groups=6, padding=[1,1]", "f32[1,6,9]; const f32[6,1,3]" },
    { "conv_depthwise", "nn.conv1d", "groups=1, padding=[4,0]", "f32[1,1,40]; const f32[2,1,9]" },
};

/* Depthwise with the channels last: rows of every length, so of all kinds of tiles; vectors that
 * overlap, or may not. */
static const struct kernel_case depthwise[] = {
    { "depthwise", "nn.conv2d", "groups=6, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "f32[1,9,9,6]; const f32[6,1,3,3]" },
    { "depthwise", "nn.conv2d", "groups=16, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "f32[1,4,40,16]; const f32[16,1,3,3]" },
    { "depthwise", "nn.conv2d", "groups=24, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "f32[1,5,7,24]; const f32[24,1,3,3]" },
    { "depthwise", "nn.conv2d", "groups=32, data_layout=\"NHWC\"",
      "f32[1,5,14,32]; const f32[32,1,3,3]" },
    { "depthwise", "nn.conv2d", "groups=8, strides=[2,2], padding=[0,0,1,1], data_layout=\"NHWC\"",
      "f32[1,12,50,8]; const f32[8,1,3,3]" },
    { "depthwise", "nn.conv2d", "groups=17, strides=[2,2], padding=[1,1,1,1], data_layout=\"NHWC\"",
      "f32[2,7,13,17]; const f32[17,1,3,3]" },
    { "depthwise", "nn.conv2d", "groups=4, padding=[2,2,2,2], data_layout=\"NHWC\"",
      "f32[1,6,23,4]; const f32[4,1,5,5]" },
    { "depthwise", "nn.conv2d",
      "groups=3, strides=[2,2], padding=[2,0,1,3], dilation=[1,2], data_layout=\"NHWC\"",
      "f32[2,9,8,3]; const f32[6,1,3,5]" },
    { "depthwise", "nn.conv2d",
      "groups=10, strides=[1,3], padding=[3,3,3,3], dilation=[2,3], data_layout=\"NHWC\"",
      "f32[1,9,64,10]; const f32[50,1,3,3]" },
    { "depthwise", "nn.conv2d", "groups=4, padding=[1,1,1,1], strides=[2,2], data_layout=\"NHWC\"",
      "f32[1,1,1,4]; const f32[4,1,3,3]" },
    { "depthwise", "nn.conv2d", "groups=12, data_layout=\"NHWC\"",
      "f32[1,7,7,12]; const f32[12,1,7,7]" },
    { "depthwise", "nn.conv2d", "groups=5, padding=[4,0,4,0], data_layout=\"NHWC\"",
      "f32[1,3,9,5]; const f32[5,1,2,2]" },
    { "depthwise", "nn.conv2d", "groups=1, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "f32[1,6,19,1]; const f32[2,1,3,3]" },
    { "depthwise", "nn.conv1d", "groups=6, padding=[1,1], data_layout=\"NWC\"",
      "f32[1,9,6]; const f32[6,1,3]" },
    { "depthwise", "nn.conv1d", "groups=20, padding=[4,0], strides=[2], data_layout=\"NWC\"",
      "f32[3,41,20]; const f32[20,1,5]" },
    /* wider than registers hold weights */
    { "depthwise", "nn.conv1d", "groups=16, padding=[4,4], data_layout=\"NWC\"",
      "f32[1,49,16]; const f32[16,1,9]" },
    { "depthwise", "nn.conv1d", "groups=20, padding=[15,15], strides=[2], data_layout=\"NWC\"",
      "f32[2,67,20]; const f32[20,1,31]" },
    { "depthwise", "nn.conv2d", "groups=12, padding=[4,4,4,4], data_layout=\"NHWC\"",
      "f32[1,11,13,12]; const f32[12,1,9,9]" },
    /* as a column: no tiles of a row would do */
    { "depthwise", "nn.conv1d", "groups=16, padding=[32,32], dilation=[16], data_layout=\"NWC\"",
      "f32[1,70,16]; const f32[16,1,5]" },
    { "depthwise", "nn.conv1d", "groups=12, padding=[40,0], strides=[3], data_layout=\"NWC\"",
      "f32[2,90,12]; const f32[24,1,41]" },
    { "depthwise", "nn.conv1d", "groups=8, padding=[20,20], data_layout=\"NWC\"",
      "f32[1,5,8]; const f32[8,1,41]" },
};

/* Weights that come in at run time: packed, or, of f64, of few positions, as they lie. */
static const struct kernel_case direct[] = {
    { "conv", "nn.conv2d", "groups=1, padding=[1,1,1,1]", "f32[1,3,7,9]; f32[5,3,3,3]" },
    { "conv", "nn.conv2d", "groups=1, strides=[2,1], padding=[0,1,2,0], dilation=[1,2]",
      "f32[2,4,8,5]; f32[6,4,3,2]" },
    { "conv", "nn.conv2d", "groups=2, padding=[5,5,5,5]", "f32[2,4,3,3]; f32[6,2,3,3]" },
    { "conv", "nn.conv2d", "groups=1, strides=[2,2]", "const f32[1,4,6,6]; f32[8,4,3,3]" },
    { "conv", "nn.conv2d", "groups=3", "f32[1,6,5,4]; f32[9,2,1,1]" },
    { "conv", "nn.conv2d", "groups=1, padding=[1,1,1,1], data_layout=\"NHWC\", out_layout=\"NHWC\"",
      "f32[1,7,9,3]; f32[70,3,3,3]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"", "f32[1,5,4,40]; f32[33,40,1,1]" },
    { "conv", "nn.conv2d", "groups=1, out_layout=\"NHWC\"", "f32[1,40,5,4]; f32[64,40,3,3]" },
    { "conv", "nn.conv2d",
      "groups=2, strides=[2,2], padding=[1,1,1,1], data_layout=\"NHWC\", out_layout=\"NHWC\"",
      "f32[2,6,5,4]; f32[10,2,3,3]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"",
      "f32[1,3,3,5]; f32[6,5,3,3]" },
    { "conv_direct", "nn.conv2d", "groups=1", "f32[1,5,3,3]; f32[6,5,2,3]" },
    { "conv_direct", "nn.conv2d", "groups=1", "f64[2,3,4,4]; f64[1,3,4,4]" },
    { "conv", "nn.conv2d", "groups=2", "f32[1,2,5,4]; f32[10,1,2,2]" },
    { "conv", "nn.conv1d", "groups=1, strides=[2], padding=[1,2], dilation=[2]",
      "f32[2,3,20]; f32[5,3,4]" },
    { "conv", "nn.conv1d", "groups=1, padding=[1,1], data_layout=\"NWC\", out_layout=\"NWC\"",
      "f32[1,9,6]; f32[7,6,3]" },
    { "conv_direct", "nn.conv1d", "groups=1", "f32[1,3,5]; f32[8,3,5]" },
    { "conv", "nn.conv3d", "groups=1, strides=[1,2,1], padding=[1,0,1,0,1,1], dilation=[1,1,2]",
      "f32[2,3,4,5,6]; f32[4,3,2,3,3]" },
    { "conv", "nn.conv3d", "groups=2", "f32[1,4,4,5,6]; f32[4,2,2,3,3]" },
    { "conv_direct", "nn.conv3d", "groups=2, padding=[1,1,1,1,1,1]",
      "f64[2,2,3,3,3]; f64[2,1,3,3,3]" },
};

/* Weights of a group: its i-th channel is the i-th of so many elements of a window. */
#define ELEMENTS_2 " 1 0 0 1"
#define ELEMENTS_3 " 1 0 0 0 1 0 0 0 1"
#define ELEMENTS_4 " 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"
#define ELEMENTS_6 " 1 0 0 0 0 0 0 1 0 0 0 0 0 0 1 0 0 0 0 0 0 1 0 0 0 0 0 0 1 0 0 0 0 0 0 1"

static const struct kernel_case windows[] = {
    /* with edges of both sides, of one, with none, and rows too short to be taken together */
    { "overlap_add", "nn.conv2d_transpose", "groups=3, padding=[0,1,1,1]",
      "f32[2,18,7,21]; const f32[18,1,2,3]" ELEMENTS_6 },
    { "overlap_add", "nn.conv2d_transpose", "groups=2, dilation=[2,4]",
      "f32[2,12,5,20]; const f32[12,1,3,2]" ELEMENTS_6 },
    { "overlap_add", "nn.conv2d_transpose", "groups=2, padding=[1,2,0,0], dilation=[1,2]",
      "f32[1,8,5,16]; const f32[8,1,2,2]" ELEMENTS_4 },
    { "overlap_add", "nn.conv2d_transpose", "groups=2, padding=[1,2,1,1], dilation=[1,2]",
      "f32[1,8,5,16]; const f32[8,1,2,2]" ELEMENTS_4 },
    { "overlap_add", "nn.conv2d_transpose", "groups=1, padding=[0,1,0,1]",
      "f32[3,6,4,5]; const f32[6,1,2,3]" ELEMENTS_6 },
    /* strides, and columns that no window reaches */
    { "overlap_add", "nn.conv2d_transpose", "groups=5, strides=[2,2]",
      "f32[1,20,9,11]; const f32[20,1,2,2]" ELEMENTS_4 },
    { "overlap_add", "nn.conv2d_transpose",
      "groups=2, strides=[2,3], padding=[1,0,0,1], output_padding=[1,2]",
      "f32[2,12,6,10]; const f32[12,1,3,2]" ELEMENTS_6 },
    { "overlap_add", "nn.conv1d_transpose", "groups=4, strides=[2], padding=[1,0]",
      "f32[2,12,17]; const f32[12,1,3]" ELEMENTS_3 },
    { "overlap_add", "nn.conv1d_transpose", "groups=3, output_padding=[0]",
      "f32[1,6,33]; const f32[6,1,2]" ELEMENTS_2 },
    { "overlap_add", "nn.conv1d_transpose", "groups=2, strides=[2]",
      "f32[3,2,12]; const f32[2,1,1] 1" },
    /* one weight of another number, two elements that change places, two channels, f64 */
    { "conv_transpose2d", "nn.conv2d_transpose", "groups=1",
      "f32[1,4,3,9]; const f32[4,1,2,2] 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 2" },
    { "conv_transpose2d", "nn.conv2d_transpose", "groups=1",
      "f32[1,4,3,9]; const f32[4,1,2,2] 0 1 0 0 1 0 0 0 0 0 1 0 0 0 0 1" },
    { "conv_transpose2d", "nn.conv1d_transpose", "groups=1",
      "f32[1,2,9]; const f32[2,2,1]" ELEMENTS_2 },
    { "conv_transpose2d", "nn.conv1d_transpose", "groups=2",
      "f64[1,4,9]; const f64[4,1,2]" ELEMENTS_2 },
};

static const struct kernel_case transposed[] = {
    { "conv_transpose2d", "nn.conv2d_transpose",
      "groups=1, strides=[2,2], padding=[1,1,1,1], output_padding=[1,1]",
      "f32[1,3,4,5]; const f32[3,2,3,3]" },
    { "conv_transpose2d", "nn.conv2d_transpose",
      "groups=2, strides=[1,3], padding=[0,1,1,0], dilation=[2,1], output_padding=[0,2]",
      "f32[2,4,4,5]; const f32[4,3,2,3]" },
    { "conv_transpose2d", "nn.conv2d_transpose", "groups=1, strides=[2,2], padding=[4,3,2,5]",
      "f32[1,2,6,7]; const f32[2,3,5,4]" },
    { "conv_transpose2d", "nn.conv2d_transpose", "groups=1", "f32[1,2,1,1]; f32[2,3,2,2]" },
    { "conv_transpose2d", "nn.conv1d_transpose", "groups=1, strides=[2], padding=[1,0]",
      "f32[1,3,9]; const f32[3,4,4]" },
    { "conv_transpose2d", "nn.conv1d_transpose", "groups=3, strides=[3]",
      "f64[2,3,4]; const f64[3,2,2]" },
    { "conv_transpose3d", "nn.conv3d_transpose",
      "groups=1, strides=[2,1,2], padding=[1,0,0,0,1,1], dilation=[1,1,2], output_padding=[0,0,1]",
      "f32[2,2,3,4,3]; const f32[2,2,2,3,2]" },
    { "conv_transpose3d", "nn.conv3d_transpose", "groups=2, strides=[2,2,2]",
      "f32[1,2,2,2,2]; const f32[2,1,2,2,2]" },
};

START_TEST(channels_first_are_gathered_as_the_reference_does)
{
    KERNEL_CASES_CHECK(general, 1e-5);
}
END_TEST

START_TEST(channels_last_are_read_where_they_lie)
{
    KERNEL_CASES_CHECK(channels_last, 1e-5);
}
END_TEST

START_TEST(pointwise_depthwise_and_dense_convolutions_have_kernels_of_their_own)
{
    KERNEL_CASES_CHECK(special, 1e-5);
}
END_TEST

static const struct kernel_case transposed_last[] = {
    { "conv_transpose_tiles", "nn.conv2d_transpose",
      "groups=1, strides=[2,2], data_layout=\"NHWC\"", "f32[1,6,7,5]; const f32[5,24,2,2]" },
    /* all taps reach every position; in one dim some reach none; padding and what is added to it */
    { "conv_transpose_tiles", "nn.conv2d_transpose",
      "groups=1, strides=[1,1], padding=[1,1,1,1], data_layout=\"NHWC\"",
      "f32[2,5,6,3]; const f32[3,70,3,3]" },
    { "conv_transpose_tiles", "nn.conv2d_transpose",
      "groups=1, strides=[2,3], padding=[1,0,2,1], dilation=[2,1], output_padding=[1,2], "
      "data_layout=\"NHWC\"",
      "f32[2,4,5,4]; const f32[4,7,3,2]" },
    { "conv_transpose_tiles", "nn.conv1d_transpose",
      "groups=1, strides=[2], padding=[1,1], data_layout=\"NWC\"",
      "f32[1,9,3]; const f32[3,33,4]" },
    { "conv_transpose", "nn.conv2d_transpose",
      "groups=2, strides=[2,3], padding=[1,0,2,1], dilation=[2,1], output_padding=[1,2], "
      "data_layout=\"NHWC\"",
      "f32[2,4,5,4]; const f32[4,3,3,2]" },
    { "conv_transpose", "nn.conv1d_transpose",
      "groups=1, strides=[2], padding=[1,1], data_layout=\"NWC\"",
      "f64[1,9,3]; const f64[3,70,4]" },
    { "conv_transpose", "nn.conv3d_transpose",
      "groups=2, strides=[2,1,2], padding=[0,1,0,1,0,0], data_layout=\"NDHWC\"",
      "f32[2,2,3,2,4]; const f32[4,3,2,3,2]" },
};

START_TEST(transposed_convolutions_write_channels_that_are_last)
{
    KERNEL_CASES_CHECK(transposed_last, 1e-5);
}
END_TEST

START_TEST(depthwise_convolutions_read_channels_that_are_last)
{
    KERNEL_CASES_CHECK(depthwise, 1e-5);
}
END_TEST

START_TEST(weights_that_come_at_run_time_are_read_as_they_lie)
{
    KERNEL_CASES_CHECK(direct, 1e-5);
}
END_TEST

START_TEST(transposed_convolutions_add_up_what_reaches_a_row)
{
    KERNEL_CASES_CHECK(transposed, 1e-5);
}
END_TEST

START_TEST(windows_are_added_up_where_they_lie_over_one_another)
{
    static const char *const named[] = { "x86-64", "cortex-m4", "cortex-m55", "x86-64-v4" };
    struct ctx *ctx = ctx_new("windows");

    generated_vector_builds();
    kernel_cases_check_as(windows, sizeof windows / sizeof *windows, 1e-6, WINOGRAD_OFF,
                          machine_find(ctx, named[_i]));
    ctx_free(ctx);
}
END_TEST

/* Rows of a band of 16 numbers, less than 16 of which are of x: gcc 12 -O3 lost these where zeros
 * beside them, and rows of zeros, were written by loops of their own. */
START_TEST(bands_as_wide_as_a_vector_keep_their_numbers)
{
#define NARROW(attrs, inputs)                                                                      \
    {                                                                                              \
        "conv_band", "nn.conv2d", "groups=1, out_layout=\"NHWC\", data_layout=\"NCHW\", " attrs,   \
            inputs                                                                                 \
    }
    static const struct kernel_case narrow[] = {
        NARROW("padding=[3,3,3,3]", "f32[1,1,49,10]; const f32[16,1,7,7]"),
        NARROW("padding=[1,1,1,1]", "f32[1,1,20,14]; const f32[16,1,3,3]"),
        NARROW("padding=[2,2,2,2], strides=[2,1]", "f32[1,3,31,12]; const f32[32,3,5,5]"),
    };
    static const char *const named[] = { "x86-64", "x86-64-v3", "x86-64-v4", "znver5" };
    struct ctx *ctx = ctx_new("narrow");

    generated_vector_builds();
    kernel_cases_check_as(narrow, 3, 1e-5, WINOGRAD_OFF, machine_find(ctx, named[_i]));
    ctx_free(ctx);
}
END_TEST

/* Long sums of what is gathered out of planes: positions around multiples of tiles, channels around
 * panels, padding, groups and images, weights of more than one NC block. */
static const struct kernel_case gathered[] = {
    { "conv", "nn.conv2d", "strides=[16,16], groups=1", "f32[1,3,32,48]; const f32[64,3,16,16]" },
    { "conv", "nn.conv2d", "strides=[16,16], groups=1", "f32[2,3,48,112]; const f32[70,3,16,16]" },
    { "conv", "nn.conv2d", "strides=[8,8], padding=[3,2,1,4], groups=1",
      "f32[1,5,21,34]; const f32[24,5,8,9]" },
    { "conv", "nn.conv2d", "strides=[14,14], groups=2", "f32[1,6,28,42]; const f32[66,3,14,14]" },
    { "conv", "nn.conv2d", "strides=[16,16], groups=1", "f32[1,3,80,16]; const f32[448,3,16,16]" },
};

START_TEST(what_is_gathered_is_a_tile_of_its_own)
{
    static const char *const names[] = { "x86-64", "x86-64-v3", "x86-64-v4", "sapphirerapids" };
    struct ctx *ctx = ctx_new("gathered");

    kernel_cases_check_as(gathered, (int)(sizeof gathered / sizeof *gathered), 1e-5, WINOGRAD_OFF,
                          machine_find(ctx, names[_i]));
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_conv");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, channels_first_are_gathered_as_the_reference_does);
    tcase_add_test(tests, channels_last_are_read_where_they_lie);
    tcase_add_test(tests, pointwise_depthwise_and_dense_convolutions_have_kernels_of_their_own);
    tcase_add_test(tests, transposed_convolutions_write_channels_that_are_last);
    tcase_add_test(tests, depthwise_convolutions_read_channels_that_are_last);
    tcase_add_test(tests, weights_that_come_at_run_time_are_read_as_they_lie);
    tcase_add_test(tests, transposed_convolutions_add_up_what_reaches_a_row);
    tcase_add_loop_test(tests, windows_are_added_up_where_they_lie_over_one_another, 0, 4);
    tcase_add_loop_test(tests, bands_as_wide_as_a_vector_keep_their_numbers, 0, 4);
    tcase_add_loop_test(tests, what_is_gathered_is_a_tile_of_its_own, 0, 4);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
