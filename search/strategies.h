/* strategies.h - search strategies. Each starts from a network in one precision as far as possible,
 * and returns a proposal that is no worse.
 *
 *   sensitive     each unit alone in the precision, by each rule for scales; the best rule of each
 *                 tensor makes a new table, the units that lose most stay f32 (TPU-MLIR)
 *
 *   topk          each unit alone in the precision, by its own rule; the K that lose most stay f32
 *                 (PopRT)
 *
 *   mixed         from the input on: a unit that loses more than its share goes back to f32, with
 *                 its successor, if that helps; until the target is reached (TPU-MLIR)
 *
 *   greedy-pairs  again and again the unit, or the two neighbours, that gain most per unit in f32;
 *                 until the target is reached
 *
 *   budget        of several precisions for each unit those that lose least for the bytes and the
 *                 time that there are; without a budget, the fewest bytes that reach the target
 *
 *   bayes         a format of its own for each unit's weights: few bits, at the target; KL times
 *                 cost as in the AFP paper, Bayesian optimisation of what bits cost where. Its
 *                 results may be further from f32's than the start's as far as the target allows;
 *                 a task's metric is never less than the start's */
#ifndef SEARCH_STRATEGIES_H
#define SEARCH_STRATEGIES_H

#include "quantize/metrics.h"
#include "search/search.h"

/* Cost of a network. */
struct price {
    size_t flash, ram; /* bytes */
    double latency;    /* estimated seconds per run; 0 = unknown */
};

struct strategy_options {
    struct precision precision; /* of all units at the start */
    int n_rules;                /* sensitive: rules for data scales */
    const struct scale_rule *rules;
    double target;  /* mean cosine at which the search ends; bayes: see found */
    int max_float;  /* units that may return to f32, at most */
    enum loss loss; /* bayes: loss of formats; LOSS_KLD in the paper */
    int n_trials;   /* bayes: trials of the process, and as many of single layers */

    int n_choices; /* budget: */
    const struct precision *choices;
    size_t flash, ram;    /* 0 = unlimited */
    double latency;       /* seconds; 0 = unlimited */
    double latency_share; /* as a share of the f32 network's latency; 0 = unlimited */
    bool tells_latency;   /* `price` gives a latency */
    /* Cost of a proposal; NULL: bytes of weights are counted. seconds, if not NULL: [units.n] per
     * unit, initially 0. False after an error. */
    bool (*price)(void *user, struct search *search, const struct proposal *proposal,
                  struct price *out, double *seconds);
    void *price_user;
};

/* A unit in a ranking, the greatest loss first. */
struct ranked {
    int unit;
    struct score score; /* with only this unit quantised, by its best rule */
    int setting;
};

/* A network with cost and score. */
struct priced {
    const char *what;
    struct price price;
    struct score score;
};

struct found {
    const int *settings;             /* [units.n] */
    const struct calib_table *table; /* NULL = the given table */
    struct price price;              /* budget: cost of the result */
    int n_front;                     /* budget: Pareto front of cost and loss, smallest network
                                        first */
    const struct priced *front;
    struct score start, end; /* all units in the precision; and the result */
    double target;           /* bayes: required cosine; 1 - target is in units of
                                        search_spread */
    bool is_start;           /* the result is the start */
    int n_float;             /* units that the start quantises and the result does not */
    int n_ranked;            /* 0: no ranking */
    const struct ranked *ranking;
    int n_stages; /* intermediate networks, for the report */
    const struct stage {
        const char *what;
        struct score score;
    } * stages;
};

/* Strategies. False after an error. Results are in the search's ctx->perm. */
bool search_sensitive(struct search *search, const struct strategy_options *options,
                      struct found *out);
bool search_topk(struct search *search, const struct strategy_options *options, struct found *out);
bool search_mixed(struct search *search, const struct strategy_options *options, struct found *out);
bool search_greedy_pairs(struct search *search, const struct strategy_options *options,
                         struct found *out);

bool search_budget(struct search *search, const struct strategy_options *options,
                   struct found *out);
bool search_bayes(struct search *search, const struct strategy_options *options, struct found *out);

/* --- shared by the strategies (strategy.c) ---------------------------------------------------- */

/* `setting` for every unit that the precision changes, f32 for others. */
int *start_settings(struct search *search, const struct precision *precision, int setting);

/* True if the precision changes the unit. */
bool unit_takes(const struct unit *unit, const struct precision *precision);

/* Bytes of a unit's weights in this precision, estimated with a 4-byte scale per 64 values of 8
 * bits or less (options->price is exact). */
double unit_bytes(const struct unit *unit, const struct precision *precision);

/* Reports the start, and later stages; *out begins with the start as the result. */
bool found_begin(struct search *search, const int *settings, struct found *out);
void found_stage(struct search *search, struct found *out, const char *what,
                 const struct score *score);

/* Makes the candidate the result if it is better. */
void found_offer(const struct search *search, struct found *out, const struct proposal *candidate,
                 const struct score *score);

/* Judges each unit of the start alone, with n settings, and ranks units by the best. losses:
 * [units.n][n], may be NULL. */
bool rank_units(struct search *search, const int *start, int n, const int *settings,
                struct found *out, double *losses);

#endif
