/* steps.h - what the steps of quantize.h share. Each is a file of its name. */
#ifndef QUANTIZE_STEPS_H
#define QUANTIZE_STEPS_H

#include "quantize/quantize.h"
#include "relay_ir/products.h"

struct quantization {
    struct module *module;
    struct ctx *ctx;
    const struct quantize_options *options;
    struct quantize_report *report;
    struct calib_table
        *calibration;         /* what `calibrate` used: the given one, or that made of samples */
    struct layer_mean *means; /* for correct_bias: of the float model, see bias_correction.c */
};

bool quantize_equalize(struct quantization *q);
bool quantize_calibrate(struct quantization *q);
bool quantize_observe(
    struct quantization *q); /* before annotate: what correct_bias compares with */
bool quantize_annotate(struct quantization *q);
bool quantize_correct_bias(struct quantization *q);

/* --- shared by annotate, search and others ---------------------------------------------------- */

/* The precision of a node under these options: qtable row, keep list, first and last, else the
 * common one. */
const struct precision *precision_of_node(const struct quantization *q, const struct node *node);

#endif
