/* search_case.h - a network of six units, samples and their calibration, for tests of searches.
 *
 *   search_case_calibrate(&net);                   once, in an unchecked fixture: each test has a copy
 *   search_case_open(&net);                        before each test, in a checked one
 *   net.strategy.target = 0.97;                    whatever the case wants otherwise
 *   search_case_run(&net, search_bayes, &search, &found);
 *   ...
 *   search_close(&search);
 *   search_case_close(&net);                       after each test
 *   search_case_free(&net); */
#ifndef TESTS_SUPPORT_SEARCH_CASE_H
#define TESTS_SUPPORT_SEARCH_CASE_H

#include "search/strategies.h"
#include "tests/support/temp_dir.h"

enum { SEARCH_SAMPLES = 6, SEARCH_RESULTS = 10 };

struct search_case {
    struct ctx *ctx;
    struct bulk bulk;
    struct module *module; /* one result of SEARCH_RESULTS numbers */
    struct tensor inputs[SEARCH_SAMPLES];
    struct calib_table table;
    struct search_options options;    /* two threads, no log */
    struct strategy_options strategy; /* int8; its rules and choices are those below */
    struct scale_rule rules[3];       /* max, percentile:99, kl */
    struct precision choices[3];      /* int8, int8w, int8w=i4 */
    struct temp_dir dir;
};

typedef bool strategy_run(struct search *search, const struct strategy_options *how,
                          struct found *out);

void search_case_calibrate(struct search_case *net);
void search_case_open(struct search_case *net);
void search_case_close(struct search_case *net);
void search_case_free(struct search_case *net);

/* Opens the search and runs it; bayes, which chooses formats of weights, in afp. */
void search_case_run(struct search_case *net, strategy_run *how, struct search *search,
                     struct found *found);

/* Prefers networks with a greater first result. */
extern const struct judge judge_of_first;

#endif
