/* fp8_params.h - PopRT's way to say how FP8 is used, in one option:
 *
 *   input_format,weight_format,input_scale,weight_scale     F143,F143,-1,-1
 *
 * Formats: F143 (f8e4m3fnuz), F152 (f8e5m2fnuz), or any FP8 format of ours. Scales are exponents:
 * number = 2^k * code, so that the range grows with k. What is left away at the end is F143 or -1.
 */
#ifndef QUANTIZE_FP8_PARAMS_H
#define QUANTIZE_FP8_PARAMS_H

#include "quantize/precision.h"

/* False after USAGE errors, one for each wrong field, that start with `what`. */
bool fp8_params_parse(struct ctx *ctx, const char *what, const char *text, struct precision *out);

#endif
