/* convert.h - API for converters, one per ONNX operator.
 *
 * convert.def has a row per operator: ONNX(domain, "Conv", first opset, last opset, convert_conv,
 * arg). A converter builds relay_ir nodes and names the results; it never touches protobuf. Every
 * function below reports its own errors against the node; a converter just returns false. */
#ifndef FRONTEND_ONNX_CONVERT_H
#define FRONTEND_ONNX_CONVERT_H

#include "relay_ir/interpret.h"
#include "relay_ir/ir.h"

struct import; /* the importer's state; opaque to converters */

struct onnx_node {
    struct import *import;
    struct ctx *ctx;
    struct function *fn; /* nodes are appended here */
    const struct origin *origin;
    const char *op_type;
    int64_t opset; /* of the node's domain */
    int arg;       /* from the row of convert.def (an enum op, usually) */
    int n_inputs, n_outputs;
    struct value **inputs;     /* NULL = absent; absent inputs at the end are dropped */
    const char **output_names; /* "" = unused output */
    struct value **outputs;    /* set by the converter, via onnx_output */
    const void *proto;         /* Onnx__NodeProto; for the functions below */
};

typedef bool onnx_converter(struct onnx_node *node);

/* Attributes. A missing one gives the default; one of the wrong kind is an error, after which
 * onnx_ok is false. Text is raw text of the model. */
bool onnx_has(const struct onnx_node *node, const char *attr);
int64_t onnx_int(struct onnx_node *node, const char *attr, int64_t missing);
double onnx_real(struct onnx_node *node, const char *attr, double missing);
const char *onnx_word(struct onnx_node *node, const char *attr, const char *missing);
/* Lists; n = 0 if missing. More than MAX_INTS entries are an error, except for onnx_int_list, which
 * borrows the integers. */
bool onnx_int_list(struct onnx_node *node, const char *attr, const int64_t **at, int64_t *n);
struct ints onnx_ints(struct onnx_node *node, const char *attr);
struct reals onnx_reals(struct onnx_node *node, const char *attr);
/* Strings of a list, joined by ','; "" if missing. */
const char *onnx_words(struct onnx_node *node, const char *attr);
/* A tensor attribute. False if missing (no error) or malformed (an error). */
bool onnx_tensor(struct onnx_node *node, const char *attr, struct tensor *out);

/* Whether the node is inside of a function, a branch or a loop. */
bool onnx_is_inside(const struct onnx_node *node);

/* True if no error was reported for this node; check before building. */
bool onnx_ok(const struct onnx_node *node);

/* Reports UNSUPPORTED_FORM for this node. Returns false. */
bool onnx_unsupported(struct onnx_node *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct value *onnx_input(struct onnx_node *node, int i); /* NULL if absent or past the end */

/* Value of input i, which must be known at compile time (a constant, or computed from constants and
 * shapes only); else an error that names the input (UNSUPPORTED_DYNAMIC). */
bool onnx_constant(struct onnx_node *node, int i, struct tensor *out);
bool onnx_constant_ints(struct onnx_node *node, int i,
                        struct ints *out);                           /* rank 0 or 1, <= MAX_INTS */
bool onnx_constant_real(struct onnx_node *node, int i, double *out); /* one element */

/* True if input i is absent, or known at compile time; without an error, but of limits. */
bool onnx_is_known(struct onnx_node *node, int i);

/* The shape that the file declares for output i, in numbers; the element type is left open. False,
 * without an error, if there is none. */
bool onnx_declared(struct onnx_node *node, int i, struct type *type);

/* Input i, of any integer type, as a list of i64. NULL if it is absent, or after an error. */
struct value *onnx_numbers(struct onnx_node *node, int i, const char *suffix);

/* True if a constant of n elements is within the limits (base/limit.h), else an error. Call before
 * allocating it. */
bool onnx_granted(struct onnx_node *node, enum dtype dtype, double n);

/* Builds an intermediate value (named after output 0 of the ONNX node and the suffix), or the value
 * that becomes output 0 if the suffix is empty. NULL after an error. */
struct value *onnx_build(struct onnx_node *node, enum op op, const union attrs *attrs,
                         const char *suffix, int n_inputs, struct value *const *inputs);
/* onnx_build with one and two operands. */
struct value *onnx_build1(struct onnx_node *node, enum op op, const union attrs *attrs,
                          const char *suffix, struct value *x);
struct value *onnx_build2(struct onnx_node *node, enum op op, const union attrs *attrs,
                          const char *suffix, struct value *a, struct value *b);

/* Constants made by the converter. */
struct value *onnx_scalar(struct onnx_node *node, enum dtype dtype, double number,
                          const char *suffix);
struct value *onnx_from_tensor(struct onnx_node *node, const struct tensor *tensor,
                               const char *suffix); /* copies the payload unless it is the
                                                       model's */
struct value *onnx_from_ints(struct onnx_node *node, const int64_t *at, int64_t n,
                             const char *suffix); /* i64, rank 1 */

/* Sets output i to `value`; false if it is NULL. */
bool onnx_output(struct onnx_node *node, int i, struct value *value);

/* --- lengths that depend on the data (open_length.c) -------------------------------------------
 * `value`, checked at run time: `count` (one i64) must be n, which the file declares. NULL if one is. */
struct value *onnx_if_count(struct onnx_node *node, struct value *value, struct value *count,
                            int64_t n);

/* onnx_output, not inside of functions and branches, for a value that has room along the axis for as many elements as
 * there can be, of which `count` (one i64) are there. The network gets the result NAME.count, of the first such output
 * of a node. Nodes that read the value need a rule (open.def). */
bool onnx_output_open(struct onnx_node *node, int i, int axis, struct value *value,
                      struct value *count);

/* What the value is at compile time. False, without an error, if it is not known. */
bool onnx_is_number(struct onnx_node *node, const struct value *value, int64_t *number);

#endif
