#include "base/dtype.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/minifloat.h"

static const struct {
    const char *name, *c_type;
    size_t bits;
    enum dtype_kind kind;
    int onnx;
} rows[DTYPE_COUNT] = {
    [DTYPE_NONE] = { "?", "", 0, KIND_NONE, 0 },
#define DTYPE(symbol, name, bits, kind, c_type, onnx)                                              \
    [DTYPE_##symbol] = { name, c_type, bits, KIND_##kind, onnx },
#include "base/dtype.def"
#undef DTYPE
};

const char *dtype_name(enum dtype dtype)
{
    return rows[dtype].name;
}
const char *dtype_c_type(enum dtype dtype)
{
    return rows[dtype].c_type;
}
size_t dtype_bytes(enum dtype dtype)
{
    return rows[dtype].bits / 8;
}
enum dtype_kind dtype_kind(enum dtype dtype)
{
    return rows[dtype].kind;
}
int dtype_packed_bits(enum dtype dtype)
{
    const struct minifloat *format = dtype_minifloat(dtype);

    if (rows[dtype].kind == KIND_NIBBLE)
        return dtype == DTYPE_I2 || dtype == DTYPE_U2 ? 2 : 4;
    return format ? minifloat_bits(format) : (int)rows[dtype].bits;
}

bool dtype_is_half(enum dtype dtype)
{
    return dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

bool dtype_is_float(enum dtype dtype)
{
    return rows[dtype].kind == KIND_FLOAT;
}

bool dtype_is_integer(enum dtype dtype)
{
    return rows[dtype].kind == KIND_INT || rows[dtype].kind == KIND_UINT;
}

bool dtype_is_signed(enum dtype dtype)
{
    return rows[dtype].kind == KIND_INT || dtype == DTYPE_I2 || dtype == DTYPE_I4;
}

enum dtype dtype_from_name(const char *name)
{
    for (int i = 1; i < DTYPE_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0)
            return (enum dtype)i;
    return DTYPE_NONE;
}

enum dtype dtype_from_onnx(int32_t code)
{
    for (int i = 1; i < DTYPE_COUNT; i++)
        if (rows[i].onnx == code && code != 0)
            return (enum dtype)i;
    return DTYPE_NONE;
}

const struct minifloat *dtype_minifloat(enum dtype dtype)
{
    switch (dtype) {
#define MINIFLOAT(symbol, name, exponent_bits, mantissa_bits, bias, specials, sign)                \
    case DTYPE_##symbol:                                                                           \
        return &minifloats[MINIFLOAT_##symbol];
#include "base/minifloat.def"
#undef MINIFLOAT
    default: return NULL;
    }
}

float f16_to_f32(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value;

    if (exponent == 31)
        value = mantissa ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(mantissa, -24);
    else
        value = ldexp(1024 + mantissa, exponent - 25);
    return (float)(bits & 0x8000 ? -value : value);
}

uint16_t f16_from_f64(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double magnitude = fabs(value);
    int exponent;
    double units;

    if (isnan(value))
        return sign | 0x7E00;
    if (magnitude >= 65520) /* half way between the largest finite number and 2^16 */
        return sign | 0x7C00;
    if (magnitude == 0)
        return sign;
    (void)frexp(magnitude, &exponent); /* magnitude in [2^(e-1), 2^e) */
    if (exponent < -13)
        exponent = -13; /* subnormal: the unit stays 2^-24 */
    units = nearbyint(ldexp(magnitude, 11 - exponent));
    /* Same formula for both: a subnormal has exponent field 0, and a carry of the rounding into the
     * next binade is a carry of the code. */
    return (uint16_t)(sign + (exponent + 13) * 1024 + (int)units);
}

float bf16_to_f32(uint16_t bits)
{
    const uint32_t word = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &word, sizeof value);
    return value;
}

uint16_t bf16_from_f64(double value)
{
    const float narrow = (float)value;
    uint32_t word;

    memcpy(&word, &narrow, sizeof word);
    if (isnan(value))
        return (uint16_t)(word >> 16 | 0x40);
    /* Rounding twice must not turn "a bit more than half" into a tie: the float is cut, and its
     * last bit says that something was lost (rounding to odd). */
    if ((double)narrow != value)
        word = (word - (fabs((double)narrow) > fabs(value))) | 1;
    return (uint16_t)((word + 0x7FFF + (word >> 16 & 1)) >> 16);
}

/* Every element access of the reference evaluator goes through these four switches: slow, and the
 * same for all types. */
#define AT(type) (((const type *)data)[index])
#define PUT(type) ((type *)data)[index]

enum { EXPONENT_BIAS = 127, EXPONENT_NAN = 255 };

static double exponent_load(uint8_t code)
{
    return code == EXPONENT_NAN ? (double)NAN : ldexp(1, code - EXPONENT_BIAS);
}

/* The nearest power of two, the greater one of two; without a sign. */
static uint8_t exponent_of(double value)
{
    int exponent;
    double fraction; /* 0.5 .. 1 */

    if (isnan(value))
        return EXPONENT_NAN;
    if (value < 0x1p-127)
        return 0;
    if (value >= 0x1p127)
        return EXPONENT_NAN - 1;
    fraction = frexp(value, &exponent);
    return (uint8_t)((fraction < 0.75 ? exponent - 1 : exponent) + EXPONENT_BIAS);
}

double dtype_load(enum dtype dtype, const void *data, int64_t index)
{
    switch (dtype) {
    case DTYPE_F32: return (double)AT(float);
    case DTYPE_F64: return AT(double);
    case DTYPE_F16: return (double)f16_to_f32(AT(uint16_t));
    case DTYPE_BF16: return (double)bf16_to_f32(AT(uint16_t));
    case DTYPE_U64: return (double)AT(uint64_t);
    case DTYPE_F8E8M0: return exponent_load(AT(uint8_t));
    default: break;
    }
    if (dtype_minifloat(dtype))
        return (double)minifloat_decode(dtype_minifloat(dtype), AT(uint8_t));
    assert(rows[dtype].kind != KIND_MINIFLOAT && rows[dtype].kind != KIND_NONE);
    return (double)dtype_load_int(dtype, data, index);
}

static double saturate(double value, double low, double high)
{
    if (isnan(value))
        return 0;
    return value < low ? low : value > high ? high : nearbyint(value);
}

void dtype_store(enum dtype dtype, void *data, int64_t index, double value)
{
    switch (dtype) {
    case DTYPE_F32: PUT(float) = (float)value; return;
    case DTYPE_F64: PUT(double) = value; return;
    case DTYPE_F16: PUT(uint16_t) = f16_from_f64(value); return;
    case DTYPE_BF16: PUT(uint16_t) = bf16_from_f64(value); return;
    case DTYPE_BOOL: PUT(uint8_t) = value != 0; return;
    case DTYPE_F8E8M0: PUT(uint8_t) = exponent_of(value); return;
    case DTYPE_I2: PUT(int8_t) = (int8_t)saturate(value, -2, 1); return;
    case DTYPE_U2: PUT(uint8_t) = (uint8_t)saturate(value, 0, 3); return;
    case DTYPE_I4: PUT(int8_t) = (int8_t)saturate(value, -8, 7); return;
    case DTYPE_U4: PUT(uint8_t) = (uint8_t)saturate(value, 0, 15); return;
    case DTYPE_I8: PUT(int8_t) = (int8_t)saturate(value, INT8_MIN, INT8_MAX); return;
    case DTYPE_I16: PUT(int16_t) = (int16_t)saturate(value, INT16_MIN, INT16_MAX); return;
    case DTYPE_I32: PUT(int32_t) = (int32_t)saturate(value, INT32_MIN, INT32_MAX); return;
    case DTYPE_U8: PUT(uint8_t) = (uint8_t)saturate(value, 0, UINT8_MAX); return;
    case DTYPE_U16: PUT(uint16_t) = (uint16_t)saturate(value, 0, UINT16_MAX); return;
    case DTYPE_U32: PUT(uint32_t) = (uint32_t)saturate(value, 0, UINT32_MAX); return;
    case DTYPE_I64: /* 2^63 itself does not fit: compare before converting */
        PUT(int64_t) = isnan(value)       ? 0
                       : value >= 0x1p63  ? INT64_MAX
                       : value <= -0x1p63 ? INT64_MIN
                                          : (int64_t)nearbyint(value);
        return;
    case DTYPE_U64:
        PUT(uint64_t) = isnan(value) || value <= 0 ? 0
                        : value >= 0x1p64          ? UINT64_MAX
                                                   : (uint64_t)nearbyint(value);
        return;
    default:
        assert(dtype_minifloat(dtype) && "element type without arithmetic");
        PUT(uint8_t) = (uint8_t)minifloat_encode(dtype_minifloat(dtype), value, true);
    }
}

int64_t dtype_load_int(enum dtype dtype, const void *data, int64_t index)
{
    switch (dtype) {
    case DTYPE_BOOL: return AT(uint8_t) != 0;
    case DTYPE_I2:
    case DTYPE_I4:
    case DTYPE_I8: return AT(int8_t);
    case DTYPE_I16: return AT(int16_t);
    case DTYPE_I32: return AT(int32_t);
    case DTYPE_I64: return AT(int64_t);
    case DTYPE_U2:
    case DTYPE_U4:
    case DTYPE_U8: return AT(uint8_t);
    case DTYPE_U16: return AT(uint16_t);
    case DTYPE_U32: return AT(uint32_t);
    case DTYPE_U64: return (int64_t)AT(uint64_t);
    default: {
        const double value = dtype_load(dtype, data, index);

        return isnan(value)       ? 0
               : value >= 0x1p63  ? INT64_MAX
               : value <= -0x1p63 ? INT64_MIN
                                  : (int64_t)value;
    }
    }
}

void dtype_store_int(enum dtype dtype, void *data, int64_t index, int64_t value)
{
    switch (dtype) {
    case DTYPE_BOOL: PUT(uint8_t) = value != 0; return;
    case DTYPE_I8: PUT(int8_t) = (int8_t)value; return;
    case DTYPE_I16: PUT(int16_t) = (int16_t)value; return;
    case DTYPE_I32: PUT(int32_t) = (int32_t)value; return;
    case DTYPE_I64: PUT(int64_t) = value; return;
    case DTYPE_U8: PUT(uint8_t) = (uint8_t)value; return;
    case DTYPE_U16: PUT(uint16_t) = (uint16_t)value; return;
    case DTYPE_U32: PUT(uint32_t) = (uint32_t)value; return;
    case DTYPE_U64: PUT(uint64_t) = (uint64_t)value; return;
    case DTYPE_I2: PUT(int8_t) = (int8_t)((value & 1) - (value & 2)); return;
    case DTYPE_U2: PUT(uint8_t) = (uint8_t)(value & 3); return;
    case DTYPE_I4: PUT(int8_t) = (int8_t)((value & 7) - (value & 8)); return;
    case DTYPE_U4: PUT(uint8_t) = (uint8_t)(value & 15); return;
    default: dtype_store(dtype, data, index, (double)value); return;
    }
}
