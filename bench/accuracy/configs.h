/* configs.h - the ways to quantise that are compared: rows of configs.c. */
#ifndef BENCH_ACCURACY_CONFIGS_H
#define BENCH_ACCURACY_CONFIGS_H

#include "quantize/quantize.h"

struct config {
    const char *section;                   /* rows of one section stand side by side */
    const char *name;                      /* in the table; options choose by a part of it */
    const char *precision;                 /* as of --precision */
    const char *weight_scale, *data_scale; /* NULL = the precision's default */
    enum bias_correction bias;
    enum rounding round;
    bool equalize, keep_first, keep_last;
    int topk; /* products kept in f32 */
};

extern const struct config accuracy_configs[];
extern const int n_accuracy_configs;

/* options->precision and all that the row says; the rest is left alone. False after errors. */
bool config_apply(struct ctx *ctx, const struct config *config, struct quantize_options *options);

#endif
