#include "quantize/batch_norms.h"

#include <math.h>

enum { MAX_CHAIN = 8 }; /* no scale moves so far back, see fold_scale_axis.c */

struct batch_norms {
    struct map by_name; /* name -> struct batch_norm * */
};

static bool is_constant_float(const struct value *value)
{
    return value->kind == VALUE_CONSTANT && dtype_is_float(value->type.dtype);
}

/* What a scale may move backward past, as fold_scale_axis does it. */
static bool lets_scales_pass(enum op op)
{
    switch (op) {
    case OP_AVG_POOL1D:
    case OP_AVG_POOL2D:
    case OP_AVG_POOL3D:
    case OP_BIAS_ADD:
    case OP_COPY:
    case OP_EXPAND_DIMS:
    case OP_GLOBAL_AVG_POOL:
    case OP_GLOBAL_MAX_POOL:
    case OP_LEAKY_RELU:
    case OP_MAX_POOL1D:
    case OP_MAX_POOL2D:
    case OP_MAX_POOL3D:
    case OP_RELU:
    case OP_RESHAPE:
    case OP_SQUEEZE:
    case OP_TRANSPOSE: return true;
    default: return false;
    }
}

static bool is_scaled_again(const struct node *node)
{
    for (int i = 0; i < MAX_CHAIN; i++) {
        const struct node *user = value_only_user(node->outputs[0]);

        if (!user)
            return false;
        if (user->op == OP_MULTIPLY || user->op == OP_DIVIDE || user->op == OP_BATCH_NORM)
            return true;
        if (!lets_scales_pass(user->op))
            return false;
        node = user;
    }
    return false;
}

static void collect(struct batch_norms *norms, const struct node *node)
{
    struct arena *arena = norms->by_name.arena;
    const struct value *gamma = node->inputs[1], *beta = node->inputs[2];
    struct batch_norm *norm;

    if (!is_constant_float(gamma) || !is_constant_float(beta) || is_scaled_again(node))
        return;
    norm = arena_new(arena, struct batch_norm);
    norm->name = arena_strdup(arena, node->outputs[0]->name);
    norm->axis = type_axis(&node->outputs[0]->type, node->attrs.batch_norm.axis);
    norm->n = gamma->type.dim[0];
    norm->mean = arena_array(arena, double, norm->n);
    norm->deviation = arena_array(arena, double, norm->n);
    for (int64_t i = 0; i < norm->n; i++) {
        norm->mean[i] = dtype_load(beta->type.dtype, beta->data, i);
        norm->deviation[i] = fabs(dtype_load(gamma->type.dtype, gamma->data, i));
        if (!isfinite(norm->mean[i]) || !isfinite(norm->deviation[i]))
            return;
    }
    map_set(&norms->by_name, norm->name, norm);
}

struct batch_norms *batch_norms_collect(struct ctx *ctx, const struct module *module)
{
    struct batch_norms *norms = arena_new(&ctx->perm, struct batch_norms);

    norms->by_name.arena = &ctx->perm;
    for (const struct node *node = module->main->first; node; node = node->next)
        if (node->op == OP_BATCH_NORM)
            collect(norms, node);
    return norms;
}

int batch_norms_count(const struct batch_norms *norms)
{
    return (int)norms->by_name.n;
}

const struct batch_norm *batch_norms_find(const struct batch_norms *norms, const char *name)
{
    return map_get(&norms->by_name, name);
}

struct batch_norms *batch_norms_copy(struct ctx *ctx, const struct batch_norms *norms)
{
    struct batch_norms *copy = arena_new(&ctx->perm, struct batch_norms);

    copy->by_name.arena = &ctx->perm;
    for (size_t i = 0; i < norms->by_name.n; i++) {
        const struct batch_norm *from = norms->by_name.entries[i].value;
        const size_t bytes = (size_t)from->n * sizeof *from->mean;
        struct batch_norm *to = arena_memdup(&ctx->perm, from, sizeof *from);

        to->mean = arena_memdup(&ctx->perm, from->mean, bytes);
        to->deviation = arena_memdup(&ctx->perm, from->deviation, bytes);
        map_set(&copy->by_name, to->name, to);
    }
    return copy;
}

void batch_norms_scale(struct batch_norms *norms, const char *name, const double *factor, int64_t n)
{
    struct batch_norm *norm = map_get(&norms->by_name, name);

    for (int64_t i = 0; norm && i < n && i < norm->n; i++) {
        norm->mean[i] *= factor[i];
        norm->deviation[i] *= fabs(factor[i]);
    }
}
