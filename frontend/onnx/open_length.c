/* open_length.c - open axes (open.h): which values have them, which lengths the network's results tell, and what nodes
 * without a rule are told. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/open.h"

/* What is open of a value. */
struct open_value {
    const struct value *value;
    struct open_axes axes;
    struct open_value *next;
};

static const struct rule {
    const char *op_type;
    open_rule *rule;
} rules[] = {
#define OPEN(name, rule) { name, rule },
#include "frontend/onnx/open.def"
#undef OPEN
};

/* --- values ----------------------------------------------------------------------------------- */

struct open_axes open_of(const struct import *im, const struct value *value)
{
    for (const struct open_value *open = im->open_values; open && value; open = open->next)
        if (open->value == value)
            return open->axes;
    return (struct open_axes){ { NULL } };
}

static bool any_open(const struct open_axes *axes)
{
    for (int d = 0; d < MAX_RANK; d++)
        if (axes->at[d])
            return true;
    return false;
}

bool is_open(const struct import *im, const struct value *value)
{
    const struct open_axes axes = open_of(im, value);

    return any_open(&axes);
}

void open_set(struct import *im, struct value *value, const struct open_axes *axes)
{
    struct open_value *open;

    if (!value || !any_open(axes))
        return;
    open = arena_new(&im->arena, struct open_value);
    *open = (struct open_value){ value, *axes, im->open_values };
    im->open_values = open;
}

/* --- lengths ---------------------------------------------------------------------------------- */

static bool is_taken(const struct import *im, const char *name)
{
    for (const struct open_length *open = im->open_lengths; open; open = open->next)
        if (strcmp(open->name, name) == 0)
            return true;
    return false;
}

struct open_length *open_new(struct onnx_node *node, struct value *count, int64_t most)
{
    struct open_length *open = arena_new(&node->import->arena, struct open_length);
    const char *name = arena_printf(&node->ctx->perm, "%s.count", output_stem(node));

    if (!count)
        return NULL;
    for (int n = 2; is_taken(node->import, name); n++)
        name = arena_printf(&node->ctx->perm, "%s.count_%d", output_stem(node), n);
    *open = (struct open_length){ .count = count,
                                  .most = most,
                                  .name = name,
                                  .origin = node->origin,
                                  .next = node->import->open_lengths };
    return node->import->open_lengths = open;
}

struct open_length *open_times(struct onnx_node *node, struct open_length *length, int64_t factor)
{
    struct open_length *open;

    if (factor == 1)
        return length;
    open = open_new(node, apply2(node, OP_MULTIPLY, "count", length->count, open_int(node, factor)),
                    length->most * factor);
    if (open) {
        open->of = length;
        open->factor = factor;
    }
    return open;
}

struct open_length *open_of_count(const struct import *im, const struct value *count)
{
    for (struct open_length *open = im->open_lengths; open; open = open->next)
        if (open->count == count || open->bounded == count)
            return open;
    return NULL;
}

struct value *open_count(struct onnx_node *node, struct open_length *length)
{
    if (!length->bounded)
        length->bounded =
            apply2(node, OP_MINIMUM, "length", length->count, open_int(node, length->most));
    return length->bounded;
}

/* --- what converters ask ---------------------------------------------------------------------- */

struct value *onnx_if_count(struct onnx_node *node, struct value *value, struct value *count,
                            int64_t n)
{
    const union attrs each = { .expect = { .mode = "each" } };
    const struct tensor allowed = { type_make(DTYPE_I64, 2, (const int64_t[]){ 1, 1 }), &n };
    struct value *inputs[] = { value, count, NULL };

    if (value && count)
        inputs[2] = onnx_from_tensor(node, &allowed, "allowed");
    return inputs[2] ? onnx_build(node, OP_EXPECT, &each, "checked", 3, inputs) : NULL;
}

struct value *open_expect(struct onnx_node *node, struct value *x, struct value *truth)
{
    const struct ints one = { 1, { 1 } };
    struct value *number = truth ? cast_to(node, truth, DTYPE_I64, "as_expected") : NULL;

    return number ? onnx_if_count(node, x, reshape_to(node, number, &one, "as_expected"), 1) : NULL;
}

bool onnx_output_open(struct onnx_node *node, int i, int axis, struct value *value,
                      struct value *count)
{
    struct open_axes axes = { { NULL } };

    if (!value || !count)
        return false;
    if (wants_output(node, i)) {
        axes.at[axis] = open_of_count(node->import, count);
        if (!axes.at[axis])
            axes.at[axis] = open_new(node, count, value->type.dim[axis]);
        open_set(node->import, value, &axes);
    }
    return onnx_output(node, i, value);
}

bool onnx_is_number(struct onnx_node *node, const struct value *value, int64_t *number)
{
    struct tensor known;

    if (!import_known(node->import, value, &known) || type_elements(&known.type) != 1)
        return false;
    *number = tensor_int_at(&known, 0);
    return true;
}

/* --- nodes that read open values -------------------------------------------------------------- */

static bool refuse(struct import *im, const struct open_length *length, const char *op_type)
{
    diag_error(im->ctx, DIAG_UNSUPPORTED_DYNAMIC, length->origin,
               "how many elements the result has is known at run time only, and %s reads it",
               str_safe(&im->ctx->perm, op_type, 60));
    diag_help(im->ctx,
              "declare the shape of the result in the file, in numbers, which is checked at "
              "run time then; or end the network there (--cut)");
    return false;
}

static const struct open_length *first_open(const struct import *im, int n,
                                            struct value *const *values)
{
    for (int i = 0; i < n; i++) {
        const struct open_axes axes = open_of(im, values[i]);

        for (int d = 0; d < MAX_RANK; d++)
            if (axes.at[d])
                return axes.at[d];
    }
    return NULL;
}

bool open_refuse(struct onnx_node *node, const struct open_length *length)
{
    if (!length)
        length = first_open(node->import, node->n_inputs, node->inputs);
    return length ? refuse(node->import, length, node->op_type)
                  : onnx_unsupported(node, "this form of an operator on a value of which run time "
                                           "says how long it is");
}

bool import_reads_open(struct import *im, const struct scope *scope, const Onnx__NodeProto *proto)
{
    const struct open_length *length = NULL;

    for (size_t i = 0; i < proto->n_input && !length && im->open_values; i++) {
        struct value *value = *proto->input[i] ? scope_find(scope, proto->input[i]) : NULL;

        length = first_open(im, 1, &value);
    }
    return length && !refuse(im, length, proto->op_type);
}

bool import_take_open(struct onnx_node *node, onnx_converter *convert, const char *domain,
                      bool *done)
{
    struct import *im = node->import;
    const struct open_length *length =
        im->open_values ? first_open(im, node->n_inputs, node->inputs) : NULL;
    struct open_use use = { .convert = convert };

    *done = false;
    if (!length)
        return true;
    if (!onnx_input(node, 0))
        return diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin, "input 0 is missing");
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !*domain && !im->depth; i++) {
        if (strcmp(rules[i].op_type, node->op_type) != 0)
            continue;
        if (!rules[i].rule(node, &use))
            return false;
        if (!use.done && !convert(node))
            return false;
        for (int k = 0; k < node->n_outputs && !use.done; k++)
            open_set(im, node->outputs[k], &use.out);
        *done = true;
        return true;
    }
    return refuse(im, length, node->op_type);
}

/* Where the file says how long an axis of the result is, it is not open: that it is so is checked. */
static bool close_axes(struct onnx_node *node, int i, const struct type *declared)
{
    struct open_axes axes = open_of(node->import, node->outputs[i]);
    struct value *y = node->outputs[i];

    for (int d = 0; d < declared->rank && y; d++) {
        const int64_t room = y->type.dim[d], n = declared->dim[d];

        if (!axes.at[d] || n < 1)
            continue;
        if (n > room)
            return onnx_unsupported(node, "the file declares %lld elements, of %lld", (long long)n,
                                    (long long)room);
        y = open_expect(
            node, slice_to(node, y, d, 0, n, "declared"),
            apply2(node, OP_EQUAL, "is_declared", axes.at[d]->count, open_int(node, n)));
        axes.at[d] = NULL;
    }
    node->outputs[i] = y;
    open_set(node->import, y, &axes);
    return y != NULL;
}

bool import_close_declared(struct onnx_node *node)
{
    struct type declared;

    for (int i = 0; i < node->n_outputs && node->import->open_values; i++)
        if (node->outputs[i] && is_open(node->import, node->outputs[i]) &&
            onnx_declared(node, i, &declared) && declared.rank == node->outputs[i]->type.rank &&
            !close_axes(node, i, &declared))
            return false;
    return true;
}

/* --- results ---------------------------------------------------------------------------------- */

static bool is_result(const struct function *main, const struct value *value)
{
    for (int i = 0; i < main->ret->n_inputs; i++)
        if (main->ret->inputs[i] == value)
            return true;
    return false;
}

/* A result with an axis of this length; NULL = none. */
static const struct value *result_of(const struct import *im, const struct open_length *length)
{
    const struct function *main = im->module->main;

    for (int i = 0; i < main->ret->n_inputs; i++) {
        const struct open_axes axes = open_of(im, main->ret->inputs[i]);

        for (int d = 0; d < MAX_RANK; d++)
            if (axes.at[d] == length)
                return main->ret->inputs[i];
    }
    return NULL;
}

void import_lengths(struct import *im)
{
    struct function *main = im->module->main;
    struct open_length *in_order = NULL;

    for (struct open_length *open = im->open_lengths, *next; open; open = next) {
        next = open->next;
        open->next = in_order;
        in_order = open;
    }
    im->open_lengths = in_order;
    for (const struct open_length *open = in_order; open; open = open->next) {
        const struct value *result = result_of(im, open);

        if (!result || is_result(main, open->count))
            continue;
        diag_warn(im->ctx, DIAG_SHAPE, open->origin,
                  "\"%s\" says how many elements there are: the result has room for as many as "
                  "there can be, %s",
                  str_safe(&im->ctx->perm, open->name, 120),
                  shape_text(&im->ctx->perm, &result->type));
        result_add(main, open->count, open->name);
    }
}
