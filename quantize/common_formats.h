/* common_formats.h - the format `auto` of FP8: the fewest formats that do nearly as well as all.
 *
 * Each format brings conversions of its own into the generated C, and layers share functions only
 * where all their formats are the same. So a further format must be worth it at the network's
 * output, where the noise of all tensors is expected to add up. */
#ifndef QUANTIZE_COMMON_FORMATS_H
#define QUANTIZE_COMMON_FORMATS_H

#include "quantize/steps.h"

enum tensor_kind { KIND_WEIGHT, KIND_SIGNED, KIND_UNSIGNED, KIND_COUNT };

/* noise: mean square of the error by that of the numbers; INFINITY = the tensor cannot have it. */
struct common_tensor {
    const char *key; /* of q->formats */
    enum tensor_kind kind;
    double noise[ALL_FORMATS]; /* in the order of choose_format.c */
    int format;                /* what was chosen */
};

struct common_formats {
    struct quantization *q;
    struct map tensors; /* key -> struct common_tensor * */
    struct format_set set;
};

/* A value, or a weight, that a node of this precision reads: counts once, and only where the
 * precision says `auto`. choose_format.c */
void common_formats_add_data(struct common_formats *common, const struct precision *precision,
                             const struct value *value);
void common_formats_add_weight(struct common_formats *common, const struct precision *precision,
                               const struct value *weight, int axis);

/* Chooses the format of each tensor: of n formats the best, 0 = as many as it takes to be near to
 * what all of them give. With ALL_FORMATS each tensor has its best. */
void common_formats_choose(struct common_formats *common, struct format_count n);

/* The same, for data_format_of and weight_format_of to know. choose_format.c */
void common_formats_agree(struct common_formats *common);

#endif
