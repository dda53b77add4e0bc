/* microkernel.h - the words that the files of this folder are written in.
 *
 * Each file is the C function of one register tile: MR pixels by NR vectors of output channels, whose sums are an array
 * `sums`, which is to be in registers. It compiles as it is, with the plainest text for each word below; -D gives other
 * ones:
 *
 *     cc -O2 -mavx2 -DMR=6 -DNR=2 -DLANES=8 -c tile_taps.c
 *
 * relayc puts its own text in place of the words, the axes in which kernels vary (codegen_c/microkernel/tile_axes.c),
 * and writes each sum as a variable of its own (codegen_c/text/register_loops.h, which has the rules that these files
 * keep). ${...} in comments are keys of templates. tests/unit/codegen_c/microkernel compiles and runs the files as they
 * are, and as they are written out. docs/design/kernels.md#microkernels says how to add one. */
#ifndef MICROKERNEL_H
#define MICROKERNEL_H

/* --- the shape -------------------------------------------------------------------------------- */

#ifndef MR
#define MR 4 /* pixels */
#endif
#ifndef NR
#define NR 2 /* vectors of a pixel's channels */
#endif
#ifndef LANES
#define LANES 4 /* floats of a vector */
#endif
#ifndef STEP
#define STEP 1 /* floats of x from one pixel to the next (tile_steps.c) */
#endif
#ifndef TILE
#define TILE (NR * LANES) /* channels */
#endif
#ifndef VECTOR
#define VECTOR vector_f32
#if LANES == 1
typedef float vector_f32;
#else /* unaligned; may alias floats */
typedef float vector_f32 __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
#endif
#endif

/* --- the function ----------------------------------------------------------------------------- */

#ifndef FN
#define FN tile
#endif
#ifndef LINKAGE
#define LINKAGE static inline /* or static, and never inlined */
#endif
#ifndef WIDE
#define WIDE /* for clang, which splits vectors of 512 bits otherwise */
#endif

/* --- accumulate ------------------------------------------------------------------------------- */

/* What the sum of pixel j and vector v begins as: 0, or what is in memory. */
#ifndef BEGIN
#define BEGIN(j, v) (VECTOR){ 0 }
#endif
/* A product is added: rounded twice, as here, or once (fuse, which has an instruction for it). */
#ifndef ADD
#define ADD(sum, x, w) sum += x * w;
#endif

/* --- prefetch: nothing, a cache line, or `fetch` floats for each input ------------------------- */

#ifndef FETCH_PARAMETERS
#define FETCH_PARAMETERS /* const float *ahead, int fetch, */
#define FETCH            /* __builtin_prefetch(ahead, 0, 2); */
#define AND_AHEAD        /* , ahead = &ahead[fetch] */
#define FETCH_WEIGHT(v)  /* this tile's own weights, some inputs ahead, into the L1 */
#endif

/* --- Winograd inner products (docs/design/kernels.md#winograd-inner-products) ------------------------ */

#ifndef PAIRED
#define PAIRED(len) ((len) / 3 * 2) /* inputs that are taken in pairs */
#define X_PARAMETERS const float *const *x
#define PIXEL(j) x[j]
/* The loop over two pairs each, while there are any; or with the condition behind it. */
#define PAIRS_DO(more) while (more)
#define PAIRS_WHILE(more)
/* Inputs are memory operands, as here, or are loaded once for a pixel's vectors. */
#define INPUT(u, x) /* const VECTOR u = spread(&x); */
#define LOADED(u, x) (x - (VECTOR){ 0 })

static inline VECTOR add_pair(VECTOR sum, VECTOR x, VECTOR y, VECTOR b, VECTOR c)
{
    return sum + (x + c) * (y + b);
}

static inline VECTOR subtract_pair(VECTOR sum, VECTOR x, VECTOR y, VECTOR b, VECTOR c)
{
    return sum - (x - c) * (y - b);
}

static inline VECTOR add_product(VECTOR sum, VECTOR x, VECTOR b)
{
    return sum + x * b;
}
#endif

/* --- pixel vectors (docs/design/kernels.md#pixel-vectors): MR channels by NR vectors of pixels ---------- */

#ifndef COLUMNS
#define COLUMNS float *const *to, int step /* where results go: to[v] */
#define WEIGHTS width     /* floats from one input's weights to the next's: each stored once, or LANES times */
#define WEIGHT float      /* a channel's … */
#define WEIGHT_OF(c) w[c] /* … as it is stored */
/* Channels first, as here, or a vector's channels in turn: STORE_ALL. */
#define STORE(c, v) *(VECTOR *)&to[v][c * step] = sums[c][v];
#define STORE_ALL(v)
#define COMPUTE(c, v) /* the epilogue */
#endif

/* --- the end: sums go to an array, or through the epilogue to y --------------------------------- */

#ifndef RESULTS
#define RESULTS float *sum /* parameters */
#define LONE               /* (void)step;, where it would be unused */
#define FETCH_RESULT(j, v) /* operands as large as y */
#define N_PIXELS MR        /* that are stored: MR, or n_pixels */
#define CHANNEL(v)         /* operands of channels: biases ... */
#define SHARED             /* operands of all sums */
#define END(j, v) *(VECTOR *)&sum[j * TILE + v * LANES] = sums[j][v];
#endif

#endif
