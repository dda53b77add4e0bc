/* shape_text.h - the C of a region's function, taken apart for a comparison with others: what
 * differs in numbers of the shape and in constant arrays only can be one function (fold.h). */
#ifndef CODEGEN_C_PRINT_SHAPE_TEXT_H
#define CODEGEN_C_PRINT_SHAPE_TEXT_H

#include <stdbool.h>

#include "codegen_c/text/tokens.h"

struct codegen;
struct region;
struct weight;

enum { NOTHING = -1 };

/* A token, or the few that read a constant array; comments are part of the gap in front. */
struct piece {
    struct token token; /* of an array: the whole expression */
    const char *gap;
    int n_gap;
    bool function; /* the function's name */
    bool in_enum;  /* between braces of an enum */
    int array;     /* index into arrays, or NOTHING */
    int member;    /* whose value it belongs to, or NOTHING */
    int statement; /* the piece that begins its statement */
};

/* NAME = VALUE of an enum without a name in the function's body. */
struct member {
    const char *name;
    int at;         /* the piece of the name … */
    int value, end; /* … and those of the value */
    int close;      /* the "}" of the enum */
};

struct shape_text {
    struct codegen *codegen; /* whose region it is */
    struct region *region;   /* the first that has the function */
    struct piece *pieces;
    int n;
    const char *rest;             /* behind the last piece */
    const struct weight **arrays; /* that it reads, in order; of a function that takes arrays, … */
    int *argument;                /* … which of these each is, or NOTHING */
    int n_arrays;
    struct member *members;
    int n_members;
    int opened, params; /* the pieces "(" and ")" of the parameters */
};

/* NULL if it is none that can be compared. */
struct shape_text *shape_text_of(struct codegen *codegen, struct region *region);

/* Whether the two differ in names of the functions, in arrays, and in numbers of members; these are
 * marked in varies [n_members]. Numbers of statements may differ, too, if `loose` is given: they are marked there,
 * [n]. */
bool shape_text_compare(const struct shape_text *a, const struct shape_text *b, bool *varies,
                        bool *loose);

/* Marks members whose values follow from marked ones; whether all marked ones can be variables:
 * none decides the length of an array, or is asked for by a directive. */
bool shape_text_can_vary(const struct shape_text *text, bool *varies);

/* Marks the members that the function reads, be it for another that it reads. */
void shape_text_find_used(const struct shape_text *text, bool *used);

#endif
