/* strategies.h - the ways to search. Each starts from a network that is in one precision as far as
 * possible, and gives a proposal that is no worse than that.
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

/* What a network takes. */
struct price {
    size_t flash, ram; /* bytes */
    double latency;    /* seconds of a run, estimated; 0 = nobody tells */
};

struct strategy_options {
    struct precision precision; /* of everything, to start from */
    int n_rules;                /* sensitive: rules for the scales of data */
    const struct scale_rule *rules;
    double target;  /* a mean cosine: when it is reached the search ends; bayes: see found */
    int max_float;  /* at most so many units go back to f32 */
    enum loss loss; /* bayes: what formats lose; the paper's is LOSS_KLD */
    int n_trials;   /* bayes: of the process, and again so many of single layers */

    int n_choices; /* budget: */
    const struct precision *choices;
    size_t flash, ram;    /* 0 = any */
    double latency;       /* seconds; 0 = any */
    double latency_share; /* likewise, of what the network takes in f32 */
    bool tells_latency;   /* the price does */
    /* What the proposal takes; NULL: its weights are counted. seconds, if not NULL: [units.n] of it
     * in each unit, 0 at first. False after an error. */
    bool (*price)(void *user, struct search *search, const struct proposal *proposal,
                  struct price *out, double *seconds);
    void *price_user;
};

/* A unit in a ranking, the one that loses most first. */
struct ranked {
    int unit;
    struct score score; /* alone, by its best rule */
    int setting;
};

/* A network and what it takes. */
struct priced {
    const char *what;
    struct price price;
    struct score score;
};

struct found {
    const int *settings;             /* [units.n] */
    const struct calib_table *table; /* NULL = the given one is as good */
    struct price price;              /* budget: of what was found */
    int n_front;                     /* budget: networks of which no other is better in all that */
    const struct priced *front;      /* is priced and in loss, the smallest first */
    struct score start, end;         /* all in the precision, and what was found */
    double target;                   /* bayes: the cosine that is asked for: 1 - target in units of
                                        search_spread */
    bool is_start;                   /* nothing better was found, or nothing had to be */
    int n_float;                     /* units that stay f32 though the start has them small */
    int n_ranked;                    /* 0: the strategy ranks nothing */
    const struct ranked *ranking;
    int n_stages; /* other networks on the way, for the report: */
    const struct stage {
        const char *what;
        struct score score;
    } * stages;
};

/* Each: false after an error. All in the search's ctx->perm. */
bool search_sensitive(struct search *search, const struct strategy_options *options,
                      struct found *out);
bool search_topk(struct search *search, const struct strategy_options *options, struct found *out);
bool search_mixed(struct search *search, const struct strategy_options *options, struct found *out);
bool search_greedy_pairs(struct search *search, const struct strategy_options *options,
                         struct found *out);

bool search_budget(struct search *search, const struct strategy_options *options,
                   struct found *out);
bool search_bayes(struct search *search, const struct strategy_options *options, struct found *out);

/* --- what they share (strategy.c) ------------------------------------------------------------- */

/* Every unit that the precision changes is in `setting`; the others in f32. */
int *start_settings(struct search *search, const struct precision *precision, int setting);

/* Whether the unit is another one in this precision than in f32. */
bool unit_takes(const struct unit *unit, const struct precision *precision);

/* The weights of a unit in this precision, with a scale of four bytes for each 64 of 8 bits or less
 * (a guess; the caller's price is exact). */
double unit_bytes(const struct unit *unit, const struct precision *precision);

/* The start and the stages that follow are told; *out begins with the start as what was found. */
bool found_begin(struct search *search, const int *settings, struct found *out);
void found_stage(struct search *search, struct found *out, const char *what,
                 const struct score *score);

/* Takes the candidate if it is better than what was found so far. */
void found_offer(const struct search *search, struct found *out, const struct proposal *candidate,
                 const struct score *score);

/* Each unit of the start alone, by n settings: ranks them by the best. losses: [units.n][n], may be
 * NULL. */
bool rank_units(struct search *search, const int *start, int n, const int *settings,
                struct found *out, double *losses);

#endif
