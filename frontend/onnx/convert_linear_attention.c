/* convert_linear_attention.c - LinearAttention: a state for each head, [key size, value size], to which every step adds
 * the product of its key and its value, and which the step's query reads.
 *
 * method   written out step by step: decay (gated rules), correction by what the state has for the key already (delta
 *          rules), update, read. All heads of a step lie side by side in memory, so that steps are slices and views;
 *          the queries that share a head of keys are the rows of one product. */
#include <math.h>
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

enum { Q, K, V, PAST, DECAY, BETA }; /* inputs */

struct linear {
    struct onnx_node *node;
    struct value *x[6];          /* the inputs, in f32 if they are halves */
    int64_t batch, steps, heads; /* of keys and values */
    int64_t served;              /* heads of queries for each of them */
    int64_t key_size, value_size, decay_size;
    bool gated, delta;
    double scale;
    struct value *decay; /* its exponential, of all steps */
};

/* What input x, [batch, steps, ...], has for one step, as [batch, a, b, c]. */
static struct value *at_step(const struct linear *l, struct value *x, int64_t step, int64_t a,
                             int64_t b, int64_t c, const char *suffix)
{
    const struct ints shape = { 4, { l->batch, a, b, c } };

    x = slice_to(l->node, x, 1, step, 1, suffix);
    return x ? reshape_to(l->node, x, &shape, suffix) : NULL;
}

static bool check_numbers(struct linear *l)
{
    struct onnx_node *node = l->node;
    const struct type *q = &onnx_input(node, Q)->type, *k = &onnx_input(node, K)->type;
    const struct type *v = &onnx_input(node, V)->type;
    const struct value *past = onnx_input(node, PAST), *decay = onnx_input(node, DECAY);
    const struct value *beta = onnx_input(node, BETA);
    const int64_t of_queries = onnx_int(node, "q_num_heads", 0);
    const char *const problem = "queries %s, keys %s and values %s of %lld and %lld heads: wanted "
                                "batch x steps x heads * size each";

    l->heads = onnx_int(node, "kv_num_heads", 0);
    if (l->heads < 1 || of_queries < 1 || of_queries % l->heads != 0)
        return bad_attribute(node,
                             "%lld heads of queries, %lld of keys and values: wanted a multiple",
                             (long long)of_queries, (long long)l->heads);
    l->served = of_queries / l->heads;
    l->batch = q->dim[0];
    l->steps = q->dim[1];
    l->key_size = k->dim[2] / l->heads;
    l->value_size = v->dim[2] / l->heads;
    if (k->dim[2] % l->heads || v->dim[2] % l->heads || q->dim[2] != of_queries * l->key_size ||
        k->dim[0] != l->batch || v->dim[0] != l->batch || k->dim[1] != l->steps ||
        v->dim[1] != l->steps || l->steps < 1)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin, problem,
                          shape_text(&node->ctx->perm, q), shape_text(&node->ctx->perm, k),
                          shape_text(&node->ctx->perm, v), (long long)of_queries,
                          (long long)l->heads);
    if (past && type_elements(&past->type) != l->batch * l->heads * l->key_size * l->value_size)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "past_state has shape %s, wanted %lldx%lldx%lldx%lld",
                          shape_text(&node->ctx->perm, &past->type), (long long)l->batch,
                          (long long)l->heads, (long long)l->key_size, (long long)l->value_size);
    l->decay_size = decay ? decay->type.dim[2] / l->heads : 0;
    if (decay && (decay->type.dim[0] != l->batch || decay->type.dim[1] != l->steps ||
                  decay->type.dim[2] != l->heads * l->decay_size ||
                  (l->decay_size != 1 && l->decay_size != l->key_size)))
        return diag_error(
            node->ctx, DIAG_SHAPE, node->origin,
            "decay has shape %s, wanted %lldx%lldx%lld, times the size of keys or not",
            shape_text(&node->ctx->perm, &decay->type), (long long)l->batch, (long long)l->steps,
            (long long)l->heads);
    if (beta && (beta->type.dim[0] != l->batch || beta->type.dim[1] != l->steps ||
                 (beta->type.dim[2] != 1 && beta->type.dim[2] != l->heads)))
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "beta has shape %s, wanted %lldx%lldx1 or x%lld",
                          shape_text(&node->ctx->perm, &beta->type), (long long)l->batch,
                          (long long)l->steps, (long long)l->heads);
    l->scale = onnx_real(node, "scale", 0);
    if (l->scale == 0)
        l->scale = 1 / sqrt((double)l->key_size);
    return limit_check(node->ctx, LIMIT_NODES, node->origin, 12.0 * (double)l->steps);
}

static bool read_rule(struct linear *l)
{
    struct onnx_node *node = l->node;
    const char *rule = onnx_word(node, "update_rule", "gated_delta");

    l->gated = strcmp(rule, "gated") == 0 || strcmp(rule, "gated_delta") == 0;
    l->delta = strcmp(rule, "delta") == 0 || strcmp(rule, "gated_delta") == 0;
    if (!l->gated && !l->delta && strcmp(rule, "linear") != 0)
        return bad_attribute(
            node, "attribute update_rule is none of linear, gated, delta and gated_delta");
    if (l->gated != (onnx_input(node, DECAY) != NULL) ||
        l->delta != (onnx_input(node, BETA) != NULL))
        return diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin,
                          "update_rule %s %s decay and %s beta", rule,
                          l->gated ? "wants" : "takes no", l->delta ? "wants" : "takes no");
    return true;
}

/* The state after a step. */
static struct value *next_state(const struct linear *l, struct value *state, int64_t step)
{
    struct onnx_node *node = l->node;
    struct value *k = l->x[K], *v = l->x[V], *beta = l->x[BETA];
    struct value *row = l->delta ? at_step(l, k, step, l->heads, 1, l->key_size, "key_row") : NULL;
    struct value *column = at_step(l, k, step, l->heads, l->key_size, 1, "key");

    v = at_step(l, v, step, l->heads, 1, l->value_size, "value");
    if (l->gated)
        state = apply2(node, OP_MULTIPLY, "decayed", state,
                       at_step(l, l->decay, step, l->heads, l->decay_size, 1, "decay"));
    if (l->delta) {
        v = apply2(node, OP_SUBTRACT, "news", v, apply2(node, OP_MATMUL, "known", row, state));
        v = apply2(node, OP_MULTIPLY, "correction",
                   at_step(l, beta, step, beta->type.dim[2], 1, 1, "beta"), v);
    }
    return apply2(node, OP_ADD, "state", state, apply2(node, OP_MULTIPLY, "update", column, v));
}

static struct value *begin_state(const struct linear *l)
{
    struct onnx_node *node = l->node;
    const struct ints shape = { 4, { l->batch, l->heads, l->key_size, l->value_size } };
    const enum dtype dtype = l->x[Q]->type.dtype;
    struct value *past = l->x[PAST];

    if (!past)
        return full_of(node, dtype, 0, &shape, "state");
    return reshape_to(node, past, &shape, "past");
}

static bool output_state(const struct linear *l, struct value *state)
{
    const struct value *like = onnx_input(l->node, onnx_input(l->node, PAST) ? PAST : Q);

    return !wants_output(l->node, 1) ||
           onnx_output(l->node, 1, cast_to(l->node, state, like->type.dtype, "present"));
}

static bool run_steps(const struct linear *l)
{
    struct onnx_node *node = l->node;
    const union attrs along = { .axis = { .axis = 1 } };
    const struct ints shape = { 3, { l->batch, 1, l->heads * l->served * l->value_size } };
    struct value **rows = arena_array(&node->ctx->perm, struct value *, (size_t)l->steps);
    struct value *q = l->x[Q], *state = begin_state(l);

    q = apply2(node, OP_MULTIPLY, "scaled", q, scalar_like(node, q, l->scale, "scale"));
    for (int64_t i = 0; i < l->steps; i++) {
        state = state && q ? next_state(l, state, i) : NULL;
        rows[i] = state ? apply2(node, OP_MATMUL, "read",
                                 at_step(l, q, i, l->heads, l->served, l->key_size, "query"), state)
                        : NULL;
        rows[i] = rows[i] ? reshape_to(node, rows[i], &shape, "row") : NULL;
        if (!rows[i])
            return false;
    }
    if (l->steps > 1)
        rows[0] = onnx_build(node, OP_CONCATENATE, &along, "all", (int)l->steps, rows);
    return rows[0] && output_state(l, state) &&
           onnx_output(node, 0, cast_to(node, rows[0], onnx_input(node, Q)->type.dtype, ""));
}

bool convert_linear_attention(struct onnx_node *node)
{
    struct linear l = { .node = node };
    enum dtype wide;

    if (!onnx_check_inputs(node, 3, 6))
        return false;
    wide = onnx_input(node, Q)->type.dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    for (int i = Q; i <= BETA; i++) {
        if (!onnx_check_kind(node, i, TAKES_FLOAT) ||
            !onnx_check_rank(node, i, i == PAST ? 4 : 3, i == PAST ? 4 : 3))
            return false;
        l.x[i] = onnx_input(node, i) ? cast_to(node, onnx_input(node, i), wide, "wide") : NULL;
        if (onnx_input(node, i) && !l.x[i])
            return false;
    }
    if (!read_rule(&l) || !check_numbers(&l) || !onnx_ok(node))
        return false;
    if (l.gated) {
        l.decay = apply1(node, OP_EXP, "kept", l.x[DECAY]);
        if (!l.decay)
            return false;
    }
    return run_steps(&l);
}
