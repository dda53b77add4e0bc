#include "quantize/quantize.h"

#include "quantize/data_free.h"
#include "quantize/quantize_io.h"
#include "quantize/quantize_log.h"
#include "quantize/steps.h"

bool quantize_wanted(const struct quantize_options *options)
{
    return options->precision.mode != PRECISION_F32 || options->qtable || options->equalize;
}

static bool is_small(const struct quantize_line *line)
{
    return !line->why && (line->precision.has_weights || line->precision.has_data);
}

static bool run_fold_dequantize(struct quantization *q)
{
    return pass_fold_dequantize(q->module);
}

static bool run_fake_quant_to_integer(struct quantization *q)
{
    return pass_fake_quant_to_integer(q->module);
}

static bool run_fake_quant_to_exact(struct quantization *q)
{
    return pass_fake_quant_to_exact(q->module);
}

static bool run_fold_constant(struct quantization *q)
{
    return pass_fold_constant(q->module);
}

static bool run_quantize_io(struct quantization *q)
{
    q->report->n_f32_io = quantize_io(q->module);
    return q->report->n_f32_io >= 0;
}

static bool run_dead_code(struct quantization *q)
{
    return pass_dead_code(q->module);
}

enum when {
    SIMULATE,
    REALISE,
    REALISE_EXACT, /* with quantize_options.exact only */
    REALISE_IO     /* with quantize_options.quantized_io only */
};

struct row {
    struct quantize_step step;
    bool (*run)(struct quantization *q);
    enum when when;
    enum promise promise;
};

#define ROW(name, when, promise, run, purpose)                                                     \
    {                                                                                              \
        { #name, purpose }, run, when, PROMISE_##promise                                           \
    }

static const struct row rows[] = {
    ROW(check, SIMULATE, BITS, quantize_check,
        "finds names without a node, and weights that cannot be quantised"),
    ROW(equalize, SIMULATE, ROUNDING, quantize_equalize,
        "equalises the channels of adjacent layers"),
    ROW(smooth, SIMULATE, ROUNDING, quantize_smooth,
        "moves ranges of data after norms into weights"),
    ROW(calibrate, SIMULATE, BITS, quantize_calibrate, "assigns measured ranges to float values"),
    ROW(observe, SIMULATE, BITS, quantize_observe, "records channel means of the float model"),
    ROW(choose_scale, SIMULATE, BITS, quantize_choose_scale,
        "chooses the rule for data scales with the least loss"),
    ROW(choose_formats, SIMULATE, BITS, quantize_choose_formats,
        "chooses how many formats of FP8 the results need"),
    ROW(annotate, SIMULATE, CODING, quantize_annotate,
        "inserts quantize and dequantize at quantised values"),
    ROW(dead_code, SIMULATE, BITS, run_dead_code, "removes nodes that no result needs"),
    ROW(round, SIMULATE, NEIGHBOURS, quantize_round, "rounds weights by the error of the results"),
    ROW(correct_bias, SIMULATE, SHIFT, quantize_correct_bias, "corrects shifted means"),
    ROW(fake_quant_to_exact, REALISE_EXACT, CODES, run_fake_quant_to_exact,
        "computes FP8 in integers"),
    ROW(fake_quant_to_integer, REALISE, CODES, run_fake_quant_to_integer,
        "computes in integers between dequantize and quantize"),
    ROW(fold_dequantize, REALISE, CODES, run_fold_dequantize,
        "keeps weights and FP8 data quantised, and moves scales behind products"),
    ROW(fold_constant, REALISE, BITS, run_fold_constant,
        "evaluates what depends on constants only"),
    ROW(dead_code, REALISE, BITS, run_dead_code, "removes nodes that no result needs"),
    ROW(quantize_io, REALISE_IO, CODES, run_quantize_io, "quantises inputs and outputs"),
};

#undef ROW

enum { N_ROWS = sizeof rows / sizeof *rows };

const struct quantize_step *quantize_step(int i)
{
    return i < N_ROWS ? &rows[i].step : NULL;
}

struct running {
    struct quantization *q;
    const struct row *row;
};

static bool run_row(struct module *module, void *user)
{
    const struct running *running = user;

    (void)module;
    return running->row->run(running->q);
}

/* What the row may change with these options. */
static enum promise promise_of(const struct row *row, const struct quantize_options *options)
{
    if (row->run == quantize_round && options->round != ROUND_ADAROUND)
        return options->round == ROUND_NEAREST ? PROMISE_BITS : PROMISE_NEAR;
    if (row->run == quantize_correct_bias && options->bias == BIAS_AS_IS)
        return PROMISE_BITS;
    return row->promise;
}

static bool run_rows(struct quantization *q, bool realise, const struct pipeline_options *pipeline)
{
    for (int i = 0; i < N_ROWS; i++) {
        struct running running = { q, &rows[i] };

        if ((rows[i].when != SIMULATE) != realise ||
            (rows[i].when == REALISE_EXACT && !q->options->exact) ||
            (rows[i].when == REALISE_IO && !q->options->quantized_io))
            continue;
        if (!pipeline_run_step(q->module, rows[i].step.name, promise_of(&rows[i], q->options),
                               run_row, &running, pipeline))
            return false;
    }
    return true;
}

static void count_products(struct quantize_report *report)
{
    for (int i = 0; i < report->n; i++) {
        const struct quantize_line *line = &report->lines[i];

        report->n_products += is_product(line->op);
        report->n_quantized_products += is_product(line->op) && is_small(line);
    }
}

bool quantize_module(struct module *module, const struct quantize_options *options,
                     const struct pipeline_options *pipeline, struct quantize_report *report)
{
    struct quantization q = { .module = module,
                              .ctx = module->ctx,
                              .options = options,
                              .report = report,
                              .validation = pipeline->validation,
                              .logged = { .arena = &module->ctx->perm },
                              .formats = { .arena = &module->ctx->perm } };
    bool ok;

    *report = (struct quantize_report){ .noise = -1 };
    if (options->log && !options->log_json)
        quantize_log_head(options->log);
    ok = run_rows(&q, false, pipeline);
    estimate_end(&q, ok);
    if (!ok)
        return false;
    count_products(report);
    return options->simulate_only || run_rows(&q, true, pipeline);
}
