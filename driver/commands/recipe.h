/* recipe.h - a way to quantise a network, as options of compile: made, sized, and judged on more
 * and more samples. */
#ifndef DRIVER_COMMANDS_RECIPE_H
#define DRIVER_COMMANDS_RECIPE_H

#include "driver/commands/eval_data.h"
#include "driver/commands/latency.h"
#include "driver/host_code.h"

enum recipe_state {
    RECIPE_LEFT,    /* not beaten yet */
    RECIPE_DROPPED, /* see `why` */
    RECIPE_FAILED   /* cannot be made: `why` is the error */
};

enum { RECIPE_OPTIONS = 3 };

struct recipe {
    const char *precision; /* "fp8=auto" */
    int n_options;         /* besides */
    struct recipe_option {
        enum option_id option;
        const char *value;
    } options[RECIPE_OPTIONS];
    const char *text;    /* "fp8=auto --round gptq" */
    bool has_small_data; /* data is stored in few bits */
    bool sums_integers;
    bool has_narrow_weights; /* alone are small, in less than 8 bits */

    enum recipe_state state;
    const char *why;
    size_t weight_bytes, arena_bytes;
    int64_t macs;
    int n_products;
    double seconds; /* estimated by --latency-log; 0 = unknown */
    int64_t n;      /* samples judged so far */
    double value;   /* of the first metric on them */
    double loss;    /* against f32; points of a percentage, else of the metric */
    double error;   /* its paired standard error */
    struct paired paired;

    /* private to recipe.c, between recipe_make and recipe_drop */
    struct ctx *ctx;
    struct driver_state driver;
    struct driver_events events;
    struct module *module;
    struct host_code code;
    struct answers *answers;
    const struct recipes *all;
    char doing[120]; /* for progress */
};

/* What all recipes share. */
struct recipes {
    struct driver_state *driver; /* of relayc quantize */
    bool with_code;              /* judged by generated C; false: oneDNN */
    int n_threads;
    const struct latency_log *latency;
    int n, n_made; /* recipes, for progress */
};

/* Options of `compile` that were given to relayc quantize, as for a shell, each after a blank. */
const char *recipe_shared_options(const struct driver_state *driver);

/* The command that makes the recipe's network. In ctx->perm. */
const char *recipe_command(const struct recipes *all, const struct recipe *recipe);

/* Text and properties of a recipe from its precision and options. False after a USAGE error. */
bool recipe_describe(const struct recipes *all, struct recipe *recipe);

/* Quantises, plans, and builds the C if that judges. An error makes the recipe fail. False only
 * after errors that are not the recipe's own. */
void recipe_make(const struct recipes *all, struct recipe *recipe);

/* Judges samples up to n of the data, and compares with f32's answers. */
void recipe_judge(struct recipe *recipe, const struct eval_request *request,
                  const struct eval_data *data, struct answers *f32, int64_t n);

/* Answers of its network for other samples. NULL after an error, which is in driver->ctx. */
struct answers *recipe_answers(struct recipe *recipe, const struct eval_request *request,
                               const struct eval_data *data);

/* Releases the network; numbers stay. */
void recipe_drop(struct recipe *recipe);

/* The float model's answers. NULL after an error. */
struct answers *recipes_f32(const struct recipes *all, const struct eval_request *request,
                            const struct eval_data *data);

/* A driver for `command` with the shared options and the recipe's, on its own ctx. */
struct driver_state recipe_driver(const struct recipes *all, const struct recipe *recipe,
                                  struct ctx *ctx, enum command command);

/* Weights and arena. */
size_t recipe_bytes(const struct recipe *recipe);

/* Loss of a change of the metric: positive is worse; shares in points. */
double recipe_loss(enum metric metric, double change);

#endif
