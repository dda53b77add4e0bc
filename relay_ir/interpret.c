#include "relay_ir/interpret.h"

#include <assert.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "relay_ir/macs.h"

/* How to run: also through calls. */
struct how {
    const struct observer *observer;
    const struct other_evaluator *other; /* asked first; NULL = none */
};

/* One execution of a function. Arrays are indexed by value id. */
struct run {
    struct ctx *ctx;
    struct function *fn;
    struct arena arena;
    struct tensor *tensors;
    int *n_reads;     /* reads that are still to come; those by ret never happen */
    int *result_at;   /* first place among the results, -1 = none */
    struct bulk *own; /* the payload of a value that is no result */
};

static bool run_function(struct ctx *ctx, struct function *fn, const struct tensor *inputs,
                         struct tensor *outputs, struct bulk *const *owners, const struct how *how);

static struct tensor tensor_copy(struct bulk *bulk, const struct tensor *from)
{
    const struct tensor to = tensor_new(bulk, &from->type);

    memcpy(to.data, from->data, type_bytes(&from->type));
    return to;
}

/* Output i of the node is allocated in owners[i]. */
static bool evaluate(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *outputs, struct bulk *const *owners, const struct how *how)
{
    const bool silent = how->observer && !how->observer->inside_regions;
    struct arena arena = { NULL };
    struct how inside = { silent ? NULL : how->observer, how->other };
    struct tensor *arguments;
    bool ok;

    if (node->op != OP_CALL) {
        for (int i = 0; i < node->n_outputs; i++)
            outputs[i] = tensor_new(owners[i], &node->outputs[i]->type);
        if (how->other && how->other->evaluate(how->other->user, node, in, outputs))
            return true;
        return op_row(node->op)->evaluate(ctx, node, in, outputs);
    }
    arguments = arena_array(&arena, struct tensor, node->n_inputs);
    for (int i = 0; i < node->n_inputs; i++)
        arguments[i] = *in[i];
    ok = run_function(ctx, node->callee, arguments, outputs, owners, &inside);
    arena_release(&arena);
    return ok;
}

static void run_begin(struct run *run, const struct tensor *inputs)
{
    struct function *fn = run->fn;

    function_number(fn);
    run->tensors = arena_array(&run->arena, struct tensor, fn->n_values);
    run->n_reads = arena_array(&run->arena, int, fn->n_values);
    run->result_at = arena_array(&run->arena, int, fn->n_values);
    run->own = arena_array(&run->arena, struct bulk, fn->n_values);
    for (int i = 0; i < fn->n_values; i++)
        run->result_at[i] = -1;
    for (int i = fn->ret->n_inputs - 1; i >= 0; i--)
        run->result_at[fn->ret->inputs[i]->id] = i;
    for (const struct node *n = fn->first; n; n = n->next)
        for (int i = 0; i < n->n_inputs; i++)
            if (n->inputs[i])
                run->n_reads[n->inputs[i]->id]++;
    for (const struct value *v = fn->constants; v; v = v->next)
        run->tensors[v->id] = value_tensor(v);
    for (int i = 0; i < fn->n_params; i++) {
        assert(type_same_shape(&inputs[i].type, &fn->params[i]->type));
        assert(inputs[i].type.dtype == fn->params[i]->type.dtype);
        run->tensors[fn->params[i]->id] = inputs[i];
    }
}

static void run_end(struct run *run)
{
    for (int i = 0; i < run->fn->n_values; i++)
        bulk_release(&run->own[i]);
    arena_release(&run->arena);
}

static void forget_if_dead(struct run *run, const struct value *value)
{
    if (run->n_reads[value->id] == 0)
        bulk_release(&run->own[value->id]);
}

static bool run_node(struct run *run, const struct node *node, struct bulk *const *result_owners,
                     const struct how *how)
{
    const struct tensor **in = arena_array(&run->arena, const struct tensor *, node->n_inputs);
    struct tensor *out = arena_array(&run->arena, struct tensor, node->n_outputs);
    struct bulk **owners = arena_array(&run->arena, struct bulk *, node->n_outputs);
    bool ok;

    for (int i = 0; i < node->n_inputs; i++)
        in[i] = node->inputs[i] ? &run->tensors[node->inputs[i]->id] : NULL;
    for (int i = 0; i < node->n_outputs; i++) {
        const int id = node->outputs[i]->id;

        owners[i] = run->result_at[id] >= 0 ? result_owners[run->result_at[id]] : &run->own[id];
    }
    ok = evaluate(run->ctx, node, in, out, owners, how);
    for (int i = 0; i < node->n_outputs && ok; i++) {
        run->tensors[node->outputs[i]->id] = out[i];
        if (how->observer)
            how->observer->see(how->observer->user, node->outputs[i], &out[i]);
        forget_if_dead(run, node->outputs[i]);
    }
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i]) {
            run->n_reads[node->inputs[i]->id]--;
            forget_if_dead(run, node->inputs[i]);
        }
    return ok;
}

/* Result i is allocated in owners[i]. */
static bool run_function(struct ctx *ctx, struct function *fn, const struct tensor *inputs,
                         struct tensor *outputs, struct bulk *const *owners, const struct how *how)
{
    struct run run = { .ctx = ctx, .fn = fn };
    bool ok = true;

    run_begin(&run, inputs);
    for (const struct node *n = fn->first; n && ok; n = n->next)
        ok = run_node(&run, n, owners, how);
    for (int i = 0; i < fn->ret->n_inputs && ok; i++) {
        const struct value *value = fn->ret->inputs[i];

        /* Each result has a payload of its own, also when one value is returned twice. */
        if (value->kind == VALUE_OUTPUT && run.result_at[value->id] == i)
            outputs[i] = run.tensors[value->id];
        else
            outputs[i] = tensor_copy(owners[i], &run.tensors[value->id]);
    }
    run_end(&run);
    return ok;
}

/* n times the same owner. */
static struct bulk **repeat(struct arena *arena, int n, struct bulk *bulk)
{
    struct bulk **owners = arena_array(arena, struct bulk *, n);

    for (int i = 0; i < n; i++)
        owners[i] = bulk;
    return owners;
}

bool interpret_by(struct ctx *ctx, struct function *fn, const struct tensor *inputs,
                  struct tensor *outputs, struct bulk *bulk, const struct observer *observer,
                  const struct other_evaluator *other)
{
    struct arena arena = { NULL };
    const struct how how = { observer, other };
    const bool ok =
        run_function(ctx, fn, inputs, outputs, repeat(&arena, fn->ret->n_inputs, bulk), &how);

    arena_release(&arena);
    return ok;
}

bool interpret(struct ctx *ctx, struct function *fn, const struct tensor *inputs,
               struct tensor *outputs, struct bulk *bulk, const struct observer *observer)
{
    return interpret_by(ctx, fn, inputs, outputs, bulk, observer, NULL);
}

bool interpret_node(struct ctx *ctx, const struct node *node, const struct tensor *const *inputs,
                    struct tensor *outputs, struct bulk *bulk)
{
    struct arena arena = { NULL };
    const struct how how = { NULL, NULL };
    const bool ok =
        evaluate(ctx, node, inputs, outputs, repeat(&arena, node->n_outputs, bulk), &how);

    arena_release(&arena);
    return ok;
}

/* --- values known at compile time ------------------------------------------------------------- */

/* No intermediate result of interpret_constant has more elements than this (or max_elements, where
 * that is more): computing a shape must not cost what running the network costs. */
enum { INTERMEDIATE_ELEMENTS = 1 << 24 };

/* The search behind one value. A stack of its own instead of recursion: the graph may be as deep as
 * the model has nodes. Each node is evaluated once, however many paths lead to it. */
struct search {
    struct ctx *ctx;
    struct arena arena;
    struct bulk bulk;
    int64_t max_elements;
    bool counted;            /* by the limits on constants … */
    const struct node *over; /* … which this node goes beyond */
    struct map known;        /* value name -> struct tensor *, of one function */
    struct frame *top;
};

struct frame {
    const struct node *node;
    int next_input;
    struct frame *below;
};

static bool small_enough(const struct search *search, const struct node *node)
{
    for (int i = 0; i < node->n_outputs; i++)
        if (type_elements(&node->outputs[i]->type) > search->max_elements)
            return false;
    return true;
}

/* Makes the value known, or puts its node on the stack. False when it cannot become known. */
static bool want(struct search *search, const struct value *value)
{
    struct frame *frame;
    struct tensor *tensor;

    if (!value || map_get(&search->known, value->name))
        return true;
    if (value->kind == VALUE_PARAM)
        return false;
    if (value->kind == VALUE_CONSTANT) {
        tensor = arena_new(&search->arena, struct tensor);
        *tensor = value_tensor(value);
        map_set(&search->known, value->name, tensor);
        return true;
    }
    if (value->def->op == OP_CUSTOM || !small_enough(search, value->def))
        return false;
    frame = arena_new(&search->arena, struct frame);
    frame->node = value->def;
    frame->below = search->top;
    search->top = frame;
    return true;
}

/* The limits on constants hold for what lies on the way to a shape, too. */
static bool is_granted(struct search *search, const struct node *node)
{
    double bytes = (double)search->bulk.bytes;

    for (int i = 0; i < node->n_outputs; i++)
        bytes += (double)type_bytes(&node->outputs[i]->type);
    return limit_spend(search->ctx, node->origin, node_work(node)) &&
           constants_fit(node->fn->module, bytes, node->origin);
}

static bool evaluate_known(struct search *search, const struct node *node)
{
    const struct how how = { NULL, NULL };
    const struct tensor **in = arena_array(&search->arena, const struct tensor *, node->n_inputs);
    struct tensor *out = arena_array(&search->arena, struct tensor, node->n_outputs);

    for (int i = 0; i < node->n_inputs; i++)
        in[i] = node->inputs[i] ? map_get(&search->known, node->inputs[i]->name) : NULL;
    if (search->counted && !is_granted(search, node)) {
        search->over = node;
        return false;
    }
    if (!evaluate(search->ctx, node, in, out,
                  repeat(&search->arena, node->n_outputs, &search->bulk), &how))
        return false;
    for (int i = 0; i < node->n_outputs; i++)
        map_set(&search->known, node->outputs[i]->name, &out[i]);
    return true;
}

static bool search_run(struct search *search, const struct value *value)
{
    if (!want(search, value))
        return false;
    while (search->top) {
        struct frame *frame = search->top;

        if (frame->next_input < frame->node->n_inputs) {
            if (!want(search, frame->node->inputs[frame->next_input++]))
                return false;
            continue;
        }
        search->top = frame->below;
        if (!evaluate_known(search, frame->node))
            return false;
    }
    return true;
}

static bool find_constant(struct ctx *ctx, const struct value *value, int64_t max_elements,
                          bool counted, struct bulk *bulk, struct tensor *out)
{
    struct search search = { .ctx = ctx,
                             .counted = counted,
                             .max_elements = max_elements > INTERMEDIATE_ELEMENTS
                                                 ? max_elements
                                                 : INTERMEDIATE_ELEMENTS };
    struct diags saved;
    bool ok;

    if (type_elements(&value->type) > max_elements)
        return false;
    if (value->kind == VALUE_CONSTANT) {
        *out = value_tensor(value);
        return true;
    }
    search.known.arena = &search.arena;
    saved = diag_save(ctx);
    ok = search_run(&search, value);
    diag_restore(ctx, saved);
    if (search.over)
        is_granted(&search, search.over); /* once more, for its error */
    if (ok)
        *out = tensor_copy(bulk, map_get(&search.known, value->name));
    bulk_release(&search.bulk);
    arena_release(&search.arena);
    return ok;
}

bool interpret_constant(struct ctx *ctx, const struct value *value, int64_t max_elements,
                        struct bulk *bulk, struct tensor *out)
{
    return find_constant(ctx, value, max_elements, false, bulk, out);
}

bool interpret_within_limits(struct ctx *ctx, const struct value *value, int64_t max_elements,
                             struct bulk *bulk, struct tensor *out)
{
    return find_constant(ctx, value, max_elements, true, bulk, out);
}

bool interpret_check_inputs(struct ctx *ctx, const struct function *fn, int n_inputs,
                            const struct tensor *inputs)
{
    bool ok = true;

    if (n_inputs != fn->n_params)
        ok = diag_error(ctx, DIAG_INPUT_MISMATCH, NULL, "%d input tensors are given, expected %d",
                        n_inputs, fn->n_params);
    for (int i = 0; i < fn->n_params && i < n_inputs; i++) {
        const struct type *found = &inputs[i].type, *wanted = &fn->params[i]->type;

        if (found->dtype != wanted->dtype || !type_same_shape(found, wanted))
            ok = diag_error(ctx, DIAG_INPUT_MISMATCH, NULL, "input \"%s\" is %s, expected %s",
                            str_safe(&ctx->perm, fn->params[i]->name, 80),
                            type_text(&ctx->perm, found), type_text(&ctx->perm, wanted));
    }
    return ok;
}
