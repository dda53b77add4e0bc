#include "quantize/batch_norms.h"

#include <math.h>

#include "relay_ir/products.h"

enum { MAX_CHAIN = 8 }; /* no scale moves so far back, see fold_scale_axis.c */

struct batch_norms {
    struct map by_name; /* name -> struct batch_norm * */
    struct map inputs;  /* name of a parameter -> double *, see batch_norms_input */
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

/* A convolution of a model's input with its batch norm. */
struct first {
    const struct node *norm, *conv;
    const struct value *param;
    const struct value *bias; /* NULL = none */
};

/* Constant weights, maybe a bias in front of the batch norm and a padding behind the input. */
static bool is_first(const struct node *norm, struct first *first)
{
    const struct node *conv = norm->inputs[0]->def, *pad;

    *first = (struct first){ .norm = norm };
    if (norm->n_inputs != 5 || !is_constant_float(norm->inputs[3]) ||
        !is_constant_float(norm->inputs[4]))
        return false;
    if (conv && conv->op == OP_BIAS_ADD && is_constant_float(conv->inputs[1])) {
        first->bias = conv->inputs[1];
        conv = conv->inputs[0]->def;
    }
    if (!conv || !is_product(conv->op) || conv->n_inputs != 2 ||
        !is_constant_float(conv->inputs[1]) || conv->inputs[1]->type.rank == 0)
        return false;
    first->conv = conv;
    first->param = conv->inputs[0];
    pad = first->param->def;
    if (pad && pad->op == OP_PAD)
        first->param = pad->inputs[0];
    return first->param->kind == VALUE_PARAM && dtype_is_float(first->param->type.dtype);
}

static double at(const struct value *constant, int64_t i)
{
    return dtype_load(constant->type.dtype, constant->data, i);
}

/* A filter w sees what is alike at all of its positions as (sum w)^2 m, m being the mean square, and
 * what is not as (sum of w^2) m. Pictures and spectra are more of the former. */
static double mean_square(const struct first *first)
{
    const double alike = 0.8;
    const struct value *w = first->conv->inputs[1], *mean = first->norm->inputs[3];
    const int64_t n = mean->type.dim[0], row = n ? type_elements(&w->type) / n : 0;
    double seen = 0, of_one = 0;

    if (w->type.dim[0] != n || (first->bias && type_elements(&first->bias->type) != n))
        return 0;
    for (int64_t c = 0; c < n; c++) {
        const double m = at(mean, c) - (first->bias ? at(first->bias, c) : 0);
        double sum = 0, squares = 0;

        for (int64_t i = c * row; i < (c + 1) * row; i++) {
            sum += at(w, i);
            squares += at(w, i) * at(w, i);
        }
        seen += m * m + at(first->norm->inputs[4], c);
        of_one += alike * sum * sum + (1 - alike) * squares;
    }
    return of_one > 0 ? seen / of_one : 0;
}

static void see_input(struct batch_norms *norms, const struct node *norm)
{
    struct first first;
    double *rms;

    if (!is_first(norm, &first))
        return;
    rms = arena_new(norms->inputs.arena, double);
    *rms = sqrt(mean_square(&first));
    if (isfinite(*rms))
        map_set(&norms->inputs, first.param->name, rms);
}

struct batch_norms *batch_norms_collect(struct ctx *ctx, const struct module *module)
{
    struct batch_norms *norms = arena_new(&ctx->perm, struct batch_norms);

    norms->by_name.arena = norms->inputs.arena = &ctx->perm;
    for (const struct node *node = module->main->first; node; node = node->next)
        if (node->op == OP_BATCH_NORM) {
            collect(norms, node);
            see_input(norms, node);
        }
    return norms;
}

double batch_norms_input(const struct batch_norms *norms, const char *param)
{
    const double *rms = map_get(&norms->inputs, param);

    return rms ? *rms : 0;
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
    copy->inputs = norms->inputs; /* equalisation scales no input */
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
