/* decode.h - converts results of a detector to boxes in the image; rows of decode.def. */
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
    enum decoder decoder;            /* DECODER_COUNT = none */
    const struct preprocessing *how; /* preprocessing of the image; NULL = none */
    int input_width, input_height;   /* size of the network's input in pixels */
    double least_score;              /* lower scores are ignored */
    double iou;                      /* for non-maximum suppression */
    int64_t most;                    /* boxes per image */
};

/* Defaults 0.001, 0.6 and 300, as usual for YOLO networks on COCO. */
struct decoding decoding_default(void);

bool decoder_parse(const char *text, enum decoder *out);
const char *decoder_list(struct arena *arena);

/* Finds the input size and checks the shapes of fn's results against the decoder, with at least
 * n_classes classes. Reports all mismatches. */
bool decoding_fit(struct ctx *ctx, struct decoding *decoding, const struct function *fn,
                  int n_classes);

/* Boxes of a sample after suppression, best first, in pixels of an image of this size. In bulk. */
struct boxes decode_boxes(const struct decoding *decoding, const struct image_size *image,
                          const struct tensor *outputs, int n_outputs, struct bulk *bulk);

#endif
