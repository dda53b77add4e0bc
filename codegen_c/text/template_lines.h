/* template_lines.h - the lines of a template, and the control lines among them (template.h). */
#ifndef CODEGEN_C_TEXT_TEMPLATE_LINES_H
#define CODEGEN_C_TEXT_TEMPLATE_LINES_H

#include "base/arena.h"

struct line {
    const char *text; /* without the line end */
    size_t n;
    int number; /* in the text, from 1 */
};

/* The lines of a text, which they point into; *n: how many. A line with a condition of its own is three: "//#if key",
 * itself, "//#end". */
struct line *lines_of(struct arena *arena, const char *text, int *n);

/* The "//#if key" at the end of a line of n characters; NULL if it has none. */
const char *line_condition(const char *text, size_t n);

size_t line_indentation(const struct line *line);

/* Whether it is "//#word ...". */
bool line_is(const struct line *line, const char *word);

/* What stands behind "//#" of a control line; NULL of another. */
const char *line_control(const struct line *line);

/* Whether it is an indented brace, and nothing else. */
bool line_is_brace(const struct line *line);

/* The lines that cut a block. */
struct cut {
    int otherwise; /* of its //#else; that of its //#end where it has none */
    int end;
};

/* Finds them for the block opened at line `open`; the text ends at line `to`. NULL, or what is
 * wrong, in line *wrong. */
const char *cut_block(const struct line *lines, int open, int to, struct cut *cut, int *wrong);

#endif
