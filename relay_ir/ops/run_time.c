/* run_time.c - numbers that are known at run time only: expect, which_axes.
 *
 * The model's file says which shape a result has, so the numbers that decide it (the shape of a
 * Reshape, the k of a TopK) are known as well: the importer builds the operator for those, and one of
 * these operators asks at run time whether they are what was assumed. A number that is not makes the
 * evaluation fail, and the function of generated C return.
 *
 * expect(x, numbers, allowed) is x. numbers is i64, of n elements; allowed a constant, by mode:
 *   each   [n, ways]: number i is one of row i, or anything where the row has ANY_NUMBER
 *   shape  likewise, and at most one number is -1
 *   axes   [m] sets of axes of a tensor of this rank, bit i for axis i: the numbers are one of them,
 *          in any order, negative ones counted from the end
 * which_axes(numbers, allowed) is the index of the set, i64 (1). */
#include "relay_ir/ops/run_time.h"

#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/scales.h"

static bool check_allowed(struct ctx *ctx, struct node *node, int numbers)
{
    static const char *const modes[] = { "each", "shape", "axes" };
    struct expect_attrs *expect = &node->attrs.expect;
    const struct type *given = input_type(node, numbers), *allowed = input_type(node, numbers + 1);
    const bool axes = node->op == OP_WHICH_AXES || strcmp(expect->mode, "axes") == 0;

    if (node->op == OP_WHICH_AXES && !*expect->mode)
        expect->mode = "axes";
    if (!check_word(ctx, node, "mode", &expect->mode, modes, 3) ||
        !check_rank(ctx, node, numbers + 1, axes ? 1 : 2, axes ? 1 : 2))
        return false;
    if (given->dtype != DTYPE_I64 || allowed->dtype != DTYPE_I64 || given->rank > 1 ||
        node->inputs[numbers + 1]->kind == VALUE_OUTPUT)
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "%s: the numbers are %s, what they may be %s, expected lists of i64, the "
                          "second one a constant",
                          op_name(node->op), type_text(&ctx->perm, given),
                          type_text(&ctx->perm, allowed));
    if (node->op == OP_WHICH_AXES && strcmp(expect->mode, "axes") != 0)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: the mode is %s, expected axes",
                          op_name(node->op), expect->mode);
    if (expect->rank < 0 || expect->rank > MAX_RANK)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: the rank is %lld, wanted 0 to %d", op_name(node->op),
                          (long long)expect->rank, MAX_RANK);
    if (allowed->dim[0] < 1 ||
        (!axes && (allowed->dim[0] != type_elements(given) || allowed->dim[1] < 1)))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: %lld numbers, and what they may be has the shape %s",
                          op_name(node->op), (long long)type_elements(given),
                          shape_text(&ctx->perm, allowed));
    return true;
}

bool infer_expect(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);

    if (!check_allowed(ctx, node, 1))
        return false;
    set_output(node, 0, x->dtype, x);
    pass_scales_in_place(node, 0, 0);
    return true;
}

bool infer_which_axes(struct ctx *ctx, struct node *node)
{
    const struct type one = { .rank = 1, .dim = { 1 } };

    if (!check_allowed(ctx, node, 0))
        return false;
    set_output(node, 0, DTYPE_I64, &one);
    return true;
}

/* The set of axes; -1 if one is out of range, or there twice. */
static int64_t axes_set(const struct tensor *axes, int64_t rank)
{
    int64_t set = 0;

    for (int64_t i = 0; i < type_elements(&axes->type); i++) {
        const int64_t given = tensor_int_at(axes, i), axis = given < 0 ? given + rank : given;

        if (axis < 0 || axis >= rank || set >> axis & 1)
            return -1;
        set |= (int64_t)1 << axis;
    }
    return set;
}

/* The index of the set among those that are allowed; -1 = none. */
static int64_t find_axes(const struct tensor *axes, int64_t rank, const struct tensor *allowed)
{
    const int64_t set = axes_set(axes, rank);

    for (int64_t i = 0; i < type_elements(&allowed->type); i++)
        if (tensor_int_at(allowed, i) == set)
            return i;
    return -1;
}

static bool each_is_allowed(const struct tensor *numbers, const struct tensor *allowed,
                            bool is_shape)
{
    const int64_t ways = allowed->type.dim[1];
    int n_open = 0;

    for (int64_t i = 0; i < type_elements(&numbers->type); i++) {
        const int64_t number = tensor_int_at(numbers, i);
        bool found = false;

        for (int64_t way = 0; way < ways && !found; way++)
            found = tensor_int_at(allowed, i * ways + way) == number ||
                    tensor_int_at(allowed, i * ways + way) == ANY_NUMBER;
        n_open += number == -1;
        if (!found || (is_shape && n_open > 1))
            return false;
    }
    return true;
}

static bool unexpected(struct ctx *ctx, const struct node *node, const struct tensor *numbers)
{
    struct str list = { .arena = &ctx->perm };

    for (int64_t i = 0; i < type_elements(&numbers->type) && i < MAX_RANK; i++)
        str_printf(&list, "%s%lld", i ? ", " : "", (long long)tensor_int_at(numbers, i));
    return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                      "the numbers %s ask for another shape than the file declares, for which the "
                      "network was compiled",
                      str_text(&list));
}

bool eval_expect(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                 struct tensor *out)
{
    const struct expect_attrs *expect = &node->attrs.expect;
    const bool agrees = strcmp(expect->mode, "axes") == 0
                            ? find_axes(in[1], expect->rank, in[2]) >= 0
                            : each_is_allowed(in[1], in[2], strcmp(expect->mode, "shape") == 0);

    if (!agrees)
        return unexpected(ctx, node, in[1]);
    if (type_bytes(&out->type))
        memcpy(out->data, in[0]->data, type_bytes(&out->type));
    return true;
}

bool eval_which_axes(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    const int64_t found = find_axes(in[0], node->attrs.expect.rank, in[1]);

    if (found < 0)
        return unexpected(ctx, node, in[0]);
    ((int64_t *)out->data)[0] = found;
    return true;
}

/* --- numbers that agree ----------------------------------------------------------------------- */

/* The axes of a set, ascending. */
static void example_of_axes(int64_t set, struct tensor *numbers)
{
    const int64_t n = type_elements(&numbers->type);

    for (int64_t axis = 0, i = 0; axis < MAX_RANK && i < n; axis++)
        if (set >> axis & 1)
            dtype_store_int(numbers->type.dtype, numbers->data, i++, axis);
}

/* The axis that number i of a slice or pad is for: of the constant, or the i-th. */
static int64_t axis_of(const struct node *node, int axes, int64_t i)
{
    const struct value *list = node->inputs[axes];
    const int64_t rank = node->outputs[0]->type.rank;
    struct tensor tensor;
    int64_t axis = i;

    if (list->kind == VALUE_CONSTANT) {
        tensor = value_tensor(list);
        axis = tensor_int_at(&tensor, i);
        axis = axis < 0 ? axis + rank : axis;
    }
    return axis < 0 || axis >= rank ? 0 : axis;
}

/* The first elements; padding behind. */
static bool example_of_window(const struct node *node, int input, struct tensor *numbers)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    const bool pads = node->op == OP_DYN_PAD;
    const int64_t n = type_elements(&node->inputs[pads ? 2 : 3]->type);

    for (int64_t i = 0; i < n; i++) {
        const int64_t axis = axis_of(node, pads ? 2 : 3, i);
        const int64_t of_slice[] = { 0, 0, y->dim[axis], axis, 1 };

        if (pads && input == 1) {
            dtype_store_int(numbers->type.dtype, numbers->data, i, 0);
            dtype_store_int(numbers->type.dtype, numbers->data, n + i, y->dim[axis] - x->dim[axis]);
        } else {
            dtype_store_int(numbers->type.dtype, numbers->data, i, pads ? axis : of_slice[input]);
        }
    }
    return true;
}

static bool example_for(const struct node *node, int input, struct tensor *numbers)
{
    const int at = node->op == OP_WHICH_AXES ? 0 : 1;
    struct tensor allowed;
    int64_t ways;

    if ((node->op == OP_DYN_PAD && (input == 1 || input == 2)) ||
        (node->op == OP_DYN_STRIDED_SLICE && input > 0))
        return example_of_window(node, input, numbers);
    if ((node->op != OP_EXPECT && node->op != OP_WHICH_AXES) || input != at ||
        node->inputs[at + 1]->kind != VALUE_CONSTANT)
        return false;
    allowed = value_tensor(node->inputs[at + 1]);
    if (strcmp(node->attrs.expect.mode, "axes") == 0) {
        example_of_axes(tensor_int_at(&allowed, type_elements(&allowed.type) - 1), numbers);
        return true;
    }
    ways = allowed.type.dim[1];
    for (int64_t i = 0; i < type_elements(&numbers->type); i++) {
        const int64_t number = tensor_int_at(&allowed, i * ways);

        if (number != ANY_NUMBER)
            dtype_store_int(numbers->type.dtype, numbers->data, i, number);
    }
    return true;
}

bool run_time_example(const struct value *value, struct tensor *numbers)
{
    for (const struct use *use = value->uses; use; use = use->next) {
        const struct node *node = use->node;
        const bool moved = node->op == OP_CAST || node->op == OP_RESHAPE || node->op == OP_EXPECT;

        if (example_for(node, use->input, numbers) ||
            (node->op == OP_CALL && run_time_example(node->callee->params[use->input], numbers)) ||
            (moved && use->input == 0 && run_time_example(node->outputs[0], numbers)))
            return true;
    }
    return false;
}

bool run_time_is_checked(const struct module *module)
{
    for (const struct function *fn = module->functions; fn; fn = fn->next)
        for (const struct node *node = fn->first; node; node = node->next)
            if (node->op == OP_EXPECT || node->op == OP_WHICH_AXES || node->op == OP_DYN_PAD ||
                node->op == OP_DYN_STRIDED_SLICE)
                return true;
    return false;
}
