/* control.c - bodies of IF and WHILE (loop.c), which are subgraphs of the file, and IF. A body is converted where it runs, as
 * if its operators stood there.
 *
 * What is known when the file is read decides at once which branch there is. A condition of run time becomes an `if` for
 * each result, and the C skips the branch that is not taken. */
#include "frontend/tflite/control.h"

#include <string.h>

#include "frontend/tflite/convert_compose.h"
#include "frontend/tflite/importer.h"
#include "relay_ir/interpret.h"

enum { MOST_DEEP = 8, MOST_STEPS = 1000 };

struct operand *tfl_operands(struct tfl_node *node, int first)
{
    const int n = node->n_inputs - first;
    struct operand *operands = arena_array(&node->ctx->perm, struct operand, n + 1);

    for (int i = 0; i < n; i++) {
        struct tfl_tensor *tensor = node->inputs[first + i];

        if (!tensor) {
            diag_error(node->ctx, DIAG_TFLITE_GRAPH, node->origin, "input %d is absent", first + i);
            return NULL;
        }
        operands[i] = (struct operand){ .tensor = tensor, .kept = tensor->kept };
        if (!tensor->is_resource)
            operands[i].value = tfl_value(node, first + i);
        if (!operands[i].value && !operands[i].kept)
            return NULL;
    }
    return operands;
}

bool tfl_body_read(struct tfl_node *node, const char *what, int field, int n_inputs, int n_outputs,
                   struct body *body)
{
    struct import *im = node->import;
    const int64_t index = tfl_int(node, field, 0);

    if (index < 1 || index >= im->model.n_graphs)
        return diag_error(node->ctx, DIAG_TFLITE_GRAPH, node->origin,
                          "its %s is subgraph %lld, and the file has %d", what, (long long)index,
                          im->model.n_graphs);
    if (im->depth >= MOST_DEEP)
        return tfl_unsupported(node, "subgraphs within subgraphs, more than %d deep",
                               (int)MOST_DEEP);
    if (!tfl_graph_read(node->ctx, &im->model, (int)index, &body->graph))
        return false;
    im->module->n_made_operands += body->graph.n_tensors; /* a small file can ask for many */
    body->what = what;
    if (body->graph.inputs.n != (size_t)n_inputs || body->graph.outputs.n != (size_t)n_outputs)
        return diag_error(node->ctx, DIAG_TFLITE_GRAPH, node->origin,
                          "its %s has %zu inputs and %zu outputs, expected %d and %d", what,
                          body->graph.inputs.n, body->graph.outputs.n, n_inputs, n_outputs);
    return true;
}

struct tfl_tensor *tfl_body_tensor(struct tfl_node *node, struct tfl_graph *graph, int64_t index,
                                   const struct tfl_tensor *like, const char *what)
{
    struct tfl_tensor *tensor;

    if (index < 0 || index >= graph->n_tensors) {
        diag_error(node->ctx, DIAG_TFLITE_GRAPH, node->origin, "its %s names tensor #%lld of %d",
                   what, (long long)index, graph->n_tensors);
        return NULL;
    }
    tensor = &graph->tensors[index];
    if (tensor->is_resource != like->is_resource || tensor->is_unsigned != like->is_unsigned ||
        (!like->is_resource && (tensor->type.dtype != like->type.dtype ||
                                !type_same_shape(&tensor->type, &like->type)))) {
        tfl_unsupported(node, "%s of its %s is %s, expected %s",
                        tfl_tensor_text(node->ctx, graph, tensor), what,
                        type_text(&node->ctx->perm, &tensor->type),
                        type_text(&node->ctx->perm, &like->type));
        return NULL;
    }
    return tensor;
}

static bool give(struct tfl_node *node, struct body *body, struct tfl_graph *graph,
                 const struct operand *given)
{
    for (size_t i = 0; i < graph->inputs.n; i++) {
        struct tfl_tensor *tensor = tfl_body_tensor(node, graph, fb_int_at(&graph->inputs, i, 4),
                                                    given[i].tensor, body->what);

        if (!tensor)
            return false;
        if (tensor->data.data || tensor->value || tensor->kept)
            return diag_error(node->ctx, DIAG_TFLITE_GRAPH, node->origin,
                              "its %s has %s for an input, which is defined already", body->what,
                              tfl_tensor_text(node->ctx, graph, tensor));
        tensor->value = given[i].value;
        tensor->kept = given[i].kept;
    }
    return true;
}

static bool take(struct tfl_node *node, struct body *body, struct tfl_graph *graph,
                 const struct operand *given, struct operand *taken)
{
    for (size_t i = 0; i < graph->outputs.n; i++) {
        struct tfl_tensor *tensor = tfl_body_tensor(node, graph, fb_int_at(&graph->outputs, i, 4),
                                                    given[i].tensor, body->what);
        struct tfl_node reader = *node;

        if (!tensor || tensor->is_failed)
            return false;
        if (!tensor->value && !tensor->first && !tensor->data.data && !tensor->kept)
            return diag_error(node->ctx, DIAG_TFLITE_GRAPH, node->origin,
                              "its %s gives %s, which nothing computes", body->what,
                              tfl_tensor_text(node->ctx, graph, tensor));
        reader.graph = graph;
        reader.n_inputs = 1;
        reader.inputs = &tensor;
        taken[i] = (struct operand){ .tensor = given[i].tensor, .kept = tensor->kept };
        if (!tensor->is_resource)
            taken[i].value = tfl_value(&reader, 0);
        if (!taken[i].value && !taken[i].kept)
            return false;
    }
    return true;
}

bool tfl_body_run(struct tfl_node *node, struct body *body, const struct operand *given,
                  const struct operand *like, struct operand *taken)
{
    struct import *im = node->import;
    struct tfl_graph *const outer = im->graph;
    struct tfl_graph graph = body->graph;
    bool ok;

    graph.tensors = arena_memdup(&node->ctx->perm, body->graph.tensors,
                                 (size_t)graph.n_tensors * sizeof *graph.tensors);
    if (!limit_check(node->ctx, LIMIT_NODES, node->origin, (double)++im->n_rounds) ||
        !give(node, body, &graph, given)) {
        im->is_over = im->is_over || im->n_rounds > limit_value(node->ctx, LIMIT_NODES);
        return false;
    }
    im->graph = &graph;
    im->depth++;
    ok = tfl_import_operators(im);
    im->graph = outer;
    im->depth--;
    for (int i = 0; i < graph.n_tensors; i++)
        if (graph.tensors[i].data.data && graph.tensors[i].value &&
            graph.tensors[i].value->kind == VALUE_CONSTANT)
            body->graph.tensors[i].value = graph.tensors[i].value;
    return ok && take(node, body, &graph, like, taken);
}

bool tfl_body_results(struct tfl_node *node, const struct operand *results)
{
    for (int i = 0; i < node->n_outputs; i++) {
        node->outputs[i]->value = results[i].value;
        node->outputs[i]->kept = results[i].kept;
        if (results[i].value && results[i].value->kind == VALUE_OUTPUT)
            value_rename(results[i].value, node->outputs[i]->name);
    }
    return true;
}

static const struct operand *wanted_of(struct tfl_node *node)
{
    struct operand *wanted = arena_array(&node->ctx->perm, struct operand, node->n_outputs + 1);

    for (int i = 0; i < node->n_outputs; i++)
        wanted[i].tensor = node->outputs[i];
    return wanted;
}

/* Whether a value can be known at all: few steps from constants. Chains of what rounds hand on are long, and are not
 * followed to their beginning. */
static bool is_near(const struct value *value, int *steps)
{
    const struct node *def = value->kind == VALUE_OUTPUT ? value->def : NULL;

    if (--*steps < 0 || (!def && value->kind != VALUE_CONSTANT))
        return false;
    for (int i = 0; def && i < def->n_inputs; i++)
        if (def->inputs[i] && !is_near(def->inputs[i], steps))
            return false;
    return true;
}

bool tfl_is_known(struct tfl_node *node, struct value *value, int64_t most, struct tensor *known)
{
    int steps = MOST_STEPS;

    return is_near(value, &steps) &&
           interpret_within_limits(node->ctx, value, most, &node->fn->module->bulk, known);
}

/* By what its numbers may be, on this premise. */
static enum truth truth_by_range(const struct value *condition, const struct premise *premise)
{
    struct range range;

    if (!range_of_value(condition, premise, &range))
        return OPEN;
    return range.high == 0 ? NO : range.low == 1 ? YES : OPEN;
}

bool tfl_truth(struct tfl_node *node, struct value *condition, const struct premise *premise,
               enum truth *truth, struct value **open)
{
    const struct node *def = condition->kind == VALUE_OUTPUT ? condition->def : NULL;
    const int n_errors = node->ctx->diags.n_errors;
    enum truth of[2] = { OPEN, OPEN };
    struct tensor known;

    *open = condition;
    *truth = OPEN;
    if (condition->type.dtype != DTYPE_BOOL || type_elements(&condition->type) != 1)
        return tfl_unsupported(node, "a condition of %s, expected one BOOL",
                               type_text(&node->ctx->perm, &condition->type));
    if (tfl_is_known(node, condition, 1, &known)) {
        *truth = tensor_at(&known, 0) != 0 ? YES : NO;
        return true;
    }
    if (node->ctx->diags.n_errors > n_errors)
        return false;
    *truth = truth_by_range(condition, premise);
    if (*truth != OPEN || !def || def->op != OP_LOGICAL_AND)
        return true;
    for (int i = 0; i < 2; i++) {
        if (type_elements(&def->inputs[i]->type) != 1)
            return true;
        if (tfl_is_known(node, def->inputs[i], 1, &known))
            of[i] = tensor_at(&known, 0) != 0 ? YES : NO;
        if (of[i] == NO)
            *truth = NO;
        if (of[i] == YES)
            *open = def->inputs[!i];
    }
    return node->ctx->diags.n_errors == n_errors;
}

struct value *tfl_chosen(struct tfl_node *node, struct value *condition, struct value *yes,
                         struct value *no)
{
    return yes == no ? yes
                     : tfl_build(node, OP_IF, NULL, "chosen", 3,
                                 (struct value *const[]){ condition, yes, no });
}

bool tfl_choose_all(struct tfl_node *node, struct value *condition, int n,
                    const struct operand *yes, const struct operand *no, struct operand *out)
{
    for (int i = 0; i < n; i++) { /* out may be `no` */
        struct operand result = yes[i];

        if (yes[i].kept != no[i].kept)
            return tfl_unsupported(node,
                                   "which variable output %d names depends on numbers of "
                                   "run time",
                                   i);
        if (!yes[i].kept) {
            result.value = tfl_chosen(node, condition, yes[i].value, no[i].value);
            if (!result.value)
                return false;
        }
        out[i] = result;
    }
    return true;
}

/* Whether an operator before has this subgraph, too. */
static bool is_used(struct import *im, int64_t index)
{
    const char *key = arena_printf(&im->ctx->perm, "%lld", (long long)index);
    const bool used = map_get(&im->used, key) != NULL;

    im->used.arena = &im->ctx->perm;
    map_set(&im->used, key, im);
    return used;
}

/* --- IF --------------------------------------------------------------------------------------- */

static bool run_branch(struct tfl_node *node, int field, const struct operand *given,
                       struct operand *results)
{
    const int64_t index = tfl_int(node, field, 0);
    struct import *im = node->import;
    const bool was_shared = node->keeping->is_shared;
    struct body body;
    bool ok;

    if (!tfl_body_read(node, field ? "else branch" : "then branch", field, node->n_inputs - 1,
                       node->n_outputs, &body))
        return false;
    node->keeping->is_shared = was_shared || is_used(im, index);
    ok = tfl_body_run(node, &body, given, wanted_of(node), results);
    node->keeping->is_shared = was_shared;
    return ok;
}

bool convert_tfl_if(struct tfl_node *node)
{
    struct operand *given, *results[2];
    struct value *condition, *open, **before, **behind;
    int n_before, n_behind;
    enum truth truth;

    if (!tfl_check(node, 1, node->n_inputs, node->n_outputs))
        return false;
    condition = tfl_value(node, 0);
    given = tfl_operands(node, 1);
    if (!condition || !given || !tfl_truth(node, condition, NULL, &truth, &open))
        return false;
    for (int i = 0; i < 2; i++)
        results[i] = arena_array(&node->ctx->perm, struct operand, node->n_outputs + 1);
    if (truth != OPEN)
        return run_branch(node, truth == NO, given, results[0]) &&
               tfl_body_results(node, results[0]);
    before = tfl_kept_list(node, &n_before);
    if (!run_branch(node, 0, given, results[0]))
        return false;
    behind = tfl_kept_list(node, &n_behind);
    tfl_kept_restore(node, before, n_before);
    if (!run_branch(node, 1, given, results[1]))
        return false;
    before = tfl_kept_list(node, &n_before);
    return tfl_kept_choose(node, condition, behind, n_behind, before, n_before) &&
           tfl_choose_all(node, condition, node->n_outputs, results[0], results[1], results[0]) &&
           tfl_body_results(node, results[0]);
}
