/* calib_zeros.h - tensors that were all zeros in calibration, whose range is therefore unknown. */
#ifndef QUANTIZE_CALIB_ZEROS_H
#define QUANTIZE_CALIB_ZEROS_H

#include "quantize/calib_table.h"

/* Warns of them and names the first; tensors of infinities and NaN do not count. */
void calib_warn_zeros(struct ctx *ctx, const struct calib_table *table);

#endif
