/* halves.h - f16 constants in generated C.
 *
 * The bits of an f16 value, moved to where f32 has them, are a float 2^112 times too small, which
 * one multiplication corrects. Subnormal f16 values would be subnormal floats on the way, which
 * CPUs flush or process slowly. So a constant whose values are all below 64 is stored "raised":
 * multiplied by 2^10, exactly, which leaves no subnormals. Other constants, and all of them where
 * the CPU converts f16 itself, are stored unchanged. */
#ifndef CODEGEN_C_EXPR_HALVES_H
#define CODEGEN_C_EXPR_HALVES_H

#include "codegen_c/core/kernel.h"

/* Whether the constant is stored raised on this CPU; false if it is not f16. */
bool halves_are_raised(const struct machine *machine, const struct value *weight);

/* The constant as stored: itself, or a copy with a raised payload. */
struct value halves_stored(struct bind *bind, const struct value *weight);

/* The comment of its array: `layout`, and whether it is raised. */
const char *halves_layout(struct bind *bind, const struct value *weight, const char *layout);

/* Requests the function from LANES f16 values in memory to a vector of floats. Unraised:
 * f16_numbers(codes). Raised: raised_f16_numbers(codes) * F16_TIMES; the multiplication may be
 * applied later. halves_of_words: the same for values in the upper halves of 32-bit words, on CPUs
 * with vectors but no f16 conversion. */
const char *halves_numbers(struct bind *bind, bool raised);
const char *halves_of_words(struct bind *bind, bool raised);

/* Requests the function from one raised value to f32. */
const char *halves_raised_function(struct bind *bind);

#endif
