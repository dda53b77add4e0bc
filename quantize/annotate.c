/* annotate.c - the QDQ form: what is to be stored small goes through quantize and dequantize.
 *
 * needs    a simplified float graph; CALIBRATED types where scales depend on data
 * gives    a value that a region reads from another one, and reads as quantised values: one
 *          qnn.quantize behind the value for all readers that want it alike, and a qnn.dequantize
 *          in front of each reader. Weights: quantised values behind a qnn.dequantize. FP8 with
 *          scale 1, and formats without a scale, have a cast instead. The graph still computes in
 *          f32: it simulates
 * method   regions are those that fuse_ops would make: what stays inside of one is not rounded */
#include "base/str.h"
#include "quantize/annotation.h"
#include "quantize/common_formats.h"

struct value *annotation_make(struct annotation *a, enum op op, const union attrs *attrs,
                              const char *name, const struct origin *origin, struct node *before,
                              int n, struct value *const *inputs)
{
    struct value *value = build(a->fn, op, attrs, name, origin, before, n, inputs);

    if (value)
        value->def->id = a->n_nodes;
    return value;
}

const char *annotation_storage_name(struct annotation *a, const struct value *value,
                                    enum dtype dtype)
{
    return arena_printf(&a->q->module->arena, "%s.%s", value->name, dtype_name(dtype));
}

struct value *annotation_zero(struct function *fn, enum dtype dtype, int32_t zero, const char *name)
{
    struct type type = type_scalar(dtype);
    void *data = constant_alloc(fn, &type);

    dtype_store_int(dtype, data, 0, zero);
    return constant_new(fn, name, &type, data);
}

struct value *annotation_scale(struct function *fn, float scale, const char *name)
{
    const struct type type = type_scalar(DTYPE_F32);
    float *data = constant_alloc(fn, &type);

    *data = scale;
    return constant_new(fn, name, &type, data);
}

/* --- data ------------------------------------------------------------------------------------- */

/* Directly behind what computes the value. */
static struct node *place_behind(const struct value *value)
{
    return value->def ? value->def->next : value->fn->first;
}

static struct value *quantize_value(struct annotation *a, struct value *value, struct data_scale s,
                                    const struct origin *origin)
{
    const struct number_format *format = &s.format;
    const union attrs cast = { .cast = { .dtype = format->dtype, .saturate = true } };
    const union attrs attrs = { .quantize = { .saturate = true } };
    const char *name = annotation_storage_name(a, value, format->dtype);
    struct value *inputs[3] = { value };

    if (!dtype_is_integer(format->dtype) && s.scale == 1)
        return annotation_make(a, OP_CAST, &cast, name, origin, place_behind(value), 1, inputs);
    inputs[1] =
        annotation_scale(a->fn, s.scale, arena_printf(&a->q->module->arena, "%s.scale", name));
    inputs[2] = annotation_zero(a->fn, format->dtype, s.zero,
                                arena_printf(&a->q->module->arena, "%s.zero", name));
    return annotation_make(a, OP_QNN_QUANTIZE, &attrs, name, origin, place_behind(value), 3,
                           inputs);
}

/* The quantised values of a value. A view is one of the quantised values: so they lie where the
 * viewed value would. */
static struct value *quantized_of(struct annotation *a, struct value *value, struct data_scale s,
                                  const struct origin *origin)
{
    const struct number_format *format = &s.format;
    const struct node *view = value->def;
    const char *key = arena_printf(&a->q->ctx->perm, "%s %s %a %d", value->name, format->name,
                                   (double)s.scale, (int)s.zero);
    struct value *quantized = map_get(&a->stored, key);

    if (quantized)
        return quantized;
    if (view && op_row(view->op)->pattern == PATTERN_VIEW &&
        view->inputs[0]->kind != VALUE_CONSTANT) {
        struct value *behind = quantized_of(a, view->inputs[0], s, origin);

        quantized = behind ? annotation_make(a, view->op, &view->attrs,
                                             annotation_storage_name(a, value, format->dtype),
                                             view->origin, view->next, 1, &behind)
                           : NULL;
    } else {
        quantized = quantize_value(a, value, s, value->def ? value->def->origin : origin);
    }
    map_set(&a->stored, key, quantized);
    return quantized;
}

/* What `quantized_of` gave, as numbers, in front of the reader. */
static struct value *decoded(struct annotation *a, struct value *quantized,
                             const struct value *like, struct node *reader)
{
    const union attrs cast = { .cast = { .dtype = DTYPE_F32, .saturate = true } };
    const char *name = arena_printf(&a->q->module->arena, "%s.f32", like->name);
    const struct node *quantize = quantized->def;
    struct value *inputs[3] = { quantized };

    while (op_row(quantize->op)->pattern == PATTERN_VIEW)
        quantize = quantize->inputs[0]->def;
    if (quantize->op == OP_CAST)
        return annotation_make(a, OP_CAST, &cast, name, reader->origin,
                               reader->op == OP_RETURN ? NULL : reader, 1, inputs);
    inputs[1] = quantize->inputs[1];
    inputs[2] = quantize->inputs[2];
    return annotation_make(a, OP_QNN_DEQUANTIZE, NULL, name, reader->origin,
                           reader->op == OP_RETURN ? NULL : reader, 3, inputs);
}

/* The state in 16 bits, and where the reader computes with it, what of that it reads. */
static struct value *annotate_state(struct annotation *a, struct node *node, int input,
                                    struct data_scale wide, struct data_scale s)
{
    struct value *value = node->inputs[input];
    struct value *quantized = quantized_of(a, value, wide, node->origin);
    struct value *numbers = quantized ? decoded(a, quantized, value, node) : NULL;

    if (!numbers || node->op == OP_RETURN || reads_state(node, input) || moves_state(node))
        return numbers;
    quantized = quantize_value(a, numbers, s, node->origin);
    return quantized ? decoded(a, quantized, value, node) : NULL;
}

/* False when nothing is known about the value: reported at the end, for all. */
static bool annotate_data(struct annotation *a, struct node *node, int input,
                          const struct precision *precision, enum border border)
{
    struct value *value = node->inputs[input], *quantized, *numbers;
    struct data_scale s, wide;

    if (!data_scale_of(a->q, precision, value, &s))
        return false;
    if (state_scale_of(a->q, precision, value, &wide)) {
        numbers = annotate_state(a, node, input, wide, s);
    } else {
        if (square_scale_of(a->q, precision, value, &wide) ||
            (border == BORDER_WIDE && wide_scale_of(value, &wide)))
            s = wide;
        quantized = quantized_of(a, value, s, node->origin);
        numbers = quantized ? decoded(a, quantized, value, node) : NULL;
    }
    for (int i = input; numbers && i < node->n_inputs; i++)
        if (node->inputs[i] == value)
            node_set_input(node, i, numbers);
    a->ok = a->ok && numbers;
    return numbers != NULL;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* Exact arithmetic has these of FP8. */
static bool has_exact_form(const struct annotation *a, const struct node *node,
                           const struct precision *precision)
{
    if (!a->q->options->exact || !precision->has_data)
        return false;
    switch (node->op) {
    case OP_ARGMAX:
    case OP_ARGMIN:
    case OP_CUMSUM:
    case OP_GROUP_NORM:
    case OP_GRU:
    case OP_HARDMAX:
    case OP_INSTANCE_NORM:
    case OP_LAYER_NORM:
    case OP_LOG_SOFTMAX:
    case OP_LP_NORMALIZE:
    case OP_LRN:
    case OP_LSTM:
    case OP_RNN:
    case OP_SOFTMAX:
    case OP_TOPK: return true;
    default: return false;
    }
}

/* A single number, such as a scale that the network computes: 8 bits of a float would save nothing, and all that it
 * scales would be off by its error. */
static bool is_one_number(const struct annotation *a, const struct value *value,
                          const struct precision *precision)
{
    return value->type.rank == 0 && !annotation_in_integers(a->q, precision);
}

/* Whether the node's input becomes quantised values, and how. BORDER_NONE where it does not. */
static enum border border_of(const struct annotation *a, const struct node *node, int input,
                             const struct precision *precision)
{
    const struct value *value = node->inputs[input];

    if (op_row(node->op)->pattern == PATTERN_VIEW || !value || value->kind == VALUE_CONSTANT ||
        value->type.dtype != DTYPE_F32 || is_one_number(a, value, precision) ||
        (value->def && value->def->id >= a->n_nodes) ||
        (!reads_quantized(node, input, precision) && !has_exact_form(a, node, precision)))
        return BORDER_NONE;
    return border_before(&a->borders, value, node, precision);
}

static void annotate_node(struct annotation *a, struct node *node, struct quantize_line *line)
{
    const struct precision *precision = precision_of_node(a->q, node, &line->why);

    *line = (struct quantize_line){
        .node = node->outputs[0]->name, .op = node->op, .precision = *precision, .why = line->why
    };
    if (op_row(node->op)->pattern == PATTERN_VIEW)
        return; /* no code reads through it */
    for (int i = 1; i <= annotation_last_weight(a->q, node, precision); i++)
        annotate_weights(a, node, i, precision, line);
    if (node->op == OP_MATMUL && annotation_has_numbers(node->inputs[0]) &&
        node->inputs[0]->type.rank >= 2 && node->inputs[1]->kind != VALUE_CONSTANT &&
        annotation_in_integers(a->q, precision))
        annotate_left(a, node, precision);
    for (int i = 0; i < node->n_inputs; i++) {
        const enum border border = border_of(a, node, i, precision);

        if (border != BORDER_NONE)
            annotate_data(a, node, i, precision, border);
    }
}

/* Results of integer nodes are integers; with quantized_io, all results are small. A dequantize
 * behind them gives the floats that the caller expects. The precision that a result becomes small
 * by, NULL = it stays as it is. */
static const struct precision *precision_of_result(const struct annotation *a, int i)
{
    const struct value *value = a->fn->ret->inputs[i];
    const struct node *node = value->def;
    const struct precision *p;

    while (node && op_row(node->op)->pattern == PATTERN_VIEW)
        node = node->inputs[0]->def;
    p = node ? precision_of_node(a->q, node, NULL) : &a->q->options->precision;
    return value->type.dtype == DTYPE_F32 && value->kind == VALUE_OUTPUT && p->has_data && node &&
                   node->op != OP_QNN_DEQUANTIZE &&
                   (p->mode == PRECISION_INT8 || a->q->options->exact ||
                    a->q->options->quantized_io)
               ? p
               : NULL;
}

static void annotate_results(struct annotation *a)
{
    for (int i = 0; i < a->fn->ret->n_inputs; i++) {
        const struct precision *p = precision_of_result(a, i);

        if (p)
            annotate_data(a, a->fn->ret, i, p, BORDER_NARROW);
    }
}

/* The formats of `auto`, before anything is annotated. */
static void agree_on_formats(struct annotation *a, struct node *const *nodes)
{
    struct common_formats common = { .q = a->q, .tensors = { .arena = &a->q->ctx->scratch } };

    for (int k = 0; k < a->n_nodes; k++) {
        const struct node *node = nodes[k];
        const struct precision *p = precision_of_node(a->q, node, NULL);
        int rank;

        for (int i = 1; i <= annotation_last_weight(a->q, node, p); i++)
            if (annotation_has_numbers(node->inputs[i]))
                common_formats_add_weight(&common, p, node->inputs[i],
                                          is_product(node->op) ? product_channel_axis(node, &rank)
                                                               : 1);
        for (int i = 0; i < node->n_inputs; i++)
            if (border_of(a, node, i, p) != BORDER_NONE)
                common_formats_add_data(&common, p, node->inputs[i]);
    }
    for (int i = 0; i < a->fn->ret->n_inputs; i++)
        if (precision_of_result(a, i))
            common_formats_add_data(&common, precision_of_result(a, i), a->fn->ret->inputs[i]);
    common_formats_agree(&common);
}

/* What was measured has served. */
static void strip_calibration(struct function *fn)
{
    for (int i = 0; i < fn->n_params; i++)
        if (fn->params[i]->type.quant && fn->params[i]->type.quant->kind == QTYPE_CALIBRATED)
            fn->params[i]->type.quant = NULL;
    for (struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++) {
            struct type *type = &node->outputs[i]->type;

            if (type->quant && type->quant->kind == QTYPE_CALIBRATED)
                type->quant = NULL;
        }
}

static size_t constant_bytes(const struct function *fn)
{
    size_t bytes = 0;

    for (const struct value *c = fn->constants; c; c = c->next)
        if (c->uses)
            bytes += type_packed_bytes(&c->type) + type_scale_bytes(&c->type);
    return bytes;
}

bool quantize_annotate(struct quantization *q)
{
    struct function *fn = q->module->main;
    struct quantize_report *report = q->report;
    struct annotation a = { .q = q,
                            .fn = fn,
                            .stored = { .arena = &q->ctx->perm },
                            .coded = { .arena = &q->ctx->perm },
                            .ok = true };
    struct node **nodes;

    if (!choose_begin(q))
        return false;
    a.borders = (struct borders){ .q = q, .group_of = fuse_ops_groups(q->module) };
    a.n_nodes = a.borders.n_nodes = fn->n_nodes;
    nodes = arena_array(&q->ctx->scratch, struct node *, a.n_nodes);
    report->lines = arena_array(&q->ctx->perm, struct quantize_line, a.n_nodes);
    report->weight_bytes_before = constant_bytes(fn);
    for (struct node *node = fn->first; node; node = node->next)
        nodes[node->id] = node;
    borders_find(&a.borders, nodes, a.n_nodes);
    agree_on_formats(&a, nodes);
    for (int i = 0; i < a.n_nodes; i++)
        annotate_node(&a, nodes[i], &report->lines[report->n++]);
    annotate_results(&a);
    strip_calibration(fn);
    report->weight_bytes_after = constant_bytes(fn);
    return data_scale_report(q) && a.ok && q->ctx->diags.n_errors == 0;
}
