/* body.h - the rounds of a Loop or Scan as they are written out (loops.c, scan.c). */
#ifndef FRONTEND_ONNX_BODY_H
#define FRONTEND_ONNX_BODY_H

#include "frontend/onnx/importer.h"

struct rounds {
    struct import *im;
    const Onnx__NodeProto *proto;
    const struct origin *origin;
    const Onnx__GraphProto *body;
    struct scope constants;  /* of the body, behind which the names around the node are */
    size_t n_carried;        /* values that each round hands to the next */
    struct value **inputs;   /* [body->n_input] of the next round */
    struct value **outputs;  /* [body->n_output] of the last */
    struct value ***stacked; /* [body->n_output][n_rounds] what each round gave */
    size_t n_rounds, capacity;
    bool ends; /* at run time, perhaps before all rounds */
    int64_t
        declared; /* rounds that the file declares, by the length of what they give; 0 = it does not */
    struct value *
        holds; /* whether the rounds written out are all, a truth value of run time; NULL = certainly */
    struct value *alive; /* whether it has not ended yet; NULL = certainly not */
};

/* The body's constants, and room for what goes in and out. False after an error, as all below. */
bool body_begin(struct rounds *r, struct import *im, struct scope *scope,
                const Onnx__NodeProto *proto, const struct origin *origin);

/* What the body is given and gives: counts that disagree with the node's are an error. */
bool body_check_counts(struct rounds *r, size_t n_inputs, size_t least_outputs, size_t carried);

/* Values that rounds hand on begin somewhere. */
bool body_check_begun(struct rounds *r, struct value *const *values, size_t first);

/* One round: `inputs` become `outputs`. */
bool body_run(struct rounds *r);

/* A node; NULL after an error. */
struct value *body_make(struct rounds *r, enum op op, const union attrs *attrs, const char *name,
                        int n, struct value *const *inputs);

/* Output i of every round, side by side along a new axis. */
struct value *body_stack(struct rounds *r, size_t i, int64_t axis, bool backwards,
                         const char *name);

/* --- Loop ------------------------------------------------------------------------------------- */

enum { COUNT, CONDITION, FIRST_CARRIED }; /* inputs of the node, and of its body */

/* A constant of one element. */
struct value *body_number(struct rounds *r, enum dtype dtype, int64_t n, const char *name);

/* Whether the loop goes on: known, or a truth value that is computed. False after an error. */
bool body_condition(struct rounds *r, struct value *condition, bool *is_known, double *goes_on);

/* One round of a Loop: body_run, whose first inputs are the number of the round and the condition (NULL: true). */
bool loop_round(struct rounds *r, struct value *condition);

/* loop_declared.c: the first dim that the file declares of the rounds' stacked outputs; 0 where it does not, or inside of
 * functions and branches, where a name may be another tensor's. */
int64_t loop_declared_rounds(const struct rounds *r);

/* Exactly the declared rounds: the count must be their number, and the condition hold before each of them. */
bool loop_run_declared(struct rounds *r, struct value *count, struct value *condition);

/* The value, if the rounds were those that are written out; NULL after an error. */
struct value *loop_if_expected(struct rounds *r, struct value *value);

#endif
