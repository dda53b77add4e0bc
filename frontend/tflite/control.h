/* control.h - subgraphs that operators run, and what decides whether they do: for control.c (IF) and loop.c (WHILE). */
#ifndef FRONTEND_TFLITE_CONTROL_H
#define FRONTEND_TFLITE_CONTROL_H

#include "frontend/tflite/convert.h"
#include "relay_ir/range.h"

/* What a body is given or gives: a value, or a variable's name. */
struct operand {
    struct value *value;
    struct tfl_kept *kept;
    const struct tfl_tensor *tensor; /* of the operator */
};

struct body {
    struct tfl_graph graph; /* its constants are made once */
    const char *what;
};

/* Inputs from `first` on; NULL after an error. */
struct operand *tfl_operands(struct tfl_node *node, int first);

/* The subgraph that option `field` names; it must have n_inputs and n_outputs. */
bool tfl_body_read(struct tfl_node *node, const char *what, int field, int n_inputs, int n_outputs,
                   struct body *body);

/* given -> taken, which have the types of `like`. */
bool tfl_body_run(struct tfl_node *node, struct body *body, const struct operand *given,
                  const struct operand *like, struct operand *taken);

/* A body's tensor, if numbers move between it and `like` as they are; NULL after an error. */
struct tfl_tensor *tfl_body_tensor(struct tfl_node *node, struct tfl_graph *graph, int64_t index,
                                   const struct tfl_tensor *like, const char *what);

/* Results of the operator. */
bool tfl_body_results(struct tfl_node *node, const struct operand *results);

/* The payload of a value that is known, of at most `most` elements. */
bool tfl_is_known(struct tfl_node *node, struct value *value, int64_t most, struct tensor *known);

/* Whether a condition is known to be true or false, on the premise (NULL = none); else what decides, at run time, with all
 * that is known left out. False after an error. */
enum truth { NO, YES, OPEN };

bool tfl_truth(struct tfl_node *node, struct value *condition, const struct premise *premise,
               enum truth *truth, struct value **open);

/* yes or no, by the condition; out may be one of them. */
struct value *tfl_chosen(struct tfl_node *node, struct value *condition, struct value *yes,
                         struct value *no);
bool tfl_choose_all(struct tfl_node *node, struct value *condition, int n,
                    const struct operand *yes, const struct operand *no, struct operand *out);

#endif
