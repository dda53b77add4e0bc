/* type.h - element type, shape and quantisation of a value; tensors. */
#ifndef RELAY_IR_TYPE_H
#define RELAY_IR_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ctx.h"
#include "base/dtype.h"
#include "base/minifloat.h"
#include "base/str.h"

enum { MAX_RANK = 8 };

/* Quantisation of a value: what its type says beyond the element type.
 *
 * CALIBRATED: a float value with a measured range for quantisation: min, max, and the threshold
 * above which magnitudes may saturate. Storage is unchanged. Survives type inference.
 *
 * SCALED: real = scale * (q - zero). q has the type's dtype: integers, FP8 and other narrow floats.
 * For readers, the C interface and reports only: operators read q, and have the scale as an operand
 * (qnn.dequantize, multiply ...), from which type inference derives this (ops/scales.h).
 *
 * BLOCKS: real = scale[block] * (q - zero[block]). Scales belong to the type, since no operand
 * carries them: operators read the real values. Constants only.
 *
 * `format`, the codec of DTYPE_AFP, is set in any kind, PLAIN included. */
enum qtype_kind { QTYPE_PLAIN, QTYPE_CALIBRATED, QTYPE_SCALED, QTYPE_BLOCKS };

struct qtype {
    enum qtype_kind kind;
    double min, max, threshold; /* CALIBRATED */
    int axis;                   /* SCALED: axis of the scales; -1 = one scale for all */
    int64_t n;                  /* number of scales, and of zero points if any */
    const float *scale;         /* [n]; finite and positive. BLOCKS: row-major */
    const int32_t *zero;        /* integers: [n], NULL = all 0 */
    int64_t block; /* BLOCKS: elements per scale. The tensor counts as [dim 0, rest]; a row starts a
                      block, and its last block may be shorter (OCP MX: 32) */
    struct minifloat format; /* dtype AFP: the codec */
};

struct type {
    enum dtype dtype; /* DTYPE_NONE: not inferred yet */
    int rank;         /* 0 = scalar */
    int64_t dim[MAX_RANK];
    const struct qtype *quant; /* NULL = not quantised, not calibrated */
};

struct type type_make(enum dtype dtype, int rank, const int64_t *dim);
struct type type_scalar(enum dtype dtype);

/* Number of elements; 1 for a scalar. The type must have passed type_check_size. */
int64_t type_elements(const struct type *type);
size_t type_bytes(const struct type *type);

/* Codec of a narrow float type, AFP included; NULL for others. */
const struct minifloat *type_minifloat(const struct type *type);

/* "f32", "i8", "f8e4m3"; of AFP the codec's name, "afp<4,3,8>". */
const char *type_format(const struct type *type);

/* Bits of an element, and bytes of the tensor without scales, when packed as constants are in
 * generated C. */
int type_packed_bits(const struct type *type);
size_t type_packed_bytes(const struct type *type);

/* True for QTYPE_BLOCKS. */
bool type_has_blocks(const struct type *type);

/* BLOCKS: true if all scales are powers of two, and are stored as bytes (E8M0: 2^-127 .. 2^127);
 * and bytes of all scales and zero points (4, or 1 and 1, each). False and 0 for other types. */
bool type_has_byte_scales(const struct type *type);
size_t type_scale_bytes(const struct type *type);

/* True if kernels can read this block size: multiples of 4 up to 64, multiples of 32 above. */
bool type_block_is_regular(int64_t block);

/* Number of blocks of a BLOCKS type of this shape. */
int64_t type_n_blocks(const struct type *type, int64_t block);

bool type_same_shape(const struct type *a, const struct type *b);
bool type_equal(const struct type *a, const struct type *b); /* dtype, shape and quantisation */
/* type_equal ignoring CALIBRATED and SCALED: operators compute alike on both. */
bool type_same_storage(const struct type *a, const struct type *b);

/* Compares the type that the graph states with the inferred one, which takes over the stated
 * calibration. False if they differ; `stated` may leave the quantisation out. */
bool type_state(struct type *inferred, const struct type *stated);

/* False after an error when a dim is negative or the byte size overflows or exceeds TYPE_MAX_BYTES
 * (64 GiB: no weight or activation of a network for firmware comes near). */
#define TYPE_MAX_BYTES ((int64_t)1 << 36)
bool type_check_size(struct ctx *ctx, const struct origin *origin, const struct type *type);

/* Problem of the type's quantisation, as text; NULL = none. constant: the type is of a constant. */
const char *type_problem(struct arena *arena, const struct type *type, bool constant);

/* "(1,64,112,112) f32", as in IR text, followed by the quantisation (type_text.c); "() f32" for a
 * scalar. In the arena. */
const char *type_text(struct arena *arena, const struct type *type);
void type_print(struct str *out, const struct type *type);
/* "1x64x112x112", for messages; "scalar" for rank 0. */
const char *shape_text(struct arena *arena, const struct type *type);

/* axis in -rank .. rank-1 made non-negative; -1 if out of range. */
int type_axis(const struct type *type, int64_t axis);

/* Product of dims [from, to). */
int64_t type_span(const struct type *type, int from, int to);

/* A payload with its type: row-major, dense, aligned to its element. Payloads of constants are
 * read-only, borrowed from the mapped model file or owned by the module's bulk. */
struct tensor {
    struct type type;
    void *data;
};

/* A zeroed tensor owned by bulk. */
struct tensor tensor_new(struct bulk *bulk, const struct type *type);

/* Element as operators read it: q of SCALED types, the real value of BLOCKS. */
double tensor_at_any(const struct tensor *tensor, int64_t index);
static inline double tensor_at(const struct tensor *tensor, int64_t index)
{
    return tensor->type.dtype == DTYPE_F32 && !tensor->type.quant /* the common case */
               ? (double)((const float *)tensor->data)[index]
               : tensor_at_any(tensor, index);
}
int64_t tensor_int_at(const struct tensor *tensor, int64_t index);

/* True if dtype, shape and every bit agree, whatever the quantisation. */
bool tensor_equal(const struct tensor *a, const struct tensor *b);

#endif
