#include "relay_ir/ops/scales.h"

#include <math.h>
#include <string.h>

#include "relay_ir/ops/check.h"

static const struct qtype *scaled(const struct node *node, int input)
{
    const struct value *value = node->inputs[input];

    return value && value->type.quant && value->type.quant->kind == QTYPE_SCALED ? value->type.quant
                                                                                 : NULL;
}

int scales_axis(const struct node *node, int input)
{
    return scaled(node, input) ? scaled(node, input)->axis : -1;
}

static bool are_scales(const float *scale, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(scale[i]) || scale[i] <= 0)
            return false;
    return true;
}

/* Zero points of n channels; NULL where all are 0. */
static const int32_t *zeros_of(struct arena *arena, const struct value *value, int64_t n)
{
    const struct tensor tensor = value_tensor(value);
    const bool one = type_elements(&value->type) == 1;
    int32_t *zeros = arena_array(arena, int32_t, n);
    bool any = false;

    for (int64_t i = 0; i < n; i++) {
        zeros[i] = (int32_t)tensor_int_at(&tensor, one ? 0 : i);
        any = any || zeros[i] != 0;
    }
    return any ? zeros : NULL;
}

static const float *scales_of(struct arena *arena, const struct value *value, int64_t n)
{
    const float *data = value->data;
    const bool one = type_elements(&value->type) == 1;
    float *scales = arena_array(arena, float, n);

    for (int64_t i = 0; i < n; i++)
        scales[i] = data[one ? 0 : i];
    return scales;
}

/* What the two inputs say, in the scratch arena. */
static bool read_scaled(const struct node *node, int scale, int zero, int64_t axis,
                        struct qtype *out)
{
    struct arena *scratch = &node->fn->module->ctx->scratch;
    const struct value *s = node->inputs[scale], *z = node->inputs[zero];
    int64_t n;

    if (s->kind != VALUE_CONSTANT || z->kind != VALUE_CONSTANT)
        return false;
    n = type_elements(&s->type);
    n = type_elements(&z->type) > n ? type_elements(&z->type) : n;
    if (n == 0 || n > INT32_MAX || !are_scales(s->data, type_elements(&s->type)))
        return false;
    *out = (struct qtype){ .kind = QTYPE_SCALED, .axis = n == 1 ? -1 : (int)axis, .n = n };
    out->scale = scales_of(scratch, s, n);
    if (dtype_kind(z->type.dtype) != KIND_MINIFLOAT)
        out->zero = zeros_of(scratch, z, n);
    else if (z->type.dtype == DTYPE_AFP && z->type.quant)
        out->format = z->type.quant->format;
    return true;
}

static const struct qtype *keep(struct arena *arena, const struct qtype *scratch)
{
    struct qtype *quant = arena_new(arena, struct qtype);
    const size_t n = (size_t)scratch->n;

    *quant = *scratch;
    quant->scale = memcpy(arena_array(arena, float, n), scratch->scale, n * sizeof(float));
    if (scratch->zero)
        quant->zero = memcpy(arena_array(arena, int32_t, n), scratch->zero, n * sizeof(int32_t));
    return quant;
}

void set_scaled_output_at(struct node *node, int output, enum dtype dtype, const struct type *shape,
                          int scale, int zero, int64_t axis)
{
    struct type *type = &node->outputs[output]->type;
    const struct type before = *type;
    struct qtype found;

    set_output(node, output, dtype, shape);
    if (!read_scaled(node, scale, zero, axis, &found))
        return;
    type->quant = &found;
    /* Inference runs after each pass: what it said before is not stored again. */
    type->quant = type_equal(&before, type) ? before.quant : keep(&node->fn->module->arena, &found);
}

void set_scaled_output(struct node *node, enum dtype dtype, const struct type *shape, int scale,
                       int zero, int64_t axis)
{
    set_scaled_output_at(node, 0, dtype, shape, scale, zero, axis);
}

void pass_scales(struct node *node, int output, int input, int axis)
{
    const struct qtype *quant = scaled(node, input);
    struct type *type = &node->outputs[output]->type;
    struct qtype *moved;

    if (!quant || (quant->axis >= 0 && axis < 0))
        return;
    if (quant->axis < 0 || quant->axis == axis) {
        type->quant = quant;
        return;
    }
    moved = arena_new(&node->fn->module->arena, struct qtype);
    *moved = *quant;
    moved->axis = axis;
    type->quant = moved;
}

void pass_scales_in_place(struct node *node, int output, int input)
{
    const int axis = scales_axis(node, input);
    const struct type *y = &node->outputs[output]->type;

    pass_scales(node, output, input,
                axis >= 0 && axis < y->rank && y->dim[axis] == input_type(node, input)->dim[axis]
                    ? axis
                    : -1);
}

void pass_common_scale(struct node *node, int output, int first, int step)
{
    struct type one = type_make(node->inputs[first]->type.dtype, 0, NULL);

    one.quant = scaled(node, first);
    for (int i = first + step; i < node->n_inputs; i += step) {
        struct type other = type_make(node->inputs[i]->type.dtype, 0, NULL);

        other.quant = scaled(node, i);
        if (!type_equal(&one, &other))
            return;
    }
    pass_scales(node, output, first, -1);
}

int view_axis(const struct type *x, const struct type *view, int axis)
{
    const int64_t outer = axis >= 0 ? type_span(x, 0, axis) : -1;

    for (int i = 0; i < view->rank && axis >= 0; i++)
        if (type_span(view, 0, i) == outer && view->dim[i] == x->dim[axis])
            return i;
    return -1;
}
