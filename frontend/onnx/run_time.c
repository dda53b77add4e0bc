/* run_time.c - operands that are numbers and known at run time only (run_time.def). The file declares
 * the shape of the result, which says what the numbers must be: the operator is converted for these,
 * and `expect` checks at run time that they are. Where several axes give the same shape, it is
 * converted for each, and `if` chooses. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/assume.h"
#include "frontend/onnx/convert_helpers.h"
#include "frontend/onnx/importer.h"

enum {
    NONE = -1,
    MOST_STEPS = 200 /* tensors that are looked at for a declared shape */
};

static const struct row {
    const char *op_type;
    int input, x;
    assume *solve;
} rows[] = {
#define RUN_TIME(name, input, x, solver) { name, input, x, solver },
#include "frontend/onnx/run_time.def"
#undef RUN_TIME
};

const Onnx__TypeProto__Tensor *import_declared(const struct import *im, const char *name)
{
    const Onnx__GraphProto *graph = im->model->graph;

    for (size_t i = 0; i < graph->n_value_info + graph->n_output; i++) {
        const Onnx__ValueInfoProto *info =
            i < graph->n_value_info ? graph->value_info[i] : graph->output[i - graph->n_value_info];

        if (strcmp(info->name, name) == 0)
            return info->type ? info->type->tensor_type : NULL;
    }
    return NULL;
}

static const Onnx__TypeProto__Tensor *declared_input(const struct import *im, const char *name)
{
    for (size_t i = 0; i < im->model->graph->n_input; i++)
        if (strcmp(im->model->graph->input[i]->name, name) == 0 && im->model->graph->input[i]->type)
            return im->model->graph->input[i]->type->tensor_type;
    return NULL;
}

static const Onnx__NodeProto *maker_of(const struct import *im, const char *name)
{
    for (size_t i = 0; i < im->model->graph->n_node; i++)
        for (size_t k = 0; k < im->model->graph->node[i]->n_output; k++)
            if (strcmp(im->model->graph->node[i]->output[k], name) == 0)
                return im->model->graph->node[i];
    return NULL;
}

/* A constant of one element. */
static bool is_one_number(const struct import *im, const char *name, const Onnx__NodeProto *maker)
{
    const Onnx__AttributeProto *value = maker ? attribute_find(maker, "value") : NULL;
    const Onnx__TensorProto *tensor = value ? value->t : NULL;
    int64_t n = 1;

    for (size_t i = 0; i < im->model->graph->n_initializer && !maker; i++)
        if (strcmp(im->model->graph->initializer[i]->name, name) == 0)
            tensor = im->model->graph->initializer[i];
    for (size_t d = 0; tensor && d < tensor->n_dims; d++)
        n *= tensor->dims[d] == 1;
    return tensor ? n == 1
                  : maker && (attribute_find(maker, "value_float") ||
                              attribute_find(maker, "value_int"));
}

/* It computes element by element. */
static bool keeps_shape(const Onnx__NodeProto *node)
{
    static const char *const keep[] = { "Abs",  "Add",        "Cast",     "CastLike", "Cos",
                                        "Div",  "Exp",        "Identity", "Log",      "Mul",
                                        "Neg",  "Pow",        "Relu",     "Sigmoid",  "Sin",
                                        "Sqrt", "Reciprocal", "Sub",      "Tanh" };

    for (size_t k = 0; k < sizeof keep / sizeof *keep; k++)
        if (strcmp(node->op_type, keep[k]) == 0)
            return node->n_output == 1 && !*domain_canonical(node->domain);
    return false;
}

/* Whether the tensor is the origin, one number, or computed element by element from such. Each tensor costs one of the
 * steps that are left. */
static bool is_like(const struct import *im, const char *name, const char *origin, int *steps)
{
    const Onnx__TypeProto__Tensor *declared = declared_input(im, name);
    const Onnx__NodeProto *maker;
    bool all = true;

    if (strcmp(name, origin) == 0)
        return true;
    if (--*steps < 0)
        return false;
    if (declared)
        return declared->shape && declared->shape->n_dim == 0;
    maker = maker_of(im, name);
    if (!maker || strcmp(maker->op_type, "Constant") == 0)
        return is_one_number(im, name, maker);
    for (size_t i = 0; i < maker->n_input && all; i++)
        all = is_like(im, maker->input[i], origin, steps);
    return all && keeps_shape(maker);
}

/* The result of a node that keeps the shape of this tensor, which is the origin's; NULL = there is none. */
static const char *of_one_shape(const struct import *im, const char *name, const char *origin,
                                int *steps)
{
    for (size_t i = 0; i<im->model->graph->n_node && * steps> 0; i++) {
        const Onnx__NodeProto *node = im->model->graph->node[i];
        bool reads = false, all = true;

        for (size_t k = 0; k < node->n_input; k++)
            reads = reads || strcmp(node->input[k], name) == 0;
        if (!reads || !keeps_shape(node))
            continue;
        for (size_t k = 0; k < node->n_input && all && strcmp(node->op_type, "CastLike") != 0; k++)
            all = is_like(im, node->input[k], origin, steps);
        if (all && (strcmp(node->op_type, "CastLike") != 0 || strcmp(node->input[0], name) == 0))
            return node->output[0];
    }
    return NULL;
}

/* What the file declares of the tensor, or of one that has its shape. */
const Onnx__TypeProto__Tensor *import_declared_shape(const struct import *im, const char *name)
{
    const Onnx__TypeProto__Tensor *tensor = NULL;
    const char *origin = name;
    int steps = MOST_STEPS;

    while (name && !tensor && steps-- > 0) {
        tensor = import_declared(im, name);
        tensor = tensor && tensor->shape ? tensor : NULL;
        name = tensor ? NULL : of_one_shape(im, name, origin, &steps);
    }
    return tensor;
}

/* In numbers; without an error. Inside of functions and branches a name may be another tensor's. */
static bool declared_shape(const struct onnx_node *node, int i, struct type *type)
{
    const Onnx__TypeProto__Tensor *tensor =
        node->import->depth ? NULL : import_declared_shape(node->import, node->output_names[i]);

    *type = (struct type){ .dtype = DTYPE_NONE };
    if (!tensor || tensor->shape->n_dim > MAX_RANK)
        return false;
    for (size_t d = 0; d < tensor->shape->n_dim; d++) {
        const Onnx__TensorShapeProto__Dimension *dim = tensor->shape->dim[d];
        const struct shape_binding *bound =
            *dim->dim_param ? import_binding(node->import->options, dim->dim_param) : NULL;

        if (!dim->has_dim_value ? !bound || bound->rank != 1 : dim->dim_value < 0)
            return false;
        type->dim[type->rank++] = dim->has_dim_value ? dim->dim_value : bound->dim[0];
    }
    return true;
}

bool onnx_is_known(struct onnx_node *node, int i)
{
    struct tensor tensor;

    return !onnx_input(node, i) || import_known(node->import, node->inputs[i], &tensor);
}

bool onnx_declared(struct onnx_node *node, int i, struct type *type)
{
    return i < node->n_outputs && *node->output_names[i] && declared_shape(node, i, type);
}

struct value *onnx_numbers(struct onnx_node *node, int i, const char *suffix)
{
    struct value *value = onnx_input(node, i);
    struct ints flat = { 1, { 0 } };

    flat.at[0] = value ? type_elements(&value->type) : 0;
    value = value ? cast_to(node, value, DTYPE_I64, suffix) : NULL;
    if (value && value->type.rank != 1)
        value = reshape_to(node, value, &flat, suffix);
    return value;
}

/* --- one operand ------------------------------------------------------------------------------ */

/* The types of all results that are used. */
static bool find_types(struct onnx_node *node, struct type *types)
{
    bool any = false;

    for (int i = 0; i < node->n_outputs; i++) {
        if (*node->output_names[i] && !declared_shape(node, i, &types[i]))
            return false;
        any = any || *node->output_names[i];
    }
    return any;
}

/* The operand as a constant that has the assumed numbers. */
static struct value *assumed_constant(struct onnx_node *node, int input, const struct ints *numbers)
{
    struct tensor tensor = { node->inputs[input]->type, NULL };
    void *data = constant_alloc(node->fn, &tensor.type);

    for (int i = 0; i < numbers->n; i++)
        dtype_store(tensor.type.dtype, data, i, (double)numbers->at[i]);
    tensor.data = data;
    return onnx_from_tensor(node, &tensor, "assumed");
}

static struct value *allowed_constant(struct onnx_node *node, const struct assumption *assumed)
{
    const bool axes = strcmp(assumed->mode, "axes") == 0;
    const int64_t dims[] = { axes ? assumed->n_sets : assumed->numbers.n, assumed->ways };
    const struct type type = type_make(DTYPE_I64, axes ? 1 : 2, dims);
    int64_t *data = constant_alloc(node->fn, &type);

    for (int i = 0; i < dims[0] && axes; i++)
        data[i] = assumed->sets[i];
    for (int i = 0; i < dims[0] && !axes; i++)
        for (int way = 0; way < assumed->ways; way++)
            data[i * assumed->ways + way] = assumed->allowed[i][way];
    return onnx_from_tensor(node, &(struct tensor){ type, data }, "allowed");
}

static struct value *expected(struct onnx_node *node, const struct assumption *assumed,
                              struct value *x, struct value *numbers, const char *suffix)
{
    const union attrs attrs = { .expect = { .mode = assumed->mode, .rank = assumed->rank } };
    struct value *const inputs[] = { x, numbers, allowed_constant(node, assumed) };

    return x && numbers && inputs[2] ? onnx_build(node, OP_EXPECT, &attrs, suffix, 3, inputs)
                                     : NULL;
}

static struct ints axes_of_set(int64_t set)
{
    struct ints axes = { 0 };

    for (int axis = 0; axis < MAX_RANK; axis++)
        if (set >> axis & 1)
            axes.at[axes.n++] = axis;
    return axes;
}

/* What the converter makes of the node with these numbers. */
static struct value *converted(struct onnx_node *node, onnx_converter *convert, int input,
                               const struct ints *numbers, const char *suffix)
{
    struct value **inputs =
        arena_memdup(&node->ctx->perm, node->inputs, (size_t)node->n_inputs * sizeof *node->inputs);

    inputs[input] = assumed_constant(node, input, numbers);
    return inputs[input]
               ? onnx_inner(node, convert, node->arg, node->opset, node->n_inputs, inputs, suffix)
               : NULL;
}

/* One conversion for each set of axes; the numbers choose. */
static bool choose_axes(struct onnx_node *node, onnx_converter *convert, int input,
                        const struct assumption *assumed, struct value *numbers)
{
    const union attrs attrs = { .expect = { .mode = assumed->mode, .rank = assumed->rank } };
    struct value *allowed = allowed_constant(node, assumed), *result = NULL, *index;

    index = allowed ? onnx_build2(node, OP_WHICH_AXES, &attrs, "which", numbers, allowed) : NULL;
    for (int i = assumed->n_sets - 1; index && i >= 0; i--) {
        const struct ints axes = axes_of_set(assumed->sets[i]);
        struct value *one =
            converted(node, convert, input, &axes, arena_printf(&node->ctx->perm, "axes_%d", i));
        struct value *is_one, *number, *inputs[3];

        if (!one)
            return false;
        if (i == assumed->n_sets - 1) {
            result = one;
            continue;
        }
        number = onnx_scalar(node, DTYPE_I64, i, "index");
        is_one = onnx_build2(node, OP_EQUAL, NULL, "is_it", index, number);
        inputs[0] = is_one, inputs[1] = one, inputs[2] = result;
        result = is_one ? onnx_build(node, OP_IF, NULL, i ? "chosen" : "", 3, inputs) : NULL;
        if (!result)
            return false;
    }
    return onnx_output(node, 0, result);
}

/* The node is converted without the input `x`, and its result checked. */
static bool check_result(struct onnx_node *node, onnx_converter *convert, int input,
                         const struct assumption *assumed, struct value *numbers)
{
    struct value *y = converted(node, convert, input, &assumed->numbers, "unchecked");

    return y && onnx_output(node, 0, expected(node, assumed, y, numbers, ""));
}

static bool contradicts(struct onnx_node *node, const struct row *row, const struct type *y)
{
    diag_error(
        node->ctx, DIAG_UNSUPPORTED_DYNAMIC, node->origin,
        "input %d (\"%s\") is computed at run time, and the declared shape %s of the result does "
        "not say what it must be",
        row->input, str_safe(&node->ctx->perm, node->inputs[row->input]->name, 120),
        shape_text(&node->ctx->perm, y));
    import_help_freeze(node->import, node->inputs[row->input]);
    return false;
}

static bool take_operand(struct onnx_node *node, const struct row *row, onnx_converter *convert,
                         const struct type *types, bool *done)
{
    struct assumption assumed = { .mode = "each" };
    const struct type *operand = &node->inputs[row->input]->type;
    const int64_t n = type_elements(operand);
    struct value *numbers;

    if (operand->rank > 1 || n > MAX_INTS || !row->solve(node, types, (int)n, &assumed) ||
        !onnx_ok(node))
        return contradicts(node, row, &types[0]);
    if (assumed.left)
        return true;
    numbers = onnx_numbers(node, row->input, "numbers");
    if (!numbers)
        return false;
    if (assumed.n_sets)
        assumed.numbers = axes_of_set(assumed.sets[0]);
    *done = (assumed.n_sets > 1 && !assumed.same) || row->x == NONE;
    if (row->x == NONE)
        return check_result(node, convert, row->input, &assumed, numbers);
    if (*done)
        return choose_axes(node, convert, row->input, &assumed, numbers);
    node->inputs[row->x] = expected(node, &assumed, node->inputs[row->x], numbers, "checked");
    node->inputs[row->input] = assumed_constant(node, row->input, &assumed.numbers);
    return node->inputs[row->x] && node->inputs[row->input];
}

/* Whether the converter makes a result of open length, where none is declared (convert_open.c). */
static bool has_open_form(const struct onnx_node *node)
{
    static const char *const have[] = { "ConstantOfShape", "Expand", "Tile", "TopK" };

    for (size_t i = 0; i < sizeof have / sizeof *have; i++)
        if (strcmp(node->op_type, have[i]) == 0)
            return !onnx_is_inside(node);
    return false;
}

bool import_take_numbers(struct onnx_node *node, const char *domain, onnx_converter *convert,
                         bool *done)
{
    struct type *types = arena_array(&node->ctx->perm, struct type, node->n_outputs + 1);

    for (size_t i = 0; i < sizeof rows / sizeof *rows && !*done && !*domain; i++) {
        const struct row *row = &rows[i];
        const int n_errors = node->ctx->diags.n_errors;

        if (strcmp(row->op_type, node->op_type) != 0 || onnx_is_known(node, row->input) ||
            type_elements(&node->inputs[row->input]->type) == 0)
            continue;
        if (node->ctx->diags.n_errors > n_errors)
            return false; /* a limit */
        if (row->x >= 0 && !onnx_input(node, row->x))
            continue; /* the converter says so */
        if (!find_types(node, types)) {
            if (has_open_form(node))
                continue;
            return onnx_undeclared(node, row->input);
        }
        if (!take_operand(node, row, convert, types, done))
            return false;
    }
    return true;
}
