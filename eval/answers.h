/* answers.h - what a network said about samples, and the metrics of that.
 *
 * In order: a task says what is asked for and how outputs are read; answers_see reads the outputs
 * of one sample; answers_metric is the number. A search keeps one `answers` for each trial:
 *
 *     struct answers *answers = answers_new(&task, n);
 *     for each sample, in any order, by any thread:
 *         answers_see(answers, ctx, sample, inputs, outputs, n_outputs)
 *     value = answers_metric(answers, METRIC_TOP1);
 *     answers_free(answers);
 *
 * Nothing here runs a network: run.h does, with the engine or with generated C. */
#ifndef EVAL_ANSWERS_H
#define EVAL_ANSWERS_H

#include "eval/decode.h"
#include "eval/metric.h"
#include "eval/truth.h"

/* Must outlive the answers. The truth is of the samples that are asked about, by number. */
struct task {
    bool wanted[METRIC_COUNT];
    const struct truth *truth; /* what is known; classes or boxes for the metrics that need them */
    double cut;                /* of networks with one result: above it is class 1 */
    struct decoding decoding;  /* boxes: how they are read */
};

/* Whether the results of fn, and the labels, fit what is asked: errors for all that does not. To be
 * asked before answers_see, as it also finds the size of the input that boxes lie in. */
bool task_check(struct ctx *ctx, struct task *task, const struct function *fn);

struct answer {
    int class;     /* of the greatest result, the first of equals; -1: NaN */
    int rank;      /* of the label: how many results are greater, or equal and in front */
    float *scores; /* [n_scores], for auc; NULL = not wanted */
    int64_t n_scores;
    double error;       /* mse */
    struct boxes boxes; /* in pixels of the image, best first */
    struct bulk bulk;   /* of scores and boxes */
};

struct answers {
    const struct task *task;
    int64_t n; /* samples */
    struct answer *at;
    struct arena arena;
};

struct answers *answers_new(const struct task *task, int64_t n);

/* Of different samples by several threads at once, each with its own ctx. False after an error. */
bool answers_see(struct answers *answers, struct ctx *ctx, int64_t sample,
                 const struct tensor *inputs, const struct tensor *outputs, int n_outputs);

/* Of all samples: shares are 0 .. 1. NaN where it is not defined: auc of one class only, map
 * without a box. */
double answers_metric(const struct answers *answers, enum metric metric);

/* Whether the answer is right, by top1, top5 or accuracy. */
bool answer_is_right(const struct answers *answers, int64_t sample, enum metric metric);

void answers_free(struct answers *answers); /* NULL is fine */

/* --- two networks on the same samples --------------------------------------------------------- */

struct paired {
    double change; /* of the metric */
    double error;  /* its standard error, from paired differences: of shares and mse by formula, of
                      the others by leaving out one sample (of many: one of 128 blocks) at a time */
    bool has_classes; /* then: */
    int64_t n_agree;  /* the same class */
    int64_t n_lost;   /* right, now wrong: by top1, top5 or accuracy, whichever is asked */
    int64_t n_won;    /* wrong, now right */
};

struct paired answers_compare(const struct answers *was, const struct answers *now,
                              enum metric metric);

#endif
