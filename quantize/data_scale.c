/* data_scale.c - the scale and zero point of what is computed.
 *
 * method   a value that only moves or compares numbers has the scale of what it is made of, and the
 *          parts of a concatenation that of the whole: quantised values can then be moved as they are */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "quantize/data_free.h"
#include "relay_ir/region.h"

/* Whether every window has a number of the feature map, and not padding alone. */
static bool is_narrower(const struct pad_attrs *pad, const struct ints *window)
{
    const int spatial = pad->pad_before.n - window->n;

    for (int i = 0; i < pad->pad_before.n; i++) {
        const int64_t limit = i < spatial ? 1 : window->at[i - spatial];

        if (pad->pad_before.at[i] >= limit || pad->pad_after.at[i] >= limit)
            return false;
    }
    return true;
}

/* Whether nobody but max pools reads the padded value, maybe rounded: padding below the range of x
 * saturates, and is still not the greatest. */
static bool only_the_greatest_counts(const struct pad_attrs *pad, const struct value *value)
{
    for (const struct use *use = value->uses; use; use = use->next)
        switch (use->node->op) {
        case OP_CAST:
        case OP_QNN_DEQUANTIZE:
        case OP_QNN_QUANTIZE:
            if (!only_the_greatest_counts(pad, use->node->outputs[0]))
                return false;
            break;
        case OP_MAX_POOL1D:
        case OP_MAX_POOL2D:
        case OP_MAX_POOL3D:
            if (!is_narrower(pad, &use->node->attrs.pool.pool_size))
                return false;
            break;
        default: return false;
        }
    return value->uses != NULL;
}

/* With 0, which every range has, or with numbers of x; another may lie far outside of x's range. */
static bool pads_within_range(const struct node *node)
{
    const struct pad_attrs *pad = &node->attrs.pad;
    const bool constant = !*pad->mode || strcmp(pad->mode, "constant") == 0;

    return !constant || pad->value == 0 ||
           (pad->value < 0 && only_the_greatest_counts(pad, node->outputs[0]));
}

bool keeps_numbers(const struct node *node)
{
    switch (node->op) {
    case OP_COPY:
    case OP_TRANSPOSE:
    case OP_STRIDED_SLICE:
    case OP_SPLIT:
    case OP_TILE:
    case OP_BROADCAST_TO:
    case OP_DEPTH_TO_SPACE:
    case OP_SPACE_TO_DEPTH:
    case OP_REVERSE_SEQUENCE:
    case OP_TAKE:
    case OP_GATHER:
    case OP_GRID_SAMPLE:
    case OP_TOPK:
    case OP_MAX_POOL1D:
    case OP_MAX_POOL2D:
    case OP_MAX_POOL3D:
    case OP_MAX_POOL_INDICES:
    case OP_GLOBAL_MAX_POOL: return true;
    case OP_RESIZE: return node->attrs.resize.extrapolation_value == 0;
    case OP_RELU: /* behind what interpolates: nothing finer is known, and integers have none */
    case OP_CLIP: return node->inputs[0]->def && node->inputs[0]->def->op == OP_RESIZE;
    case OP_PAD: return pads_within_range(node);
    default: return op_row(node->op)->pattern == PATTERN_VIEW;
    }
}

/* The concatenation that alone reads the value, through operators that keep numbers. */
static const struct value *joined_into(const struct value *value)
{
    const struct node *reader = value_only_user(value);

    while (reader && keeps_numbers(reader) && reader->inputs[0] == value) {
        value = reader->outputs[0];
        reader = value_only_user(value);
    }
    return reader && reader->op == OP_CONCATENATE ? reader->outputs[0] : NULL;
}

/* What was quantised and dequantised: by annotate, where a reader was visited before, or by a QDQ
 * model, whose quantised values are moved in between. Otherwise the value itself. */
static const struct value *behind_rounding(const struct value *value)
{
    const struct node *decode = value->def, *quantize;

    if (!decode || !is_decoder(decode))
        return value;
    quantize = decode->inputs[0]->def;
    while (quantize && keeps_numbers(quantize))
        quantize = quantize->inputs[0]->def;
    return quantize && (quantize->op == OP_QNN_QUANTIZE || quantize->op == OP_CAST)
               ? quantize->inputs[0]
               : value;
}

/* The operand whose numbers the value holds; NULL = it has numbers of its own. */
static const struct value *kept_from(const struct value *value)
{
    return value->def && keeps_numbers(value->def) &&
                   value->def->inputs[0]->kind != VALUE_CONSTANT &&
                   value->def->inputs[0]->type.dtype == DTYPE_F32
               ? value->def->inputs[0]
               : NULL;
}

const struct value *data_scale_source(const struct value *value)
{
    for (;;) {
        const struct value *whole, *kept;

        value = behind_rounding(value);
        kept = kept_from(value);
        /* Views of a value have one place, and so one scale: whoever else reads one decides, too.
         */
        whole = kept && op_row(value->def->op)->pattern == PATTERN_VIEW ? NULL : joined_into(value);
        if (!whole && !kept)
            return value;
        value = whole ? whole : kept;
    }
}

static bool remember(int *n, const struct value **list, const struct value *value)
{
    for (int i = 0; i < *n && i < NAMED_VALUES; i++)
        if (list[i] == value)
            return false;
    if (*n < NAMED_VALUES)
        list[*n] = value;
    ++*n;
    return false;
}

/* What a rule makes of the CALIBRATED type, or of the table where another rule is asked for. */
static bool calibrated_scale(struct quantization *q, const struct scale_rule *rule,
                             const struct number_format *format, const struct value *source,
                             float *scale)
{
    const struct calib_tensor *tensor =
        q->calibration ? calib_find(q->calibration, source->name) : NULL;

    if (!scale_rule_needs_data(rule)) {
        *scale = scale_of_numbers(rule, format, NULL, 0);
        return true;
    }
    if (!tensor || !source->type.quant || source->type.quant->kind != QTYPE_CALIBRATED)
        return remember(&q->n_unknown, q->unknown, source);
    if (tensor->non_finite)
        return remember(&q->n_broken, q->broken, source);
    return scale_of_calibration(rule, format, tensor, scale) ||
           remember(&q->n_unknown, q->unknown, source);
}

/* 0 is always a number of the format, exactly: padding and relu need it. */
static void set_range(double least, double greatest, struct data_scale *s)
{
    const double lo = fmin(least, 0), hi = fmax(greatest, 0);

    s->scale = (float)((hi - lo) / 255);
    s->zero = 0;
    if (s->scale < FLT_MIN)
        s->scale = 1; /* a tensor of zeros */
    else
        s->zero = (int32_t)fmax(-128, fmin(127, rint(-128 - lo / (double)s->scale)));
}

/* Asymmetric: the measured range, cut at the threshold on both sides. Rules that give a scale
 * itself (unit, numbers, powers of two) are symmetric. */
static bool affine_scale(struct quantization *q, const struct precision *p,
                         const struct value *source, struct data_scale *out)
{
    const struct scale_rule *rule = &p->data_scale;
    const struct qtype *quant = source->type.quant;
    double threshold;

    if (q->is_guessed && scale_rule_needs_data(rule)) /* int8 needs what was measured */
        return remember(&q->n_unknown, q->unknown, source);
    if (!calibrated_scale(q, rule, &p->data, source, &out->scale))
        return false;
    out->zero = 0;
    if (!scale_rule_needs_data(rule) || rule->kind == SCALE_POW2)
        return true;
    threshold = rule->kind == SCALE_MAX ? (double)INFINITY
                                        : (double)out->scale * number_format_max(&p->data);
    set_range(fmax(quant->min, -threshold), fmin(quant->max, threshold), out);
    return true;
}

bool data_scale_of(struct quantization *q, const struct precision *precision,
                   const struct value *value, struct data_scale *out)
{
    struct precision p = precision_with_rule(q, precision);
    const struct value *source = data_scale_source(value);

    p.data = data_format_of(q, &p, source);
    *out = (struct data_scale){ p.data, 1, 0 };
    if (q->options->log && search_data_scale(q, &p, source, out))
        *out = (struct data_scale){ p.data, 1, 0 }; /* for the log only */
    if (p.data_scale.kind == SCALE_SEARCH)
        return search_data_scale(q, &p, source, out) || remember(&q->n_unknown, q->unknown, source);
    if (p.mode == PRECISION_INT8)
        return affine_scale(q, &p, source, out);
    if (!p.has_data_scale && !q->calibration) {
        out->format = data_free_format(q, &p, source, NULL);
        return true; /* FP8 has the range of most activations: no calibration is needed */
    }
    if (q->is_guessed) {
        const struct calib_tensor *tensor = calib_find(q->calibration, source->name);

        out->format = data_free_format(q, &p, source, tensor);
        if (!tensor)
            return true; /* as without a calibration */
    }
    return calibrated_scale(q, &p.data_scale, &out->format, source, &out->scale);
}

static const char *list_values(struct ctx *ctx, int n, const struct value *const *values)
{
    struct str text = { .arena = &ctx->perm };

    for (int i = 0; i < n && i < NAMED_VALUES; i++)
        str_printf(&text, "%s'%s'", i ? ", " : "", str_safe(&ctx->perm, values[i]->name, 100));
    if (n > NAMED_VALUES)
        str_printf(&text, " and %d more", n - NAMED_VALUES);
    return str_text(&text);
}

bool data_scale_report(struct quantization *q)
{
    if (q->n_unknown && !q->calibration) {
        diag_error(q->ctx, DIAG_QUANTIZE, NULL, "the precision needs the range of %d tensor%s: %s",
                   q->n_unknown, str_plural(q->n_unknown),
                   list_values(q->ctx, q->n_unknown, q->unknown));
        diag_help(q->ctx, "give --calib TABLE (relayc calibrate writes it), or --data PATH");
    } else if (q->n_unknown) {
        diag_error(q->ctx, DIAG_QUANTIZE, NULL,
                   "the calibration table lacks data of %d tensor%s: %s", q->n_unknown,
                   str_plural(q->n_unknown), list_values(q->ctx, q->n_unknown, q->unknown));
        diag_help(q->ctx, "calibrate this model again with this version of relayc");
    }
    if (q->n_broken) {
        diag_error(q->ctx, DIAG_QUANTIZE, NULL,
                   "calibration found infinities or NaN in %d tensor%s: %s", q->n_broken,
                   str_plural(q->n_broken), list_values(q->ctx, q->n_broken, q->broken));
        diag_help(q->ctx, "check the data and its preprocessing, or keep these nodes f32");
    }
    return q->n_unknown == 0 && q->n_broken == 0;
}
