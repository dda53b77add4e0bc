/* versions.c - a network before and after one node was inserted; one before and after another training. */
#include "tests/make/make.h"

static const char *conv(struct onnx_builder *b, const char *name, const char *x)
{
    const char *y = arena_printf(&b->arena, "%s_y", name);
    const char *weight = arena_printf(&b->arena, "%s.weight", name);

    builder_random(b, weight, "4,4,3,3", 0.5);
    builder_node(b, "Conv", arena_printf(&b->arena, "%s %s", x, weight), y);
    builder_name(b, name);
    builder_attrs(b, "pads=[1,1,1,1]");
    return y;
}

static void stack(struct onnx_builder *b, bool inserted)
{
    const char *y;

    builder_input(b, "x", DTYPE_F32, "1,4,8,8");
    y = conv(b, "conv1", "x");
    y = conv(b, "conv2", y);
    if (inserted) {
        builder_node(b, "AveragePool", y, "smooth_y");
        builder_name(b, "smooth");
        builder_attrs(b, "kernel_shape=[3,3] pads=[1,1,1,1]");
        y = "smooth_y";
    }
    y = conv(b, "conv3", y);
    builder_node(b, "Relu", y, "y");
    builder_name(b, "relu");
    builder_output(b, "y", DTYPE_F32, "1,4,8,8");
}

static void before(struct onnx_builder *b)
{
    stack(b, false);
}

static void after(struct onnx_builder *b)
{
    stack(b, true);
}

/* A convolution with a ReLU. */
static const char *layer(struct onnx_builder *b, const char *name, const char *x, const char *shape,
                         const char *attrs)
{
    const char *y = arena_printf(&b->arena, "%s_y", name);
    const char *relu = arena_printf(&b->arena, "%s_relu", name);
    const char *weight = arena_printf(&b->arena, "%s.weight", name);
    const char *bias = arena_printf(&b->arena, "%s.bias", name);

    builder_random(b, weight, shape, 0.6);
    builder_random(b, bias, "8", 0.3);
    builder_node(b, "Conv", arena_printf(&b->arena, "%s %s %s", x, weight, bias), y);
    builder_name(b, name);
    builder_attrs(b, attrs);
    builder_node(b, "Relu", y, relu);
    return relu;
}

/* Each kind of layer whose code holds numbers of a quantisation. */
static void trained_with(struct onnx_builder *b, uint64_t random)
{
    const char *x, *y;

    b->random = random;
    builder_input(b, "x", DTYPE_F32, "1,4,16,16");
    x = layer(b, "conv1", "x", "8,4,3,3", "pads=[1,1,1,1] strides=[2,2]");
    y = layer(b, "depthwise", x, "8,1,3,3", "pads=[1,1,1,1] group=8");
    y = layer(b, "pointwise", y, "8,8,1,1", "");
    builder_node(b, "Add", arena_printf(&b->arena, "%s %s", x, y), "sum");
    builder_node(b, "Sigmoid", "sum", "gate");
    builder_node(b, "Mul", "gate sum", "gated");
    builder_node(b, "GlobalAveragePool", "gated", "pooled");
    builder_node(b, "Flatten", "pooled", "flat");
    builder_random(b, "fc.weight", "5,8", 0.8);
    builder_random(b, "fc.bias", "5", 0.3);
    builder_node(b, "Gemm", "flat fc.weight fc.bias", "logits");
    builder_name(b, "fc");
    builder_attrs(b, "transB=1");
    builder_node(b, "Softmax", "logits", "y");
    builder_output(b, "y", DTYPE_F32, "1,5");
}

static void trained(struct onnx_builder *b)
{
    trained_with(b, 11);
}

static void retrained(struct onnx_builder *b)
{
    trained_with(b, 12);
}

const struct recipe versions[] = {
    { "after", after }, { "before", before }, { "retrained", retrained }, { "trained", trained }
};
const int n_versions = sizeof versions / sizeof *versions;
