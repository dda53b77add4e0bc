/* layout_lines.h - tokens and comments as lines of at most 100 columns. */
#ifndef CODEGEN_C_TEXT_LAYOUT_LINES_H
#define CODEGEN_C_TEXT_LAYOUT_LINES_H

#include "codegen_c/text/tokens.h"

enum { LAYOUT_COLUMNS = 100 };

/* Adds tokens [from, to), the first of them at column `indent` and after `before`; the lines that they had stay as they
 * were if they are short enough, `after` more columns on the last one included. */
void lines_add(struct str *out, const struct tokens *tokens, int from, int to, int indent,
               const char *before, int after);

/* Adds a comment that begins a line, and a line end. */
void lines_add_comment(struct str *out, const struct token *comment, int indent);

/* Adds a directive; its comment goes in front of it where the line is too long. */
void lines_add_directive(struct str *out, const struct token *directive);

#endif
