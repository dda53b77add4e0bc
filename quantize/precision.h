/* precision.h - precision of a node: a row of precision.def with overrides.
 *
 * It gives the formats of a node's data (computed inputs) and weights (constants of convolutions,
 * dense and matmul). A result has the format that its readers ask for. */
#ifndef QUANTIZE_PRECISION_H
#define QUANTIZE_PRECISION_H

#include "quantize/scale_rule.h"

enum precision_mode {
#define PRECISION(symbol, name, weights, data, purpose) PRECISION_##symbol,
#include "quantize/precision.def"
#undef PRECISION
    PRECISION_COUNT
};

struct precision {
    enum precision_mode mode;
    bool has_weights, has_data;         /* false: f32 */
    struct number_format weights, data; /* data: FP8 or i8 */
    struct scale_rule weight_scale;     /* default max, per output channel; unit, fixed values and
                                           paper-percentile are per tensor */
    struct scale_rule data_scale; /* default: FP8: max, or unit without calibration; i8: max */
    bool has_data_scale;          /* data_scale is explicit */
    bool chooses_formats; /* formats are not named: those that fit take their place (data_free.h) */
};

/* "fp8", "fp8=f8e3m4" (weights and data), "fp8=f8e3m4,f8e4m3" (weights, data), "fp8=u8e2m6" (data
 * where it is never negative; weights and other data: f8e2m5), "fp8=auto", "afp=afp<4,3>", "int8".
 * False after a USAGE error that starts with `what`. */
bool precision_parse(struct ctx *ctx, const char *what, const char *text, struct precision *out);

const char *precision_name(enum precision_mode mode);
const char *precision_purpose(enum precision_mode mode);

/* True if the precision may have this format for weights (or data). precision_parse, and so a row
 * of a qtable, takes these and no others. */
bool precision_takes(const struct precision *precision, const struct number_format *format,
                     bool for_data);

/* Text that precision_parse accepts. */
const char *precision_text(struct arena *arena, const struct precision *precision);

#endif
