/* work.c - making one primitive: its descriptor with post-ops, its arguments, its step. */
#include <assert.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/layout.h"
#include "runtime/engine/primitive.h"

bool work_refuse(struct work *work, const char *why)
{
    if (!work->why)
        work->why = why;
    return false;
}

static bool work_fail(struct work *work)
{
    work->failed = true;
    return false;
}

/* A descriptor that oneDNN does not implement is no error; running out of memory is. */
static bool possible(struct work *work, dnnl_status_t status)
{
    if (status == dnnl_success)
        return true;
    if (status == dnnl_unimplemented || status == dnnl_invalid_arguments)
        return work_refuse(work, "oneDNN does not implement this form");
    plan_check(work->plan, work->node, status, "make a primitive");
    return work_fail(work);
}

struct operand work_native(struct work *work, const struct value *value)
{
    struct slot *slot = work->frame->slots[value->id];

    return (struct operand){ .slot = slot, .as = slot->layout };
}

dnnl_memory_desc_t work_turned(const dnnl_memory_desc_t *as, const char *layout, bool to_first)
{
    dnnl_memory_desc_t to = *as;
    int order[MAX_RANK]; /* dim i goes to order[i] */

    if (!layout_is_last(layout))
        return to;
    if (to_first)
        layout_from_first(layout, as->ndims, order);
    else
        layout_to_first(layout, as->ndims, order);
    dnnl_memory_desc_permute_axes(&to, as, order);
    return to;
}

struct operand work_image(struct work *work, const struct value *value, const char *layout)
{
    struct operand operand = work_native(work, value);

    operand.as = work_turned(&operand.as, layout, true);
    return operand;
}

/* The dim that is in blocks; -1: none, -2: several. */
static int blocked_dim(const dnnl_memory_desc_t *as)
{
    const dnnl_blocking_desc_t *blocks = &as->format_desc.blocking;
    int dim = -1;

    for (int i = 0; i < blocks->inner_nblks; i++) {
        const int at = (int)blocks->inner_idxs[i];

        if (dim >= 0 && dim != at)
            return -2;
        dim = at;
    }
    return dim;
}

bool work_blocks_second(struct work *work, const dnnl_memory_desc_t *as)
{
    const int dim = blocked_dim(as);

    if (dim == -1 || dim == 1)
        return true;
    if (dim != as->ndims - 1)
        return false;
    work->out_layout = "NHWC"; /* of any rank */
    return true;
}

struct operand work_plain(struct work *work, const struct value *value)
{
    struct slot *slot = slot_plain(work->plan, work->frame->slots[value->id]);

    if (!slot) {
        work_fail(work);
        return (struct operand){ 0 };
    }
    return (struct operand){ .slot = slot, .as = slot->layout };
}

struct operand work_dense(struct work *work, const struct value *value, int rank,
                          const int64_t *dims)
{
    struct operand operand = work_plain(work, value);

    operand.as = layout_dense(rank, dims);
    return operand;
}

bool work_is_constant(const struct work *work, const struct value *value)
{
    return work->frame->slots[value->id]->storage->home == HOME_FIXED;
}

/* --- post-ops --------------------------------------------------------------------------------- */

const struct value *work_bias(const struct work *work)
{
    return work->has_bias ? chain_operand(&work->chain, work->node, 0) : NULL;
}

void work_eltwise(struct work *work, dnnl_alg_kind_t algorithm, float scale, float alpha,
                  float beta)
{
    if (!possible(work,
                  dnnl_post_ops_append_eltwise(work->post_ops, scale, algorithm, alpha, beta)))
        work->broken = true;
}

void work_binary(struct work *work, dnnl_alg_kind_t algorithm, const struct operand *operand)
{
    int index = dnnl_post_ops_len(work->post_ops);

    assert(work->n_post_inputs < MAX_CHAIN);
    if (!possible(work, dnnl_post_ops_append_binary(work->post_ops, algorithm, &operand->as))) {
        work->broken = true;
        return;
    }
    work->post_inputs[work->n_post_inputs] = *operand;
    work->post_args[work->n_post_inputs++] = DNNL_ARG_ATTR_MULTIPLE_POST_OP(index) | DNNL_ARG_SRC_1;
}

static bool same_dims(const dnnl_memory_desc_t *layout, const struct type *type)
{
    if (type->rank == 0)
        return layout->ndims == 1 && layout->dims[0] == 1;
    return layout->ndims == type->rank &&
           memcmp(layout->dims, type->dim, (size_t)type->rank * sizeof *type->dim) == 0;
}

/* The second operand of a fused binary node. One of the result's own size is best laid out as the
 * result is, which oneDNN may be free to choose. */
static bool add_fused_binary(struct work *work, int index, const dnnl_memory_desc_t *dst)
{
    const struct node *node = work->chain.nodes[index];
    const struct value *value = chain_operand(&work->chain, work->node, index);
    const struct type result = type_channels_first(&node->outputs[0]->type, work->out_layout);
    struct operand operand = work_image(work, value, work->out_layout);
    dnnl_memory_desc_t wanted = *dst;
    int64_t dims[MAX_RANK];

    if (!same_dims(dst, &result))
        return work_refuse(work, "the primitive sees the result in another shape");
    if (!type_same_shape(&value->type, &node->outputs[0]->type)) {
        broadcast_dims(node, value == node->inputs[0] ? 0 : 1, dims);
        operand = work_dense(work, value, dst->ndims, dims);
        operand.as = work_turned(&operand.as, work->out_layout, true);
        wanted = operand.as;
    }
    if (!operand.slot)
        return false;
    work_binary(work, binary_of(node->op), &(struct operand){ operand.slot, wanted });
    if (work->broken)
        return false;
    work->post_inputs[work->n_post_inputs - 1] = operand;
    return true;
}

static bool add_fused(struct work *work, const dnnl_memory_desc_t *dst)
{
    for (int i = work->has_bias; i < work->chain.n; i++) {
        struct eltwise eltwise = eltwise_of(work->chain.nodes[i]);

        for (int k = 0; k < eltwise.n; k++)
            work_eltwise(work, eltwise.at[k].algorithm, eltwise.at[k].scale, eltwise.at[k].alpha,
                         eltwise.at[k].beta);
        if (eltwise.n == 0 && !add_fused_binary(work, i, dst))
            return false;
    }
    return !work->broken;
}

/* --- the descriptor --------------------------------------------------------------------------- */

static const char *impl_name(const_dnnl_primitive_desc_t desc)
{
    const char *name = "";

    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
    return name;
}

/* The first implementation that is not machine code made for this very shape. */
static dnnl_status_t create_generic(struct work *work, const_dnnl_op_desc_t desc,
                                    const_dnnl_primitive_attr_t attr)
{
    dnnl_primitive_desc_iterator_t all = NULL;
    dnnl_status_t status =
        dnnl_primitive_desc_iterator_create(&all, desc, attr, work->plan->engine, NULL);

    while (status == dnnl_success) {
        dnnl_primitive_desc_t found = dnnl_primitive_desc_iterator_fetch(all);
        const char *name = impl_name(found);

        if (strstr(name, "gemm") || str_starts(name, "ref")) {
            work->desc = found;
            break;
        }
        dnnl_primitive_desc_destroy(found);
        status = dnnl_primitive_desc_iterator_next(all);
    }
    dnnl_primitive_desc_iterator_destroy(all);
    return status == dnnl_iterator_ends ? dnnl_unimplemented : status;
}

bool work_take(struct work *work, dnnl_status_t status, dnnl_primitive_desc_t desc)
{
    work->desc = work->plan->held.desc = desc;
    return possible(work, status);
}

/* Whether what is fused leaves oneDNN its best implementation. Otherwise the primitive and its
 * followers one by one are faster, and layouts change less often. */
static bool keeps_implementation(struct work *work, const_dnnl_op_desc_t desc)
{
    dnnl_primitive_desc_t alone = NULL;
    bool same;

    if (work->chain.n == work->has_bias)
        return true;
    if (!possible(work, dnnl_primitive_desc_create(&alone, desc, NULL, work->plan->engine, NULL)))
        return false;
    same = strcmp(impl_name(alone), impl_name(work->desc)) == 0;
    dnnl_primitive_desc_destroy(alone);
    return same || work_refuse(work, "fused, oneDNN has a slower implementation only");
}

bool work_create(struct work *work, const_dnnl_op_desc_t desc, const dnnl_memory_desc_t *dst)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_status_t status;

    if (!add_fused(work, dst))
        return false;
    status = dnnl_primitive_attr_create(&attr);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_post_ops(attr, work->post_ops);
    if (status == dnnl_success) /* else it is the memory of the thread that makes the primitive, and
                                   another one that runs it writes to nowhere */
        status = dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    if (status == dnnl_success)
        status = work->generic_only ? create_generic(work, desc, attr)
                                    : dnnl_primitive_desc_create(&work->desc, desc, attr,
                                                                 work->plan->engine, NULL);
    work->plan->held.desc = work->desc;
    dnnl_primitive_attr_destroy(attr);
    if (!possible(work, status))
        return false;
    return work->generic_only || keeps_implementation(work, desc);
}

/* --- arguments -------------------------------------------------------------------------------- */

static const dnnl_memory_desc_t *wanted_layout(const struct work *work, int arg)
{
    return dnnl_primitive_desc_query_md(work->desc, dnnl_query_exec_arg_md, arg);
}

static void bound(struct work *work, int arg, struct slot *slot, const dnnl_memory_desc_t *layout)
{
    assert(work->n_bound < MAX_BOUND);
    work->bound_arg[work->n_bound] = arg;
    work->bound[work->n_bound] = slot;
    work->bound_layout[work->n_bound++] = *layout;
}

bool work_bind(struct work *work, int arg, const struct operand *operand)
{
    const dnnl_memory_desc_t *wanted = wanted_layout(work, arg);
    struct slot *slot;

    if (!operand->slot)
        return work_fail(work);
    slot = slot_in_layout(work->plan, operand->slot, &operand->as, wanted);
    if (!slot)
        return work_fail(work);
    bound(work, arg, slot, wanted);
    return true;
}

bool work_result(struct work *work, int arg, int index)
{
    const struct node *last = work->chain.n ? work->chain.nodes[work->chain.n - 1] : work->node;
    const struct value *value = last->outputs[index];
    const dnnl_memory_desc_t *layout = wanted_layout(work, arg);
    const dnnl_memory_desc_t own = work_turned(layout, work->out_layout, false);
    bool same = same_dims(&own, &value->type);

    work->results[work->n_results] = slot_pool(work->plan, &value->type, same ? &own : NULL);
    bound(work, arg, work->results[work->n_results], layout);
    work->result_values[work->n_results++] = value;
    return true;
}

static bool describe_args(struct work *work, struct step *step)
{
    for (int i = 0; i < work->n_bound; i++) {
        step->args[i].arg = work->bound_arg[i];
        if (!plan_check(work->plan, work->node,
                        dnnl_memory_create(&step->args[i].memory, &work->bound_layout[i],
                                           work->plan->engine, DNNL_MEMORY_NONE),
                        "describe a tensor"))
            return work_fail(work);
    }
    return true;
}

static bool describe_scratchpad(struct work *work, struct step *step)
{
    const dnnl_memory_desc_t *layout =
        dnnl_primitive_desc_query_md(work->desc, dnnl_query_scratchpad_md, 0);

    if (!layout || dnnl_memory_desc_get_size(layout) == 0)
        return true;
    step->args[step->n_args].arg = DNNL_ARG_SCRATCHPAD;
    if (!plan_check(work->plan, work->node,
                    dnnl_memory_create(&step->args[step->n_args].memory, layout, work->plan->engine,
                                       DNNL_MEMORY_ALLOCATE),
                    "get working memory"))
        return work_fail(work);
    step->n_args++;
    return true;
}

bool work_finish(struct work *work)
{
    dnnl_primitive_t primitive = NULL;
    struct step *step;

    for (int i = 0; i < work->n_post_inputs; i++)
        if (!work_bind(work, work->post_args[i], &work->post_inputs[i]))
            return false;
    if (!possible(work, dnnl_primitive_create(&primitive, work->desc)))
        return false;
    work->plan->held.primitive = primitive;
    for (int i = 0; i < work->n_results; i++) /* no earlier: reorders may have come in between */
        work->results[i]->storage->first = work->plan->n_steps;
    step = plan_step(work->plan, work->node, primitive, work->n_bound, work->bound);
    step->impl = arena_strdup(&work->plan->arena, impl_name(work->desc));
    step->n_fused = work->chain.n;
    step->fused = arena_memdup(&work->plan->arena, work->chain.nodes,
                               (size_t)work->chain.n * sizeof *step->fused);
    for (int i = 0; i < work->n_results; i++)
        work->frame->slots[work->result_values[i]->id] = work->results[i];
    if (!describe_args(work, step) || !describe_scratchpad(work, step))
        return false;
    dnnl_primitive_desc_destroy(work->desc);
    work->desc = work->plan->held.desc = NULL;
    work->n_bound = work->n_results = 0; /* a node may take several steps */
    return true;
}
