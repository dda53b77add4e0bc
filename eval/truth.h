/* truth.h - what is known to be right, sample by sample, and the files that say it.
 *
 *   classes   lines "FILE LABEL", or "LABEL" alone, in the order of the samples; labels are 0, 1
 *             ... Empty lines and those that begin with # are passed over.
 *   boxes     a folder with a file NAME.txt for each image NAME.jpg, as YOLO has them: lines "CLASS
 *             CX CY WIDTH HEIGHT", centre and size in parts of the image. No file: no boxes. */
#ifndef EVAL_TRUTH_H
#define EVAL_TRUTH_H

#include "base/ctx.h"
#include "eval/boxes.h"

struct truth {
    int64_t n;                /* samples */
    int n_classes;            /* the greatest label + 1 */
    int *classes;             /* [n]; NULL = not known */
    struct boxes *boxes;      /* [n], in pixels of the image; NULL = not known */
    struct image_size *sizes; /* [n], with boxes */
};

struct image_size {
    int width, height;
};

/* paths: of n samples; NULL where samples have no files of their own, then labels are taken in
 * order. Errors, all at once: lines that are none, samples without a label, labels of files that
 * are no samples. In ctx->perm. */
bool truth_read_classes(struct ctx *ctx, const char *path, const char *const *paths, int64_t n,
                        struct truth *out);

/* Also opens each image, for its size. */
bool truth_read_boxes(struct ctx *ctx, const char *folder, const char *const *paths, int64_t n,
                      struct truth *out);

/* From boxes to classes: 1 where a box of the class covers at least this part of the image. */
void truth_is_present(struct ctx *ctx, struct truth *truth, int class, double share);

#endif
