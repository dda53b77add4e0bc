/* epilogue_store.h - the epilogue store: the element-wise nodes behind the anchor, applied to a register
 * tile's sums by vectors of channels and stored to y. Sums need no array on the stack.
 *
 * The bits are those of the scalar text (codegen_c/expr/scalar_ops.def): the same operations in the
 * same order. */
#ifndef CODEGEN_C_MICROKERNEL_EPILOGUE_STORE_H
#define CODEGEN_C_MICROKERNEL_EPILOGUE_STORE_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"

#define EPILOGUE_SUM "v_0" /* the sum, in the text */

/* C text for the microkernel's template. In its macros (EACH_VECTOR) j is a pixel, v a vector of
 * its channels. */
struct epilogue_store {
    const char *name;    /* made of the operators; equal names have equal text */
    const char *params;  /* parameters: ", const float *bias_1, float low_2" */
    const char *shared;  /* statements: variables of the whole tile */
    const char *channel; /* body of CHANNEL(j, v): declarations for one vector of channels */
    const char *fetch;   /* body of FETCH(j, v): prefetches operands as large as y; "" if that
                            does not pay */
    const char
        *nodes; /* declarations of variables computed from a sum, v_0; "" if there are none */
    const char *result; /* an expression of these, or of the sum */
    const char *vector, *lanes;
    bool quantized;   /* the result is 8-bit values in the lanes of a vector_u32 */
    bool some;        /* as in tile_place: the text may use n_channels */
    const char *args; /* the call's arguments, one for each of params */
};

/* Position of a tile in y. C expressions without operators outside of parentheses. */
struct tile_place {
    const char *pixel;    /* the first pixel: "first" */
    const char *channel;  /* the first channel: "block" */
    const char *channels; /* channels of a pixel of y: "OUT_C" */
    const char *apart;    /* pixels of y from one pixel of the tile to the next: "OUT_W"; NULL =
                             1 */
    bool across;          /* pixel vectors: lanes are pixels of one channel, c, a parameter of
                             the macros */
    bool quantized;       /* residuals and results may be 8-bit floats */
    bool some;  /* the tile may have only n_channels channels: vectors are read by load_some and
                   load_some_bytes */
    bool twice; /* y has half as many channels as lanes: a vector is two pixels, counted as one,
                   and operands of channels are read by load_twice */
};

/* The region's epilogue store, for vectors of the type and lanes named. False: y is not f32, or is
 * not channels last (unless place->across), or a node has no vector text. */
bool epilogue_store_of(struct bind *bind, const struct window *w, const struct tile_place *place,
                       const char *vector, const char *lanes, struct epilogue_store *out);

/* The body of END(j, v): computes from `first`, a sum, and stores to the elements at `y`, "y[j * step + v * LANES]".
 * some: only n_channels of the channels; in_order: compilers keep the order of the stores. Requests what it calls. */
const char *epilogue_store_text(struct bind *bind, const struct epilogue_store *end,
                                const char *first, const char *y, bool some, bool in_order);

/* The same for a variable that becomes its result. */
const char *epilogue_store_set(struct bind *bind, const struct epilogue_store *end,
                               const char *sum);

/* Sets the microkernel's keys: stores (whether end is not NULL), channels (CHANNEL has a body),
 * end_params, end_channel, end_shared, ty (type of y) and `end`, epilogue_store_text that stores to
 * y[j * step + v * LANES]. */
void epilogue_store_keys(struct bind *bind, const struct epilogue_store *end, const char *first,
                         bool some, bool in_order, struct keys *keys);

/* The last two arguments: "&y[...]", and the elements from one pixel to the next. */
const char *epilogue_store_y(struct bind *bind, const struct tile_place *place);

#endif
