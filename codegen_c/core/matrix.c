/* matrix.c - see matrix.h. */
#include "codegen_c/core/matrix.h"

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"

struct dense dense_of(const struct region *region)
{
    const struct type *x = anchor_input(region, 0), *weight = anchor_input(region, 1);

    return (struct dense){ .rows = type_span(x, 0, x->rank - 1),
                           .in_c = weight->dim[1],
                           .out_c = weight->dim[0] };
}

struct dense dense_of_conv(const struct region *region)
{
    const struct window w = window_of_conv(region);

    return (struct dense){ .rows = w.batch, .in_c = w.in_c * window_k_len(&w), .out_c = w.out_c };
}

struct dense dense_of_matmul(const struct region *region)
{
    const struct type *x = anchor_input(region, 0), *b = anchor_input(region, 1);
    const bool transpose_b = region->anchor->attrs.matmul.transpose_b;
    const int64_t rows = b->dim[b->rank - 2], columns = b->dim[b->rank - 1];

    return (struct dense){ .rows = type_span(x, 0, x->rank - 1),
                           .in_c = transpose_b ? columns : rows,
                           .out_c = transpose_b ? rows : columns,
                           .transposed = !transpose_b };
}
