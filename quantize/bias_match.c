/* bias_match.c - see bias_match.h. The shift is where a function that never falls takes a value:
 * regula falsi, with the Illinois rule against an end that never moves (Dowell and Jarratt 1971).
 */
#include "quantize/bias_match.h"

#include <math.h>

#include "base/dtype.h"

enum { STEPS = 48 };

static bool never_falls(const struct node *node)
{
    return node->op == OP_RELU || node->op == OP_CLIP ||
           (node->op == OP_LEAKY_RELU && node->attrs.alpha_beta.alpha >= 0);
}

struct activation activation_of(const struct node *product, const struct linear *linear)
{
    struct activation activation = { .bias = product_bias(product, linear) };
    const struct value *y = activation.bias ? activation.bias->outputs[0] : product->outputs[0];
    const struct node *user = value_only_user(y);

    while (user && never_falls(user) &&
           activation.n < (int)(sizeof activation.nodes / sizeof *activation.nodes)) {
        activation.nodes[activation.n++] = user;
        user = value_only_user(user->outputs[0]);
    }
    return activation;
}

static double apply(const struct activation *activation, double x)
{
    for (int i = 0; i < activation->n; i++) {
        const struct node *node = activation->nodes[i];

        switch (node->op) {
        case OP_RELU: x = fmax(x, 0); break;
        case OP_CLIP: x = fmin(fmax(x, node->attrs.clip.a_min), node->attrs.clip.a_max); break;
        default: x = x < 0 ? x * node->attrs.alpha_beta.alpha : x; break;
        }
    }
    return x;
}

static double mean(const struct activation *activation, const float *x, int64_t n, double shift)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += apply(activation, (double)x[i] + shift);
    return sum / (double)n;
}

double bias_match(const struct activation *activation, int64_t channel, const float *wanted,
                  const float *found, int64_t n, double difference)
{
    const struct value *constant = activation->bias ? activation->bias->inputs[1] : NULL;
    const double bias = constant ? dtype_load(constant->type.dtype, constant->data, channel) : 0;
    double low = difference, high = difference, below, above, target, tolerance;
    int side = 0;

    if (!activation->n || !n)
        return difference;
    target = mean(activation, wanted, n, bias);
    tolerance = 1e-12 * fabs(target);
    if (fabs(mean(activation, found, n, bias + difference) - target) <= tolerance)
        return difference;
    /* with the greatest of the differences every number is at least what is wanted */
    for (int64_t i = 0; i < n; i++) {
        low = fmin(low, (double)wanted[i] - (double)found[i]);
        high = fmax(high, (double)wanted[i] - (double)found[i]);
    }
    below = mean(activation, found, n, bias + low) - target;
    above = mean(activation, found, n, bias + high) - target;
    for (int i = 0; i < STEPS && above > below; i++) {
        const double shift = (above * low - below * high) / (above - below);
        const double off = mean(activation, found, n, bias + shift) - target;

        if (fabs(off) <= tolerance)
            return shift;
        if (off < 0) {
            low = shift;
            below = off;
            above = side < 0 ? above / 2 : above;
            side = -1;
        } else {
            high = shift;
            above = off;
            below = side > 0 ? below / 2 : below;
            side = 1;
        }
    }
    return low + (high - low) / 2;
}
