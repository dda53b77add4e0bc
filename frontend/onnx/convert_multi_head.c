/* convert_multi_head.c - MultiHeadAttention and GroupQueryAttention of com.microsoft. */
#include "frontend/onnx/convert_attention_fused.h"

/* --- MultiHeadAttention ----------------------------------------------------------------------- */

enum { QUERY, KEY, VALUE, BIAS, PADDING, SCORES, PAST_KEY, PAST_VALUE };

/* The part of the bias for q, k or v, added to it. */
static struct value *with_bias(struct onnx_node *node, struct value *x, int64_t begin,
                               const char *suffix)
{
    struct value *bias = onnx_input(node, BIAS);

    if (!bias || !x || x->type.rank != 3)
        return x;
    if (bias->type.rank != 1 || begin + x->type.dim[2] > bias->type.dim[0]) {
        onnx_unsupported(node, "input 3, a bias of shape %s, for %s of shape %s",
                         shape_text(&node->ctx->perm, &bias->type), suffix,
                         shape_text(&node->ctx->perm, &x->type));
        return NULL;
    }
    return apply2(node, OP_ADD, suffix, x, slice_to(node, bias, 0, begin, x->type.dim[2], suffix));
}

/* Part `i` of [batch, sequence, heads, n, size], as [batch, sequence, heads * size]. */
static struct value *packed_part(struct onnx_node *node, struct value *x, int64_t i,
                                 const char *suffix)
{
    const int64_t *dim = x->type.dim;

    return attention_view(node, slice_to(node, x, 3, i, 1, suffix), suffix, 3,
                          (int64_t[]){ dim[0], dim[1], dim[2] * dim[4] });
}

/* The operands, unpacked: q, k and v of three dims; k and v of four dims as they are. */
static bool read_operands(struct onnx_node *node, struct value *parts[3])
{
    struct value *q = onnx_input(node, QUERY), *k = onnx_input(node, KEY);

    if (!onnx_check_rank(node, QUERY, 3, 5) || q->type.rank == 4)
        return onnx_unsupported(node, "input 0 has shape %s, wanted 3 or 5 dims",
                                shape_text(&node->ctx->perm, &q->type));
    parts[0] = q;
    parts[1] = k;
    parts[2] = onnx_input(node, VALUE);
    if (q->type.rank == 5) {
        if (k || parts[2] || q->type.dim[3] != 3)
            return onnx_unsupported(node, "a packed query of shape %s",
                                    shape_text(&node->ctx->perm, &q->type));
        parts[0] = packed_part(node, q, 0, "q");
        parts[1] = packed_part(node, q, 1, "k");
        parts[2] = packed_part(node, q, 2, "v");
    } else if (k && k->type.rank == 5 && !parts[2] && k->type.dim[3] == 2) {
        parts[1] = packed_part(node, k, 0, "k");
        parts[2] = packed_part(node, k, 1, "v");
    }
    for (int i = 1; i < 3; i++)
        if (parts[i] && parts[i]->type.rank != 3 && parts[i]->type.rank != 4)
            return onnx_unsupported(node, "input %d has shape %s, wanted 3 or 4 dims", i,
                                    shape_text(&node->ctx->perm, &parts[i]->type));
    return parts[0] && parts[1] && parts[2] ? true
                                            : onnx_unsupported(node, "key or value is missing");
}

/* query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value */
bool convert_multi_head_attention(struct onnx_node *node)
{
    static const char *const names[] = { "query", "key", "value" };
    struct fused f = { .node = node, .heads = onnx_int(node, "num_heads", 0) };
    struct value *parts[3];
    int64_t begin = 0;

    if (!onnx_check_inputs(node, 1, 8) || !onnx_check_kind(node, QUERY, TAKES_FLOAT) ||
        !onnx_check_rank(node, PAST_KEY, 4, 4) || !onnx_check_rank(node, PAST_VALUE, 4, 4) ||
        !onnx_ok(node) || !read_operands(node, parts))
        return false;
    f.kv_heads = f.heads;
    if (f.heads < 1 || f.heads > INT32_MAX)
        return bad_attribute(node, "attribute num_heads is %lld", (long long)f.heads);
    f.batch = parts[0]->type.dim[0];
    f.n_queries = parts[0]->type.dim[1];
    for (int i = 0; i < 3; i++) {
        const int64_t size =
            parts[i]->type.rank == 3 ? parts[i]->type.dim[2] : f.heads * parts[i]->type.dim[3];

        parts[i] = with_bias(node, parts[i], begin, names[i]);
        begin += size;
        if (parts[i] && parts[i]->type.rank == 3)
            parts[i] = attention_heads(node, parts[i], f.heads, names[i]);
        if (i && parts[i] && onnx_input(node, PAST_KEY - 1 + i))
            parts[i] = concat_with(node, 2, onnx_input(node, PAST_KEY - 1 + i), parts[i], "all");
        if (!parts[i] || (wants_output(node, i) && i && !onnx_output(node, i, parts[i])))
            return false;
    }
    f.n_keys = parts[1]->type.dim[2];
    attention_add_mask(&f, PADDING);
    if (onnx_int(node, "unidirectional", 0))
        attention_add_causal(&f, -1);
    if (onnx_input(node, SCORES))
        attention_add_bias(&f, onnx_input(node, SCORES));
    return onnx_output(node, 0, attention_of(&f, parts[0], parts[1], parts[2]));
}

/* --- GroupQueryAttention ---------------------------------------------------------------------- */

/* Lengths must be known, and be those of the shapes: nothing is padded then. */
static bool check_lengths(struct fused *f)
{
    struct tensor lengths;

    if (!onnx_constant(f->node, 5, &lengths))
        return false;
    for (int64_t i = 0; i < type_elements(&lengths.type); i++)
        if (tensor_at(&lengths, i) != (double)(f->n_keys - 1))
            return onnx_unsupported(
                f->node,
                "input 5 says %g keys, the shapes say %lld: padded keys are not "
                "supported",
                tensor_at(&lengths, i) + 1, (long long)f->n_keys);
    return true;
}

/* query, key, value, past_key, past_value, seqlens_k, total_length, cosines, sines */
bool convert_group_query_attention(struct onnx_node *node)
{
    struct fused f = { .node = node,
                       .heads = onnx_int(node, "num_heads", 0),
                       .kv_heads = onnx_int(node, "kv_num_heads", 0) };
    struct value *parts[3] = { onnx_input(node, 0), onnx_input(node, 1), onnx_input(node, 2) };
    struct value *past = onnx_input(node, 3);

    if (!onnx_check_inputs(node, 1, -1) || !onnx_check_rank(node, 0, 3, 3) ||
        !onnx_check_kind(node, 0, TAKES_FLOAT) || !onnx_check_rank(node, 3, 4, 4) ||
        !onnx_check_rank(node, 4, 4, 4) || !onnx_ok(node))
        return false;
    if (f.heads < 1 || f.kv_heads < 1 || f.heads > INT32_MAX || f.heads % f.kv_heads != 0)
        return bad_attribute(node, "%lld heads of queries, %lld of keys: wanted a multiple",
                             (long long)f.heads, (long long)f.kv_heads);
    if (parts[1] && !parts[2])
        return diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin, "input 2 is missing");
    if (!parts[1]) { /* all three side by side */
        const int64_t size = parts[0]->type.dim[2] / (f.heads + 2 * f.kv_heads);

        parts[1] = slice_to(node, parts[0], 2, f.heads * size, f.kv_heads * size, "k");
        parts[2] =
            slice_to(node, parts[0], 2, (f.heads + f.kv_heads) * size, f.kv_heads * size, "v");
        parts[0] = slice_to(node, parts[0], 2, 0, f.heads * size, "q");
    }
    if (onnx_int(node, "do_rotary", 0))
        return onnx_unsupported(node, "do_rotary=1: export the rotation as RotaryEmbedding");
    if (!onnx_input(node, 5) || onnx_input(node, 9) || onnx_input(node, 10))
        return onnx_unsupported(node, "wanted seqlens_k, and no position_ids or attention_bias");
    f.batch = parts[0] ? parts[0]->type.dim[0] : 0;
    f.n_queries = parts[0] ? parts[0]->type.dim[1] : 0;
    for (int i = 0; i < 3; i++) {
        parts[i] = attention_heads(node, parts[i], i ? f.kv_heads : f.heads,
                                   i == 0   ? "query"
                                   : i == 1 ? "key"
                                            : "value");
        if (i && past && past->type.dim[2] > 0)
            parts[i] =
                concat_with(node, 2, onnx_input(node, 2 + i), parts[i], i == 1 ? "keys" : "all");
        if (!parts[i] || (i && wants_output(node, i) && !onnx_output(node, i, parts[i])))
            return false;
    }
    f.n_keys = parts[1]->type.dim[2];
    if (!check_lengths(&f))
        return false;
    attention_add_causal(&f, onnx_int(node, "local_window_size", -1));
    return onnx_output(node, 0, attention_of(&f, parts[0], parts[1], parts[2]));
}
