/* tune.h - what the parts of `relayc tune` share: cmd_tune.c is the course of it, tune_measure.c
 * builds and times variants of one region, tune_log.c is --tune-log of all commands. */
#ifndef CLI_TUNE_H
#define CLI_TUNE_H

#include "cli/bench.h"
#include "cli/progress.h"
#include "tune/knob_search.h"
#include "tune/log.h"

/* A region, with all that have its signature. */
struct tuned_region {
    const struct codegen_region *region; /* the first of them */
    const char *title;                   /* "region_conv1, nn.conv2d -> 1x28x28x64, 3 times" */
    int n_times;                         /* how many there are */
    struct trial best;                   /* confirmed; of the usual code: score 1 */
    bool found;                          /* best gains enough */
    int n_trials, n_failed, n_wrong;     /* done in this run, or taken from the log */
};

struct tuner {
    struct cli *cli;
    struct bench bench; /* own is the usual code of the region that is being tuned */
    struct tune_key key;
    struct tune_log log;
    struct tune_file *file;
    double tolerance;
    bool cold; /* times with empty caches as well */
    long long most_trials;
    double seconds; /* for all; 0 = as long as it takes */
    double start;

    struct tuned_region *regions;
    int n_regions;
    struct tuned_region *current; /* in work */
    double deadline;              /* of it */
    struct progress progress;
    int64_t trials_done, trials_expected; /* of all regions */
};

/* Tries choices for tuner->current, as search.h says: from the log where it has them. */
bool tuner_try(void *tuner, const struct choice *choice, double *score);

/* The knobs of its code. */
const struct knob_range *tuner_knobs(void *tuner, const struct choice *choice);

/* Builds and starts its usual code: tuner->bench.own. False after an error. */
bool tuner_begin_region(struct tuner *tuner);

/* Measures the choices once more, beside the usual ones, in fresh processes and for longer, and
 * notes it in the log. False after an error. */
bool tuner_confirm(struct tuner *tuner, const struct choice *choice, struct trial *trial);
void tuner_end_region(struct tuner *tuner);

/* The member `compiler` of the key: what the compiler says of its version. NULL after an error. */
const char *tuner_compiler(struct tuner *tuner);

#endif
