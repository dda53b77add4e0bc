#include "quantize/linear.h"

#include "base/str.h"

/* Weights of x (..., in_c): a matrix. */
static void linear_of_matrix(const struct node *node, struct linear *linear)
{
    const struct type *x = &node->inputs[0]->type, *w = &node->inputs[1]->type;
    const bool is_matmul = node->op == OP_MATMUL;
    const bool transposed = is_matmul && node->attrs.matmul.transpose_a && x->rank > 1;

    linear->in_axis = x->rank - 1 - transposed;
    linear->out_axis = node->outputs[0]->type.rank - 1;
    linear->lead = type_span(w, 0, w->rank - 2);
    linear->in_first = is_matmul && !node->attrs.matmul.transpose_b;
    linear->taps = 1;
}

static void linear_of_window(const struct node *node, struct linear *linear, int64_t groups,
                             bool in_first)
{
    linear->in_axis = linear->out_axis = 1;
    linear->groups = groups;
    linear->in_first = in_first;
    linear->taps = type_span(&node->inputs[1]->type, 2, node->inputs[1]->type.rank);
}

bool linear_of(const struct node *node, struct linear *out)
{
    const struct value *weight = node->n_inputs == 2 ? node->inputs[1] : NULL;

    *out = (struct linear){ .groups = 1, .lead = 1 };
    if (!weight || weight->type.rank < 2 || !node->inputs[0]->type.rank)
        return false;
    switch (node->op) {
    case OP_DENSE:
    case OP_MATMUL: linear_of_matrix(node, out); break;
    case OP_CONV1D:
    case OP_CONV2D:
    case OP_CONV3D: linear_of_window(node, out, node->attrs.conv.groups, false); break;
    case OP_CONV1D_TRANSPOSE:
    case OP_CONV2D_TRANSPOSE:
    case OP_CONV3D_TRANSPOSE:
        linear_of_window(node, out, node->attrs.conv_transpose.groups, true);
        break;
    default: return false;
    }
    out->out_c = node->outputs[0]->type.dim[out->out_axis];
    out->in_c = node->inputs[0]->type.dim[out->in_axis];
    out->first = out->in_first ? out->in_c : out->out_c;
    out->second = (out->in_first ? out->out_c : out->in_c) / out->groups;
    return linear_blocks(out) > 0 && out->taps > 0;
}

int64_t linear_blocks(const struct linear *linear)
{
    return linear->lead * linear->first * linear->second;
}

void linear_channels(const struct linear *linear, int64_t block, int64_t *in, int64_t *out)
{
    const int64_t i = block / linear->second % linear->first, j = block % linear->second;
    const int64_t group = i / (linear->first / linear->groups);

    *in = linear->in_first ? i : group * linear->second + j;
    *out = linear->in_first ? group * linear->second + j : i;
}

int axis_after_view(const struct type *from, int axis, const struct type *to, int64_t *repeat)
{
    const int64_t outer = type_span(from, 0, axis), n = from->dim[axis];
    const int64_t inner = type_span(from, axis + 1, from->rank);

    *repeat = 1;
    for (int i = 0; i < to->rank; i++) {
        if (type_span(to, 0, i) != outer)
            continue;
        if (to->dim[i] == n && type_span(to, i + 1, to->rank) == inner)
            return i;
        if (to->dim[i] == n * inner && type_span(to, i + 1, to->rank) == 1) {
            *repeat = inner;
            return i;
        }
    }
    return -1;
}

struct type along_axis(const struct type *like, int axis)
{
    struct type type = { .dtype = like->dtype, .rank = like->rank - axis };

    type.dim[0] = like->dim[axis];
    for (int i = 1; i < type.rank; i++)
        type.dim[i] = 1;
    return type;
}

void constant_exchange(struct node *node, int input, const struct type *type, const void *data)
{
    struct value *old = node->inputs[input];
    struct value *new = constant_new(node->fn, old->name, type, data);

    if (!old->uses->next)
        value_take_name(new, old);
    node_set_input(node, input, new);
}

struct value *value_insert(struct value *value, const char *suffix, enum op op,
                           const union attrs *attrs, struct value *operand)
{
    static const float nothing;
    struct node *def = value->def;
    struct arena *scratch = &def->fn->module->ctx->scratch;
    const struct type scalar = type_scalar(DTYPE_F32);
    const char *name = value->name;
    struct value *inner =
        constant_new(def->fn, arena_printf(scratch, "%s.%s", name, suffix), &scalar, &nothing);
    struct value *new;

    value_take_name(value, inner); /* a constant that nobody reads: it had the name made unique */
    new = build(def->fn, op, attrs, name, def->origin, def->next, operand ? 2 : 1,
                (struct value *[]){ value, operand });
    if (!new)
        return NULL;
    value_replace(value, new);
    node_set_input(new->def, 0, value);
    return new;
}

struct node *product_bias(const struct node *product, const struct linear *linear)
{
    struct value *y = product->outputs[0];
    struct node *user = value_only_user(y);

    return user && user->op == OP_BIAS_ADD && user->inputs[0] == y &&
                   user->inputs[1]->kind == VALUE_CONSTANT &&
                   dtype_is_float(user->inputs[1]->type.dtype) &&
                   type_axis(&y->type, user->attrs.axis.axis) == linear->out_axis
               ? user
               : NULL;
}
