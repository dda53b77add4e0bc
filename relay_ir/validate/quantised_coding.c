/* quantised_coding.c - whether a step only stores values small: by induction over the graph, each
 * value is one of before, behind quantize and dequantize or not. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/validate/code_grid.h"
#include "relay_ir/validate/quantised.h"
#include "relay_ir/validate/stored.h"

/* What a value is but for the rounding. */
struct meaning {
    const char *name;           /* of the value before; NULL = a constant */
    struct tensor constant;     /* as it is now */
    const struct node *coder;   /* it is stored numbers, made by this quantize or cast */
    const struct node *decoder; /* it is a constant's real numbers, made by this node */
};

struct coding {
    struct ctx *ctx;
    const struct snapshot *was;
    const char *step;
    struct meaning *meanings; /* by value id */
};

static bool refuse(const struct coding *c, const struct node *node, const char *what, int input)
{
    const char *value = node->op == OP_RETURN ? "the results" : node->outputs[0]->name;

    return diag_error(c->ctx, DIAG_MEANING, node->op == OP_RETURN ? NULL : node->origin,
                      "%s changes more than what is stored: \"%s\" (%s) %s%s", c->step,
                      str_safe(&c->ctx->perm, value, 120), op_name(node->op), what,
                      input < 0 ? "" : arena_printf(&c->ctx->perm, " as input %d", input));
}

/* --- nodes of before -------------------------------------------------------------------------- */

static bool is_view(enum op op)
{
    return op_row(op)->pattern == PATTERN_VIEW;
}

/* Of views that are alike the first. */
static const char *first_alike(const struct snapshot *was, const char *name)
{
    const struct was_node *view = snapshot_find(was, name);
    const char *viewed;

    if (!view || !is_view(view->op) || view->n_inputs != 1 || !view->inputs[0].name)
        return name;
    viewed = first_alike(was, view->inputs[0].name);
    for (int i = 0; i < was->n_nodes; i++) {
        const struct was_node *other = &was->nodes[i];

        if (other == view)
            break;
        if (other->op == view->op && strcmp(other->attrs, view->attrs) == 0 &&
            other->inputs[0].name && strcmp(first_alike(was, other->inputs[0].name), viewed) == 0)
            return other->outputs[0];
    }
    return name;
}

static bool is_same_value(const struct coding *c, const char *a, const char *b)
{
    return strcmp(a, b) == 0 || strcmp(first_alike(c->was, a), first_alike(c->was, b)) == 0;
}

/* Each weight is the nearest number of its format: rounding the f32 product of number and scale,
 * and the quotient before, take two units in the last place. */
static bool is_nearest(const struct node *decoder, const struct tensor *weight)
{
    const struct tensor quantized = value_tensor(decoder->inputs[0]);
    struct code_grid grid;

    if (!code_grid_of(&quantized.type, &grid) || !type_same_shape(&quantized.type, &weight->type))
        return false;
    for (int64_t i = 0; i < type_elements(&quantized.type); i++) {
        const double scale = stored_scale(decoder, i), x = tensor_at(weight, i) / scale;
        const double apart = fabs(stored_code(&quantized, i) - stored_zero(decoder, i) - x);

        if (!(scale > 0) || !(apart <= code_grid_distance(&grid, x) + 0x1p-22 * fabs(x)))
            return false;
    }
    return true;
}

static bool check_input(const struct coding *c, const struct was_node *was, const struct node *node,
                        int i)
{
    const struct was_input *input = &was->inputs[i];
    const struct value *value = node->inputs[i];
    const struct meaning *m = value ? &c->meanings[value->id] : NULL;

    if (!m)
        return was_read(was, i, NULL) || refuse(c, node, "lacks what it read", i);
    if (m->coder)
        return refuse(c, node, "reads stored numbers as real ones", i);
    if (m->name)
        return (input->name && is_same_value(c, m->name, input->name)) ||
               refuse(c, node, "reads another value", i);
    if (m->decoder && input->constant.data)
        return is_nearest(m->decoder, &input->constant) ||
               refuse(c, node, "reads a weight that is not the nearest in its format", i);
    return (input->constant.data && type_same_storage(&m->constant.type, &input->constant.type) &&
            tensor_equal(&m->constant, &input->constant)) ||
           refuse(c, node, "reads another constant", i);
}

static bool check_node(const struct coding *c, const struct was_node *was, const struct node *node)
{
    if (!was_alike(was, node))
        return refuse(c, node, "is computed in another way", -1);
    for (int i = 0; i < node->n_inputs; i++)
        if (!check_input(c, was, node, i))
            return false;
    for (int i = 0; i < node->n_outputs; i++)
        c->meanings[node->outputs[i]->id] = (struct meaning){ .name = was->outputs[i] };
    return true;
}

/* --- nodes of the step ------------------------------------------------------------------------ */

static bool is_equal_constant(const struct value *a, const struct value *b)
{
    struct tensor x, y;

    if (a == b)
        return true;
    if (!a || !b || a->kind != VALUE_CONSTANT || b->kind != VALUE_CONSTANT)
        return false;
    x = value_tensor(a);
    y = value_tensor(b);
    return tensor_equal(&x, &y);
}

/* Undoes what the coder did. */
static bool is_inverse(const struct node *coder, const struct node *node)
{
    if (coder->op == OP_CAST)
        return node->op == OP_CAST && stored_is_decoder(node);
    return node->op == OP_QNN_DEQUANTIZE && is_equal_constant(coder->inputs[1], node->inputs[1]) &&
           is_equal_constant(coder->inputs[2], node->inputs[2]);
}

/* The view of before that this one is of stored numbers; NULL = there is none. */
static const char *viewed_before(const struct coding *c, const struct node *node, const char *name)
{
    for (int i = 0; i < c->was->n_nodes; i++) {
        const struct was_node *was = &c->was->nodes[i];

        if (was->n_inputs == 1 && was->inputs[0].name && was_alike(was, node) &&
            is_same_value(c, was->inputs[0].name, name))
            return was->outputs[0];
    }
    return NULL;
}

static bool has_scale(const struct node *node)
{
    const struct value *scale = node->inputs[1];
    struct tensor numbers;

    if (!scale || scale->kind != VALUE_CONSTANT)
        return false;
    numbers = value_tensor(scale);
    for (int64_t i = 0; i < type_elements(&numbers.type); i++)
        if (!(tensor_at(&numbers, i) > 0) || !isfinite(tensor_at(&numbers, i)))
            return false;
    return true;
}

static bool check_new(const struct coding *c, const struct node *node)
{
    const struct meaning m = c->meanings[node->inputs[0] ? node->inputs[0]->id : 0];
    struct meaning *out = &c->meanings[node->outputs[0]->id];

    *out = m;
    if (!node->inputs[0] || node->n_outputs != 1)
        return refuse(c, node, "is a new computation", -1);
    if ((node->op == OP_QNN_QUANTIZE || node->op == OP_QNN_DEQUANTIZE) && !has_scale(node))
        return refuse(c, node, "has no scale that is positive and finite", -1);
    if (is_view(node->op) && m.coder && m.name) {
        out->name = viewed_before(c, node, m.name);
        return out->name || refuse(c, node, "is a view that was not there", -1);
    }
    if (m.coder) {
        out->coder = NULL;
        return is_inverse(m.coder, node) || refuse(c, node, "is not what it was stored from", -1);
    }
    if (stored_is_decoder(node) && !m.name && !m.decoder) {
        out->decoder = node;
        return true;
    }
    out->coder = node;
    return node->op == OP_QNN_QUANTIZE || node->op == OP_CAST ||
           refuse(c, node, "is a new computation", -1);
}

bool quantised_is_coding(struct ctx *ctx, const struct snapshot *was, struct function *fn,
                         const char *step)
{
    struct arena arena = { NULL };
    struct coding c = { ctx, was, step, NULL };
    bool ok = true;

    function_number(fn);
    c.meanings = arena_array(&arena, struct meaning, fn->n_values);
    for (int i = 0; i < fn->n_params; i++)
        c.meanings[fn->params[i]->id].name = fn->params[i]->name;
    for (const struct value *v = fn->constants; v; v = v->next)
        c.meanings[v->id].constant = value_tensor(v);
    for (const struct node *node = fn->first; node && ok; node = node->next) {
        const struct was_node *before = snapshot_find(was, node->outputs[0]->name);

        ok = before ? check_node(&c, before, node) : check_new(&c, node);
    }
    ok = ok && check_node(&c, &was->nodes[was->n_nodes - 1], fn->ret);
    arena_release(&arena);
    return ok;
}
