#include "eval/boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

double box_iou(const struct box *a, const struct box *b)
{
    const double width = fmin(a->x1, b->x1) - fmax(a->x0, b->x0);
    const double height = fmin(a->y1, b->y1) - fmax(a->y0, b->y0);
    double shared;

    if (!(width > 0 && height > 0))
        return 0;
    shared = width * height;
    return shared /
           ((a->x1 - a->x0) * (a->y1 - a->y0) + (b->x1 - b->x0) * (b->y1 - b->y0) - shared);
}

struct ranked {
    float score;
    int64_t index;
};

static int compare_scores(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Boxes of all classes are taken in the order of their scores, which gives each class what it
 * would get alone, and ends as soon as enough are kept. */
int64_t boxes_suppress(struct box *boxes, int64_t n, double iou, int64_t most)
{
    struct arena arena = { NULL };
    struct ranked *order = arena_array(&arena, struct ranked, n);
    struct box *kept = arena_array(&arena, struct box, n < most ? n : most);
    int64_t n_kept = 0;

    for (int64_t i = 0; i < n; i++)
        order[i] = (struct ranked){ boxes[i].score, i };
    if (n)
        qsort(order, (size_t)n, sizeof *order, compare_scores);
    for (int64_t i = 0; i < n && n_kept < most; i++) {
        const struct box *box = &boxes[order[i].index];
        int64_t k = 0;

        while (k < n_kept && (kept[k].class != box->class || box_iou(&kept[k], box) <= iou))
            k++;
        if (k == n_kept)
            kept[n_kept++] = *box;
    }
    if (n_kept)
        memcpy(boxes, kept, (size_t)n_kept * sizeof *boxes);
    arena_release(&arena);
    return n_kept;
}
