/* steps.h - state and functions shared by the steps of quantize.h, one file per step. */
#ifndef QUANTIZE_STEPS_H
#define QUANTIZE_STEPS_H

#include "quantize/quantize.h"
#include "quantize/weights.h"
#include "relay_ir/products.h"

enum { NAMED_VALUES = 8 }; /* named per error message */

/* --- common_formats.c: the formats of `auto` -------------------------------------------------- */

enum { ALL_FORMATS = 7 }; /* as many as there are to choose from */

/* How many formats: n, 0 = as expected noise says; by_kind: those of weights, of data with a sign and
 * of data without are one each. */
struct format_count {
    int n;
    bool by_kind;
};

struct format_set {
    unsigned formats;    /* a bit for each; 0 = nothing says `auto` */
    int n_exceptions;    /* tensors that have not the format of their kind */
    double noise, least; /* expected: of this choice, and of the best format of each tensor */
};

struct quantization {
    struct module *module;
    struct ctx *ctx;
    const struct quantize_options *options;
    struct quantize_report *report;
    struct validation *validation;         /* is told of shifted biases; NULL = none */
    const struct calib_table *calibration; /* given, or made from samples; NULL = none */
    struct layer_mean *means; /* of the float model, for correct_bias (bias_correction.c) */
    struct outcome *wanted;   /* results of the float model (outcome.h); NULL = unknown */
    const struct scale_rule *data_rule; /* rule chosen by `auto`; NULL = max */
    struct rounded_weight *weights;     /* original weights for round (round_weights.c) */
    struct shifted *shifted;            /* changed biases, last first (layer_mean.c) */
    struct batch_norms *statistics;     /* batch norm statistics, scaled by `equalize` */
    bool is_guessed;                    /* the calibration is data_free_table's */
    struct estimate *estimate;          /* data_free: results of the float model */

    /* choose.c */
    const struct node *first, *last; /* kept in f32; NULL = none */
    struct map kept;                 /* topk: name of an output -> node */

    struct map logged;  /* search_scales.c: values already in the log */
    struct map formats; /* choose_format.c: rule and tensor -> chosen struct number_format * */
    struct format_set set; /* what these are */
    struct format_count n_formats; /* choose_formats.c */

    /* data_scale.c */
    int n_unknown, n_broken;
    const struct value *unknown[NAMED_VALUES], *broken[NAMED_VALUES]; /* the first few */
};

bool quantize_check(struct quantization *q); /* annotate.c */
bool quantize_equalize(struct quantization *q);
bool quantize_smooth(struct quantization *q);
bool quantize_calibrate(struct quantization *q);
bool quantize_observe(
    struct quantization *q); /* before annotate: records what correct_bias compares with */
bool quantize_choose_scale(struct quantization *q);
bool quantize_choose_formats(struct quantization *q);
bool quantize_annotate(struct quantization *q);
bool quantize_round(struct quantization *q);
bool quantize_correct_bias(struct quantization *q);

/* --- choose_scale.c: the rule `auto` ---------------------------------------------------------- */

/* True if any precision uses `auto`. */
bool choose_scale_wanted(const struct quantization *q);

/* True if a candidate rule of `auto` for this precision needs the threshold of this method. */
bool choose_scale_reads(const struct quantization *q, const struct precision *precision,
                        const char *method);

/* The precision with `auto`, or no rule, replaced by the chosen rule. */
struct precision precision_with_rule(const struct quantization *q,
                                     const struct precision *precision);

/* What the results lose by the rule (NULL = max) and `n_formats` formats of `auto`; *set (may be NULL)
 * is what these are. *known is false where the graph cannot be annotated: what is wrong with it is
 * better said of the graph itself, by the next step. False after an error. */
bool choose_scale_try(struct quantization *q, const struct scale_rule *rule,
                      struct format_count n_formats, struct format_set *set, double *loss,
                      bool *known);

/* --- choose.c: precision of a node ------------------------------------------------------------ */

/* Checks the user's names. */
bool choose_check(struct quantization *q);

/* Determines first, last and topk. */
bool choose_begin(struct quantization *q);

/* From the qtable row, keep list, first and last, topk, else the default. *why (may be NULL): what
 * made it f32 ("--keep-f32"); NULL = nothing. */
const struct precision *precision_of_node(const struct quantization *q, const struct node *node,
                                          const char **why);

/* True if the node, with this precision, reads its f32 input quantised. */
bool reads_quantized(const struct node *node, int input, const struct precision *precision);

/* --- data_scale.c: scales of computed values -------------------------------------------------- */

/* real = scale * (q - zero). */
struct data_scale {
    struct number_format format; /* of q: the precision's, or chosen by a search */
    float scale;
    int32_t zero;
};

/* The value whose calibration decides the scale of this one: what it is moved from, or joined
 * into. */
const struct value *data_scale_source(const struct value *value);

/* True if the result holds only elements of input 0, values between two of them, and 0. */
bool keeps_numbers(const struct node *node);

/* The format for a value with this source: the precision's; signed where that is unsigned and the
 * value may be negative; the nearest where it is `auto`. choose_format.c */
struct number_format data_format_of(struct quantization *q, const struct precision *precision,
                                    const struct value *source);

/* The same of a weight; as it is where nothing was chosen for it. choose_format.c */
struct number_format weight_format_of(struct quantization *q, const struct precision *precision,
                                      const struct value *weight, int axis);

/* The names of those that `auto` chooses from. */
const char *const *choosable_formats(bool for_data, int *n);

/* True if the numbers were never negative when they were measured, or cannot be. */
bool is_never_negative(const struct quantization *q, const struct value *value);

/* Scale of a value for a reader of this precision. False if its range is unknown; data_scale_report
 * reports it. */
bool data_scale_of(struct quantization *q, const struct precision *precision,
                   const struct value *value, struct data_scale *out);

/* Reports all values with unknown range or non-finite calibration. */
bool data_scale_report(struct quantization *q);

/* --- state_scale.c: states of recurrent layers between calls ---------------------------------- */

/* True for recurrent states, with a 16-bit scale. Call after data_scale_of, which checks that the
 * range is known. */
bool state_scale_of(struct quantization *q, const struct precision *precision,
                    const struct value *value, struct data_scale *out);

/* True if the node reads this input as an initial state; if it only moves values. */
bool reads_state(const struct node *node, int input);
bool moves_state(const struct node *node);

/* --- square_scale.c: between squares and roots ------------------------------------------------ */

/* True for a sum of squares on its way to a root, with a 16-bit scale. Call after data_scale_of. */
bool square_scale_of(struct quantization *q, const struct precision *precision,
                     const struct value *value, struct data_scale *out);

/* --- search_scales.c: the rule `search` ------------------------------------------------------- */

/* Scales of the product's weight. */
void search_weight_scales(struct quantization *q, const struct node *node, int axis,
                          const struct precision *precision, struct chosen_scales *out);

/* False if there is no histogram of the value. */
bool search_data_scale(struct quantization *q, const struct precision *precision,
                       const struct value *value, struct data_scale *out);

#endif
