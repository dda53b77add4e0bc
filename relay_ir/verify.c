/* verify.c - the invariants of ir.h, one check function per subject. Nothing here trusts a link
 * that has not been checked before, so that a broken graph gives a report and not a crash. */
#include "relay_ir/verify.h"

#include <stdarg.h>

#include "base/str.h"

struct verify {
    struct ctx *ctx;
    struct arena arena;          /* of one function's check */
    const struct map *functions; /* of the module, by name */
    struct function *fn;
    const char *after;
    struct value **values; /* by id; what function_number found, and nothing else is in fn */
    struct node **nodes;   /* by id, and ret behind them */
    int *first_read;       /* by node id: place of its input 0 among all inputs of fn */
    int n_reads;
    struct map not_calling; /* functions that do not lead back to fn, see calls() */
    bool ok;
};

/* Reports against a node, or against the function as a whole when node is NULL. */
static void __attribute__((format(printf, 3, 4)))
found(struct verify *v, const struct node *node, const char *format, ...)
{
    va_list args;
    const char *message;

    va_start(args, format);
    message = arena_vprintf(&v->arena, format, args);
    va_end(args);
    diag_error(v->ctx, DIAG_INTERNAL, node ? node_origin(node) : NULL,
               "the graph is broken after %s: function \"%s\": %s", v->after,
               str_safe(&v->arena, v->fn->name, 80), message);
    v->ok = false;
}

static const char *safe(struct verify *v, const char *name)
{
    return name ? str_safe(&v->arena, name, 80) : "(no name)";
}

/* A cycle shows as a node whose prev is not the node before. */
static void check_links(struct verify *v)
{
    struct node *before = NULL;

    for (struct node *n = v->fn->first; n && v->ok; before = n, n = n->next) {
        if (n->prev != before)
            found(v, n, "its link to the node before is wrong");
        if (n->fn != v->fn)
            found(v, n, "the node says that it belongs to another function");
        if (n->op < 0 || n->op >= OP_COUNT || n->op == OP_RETURN)
            found(v, NULL, "a node has operator %d", (int)n->op);
    }
    if (v->ok && v->fn->last != before)
        found(v, NULL, "the link to the last node is wrong");
    if (!v->fn->ret || v->fn->ret->op != OP_RETURN || v->fn->ret->fn != v->fn)
        found(v, NULL, "it has no return node of its own");
}

static void collect(struct verify *v)
{
    struct function *fn = v->fn;

    function_number(fn);
    v->values = arena_array(&v->arena, struct value *, fn->n_values);
    v->nodes = arena_array(&v->arena, struct node *, fn->n_nodes + 1);
    v->first_read = arena_array(&v->arena, int, fn->n_nodes + 1);
    v->n_reads = 0;
    for (int i = 0; i < fn->n_params; i++)
        v->values[fn->params[i]->id] = fn->params[i];
    for (struct value *c = fn->constants; c; c = c->next)
        v->values[c->id] = c;
    for (struct node *n = fn->first;; n = n->next) {
        n = n ? n : fn->ret;
        v->nodes[n->id] = n;
        v->first_read[n->id] = v->n_reads;
        v->n_reads += n->n_inputs;
        for (int i = 0; i < n->n_outputs; i++)
            v->values[n->outputs[i]->id] = n->outputs[i];
        if (n == fn->ret)
            break;
    }
}

static bool is_value_here(const struct verify *v, const struct value *value)
{
    return value->fn == v->fn && value->id >= 0 && value->id < v->fn->n_values &&
           v->values[value->id] == value;
}

static bool is_node_here(const struct verify *v, const struct node *node)
{
    return node->fn == v->fn && node->id >= 0 && node->id <= v->fn->n_nodes &&
           v->nodes[node->id] == node;
}

static void check_value(struct verify *v, const struct value *value, enum value_kind kind,
                        struct node *def, int index)
{
    const struct node *at = def;

    if (value->kind != kind || value->def != def ||
        (kind != VALUE_CONSTANT && value->index != index))
        found(v, at, "value \"%s\" does not say where it comes from", safe(v, value->name));
    if (!is_value_here(v, value))
        found(v, at, "value \"%s\" is in two places, or says it belongs to another function",
              safe(v, value->name));
    if (!value->name || map_get(&v->fn->names, value->name) != value)
        found(v, at, "the name \"%s\" is not that value's in the table of names",
              safe(v, value->name));
    if (value->type.dtype == DTYPE_NONE || value->type.dtype >= DTYPE_COUNT ||
        value->type.rank < 0 || value->type.rank > MAX_RANK)
        found(v, at, "value \"%s\" has no complete type", safe(v, value->name));
    else if (type_problem(&v->arena, &value->type, kind == VALUE_CONSTANT))
        found(v, at, "value \"%s\": %s", safe(v, value->name),
              type_problem(&v->arena, &value->type, kind == VALUE_CONSTANT));
}

/* Quantised values of less than 8 bits leave the bits above them alone, which are not stored in the end. */
static void check_quantized(struct verify *v, const struct value *constant)
{
    const int bits = dtype_packed_bits(constant->type.dtype);
    const bool is_signed = dtype_is_signed(constant->type.dtype);
    const uint8_t *quantized = constant->data;
    const int64_t n = quantized && bits < 8 ? type_elements(&constant->type) : 0;

    for (int64_t i = 0; i < n; i++) {
        const unsigned above = (unsigned)quantized[i] >> (bits - is_signed);
        const bool negative = is_signed && above == 0xffu >> (bits - 1);

        if (above && !negative) {
            found(v, NULL, "constant \"%s\": element %lld, 0x%02x, is no %s",
                  safe(v, constant->name), (long long)i, quantized[i],
                  dtype_name(constant->type.dtype));
            return;
        }
    }
}

static void check_values(struct verify *v)
{
    const struct function *fn = v->fn;

    for (int i = 0; i < fn->n_params; i++)
        check_value(v, fn->params[i], VALUE_PARAM, NULL, i);
    for (const struct value *c = fn->constants; c; c = c->next) {
        const size_t bytes = dtype_bytes(c->type.dtype);

        check_value(v, c, VALUE_CONSTANT, NULL, 0);
        if (!c->data || (bytes && (uintptr_t)c->data % bytes))
            found(v, NULL, "constant \"%s\" has no aligned payload", safe(v, c->name));
        check_quantized(v, c);
        if (!c->next && fn->last_constant != c)
            found(v, NULL, "the link to the last constant is wrong");
    }
    for (struct node *n = fn->first; n; n = n->next)
        for (int i = 0; i < n->n_outputs; i++)
            check_value(v, n->outputs[i], VALUE_OUTPUT, n, i);
}

static void check_arity(struct verify *v, const struct node *node)
{
    const struct op_row *row = op_row(node->op);

    if (node->n_inputs < row->least_inputs ||
        (row->most_inputs >= 0 && node->n_inputs > row->most_inputs))
        found(v, node, "%s has %d inputs", row->name, node->n_inputs);
    if (row->n_outputs >= 0 && node->n_outputs != row->n_outputs)
        found(v, node, "%s has %d outputs", row->name, node->n_outputs);
    for (int i = 0; i < node->n_inputs; i++)
        if (!node->inputs[i] && (i < row->least_inputs || node == v->fn->ret))
            found(v, node, "input %d of %s is missing", i, row->name);
}

static void check_inputs(struct verify *v, const struct node *node)
{
    check_arity(v, node);
    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *value = node->inputs[i];

        if (!value)
            continue;
        if (!is_value_here(v, value))
            found(v, node, "input %d, \"%s\", is not a value of this function", i,
                  safe(v, value->name));
        else if (value->kind == VALUE_OUTPUT && value->def && value->def->id >= node->id)
            found(v, node, "input %d, \"%s\", is read before it is computed", i,
                  safe(v, value->name));
    }
}

/* Every input of every node appears once in the uses of its value, and nothing else does. */
static void check_uses(struct verify *v)
{
    int *n_uses = arena_array(&v->arena, int, v->n_reads);

    for (int id = 0; id < v->fn->n_values; id++) {
        const struct value *value = v->values[id];
        int n = 0;

        for (const struct use *use = value->uses; use; use = use->next) {
            if (n++ > v->n_reads) {
                found(v, NULL, "the use list of \"%s\" has a cycle", safe(v, value->name));
                return;
            }
            if (!is_node_here(v, use->node) || use->input < 0 ||
                use->input >= use->node->n_inputs || use->node->inputs[use->input] != value)
                found(v, NULL, "\"%s\" has a use that is not one", safe(v, value->name));
            else
                n_uses[v->first_read[use->node->id] + use->input]++;
        }
    }
    for (int id = 0; id <= v->fn->n_nodes; id++)
        for (int i = 0; i < v->nodes[id]->n_inputs; i++)
            if (v->nodes[id]->inputs[i] && n_uses[v->first_read[id] + i] != 1)
                found(v, v->nodes[id], "input %d is listed %d times among the uses of \"%s\"", i,
                      n_uses[v->first_read[id] + i], safe(v, v->nodes[id]->inputs[i]->name));
}

/* Whether `from` calls `wanted`, at any depth. `seen`: functions that do not, by name; so every
 * function is looked at once. `left` only limits the stack: longer chains are no graphs of ours. */
static bool calls(const struct function *from, const struct function *wanted, struct map *seen,
                  int left)
{
    if (map_get(seen, from->name) || left == 0)
        return false;
    map_set(seen, from->name, (void *)(uintptr_t)from);
    for (const struct node *n = from->first; n; n = n->next)
        if (n->callee && (n->callee == wanted || calls(n->callee, wanted, seen, left - 1)))
            return true;
    return false;
}

static void check_call(struct verify *v, const struct node *node)
{
    enum { DEEPEST = 1000 };

    if ((node->op == OP_CALL) != (node->callee != NULL))
        found(v, node, "%s %s a callee", op_name(node->op), node->callee ? "has" : "lacks");
    else if (node->callee && map_get(v->functions, node->callee->name) != node->callee)
        found(v, node, "the callee is not a function of this module");
    else if (node->callee &&
             (node->callee == v->fn || calls(node->callee, v->fn, &v->not_calling, DEEPEST)))
        found(v, node, "\"%s\" is called recursively", safe(v, node->callee->name));
}

/* The types are those that inference gives; they are left as they were. */
static void check_types(struct verify *v, struct node *node)
{
    struct type *types = arena_array(&v->arena, struct type, node->n_outputs);
    const struct diags saved = diag_save(v->ctx);
    const char *message = NULL;
    bool ok;

    for (int i = 0; i < node->n_outputs; i++)
        types[i] = node->outputs[i]->type;
    ok = node_infer(v->ctx, node);
    if (v->ctx->diags.first)
        message = v->ctx->diags.first->message;
    diag_restore(v->ctx, saved);
    if (!ok)
        found(v, node, "type inference fails: %s", message ? message : "without a message");
    for (int i = 0; i < node->n_outputs; i++) {
        if (ok && !type_equal(&types[i], &node->outputs[i]->type))
            found(v, node, "\"%s\" has type %s, inference gives %s",
                  safe(v, node->outputs[i]->name), type_text(&v->arena, &types[i]),
                  type_text(&v->arena, &node->outputs[i]->type));
        node->outputs[i]->type = types[i];
    }
}

static void check_results(struct verify *v)
{
    for (int i = 0; i < v->fn->ret->n_inputs; i++)
        if (!v->fn->result_names || !v->fn->result_names[i])
            found(v, NULL, "result %d has no name", i);
}

/* Later checks rely on what earlier ones found in order. */
static bool verify_function(struct verify *v)
{
    v->ok = true;
    check_links(v);
    if (!v->ok)
        return false;
    collect(v);
    check_values(v);
    if (!v->ok)
        return false;
    for (int id = 0; id <= v->fn->n_nodes; id++)
        check_inputs(v, v->nodes[id]);
    check_uses(v);
    v->not_calling.arena = &v->arena;
    for (struct node *n = v->fn->first; n; n = n->next)
        check_call(v, n);
    check_results(v);
    for (struct node *n = v->fn->first; n && v->ok; n = n->next)
        check_types(v, n);
    return v->ok;
}

bool module_verify(struct module *module, const char *after)
{
    struct arena arena = { NULL };
    struct map functions = { .arena = &arena };
    bool ok = true;

    if (module->functions != module->main)
        ok = diag_error(module->ctx, DIAG_INTERNAL, NULL,
                        "the graph is broken after %s: main is not the first function", after);
    for (struct function *fn = module->functions; fn; fn = fn->next) {
        if (map_get(&functions, fn->name))
            ok = diag_error(module->ctx, DIAG_INTERNAL, NULL,
                            "the graph is broken after %s: two functions are called \"%s\"", after,
                            str_safe(&arena, fn->name, 80));
        map_set(&functions, fn->name, fn);
    }
    for (struct function *fn = module->functions; fn; fn = fn->next) {
        struct verify v = { .ctx = module->ctx, .functions = &functions, .fn = fn, .after = after };

        ok = verify_function(&v) && ok;
        arena_release(&v.arena);
    }
    arena_release(&arena);
    return ok;
}
