/* convert_state.c - what a network keeps from one run to the next: resource variables (VAR_HANDLE, READ_VARIABLE,
 * ASSIGN_VARIABLE, and CALL_ONCE, whose subgraph gives them their first contents) and variable tensors.
 *
 * Each becomes a parameter of main and a result, which is the parameter of the next run (relay_ir/state.h). In between
 * it is a name for a value: the parameter, until it is assigned another. */
#include <string.h>

#include "base/str.h"
#include "frontend/tflite/convert.h"
#include "relay_ir/state.h"

enum {
    MAX_INITS = 8,       /* subgraphs that CALL_ONCE names */
    MAX_VARIABLES = 1000 /* a search goes through all */
};

struct tfl_kept {
    const char *container, *name; /* of a resource variable; "" for a tensor */
    struct value *param, *now;    /* NULL = not read before it is assigned; not assigned */
    struct type type;             /* of the first that is read, or assigned at first */
    struct tensor initial; /* data NULL = zeros, which are quantised values of the zero point */
    struct tfl_kept *next;
};

static struct tfl_kept *add_kept(struct tfl_node *node, const char *container, const char *name)
{
    struct tfl_keeping *keeping = node->keeping;
    struct tfl_kept *kept = arena_new(&node->ctx->perm, struct tfl_kept);

    if (++keeping->n > MAX_VARIABLES) {
        tfl_unsupported(node, "more than %d variables", (int)MAX_VARIABLES);
        return NULL;
    }
    kept->container = container;
    kept->name = name;
    if (keeping->last)
        keeping->last->next = kept;
    else
        keeping->first = kept;
    keeping->last = kept;
    return kept;
}

/* Quantised values begin as those of 0. What is kept in more than a byte, or has no scale, begins as 0. */
static void begin_as_zero(struct tfl_node *node, struct tfl_kept *kept,
                          const struct tfl_tensor *tensor)
{
    if (kept->initial.data || kept->type.dtype != DTYPE_I8 || tensor->zeros.n == 0)
        return;
    kept->initial.type = kept->type;
    kept->initial.data =
        arena_array(&node->fn->module->arena, uint64_t, type_bytes(&kept->type) / 8 + 1);
    memset(kept->initial.data, (int)(tfl_zero(tensor) & 255), type_bytes(&kept->type));
}

/* The parameter; quantised values are kept with the tensor's scale. */
static bool begin(struct tfl_node *node, struct tfl_kept *kept, const struct tfl_tensor *tensor)
{
    if (kept->param || kept->now)
        return true;
    if (!limit_check(node->ctx, LIMIT_INTERFACE, node->origin, (double)node->fn->n_params + 1) ||
        !constants_fit(node->fn->module, (double)type_bytes(&tensor->type), node->origin))
        return false;
    if (kept->initial.data && !type_same_shape(&kept->type, &tensor->type))
        return tfl_unsupported(node, "%s begins as %s and is read as %s", kept->name,
                               type_text(&node->ctx->perm, &kept->type),
                               type_text(&node->ctx->perm, &tensor->type));
    kept->type = tensor->type;
    begin_as_zero(node, kept, tensor);
    kept->param = param_new(node->fn, *kept->name ? kept->name : tensor->name, &tensor->type);
    kept->now = kept->param;
    return true;
}

static bool check_kind(struct tfl_node *node, const struct tfl_kept *kept, const struct type *type)
{
    if (kept->type.dtype == type->dtype && type_same_shape(&kept->type, type))
        return true;
    return tfl_unsupported(node, "%s is %s, and was %s before", kept->name,
                           type_text(&node->ctx->perm, type),
                           type_text(&node->ctx->perm, &kept->type));
}

/* --- variable tensors ------------------------------------------------------------------------- */

bool tfl_takes_kept(const struct tfl_operator *op, const struct tfl_tensor *tensor)
{
    switch (op->code) {
    case TFL_ASSIGN_VARIABLE:
    case TFL_READ_VARIABLE:
    case TFL_IF:
    case TFL_VAR_HANDLE:
    case TFL_WHILE: return tensor->is_resource;
    case TFL_SVDF:
    case TFL_UNIDIRECTIONAL_SEQUENCE_LSTM:
        return tensor->is_variable && !tensor->refused && tensor->type.dtype != DTYPE_NONE;
    default: return false;
    }
}

static bool runs_once(struct tfl_node *node)
{
    return !node->keeping->is_shared ||
           tfl_unsupported(node,
                           "it keeps numbers, in a loop or in a subgraph of several operators");
}

struct value *tfl_state(struct tfl_node *node, int input)
{
    struct tfl_tensor *tensor = node->inputs[input];

    if (!runs_once(node))
        return NULL;
    if (!tensor->is_variable || tensor->value || tensor->data.data) {
        tfl_unsupported(node, "%s is no variable tensor",
                        tfl_tensor_text(node->ctx, node->graph, tensor));
        return NULL;
    }
    if (!tensor->kept)
        tensor->kept = add_kept(node, "", "");
    return tensor->kept && begin(node, tensor->kept, tensor) ? tensor->kept->now : NULL;
}

bool tfl_state_set(struct tfl_node *node, int input, struct value *value)
{
    struct tfl_kept *kept = node->inputs[input]->kept;

    if (!value || !check_kind(node, kept, &value->type))
        return false;
    kept->now = value;
    return true;
}

struct tfl_kept *tfl_memory(struct tfl_node *node, const char *suffix, const struct type *type,
                            const void *initial)
{
    const char *name = arena_printf(&node->ctx->perm, "%s.%s", node->outputs[0]->name, suffix);
    const size_t bytes = type_bytes(type);
    struct tfl_kept *kept = runs_once(node) ? add_kept(node, "", name) : NULL;

    if (!kept ||
        !limit_check(node->ctx, LIMIT_INTERFACE, node->origin, (double)node->fn->n_params + 1) ||
        !type_check_size(node->ctx, node->origin, type) ||
        !constants_fit(node->fn->module, (double)bytes, node->origin))
        return NULL;
    kept->type = *type;
    if (initial) {
        kept->initial.type = *type;
        kept->initial.data =
            memcpy(arena_array(&node->fn->module->arena, uint64_t, bytes / 8 + 1), initial, bytes);
    }
    kept->param = param_new(node->fn, name, type);
    kept->now = kept->param;
    return kept;
}

struct value *tfl_memory_before(const struct tfl_kept *kept)
{
    return kept ? kept->param : NULL;
}

bool tfl_memory_set(struct tfl_node *node, struct tfl_kept *kept, struct value *value)
{
    if (!kept || !value || !check_kind(node, kept, &value->type))
        return false;
    kept->now = value;
    return true;
}

/* --- resource variables ----------------------------------------------------------------------- */

static const char *text_of(struct tfl_node *node, const struct tfl_operator *op, int field)
{
    const struct fb_vector bytes = fb_vector(&op->options, field, 1);
    const size_t n = bytes.n < TFL_MAX_NAME ? bytes.n : TFL_MAX_NAME;

    return bytes.data ? arena_strndup(&node->ctx->perm, (const char *)bytes.data, n) : "";
}

/* The variable of these names; made if there is none. NULL after an error. */
static struct tfl_kept *find_kept(struct tfl_node *node, const struct tfl_operator *op)
{
    const char *container = text_of(node, op, 0), *name = text_of(node, op, 1);

    if (!*name) {
        tfl_unsupported(node, "a variable without a name");
        return NULL;
    }
    for (struct tfl_kept *kept = node->keeping->first; kept; kept = kept->next)
        if (strcmp(kept->name, name) == 0 && strcmp(kept->container, container) == 0)
            return kept;
    return add_kept(node, container, name);
}

static struct tfl_kept *handle_of(struct tfl_node *node)
{
    struct tfl_kept *kept = node->inputs[0]->is_resource ? node->inputs[0]->kept : NULL;

    if (!kept && !node->inputs[0]->is_failed)
        tfl_unsupported(node, "%s is no variable",
                        tfl_tensor_text(node->ctx, node->graph, node->inputs[0]));
    return kept;
}

bool convert_tfl_var_handle(struct tfl_node *node)
{
    if (!tfl_check(node, 0, 0, 1))
        return false;
    if (!node->outputs[0]->is_resource)
        return tfl_unsupported(node, "%s is no resource",
                               tfl_tensor_text(node->ctx, node->graph, node->outputs[0]));
    node->outputs[0]->kept = find_kept(node, node->op);
    return node->outputs[0]->kept != NULL;
}

bool convert_tfl_read_variable(struct tfl_node *node)
{
    struct tfl_kept *kept;

    if (!tfl_check(node, 1, 1, 1) || !(kept = handle_of(node)))
        return false;
    if (!begin(node, kept, node->outputs[0]) || !check_kind(node, kept, &node->outputs[0]->type))
        return false;
    node->outputs[0]->value = kept->now;
    return true;
}

bool convert_tfl_assign_variable(struct tfl_node *node)
{
    struct tfl_kept *kept;
    struct value *value;

    if (!tfl_check(node, 2, 2, 0) || !(kept = handle_of(node)))
        return false;
    value = tfl_value(node, 1);
    if (!value)
        return false;
    if (kept->param || kept->now) {
        if (!check_kind(node, kept, &value->type))
            return false;
    } else {
        kept->type = node->inputs[1]->type;
    }
    kept->now = value;
    return true;
}

/* --- branches --------------------------------------------------------------------------------- */

struct value **tfl_kept_list(struct tfl_node *node, int *n)
{
    struct value **list = arena_array(&node->ctx->perm, struct value *, node->keeping->n + 1);

    *n = 0;
    for (const struct tfl_kept *kept = node->keeping->first; kept; kept = kept->next)
        list[(*n)++] = kept->now;
    return list;
}

void tfl_kept_restore(struct tfl_node *node, struct value *const *list, int n)
{
    int i = 0;

    for (struct tfl_kept *kept = node->keeping->first; kept; kept = kept->next, i++)
        kept->now = i < n && list[i] ? list[i] : kept->param;
}

bool tfl_kept_choose(struct tfl_node *node, struct value *condition, struct value *const *yes,
                     int n_yes, struct value *const *no, int n_no)
{
    int i = 0;

    for (struct tfl_kept *kept = node->keeping->first; kept; kept = kept->next, i++) {
        struct value *a = i < n_yes && yes[i] ? yes[i] : kept->param;
        struct value *b = i < n_no && no[i] ? no[i] : kept->param;

        kept->now = a;
        if (a == b)
            continue;
        if (!a || !b)
            return tfl_unsupported(node, "%s is assigned in a branch or loop, and not read before",
                                   kept->name);
        if (!check_kind(node, kept, &a->type) || !check_kind(node, kept, &b->type))
            return false;
        kept->now = build(node->fn, OP_IF, NULL, kept->name, node->origin, NULL, 3,
                          (struct value *const[]){ condition, a, b });
        if (!kept->now)
            return false;
    }
    return true;
}

/* --- the subgraph that runs once -------------------------------------------------------------- */

/* One of its operators: VAR_HANDLE, or ASSIGN_VARIABLE of a constant. */
static bool run_once(struct tfl_node *node, const struct tfl_graph *graph,
                     const struct tfl_operator *op)
{
    struct tfl_tensor *tensors[2] = { NULL };
    const struct fb_vector *list = op->code == TFL_VAR_HANDLE ? &op->outputs : &op->inputs;
    const size_t n = op->code == TFL_VAR_HANDLE ? 1 : 2;
    struct tfl_kept *kept;

    if ((op->code != TFL_VAR_HANDLE && op->code != TFL_ASSIGN_VARIABLE) || list->n != n)
        return tfl_unsupported(
            node, "its subgraph has %s; VAR_HANDLE, and ASSIGN_VARIABLE of constants, are taken",
            str_safe(&node->ctx->perm, tfl_operator_name(node->ctx, op), 60));
    for (size_t i = 0; i < n; i++) {
        const int64_t index = fb_int_at(list, i, 4);

        if (index < 0 || index >= graph->n_tensors)
            return diag_error(node->ctx, DIAG_TFLITE_GRAPH, node->origin,
                              "its subgraph uses tensor #%lld, and has %d", (long long)index,
                              graph->n_tensors);
        tensors[i] = &graph->tensors[index];
    }
    if (op->code == TFL_VAR_HANDLE) {
        tensors[0]->kept = find_kept(node, op);
        return tensors[0]->kept != NULL;
    }
    kept = tensors[0]->kept;
    if (!kept || !tensors[1]->data.data || tensors[1]->refused || tensors[1]->is_unsigned ||
        tensors[1]->is_packed || tensors[1]->sparsity.at || tensors[1]->type.dtype == DTYPE_NONE)
        return tfl_unsupported(node, "its subgraph assigns %s, expected a constant for a variable",
                               tfl_tensor_text(node->ctx, graph, tensors[1]));
    if (kept->param || kept->now)
        return tfl_unsupported(node, "it gives %s its contents after that has been used",
                               kept->name);
    if (tensors[1]->data.n != type_bytes(&tensors[1]->type))
        return diag_error(node->ctx, DIAG_TFLITE_TENSOR, node->origin,
                          "%s holds %zu bytes, expected %zu",
                          tfl_tensor_text(node->ctx, graph, tensors[1]), tensors[1]->data.n,
                          type_bytes(&tensors[1]->type));
    if (!constants_fit(node->fn->module, (double)tensors[1]->data.n, node->origin))
        return false;
    kept->type = tensors[1]->type;
    kept->initial.type = kept->type;
    kept->initial.data =
        arena_array(&node->fn->module->arena, uint64_t, tensors[1]->data.n / 8 + 1);
    memcpy(kept->initial.data, tensors[1]->data.data, tensors[1]->data.n);
    return true;
}

bool convert_tfl_call_once(struct tfl_node *node)
{
    struct tfl_graph graph = { 0 };
    const int64_t index = tfl_int(node, 0, 0);

    if (!tfl_check(node, 0, 0, 0))
        return false;
    if (node->graph != &node->keeping->model->main)
        return tfl_unsupported(node, "in a subgraph");
    if (index < 1 || index >= node->keeping->model->n_graphs)
        return diag_error(node->ctx, DIAG_TFLITE_GRAPH, node->origin,
                          "it calls subgraph %lld, and the file has %d", (long long)index,
                          node->keeping->model->n_graphs);
    if (++node->keeping->n_inits > MAX_INITS)
        return tfl_unsupported(node, "more than %d of them", (int)MAX_INITS);
    if (!tfl_graph_read(node->ctx, node->keeping->model, (int)index, &graph))
        return false;
    for (int i = 0; i < graph.n_operators; i++)
        if (!run_once(node, &graph, &graph.operators[i]))
            return false;
    return true;
}

/* --- the whole model -------------------------------------------------------------------------- */

bool tfl_import_states(struct function *fn, const struct tfl_keeping *keeping)
{
    for (const struct tfl_kept *kept = keeping->first; kept; kept = kept->next) {
        struct state state = { .initial = kept->initial };

        if (!kept->param) /* never read, or never before it was assigned */
            continue;
        if (!limit_check(fn->module->ctx, LIMIT_INTERFACE, NULL, (double)fn->ret->n_inputs + 1))
            return false;
        state.param = kept->param->index;
        state.result = fn->ret->n_inputs;
        result_add(fn, kept->now, arena_printf(&fn->module->arena, "%s.next", kept->param->name));
        state_add(fn->module, &state);
    }
    return true;
}
