/* average_precision.h - COCO's mean average precision, as pycocotools' COCOeval computes it with
 * area "all" and no crowds (compared in tests).
 *
 * Per class, image and IoU threshold, detections are processed by descending score and matched to
 * the unmatched label of their class with the largest IoU, if that reaches the threshold. Precision
 * over all images is made monotonic in recall and sampled at the 101 recalls 0, 0.01 ... 1. */
#ifndef EVAL_AVERAGE_PRECISION_H
#define EVAL_AVERAGE_PRECISION_H

#include <stdbool.h>

#include "base/arena.h"
#include "eval/boxes.h"

struct matched; /* opaque: all detections, matched at each threshold */

/* found[i] (best first) and labels[i] belong to image i of n. Thresholds are 0.5 + 0.05 k, k <
 * n_thresholds (1: mAP50; 10: mAP). In the arena. */
struct matched *boxes_match(struct arena *arena, const struct boxes *found,
                            const struct boxes *labels, int64_t n, int n_thresholds);

/* Mean over thresholds and classes with labels; skip[i] (NULL = none) leaves out image i. NaN
 * without labels. */
double average_precision(const struct matched *matched, const bool *skip);

#endif
