/* for_steps.h - "i++, x = &x[n]": the steps of a for, of which all but the first can be statements of its body. */
#ifndef CODEGEN_C_TEXT_FOR_STEPS_H
#define CODEGEN_C_TEXT_FOR_STEPS_H

#include "codegen_c/text/tokens.h"

/* Behind the step that begins at `from`: its comma, or `to`. */
int step_end(const struct tokens *tokens, int from, int to);

/* Behind the first step of the for at `at` whose parenthesis closes at `head` - 1. `head` - 1 if there are no others,
 * if `continue` would leave them out, or if one of them reads the first's variable. */
int first_step_end(const struct tokens *tokens, int at, int head);

#endif
