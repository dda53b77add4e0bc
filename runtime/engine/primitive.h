/* primitive.h - inside the engine: what an operator is in oneDNN.
 *
 * A row per operator says whether a node can be a primitive at all (supports) and makes it
 * (prepare). prepare describes the primitive, lets work_create make it with what is fused behind it
 * as post-ops, and binds its arguments. oneDNN may still refuse; then prepare returns false with
 * work->why set, and the node is tried with less fused to it, and at last left to the reference. */
#ifndef RUNTIME_ENGINE_PRIMITIVE_H
#define RUNTIME_ENGINE_PRIMITIVE_H

#include "runtime/engine/plan.h"

/* A function being inlined. */
struct frame {
    struct function *fn;
    struct slot **slots; /* by value id; NULL = not computed yet */
    bool *done;          /* by node id: already part of an earlier step */
    int depth;           /* of calls */
};

enum { MAX_CHAIN = 12, MAX_ELTWISE = 2, MAX_BOUND = 64, MAX_RESULTS = 1 };

/* The node that becomes a primitive, and the element-wise nodes behind it that become its post-ops:
 * each reads the result of the one before. */
struct chain {
    int n; /* of nodes behind the first */
    const struct node *nodes[MAX_CHAIN];
};

/* What a primitive reads: a slot, and how it is laid out in the primitive's own dims. */
struct operand {
    struct slot *slot;
    dnnl_memory_desc_t as;
};

struct work {
    struct plan *plan;
    struct frame *frame;
    const struct node *node;
    struct chain chain;
    bool generic_only; /* only implementations that are not generated for the shape */
    bool failed;       /* an error was reported: do not try otherwise */
    const char *why;
    const char *out_layout; /* of the result: oneDNN's dims are always those of channels first */

    /* The primitive under construction. */
    bool has_bias; /* chain.nodes[0] is the primitive's bias argument */
    bool broken;   /* a post-op was refused */
    dnnl_post_ops_t post_ops;
    int n_post_inputs; /* second operands of binary post-ops */
    struct operand post_inputs[MAX_CHAIN];
    int post_args[MAX_CHAIN];
    dnnl_primitive_desc_t desc;
    int n_bound;
    int bound_arg[MAX_BOUND];
    struct slot *bound[MAX_BOUND];
    dnnl_memory_desc_t bound_layout[MAX_BOUND];
    int n_results;
    struct slot *results[MAX_RESULTS];
    const struct value *result_values[MAX_RESULTS];
};

enum fusing {
    FUSE_NOTHING,
    FUSE_POST_OPS,
    FUSE_BIAS_CHANNEL, /* post-ops, and a bias along dim 1 */
    FUSE_BIAS_LAST     /* post-ops, and a bias along the last dim */
};

struct primitive_row {
    bool (*supports)(const struct node *node, const char **why); /* NULL = always */
    bool (*prepare)(struct work *work);
    enum fusing fusing;
};

/* primitive.c: the table, and what holds for all. */
/* Whether every input and output is a plain f32 tensor of a size that oneDNN indexes safely. */
bool node_is_plain_f32(const struct node *node, const char **why);

/* NULL when there is no primitive for the operator. */
const struct primitive_row *primitive_row(enum op op);

enum built { BUILT, NOT_BUILT, BUILD_FAILED };

/* Adds the steps of `node`. NOT_BUILT: *why says why oneDNN does not do it. */
enum built primitive_build(struct plan *plan, struct frame *frame, const struct node *node,
                           const char **why, const struct node **result_of);

/* work.c: for prepare functions, in the order in which they are used. */

/* `value` in the layout that it has now. */
struct operand work_native(struct work *work, const struct value *value);
/* The same of a value with this layout attribute, in oneDNN's dims: channels first. */
struct operand work_image(struct work *work, const struct value *value, const char *layout);
/* `value` in row-major order; slot NULL after an error. */
struct operand work_plain(struct work *work, const struct value *value);
/* The same, seen as a dense tensor of these dims. */
struct operand work_dense(struct work *work, const struct value *value, int rank,
                          const int64_t *dims);
bool work_is_constant(const struct work *work, const struct value *value);

/* The bias that is fused to the node, a dense vector of n; NULL = none. */
const struct value *work_bias(const struct work *work);

/* Post-ops of the node's own, in front of what is fused. */
void work_eltwise(struct work *work, dnnl_alg_kind_t algorithm, float scale, float alpha,
                  float beta);
void work_binary(struct work *work, dnnl_alg_kind_t algorithm, const struct operand *operand);

/* Makes the primitive descriptor, post-ops included. dst: the dims of the primitive's result. */
bool work_create(struct work *work, const_dnnl_op_desc_t desc, const dnnl_memory_desc_t *dst);
/* Takes a descriptor made otherwise (concat, reorder) instead. */
bool work_take(struct work *work, dnnl_status_t status, dnnl_primitive_desc_t desc);

/* Binds an input to an argument, in the layout that the primitive wants. */
bool work_bind(struct work *work, int arg, const struct operand *operand);
/* Binds output `index` of the node (of the last fused node). Where the primitive's dims are not
 * those of the value, its layout must be dense. */
bool work_result(struct work *work, int arg, int index);
/* Adds the step; after it, another one may be made for the same node. */
bool work_finish(struct work *work);

/* Refuses. Returns false. */
bool work_refuse(struct work *work, const char *why);

/* decode.c: puts slots with f32 numbers in the place of the inputs of other types of a product that
 * is about to become a primitive. Returns the slots that the inputs had, to be put back. */
struct slot **inputs_decode(struct plan *plan, struct frame *frame, const struct node *node);

/* fuse.c */
/* An element-wise node as oneDNN's element-wise algorithms, one after the other: dst = scale *
 * algorithm(src). n 0 = there is none. */
struct eltwise {
    int n;
    struct {
        dnnl_alg_kind_t algorithm;
        float scale, alpha, beta;
    } at[MAX_ELTWISE];
};
struct eltwise eltwise_of(const struct node *node);

/* oneDNN's algorithm for a binary node; dnnl_alg_kind_undef = none. */
dnnl_alg_kind_t binary_of(enum op op);

/* The shape of the second operand of a binary node, aligned to its output's rank (bias_add: along
 * its axis). */
void broadcast_dims(const struct node *node, int input, int64_t *dims);

/* Collects what may be fused behind a node whose row says `fusing`. */
struct chain chain_collect(const struct frame *frame, const struct node *node, enum fusing fusing);
/* Whether chain.nodes[0] adds a vector along the axis that `fusing` says. */
bool chain_has_bias(const struct chain *chain, const struct node *first, enum fusing fusing);
/* What chain.nodes[index] reads besides the result of the node before it. */
const struct value *chain_operand(const struct chain *chain, const struct node *first, int index);

/* attributes of spatial operators: begins, ends; 0 and 1 where the list is empty. */
int64_t ints_get(const struct ints *ints, int i, int64_t missing);

/* The families. */
#define FAMILY(name)                                                                               \
    bool name##_supports(const struct node *node, const char **why);                               \
    bool name##_prepare(struct work *work)
FAMILY(batch_norm);
FAMILY(binary);
FAMILY(concat);
FAMILY(conv);
FAMILY(deconv);
FAMILY(dense);
FAMILY(eltwise);
FAMILY(layer_norm);
FAMILY(lrn);
FAMILY(matmul);
FAMILY(pool);
FAMILY(prelu);
FAMILY(reduce);
FAMILY(resize);
FAMILY(slice);
FAMILY(softmax);
FAMILY(split);
FAMILY(transpose);
#undef FAMILY

#endif
