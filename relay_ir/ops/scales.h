/* scales.h - type inference of what codes mean (QTYPE_SCALED): operators with a scale and a zero
 * point say it where these are constants, operators that only move or bound numbers pass it on, all
 * others say nothing. */
#ifndef RELAY_IR_OPS_SCALES_H
#define RELAY_IR_OPS_SCALES_H

#include "relay_ir/ir.h"

/* set_output of output 0, whose codes have the scale and the zero point that these inputs are.
 * axis: of the output, along which they lie where they are vectors. Scales that are computed, or
 * that are not positive and finite, say nothing. */
void set_scaled_output(struct node *node, enum dtype dtype, const struct type *shape, int scale,
                       int zero, int64_t axis);
void set_scaled_output_at(struct node *node, int output, enum dtype dtype, const struct type *shape,
                          int scale, int zero, int64_t axis);

/* Behind set_output of the same dtype: the output's codes mean what those of the input do. axis:
 * where the axis of the input lies along which there are scales; -1 = nowhere, then only what has
 * one scale passes. */
void pass_scales(struct node *node, int output, int input, int axis);

/* The same, of an operator that leaves every axis in its place, and those along which there are
 * scales as they are; otherwise only what has one scale passes. */
void pass_scales_in_place(struct node *node, int output, int input);

/* The axis along which the input has scales; -1: it has one, or none. */
int scales_axis(const struct node *node, int input);

/* The axis of a view of x where its axis `axis` lies, element for element; -1 = it has none. */
int view_axis(const struct type *x, const struct type *view, int axis);

#endif
