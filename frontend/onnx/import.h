/* import.h - imports an ONNX model as a module. */
#ifndef FRONTEND_ONNX_IMPORT_H
#define FRONTEND_ONNX_IMPORT_H

#include "base/file.h"
#include "frontend/custom_op.h"
#include "relay_ir/ir.h"

struct shape_binding {
    const char *name; /* graph input, NAME.i for element i of a sequence, or symbolic dimension */
    int rank;         /* 1 for a symbolic dimension; -1: an empty sequence, an absent optional */
    int64_t dim[MAX_RANK];
    /* --vary: it is a dimension, or else the number of an input (NAME.i: of its element i). */
    bool is_size;
};

/* A graph input with a fixed value, which becomes a constant (--freeze). */
struct frozen_input {
    const char *name;
    int n; /* 1: value of all elements; else the number of elements, row-major */
    const double *numbers;
};

/* What stands in the way of a model (relayc inspect --preflight). With it an import goes on behind
 * what it refuses, as far as the file declares types: one run finds all. */
struct import_obstacles {
    int64_t open_length; /* in: length to assume for open dims that do not count examples */
    /* Out, in ctx->perm. */
    int n_nodes, n_refused; /* of the main graph */
    int n_open;             /* inputs with open dims; each is an error too */
    const char *interface;  /* inputs and outputs as the file declares them, a line each */
    /* Values of the options for parts without refused nodes, and nodes in them; NULL = none. */
    const char *cut, *extract;
    int n_cut, n_extract;
};

struct import_options {
    int n_shapes;
    const struct shape_binding *shapes;
    int n_frozen;
    const struct frozen_input *frozen;
    const char *external_data_dir; /* NULL = the model's folder */

    /* A part of the graph (--cut, --extract): names of tensors, or of nodes for their outputs. */
    int n_to; /* outputs of the part; 0: the graph's */
    const char *const *to;
    int n_from; /* tensors that become inputs of it */
    const char *const *from;

    int n_custom; /* operators that are C functions of the user */
    struct custom_op *custom;

    struct import_obstacles *obstacles; /* NULL: the import refuses as soon as it can */
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

/* The same of the file that was mapped from `path`: external data is beside it. */
struct module *onnx_import_mapped(struct ctx *ctx, const struct mapping *file, const char *path,
                                  const struct import_options *options);

struct onnx_operator {
    const char *domain, *name;   /* domain "" is "ai.onnx" */
    int first_opset, last_opset; /* of the domain */
};

/* All supported operators, unordered; *n rows. */
const struct onnx_operator *onnx_operators(int *n);

#endif
