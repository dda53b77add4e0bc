/* layer_cut.h - a function cut behind one of its products: what is computed up to there, and what
 * later products still read; for layer_walk.c. */
#ifndef QUANTIZE_LAYER_CUT_H
#define QUANTIZE_LAYER_CUT_H

#include "quantize/layer_part.h"

/* Values that are computed on one side of a cut and read on the other. */
struct live {
    int n;
    struct value **values;
    size_t bytes; /* of one sample */
};

struct layer_cut {
    struct node *product;
    struct live before, after; /* at the cut before, at this one */
    /* From `before` to the product, and from the function's parameters to it. The results are its
     * output, and those of `after` that are no parameters. */
    struct part_plan next, whole;

    /* private */
    struct arena arena;     /* of this cut */
    struct arena constants; /* of all cuts */
    struct bulk payloads;   /* of what depends on constants */
    struct map known;       /* name -> struct part_constant * */
};

/* Moves the cut behind products[0]; the others come later. It starts zeroed. False after an error.
 */
bool layer_cut(struct ctx *ctx, struct function *fn, struct node *const *products, int n_products,
               struct layer_cut *cut);
void layer_cut_free(struct layer_cut *cut);

/* Where the value is in the list; it must be there. */
int live_find(const struct live *live, const struct value *value);

#endif
