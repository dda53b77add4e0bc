/* boxes.h - rectangles of classes: overlap, and which of many detections stay. */
#ifndef EVAL_BOXES_H
#define EVAL_BOXES_H

#include <stdint.h>

/* From (x0, y0) to (x1, y1), in pixels of the image; x1 <= x0 or y1 <= y0: empty. */
struct box {
    double x0, y0, x1, y1;
    int class;
    float score; /* of a detection; 0 of a label */
};

struct boxes {
    int64_t n;
    struct box *at;
};

/* Intersection over union, as pycocotools computes it; 0 of two empty boxes. */
double box_iou(const struct box *a, const struct box *b);

/* Greedy non-maximum suppression, class by class: sorts the boxes by score, the greatest first (of
 * equals, the one that stood first), and keeps those that overlap no box of their class that was
 * kept by more than `iou`; of all classes together the first `most`. Gives how many stay, which
 * then stand in front. */
int64_t boxes_suppress(struct box *boxes, int64_t n, double iou, int64_t most);

#endif
