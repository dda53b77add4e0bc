/* networks.c - small networks of the shapes that people train, with random weights. */
#include "tests/make/make.h"
#include "tests/support/onnx_blocks.h"

static void finish(struct onnx_builder *b, const char *y, int channels, int classes)
{
    builder_node(b, "GlobalAveragePool", y, "pooled");
    builder_node(b, "Flatten", "pooled", "features");
    builder_random(b, "fc.weight", arena_printf(&b->arena, "%d,%d", classes, channels), 0.3);
    builder_random(b, "fc.bias", arena_printf(&b->arena, "%d", classes), 0.3);
    builder_node(b, "Gemm", "features fc.weight fc.bias", "scores");
    builder_attrs(b, "transB=1");
    builder_output(b, "scores", DTYPE_F32, arena_printf(&b->arena, "1,%d", classes));
}

static void mobile(struct onnx_builder *b)
{
    const char *y;

    builder_input(b, "image", DTYPE_F32, "1,3,24,24");
    y = block_conv_bn_relu(b, "image", 3, 8, 3, 2);
    y = block_inverted_residual(b, y, 8, 8, 1, 2);
    y = block_inverted_residual(b, y, 8, 12, 2, 3);
    y = block_squeeze_excite(b, y, 12, 4);
    finish(b, y, 12, 5);
}

static void residual(struct onnx_builder *b)
{
    const char *y;

    builder_input(b, "image", DTYPE_F32, "1,3,17,19");
    y = block_basic(b, "image", 3, 8, 1);
    y = block_basic(b, y, 8, 16, 2);
    y = block_bottleneck(b, y, 16, 4, 1);
    y = block_fire(b, y, 16, 4, 7);
    finish(b, y, 14, 3);
}

static void transformer(struct onnx_builder *b)
{
    const char *y;

    builder_input(b, "tokens", DTYPE_F32, "1,7,12");
    y = block_transformer(b, "tokens", 7, 12, 3, 20);
    y = block_transformer(b, y, 7, 12, 2, 20);
    builder_node(b, "Softmax", y, "scores");
    builder_output(b, "scores", DTYPE_F32, "1,7,12");
}

/* Encoder and decoder: resize, concat with an earlier layer, transposed convolution. */
static void segment(struct onnx_builder *b)
{
    const float scales[] = { 1, 1, 2, 2 };
    const char *down, *up;

    builder_input(b, "image", DTYPE_F32, "1,2,12,10");
    down = block_conv_bn_relu(b, "image", 2, 6, 3, 1);
    up = block_conv_bn_relu(b, down, 6, 8, 3, 2);
    builder_floats(b, "scales", "4", scales);
    builder_node(b, "Resize", arena_printf(&b->arena, "%s _ scales", up), "resized");
    builder_attrs(b, "mode='linear' coordinate_transformation_mode='half_pixel'");
    builder_node(b, "Concat", arena_printf(&b->arena, "resized %s", down), "joined");
    builder_attrs(b, "axis=1");
    builder_random(b, "up.weight", "14,3,2,2", 0.3);
    builder_node(b, "ConvTranspose", "joined up.weight", "mask_logits");
    builder_attrs(b, "strides=[2,2]");
    builder_node(b, "Sigmoid", "mask_logits", "mask");
    builder_output(b, "mask", DTYPE_F32, "1,3,24,20");
}

/* Audio: 1-D convolution, LSTM with its state as input and output. */
static void recurrent(struct onnx_builder *b)
{
    builder_input(b, "frames", DTYPE_F32, "1,4,20");
    builder_input(b, "h0", DTYPE_F32, "1,1,6");
    builder_input(b, "c0", DTYPE_F32, "1,1,6");
    builder_random(b, "conv.weight", "5,4,3", 0.4);
    builder_node(b, "Conv", "frames conv.weight", "c");
    builder_attrs(b, "strides=[2] pads=[1,1]");
    builder_node(b, "Relu", "c", "r");
    builder_node(b, "Transpose", "r", "t");
    builder_attrs(b, "perm=[2,0,1]");
    builder_random(b, "lstm.w", "1,24,5", 0.4);
    builder_random(b, "lstm.r", "1,24,6", 0.4);
    builder_random(b, "lstm.b", "1,48", 0.4);
    builder_node(b, "LSTM", "t lstm.w lstm.r lstm.b _ h0 c0", "y hn cn");
    builder_attrs(b, "hidden_size=6");
    builder_output(b, "y", DTYPE_F32, "10,1,1,6");
    builder_output(b, "hn", DTYPE_F32, "1,1,6");
    builder_output(b, "cn", DTYPE_F32, "1,1,6");
}

const struct recipe networks[] = {
    { "mobile", mobile },   { "recurrent", recurrent },     { "residual", residual },
    { "segment", segment }, { "transformer", transformer },
};

const int n_networks = sizeof networks / sizeof *networks;
