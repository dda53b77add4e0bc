/* shape_rules.c - what broadcasting and row-major order mean, for all families. */
#include "relay_ir/ops/ops.h"

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
