/* type.h - element type, shape and quantisation of a value; tensors. */
#ifndef RELAY_IR_TYPE_H
#define RELAY_IR_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ctx.h"
#include "base/dtype.h"

enum { MAX_RANK = 8 };

/* How a value's numbers are stored. Real value = scale * (stored - zero). The slot is here from the
 * start so that quantisation rewrites types, never side tables; only QTYPE_NONE is produced yet. */
enum qtype_kind { QTYPE_NONE, QTYPE_AFFINE, QTYPE_MINIFLOAT, QTYPE_BLOCK };

struct qtype {
    enum qtype_kind kind;
    enum dtype storage;
    int axis;            /* of per-axis scales; -1 = per tensor */
    int64_t n;           /* number of scales (and of zero points, where there are some) */
    const float *scale;  /* [n] */
    const int32_t *zero; /* [n], or NULL: all 0 */
    int64_t block;       /* QTYPE_BLOCK: elements that share a scale */
};

struct type {
    enum dtype dtype; /* DTYPE_NONE: not inferred yet */
    int rank;         /* 0 = scalar */
    int64_t dim[MAX_RANK];
    const struct qtype *quant; /* NULL = plain numbers */
};

struct type type_make(enum dtype dtype, int rank, const int64_t *dim);
struct type type_scalar(enum dtype dtype);

/* Number of elements; 1 for a scalar. The type must have passed type_check_size. */
int64_t type_elements(const struct type *type);
size_t type_bytes(const struct type *type);

bool type_same_shape(const struct type *a, const struct type *b);
bool type_equal(const struct type *a, const struct type *b); /* dtype, shape and quantisation */

/* False after an error when a dim is negative or the byte size overflows or exceeds TYPE_MAX_BYTES
 * (64 GiB: no weight or activation of a network for firmware comes near). */
#define TYPE_MAX_BYTES ((int64_t)1 << 36)
bool type_check_size(struct ctx *ctx, const struct origin *origin, const struct type *type);

/* "(1,64,112,112) f32", as in IR text; "() f32" for a scalar. In the arena. */
const char *type_text(struct arena *arena, const struct type *type);
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

double tensor_at(const struct tensor *tensor, int64_t index);
int64_t tensor_int_at(const struct tensor *tensor, int64_t index);

/* Whether dtype, shape and every bit agree. */
bool tensor_equal(const struct tensor *a, const struct tensor *b);

#endif
