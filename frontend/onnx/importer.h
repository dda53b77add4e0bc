/* importer.h - the importer's state, shared by its files: import.c (the model), inputs.c
 * (parameters and their shapes), freeze.c (inputs that are constants), graph.c (names,
 * initialisers, nodes), sort.c (order), control.c and loops.c (nodes that are not operators),
 * attribute.c and question.c (what convert.h offers). Not for converters. */
#ifndef FRONTEND_ONNX_IMPORTER_H
#define FRONTEND_ONNX_IMPORTER_H

#include "base/map.h"
#include "frontend/onnx/convert.h"
#include "frontend/onnx/import.h"
#include "frontend/onnx/tensor.h"

enum {
    IMPORT_FIRST_OPSET = 7,
    IMPORT_LAST_OPSET = 28,
    IMPORT_MAX_ATTRIBUTES = 256, /* of one node */
    IMPORT_MAX_ERRORS = 5000,    /* then the import gives up: it has said enough */
    IMPORT_MAX_DEPTH = 64,       /* branches and function calls inside each other */
    IMPORT_MAX_FOLD = 1 << 16    /* elements of a tensor that is computed at compile time */
};

/* A call of a function that the model defines. */
struct call {
    const Onnx__NodeProto *node; /* with its attributes resolved */
    const Onnx__FunctionProto *function;
    const struct call *outer;
};

/* The names that nodes may read: those of one graph, and behind them those of the graph around it.
 * A function's body sees no names but its own. */
struct scope {
    const struct scope *parent;
    struct map names; /* -> struct value; see the two special ones in struct import */
    size_t n_opsets;
    Onnx__OperatorSetIdProto *const *opsets;
    const struct call *call; /* the innermost; NULL outside functions */
    long node_index;         /* origin of the nodes; -1 = the main graph, which numbers its own */
};

struct import {
    struct ctx *ctx;
    struct module *module;
    struct arena arena; /* protobuf and everything else that dies with the import */
    struct tensor_reader reader;
    const Onnx__ModelProto *model;
    const struct import_options *options; /* never NULL */
    struct map functions; /* that the model defines: function_key -> Onnx__FunctionProto */
    struct map computed;  /* value name -> struct computed: what onnx_constant found out */
    struct value failed;  /* stands for a name that has a definition without a value */
    struct value absent;  /* stands for an optional input of a function that the call leaves out */
    bool is_over;         /* a limit has been reported: nothing is converted any more */
    bool question_failed; /* whether a question of the current converter failed */
    int depth;
    int64_t n_nodes, n_operands; /* conversions, of functions' bodies too: calls can multiply */
};

/* False when so many errors are recorded that more would not help. */
bool import_goes_on(const struct import *im);

/* --- graph.c ---------------------------------------------------------------------------------- */

/* The value; &im->failed when its definition failed (which has been reported); &im->absent; NULL
 * when no such name exists. */
struct value *scope_find(const struct scope *scope, const char *name);
void scope_bind(struct import *im, struct scope *scope, const char *name, struct value *value);

/* Makes constants of the initialisers. */
void import_initializers(struct import *im, struct scope *scope, const Onnx__GraphProto *graph);

/* Converts the nodes in an order in which each comes after what it reads. All errors are reported;
 * names whose node failed are bound to im->failed. */
void import_nodes(struct import *im, struct scope *scope, size_t n, Onnx__NodeProto *const *nodes);

/* Whether the graph so far is within the limits on nodes, operands and constants; an error, once,
 * where it is not. */
bool import_within_limits(struct import *im, const struct origin *origin);

/* Looks up what the node reads. False when a name is unknown (reported) or failed (silent). */
bool import_operands(struct import *im, const struct scope *scope, const Onnx__NodeProto *proto,
                     const struct origin *origin, struct value **inputs);

/* "ai.onnx" is another spelling of the default domain "". */
const char *domain_canonical(const char *domain);

/* The version of the operator set that the scope uses; -1 = it declares none. */
int64_t scope_opset(const struct scope *scope, const char *domain);

/* --- inputs.c --------------------------------------------------------------------------------- */

/* Makes parameters of the graph's inputs that are no initialisers, all dims bound. */
void import_inputs(struct import *im, struct scope *scope, const Onnx__GraphProto *graph);

/* Whether a shell takes the name as it is. */
bool import_is_plain(const char *name);

/* Names the results; a contradiction to the declared type is a warning. */
void import_outputs(struct import *im, struct scope *scope, const Onnx__GraphProto *graph);

/* --- freeze.c --------------------------------------------------------------------------------- */

/* What the options say of the input; NULL = nothing. */
const struct frozen_input *import_frozen(const struct import_options *options, const char *name);

/* The constant; NULL after an error: another number of elements, numbers that the type has not. */
struct value *import_freeze(struct import *im, const struct frozen_input *frozen,
                            const struct type *type);

/* Help after an error about a value that must be known: which input it would have to be. */
void import_help_freeze(struct import *im, const struct value *value);

/* --- sort.c ----------------------------------------------------------------------------------- */

/* A topological order of the nodes, that of the file where it is one; cycles are reported. The
 * scope holds what is defined before any of them. The result has n elements, in im->arena. */
const size_t *sort_nodes(struct import *im, const struct scope *scope, size_t n,
                         Onnx__NodeProto *const *nodes, const struct origin *const *origins);

/* --- control.c -------------------------------------------------------------------------------- */

/* Constant, If, Loop, Scan and calls of the model's functions. *done says whether the node was one
 * of them; the result whether its outputs are bound. */
bool import_special(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                    const struct origin *origin, bool *done);

/* Counts im->depth up, which the caller counts down again; false where that is too deep. */
bool import_go_deeper(struct import *im, const struct origin *origin);

/* Loop and Scan whose rounds are known at compile time: their bodies, round by round (loops.c). */
bool import_loop(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                 const struct origin *origin);
bool import_scan(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                 const struct origin *origin);

/* Fills im->functions; reports those defined twice. */
void import_functions(struct import *im);

/* The node with references to a function's attributes replaced by the call's. */
const Onnx__NodeProto *resolve_attributes(struct import *im, const struct scope *scope,
                                          const Onnx__NodeProto *proto);

/* --- attribute.c, question.c ------------------------------------------------------------------ */

/* NULL when the node has none of that name; the first one of several. */
const Onnx__AttributeProto *attribute_find(const Onnx__NodeProto *proto, const char *name);

/* The declared type, or what the fields that are there say. */
Onnx__AttributeProto__AttributeType attribute_type(const Onnx__AttributeProto *attr);

/* Reports attributes that occur twice. */
bool attributes_check(struct ctx *ctx, const struct origin *origin, const Onnx__NodeProto *proto);

/* The value's number at compile time. False, without a diagnostic, when there is none. */
bool import_known(struct import *im, const struct value *value, struct tensor *out);

#endif
