/* expression_tree.h - an expression after parsing; for the files expression*.c only. */
#ifndef PARTITION_EXPRESSION_TREE_H
#define PARTITION_EXPRESSION_TREE_H

#include "base/str.h"
#include "partition/expression.h"

enum expression_kind {
    EXPRESSION_CONSTANT,
    EXPRESSION_NAME,
    EXPRESSION_LIST,
    EXPRESSION_INDEX, /* args[0] [ args[1] ] */
    EXPRESSION_UNARY,
    EXPRESSION_BINARY,
    EXPRESSION_CONDITIONAL, /* args[0] ? args[1] : args[2] */
    EXPRESSION_CALL
};

enum sign {
    SIGN_OR,
    SIGN_AND,
    SIGN_EQUAL,
    SIGN_UNEQUAL,
    SIGN_LESS_EQUAL,
    SIGN_GREATER_EQUAL,
    SIGN_LESS,
    SIGN_GREATER,
    SIGN_ADD,
    SIGN_SUBTRACT,
    SIGN_MULTIPLY,
    SIGN_DIVIDE,
    SIGN_REMAINDER,
    SIGN_NOT,
    SIGN_NEGATE
};

enum callee {
    CALLEE_MIN,
    CALLEE_MAX,
    CALLEE_ABS,
    CALLEE_CEIL_DIV,
    CALLEE_ROUND_UP,
    CALLEE_LOG2,
    CALLEE_LEN,
    CALLEE_PRESENT,
    CALLEE_COUNT
};

struct expression {
    enum expression_kind kind;
    const char *text;  /* the whole text, the same in all parts */
    size_t start, end; /* of this part in it, with its parentheses */
    int depth;         /* of the tree below, so that recursion is bounded */
    bool in_parentheses;
    enum sign sign;           /* UNARY, BINARY */
    enum callee callee;       /* CALL */
    struct term constant;     /* CONSTANT */
    const char *name, *field; /* NAME; field NULL = bare */
    size_t name_start;        /* NAME: without parentheses around it */
    int n_args;
    struct expression **args;
};

static inline bool sign_is_comparison(enum sign sign)
{
    return sign >= SIGN_EQUAL && sign <= SIGN_GREATER;
}

/* The part as it is written. */
const char *expression_part(const struct expression *part, struct arena *arena);

/* For expression_eval.c and expression_holds.c. */
struct evaluation {
    const struct scope *scope;
    struct arena *arena;
    const char *why;
    bool absent; /* what was evaluated last depends on an absent name */
};

/* The value of a part. False: evaluation->why says what went wrong. */
bool evaluation_run(struct evaluation *evaluation, const struct expression *part, struct term *out);

/* Whether a condition holds; one that depends on absent names does. */
bool evaluation_truth(struct evaluation *evaluation, const struct expression *part, bool *out);

/* A value as messages tell it: 11, [1,2], f32, absent. */
void term_print(struct str *out, const struct term *term);

#endif
