/* search.h - searches a precision for each part of a network; shared by all strategies.
 *
 * A candidate gives a precision per unit (units.h). It is judged by running the fake-quantised
 * module (quantize.h), made as by `compile --qtable`, on the engine with samples. So compiling with
 * the resulting qtable reproduces what the search has measured.
 *
 *     strategy (strategies.h) -> search_judge_all(candidates) -> variants on threads (reuse.h)
 *                                      |
 *                                      v
 *                                trials.h: a line for each in a file, at once
 *
 * Results do not depend on the number of threads or processes, nor on cached activations. */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "quantize/qtable.h"
#include "runtime/engine/reuse.h"
#include "search/trials.h"
#include "search/units.h"

/* --- request ---------------------------------------------------------------------------------- */

/* A task metric: greater is better, 1 is perfect. `see` is called concurrently for different
 * samples of a trial, and for different trials. */
struct judge {
    const char *name; /* "top1" */
    void *(*begin)(void *user);
    bool (*see)(void *user, void *trial, struct ctx *ctx, int64_t sample,
                const struct tensor *inputs, const struct tensor *outputs);
    bool (*end)(void *user, void *trial, struct ctx *ctx, double *value); /* frees the trial */
    void *user;
};

enum measure { MEASURE_COS, MEASURE_SNR, MEASURE_MSE, MEASURE_TASK };

/* What a candidate goes through, by the driver's stages (driver/trial.c). */
struct search_stages {
    /* A copy in ctx of the prepared module, quantised as by `compile --qtable`; or, if
     * simulate_only, fake-quantised. NULL after an error. */
    struct module *(*quantize)(const struct module *module, struct ctx *ctx, struct qtable *qtable,
                               const struct calib_table *calib, bool simulate_only);
    bool (*fuse)(struct module *module); /* of a fake-quantised copy, for the engine */
};

struct search_options {
    const struct search_stages *stages;
    const struct calib_table *calib; /* NULL = none */
    int64_t n_samples;
    const struct tensor *inputs; /* [n_samples][parameters] */
    size_t mem;                  /* for cached activations, see reuse.h */
    int n_threads;
    enum measure measure;      /* loss to minimise; the others are reported too */
    const struct judge *judge; /* MEASURE_TASK; NULL otherwise */
    int n_tensors;             /* tensors compared instead of the results; 0 = results */
    const char *const *tensors;
    const char *log; /* JSON lines of trials; resumed if it exists */
    void (*progress)(void *user, int64_t done, int64_t expected);
    void *user;
};

/* A precision that a unit may have. */
struct setting {
    const char *text; /* "int8 scale=kl": mode and differences from its defaults */
    struct precision precision;
};

/* --- the search ------------------------------------------------------------------------------- */

struct proposal {
    const char *what;                /* for the log: "conv1 in int8 by kl" */
    const int *settings;             /* [units.n]: index of each unit's setting */
    const struct calib_table *table; /* NULL = the options' */
};

struct search {
    struct ctx *ctx;
    const struct search_options *options;
    struct module *module; /* prepared; read only */
    struct units units;
    int n_settings; /* 0: f32 */
    struct setting *settings;
    struct trials *trials;
    int64_t n_done, n_expected; /* trials, for progress */

    /* private to search.c */
    struct module *base; /* base of reuse, in base_ctx */
    struct ctx *base_ctx;
    struct reuse *reuse;
    int first_seen, n_seen; /* compared results */
    const float **wanted;   /* [n_samples][n_seen]: f32 results */
};

/* Finds units, runs the f32 base and opens the log. The module must not change afterwards. False
 * after an error. Call search_close in any case. */
bool search_open(struct search *search, struct ctx *ctx, struct module *module,
                 const struct search_options *options);
void search_close(struct search *search);

/* Index of a setting, added if new. */
int search_setting(struct search *search, const struct precision *precision);

/* Judges n candidates, in any order; those in the log are not run again. Fills scores[n]. False
 * after an error. */
bool search_judge_all(struct search *search, int n, const struct proposal *candidates,
                      struct score *scores);
bool search_judge_one(struct search *search, const struct proposal *candidate, struct score *score);

/* Mean 1 - cosine between f32 results of consecutive samples: the scale on which a loss is large or
 * small. 1 if samples do not differ. */
double search_spread(const struct search *search);

/* Makes this candidate the base of cached activations. */
bool search_rebase(struct search *search, const struct proposal *candidate);

/* By loss, then by 1 - cos. */
bool score_is_better(const struct score *a, const struct score *b);

/* Copy of `settings` with one unit changed. In ctx->perm. */
int *search_with(struct search *search, const int *settings, int unit, int setting);

/* qtable of a candidate, f32 rows included, so that it needs no --precision. In `arena`. */
void search_qtable(const struct search *search, const int *settings, struct arena *arena,
                   struct qtable *out);

/* The candidate as a fake-quantised module in its own ctx. NULL after an error. */
struct module *search_build(const struct search *search, const struct proposal *candidate,
                            struct ctx *ctx);

/* The candidate as `compile` makes it, to determine its size. */
struct module *search_realise(const struct search *search, const struct proposal *proposal,
                              struct ctx *ctx);

#endif
