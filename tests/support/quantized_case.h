/* quantized_case.h - a graph in text, quantised as a test says, and the operators that it has then. */
#ifndef TESTS_SUPPORT_QUANTIZED_CASE_H
#define TESTS_SUPPORT_QUANTIZED_CASE_H

#include "quantize/quantize.h"
#include "relay_ir/ir.h"

/* Pieces of text for graphs of convolutions. */
#define CONV                                                                                       \
    "{strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, data_layout=\"NCHW\", "          \
    "kernel_layout=\"OIHW\"}"
#define POOL "{pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], dilation=[1,1]}"
#define RESULT " -> (%y) {\n"
#define X "fn main(%x: (1,2,4,4) f32)" RESULT
#define W "  const @w : (2,2,3,3) f32 = crc32:00000000\n"
#define V "  const @v : (2,2,3,3) f32 = crc32:00000000\n"
#define BIAS "  const @b : (2) f32 = [1, -1]\n"

enum { QUANTIZED_SEED = 3 }; /* of the random constants */

/* A convolution with bias and ReLU, and one behind it. */
extern const char quantized_two_convs[];
/* A step of an LSTM, whose states are one input, and with its result another one. */
extern const char quantized_streaming[];

struct quantized_case {
    struct ctx *ctx;
    struct module *module;
    struct calib_table table;
    struct quantize_options options;
    struct quantize_report report;
    bool ok;
};

/* calibrated: every value was measured as lying in -2 .. 6; those called "low" in 0 .. 3. The table may be changed
 * before quantized_run. */
struct quantized_case quantized_case(const char *text, const char *precision, bool calibrated);
void quantized_run(struct quantized_case *q);
void quantized_end(struct quantized_case *q);

/* "cast conv2d multiply relu": the operators of main in order, without "nn.". */
const char *quantized_operators(const struct quantized_case *q);

#endif
