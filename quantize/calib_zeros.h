/* calib_zeros.h - tensors that held nothing but zeros in calibration: nothing is known of them. */
#ifndef QUANTIZE_CALIB_ZEROS_H
#define QUANTIZE_CALIB_ZEROS_H

#include "quantize/calib_table.h"

/* A warning that names the first of them; tensors of infinities and NaN are not among them. */
void calib_warn_zeros(struct ctx *ctx, const struct calib_table *table);

#endif
