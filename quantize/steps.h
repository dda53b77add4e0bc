/* steps.h - what the steps of quantize.h share. Each is a file of its name. */
#ifndef QUANTIZE_STEPS_H
#define QUANTIZE_STEPS_H

#include "quantize/quantize.h"
#include "quantize/weights.h"
#include "relay_ir/products.h"

enum { NAMED_VALUES = 8 }; /* in one error message */

struct quantization {
    struct module *module;
    struct ctx *ctx;
    const struct quantize_options *options;
    struct quantize_report *report;
    const struct calib_table *calibration; /* the given one, or that made of samples; NULL = none */
    struct layer_mean *means; /* for correct_bias: of the float model, see bias_correction.c; */
    struct outcome *wanted;   /* its results, see outcome.h; NULL = they are not known */
    const struct scale_rule *data_rule; /* that `auto` is; NULL = max */
    struct rounded_weight *weights; /* for round: what codes were made of, see round_weights.c */
    struct shifted *shifted;        /* biases that were changed, the last one first: layer_mean.c */
    struct batch_norms *statistics; /* of the options, scaled as `equalize` scaled layers */

    /* choose.c */
    const struct node *first, *last; /* products that stay f32, or NULL */
    struct map kept;                 /* topk: name of an output -> node */

    struct map logged; /* search_scales.c: names of values that are in the log */

    /* data_scale.c */
    int n_unknown, n_broken;
    const struct value *unknown[NAMED_VALUES], *broken[NAMED_VALUES]; /* the first of them */
};

bool quantize_check(struct quantization *q); /* annotate.c */
bool quantize_equalize(struct quantization *q);
bool quantize_smooth(struct quantization *q);
bool quantize_calibrate(struct quantization *q);
bool quantize_observe(
    struct quantization *q); /* before annotate: what correct_bias compares with */
bool quantize_choose_scale(struct quantization *q);
bool quantize_annotate(struct quantization *q);
bool quantize_round(struct quantization *q);
bool quantize_correct_bias(struct quantization *q);

/* --- choose_scale.c: the rule `auto` ---------------------------------------------------------- */

/* Whether any precision asks for it. */
bool choose_scale_wanted(const struct quantization *q);

/* Whether one of its candidates for this precision starts from the threshold of this method. */
bool choose_scale_reads(const struct quantization *q, const struct precision *precision,
                        const char *method);

/* The precision with the rule that `auto`, or nothing, stands for. */
struct precision precision_with_rule(const struct quantization *q,
                                     const struct precision *precision);

/* --- choose.c: which precision a node has ----------------------------------------------------- */

/* Checks the names that the user gave. */
bool choose_check(struct quantization *q);

/* Finds first, last and topk. */
bool choose_begin(struct quantization *q);

/* qtable row, keep list, first and last, topk, else the common one. *why (which may be NULL): what
 * made it f32 ("--keep-f32"); NULL = nothing did. */
const struct precision *precision_of_node(const struct quantization *q, const struct node *node,
                                          const char **why);

/* Whether an operator of this precision reads its input i, of f32, as small numbers. */
bool reads_small(const struct node *node, int input, const struct precision *precision);

/* --- data_scale.c: scales of what is computed ------------------------------------------------- */

/* real = scale * (code - zero). */
struct data_scale {
    struct number_format format; /* of the codes: the precision's, or one that a search chose */
    float scale;
    int32_t zero;
};

/* The value whose numbers decide how this one is stored: what it is moved from, or joined into. */
const struct value *data_scale_source(const struct value *value);

/* Operators whose result holds numbers of their input 0, or between two of them, and nothing else
 * but 0. */
bool keeps_numbers(const struct node *node);

/* How the value is to be stored for a reader of this precision. False, with the value remembered
 * for data_scale_report, when nothing is known about it. */
bool data_scale_of(struct quantization *q, const struct precision *precision,
                   const struct value *value, struct data_scale *out);

/* An error for all values that nothing was known about, or whose numbers were not finite. */
bool data_scale_report(struct quantization *q);

/* --- state_scale.c: states of recurrent layers between calls ---------------------------------- */

/* True where the value holds such states, with their scale in 16 bits. After data_scale_of, which
 * says whether anything is known about it. */
bool state_scale_of(struct quantization *q, const struct precision *precision,
                    const struct value *value, struct data_scale *out);

/* Whether the node reads this input as an initial state; whether it only moves numbers. */
bool reads_state(const struct node *node, int input);
bool moves_state(const struct node *node);

/* --- square_scale.c: between squares and roots ------------------------------------------------ */

/* True where the value is one that only a sum of squares can be, on its way to a root: with its
 * scale in 16 bits. After data_scale_of, as above. */
bool square_scale_of(struct quantization *q, const struct precision *precision,
                     const struct value *value, struct data_scale *out);

/* --- search_scales.c: the rule `search` ------------------------------------------------------- */

/* Of the weight of this product. */
void search_weight_scales(struct quantization *q, const struct node *node, int axis,
                          const struct precision *precision, struct chosen_scales *out);

/* False when there is no histogram of the value. */
bool search_data_scale(struct quantization *q, const struct precision *precision,
                       const struct value *value, struct data_scale *out);

#endif
