/* annotate_fp8.c - see annotate_fp8.h.
 *
 * needs    a simplified graph, f32; options->fp8
 * gives    products that read FP8 and sum to f32, their scales behind them, casts; partition->fp8
 * method   1. every node of main is asked for by the targets in the user's order, then by c
 *          2. those that one takes are made anew, front to back
 *          3. casts move in front of what commutes with them (fp8_cast.c) */
#include "partition/annotate_fp8.h"

#include "base/minifloat.h"
#include "base/str.h"
#include "partition/fp8.h"

struct annotation {
    struct partition *partition;
    struct arena *arena;
    enum dtype format;
    struct fp8_report *report;
    struct node **nodes; /* of the report's lines, by node id; those annotated are gone */
    struct map weights;  /* see fp8_weights_get */
};

bool fp8_is_product(enum op op)
{
    return op == OP_CONV1D || op == OP_CONV2D || op == OP_CONV3D || op == OP_DENSE ||
           op == OP_MATMUL;
}

enum dtype *fp8_out_dtype(struct node *node)
{
    switch (node->op) {
    case OP_DENSE: return &node->attrs.dense.out_dtype;
    case OP_MATMUL: return &node->attrs.matmul.out_dtype;
    default: return &node->attrs.conv.out_dtype;
    }
}

bool fp8_row_takes(const struct fp8_row *row, enum op op, enum dtype data, enum dtype weights)
{
    return row->op == op && row->data >> data & 1 && row->out == DTYPE_F32 &&
           fp8_sums_are_wide(row) && (weights == DTYPE_NONE || row->weights >> weights & 1);
}

bool fp8_sums_are_wide(const struct fp8_row *row)
{
    return row->accumulate == DTYPE_F32 || row->accumulate == DTYPE_F64;
}

/* --- who takes a node --------------------------------------------------------------------------
 */

/* Why this row of a target does not take the product; NULL = it does. */
static const char *refusal(const struct annotation *a, const struct target *target,
                           const struct fp8_row *row, bool constant_weights)
{
    const char *format = dtype_name(a->format), *op = op_name(row->op);

    if (!(row->data >> a->format & 1))
        return arena_printf(a->arena, "%s takes no data of %s in %s", target->name, format, op);
    if (constant_weights && !(row->weights >> a->format & 1))
        return arena_printf(a->arena, "%s takes no weights of %s in %s", target->name, format, op);
    if (row->out != DTYPE_F32)
        return arena_printf(a->arena, "%s gives %s in %s, wanted is f32", target->name,
                            dtype_name(row->out), op);
    if (!fp8_sums_are_wide(row))
        return arena_printf(a->arena, "%s sums in %s in %s, the graph means f32", target->name,
                            dtype_name(row->accumulate), op);
    return NULL;
}

/* The first row of a target that takes the operator; else *why holds the first reason against. */
static const struct fp8_row *row_of(const struct annotation *a, const struct target *target,
                                    const struct node *node, const char **why)
{
    const bool constant_weights = node->n_inputs == 2 && node->inputs[1]->kind == VALUE_CONSTANT;

    for (int i = 0; i < target->n_fp8; i++) {
        const struct fp8_row *row = &target->fp8[i];
        const char *reason;

        if (row->op != node->op)
            continue;
        if (target->keep_on_host[node->op])
            reason =
                arena_printf(a->arena, "%s keeps %s on the host", target->name, op_name(node->op));
        else
            reason = refusal(a, target, row, constant_weights);
        if (!reason)
            return row;
        *why = *why ? *why : reason;
    }
    return NULL;
}

/* What speaks against FP8 in the node itself, whoever takes it. */
static const char *obstacle(const struct annotation *a, const struct node *node)
{
    const struct value *data = node->inputs[0], *weight = node->inputs[1];
    int64_t at;

    if (data->type.dtype != DTYPE_F32)
        return arena_printf(a->arena, "its data is %s, wanted is f32",
                            dtype_name(data->type.dtype));
    if (data->kind == VALUE_CONSTANT)
        return "its data is a constant";
    if (weight->kind != VALUE_CONSTANT)
        return node->op == OP_MATMUL ? NULL : "its weights are computed at run time";
    if (type_elements(&weight->type) == 0)
        return "its weights are empty";
    if (!fp8_weights_are_finite(weight, &at))
        return arena_printf(a->arena, "element %lld of its weights is not finite", (long long)at);
    return NULL;
}

static const struct fp8_row *choose(const struct annotation *a, const struct node *node,
                                    struct fp8_line *line)
{
    const struct partition_options *options = a->partition->options;

    for (int i = 0; fp8_is_product(node->op) && i <= options->n_offload; i++) {
        const struct target *target =
            i < options->n_offload ? options->offload[i] : a->partition->host;
        const struct fp8_row *row = row_of(a, target, node, &line->why);

        if (!row)
            continue;
        line->why = obstacle(a, node);
        line->target = line->why ? NULL : target;
        return line->why ? NULL : row;
    }
    if (!line->why)
        line->why = arena_printf(a->arena, "no target takes %s in %s", op_name(node->op),
                                 dtype_name(a->format));
    return NULL;
}

/* --- making it anew ----------------------------------------------------------------------------
 */

/* The constant's codes take over its name when nobody reads it any more. */
static void inherit_name(const struct fp8_weights *weights)
{
    if (weights && !weights->like->uses)
        value_take_name(weights->codes, weights->like);
}

static struct value *rebuilt(struct node *node, struct value *data, struct value *weight,
                             const struct fp8_weights *weights, struct fp8_line *line)
{
    struct node like = *node;
    const char *const op = op_name(node->op) + (str_starts(op_name(node->op), "nn.") ? 3 : 0);
    const char *name = arena_printf(&node->fn->module->arena, "%s.%s", node->outputs[0]->name, op);
    struct value *y;

    *fp8_out_dtype(&like) = DTYPE_F32;
    y = build(node->fn, node->op, &like.attrs, name, node->origin, node, 2,
              (struct value *[]){ data, weight });
    if (!y)
        return NULL;
    line->product = y->name;
    if (weights && weights->scales)
        y = build(node->fn, OP_MULTIPLY, NULL, name, node->origin, node, 2,
                  (struct value *[]){ y, weights->scales });
    return y;
}

static bool annotate(struct annotation *a, struct node *node, const struct fp8_row *row,
                     struct fp8_line *line)
{
    struct fp8_weights *weights = NULL;
    struct value *data = fp8_cast(node->inputs[0], a->format, node->origin), *weight, *y;

    if (node->inputs[1]->kind == VALUE_CONSTANT) {
        int scales_rank;
        const int axis = fp8_weight_axis(node, &scales_rank);

        weights = fp8_weights_get(&a->weights, a->arena, node->inputs[1], a->format,
                                  row->weight_scales, axis, scales_rank);
        weight = weights->codes;
        line->weight_bytes_after = type_bytes(&weights->codes->type) +
                                   (weights->scales ? type_bytes(&weights->scales->type) : 0);
    } else {
        weight = fp8_cast(node->inputs[1], a->format, node->origin);
    }
    y = data && weight ? rebuilt(node, data, weight, weights, line) : NULL;
    if (!y)
        return false;
    if (y->name == line->product)
        line->product = node->outputs[0]->name; /* which y takes over */
    value_supplant(node->outputs[0], y);
    node_remove(node);
    inherit_name(weights);
    line->data = a->format;
    line->weights = a->format;
    a->report->n_annotated++;
    return true;
}

/* --- the report --------------------------------------------------------------------------------
 */

static size_t constant_bytes(const struct function *fn)
{
    size_t bytes = 0;

    for (const struct value *v = fn->constants; v; v = v->next)
        bytes += v->uses ? type_bytes(&v->type) : 0;
    return bytes;
}

static struct fp8_line line_of(const struct node *node)
{
    struct fp8_line line = { .op = node->op };

    line.node = node->n_outputs ? node->outputs[0]->name : "";
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && node->inputs[i]->kind == VALUE_CONSTANT)
            line.weight_bytes_before += type_bytes(&node->inputs[i]->type);
    line.weight_bytes_after = line.weight_bytes_before;
    return line;
}

static void open_report(struct annotation *a)
{
    const struct function *fn = a->partition->fn;
    struct fp8_report *report = arena_new(a->arena, struct fp8_report);
    int n = 0;

    for (const struct node *node = fn->first; node; node = node->next)
        n++;
    report->format = a->format;
    report->lines = arena_array(a->arena, struct fp8_line, n);
    report->weight_bytes_before = constant_bytes(fn);
    a->nodes = arena_array(a->arena, struct node *, n);
    for (struct node *node = fn->first; node; node = node->next) {
        node->id = report->n;
        a->nodes[report->n] = node;
        report->lines[report->n++] = line_of(node);
    }
    a->report = a->partition->fp8 = report;
}

static void close_report(struct annotation *a, const bool *moved)
{
    struct fp8_report *report = a->report;

    for (int i = 0; i < report->n; i++)
        if (moved[i]) {
            report->lines[i].data = a->format;
            report->lines[i].why = "works on the codes: the cast stands in front of it";
        }
    for (const struct node *node = a->partition->fn->first; node; node = node->next)
        report->n_casts += node->op == OP_CAST && node->attrs.cast.dtype == a->format;
    report->weight_bytes_after = constant_bytes(a->partition->fn);
}

bool partition_annotate_fp8(struct partition *partition)
{
    struct annotation a = { .partition = partition,
                            .arena = &partition->arena,
                            .format = partition->options->fp8,
                            .weights = { .arena = &partition->arena } };
    bool *moved, ok = true;

    if (a.format == DTYPE_NONE)
        return true;
    open_report(&a);
    for (int i = 0; i < a.report->n && ok; i++) {
        const struct fp8_row *row = choose(&a, a.nodes[i], &a.report->lines[i]);

        if (row)
            ok = annotate(&a, a.nodes[i], row, &a.report->lines[i]);
    }
    moved = arena_array(a.arena, bool, a.report->n);
    ok = ok && fp8_move_casts(partition, moved);
    if (ok)
        close_report(&a, moved);
    return ok;
}
