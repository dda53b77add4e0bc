#include "frontend/tflite/convert_recurrent.h"

struct value *tfl_along(struct tfl_node *node, struct value *x, int axis, int64_t begin,
                        int64_t size, const char *suffix)
{
    union attrs attrs;

    if (!x)
        return NULL;
    attrs.slice = (struct slice_attrs){ .begin = { .n = x->type.rank },
                                        .strides = { .n = x->type.rank },
                                        .size = ints_of(x->type.rank, x->type.dim) };
    for (int i = 0; i < x->type.rank; i++)
        attrs.slice.strides.at[i] = 1;
    attrs.slice.begin.at[axis] = begin;
    attrs.slice.size.at[axis] = size;
    return tfl_build1(node, OP_STRIDED_SLICE, &attrs, suffix, x);
}

struct value *tfl_shaped(struct tfl_node *node, struct value *x, int rank, const int64_t *dims,
                         const char *suffix)
{
    const struct type shape = type_make(DTYPE_I8, rank, dims);

    return x ? tfl_reshape(node, x, &shape, suffix) : NULL;
}

bool tfl_check_shape(struct tfl_node *node, int input, int rank, int64_t a, int64_t b)
{
    const struct type *type = &node->inputs[input]->type;

    if (type->rank == rank && type->dim[0] == a && (rank < 2 || type->dim[1] == b))
        return true;
    return tfl_unsupported(node, "input %d is %s", input, type_text(&node->ctx->perm, type));
}
