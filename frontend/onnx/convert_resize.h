/* convert_resize.h - between convert_resize.c and convert_resize_run_time.c. */
#ifndef FRONTEND_ONNX_CONVERT_RESIZE_H
#define FRONTEND_ONNX_CONVERT_RESIZE_H

#include "frontend/onnx/convert_helpers.h"

/* Resize and Upsample where scales, sizes or region of interest are known at run time only. attrs has the words and
 * numbers of the attributes; axes in the order in which the inputs `scales` and `sizes` speak of them (-1: no such
 * input). */
bool resize_at_run_time(struct onnx_node *node, const struct resize_attrs *attrs,
                        const struct ints *axes, int scales, int sizes);

#endif
