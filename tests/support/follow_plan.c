#include "tests/support/follow_plan.h"

#include <check.h>

#include "codegen_c/core/stripe.h"
#include "relay_ir/region.h"

/* What an element is: which one of which value computed it. A concatenation has its operands', what
 * is a piece of a value has those of that. */
struct content {
    const struct value *value;
    int64_t element;
};

static struct content content_of(const struct value *value, int64_t element);

/* Of a result of a split or slice without strides. */
static struct content content_of_piece(const struct value *value, int64_t element)
{
    const struct node *call = value->def, *node = call->callee->first;
    const struct type *x = &node->inputs[0]->type;
    int64_t at[MAX_RANK], index = 0;
    int k = 0;

    for (int d = value->type.rank - 1; d >= 0; d--) {
        at[d] = element % value->type.dim[d];
        element /= value->type.dim[d];
    }
    for (int d = 0; d < x->rank && node->op == OP_STRIDED_SLICE; d++)
        at[d] += node->attrs.slice.begin.at[d];
    for (; node->op == OP_SPLIT && call->outputs[k] != value; k++)
        at[node->attrs.split.axis] += node->outputs[k]->type.dim[node->attrs.split.axis];
    for (int d = 0; d < x->rank; d++)
        index = index * x->dim[d] + at[d];
    return content_of(call->inputs[0], index);
}

static struct content content_of(const struct value *value, int64_t element)
{
    const struct node *def = value->def, *concat;
    int64_t at[MAX_RANK], rest = element, index = 0;
    int axis, i = 0;

    while (def && def->op != OP_CALL) { /* a view */
        value = def->inputs[0];
        def = value->def;
    }
    concat = def ? def->callee->first : NULL;
    if (concat && def->callee->last == concat &&
        (concat->op == OP_SPLIT || concat->op == OP_STRIDED_SLICE))
        return content_of_piece(value, element);
    if (!concat || concat->op != OP_CONCATENATE || def->callee->last != concat)
        return (struct content){ value, element };
    axis = (int)concat->attrs.axis.axis;
    for (int k = value->type.rank - 1; k >= 0; k--) {
        at[k] = rest % value->type.dim[k];
        rest /= value->type.dim[k];
    }
    while (at[axis] >= concat->inputs[i]->type.dim[axis])
        at[axis] -= concat->inputs[i++]->type.dim[axis];
    for (int k = 0; k < value->type.rank; k++)
        index = index * concat->inputs[i]->type.dim[k] + at[k];
    return content_of(def->inputs[concat->inputs[i]->index], index);
}

/* Memory as the regions leave it: the arena first, then the outputs, an entry per element. */
struct memory {
    const struct codegen_result *result;
    struct content *elements;
    int64_t *output; /* where each begins */
    int n;
    int64_t *read; /* of check_overlap: by entry, what is read there, plus 1 */
};

static struct content *element_at(const struct memory *m, const struct value *value,
                                  int64_t element)
{
    const struct codegen_place *place = &m->result->places[value->id];
    const int64_t pixel = value->type.dim[value->type.rank - 1];
    const int64_t within =
        place->pixel_stride ? element / pixel * place->pixel_stride + element % pixel : element;
    const int64_t begin = place->kind == PLACE_OUTPUT ? m->output[place->index] : 0;

    /* No ck_assert for each element: Check writes a file at every one. */
    if (place->offset % 4)
        ck_abort_msg("'%s' is not aligned", value->name);
    if (place->kind != PLACE_OUTPUT && place->kind != PLACE_ARENA)
        return NULL;
    if (begin + (int64_t)place->offset / 4 + within >= m->n)
        ck_abort_msg("'%s' reaches beyond the arena", value->name);
    return &m->elements[begin + (int64_t)place->offset / 4 + within];
}

static void read_values(const struct memory *m, const struct node *call)
{
    for (int i = 0; i < call->n_inputs; i++)
        for (int64_t e = 0; e < type_elements(&call->inputs[i]->type); e++) {
            const struct content *found = element_at(m, call->inputs[i], e);
            const struct content wanted = content_of(call->inputs[i], e);

            if (found && (found->value != wanted.value || found->element != wanted.element))
                ck_abort_msg("element %d of '%s' is not where it should be", (int)e,
                             call->inputs[i]->name);
        }
}

/* --- what a result may lie over --------------------------------------------------------------- */

/* Whether all who read the parameter do so element by element, and it is as large as the result:
 * then each element is read before it is written. */
static bool is_read_in_place(const struct function *fn, const struct value *param)
{
    for (const struct use *use = param->uses; use; use = use->next)
        if (!op_is_elementwise(use->node->op) ||
            !type_same_shape(&param->type, &use->node->outputs[0]->type))
            return false;
    return type_same_shape(&param->type, &fn->ret->inputs[0]->type);
}

/* Extents of a window over rows and columns: of a convolution or a pool, channels last. */
struct extents {
    int64_t k[2], stride[2], pad[2], dil[2];
};

static struct extents extents_of(const struct node *node)
{
    const bool conv = node->op == OP_CONV2D;
    const struct conv_attrs *c = &node->attrs.conv;
    const struct pool_attrs *p = &node->attrs.pool;
    struct extents e;

    if (!conv && node->op != OP_MAX_POOL2D && node->op != OP_AVG_POOL2D)
        ck_abort_msg("a result lies over what %s reads", op_name(node->op));
    for (int d = 0; d < 2; d++) {
        const struct ints *strides = conv ? &c->strides : &p->strides;
        const struct ints *padding = conv ? &c->padding : &p->padding;
        const struct ints *dilation = conv ? &c->dilation : &p->dilation;

        e.k[d] = conv ? node->inputs[1]->type.dim[2 + d] : p->pool_size.at[d];
        e.stride[d] = strides->n ? strides->at[d] : 1;
        e.pad[d] = padding->n ? padding->at[d] : 0;
        e.dil[d] = dilation->n ? dilation->at[d] : 1;
    }
    return e;
}

/* The last position along a dim whose window covers place `at` of the input; -1 = none. */
static int64_t last_window(const struct extents *e, int d, int64_t at, int64_t n)
{
    int64_t last = -1;

    for (int64_t k = 0; k < e->k[d]; k++) {
        const int64_t from = at + e->pad[d] - k * e->dil[d];

        if (from >= 0 && from % e->stride[d] == 0 && from / e->stride[d] < n &&
            from / e->stride[d] > last)
            last = from / e->stride[d];
    }
    return last;
}

/* The element of a strided_slice that is element `read` of its input; -1 = none is. */
static int64_t slice_element(const struct node *node, int64_t read)
{
    const struct slice_attrs *slice = &node->attrs.slice;
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    int64_t element = 0, step = 1;

    for (int i = x->rank - 1; i >= 0; i--) {
        const int64_t at = read % x->dim[i] - slice->begin.at[i];

        if (at % slice->strides.at[i] || at / slice->strides.at[i] < 0 ||
            at / slice->strides.at[i] >= y->dim[i])
            return -1;
        element += at / slice->strides.at[i] * step;
        step *= y->dim[i];
        read /= x->dim[i];
    }
    return element;
}

/* Whether no window of a later position than that of result element `written` covers element `read`
 * of the input, positions being computed row by row. */
static bool window_is_read_before(const struct node *anchor, int64_t read, int64_t written)
{
    const struct type *x = &anchor->inputs[0]->type, *y = &anchor->outputs[0]->type;
    const struct extents e = extents_of(anchor);
    const int64_t pixel = read / x->dim[3];
    const int64_t row = last_window(&e, 0, pixel / x->dim[2], y->dim[1]);
    const int64_t column = last_window(&e, 1, pixel % x->dim[2], y->dim[2]);

    return x->dim[0] == 1 &&
           (row < 0 || column < 0 || row * y->dim[2] + column <= written / y->dim[3]);
}

static bool is_read_before(const struct function *fn, const struct value *param, int64_t read,
                           int64_t written)
{
    const struct node *anchor = region_anchor(fn);

    if (anchor->inputs[0] != param)
        ck_abort_msg("a result lies over '%s'", param->name);
    return anchor->op == OP_STRIDED_SLICE ? slice_element(anchor, read) <= written
                                          : window_is_read_before(anchor, read, written);
}

static bool may_overwrite(const struct codegen_region *region, int input, int64_t read,
                          int64_t written)
{
    const struct function *fn = region->call->callee;
    const struct value *param = fn->params[input];

    if (is_striped(fn) || region->call->n_outputs != 1)
        return false;
    if (read == written && is_read_in_place(fn, param))
        return true;
    return region->overlaps && is_read_before(fn, param, read, written);
}

/* The result's elements that lie where the region reads something else. */
static int check_overlap(const struct memory *m, const struct codegen_region *region, int input,
                         const struct value *result)
{
    const struct value *x = region->call->inputs[input];
    int n = 0;

    for (int64_t e = 0; e < type_elements(&x->type); e++)
        if (element_at(m, x, e))
            m->read[element_at(m, x, e) - m->elements] = e + 1;
    for (int64_t e = 0; e < type_elements(&result->type); e++) {
        const struct content *at = element_at(m, result, e);
        const int64_t read = m->read[at - m->elements] - 1;
        struct content after;

        if (read < 0)
            continue;
        after = content_of(result, e);
        if (at->value == after.value && at->element == after.element)
            continue;
        if (!may_overwrite(region, input, read, e))
            ck_abort_msg("%s: element %d of '%s' lies over element %d of '%s', which is read later",
                         region->c_name, (int)e, result->name, (int)read, x->name);
        n++;
    }
    for (int64_t e = 0; e < type_elements(&x->type); e++)
        if (element_at(m, x, e))
            m->read[element_at(m, x, e) - m->elements] = 0;
    return n;
}

/* --- the regions ------------------------------------------------------------------------------ */

static void write_values(const struct memory *m, const struct codegen_region *region,
                         struct followed *followed)
{
    const struct node *call = region->call;
    int n_over = 0;

    for (int i = 0; i < call->n_outputs; i++)
        for (int k = 0; k < call->n_inputs; k++)
            n_over += check_overlap(m, region, k, call->outputs[i]);
    for (int i = 0; i < call->n_outputs; i++)
        for (int64_t e = 0; e < type_elements(&call->outputs[i]->type); e++)
            *element_at(m, call->outputs[i], e) = content_of(call->outputs[i], e);
    followed->n_in_place += n_over && !region->overlaps;
    followed->n_overlaid += n_over && m->result->places[call->outputs[0]->id].pixel_stride;
    followed->n_overlaps += region->overlaps;
    followed->n_striped += is_striped(call->callee);
}

/* Pools lie one behind the other, with the room that each takes so. */
static struct memory memory_new(const struct module *module, const struct codegen_result *result,
                                int n_pools)
{
    const struct node *ret = module->main->ret;
    struct memory m = { .result = result, .n = n_pools ? 0 : (int)(result->arena_bytes / 4) };

    for (int p = 0; p < n_pools; p++)
        m.n += (int)(result->pool_room[p] / 4);
    m.output = arena_array(&module->ctx->perm, int64_t, ret->n_inputs);
    for (int i = 0; i < ret->n_inputs; i++) {
        m.output[i] = m.n;
        m.n += (int)type_elements(&ret->inputs[i]->type);
    }
    m.elements = arena_array(&module->ctx->perm, struct content, m.n);
    m.read = arena_array(&module->ctx->perm, int64_t, m.n);
    return m;
}

/* Inputs in the arena are there before the first region. */
static void write_inputs(const struct memory *m, const struct function *main)
{
    for (int i = 0; i < main->n_params; i++)
        for (int64_t e = 0; e < type_elements(&main->params[i]->type); e++)
            if (element_at(m, main->params[i], e))
                *element_at(m, main->params[i], e) = (struct content){ main->params[i], e };
}

struct followed follow_plan(const struct module *module, const struct codegen_result *result,
                            int n_pools)
{
    const struct memory m = memory_new(module, result, n_pools);
    struct followed followed = { 0 };

    write_inputs(&m, module->main);
    for (int r = 0; r < result->n_regions; r++) {
        read_values(&m, result->regions[r].call);
        write_values(&m, &result->regions[r], &followed);
    }
    read_values(&m, module->main->ret);
    return followed;
}
