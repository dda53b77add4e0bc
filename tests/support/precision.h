/* precision.h - networks of ONNX files in a precision, as relayc compile makes them. */
#ifndef TESTS_SUPPORT_PRECISION_H
#define TESTS_SUPPORT_PRECISION_H

#include "frontend/onnx/import.h"
#include "quantize/quantize.h"
#include "relay_ir/ir.h"

struct precision_case {
    const char *precision; /* as of --precision */
    bool calibrated;       /* with --data */
    bool exact;            /* --arithmetic integer */
    bool quantized_io;     /* --quantized-io */
};

/* The network after fuse_ops. `import` binds open shapes (NULL = none). Fails the test after an
 * error. */
struct module *precision_network(struct ctx *ctx, const char *path,
                                 const struct import_options *import,
                                 const struct precision_case *mode,
                                 const struct calibration_source *samples);

#endif
