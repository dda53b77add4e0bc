/* emit.h - the generated files under construction: what the parts of codegen_c share. */
#ifndef CODEGEN_C_EMIT_H
#define CODEGEN_C_EMIT_H

#include "codegen_c/codegen.h"
#include "codegen_c/kernel.h"
#include "codegen_c/names.h"
#include "codegen_c/plan/plan.h"

/* A constant array of the generated code. */
struct weight {
    const char *c_name;     /* its symbol */
    const char *expression; /* how functions read it: c_name, or c_name.v when it is a union of words */
    const char *name;       /* the ONNX name, raw */
    struct type type;
    const void *data;
    const char *layout;     /* "" = row-major of the type */
    uint32_t crc32;
    double least, greatest; /* of the numbers; both NaN where there are none */
    bool words;             /* stored as a union of 64-bit words and the elements */
    int region;             /* the first that reads it */
    int file;               /* index of its weights file; 0 inline */
    struct weight *next;    /* in order of first use */
};

struct weights {
    struct map by_content; /* dtype, size, crc32 and a number -> struct weight */
    struct weight *first, *last;
    int n;
    size_t bytes;
};

/* What the emitters know of a region besides struct region. */
struct emitted {
    const char *text;      /* of its function */
    int64_t macs;
    size_t weight_bytes;   /* of the arrays that it is the first to read */
};

struct codegen {
    struct ctx *ctx;
    struct arena arena;    /* dies with the emission */
    struct module *module;
    const struct codegen_options *options;
    const char *upper;     /* "KWS" */
    struct output_set *set;
    struct codegen_result *result;
    struct names names;    /* of file scope in NAME.c; locals of NAME_run avoid these as well */
    struct region *regions;
    struct emitted *emitted; /* [n_regions] */
    int n_regions;
    struct weights weights;
    struct map helpers;    /* name -> struct embedded_file, in the order in which they are pasted */
    struct map includes;   /* "math.h" */
    const char *const *input_names, *const *output_names; /* parameters of NAME_run */
    const char *const *local_names; /* [main->n_values]: pointers into the arena, by value id */
    struct plan plan;
    int n_weight_files;
};

/* --- weights.c ----------------------------------------------------------------------------------- */

/* The array with this content, made if there is none yet. */
struct weight *weights_add(struct codegen *codegen, const char *name, const struct type *type,
                           const void *data, const char *layout);

/* --- literal.c ----------------------------------------------------------------------------------- */

/* Element i as a C literal (see bind_literal); true in *needs_math when it uses <math.h>. */
const char *literal_of_element(struct arena *arena, enum dtype dtype, const void *data, int64_t i,
                               bool *needs_math);
const char *literal_of_number(struct arena *arena, enum dtype dtype, double number,
                              bool *needs_math);

/* --- emit_*.c ------------------------------------------------------------------------------------ */

bool emit_header(struct codegen *codegen);
bool emit_model(struct codegen *codegen);
bool emit_weights(struct codegen *codegen);
bool emit_json(struct codegen *codegen);

/* The definition (or the extern declaration) of an array. */
void emit_weight_definition(struct codegen *codegen, struct writer *out, const struct weight *weight,
                            bool is_static);

/* Opens an output file and notes it in the result. */
struct writer *emit_open(struct codegen *codegen, const char *file_name);

/* "x f32 [1,3,224,224]". */
const char *shape_comment(struct arena *arena, const struct type *type);

#endif
