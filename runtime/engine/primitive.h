/* primitive.h - internal: operators as oneDNN primitives.
 *
 * One row per operator: supports says if a node can be a primitive, prepare makes it: it describes
 * the primitive, calls work_create, which adds fused nodes as post-ops, and binds arguments. If
 * oneDNN refuses, prepare returns false with work->why set; the node is tried again with fewer
 * fused nodes, and at last left to the reference. */
#ifndef RUNTIME_ENGINE_PRIMITIVE_H
#define RUNTIME_ENGINE_PRIMITIVE_H

#include "runtime/engine/plan.h"

/* A function being inlined. */
struct frame {
    struct function *fn;
    struct slot **slots; /* by value id; NULL = not computed yet */
    bool *done;          /* by node id: part of an earlier step */
    int depth;           /* call depth */
};

enum { MAX_CHAIN = 12, MAX_ELTWISE = 2, MAX_BOUND = 64, MAX_RESULTS = 1 };

/* Element-wise nodes after a primitive's node that become its post-ops; each reads the result of
 * the previous one. */
struct chain {
    int n; /* number of nodes */
    const struct node *nodes[MAX_CHAIN];
};

/* Operand of a primitive: a slot and its layout in the primitive's dims. */
struct operand {
    struct slot *slot;
    dnnl_memory_desc_t as;
};

struct work {
    struct plan *plan;
    struct frame *frame;
    const struct node *node;
    struct chain chain;
    bool generic_only; /* exclude implementations generated for the shape (JIT) */
    bool failed;       /* an error was reported: do not retry */
    const char *why;
    const char *out_layout; /* layout of the result; oneDNN's dims are channels first */

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

/* primitive.c: the table, and common checks. */
/* True if all inputs and outputs are plain f32 tensors that oneDNN can index. */
bool node_is_plain_f32(const struct node *node, const char **why);

/* NULL if the operator has no primitive. */
const struct primitive_row *primitive_row(enum op op);

enum built { BUILT, NOT_BUILT, BUILD_FAILED };

/* Adds the steps of `node`. NOT_BUILT: *why says why oneDNN cannot. */
enum built primitive_build(struct plan *plan, struct frame *frame, const struct node *node,
                           const char **why, const struct node **result_of);

/* work.c: for prepare functions, in order of use. */

/* `value` in its present layout. */
struct operand work_native(struct work *work, const struct value *value);
/* `value` with this layout attribute, in oneDNN's dims (channels first). */
struct operand work_image(struct work *work, const struct value *value, const char *layout);
/* A layout whose dims, those of the value, become channels first as `layout` says, or back. */
dnnl_memory_desc_t work_turned(const dnnl_memory_desc_t *as, const char *layout, bool to_first);
/* oneDNN's element-wise primitives take dim 1 for the one in blocks, whichever that is, and fill the
 * rest of its last block with zeros. Sets work->out_layout so that the one in blocks is the second;
 * false: no layout does, and only a plain one will. */
bool work_blocks_second(struct work *work, const dnnl_memory_desc_t *as);
/* `value` in row-major order; slot NULL after an error. */
struct operand work_plain(struct work *work, const struct value *value);
/* work_plain viewed as a dense tensor of these dims. */
struct operand work_dense(struct work *work, const struct value *value, int rank,
                          const int64_t *dims);
bool work_is_constant(const struct work *work, const struct value *value);

/* The fused bias, a dense vector of n; NULL = none. */
const struct value *work_bias(const struct work *work);

/* Post-ops of the node itself, before fused ones. */
void work_eltwise(struct work *work, dnnl_alg_kind_t algorithm, float scale, float alpha,
                  float beta);
void work_binary(struct work *work, dnnl_alg_kind_t algorithm, const struct operand *operand);

/* Makes the primitive descriptor, post-ops included. dst: the dims of the primitive's result. */
bool work_create(struct work *work, const_dnnl_op_desc_t desc, const dnnl_memory_desc_t *dst);
/* Uses a descriptor made by the caller (concat, reorder). */
bool work_take(struct work *work, dnnl_status_t status, dnnl_primitive_desc_t desc);

/* Binds an operand to an argument, reordered to the primitive's layout. */
bool work_bind(struct work *work, int arg, const struct operand *operand);
/* Binds output `index` of the node (of the last fused node). If the primitive's dims differ from
 * the value's, its layout must be dense. */
bool work_result(struct work *work, int arg, int index);
/* Adds the step; the node may add another. */
bool work_finish(struct work *work);

/* Sets work->why. Returns false. */
bool work_refuse(struct work *work, const char *why);

/* decode.c: replaces a product's inputs of other types by f32 slots. Returns the original slots, to
 * be restored. */
struct slot **inputs_decode(struct plan *plan, struct frame *frame, const struct node *node);

/* fuse.c */
/* dst = scale * algorithm(src), alpha and beta as in oneDNN. */
struct post_op {
    dnnl_alg_kind_t algorithm;
    float scale, alpha, beta;
};
/* An element-wise node as a sequence of oneDNN algorithms. n = 0: none. */
struct eltwise {
    int n;
    struct post_op at[MAX_ELTWISE];
};
struct eltwise eltwise_of(const struct node *node);

/* oneDNN's algorithm for a binary node; dnnl_alg_kind_undef = none. */
dnnl_alg_kind_t binary_of(enum op op);

/* Shape of a binary node's second operand, aligned to its output's rank (bias_add: along its
 * axis). */
void broadcast_dims(const struct node *node, int input, int64_t *dims);

/* Collects nodes that can be fused after `node`, as its row's `fusing` allows. */
struct chain chain_collect(const struct frame *frame, const struct node *node, enum fusing fusing);
/* True if chain.nodes[0] adds a vector along the axis of `fusing`. */
bool chain_has_bias(const struct chain *chain, const struct node *first, enum fusing fusing);
/* The other operand of chain.nodes[index]. */
const struct value *chain_operand(const struct chain *chain, const struct node *first, int index);

/* Entry i of a list attribute; `missing` if the list is empty. */
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
