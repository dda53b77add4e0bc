/* fold_text.h - the C of a function for several shapes. */
#ifndef CODEGEN_C_PRINT_FOLD_TEXT_H
#define CODEGEN_C_PRINT_FOLD_TEXT_H

#include "codegen_c/print/shape_text.h"

struct codegen;
struct emitted;

/* Functions that become one. */
struct fold {
    struct shape_text **texts; /* of the functions that it replaces, network by network */
    int n;
    bool *varies;       /* [texts[0]->n_members] … */
    bool *used;         /* … of which only some are read */
    bool *loose;        /* [texts[0]->n] numbers of statements that vary; NULL: none may */
    const char **array; /* [texts[0]->n_arrays] the parameters' names */
    struct fold *next;
};

/* Whether the functions are of more than one network. */
bool fold_is_of_several(const struct fold *fold);

/* Array i of the text, as a region that has this function reads it. */
const struct weight *fold_array(const struct emitted *emitted, const struct shape_text *text,
                                int i);

/* Gives fold->array: what the arrays are to the regions ("weight", "bias"), where the names in
 * the model end alike. */
void fold_name_arrays(struct fold *fold);

/* The comment in front of the function, behind what it says of the one region. */
const char *fold_prose(struct arena *arena, const struct shape_text *text);

/* Whether member m is a number of the shape that differs, and is read; others that vary follow
 * from these. */
bool fold_is_field(const struct fold *fold, int m);

/* Fields for loose numbers, those that are alike in all texts once: number i of fold_n_loose, of a text; and its field.
 */
int fold_n_loose(const struct fold *fold);
const char *fold_loose_value(struct arena *arena, const struct fold *fold,
                             const struct shape_text *text, int i);
const char *fold_loose_field(struct arena *arena, int i);

/* The text of member m. */
const char *fold_value(struct arena *arena, const struct shape_text *text, int m);

/* The field's name: the member's, in small letters. */
const char *fold_field(struct arena *arena, const struct member *member);

/* Its function, which is called `name`, with the struct `type` of its shapes (NULL = there is one
 * shape). */
const char *fold_function(struct codegen *codegen, const struct fold *fold, const char *type,
                          const char *name);

#endif
