/* verify_code.c - the generated C: each region with the reference's numbers as its inputs, then the
 * whole network, as a list of commands on its memory. In this process, or (verify_target.c) in a
 * program for another machine. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "driver/commands/tensor_error.h"
#include "driver/commands/verify.h"
#include "simulate/simulate.h"

struct listing {
    struct verification *v;
    const struct host_code *code;
    struct code_commands commands;
    struct bulk bulk; /* what is read */
};

/* A result of a region that the list reads. */
struct read_result {
    const struct value *value;
    const struct verify_set *set;
    struct tensor found;
    struct read_result *next;
};

static struct code_command *add(struct listing *list, enum code_kind kind)
{
    struct code_command *command = arena_new(&list->v->driver->ctx->perm, struct code_command);

    command->kind = kind;
    *list->commands.end = command;
    list->commands.end = &command->next;
    return command;
}

/* As one piece. */
static void add_block(struct listing *list, enum code_kind kind, int space, void *data,
                      size_t bytes)
{
    struct code_command *command = add(list, kind);

    command->space = space;
    command->count = 1;
    command->size = command->pitch = bytes;
    command->data = data;
}

/* Pixel by pixel: those of a part of a concatenation have others in between. False: it is in no
 * memory that is written at run time. */
static bool add_place(struct listing *list, enum code_kind kind, const struct codegen_place *place,
                      const struct tensor *tensor)
{
    const struct type *type = &tensor->type;
    const size_t bytes = type_bytes(type), size = dtype_bytes(type->dtype);
    const int n_params = list->v->module->main->n_params;
    struct code_command *command;

    if (place->kind != PLACE_ARENA && place->kind != PLACE_OUTPUT)
        return false;
    if (bytes == 0)
        return true;
    command = add(list, kind);
    command->space = place->kind == PLACE_ARENA ? 0 : 1 + n_params + place->index;
    command->offset = place->offset;
    command->size = place->pixel_stride ? (size_t)type->dim[type->rank - 1] * size : bytes;
    command->count = bytes / command->size;
    command->pitch = place->pixel_stride ? (size_t)place->pixel_stride * size : bytes;
    command->data = tensor->data;
    return true;
}

/* All memory as if nothing had been computed, then the inputs. */
static void add_begin(struct listing *list, const struct verify_set *set)
{
    const struct function *fn = list->v->module->main;

    add_block(list, CODE_FILL, 0, NULL, 0);
    for (int i = 0; i < fn->n_params; i++)
        add_block(list, CODE_WRITE, 1 + i, set->inputs[i].data, type_bytes(&set->inputs[i].type));
}

static void add_region(struct listing *list, const struct verify_set *set, int region,
                       struct read_result **results)
{
    const struct codegen_region *r = &list->code->result.regions[region];
    struct verification *v = list->v;

    for (int i = 0; i < r->call->n_inputs; i++) {
        const struct tensor wanted = wanted_tensor(v, set, r->call->inputs[i]);

        add_place(list, CODE_WRITE, &list->code->result.places[r->call->inputs[i]->id], &wanted);
    }
    add(list, CODE_CALL)->region = region;
    for (int i = 0; i < r->call->n_outputs; i++) {
        struct read_result *result = arena_new(&v->driver->ctx->perm, struct read_result);

        result->value = r->call->outputs[i];
        result->set = set;
        result->found = tensor_new(&list->bulk, &result->value->type);
        result->next = *results;
        if (add_place(list, CODE_READ, &r->results[i], &result->found))
            *results = result;
    }
}

static void add_whole(struct listing *list, struct verify_set *set)
{
    const struct function *fn = list->v->module->main;

    add_begin(list, set);
    add(list, CODE_CALL)->region = -1;
    set->generated = arena_array(&list->v->driver->ctx->perm, struct tensor, fn->ret->n_inputs);
    for (int i = 0; i < fn->ret->n_inputs; i++) {
        set->generated[i] = tensor_new(&list->v->driver->bulk, &fn->ret->inputs[i]->type);
        add_block(list, CODE_READ, 1 + fn->n_params + i, set->generated[i].data,
                  type_bytes(&set->generated[i].type));
    }
}

/* The regions first: only so can a message about a crash name one. */
static struct listing list_all(struct verification *v, const struct host_code *code, bool regions,
                               struct read_result **results)
{
    struct listing list = { .v = v, .code = code };

    list.commands.end = &list.commands.first;
    for (int k = 0; k < v->n_sets && regions; k++) {
        add_begin(&list, &v->sets[k]);
        for (int i = 0; i < code->result.n_regions; i++)
            add_region(&list, &v->sets[k], i, results);
    }
    for (int k = 0; k < v->n_sets; k++)
        add_whole(&list, &v->sets[k]);
    return list;
}

static void take_results(struct verification *v, const struct read_result *results)
{
    for (const struct read_result *r = results; r; r = r->next) {
        const struct tensor wanted = wanted_tensor(v, r->set, r->value);
        const double largest = largest_magnitude(&wanted);

        layer_note(layer_of(v, r->value), GENERATED, relative_error(&wanted, largest, &r->found),
                   layer_tolerance(v, r->set, r->value, largest));
    }
}

/* --- in this process -------------------------------------------------------------------------- */

static unsigned char *space_data(const struct verification *v, const struct host_code *code,
                                 const struct tensor *inputs, const struct tensor *outputs,
                                 int space)
{
    const int n_params = v->module->main->n_params;

    if (space == 0)
        return (unsigned char *)(uintptr_t)generated_arena(code->generated);
    return space <= n_params ? inputs[space - 1].data : outputs[space - 1 - n_params].data;
}

static void copy(unsigned char *memory, const struct code_command *command)
{
    unsigned char *data = command->data;

    for (size_t i = 0; i < command->count; i++, memory += command->pitch, data += command->size)
        if (command->kind == CODE_READ)
            memcpy(data, memory, command->size);
        else
            memcpy(memory, data, command->size);
}

/* Inputs have a place of their own here: FILL makes new outputs, which the code is told. */
static bool run_here(struct verification *v, const struct host_code *code,
                     const struct code_commands *commands)
{
    const struct function *fn = v->module->main;
    struct arena *arena = &v->driver->ctx->perm;
    struct tensor *inputs = arena_array(arena, struct tensor, fn->n_params);
    struct tensor *outputs = arena_array(arena, struct tensor, fn->ret->n_inputs);
    struct bulk bulk = { 0 };
    bool ok = true;

    for (int i = 0; i < fn->n_params; i++)
        inputs[i] = tensor_new(&bulk, &fn->params[i]->type);
    for (const struct code_command *c = commands->first; c && ok; c = c->next)
        switch (c->kind) {
        case CODE_FILL: ok = generated_begin(code->generated, inputs, outputs, &bulk); break;
        case CODE_CALL: ok = generated_step(code->generated, c->region); break;
        case CODE_WRITE:
        case CODE_READ: copy(space_data(v, code, inputs, outputs, c->space) + c->offset, c); break;
        }
    bulk_release(&bulk);
    return ok;
}

static bool generated_here(struct verification *v, struct host_code *code)
{
    struct read_result *results = NULL;
    struct listing list;
    bool ok = host_code_build(v->driver, v->module, true, code);

    if (!ok)
        return false;
    list = list_all(v, code, true, &results);
    ok = run_here(v, code, &list.commands);
    if (ok)
        take_results(v, results);
    bulk_release(&list.bulk);
    return ok;
}

/* --- elsewhere -------------------------------------------------------------------------------- */

/* Commands with their numbers are a part of the program. Where that does not fit the machine, the
 * whole network's alone may. */
static bool generated_elsewhere(struct verification *v, struct host_code *code)
{
    bool ok = host_code_write(v->driver, v->module, true, NULL, code);

    v->on_target = true;
    for (int regions = 1; regions >= 0 && ok; regions--) {
        struct read_result *results = NULL;
        struct listing list = list_all(v, code, regions, &results);
        const struct diags saved = diag_save(v->driver->ctx);

        v->whole_only = !regions;
        ok = target_run(v, code, &list.commands);
        if (ok)
            take_results(v, results);
        bulk_release(&list.bulk);
        if (ok || !regions)
            break;
        ok = target_does_not_fit(v->driver->ctx);
        if (ok)
            diag_restore(v->driver->ctx, saved);
    }
    return ok;
}

/* Regions of code for several sizes do not run one by one. */
static bool generated_for_sizes(struct verification *v)
{
    const struct function *fn = v->module->main;
    bool ok = true;

    generated_take_sizes(v->code, fn, v->sizes);
    for (int k = 0; k < v->n_sets && ok; k++) {
        v->sets[k].generated = arena_array(&v->driver->ctx->perm, struct tensor, fn->ret->n_inputs);
        ok = generated_run(v->code, v->sets[k].inputs, v->sets[k].generated, &v->driver->bulk);
    }
    return ok;
}

bool verify_run_generated(struct verification *v)
{
    struct host_code code = { 0 };
    const struct codegen_region *exception;
    const bool ok = has_option(&v->driver->args, OPTION_CC) ? generated_elsewhere(v, &code)
                    : v->code                               ? generated_for_sizes(v)
                                                            : generated_here(v, &code);

    exception = ok && v->driver->deterministic ? simulate_exception(&code.result) : NULL;
    if (exception)
        v->exception = arena_strdup(&v->driver->ctx->perm, exception->c_name);
    host_code_free(&code);
    for (int k = 0; k < v->n_sets && ok; k++)
        for (int i = 0; i < v->module->main->ret->n_inputs; i++)
            v->sets[k].generated[i].type.quant = v->module->main->ret->inputs[i]->type.quant;
    return ok;
}
