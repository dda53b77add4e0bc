#include "quantize/quantize.h"

#include "quantize/steps.h"

bool quantize_wanted(const struct quantize_options *options)
{
    return options->precision.mode != PRECISION_F32 || options->qtable || options->equalize;
}

static bool is_small(const struct quantize_line *line)
{
    return !line->why && (line->precision.has_weights || line->precision.has_data);
}

/* One step under the pass runner. */
struct step {
    const char *name;
    bool (*run)(struct quantization *q);
};

static bool run_fold_dequantize(struct quantization *q)
{
    return pass_fold_dequantize(q->module);
}

static bool run_fake_quant_to_integer(struct quantization *q)
{
    return pass_fake_quant_to_integer(q->module);
}

static bool run_fold_constant(struct quantization *q)
{
    return pass_fold_constant(q->module);
}

static bool run_dead_code(struct quantization *q)
{
    return pass_dead_code(q->module);
}

/* Rows of the corrections (equalize, observe, correct_bias) stand around these. */
static const struct step simulate[] = {
    { "calibrate", quantize_calibrate },
    { "annotate", quantize_annotate },
};

static const struct step realise[] = {
    { "fake_quant_to_integer", run_fake_quant_to_integer },
    { "fold_dequantize", run_fold_dequantize },
    { "fold_constant", run_fold_constant },
    { "dead_code", run_dead_code },
};

struct running {
    struct quantization *q;
    const struct step *step;
};

static bool run_step(struct module *module, void *user)
{
    const struct running *running = user;

    (void)module;
    return running->step->run(running->q);
}

static bool run_steps(struct quantization *q, const struct step *steps, size_t n,
                      const struct pipeline_options *pipeline)
{
    for (size_t i = 0; i < n; i++) {
        struct running running = { q, &steps[i] };

        if (!pipeline_run_step(q->module, steps[i].name, run_step, &running, pipeline))
            return false;
    }
    return true;
}

static void count_products(struct quantize_report *report)
{
    for (int i = 0; i < report->n; i++) {
        const struct quantize_line *line = &report->lines[i];

        report->n_products += is_product(line->op);
        report->n_small_products += is_product(line->op) && is_small(line);
    }
}

bool quantize_module(struct module *module, const struct quantize_options *options,
                     const struct pipeline_options *pipeline, struct quantize_report *report)
{
    struct quantization q = {
        .module = module, .ctx = module->ctx, .options = options, .report = report
    };

    *report = (struct quantize_report){ .n = 0 };
    if (!run_steps(&q, simulate, sizeof simulate / sizeof *simulate, pipeline))
        return false;
    count_products(report);
    return options->simulate_only ||
           run_steps(&q, realise, sizeof realise / sizeof *realise, pipeline);
}
