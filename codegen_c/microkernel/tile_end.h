/* tile_end.h - what becomes of a tile's sums where they leave the registers: the element-wise nodes
 * behind the anchor, by vectors of channels, and y. So sums need no array on the stack.
 *
 * The bits are those of the text that goes element by element (codegen_c/expr/scalar_ops.def): the same
 * operations in the same order. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_END_H
#define CODEGEN_C_MICROKERNEL_TILE_END_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"

/* C text for the template of a tile: EACH_VECTOR's j is a pixel, v a vector of its channels. */
struct tile_end {
    const char *name;    /* of the operators: ends of the same name have the same text */
    const char *params;  /* ", const float *bias_1, float low_2" */
    const char *shared;  /* statements: variables for all vectors */
    const char *channel; /* of macro CHANNEL(j, v): declarations for the vectors of a pixel */
    const char *fetch;   /* of macro FETCH(j, v): statements, so that operands as large as y are
                            there when the sums are; "" where they need not be asked for */
    const char *first;   /* the name of the variable that macro END(j, v) is to begin with, … */
    const char *nodes;   /* … what follows then, … */
    const char *result;  /* … and the name of the variable with the result */
    bool codes;          /* which is codes, a vector_u32 */
    bool some;           /* of the place: text may ask for n_channels */
    const char *args;    /* of the call: as many as params */
};

/* Where the tile begins. C, without operators around. */
struct tile_place {
    const char *pixel;    /* the first pixel of y: "first" */
    const char *channel;  /* the first channel: "block" */
    const char *channels; /* how many a pixel of y has: "OUT_C" */
    const char *apart;    /* how many pixels of y lie from one to the next: "OUT_W"; NULL = 1 */
    bool across;          /* a vector is one channel of several pixels: c, a macro's parameter */
    bool codes;           /* residuals and results may be floats of a byte */
    bool some;  /* not all of a tile's channels need be there, but n_channels of them: vectors are
                   read by load_some and load_some_bytes */
    bool twice; /* the channels are half as many as lanes: those of two pixels, a vector's first and
                   second half, which count as one; vectors are read by load_twice */
};

/* The end of the region's tiles of so many channels; vectors have the type and lanes that these
 * texts name. False: y is not in f32, or, unless `across`, not channels last, or a node has no text
 * for vectors. */
bool tile_end_of(struct bind *bind, const struct window *w, const struct tile_place *place,
                 const char *vector, const char *lanes, struct tile_end *out);

/* Sets what templates of tiles have of it: stores (whether there is one), channels (CHANNEL has
 * text), end_params, end_channel, end_shared, end_first, end_nodes, ty (of y), and `store`, a
 * statement of macro END(j, v) that stores its result to y[j * step + v * LANES]; `whole`: all of
 * the channels are there, else (`some`) n_channels. NULL = there is none. */
void tile_end_keys(struct bind *bind, const struct tile_end *end, bool some, struct keys *keys);

/* "&y[...]" and from a pixel to the next, the last two arguments. */
const char *tile_end_y(struct bind *bind, const struct tile_place *place);

#endif
