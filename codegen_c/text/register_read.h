/* register_read.h - what register_loops.c finds in the text of a microkernel: arrays of registers, loops over these, and
 * the locals of such loops. register_loops.h has the rules. */
#ifndef CODEGEN_C_TEXT_REGISTER_READ_H
#define CODEGEN_C_TEXT_REGISTER_READ_H

#include "base/str.h"
#include "codegen_c/text/tokens.h"

enum { MOST_REGISTER_ARRAYS = 16, MOST_REGISTER_LOCALS = 8 };

struct register_array {
    const char *name, *type;
    int rank, block; /* block: the depth of the one that it is declared in */
    bool declared, constant;
};

/* A local with the loop's index in its name, x_k, and its variable, x##j##k. */
struct register_local {
    const char *name, *body;
};

/* The head of a loop: "for (int j = 0; j < MR; j++)". */
struct register_head {
    const char *variable;
    bool of_pixels;              /* over MR, not NR */
    int body;                    /* behind it */
    const char *label, *comment; /* name of its macro, comment of the output; NULL = none */
};

struct register_reader {
    struct arena *arena;
    const struct tokens *in;
    struct register_array arrays[MOST_REGISTER_ARRAYS];
    struct register_local locals[MOST_REGISTER_LOCALS];
    int n_arrays, n_locals, depth;
};

/* The text of token i; whether it is MR or NR. */
const char *register_word(const struct register_reader *r, int i);
bool register_is_extent(const struct register_reader *r, int i);

/* The array of which an element stands at i, NULL = none; behind such an element of this many dims. */
struct register_array *register_array_at(struct register_reader *r, int i);
int register_behind_indices(const struct register_reader *r, int i, int rank);

/* "vector_f32 sums[MR][NR], ws[NR];" at i: notes the arrays, and returns what is behind it; i if that is none. */
int register_read_arrays(struct register_reader *r, int i);

/* The variable, "sum##j##v" of sums[j][v], "sum00" of sums[0][0]; the type in front of it, where it is assigned for the
 * first time. */
void register_add_element(struct register_reader *r, const struct register_array *array, int i,
                          struct str *out);
void register_add_type(struct register_array *array, struct str *out);

/* Whether the head of a loop over registers is at i; behind a body, the statement at i. */
bool register_read_head(struct register_reader *r, int i, struct register_head *head);
int register_behind_statement(const struct register_reader *r, int i);

/* Notes the locals of a body in braces; whether all of them have the loop's index. */
bool register_read_locals(struct register_reader *r, int from, int to, const char *variable);

#endif
