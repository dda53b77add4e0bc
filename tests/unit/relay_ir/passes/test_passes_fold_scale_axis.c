#include <check.h>
#include <stdlib.h>

#include "tests/support/pass_case.h"

static const struct pass_case rows[] = {
    /* a batch norm behind a convolution: scale and shift */
    { "scale_into_weight",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  const @g : (1,3,1,1) f32 = crc32:00000000\n"
      "  const @b : (3,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV_PADDED " : (1,3,4,4) f32 from Conv \"c\" #0\n"
      "  %m = multiply(%y, @g) : (1,3,4,4) f32 from BatchNormalization \"bn\" #1\n"
      "  %z = add(%m, @b) : (1,3,4,4) f32 from BatchNormalization \"bn\" #1\n"
      "}\n",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  const @b : (3) f32 = crc32:00000000\n"
      "  %m = nn.conv2d(%x, @w) " CONV_PADDED " : (1,3,4,4) f32  from Conv \"c\" #0 + "
      "BatchNormalization \"bn\" #1\n"
      "  %z = nn.bias_add(%m, @b) {axis=1} : (1,3,4,4) f32  from BatchNormalization \"bn\" #1\n"
      "}\n" },

    /* with a bias in between */
    { "scale_into_weight",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  const @b : (3) f32 = crc32:00000000\n"
      "  const @g : (3,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,3,2,2) f32\n"
      "  %a = nn.bias_add(%y, @b) {axis=1} : (1,3,2,2) f32\n"
      "  %z = multiply(%a, @g) : (1,3,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  const @b : (3) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,3,2,2) f32\n"
      "  %z = nn.bias_add(%y, @b) {axis=1} : (1,3,2,2) f32\n"
      "}\n" },

    /* grouped */
    { "scale_into_weight",
      "fn main(%x: (1,4,3,3) f32) -> (%z) {\n"
      "  const @w : (6,2,1,1) f32 = crc32:00000000\n"
      "  const @g : (6,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=2, "
      "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : (1,6,3,3) f32\n"
      "  %z = multiply(%y, @g) : (1,6,3,3) f32\n"
      "}\n",
      "fn main(%x: (1,4,3,3) f32) -> (%z) {\n"
      "  const @w : (6,2,1,1) f32 = crc32:00000000\n"
      "  %z = nn.conv2d(%x, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=2, "
      "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : (1,6,3,3) f32\n"
      "}\n" },

    /* a grouped transposed convolution */
    { "scale_into_weight",
      "fn main(%x: (1,4,3,3) f32) -> (%z) {\n"
      "  const @w : (4,3,2,2) f32 = crc32:00000000\n"
      "  const @g : (6,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d_transpose(%x, @w) {strides=[2,2], padding=[0,0,0,0], dilation=[1,1], "
      "output_padding=[0,0], groups=2, data_layout=\"NCHW\", kernel_layout=\"IOHW\"} : "
      "(1,6,6,6) f32\n"
      "  %z = multiply(%y, @g) : (1,6,6,6) f32\n"
      "}\n",
      "fn main(%x: (1,4,3,3) f32) -> (%z) {\n"
      "  const @w : (4,3,2,2) f32 = crc32:00000000\n"
      "  %z = nn.conv2d_transpose(%x, @w) {strides=[2,2], padding=[0,0,0,0], dilation=[1,1], "
      "output_padding=[0,0], groups=2, data_layout=\"NCHW\", kernel_layout=\"IOHW\"} : "
      "(1,6,6,6) f32\n"
      "}\n" },

    /* a divisor, behind dense */
    { "scale_into_weight",
      "fn main(%x: (2,3) f32) -> (%z) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  const @pos : (4) f32 = crc32:00000000\n"
      "  %y = nn.dense(%x, @w) : (2,4) f32\n"
      "  %z = divide(%y, @pos) : (2,4) f32\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%z) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  %z = nn.dense(%x, @w) : (2,4) f32\n"
      "}\n" },

    /* through relu and max pooling, when positive */
    { "scale_into_weight",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,1,1) f32 = crc32:00000000\n"
      "  const @pos : (3,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,3,4,4) f32 from Conv \"c\" #0\n"
      "  %r = nn.relu(%y) : (1,3,4,4) f32 from Relu \"r\" #1\n"
      "  %m = nn.max_pool2d(%r) {pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,3,2,2) f32 from MaxPool \"p\" #2\n"
      "  %z = multiply(%m, @pos) : (1,3,2,2) f32 from Mul \"m\" #3\n"
      "}\n",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,3,4,4) f32  from Conv \"c\" #0\n"
      "  %r = nn.relu(%y) : (1,3,4,4) f32  from Relu \"r\" #1\n"
      "  %z = nn.max_pool2d(%r) {pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,3,2,2) f32  from MaxPool \"p\" #2 + Mul \"m\" #3\n"
      "}\n" },

    /* not through relu when negative */
    { "scale_into_weight",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,1,1) f32 = crc32:00000000\n"
      "  const @g : (3,1,1) f32 = [1, -1, 1]\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,3,4,4) f32\n"
      "  %r = nn.relu(%y) : (1,3,4,4) f32\n"
      "  %z = multiply(%r, @g) : (1,3,4,4) f32\n"
      "}\n",
      NULL },

    /* through average pooling, of either sign */
    { "scale_into_weight",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,1,1) f32 = crc32:00000000\n"
      "  const @g : (3,1,1) f32 = [1, -1, 0.5]\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,3,4,4) f32\n"
      "  %m = nn.avg_pool2d(%y) {pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,3,2,2) f32\n"
      "  %z = multiply(%m, @g) : (1,3,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,3,4,4) f32\n"
      "  %z = nn.avg_pool2d(%y) {pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"} : (1,3,2,2) f32\n"
      "}\n" },

    /* one number through views and transposes, as in attention */
    { "scale_into_weight",
      "fn main(%x: (4,6) f32) -> (%z) {\n"
      "  const @w : (6,6) f32 = crc32:00000000\n"
      "  const @b : (6) f32 = crc32:00000000\n"
      "  const @s : () f32 = [0.577350259]\n"
      "  %y = nn.dense(%x, @w) : (4,6) f32\n"
      "  %a = nn.bias_add(%y, @b) {axis=1} : (4,6) f32\n"
      "  %r = reshape(%a) {shape=[4,2,3]} : (4,2,3) f32\n"
      "  %t = transpose(%r) {axes=[1,0,2]} : (2,4,3) f32\n"
      "  %z = multiply(%t, @s) : (2,4,3) f32\n"
      "}\n",
      "fn main(%x: (4,6) f32) -> (%z) {\n"
      "  const @w : (6,6) f32 = crc32:00000000\n"
      "  const @b : (6) f32 = crc32:00000000\n"
      "  %y = nn.dense(%x, @w) : (4,6) f32\n"
      "  %a = nn.bias_add(%y, @b) {axis=1} : (4,6) f32\n"
      "  %r = reshape(%a) {shape=[4,2,3]} : (4,2,3) f32\n"
      "  %z = transpose(%r) {axes=[1,0,2]} : (2,4,3) f32\n"
      "}\n" },

    /* the convolution has a second reader */
    { "scale_into_weight",
      "fn main(%x: (1,2,4,4) f32) -> (%z, %y) {\n"
      "  const @w : (3,2,1,1) f32 = crc32:00000000\n"
      "  const @g : (3,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,3,4,4) f32\n"
      "  %z = multiply(%y, @g) : (1,3,4,4) f32\n"
      "}\n",
      NULL },

    /* per column of the image */
    { "scale_into_weight",
      "fn main(%x: (1,2,4,3) f32) -> (%z) {\n"
      "  const @w : (3,2,1,1) f32 = crc32:00000000\n"
      "  const @g : (3) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,3,4,3) f32\n"
      "  %z = multiply(%y, @g) : (1,3,4,3) f32\n"
      "}\n",
      NULL },

    /* a dense of more dims, where axis 1 is not the channels */
    { "scale_into_weight",
      "fn main(%x: (2,4,3) f32) -> (%z) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  const @g : (4,1) f32 = crc32:00000000\n"
      "  %y = nn.dense(%x, @w) : (2,4,4) f32\n"
      "  %z = multiply(%y, @g) : (2,4,4) f32\n"
      "}\n",
      NULL },

    /* a dense of more dims */
    { "scale_from_input",
      "fn main(%x: (2,3,3) f32) -> (%y) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  const @g : (3,1) f32 = crc32:00000000\n"
      "  %m = multiply(%x, @g) : (2,3,3) f32\n"
      "  %y = nn.dense(%m, @w) : (2,3,4) f32\n"
      "}\n",
      NULL },

    /* a dense of more dims: along the last */
    { "add_to_bias",
      "fn main(%x: (2,4,3) f32) -> (%z) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %y = nn.dense(%x, @w) : (2,4,4) f32\n"
      "  %z = add(%y, @b) : (2,4,4) f32\n"
      "}\n",
      "fn main(%x: (2,4,3) f32) -> (%z) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %y = nn.dense(%x, @w) : (2,4,4) f32\n"
      "  %z = nn.bias_add(%y, @b) {axis=2} : (2,4,4) f32\n"
      "}\n" },

    /* the weight would overflow */
    { "scale_into_weight",
      "fn main(%x: (2,2) f32) -> (%z) {\n"
      "  const @w : (2,2) f32 = [1e30, 1e30, 1, 1]\n"
      "  const @g : (2) f32 = [1e30, 1]\n"
      "  %y = nn.dense(%x, @w) : (2,2) f32\n"
      "  %z = multiply(%y, @g) : (2,2) f32\n"
      "}\n",
      NULL },

    /* infinity stays visible */
    { "scale_into_weight",
      "fn main(%x: (2,2) f32) -> (%z) {\n"
      "  const @w : (2,2) f32 = crc32:00000000\n"
      "  const @g : (2) f32 = [0, 1]\n"
      "  %y = nn.dense(%x, @w) : (2,2) f32\n"
      "  %z = divide(%y, @g) : (2,2) f32\n"
      "}\n",
      NULL },

    /* a shift alone */
    { "add_to_bias",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  const @b : (3,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV_PADDED " : (1,3,4,4) f32\n"
      "  %z = add(%y, @b) : (1,3,4,4) f32\n"
      "}\n",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  const @b : (3) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV_PADDED " : (1,3,4,4) f32\n"
      "  %z = nn.bias_add(%y, @b) {axis=1} : (1,3,4,4) f32\n"
      "}\n" },

    /* a shift behind a bias */
    { "merge_biases",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  const @b : (3) f32 = crc32:00000000\n"
      "  const @s : (3,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV_PADDED " : (1,3,4,4) f32\n"
      "  %a = nn.bias_add(%y, @b) {axis=1} : (1,3,4,4) f32\n"
      "  %z = add(%a, @s) : (1,3,4,4) f32\n"
      "}\n",
      "fn main(%x: (1,2,4,4) f32) -> (%z) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  const @b : (3) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV_PADDED " : (1,3,4,4) f32\n"
      "  %z = nn.bias_add(%y, @b) {axis=1} : (1,3,4,4) f32\n"
      "}\n" },

    /* per channel, into a padded convolution */
    { "scale_from_input",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  const @g : (2,1,1) f32 = crc32:00000000\n"
      "  %m = multiply(%x, @g) : (1,2,4,4) f32 from Mul \"m\" #0\n"
      "  %y = nn.conv2d(%m, @w) " CONV_PADDED " : (1,3,4,4) f32 from Conv \"c\" #1\n"
      "}\n",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV_PADDED " : (1,3,4,4) f32  from Mul \"m\" #0 + Conv "
      "\"c\" #1\n"
      "}\n" },

    /* grouped */
    { "scale_from_input",
      "fn main(%x: (1,4,3,3) f32) -> (%y) {\n"
      "  const @w : (6,2,1,1) f32 = crc32:00000000\n"
      "  const @g : (4,1,1) f32 = crc32:00000000\n"
      "  %m = multiply(%x, @g) : (1,4,3,3) f32\n"
      "  %y = nn.conv2d(%m, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=2, "
      "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : (1,6,3,3) f32\n"
      "}\n",
      "fn main(%x: (1,4,3,3) f32) -> (%y) {\n"
      "  const @w : (6,2,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=2, "
      "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : (1,6,3,3) f32\n"
      "}\n" },

    /* into a grouped transposed convolution */
    { "scale_from_input",
      "fn main(%x: (1,4,3,3) f32) -> (%y) {\n"
      "  const @w : (4,3,2,2) f32 = crc32:00000000\n"
      "  const @g : (4,1,1) f32 = crc32:00000000\n"
      "  %m = multiply(%x, @g) : (1,4,3,3) f32\n"
      "  %y = nn.conv2d_transpose(%m, @w) {strides=[2,2], padding=[0,0,0,0], dilation=[1,1], "
      "output_padding=[0,0], groups=2, data_layout=\"NCHW\", kernel_layout=\"IOHW\"} : "
      "(1,6,6,6) f32\n"
      "}\n",
      "fn main(%x: (1,4,3,3) f32) -> (%y) {\n"
      "  const @w : (4,3,2,2) f32 = crc32:00000000\n"
      "  %y = nn.conv2d_transpose(%x, @w) {strides=[2,2], padding=[0,0,0,0], dilation=[1,1], "
      "output_padding=[0,0], groups=2, data_layout=\"NCHW\", kernel_layout=\"IOHW\"} : "
      "(1,6,6,6) f32\n"
      "}\n" },

    /* the scaled input has a second reader */
    { "scale_from_input",
      "fn main(%x: (2,3) f32) -> (%y, %m) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  const @g : (3) f32 = crc32:00000000\n"
      "  %m = multiply(%x, @g) : (2,3) f32\n"
      "  %y = nn.dense(%m, @w) : (2,4) f32\n"
      "}\n",
      NULL },

    /* into an unpadded convolution */
    { "shift_from_input",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  const @s : (2,1,1) f32 = crc32:00000000\n"
      "  %a = add(%x, @s) : (1,2,4,4) f32 from Add \"a\" #0\n"
      "  %y = nn.conv2d(%a, @w) " CONV " : (1,3,2,2) f32 from Conv \"c\" #1\n"
      "}\n",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  const @s : (3) f32 = crc32:00000000\n"
      "  %y.conv2d = nn.conv2d(%x, @w) " CONV " : (1,3,2,2) f32  from Add \"a\" #0 + Conv "
      "\"c\" #1\n"
      "  %y = nn.bias_add(%y.conv2d, @s) {axis=1} : (1,3,2,2) f32  from Add \"a\" #0 + Conv "
      "\"c\" #1\n"
      "}\n" },

    /* normalised inputs: both, into a dense with a bias */
    { "shift_from_input",
      "fn main(%x: (2,3) f32) -> (%z) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  const @g : (3) f32 = crc32:00000000\n"
      "  const @s : (3) f32 = crc32:00000000\n"
      "  %m = multiply(%x, @g) : (2,3) f32\n"
      "  %a = add(%m, @s) : (2,3) f32\n"
      "  %y = nn.dense(%a, @w) : (2,4) f32\n"
      "  %z = nn.bias_add(%y, @b) {axis=1} : (2,4) f32\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%z) {\n"
      "  const @s : (4) f32 = crc32:00000000\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  %y.dense = nn.dense(%x, @w) : (2,4) f32\n"
      "  %z = nn.bias_add(%y.dense, @s) {axis=1} : (2,4) f32\n"
      "}\n" },

    /* the padding is not shifted */
    { "shift_from_input",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
      "  const @s : (2,1,1) f32 = crc32:00000000\n"
      "  %a = add(%x, @s) : (1,2,4,4) f32\n"
      "  %y = nn.conv2d(%a, @w) " CONV_PADDED " : (1,3,4,4) f32\n"
      "}\n",
      NULL },

    /* branches of 3x3 and 1x1, as RepVGG is trained: they join where they lie over the same x */
    { "join_parallel_convs",
      "fn main(%x: (1,4,5,5) f32) -> (%y) {\n"
      "  const @v : (6,4,1,1) f32 = crc32:00000000\n"
      "  const @w : (6,4,3,3) f32 = crc32:00000000\n"
      "  const @a : (6) f32 = crc32:00000000\n"
      "  const @b : (6) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @v) {strides=[2,2], padding=[0,0,0,0], dilation=[1,1], groups=1, " NCHW
      " : (1,6,3,3) f32 from Conv #0\n"
      "  %d = nn.bias_add(%c, @a) {axis=1} : (1,6,3,3) f32 from Conv #0\n"
      "  %e = nn.conv2d(%x, @w) {strides=[2,2], padding=[1,1,1,1], dilation=[1,1], groups=1, " NCHW
      " : (1,6,3,3) f32 from Conv #1\n"
      "  %f = nn.bias_add(%e, @b) {axis=1} : (1,6,3,3) f32 from Conv #1\n"
      "  %y = add(%d, %f) : (1,6,3,3) f32 from Add #2\n"
      "}\n",
      "fn main(%x: (1,4,5,5) f32) -> (%y) {\n"
      "  const @w : (6,4,3,3) f32 = crc32:00000000\n"
      "  const @b : (6) f32 = crc32:00000000\n"
      "  %y.conv2d = nn.conv2d(%x, @w) {strides=[2,2], padding=[1,1,1,1], dilation=[1,1], "
      "groups=1, " NCHW " : (1,6,3,3) f32  from Conv #0 + Conv #1 + Add #2\n"
      "  %y = nn.bias_add(%y.conv2d, @b) {axis=1} : (1,6,3,3) f32  from Conv #0 + Conv #1 + Add "
      "#2\n"
      "}\n" },

    /* and x itself behind a batch norm, of groups */
    { "join_parallel_convs",
      "fn main(%x: (2,4,3,5) f32) -> (%y) {\n"
      "  const @w : (4,2,3,5) f32 = crc32:00000000\n"
      "  const @g : (1,4,1,1) f32 = crc32:00000000\n"
      "  const @s : (4,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) {strides=[1,1], padding=[1,2,1,2], dilation=[1,1], groups=2, " NCHW
      " : (2,4,3,5) f32\n"
      "  %m = multiply(%x, @g) : (2,4,3,5) f32\n"
      "  %a = add(%m, @s) : (2,4,3,5) f32\n"
      "  %y = add(%a, %c) : (2,4,3,5) f32\n"
      "}\n",
      "fn main(%x: (2,4,3,5) f32) -> (%y) {\n"
      "  const @w : (4,2,3,5) f32 = crc32:00000000\n"
      "  const @s : (4) f32 = crc32:00000000\n"
      "  %y.conv2d = nn.conv2d(%x, @w) {strides=[1,1], padding=[1,2,1,2], dilation=[1,1], "
      "groups=2, " NCHW " : (2,4,3,5) f32\n"
      "  %y = nn.bias_add(%y.conv2d, @s) {axis=1} : (2,4,3,5) f32\n"
      "}\n" },

    /* of one size, by one number; no bias */
    { "join_parallel_convs",
      "fn main(%x: (1,3,7) f32) -> (%y) {\n"
      "  const @v : (3,3,3) f32 = crc32:00000000\n"
      "  const @w : (3,3,5) f32 = crc32:00000000\n"
      "  const @g : () f32 = [3]\n"
      "  %c = nn.conv1d(%x, @v) {strides=[1], padding=[2,2], dilation=[2], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,3,7) f32\n"
      "  %d = nn.conv1d(%x, @w) {strides=[1], padding=[6,2], dilation=[2], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,3,7) f32\n"
      "  %s = add(%c, %d) : (1,3,7) f32\n"
      "  %m = multiply(%x, @g) : (1,3,7) f32\n"
      "  %y = add(%s, %m) : (1,3,7) f32\n"
      "}\n",
      "fn main(%x: (1,3,7) f32) -> (%y) {\n"
      "  const @w : (3,3,5) f32 = crc32:00000000\n"
      "  %y = nn.conv1d(%x, @w) {strides=[1], padding=[6,2], dilation=[2], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,3,7) f32\n"
      "}\n" },

    /* a row and a column: neither holds the other */
    { "join_parallel_convs",
      "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
      "  const @v : (2,2,1,3) f32 = crc32:00000000\n"
      "  const @w : (2,2,3,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @v) {strides=[1,1], padding=[0,1,0,1], dilation=[1,1], groups=1, " NCHW
      " : (1,2,4,4) f32\n"
      "  %d = nn.conv2d(%x, @w) {strides=[1,1], padding=[1,0,1,0], dilation=[1,1], groups=1, " NCHW
      " : (1,2,4,4) f32\n"
      "  %y = add(%c, %d) : (1,2,4,4) f32\n"
      "}\n",
      NULL },

    /* taps of one lie between those of the other */
    { "join_parallel_convs",
      "fn main(%x: (1,2,8) f32) -> (%y) {\n"
      "  const @v : (2,2,3) f32 = crc32:00000000\n"
      "  const @w : (2,2,3) f32 = crc32:00000000\n"
      "  %c = nn.conv1d(%x, @v) {strides=[1], padding=[1,1], dilation=[1], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,8) f32\n"
      "  %d = nn.conv1d(%x, @w) {strides=[1], padding=[2,2], dilation=[2], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,8) f32\n"
      "  %y = add(%c, %d) : (1,2,8) f32\n"
      "}\n",
      NULL },

    /* of another x */
    { "join_parallel_convs",
      "fn main(%x: (1,2,8) f32, %z: (1,2,8) f32) -> (%y) {\n"
      "  const @v : (2,2,3) f32 = crc32:00000000\n"
      "  const @w : (2,2,3) f32 = crc32:00000000\n"
      "  %c = nn.conv1d(%x, @v) {strides=[1], padding=[1,1], dilation=[1], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,8) f32\n"
      "  %d = nn.conv1d(%z, @w) {strides=[1], padding=[1,1], dilation=[1], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,8) f32\n"
      "  %y = add(%c, %d) : (1,2,8) f32\n"
      "}\n",
      NULL },

    /* one of them has another reader */
    { "join_parallel_convs",
      "fn main(%x: (1,2,8) f32) -> (%y, %c) {\n"
      "  const @v : (2,2,3) f32 = crc32:00000000\n"
      "  const @w : (2,2,3) f32 = crc32:00000000\n"
      "  %c = nn.conv1d(%x, @v) {strides=[1], padding=[1,1], dilation=[1], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,8) f32\n"
      "  %d = nn.conv1d(%x, @w) {strides=[1], padding=[1,1], dilation=[1], groups=1, "
      "data_layout=\"NCW\", kernel_layout=\"OIW\"} : (1,2,8) f32\n"
      "  %y = add(%c, %d) : (1,2,8) f32\n"
      "}\n",
      NULL },
};

START_TEST(scales_and_shifts_go_into_weights)
{
    pass_case_check("fold_scale_axis", &rows[_i]);
}
END_TEST

START_TEST(every_rule_has_a_row)
{
    int n;
    const struct rule *rules = fold_scale_axis_rules(&n);

    pass_case_coverage(rules, n, "scale_into_weight", "shift_from_input", rows, N_ROWS(rows));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fold_scale_axis");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, scales_and_shifts_go_into_weights, 0, N_ROWS(rows));
    tcase_add_test(tests, every_rule_has_a_row);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
