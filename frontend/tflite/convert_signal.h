/* convert_signal.h - what converters of the `signal` operators share. */
#ifndef FRONTEND_TFLITE_CONVERT_SIGNAL_H
#define FRONTEND_TFLITE_CONVERT_SIGNAL_H

#include "frontend/tflite/convert_compose.h"

/* The option of this name, within least .. most; else an error. */
bool tfl_option(struct tfl_node *node, const char *key, int64_t least, int64_t most, int64_t *out);

/* One node of integers; its outputs become those of the operator, or more of them. NULL after an error. */
struct node *tfl_signal(struct tfl_node *node, enum op op, const union attrs *attrs, int n_inputs,
                        struct value *const *inputs);

#endif
