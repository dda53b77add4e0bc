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

/* What is known about a value's numbers beyond their element type. Two states of a value, and three
 * ways to be quantised:
 *
 * CALIBRATED: a float value whose range was measured, and which is to be quantised with it: min,
 * max, and the threshold above which magnitudes may saturate. Says nothing about what is stored.
 * Stays with the value when types are inferred anew.
 *
 * SCALED: real = scale * (code - zero). Codes are of the type's dtype: integers, FP8 and other
 * small floats. For the reader, the interface and the report: who computes with the codes has the
 * scale as an operand (qnn.dequantize, multiply ...), so an operator sees the codes. Type inference
 * derives it where a scale is a constant (ops/scales.h).
 *
 * BLOCKS: number = scale of its block * (code - zero point of its block). They belong to the type,
 * since no operand could say it: an operator sees the numbers. Constants only.
 *
 * The codec of DTYPE_AFP is here too, in any of these and in PLAIN. */
enum qtype_kind { QTYPE_PLAIN, QTYPE_CALIBRATED, QTYPE_SCALED, QTYPE_BLOCKS };

struct qtype {
    enum qtype_kind kind;
    double min, max, threshold; /* CALIBRATED */
    int axis;                   /* SCALED: that scales lie along; -1 = one scale for all */
    int64_t n;                  /* number of scales (and of zero points, where there are some) */
    const float *scale;         /* [n]; finite and positive. BLOCKS: row by row */
    const int32_t *zero;        /* of integers: [n], or NULL: all 0 */
    int64_t block; /* BLOCKS: elements that share a scale. The tensor is seen as [dim 0, rest];
                      each row begins a block, its last block may be shorter (OCP MX: 32) */
    struct minifloat format; /* dtype AFP: the codec */
};

struct type {
    enum dtype dtype; /* DTYPE_NONE: not inferred yet */
    int rank;         /* 0 = scalar */
    int64_t dim[MAX_RANK];
    const struct qtype *quant; /* NULL = plain numbers, not calibrated */
};

struct type type_make(enum dtype dtype, int rank, const int64_t *dim);
struct type type_scalar(enum dtype dtype);

/* Number of elements; 1 for a scalar. The type must have passed type_check_size. */
int64_t type_elements(const struct type *type);
size_t type_bytes(const struct type *type);

/* The codec of a type of small floats, AFP included; NULL for all others. */
const struct minifloat *type_minifloat(const struct type *type);

/* Bits of an element, and bytes of all of them (without scales), where elements lie side by side,
 * as constants do in generated C. */
int type_packed_bits(const struct type *type);
size_t type_packed_bytes(const struct type *type);

/* Whether an element's number is that of its code in its block. */
bool type_has_blocks(const struct type *type);

/* Whether a scale of a BLOCKS type is stored as a byte (E8M0: 2^-127 .. 2^127): all are powers of
 * two. And what scales and zero points take, 4 bytes or 1 and 1; 0 for other types. */
bool type_has_byte_scales(const struct type *type);
size_t type_scale_bytes(const struct type *type);

/* Whether kernels can read blocks of so many elements: multiples of 4 up to 64, multiples of 32
 * above. */
bool type_block_is_regular(int64_t block);

/* The number of scales that a BLOCKS type of this shape has. */
int64_t type_n_blocks(const struct type *type, int64_t block);

bool type_same_shape(const struct type *a, const struct type *b);
bool type_equal(const struct type *a, const struct type *b); /* dtype, shape and quantisation */
/* The same but for what only tells of the numbers: CALIBRATED and SCALED. Operators compute alike.
 */
bool type_same_storage(const struct type *a, const struct type *b);

/* A type as who wrote the graph states it, beside the one that inference gave, which becomes
 * calibrated where the former is. False where they differ; what is known of the numbers may be left
 * out of `stated`. */
bool type_state(struct type *inferred, const struct type *stated);

/* False after an error when a dim is negative or the byte size overflows or exceeds TYPE_MAX_BYTES
 * (64 GiB: no weight or activation of a network for firmware comes near). */
#define TYPE_MAX_BYTES ((int64_t)1 << 36)
bool type_check_size(struct ctx *ctx, const struct origin *origin, const struct type *type);

/* What is wrong with what the type says of its numbers; NULL = nothing. constant: of a constant's.
 */
const char *type_problem(struct arena *arena, const struct type *type, bool constant);

/* "(1,64,112,112) f32", as in IR text; "() f32" for a scalar; what is known of the numbers behind
 * it (type_text.c). In the arena. */
const char *type_text(struct arena *arena, const struct type *type);
void type_print(struct str *out, const struct type *type);
/* "1x64x112x112", for messages; "scalar" for rank 0. */
const char *shape_text(struct arena *arena, const struct type *type);

/* axis in -rank .. rank-1 made non-negative; -1 if out of range. */
int type_axis(const struct type *type, int64_t axis);

/* Product of dims [from, to). */
int64_t type_span(const struct type *type, int from, int to);

/* A payload with its type: row-major, dense, aligned to its element. Constants borrow from the
 * mapped model file, or are owned by the module's bulk; nobody writes to a constant's data. */
struct tensor {
    struct type type;
    void *data;
};

/* A zeroed tensor owned by bulk. */
struct tensor tensor_new(struct bulk *bulk, const struct type *type);

/* An element as operators see it: of SCALED types its code, of BLOCKS the number. */
double tensor_at_any(const struct tensor *tensor, int64_t index);
static inline double tensor_at(const struct tensor *tensor, int64_t index)
{
    return tensor->type.dtype == DTYPE_F32 && !tensor->type.quant /* most, by far */
               ? (double)((const float *)tensor->data)[index]
               : tensor_at_any(tensor, index);
}
int64_t tensor_int_at(const struct tensor *tensor, int64_t index);

/* Whether dtype, shape and every bit agree, whatever is known of the numbers. */
bool tensor_equal(const struct tensor *a, const struct tensor *b);

#endif
