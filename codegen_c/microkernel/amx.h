/* amx.h - products of matrices of floats by the registers of AMX (machine_has_amx), which have
 * products of numbers of 16 bits, bf16: thirteen times as many at a time as a processor of that
 * kind has of f32 (docs/design/amx.md).
 *
 * A float is exactly the sum of three such numbers, its parts. Of the nine products of the parts of
 * two floats six are added up, in f32; the other three are below the last place of f32. The error
 * is that of sums in f32, or less (measured: 7e-8 to 5e-7 of the largest result, for 2e-7
 * to 1.1e-6). Products of numbers below 2^-126 are 0. */
#ifndef CODEGEN_C_MICROKERNEL_AMX_H
#define CODEGEN_C_MICROKERNEL_AMX_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/microkernel/tile_end.h"

enum {
    AMX_LANES = 16,  /* channels of a register */
    AMX_INPUTS = 32, /* that a register has of a position, or of a channel */
    AMX_PARTS = 3
};

/* How sums lie in four registers of up to 16 positions by 16 channels: two by two, which reads
 * weights half as often, or one by four, which leaves fewer positions over. */
struct amx_shape {
    int high;    /* registers of positions: 1 or 2; of channels there are 4 / high */
    int rows;    /* positions of a register */
    double time; /* cycles of all (measured: Granite Rapids) */
};

/* The fastest for a convolution of n positions by `taps` taps. */
struct amx_shape amx_shape_of(int64_t n, int64_t taps, int64_t in_c, int64_t out_c);

/* Inputs of each tap as many as registers hold, and channels. */
int64_t amx_inputs(int64_t in_c);
int64_t amx_channels(int64_t out_c);

/* Asks for the helper with amx_is_granted and the macros AMX_BYTES and AMX_FLOATS (products of
 * these are there), AMX_LOAD and AMX_STORE. */
void bind_amx(struct bind *bind);

/* Asks for the helpers amx_begin, amx_end and amx_floats, which
 * templates/helpers/amx_floats.c.tmpl tells about; returns the function of the products of a shape,
 * which `splits` inputs that lie a step apart into parts as it goes:
 * templates/helpers/amx_{2_by_2,1_by_4}.c.tmpl. */
const char *bind_amx_products(struct bind *bind, const struct amx_shape *shape, bool splits);

/* The function that makes inputs that are pointed to into parts: amx_split_taps.c.tmpl. */
const char *bind_amx_split(struct bind *bind);

/* Whether all weights are numbers whose parts are. */
bool amx_takes_weights(const struct value *weights);

/* Puts the parts of the anchor's weights, which the panels tell how to find, into the weights file,
 * [out_c / 16, taps, in_c / 32, 3, 16, 16 of out_c, 2 of in_c]: returns the array. Inputs i and
 * i + 16 of 32 lie side by side, as amx_split leaves those of x. */
const char *bind_amx_weights(struct bind *bind, const struct panels *panels);

/* The function that stores sums of so many vectors of channels: see tile_end_keys. */
const char *bind_amx_store(struct bind *bind, const struct amx_shape *shape, int vectors,
                           const struct tile_end *end, bool some);

#endif
