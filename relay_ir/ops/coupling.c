/* coupling.c - ml.coupling: probabilities of classes that fit those of pairs of them best (Wu, Lin and
 * Weng 2004, the second method). Rounds of corrections, which end when the equations hold to 0.005 / k: so
 * the result is that of libraries that stop there. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/walk.h"

enum { MOST_CLASSES = 4096, MOST_ROUNDS = 100 };

bool infer_coupling(struct ctx *ctx, struct node *node)
{
    const int64_t k = node->attrs.coupling.n_classes;
    struct type shape;

    if (!check_kinds(ctx, node, 0, KINDS_FLOAT) || !check_rank(ctx, node, 0, 2, 2))
        return false;
    shape = *input_type(node, 0);
    if (k < 2 || k > MOST_CLASSES || shape.dim[1] != k * (k - 1) / 2)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: %lld pairs of %lld classes",
                          op_name(node->op), (long long)shape.dim[1], (long long)k);
    shape.dim[1] = k;
    set_output(node, 0, shape.dtype, &shape);
    return true;
}

/* The numbers of one row: probabilities, the matrix of the equations, its product with them. */
struct coupling {
    int64_t k;
    double *p, *q, *qp;
};

static void fill(struct coupling *c, const struct tensor *x, int64_t row)
{
    const int64_t k = c->k;
    int64_t at = row * (k * (k - 1) / 2);

    memset(c->q, 0, sizeof *c->q * (size_t)(k * k));
    for (int64_t i = 0; i < k; i++) {
        c->p[i] = 1 / (double)k;
        for (int64_t j = i + 1; j < k; j++, at++) {
            const double first = tensor_at(x, at), second = 1 - first;

            c->q[i * k + i] += second * second;
            c->q[j * k + j] += first * first;
            c->q[i * k + j] = c->q[j * k + i] = -second * first;
        }
    }
}

/* p' Q p, and how far off an equation is at most. */
static double residual(struct coupling *c, double *worst)
{
    double pqp = 0;

    for (int64_t i = 0; i < c->k; i++) {
        c->qp[i] = 0;
        for (int64_t j = 0; j < c->k; j++)
            c->qp[i] += c->q[i * c->k + j] * c->p[j];
        pqp += c->p[i] * c->qp[i];
    }
    *worst = 0;
    for (int64_t i = 0; i < c->k; i++)
        *worst = fmax(*worst, fabs(c->qp[i] - pqp));
    return pqp;
}

static void correct(struct coupling *c, double pqp)
{
    for (int64_t i = 0; i < c->k; i++) {
        const double q = c->q[i * c->k + i], step = (pqp - c->qp[i]) / q;

        c->p[i] += step;
        pqp = (pqp + step * (step * q + 2 * c->qp[i])) / (1 + step) / (1 + step);
        for (int64_t j = 0; j < c->k; j++) {
            c->qp[j] = (c->qp[j] + step * c->q[i * c->k + j]) / (1 + step);
            c->p[j] /= 1 + step;
        }
    }
}

bool eval_coupling(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                   struct tensor *out)
{
    const int64_t k = node->attrs.coupling.n_classes, rows = in[0]->type.dim[0];
    struct arena arena = { NULL };
    struct coupling c = { .k = k,
                          .p = arena_array(&arena, double, k),
                          .q = arena_array(&arena, double, k *k),
                          .qp = arena_array(&arena, double, k) };
    double worst;

    (void)ctx;
    for (int64_t row = 0; row < rows; row++) {
        fill(&c, in[0], row);
        for (int round = 0; round < MOST_ROUNDS; round++) {
            const double pqp = residual(&c, &worst);

            if (worst < 0.005 / (double)k)
                break;
            correct(&c, pqp);
        }
        for (int64_t i = 0; i < k; i++)
            tensor_put(out, row * k + i, c.p[i]);
    }
    arena_release(&arena);
    return true;
}
