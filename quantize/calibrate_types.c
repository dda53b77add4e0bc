/* calibrate_types.c - float values get CALIBRATED types: what was measured of them.
 *
 * The table is the user's, or is made here of the samples. */
#include <string.h>

#include "base/str.h"
#include "quantize/calib_zeros.h"
#include "quantize/data_free.h"
#include "quantize/steps.h"

static bool reads_threshold(struct quantization *q, const struct precision *precision,
                            const char *method)
{
    const struct scale_rule *rule = &precision->data_scale;

    return precision->has_data &&
           (rule->kind == SCALE_TABLE || choose_scale_reads(q, precision, method) ||
            strcmp(method, scale_rule_threshold(rule, &precision->data, &q->ctx->scratch)) == 0);
}

static bool is_needed(struct quantization *q, const char *method)
{
    const struct qtable *qtable = q->options->qtable;
    bool needed = reads_threshold(q, &q->options->precision, method);

    for (int i = 0; qtable && i < qtable->n && !needed; i++)
        needed = reads_threshold(q, &qtable->rows[i].precision, method);
    return needed;
}

/* Thresholds that no rule reads are not looked for: those of KL and of the least square take longer
 * than the runs do. */
static bool measure(struct quantization *q, struct calib_table *table)
{
    struct calibration_options options = { .n_threads = q->options->n_threads };
    struct threshold_method *methods;
    const int n = threshold_methods(&q->ctx->perm, 99.99, &methods);

    options.methods = methods;
    for (int i = 0; i < n; i++)
        if (is_needed(q, methods[i].name))
            methods[options.n_methods++] = methods[i];
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

static int rank_of(const char *shape)
{
    int rank = 1;

    for (; *shape; shape++)
        rank += *shape == 'x';
    return rank;
}

/* "1x3x224x224", but for the batch; any_shape: as many dims. */
static bool has_shape(const struct type *type, const char *shape, bool any_shape,
                      struct arena *scratch)
{
    struct str text = { .arena = scratch };
    const char *x = strchr(shape, 'x');

    if (!*shape || type->rank == 0)
        return true;
    if (any_shape)
        return rank_of(shape) == type->rank;
    for (int i = 1; i < type->rank; i++)
        str_printf(&text, "x%lld", (long long)type->dim[i]);
    return strcmp(str_text(&text), x ? x : "") == 0;
}

static void check_shape(struct quantization *q, const struct value *value, struct str *list, int *n)
{
    const struct calib_tensor *tensor = calib_find(q->calibration, value->name);

    if (!tensor || has_shape(&value->type, tensor->shape, q->options->any_shape, &q->ctx->scratch))
        return;
    if (++*n <= NAMED_VALUES)
        str_printf(list, "%s'%s' is %s, %s in the table", *n > 1 ? "; " : "",
                   str_safe(&q->ctx->perm, value->name, 100),
                   type_text(&q->ctx->perm, &value->type),
                   str_safe(&q->ctx->perm, tensor->shape, 100));
    else if (*n == NAMED_VALUES + 1)
        str_add(list, "; and others");
}

/* A table that was made of another model, or of this one with other shapes. */
static bool check_table(struct quantization *q)
{
    const struct function *fn = q->module->main;
    struct str list = { .arena = &q->ctx->perm };
    const char *path = q->ctx->diags.input_name, *model = q->calibration->model;
    const char *file = path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    int n = 0;

    if (*model && file && strcmp(model, file) != 0)
        diag_warn(q->ctx, DIAG_CALIB_TABLE, NULL, "the calibration table is of '%s'",
                  str_safe(&q->ctx->perm, model, 200));
    for (int i = 0; i < fn->n_params; i++)
        check_shape(q, fn->params[i], &list, &n);
    for (const struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            check_shape(q, node->outputs[i], &list, &n);
    if (!n)
        return true;
    diag_error(q->ctx, DIAG_CALIB_TABLE, NULL,
               "the calibration table has other shapes than the model: %s", str_text(&list));
    diag_help(q->ctx, "calibrate this model with the shapes of the compilation");
    return false;
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
    if (!q->calibration && q->options->choose_formats &&
        q->options->precision.mode == PRECISION_FP8) {
        q->calibration = data_free_table(q);
        q->is_guessed = q->calibration != NULL;
    }
    if (!q->calibration)
        return true;
    if (q->options->calib && !check_table(q))
        return false;
    if (!q->is_guessed)
        calib_warn_zeros(q->ctx, q->calibration);
    for (int i = 0; i < fn->n_params; i++)
        set_type(q, fn->params[i]);
    for (struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            set_type(q, node->outputs[i]);
    return true;
}
