/* elementwise.c - operators without an order: the text of each is that of the C. */
#include <string.h>

#include "relay_ir/walk.h"
#include "runtime/embed/gelu_f32.h"
#include "runtime/embed/gelu_tanh_f32.h"
#include "simulate/operators.h"
#include "simulate/scalar.h"

static const float *numbers(const struct tensor *tensor)
{
    return tensor->data;
}

bool simulate_scalar(const struct simulation *sim, const struct node *node,
                     const struct tensor *const *in, struct tensor *out)
{
    const struct scalar *scalar = &scalars_f32[node->op];
    const float p = scalar->has_attributes ? (float)node->attrs.alpha_beta.alpha : 0;
    const float q = scalar->has_attributes ? (float)node->attrs.alpha_beta.beta : 0;
    struct walk walk = walk_begin(out->type.rank, out->type.dim);
    const int64_t n = type_elements(&out->type);
    float *y = out->data;

    (void)sim;
    if (!scalar->function || node->n_inputs > 2)
        return false;
    for (int i = 0; i < node->n_inputs; i++) {
        if (in[i]->type.dtype != DTYPE_F32)
            return false;
        walk_add_broadcast(&walk, &in[i]->type);
    }
    for (int64_t i = 0; i < n; i++, walk_next(&walk))
        y[i] = scalar->function(numbers(in[0])[walk.offset[0]],
                                node->n_inputs > 1 ? numbers(in[1])[walk.offset[1]] : 0, p, q);
    return true;
}

bool simulate_gelu(const struct simulation *sim, const struct node *node,
                   const struct tensor *const *in, struct tensor *out)
{
    const bool by_tanh = strcmp(node->attrs.gelu.approximate, "tanh") == 0;
    const int64_t n = type_elements(&out->type);
    const float *x = in[0]->data;
    float *y = out->data;

    (void)sim;
    for (int64_t i = 0; i < n; i++)
        y[i] = by_tanh ? gelu_tanh_f32(x[i]) : gelu_f32(x[i]);
    return true;
}
