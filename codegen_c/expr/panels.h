/* panels.h - packed weights: the order in which microkernels read them. */
#ifndef CODEGEN_C_EXPR_PANELS_H
#define CODEGEN_C_EXPR_PANELS_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/packed.h"

/* A constant as `groups` matrices of n_rows rows of len elements, and its packed form: [groups,
 * blocks, len, width], without the first extent if that is 1. A block (panel) is `width` rows side
 * by side; the last one is padded with zeros. */
struct panels {
    int64_t groups, n_rows, len;
    int64_t group_step, row_step, len_step; /* strides in the constant, in elements */
    int64_t width;

    /* If inner is not 0, element k of a row is at k / inner * outer_step + k % inner * len_step
     * from the row's first; otherwise at k * len_step. */
    int64_t inner, outer_step;

    /* The last block is narrower: the rows that are left, rounded up to 4. `slack` zeros follow the
     * array, whose shape is flat then. */
    bool ragged;
    int64_t slack;
};

/* Rows of the last block, and of all blocks of a group, padding included. */
int64_t panels_last_width(const struct panels *panels);
int64_t panels_rows(const struct panels *panels);

/* panels_new: zeroed panels of the element type of *type, which gets the shape. panels_place: the
 * index in them of element k of a row. */
void *panels_new(struct bind *bind, const struct panels *panels, struct type *type);
int64_t panels_place(const struct panels *panels, int64_t group, int64_t row, int64_t k);

/* As panels_new, kept for other plans: `how` names what is to fill them ("", "winograd 4").
 * *made: they are filled. */
void *panels_kept(struct bind *bind, const struct value *value, const struct panels *panels,
                  struct type *type, const char *how, bool *made);

/* The constant's elements, packed. *type must have the element type and gets the shape. The result
 * is kept for other plans: not to be written. */
const void *panels_make(struct bind *bind, const struct value *value, const struct panels *panels,
                        struct type *type);

/* Packs the anchor's input i and sets `key` to the array's name. `layout` is for its comment. */
void bind_panels(struct bind *bind, const char *key, int i, const struct panels *panels,
                 const char *layout);

#endif
