/* diff.h - two compilations, compared by meaning: regions by the ONNX nodes they stand for, weights
 * by name. */
#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include "report/facts.h"

enum diff_state { DIFF_EQUAL, DIFF_CHANGED, DIFF_ADDED, DIFF_REMOVED, DIFF_STATES };

const char *diff_state_name(enum diff_state state); /* "equal", "changed" ... */

/* One fact of a whole compilation or of a region: "kernel", "conv_band", "conv_direct". */
struct diff_fact {
    const char *what;
    const char *old_text, *new_text; /* never NULL; "-" = there is none */
    const char *unit;                /* of numbers: "bytes", "" ; NULL = texts */
    double old_number, new_number;   /* NaN = unknown */
    bool is_set;                     /* texts: what only one of both has */
    bool is_share;                   /* numbers: a part of 1, whose growth is their difference */
    bool differs;
};

struct diff_region {
    enum diff_state state;
    const struct fact_region *old, *new; /* NULL = added, removed */
    bool is_renamed; /* matched by its operators and shapes: its nodes have other names */
    int n_facts;     /* that differ */
    struct diff_fact *facts;
};

struct diff_weight {
    enum diff_state state;
    const struct fact_weight *old, *new;
    bool is_retrained;    /* same format and order, other numbers; then: */
    bool has_numbers;     /* the C files had both arrays */
    double largest, mean; /* |new - old| over all elements */
    double n_changed;     /* elements */
};

struct diff {
    const struct facts *old, *new;
    int n_totals;
    struct diff_fact *totals; /* of the whole compilation, also equal ones */
    int n_regions;
    struct diff_region *regions; /* in the new order, removed ones after what preceded them */
    int n_weights;
    struct diff_weight *weights;
    int region_count[DIFF_STATES], weight_count[DIFF_STATES];
    int n_retrained, n_renamed;
    int n_scores; /* of relayc eval, if given for both */
    struct diff_fact *scores;
    bool differs;
};

struct diff *diff_make(struct ctx *ctx, const struct facts *old, const struct facts *new);

/* Accuracy: the metrics of two reports of relayc eval --json. False after an error. */
bool diff_add_scores(struct ctx *ctx, struct diff *diff, const char *old_path,
                     const char *new_path);

/* match.c: for each new region the old one, -1 if it has none. is_renamed[i]: they share no node. */
int *match_regions(struct ctx *ctx, const struct facts *old, const struct facts *new,
                   bool *is_renamed);

/* Likewise weights; `region` is the result of match_regions. */
int *match_weights(struct ctx *ctx, const struct facts *old, const struct facts *new,
                   const int *region);

/* The differences as text for a terminal, as Markdown for a review, and as members of `json`. */
const char *diff_text(struct arena *arena, const struct diff *diff);
const char *diff_markdown(struct arena *arena, const struct diff *diff);
struct cJSON;
void diff_add_json(const struct diff *diff, struct cJSON *json);

#endif
