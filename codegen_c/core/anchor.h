/* anchor.h - what the kernels' accepts_ and bind_ functions ask about the region's anchor again and
 * again, and the keys that most templates share. */
#ifndef CODEGEN_C_CORE_ANCHOR_H
#define CODEGEN_C_CORE_ANCHOR_H

#include "codegen_c/core/kernel.h"

/* The type of the anchor's input i, NULL if it is absent; of its output i. */
const struct type *anchor_input(const struct region *region, int i);
const struct type *anchor_output(const struct region *region, int i);

/* --- for accepts_: false, with the reason, when not ------------------------------------------- */

/* All of them ask as well whether tensors are small enough to be indexed by int, with room for the
 * padding of blocks. */
bool takes_float(const struct region *region, const char **why);  /* input 0 is f32 or f64 */
bool takes_number(const struct region *region, const char **why); /* or an integer */
bool takes_sizes(const struct region *region, const char **why);  /* of any element type */
/* Input 0 is f32 as it is read, and runs of `len` of its elements are worth the many sums of
 * runtime/embed/row_sum_f32.h and its kin. */
bool reads_rows(const struct region *region, int64_t len);
bool takes_constant(const struct region *region, int i, const char **why); /* input i is constant */

/* --- for bind_ -------------------------------------------------------------------------------- */

/* Sets "tx" to the C type of the anchor's input 0, "ts" to that of what the region reads for it,
 * and "get" and "got", which stand around each element that is read: `${get}in[i]${got}`, where
 * nothing but "=", "(" and ")" may be beside it. */
void bind_type(struct bind *bind);

/* Sets "suffix" to the name of that type ("f32"), the ending of helpers that exist per type, and
 * asks for the helper `stem`_`suffix`. */
void bind_typed_helper(struct bind *bind, const char *stem);

/* Sets `key` to the expression for the anchor's input i. */
void bind_input(struct bind *bind, const char *key, int i);

/* Sets `key` to a function of <math.h> in the type of input 0: "expf" for "exp". */
void bind_math(struct bind *bind, const char *key, const char *function);

/* The same where f32 has a function of ours (runtime/embed): "exp_f32", but "exp" of <math.h>. */
void bind_own_math(struct bind *bind, const char *key, const char *function);

/* Sets "lowest" to the number that every other of input 0's type beats, and "float". */
void bind_lowest(struct bind *bind);

/* Sets p, p1, p2 and pn (which of the forms p = 1, p = 2, any other) and the functions abs, sqrt
 * and pow, for sums of powers. */
void bind_lp(struct bind *bind, int64_t p);

/* Sets outer, len and inner: the dims of input 0 before, at and after the axis, and `index`, the
 * C expression of element i along the axis ("i" where inner is 1). */
void bind_axis(struct bind *bind, int64_t axis);

/* Sets "fused", and tells: whether element-wise nodes stand behind the anchor. */
bool bind_fused(struct bind *bind);

/* The epilogue of a loop that has only the row-major index of y: coordinates by division. */
bool bind_epilogue_at(struct bind *bind, const char *acc, const char *linear);

/* The coordinates alone, for kernels that know some of them better. */
void position_by_division(struct bind *bind, const char *linear, struct position *out);

/* The row-major index of coordinates in a shape, as C: "(i0 * D1 + i1) * D2 + i2"; "0" for n = 0.
 */
const char *row_major(struct bind *bind, int n, const char *const *coord,
                      const char *const *extent);

/* Scratch for n elements of input 0's type. */
void bind_scratch_elements(struct bind *bind, int64_t n);

/* Room for a table of n elements that the kernel computes. */
void *table_new(struct bind *bind, enum dtype dtype, int64_t n);

/* Makes the filled table a constant of the region; `key` becomes its name in C. */
void bind_table(struct bind *bind, const char *key, const char *name, enum dtype dtype, int64_t n,
                const void *table);

#endif
