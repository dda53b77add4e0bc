/* amx.h - f32 matrix products with AMX tile registers (machine_has_amx). AMX multiplies bf16, at
 * thirteen times the rate at which the same core multiplies f32 (docs/design/amx.md).
 *
 * An f32 is exactly the sum of three bf16 terms. Of the nine products of the terms of two floats,
 * six are accumulated in f32; the other three are below the last bit of an f32 result. The error is
 * that of f32 sums or less (docs/lab/amx.md). Products below 2^-126 become 0. */
#ifndef CODEGEN_C_MICROKERNEL_AMX_H
#define CODEGEN_C_MICROKERNEL_AMX_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/microkernel/epilogue_store.h"

enum {
    AMX_LANES = 16,  /* output channels of a register */
    AMX_INPUTS = 32, /* inputs that a register holds of one pixel, or of one output channel */
    AMX_PARTS = 3
};

/* The register tile: four registers of sums, each of up to 16 pixels by 16 channels. Arranged
 * 2 x 2, weights are read half as often; arranged 1 x 4, fewer pixels are left over. */
struct amx_shape {
    int high;    /* registers along the pixels: 1 or 2; along the channels there are 4 / high */
    int rows;    /* pixels of a register */
    double time; /* predicted cycles of the whole product */
};

/* The fastest shape for a convolution with n output positions and `taps` kernel taps. */
struct amx_shape amx_shape_of(int64_t n, int64_t taps, int64_t in_c, int64_t out_c);

/* in_c rounded up to whole registers of inputs, and out_c to whole registers of channels. */
int64_t amx_inputs(int64_t in_c);
int64_t amx_channels(int64_t out_c);

/* Requests the helper with amx_is_granted and the macros AMX_BYTES and AMX_FLOATS (defined if the
 * compiler has products of bytes, of floats), AMX_LOAD and AMX_STORE. */
void bind_amx(struct bind *bind);

/* Requests the helpers amx_begin, amx_end and amx_floats (templates/helpers/amx_floats.c.tmpl).
 * Returns the name of the microkernel of this shape (templates/helpers/amx_{2_by_2,1_by_4}.c.tmpl).
 * `splits`: it reads f32 inputs at a fixed stride and splits them into bf16 terms itself. */
const char *bind_amx_products(struct bind *bind, const struct amx_shape *shape, bool splits);

/* The function that splits inputs, one pointer per kernel tap, into bf16 terms:
 * amx_split_taps.c.tmpl. */
const char *bind_amx_split(struct bind *bind);

/* Whether every weight is small enough that its bf16 terms are finite. */
bool amx_takes_weights(const struct value *weights);

/* Packs the anchor's weights, split into bf16 terms, into the weights file and returns the array's
 * name. Layout: [out_c / 16, taps, in_c / 32, 3 terms, 16, 16 of out_c, 2 of in_c]. Inputs i and
 * i + 16 of each 32 are neighbours, as amx_split leaves those of x. `panels` says how to index the
 * constant. */
const char *bind_amx_weights(struct bind *bind, const struct panels *panels);

/* The function that stores the sums of `vectors` vectors of channels, with the epilogue `end`
 * (epilogue_store_keys). `some`: the last channels may be missing. */
const char *bind_amx_store(struct bind *bind, const struct amx_shape *shape, int vectors,
                           const struct epilogue_store *end, bool some);

#endif
