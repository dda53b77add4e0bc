/* precision.h - how a node is computed: one row of precision.def, and what may be said otherwise.
 *
 * A node's precision says in which format it reads its data (what other nodes compute) and keeps
 * its weights (constants of convolutions, dense and matmul). What it gives is stored as its readers
 * want it. */
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
    struct scale_rule weight_scale;     /* default max, per output channel; unit, fixed numbers and
                                           paper-percentile are per tensor */
    struct scale_rule data_scale; /* default: FP8: max, or unit without calibration; i8: max */
    bool has_data_scale;          /* it was said */
};

/* "fp8", "fp8=f8e3m4" (weights and data), "fp8=f8e3m4,f8e4m3" (weights, data), "afp=afp<4,3>",
 * "int8". False after a USAGE error that starts with `what`. */
bool precision_parse(struct ctx *ctx, const char *what, const char *text, struct precision *out);

const char *precision_name(enum precision_mode mode);
const char *precision_purpose(enum precision_mode mode);

/* Whether a search may choose this format for weights (or data) of a node of this precision: what
 * the mode cannot compute with would be stored in vain. */
bool precision_takes(const struct precision *precision, const struct number_format *format,
                     bool for_data);

/* As precision_parse takes it. */
const char *precision_text(struct arena *arena, const struct precision *precision);

#endif
