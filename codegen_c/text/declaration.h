/* declaration.h - a declaration of several names, apart. */
#ifndef CODEGEN_C_TEXT_DECLARATION_H
#define CODEGEN_C_TEXT_DECLARATION_H

#include "codegen_c/text/tokens.h"

struct declarator {
    int from, to; /* its tokens; the first one's with the type in front */
};

struct declaration {
    const char *type; /* "const float ", which all names share */
    struct declarator *declarators;
    int n;
};

/* Whether tokens [from, to), a semicolon the last, declare more than one name. */
bool declaration_of_several(const struct tokens *tokens, int from, int to,
                            struct declaration *declaration);

#endif
