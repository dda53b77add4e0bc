/* import.h - from an ONNX file to a module. */
#ifndef FRONTEND_ONNX_IMPORT_H
#define FRONTEND_ONNX_IMPORT_H

#include "base/file.h"
#include "relay_ir/ir.h"

struct shape_binding {
    const char *name; /* of a graph input, or of a symbolic dimension */
    int rank;         /* 1 for a symbolic dimension */
    int64_t dim[MAX_RANK];
};

/* An input of the graph that is always the same, and no parameter then. */
struct frozen_input {
    const char *name;
    int n; /* 1: all elements have this number; else as many as there are elements, row by row */
    const double *numbers;
};

struct import_options {
    int n_shapes;
    const struct shape_binding *shapes;
    int n_frozen;
    const struct frozen_input *frozen;
    const char *external_data_dir; /* NULL = the model's folder */
};

/* Reads the model: opset 7 to 28, domains "" / "ai.onnx" and what convert.def lists. Payloads stay
 * in the mapped file where their alignment allows it (module->source holds the mapping). Checks the
 * wire format before anything is unpacked (depth, counts, sizes; trust.md sections 0 and 1).
 * All problems are reported, not only the first; NULL after errors. */
struct module *onnx_import(struct ctx *ctx, const char *path, const struct import_options *options);

/* The same from memory (fuzzing, tests); external data is refused when dir is NULL. `bytes` must
 * outlive the module. */
struct module *onnx_import_bytes(struct ctx *ctx, const uint8_t *bytes, size_t n, const char *dir,
                                 const struct import_options *options);

/* The same from a file that has been mapped already, which the module takes over (also when NULL is
 * returned). External data lies in `dir` unless the options say otherwise. */
struct module *onnx_import_mapping(struct ctx *ctx, const struct mapping *file, const char *dir,
                                   const struct import_options *options);

struct onnx_operator {
    const char *domain, *name;   /* domain "" is "ai.onnx" */
    int first_opset, last_opset; /* of the domain */
};

/* All operators that a model may use; *n rows, in no useful order. */
const struct onnx_operator *onnx_operators(int *n);

#endif
