/* quantize.h - quantises a float graph: steps between simplification (PIPELINE_PREPARE) and the
 * partitioner, run by the pass runner.
 *
 *   equalize       cross-layer equalisation: scales move from one layer's weights to the next's
 *   calibrate      float values get CALIBRATED types (relay_ir/type.h), from a table or from data
 *   choose_scale   the rule `auto`: by which rule for scales of data the results lose least
 *   annotate       data that a node reads as quantised values goes through qnn.quantize and
 *                  qnn.dequantize, weights become quantised values behind a qnn.dequantize (or cast): the QDQ
 *                  form, still computed in f32: the simulation of the quantised model
 *   correct_bias   what quantisation shifts the mean of an output channel by goes into the bias
 *   realise        fake_quant_to_integer, fold_dequantize and the simplifying passes: integers and
 *                  narrow floats are what is stored and computed with
 *
 * Each step rewrites nodes; there is no state beside the graph. The rules are in
 * docs/guide/quantize.md. */
#ifndef QUANTIZE_QUANTIZE_H
#define QUANTIZE_QUANTIZE_H

#include "quantize/calibrate.h"
#include "quantize/metrics.h"
#include "quantize/qtable.h"
#include "quantize/rounding.h"
#include "relay_ir/passes/pipeline.h"

enum bias_correction { BIAS_AS_IS, BIAS_BY_DATA, BIAS_DATA_FREE };

struct batch_norms; /* statistics of batch norms, quantize/batch_norms.h */

struct quantize_options {
    bool any_shape;              /* calib may be of other dims: sizes vary (--vary) */
    struct precision precision;  /* of all nodes without an override */
    const struct qtable *qtable; /* NULL = none */
    int n_keep;                  /* nodes that stay f32, named as in a qtable */
    const char *const *keep;
    bool keep_first,
        keep_last; /* keep the first and the last product in f32 (convolution, dense, matmul) */
    int topk;      /* keep this many more products, those with the greatest loss */
    const struct precision *topk_precision;   /* of those, weights only; NULL = f32 */
    const struct calib_table *calib;          /* NULL = none */
    const struct calibration_source *samples; /* for correct_bias, and for calibrate without a
                                                 table; NULL = none */
    int n_threads;
    bool choose_data_scale; /* use `auto` for data without a scale rule; needs samples */
    bool equalize;
    enum bias_correction bias;
    const struct batch_norms *batch_norms; /* BIAS_DATA_FREE, data_free */
    bool data_free;      /* without data: no complaint about batch norms that there are not, and
                            see `noise` */
    bool choose_formats; /* formats of FP8, and scales of its data, from weights and batch norms */
    double smooth;       /* SmoothQuant's exponent, 0 .. 1; 0 = none; needs samples */
    enum rounding round; /* anything but nearest needs samples */
    enum loss loss;      /* for searches and topk */
    int n_formats;       /* further formats for searches: */
    const struct number_format *formats; /* for weights; FP8 ones also for data */
    bool quantized_io;                   /* quantise the model's inputs and outputs too */
    bool exact;                          /* FP8: integer-accumulated; no float at run time */
    bool simulate_only;                  /* stop before realise: fake-quantised graph */
    struct writer *log;                  /* quantize.log; NULL = none */
    bool log_json;                       /* as JSON lines */
};

/* Result per node, for reports. In ctx->perm. */
struct quantize_line {
    const char *node; /* name of the output, raw */
    enum op op;
    struct precision precision;
    const char *why; /* why it stays f32 against the request; else NULL */
    size_t weight_bytes_before, weight_bytes_after; /* packed, scales included */
};

struct quantize_rule {
    const char *name;
    double loss; /* of the results (outcome.h), without corrections */
};

struct quantize_report {
    int n;
    struct quantize_line *lines; /* nodes with weights, and those kept in f32 */
    int n_products,
        n_quantized_products; /* convolutions, dense, matmul: all; with quantised weights or data */
    size_t weight_bytes_before, weight_bytes_after; /* of all constants */
    int n_f32_io;                   /* with quantized_io: parameters and results that stay f32 */
    int n_rules, chosen_rule;       /* of `auto` for data; 0 = not requested */
    struct quantize_rule *rules;    /* rules that were tried */
    int n_equalized;                /* equalised pairs of layers */
    double loss_before, loss_after; /* BIAS_BY_DATA: loss of the results (outcome.h) */
    bool is_restored;               /* the correction was worse, and was undone */
    int n_smoothed, n_unsmoothed;   /* layer norms smoothed, and not smoothed */
    double smooth_before, smooth_after; /* loss of the results */
    bool is_roughened;                  /* smoothing was worse, and was undone */
    int n_rounded, n_unrounded;       /* products with weights not rounded to nearest, and others */
    double round_before, round_after; /* loss of the results */
    bool is_unrounded;                /* rounding was worse, and was undone */
    double noise; /* data_free: of the results, by their signal, in powers, for synthetic inputs;
                     negative = not estimated */
    bool is_classifier;             /* noise is that of the scores of classes */
    int n_corrected, n_uncorrected; /* products with corrected bias, and those without channels or
                                         (data-free) with unknown data */
};

/* Quantises a module that has passed PIPELINE_PREPARE. False after errors; all detectable ones are
 * reported. */
bool quantize_module(struct module *module, const struct quantize_options *options,
                     const struct pipeline_options *pipeline, struct quantize_report *report);

/* Step i, for --passes; NULL past the last. */
struct quantize_step {
    const char *name, *purpose;
};
const struct quantize_step *quantize_step(int i);

/* True if the options change anything. */
bool quantize_wanted(const struct quantize_options *options);

#endif
