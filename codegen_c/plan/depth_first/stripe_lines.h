/* stripe_lines.h - regions that are computed together in stripes, on the way to their C: what
 * stripe_functions.c finds out and stripe_text.c writes. */
#ifndef CODEGEN_C_PLAN_DEPTH_FIRST_STRIPE_LINES_H
#define CODEGEN_C_PLAN_DEPTH_FIRST_STRIPE_LINES_H

#include "codegen_c/core/state.h"
#include "codegen_c/core/stripe.h"

/* A kind of stripe: rows and padding are alike. */
struct stripe_kind {
    int64_t row, end; /* of the stripes that it is for: where the first begins, the last ends */
    int64_t n;        /* rows of the result */
    int64_t *begin, *rows; /* [n_inputs] of the first stripe: the rows it reads */
    const char *fn;
    bool works; /* its function has a parameter `scratch` */
    int apart;  /* the input of which it reads rows of many planes where they lie; -1 = none */
};

struct stripe_lines {
    struct codegen *codegen;
    struct arena *arena;
    struct region *region; /* the striped one */
    struct stripes stripes;
    const char **name;  /* [n] of buffers, or of the result's parameter */
    const char **done;  /* [n] counters: rows that are there */
    const char **end;   /* [n] where the next stripe ends, a counter or NULL: `done` + step */
    const char **first; /* [n] the buffer's first row, a counter or NULL: the row that the only
                           reader reads next */
    struct stripe_kind **kinds; /* [n][n_kinds] */
    int *n_kinds;
    size_t *scratch;       /* [n] of the regions' functions */
    int **gather;          /* [n][n_inputs] blocks, -1 = none */
    int *buffer, *working; /* [n] blocks, -1 = none: the rows, the function's scratch */
    struct block *blocks;
    int n_blocks;
};

/* The regions' functions, in front of the one that binds: one for every kind of stripe that there
 * is. Fills kinds, n_kinds and scratch; false after errors. */
bool stripe_functions(struct stripe_lines *lines, struct bind *bind);

/* Places what the regions hand to each other and their functions' scratch: buffer, working, gather
 * and blocks. Returns the bytes of all. */
size_t stripe_buffers(struct stripe_lines *lines);

/* The last region that reads the rows of region i; *n_readers: how often they are read. */
int stripe_last_reader(const struct stripes *stripes, int i, int *n_readers);

#endif
