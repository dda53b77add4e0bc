/* answers.h - a network's answers for samples, and their metrics.
 *
 * A task defines the metrics and how outputs are read; answers_see reads the outputs of a sample;
 * answers_metric computes a metric. A search keeps one `answers` per trial:
 *
 *     struct answers *answers = answers_new(&task, n);
 *     for each sample, in any order, by any thread:
 *         answers_see(answers, ctx, sample, inputs, outputs, n_outputs)
 *     value = answers_metric(answers, METRIC_TOP1);
 *     answers_free(answers);
 *
 * run.h runs the network, by the engine or by generated C. */
#ifndef EVAL_ANSWERS_H
#define EVAL_ANSWERS_H

#include "eval/decode.h"
#include "eval/metric.h"
#include "eval/reference.h"
#include "eval/truth.h"

/* Must outlive the answers. truth is indexed by sample number. */
struct task {
    bool wanted[METRIC_COUNT];
    const struct truth *truth;   /* labels: classes or boxes, as the metrics need */
    double cut;                  /* threshold of class 1 for networks with one result */
    struct decoding decoding;    /* decoding of boxes */
    struct reference *reference; /* the float model's results, for agree and cos; else NULL */
};

/* Checks the results of fn and the labels against the task, and finds the input size for boxes.
 * Reports all problems. Call before answers_see. */
bool task_check(struct ctx *ctx, struct task *task, const struct function *fn);

struct answer {
    int class;     /* argmax, first of equals; -1: NaN */
    int rank;      /* rank of the label: number of results that are greater, or equal and earlier */
    float *scores; /* [n_scores], for auc; NULL = not wanted */
    int64_t n_scores;
    double error;       /* mse */
    double cos;         /* with the float model's results */
    struct boxes boxes; /* in image pixels, best first */
    struct bulk bulk;   /* owns scores and boxes */
};

struct answers {
    const struct task *task;
    bool is_reference; /* the network is the float model: task->reference records it */
    int64_t n;         /* samples */
    struct answer *at;
    struct arena arena;
};

struct answers *answers_new(const struct task *task, int64_t n);

/* Reads the outputs of a sample. Threads may process different samples concurrently, each with its
 * own ctx. False after an error. */
bool answers_see(struct answers *answers, struct ctx *ctx, int64_t sample,
                 const struct tensor *inputs, const struct tensor *outputs, int n_outputs);

/* Metric over all samples; shares are in 0 .. 1. NaN if undefined: auc with one class, map without
 * boxes. */
double answers_metric(const struct answers *answers, enum metric metric);

/* True if the answer is right by top1, top5 or accuracy. */
bool answer_is_right(const struct answers *answers, int64_t sample, enum metric metric);

void answers_free(struct answers *answers); /* NULL is fine */

/* --- two networks on the same samples --------------------------------------------------------- */

struct paired {
    double change;    /* change of the metric */
    double error;     /* its standard error from paired differences: closed form for shares and mse,
                      else jackknife over samples (at most 128 blocks) */
    bool has_classes; /* the following are valid */
    int64_t n_agree;  /* equal classes */
    int64_t n_lost;   /* right before, wrong now, by the metric (top1, top5 or accuracy) */
    int64_t n_won;    /* wrong before, right now */
    double p;         /* of n_lost and n_won, by chance: mcnemar.h */
};

struct paired answers_compare(const struct answers *was, const struct answers *now,
                              enum metric metric);

#endif
