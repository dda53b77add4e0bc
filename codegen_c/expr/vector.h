/* vector.h - vectors of floats in the generated C: GNU C's, which gcc and clang translate for every
 * processor, or single floats.
 *
 * Wider vectors than the processor's are slow under gcc (2 to 9 times, shared notes
 * kernels.md 4.1), so the C compiler's macros say how wide they are, where --target does not. */
#ifndef CODEGEN_C_EXPR_VECTOR_H
#define CODEGEN_C_EXPR_VECTOR_H

#include "codegen_c/core/kernel.h"

/* Asks for the helper that defines
 *   LANES        16, 8, 4 or 1, a macro
 *   vector_f32   LANES floats; a pointer to it may point to any float, *(const vector_f32 *)p loads
 *   WIDE         stands before the name of every function that computes with them (for clang)
 * A float becomes a vector by `number - (vector_f32){ 0 }`. Zeros: `vector_f32 sum = { 0 };`. */
void bind_vector(struct bind *bind);

/* Asks for the macro SHUFFLE(a, b, ...), which is a vector_f32 of elements of two. */
void bind_shuffle(struct bind *bind);

/* Into how long parts a row of n elements is best cut: as long as possible but not longer than
 * `most`, all of the same length, and that a multiple of vectors' where it can be. Loops over a
 * part should be long, or gcc takes them to pieces; what is `most`, an array on the stack can hold.
 * A row that cannot be cut well stays whole. */
int64_t row_chunk(int64_t n, int64_t most);

/* Vectors for rows of n floats, which are no longer than a row. */
struct row_vector {
    const char *type, *lanes; /* in C: "vector8_f32", "LANES8" */
    const char *fuse;         /* where sums_are_fused: a macro (sum, x, w) */
    int most;                 /* lanes that it may have, on whatever processor */
    bool overlaps;            /* the last vector of a row must begin before its place */
};

/* Asks for the helper that defines them. */
struct row_vector bind_row_vector(struct bind *bind, int64_t n);

#endif
