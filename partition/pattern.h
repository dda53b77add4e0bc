/* pattern.h - the pattern language, which selects subgraphs for a backend.
 *
 * A pattern is a tree over relay_ir: operators with patterns for their inputs, down to leaves. A
 * match holds every named part (capture); predicates read captures and never walk the graph.
 *
 * Text (docs/guide/patterns.md has the grammar):
 *   conv2d(x, w:const) -> bias_add(_, b:const)? -> add(_, residual)? -> relu|clip|silu|hard_swish?
 *
 *   a -> b           b is applied to the result of a, which stands where b has `_` (its first input
 *                    when b has no parentheses); a word in a chain is an operator
 *   b?               optional: the chain goes on without it; the longest form is tried first.
 *                    a|b? is (a|b)?
 *   a | b            alternatives, tried in order
 *   x                in parentheses of an operator: a leaf that captures any value; `*` any value
 *                    without a capture; `x:const`, `x:var` (a value that is no constant)
 *   x:const f32|f16 (64,_,3,3) rank=4
 *                    conditions of a leaf, or of an operator's result (`relu:f32`): kind, element
 *                    types, shape (`_` any extent), rank
 *   conv2d(x, w){strides=[1,1], groups=1}
 *                    attributes equal these
 *   conv2d(...)      any inputs; conv2d(x, ...) a first input and any others
 *   tuple(a, b)      the inputs of a variadic operator: concatenate(tuple(a, b)) is
 *                    concatenate(a, b)
 *   split(x).1       the second output of an operator with several (tuple-get)
 *   @elemwise @broadcast @injective @reduce @out_fusable    any operator of this fusion pattern
 *   dominates(parent, path, child)
 *                    child, reached from parent on every path through operators that match `path`
 *                    (a pattern such as @elemwise, at least one node long paths may be empty), and
 *                    nothing computed in between is read elsewhere
 *   name=conv2d(..)  captures the operator; without a name it is captured under its own ("conv2d",
 *                    without "nn." or "qnn."), a second one as conv2d_2
 *   act=(relu|clip)  captures whichever it is
 *   x=* -> multiply(_, sigmoid(_))
 *                    a chain may begin with a value; `_` may stand more than once for it
 *
 * Operators are written as in relay_ir/ops.def, "nn." may be left out. The operands of add,
 * multiply, maximum, minimum, equal, not_equal and the logical and bitwise and/or/xor match in
 * either order. */
#ifndef PARTITION_PATTERN_H
#define PARTITION_PATTERN_H

#include "partition/expression.h"
#include "base/json/source.h"
#include "relay_ir/ir.h"

enum pattern_kind {
    PAT_WILDCARD, /* any value */
    PAT_CONSTANT, /* a constant */
    PAT_VARIABLE, /* a value that is not constant */
    PAT_OP,       /* the result of an operator */
    PAT_OP_CLASS, /* the result of any operator of a fusion pattern */
    PAT_ALTERNATIVE,
    PAT_OPTIONAL,  /* args[0], or args[1], which continues without it */
    PAT_TUPLE,     /* all inputs of a variadic operator */
    PAT_TUPLE_GET, /* args[0] is the operator, `index` the output */
    PAT_DOMINATES  /* args: parent, path, child */
};

/* Constraint on a value's type. */
struct type_test {
    uint64_t dtypes; /* a bit per enum dtype; 0 = any */
    int rank;        /* -1 = any */
    bool has_shape;
    int64_t dim[MAX_RANK]; /* has_shape: of `rank` dims; -1 = any extent */
};

struct attr_test {
    const char *field;
    struct term value; /* TERM_INT also for BOOL; TERM_TEXT for WORD and DTYPE */
};

struct pattern {
    enum pattern_kind kind;
    const char *capture;      /* NULL = none */
    size_t offset;            /* in the text, for messages */
    enum op op;               /* PAT_OP */
    enum op_pattern op_class; /* PAT_OP_CLASS */
    int index;                /* PAT_TUPLE_GET */
    int n_args;
    bool any_args; /* PAT_OP: further inputs may be anything */
    struct pattern **args;
    struct type_test type;
    int n_attrs;
    struct attr_test *attrs;
    struct pattern *previous; /* result that `_` stands for in this step of a chain, shared with the
                                 `_` in args; NULL = no chain */
};

/* NULL after errors with line and column (unknown operator: with the nearest name). Lives in
 * ctx->perm. Checks that attributes exist, input counts fit the operators, captures are unique (per
 * branch of alternatives), and the root is an operator. */
struct pattern *pattern_parse(struct ctx *ctx, const struct source *source, const char *text);

/* Appends text that parses back to an equal pattern. */
void pattern_print(const struct pattern *pattern, struct str *out);

/* Maximum number of operators in a match; INT_MAX with dominates. */
int pattern_length(const struct pattern *pattern);

/* True if a match can contain the operator. */
bool pattern_mentions(const struct pattern *pattern, enum op op);

/* Names of all captures in text order, without duplicates; *n of them. In the arena. */
const char **pattern_captures(const struct pattern *pattern, struct arena *arena, int *n);

/* True if name.field (field NULL: a bare name) can exist in the scope of a match (match_scope). For
 * loaders. */
bool pattern_knows(const struct pattern *pattern, const char *name, const char *field);

struct capture {
    const char *name;
    struct value *value; /* of a leaf: itself; of an operator: its (first) output */
    struct node *node;   /* of an operator; NULL = a leaf */
};

struct match {
    struct node *root;
    int n_nodes;
    struct node **nodes; /* of the composite, in topological order; the root is the last */
    int n_captures;
    struct capture *captures;
};

/* Why a pattern does not match at a node: where the longest attempt ended. */
struct mismatch {
    struct node *node;  /* examined node */
    size_t offset;      /* in the pattern's text */
    int n_matched;      /* operators matched so far */
    const char *found;  /* "op is nn.softmax", "strides is [2,2]" */
    const char *wanted; /* "relu", "strides=[1,1]" */
    bool is_op;         /* the operator differs */
};

/* Restricts matches: may_take says if a node may be part of a match (it may belong to another);
 * NULL = every node. */
struct matcher {
    struct arena *arena; /* matches and mismatches live here */
    bool (*may_take)(void *user, const struct node *node);
    void *user;
};

/* Matches the pattern with its root at `root`. Since a composite becomes a function, also checks:
 *  - rule of outside use: no value that a node other than the root computes is read outside the
 * match (that would be a second output), nor is it a result;
 *  - no path from a node of the match out of it and back in (a cycle after outlining).
 * function_number must have been called; *why is filled when false is returned. Time: bounded by
 * the size of the pattern and, for the last check, by the nodes between the first and the root. */
bool pattern_match(const struct matcher *matcher, const struct pattern *pattern, struct node *root,
                   struct match *out, struct mismatch *why);

const struct capture *match_capture(const struct match *match, const char *name); /* NULL: absent */

/* The scope of a match: captures with their fields, and bare names about the composite.
 *   of a value    dtype rank shape dim elements bytes const; of a constant also: value (the number
 *                 that all elements equal), min, max
 *   of a node     its attributes by name (strides[0], groups, axis), op, and the fields of its
 *                 output
 *   bare          nodes macs weight_bytes input_bytes output_bytes (of the match), and `out`, the
 *                 root's output
 *
 * A capture of the pattern that did not take part is absent. */
struct scope match_scope(struct arena *arena, const struct pattern *pattern,
                         const struct match *match);

#endif
