#include "relay_ir/walk.h"

#include <assert.h>
#include <string.h>

bool shape_broadcast(const struct type *a, const struct type *b, struct type *out)
{
    const int rank = a->rank > b->rank ? a->rank : b->rank;
    struct type both = { .dtype = a->dtype, .rank = rank };

    for (int i = 1; i <= rank; i++) { /* from the last dim; missing dims count as 1 */
        const int64_t da = i <= a->rank ? a->dim[a->rank - i] : 1;
        const int64_t db = i <= b->rank ? b->dim[b->rank - i] : 1;

        if (da != db && da != 1 && db != 1)
            return false;
        both.dim[rank - i] = da == 1 ? db : da;
    }
    *out = both;
    return true;
}

void shape_broadcast_strides(const struct type *type, int rank, int64_t *strides)
{
    int64_t step = 1;

    for (int i = rank - 1, from = type->rank - 1; i >= 0; i--, from--) {
        strides[i] = from < 0 || type->dim[from] == 1 ? 0 : step;
        step *= from < 0 ? 1 : type->dim[from];
    }
}

void shape_strides(const struct type *type, int64_t *strides)
{
    int64_t step = 1;

    for (int i = type->rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= type->dim[i];
    }
}

struct walk walk_begin(int rank, const int64_t *dim)
{
    struct walk walk = { .rank = rank };

    for (int i = 0; i < rank; i++)
        walk.dim[i] = dim[i];
    return walk;
}

void walk_add(struct walk *walk, const int64_t *step)
{
    assert(walk->n_operands < WALK_OPERANDS);
    for (int i = 0; i < walk->rank; i++)
        walk->step[walk->n_operands][i] = step[i];
    walk->n_operands++;
}

void walk_add_broadcast(struct walk *walk, const struct type *operand)
{
    int64_t step[MAX_RANK];

    shape_broadcast_strides(operand, walk->rank, step);
    walk_add(walk, step);
}

void walk_carry(struct walk *walk)
{
    for (int i = walk->rank - 1; i >= 0; i--) {
        for (int k = 0; k < walk->n_operands; k++)
            walk->offset[k] += walk->step[k][i];
        if (++walk->at[i] < walk->dim[i])
            return;
        for (int k = 0; k < walk->n_operands; k++)
            walk->offset[k] -= walk->step[k][i] * walk->at[i];
        walk->at[i] = 0;
    }
}

struct reduction reduction_begin(const struct type *x, const struct ints *axes)
{
    int64_t step[MAX_RANK], dim[2][MAX_RANK] = { { 0 } }, part_step[2][MAX_RANK] = { { 0 } };
    struct reduction reduction = { .n = 1 };
    int rank[2] = { 0, 0 };

    shape_strides(x, step);
    for (int i = 0; i < x->rank; i++) {
        const int part = ints_has(axes, i);

        dim[part][rank[part]] = x->dim[i];
        part_step[part][rank[part]++] = step[i];
        reduction.n *= part ? x->dim[i] : 1;
    }
    reduction.kept = walk_begin(rank[0], dim[0]);
    walk_add(&reduction.kept, part_step[0]);
    reduction.reduced = walk_begin(rank[1], dim[1]);
    walk_add(&reduction.reduced, part_step[1]);
    return reduction;
}

void copy_steps(int rank, const int64_t *dim, size_t bytes, void *to, const int64_t *to_step,
                const void *from, const int64_t *from_step)
{
    const int outer = rank ? rank - 1 : 0;
    const int64_t inner = rank ? dim[outer] : 1;
    const int64_t to_inner = rank ? to_step[outer] : 1, from_inner = rank ? from_step[outer] : 1;
    struct walk walk = walk_begin(outer, dim);
    int64_t n = inner > 0;

    for (int i = 0; i < outer; i++)
        n *= dim[i];
    walk_add(&walk, to_step);
    walk_add(&walk, from_step);
    for (int64_t i = 0; i < n; i++, walk_next(&walk)) {
        char *y = (char *)to + walk.offset[0] * (int64_t)bytes;
        const char *x = (const char *)from + walk.offset[1] * (int64_t)bytes;

        if (to_inner == 1 && from_inner == 1) {
            memcpy(y, x, (size_t)inner * bytes);
            continue;
        }
        if (bytes == 4) /* most: without a call for each */
            for (int64_t k = 0; k < inner; k++)
                memcpy(y + k * to_inner * 4, x + k * from_inner * 4, 4);
        else
            for (int64_t k = 0; k < inner; k++)
                memcpy(y + k * to_inner * (int64_t)bytes, x + k * from_inner * (int64_t)bytes,
                       bytes);
    }
}

void *element_at(const struct tensor *tensor, int64_t index)
{
    return (char *)tensor->data + index * (int64_t)dtype_bytes(tensor->type.dtype);
}

wide tensor_wide_at(const struct tensor *tensor, int64_t index)
{
    const int64_t value = tensor_int_at(tensor, index);

    return tensor->type.dtype == DTYPE_U64 ? (wide)(uint64_t)value : (wide)value;
}

void tensor_put_wide(struct tensor *tensor, int64_t index, wide value)
{
    dtype_store_int(tensor->type.dtype, tensor->data, index, (int64_t)(uint64_t)value);
}

void tensor_put_any(struct tensor *tensor, int64_t index, double value)
{
    if (tensor->type.dtype == DTYPE_AFP)
        ((uint8_t *)tensor->data)[index] =
            (uint8_t)minifloat_encode(type_minifloat(&tensor->type), value, true);
    else
        dtype_store(tensor->type.dtype, tensor->data, index, value);
}

static int value_bits(enum dtype dtype)
{
    const int bits = dtype_packed_bits(dtype);

    return dtype_kind(dtype) == KIND_BOOL ? 1 : dtype_is_signed(dtype) ? bits - 1 : bits;
}

wide dtype_least(enum dtype dtype)
{
    return dtype_is_signed(dtype) ? -((wide)1 << value_bits(dtype)) : 0;
}

wide dtype_greatest(enum dtype dtype)
{
    return ((wide)1 << value_bits(dtype)) - 1;
}
