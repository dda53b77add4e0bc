/* quantize.h - from a float graph to one of small numbers: the steps between the simplifying passes
 * (PIPELINE_PREPARE) and the partitioner, run by the pass runner.
 *
 *   equalize       cross-layer equalisation: scales move from one layer's weights to the next's
 *   calibrate      float values get CALIBRATED types (relay_ir/type.h), from a table or from data
 *   choose_scale   the rule `auto`: by which rule for scales of data the results lose least
 *   annotate       data that a node reads as small numbers goes through qnn.quantize and
 *                  qnn.dequantize, weights become codes behind a qnn.dequantize (or cast): the QDQ
 *                  form, still computed in f32: the simulation of the quantised model
 *   correct_bias   what quantisation shifts the mean of an output channel by goes into the bias
 *   realise        fake_quant_to_integer, fold_dequantize and the simplifying passes: integers and
 *                  small floats are what is stored and computed with
 *
 * Each step rewrites nodes; nothing is remembered beside the graph. docs/guide/quantize.md tells
 * the rules. */
#ifndef QUANTIZE_QUANTIZE_H
#define QUANTIZE_QUANTIZE_H

#include "quantize/calibrate.h"
#include "quantize/metrics.h"
#include "quantize/qtable.h"
#include "quantize/rounding.h"
#include "relay_ir/passes/pipeline.h"

enum bias_correction { BIAS_AS_IS, BIAS_BY_DATA, BIAS_DATA_FREE };

struct batch_norms; /* what the model's batch norms knew, see quantize/batch_norms.h */

struct quantize_options {
    struct precision precision;  /* of every node that is not named below */
    const struct qtable *qtable; /* NULL = none */
    int n_keep;                  /* nodes that stay f32 (names as in a qtable), and */
    const char *const *keep;
    bool keep_first,
        keep_last; /* the first and the last product (convolution, dense, matmul), and */
    int topk;      /* that many more, those with the greatest loss */
    const struct calib_table *calib;          /* NULL = none */
    const struct calibration_source *samples; /* NULL = none: for correct_bias, and calibrate
                                                 without a table */
    int n_threads;
    bool choose_data_scale; /* data whose rule is not said: by `auto`, which needs samples */
    bool equalize;
    enum bias_correction bias;
    const struct batch_norms *batch_norms; /* BIAS_DATA_FREE */
    double smooth;       /* SmoothQuant's exponent, 0 .. 1; 0 = none; needs samples */
    enum rounding round; /* other than to nearest: needs samples */
    enum loss loss;      /* of searches and topk */
    int n_formats;       /* that a search chooses from, besides the precision's: */
    const struct number_format *formats; /* of weights, and those of FP8 also of data */
    bool quantized_io;  /* the model's own inputs and outputs are small numbers too */
    bool exact;         /* FP8: products summed exactly, in integers; no float at run time */
    bool simulate_only; /* stop before realise */
    struct writer *log; /* quantize.log; NULL = none */
    bool log_json;      /* as JSON lines */
};

/* What was done, for the report of the command. All in ctx->perm. */
struct quantize_line {
    const char *node; /* raw name of the output */
    enum op op;
    struct precision precision;
    const char *why; /* stays f32 though something else was wanted: why; else NULL */
    size_t weight_bytes_before, weight_bytes_after; /* packed, scales included */
};

struct quantize_rule {
    const char *name;
    double loss; /* of the results (outcome.h), without corrections */
};

struct quantize_report {
    int n;
    struct quantize_line *lines; /* nodes with weights, and those that were kept */
    int n_products,
        n_small_products; /* convolutions, dense, matmul: all, with small weights or data */
    size_t weight_bytes_before, weight_bytes_after; /* of all constants */
    int n_f32_io; /* with quantized_io: parameters and results that are f32 nevertheless */
    int n_rules, chosen_rule;       /* for scales of data, by `auto`; 0 = none was asked for */
    struct quantize_rule *rules;    /* those that were tried */
    int n_equalized;                /* pairs of layers whose weights share their ranges now */
    double loss_before, loss_after; /* by data: of the results (outcome.h), and whether they were */
    bool is_restored;               /* worse with corrected biases, which were taken back */
    int n_smoothed, n_unsmoothed;   /* layer norms whose channels were evened out, and others */
    double smooth_before,
        smooth_after;  /* the loss of the results, as loss_before, and whether it */
    bool is_roughened; /* was greater then, so that no norm was changed */
    int n_rounded,
        n_unrounded; /* by round: products whose weights are not the nearest, and others */
    double round_before, round_after; /* the loss of the results, as loss_before, and whether it */
    bool is_unrounded;                /* was greater then, so that all is to nearest again */
    int n_corrected, n_uncorrected;   /* products: whose bias was corrected, and those about whose
                                         data nothing is known (data-free), or without channels */
};

/* The module has been through PIPELINE_PREPARE. False after errors, all that can be seen at once.
 */
bool quantize_module(struct module *module, const struct quantize_options *options,
                     const struct pipeline_options *pipeline, struct quantize_report *report);

/* The steps in order, for --passes; NULL behind the last. */
struct quantize_step {
    const char *name, *purpose;
};
const struct quantize_step *quantize_step(int i);

/* Whether these options change anything. */
bool quantize_wanted(const struct quantize_options *options);

#endif
