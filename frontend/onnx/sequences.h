/* sequences.h - sequences and optionals while a graph is imported, and what their nodes read: for sequences.c and
 * sequence_inputs.c. */
#ifndef FRONTEND_ONNX_SEQUENCES_H
#define FRONTEND_ONNX_SEQUENCES_H

#include "frontend/onnx/importer.h"

/* Bound in a scope by the address of its value, which is no tensor. */
struct sequence {
    struct value value;
    bool is_absent; /* an optional without an element */
    int n;
    struct value **at; /* tensors, or sequences */
};

/* A node that is read. */
struct reading {
    struct import *im;
    struct scope *scope;
    const Onnx__NodeProto *proto;
    const struct origin *origin;
    struct value **inputs; /* [proto->n_input], and NULL behind them */
};

/* The sequence that a value stands for; NULL: it is a tensor. */
struct sequence *sequence_of(const struct value *value);

/* One of n elements, which are still to be set. In im->arena. */
struct sequence *sequence_new(struct import *im, int n);

/* Fills r->inputs; false after an error, as where there are fewer than `least`, or several outputs. */
bool reading_inputs(struct reading *r, size_t least);

/* Binds the node's output. */
bool reading_bind(const struct reading *r, struct value *value);
bool reading_bind_number(const struct reading *r, enum dtype dtype, int64_t number);

/* Input 0; NULL after an error. */
struct sequence *reading_sequence(const struct reading *r);

/* The tensor that is input `i`; NULL after an error. */
struct value *reading_tensor(const struct reading *r, size_t i);

/* Input `i`, whose numbers must be known. */
bool reading_known(const struct reading *r, size_t i, const char *what, struct tensor *out);

/* Input `i`, an index of n elements, negative from behind, at most `last`, which stands for it if
 * it is absent. */
bool reading_position(const struct reading *r, size_t i, int n, int last, int *at);

/* An attribute. */
int64_t reading_number(const struct reading *r, const char *name, int64_t missing);

/* The attribute "axis", from 0. */
bool reading_axis(const struct reading *r, int64_t missing, int rank, int *axis);

/* The result of a new node. */
struct value *reading_make(const struct reading *r, enum op op, const union attrs *attrs, int n,
                           struct value *const *inputs);

#endif
