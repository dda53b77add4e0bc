/* expectation_product.c - mean and variance of a product's output channels, as normals. */
#include <math.h>

#include "quantize/expectation.h"
#include "quantize/linear.h"
#include "relay_ir/interpret.h"

bool expectation_product(struct ctx *ctx, const struct node *product, const struct expectation *x,
                         struct expectation *y, struct arena *arena)
{
    struct bulk bulk = { 0 };
    struct linear linear;
    struct tensor w;
    double *mean, *variance;
    int64_t at = 0;

    if (!linear_of(product, &linear) || linear.lead != 1 || x->axis != linear.in_axis ||
        x->n != linear.in_c || product->outputs[0]->type.rank <= linear.out_axis ||
        !interpret_constant(ctx, product->inputs[1], INT64_MAX, &bulk, &w))
        return false;
    mean = arena_array(arena, double, linear.out_c);
    variance = arena_array(arena, double, linear.out_c);
    for (int64_t block = 0; block < linear_blocks(&linear); block++) {
        double sum = 0, squares = 0;
        int64_t from, to;

        for (int64_t i = 0; i < linear.taps; i++, at++) {
            sum += tensor_at(&w, at);
            squares += tensor_at(&w, at) * tensor_at(&w, at);
        }
        linear_channels(&linear, block, &from, &to);
        mean[to] += sum * clipped_mean(&x->channels[from]);
        variance[to] += squares * clipped_variance(&x->channels[from]);
    }
    bulk_release(&bulk);
    y->axis = linear.out_axis;
    y->n = linear.out_c;
    y->channels = arena_array(arena, struct clipped_normal, linear.out_c);
    for (int64_t i = 0; i < linear.out_c; i++) {
        y->channels[i] = normal_of(mean[i], sqrt(variance[i]));
        if (!isfinite(mean[i]) || !isfinite(variance[i]))
            return false;
    }
    return true;
}
