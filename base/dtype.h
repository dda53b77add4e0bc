/* dtype.h - element types, as data (dtype.def). */
#ifndef BASE_DTYPE_H
#define BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype {
    DTYPE_NONE, /* not inferred yet */
#define DTYPE(symbol, name, bits, kind, c_type, onnx) DTYPE_##symbol,
#include "base/dtype.def"
#undef DTYPE
    DTYPE_COUNT
};

struct minifloat;

enum dtype_kind {
    KIND_NONE,
    KIND_FLOAT,
    KIND_INT,
    KIND_UINT,
    KIND_BOOL,
    KIND_MINIFLOAT,
    KIND_NIBBLE,
    KIND_EXPONENT
};

const char *dtype_name(enum dtype dtype);
const char *dtype_c_type(enum dtype dtype);
size_t dtype_bytes(enum dtype dtype); /* of one element in memory */
int dtype_packed_bits(
    enum dtype dtype); /* packed: 2 of I2, 4 of I4; 8 of AFP, see type_packed_bits */
enum dtype_kind dtype_kind(enum dtype dtype);
bool dtype_is_float(enum dtype dtype);        /* F16, BF16, F32, F64 */
bool dtype_is_half(enum dtype dtype);         /* F16, BF16: without arithmetic in C99 */
bool dtype_is_integer(enum dtype dtype);      /* signed or unsigned, not bool */
bool dtype_is_signed(enum dtype dtype);       /* an integer with a sign, of 2 or 4 bits too */
enum dtype dtype_from_name(const char *name); /* DTYPE_NONE if unknown */
enum dtype dtype_from_onnx(int32_t code);     /* DTYPE_NONE if unknown or without a row */

/* The codec of a MINIFLOAT type (base/minifloat.h); NULL for all others, and for AFP, whose codec
 * is in the tensor's type (type_minifloat of relay_ir/type.h). */
const struct minifloat *dtype_minifloat(enum dtype dtype);

/* One element as a double, and back (round to nearest even, F8E8M0 ties up; out of range: integers,
 * minifloats and F8E8M0 saturate; NaN becomes 0 in integers; bool is != 0). I64 and U64 beyond 2^53 lose bits: use the
 * int64 pair for those. */
double dtype_load(enum dtype dtype, const void *data, int64_t index);
void dtype_store(enum dtype dtype, void *data, int64_t index, double value);

/* Conversion through int64: exact for integer types; floats truncate towards zero, stores wrap to
 * the type's width. */
int64_t dtype_load_int(enum dtype dtype, const void *data, int64_t index);
void dtype_store_int(enum dtype dtype, void *data, int64_t index, int64_t value);

/* binary16 and bfloat16 by bits; conversions round to nearest, ties to even (IEEE 754-2019 4.3.1).
 */
float f16_to_f32(uint16_t bits);
uint16_t f16_from_f64(double value);
float bf16_to_f32(uint16_t bits);
uint16_t bf16_from_f64(double value);

#endif
