/* relayc_abi.h - what generated code hands to functions that you write: constants with their types.
 *
 * A region of a target of format "extern" or "json" is a call of a function of yours. Its prototype
 * stands in NAME_TARGET.h; beside it, a table of the constants that the region needs. The function
 * returns 0, or anything else when it failed. Plain C99, no library, nothing allocated. */
#ifndef RELAYC_ABI_H
#define RELAYC_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RELAYC_ABI_VERSION = 1, RELAYC_MAX_RANK = 8 };

/* What a region's function returns; every number that is not 0 is a failure. */
enum relayc_result { RELAYC_OK = 0, RELAYC_FAILED = 1 };

/* Element types. f16, bf16 and f8 are their bits; bool is 0 or 1 in a byte; i2, u2, i4, u4, f4, f6
 * and afp have a byte for each element, i2 and i4 sign-extended, the others with 0 above their bits. Which afp it
 * is does not stand here. Numbers never change. */
enum relayc_dtype {
    RELAYC_F32 = 1,
    RELAYC_F64 = 2,
    RELAYC_F16 = 3,
    RELAYC_BF16 = 4,
    RELAYC_I8 = 5,
    RELAYC_I16 = 6,
    RELAYC_I32 = 7,
    RELAYC_I64 = 8,
    RELAYC_U8 = 9,
    RELAYC_U16 = 10,
    RELAYC_U32 = 11,
    RELAYC_U64 = 12,
    RELAYC_BOOL = 13,
    RELAYC_F8E4M3 = 14,
    RELAYC_F8E4M3FNUZ = 15,
    RELAYC_F8E5M2 = 16,
    RELAYC_F8E5M2FNUZ = 17,
    RELAYC_F8E3M4 = 18,
    RELAYC_HFP8_143 = 19,
    RELAYC_F6E3M2 = 20,
    RELAYC_F6E2M3 = 21,
    RELAYC_F4E2M1 = 22,
    RELAYC_I4 = 23,
    RELAYC_U4 = 24,
    RELAYC_AFP = 25,
    RELAYC_F8E2M5 = 26,
    RELAYC_U8E2M6 = 27,
    RELAYC_U8E3M5 = 28,
    RELAYC_U8E4M4 = 29,
    RELAYC_I2 = 30,
    RELAYC_U2 = 31,
    RELAYC_F8E8M0 = 32 /* n: 2^(n - 127); 255: NaN */
};

/* Row-major and dense; a scalar has rank 0. */
struct relayc_tensor {
    const void *data;
    int32_t dtype; /* enum relayc_dtype */
    int32_t rank;
    int32_t dim[RELAYC_MAX_RANK];
};

struct relayc_constant {
    const char *name; /* of the model; characters other than printable ASCII are '_' */
    struct relayc_tensor tensor;
};

#ifdef __cplusplus
}
#endif

#endif
