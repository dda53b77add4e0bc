/* register_loops.h - a microkernel, written as C with loops over arrays of registers, becomes one with lists of macros
 * (docs/design/kernels.md#microkernels).
 *
 * Compilers leave loops over arrays of sums rolled at -O2, and then the sums are in memory. So relayc writes
 *
 *     vector_f32 sums[MR][NR];                                  (goes)
 *     for (int j = 0; j < MR; j++) ... BEGIN ...                #define BEGIN(j, v) vector_f32 sum##j##v = { 0 };
 *         for (int v = 0; v < NR; v++)                          #define BEGIN_PIXEL(j) EACH_VECTOR(BEGIN, j)
 *             sums[j][v] = (vector_f32){ 0 };                   EACH_PIXEL(BEGIN_PIXEL)
 *
 * where the lists say which j and v there are; macros.h then writes these out for a known CPU. The rules:
 *   - A local array of MR, of NR, or of MR by NR elements is one variable an element, which is called after the array
 *     without its last letter: sums[j][v] is sum##j##v. It is declared where it is first assigned; const, if that is
 *     the only assignment.
 *   - Loops over MR or NR begin with a comment: the name of their macro, and, behind a colon, a comment of the output.
 *     A loop over MR with one over NR in it has the inner one's name and _PIXEL, unless it has its own.
 *   - A local of such a loop may have its index in its name: x_k is x##j##k. If it does not, it keeps its braces.
 *   - What is always true (j < MR) is not asked, and a loop over nothing goes. */
#ifndef CODEGEN_C_TEXT_REGISTER_LOOPS_H
#define CODEGEN_C_TEXT_REGISTER_LOOPS_H

#include "base/arena.h"

/* each_pixel: the list of the j, EACH_PIXEL(DO) DO(0) ...; each_vector: that of the v, EACH_VECTOR(DO, j) DO(j, 0) ... */
const char *register_loops_to_lists(struct arena *arena, const char *text, const char *each_pixel,
                                    const char *each_vector);

#endif
