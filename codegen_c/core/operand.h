/* operand.h - the layout of a region's operands, and element indices as C.
 *
 * Every parameter, constant and result has an operand of its own, made once from its type and its
 * offset in the plan. The index of an element is made from the operand's strides and the position
 * in the loops, never from another operand's text or numbers. Two operands share a text only if
 * operand_is_same_map has proved that they are the same map. */
#ifndef CODEGEN_C_CORE_OPERAND_H
#define CODEGEN_C_CORE_OPERAND_H

#include "relay_ir/ir.h"

struct position;
struct region;

struct operand {
    int rank;
    int64_t dim[MAX_RANK];
    int64_t step[MAX_RANK]; /* stride of each dim, in elements */
    int64_t pixel_step;     /* elements from one pixel (a row of the last dim) to the next */
    bool apart;             /* pixels are sub-buffers: elements of others lie between them */
    int64_t plane_rows; /* stripes, channels first: rows of a whole plane, of which only some may
                           be present, at their place in it; 0 = planes are whole */
};

/* An operand of this shape. `pixel_stride`: the pixel stride in elements; 0 = dense. */
struct operand operand_make(const struct type *type, int64_t pixel_stride);

/* The operand of a value of the region's function: a parameter, or a constant (dense). */
struct operand operand_of(const struct region *region, const struct value *value);
struct operand operand_result(const struct region *region, int i);

/* What the region reads for its anchor's input i, before it is dequantised. */
struct operand operand_input(const struct region *region, int i);

/* Whether every index addresses the same element in both. */
bool operand_is_same_map(const struct operand *a, const struct operand *b);

/* Whether all elements are contiguous in row-major order. */
bool operand_is_dense(const struct operand *operand);

/* How an operand's elements relate to the region's results, whose shape is `result`. */
enum operand_beside {
    OPERAND_ALONG,     /* one element per result, contiguous: at the row-major index */
    OPERAND_PIXELS,    /* one per result, with a pixel stride of its own */
    OPERAND_CHANNEL,   /* one per index of the last dim, contiguous */
    OPERAND_BROADCAST, /* any other way */
};
enum operand_beside operand_beside(const struct operand *operand, const struct type *result);

/* The index, as C, of the element that meets the result at this position. The operand's shape is
 * aligned to the right of the result's and repeats where its dim is 1. */
const char *operand_index(struct arena *arena, const struct operand *operand,
                          const struct type *result, const struct position *at);

/* Whether a C expression is primary or postfix (a name, subscript or call), so that operators may
 * stand beside it; and the expression, in parentheses if it is not. */
bool expression_is_primary(const char *expression);
const char *expression_in_parentheses(struct arena *arena, const char *expression);

#endif
