/* versions.c - a network before and after one node was inserted. */
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

const struct recipe versions[] = { { "after", after }, { "before", before } };
const int n_versions = sizeof versions / sizeof *versions;
