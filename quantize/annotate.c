/* annotate.c - the QDQ form: what is to be stored small goes through quantize and dequantize.
 *
 * needs    a simplified float graph; CALIBRATED types where scales depend on data
 * gives    a value that a region reads from another one, and reads as quantised values: one
 *          qnn.quantize behind the value for all readers that want it alike, and a qnn.dequantize
 *          in front of each reader. Weights: quantised values behind a qnn.dequantize. FP8 with
 *          scale 1, and formats without a scale, have a cast instead. The graph still computes in
 *          f32: it simulates
 * method   regions are those that fuse_ops would make: what stays inside of one is not rounded */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "quantize/border.h"
#include "quantize/data_free.h"
#include "quantize/round_weights.h"
#include "quantize/steps.h"
#include "quantize/weights.h"
#include "relay_ir/ops/exact.h"

struct annotation {
    struct quantization *q;
    struct function *fn;
    struct borders borders;
    int n_nodes;       /* that were there before */
    struct map stored; /* "value format scale zero" -> struct value *, the quantised values */
    struct map coded;  /* "weight precision axis" -> struct value *, decoded weights */
    bool ok;
};

/* A node of ours, which is not annotated. */
static struct value *make(struct annotation *a, enum op op, const union attrs *attrs,
                          const char *name, const struct origin *origin, struct node *before, int n,
                          struct value *const *inputs)
{
    struct value *value = build(a->fn, op, attrs, name, origin, before, n, inputs);

    if (value)
        value->def->id = a->n_nodes;
    return value;
}

static const char *storage_name(struct annotation *a, const struct value *value, enum dtype dtype)
{
    return arena_printf(&a->q->module->arena, "%s.%s", value->name, dtype_name(dtype));
}

/* --- weights ---------------------------------------------------------------------------------- */

static struct value *zero_of(struct function *fn, enum dtype dtype, int32_t zero, const char *name)
{
    struct type type = type_scalar(dtype);
    void *data = constant_alloc(fn, &type);

    dtype_store_int(dtype, data, 0, zero);
    return constant_new(fn, name, &type, data);
}

static struct value *scale_of(struct function *fn, float scale, const char *name)
{
    const struct type type = type_scalar(DTYPE_F32);
    float *data = constant_alloc(fn, &type);

    *data = scale;
    return constant_new(fn, name, &type, data);
}

/* The quantised values as numbers, in front of the first of their readers. */
static struct value *decoded_weights(struct annotation *a, const struct quantized_weights *w,
                                     struct node *reader)
{
    struct arena *arena = &a->q->module->arena;
    const union attrs cast = { .cast = { .dtype = DTYPE_F32, .saturate = true } };
    const union attrs along = { .axis = { .axis = w->axis } };
    const char *name = arena_printf(arena, "%s.f32", w->codes->name);
    struct value *inputs[] = { w->codes, w->scales, NULL };

    if (!w->scales && w->codes->type.dtype == DTYPE_I8) /* integer operators want to see one */
        inputs[1] = scale_of(a->fn, 1, arena_printf(arena, "%s.scale", w->codes->name));
    if (!inputs[1])
        return make(a, OP_CAST, &cast, name, reader->origin, reader, 1, inputs);
    inputs[2] =
        zero_of(a->fn, w->codes->type.dtype, 0, arena_printf(arena, "%s.zero", w->codes->name));
    return make(a, OP_QNN_DEQUANTIZE, &along, name, reader->origin, reader, 3, inputs);
}

static bool weights_are_fine(struct ctx *ctx, const struct node *node, const struct value *weight)
{
    const int64_t at = weights_non_finite(weight);

    if (at < 0)
        return true;
    diag_error(ctx, DIAG_QUANTIZE, node_origin(node),
               "element %lld of the weight '%s' is %s, which cannot be quantised", (long long)at,
               str_safe(&ctx->perm, weight->name, 200),
               ((const float *)weight->data)[at] > 0   ? "infinite"
               : ((const float *)weight->data)[at] < 0 ? "-infinite"
                                                       : "NaN");
    diag_help(ctx, "repair the model, or keep this node with --keep-f32 %s",
              str_safe(&ctx->perm, node->outputs[0]->name, 200));
    return false;
}

/* Whether all is computed in integers. */
static bool wants_integers(const struct quantization *q, const struct precision *precision)
{
    return precision->mode == PRECISION_INT8 || (q->options->exact && precision->has_data);
}

/* Where the weights of a node are that become quantised values, up to input `last`: of products,
 * and of recurrent layers in integers. 0 = there are none. */
static int last_weight(const struct quantization *q, const struct node *node,
                       const struct precision *precision)
{
    if (is_product(node->op))
        return precision->has_weights ? 1 : 0;
    return is_recurrent(node->op) && precision->has_weights && wants_integers(q, precision) ? 2 : 0;
}

static bool has_numbers(const struct value *weight)
{
    return weight->kind == VALUE_CONSTANT && weight->type.dtype == DTYPE_F32;
}

/* Before anything is computed, which may take long: all that is wrong with names and weights. */
bool quantize_check(struct quantization *q)
{
    bool ok = choose_check(q);

    for (const struct node *node = q->module->main->first; node; node = node->next)
        for (int i = last_weight(q, node, precision_of_node(q, node, NULL)); i > 0; i--)
            if (has_numbers(node->inputs[i]))
                ok = weights_are_fine(q->ctx, node, node->inputs[i]) && ok;
    return ok;
}

/* The constant vector that is added to the product's channels; NULL = there is none. */
static const struct value *bias_of(const struct node *node, int64_t channels)
{
    const struct node *reader = value_only_user(node->outputs[0]);

    if (!reader || (reader->op != OP_BIAS_ADD && reader->op != OP_ADD) ||
        reader->inputs[1]->kind != VALUE_CONSTANT || reader->inputs[1]->type.dtype != DTYPE_F32 ||
        type_elements(&reader->inputs[1]->type) != channels)
        return NULL;
    return reader->inputs[1];
}

/* Integer sums are 32 bits wide (those of FP8 have 64), and a bias is counted in units of x_scale *
 * w_scale (and of the formats' least steps): a channel of next to nothing but its bias must not
 * have a scale so fine that the bias, or the unit, does not fit. NULL = any scale will do. */
static float *least_scales(struct annotation *a, const struct node *node,
                           const struct precision *precision, int axis)
{
    const struct minifloat *w_format = dtype_minifloat(precision->weights.dtype);
    const struct value *weight = node->inputs[1], *bias;
    const bool int8 = precision->mode == PRECISION_INT8;
    double most = 0x1p29, unit = 1, finest = 0;
    struct data_scale x;
    float *least;

    if (axis < 0 || !wants_integers(a->q, precision) ||
        !data_scale_of(a->q, precision, node->inputs[0], &x))
        return NULL;
    bias = bias_of(node, weight->type.dim[axis]);
    if (!bias)
        return NULL;
    unit = (double)x.scale;
    if (!int8) {
        if (!w_format || !dtype_minifloat(x.format.dtype))
            return NULL;
        unit *= ldexp(1, exact_unit(w_format) + exact_unit(dtype_minifloat(x.format.dtype)));
        most = 0x1p57;
        finest = 0x1p-125;
    }
    least = arena_array(&a->q->ctx->scratch, float, (size_t)weight->type.dim[axis]);
    for (int64_t i = 0; i < weight->type.dim[axis]; i++)
        least[i] =
            (float)(fmax(fabs((double)((const float *)bias->data)[i]) / most, finest) / unit);
    return least;
}

/* Equal for readers that want the weight alike. In ctx->perm. */
static const char *weight_key(const struct annotation *a, const struct node *node, int input,
                              const struct precision *precision, int axis, bool own)
{
    return arena_printf(&a->q->ctx->perm, "%s %s %s %d %s", node->inputs[input]->name,
                        precision->weights.name, precision->weight_scale.name, axis,
                        own ? node->outputs[0]->name : "");
}

/* Those of a recurrent layer have a scale for each row of gates, which both directions share, by
 * the rule: no search tries others. */
static void annotate_weights(struct annotation *a, struct node *node, int input,
                             const struct precision *precision, struct quantize_line *line)
{
    struct value *weight = node->inputs[input];
    const bool product = is_product(node->op);
    struct precision own;
    const bool searched = product && (precision->weight_scale.kind == SCALE_SEARCH ||
                                      precision->weights.chooses_split);
    struct chosen_scales chosen = { .n = 0 };
    struct quantized_weights made;
    struct value *numbers;
    const float *least;
    int axis, rank;

    if (weight->kind != VALUE_CONSTANT && wants_integers(a->q, precision))
        return; /* they are data */
    if (!has_numbers(weight) || type_elements(&weight->type) == 0) {
        line->why =
            weight->kind == VALUE_CONSTANT ? "its weights are not f32" : "its weights are computed";
        return;
    }
    axis = product ? product_channel_axis(node, &rank) : 1;
    own = precision_for_weight(a->q, precision, weight, axis);
    precision = &own;
    least = product ? least_scales(a, node, precision, axis) : NULL;
    line->weight_bytes_before += type_bytes(&weight->type);
    numbers = map_get(&a->coded, weight_key(a, node, input, precision, axis, least));
    if (!numbers) {
        if (product && (searched || a->q->options->log) && !precision->weights.block)
            search_weight_scales(a->q, node, axis, precision, &chosen);
        weights_encode(weight, axis, precision, searched && chosen.n ? &chosen : NULL, least,
                       &made);
        numbers = decoded_weights(a, &made, node);
        if (!numbers) {
            a->ok = false;
            return;
        }
        line->weight_bytes_after += weights_bytes(&made);
        if (product)
            round_remember(a->q, weight, numbers->def);
        /* the weight has another name now, under which other readers know it */
        map_set(&a->coded, weight_key(a, node, input, precision, axis, least), numbers);
    }
    node_set_input(node, input, numbers);
}

/* A constant on the left of a matrix product with computed numbers: a transform, or places of a
 * grid. It is read as data are: one scale; in int8 16 bits, where 32 hold the sums. */
static void annotate_left(struct annotation *a, struct node *node,
                          const struct precision *precision)
{
    struct value *left = node->inputs[0];
    const int64_t n = type_elements(&left->type);
    const int64_t terms = n ? left->type.dim[left->type.rank - 1] : 0;
    const enum dtype dtype = terms * 255 <= INT32_MAX / INT16_MAX ? DTYPE_I16 : DTYPE_I8;
    const double most = dtype == DTYPE_I16 ? INT16_MAX : INT8_MAX;
    const struct type type = type_make(dtype, left->type.rank, left->type.dim);
    struct quantized_weights codes = { .axis = 0 };
    double greatest = 0;
    void *data;

    if (n == 0 || weights_non_finite(left) >= 0)
        return;
    if (precision->mode != PRECISION_INT8) {
        weights_encode(left, -1, precision, NULL, NULL, &codes);
    } else {
        const float *numbers = left->data;

        for (int64_t i = 0; i < n; i++)
            greatest = fmax(greatest, fabs((double)numbers[i]));
        greatest = (double)(float)fmax(greatest / most, FLT_MIN);
        data = constant_alloc(a->fn, &type);
        for (int64_t i = 0; i < n; i++)
            dtype_store_int(dtype, data, i,
                            (int64_t)fmax(-most, fmin(most, rint((double)numbers[i] / greatest))));
        codes.codes = constant_new(a->fn, storage_name(a, left, dtype), &type, data);
        codes.scales = scale_of(a->fn, (float)greatest,
                                arena_printf(&a->q->module->arena, "%s.scale", codes.codes->name));
    }
    left = decoded_weights(a, &codes, node);
    a->ok = a->ok && left;
    if (left)
        node_set_input(node, 0, left);
}

/* --- data ------------------------------------------------------------------------------------- */

/* Directly behind what computes the value. */
static struct node *place_behind(const struct value *value)
{
    return value->def ? value->def->next : value->fn->first;
}

static struct value *quantized(struct annotation *a, struct value *value, struct data_scale s,
                               const struct origin *origin)
{
    const struct number_format *format = &s.format;
    const union attrs cast = { .cast = { .dtype = format->dtype, .saturate = true } };
    const union attrs attrs = { .quantize = { .saturate = true } };
    const char *name = storage_name(a, value, format->dtype);
    struct value *inputs[3] = { value };

    if (!dtype_is_integer(format->dtype) && s.scale == 1)
        return make(a, OP_CAST, &cast, name, origin, place_behind(value), 1, inputs);
    inputs[1] = scale_of(a->fn, s.scale, arena_printf(&a->q->module->arena, "%s.scale", name));
    inputs[2] =
        zero_of(a->fn, format->dtype, s.zero, arena_printf(&a->q->module->arena, "%s.zero", name));
    return make(a, OP_QNN_QUANTIZE, &attrs, name, origin, place_behind(value), 3, inputs);
}

/* The quantised values of a value. A view is one of the quantised values: so they lie where the
 * viewed value would. */
static struct value *codes_of(struct annotation *a, struct value *value, struct data_scale s,
                              const struct origin *origin)
{
    const struct number_format *format = &s.format;
    const struct node *view = value->def;
    const char *key = arena_printf(&a->q->ctx->perm, "%s %s %a %d", value->name, format->name,
                                   (double)s.scale, (int)s.zero);
    struct value *codes = map_get(&a->stored, key);

    if (codes)
        return codes;
    if (view && op_row(view->op)->pattern == PATTERN_VIEW &&
        view->inputs[0]->kind != VALUE_CONSTANT) {
        struct value *behind = codes_of(a, view->inputs[0], s, origin);

        codes = behind ? make(a, view->op, &view->attrs, storage_name(a, value, format->dtype),
                              view->origin, view->next, 1, &behind)
                       : NULL;
    } else {
        codes = quantized(a, value, s, value->def ? value->def->origin : origin);
    }
    map_set(&a->stored, key, codes);
    return codes;
}

/* What `codes_of` gave, as numbers, in front of the reader. */
static struct value *decoded(struct annotation *a, struct value *codes, const struct value *like,
                             struct node *reader)
{
    const union attrs cast = { .cast = { .dtype = DTYPE_F32, .saturate = true } };
    const char *name = arena_printf(&a->q->module->arena, "%s.f32", like->name);
    const struct node *quantize = codes->def;
    struct value *inputs[3] = { codes };

    while (op_row(quantize->op)->pattern == PATTERN_VIEW)
        quantize = quantize->inputs[0]->def;
    if (quantize->op == OP_CAST)
        return make(a, OP_CAST, &cast, name, reader->origin,
                    reader->op == OP_RETURN ? NULL : reader, 1, inputs);
    inputs[1] = quantize->inputs[1];
    inputs[2] = quantize->inputs[2];
    return make(a, OP_QNN_DEQUANTIZE, NULL, name, reader->origin,
                reader->op == OP_RETURN ? NULL : reader, 3, inputs);
}

/* The state in 16 bits, and where the reader computes with it, what of that it reads. */
static struct value *annotate_state(struct annotation *a, struct node *node, int input,
                                    struct data_scale wide, struct data_scale s)
{
    struct value *value = node->inputs[input];
    struct value *codes = codes_of(a, value, wide, node->origin);
    struct value *numbers = codes ? decoded(a, codes, value, node) : NULL;

    if (!numbers || node->op == OP_RETURN || reads_state(node, input) || moves_state(node))
        return numbers;
    codes = quantized(a, numbers, s, node->origin);
    return codes ? decoded(a, codes, value, node) : NULL;
}

/* False when nothing is known about the value: reported at the end, for all. */
static bool annotate_data(struct annotation *a, struct node *node, int input,
                          const struct precision *precision, enum border border)
{
    struct value *value = node->inputs[input], *codes, *numbers;
    struct data_scale s, wide;

    if (!data_scale_of(a->q, precision, value, &s))
        return false;
    if (state_scale_of(a->q, precision, value, &wide)) {
        numbers = annotate_state(a, node, input, wide, s);
    } else {
        if (square_scale_of(a->q, precision, value, &wide) ||
            (border == BORDER_WIDE && wide_scale_of(value, &wide)))
            s = wide;
        codes = codes_of(a, value, s, node->origin);
        numbers = codes ? decoded(a, codes, value, node) : NULL;
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

static void annotate_node(struct annotation *a, struct node *node, struct quantize_line *line)
{
    const struct precision *precision = precision_of_node(a->q, node, &line->why);

    *line = (struct quantize_line){
        .node = node->outputs[0]->name, .op = node->op, .precision = *precision, .why = line->why
    };
    if (op_row(node->op)->pattern == PATTERN_VIEW)
        return; /* no code reads through it */
    for (int i = 1; i <= last_weight(a->q, node, precision); i++)
        annotate_weights(a, node, i, precision, line);
    if (node->op == OP_MATMUL && has_numbers(node->inputs[0]) && node->inputs[0]->type.rank >= 2 &&
        node->inputs[1]->kind != VALUE_CONSTANT && wants_integers(a->q, precision))
        annotate_left(a, node, precision);
    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *value = node->inputs[i];

        if (value && value->kind != VALUE_CONSTANT && value->type.dtype == DTYPE_F32 &&
            (reads_quantized(node, i, precision) || has_exact_form(a, node, precision)) &&
            !(value->def && value->def->id >= a->n_nodes)) {
            const enum border border = border_before(&a->borders, value, node, precision);

            if (border != BORDER_NONE)
                annotate_data(a, node, i, precision, border);
        }
    }
}

/* Results of integer nodes are integers; with quantized_io, all results are small. A dequantize
 * behind them gives the floats that the caller expects. */
static void annotate_results(struct annotation *a)
{
    struct node *ret = a->fn->ret;

    for (int i = 0; i < ret->n_inputs; i++) {
        const struct value *value = ret->inputs[i];
        const struct node *node = value->def;
        const struct precision *p;

        while (node && op_row(node->op)->pattern == PATTERN_VIEW)
            node = node->inputs[0]->def;
        p = node ? precision_of_node(a->q, node, NULL) : &a->q->options->precision;
        if (value->type.dtype == DTYPE_F32 && value->kind == VALUE_OUTPUT && p->has_data && node &&
            node->op != OP_QNN_DEQUANTIZE &&
            (p->mode == PRECISION_INT8 || a->q->options->exact || a->q->options->quantized_io))
            annotate_data(a, ret, i, p, BORDER_NARROW);
    }
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
    for (int i = 0; i < a.n_nodes; i++)
        annotate_node(&a, nodes[i], &report->lines[report->n++]);
    annotate_results(&a);
    strip_calibration(fn);
    report->weight_bytes_after = constant_bytes(fn);
    return data_scale_report(q) && a.ok && q->ctx->diags.n_errors == 0;
}
