/* follow_plan.h - a memory plan followed element by element, by its offsets in codegen_c only: memory as each region leaves it. */
#ifndef TESTS_SUPPORT_FOLLOW_PLAN_H
#define TESTS_SUPPORT_FOLLOW_PLAN_H

#include "codegen_c/codegen.h"

/* Regions of each kind that were met; n_overlaid: in place, over a piece of a greater value. */
struct followed {
    int n_in_place, n_overlaid, n_overlaps, n_striped;
};

/* For graphs of f32 whose regions stand for themselves (those of image_graph, in stripes or not):
 * fails the test unless every element that a region reads is where it reads it, results of main
 * included, and no result lies over an element that its region reads later: element-wise regions
 * may write over what they read, windows over rows that they are done with (where the result says
 * that they overlap), striped regions over nothing. n_pools: those
 * that the arena is in, or 0. */
struct followed follow_plan(const struct module *module, const struct codegen_result *result,
                            int n_pools);

#endif
