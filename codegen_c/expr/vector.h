/* vector.h - f32 vectors in generated C: GNU C's vector extension, which gcc and clang compile for
 * every CPU, or single floats.
 *
 * gcc compiles vectors wider than the CPU's badly (docs/lab/kernels.md). So the width is
 * --target's, or chosen by compiler macros. */
#ifndef CODEGEN_C_EXPR_VECTOR_H
#define CODEGEN_C_EXPR_VECTOR_H

#include "codegen_c/core/kernel.h"

/* Requests the helper that defines
 *   LANES        16, 8, 4 or 1, a macro
 *   vector_f32   LANES floats; may alias, and need not be aligned: *(const vector_f32 *)p loads
 *   WIDE         stands before the name of every function that computes with them (for clang)
 * A float becomes a vector by `number - (vector_f32){ 0 }`. Zeros: `vector_f32 sum = { 0 };`. */
void bind_vector(struct bind *bind);

/* What stands before functions that take or return vectors: they are always inlined. */
const char *vector_linkage(struct bind *bind);

/* Requests a function of vectors of a type, and returns its name, "at_least8" for stem "at_least" and type
 * "vector8_f32":
 *   at_least(v, limit), at_most(v, limit)   clamp each lane; NaN, and values equal to a limit, stay as they are
 *   where_negative(v, other)                selects `other` where v is less than 0
 *   store_here(y, v)                        stores, in the order of the calls
 *   once(v)                                 v, loaded into a register once (CPUs with AVX)
 * The type may be float, but for store_here. */
const char *bind_vector_fn(struct bind *bind, const char *stem, const char *type);

/* The piece length to process a row of n elements in: at most `most`, all pieces equal, a multiple
 * of a vector if possible. `most` bounds an array on the stack; long pieces keep gcc from splitting
 * loops. A row that cannot be cut well stays whole: n. */
int64_t row_block(int64_t n, int64_t most);

/* Vectors for rows of n floats, no longer than the row. */
struct row_vector {
    const char *type, *lanes; /* C names: "vector8_f32", "LANES8" */
    const char *fuse;         /* the function (sum, x, w) if sums_are_fused */
    int most;                 /* upper bound of the lanes, on any CPU */
    bool overlaps;            /* the last vector of a row overlaps the one before */
};

/* Requests the helper that defines them. */
struct row_vector bind_row_vector(struct bind *bind, int64_t n);

#endif
