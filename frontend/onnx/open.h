/* open.h - axes of which run time says how long they are: open ones. The value has room for as many elements as there
 * can be, and `count` of them are there, in front. Which axes are open is known to the importer only: each operator that
 * reads such a value has a rule (open.def) that says what is open of its result, and puts something harmless in place of
 * the elements that are not there, where it computes with all of them. In the graph nothing is open. */
#ifndef FRONTEND_ONNX_OPEN_H
#define FRONTEND_ONNX_OPEN_H

#include "frontend/onnx/convert_helpers.h"
#include "frontend/onnx/importer.h"

struct open_length {
    struct value *count;   /* one i64, from 0 on */
    struct value *bounded; /* the same with its bound, as Shape gives it; NULL: nobody has asked */
    int64_t most;
    const struct open_length *of; /* it is `factor` times this one; NULL: a length of its own */
    int64_t factor;
    const char *name; /* of the result that says it */
    const struct origin *origin;
    struct open_length *next;
};

/* By axis; NULL = as long as its extent. */
struct open_axes {
    struct open_length *at[MAX_RANK];
};

/* Those of a value; none where it is NULL. */
struct open_axes open_of(const struct import *im, const struct value *value);
bool is_open(const struct import *im, const struct value *value);

/* Says that axes of a value are open. */
void open_set(struct import *im, struct value *value, const struct open_axes *axes);

/* A length of its own, at most `most`, for a result of the node. NULL after an error. */
struct open_length *open_new(struct onnx_node *node, struct value *count, int64_t most);

/* `factor` times as long. */
struct open_length *open_times(struct onnx_node *node, struct open_length *length, int64_t factor);

/* The length whose count the value is; NULL = none. */
struct open_length *open_of_count(const struct import *im, const struct value *count);

/* The count, with its bound. NULL after an error. */
struct value *open_count(struct onnx_node *node, struct open_length *length);

/* The node reads it (NULL: whatever is open of its inputs), and cannot. Returns false. */
bool open_refuse(struct onnx_node *node, const struct open_length *length);

/* x; a run in which the truth value is false gives NAME_WRONG_NUMBER. */
struct value *open_expect(struct onnx_node *node, struct value *x, struct value *truth);

/* What is not there along the axis is `number`. */
struct value *open_mask(struct onnx_node *node, struct value *x, int axis,
                        const struct open_length *length, double number);

/* --- rules ------------------------------------------------------------------------------------ */

struct open_use {
    onnx_converter *convert; /* of the node */
    struct open_axes out;    /* of all results that have such axes */
    bool done;               /* the rule has set the outputs, and said what is open of them */
};

/* Before the node is converted, which reads something open. False after an error. */
typedef bool open_rule(struct onnx_node *node, struct open_use *use);

#define OPEN(name, rule) open_rule rule;
#include "frontend/onnx/open.def"
#undef OPEN

/* --- numbers ---------------------------------------------------------------------------------- */

/* Element i of a list of integers. */
struct open_number {
    bool is_known;
    int64_t number;      /* known, or the most that it may be; -1: it has no bound */
    struct value *value; /* else: one i64 */
};

/* False after an error, or where there are more than MAX_RANK. */
bool open_numbers(struct onnx_node *node, int input, struct open_number *numbers, int *n);

/* The range of one number, of an integer type, or a float that an integer became. False if it has none. */
bool open_range(struct onnx_node *node, struct value *value, double *low, double *high);

/* The length that a number of run time is: one that there is already, or a new one. NULL, without an error, where it has
 * no bound. */
struct open_length *open_of_number(struct onnx_node *node, const struct open_number *number);

/* i64 of one element: constants and arithmetic. */
struct value *open_int(struct onnx_node *node, int64_t number);

/* 0, 1, 2 ... n - 1, of this shape. */
struct value *open_indices(struct onnx_node *node, int64_t n, int rank, int axis);

#endif
