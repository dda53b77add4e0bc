/* onnx_blocks.h - the building blocks that many networks share, and whole networks made of them,
 * with seeded random weights. Each block reads the tensor `x` and returns the name of its output.
 */
#ifndef TESTS_SUPPORT_ONNX_BLOCKS_H
#define TESTS_SUPPORT_ONNX_BLOCKS_H

#include "tests/support/onnx_builder.h"

struct conv_block {
    int in_c, out_c, kernel, stride, groups; /* groups 0 = 1; padding keeps the size at stride 1 */
    bool batch_norm;                         /* then the convolution has no bias */
    const char *activation;                  /* "Relu", "HardSwish" ...; NULL = none */
};

const char *block_batch_norm(struct onnx_builder *b, const char *x, int channels);
const char *block_conv(struct onnx_builder *b, const char *x, const struct conv_block *block);
const char *block_conv_bn_relu(struct onnx_builder *b, const char *x, int in_c, int out_c,
                               int kernel, int stride);

/* MobileNetV2: expand 1x1, depth-wise 3x3, project 1x1, with the input added where shapes agree. */
const char *block_inverted_residual(struct onnx_builder *b, const char *x, int in_c, int out_c,
                                    int stride, int expand);

/* SqueezeNet: squeeze 1x1, then 1x1 and 3x3 side by side. The output has 2 * expand channels. */
const char *block_fire(struct onnx_builder *b, const char *x, int in_c, int squeeze, int expand);

/* Squeeze and excitation: x scaled per channel by a small network on its means. */
const char *block_squeeze_excite(struct onnx_builder *b, const char *x, int channels, int reduced);

/* ResNet: two 3x3 convolutions, or 1x1 3x3 1x1 with 4 * width output channels. */
const char *block_basic(struct onnx_builder *b, const char *x, int in_c, int out_c, int stride);
const char *block_bottleneck(struct onnx_builder *b, const char *x, int in_c, int width,
                             int stride);

/* Transformer encoder layer on x [1, seq, dim], norm first: attention and a GELU perceptron, each
 * with its input added. dim is a multiple of heads. */
const char *block_transformer(struct onnx_builder *b, const char *x, int seq, int dim, int heads,
                              int hidden);

/* ResNet-50 as torchvision builds it, batch normalisation unfolded: 25.6 M parameters, input "data"
 * [1,3,size,size] with size a multiple of 32, output "scores" [1,classes]. Opset 13. */
struct onnx_builder *builder_resnet50(int size, int classes, uint64_t seed);

/* Likewise ResNet-18: 11.7 M parameters. */
struct onnx_builder *builder_resnet18(int size, int classes, uint64_t seed);

/* A fully connected layer alone: "data" [1,size] -> "scores" [1,classes]. */
struct onnx_builder *builder_dense(int size, int classes, uint64_t seed);

/* A few blocks of each kind on a small input "data" [1,3,32,32], output "scores" [1,10]. Opset 17.
 */
struct onnx_builder *builder_mixed_network(uint64_t seed);

#endif
