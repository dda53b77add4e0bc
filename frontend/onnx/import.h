/* import.h - imports an ONNX model as a module. */
#ifndef FRONTEND_ONNX_IMPORT_H
#define FRONTEND_ONNX_IMPORT_H

#include "base/file.h"
#include "relay_ir/ir.h"

struct shape_binding {
    const char *name; /* graph input, or symbolic dimension */
    int rank;         /* 1 for a symbolic dimension */
    int64_t dim[MAX_RANK];
};

/* A graph input with a fixed value, which becomes a constant (--freeze). */
struct frozen_input {
    const char *name;
    int n; /* 1: value of all elements; else the number of elements, row-major */
    const double *numbers;
};

struct import_options {
    int n_shapes;
    const struct shape_binding *shapes;
    int n_frozen;
    const struct frozen_input *frozen;
    const char *external_data_dir; /* NULL = the model's folder */
};

/* Imports the model: opset 7 to 28, domains "" / "ai.onnx" and those in convert.def. Payloads stay
 * in the mapped file if aligned (module->source holds the mapping). The wire format is checked
 * before unpacking (depth, counts, sizes). All problems are reported; NULL after errors. */
struct module *onnx_import(struct ctx *ctx, const char *path, const struct import_options *options);

/* onnx_import from memory (fuzzing, tests). `bytes` must outlive the module; external data is
 * refused if dir is NULL. */
struct module *onnx_import_bytes(struct ctx *ctx, const uint8_t *bytes, size_t n, const char *dir,
                                 const struct import_options *options);

/* onnx_import from a mapped file, which the module takes over (also if NULL is returned). External
 * data is in `dir` unless the options name a folder. */
struct module *onnx_import_mapping(struct ctx *ctx, const struct mapping *file, const char *dir,
                                   const struct import_options *options);

struct onnx_operator {
    const char *domain, *name;   /* domain "" is "ai.onnx" */
    int first_opset, last_opset; /* of the domain */
};

/* All supported operators, unordered; *n rows. */
const struct onnx_operator *onnx_operators(int *n);

#endif
