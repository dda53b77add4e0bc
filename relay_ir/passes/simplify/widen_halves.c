/* widen_halves.c - f32 where a model computes in half precision.
 *
 * needs    types
 * gives    no node that calculates with f16 or bf16; types
 * method   all or nothing: where one does, constants become f32, parameters are cast to it, results
 *          back, and what lies between is inferred again
 *
 * C has no half-precision arithmetic, and few processors have. What runs such a model elsewhere
 * casts around each operator, and rounds more often than this. */
#include "relay_ir/passes/pipeline.h"

static bool is_half(const struct value *value)
{
    return value && dtype_is_half(value->type.dtype);
}

/* Weights, scales: what reads half precision behind its first input, and makes none, decodes
 * them. */
static bool calculates(const struct node *node)
{
    bool halves = is_half(node->n_inputs ? node->inputs[0] : NULL);

    for (int i = 0; i < node->n_outputs; i++)
        halves |= is_half(node->outputs[i]);
    return halves && !op_takes_half(node->op) && node->op != OP_CALL;
}

static bool function_calculates(const struct function *fn)
{
    for (const struct node *n = fn->first; n; n = n->next)
        if (calculates(n))
            return true;
    return false;
}

static struct value *cast(struct value *value, enum dtype dtype, const char *name,
                          struct node *before)
{
    const union attrs attrs = { .cast = { .dtype = dtype, .saturate = true } };

    return build(value->fn, OP_CAST, &attrs, name, before ? before->origin : NULL, before, 1,
                 &value);
}

/* A constant becomes one of floats, which --precision f16w stores as it came: what is left of it as
 * it was would count as quantised. */
static struct value *wide_constant(struct value *half)
{
    const int64_t n = type_elements(&half->type);
    struct type type = half->type;
    struct value *wide;
    float *data;

    type.dtype = DTYPE_F32;
    data = constant_alloc(half->fn, &type);
    for (int64_t i = 0; i < n; i++)
        data[i] = (float)dtype_load(half->type.dtype, half->data, i);
    wide = constant_new(half->fn, half->name, &type, data);
    value_take_name(wide, half);
    return wide;
}

static struct value *widened(struct value **of, struct value *half, struct node *reader)
{
    if (!of[half->id])
        of[half->id] = half->kind == VALUE_CONSTANT ? wide_constant(half)
                                                    : cast(half, DTYPE_F32, half->name, reader);
    return of[half->id];
}

static void widen_attributes(struct node *node)
{
    const struct attr_schema *schema = attrs_schema(op_row(node->op)->attrs);

    for (int i = 0; i < schema->n_fields; i++) {
        enum dtype *dtype = (enum dtype *)((char *)&node->attrs + schema->fields[i].offset);

        if (schema->fields[i].kind == ATTR_DTYPE && dtype_is_half(*dtype))
            *dtype = DTYPE_F32;
    }
}

/* Bits of half precision: x is rounded to them again, or is one of the few results that stay as they are. */
static bool keep_bits(struct ctx *ctx, struct node *node)
{
    const enum dtype from = node->attrs.reinterpret.from;

    if (node->inputs[0]->type.dtype != from)
        node_set_input(node, 0, cast(node->inputs[0], from, node->inputs[0]->name, node));
    return node_infer(ctx, node);
}

static bool widen(struct ctx *ctx, struct value **of, struct node *node)
{
    if (node->op == OP_REINTERPRET)
        return keep_bits(ctx, node);
    for (int i = 0; i < node->n_inputs; i++)
        if (is_half(node->inputs[i])) {
            struct value *wide = widened(of, node->inputs[i], node);

            if (!wide)
                return false;
            node_set_input(node, i, wide);
        }
    widen_attributes(node);
    return node_infer(ctx, node);
}

static bool narrow_result(struct function *fn, int result, enum dtype dtype)
{
    struct value *wide = fn->ret->inputs[result];
    struct value *half;

    if (wide->type.dtype == dtype) /* a parameter, a constant */
        return true;
    half = cast(wide, dtype, wide->name, NULL);
    if (!half)
        return false;
    value_take_name(half, wide);
    for (int i = result; i < fn->ret->n_inputs; i++)
        if (fn->ret->inputs[i] == wide)
            node_set_input(fn->ret, i, half);
    return true;
}

bool pass_widen_halves(struct module *module)
{
    struct function *fn = module->main;
    struct arena *scratch = &module->ctx->scratch;
    enum dtype *results;
    struct value **of;

    if (!function_calculates(fn))
        return true;
    function_number(fn);
    of = arena_array(scratch, struct value *, fn->n_values);
    results = arena_array(scratch, enum dtype, fn->ret->n_inputs);
    for (int i = 0; i < fn->ret->n_inputs; i++)
        results[i] = fn->ret->inputs[i]->type.dtype;
    for (struct node *n = fn->first, *next; n; n = next) {
        next = n->next;
        if (!widen(module->ctx, of, n))
            return false;
    }
    for (int i = 0; i < fn->ret->n_inputs; i++)
        if (!narrow_result(fn, i, results[i]))
            return false;
    return true;
}
