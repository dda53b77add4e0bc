/* template_loop.h - the loop that //#parallel names (template.h), whole or divided among parts. */
#ifndef CODEGEN_C_TEXT_TEMPLATE_LOOP_H
#define CODEGEN_C_TEXT_TEMPLATE_LOOP_H

#include "base/str.h"

/* for (int VAR = 0; VAR < LIMIT; ...), with further variables behind the 0 perhaps. */
struct loop {
    const char *var, *limit;
    const char *grain; /* a part begins at a multiple of this */
};

/* The loop's line as it is, or so that it runs from where `this_part` begins to where the next part
 * does; false where the line is no such loop. */
bool loop_add(struct str *out, const char *line, const struct loop *loop, bool split);

#endif
