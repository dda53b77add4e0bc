/* truth.h - labels of samples, and their files.
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
    int64_t n;                /* number of samples */
    int n_classes;            /* greatest label + 1 */
    int *classes;             /* [n]; NULL = unknown */
    struct boxes *boxes;      /* [n], in image pixels; NULL = unknown */
    struct image_size *sizes; /* [n], with boxes */
};

struct image_size {
    int width, height;
};

/* Reads class labels. paths: files of n samples; NULL: samples have no files, and labels are in
 * order. Reports malformed lines, samples without a label and labels without a sample. In
 * ctx->perm. */
bool truth_read_classes(struct ctx *ctx, const char *path, const char *const *paths, int64_t n,
                        struct truth *out);

/* Reads boxes, and the size of each image. */
bool truth_read_boxes(struct ctx *ctx, const char *folder, const char *const *paths, int64_t n,
                      struct truth *out);

/* Converts boxes to classes: 1 if boxes of the class cover at least this share of the image. */
void truth_is_present(struct ctx *ctx, struct truth *truth, int class, double share);

#endif
