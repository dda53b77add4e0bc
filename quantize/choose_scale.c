/* choose_scale.c - the rule `auto`: of the rules for scales of data, the one by which the network's
 * results lose least on samples.
 *
 * needs    calibrate and observe: ranges and histograms, the float model's results
 * gives    q->data_rule, which annotate reads where a precision says `auto`, or nothing
 * method   for each candidate a copy of the module is annotated by it and run on the samples
 *          (outcome.h); of equals the first. No threshold is best for all networks: where a few
 *          great numbers decide, what cuts them off loses most, and where they are outliers, what
 *          keeps them. What tensors hold does not tell the two apart, the results do */
#include <string.h>

#include "quantize/outcome.h"
#include "quantize/steps.h"
#include "quantize/workers.h"
#include "relay_ir/copy.h"

static const char *const candidates[] = { "max", "percentile:99.999", "percentile:99.99", "mse",
                                          "kl" };

enum { N_CANDIDATES = sizeof candidates / sizeof *candidates };

static bool asks(const struct quantization *q, const struct precision *precision)
{
    return precision->has_data &&
           (precision->has_data_scale ? precision->data_scale.kind == SCALE_AUTO
                                      : q->options->choose_data_scale);
}

bool choose_scale_wanted(const struct quantization *q)
{
    const struct qtable *qtable = q->options->qtable;
    bool any = asks(q, &q->options->precision);

    for (int i = 0; qtable && i < qtable->n; i++)
        any = any || asks(q, &qtable->rows[i].precision);
    return any;
}

bool choose_scale_reads(const struct quantization *q, const struct precision *precision,
                        const char *method)
{
    struct scale_rule rule;
    bool reads = false;

    for (int i = 0; asks(q, precision) && !reads && i < N_CANDIDATES; i++)
        reads =
            scale_rule_parse(candidates[i], &rule) &&
            strcmp(method, scale_rule_threshold(&rule, &precision->data, &q->ctx->scratch)) == 0;
    return reads;
}

struct precision precision_with_rule(const struct quantization *q,
                                     const struct precision *precision)
{
    struct precision made = *precision;

    if (!asks(q, precision))
        return made;
    if (q->data_rule)
        made.data_scale = *q->data_rule;
    else
        scale_rule_parse("max", &made.data_scale);
    made.has_data_scale = true;
    return made;
}

bool choose_scale_try(struct quantization *q, const struct scale_rule *rule,
                      struct format_count n_formats, struct format_set *set, double *loss,
                      bool *known)
{
    struct quantize_options options = *q->options;
    struct ctx *ctx = ctx_new(q->ctx->diags.input_name);
    struct quantize_report report = { .n = 0 };
    struct quantization trial = *q;
    bool ok = true;

    options.log = NULL;
    options.topk = 0; /* is found afterwards, by this rule */
    options.round = ROUND_NEAREST;
    trial.ctx = ctx;
    trial.options = &options;
    trial.report = &report;
    trial.weights = NULL;
    trial.logged = trial.formats = (struct map){ .arena = &ctx->perm };
    trial.data_rule = rule;
    trial.n_formats = n_formats;
    trial.module = module_copy(ctx, q->module);
    *known = trial.module && quantize_annotate(&trial) && pass_dead_code(trial.module);
    if (set)
        *set = trial.set;
    if (*known && !outcome_loss(&trial, q->wanted, loss)) {
        workers_report(q->ctx, ctx, NULL);
        ok = false;
    }
    module_free(trial.module);
    ctx_free(ctx);
    return ok;
}

static void write_log(const struct quantization *q)
{
    const struct quantize_report *report = q->report;

    if (!q->options->log || q->options->log_json) /* whose lines are searches */
        return;
    writer_printf(q->options->log,
                  "# scales of data by %s; 1 - cosine of the results:", q->data_rule->name);
    for (int i = 0; i < report->n_rules; i++)
        writer_printf(q->options->log, "%s %s %.4g", i ? "," : "", report->rules[i].name,
                      report->rules[i].loss);
    writer_text(q->options->log, "\n");
}

bool quantize_choose_scale(struct quantization *q)
{
    static const struct format_count all = { .n = ALL_FORMATS };
    struct quantize_report *report = q->report;
    struct arena *perm = &q->ctx->perm;
    int best = -1;

    if (!choose_scale_wanted(q))
        return true;
    if (!q->wanted) {
        diag_error(q->ctx, DIAG_USAGE, NULL, "the rule auto for scales of data needs samples");
        diag_help(q->ctx, "give --data PATH, or another rule: max, percentile, kl ...");
        return false;
    }
    report->rules = arena_array(perm, struct quantize_rule, N_CANDIDATES);
    for (int i = 0; i < N_CANDIDATES; i++) {
        struct scale_rule *rule = arena_new(perm, struct scale_rule);
        double loss = 0;
        bool known = scale_rule_parse(candidates[i], rule);

        if (known && !choose_scale_try(q, rule, all, NULL, &loss, &known))
            return false;
        if (!known)
            return true;
        report->rules[i] = (struct quantize_rule){ rule->name, loss };
        if (best < 0 || loss < report->rules[best].loss) {
            best = i;
            q->data_rule = rule;
        }
    }
    report->n_rules = N_CANDIDATES;
    report->chosen_rule = best;
    write_log(q);
    return true;
}
