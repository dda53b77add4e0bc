/* tune.h - relayc tune, and the state that its files share: tune.c (main flow), tune_measure.c
 * (builds and times variants of a region). driver/tuning.c reads --tune-log for all commands. */
#ifndef DRIVER_COMMANDS_TUNE_H
#define DRIVER_COMMANDS_TUNE_H

#include "driver/commands/bench.h"
#include "tune/knob_search.h"
#include "tune/log.h"

/* All regions with one signature. */
struct tuned_region {
    const struct codegen_region *region; /* the first of them */
    const char *title;                   /* "region_conv1, nn.conv2d -> 1x28x28x64, 3 times" */
    int n_times;                         /* number of such regions */
    struct trial best;                   /* confirmed; default code: score 1 */
    bool found;                          /* `best` gains enough */
    int n_trials, n_failed, n_wrong;     /* from this run or the log */
};

struct tuner;

/* What the caller reports while the work goes on. */
struct tune_events {
    void (*begin)(void *user, const struct tuner *tuner); /* the regions are known */
    void (*tuned)(void *user, const struct tuned_region *region);
    void *user;
};

struct tuner {
    struct driver_state *driver;
    const struct tune_events *events;
    struct module *module;
    struct bench bench; /* own is the region's default code */
    struct tune_key key;
    struct tune_log log;
    const char *path; /* of the log */
    struct tune_file *file;
    double tolerance;
    bool cold; /* also time with cold caches */
    long long most_trials;
    double seconds; /* for all regions; 0 = unlimited */
    double start;

    struct tuned_region *regions;
    int n_regions;
    struct tuned_region *current;         /* being tuned */
    double deadline;                      /* for the current region */
    int64_t trials_done, trials_expected; /* over all regions */
};

/* Tries the knobs of all regions and logs each trial. False after an error. Call driver_tune_free
 * in any case; it is false if the log could not be completed. */
bool driver_tune(struct driver_state *driver, const struct tune_events *events, struct tuner *out);
bool driver_tune_free(struct tuner *tuner);

/* tune/search.h's try_choice for tuner->current; takes results from the log if present. */
bool tuner_try(void *tuner, const struct choice *choice, double *score);

/* tune/search.h's knobs for tuner->current. */
const struct knob_range *tuner_knobs(void *tuner, const struct choice *choice);

/* Builds and starts the default code of tuner->current, tuner->bench.own. False after an error. */
bool tuner_begin_region(struct tuner *tuner);

/* Measures the choice again next to the default, in fresh processes and for longer, and logs it.
 * False after an error. */
bool tuner_confirm(struct tuner *tuner, const struct choice *choice, struct trial *trial);
void tuner_end_region(struct tuner *tuner);

/* The compiler's version text, for tune_key. NULL after an error. */
const char *tuner_compiler(struct tuner *tuner);

#endif
