#include "tests/support/onnx_blocks.h"

#include <math.h>
#include <string.h>

/* "stem.suffix" */
static const char *join(struct onnx_builder *b, const char *stem, const char *suffix)
{
    return arena_printf(&b->arena, "%s.%s", stem, suffix);
}

static const char *words(struct onnx_builder *b, const char *first, const char *second)
{
    return arena_printf(&b->arena, "%s %s", first, second);
}

/* A node with one output, whose name is made from the op's. */
static const char *node(struct onnx_builder *b, const char *op, const char *inputs)
{
    const char *y = builder_fresh(b, op);

    builder_node(b, op, inputs, y);
    return y;
}

static const char *node2(struct onnx_builder *b, const char *op, const char *x, const char *y)
{
    return node(b, op, words(b, x, y));
}

/* Weights of a size that keeps activations near 1 through a deep network (He 2015). */
static const char *weight(struct onnx_builder *b, const char *name, const char *shape, int fan_in)
{
    builder_random(b, name, shape, sqrt(6.0 / fan_in));
    return name;
}

static const char *text_shape(struct onnx_builder *b, int a, int c, int d, int e)
{
    return arena_printf(&b->arena, "%d,%d,%d,%d", a, c, d, e);
}

/* Batch normalisation whose statistics differ per channel, as after training. */
const char *block_batch_norm(struct onnx_builder *b, const char *x, int channels)
{
    static const struct {
        const char *name;
        float middle, spread;
    } params[] = { { "gamma", 1.0f, 0.2f },
                   { "beta", 0.0f, 0.1f },
                   { "mean", 0.0f, 0.1f },
                   { "var", 1.0f, 0.3f } };
    const char *y = builder_fresh(b, "bn");
    const char *inputs = x;
    const char *shape = arena_printf(&b->arena, "%d", channels);

    for (size_t p = 0; p < sizeof params / sizeof *params; p++) {
        float *data = arena_array(&b->arena, float, channels);

        for (int c = 0; c < channels; c++)
            data[c] = params[p].middle + params[p].spread * (float)builder_next_random(b);
        builder_floats(b, join(b, y, params[p].name), shape, data);
        inputs = words(b, inputs, join(b, y, params[p].name));
    }
    builder_node(b, "BatchNormalization", inputs, y);
    return y;
}

const char *block_conv(struct onnx_builder *b, const char *x, const struct conv_block *c)
{
    const int groups = c->groups ? c->groups : 1, pad = c->kernel / 2;
    const int fan_in = c->in_c / groups * c->kernel * c->kernel;
    const char *y = builder_fresh(b, "conv");
    const char *inputs = words(b, x, join(b, y, "weight"));

    weight(b, join(b, y, "weight"), text_shape(b, c->out_c, c->in_c / groups, c->kernel, c->kernel),
           fan_in);
    if (!c->batch_norm) {
        builder_random(b, join(b, y, "bias"), arena_printf(&b->arena, "%d", c->out_c), 0.1);
        inputs = words(b, inputs, join(b, y, "bias"));
    }
    builder_node(b, "Conv", inputs, y);
    builder_attrs(b, "kernel_shape=[%d,%d] strides=[%d,%d] pads=[%d,%d,%d,%d] group=%d", c->kernel,
                  c->kernel, c->stride, c->stride, pad, pad, pad, pad, groups);
    if (c->batch_norm)
        y = block_batch_norm(b, y, c->out_c);
    return c->activation ? node(b, c->activation, y) : y;
}

const char *block_conv_bn_relu(struct onnx_builder *b, const char *x, int in_c, int out_c,
                               int kernel, int stride)
{
    return block_conv(b, x, &(struct conv_block){ in_c, out_c, kernel, stride, 1, true, "Relu" });
}

static const char *relu6(struct onnx_builder *b, const char *x)
{
    const char *y = builder_fresh(b, "relu6");
    const float low = 0, high = 6;

    builder_floats(b, join(b, y, "min"), "", &low);
    builder_floats(b, join(b, y, "max"), "", &high);
    builder_node(b, "Clip", words(b, x, words(b, join(b, y, "min"), join(b, y, "max"))), y);
    return y;
}

const char *block_inverted_residual(struct onnx_builder *b, const char *x, int in_c, int out_c,
                                    int stride, int expand)
{
    const int mid = in_c * expand;
    const struct conv_block wide = { in_c, mid, 1, 1, 1, true, NULL };
    const struct conv_block depthwise = { mid, mid, 3, stride, mid, true, NULL };
    const struct conv_block narrow = { mid, out_c, 1, 1, 1, true, NULL };
    const char *y = expand > 1 ? relu6(b, block_conv(b, x, &wide)) : x;

    y = relu6(b, block_conv(b, y, &depthwise));
    y = block_conv(b, y, &narrow);
    return stride == 1 && in_c == out_c ? node2(b, "Add", x, y) : y;
}

const char *block_fire(struct onnx_builder *b, const char *x, int in_c, int squeeze, int expand)
{
    const char *s = block_conv(b, x, &(struct conv_block){ in_c, squeeze, 1, 1, 1, false, "Relu" });
    const char *one =
        block_conv(b, s, &(struct conv_block){ squeeze, expand, 1, 1, 1, false, "Relu" });
    const char *three =
        block_conv(b, s, &(struct conv_block){ squeeze, expand, 3, 1, 1, false, "Relu" });
    const char *y = node2(b, "Concat", one, three);

    builder_attrs(b, "axis=1");
    return y;
}

const char *block_squeeze_excite(struct onnx_builder *b, const char *x, int channels, int reduced)
{
    const char *s = node(b, "GlobalAveragePool", x);

    s = block_conv(b, s, &(struct conv_block){ channels, reduced, 1, 1, 1, false, "Relu" });
    s = block_conv(b, s, &(struct conv_block){ reduced, channels, 1, 1, 1, false, "Sigmoid" });
    return node2(b, "Mul", x, s);
}

/* The input itself, or a 1x1 convolution of it when the block changes its shape. */
static const char *shortcut(struct onnx_builder *b, const char *x, int in_c, int out_c, int stride)
{
    if (in_c == out_c && stride == 1)
        return x;
    return block_conv(b, x, &(struct conv_block){ in_c, out_c, 1, stride, 1, true, NULL });
}

const char *block_basic(struct onnx_builder *b, const char *x, int in_c, int out_c, int stride)
{
    const char *y = block_conv_bn_relu(b, x, in_c, out_c, 3, stride);

    y = block_conv(b, y, &(struct conv_block){ out_c, out_c, 3, 1, 1, true, NULL });
    return node(b, "Relu", node2(b, "Add", y, shortcut(b, x, in_c, out_c, stride)));
}

const char *block_bottleneck(struct onnx_builder *b, const char *x, int in_c, int width, int stride)
{
    const char *y = block_conv_bn_relu(b, x, in_c, width, 1, 1);

    y = block_conv_bn_relu(b, y, width, width, 3, stride);
    y = block_conv(b, y, &(struct conv_block){ width, 4 * width, 1, 1, 1, true, NULL });
    return node(b, "Relu", node2(b, "Add", y, shortcut(b, x, in_c, 4 * width, stride)));
}

/* --- transformer ------------------------------------------------------------------------------ */

static const char *linear(struct onnx_builder *b, const char *x, int in, int out)
{
    const char *y = builder_fresh(b, "linear");

    builder_random(b, join(b, y, "weight"), arena_printf(&b->arena, "%d,%d", in, out),
                   sqrt(3.0 / in));
    builder_random(b, join(b, y, "bias"), arena_printf(&b->arena, "%d", out), 0.1);
    return node2(b, "Add", node2(b, "MatMul", x, join(b, y, "weight")), join(b, y, "bias"));
}

static const char *layer_norm(struct onnx_builder *b, const char *x, int dim)
{
    const char *y = builder_fresh(b, "ln");
    const char *shape = arena_printf(&b->arena, "%d", dim);

    builder_fill(b, join(b, y, "gamma"), shape, 1.0f);
    builder_random(b, join(b, y, "beta"), shape, 0.1);
    builder_node(b, "LayerNormalization",
                 words(b, x, words(b, join(b, y, "gamma"), join(b, y, "beta"))), y);
    builder_attrs(b, "axis=-1 epsilon=1e-5");
    return y;
}

/* x [1, seq, dim] -> [1, heads, seq, dim / heads], axes of the last two given by perm. */
static const char *split_heads(struct onnx_builder *b, const char *x, int seq, int heads, int width,
                               const char *perm)
{
    const int64_t shape[] = { 1, seq, heads, width };
    const char *name = builder_fresh(b, "heads.shape");
    const char *y;

    builder_ints(b, name, "4", shape);
    y = node(b, "Transpose", node2(b, "Reshape", x, name));
    builder_attrs(b, "perm=%s", perm);
    return y;
}

static const char *attention(struct onnx_builder *b, const char *x, int seq, int dim, int heads)
{
    const int width = dim / heads;
    const float scale = 1.0f / sqrtf((float)width);
    const int64_t joined[] = { 1, seq, dim };
    const char *q = split_heads(b, linear(b, x, dim, dim), seq, heads, width, "[0,2,1,3]");
    const char *k = split_heads(b, linear(b, x, dim, dim), seq, heads, width, "[0,2,3,1]");
    const char *v = split_heads(b, linear(b, x, dim, dim), seq, heads, width, "[0,2,1,3]");
    const char *name = builder_fresh(b, "attention");
    const char *y;

    builder_floats(b, join(b, name, "scale"), "", &scale);
    builder_ints(b, join(b, name, "shape"), "3", joined);
    y = node2(b, "Mul", node2(b, "MatMul", q, k), join(b, name, "scale"));
    y = node(b, "Softmax", y);
    builder_attrs(b, "axis=-1");
    y = node(b, "Transpose", node2(b, "MatMul", y, v));
    builder_attrs(b, "perm=[0,2,1,3]");
    y = node2(b, "Reshape", y, join(b, name, "shape"));
    return linear(b, y, dim, dim);
}

/* x/2 * (1 + erf(x / sqrt 2)), spelled out as exporters before opset 20 do. */
static const char *gelu(struct onnx_builder *b, const char *x)
{
    static const struct {
        const char *name;
        float number;
    } parts[] = { { "root", 1.41421356f }, { "one", 1.0f }, { "half", 0.5f } };
    const char *name = builder_fresh(b, "gelu");
    const char *y;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        builder_floats(b, join(b, name, parts[i].name), "", &parts[i].number);
    y = node(b, "Erf", node2(b, "Div", x, join(b, name, "root")));
    y = node2(b, "Mul", x, node2(b, "Add", y, join(b, name, "one")));
    return node2(b, "Mul", y, join(b, name, "half"));
}

const char *block_transformer(struct onnx_builder *b, const char *x, int seq, int dim, int heads,
                              int hidden)
{
    const char *y;

    x = node2(b, "Add", x, attention(b, layer_norm(b, x, dim), seq, dim, heads));
    y = linear(b, gelu(b, linear(b, layer_norm(b, x, dim), dim, hidden)), hidden, dim);
    return node2(b, "Add", x, y);
}

/* --- networks --------------------------------------------------------------------------------- */

/* A matrix: x [1, in_c] -> "scores" [1, classes]. */
static void scores(struct onnx_builder *b, const char *x, int in_c, int classes)
{
    builder_random(b, "fc.weight", arena_printf(&b->arena, "%d,%d", classes, in_c),
                   sqrt(3.0 / in_c));
    builder_random(b, "fc.bias", arena_printf(&b->arena, "%d", classes), 0.1);
    builder_node(b, "Gemm", words(b, x, "fc.weight fc.bias"), "scores");
    builder_attrs(b, "transB=1");
    builder_output(b, "scores", DTYPE_F32, arena_printf(&b->arena, "1,%d", classes));
}

/* Mean over the picture, then a matrix: x [1, in_c, h, w] -> "scores" [1, classes]. */
static void classifier(struct onnx_builder *b, const char *x, int in_c, int classes)
{
    scores(b, node(b, "Flatten", node(b, "GlobalAveragePool", x)), in_c, classes);
}

struct onnx_builder *builder_dense(int size, int classes, uint64_t seed)
{
    struct onnx_builder *b = builder_new(13);

    b->random ^= seed;
    builder_input(b, "data", DTYPE_F32, arena_printf(&b->arena, "1,%d", size));
    scores(b, "data", size, classes);
    return b;
}

enum { STAGES = 4 };

/* n[i] blocks in stage i, whose width is 64 << i. */
static struct onnx_builder *resnet(int size, int classes, uint64_t seed, const int *n,
                                   bool bottleneck)
{
    struct onnx_builder *b = builder_new(13);
    const int expansion = bottleneck ? 4 : 1;
    const char *x;
    int in_c = 64;

    b->random ^= seed;
    builder_input(b, "data", DTYPE_F32, text_shape(b, 1, 3, size, size));
    x = node(b, "MaxPool", block_conv_bn_relu(b, "data", 3, 64, 7, 2));
    builder_attrs(b, "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]");
    for (int s = 0; s < STAGES; s++)
        for (int i = 0; i < n[s]; i++) {
            const int width = 64 << s, stride = s > 0 && i == 0 ? 2 : 1;

            x = bottleneck ? block_bottleneck(b, x, in_c, width, stride)
                           : block_basic(b, x, in_c, width, stride);
            in_c = expansion * width;
        }
    classifier(b, x, in_c, classes);
    return b;
}

struct onnx_builder *builder_resnet50(int size, int classes, uint64_t seed)
{
    static const int n[STAGES] = { 3, 4, 6, 3 };

    return resnet(size, classes, seed, n, true);
}

struct onnx_builder *builder_resnet18(int size, int classes, uint64_t seed)
{
    static const int n[STAGES] = { 2, 2, 2, 2 };

    return resnet(size, classes, seed, n, false);
}

struct onnx_builder *builder_mixed_network(uint64_t seed)
{
    struct onnx_builder *b = builder_new(17);
    const int64_t sequence[] = { 1, 64, 16 }, picture[] = { 1, 16, 8, 8 };
    const char *x;

    b->random ^= seed;
    builder_ints(b, "sequence", "3", sequence);
    builder_ints(b, "picture", "4", picture);
    builder_input(b, "data", DTYPE_F32, "1,3,32,32");
    x = block_conv_bn_relu(b, "data", 3, 8, 3, 2);
    x = block_inverted_residual(b, x, 8, 8, 1, 4);
    x = block_inverted_residual(b, x, 8, 16, 2, 4);
    x = block_squeeze_excite(b, x, 16, 4);
    x = block_transformer(b, node2(b, "Reshape", x, "sequence"), 64, 16, 2, 32);
    x = block_fire(b, node2(b, "Reshape", x, "picture"), 16, 8, 16);
    x = block_basic(b, x, 32, 32, 2);
    classifier(b, x, 32, 10);
    return b;
}
