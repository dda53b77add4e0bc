#include "relay_ir/ops/check.h"

#include <string.h>

#include "base/str.h"

const struct type *input_type(const struct node *node, int input)
{
    return &node->inputs[input]->type;
}

/* Of an operator with AFP for a result, which it has from an input. */
static const struct qtype *codec_of_inputs(const struct node *node)
{
    struct qtype *plain;

    for (int i = 0; i < node->n_inputs; i++) {
        const struct type *type = node->inputs[i] ? &node->inputs[i]->type : NULL;

        if (!type || type->dtype != DTYPE_AFP || !type->quant)
            continue;
        if (type->quant->kind == QTYPE_PLAIN)
            return type->quant;
        plain = arena_new(&node->fn->module->arena, struct qtype);
        *plain = (struct qtype){ .axis = -1, .format = type->quant->format };
        return plain;
    }
    return NULL;
}

void set_output(struct node *node, int output, enum dtype dtype, const struct type *shape)
{
    struct type *type = &node->outputs[output]->type;
    const struct qtype *calibration =
        type->quant && type->quant->kind == QTYPE_CALIBRATED && type->dtype == dtype ? type->quant
                                                                                     : NULL;

    *type = type_make(dtype, shape->rank, shape->dim);
    type->quant = dtype == DTYPE_AFP ? codec_of_inputs(node) : calibration;
}

static const char *kinds_text(unsigned kinds)
{
    static const struct {
        unsigned kinds;
        const char *text;
    } rows[] = {
        { KINDS_FLOAT, "a floating-point type" },
        { KINDS_INT, "a signed integer type" },
        { KINDS_INTEGER, "an integer type" },
        { KINDS_BOOL, "bool" },
        { KINDS_SIGNED, "a floating-point or signed integer type" },
        { KINDS_NUMBER, "a floating-point or integer type" },
        { KINDS_PLAIN, "a floating-point or integer type or bool" },
        { 1 << KIND_MINIFLOAT, "FP8, as the other input is" },
        { KINDS_ANY, "a floating-point (FP8 too) or integer type or bool" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kinds == kinds)
            return rows[i].text;
    return "another type";
}

/* "f32"; of AFP with its codec. */
static const char *element_name(const struct type *type)
{
    const struct minifloat *codec = type_minifloat(type);

    return codec ? codec->name : dtype_name(type->dtype);
}

bool check_kinds(struct ctx *ctx, const struct node *node, int input, unsigned kinds)
{
    const enum dtype dtype = input_type(node, input)->dtype;

    if (1u << dtype_kind(dtype) & kinds)
        return true;
    return diag_error(ctx, DIAG_TYPE, node_origin(node), "input %d of %s is %s, expected %s", input,
                      op_name(node->op), dtype_name(dtype), kinds_text(kinds));
}

bool check_index_type(struct ctx *ctx, const struct node *node, int input)
{
    const enum dtype dtype = input_type(node, input)->dtype;

    if (dtype == DTYPE_I32 || dtype == DTYPE_I64)
        return true;
    return diag_error(ctx, DIAG_TYPE, node_origin(node),
                      "input %d of %s is %s, expected i32 or i64", input, op_name(node->op),
                      dtype_name(dtype));
}

bool check_same_dtype(struct ctx *ctx, const struct node *node, int a, int b)
{
    const struct type *first = input_type(node, a), *second = input_type(node, b);

    if (first->dtype == second->dtype && strcmp(element_name(first), element_name(second)) == 0)
        return true;
    diag_error(ctx, DIAG_TYPE, node_origin(node),
               "inputs %d and %d of %s are %s and %s, expected one type for both", a, b,
               op_name(node->op), element_name(first), element_name(second));
    diag_help(ctx, "export the model with a Cast before this node");
    return false;
}

/* f32, and weights stored as something smaller. */
static bool has_small_weights(const struct node *node)
{
    const enum dtype weights = input_type(node, 1)->dtype;

    return input_type(node, 0)->dtype == DTYPE_F32 &&
           (weights == DTYPE_F16 || weights == DTYPE_BF16 || weights == DTYPE_I8 ||
            weights == DTYPE_I4 || dtype_kind(weights) == KIND_MINIFLOAT);
}

static bool check_small_product(struct ctx *ctx, const struct node *node, enum dtype out_dtype)
{
    if (has_small_weights(node)) {
        if (out_dtype == DTYPE_F32)
            return true;
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "%s of f32 with weights of %s has %s%s, expected f32", op_name(node->op),
                          element_name(input_type(node, 1)),
                          out_dtype == DTYPE_NONE ? "no out_dtype" : "the out_dtype ",
                          out_dtype == DTYPE_NONE ? "" : dtype_name(out_dtype));
    }
    if (!check_kinds(ctx, node, 0, 1 << KIND_MINIFLOAT) ||
        !check_kinds(ctx, node, 1, 1 << KIND_MINIFLOAT))
        return false;
    if (out_dtype == DTYPE_F32 || out_dtype == DTYPE_F16 || out_dtype == DTYPE_BF16)
        return true;
    return diag_error(ctx, DIAG_TYPE, node_origin(node),
                      "%s of FP8 inputs has %s%s, expected f32, f16 or bf16", op_name(node->op),
                      out_dtype == DTYPE_NONE ? "no out_dtype" : "the out_dtype ",
                      out_dtype == DTYPE_NONE ? "" : dtype_name(out_dtype));
}

bool check_product_types(struct ctx *ctx, const struct node *node, unsigned kinds,
                         enum dtype *out_dtype, enum dtype *y)
{
    *y = *out_dtype;
    if (dtype_kind(input_type(node, 0)->dtype) == KIND_MINIFLOAT ||
        (*out_dtype == DTYPE_F32 && has_small_weights(node)) ||
        dtype_kind(input_type(node, 1)->dtype) == KIND_MINIFLOAT)
        return check_small_product(ctx, node, *out_dtype);
    if (!check_kinds(ctx, node, 0, kinds) || !check_same_dtype(ctx, node, 0, 1))
        return false;
    *y = input_type(node, 0)->dtype;
    if (*out_dtype != DTYPE_NONE && *out_dtype != *y)
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "the inputs of %s are %s and its out_dtype is %s, expected %s for both",
                          op_name(node->op), dtype_name(*y), dtype_name(*out_dtype),
                          dtype_name(*y));
    *out_dtype = DTYPE_NONE;
    return true;
}

bool check_rank(struct ctx *ctx, const struct node *node, int input, int least, int most)
{
    const struct type *type = input_type(node, input);

    if (type->rank >= least && type->rank <= most)
        return true;
    return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                      "input %d of %s has shape %s, expected rank %d%s", input, op_name(node->op),
                      shape_text(&ctx->perm, type), least,
                      most == least      ? ""
                      : most == MAX_RANK ? " or more"
                                         : arena_printf(&ctx->perm, " to %d", most));
}

bool check_result_rank(struct ctx *ctx, const struct node *node, int64_t rank)
{
    if (rank <= MAX_RANK)
        return true;
    return diag_error(ctx, DIAG_TOO_BIG, node_origin(node),
                      "the result of %s has rank %lld, relayc takes at most %d", op_name(node->op),
                      (long long)rank, MAX_RANK);
}

bool check_axis(struct ctx *ctx, const struct node *node, const struct type *type, int64_t *axis)
{
    const int found = type_axis(type, *axis);

    if (found < 0)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: axis %lld is out of range for shape %s", op_name(node->op),
                          (long long)*axis, shape_text(&ctx->perm, type));
    *axis = found;
    return true;
}

bool check_axes(struct ctx *ctx, const struct node *node, int rank, struct ints *axes)
{
    for (int i = 0; i < axes->n; i++) {
        if (axes->at[i] < -rank || axes->at[i] >= rank)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: axis %lld is out of range for rank %d", op_name(node->op),
                              (long long)axes->at[i], rank);
        axes->at[i] += axes->at[i] < 0 ? rank : 0;
        for (int j = 0; j < i; j++)
            if (axes->at[j] == axes->at[i])
                return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                                  "%s: axis %lld is given twice", op_name(node->op),
                                  (long long)axes->at[i]);
    }
    return true;
}

bool check_per_dim(struct ctx *ctx, const struct node *node, const struct type *type,
                   const char *what, const struct ints *ints)
{
    if (ints->n == type->rank)
        return true;
    return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                      "%s: %s has %d entries, expected one per dimension of shape %s",
                      op_name(node->op), what, ints->n, shape_text(&ctx->perm, type));
}

bool check_word(struct ctx *ctx, const struct node *node, const char *what, const char **word,
                const char *const *allowed, int n_allowed)
{
    struct str list = { .arena = &ctx->perm };

    if (!**word)
        *word = allowed[0];
    for (int i = 0; i < n_allowed; i++) {
        if (strcmp(*word, allowed[i]) == 0)
            return true;
        str_printf(&list, "%s\"%s\"", i ? ", " : "", allowed[i]);
    }
    return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                      "%s: %s is \"%s\", expected one of %s", op_name(node->op), what,
                      str_safe(&ctx->perm, *word, 40), str_text(&list));
}
