/* importer.h - the importer's state, shared by its files: import.c (the model), inputs.c
 * (parameters and their shapes), freeze.c (inputs that are constants), extract.c (a part of the
 * graph), graph.c (names, initialisers, nodes), sort.c (order), control.c, loops.c, scan.c and
 * sequences.c (nodes that are not operators), custom.c (the user's functions),
 * attribute.c and question.c (implementation of convert.h). Not for converters. */
#ifndef FRONTEND_ONNX_IMPORTER_H
#define FRONTEND_ONNX_IMPORTER_H

#include "base/map.h"
#include "frontend/onnx/convert.h"
#include "frontend/onnx/import.h"
#include "frontend/onnx/tensor.h"

enum {
    ONNX_STRING = 8, /* the element type, of which tensor.h decodes nothing */
    IMPORT_FIRST_OPSET = 7,
    IMPORT_LAST_OPSET = 28,
    IMPORT_MAX_ATTRIBUTES = 256, /* per node */
    IMPORT_MAX_ERRORS = 5000,    /* the import stops after these */
    IMPORT_MAX_DEPTH = 64,       /* nesting of branches and function calls */
    IMPORT_MAX_FOLD = 1 << 16    /* elements of a tensor computed at compile time */
};

/* A call of a model-defined function. */
struct call {
    const Onnx__NodeProto *node; /* with its attributes resolved */
    const Onnx__FunctionProto *function;
    const struct call *outer;
};

/* Names visible to nodes: those of one graph, then those of the enclosing graph. A function's body
 * sees only its own. */
struct scope {
    const struct scope *parent;
    struct map names; /* -> struct value, or &import.failed, &import.absent */
    size_t n_opsets;
    Onnx__OperatorSetIdProto *const *opsets;
    const struct call *call; /* the innermost; NULL outside functions */
    long node_index;         /* origin of nodes; -1 = main graph, which numbers its own */
};

struct import {
    struct ctx *ctx;
    struct module *module;
    struct arena arena; /* protobuf and other data of the import */
    struct tensor_reader reader;
    const Onnx__ModelProto *model;
    const struct import_options *options; /* never NULL */
    struct map functions;                 /* model-defined: function_key -> Onnx__FunctionProto */
    struct map part_types;                /* of inputs that --extract makes: name -> struct type */
    struct map computed;              /* value name -> struct computed: cache of onnx_constant */
    struct map strings;               /* value name -> struct strings (strings.c) */
    struct value failed;              /* marks names whose definition failed */
    struct value absent;              /* marks optional function inputs that a call omits */
    struct open_length *open_lengths; /* of axes of values (open.h) */
    struct open_value *open_values;
    struct map declared;  /* with import_obstacles: tensor -> Onnx__ValueInfoProto */
    bool *refused;        /* [n_node of the main graph], likewise; else NULL */
    int n_open;           /* errors about open dims, for which a length is assumed */
    bool is_over;         /* a limit was reported: no further conversion */
    bool question_failed; /* a convert.h function failed in the current converter */
    int depth;
    int64_t n_nodes, n_operands; /* conversions, including function bodies, which calls multiply */
};

/* False once IMPORT_MAX_ERRORS errors are recorded. */
bool import_goes_on(const struct import *im);

/* Converts the main graph. */
void import_graph(struct import *im, const Onnx__GraphProto *graph);

/* --- graph.c ---------------------------------------------------------------------------------- */

/* The value; &im->failed if its definition failed (reported); &im->absent; NULL if unknown. */
struct value *scope_find(const struct scope *scope, const char *name);
void scope_bind(struct import *im, struct scope *scope, const char *name, struct value *value);

/* Makes constants from the initialisers. */
void import_initializers(struct import *im, struct scope *scope, const Onnx__GraphProto *graph);

/* Converts the nodes in topological order. All errors are reported; outputs of failed nodes are
 * bound to im->failed. */
void import_nodes(struct import *im, struct scope *scope, size_t n, Onnx__NodeProto *const *nodes);

/* True if the graph so far is within the limits on nodes, operands and constants; else an error,
 * once. */
bool import_within_limits(struct import *im, const struct origin *origin);

/* Looks up the node's inputs. False if a name is unknown (reported) or failed (silent). */
bool import_operands(struct import *im, const struct scope *scope, const Onnx__NodeProto *proto,
                     const struct origin *origin, struct value **inputs);

/* True if there is a converter for the node, or it is none of an operator; else an error. */
bool import_is_known(struct import *im, const struct scope *scope, const Onnx__NodeProto *proto,
                     const struct origin *origin);

/* Canonical domain: "" for "ai.onnx". */
const char *domain_canonical(const char *domain);

/* Opset version of a domain in the scope; -1 = not declared. */
int64_t scope_opset(const struct scope *scope, const char *domain);

/* --- inputs.c --------------------------------------------------------------------------------- */

/* Makes parameters from graph inputs without initialiser, with all dims bound. */
void import_inputs(struct import *im, struct scope *scope, const Onnx__GraphProto *graph);

/* The binding of that name in the options; NULL if there is none. */
const struct shape_binding *import_binding(const struct import_options *options, const char *name);

/* Type of a declared value; with import_obstacles, open dims get a length and an error. */
bool import_declared_type(struct import *im, const Onnx__ValueInfoProto *info, struct type *type);

/* True if the name needs no quotes in a shell. */
bool import_is_plain(const char *name);

/* Names the results; a mismatch with the declared type is a warning. */
void import_outputs(struct import *im, struct scope *scope, const Onnx__GraphProto *graph);

/* --- extract.c -------------------------------------------------------------------------------- */

/* The part of the main graph that the options ask for, in im->arena: inputs, nodes and initialisers
 * that its outputs need. The graph itself if they ask for none; NULL after an error. */
const Onnx__GraphProto *import_part(struct import *im, const Onnx__GraphProto *graph);

/* Number of nodes that the tensors `to` need, down to `from`. */
int import_part_size(struct import *im, const Onnx__GraphProto *graph, const struct map *from,
                     const struct map *to);

/* Calls visit for each name that the node and its branches read. */
void import_visit_reads(const Onnx__NodeProto *node, void (*visit)(void *user, const char *name),
                        void *user);

/* --- preflight.c ------------------------------------------------------------------------------ */

/* With import_obstacles, before all else. */
void preflight_begin(struct import *im, const Onnx__GraphProto *graph);

/* With import_obstacles, after node k of the main graph was converted: notes whether it was refused
 * (errors since n_errors), and binds results that it lacks to parameters of the declared types. */
void preflight_node(struct import *im, struct scope *scope, const Onnx__NodeProto *proto, size_t k,
                    const struct origin *origin, int n_errors);

/* After all nodes: describes the interface, and finds the parts without refused nodes. */
void preflight_parts(struct import *im, const struct scope *scope, const Onnx__GraphProto *graph);

/* --- strings.c --------------------------------------------------------------------------------
 * The numbers of an initialiser's strings, 0 to n - 1; NULL after an error. */
struct value *import_strings(struct import *im, const Onnx__TensorProto *proto);

/* Whether an input is strings. If so: false, with an error, if the node does not take them; *done:
 * the outputs are set. import_pass_strings makes outputs strings whose input 0 is. */
bool import_reads_strings(const struct import *im, const struct onnx_node *node);
bool import_take_strings(struct onnx_node *node, bool *done);
void import_pass_strings(struct onnx_node *node);

bool import_is_strings(const struct import *im, const struct value *value);

/* Keeps the strings of a result for NAME.h, if it has any. */
void import_name_classes(struct import *im, const struct value *value, const char *output);

/* --- freeze.c --------------------------------------------------------------------------------- */

/* Frozen value of the input in the options; NULL = none. */
const struct frozen_input *import_frozen(const struct import_options *options, const char *name);

/* Makes the constant; NULL after an error: wrong number of elements, or values outside the type. */
struct value *import_freeze(struct import *im, const struct frozen_input *frozen,
                            const struct type *type);

/* Whether it is the name of a dimension of an input. */
bool import_names_dimension(const Onnx__GraphProto *graph, const char *name);

/* Whether --vary gives a number of the input, and the binding is the one of element i. False where it names a
 * dimension of an input. */
bool import_is_number_of(const struct import *im, const struct shape_binding *size,
                         const char *name, int64_t n, int64_t i);

/* The constant that the options make of the input, by --freeze and by --vary, element by element: *frozen, NULL if
 * there is none. False after an error: numbers of some elements only. */
bool import_given(struct import *im, const char *name, const struct type *type,
                  const struct frozen_input **frozen);

/* Adds a hint to an error about a value that must be known: the input to freeze. */
void import_help_freeze(struct import *im, const struct value *value);

/* --- sort.c ----------------------------------------------------------------------------------- */

/* Topological order of the nodes, file order if possible; cycles are reported. The scope holds
 * earlier definitions. The result has n elements, in im->arena. */
const size_t *sort_nodes(struct import *im, const struct scope *scope, size_t n,
                         Onnx__NodeProto *const *nodes, const struct origin *const *origins);

/* --- run_time.c -------------------------------------------------------------------------------
 * What the file declares of a tensor; NULL = nothing. */
const Onnx__TypeProto__Tensor *import_declared(const struct import *im, const char *name);

/* Likewise, or of one that has the same shape, and is computed from it. */
const Onnx__TypeProto__Tensor *import_declared_shape(const struct import *im, const char *name);

/* Puts constants in place of operands that are known at run time only, and a check in front of them
 * or behind the result (run_time.def). False after an error; *done: the outputs are set. */
bool import_take_numbers(struct onnx_node *node, const char *domain, onnx_converter *convert,
                         bool *done);

/* --- open_length.c ----------------------------------------------------------------------------
 * After the results are named: adds those that say how many elements others have. */
void import_lengths(struct import *im);

/* An error, and true, if the node, which is no operator, reads a value with an open axis. */
bool import_reads_open(struct import *im, const struct scope *scope, const Onnx__NodeProto *proto);

/* After a node is converted: what the file declares of its results is no longer open. False after an error. */
bool import_close_declared(struct onnx_node *node);

/* Converts the node by its rule, if it reads a value with an open axis; *done: it does. False after an error. */
bool import_take_open(struct onnx_node *node, onnx_converter *convert, const char *domain,
                      bool *done);

/* --- control.c -------------------------------------------------------------------------------- */

/* Handles Constant, If, Loop, Scan and calls of model functions. *done: the node is one of these;
 * returns true if its outputs are bound. */
bool import_special(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                    const struct origin *origin, bool *done);

/* True if import_special takes the node. */
bool import_is_special(struct import *im, const Onnx__NodeProto *proto);

/* Increments im->depth (the caller decrements it); false, with an error, if it is too deep. */
bool import_go_deeper(struct import *im, const struct origin *origin);

/* --- sequences.c ------------------------------------------------------------------------------ */

/* The value of a graph input that is a sequence or an optional: its elements are parameters, NAME.0, NAME.1 ..., as
 * many as have a shape in the options. NULL after an error. */
struct value *import_collection(struct import *im, const char *name, const Onnx__TypeProto *type);

/* Names the elements of a result that is a sequence as results, NAME.0, NAME.1 ... False after an error. */
bool import_result(struct import *im, struct value *value, const char *name);

/* A sequence of which an If chooses each element; NULL where both have not the same elements, or are none. */
struct value *import_join_sequences(struct import *im, const char *name,
                                    const struct origin *origin, struct value *condition,
                                    const struct value *yes, const struct value *no);

/* True if the value is a sequence or an absent optional, which exist during the import only. */
bool import_is_sequence(const struct value *value);

/* False, with an error, if the node reads a sequence that it does not take; *done: the outputs are
 * set. */
bool import_take_sequences(struct onnx_node *node, bool *done);

#define SPECIAL(domain, name, function)                                                            \
    bool function(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,            \
                  const struct origin *origin);
#include "frontend/onnx/special.def"
#undef SPECIAL

/* --- control.c -------------------------------------------------------------------------------- */

/* Fills im->functions; reports duplicates. */
void import_functions(struct import *im);

/* The node with references to function attributes replaced by the call's values. */
const Onnx__NodeProto *resolve_attributes(struct import *im, const struct scope *scope,
                                          const Onnx__NodeProto *proto);

/* --- custom.c --------------------------------------------------------------------------------- */

/* What the user has said of the node's operator; NULL = nothing. */
struct custom_op *import_custom(const struct import *im, const Onnx__NodeProto *proto);

/* Makes the node that calls the user's function, and binds its outputs. */
bool import_custom_node(struct import *im, struct scope *scope, struct custom_op *custom,
                        const Onnx__NodeProto *proto, const struct origin *origin);

/* An error for each that the model does not have. */
bool import_custom_used(const struct import *im);

/* --- attribute.c, question.c ------------------------------------------------------------------ */

/* First attribute of that name; NULL if there is none. */
const Onnx__AttributeProto *attribute_find(const Onnx__NodeProto *proto, const char *name);

/* Declared type, or the one implied by the fields present. */
Onnx__AttributeProto__AttributeType attribute_type(const Onnx__AttributeProto *attr);

/* Reports duplicate attributes. */
bool attributes_check(struct ctx *ctx, const struct origin *origin, const Onnx__NodeProto *proto);

/* Value at compile time. False, without a diagnostic, if it is unknown. */
bool import_known(struct import *im, const struct value *value, struct tensor *out);

#endif
