#include "eval/answers.h"

#include <math.h>

#include "eval/average_precision.h"
#include "eval/mcnemar.h"
#include "eval/rank.h"
#include "eval/roc.h"

enum { TOP = 5, MAP_THRESHOLDS = 10, BLOCKS = 128 };

static bool needs(const struct task *task, enum labels labels)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (task->wanted[i] && metric_labels((enum metric)i) == labels)
            return true;
    return false;
}

/* --- before ----------------------------------------------------------------------------------- */

static bool check_classes(struct ctx *ctx, const struct task *task, const struct type *result)
{
    const int64_t n = type_elements(result);
    bool ok = true;

    if (!dtype_is_float(result->dtype)) {
        if (n != 1)
            ok = diag_error(ctx, DIAG_INPUT_MISMATCH, NULL,
                            "the first result is %s, expected scores or one integer",
                            type_text(&ctx->perm, result));
        if (task->wanted[METRIC_AUC] || task->wanted[METRIC_TOP5])
            ok = diag_error(ctx, DIAG_INPUT_MISMATCH, NULL,
                            "auc and top5 need scores, and the result is a class");
        return ok;
    }
    if (n == 1 && (task->wanted[METRIC_TOP1] || task->wanted[METRIC_TOP5])) {
        ok = diag_error(ctx, DIAG_INPUT_MISMATCH, NULL,
                        "the model has a single result value, which has no top1");
        diag_help(ctx, "accuracy and auc use it as the score of class 1");
    }
    if (task->truth->n_classes > (n == 1 ? 2 : n))
        ok = diag_error(ctx, DIAG_LABELS, NULL, "the label %d is beyond the model's %lld classes",
                        task->truth->n_classes - 1, (long long)(n == 1 ? 2 : n));
    return ok;
}

bool task_check(struct ctx *ctx, struct task *task, const struct function *fn)
{
    bool ok = true;

    if (needs(task, LABELS_CLASSES))
        ok = check_classes(ctx, task, &fn->ret->inputs[0]->type);
    if (task->wanted[METRIC_MSE] &&
        type_elements(&fn->ret->inputs[0]->type) != type_elements(&fn->params[0]->type))
        ok = diag_error(ctx, DIAG_INPUT_MISMATCH, NULL,
                        "mse compares the result with the input, of which one is %s, the other %s",
                        type_text(&ctx->perm, &fn->ret->inputs[0]->type),
                        type_text(&ctx->perm, &fn->params[0]->type));
    if (needs(task, LABELS_BOXES))
        ok = decoding_fit(ctx, &task->decoding, fn, task->truth->n_classes) && ok;
    return ok;
}

/* --- one sample ------------------------------------------------------------------------------- */

/* The class that the result says. */
static int class_of(const struct task *task, const struct tensor *result)
{
    if (!dtype_is_float(result->type.dtype))
        return (int)tensor_int_at(result, 0);
    if (type_elements(&result->type) == 1)
        return isnan(tensor_at(result, 0)) ? -1 : tensor_at(result, 0) > task->cut;
    return result_class(result);
}

static double squared_error(const struct tensor *result, const struct tensor *wanted)
{
    const int64_t n = type_elements(&result->type);
    double sum = 0;

    for (int64_t i = 0; i < n; i++) {
        const double difference = tensor_at(result, i) - tensor_at(wanted, i);

        sum += difference * difference;
    }
    return sum / (double)n;
}

static void see_class(const struct task *task, const struct tensor *result, int label,
                      struct answer *answer)
{
    const int64_t n = type_elements(&result->type);

    answer->class = class_of(task, result);
    if (n == 1)
        answer->rank = answer->class != label;
    else
        answer->rank = result_rank(result, label);
    if (!task->wanted[METRIC_AUC])
        return;
    answer->n_scores = n;
    answer->scores = bulk_alloc(&answer->bulk, (size_t)n * sizeof *answer->scores);
    for (int64_t i = 0; i < n; i++)
        answer->scores[i] = (float)tensor_at(result, i);
}

bool answers_see(struct answers *answers, struct ctx *ctx, int64_t sample,
                 const struct tensor *inputs, const struct tensor *outputs, int n_outputs)
{
    const struct task *task = answers->task;
    struct answer *answer = &answers->at[sample];

    bulk_release(&answer->bulk);
    *answer = (struct answer){ .class = -1 };
    if (task->truth && task->truth->classes) {
        const int label = task->truth->classes[sample];

        if (label < 0 ||
            (type_elements(&outputs[0].type) > 1 && label >= type_elements(&outputs[0].type)))
            return diag_error(ctx, DIAG_LABELS, NULL, "sample %lld has no class of the model's",
                              (long long)sample);
        see_class(task, &outputs[0], label, answer);
    }
    if (task->reference && answers->is_reference)
        reference_record(task->reference, sample, class_of(task, &outputs[0]), outputs, n_outputs);
    if (task->reference) {
        answer->class = class_of(task, &outputs[0]);
        answer->cos = reference_cos(task->reference, sample, outputs, n_outputs);
    }
    if (task->wanted[METRIC_MSE])
        answer->error = squared_error(&outputs[0], &inputs[0]);
    if (needs(task, LABELS_BOXES))
        answer->boxes = decode_boxes(&task->decoding, &task->truth->sizes[sample], outputs,
                                     n_outputs, &answer->bulk);
    return true;
}

struct answers *answers_new(const struct task *task, int64_t n)
{
    struct arena arena = { NULL };
    struct answers *answers = arena_new(&arena, struct answers);

    *answers = (struct answers){ .task = task, .n = n };
    answers->at = arena_array(&arena, struct answer, n);
    answers->arena = arena; /* it lives in its own arena */
    return answers;
}

void answers_free(struct answers *answers)
{
    struct arena arena;

    if (!answers)
        return;
    for (int64_t i = 0; i < answers->n; i++)
        bulk_release(&answers->at[i].bulk);
    arena = answers->arena;
    arena_release(&arena);
}

/* --- metrics ---------------------------------------------------------------------------------- */

bool answer_is_right(const struct answers *answers, int64_t sample, enum metric metric)
{
    const struct answer *answer = &answers->at[sample];

    if (metric == METRIC_AGREE)
        return answer->class == reference_class(answers->task->reference, sample);
    return metric == METRIC_TOP5 ? answer->rank < TOP
                                 : answer->class == answers->task->truth->classes[sample];
}

static double auc_of(const struct answers *answers, int64_t score, int class, const bool *skip)
{
    struct arena arena = { NULL };
    float *scores = arena_array(&arena, float, answers->n);
    bool *positive = arena_array(&arena, bool, answers->n);
    double auc;

    for (int64_t i = 0; i < answers->n; i++) {
        scores[i] = answers->at[i].scores[score];
        positive[i] = answers->task->truth->classes[i] == class;
    }
    auc = roc_auc(scores, positive, answers->n, skip);
    arena_release(&arena);
    return auc;
}

/* Of two results the second is taken less the first, which orders logits and probabilities alike.
 */
static double binary_auc(const struct answers *answers, const bool *skip)
{
    struct arena arena = { NULL };
    float *scores = arena_array(&arena, float, answers->n);
    bool *positive = arena_array(&arena, bool, answers->n);
    double auc;

    for (int64_t i = 0; i < answers->n; i++) {
        scores[i] = answers->at[i].scores[1] - answers->at[i].scores[0];
        positive[i] = answers->task->truth->classes[i] == 1;
    }
    auc = roc_auc(scores, positive, answers->n, skip);
    arena_release(&arena);
    return auc;
}

/* Of more than two classes: the mean over those that occur. */
static double mean_auc(const struct answers *answers, const bool *skip)
{
    const int64_t n = answers->n ? answers->at[0].n_scores : 0;
    double sum = 0;
    int n_classes = 0;

    if (n == 1)
        return auc_of(answers, 0, 1, skip);
    if (n == 2)
        return binary_auc(answers, skip);
    for (int c = 0; c < n; c++) {
        const double auc = auc_of(answers, c, c, skip);

        if (!isnan(auc)) {
            sum += auc;
            n_classes++;
        }
    }
    return n_classes ? sum / n_classes : NAN;
}

static struct matched *match(const struct answers *answers, enum metric metric, struct arena *arena)
{
    struct boxes *found = arena_array(arena, struct boxes, answers->n);

    for (int64_t i = 0; i < answers->n; i++)
        found[i] = answers->at[i].boxes;
    return boxes_match(arena, found, answers->task->truth->boxes, answers->n,
                       metric == METRIC_MAP ? MAP_THRESHOLDS : 1);
}

/* What is added up for shares and mse. */
static double sample_value(const struct answers *answers, int64_t i, enum metric metric)
{
    return metric == METRIC_MSE   ? answers->at[i].error
           : metric == METRIC_COS ? answers->at[i].cos
                                  : answer_is_right(answers, i, metric);
}

static bool is_mean(enum metric metric)
{
    return metric == METRIC_MSE || metric == METRIC_COS || metric_is_share(metric);
}

double answers_metric(const struct answers *answers, enum metric metric)
{
    struct arena arena = { NULL };
    double value = 0;

    if (is_mean(metric)) {
        for (int64_t i = 0; i < answers->n; i++)
            value += sample_value(answers, i, metric);
        return value / (double)answers->n;
    }
    if (metric == METRIC_AUC)
        return mean_auc(answers, NULL);
    value = average_precision(match(answers, metric, &arena), NULL);
    arena_release(&arena);
    return value;
}

/* --- two networks ----------------------------------------------------------------------------- */

static double error_of_mean(const struct answers *was, const struct answers *now,
                            enum metric metric, double mean)
{
    const double n = (double)was->n;
    double squares = 0;

    for (int64_t i = 0; i < was->n; i++) {
        const double d = sample_value(now, i, metric) - sample_value(was, i, metric);

        squares += d * d;
    }
    return sqrt(fmax(squares / n - mean * mean, 0) / n);
}

/* The jackknife: blocks of samples are left out, one after the other. */
static double error_by_blocks(const struct answers *was, const struct answers *now,
                              enum metric metric)
{
    const int64_t n_blocks = was->n < BLOCKS ? was->n : BLOCKS;
    struct arena arena = { NULL };
    const bool is_auc = metric == METRIC_AUC;
    const struct matched *then = is_auc ? NULL : match(was, metric, &arena);
    const struct matched *next = is_auc ? NULL : match(now, metric, &arena);
    bool *skip = arena_array(&arena, bool, was->n);
    double sum = 0, squares = 0, mean;

    for (int64_t block = 0; block < n_blocks; block++) {
        double d;

        for (int64_t i = 0; i < was->n; i++)
            skip[i] = i % n_blocks == block;
        d = is_auc ? mean_auc(now, skip) - mean_auc(was, skip)
                   : average_precision(next, skip) - average_precision(then, skip);
        sum += d;
        squares += d * d;
    }
    arena_release(&arena);
    mean = sum / (double)n_blocks;
    return sqrt(fmax(squares / (double)n_blocks - mean * mean, 0) * (double)(n_blocks - 1));
}

struct paired answers_compare(const struct answers *was, const struct answers *now,
                              enum metric metric)
{
    struct paired p = { .change = answers_metric(now, metric) - answers_metric(was, metric) };

    p.error = is_mean(metric) ? error_of_mean(was, now, metric, p.change)
                              : error_by_blocks(was, now, metric);
    p.has_classes = metric_is_share(metric);
    for (int64_t i = 0; p.has_classes && i < was->n; i++) {
        const bool before = answer_is_right(was, i, metric);
        const bool after = answer_is_right(now, i, metric);

        p.n_agree += was->at[i].class == now->at[i].class;
        p.n_lost += before && !after;
        p.n_won += !before && after;
    }
    p.p = mcnemar_p(p.n_lost, p.n_won);
    return p;
}
