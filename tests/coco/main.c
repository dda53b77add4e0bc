/* main.c - what tests/e2e/run_coco asks: detections and labels in, numbers out.
 *
 * coco map: lines "image class x0 y0 x1 y1 score" (score < 0: a label), images being 0, 1 ... and
 * the detections of one in any order; then mAP50 and mAP, to all digits. coco auc: lines "score
 * label". */
#include <stdio.h>
#include <string.h>

#include "eval/average_precision.h"
#include "eval/roc.h"

enum { IMAGES = 256, MOST = 4096, SCORES = 1 << 16 };

static void add(struct arena *arena, struct boxes *boxes, const struct box *box)
{
    if (!boxes->at)
        boxes->at = arena_array(arena, struct box, MOST);
    if (boxes->n < MOST)
        boxes->at[boxes->n++] = *box;
}

static int print_map(struct arena *arena)
{
    static struct boxes found[IMAGES], labels[IMAGES];
    struct box box;
    double score;
    int image;

    while (scanf("%d %d %lf %lf %lf %lf %lf", &image, &box.class, &box.x0, &box.y0, &box.x1,
                 &box.y1, &score) == 7) {
        if (image < 0 || image >= IMAGES)
            return 1;
        box.score = (float)score;
        add(arena, score < 0 ? &labels[image] : &found[image], &box);
    }
    for (int i = 0; i < IMAGES; i++)
        found[i].n = boxes_suppress(found[i].at, found[i].n, 2, MOST); /* sorts; all stay */
    printf("%.17g\n", average_precision(boxes_match(arena, found, labels, IMAGES, 1), NULL));
    printf("%.17g\n", average_precision(boxes_match(arena, found, labels, IMAGES, 10), NULL));
    return 0;
}

static int print_auc(struct arena *arena)
{
    float *scores = arena_array(arena, float, SCORES);
    bool *positive = arena_array(arena, bool, SCORES);
    int64_t n = 0;
    int label;

    while (n < SCORES && scanf("%f %d", &scores[n], &label) == 2)
        positive[n++] = label != 0;
    printf("%.17g\n", roc_auc(scores, positive, n, NULL));
    return 0;
}

int main(int argc, char **argv)
{
    struct arena arena = { NULL };
    int code = 2;

    if (argc == 2 && strcmp(argv[1], "map") == 0)
        code = print_map(&arena);
    else if (argc == 2 && strcmp(argv[1], "auc") == 0)
        code = print_auc(&arena);
    arena_release(&arena);
    return code;
}
