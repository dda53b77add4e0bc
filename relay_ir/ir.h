/* ir.h - the graph: module, functions, nodes, values with def-use chains.
 *
 * A module owns functions; a function is a list of nodes in topological order with parameters; its
 * results are the inputs of its `ret` node, so that def-use chains have no special case. A value is
 * a parameter, a constant or an output of a node. Region functions (made by fuse_ops and by the
 * partitioner) are called by `call` nodes. Everything lives in the module's arena; payloads of
 * constants are borrowed from the mapped model file or live in module->bulk.
 *
 * The structs are open: reading them is the API. Changing them goes through the functions below,
 * which keep the chains right; relay_ir/verify.h checks.
 */
#ifndef RELAY_IR_IR_H
#define RELAY_IR_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "base/map.h"
#include "relay_ir/op.h"

enum value_kind { VALUE_PARAM, VALUE_CONSTANT, VALUE_OUTPUT };

/* One read of a value: an edge of the def-use chain. */
struct use {
    struct node *node;
    int input;                /* node->inputs[input] is the value */
    struct use *next, **link; /* *link is this use, for removal in constant time */
};

struct value {
    enum value_kind kind;
    struct type type;
    const char *name;    /* ONNX tensor name, raw text of the model; unique within its function */
    struct function *fn; /* the function it belongs to */
    struct node *def;    /* VALUE_OUTPUT: the node that computes it, else NULL */
    int index;           /* which output of def, or which parameter */
    const void *data;    /* VALUE_CONSTANT: the payload, dense and aligned, read-only */
    struct use *uses;    /* unordered; NULL = unread */
    int id;              /* dense number within the function, see function_number */
    struct value *next;  /* VALUE_CONSTANT: next in fn->constants */
};

struct node {
    enum op op;
    union attrs attrs; /* the member that op_row(op)->attrs names */
    int n_inputs, n_outputs;
    struct value **inputs;       /* NULL = an absent optional input */
    struct use **uses;           /* [n_inputs] entry in the use list of each input; NULL = absent */
    struct value **outputs;      /* never NULL */
    struct function *callee;     /* OP_CALL only */
    const struct origin *origin; /* the ONNX nodes that this node stands for; NULL = none */
    struct function *fn;
    struct node *prev, *next;
    int id; /* position within the function, see function_number */
};

struct function {
    const char *name; /* "main", or a region's name */
    struct module *module;
    int n_params;
    struct value **params;
    struct node *first, *last; /* in topological order, without ret */
    struct node *ret;          /* OP_RETURN; its inputs are the results */
    const char **result_names; /* what the user's model calls its outputs, [ret->n_inputs] */
    struct value *constants;   /* in order of making */
    struct value *last_constant;
    const char *compiler;      /* backend of this region: "c", "dnnl"; NULL for main */
    const char *composite;     /* the pattern: "c.conv2d_add_relu"; NULL = none */
    const char *global_symbol; /* offloaded regions: identifier, unique in the module; generated
                                  code prefixes the model's name; NULL = none */
    int64_t n_stripes;         /* approximate number of stripes if computed depth-first
                              (codegen_c/core/stripe.h), else 0 */
    struct map names;          /* name -> value, to keep names unique */
    int n_values, n_nodes;     /* set by function_number */
    struct function *next;
};

/* What a streaming network keeps: a parameter of main reads what a result of the run before left. */
struct state {
    int param, result;     /* indices; both have the same shape and element type */
    struct tensor initial; /* of the parameter before the first run; data NULL = zeros */
};

/* The strings that an output of the model has: relayc gives their numbers, i64. */
struct class_names {
    const char *output; /* the model's name for it */
    int n;
    const char *const *names; /* raw text of the model */
    struct class_names *next;
};

struct module {
    struct ctx *ctx;
    struct arena arena; /* graph structure */
    struct bulk bulk;   /* payloads of constants made by passes */
    struct function *main;
    struct function *functions; /* main first, then regions in order of making */
    struct function *last_function;
    int n_states;
    struct state *states;   /* relay_ir/state.h */
    struct variants *variants; /* relay_ir/variants.h; NULL: main is one network */
    int opset;              /* of the ONNX default domain; 0 = not from ONNX */
    int n_onnx_nodes;       /* of the model's graph, for reports; 0 = not from ONNX */
    const char *format;     /* of the file, for reports: "ONNX", "TensorFlow Lite" */
    const char *producer;   /* ONNX producer_name and version, raw; "" = none */
    struct class_names *class_names; /* of outputs that are strings in the model; NULL = none */
    bool rounds_as_written; /* the file says how (TensorFlow Lite): no rule rounds otherwise */
    bool chooses;           /* it has had an `if` */
    bool rounds_as_onnx;    /* --rounding onnx (passes/lower_int/fake_quant_to_integer.c) */
    int64_t n_made, n_made_operands; /* created by node_new so far */
    size_t swept_bytes;              /* size of bulk after the last sweep of constants_fit_swept */
    struct map imported;             /* names of the file's nodes and their first outputs -> non-NULL,
                                        also of those that are gone; empty = not known */
    struct map fired;                /* rewrite rule -> long *: how often it fired, for --stats */
    void *source;                    /* owner of borrowed payloads; released by free_source */
    void (*free_source)(void *source);
};

struct module *module_new(struct ctx *ctx); /* with an empty main */
void module_free(struct module *module);    /* NULL is fine */

/* Removes unused constants, uncalled functions, and payloads in bulk that no constant points
 * into. */
void module_sweep(struct module *module);

/* True if `more` bytes of computed constants fit into LIMIT_CONSTANT_BYTES; else an error against
 * `origin`. The second form sweeps unused constants first. */
bool constants_fit(struct module *module, double more, const struct origin *origin);
bool constants_fit_swept(struct module *module, double more, const struct origin *origin);

struct function *function_new(struct module *module, const char *name);

/* True for a region that main calls, or a composite function inside one: finished, so that passes
 * leave it alone. */
bool function_is_region(const struct function *fn);

/* Adds a parameter. A name in use gets a suffix "_2", "_3" ... (so do those of constant_new and
 * node_new). */
struct value *param_new(struct function *fn, const char *name, const struct type *type);

/* Adds a constant; data is not copied and must outlive the module (see module->source,
 * module->bulk). */
struct value *constant_new(struct function *fn, const char *name, const struct type *type,
                           const void *data);

/* Allocates a zeroed payload in the module's bulk, to be filled and passed to constant_new. */
void *constant_alloc(struct function *fn, const struct type *type);

struct node_args {
    enum op op;
    int n_inputs;
    struct value *const *inputs;
    int n_outputs;            /* 0 = what the op row says */
    const char *const *names; /* of the outputs, or NULL: derived from the op's name */
    const union attrs *attrs; /* NULL = zeroed */
    const struct origin *origin;
    struct function *callee; /* OP_CALL */
    struct node *before;     /* NULL = at the end of fn */
};

/* Makes a node and infers its types. NULL after an error, with the node removed again. */
struct node *node_new(struct function *fn, const struct node_args *args);

/* Infers the node's output types again (after an input changed). False after an error. */
bool node_infer(struct ctx *ctx, struct node *node);

/* Infers the types of the value's readers again, and of their readers, as long as they change. Only
 * quantisation may have changed, so inference cannot fail. */
void infer_readers(struct value *value);

/* Makes a node with one output called `name`, before `before` (NULL = at the end). Returns the
 * output, NULL after an error. */
struct value *build(struct function *fn, enum op op, const union attrs *attrs, const char *name,
                    const struct origin *origin, struct node *before, int n_inputs,
                    struct value *const *inputs);

void node_set_input(struct node *node, int input, struct value *value);
void node_set_inputs(struct node *node, int n_inputs, struct value *const *inputs);
void node_move_before(struct node *node, struct node *before); /* NULL = to the end */

/* Unlinks a node; its outputs must be unused. */
void node_remove(struct node *node);

/* Makes all readers of `from` (results included) read `to`. Types of the readers are inferred again
 * if the quantisation differs or `to` is a constant. */
void value_replace(struct value *from, struct value *to);

/* value_replace, and `to` takes over name and calibration of `from`: for rewrites that compute one
 * value in another way, so that the model's name survives. */
void value_supplant(struct value *from, struct value *to);

/* Copies the calibration of `from`, which holds equal numbers, to `to` unless it has one. */
void value_keep_calibration(const struct value *from, struct value *to);

/* Gives `to` the name of `from`, and `from` a derived one. */
void value_take_name(struct value *to, struct value *from);

/* Gives the value this name, or one derived from it if another value has it. */
void value_rename(struct value *value, const char *name);

/* Swaps the names of two values of one function. */
void value_swap_names(struct value *a, struct value *b);

/* Adds a result (an input of ret) under the model's name for it. */
void result_add(struct function *fn, struct value *value, const char *name);

/* Replaces all results; for large numbers of them. */
void results_set(struct function *fn, int n, struct value *const *values, const char *const *names);

int value_n_uses(const struct value *value);
bool value_is_result(const struct value *value);
struct node *value_only_user(const struct value *value); /* NULL unless exactly one use, not ret */
struct tensor value_tensor(const struct value *value);   /* of a constant */

/* The double that every element of a constant equals; false if not constant or not uniform. */
bool value_uniform(const struct value *value, double *number);

/* Sets id of nodes and values, dense from 0 (parameters, constants, outputs in order), and their
 * counts. */
void function_number(struct function *fn);

/* `name`, or `name` with a suffix if it is in use; in the module's arena. */
const char *function_unique_name(struct function *fn, const char *name);

/* Notes the names of a node of the user's file in module->imported. */
void origin_imported(struct module *module, const struct origin *origin);

/* Union of two origin lists in file order, for a node that replaces two; at most 100 entries. */
const struct origin *origin_join(struct module *module, const struct origin *a,
                                 const struct origin *b);

/* Origin for diagnostics about a node: its first, or one made of operator and output name if it has
 * none. */
const struct origin *node_origin(const struct node *node);

/* for (struct node *n = fn->first; n; n = n->next) is how functions are walked; when the body may
 * remove n, take n->next first. */

#endif
