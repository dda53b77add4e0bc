/* convert.c - operands, nodes and outputs of converters; see convert.h. */
#include <math.h>
#include <string.h>

#include "frontend/tflite/convert.h"
#include "relay_ir/walk.h"

static const int64_t to_first[] = { 0, 3, 1, 2 }, to_last[] = { 0, 2, 3, 1 };

static const char *name_of(struct tfl_node *node, const struct tfl_tensor *tensor)
{
    return tfl_tensor_text(node->ctx, node->graph, tensor);
}

/* --- constants -------------------------------------------------------------------------------- */

static bool input_there(struct tfl_node *node, int input)
{
    return input < node->n_inputs && node->inputs[input];
}

bool tfl_constant(struct tfl_node *node, int input, struct tensor *out)
{
    return input_there(node, input) && tfl_stored(node, node->inputs[input], out);
}

bool tfl_constant_ints(struct tfl_node *node, int input, struct ints *out)
{
    struct tensor tensor;

    if (!tfl_constant(node, input, &tensor))
        return false;
    if ((tensor.type.dtype != DTYPE_I32 && tensor.type.dtype != DTYPE_I64) ||
        tensor.type.rank > 2 || type_elements(&tensor.type) > MAX_INTS)
        return tfl_unsupported(node, "%s is %s, expected at most %d integers",
                               name_of(node, node->inputs[input]),
                               type_text(&node->ctx->perm, &tensor.type), (int)MAX_INTS);
    out->n = (int)type_elements(&tensor.type);
    for (int i = 0; i < out->n; i++)
        out->at[i] = tensor_int_at(&tensor, i);
    return true;
}

/* "OUTPUT.suffix"; "" = the output's name. */
static const char *name_for(struct tfl_node *node, const char *suffix)
{
    const char *name = *node->outputs[0]->name ? node->outputs[0]->name : "t";

    return *suffix ? arena_printf(&node->ctx->perm, "%s.%s", name, suffix) : name;
}

void *tfl_payload(struct tfl_node *node, const struct type *type)
{
    return constants_fit(node->fn->module, (double)type_bytes(type), node->origin)
               ? constant_alloc(node->fn, type)
               : NULL;
}

struct value *tfl_made(struct tfl_node *node, const struct type *type, const void *payload,
                       const char *suffix)
{
    return payload ? constant_new(node->fn, name_for(node, suffix), type, payload) : NULL;
}

struct value *tfl_number(struct tfl_node *node, enum dtype dtype, double number, const char *suffix)
{
    const struct type type = type_scalar(dtype);
    void *payload = tfl_payload(node, &type);

    if (payload)
        dtype_store(dtype, payload, 0, number);
    return tfl_made(node, &type, payload, suffix);
}

struct value *tfl_scale_of(struct tfl_node *node, const struct tfl_tensor *tensor,
                           const char *suffix)
{
    return tfl_number(node, DTYPE_F32, tfl_scale(tensor, 0), suffix);
}

struct value *tfl_zero_of(struct tfl_node *node, const struct tfl_tensor *tensor,
                          const char *suffix)
{
    return tfl_number(node, tensor->type.dtype, (double)tfl_zero(tensor), suffix);
}

/* --- operands --------------------------------------------------------------------------------- */

static struct value *permuted(struct function *fn, const struct origin *origin, struct value *x,
                              const char *name, int n, const int64_t *axes)
{
    const union attrs attrs = { .axes = { .axes = ints_of(n, axes) } };

    return build(fn, OP_TRANSPOSE, &attrs, name, origin, NULL, 1, &x);
}

struct value *tfl_result(struct function *fn, struct tfl_tensor *tensor)
{
    if (!tensor->value && tensor->first) {
        tensor->value = permuted(fn, tensor->first->def ? tensor->first->def->origin : NULL,
                                 tensor->first, tensor->name, 4, to_last);
        if (tensor->value)
            value_swap_names(tensor->value, tensor->first);
    }
    return tensor->value;
}

struct value *tfl_value(struct tfl_node *node, int input)
{
    struct tfl_tensor *tensor = input_there(node, input) ? node->inputs[input] : NULL;
    struct tensor payload;

    if (!tensor)
        return NULL;
    if (!tensor->value && !tensor->first && tfl_stored(node, tensor, &payload))
        tensor->value = constant_new(node->fn, *tensor->name ? tensor->name : "constant",
                                     &payload.type, payload.data);
    return tfl_result(node->fn, tensor);
}

struct value *tfl_first(struct tfl_node *node, int input)
{
    struct tfl_tensor *tensor = input_there(node, input) ? node->inputs[input] : NULL;

    if (tensor && !tensor->first && tfl_value(node, input))
        tensor->first =
            permuted(node->fn, node->origin, tensor->value,
                     arena_printf(&node->ctx->perm, "%s.nchw", tensor->value->name), 4, to_first);
    return tensor ? tensor->first : NULL;
}

/* --- building --------------------------------------------------------------------------------- */

struct value *tfl_build(struct tfl_node *node, enum op op, const union attrs *attrs,
                        const char *suffix, int n_inputs, struct value *const *inputs)
{
    for (int i = 0; i < n_inputs; i++)
        if (!inputs[i])
            return NULL;
    return build(node->fn, op, attrs, name_for(node, suffix), node->origin, NULL, n_inputs, inputs);
}

struct value *tfl_build1(struct tfl_node *node, enum op op, const union attrs *attrs,
                         const char *suffix, struct value *x)
{
    return tfl_build(node, op, attrs, suffix, 1, &x);
}

struct value *tfl_reshape(struct tfl_node *node, struct value *x, const struct type *shape,
                          const char *suffix)
{
    const union attrs attrs = { .shape = { .shape = ints_of(shape->rank, shape->dim) } };

    if (!x || (*suffix && type_same_shape(&x->type, shape)))
        return x;
    return tfl_build1(node, OP_RESHAPE, &attrs, suffix, x);
}

struct value *tfl_permute(struct tfl_node *node, struct value *x, const char *suffix, int n,
                          const int64_t *axes)
{
    return x ? permuted(node->fn, node->origin, x, name_for(node, suffix), n, axes) : NULL;
}

int64_t tfl_code(const struct tfl_tensor *tensor, float number)
{
    const float quotient = roundf(number / (float)tfl_scale(tensor, 0));

    return (int64_t)fminf(fmaxf(quotient, -0x1p30f), 0x1p30f) + tfl_zero(tensor);
}

struct value *tfl_activation(struct tfl_node *node, int field, struct value *x)
{
    static const struct {
        double least, most;
    } bounds[] = { { -INFINITY, INFINITY }, { 0, INFINITY }, { -1, 1 }, { 0, 6 } };
    const int64_t word = tfl_word(node, field);
    const struct tfl_tensor *y = node->outputs[0];
    union attrs attrs;

    if (word < 0 || word > 3) {
        tfl_unsupported(node, "fused activation %lld (TANH, SIGN_BIT or newer)", (long long)word);
        return NULL;
    }
    if (!x || word == 0)
        return x;
    attrs.clip = (struct clip_attrs){ bounds[word].least, bounds[word].most };
    if (!dtype_is_float(x->type.dtype)) {
        const double least = (double)dtype_least(x->type.dtype);
        const double most = (double)dtype_greatest(x->type.dtype);

        if (!isinf(attrs.clip.a_min))
            attrs.clip.a_min = (double)tfl_code(y, (float)attrs.clip.a_min);
        if (!isinf(attrs.clip.a_max))
            attrs.clip.a_max = (double)tfl_code(y, (float)attrs.clip.a_max);
        attrs.clip.a_min = fmax(attrs.clip.a_min, least);
        attrs.clip.a_max = fmin(attrs.clip.a_max, most);
        if (attrs.clip.a_min == least && attrs.clip.a_max == most)
            return x;
    }
    return tfl_build1(node, OP_CLIP, &attrs, "activation", x);
}

/* --- outputs ---------------------------------------------------------------------------------- */

static bool check_output(struct tfl_node *node, const struct tfl_tensor *tensor,
                         const struct value *value, const int64_t *order)
{
    bool same = value->type.rank == tensor->type.rank && value->type.dtype == tensor->type.dtype;

    for (int i = 0; same && i < tensor->type.rank; i++)
        same = value->type.dim[i] == tensor->type.dim[order ? order[i] : i];
    if (same)
        return true;
    return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                      "%s computes %s%s, and the file says %s of %s", node->origin->op_type,
                      order ? "(channels first) " : "", type_text(&node->ctx->perm, &value->type),
                      type_text(&node->ctx->perm, &tensor->type), name_of(node, tensor));
}

bool tfl_output(struct tfl_node *node, int i, struct value *value)
{
    if (!value || !check_output(node, node->outputs[i], value, NULL))
        return false;
    value_rename(value, node->outputs[i]->name);
    node->outputs[i]->value = value;
    return true;
}

bool tfl_output_first(struct tfl_node *node, int i, struct value *value)
{
    if (!value || !check_output(node, node->outputs[i], value, to_first))
        return false;
    value_rename(value, node->outputs[i]->name);
    node->outputs[i]->first = value;
    return true;
}
