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

/* From a picture to a picture, as PyTorch exports it: branches that are added (RepVGG), a group
 * norm as an instance norm between reshapes, an atrous convolution most of whose taps lie outside.
 */
static void picture(struct onnx_builder *b)
{
    static const int64_t groups[] = { 1, 4, -1 }, image[] = { 1, 8, 12, 20 };
    const struct conv_block wide = { 8, 8, 3, 1, 0, true, NULL },
                            narrow = { 8, 8, 1, 1, 0, true, NULL };
    const char *x, *a, *c;

    builder_input(b, "image", DTYPE_F32, "1,3,12,20");
    x = block_conv_bn_relu(b, "image", 3, 8, 3, 1);
    a = block_conv(b, x, &wide);
    c = block_conv(b, x, &narrow);
    builder_node(b, "Add", arena_printf(&b->arena, "%s %s", a, c), "two");
    builder_node(b, "Add", arena_printf(&b->arena, "two %s", block_batch_norm(b, x, 8)), "three");
    builder_ints(b, "groups", "3", groups);
    builder_ints(b, "shape", "4", image);
    builder_fill(b, "ones", "4", 1);
    builder_fill(b, "zeros", "4", 0);
    builder_random(b, "gamma", "8,1,1", 1);
    builder_random(b, "beta", "8,1,1", 1);
    builder_node(b, "Reshape", "three groups", "grouped");
    builder_node(b, "InstanceNormalization", "grouped ones zeros", "normed");
    builder_node(b, "Reshape", "normed shape", "channels");
    builder_node(b, "Mul", "channels gamma", "scaled");
    builder_node(b, "Add", "scaled beta", "shifted");
    builder_node(b, "Relu", "shifted", "active");
    builder_random(b, "atrous.weight", "8,8,3,3", 0.3);
    builder_node(b, "Conv", "active atrous.weight", "atrous");
    builder_attrs(b, "dilations=[13,13] pads=[13,13,13,13]");
    builder_node(b, "Add", "atrous active", "sum");
    builder_random(b, "last.weight", "3,8,3,3", 0.3);
    builder_random(b, "last.bias", "3", 0.3);
    builder_node(b, "Conv", "sum last.weight last.bias", "colours");
    builder_attrs(b, "pads=[1,1,1,1]");
    builder_node(b, "Tanh", "colours", "picture");
    builder_output(b, "picture", DTYPE_F32, "1,3,12,20");
}

/* Over time: depthwise convolutions with wide and with dilated kernels, and a causal one, which
 * PyTorch pads on both sides and cuts off. */
static void causal(struct onnx_builder *b)
{
    static const int64_t zero = 0, end = 40, axis = 2;

    builder_input(b, "frames", DTYPE_F32, "1,8,40");
    builder_random(b, "wide.weight", "8,1,9", 0.4);
    builder_node(b, "Conv", "frames wide.weight", "wide");
    builder_attrs(b, "group=8 pads=[4,4]");
    builder_node(b, "Relu", "wide", "r1");
    builder_random(b, "causal.weight", "12,8,3", 0.4);
    builder_random(b, "causal.bias", "12", 0.4);
    builder_node(b, "Conv", "r1 causal.weight causal.bias", "both");
    builder_attrs(b, "dilations=[4] pads=[8,8]");
    builder_ints(b, "zero", "1", &zero);
    builder_ints(b, "end", "1", &end);
    builder_ints(b, "axis", "1", &axis);
    builder_node(b, "Slice", "both zero end axis", "cut");
    builder_node(b, "Relu", "cut", "r2");
    builder_random(b, "dilated.weight", "12,1,5", 0.4);
    builder_node(b, "Conv", "r2 dilated.weight", "y");
    builder_attrs(b, "group=12 dilations=[16] pads=[32,32]");
    builder_output(b, "y", DTYPE_F32, "1,12,40");
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

/* --- 8-bit integers --------------------------------------------------------------------------- */

/* Random numbers of all of an 8-bit type, or of a bias. */
static void integers(struct onnx_builder *b, const char *name, enum dtype dtype, const char *shape,
                     int n)
{
    int8_t *bytes = arena_array(&b->arena, int8_t, n);
    int32_t *words = arena_array(&b->arena, int32_t, n);

    for (int i = 0; i < n; i++) {
        const double number = builder_next_random(b);

        bytes[i] = (int8_t)(number * 127);
        words[i] = (int32_t)(number * 3000);
    }
    builder_tensor(b, name, dtype, shape, dtype == DTYPE_I32 ? (void *)words : (void *)bytes);
}

/* A tensor's scale and zero point: NAME_s and NAME_z. */
static void scale_and_zero(struct onnx_builder *b, const char *name, double scale, int zero)
{
    const float number = (float)scale;
    const int8_t point = (int8_t)zero;

    builder_floats(b, arena_printf(&b->arena, "%s_s", name), "", &number);
    builder_tensor(b, arena_printf(&b->arena, "%s_z", name), DTYPE_I8, "", &point);
}

/* "x x_s x_z w w_s w_z y_s y_z more" */
static const char *operands(struct onnx_builder *b, const char *x, const char *w, const char *y,
                            const char *more)
{
    return arena_printf(&b->arena, "%s %s_s %s_z %s%s_s %s_z%s%s", x, x, x,
                        *w ? arena_printf(&b->arena, "%s %s_s %s_z ", w, w, w) : "", y, y,
                        *more ? " " : "", more);
}

/* Convolutions with scales per channel and per tensor, a depthwise one, what stands between them
 * in integers, and floats at both ends. */
static void quantised(struct onnx_builder *b)
{
    static const float per_channel[] = { 0.01F, 0.013F, 0.007F, 0.02F, 0.011F, 0.017F };
    static const int8_t no_zeros[6] = { 0 };

    builder_domain(b, "com.microsoft", 1);
    builder_input(b, "image", DTYPE_F32, "1,3,12,10");
    builder_output(b, "probabilities", DTYPE_F32, "1,4");
    builder_output(b, "pooled", DTYPE_I8, "1,6,6,5");
    scale_and_zero(b, "x", 1.0 / 128, -3);
    builder_node(b, "QuantizeLinear", "image x_s x_z", "x");

    integers(b, "w1", DTYPE_I8, "6,3,3,3", 162);
    builder_floats(b, "w1_s", "6", per_channel);
    builder_tensor(b, "w1_z", DTYPE_I8, "6", no_zeros);
    integers(b, "b1", DTYPE_I32, "6", 6);
    scale_and_zero(b, "c1", 0.045, -128); /* a ReLU: the range begins at 0 */
    builder_node(b, "QLinearConv", operands(b, "x", "w1", "c1", "b1"), "c1");
    builder_attrs(b, "pads=[1,1,1,1]");

    integers(b, "w2", DTYPE_I8, "6,1,3,3", 54);
    scale_and_zero(b, "w2", 0.012, 5);
    scale_and_zero(b, "c2", 0.09, 11);
    builder_node(b, "QLinearConv", operands(b, "c1", "w2", "c2", ""), "c2");
    builder_attrs(b, "group=6 pads=[1,1,1,1]");

    scale_and_zero(b, "sum", 0.11, -20);
    builder_node(b, "com.microsoft:QLinearAdd", operands(b, "c1", "c2", "sum", ""), "sum");
    builder_node(b, "MaxPool", "sum", "pooled");
    builder_attrs(b, "kernel_shape=[2,2] strides=[2,2]");
    scale_and_zero(b, "mean", 0.043, 0);
    builder_node(b, "com.microsoft:QLinearGlobalAveragePool", "pooled sum_s sum_z mean_s mean_z",
                 "mean");
    builder_node(b, "Flatten", "mean", "flat");

    integers(b, "w3", DTYPE_I8, "6,4", 24);
    scale_and_zero(b, "w3", 0.004, 0);
    scale_and_zero(b, "logits", 0.03, 7);
    builder_node(b, "QLinearMatMul", "flat mean_s mean_z w3 w3_s w3_z logits_s logits_z", "logits");
    scale_and_zero(b, "p", 1.0 / 256, -128);
    builder_node(b, "com.microsoft:QLinearSoftmax", operands(b, "logits", "", "p", ""), "p");
    builder_attrs(b, "opset=13 axis=-1");
    builder_node(b, "DequantizeLinear", "p p_s p_z", "probabilities");
}

/* A scale for each block of weights, as models of language have them: of a matrix along its rows
 * and its columns, with zero points that go into the codes (8 of u4) and with such that do not, and
 * of a 1x1 convolution. */
static const char *in_blocks(struct onnx_builder *b, const char *name, enum dtype dtype,
                             const char *shape, const char *blocks, int axis, int zero)
{
    const char *scale = arena_printf(&b->arena, "%s_s", name);
    const char *zeros = arena_printf(&b->arena, "%s_z", name);
    const char *numbers = arena_printf(&b->arena, "%s_numbers", name);
    const Onnx__TensorProto *tensor = builder_tensor(b, name, dtype, shape, NULL);
    float *scales;

    for (size_t i = 0; i < tensor->raw_data.len; i++)
        tensor->raw_data.data[i] = (uint8_t)(builder_next_random(b) * 128 + 128);
    tensor = builder_tensor(b, scale, DTYPE_F32, blocks, NULL);
    scales = (float *)(void *)tensor->raw_data.data;
    for (size_t i = 0; i < tensor->raw_data.len / sizeof *scales; i++)
        scales[i] = (float)(0.03 + 0.02 * builder_next_random(b));
    if (zero >= 0) {
        tensor = builder_tensor(b, zeros, dtype, blocks, NULL);
        for (size_t i = 0; i < tensor->raw_data.len; i++)
            tensor->raw_data.data[i] =
                (uint8_t)(zero ? zero * 17 : (int)(builder_next_random(b) * 128 + 128));
    }
    builder_node(b, "DequantizeLinear",
                 arena_printf(&b->arena, "%s %s%s%s", name, scale, zero >= 0 ? " " : "",
                              zero >= 0 ? zeros : ""),
                 numbers);
    builder_attrs(b, "axis=%d block_size=16", axis);
    return numbers;
}

static void blocks(struct onnx_builder *b)
{
    static const int64_t image[] = { 4, 20, 1, 1 };

    b->model->opset_import[0]->version = 21;
    builder_input(b, "x", DTYPE_F32, "4,40");
    builder_output(b, "y", DTYPE_F32, "4,6,1,1");
    builder_node(
        b, "MatMul",
        arena_printf(&b->arena, "x %s", in_blocks(b, "w1", DTYPE_I4, "40,32", "3,32", 0, -1)), "a");
    builder_node(
        b, "Gemm",
        arena_printf(&b->arena, "a %s", in_blocks(b, "w2", DTYPE_U4, "48,32", "48,2", 1, 8)), "b");
    builder_attrs(b, "transB=1");
    builder_node(
        b, "Gemm",
        arena_printf(&b->arena, "b %s", in_blocks(b, "w3", DTYPE_U4, "48,32", "48,2", 1, 0)), "c");
    builder_node(
        b, "MatMul",
        arena_printf(&b->arena, "c %s", in_blocks(b, "w4", DTYPE_I8, "32,20", "2,20", 0, -1)), "d");
    builder_ints(b, "image", "4", image);
    builder_node(b, "Reshape", "d image", "e");
    builder_node(
        b, "Conv",
        arena_printf(&b->arena, "e %s", in_blocks(b, "w5", DTYPE_I4, "6,20,1,1", "6,2,1,1", 1, -1)),
        "y");
}

const struct recipe networks[] = {
    { "blocks", blocks },     { "causal", causal },       { "mobile", mobile },
    { "picture", picture },   { "quantised", quantised }, { "recurrent", recurrent },
    { "residual", residual }, { "segment", segment },     { "transformer", transformer },
};

const int n_networks = sizeof networks / sizeof *networks;
