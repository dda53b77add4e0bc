/* boxes.h - labelled rectangles: overlap and non-maximum suppression. */
#ifndef EVAL_BOXES_H
#define EVAL_BOXES_H

#include <stdint.h>

/* From (x0, y0) to (x1, y1), in image pixels; x1 <= x0 or y1 <= y0: empty. */
struct box {
    double x0, y0, x1, y1;
    int class;
    float score; /* detections only; 0 for labels */
};

struct boxes {
    int64_t n;
    struct box *at;
};

/* Intersection over union, as in pycocotools; 0 for two empty boxes. */
double box_iou(const struct box *a, const struct box *b);

/* Greedy non-maximum suppression per class: sorts boxes by descending score (stable) and keeps
 * those that overlap no kept box of their class by more than `iou`, at most `most` in all. Returns
 * their number; they are moved to the front. */
int64_t boxes_suppress(struct box *boxes, int64_t n, double iou, int64_t most);

#endif
