/* expression_tree.h - parsed expressions; private to expression*.c. */
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
    const char *text;  /* the whole text, shared by all nodes */
    size_t start, end; /* of this node in the text, with its parentheses */
    int depth;         /* height of the subtree, to bound recursion */
    bool in_parentheses;
    enum sign sign;           /* UNARY, BINARY */
    enum callee callee;       /* CALL */
    struct term constant;     /* CONSTANT */
    const char *name, *field; /* NAME; field NULL = bare */
    size_t name_start;        /* NAME: without parentheses */
    int n_args;
    struct expression **args;
};

static inline bool sign_is_comparison(enum sign sign)
{
    return sign >= SIGN_EQUAL && sign <= SIGN_GREATER;
}

/* Source text of the node. */
const char *expression_part(const struct expression *part, struct arena *arena);

/* For expression_eval.c and expression_holds.c. */
struct evaluation {
    const struct scope *scope;
    struct arena *arena;
    const char *why;
    bool absent; /* the last result depends on an absent name */
};

/* Evaluates a node. False after an error, in evaluation->why. */
bool evaluation_run(struct evaluation *evaluation, const struct expression *part, struct term *out);

/* Truth of a condition; true if it depends on absent names. */
bool evaluation_truth(struct evaluation *evaluation, const struct expression *part, bool *out);

/* A value for messages: 11, [1,2], f32, absent. */
void term_print(struct str *out, const struct term *term);

#endif
