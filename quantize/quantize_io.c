/* quantize_io.c - see quantize_io.h. */
#include "quantize/quantize_io.h"

#include "relay_ir/passes/rewrite.h"

/* Operators that put numbers elsewhere, whatever they are. */
static bool is_move(const struct node *node)
{
    switch (node->op) {
    case OP_COPY:
    case OP_DEPTH_TO_SPACE:
    case OP_EXPAND_DIMS:
    case OP_RESHAPE:
    case OP_SPACE_TO_DEPTH:
    case OP_SQUEEZE:
    case OP_STRIDED_SLICE:
    case OP_TRANSPOSE: return true;
    default: return false;
    }
}

static bool is_one_number(const struct value *value)
{
    return value->kind == VALUE_CONSTANT && type_elements(&value->type) == 1;
}

/* f32 to quantised values with one scale and zero point, or to narrow floats as they are. */
static bool makes_quantized(const struct node *node)
{
    if (node->op == OP_CAST)
        return node->inputs[0]->type.dtype == DTYPE_F32 && dtype_minifloat(node->attrs.cast.dtype);
    return node->op == OP_QNN_QUANTIZE && is_one_number(node->inputs[1]) &&
           is_one_number(node->inputs[2]);
}

static bool is_same_number(const struct value *a, const struct value *b)
{
    double x, y;

    return a == b || (value_uniform(a, &x) && value_uniform(b, &y) && x == y &&
                      a->type.dtype == b->type.dtype);
}

static bool makes_same(const struct node *a, const struct node *b)
{
    if (a->op != b->op)
        return false;
    if (a->op == OP_CAST)
        return a->attrs.cast.dtype == b->attrs.cast.dtype &&
               a->attrs.cast.saturate == b->attrs.cast.saturate;
    return a->attrs.quantize.saturate == b->attrs.quantize.saturate &&
           is_same_number(a->inputs[1], b->inputs[1]) && is_same_number(a->inputs[2], b->inputs[2]);
}

/* --- parameters ------------------------------------------------------------------------------- */

/* What becomes of a parameter: `moves` of it, then quantised values. */
struct fate {
    struct arena *arena;
    int n_moves, n_makers;
    struct node **moves, **makers; /* moves in the order of the graph */
};

static void add(struct fate *fate, struct node ***list, int *n, struct node *node)
{
    struct node **more;

    if (*n % 16 == 0) {
        more = arena_array(fate->arena, struct node *, *n + 16);
        for (int i = 0; i < *n; i++)
            more[i] = (*list)[i];
        *list = more;
    }
    (*list)[(*n)++] = node;
}

/* Whether all that becomes of the value is quantised values, made in one way. */
static bool only_quantized(struct fate *fate, const struct value *value)
{
    for (const struct use *use = value->uses; use; use = use->next) {
        struct node *node = use->node;

        if (is_move(node)) {
            add(fate, &fate->moves, &fate->n_moves, node);
            if (!only_quantized(fate, node->outputs[0]))
                return false;
            continue;
        }
        if (!makes_quantized(node) || use->input != 0 ||
            (fate->n_makers && !makes_same(fate->makers[0], node)))
            return false;
        add(fate, &fate->makers, &fate->n_makers, node);
    }
    return value->uses != NULL;
}

/* False after an error; *left counts those that stay floats. */
static bool convert_parameter(struct ctx *ctx, struct value *param, int *left)
{
    struct fate fate = { .arena = &ctx->scratch };

    if (!only_quantized(&fate, param)) {
        ++*left;
        return true;
    }
    param->type.dtype = fate.makers[0]->outputs[0]->type.dtype;
    param->type.quant = fate.makers[0]->outputs[0]->type.quant;
    for (int i = 0; i < fate.n_moves; i++)
        if (!node_infer(ctx, fate.moves[i]))
            return false;
    for (int i = 0; i < fate.n_makers; i++) {
        value_replace(fate.makers[i]->outputs[0], fate.makers[i]->inputs[0]);
        node_remove(fate.makers[i]);
    }
    return true;
}

/* --- results ---------------------------------------------------------------------------------- */

static bool reads_quantized(const struct node *node)
{
    if (node->op == OP_CAST)
        return node->attrs.cast.dtype == DTYPE_F32 && dtype_minifloat(node->inputs[0]->type.dtype);
    return node->op == OP_QNN_DEQUANTIZE && is_one_number(node->inputs[1]) &&
           is_one_number(node->inputs[2]);
}

/* The quantised values under a type that says what they mean. Where inference could not find that
 * out (the greater of two numbers, say), a requantize by 1 says it. */
static struct value *with_meaning(struct function *fn, struct value *quantized,
                                  const struct node *dequantize)
{
    const union attrs cast = { .cast = { .dtype = DTYPE_I32, .saturate = true } };
    const union attrs attrs = { .requantize = { .rounding = "double" } };
    const struct type type = type_scalar(DTYPE_I32);
    int32_t *zero;
    struct value *wide, *in_zero;

    if (dequantize->op == OP_CAST || quantized->type.quant ||
        !dtype_is_integer(quantized->type.dtype) || dtype_bytes(quantized->type.dtype) > 2)
        return quantized;
    zero = constant_alloc(fn, &type);
    *zero = (int32_t)tensor_int_at(&(struct tensor){ .type = dequantize->inputs[2]->type,
                                                     .data = (void *)dequantize->inputs[2]->data },
                                   0);
    in_zero = constant_new(
        fn, arena_printf(&fn->module->ctx->scratch, "%s.in_zero", quantized->name), &type, zero);
    wide = build(fn, OP_CAST, &cast, "wide", dequantize->origin, NULL, 1, &quantized);
    return wide ? build(fn, OP_QNN_REQUANTIZE, &attrs, quantized->name, dequantize->origin, NULL, 5,
                        (struct value *[]){ wide, dequantize->inputs[1], in_zero,
                                            dequantize->inputs[1], dequantize->inputs[2] })
                : NULL;
}

static bool drop_dequantizer(struct function *fn, int i)
{
    struct node *node = fn->ret->inputs[i]->def;
    struct value *quantized = with_meaning(fn, node->inputs[0], node);

    if (!quantized)
        return false;
    node_set_input(fn->ret, i, quantized);
    if (!node->outputs[0]->uses && quantized->kind == VALUE_OUTPUT)
        value_take_name(quantized, node->outputs[0]);
    remove_dead(node);
    return true;
}

int quantize_io(struct module *module)
{
    struct function *fn = module->main;
    int left = 0;

    for (int i = 0; i < fn->n_params; i++)
        if (fn->params[i]->type.dtype == DTYPE_F32 &&
            !convert_parameter(module->ctx, fn->params[i], &left))
            return -1;
    for (int i = 0; i < fn->ret->n_inputs; i++) {
        const struct value *result = fn->ret->inputs[i];

        if (result->type.dtype != DTYPE_F32)
            continue;
        if (!result->def || !reads_quantized(result->def))
            left++;
        else if (!drop_dequantizer(fn, i))
            return -1;
    }
    return left;
}
