/* Every operator that the engine gives to oneDNN, alone and with element-wise nodes behind it, as
 * main and as a region, against the reference. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/executions.h"

enum { MOST_INPUTS = 5, MOST_DIMS = 5 };

struct shape {
    char kind; /* 'x' parameter, 'w' constant, 0 end of the list */
    int rank;
    int64_t dim[MOST_DIMS];
};

/* then: element-wise nodes behind the operator, a letter each:
 *   b  add a constant vector along dim 1         B  the same along the last dim
 *   r  relu   c  clip   s  sigmoid   g  gelu     e  celu (two oneDNN operations)
 *   +  add a parameter of the same shape         *  multiply by a constant per channel
 *   -  subtract a constant scalar */
struct graph_case {
    const char *name;
    enum op op;
    struct shape in[MOST_INPUTS];
    union attrs attrs;
    const char *then;
    bool reference; /* oneDNN does not do it, and should not be asked */
    double low;     /* of the inputs; 0 = -2 */
    int n_outputs;
};

/* clang-format off */
#define X(...) { 'x', sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), { __VA_ARGS__ } }
#define W(...) { 'w', sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), { __VA_ARGS__ } }
#define INTS(...) { sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), { __VA_ARGS__ } }
#define REALS(...) { sizeof((double[]){ __VA_ARGS__ }) / sizeof(double), { __VA_ARGS__ } }
#define CONV(s, p, d, g)                                                        \
    {                                                                           \
        .conv = { .strides = s, .padding = p, .dilation = d, .groups = g,       \
                  .data_layout = "", .kernel_layout = "" }                      \
    }
#define DECONV(s, p, d, o, g)                                                   \
    {                                                                           \
        .conv_transpose = { .strides = s, .padding = p, .dilation = d,          \
                            .output_padding = o, .groups = g,                   \
                            .data_layout = "", .kernel_layout = "" }            \
    }
#define POOL(k, s, p, d, ceil, count)                                           \
    {                                                                           \
        .pool = { .pool_size = k, .strides = s, .padding = p, .dilation = d,    \
                  .ceil_mode = ceil, .count_include_pad = count, .layout = "" } \
    }
#define RESIZE(wanted, how, mode, rounding, ...)                                \
    {                                                                           \
        .resize = { .size = wanted, .scales = REALS(__VA_ARGS__), .method = how, \
                    .coordinate_transformation_mode = mode,                     \
                    .rounding_method = rounding, .cubic_alpha = -0.75 }         \
    }
#define I1(a) INTS(a)
#define I2(a, b) INTS(a, b)
#define I3(a, b, c) INTS(a, b, c)
#define I4(a, b, c, d) INTS(a, b, c, d)
#define I5(a, b, c, d, e) INTS(a, b, c, d, e)
#define I6(a, b, c, d, e, f) INTS(a, b, c, d, e, f)
#define ALPHA(a, b) { .alpha_beta = { a, b } }
#define AXIS(a) { .axis = { a } }

static const struct graph_case cases[] = {
    /* convolutions */
    { "conv", OP_CONV2D, .in = { X(1, 3, 12, 12), W(8, 3, 3, 3) },
      CONV(I2(1, 1), I4(1, 1, 1, 1), I2(1, 1), 1), .then = "br" },
    { "conv of many channels", OP_CONV2D, .in = { X(2, 32, 14, 14), W(48, 32, 3, 3) },
      CONV(I2(2, 2), I4(1, 1, 1, 1), I2(1, 1), 1), .then = "b+r" },
    { "conv with uneven padding", OP_CONV2D, .in = { X(1, 5, 9, 11), W(7, 5, 3, 4) },
      CONV(I2(2, 1), I4(0, 1, 1, 2), I2(1, 1), 1), .then = "bc" },
    { "conv, dilated", OP_CONV2D, .in = { X(1, 16, 15, 15), W(16, 16, 3, 3) },
      CONV(I2(1, 1), I4(2, 2, 2, 2), I2(2, 2), 1), .then = "bs" },
    { "conv, 1x1, scaled", OP_CONV2D, .in = { X(1, 64, 7, 7), W(32, 64, 1, 1) },
      CONV(I2(1, 1), I4(0, 0, 0, 0), I2(1, 1), 1), .then = "*br" },
    { "conv, grouped", OP_CONV2D, .in = { X(1, 12, 10, 10), W(8, 3, 3, 3) },
      CONV(I2(1, 1), I4(1, 1, 1, 1), I2(1, 1), 4), .then = "b" },
    { "conv, depthwise", OP_CONV2D, .in = { X(1, 24, 13, 13), W(24, 1, 3, 3) },
      CONV(I2(2, 2), I4(1, 1, 1, 1), I2(1, 1), 24), .then = "bc" },
    { "conv, depthwise with multiplier", OP_CONV2D, .in = { X(1, 6, 8, 8), W(12, 1, 3, 3) },
      CONV(I2(1, 1), I4(1, 1, 1, 1), I2(1, 1), 6), .then = "b" },
    { "conv of one dim", OP_CONV1D, .in = { X(2, 8, 40), W(16, 8, 5) },
      CONV(I1(2), I2(2, 2), I1(1), 1), .then = "bg" },
    { "conv of three dims", OP_CONV3D, .in = { X(1, 4, 6, 7, 8), W(8, 4, 3, 3, 3) },
      CONV(I3(1, 1, 1), I6(1, 1, 1, 1, 1, 1), I3(1, 1, 1), 1), .then = "br" },
    { "conv with computed weights", OP_CONV2D, .in = { X(1, 8, 6, 6), X(8, 8, 3, 3) },
      CONV(I2(1, 1), I4(1, 1, 1, 1), I2(1, 1), 1), .then = "br" },
    { "conv with a long kernel", OP_CONV2D, .in = { X(1, 2, 130, 9), W(4, 2, 125, 3) },
      CONV(I2(2, 1), I4(63, 1, 63, 1), I2(1, 1), 1), .then = "br" },
    { "conv padded beyond its kernel", OP_CONV2D, .in = { X(1, 3, 5, 5), W(4, 3, 2, 2) },
      CONV(I2(1, 1), I4(3, 3, 3, 3), I2(1, 1), 1), .then = "b" },
    { "conv of one pixel", OP_CONV2D, .in = { X(1, 3, 1, 1), W(4, 3, 3, 3) },
      CONV(I2(2, 2), I4(1, 1, 1, 1), I2(1, 1), 1), .then = "b" },
    { "conv with a long tail", OP_CONV2D, .in = { X(1, 8, 6, 6), W(8, 8, 3, 3) },
      CONV(I2(1, 1), I4(1, 1, 1, 1), I2(1, 1), 1), .then = "be-r" },

    /* transposed convolutions */
    { "deconv", OP_CONV2D_TRANSPOSE, .in = { X(1, 8, 6, 6), W(8, 5, 3, 3) },
      DECONV(I2(2, 2), I4(1, 1, 1, 1), I2(1, 1), I2(1, 1), 1), .then = "br" },
    { "deconv, grouped", OP_CONV2D_TRANSPOSE, .in = { X(1, 8, 6, 6), W(8, 3, 4, 4) },
      DECONV(I2(2, 2), I4(1, 1, 1, 1), I2(1, 1), I2(0, 0), 2), .then = "b" },
    { "deconv of one dim, dilated", OP_CONV1D_TRANSPOSE, .in = { X(1, 4, 9), W(4, 6, 3) },
      DECONV(I1(2), I2(1, 2), I1(2), I1(0), 1), .then = "b" },
    { "deconv with more output than input reaches", OP_CONV2D_TRANSPOSE,
      .in = { X(1, 2, 3, 3), W(2, 2, 2, 2) },
      DECONV(I2(2, 2), I4(0, 0, 0, 0), I2(1, 1), I2(1, 1), 1), .reference = true },

    /* products of matrices */
    { "dense", OP_DENSE, .in = { X(4, 37), W(19, 37) }, .then = "Br" },
    { "dense with computed weights", OP_DENSE, .in = { X(1, 64), X(10, 64) }, .then = "B" },
    { "matmul", OP_MATMUL, .in = { X(5, 7), W(7, 3) }, .then = "Bs" },
    { "matmul in batches", OP_MATMUL, .in = { X(3, 5, 7), X(3, 7, 4) }, .then = "r" },
    { "matmul with broadcast batches", OP_MATMUL, .in = { X(2, 1, 5, 7), X(3, 7, 4) },
      .then = "B" },
    { "matmul with a constant right side", OP_MATMUL, .in = { X(2, 6, 8), W(8, 8) }, .then = "B+" },
    { "matmul, both transposed", OP_MATMUL, .in = { X(2, 7, 5), X(2, 4, 7) },
      { .matmul = { true, true } } },
    { "matmul, transposed constant", OP_MATMUL, .in = { X(5, 7), W(9, 7) },
      { .matmul = { false, true } } },
    { "matmul of vectors", OP_MATMUL, .in = { X(7), X(7) } },
    { "matmul of a vector and matrices", OP_MATMUL, .in = { X(7), X(2, 7, 3) }, .then = "r" },
    { "matmul of matrices and a vector", OP_MATMUL, .in = { X(2, 3, 7), W(7) }, .then = "r" },

    /* pooling */
    { "max_pool", OP_MAX_POOL2D, .in = { X(1, 16, 12, 12) },
      POOL(I2(3, 3), I2(2, 2), I4(1, 1, 1, 1), I2(1, 1), false, false), .then = "r" },
    { "max_pool, ceil_mode", OP_MAX_POOL2D, .in = { X(1, 3, 10, 10) },
      POOL(I2(3, 3), I2(2, 2), I4(0, 0, 0, 0), I2(1, 1), true, false) },
    { "max_pool, floor leaves a rest", OP_MAX_POOL2D, .in = { X(1, 3, 10, 10) },
      POOL(I2(3, 3), I2(2, 2), I4(0, 0, 0, 0), I2(1, 1), false, false) },
    { "max_pool, dilated", OP_MAX_POOL2D, .in = { X(1, 3, 10, 10) },
      POOL(I2(2, 2), I2(1, 1), I4(0, 0, 0, 0), I2(2, 2), false, false) },
    { "max_pool of one dim", OP_MAX_POOL1D, .in = { X(1, 6, 15) },
      POOL(I1(4), I1(3), I2(1, 2), I1(1), false, false) },
    { "max_pool of three dims", OP_MAX_POOL3D, .in = { X(1, 2, 6, 6, 6) },
      POOL(I3(2, 2, 2), I3(2, 2, 2), I6(0, 0, 0, 0, 0, 0), I3(1, 1, 1), false, false) },
    { "avg_pool", OP_AVG_POOL2D, .in = { X(1, 16, 12, 12) },
      POOL(I2(3, 3), I2(2, 2), I4(1, 1, 1, 1), I2(1, 1), false, false) },
    { "avg_pool, padding counts", OP_AVG_POOL2D, .in = { X(1, 16, 12, 12) },
      POOL(I2(3, 3), I2(2, 2), I4(1, 1, 1, 1), I2(1, 1), false, true) },
    { "avg_pool, ceil_mode", OP_AVG_POOL2D, .in = { X(1, 4, 10, 10) },
      POOL(I2(3, 3), I2(2, 2), I4(0, 0, 0, 0), I2(1, 1), true, false) },
    { "avg_pool, ceil_mode, padding counts", OP_AVG_POOL2D, .in = { X(1, 4, 10, 10) },
      POOL(I2(3, 3), I2(2, 2), I4(0, 0, 0, 0), I2(1, 1), true, true), .reference = true },
    { "global_avg_pool", OP_GLOBAL_AVG_POOL, .in = { X(2, 24, 7, 7) }, .then = "s" },
    { "global_max_pool", OP_GLOBAL_MAX_POOL, .in = { X(1, 5, 9) } },

    /* element-wise */
    { "abs", OP_ABS, .in = { X(3, 50) } },
    { "celu", OP_CELU, .in = { X(3, 50) }, ALPHA(1.5, 0) },
    { "clip", OP_CLIP, .in = { X(3, 50) }, { .clip = { -0.5, 1 } } },
    { "elu", OP_ELU, .in = { X(3, 50) }, ALPHA(0.7, 0) },
    { "exp", OP_EXP, .in = { X(3, 50) } },
    { "gelu", OP_GELU, .in = { X(3, 50) }, { .gelu = { "" } } },
    { "gelu, tanh", OP_GELU, .in = { X(3, 50) }, { .gelu = { "tanh" } } },
    { "hard_sigmoid", OP_HARD_SIGMOID, .in = { X(3, 50) }, ALPHA(0.3, 0.4) },
    { "hard_swish", OP_HARD_SWISH, .in = { X(3, 50) }, .low = -5 },
    { "leaky_relu", OP_LEAKY_RELU, .in = { X(3, 50) }, ALPHA(0.1, 0) },
    { "log", OP_LOG, .in = { X(3, 50) }, .low = 0.01 },
    { "mish", OP_MISH, .in = { X(3, 50) } },
    { "negative", OP_NEGATIVE, .in = { X(3, 50) } },
    { "power", OP_POWER, .in = { X(3, 50), W(1) }, .low = 0.1 },
    { "power of two numbers", OP_POWER, .in = { X(3, 50), X(3, 50) }, .low = 0.1,
      .reference = true },
    { "reciprocal", OP_RECIPROCAL, .in = { X(3, 50) }, .low = 0.1 },
    { "relu", OP_RELU, .in = { X(2, 3, 1, 4, 5) }, .then = "+" },
    { "round", OP_ROUND, .in = { X(3, 50) }, .low = -9 },
    { "rsqrt", OP_RSQRT, .in = { X(3, 50) }, .low = 0.1 },
    { "selu", OP_SELU, .in = { X(3, 50) }, ALPHA(1.67326, 1.0507) },
    { "sigmoid", OP_SIGMOID, .in = { X(3, 50) }, .then = "-" },
    { "silu", OP_SILU, .in = { X(3, 50) } },
    { "softplus", OP_SOFTPLUS, .in = { X(3, 50) } },
    { "sqrt", OP_SQRT, .in = { X(3, 50) }, .low = 0.01 },
    { "tanh", OP_TANH, .in = { X(3, 50) } },
    { "erf", OP_ERF, .in = { X(3, 50) }, .reference = true },
    { "sin", OP_SIN, .in = { X(3, 50) }, .reference = true },

    /* two operands */
    { "add", OP_ADD, .in = { X(2, 3, 4, 5), X(2, 3, 4, 5) }, .then = "r" },
    { "add of a scalar", OP_ADD, .in = { X(2, 3, 4, 5), W(1) } },
    { "add of a channel vector", OP_ADD, .in = { X(2, 3, 4, 5), W(3, 1, 1) }, .then = "r" },
    { "add, left side broadcast", OP_ADD, .in = { X(4, 5), X(2, 3, 4, 5) } },
    { "add, both sides broadcast", OP_ADD, .in = { X(3, 1), X(1, 4) }, .reference = true },
    { "subtract", OP_SUBTRACT, .in = { X(3, 4), X(3, 4) } },
    { "subtract, left side broadcast", OP_SUBTRACT, .in = { W(1), X(3, 4) }, .then = "r" },
    { "multiply", OP_MULTIPLY, .in = { X(3, 4), X(4) } },
    { "divide", OP_DIVIDE, .in = { X(3, 4), X(3, 1) }, .low = 0.5 },
    { "divide, left side broadcast", OP_DIVIDE, .in = { X(4), X(3, 4) }, .low = 0.5 },
    { "maximum", OP_MAXIMUM, .in = { X(3, 4), X(4) } },
    { "minimum", OP_MINIMUM, .in = { X(4), X(3, 4) } },
    { "bias_add", OP_BIAS_ADD, .in = { X(2, 3, 4, 5), W(3) }, AXIS(1), .then = "r" },
    { "bias_add along the last dim", OP_BIAS_ADD, .in = { X(2, 3, 4, 5), W(5) }, AXIS(-1) },
    { "prelu", OP_PRELU, .in = { X(2, 3, 4, 5), W(3, 1, 1) } },
    { "prelu with one slope", OP_PRELU, .in = { X(2, 3, 4, 5), W(1) } },
    { "greater", OP_GREATER, .in = { X(3, 4), X(3, 4) } },
    { "less_equal, left side broadcast", OP_LESS_EQUAL, .in = { X(4), X(3, 4) } },
    { "equal", OP_EQUAL, .in = { X(3, 4), W(1) } },

    /* along axes */
    { "softmax", OP_SOFTMAX, .in = { X(2, 3, 10) }, AXIS(-1) },
    { "softmax over channels", OP_SOFTMAX, .in = { X(2, 5, 4, 4) }, AXIS(1) },
    { "log_softmax", OP_LOG_SOFTMAX, .in = { X(4, 10) }, AXIS(1) },
    { "mean", OP_MEAN, .in = { X(2, 3, 4, 5) }, { .reduce = { I2(2, 3), true } }, .then = "r" },
    { "sum without the dim", OP_SUM, .in = { X(2, 3, 4) }, { .reduce = { I1(1), false } } },
    { "sum of everything", OP_SUM, .in = { X(2, 3, 4) }, { .reduce = { I3(0, 1, 2), false } } },
    { "max", OP_MAX, .in = { X(2, 3, 4) }, { .reduce = { I1(0), true } }, .reference = true },
    { "min", OP_MIN, .in = { X(2, 3, 4) }, { .reduce = { I1(2), true } }, .reference = true },
    { "prod", OP_PROD, .in = { X(2, 3, 4) }, { .reduce = { I1(1), true } } },
    { "sum over a dim of one", OP_SUM, .in = { X(2, 1, 4) }, { .reduce = { I1(1), true } },
      .reference = true },

    /* normalisation */
    { "batch_norm", OP_BATCH_NORM, .in = { X(2, 6, 5, 5), W(6), W(6), W(6), W(6) },
      { .batch_norm = { 1, 1e-5 } }, .low = 0.1, .then = "r" },
    { "layer_norm", OP_LAYER_NORM, .in = { X(2, 6, 32), W(32), W(32) },
      { .norm = { .axis = -1, .epsilon = 1e-5 } } },
    { "layer_norm over two dims", OP_LAYER_NORM, .in = { X(2, 6, 8), W(6, 8), W(6, 8) },
      { .norm = { .axis = 1, .epsilon = 1e-5 } } },
    { "layer_norm without shift", OP_LAYER_NORM, .in = { X(4, 16), W(16) },
      { .norm = { .axis = 1, .epsilon = 1e-3 } } },
    { "lrn", OP_LRN, .in = { X(1, 12, 5, 5) }, { .lrn = { 5, 1e-2, 0.75, 1 } } },
    { "lrn of even size", OP_LRN, .in = { X(1, 12, 5, 5) }, { .lrn = { 4, 1e-2, 0.75, 1 } },
      .reference = true },

    /* images */
    { "resize, nearest", OP_RESIZE, .in = { X(1, 3, 4, 5) },
      RESIZE(I4(1, 3, 8, 15), "nearest_neighbor", "asymmetric", "floor", 1, 1, 2, 3) },
    { "resize, nearest, centred", OP_RESIZE, .in = { X(1, 3, 4, 5) },
      RESIZE(I4(1, 3, 8, 10), "nearest_neighbor", "half_pixel", "round_prefer_floor", 1, 1, 2, 2) },
    { "resize, nearest, smaller", OP_RESIZE, .in = { X(1, 3, 4, 6) },
      RESIZE(I4(1, 3, 2, 3), "nearest_neighbor", "half_pixel", "round_prefer_floor", 1, 1, 0.5,
             0.5),
      .reference = true },
    { "resize, linear", OP_RESIZE, .in = { X(1, 3, 4, 6) },
      RESIZE(I4(1, 3, 10, 9), "linear", "half_pixel", "round_prefer_floor", 1, 1, 2.5, 1.5) },
    { "resize, linear, smaller", OP_RESIZE, .in = { X(1, 3, 8, 6) },
      RESIZE(I4(1, 3, 4, 3), "linear", "half_pixel", "round_prefer_floor", 1, 1, 0.5, 0.5) },
    { "resize, aligned corners", OP_RESIZE, .in = { X(1, 3, 4, 6) },
      RESIZE(I4(1, 3, 8, 12), "linear", "align_corners", "round_prefer_floor", 1, 1, 2, 2),
      .reference = true },

    /* moves */
    { "concatenate", OP_CONCATENATE, .in = { X(1, 3, 4, 4), X(1, 5, 4, 4), W(1, 1, 4, 4) },
      AXIS(1) },
    { "concatenate along the last dim", OP_CONCATENATE, .in = { X(2, 3), X(2, 5) }, AXIS(-1) },
    { "transpose", OP_TRANSPOSE, .in = { X(2, 3, 4, 5) }, { .axes = { I4(0, 2, 3, 1) } } },
    { "transpose, reversed", OP_TRANSPOSE, .in = { X(2, 3, 4) } },
    { "strided_slice", OP_STRIDED_SLICE, .in = { X(4, 10) },
      { .slice = { I2(1, 2), I2(1, 3), I2(2, 3) } } },
    { "strided_slice, backwards", OP_STRIDED_SLICE, .in = { X(4, 10) },
      { .slice = { I2(1, 9), I2(1, -3), I2(2, 3) } }, .reference = true },
    { "split", OP_SPLIT, .in = { X(2, 9, 4) }, { .split = { 1, I3(2, 3, 4) } }, .n_outputs = 3 },
};
/* clang-format on */

static struct ctx *ctx;

static void set_up(void)
{
    ctx = ctx_new(NULL);
}

static void tear_down(void)
{
    diag_print(ctx, stderr, false, 0);
    ctx_free(ctx);
}

static double low_of(const struct graph_case *c)
{
    return c->low != 0 ? c->low : -2;
}

static struct value *follow(struct function *fn, char letter, struct value *x, unsigned *seed)
{
    const int rank = x->type.rank;
    const int axis = letter == 'B' ? rank - 1 : 1;
    const union attrs along = AXIS(axis), clip = { .clip = { 0, 1.5 } }, alpha = ALPHA(0.5, 0),
                      gelu = { .gelu = { "" } };
    int64_t ones[MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    struct value *y = NULL;

    switch (letter) {
    case 'b':
    case 'B':
        y = random_constant(fn, "bias", 1, &x->type.dim[axis], -1, 1, seed);
        return build(fn, OP_BIAS_ADD, &along, "", NULL, NULL, 2, (struct value *[]){ x, y });
    case '*':
        ones[1] = x->type.dim[1];
        y = random_constant(fn, "factor", rank, ones, -1, 1, seed);
        return build(fn, OP_MULTIPLY, NULL, "", NULL, NULL, 2, (struct value *[]){ y, x });
    case '-':
        y = random_constant(fn, "number", 0, NULL, -1, 1, seed);
        return build(fn, OP_SUBTRACT, NULL, "", NULL, NULL, 2, (struct value *[]){ x, y });
    case '+':
        y = param_new(fn, "residual", &x->type);
        return build(fn, OP_ADD, NULL, "", NULL, NULL, 2, (struct value *[]){ x, y });
    case 'r': return build(fn, OP_RELU, NULL, "", NULL, NULL, 1, &x);
    case 's': return build(fn, OP_SIGMOID, NULL, "", NULL, NULL, 1, &x);
    case 'c': return build(fn, OP_CLIP, &clip, "", NULL, NULL, 1, &x);
    case 'g': return build(fn, OP_GELU, &gelu, "", NULL, NULL, 1, &x);
    default: return build(fn, OP_CELU, &alpha, "", NULL, NULL, 1, &x);
    }
}

static struct module *make(const struct graph_case *c, unsigned *seed)
{
    struct module *module = module_new(ctx);
    struct function *fn = module->main;
    struct value *in[MOST_INPUTS];
    struct node_args args = {
        .op = c->op, .inputs = in, .n_outputs = c->n_outputs, .attrs = &c->attrs
    };
    struct node *node;
    struct value *y;

    for (; args.n_inputs < MOST_INPUTS && c->in[args.n_inputs].kind; args.n_inputs++) {
        const struct shape *shape = &c->in[args.n_inputs];
        const struct type type = type_make(DTYPE_F32, shape->rank, shape->dim);

        in[args.n_inputs] = shape->kind == 'x' ? param_new(fn, "x", &type)
                                               : random_constant(fn, "w", shape->rank, shape->dim,
                                                                 low_of(c), 2, seed);
    }
    node = node_new(fn, &args);
    ck_assert_msg(node, "%s: the node is not valid", c->name);
    for (int i = 1; i < node->n_outputs; i++)
        result_add(fn, node->outputs[i], node->outputs[i]->name);
    y = node->outputs[0];
    for (const char *letter = c->then; letter && *letter; letter++) {
        y = follow(fn, *letter, y, seed);
        ck_assert_ptr_nonnull(y);
    }
    result_add(fn, y, "y");
    return module;
}

static void check_engine(const struct graph_case *c, struct module *module, unsigned *seed)
{
    const int n_then = c->then ? (int)strlen(c->then) : 0;
    struct arena arena = { NULL };
    struct bulk bulk = { 0 };
    const struct tensor *inputs = random_inputs(&arena, &bulk, module->main, low_of(c), 2, seed);
    struct engine *engine = engine_new(ctx, module->main);
    int n_onednn, n_reference;
    double worst;

    ck_assert_ptr_nonnull(engine);
    worst = engine_difference(ctx, module->main, engine, inputs, 2);
    ck_assert_msg(worst <= 1e-5, "%s: differs by %g", c->name, worst);
    engine_count(engine, &n_onednn, &n_reference);
    ck_assert_msg(n_reference == c->reference && n_onednn == n_then + !c->reference,
                  "%s: %d nodes on oneDNN, %d on the reference", c->name, n_onednn, n_reference);
    engine_free(engine);
    bulk_release(&bulk);
    arena_release(&arena);
}

START_TEST(engine_agrees_with_the_reference)
{
    unsigned seed = (unsigned)_i + 1;
    struct module *module = make(&cases[_i], &seed);

    check_engine(&cases[_i], module, &seed);
    module_free(module);
}
END_TEST

START_TEST(engine_agrees_with_the_reference_in_regions)
{
    unsigned seed = (unsigned)_i + 1;
    struct module *module = make(&cases[_i], &seed);

    ck_assert(pipeline_run_one(module, "fuse_ops"));
    check_engine(&cases[_i], module, &seed);
    module_free(module);
}
END_TEST

int main(void)
{
    const int n_cases = sizeof cases / sizeof *cases;
    Suite *suite = suite_create("engine");
    TCase *tcase = tcase_create("operators");
    SRunner *runner;
    int n_failed;

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, engine_agrees_with_the_reference, 0, n_cases);
    tcase_add_loop_test(tcase, engine_agrees_with_the_reference_in_regions, 0, n_cases);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
