/* expectation_unary.c - mean and variance of f(x), f an element-wise operator of the graph: the
 * trapezoidal rule over 6 deviations at either side, which converges fast for what ends in
 * Gaussian tails; f by the reference evaluator. */
#include <math.h>

#include "quantize/expectation.h"
#include "relay_ir/interpret.h"

enum { POINTS = 481 };

static const double reach = 6;

/* f of n * POINTS numbers, as a graph of one node. */
static bool apply(struct ctx *ctx, const struct node *node, struct tensor *x, struct bulk *bulk,
                  struct tensor *y)
{
    struct module *module = module_new(ctx);
    struct value *param = param_new(module->main, "x", &x->type);
    struct value *result =
        build(module->main, node->op, &node->attrs, "y", node->origin, NULL, 1, &param);
    bool ok =
        result && dtype_is_float(result->type.dtype) && type_same_shape(&result->type, &x->type);

    if (ok) {
        result_add(module->main, result, "y");
        ok = interpret(ctx, module->main, x, y, bulk, NULL);
    }
    module_free(module);
    return ok;
}

bool expectation_unary(struct ctx *ctx, const struct node *node, const struct expectation *x,
                       struct clipped_normal *y)
{
    const struct diags saved = diag_save(ctx);
    const int64_t n = x->n * POINTS;
    const struct type type = type_make(node->inputs[0]->type.dtype, 1, &n);
    struct bulk bulk = { 0 };
    struct tensor points = tensor_new(&bulk, &type), results;
    bool ok;

    for (int64_t i = 0; i < n; i++) {
        const struct clipped_normal *c = &x->channels[i / POINTS];
        const double z = reach * (2 * (double)(i % POINTS) / (POINTS - 1) - 1);

        dtype_store(type.dtype, points.data, i,
                    fmin(fmax(c->mean + z * c->deviation, c->low), c->high));
    }
    ok = apply(ctx, node, &points, &bulk, &results);
    diag_restore(ctx, saved);
    for (int64_t c = 0; c < x->n && ok; c++) {
        double weights = 0, sum = 0, squares = 0;

        for (int64_t i = 0; i < POINTS; i++) {
            const double z = reach * (2 * (double)i / (POINTS - 1) - 1);
            const double weight = exp(-0.5 * z * z), f = tensor_at(&results, c * POINTS + i);

            weights += weight;
            sum += weight * f;
            squares += weight * f * f;
        }
        sum /= weights;
        y[c] = normal_of(sum, sqrt(fmax(squares / weights - sum * sum, 0)));
        ok = isfinite(sum) && isfinite(squares);
    }
    bulk_release(&bulk);
    return ok;
}
