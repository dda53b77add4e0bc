/* emit_calls.h - the calls of the regions in NAME_run and NAME_step. */
#ifndef CODEGEN_C_EMIT_EMIT_CALLS_H
#define CODEGEN_C_EMIT_EMIT_CALLS_H

#include "base/str.h"
#include "codegen_c/core/state.h"

void add_call(struct codegen *codegen, struct str *out, const struct region *region, int indent);

/* NAME_step's choice among the regions of a loop, in the brackets of the condition that it is one of them, which stay
 * open. */
struct call_loop;
void add_step_of_loop(struct codegen *codegen, struct str *out, const struct call_loop *loop);

/* All regions of a variant (relay_ir/variants.h) in their order, with the conditions under which they run. */
void add_calls(struct codegen *codegen, struct str *out, int variant);

/* Whether the region's function is given an input: it is not where the result lies over it, or it is in its place. */
bool is_given(const struct region *region, int input);

/* The scratch of a region that has some. */
const struct block *scratch_block(const struct codegen *codegen, int region);

/* The most conditions around one region; 0 = all regions run always. */
int most_guards(const struct codegen *codegen);

#endif
