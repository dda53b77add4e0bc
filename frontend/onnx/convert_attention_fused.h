/* convert_attention_fused.h - what the attention operators of com.microsoft share. NULL operands mean
 * that an earlier step failed. */
#ifndef FRONTEND_ONNX_CONVERT_ATTENTION_FUSED_H
#define FRONTEND_ONNX_CONVERT_ATTENTION_FUSED_H

#include "frontend/onnx/convert_helpers.h"

struct fused {
    struct onnx_node *node;
    int64_t heads, kv_heads;
    int64_t batch, n_queries, n_keys; /* n_keys with those of the past */
    struct value *bias;               /* of the scores; NULL = none */
    bool failed;                      /* a part of the bias could not be built */
};

struct value *attention_view(struct onnx_node *node, struct value *x, const char *suffix, int n,
                             const int64_t *dims);

/* [batch, sequence, heads * size] as [batch, heads, sequence, size]. */
struct value *attention_heads(struct onnx_node *node, struct value *x, int64_t heads,
                              const char *suffix);

void attention_add_bias(struct fused *f, struct value *bias);

/* A query sees the keys up to its own place, and with a window (-1 = none) the last ones of these. */
void attention_add_causal(struct fused *f, int64_t window);

/* The mask of input i: numbers of keys, ends and beginnings, or 0 and 1 for keys, or for queries and
 * keys. */
void attention_add_mask(struct fused *f, int i);

/* softmax(q * k * scale + bias) * v of [batch, heads, sequence, size], as [batch, sequence, all]. */
struct value *attention_of(struct fused *f, struct value *q, struct value *k, struct value *v);

#endif
