/* convert_layout on small graphs; test_convert_layout_random.c has the numbers of many. */
#include <check.h>
#include <stdlib.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/pass_case.h"

static const struct pass_case rows[] = {
    /* the first and the last convolution read and write planes */
    { NULL,
      "fn main(%x: (1,3,8,8) f32) -> (%y) {\n"
      "  const @w : (4,3,3,3) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  const @v : (2,4,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {padding=[1,1,1,1], groups=1}\n"
      "  %d = nn.bias_add(%c, @b) {axis=1}\n"
      "  %r = nn.relu(%d)\n"
      "  %p = nn.max_pool2d(%r) {pool_size=[2,2], strides=[2,2]}\n"
      "  %y = nn.conv2d(%p, @v) {groups=1}\n"
      "}\n",
      "fn main(%x: (1,3,8,8) f32) -> (%y) {\n"
      "  const @w : (4,3,3,3) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  const @v : (2,4,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {padding=[1,1,1,1], groups=1, data_layout=\"NCHW\", "
      "out_layout=\"NHWC\"}\n"
      "  %d = nn.bias_add(%c, @b) {axis=3}\n"
      "  %r = nn.relu(%d)\n"
      "  %p = nn.max_pool2d(%r) {pool_size=[2,2], strides=[2,2], layout=\"NHWC\"}\n"
      "  %y = nn.conv2d(%p, @v) {groups=1, data_layout=\"NHWC\", out_layout=\"NCHW\"}\n"
      "}\n" },
    /* one with windows over many channels does neither: a copy is cheap beside its products */
    { NULL,
      "fn main(%x: (1,8,8,8) f32) -> (%y) {\n"
      "  const @w : (8,8,3,3) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) {padding=[1,1,1,1], groups=1}\n"
      "}\n",
      "fn main(%x: (1,8,8,8) f32) -> (%y) {\n"
      "  const @w : (8,8,3,3) f32 = crc32:00000000\n"
      "  %x.nhwc = transpose(%x) {axes=[0,2,3,1]}\n"
      "  %y.nhwc = nn.conv2d(%x.nhwc, @w) {padding=[1,1,1,1], groups=1, data_layout=\"NHWC\", "
      "out_layout=\"NHWC\"}\n"
      "  %y = transpose(%y.nhwc) {axes=[0,3,1,2]}\n"
      "}\n" },
    /* a window to few channels, or a convolution of points: planes */
    { NULL,
      "fn main(%x: (1,8,8,8) f32) -> (%y) {\n"
      "  const @v : (8,8,1,1) f32 = crc32:00000000\n"
      "  const @w : (4,8,3,3) f32 = crc32:00000000\n"
      "  %p = nn.conv2d(%x, @v) {groups=1}\n"
      "  %y = nn.conv2d(%p, @w) {groups=1}\n"
      "}\n",
      "fn main(%x: (1,8,8,8) f32) -> (%y) {\n"
      "  const @v : (8,8,1,1) f32 = crc32:00000000\n"
      "  const @w : (4,8,3,3) f32 = crc32:00000000\n"
      "  %p = nn.conv2d(%x, @v) {groups=1, data_layout=\"NCHW\", out_layout=\"NHWC\"}\n"
      "  %y = nn.conv2d(%p, @w) {groups=1, data_layout=\"NHWC\", out_layout=\"NCHW\"}\n"
      "}\n" },
    /* a depthwise convolution does neither; what is elementwise stays with it */
    { NULL,
      "fn main(%x: (1,4,8,8) f32) -> (%y) {\n"
      "  const @w : (4,1,3,3) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {groups=4}\n"
      "  %y = nn.relu(%c)\n"
      "}\n",
      "fn main(%x: (1,4,8,8) f32) -> (%y) {\n"
      "  const @w : (4,1,3,3) f32 = crc32:00000000\n"
      "  %x.nhwc = transpose(%x) {axes=[0,2,3,1]}\n"
      "  %c = nn.conv2d(%x.nhwc, @w) {groups=4, data_layout=\"NHWC\", out_layout=\"NHWC\"}\n"
      "  %y.nhwc = nn.relu(%c)\n"
      "  %y = transpose(%y.nhwc) {axes=[0,3,1,2]}\n"
      "}\n" },
    /* what stands between convolutions has kernels for channels last, too */
    { NULL,
      "fn main(%x: (1,3,8,8) f32) -> (%y) {\n"
      "  const @w : (4,3,1,1) f32 = crc32:00000000\n"
      "  const @t : (4,6,2,2) f32 = crc32:00000000\n"
      "  const @s : (6) f32 = crc32:00000000\n"
      "  const @v : (2,6,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {groups=1}\n"
      "  %u = nn.conv2d_transpose(%c, @t) {strides=[2,2], groups=1}\n"
      "  %n = nn.group_norm(%u, @s, @s) {axis=1, groups=2}\n"
      "  %i = nn.instance_norm(%n, @s, @s) {axis=1}\n"
      "  %y = nn.conv2d(%i, @v) {groups=1}\n"
      "}\n",
      "fn main(%x: (1,3,8,8) f32) -> (%y) {\n"
      "  const @w : (4,3,1,1) f32 = crc32:00000000\n"
      "  const @t : (4,6,2,2) f32 = crc32:00000000\n"
      "  const @s : (6) f32 = crc32:00000000\n"
      "  const @v : (2,6,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {groups=1, data_layout=\"NCHW\", out_layout=\"NHWC\"}\n"
      "  %u = nn.conv2d_transpose(%c, @t) {strides=[2,2], groups=1, data_layout=\"NHWC\"}\n"
      "  %n = nn.group_norm(%u, @s, @s) {axis=3, groups=2}\n"
      "  %i = nn.instance_norm(%n, @s, @s) {axis=3}\n"
      "  %y = nn.conv2d(%i, @v) {groups=1, data_layout=\"NHWC\", out_layout=\"NCHW\"}\n"
      "}\n" },
    /* of planes of f32 that are long enough they stay between planes; small ones are turned */
    { NULL,
      "fn main(%x: (1,6,4,4) f32, %z: (2,6,3,5) f32) -> (%y, %o) {\n"
      "  const @s : (6) f32 = crc32:00000000\n"
      "  %n = nn.group_norm(%x, @s, @s) {axis=1, groups=2}\n"
      "  %y = nn.instance_norm(%n, @s, @s) {axis=1}\n"
      "  %o = nn.instance_norm(%z, @s, @s) {axis=1}\n"
      "}\n",
      "fn main(%x: (1,6,4,4) f32, %z: (2,6,3,5) f32) -> (%y, %o) {\n"
      "  const @s : (6) f32 = crc32:00000000\n"
      "  %n = nn.group_norm(%x, @s, @s) {axis=1, groups=2}\n"
      "  %y = nn.instance_norm(%n, @s, @s) {axis=1}\n"
      "  %z.nhwc = transpose(%z) {axes=[0,2,3,1]}\n"
      "  %o.nhwc = nn.instance_norm(%z.nhwc, @s, @s) {axis=3}\n"
      "  %o = transpose(%o.nhwc) {axes=[0,3,1,2]}\n"
      "}\n" },
    /* transposes of the model vanish */
    { NULL,
      "fn main(%x: (1,8,8,3) f32) -> (%y) {\n"
      "  const @w : (4,3,1,1) f32 = crc32:00000000\n"
      "  const @k : (1,4,1,1) f32 = crc32:00000000\n"
      "  %t = transpose(%x) {axes=[0,3,1,2]}\n"
      "  %c = nn.conv2d(%t, @w) {groups=1}\n"
      "  %m = multiply(%c, @k)\n"
      "  %y = transpose(%m) {axes=[0,2,3,1]}\n"
      "}\n",
      "fn main(%x: (1,8,8,3) f32) -> (%m as \"y\") {\n"
      "  const @w : (4,3,1,1) f32 = crc32:00000000\n"
      "  const @k : (1,1,1,4) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"}\n"
      "  %m = multiply(%c, @k)\n"
      "}\n" },
    /* nothing between a global pool and a dense layer */
    { NULL,
      "fn main(%x: (1,3,8,8) f32) -> (%y) {\n"
      "  const @w : (4,3,3,3) f32 = crc32:00000000\n"
      "  const @f : (2,4) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {groups=1}\n"
      "  %g = nn.global_avg_pool(%c)\n"
      "  %s = reshape(%g) {shape=[1,4]}\n"
      "  %y = nn.dense(%s, @f)\n"
      "}\n",
      "fn main(%x: (1,3,8,8) f32) -> (%y) {\n"
      "  const @w : (4,3,3,3) f32 = crc32:00000000\n"
      "  const @f : (2,4) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {groups=1, data_layout=\"NCHW\", out_layout=\"NHWC\"}\n"
      "  %g = nn.global_avg_pool(%c) {layout=\"NHWC\"}\n"
      "  %s = reshape(%g) {shape=[1,4]}\n"
      "  %y = nn.dense(%s, @f)\n"
      "}\n" },
    /* a feature map that is flattened: the weights are turned instead */
    { NULL,
      "fn main(%x: (1,1,4,4) f32) -> (%y, %z) {\n"
      "  const @w : (3,1,3,3) f32 = crc32:00000000\n"
      "  const @f : (2,12) f32 = crc32:00000000\n"
      "  const @k : (12,5) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {groups=1}\n"
      "  %s = reshape(%c) {shape=[1,12]}\n"
      "  %r = nn.relu(%s)\n"
      "  %y = nn.dense(%r, @f)\n"
      "  %z = nn.matmul(%r, @k)\n"
      "}\n",
      "fn main(%x: (1,1,4,4) f32) -> (%y, %z) {\n"
      "  const @w : (3,1,3,3) f32 = crc32:00000000\n"
      "  const @k : (12,5) f32 = crc32:00000000\n"
      "  const @f : (2,12) f32 = crc32:00000000\n"
      "  %x.nhwc = reshape(%x) {shape=[1,4,4,1]}\n"
      "  %c = nn.conv2d(%x.nhwc, @w) {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"}\n"
      "  %s = reshape(%c) {shape=[1,12]}\n"
      "  %r = nn.relu(%s)\n"
      "  %y = nn.dense(%r, @f)\n"
      "  %z = nn.matmul(%r, @k)\n"
      "}\n" },
    /* axes, and lists with an entry for each dim; a view where nothing moves */
    { NULL,
      "fn main(%x: (1,4,6,6) f32) -> (%y) {\n"
      "  const @w : (4,4,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {groups=1}\n"
      "  %a, %b = split(%c) {axis=1, sizes=[1,3]}\n"
      "  %s = nn.softmax(%b) {axis=1}\n"
      "  %j = concatenate(%s, %a) {axis=1}\n"
      "  %p = nn.pad(%j) {pad_before=[0,0,1,2], pad_after=[0,0,3,4], mode=\"constant\", value=0}\n"
      "  %l = strided_slice(%p) {begin=[0,1,2,3], strides=[1,1,1,1], size=[1,2,6,7]}\n"
      "  %m = mean(%l) {axis=[2,3], keepdims=false}\n"
      "  %q = nn.max_pool2d(%l) {pool_size=[2,2]}\n"
      "  %y = argmax(%q) {axis=1, keepdims=true, select_last_index=false}\n"
      "}\n",
      "fn main(%x: (1,4,6,6) f32) -> (%y) {\n"
      "  const @w : (4,4,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {groups=1, data_layout=\"NCHW\", out_layout=\"NHWC\"}\n"
      "  %a, %b = split(%c) {axis=3, sizes=[1,3]}\n"
      "  %s = nn.softmax(%b) {axis=3}\n"
      "  %j = concatenate(%s, %a) {axis=3}\n"
      "  %p = nn.pad(%j) {pad_before=[0,1,2,0], pad_after=[0,3,4,0], mode=\"constant\", value=0}\n"
      "  %l = strided_slice(%p) {begin=[0,2,3,1], strides=[1,1,1,1], size=[1,6,7,2]}\n"
      "  %m = mean(%l) {axis=[1,2], keepdims=false}\n"
      "  %q = nn.max_pool2d(%l) {pool_size=[2,2], layout=\"NHWC\"}\n"
      "  %y.nhwc = argmax(%q) {axis=3, keepdims=true, select_last_index=false}\n"
      "  %y = reshape(%y.nhwc) {shape=[1,1,5,6]}\n"
      "}\n" },
    /* one copy for all readers; it has the name of the model */
    { NULL,
      "fn main(%x: (1,4,6,6) f32) -> (%y, %z, %r) {\n"
      "  const @w : (4,1,3,3) f32 = crc32:00000000\n"
      "  const @k : (6,2) f32 = crc32:00000000\n"
      "  const @l : (6,2) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {padding=[1,1,1,1], groups=4}\n"
      "  %r = nn.relu(%c)\n"
      "  %y = nn.matmul(%r, @k)\n"
      "  %z = nn.matmul(%r, @l)\n"
      "}\n",
      "fn main(%x: (1,4,6,6) f32) -> (%y, %z, %r) {\n"
      "  const @w : (4,1,3,3) f32 = crc32:00000000\n"
      "  const @k : (6,2) f32 = crc32:00000000\n"
      "  const @l : (6,2) f32 = crc32:00000000\n"
      "  %x.nhwc = transpose(%x) {axes=[0,2,3,1]}\n"
      "  %c = nn.conv2d(%x.nhwc, @w) {padding=[1,1,1,1], groups=4, data_layout=\"NHWC\", "
      "out_layout=\"NHWC\"}\n"
      "  %r.nhwc = nn.relu(%c)\n"
      "  %r = transpose(%r.nhwc) {axes=[0,3,1,2]}\n"
      "  %y = nn.matmul(%r, @k)\n"
      "  %z = nn.matmul(%r, @l)\n"
      "}\n" },
    /* positions as a sequence: channels last is what attention wants */
    { NULL,
      "fn main(%x: (1,3,8,8) f32) -> (%y) {\n"
      "  const @w : (4,3,4,4) f32 = crc32:00000000\n"
      "  const @k : (4,4) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {strides=[4,4], groups=1}\n"
      "  %s = reshape(%c) {shape=[1,4,4]}\n"
      "  %t = transpose(%s) {axes=[0,2,1]}\n"
      "  %y = nn.matmul(%t, @k)\n"
      "}\n",
      "fn main(%x: (1,3,8,8) f32) -> (%y) {\n"
      "  const @w : (4,3,4,4) f32 = crc32:00000000\n"
      "  const @k : (4,4) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {strides=[4,4], groups=1, data_layout=\"NCHW\", "
      "out_layout=\"NHWC\"}\n"
      "  %s = reshape(%c) {shape=[1,4,4]}\n"
      "  %y = nn.matmul(%s, @k)\n"
      "}\n" },
    /* quantised axes */
    { NULL,
      "fn main(%x: (1,3,8,8) i8) -> (%y) {\n"
      "  const @w : (4,3,1,1) i8 = crc32:00000000\n"
      "  const @z : () i8 = [0]\n"
      "  const @s : (4) f32 = [1, 2, 3, 4]\n"
      "  const @i : () i32 = [0]\n"
      "  const @t : () f32 = [0.5]\n"
      "  %c = qnn.conv2d(%x, @w, @z, @z) {groups=1}\n"
      "  %q = qnn.requantize(%c, @s, @i, @t, @z) {axis=1}\n"
      "  %y = qnn.dequantize(%q, @t, @z)\n"
      "}\n",
      "fn main(%x: (1,3,8,8) i8) -> (%y) {\n"
      "  const @w : (4,3,1,1) i8 = crc32:00000000\n"
      "  const @z : () i8 = [0]\n"
      "  const @s : (4) f32 = crc32:00000000\n"
      "  const @i : () i32 = [0]\n"
      "  const @t : () f32 = [0.5]\n"
      "  %c = qnn.conv2d(%x, @w, @z, @z) {groups=1, data_layout=\"NCHW\", out_layout=\"NCHW\"}\n"
      "  %q = qnn.requantize(%c, @s, @i, @t, @z) {axis=1, rounding=\"double\"} : (1,4,8,8) i8 "
      "scaled(scale=0.5)\n"
      "  %y = qnn.dequantize(%q, @t, @z) {axis=0}\n"
      "}\n" },
    /* constants that broadcast */
    { NULL,
      "fn main(%x: (1,4,8,8) f32) -> (%y) {\n"
      "  const @w : (4,4,1,1) f32 = crc32:00000000\n"
      "  const @k : (4,1,1) f32 = crc32:00000000\n"
      "  const @p : (1,4,8,8) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {groups=1}\n"
      "  %m = multiply(%c, @k)\n"
      "  %n = add(%m, @p)\n"
      "  %a = nn.avg_pool2d(%n) {pool_size=[3,3], strides=[1,1], padding=[1,1,1,1]}\n"
      "  %y = add(%a, %x)\n"
      "}\n",
      "fn main(%x: (1,4,8,8) f32) -> (%y) {\n"
      "  const @w : (4,4,1,1) f32 = crc32:00000000\n"
      "  const @k : (1,1,1,4) f32 = crc32:00000000\n"
      "  const @p : (1,8,8,4) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {groups=1, data_layout=\"NCHW\", out_layout=\"NHWC\"}\n"
      "  %m = multiply(%c, @k)\n"
      "  %n = add(%m, @p)\n"
      "  %a.nhwc = nn.avg_pool2d(%n) {pool_size=[3,3], padding=[1,1,1,1], layout=\"NHWC\"}\n"
      "  %a = transpose(%a.nhwc) {axes=[0,3,1,2]}\n"
      "  %y = add(%a, %x)\n"
      "}\n" },
    /* gates of one number per channel */
    { NULL,
      "fn main(%x: (1,4,8,8) f32) -> (%y) {\n"
      "  const @w : (4,1,3,3) f32 = crc32:00000000\n"
      "  const @k : (2,4,1,1) f32 = crc32:00000000\n"
      "  const @l : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @v : (4,4,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {padding=[1,1,1,1], groups=4}\n"
      "  %g = mean(%c) {axis=[2,3], keepdims=true}\n"
      "  %d = nn.conv2d(%g, @k) {groups=1}\n"
      "  %r = nn.relu(%d)\n"
      "  %e = nn.conv2d(%r, @l) {groups=1}\n"
      "  %s = sigmoid(%e)\n"
      "  %m = multiply(%c, %s)\n"
      "  %y = nn.conv2d(%m, @v) {groups=1}\n"
      "}\n",
      "fn main(%x: (1,4,8,8) f32) -> (%y) {\n"
      "  const @w : (4,1,3,3) f32 = crc32:00000000\n"
      "  const @k : (2,4,1,1) f32 = crc32:00000000\n"
      "  const @l : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @v : (4,4,1,1) f32 = crc32:00000000\n"
      "  %x.nhwc = transpose(%x) {axes=[0,2,3,1]}\n"
      "  %c = nn.conv2d(%x.nhwc, @w) {padding=[1,1,1,1], groups=4, data_layout=\"NHWC\", "
      "out_layout=\"NHWC\"}\n"
      "  %g = mean(%c) {axis=[1,2], keepdims=true}\n"
      "  %d = nn.conv2d(%g, @k) {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"}\n"
      "  %r = nn.relu(%d)\n"
      "  %e = nn.conv2d(%r, @l) {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"}\n"
      "  %s = sigmoid(%e)\n"
      "  %m = multiply(%c, %s)\n"
      "  %y = nn.conv2d(%m, @v) {groups=1, data_layout=\"NHWC\", out_layout=\"NCHW\"}\n"
      "}\n" },
    /* a picture of half the size, whose columns are read at a constant step, stays in planes */
    { NULL,
      "fn main(%x: (1,3,32,32) f32) -> (%y) {\n"
      "  %y = image.resize(%x) {size=[1,3,16,16], method=\"linear\", "
      "coordinate_transformation_mode=\"half_pixel\"}\n"
      "}\n",
      "fn main(%x: (1,3,32,32) f32) -> (%y) {\n"
      "  %y = image.resize(%x) {size=[1,3,16,16], method=\"linear\", "
      "coordinate_transformation_mode=\"half_pixel\"}\n"
      "}\n" },
    /* a shuffle of channels: one copy, of what has the channels last */
    { NULL,
      "fn main(%x: (1,4,8,8) f32) -> (%y) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @v : (4,1,3,3) f32 = crc32:00000000\n"
      "  const @u : (4,4,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {groups=2}\n"
      "  %s = reshape(%c) {shape=[1,2,2,8,8]}\n"
      "  %t = transpose(%s) {axes=[0,2,1,3,4]}\n"
      "  %m = reshape(%t) {shape=[1,4,8,8]}\n"
      "  %d = nn.conv2d(%m, @v) {padding=[1,1,1,1], groups=4}\n"
      "  %y = nn.conv2d(%d, @u) {groups=1}\n"
      "}\n",
      "fn main(%x: (1,4,8,8) f32) -> (%y) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @v : (4,1,3,3) f32 = crc32:00000000\n"
      "  const @u : (4,4,1,1) f32 = crc32:00000000\n"
      "  %x.nhwc = transpose(%x) {axes=[0,2,3,1]}\n"
      "  %c = nn.conv2d(%x.nhwc, @w) {groups=2, data_layout=\"NHWC\", out_layout=\"NHWC\"}\n"
      "  %s = reshape(%c) {shape=[1,8,8,2,2]}\n"
      "  %t = transpose(%s) {axes=[0,1,2,4,3]}\n"
      "  %m = reshape(%t) {shape=[1,8,8,4]}\n"
      "  %d = nn.conv2d(%m, @v) {padding=[1,1,1,1], groups=4, data_layout=\"NHWC\", "
      "out_layout=\"NHWC\"}\n"
      "  %y = nn.conv2d(%d, @u) {groups=1, data_layout=\"NHWC\", out_layout=\"NCHW\"}\n"
      "}\n" },
    /* an image of one row, and one of one column: the same memory */
    { NULL,
      "fn main(%x: (1,3,1,8) f32) -> (%y) {\n"
      "  const @w : (4,3,1,3) f32 = crc32:00000000\n"
      "  const @v : (4,4,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {padding=[0,1,0,1], groups=1}\n"
      "  %r = nn.relu(%c)\n"
      "  %s = reshape(%r) {shape=[1,4,8,1]}\n"
      "  %p = nn.max_pool2d(%s) {pool_size=[2,1], strides=[2,1]}\n"
      "  %y = nn.conv2d(%p, @v) {groups=1}\n"
      "}\n",
      "fn main(%x: (1,3,1,8) f32) -> (%y) {\n"
      "  const @w : (4,3,1,3) f32 = crc32:00000000\n"
      "  const @v : (4,4,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {padding=[0,1,0,1], groups=1, data_layout=\"NCHW\", "
      "out_layout=\"NHWC\"}\n"
      "  %r = nn.relu(%c)\n"
      "  %s = reshape(%r) {shape=[1,8,1,4]}\n"
      "  %p = nn.max_pool2d(%s) {pool_size=[2,1], strides=[2,1], layout=\"NHWC\"}\n"
      "  %y = nn.conv2d(%p, @v) {groups=1, data_layout=\"NHWC\", out_layout=\"NCHW\"}\n"
      "}\n" },
    /* no spatial operators */
    { NULL,
      "fn main(%x: (1,4,8,8) f32) -> (%y) {\n"
      "  const @k : (8,4) f32 = crc32:00000000\n"
      "  %t = transpose(%x) {axes=[0,2,3,1]}\n"
      "  %r = nn.relu(%t)\n"
      "  %m = nn.relu(%x)\n"
      "  %y = nn.matmul(%m, @k)\n"
      "}\n",
      NULL },
};

START_TEST(channels_are_last_where_it_pays)
{
    pass_case_check_run(pass_convert_layout, &rows[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("convert_layout");
    TCase *tcase = tcase_create("convert_layout");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, channels_are_last_where_it_pays, 0, N_ROWS(rows));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
