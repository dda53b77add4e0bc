/* panels.h - weights in the order in which the tiles of runtime/embed read them. */
#ifndef CODEGEN_C_EXPR_PANELS_H
#define CODEGEN_C_EXPR_PANELS_H

#include "codegen_c/core/kernel.h"

/* A constant seen as `groups` matrices of n_rows rows of len elements, to be stored as
 * [groups, blocks, len, width], without the first extent if it is 1: `width` rows side by side,
 * zeros beside the last one. */
struct panels {
    int64_t groups, n_rows, len;
    int64_t group_step, row_step, len_step; /* in the constant, in elements */
    int64_t width;

    /* Element k of a row is k / inner outer steps and k % inner steps from its first; inner 0: it
     * is k steps from it. */
    int64_t inner, outer_step;

    /* The last block has only as many rows as are left, rounded up to 4, so that it is shorter;
     * `slack` zeros stand behind everything, which then is one row of numbers. */
    bool ragged;
    int64_t slack;
};

/* The rows that the last block has, and all blocks of a group. */
int64_t panels_last_width(const struct panels *panels);
int64_t panels_rows(const struct panels *panels);

/* Panels of zeros, of the element type of *type, which gets the shape; and where element k of a row
 * lies in them. */
void *panels_new(struct bind *bind, const struct panels *panels, struct type *type);
int64_t panels_place(const struct panels *panels, int64_t group, int64_t row, int64_t k);

/* The constant's elements in that order, and the type that they have then: *type must have the
 * element type, and gets the shape. */
void *panels_make(struct bind *bind, const struct value *value, const struct panels *panels,
                  struct type *type);

/* Packs the anchor's input i and sets `key` to the array's name; layout is for the comment. */
void bind_panels(struct bind *bind, const char *key, int i, const struct panels *panels,
                 const char *layout);

#endif
