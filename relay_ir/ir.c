#include "relay_ir/ir.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"

struct module *module_new(struct ctx *ctx)
{
    struct arena arena = { NULL };
    struct module *module = arena_new(&arena, struct module);

    module->arena = arena; /* the module lives in its own arena */
    module->ctx = ctx;
    module->producer = "";
    module->fired.arena = &module->arena;
    module->imported.arena = &module->arena;
    module->format = "ONNX";
    module->main = function_new(module, "main");
    return module;
}

void module_free(struct module *module)
{
    struct arena arena;

    if (!module)
        return;
    bulk_release(&module->bulk);
    if (module->free_source)
        module->free_source(module->source);
    arena = module->arena;
    arena_release(&arena);
}

struct function *function_new(struct module *module, const char *name)
{
    struct function *fn = arena_new(&module->arena, struct function);

    fn->module = module;
    fn->name = arena_strdup(&module->arena, name);
    fn->ret = arena_new(&module->arena, struct node);
    fn->ret->op = OP_RETURN;
    fn->ret->fn = fn;
    fn->names.arena = &module->arena;
    *(module->last_function ? &module->last_function->next : &module->functions) = fn;
    module->last_function = fn;
    return fn;
}

bool function_is_region(const struct function *fn)
{
    return fn->compiler && fn != fn->module->main;
}

/* Whether STEM_NUMBER, written to `name`, is taken. */
static bool is_taken(const struct function *fn, const char *stem, int number, char *name,
                     size_t size)
{
    snprintf(name, size, "%s_%d", stem, number);
    return map_get(&fn->names, name) != NULL;
}

/* A free one of NAME_2, NAME_3 ... found by doubling and halving: a graph may use one name a
 * hundred thousand times. It is the first free one as long as there are no gaps. */
const char *function_unique_name(struct function *fn, const char *name)
{
    struct arena *arena = &fn->module->arena;
    const char *const stem = *name ? name : "value";
    const size_t size = strlen(stem) + sizeof "_2147483647";
    int taken = 1, available = 2;
    char *unique;

    if (!map_get(&fn->names, stem))
        return arena_strdup(arena, stem);
    unique = arena_alloc(arena, size);
    while (is_taken(fn, stem, available, unique, size)) {
        taken = available;
        available *= 2;
    }
    while (available - taken > 1) {
        const int middle = taken + (available - taken) / 2;

        if (is_taken(fn, stem, middle, unique, size))
            taken = middle;
        else
            available = middle;
    }
    snprintf(unique, size, "%s_%d", stem, available);
    return unique;
}

static struct value *value_new(struct function *fn, enum value_kind kind, const char *name)
{
    struct value *value = arena_new(&fn->module->arena, struct value);

    value->kind = kind;
    value->fn = fn;
    value->name = function_unique_name(fn, name);
    map_set(&fn->names, value->name, value);
    return value;
}

struct value *param_new(struct function *fn, const char *name, const struct type *type)
{
    struct value *value = value_new(fn, VALUE_PARAM, name);
    const int n = fn->n_params;

    if ((n & (n - 1)) == 0) { /* full: 0, 1, 2, 4, 8 ... */
        struct value **params = arena_array(&fn->module->arena, struct value *, n ? 2 * n : 1);

        if (n)
            memcpy(params, fn->params, (size_t)n * sizeof *params);
        fn->params = params;
    }
    fn->params[n] = value;
    value->type = *type;
    value->index = fn->n_params++;
    return value;
}

struct value *constant_new(struct function *fn, const char *name, const struct type *type,
                           const void *data)
{
    struct value *value = value_new(fn, VALUE_CONSTANT, name);

    assert((uintptr_t)data % (dtype_bytes(type->dtype) ? dtype_bytes(type->dtype) : 1) == 0);
    value->type = *type;
    value->data = data;
    if (fn->last_constant)
        fn->last_constant->next = value;
    else
        fn->constants = value;
    fn->last_constant = value;
    return value;
}

void *constant_alloc(struct function *fn, const struct type *type)
{
    return bulk_alloc(&fn->module->bulk, type_bytes(type));
}

static void use_link(struct use *use, struct value *value)
{
    use->next = value->uses;
    use->link = &value->uses;
    if (use->next)
        use->next->link = &use->next;
    value->uses = use;
}

static void use_add(struct node *node, int input, struct value *value)
{
    struct use *use;

    if (!value)
        return;
    use = arena_new(&node->fn->module->arena, struct use);
    use->node = node;
    use->input = input;
    node->uses[input] = use;
    use_link(use, value);
}

static void use_drop(struct node *node, int input)
{
    struct use *use = node->uses[input];

    if (!use)
        return;
    *use->link = use->next;
    if (use->next)
        use->next->link = use->link;
    node->uses[input] = NULL;
}

void node_set_input(struct node *node, int input, struct value *value)
{
    use_drop(node, input);
    node->inputs[input] = value;
    use_add(node, input, value);
}

void node_set_inputs(struct node *node, int n_inputs, struct value *const *inputs)
{
    struct value **copy = arena_array(&node->fn->module->arena, struct value *, n_inputs);

    if (n_inputs)
        memcpy(copy, inputs, (size_t)n_inputs * sizeof *copy);
    for (int i = 0; i < node->n_inputs; i++)
        use_drop(node, i);
    node->inputs = copy;
    node->uses = arena_array(&node->fn->module->arena, struct use *, n_inputs);
    node->n_inputs = n_inputs;
    for (int i = 0; i < n_inputs; i++)
        use_add(node, i, copy[i]);
}

static void unlink_node(struct node *node)
{
    struct function *fn = node->fn;

    *(node->prev ? &node->prev->next : &fn->first) = node->next;
    *(node->next ? &node->next->prev : &fn->last) = node->prev;
    node->prev = node->next = NULL;
}

static void link_node(struct node *node, struct node *before)
{
    struct function *fn = node->fn;

    node->next = before;
    node->prev = before ? before->prev : fn->last;
    *(node->prev ? &node->prev->next : &fn->first) = node;
    *(before ? &before->prev : &fn->last) = node;
}

void node_move_before(struct node *node, struct node *before)
{
    unlink_node(node);
    link_node(node, before);
}

void node_remove(struct node *node)
{
    for (int i = 0; i < node->n_outputs; i++) {
        assert(!node->outputs[i]->uses);
        /* The name becomes free for the value that replaces it. */
        if (map_get(&node->fn->names, node->outputs[i]->name) == node->outputs[i])
            map_set(&node->fn->names, node->outputs[i]->name, NULL);
    }
    for (int i = 0; i < node->n_inputs; i++)
        use_drop(node, i);
    unlink_node(node);
}

/* Words default to "" so that no one needs to test for NULL. */
static void complete_attrs(struct node *node)
{
    const struct attr_schema *schema = attrs_schema(op_row(node->op)->attrs);

    for (int i = 0; i < schema->n_fields; i++)
        if (schema->fields[i].kind == ATTR_WORD) {
            const char **word = (const char **)((char *)&node->attrs + schema->fields[i].offset);

            *word = *word ? *word : "";
        }
}

struct node *node_new(struct function *fn, const struct node_args *args)
{
    struct arena *arena = &fn->module->arena;
    const struct op_row *row = op_row(args->op);
    struct node *node = arena_new(arena, struct node);

    node->op = args->op;
    node->fn = fn;
    node->origin = args->origin;
    node->callee = args->callee;
    if (args->attrs)
        node->attrs = *args->attrs;
    complete_attrs(node);
    node->n_outputs = args->n_outputs ? args->n_outputs : row->n_outputs;
    assert(node->n_outputs >= 0 && (row->n_outputs < 0 || node->n_outputs == row->n_outputs));
    node->outputs = arena_array(arena, struct value *, node->n_outputs);
    for (int i = 0; i < node->n_outputs; i++) {
        node->outputs[i] = value_new(fn, VALUE_OUTPUT, args->names ? args->names[i] : row->name);
        node->outputs[i]->def = node;
        node->outputs[i]->index = i;
    }
    fn->module->n_made++;
    fn->module->chooses = fn->module->chooses || args->op == OP_IF;
    fn->module->n_made_operands += args->n_inputs + node->n_outputs;
    node_set_inputs(node, args->n_inputs, args->inputs);
    link_node(node, args->before);
    if (node_infer(fn->module->ctx, node))
        return node;
    node_remove(node);
    return NULL;
}

struct value *build(struct function *fn, enum op op, const union attrs *attrs, const char *name,
                    const struct origin *origin, struct node *before, int n_inputs,
                    struct value *const *inputs)
{
    struct node *node = node_new(fn, &(struct node_args){ .op = op,
                                                          .n_inputs = n_inputs,
                                                          .inputs = inputs,
                                                          .names = &name,
                                                          .attrs = attrs,
                                                          .origin = origin,
                                                          .before = before });

    return node ? node->outputs[0] : NULL;
}

void value_replace(struct value *from, struct value *to)
{
    /* A constant tells its readers more: scales and zero points are a part of their types. */
    const bool anew = !type_equal(&from->type, &to->type) ||
                      (to->kind == VALUE_CONSTANT && from->kind != VALUE_CONSTANT);

    assert(from != to);
    while (from->uses) {
        struct use *use = from->uses;

        from->uses = use->next;
        use->node->inputs[use->input] = to;
        use_link(use, to);
    }
    if (anew && type_same_shape(&from->type, &to->type) && from->type.dtype == to->type.dtype)
        infer_readers(to);
}

void value_take_name(struct value *to, struct value *from)
{
    const char *const name = from->name;
    struct function *fn = from->fn;

    map_set(&fn->names, to->name, NULL);
    map_set(&fn->names, name, to);
    to->name = name;
    from->name = function_unique_name(fn, name);
    map_set(&fn->names, from->name, from);
}

void value_rename(struct value *value, const char *name)
{
    struct function *fn = value->fn;

    map_set(&fn->names, value->name, NULL);
    value->name = function_unique_name(fn, name);
    map_set(&fn->names, value->name, value);
}

void value_swap_names(struct value *a, struct value *b)
{
    const char *const name = a->name;

    a->name = b->name;
    b->name = name;
    map_set(&a->fn->names, a->name, a);
    map_set(&a->fn->names, b->name, b);
}

void value_keep_calibration(const struct value *from, struct value *to)
{
    if (from->type.quant && from->type.quant->kind == QTYPE_CALIBRATED && !to->type.quant &&
        from->type.dtype == to->type.dtype && to->kind != VALUE_CONSTANT)
        to->type.quant = from->type.quant;
}

void value_supplant(struct value *from, struct value *to)
{
    value_keep_calibration(from, to);
    value_replace(from, to);
    value_take_name(to, from);
}

void results_set(struct function *fn, int n, struct value *const *values, const char *const *names)
{
    struct arena *arena = &fn->module->arena;
    const char **copies = arena_array(arena, const char *, n);

    for (int i = 0; i < n; i++)
        copies[i] = arena_strdup(arena, names[i]);
    fn->result_names = copies;
    node_set_inputs(fn->ret, n, values);
}

void result_add(struct function *fn, struct value *value, const char *name)
{
    struct arena *arena = &fn->module->arena;
    const int n = fn->ret->n_inputs;
    struct value **results = arena_array(arena, struct value *, n + 1);
    const char **names = arena_array(arena, const char *, n + 1);

    for (int i = 0; i < n; i++) {
        results[i] = fn->ret->inputs[i];
        names[i] = fn->result_names[i];
    }
    results[n] = value;
    names[n] = arena_strdup(arena, name);
    fn->result_names = names;
    node_set_inputs(fn->ret, n + 1, results);
}

int value_n_uses(const struct value *value)
{
    int n = 0;

    for (const struct use *use = value->uses; use; use = use->next)
        n++;
    return n;
}

bool value_is_result(const struct value *value)
{
    for (const struct use *use = value->uses; use; use = use->next)
        if (use->node->op == OP_RETURN)
            return true;
    return false;
}

struct node *value_only_user(const struct value *value)
{
    if (!value->uses || value->uses->next || value->uses->node->op == OP_RETURN)
        return NULL;
    return value->uses->node;
}

struct tensor value_tensor(const struct value *value)
{
    assert(value->kind == VALUE_CONSTANT);
    return (struct tensor){ value->type, (void *)(uintptr_t)value->data };
}

bool value_uniform(const struct value *value, double *number)
{
    const enum dtype dtype = value->type.dtype;
    const int64_t n = value->kind == VALUE_CONSTANT ? type_elements(&value->type) : 0;
    const int64_t exact = (int64_t)1 << 53; /* whole numbers up to here are doubles */
    int64_t first;

    if (n == 0 || dtype_kind(dtype) == KIND_MINIFLOAT || dtype_kind(dtype) == KIND_NIBBLE ||
        dtype_kind(dtype) == KIND_EXPONENT)
        return false;
    *number = dtype_load(dtype, value->data, 0);
    if (dtype_is_float(dtype)) {
        for (int64_t i = 1; i < n; i++)
            if (dtype_load(dtype, value->data, i) != *number)
                return false;
        return true;
    }
    first = dtype_load_int(dtype, value->data, 0);
    if (first > exact || first < (dtype == DTYPE_U64 ? 0 : -exact))
        return false;
    for (int64_t i = 1; i < n; i++)
        if (dtype_load_int(dtype, value->data, i) != first)
            return false;
    return true;
}

void function_number(struct function *fn)
{
    fn->n_values = fn->n_nodes = 0;
    for (int i = 0; i < fn->n_params; i++)
        fn->params[i]->id = fn->n_values++;
    for (struct value *v = fn->constants; v; v = v->next)
        v->id = fn->n_values++;
    for (struct node *n = fn->first; n; n = n->next) {
        n->id = fn->n_nodes++;
        for (int i = 0; i < n->n_outputs; i++)
            n->outputs[i]->id = fn->n_values++;
    }
    fn->ret->id = fn->n_nodes;
}
