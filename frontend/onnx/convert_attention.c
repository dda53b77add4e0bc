/* convert_attention.c - Attention of the default domain, as products, a bias and a softmax, which
 * passes and kernels know.
 *
 * method   operator set 25 with the errata of onnx 1.19 to 1.23, for every set that has it: heads
 *          of three-dimensional inputs lie side by side (batch, sequence, heads, size), a head of
 *          keys and values serves neighbouring heads of queries, the soft cap comes before the
 *          bias, and a query that may attend no key gets zeros. onnx 1.18 has its tests otherwise;
 *          ONNX Runtime 1.23 and newer does as here.
 *
 * What may be attended is a sum of biases of 0 and -inf: known ones (causal, windows) are
 * constants. */
#include <math.h>

#include "frontend/onnx/convert_helpers.h"

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, NONPAD }; /* inputs */

struct attention {
    struct onnx_node *node;
    bool flat; /* of three dims */
    int64_t q_heads, kv_heads;
    int64_t n_queries, n_keys, offset; /* keys before the first query: what past_key holds */
    bool causal;
    int64_t left, right; /* windows; -1 = none */
    struct value *bias;  /* NULL = none */
    bool guarded;        /* some query may have no key */
    bool failed;         /* a part of the bias could not be built: an error was reported */
};

static struct value *view(struct onnx_node *node, struct value *x, const char *suffix, int n,
                          const int64_t *dims)
{
    const struct ints shape = ints_of(n, dims);

    return reshape_to(node, x, &shape, suffix);
}

/* [batch, sequence, heads * size] as [batch, heads, sequence, size]. */
static struct value *split_heads(struct onnx_node *node, struct value *x, int64_t heads,
                                 const char *suffix)
{
    const struct ints axes = { 4, { 0, 2, 1, 3 } };

    x = view(node, x, suffix, 4,
             (int64_t[]){ x->type.dim[0], x->type.dim[1], heads, x->type.dim[2] / heads });
    return transpose_to(node, x, &axes, suffix);
}

/* --- what may be attended --------------------------------------------------------------------- */

static void add_bias(struct attention *a, struct value *bias)
{
    a->bias = a->bias ? apply2(a->node, OP_ADD, "bias", a->bias, bias) : bias;
    a->failed = a->failed || !a->bias;
}

/* 0 where it holds, -inf elsewhere. */
static struct value *bias_where(struct attention *a, struct value *holds)
{
    const struct value *like = onnx_input(a->node, Q);
    struct value *const inputs[] = { holds, scalar_like(a->node, like, 0, "attended"),
                                     scalar_like(a->node, like, -INFINITY, "masked") };

    return holds && inputs[1] && inputs[2]
               ? onnx_build(a->node, OP_WHERE, NULL, "allowed", 3, inputs)
               : NULL;
}

/* Which keys lie where a query looks, as far as that is known: a constant of all of them. */
static struct value *known_places(struct attention *a)
{
    const struct type type = { .dtype = DTYPE_BOOL, .rank = 2, .dim = { a->n_queries, a->n_keys } };
    uint8_t *holds;

    if (!onnx_granted(a->node, type.dtype, (double)a->n_queries * (double)a->n_keys))
        return NULL;
    holds = constant_alloc(a->node->fn, &type);
    for (int64_t i = 0; i < a->n_queries; i++) {
        bool any = false;

        for (int64_t j = 0; j < a->n_keys; j++) {
            const int64_t ahead = j - (i + a->offset);
            const bool seen = (!a->causal || ahead <= 0) && (a->left < 0 || -ahead <= a->left) &&
                              (a->right < 0 || ahead <= a->right);

            holds[i * a->n_keys + j] = seen;
            any = any || seen;
        }
        a->guarded = a->guarded || !any;
    }
    return onnx_from_tensor(a->node, &(struct tensor){ type, holds }, "places");
}

/* How far each key lies ahead of each query, times `sign`, where both begin at the same place. */
static struct value *ahead_of(struct attention *a, int sign, const char *suffix)
{
    const struct type type = { .dtype = DTYPE_I64, .rank = 2, .dim = { a->n_queries, a->n_keys } };
    int64_t *ahead;

    if (!onnx_granted(a->node, type.dtype, (double)a->n_queries * (double)a->n_keys))
        return NULL;
    ahead = constant_alloc(a->node->fn, &type);
    for (int64_t i = 0; i < a->n_queries; i++)
        for (int64_t j = 0; j < a->n_keys; j++)
            ahead[i * a->n_keys + j] = sign * (j - i);
    return onnx_from_tensor(a->node, &(struct tensor){ type, ahead }, suffix);
}

/* The limit on how far ahead, or behind, a key may be, where queries end at the last key that is no
 * padding. */
static void limit_ahead(struct attention *a, struct value *offset, int sign, int64_t most,
                        const char *suffix)
{
    struct onnx_node *node = a->node;

    if (sign < 0)
        offset =
            apply2(node, OP_SUBTRACT, "before", onnx_scalar(node, DTYPE_I64, 0, "none"), offset);
    offset =
        apply2(node, OP_ADD, "limit", offset, onnx_scalar(node, DTYPE_I64, (double)most, "window"));
    add_bias(
        a, bias_where(a, apply2(node, OP_LESS_EQUAL, suffix, ahead_of(a, sign, "ahead"), offset)));
}

/* Keys from nonpad_kv_seqlen on are padding, in each batch. */
static void mask_padding(struct attention *a)
{
    struct onnx_node *node = a->node;
    struct value *n = onnx_input(node, NONPAD), *offset;
    int64_t *numbers = arena_array(&node->ctx->scratch, int64_t, a->n_keys);

    for (int64_t j = 0; j < a->n_keys; j++)
        numbers[j] = j;
    n = view(node, n, "n_keys", 4, (int64_t[]){ n->type.dim[0], 1, 1, 1 });
    add_bias(a, bias_where(a, apply2(node, OP_LESS, "no_padding",
                                     onnx_from_ints(node, numbers, a->n_keys, "keys"), n)));
    offset = apply2(node, OP_SUBTRACT, "offset", n,
                    onnx_scalar(node, DTYPE_I64, (double)a->n_queries, "n_queries"));
    if (a->causal || a->right >= 0)
        limit_ahead(a, offset, 1, a->causal ? 0 : a->right, "not_ahead");
    if (a->left >= 0)
        limit_ahead(a, offset, -1, a->left, "not_behind");
    a->guarded = true;
}

/* The mask, which may end before the last keys: one key alone is all of them in set 23, which does
 * not say so. */
static void add_mask(struct attention *a)
{
    struct onnx_node *node = a->node;
    struct value *mask = onnx_input(node, MASK);
    const int last = mask->type.rank - 1;
    const int64_t missing = last < 0 ? 0 : a->n_keys - mask->type.dim[last];
    union attrs attrs = { .pad = { .pad_before = ints_fill(mask->type.rank, 0),
                                   .pad_after = ints_fill(mask->type.rank, 0),
                                   .mode = "constant",
                                   .value = -INFINITY } };

    mask = mask->type.dtype == DTYPE_BOOL
               ? bias_where(a, mask)
               : cast_to(node, mask, onnx_input(node, Q)->type.dtype, "mask");
    if (mask && missing > 0 && (mask->type.dim[last] != 1 || node->opset >= 24)) {
        attrs.pad.pad_after.at[last] = missing;
        mask = onnx_build1(node, OP_PAD, &attrs, "whole_mask", mask);
    }
    a->guarded = true;
    add_bias(a, mask);
}

static bool find_bias(struct attention *a)
{
    const bool padded = onnx_input(a->node, NONPAD) != NULL;

    if (!padded && (a->causal || a->left >= 0 || a->right >= 0))
        add_bias(a, bias_where(a, known_places(a)));
    if (onnx_input(a->node, MASK))
        add_mask(a);
    if (padded)
        mask_padding(a);
    return !a->failed && onnx_ok(a->node);
}

/* --- products --------------------------------------------------------------------------------- */

/* Heads of keys and values beside the heads of queries that they serve, so that products repeat
 * them. */
static struct value *group_heads(struct attention *a, struct value *x, bool of_queries,
                                 const char *suffix)
{
    const int64_t *dim = x->type.dim, served = a->q_heads / a->kv_heads;

    if (served == 1)
        return x;
    return view(a->node, x, suffix, 5,
                (int64_t[]){ dim[0], a->kv_heads, of_queries ? served : 1, dim[2], dim[3] });
}

static struct value *ungroup_heads(struct attention *a, struct value *x, const char *suffix)
{
    if (!x || x->type.rank == 4)
        return x;
    return view(a->node, x, suffix, 4,
                (int64_t[]){ x->type.dim[0], a->q_heads, x->type.dim[3], x->type.dim[4] });
}

static struct value *scores(struct attention *a, struct value *q, struct value *k)
{
    struct onnx_node *node = a->node;
    const union attrs attrs = { .matmul = { .transpose_b = true } };
    const double size = (double)q->type.dim[3];
    const double whole = onnx_real(node, "scale", 1 / sqrt(size));
    const bool narrow = whole > 0 && q->type.dtype != DTYPE_F32 && q->type.dtype != DTYPE_F64;
    const double scale = narrow ? sqrt(whole) : whole; /* of both, where products may overflow */

    q = apply2(node, OP_MULTIPLY, "scaled_q", q, scalar_like(node, q, scale, "scale"));
    if (narrow)
        k = apply2(node, OP_MULTIPLY, "scaled_k", k, scalar_like(node, k, scale, "scale"));
    if (!q || !k)
        return NULL;
    q = group_heads(a, q, true, "groups_of_q");
    k = group_heads(a, k, false, "groups_of_k");
    return q && k
               ? ungroup_heads(a, onnx_build2(node, OP_MATMUL, &attrs, "products", q, k), "scores")
               : NULL;
}

static struct value *capped(struct onnx_node *node, struct value *x)
{
    const double most = onnx_real(node, "softcap", 0);

    if (!x || !(most > 0))
        return x;
    x = apply2(node, OP_DIVIDE, "of_cap", x, scalar_like(node, x, most, "softcap"));
    x = apply1(node, OP_TANH, "tanh", x);
    return apply2(node, OP_MULTIPLY, "capped", x, scalar_like(node, x, most, "softcap"));
}

/* Rows without any key are zeros, not 0 / 0. */
static struct value *guard(struct attention *a, struct value *p)
{
    struct onnx_node *node = a->node;
    const struct ints last = { 1, { a->bias ? a->bias->type.rank - 1 : 0 } };
    struct value *most, *empty, *inputs[3];

    if (!p || !a->guarded)
        return p;
    most = a->bias->type.rank ? reduce_with(node, OP_MAX, a->bias, &last, true, "most") : a->bias;
    empty = apply2(node, OP_EQUAL, "empty", most, scalar_like(node, most, -INFINITY, "masked"));
    inputs[0] = empty;
    inputs[1] = scalar_like(node, p, 0, "zero");
    inputs[2] = p;
    return empty && inputs[1] ? onnx_build(node, OP_WHERE, NULL, "weights", 3, inputs) : NULL;
}

static struct value *softmax(struct attention *a, struct value *x)
{
    struct onnx_node *node = a->node;
    const union attrs attrs = { .axis = { .axis = 3 } };
    const enum dtype dtype = onnx_input(node, Q)->type.dtype;
    enum dtype precision = dtype;
    const int64_t wanted = onnx_int(node, "softmax_precision", 0);

    if (wanted != 0)
        precision =
            wanted > 0 && wanted <= INT32_MAX ? dtype_from_onnx((int32_t)wanted) : DTYPE_NONE;
    if (!dtype_is_float(precision)) {
        bad_attribute(node, "attribute softmax_precision is %lld, wanted a floating-point type",
                      (long long)wanted);
        return NULL;
    }
    x = x ? cast_to(node, x, precision, "precise") : NULL;
    x = x ? onnx_build1(node, OP_SOFTMAX, &attrs, "softmax", x) : NULL;
    x = guard(a, x);
    return x ? cast_to(node, x, dtype, "weights") : NULL;
}

/* What output 3 shows of the way. */
static bool output_scores(struct attention *a, struct value *raw, struct value *cap,
                          struct value *biased, struct value *weights)
{
    struct value *const shown[] = { raw, cap, biased, weights };
    const int64_t mode = onnx_int(a->node, "qk_matmul_output_mode", 0);

    if (!wants_output(a->node, 3))
        return true;
    if (mode < 0 || mode > 3)
        return bad_attribute(a->node, "attribute qk_matmul_output_mode is %lld, wanted 0 to 3",
                             (long long)mode);
    return onnx_output(a->node, 3, shown[mode]);
}

static bool attend(struct attention *a, struct value *q, struct value *k, struct value *v)
{
    struct onnx_node *node = a->node;
    const struct ints back = { 4, { 0, 2, 1, 3 } };
    struct value *raw = scores(a, q, k), *cap = capped(node, raw), *biased = cap, *weights, *y;

    if (cap && a->bias)
        biased = apply2(node, OP_ADD, "biased", cap, a->bias);
    weights = softmax(a, biased);
    v = weights ? cast_to(node, v, weights->type.dtype, "values") : NULL;
    if (!v || !output_scores(a, raw, cap, biased, weights))
        return false;
    weights = group_heads(a, weights, true, "groups_of_weights");
    v = group_heads(a, v, false, "groups_of_v");
    if (!weights || !v)
        return false;
    y = apply2(node, OP_MATMUL, a->flat || weights->type.rank == 5 ? "attended" : "", weights, v);
    y = ungroup_heads(a, y, a->flat ? "heads" : "");
    if (!y || !a->flat)
        return onnx_output(node, 0, y);
    y = transpose_to(node, y, &back, "sequence");
    return y && onnx_output(node, 0,
                            view(node, y, "", 3,
                                 (int64_t[]){ y->type.dim[0], y->type.dim[1],
                                              y->type.dim[2] * y->type.dim[3] }));
}

/* --- the operator ----------------------------------------------------------------------------- */

static bool check_heads(struct attention *a)
{
    struct onnx_node *node = a->node;
    const struct type *q = &onnx_input(node, Q)->type;

    for (int i = Q; i <= V; i++)
        if (onnx_input(node, i)->type.rank != q->rank || (q->rank != 3 && q->rank != 4))
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "Q, K and V have %d, %d and %d dims, wanted 3 or 4 each", q->rank,
                              onnx_input(node, K)->type.rank, onnx_input(node, V)->type.rank);
    a->flat = q->rank == 3;
    a->q_heads = a->flat ? onnx_int(node, "q_num_heads", 0) : q->dim[1];
    a->kv_heads = a->flat ? onnx_int(node, "kv_num_heads", 0) : onnx_input(node, K)->type.dim[1];
    if (a->q_heads < 1 || a->kv_heads < 1 || a->q_heads % a->kv_heads != 0)
        return bad_attribute(node,
                             "%lld heads of queries, %lld of keys and values: wanted a multiple",
                             (long long)a->q_heads, (long long)a->kv_heads);
    for (int i = Q; i <= V && a->flat; i++)
        if (onnx_input(node, i)->type.dim[2] % (i == Q ? a->q_heads : a->kv_heads) != 0)
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "input %d has shape %s, which %lld heads do not divide", i,
                              shape_text(&node->ctx->perm, &onnx_input(node, i)->type),
                              (long long)(i == Q ? a->q_heads : a->kv_heads));
    return true;
}

/* Keys or values behind those of before, which are an output as well. */
static struct value *join_past(struct attention *a, int past, int present, struct value *x)
{
    if (x && onnx_input(a->node, past))
        x = concat_with(a->node, 2, onnx_input(a->node, past), x,
                        past == PAST_KEY ? "keys" : "all_v");
    if (!x || !wants_output(a->node, present))
        return x;
    return onnx_output(a->node, present, x) ? x : NULL;
}

bool convert_attention(struct onnx_node *node)
{
    struct attention a = { .node = node,
                           .causal = onnx_int(node, "is_causal", 0) != 0,
                           .left = onnx_int(node, "left_window_size", -1),
                           .right = onnx_int(node, "right_window_size", -1) };
    struct value *heads[3] = { onnx_input(node, Q), onnx_input(node, K), onnx_input(node, V) };

    if (!onnx_check_inputs(node, 3, node->opset < 24 ? 6 : 7) ||
        !onnx_check_kind(node, Q, TAKES_FLOAT) || !onnx_check_kind(node, NONPAD, TAKES_INTEGER) ||
        !onnx_check_rank(node, NONPAD, 1, 1) || !onnx_check_rank(node, MASK, 0, 4) ||
        !check_heads(&a) || !onnx_ok(node))
        return false;
    if (!onnx_input(node, PAST_KEY) != !onnx_input(node, PAST_VALUE) ||
        (onnx_input(node, PAST_KEY) && onnx_input(node, NONPAD)))
        return onnx_unsupported(node, "past_key and past_value go together, and without "
                                      "nonpad_kv_seqlen");
    if (!onnx_check_rank(node, PAST_KEY, 4, 4) || !onnx_check_rank(node, PAST_VALUE, 4, 4))
        return false;
    for (int i = Q; i <= V && a.flat; i++)
        heads[i] = heads[i] ? split_heads(node, heads[i], i == Q ? a.q_heads : a.kv_heads,
                                          i == Q   ? "q"
                                          : i == K ? "k"
                                                   : "v")
                            : NULL;
    heads[K] = join_past(&a, PAST_KEY, 1, heads[K]);
    heads[V] = join_past(&a, PAST_VALUE, 2, heads[V]);
    if (!heads[Q] || !heads[K] || !heads[V])
        return false;
    a.offset = onnx_input(node, PAST_KEY) ? onnx_input(node, PAST_KEY)->type.dim[2] : 0;
    a.n_queries = heads[Q]->type.dim[2];
    a.n_keys = heads[K]->type.dim[2];
    if (a.n_queries > 0 && a.n_keys > INT32_MAX / a.n_queries)
        return diag_error(node->ctx, DIAG_TOO_BIG, node->origin,
                          "%lld queries and %lld keys have more than 2147483647 scores",
                          (long long)a.n_queries, (long long)a.n_keys);
    return find_bias(&a) && attend(&a, heads[Q], heads[K], heads[V]);
}
