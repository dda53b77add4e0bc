/* open_length.c - results whose length depends on the data: Compress, NonZero, Unique. Where the file declares the
 * length it is checked. Else the result has room for as many elements as there can be, and the network gets a result
 * of its own that says how many there are: it may be an output of the network, or what moves it, but no operand, as
 * operators compute with tensors of a known shape. */
#include "base/str.h"
#include "frontend/onnx/convert_helpers.h"
#include "frontend/onnx/importer.h"

struct open_length {
    struct value *value, *count;
    const char *name; /* of the result */
    const struct origin *origin;
    struct open_length *next;
};

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

bool onnx_output_open(struct onnx_node *node, int i, struct value *value, struct value *count)
{
    struct open_length *open = arena_new(&node->import->arena, struct open_length);

    if (!value || !count)
        return false;
    if (!wants_output(node, i))
        return onnx_output(node, i, value);
    *open = (struct open_length){ value, count,
                                  arena_printf(&node->ctx->perm, "%s.count", node->output_names[i]),
                                  node->origin, node->import->open_lengths };
    node->import->open_lengths = open;
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

/* Whether the node keeps the elements that there are in front of the others, along the same axis. */
static bool only_moves(const struct node *node)
{
    const struct type *x = node->n_inputs ? &node->inputs[0]->type : NULL;
    bool is_list = true;

    for (int d = 0; x && d < x->rank; d++)
        is_list = is_list && (x->dim[d] == 1 || x->dim[d] == type_elements(x));
    return node->op == OP_TRANSPOSE || node->op == OP_CAST || node->op == OP_COPY ||
           (is_list && node->op == OP_RESHAPE);
}

/* The first node of another origin that computes with the value, directly or moved; NULL = none. */
static const struct node *reader_of(const struct value *value, const struct origin *origin)
{
    const struct node *found = NULL;

    for (const struct use *use = value->uses; use && !found; use = use->next) {
        const struct node *node = use->node;

        if (only_moves(node))
            found = reader_of(node->outputs[0], origin);
        else if (node != node->fn->ret && node->origin != origin)
            found = node;
    }
    return found;
}

/* The value, or it moved. */
static bool is_result_somewhere(const struct value *value)
{
    bool found = false;

    for (const struct use *use = value->uses; use && !found; use = use->next)
        found = use->node == use->node->fn->ret ||
                (use->node->n_outputs && is_result_somewhere(use->node->outputs[0]));
    return found;
}

static bool is_result(const struct function *main, const struct value *value)
{
    for (int i = 0; i < main->ret->n_inputs; i++)
        if (main->ret->inputs[i] == value)
            return true;
    return false;
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
    for (const struct open_length *open = in_order; open; open = open->next) {
        const struct node *reader = reader_of(open->value, open->origin);

        if (reader) {
            diag_error(
                im->ctx, DIAG_UNSUPPORTED_DYNAMIC, open->origin,
                "how many elements the result has is known at run time only, and %s reads it",
                str_safe(&im->ctx->perm, node_origin(reader)->op_type, 60));
            diag_help(
                im->ctx,
                "declare the shape of the result in the file, in numbers, which is checked at "
                "run time then; or end the network there (--cut)");
        } else if (is_result_somewhere(open->value) && !is_result(main, open->count)) {
            diag_warn(im->ctx, DIAG_SHAPE, open->origin,
                      "\"%s\" says how many elements there are: the result has room for as many as "
                      "there can be, %s",
                      str_safe(&im->ctx->perm, open->name, 120),
                      shape_text(&im->ctx->perm, &open->value->type));
            result_add(main, open->count, open->name);
        }
    }
}
