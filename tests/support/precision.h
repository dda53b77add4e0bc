/* precision.h - networks of ONNX files in a precision, as relayc compile makes them. */
#ifndef TESTS_SUPPORT_PRECISION_H
#define TESTS_SUPPORT_PRECISION_H

#include "quantize/quantize.h"
#include "relay_ir/ir.h"

struct precision_case {
    const char *precision; /* as of --precision */
    bool calibrated;       /* with samples */
    bool exact;            /* --arithmetic integer */
    bool quantized_io;     /* --quantized-io */
};

/* The network after fuse_ops. `shapes`, as of --shape, end with NULL (NULL = none). Fails the test
 * after an error. */
struct module *precision_network(struct ctx *ctx, const char *path, const char *const *shapes,
                                 const struct precision_case *mode,
                                 const struct calibration_source *samples);

#endif
