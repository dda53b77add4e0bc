/* trees.c - ml.tree_ensemble: sums of f32, tree after tree; ml.coupling. */
#include "relay_ir/ops/trees.h"

#include "runtime/embed/couple_f32.h"
#include "simulate/operators.h"

bool simulate_tree_ensemble(const struct simulation *sim, const struct node *node,
                            const struct tensor *const *in, struct tensor *out)
{
    const struct trees trees = trees_of(node);
    const float *leaf = in[TREES_LEAF]->data;

    (void)sim;
    for (int64_t row = 0; row < trees.rows; row++) {
        float *y = (float *)out->data + row * trees.n_targets;

        for (int64_t k = 0; k < trees.n_targets; k++)
            y[k] = (float)trees_begin(node);
        for (int64_t tree = 0; tree < trees.n_trees; tree++) {
            const float *from = leaf + trees.width * trees_walk(&trees, in[TREES_THRESHOLD],
                                                                in[TREES_X], row, tree);
            float *to = y + trees.target[tree];

            for (int64_t k = 0; k < trees.width; k++)
                to[k] = (float)trees_step(node, (double)to[k], (double)from[k]);
        }
    }
    return true;
}

bool simulate_coupling(const struct simulation *sim, const struct node *node,
                       const struct tensor *const *in, struct tensor *out)
{
    const int64_t rows = in[0]->type.dim[0], pairs = in[0]->type.dim[1];
    const int64_t k = node->attrs.coupling.n_classes;
    struct arena arena = { NULL };
    float *work = arena_array(&arena, float, k *(k + 1));

    (void)sim;
    for (int64_t row = 0; row < rows; row++)
        couple_f32((const float *)in[0]->data + row * pairs, (int)k, (float *)out->data + row * k,
                   work, work + k * k);
    arena_release(&arena);
    return true;
}
