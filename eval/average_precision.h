/* average_precision.h - COCO's mean average precision, as pycocotools' COCOeval computes it with
 * area "all" and no crowds (the tests compare both).
 *
 * For each class, image and IoU threshold, detections are taken best first, and each is matched to
 * the free label of its class that it overlaps most, at least by the threshold. Then, over all
 * images, precision is made to fall with recall, and read at the 101 recalls 0, 0.01 ... 1. */
#ifndef EVAL_AVERAGE_PRECISION_H
#define EVAL_AVERAGE_PRECISION_H

#include <stdbool.h>

#include "base/arena.h"
#include "eval/boxes.h"

struct matched; /* opaque: all detections, matched at each threshold */

/* found[i], best first, and labels[i] are of image i, n of them; thresholds are 0.5 + 0.05 k for
 * k = 0 .. n_thresholds - 1 (1: mAP50; 10: mAP). Lives in the arena. */
struct matched *boxes_match(struct arena *arena, const struct boxes *found,
                            const struct boxes *labels, int64_t n, int n_thresholds);

/* The mean over thresholds and over classes that have labels; skip[i] (NULL = none): image i is
 * left out. NaN without any label. */
double average_precision(const struct matched *matched, const bool *skip);

#endif
