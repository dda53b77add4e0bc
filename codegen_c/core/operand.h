/* operand.h - where the elements of an operand of a region lie.
 *
 * Every parameter, constant and result of a region has an index of its own, made once from its type
 * and its place in the plan. What reads or writes an element makes the text of its index from the
 * operand's steps and the position in the loops, never from another operand's text or numbers: two
 * operands share a text only where operand_is_same_map has proved that they are the same map. */
#ifndef CODEGEN_C_CORE_OPERAND_H
#define CODEGEN_C_CORE_OPERAND_H

#include "relay_ir/ir.h"

struct position;
struct region;

struct operand {
    int rank;
    int64_t dim[MAX_RANK];
    int64_t step[MAX_RANK]; /* elements from an index of the dim to the next */
    int64_t pixel_step;     /* elements from a pixel (what lies along the last dim) to the next */
    bool apart;         /* pixels are parts of greater ones: elements of others lie between them */
    int64_t plane_rows; /* of each plane, of which only some rows may be there, where they lie in
                           it: a parameter in stripes, channels first; 0 = planes are whole */
};

/* An operand of this shape. `pitch`: elements from a pixel to the next; 0 = side by side. */
struct operand operand_make(const struct type *type, int64_t pitch);

/* The operand that a value of the region's function is: a parameter, a constant (side by side). */
struct operand operand_of(const struct region *region, const struct value *value);
struct operand operand_result(const struct region *region, int i);

/* What the region reads for input i of its anchor, decoded or not. */
struct operand operand_input(const struct region *region, int i);

/* Whether each index means the same element of both. */
bool operand_is_same_map(const struct operand *a, const struct operand *b);

/* Whether all elements lie side by side, in row-major order. */
bool operand_is_dense(const struct operand *operand);

/* How an operand lies beside the results of a region, whose shape is `result`. */
enum operand_beside {
    OPERAND_ALONG,     /* one element for each result, side by side: at the row-major index */
    OPERAND_PIXELS,    /* one for each result, in pixels apart */
    OPERAND_CHANNEL,   /* one for each index of the last dim, side by side */
    OPERAND_BROADCAST, /* in another way */
};
enum operand_beside operand_beside(const struct operand *operand, const struct type *result);

/* The C of the index of the element that stands beside the result at this position; the operand's
 * shape is aligned to the right of the result's and repeats where its dim is 1. */
const char *operand_index(struct arena *arena, const struct operand *operand,
                          const struct type *result, const struct position *at);

/* Names, subscripts, calls: nothing that an operator beside it could tear apart; and in parentheses
 * what is something else. */
bool expression_is_primary(const char *expression);
const char *expression_in_parentheses(struct arena *arena, const char *expression);

#endif
