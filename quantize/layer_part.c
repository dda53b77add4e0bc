#include "quantize/layer_part.h"

#include "relay_ir/outline.h"

static struct value *inner_value(const struct function *fn, const struct value *outer)
{
    return map_get(&fn->names, outer->name);
}

static bool outline_all(struct part *part)
{
    const struct part_plan *plan = part->plan;
    struct function *fn = part->module->main;
    struct arena *arena = &part->module->arena;
    struct value **results = arena_array(arena, struct value *, plan->n_results);
    const char **names = arena_array(arena, const char *, plan->n_results);
    bool ok = true;

    for (int i = 0; i < plan->n_constants; i++) {
        const struct part_constant *c = &plan->constants[i];

        constant_new(fn, c->value->name, &c->tensor.type, c->tensor.data);
    }
    for (int i = 0; i < plan->n_nodes && ok; i++)
        ok = node_outline(fn, plan->nodes[i], part->outer);
    for (int i = 0; i < plan->n_results && ok; i++) {
        results[i] = inner_value(fn, plan->results[i]);
        names[i] = plan->results[i]->name;
    }
    if (ok)
        results_set(fn, plan->n_results, results, names);
    return ok;
}

bool part_make(struct ctx *ctx, const struct part_plan *plan, struct part *out)
{
    size_t n_inputs = 0;

    *out = (struct part){ .plan = plan, .module = module_new(ctx) };
    for (int i = 0; i < plan->n_nodes; i++)
        n_inputs += (size_t)plan->nodes[i]->n_inputs;
    out->outer = arena_array(&out->module->arena, struct value *, n_inputs);
    if (!outline_all(out))
        return false;
    out->inputs = arena_array(&out->module->arena, struct tensor, out->module->main->n_params);
    out->outputs = arena_array(&out->module->arena, struct tensor, plan->n_results);
    out->engine = engine_new(ctx, out->module->main);
    return out->engine != NULL;
}

void part_free(struct part *part)
{
    engine_free(part->engine);
    module_free(part->module);
    *part = (struct part){ .plan = NULL };
}

int part_result(const struct part_plan *plan, const struct value *value)
{
    for (int i = 0; i < plan->n_results; i++)
        if (plan->results[i] == value)
            return i;
    return -1;
}
