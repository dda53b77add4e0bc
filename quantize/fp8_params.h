/* fp8_params.h - PopRT's FP8 option:
 *
 *   input_format,weight_format,input_scale,weight_scale     F143,F143,-1,-1
 *
 * Formats: F143 (f8e4m3fnuz), F152 (f8e5m2fnuz), or any FP8 format of ours. Scales are exponents:
 * real = 2^k * code, so the range grows with k. Omitted fields at the end are F143 or -1. */
#ifndef QUANTIZE_FP8_PARAMS_H
#define QUANTIZE_FP8_PARAMS_H

#include "quantize/precision.h"

/* False after USAGE errors, one per wrong field, that start with `what`. */
bool fp8_params_parse(struct ctx *ctx, const char *what, const char *text, struct precision *out);

#endif
