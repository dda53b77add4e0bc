/* search.h - which precision each part of a network needs: what all strategies share.
 *
 * A candidate says how each unit (units.h) is computed. It is judged by running it: the module is
 * quantised as `compile --qtable` would quantise it, and simulated on the engine (quantize.h), on
 * samples. So a qtable that a search writes gives in a compilation what the search has seen.
 *
 *     strategy (strategies.h) -> search_judge_all(candidates) -> variants on threads (reuse.h)
 *                                      |
 *                                      v
 *                                trials.h: a line for each in a file, at once
 *
 * Results do not depend on the number of threads or processes, nor on what was kept in memory. */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "quantize/qtable.h"
#include "runtime/engine/reuse.h"
#include "search/trials.h"
#include "search/units.h"

/* --- what is asked for ------------------------------------------------------------------------ */

/* A task's own judgement of a network's answers: greater is better, 1 is the best that is possible.
 * `see` is called by several threads at once, for different samples of a trial or for others. */
struct judge {
    const char *name; /* "top1" */
    void *(*begin)(void *user);
    bool (*see)(void *user, void *trial, struct ctx *ctx, int64_t sample,
                const struct tensor *inputs, const struct tensor *outputs);
    bool (*end)(void *user, void *trial, struct ctx *ctx, double *value); /* frees the trial */
    void *user;
};

enum measure { MEASURE_COS, MEASURE_SNR, MEASURE_MSE, MEASURE_TASK };

struct search_options {
    const struct calib_table *calib; /* NULL = none */
    int64_t n_samples;
    const struct tensor *inputs; /* [n_samples][parameters] */
    size_t mem;                  /* for kept activations, see reuse.h */
    int n_threads;
    enum measure measure;      /* what loss is; the others are told as well */
    const struct judge *judge; /* MEASURE_TASK; NULL otherwise */
    int n_tensors;             /* that are compared instead of the results; 0 = the results */
    const char *const *tensors;
    const char *log; /* of the trials: JSON lines; continued if it is there */
    void (*progress)(void *user, int64_t done, int64_t expected);
    void *user;
};

/* How a unit may be computed. */
struct setting {
    const char *text; /* "int8 scale=kl": precision and what differs from the mode's defaults */
    struct precision precision;
};

/* --- the search ------------------------------------------------------------------------------- */

struct proposal {
    const char *what;                /* for the log: "conv1 in int8 by kl" */
    const int *settings;             /* [units.n]: of each unit, an index */
    const struct calib_table *table; /* NULL = that of the options */
};

struct search {
    struct ctx *ctx;
    const struct search_options *options;
    struct module *module; /* prepared; read only */
    struct units units;
    int n_settings; /* 0: f32 */
    struct setting *settings;
    struct trials *trials;
    int64_t n_done, n_expected; /* of trials, for progress */

    /* search.c's own */
    struct module *base; /* what reuse keeps, in base_ctx */
    struct ctx *base_ctx;
    struct reuse *reuse;
    int first_seen, n_seen; /* results that are compared */
    const float **wanted;   /* [n_samples][n_seen]: in f32 */
};

/* Units, the base in f32, and its results; the log is opened. False after an error; to be closed
 * either way. The module must stay as it is. */
bool search_open(struct search *search, struct ctx *ctx, struct module *module,
                 const struct search_options *options);
void search_close(struct search *search);

/* Adds a setting, or finds the same one; its index. */
int search_setting(struct search *search, const struct precision *precision);

/* Judges n candidates, in no particular order; those that the log knows are not run. scores[n].
 * False after an error. */
bool search_judge_all(struct search *search, int n, const struct proposal *candidates,
                      struct score *scores);
bool search_judge_one(struct search *search, const struct proposal *candidate, struct score *score);

/* 1 - cosine between a sample's results in f32 and the next one's, in the mean: what tells samples
 * apart, beside which a loss is great or small. 1 where nothing does. */
double search_spread(const struct search *search);

/* From now on what this candidate computes is what is kept. */
bool search_rebase(struct search *search, const struct proposal *candidate);

/* Less loss; of equal loss, less of 1 - cos. */
bool score_is_better(const struct score *a, const struct score *b);

/* A copy of `settings` with unit `unit` set to `setting`. In ctx->perm. */
int *search_with(struct search *search, const int *settings, int unit, int setting);

/* The rows of a candidate; f32 ones as well, so that no --precision is needed beside it. In
 * `arena`. */
void search_qtable(const struct search *search, const int *settings, struct arena *arena,
                   struct qtable *out);

/* The candidate as a module, as quantize_module leaves its simulation, in a ctx of its own. NULL
 * after an error. */
struct module *search_build(const struct search *search, const struct proposal *candidate,
                            struct ctx *ctx);

/* The same realised, as `compile` has it: for what it takes, not for what it computes. */
struct module *search_realise(const struct search *search, const struct proposal *proposal,
                              struct ctx *ctx);

#endif
