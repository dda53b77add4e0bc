/* quantised_constants.c - whether a step only changes stored weights, or constants per channel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/layout.h"
#include "relay_ir/products.h"
#include "relay_ir/validate/code_grid.h"
#include "relay_ir/validate/quantised.h"
#include "relay_ir/validate/stored.h"

struct compared {
    struct ctx *ctx;
    const struct snapshot *was;
    const char *step, *allowed; /* "stored weights" */
};

static bool refuse(const struct compared *c, const struct node *node, const char *what)
{
    const char *value = node->op == OP_RETURN ? "the results" : node->outputs[0]->name;

    return diag_error(c->ctx, DIAG_MEANING, node->op == OP_RETURN ? NULL : node->origin,
                      "%s changes more than %s: \"%s\" (%s) %s", c->step, c->allowed,
                      str_safe(&c->ctx->perm, value, 120), op_name(node->op), what);
}

/* Inputs are what they were, except `but`. */
static bool reads_the_same(const struct was_node *was, const struct node *node, int but)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (i != but && !was_read(was, i, node->inputs[i]))
            return false;
    return true;
}

/* --- rounding --------------------------------------------------------------------------------- */

/* In real numbers, since scales of blocks differ. */
static bool is_near(const struct node *decoder, const struct code_grid *grid,
                    const struct tensor *was, const struct tensor *now)
{
    const int64_t n = type_elements(&now->type);
    struct arena arena = { NULL };
    double *moved, *step, *count;
    int64_t channels = 1;
    bool ok = true;

    for (int64_t i = 0; i < n; i++)
        channels =
            stored_channel(decoder, i) >= channels ? stored_channel(decoder, i) + 1 : channels;
    moved = arena_array(&arena, double, channels);
    step = arena_array(&arena, double, channels);
    count = arena_array(&arena, double, channels);
    for (int64_t i = 0; i < n; i++) {
        const int64_t c = stored_channel(decoder, i);
        const double from = stored_code(was, i), to = stored_code(now, i);
        const double scale = stored_scale(decoder, i);
        const double widest = fmax(code_grid_step(grid, code_grid_index(grid, from)),
                                   code_grid_step(grid, code_grid_index(grid, to)));

        moved[c] += pow(scale * (to - from), 2);
        count[c]++;
        step[c] = fmax(step[c], scale * widest);
    }
    for (int64_t c = 0; c < channels; c++)
        ok = ok && moved[c] <= pow(NEAR_STEPS * step[c], 2) * count[c];
    arena_release(&arena);
    return ok;
}

static bool are_neighbours(const struct code_grid *grid, const struct tensor *was,
                           const struct tensor *now)
{
    for (int64_t i = 0; i < type_elements(&now->type); i++) {
        const double from = stored_code(was, i), to = stored_code(now, i);

        if (from != to && abs(code_grid_index(grid, from) - code_grid_index(grid, to)) > 1)
            return false;
    }
    return true;
}

static bool check_weight(const struct compared *c, const struct was_node *was,
                         const struct node *node, enum promise promise)
{
    const struct tensor *before = &was->inputs[0].constant;
    const struct tensor now = node->inputs[0] && node->inputs[0]->kind == VALUE_CONSTANT
                                  ? value_tensor(node->inputs[0])
                                  : (struct tensor){ .data = NULL };
    struct code_grid grid;

    if (!before->data || !now.data || !stored_is_decoder(node) || !reads_the_same(was, node, 0))
        return refuse(c, node, "reads another value");
    if (!type_same_storage(&before->type, &now.type) || !code_grid_of(&now.type, &grid) || !grid.n)
        return refuse(c, node, "reads another format");
    if (promise == PROMISE_NEAR)
        return is_near(node, &grid, before, &now) ||
               refuse(c, node, "reads weights that moved by more than rounding may move them");
    return are_neighbours(&grid, before, &now) ||
           refuse(c, node, "reads a weight that moved by more than a step of its format");
}

bool quantised_is_rounding(struct ctx *ctx, const struct snapshot *was, const struct function *fn,
                           const char *step, enum promise promise)
{
    const struct compared c = { ctx, was, step, "stored weights" };
    int i = 0;

    for (const struct node *node = fn->first;; node = node->next) {
        const struct was_node *before = &was->nodes[i++];

        node = node ? node : fn->ret;
        if (i > was->n_nodes || !was_alike(before, node) ||
            (node->n_outputs && strcmp(before->outputs[0], node->outputs[0]->name) != 0))
            return refuse(&c, node, "is computed in another way");
        if (!reads_the_same(before, node, -1) && !check_weight(&c, before, node, promise))
            return false;
        if (node == fn->ret)
            return i == was->n_nodes || refuse(&c, node, "were more");
    }
}

/* --- corrected biases ------------------------------------------------------------------------- */

static const struct stated_shift *find_stated(const struct stated_shift *stated, const char *name)
{
    while (stated && strcmp(stated->name, name) != 0)
        stated = stated->next;
    return stated;
}

/* A sum of a product and a constant per channel. */
static bool adds_channels(const struct node *node)
{
    const struct value *x = node->op == OP_BIAS_ADD ? node->inputs[0] : NULL;

    return x && x->def && is_product(x->def->op) && node->inputs[1]->kind == VALUE_CONSTANT &&
           node->inputs[1]->type.rank == 1 && dtype_is_float(node->inputs[1]->type.dtype);
}

/* The constant is the one before (NULL = none) and what was stated; its last rounding is its own. */
static bool check_shift(const struct compared *c, const struct node *node,
                        const struct tensor *before, const struct stated_shift *stated)
{
    const struct stated_shift *shift = find_stated(stated, node->outputs[0]->name);
    const struct tensor now = value_tensor(node->inputs[1]);
    const int64_t n = type_elements(&now.type);
    const double unit = now.type.dtype == DTYPE_F32 ? 0x1p-24 : 0x1p-8;

    if (before && !type_same_storage(&before->type, &now.type))
        return refuse(c, node, "adds numbers of another type");
    if (!shift || shift->n != n)
        return refuse(c, node, "is shifted, and no step says so");
    for (int64_t i = 0; i < n; i++) {
        const double from = before ? tensor_at(before, i) : 0, to = from + shift->shift[i];

        if (!(fabs(tensor_at(&now, i) - to) <= unit * fabs(to) + 0x1p-149))
            return refuse(c, node, "is shifted by another number than was found");
    }
    return true;
}

/* The axis of a product's result that counts output channels. */
static int64_t channels_of(const struct node *product)
{
    const int rank = product->outputs[0]->type.rank;

    if (product->op == OP_DENSE || product->op == OP_MATMUL)
        return rank - 1;
    return layout_channel_axis(node_out_layout(product), rank);
}

/* The sum stands in for the product of before, whose name it has. */
static bool check_new_sum(const struct compared *c, const struct node *sum,
                          const struct was_node *was, const struct stated_shift *stated)
{
    const struct node *product = adds_channels(sum) ? sum->inputs[0]->def : NULL;

    if (!product || !was_alike(was, product) || !reads_the_same(was, product, -1))
        return refuse(c, sum, "is computed in another way");
    if (type_axis(&product->outputs[0]->type, sum->attrs.axis.axis) != channels_of(product))
        return refuse(c, sum, "is not along the product's channels");
    return check_shift(c, sum, NULL, stated);
}

bool quantised_is_shift(struct ctx *ctx, const struct snapshot *was, const struct function *fn,
                        const char *step, const struct stated_shift *stated)
{
    const struct compared c = { ctx, was, step, "constants per channel behind products" };

    for (const struct node *node = fn->first; node; node = node->next) {
        const struct was_node *before = snapshot_find(was, node->outputs[0]->name);
        bool ok;

        if (!before) { /* a product whose name its new sum has: judged there */
            const struct node *sum = value_only_user(node->outputs[0]);

            ok = (is_product(node->op) && sum && adds_channels(sum)) ||
                 refuse(&c, node, "is a new computation");
        } else if (!was_alike(before, node)) {
            ok = check_new_sum(&c, node, before, stated);
        } else if (reads_the_same(before, node, -1)) {
            ok = true;
        } else if (adds_channels(node) && reads_the_same(before, node, 1) &&
                   before->inputs[1].constant.data) {
            ok = check_shift(&c, node, &before->inputs[1].constant, stated);
        } else {
            ok = refuse(&c, node, "reads another value");
        }
        if (!ok)
            return false;
    }
    return reads_the_same(&was->nodes[was->n_nodes - 1], fn->ret, -1) ||
           refuse(&c, fn->ret, "are other values");
}
