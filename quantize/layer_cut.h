/* layer_cut.h - cuts a function after one of its products: what is computed up to there, and what
 * later products read; for layer_walk.c. */
#ifndef QUANTIZE_LAYER_CUT_H
#define QUANTIZE_LAYER_CUT_H

#include "quantize/layer_part.h"

/* Values computed before a cut and read after it. */
struct live {
    int n;
    struct value **values;
    size_t bytes; /* per sample */
};

struct layer_cut {
    struct node *product;
    struct live before, after; /* at the previous cut, at this one */
    /* From `before` to the product, and from the function's parameters to it. Results: its output,
     * and the values of `after` that are not parameters. */
    struct part_plan next, whole;

    /* private */
    struct arena arena;     /* of this cut */
    struct arena constants; /* for all cuts */
    struct bulk payloads;   /* payloads that depend on constants */
    struct map known;       /* name -> struct part_constant * */
};

/* Moves the cut to after products[0]; the others follow. *cut starts zeroed. False after an
 * error. */
bool layer_cut(struct ctx *ctx, struct function *fn, struct node *const *products, int n_products,
               struct layer_cut *cut);
void layer_cut_free(struct layer_cut *cut);

/* Index of the value in the list, which must contain it. */
int live_find(const struct live *live, const struct value *value);

#endif
