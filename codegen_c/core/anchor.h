/* anchor.h - what accepts_ and bind_ functions of kernels ask about the region's anchor, and the
 * keys that most templates share. */
#ifndef CODEGEN_C_CORE_ANCHOR_H
#define CODEGEN_C_CORE_ANCHOR_H

#include "codegen_c/core/kernel.h"

/* The type of the anchor's input i, NULL if it is absent; of its output i. */
const struct type *anchor_input(const struct region *region, int i);
const struct type *anchor_output(const struct region *region, int i);

/* --- for accepts_: false, with the reason, if not --------------------------------------------- */

/* All takes_ also check that int can index every tensor, with room for the padding of panels. */
bool takes_float(const struct region *region, const char **why);  /* input 0 is f32 or f64 */
bool takes_number(const struct region *region, const char **why); /* input 0 is f32, f64 or an
                                                                     integer */
bool takes_sizes(const struct region *region, const char **why);  /* input 0 has any element type */
/* Whether input 0 is stored as f32 and runs of `len` of its elements are long enough for the
 * parallel sums of runtime/embed/row_sum_f32.h and its kin. */
bool reads_rows(const struct region *region, int64_t len);
bool takes_constant(const struct region *region, int i, const char **why); /* input i is constant */

/* --- for bind_ -------------------------------------------------------------------------------- */

/* Sets `tx` to the C type that input 0 is computed in, and `get` and `got`, the text around each
 * element that is read: `${get}in[i]${got}`, which may have only "=", "(" and ")" beside it. */
void offer_reads(struct bind *bind, enum dtype dtype, const char *get, const char *got);

/* The same for an input that is computed in its own type; `ts` is the type that it is stored in. */
void bind_type(struct bind *bind);

/* Sets `suffix` to the short name of that type ("f32") and requests the helper `stem`_`suffix`. */
void bind_typed_helper(struct bind *bind, const char *stem);

/* Sets `key` to the C expression of the anchor's input i. */
void bind_input(struct bind *bind, const char *key, int i);

/* Sets `key` to a function of <math.h> for the type of input 0: "expf" for "exp". */
void bind_math(struct bind *bind, const char *key, const char *function);

/* The same where f32 has a function of ours (runtime/embed): "exp_f32", but "exp" for f64. */
void bind_own_math(struct bind *bind, const char *key, const char *function);

/* Sets `lowest` to the least value of input 0's type, the start of a maximum, and `float`. */
void bind_lowest(struct bind *bind);

/* For sums of powers: sets `p`; p1, p2 or pn (p is 1, 2 or something else); and the functions
 * `abs`, `sqrt` and `pow`. */
void bind_lp(struct bind *bind, int64_t p);

/* Sets `outer`, `len` and `inner`, the extents of input 0 before, along and after the axis, and
 * `index`, the C index of element i along the axis ("i" if inner is 1). */
void bind_axis(struct bind *bind, int64_t axis);

/* Whether the region has an epilogue; sets `has_epilogue` if so. */
bool bind_fused(struct bind *bind);

/* The epilogue of a loop that has only y's row-major index: coordinates by division. */
bool bind_epilogue_at(struct bind *bind, const char *acc, const char *linear);

/* The coordinates alone, for kernels that know some of them already. */
void position_by_division(struct bind *bind, const char *linear, struct position *out);

/* The row-major index of coordinates in a shape, as C: "(i0 * D1 + i1) * D2 + i2"; "0" if n is
 * 0. */
const char *row_major(struct bind *bind, int n, const char *const *coord,
                      const char *const *extent);

/* Claims scratch for n elements of input 0's type. */
void bind_scratch_elements(struct bind *bind, int64_t n);

/* A new table of n elements, for the kernel to fill. */
void *table_new(struct bind *bind, enum dtype dtype, int64_t n);

/* Makes the filled table a constant of the region; sets `key` to its C name. */
void bind_table(struct bind *bind, const char *key, const char *name, enum dtype dtype, int64_t n,
                const void *table);

#endif
