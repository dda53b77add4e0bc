/* scales.h - type inference of QTYPE_SCALED: operators with a constant scale and zero point set it,
 * operators that only move, choose or clamp values pass it on, all others clear it. */
#ifndef RELAY_IR_OPS_SCALES_H
#define RELAY_IR_OPS_SCALES_H

#include "relay_ir/ir.h"

/* set_output of output 0 (or `output`), with scale and zero point from these inputs. axis: of the
 * output, for vectors. Scales that are computed, not positive or not finite set nothing. */
void set_scaled_output(struct node *node, enum dtype dtype, const struct type *shape, int scale,
                       int zero, int64_t axis);
void set_scaled_output_at(struct node *node, int output, enum dtype dtype, const struct type *shape,
                          int scale, int zero, int64_t axis);

/* After set_output with the input's dtype: the output takes the input's scales. axis: where the
 * scaled axis of the input is in the output; -1 = nowhere, then only a single scale passes. */
void pass_scales(struct node *node, int output, int input, int axis);

/* pass_scales for an operator that keeps every axis in place, and the extent of the scaled one;
 * otherwise only a single scale passes. */
void pass_scales_in_place(struct node *node, int output, int input);

/* For an operator that takes each element from one of the inputs first, first + step, ...: their
 * scale, if it is one scale, and the same. */
void pass_common_scale(struct node *node, int output, int first, int step);

/* Axis of the input's scales; -1: a single scale, or none. */
int scales_axis(const struct node *node, int input);

/* Axis of `view` that corresponds, element by element, to `axis` of x; -1 = none. */
int view_axis(const struct type *x, const struct type *view, int axis);

#endif
