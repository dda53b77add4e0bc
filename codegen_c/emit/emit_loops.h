/* emit_loops.h - calls of NAME_run that repeat themselves, as loops: the rounds of a Loop or Scan, steps of recurrent
 * layers that are written out. */
#ifndef CODEGEN_C_EMIT_EMIT_LOOPS_H
#define CODEGEN_C_EMIT_EMIT_LOOPS_H

#include "base/str.h"
#include "codegen_c/core/state.h"

/* Regions `first` and following: `period` calls, `count` times. */
struct call_loop {
    int first, period, count;
    struct loop_pointer *pointers; /* declared in the loop */
    struct call_loop *next;
};

/* Finds the loops, and lets their rounds share functions. Once the regions are printed. */
void find_loops(struct codegen *codegen);

/* The loop that begins with the region; NULL = none. */
const struct call_loop *loop_at(const struct codegen *codegen, int region);

/* Whether NAME_run names the value outside of loops. */
bool is_outside_loops(const struct codegen *codegen, const struct value *value);

/* The head of the loop and its pointers. */
void add_loop_head(struct codegen *codegen, struct str *out, const struct call_loop *loop);

/* In NAME_step: the condition that the region is one of the loop, its pointers, and the head of a switch over the calls
 * of an iteration, where these are more than one. */
void add_loop_step_head(struct codegen *codegen, struct str *out, const struct call_loop *loop);

/* The number of a region of the first round in each of them: "3 + 4 * iteration". */
const char *loop_region(struct codegen *codegen, const struct call_loop *loop, int region);

/* Argument i of the call of a region of the first round: of its inputs, outputs, scratch. */
const char *loop_argument(struct codegen *codegen, const struct call_loop *loop, int region, int i);

/* Condition i under which it runs. */
const char *loop_condition(struct codegen *codegen, const struct call_loop *loop, int region,
                           int i);

#endif
