/* convert_attention_fused.c - Attention and QAttention of com.microsoft, and what its other operators
 * share with them: products, masks and a softmax, which passes and kernels know. */
#include "frontend/onnx/convert_attention_fused.h"

#include <float.h>
#include <math.h>

struct value *attention_view(struct onnx_node *node, struct value *x, const char *suffix, int n,
                             const int64_t *dims)
{
    const struct ints shape = ints_of(n, dims);

    return x ? reshape_to(node, x, &shape, suffix) : NULL;
}

/* [batch, sequence, heads * size] as [batch, heads, sequence, size]. */
struct value *attention_heads(struct onnx_node *node, struct value *x, int64_t heads,
                              const char *suffix)
{
    const struct ints axes = { 4, { 0, 2, 1, 3 } };

    if (!x)
        return NULL;
    if (x->type.rank != 3 || x->type.dim[2] % heads != 0) {
        diag_error(node->ctx, DIAG_SHAPE, node->origin,
                   "%s has shape %s, wanted (batch,sequence,a multiple of %lld)", suffix,
                   shape_text(&node->ctx->perm, &x->type), (long long)heads);
        return NULL;
    }
    x = attention_view(
        node, x, suffix, 4,
        (int64_t[]){ x->type.dim[0], x->type.dim[1], heads, x->type.dim[2] / heads });
    return x ? transpose_to(node, x, &axes, suffix) : NULL;
}

/* --- masks ------------------------------------------------------------------------------------ */

void attention_add_bias(struct fused *f, struct value *bias)
{
    f->bias = f->bias ? apply2(f->node, OP_ADD, "bias", f->bias, bias) : bias;
    f->failed = f->failed || !f->bias;
}

/* 0 where it holds, else the number for masked keys. */
static struct value *bias_where(struct fused *f, struct value *holds)
{
    const double masked = onnx_real(f->node, "mask_filter_value", -10000);
    struct value *const inputs[] = { holds, onnx_scalar(f->node, DTYPE_F32, 0, "seen"),
                                     onnx_scalar(f->node, DTYPE_F32, masked, "masked") };

    return holds && inputs[1] && inputs[2] ? onnx_build(f->node, OP_WHERE, NULL, "mask", 3, inputs)
                                           : NULL;
}

/* A query sees the keys up to its own place, and with a window the last ones of these. */
void attention_add_causal(struct fused *f, int64_t window)
{
    const struct type type = { .dtype = DTYPE_F32, .rank = 2, .dim = { f->n_queries, f->n_keys } };
    float *numbers;

    if (!onnx_granted(f->node, type.dtype, (double)f->n_queries * (double)f->n_keys)) {
        f->failed = true;
        return;
    }
    numbers = constant_alloc(f->node->fn, &type);
    for (int64_t i = 0; i < f->n_queries; i++)
        for (int64_t j = 0; j < f->n_keys; j++) {
            const int64_t behind = i + f->n_keys - f->n_queries - j;

            numbers[i * f->n_keys + j] =
                behind >= 0 && (window < 0 || behind < window) ? 0 : -FLT_MAX;
        }
    attention_add_bias(f, onnx_from_tensor(f->node, &(struct tensor){ type, numbers }, "causal"));
}

/* Which keys lie in front of a number for each batch. */
static struct value *keys_below(struct fused *f, struct value *n, enum op op, const char *suffix)
{
    int64_t *places = arena_array(&f->node->ctx->scratch, int64_t, f->n_keys);

    for (int64_t j = 0; j < f->n_keys; j++)
        places[j] = j;
    n = attention_view(f->node, cast_to(f->node, n, DTYPE_I64, suffix), suffix, 4,
                       (int64_t[]){ f->batch, 1, 1, 1 });
    return n ? apply2(f->node, op, suffix, onnx_from_ints(f->node, places, f->n_keys, "keys"), n)
             : NULL;
}

/* The mask of input i: numbers of keys, ends and beginnings, or 0 and 1 for keys, or for queries and
 * keys. */
void attention_add_mask(struct fused *f, int i)
{
    struct onnx_node *node = f->node;
    struct value *mask = onnx_input(node, i), *holds = NULL;
    const struct type *type = mask ? &mask->type : NULL;

    if (!mask)
        return;
    if (type->rank == 1 && type->dim[0] == f->batch) {
        holds = keys_below(f, mask, OP_LESS, "length");
    } else if (type->rank == 1 && type->dim[0] == 2 * f->batch) {
        holds = keys_below(f, slice_to(node, mask, 0, 0, f->batch, "ends"), OP_LESS, "end");
        holds = apply2(node, OP_LOGICAL_AND, "between", holds,
                       keys_below(f, slice_to(node, mask, 0, f->batch, f->batch, "begins"),
                                  OP_GREATER_EQUAL, "begin"));
    } else if ((type->rank == 2 || type->rank == 3) && type->dim[0] == f->batch &&
               type->dim[type->rank - 1] == f->n_keys) {
        holds = attention_view(
            node, mask, "whole_mask", 4,
            (int64_t[]){ f->batch, 1, type->rank == 3 ? type->dim[1] : 1, f->n_keys });
        holds =
            holds ? apply2(node, OP_GREATER, "unmasked", holds, scalar_like(node, holds, 0, "zero"))
                  : NULL;
    } else {
        f->failed = !onnx_unsupported(node, "input %d, a mask of shape %s, for %lld keys", i,
                                      shape_text(&node->ctx->perm, type), (long long)f->n_keys);
        return;
    }
    attention_add_bias(f, bias_where(f, holds));
}

/* --- products --------------------------------------------------------------------------------- */

/* Heads of keys and values beside the heads of queries that they serve. */
static struct value *grouped(struct fused *f, struct value *x, bool of_queries, const char *suffix)
{
    const int64_t served = f->heads / f->kv_heads, *dim = x ? x->type.dim : NULL;

    if (!x || served == 1)
        return x;
    return attention_view(
        f->node, x, suffix, 5,
        (int64_t[]){ dim[0], f->kv_heads, of_queries ? served : 1, dim[2], dim[3] });
}

static struct value *ungrouped(struct fused *f, struct value *x, const char *suffix)
{
    if (!x || x->type.rank == 4)
        return x;
    return attention_view(f->node, x, suffix, 4,
                          (int64_t[]){ x->type.dim[0], f->heads, x->type.dim[3], x->type.dim[4] });
}

/* softmax(q * k * scale + bias) * v of [batch, heads, sequence, size], as [batch, sequence, all]. */
struct value *attention_of(struct fused *f, struct value *q, struct value *k, struct value *v)
{
    static const union attrs transposed = { .matmul = { .transpose_b = true } };
    static const union attrs last = { .axis = { .axis = 3 } };
    const struct ints back = { 4, { 0, 2, 1, 3 } };
    struct onnx_node *node = f->node;
    const double given = onnx_real(node, "scale", 0), cap = onnx_real(node, "softcap", 0);
    struct value *y;

    if (!q || !k || !v || f->failed || !onnx_ok(node))
        return NULL;
    q = apply2(node, OP_MULTIPLY, "scaled", q,
               scalar_like(node, q, given > 0 ? given : 1 / sqrt((double)q->type.dim[3]), "scale"));
    q = grouped(f, q, true, "q_groups");
    k = grouped(f, k, false, "k_groups");
    y = q && k ? onnx_build2(node, OP_MATMUL, &transposed, "scores", q, k) : NULL;
    y = ungrouped(f, y, "scores");
    if (cap > 0) {
        y = apply2(node, OP_DIVIDE, "of_cap", y, scalar_like(node, y, cap, "cap"));
        y = apply2(node, OP_MULTIPLY, "capped", apply1(node, OP_TANH, "tanh", y),
                   scalar_like(node, y, cap, "cap"));
    }
    if (f->bias)
        y = apply2(node, OP_ADD, "biased", y, f->bias);
    y = y ? onnx_build1(node, OP_SOFTMAX, &last, "weights", y) : NULL;
    y = apply2(node, OP_MATMUL, "heads", grouped(f, y, true, "w_groups"),
               grouped(f, v, false, "v_groups"));
    y = ungrouped(f, y, "heads");
    y = y ? transpose_to(node, y, &back, "sequence") : NULL;
    return y ? attention_view(
                   node, y, "", 3,
                   (int64_t[]){ y->type.dim[0], y->type.dim[1], y->type.dim[2] * y->type.dim[3] })
             : NULL;
}

/* --- Attention, QAttention -------------------------------------------------------------------- */

/* Where both have what: Attention has its past at input 4, QAttention at input 8. */
struct places {
    int mask, past, bias;
};

/* Keys (which = 0) or values of the past, [batch, heads, sequence, size], in front of x. */
static struct value *with_past(struct fused *f, int input, int which, struct value *x)
{
    struct value *past = onnx_input(f->node, input);

    if (!past || !x)
        return x;
    if (past->type.rank != 5 || past->type.dim[0] != 2) {
        onnx_unsupported(f->node,
                         "input %d, the past, has shape %s, wanted (2,batch,heads,length,size)",
                         input, shape_text(&f->node->ctx->perm, &past->type));
        return NULL;
    }
    past = slice_to(f->node, past, 0, which, 1, which ? "past_v" : "past_k");
    past = past ? attention_view(f->node, past, which ? "past_v" : "past_k", 4, past->type.dim + 1)
                : NULL;
    return concat_with(f->node, 2, past, x, which ? "all_v" : "all_k");
}

/* Keys and values of now as the past of the next call. */
static bool output_present(struct fused *f, struct value *k, struct value *v)
{
    struct onnx_node *node = f->node;
    struct ints shape = { .n = 5, .at = { 1 } };

    if (!wants_output(node, 1) || !k || !v)
        return true;
    if (!type_same_shape(&k->type, &v->type))
        return onnx_unsupported(node, "keys and values of different sizes as one output");
    for (int i = 0; i < 4; i++)
        shape.at[1 + i] = k->type.dim[i];
    return onnx_output(node, 1,
                       concat_with(node, 0, reshape_to(node, k, &shape, "k_now"),
                                   reshape_to(node, v, &shape, "v_now"), "present"));
}

/* q, k and v side by side, [batch, sequence, all], from products of all kinds. */
static bool attend_packed(struct onnx_node *node, struct value *qkv, const struct places *at)
{
    struct fused f = { .node = node, .heads = onnx_int(node, "num_heads", 0) };
    const struct ints sizes = onnx_ints(node, "qkv_hidden_sizes");
    struct value *parts[3];
    int64_t size[3], begin = 0;

    if (!qkv || !onnx_ok(node))
        return false;
    if (onnx_int(node, "do_rotary", 0) || onnx_int(node, "past_present_share_buffer", 0))
        return onnx_unsupported(node, "do_rotary and past_present_share_buffer are not supported");
    for (int i = 0; i < 3; i++)
        size[i] = sizes.n == 3 ? sizes.at[i] : qkv->type.dim[2] / 3;
    if (f.heads < 1 || f.heads > INT32_MAX || (sizes.n != 0 && sizes.n != 3) || size[0] < 1 ||
        size[2] < 1 || size[0] > INT32_MAX || size[2] > INT32_MAX || size[1] != size[0] ||
        size[0] * 2 + size[2] != qkv->type.dim[2])
        return bad_attribute(node, "num_heads or qkv_hidden_sizes do not fit %s",
                             shape_text(&node->ctx->perm, &qkv->type));
    f.kv_heads = f.heads;
    for (int i = 0; i < 3; begin += size[i++]) {
        static const char *const names[] = { "q", "k", "v" };

        parts[i] = attention_heads(node, slice_to(node, qkv, 2, begin, size[i], names[i]), f.heads,
                                   names[i]);
    }
    parts[1] = with_past(&f, at->past, 0, parts[1]);
    parts[2] = with_past(&f, at->past, 1, parts[2]);
    if (!parts[0] || !parts[1] || !parts[2] || !output_present(&f, parts[1], parts[2]))
        return false;
    f.batch = qkv->type.dim[0];
    f.n_queries = qkv->type.dim[1];
    f.n_keys = parts[1]->type.dim[2];
    attention_add_mask(&f, at->mask);
    if (onnx_int(node, "unidirectional", 0))
        attention_add_causal(&f, -1);
    if (onnx_input(node, at->bias))
        attention_add_bias(&f, onnx_input(node, at->bias));
    return onnx_output(node, 0, attention_of(&f, parts[0], parts[1], parts[2]));
}

/* input, weights, bias, mask, past, attention_bias */
bool convert_fused_attention(struct onnx_node *node)
{
    static const struct places places = { 3, 4, 5 };
    struct value *qkv;

    if (!onnx_check_inputs(node, 2, 7) || !onnx_check_rank(node, 0, 3, 3) ||
        !onnx_check_kind(node, 0, TAKES_FLOAT) || !onnx_check_rank(node, 1, 2, 2))
        return false;
    qkv = onnx_inner(node, convert_matmul, 0, 13, 2, node->inputs, "qkv");
    if (qkv && onnx_input(node, 2))
        qkv = apply2(node, OP_ADD, "qkv_biased", qkv, onnx_input(node, 2));
    return attend_packed(node, qkv, &places);
}

/* input, weights, bias, input_scale, weight_scale, mask, input_zero, weight_zero, past */
bool convert_qattention(struct onnx_node *node)
{
    static const struct places places = { 5, 8, 99 };
    struct value *const inputs[] = { onnx_input(node, 0), onnx_input(node, 1), onnx_input(node, 3),
                                     onnx_input(node, 4), onnx_input(node, 6), onnx_input(node, 7),
                                     onnx_input(node, 2) };

    if (!onnx_check_inputs(node, 5, 9) || !onnx_check_rank(node, 0, 3, 3) ||
        !onnx_check_rank(node, 1, 2, 2))
        return false;
    return attend_packed(
        node, onnx_inner(node, convert_matmul_integer_to_float, 0, 1, 7, inputs, "qkv"), &places);
}
