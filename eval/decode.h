/* decode.h - from the results of a detector to boxes in the image. Rows of decode.def. */
#ifndef EVAL_DECODE_H
#define EVAL_DECODE_H

#include "eval/boxes.h"
#include "eval/truth.h"
#include "frontend/tensors/image/preprocess.h"
#include "relay_ir/ir.h"

enum decoder {
#define DECODER(symbol, name, objectness, layout, box, unit, grid, what) DECODER_##symbol,
#include "eval/decode.def"
#undef DECODER
    DECODER_COUNT
};

struct decoding {
    enum decoder decoder;            /* DECODER_COUNT = none was named */
    const struct preprocessing *how; /* how the image became the input; NULL = it was as big */
    int input_width, input_height;   /* of the network's input, in pixels */
    double least_score;              /* candidates below it are not looked at */
    double iou;                      /* of non-maximum suppression */
    int64_t most;                    /* boxes of an image */
};

/* 0.001, 0.6 and 300: as the YOLO networks are compared on COCO. */
struct decoding decoding_default(void);

bool decoder_parse(const char *text, enum decoder *out);
const char *decoder_list(struct arena *arena);

/* Finds the input's size, and whether the results of fn have the shape that the decoder wants, with
 * at least n_classes classes. Errors for all that does not fit. */
bool decoding_fit(struct ctx *ctx, struct decoding *decoding, const struct function *fn,
                  int n_classes);

/* The boxes of one sample that are left after suppression, best first, in pixels of an image of
 * this size. Memory of bulk. */
struct boxes decode_boxes(const struct decoding *decoding, const struct image_size *image,
                          const struct tensor *outputs, int n_outputs, struct bulk *bulk);

#endif
