/* model.h - a .tflite file as structs: everything that its offsets and counts reach has been
 * checked, and is borrowed from the file's bytes. What the numbers mean together (that an operator
 * reads a tensor that is there, before it is written) is import.c's business.
 *
 * Field numbers are those of TensorFlow Lite's schema, version 3. */
#ifndef FRONTEND_TFLITE_MODEL_H
#define FRONTEND_TFLITE_MODEL_H

#include "frontend/tflite/flatbuffer.h"
#include "relay_ir/ir.h"

enum tfl_code {
#define BUILTIN(code, name) TFL_##name = (code),
#include "frontend/tflite/builtins.def"
#undef BUILTIN
    TFL_CODES = 256
};

enum {
    TFL_MAX_NAME = 200,   /* bytes of a name that are kept */
    TFL_MAX_ERRORS = 1000 /* decoding stops after these */
};

struct tfl_tensor {
    const char *name;
    struct type type;        /* without quantisation; DTYPE_NONE: not one of ours */
    const char *dtype_name;  /* of DTYPE_NONE */
    struct fb_vector data;   /* bytes; data NULL = computed, or an input */
    struct fb_vector scales; /* f32 */
    struct fb_vector zeros;  /* i64 */
    int64_t axis;            /* of the scales, where there are several */
    bool is_variable;        /* keeps its numbers from run to run */
    bool is_unsigned; /* UINT8 with scales: taken as i8, all quantised values 128 less (stored.c) */
    bool is_packed;   /* INT4: two in a byte of the file, taken as i8 */
    struct fb_table sparsity; /* how a sparse tensor's bytes lie; .at 0 = dense */
    bool is_resource;         /* names a variable */
    struct tfl_kept *kept;    /* convert_state.c: what a variable or a resource stands for */
    const char *refused;      /* what relayc does not read of it; NULL = nothing */
    struct value *value;      /* import.c: in the file's order of dimensions */
    struct value *first;      /* of rank 4: with the channels first */
    bool is_failed;           /* an error about its value was reported */
};

struct tfl_operator {
    int64_t code, version;
    const char *custom;               /* the name of a custom operator; NULL = builtin */
    struct fb_vector inputs, outputs; /* i32, -1 = absent */
    struct fb_vector custom_options;  /* bytes, of a custom operator */
    int64_t options_type;             /* of the union BuiltinOptions; 0 = none */
    struct fb_table options;
    bool has_more_options; /* of a kind that relayc does not know */
};

struct tfl_graph {
    int n_tensors, n_operators;
    struct tfl_tensor *tensors;
    struct tfl_operator *operators;
    struct fb_vector inputs, outputs; /* i32 */
};

struct tfl_model {
    struct module *
        floats; /* takes the numbers of quantised tensors (floats.c); NULL = these stay quantised values */
    const char *description;
    int n_graphs;
    struct tfl_graph main; /* subgraph 0 */
    struct fb_vector graphs, codes, buffers;
};

/* True for bytes that begin as a .tflite file does. */
bool tfl_is_model(const uint8_t *bytes, size_t n);

/* Tensors with scales become numbers, in the module's arena. False after an error about limits. */
bool tfl_floats(struct module *module, struct tfl_graph *graph);

/* Decodes the file; its problems are reported, all at once. False after an error. */
bool tfl_model_read(struct ctx *ctx, struct flatbuffer *file, struct tfl_model *model);

/* Decodes another subgraph, as tfl_model_read does the first. */
bool tfl_graph_read(struct ctx *ctx, const struct tfl_model *model, int index,
                    struct tfl_graph *graph);

/* "CONV_2D"; "operator 250" for codes without a name. */
const char *tfl_operator_name(struct ctx *ctx, const struct tfl_operator *op);

/* "tensor #3 \"conv/bias\"", for messages. */
const char *tfl_tensor_text(struct ctx *ctx, const struct tfl_graph *graph,
                            const struct tfl_tensor *tensor);

#endif
