/* op.h - the operator table (ops.def) as an enum and as rows.
 *
 * What every operator must have is a column here. What only some have (oneDNN primitive, pattern
 * word) is a sparse table in that phase, indexed by enum op; a hole there is a diagnosis, never a
 * crash. */
#ifndef RELAY_IR_OP_H
#define RELAY_IR_OP_H

#include <stdbool.h>

#include "relay_ir/attrs.h"
#include "relay_ir/type.h"

enum op {
#define RELAY_OP(symbol, ...) OP_##symbol,
#include "relay_ir/ops.def"
#undef RELAY_OP
    OP_COUNT
};

/* How an operator may fuse (Relay's TOpPattern). */
enum op_pattern {
    PATTERN_VIEW,        /* another shape of the same memory: no code */
    PATTERN_ELEMWISE,    /* one input element -> one output element */
    PATTERN_BROADCAST,   /* as ELEMWISE, with broadcasting inputs */
    PATTERN_INJECTIVE,   /* each output element is some input element */
    PATTERN_REDUCE,      /* many to one */
    PATTERN_OUT_FUSABLE, /* element-wise operators may follow in the same loop nest (conv, dense) */
    PATTERN_OPAQUE       /* stands alone */
};

/* How convert_layout permutes the dims of what an operator reads and writes. */
enum layout_kind {
    LAYOUT_FIXED,     /* dims cannot be permuted */
    LAYOUT_SPATIAL,   /* prefers channels last; has a layout attribute */
    LAYOUT_FREE,      /* any order, one for all inputs and outputs */
    LAYOUT_REDUCE,    /* removes dims */
    LAYOUT_TRANSPOSE, /* vanishes if its input's order can be its output's */
    LAYOUT_VIEW       /* reshape, squeeze, expand_dims */
};

struct node;

struct op_row {
    const char *name;
    enum attrs_id attrs;
    int least_inputs, most_inputs; /* most -1 = any number */
    int n_outputs;                 /* -1 = the node says */
    enum op_pattern pattern;

    /* Sets the types of the node's outputs from its inputs' types and its attributes. Checks all
     * that evaluate and the code generators rely on. False after an error. */
    bool (*infer)(struct ctx *ctx, struct node *node);

    /* Reference evaluation: slow and simple. in[i] is NULL for an absent optional input; out[i] has
     * its type and zeroed data. Sums in double. False after an error (say, an index out of range).
     * call and return are the interpreter's business. */
    bool (*evaluate)(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out);
    enum layout_kind layout;
};

const struct op_row *op_row(enum op op);
const char *op_name(enum op op);
enum op op_from_name(const char *name); /* OP_COUNT if unknown */
bool op_is_elementwise(enum op op);     /* ELEMWISE or BROADCAST */
bool op_takes_half(enum op op);         /* accepts f16 and bf16 as data; arithmetic is in f32 */
int op_spatial_rank(enum op op);        /* 1, 2, 3 for the convNd and poolNd families, else 0 */

#endif
