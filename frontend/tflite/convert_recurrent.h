/* convert_recurrent.h - what converters of recurrent operators share. */
#ifndef FRONTEND_TFLITE_CONVERT_RECURRENT_H
#define FRONTEND_TFLITE_CONVERT_RECURRENT_H

#include "frontend/tflite/convert.h"

/* `size` elements along an axis, from `begin` on. */
struct value *tfl_along(struct tfl_node *node, struct value *x, int axis, int64_t begin,
                        int64_t size, const char *suffix);

/* tfl_reshape to these dims. */
struct value *tfl_shaped(struct tfl_node *node, struct value *x, int rank, const int64_t *dims,
                         const char *suffix);

/* Whether an input has this shape, of one or two dimensions; else an error. */
bool tfl_check_shape(struct tfl_node *node, int input, int rank, int64_t a, int64_t b);

#endif
