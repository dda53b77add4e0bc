#include "quantize/logits.h"

#include <math.h>
#include <string.h>

int logits_axis(const struct value *value)
{
    int axis = -1;

    if (value->type.dtype != DTYPE_F32)
        return -1;
    for (const struct use *use = value->uses; use; use = use->next) {
        if (use->node->op != OP_SOFTMAX || (axis >= 0 && use->node->attrs.axis.axis != axis))
            return -1;
        axis = (int)use->node->attrs.axis.axis;
    }
    return axis;
}

static void raise_row(float *row, int64_t n, int64_t step)
{
    float greatest = -INFINITY, least;

    for (int64_t i = 0; i < n; i++)
        if (row[i * step] > greatest)
            greatest = row[i * step];
    if (!isfinite(greatest))
        return;
    least = (float)(greatest - LOGITS_DEPTH);
    for (int64_t i = 0; i < n; i++)
        if (row[i * step] < least)
            row[i * step] = least;
}

struct tensor logits_seen(struct arena *arena, const struct tensor *tensor, int axis)
{
    const struct type *type = &tensor->type;
    const int64_t n = type_elements(type), len = type->dim[axis];
    struct tensor out = { .type = *type, .data = arena_array(arena, float, (size_t)n) };
    int64_t inner = 1;

    if (n == 0)
        return out;
    memcpy(out.data, tensor->data, (size_t)n * sizeof(float));
    for (int i = axis + 1; i < type->rank; i++)
        inner *= type->dim[i];
    for (int64_t o = 0; o < n; o += len * inner)
        for (int64_t i = 0; i < inner; i++)
            raise_row((float *)out.data + o + i, len, inner);
    return out;
}
