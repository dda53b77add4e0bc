#include "tests/support/op_case.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/interpret.h"

static void read_number(struct tensor *tensor, int64_t i, const char **text)
{
    char *end;

    if (dtype_is_float(tensor->type.dtype))
        dtype_store(tensor->type.dtype, tensor->data, i, strtod(*text, &end));
    else if (tensor->type.dtype == DTYPE_U64)
        dtype_store_int(tensor->type.dtype, tensor->data, i, (int64_t)strtoull(*text, &end, 0));
    else if (dtype_kind(tensor->type.dtype) == KIND_MINIFLOAT ||
             dtype_kind(tensor->type.dtype) == KIND_EXPONENT) /* by its code */
        ((uint8_t *)tensor->data)[i] = (uint8_t)strtoul(*text, &end, 0);
    else
        dtype_store_int(tensor->type.dtype, tensor->data, i, strtoll(*text, &end, 0));
    ck_assert_msg(end != *text, "no number at '%s'", *text);
    *text = end;
}

/* Reads one tensor from *text on, up to ';' or the end. */
static struct tensor read_tensor(struct bulk *bulk, const char **text)
{
    struct type type = { 0 };
    struct tensor tensor;
    char name[16];
    const char *numbers, *behind = NULL;
    int used = 0;

    ck_assert_msg(sscanf(*text, " %15[a-z0-9_] [%n", name, &used) == 1 && used, "no type at '%s'",
                  *text);
    *text += used;
    type.dtype = dtype_from_name(name);
    ck_assert_msg(type.dtype != DTYPE_NONE, "unknown type '%s'", name);
    while (**text != ']') {
        char *end;

        type.dim[type.rank++] = strtoll(*text, &end, 10);
        ck_assert_msg(end != *text, "no extent at '%s'", *text);
        *text = end + (*end == ',');
    }
    *text += 1 + strspn(*text + 1, " ");
    tensor = tensor_new(bulk, &type);
    numbers = *text;
    for (int64_t i = 0; i < type_elements(&type); i++) {
        *text += strspn(*text, " ");
        if (**text == ';' || !**text) {
            behind = *text;
            *text = numbers;
        }
        read_number(&tensor, i, text);
    }
    *text = behind ? behind : *text; /* all of them were read, whichever was the last */
    *text += strspn(*text, " ");
    ck_assert_msg(!**text || **text == ';', "too many numbers: '%s'", *text);
    return tensor;
}

struct tensor tensor_from_text(struct bulk *bulk, const char *text)
{
    return read_tensor(bulk, &text);
}

int tensors_from_text(struct bulk *bulk, const char *text, struct tensor *tensors)
{
    int n = 0;

    while (*text) {
        ck_assert_int_lt(n, OP_CASE_TENSORS);
        text += strspn(text, " ");
        if (*text == '_') {
            tensors[n++] = (struct tensor){ .data = NULL };
            text++;
        } else {
            tensors[n++] = read_tensor(bulk, &text);
        }
        text += *text == ';';
    }
    return n;
}

/* Zero points of narrow floats must be known, and tables of trees: one number of the former is a
 * constant, all else is a parameter. */
static struct value *operand(struct module *module, const struct tensor *input, bool is_table)
{
    const struct type *type = &input->type;
    void *data;

    if (!is_table && (type->rank > 0 || dtype_kind(type->dtype) != KIND_MINIFLOAT))
        return param_new(module->main, "x", type);
    data = constant_alloc(module->main, type);
    if (type_bytes(type))
        memcpy(data, input->data, type_bytes(type));
    return constant_new(module->main, "zero", type, data);
}

/* A node on operands of the given types, or NULL after an error. */
static struct node *make_node(struct ctx *ctx, struct module *module, const char *op,
                              const char *attrs_text, int n_inputs, const struct tensor *inputs,
                              int n_outputs)
{
    const enum op code = op_from_name(op);
    struct value *values[OP_CASE_TENSORS];
    union attrs attrs;
    const char *reason = "";

    ck_assert_msg(code != OP_COUNT, "no operator '%s'", op);
    ck_assert_msg(attrs_parse(&ctx->perm, op_row(code)->attrs, &attrs_text, &attrs, &reason),
                  "%s: %s", op, reason);
    for (int i = 0; i < n_inputs; i++)
        values[i] =
            inputs[i].data ? operand(module, &inputs[i], code == OP_TREE_ENSEMBLE && i > 0) : NULL;
    return node_new(module->main, &(struct node_args){ .op = code,
                                                       .n_inputs = n_inputs,
                                                       .inputs = values,
                                                       .n_outputs = n_outputs,
                                                       .attrs = &attrs });
}

static bool apply(struct ctx *ctx, struct bulk *bulk, const char *op, const char *attrs,
                  int n_inputs, const struct tensor *inputs, int n_outputs, struct tensor *outputs)
{
    struct module *module = module_new(ctx);
    struct node *node = make_node(ctx, module, op, attrs, n_inputs, inputs, n_outputs);
    const struct tensor *in[OP_CASE_TENSORS];
    bool ok = false;

    for (int i = 0; i < n_inputs; i++)
        in[i] = inputs[i].data ? &inputs[i] : NULL;
    if (node) {
        ck_assert_int_eq(node->n_outputs, n_outputs);
        ok = interpret_node(ctx, node, in, outputs, bulk);
    }
    module_free(module);
    ck_assert_int_eq(ok, ctx->diags.n_errors == 0);
    return ok;
}

void op_apply_all(struct ctx *ctx, struct bulk *bulk, const char *op, const char *attrs,
                  int n_inputs, const struct tensor *inputs, int n_outputs, struct tensor *outputs)
{
    ck_assert_msg(apply(ctx, bulk, op, attrs, n_inputs, inputs, n_outputs, outputs), "%s: %s", op,
                  ctx->diags.first ? ctx->diags.first->message : "");
}

struct tensor op_apply(struct ctx *ctx, struct bulk *bulk, const char *op, const char *attrs,
                       int n_inputs, const struct tensor *inputs)
{
    struct tensor output;

    op_apply_all(ctx, bulk, op, attrs, n_inputs, inputs, 1, &output);
    return output;
}

static void check_real(const char *what, enum dtype dtype, int64_t i, double got, double want)
{
    const double tolerance = dtype == DTYPE_F32 ? 2.5e-7 : dtype == DTYPE_F64 ? 4e-15 : 0;
    bool same = got == want && signbit(got) == signbit(want);

    if (isnan(want))
        same = isnan(got);
    else if (isfinite(want) && want != 0)
        same = fabs(got - want) <= tolerance * fabs(want);
    ck_assert_msg(same, "%s: element %lld is %.17g, expected %.17g", what, (long long)i, got, want);
}

static void check_tensor(struct ctx *ctx, const char *what, const struct tensor *got,
                         const struct tensor *want)
{
    ck_assert_msg(type_same_storage(&got->type, &want->type), "%s: type %s, expected %s", what,
                  type_text(&ctx->perm, &got->type), type_text(&ctx->perm, &want->type));
    if (dtype_kind(got->type.dtype) == KIND_MINIFLOAT) {
        ck_assert(tensor_equal(got, want));
        return;
    }
    for (int64_t i = 0; i < type_elements(&got->type); i++)
        if (dtype_is_float(got->type.dtype))
            check_real(what, got->type.dtype, i, tensor_at(got, i), tensor_at(want, i));
        else
            ck_assert_msg(tensor_int_at(got, i) == tensor_int_at(want, i),
                          "%s: element %lld is %lld, expected %lld", what, (long long)i,
                          (long long)tensor_int_at(got, i), (long long)tensor_int_at(want, i));
}

static int count_outputs(const char *want)
{
    int n = 1;

    for (; *want; want++)
        n += *want == ';';
    return n;
}

void op_case_check(const struct op_case *row)
{
    struct ctx *ctx = ctx_new(NULL);
    struct bulk bulk = { 0 };
    struct tensor inputs[OP_CASE_TENSORS], outputs[OP_CASE_TENSORS], want[OP_CASE_TENSORS];
    const int n_inputs = tensors_from_text(&bulk, row->inputs, inputs);
    const int n_outputs = count_outputs(row->want);
    const char *what = arena_printf(&ctx->perm, "%s%s of %s", row->op, row->attrs, row->inputs);
    const bool ok = apply(ctx, &bulk, row->op, row->attrs, n_inputs, inputs, n_outputs, outputs);

    if (row->error) {
        ck_assert_msg(!ok, "%s: works, expected the error '%s'", what, row->error);
        ck_assert_msg(strstr(ctx->diags.first->message, row->error), "%s: the message is '%s'",
                      what, ctx->diags.first->message);
    } else {
        ck_assert_msg(ok, "%s: %s", what, ok ? "" : ctx->diags.first->message);
        tensors_from_text(&bulk, row->want, want);
        for (int i = 0; i < n_outputs; i++)
            check_tensor(ctx, what, &outputs[i], &want[i]);
    }
    bulk_release(&bulk);
    ctx_free(ctx);
}
