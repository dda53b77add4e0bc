/* stripe_rows.c - which rows of its arguments each row of a region's result needs.
 *
 * method   the anchor says where its rows lie and how far its window reaches; element-wise nodes
 * take row by row what has the rows, and all of what is the same for every row */
#include "codegen_c/core/stripe.h"

#include <string.h>

#include "relay_ir/layout.h"
#include "relay_ir/outline.h"
#include "relay_ir/region.h"

/* What operators of a window say of the first spatial dim: where the rows lie, and the window. */
struct window_rows {
    int in_axis, out_axis;
    int64_t extent, stride, pad, pad_end;
};

static int64_t reach(int64_t taps, int64_t dilation)
{
    return (taps - 1) * dilation + 1;
}

static bool window_rows(const struct node *node, struct window_rows *out)
{
    const struct conv_attrs *conv = &node->attrs.conv;
    const struct pool_attrs *pool = &node->attrs.pool;

    switch (node->op) {
    case OP_CONV1D:
    case OP_CONV2D:
    case OP_CONV3D:
    case OP_QNN_CONV1D:
    case OP_QNN_CONV2D:
    case OP_QNN_CONV3D:
        *out = (struct window_rows){ layout_spatial_axis(conv->data_layout),
                                     layout_spatial_axis(*conv->out_layout ? conv->out_layout
                                                                           : conv->data_layout),
                                     reach(node->inputs[1]->type.dim[2], conv->dilation.at[0]),
                                     conv->strides.at[0],
                                     conv->padding.at[0],
                                     conv->padding.at[conv->padding.n / 2] };
        return true;
    case OP_AVG_POOL1D:
    case OP_AVG_POOL2D:
    case OP_AVG_POOL3D:
    case OP_LP_POOL1D:
    case OP_LP_POOL2D:
    case OP_LP_POOL3D:
    case OP_MAX_POOL1D:
    case OP_MAX_POOL2D:
    case OP_MAX_POOL3D:
    case OP_QNN_AVG_POOL1D:
    case OP_QNN_AVG_POOL2D:
    case OP_QNN_AVG_POOL3D:
        *out = (struct window_rows){ layout_spatial_axis(pool->layout),
                                     layout_spatial_axis(pool->layout),
                                     reach(pool->pool_size.at[0], pool->dilation.at[0]),
                                     pool->strides.at[0],
                                     pool->padding.at[0],
                                     pool->padding.at[pool->padding.n / 2] };
        return true;
    default: return false;
    }
}

/* The list of such a node that holds its padding: begins, then ends. */
static struct ints *padding_of(enum op op, union attrs *attrs)
{
    switch (op) {
    case OP_CONV1D:
    case OP_CONV2D:
    case OP_CONV3D:
    case OP_QNN_CONV1D:
    case OP_QNN_CONV2D:
    case OP_QNN_CONV3D: return &attrs->conv.padding;
    default: return &attrs->pool.padding;
    }
}

static bool set_rows(struct row_window *window, const struct type *type, int axis)
{
    window->axis = axis;
    window->rows = type->dim[axis];
    window->planes = type_span(type, 0, axis);
    window->row_bytes = (size_t)type_span(type, axis + 1, type->rank) * dtype_bytes(type->dtype);
    return window->rows > 0 && window->row_bytes > 0 && window->planes > 0;
}

/* Two readers of one argument must want the same of it. */
static bool add_window(struct row_window *known, const struct row_window *window)
{
    if (known->axis < 0) {
        *known = *window;
        return true;
    }
    return known->whole == window->whole && known->extent == window->extent &&
           known->stride == window->stride && known->pad == window->pad &&
           known->axis == window->axis;
}

/* What the region reads where a node reads `value`. */
static struct value *source_of(struct value *value)
{
    return value && value->def ? value->def->inputs[0] : value;
}

static const char *read_anchor(struct row_region *region, const struct node *anchor)
{
    struct window_rows rows;
    struct row_window window = { .whole = false };
    const struct value *x = source_of(anchor->inputs[0]);

    if (!window_rows(anchor, &rows))
        return "its rows need more than a few rows of what it reads";
    if (!x || x->kind != VALUE_PARAM)
        return "it reads a constant";
    if (type_span(&x->type, 0, 1) != 1)
        return "there are several images";
    if (!set_rows(&window, &x->type, rows.in_axis) || rows.out_axis != region->axis)
        return "its result lies in planes";
    window.extent = rows.extent;
    window.stride = rows.stride;
    window.pad = rows.pad;
    if (window.pad >= window.extent ||
        (region->rows - 1) * window.stride - window.pad >= window.rows)
        return "a window sees nothing but padding";
    if ((region->rows - 1) * window.stride - window.pad + window.extent >
        window.rows + rows.pad_end)
        return "its last window reaches beyond the padding";
    if (!add_window(&region->reads[x->index], &window))
        return "it reads an argument in two ways";
    for (int i = 1; i < anchor->n_inputs; i++)
        if (anchor->inputs[i] && anchor->inputs[i]->kind != VALUE_CONSTANT)
            return "it reads more than one feature map";
    return NULL;
}

static const char *read_operand(struct row_region *region, struct value *value,
                                const struct type *y)
{
    const struct type *type = &value->type;
    const int axis = region->axis - (y->rank - type->rank);
    struct row_window window = { .whole = axis < 0 || type->dim[axis] == 1,
                                 .extent = 1,
                                 .stride = 1 };

    if (value->kind == VALUE_CONSTANT)
        return window.whole || type->rank <= 1 ? NULL : "it has a constant for each row";
    if (!window.whole &&
        (!set_rows(&window, type, axis) || window.planes != 1 || window.rows != region->rows))
        return "an operand's rows are not those of its result";
    if (window.whole && region->rows == 1)
        return "it has one row";
    return add_window(&region->reads[value->index], &window) ? NULL
                                                             : "it reads an argument in two ways";
}

/* Element-wise nodes and concatenations that leave rows alone. */
static const char *read_operands(struct row_region *region, const struct node *node)
{
    const struct type *y = &node->outputs[0]->type;

    for (int i = 0; i < node->n_inputs; i++) {
        struct value *value = node->inputs[i];
        const char *why;

        if (!value || (value->def && !is_decoder(value->def)))
            continue; /* another node's result: of the same shape */
        why = read_operand(region, source_of(value), y);
        if (why)
            return why;
    }
    return NULL;
}

static const char *read_node(struct row_region *region, const struct node *node,
                             const struct node *anchor)
{
    if (node != anchor)
        return is_decoder(node) && node->inputs[0]->kind == VALUE_PARAM
                   ? NULL /* its reader says how */
                   : read_operands(region, node);
    if (node->op == OP_CONCATENATE)
        return node->attrs.axis.axis == region->axis ? "it puts rows below each other"
                                                     : read_operands(region, node);
    return read_anchor(region, node);
}

static const char *read_region(struct row_region *region, const struct function *fn)
{
    const struct type *y = &fn->ret->inputs[0]->type;
    const struct node *const anchor = region_anchor(fn);
    const char *why = NULL;

    if (fn->compiler == NULL || strcmp(fn->compiler, "c") != 0 || is_striped(fn))
        return "it is no region of ours";
    if (fn->ret->n_inputs != 1)
        return "it has several results";
    if (y->rank < 3 || y->dim[0] != 1 || type_elements(y) == 0)
        return "it has no rows";
    region->axis = 1;
    region->rows = y->dim[1];
    region->row_bytes = (size_t)type_span(y, 2, y->rank) * dtype_bytes(y->dtype);
    for (const struct node *node = fn->first; node && !why; node = node->next)
        why = read_node(region, node, anchor);
    /* A decoder alone is a chain, too. */
    for (const struct node *node = fn->first; node && !why; node = node->next)
        if (node != anchor && is_decoder(node) && node == fn->last)
            why = read_operand(region, node->inputs[0], y);
    return why;
}

struct row_region rows_of_region(struct arena *arena, struct node *call)
{
    struct row_region region = { .call = call,
                                 .reads = arena_array(arena, struct row_window, call->n_inputs) };

    for (int i = 0; i < call->n_inputs; i++)
        region.reads[i].axis = -1;
    region.why = call->n_outputs == 1 && !call->outputs[0]->uses
                     ? "nobody reads its result" /* a run of such would have none */
                     : read_region(&region, call->callee);
    for (int i = 0; i < call->n_inputs && !region.why; i++)
        if (call->inputs[i]->kind == VALUE_CONSTANT)
            region.why = "it reads a constant of the network";
        else if (region.reads[i].axis < 0 && !region.reads[i].whole)
            region.why = "it does not read an argument";
    return region;
}

void row_window_range(const struct row_window *window, int64_t row, int64_t n, int64_t *begin,
                      int64_t *end)
{
    const int64_t from = row * window->stride - window->pad;
    const int64_t to = (row + n - 1) * window->stride - window->pad + window->extent;

    *begin = from > 0 ? from : 0;
    *end = to < window->rows ? to : window->rows;
}

/* --- the function of a stripe ----------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t beyond(int64_t n)
{
    return n > 0 ? n : 0;
}

/* The padding that is left of the window's where the stripe begins and ends. */
static void cut_padding(struct ints *padding, const struct row_window *window, int64_t row,
                        int64_t n)
{
    const int64_t end = (row + n - 1) * window->stride - window->pad + window->extent;

    padding->at[0] = beyond(window->pad - row * window->stride);
    padding->at[padding->n / 2] = least(padding->at[padding->n / 2], beyond(end - window->rows));
}

static struct value *copied(struct function *fn, const struct value *value, struct map *made)
{
    if (!value)
        return NULL;
    if (value->kind == VALUE_CONSTANT && !map_get(made, value->name))
        map_set(made, value->name, constant_new(fn, value->name, &value->type, value->data));
    return map_get(made, value->name);
}

static bool copy_node(struct function *fn, const struct node *node, const struct node *anchor,
                      const struct row_region *region, int64_t row, int64_t n, struct map *made)
{
    struct arena *scratch = &fn->module->ctx->scratch;
    struct value **inputs = arena_array(scratch, struct value *, node->n_inputs);
    const struct value *x = node == anchor ? source_of(anchor->inputs[0]) : NULL;
    struct node cut = *node, *copy;

    if (x && node->op != OP_CONCATENATE)
        cut_padding(padding_of(node->op, &cut.attrs), &region->reads[x->index], row, n);
    for (int i = 0; i < node->n_inputs; i++)
        inputs[i] = copied(fn, node->inputs[i], made);
    copy = node_copy(fn, &cut, inputs, NULL);
    if (!copy || copy->n_outputs != 1)
        return false;
    map_set(made, node->outputs[0]->name, copy->outputs[0]);
    return true;
}

struct function *stripe_function(struct module *module, const struct row_region *region,
                                 int64_t row, int64_t n)
{
    const struct function *fn = region->call->callee;
    const struct node *const anchor = region_anchor(fn);
    struct function *stripe = function_new(
        module, arena_printf(&module->arena, "%s.rows_%lld", fn->name, (long long)row));
    struct map made = { .arena = &module->ctx->scratch };
    struct value *result;

    stripe->compiler = fn->compiler;
    stripe->composite = fn->composite;
    for (int i = 0; i < fn->n_params; i++) {
        const struct row_window *window = &region->reads[i];
        struct type type = fn->params[i]->type;
        int64_t begin, end;

        if (!window->whole) {
            row_window_range(window, row, n, &begin, &end);
            type.dim[window->axis] = end - begin;
        }
        map_set(&made, fn->params[i]->name, param_new(stripe, fn->params[i]->name, &type));
    }
    for (const struct node *node = fn->first; node; node = node->next)
        if (!copy_node(stripe, node, anchor, region, row, n, &made))
            return NULL;
    result = map_get(&made, fn->ret->inputs[0]->name);
    result_add(stripe, result, fn->result_names[0]);
    return result->type.dim[region->axis] == n ? stripe : NULL;
}
