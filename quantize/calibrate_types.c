/* calibrate_types.c - float values get CALIBRATED types: what was measured of them.
 *
 * The table is the user's, or is made here of the samples. */
#include <string.h>

#include "quantize/steps.h"

static bool measure(struct quantization *q, struct calib_table *table)
{
    struct calibration_options options = { .n_threads = q->options->n_threads };
    struct threshold_method *methods;

    options.n_methods = threshold_methods(&q->ctx->perm, 99.99, &methods);
    options.methods = methods;
    return calibrate(q->ctx, q->module->main, q->options->samples, &options, table);
}

static void set_type(struct quantization *q, struct value *value)
{
    const struct calib_tensor *tensor = calib_find(q->calibration, value->name);
    const struct scale_rule *rule = &q->options->precision.data_scale;
    const char *wanted;
    const struct calib_threshold *threshold;
    struct qtype *quant;

    if (!tensor || value->type.dtype != DTYPE_F32)
        return;
    wanted = scale_rule_threshold(rule, &q->options->precision.data, &q->ctx->scratch);
    threshold = *wanted ? calib_threshold(tensor, wanted) : NULL;
    quant = arena_new(&q->module->arena, struct qtype);
    *quant = (struct qtype){
        .kind = QTYPE_CALIBRATED, .min = tensor->min, .max = tensor->max, .axis = -1
    };
    quant->threshold = threshold                  ? threshold->value
                       : quant->max > -quant->min ? quant->max
                                                  : -quant->min;
    value->type.quant = quant;
}

/* Whether data is stored small anywhere: weights need no calibration. */
static bool has_small_data(const struct quantize_options *options)
{
    const struct qtable *qtable = options->qtable;
    bool any = options->precision.has_data;

    for (int i = 0; qtable && i < qtable->n; i++)
        any = any || qtable->rows[i].precision.has_data;
    return any;
}

bool quantize_calibrate(struct quantization *q)
{
    struct function *fn = q->module->main;

    q->calibration = q->options->calib;
    if (!q->calibration && q->options->samples && has_small_data(q->options)) {
        struct calib_table *table = arena_new(&q->ctx->perm, struct calib_table);

        if (!measure(q, table))
            return false;
        q->calibration = table;
    }
    if (!q->calibration)
        return true;
    for (int i = 0; i < fn->n_params; i++)
        set_type(q, fn->params[i]);
    for (struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            set_type(q, node->outputs[i]);
    return true;
}
