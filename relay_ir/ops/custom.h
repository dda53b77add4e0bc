/* custom.h - operators that are C functions of the user (--custom-op).
 *
 * Their attributes are kept as text, in the order of their names, separated by ';': i3 (an integer),
 * f0.5, slinear, I1,2 (a list of integers), F0.5,1. */
#ifndef RELAY_IR_OPS_CUSTOM_H
#define RELAY_IR_OPS_CUSTOM_H

#include <stdbool.h>
#include <stddef.h>

struct custom_argument {
    char kind;        /* i, f, s, I, F; 0 = none */
    const char *text; /* [n], behind the letter */
    size_t n;
};

/* The next one of *at, which is moved behind it. False at the end, and where the text is none, which
 * then does not end (**at is not 0). */
bool custom_argument(const char **at, struct custom_argument *argument);

/* True for a C identifier that is no word of the language. */
bool custom_is_name(const char *text);

/* True for the name of a file that may stand in an #include. */
bool custom_is_header(const char *text);

/* What may stand in a text attribute: letters, digits, blanks and _ . : / + - */
bool custom_is_text(const char *text, size_t n);

#endif
