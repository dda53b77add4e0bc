/* emit_entry.c - NAME_run, and NAME_step where it is wanted: checks, named pointers, calls. */
#include "codegen_c/emit/emit_entry.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/emit/emit_calls.h"
#include "codegen_c/emit/emit_header.h"
#include "codegen_c/emit/emit_loops.h"
#include "codegen_c/emit/emit_state.h"
#include "codegen_c/emit/emit_variants.h"
#include "codegen_c/emit/guard.h"
#include "codegen_c/expr/slots.h"
#include "relay_ir/variants.h"

const char *entry_name(const struct codegen *codegen, const struct value *value)
{
    const struct value *root = codegen->plan.root[value->id];
    const struct codegen_place *place = &codegen->plan.place[value->id];

    if (codegen->plan.part[root->id].whole)
        return codegen->local_names[root->id];
    switch (place->kind) {
    case PLACE_INPUT: return codegen->input_names[place->index];
    case PLACE_OUTPUT: return codegen->output_names[place->index];
    default: return codegen->local_names[root->id]; /* of a constant: its array */
    }
}

/* ", in NAME": the concatenation that a part belongs to, or the one that this is part of, where it
 * has no name of its own. */
static const char *part_comment(struct codegen *codegen, const struct value *value)
{
    const struct value *of = codegen->plan.part[value->id].of;

    while (of && !entry_name(codegen, of))
        of = codegen->plan.part[of->id].of;
    return of ? arena_printf(&codegen->arena, ", in %s", entry_name(codegen, of)) : "";
}

const char *pool_address(struct codegen *codegen, int pool, size_t offset)
{
    const char *base = pool_base(codegen, pool);

    if (!offset && !codegen->module->variants)
        return base;
    return arena_printf(&codegen->arena, "&%s[%s]", base,
                        slot_text(codegen, SLOT_OPERAND, (int64_t)offset));
}

bool pool_has_arena(const struct codegen *codegen, int pool)
{
    const struct codegen_pool *of = codegen->plan.pools[pool].of;

    return !of || of->takes != POOL_OF_CONSTANTS;
}

const char *io_accessor(struct codegen *codegen, const char *c_name, bool is_input)
{
    return arena_printf(&codegen->arena, "%s_%s_%s", codegen->options->name,
                        is_input ? "input" : "output", c_name);
}

const char *io_arena(struct codegen *codegen, const struct value *value)
{
    return pool_arena(codegen, codegen->plan.blocks[codegen->plan.block[value->id]].pool);
}

size_t io_offset(const struct codegen *codegen, const struct value *value)
{
    return codegen->plan.place[value->id].offset;
}

/* Pools that are not needed may be NULL. */
static void add_alignment(struct codegen *codegen, struct str *out)
{
    const struct plan *plan = &codegen->plan;
    int n = 0;

    for (int p = 0; p < plan->n_pools; p++)
        if (plan->pools[p].bytes > 0)
            str_printf(out, "%s(uintptr_t)(const void *)%s %% (uintptr_t)%s_ARENA_ALIGN != 0u",
                       n++ ? " ||\n        " : "    if (", pool_arena(codegen, p), codegen->upper);
    if (n)
        str_printf(out, ")\n        return %s_MISALIGNED_ARENA;\n", codegen->upper);
    for (int p = 0; p < plan->n_pools; p++)
        if (plan->pools[p].bytes == 0 && pool_has_arena(codegen, p))
            str_printf(out, "    (void)%s;\n", pool_arena(codegen, p));
}

int entry_arrays(const struct codegen *codegen)
{
    return io_is_inside(codegen) ? 0
                                 : count_inputs(codegen->module) + count_outputs(codegen->module);
}

const struct value *entry_array(const struct codegen *codegen, int i, const char **c_name)
{
    const struct module *module = codegen->module;
    const bool is_input = i < count_inputs(module);
    int k = 0, left = is_input ? i : i - count_inputs(module);

    while ((is_input ? state_of_param(module, k) : state_of_result(module, k)) || left-- > 0)
        k++;
    *c_name = is_input ? codegen->input_names[k] : codegen->output_names[k];
    return is_input ? module->main->params[k] : module->main->ret->inputs[k];
}

size_t entry_alignment(const struct value *value)
{
    const size_t bytes = dtype_bytes(value->type.dtype);

    return bytes < 4 ? bytes : 4;
}

/* "((uintptr_t)(const void *)x | (uintptr_t)(const void *)y) % 4u != 0u": a bit of one
 * pointer is a bit of all. NULL if no array
 * is aligned so. */
static const char *alignment_test(struct codegen *codegen, size_t align)
{
    struct str all = { .arena = &codegen->arena };
    size_t line = 0;
    const int n_io = entry_arrays(codegen);
    int n = 0;

    for (int i = 0; i < n_io + has_state(codegen); i++) {
        const char *name = "state";

        if ((i < n_io ? entry_alignment(entry_array(codegen, i, &name))
                      : state_alignment(codegen)) != align)
            continue;
        if (n++ > 0 && all.n - line + strlen(name) > 70) {
            str_add(&all, " |\n         ");
            line = all.n;
        } else if (n > 1) {
            str_add(&all, " | ");
        }
        str_printf(&all, "(uintptr_t)(const void *)%s", name);
    }
    if (n == 0)
        return NULL;
    return arena_printf(&codegen->arena, n > 1 ? "(%s) %% %zuu != 0u" : "%s %% %zuu != 0u",
                        str_text(&all), align);
}

static void add_array_alignment(struct codegen *codegen, struct str *out)
{
    const char *four = alignment_test(codegen, 4), *two = alignment_test(codegen, 2);

    if (four || two)
        str_printf(out, "    if (%s%s%s)\n        return %s_MISALIGNED_ARRAY;\n", four ? four : "",
                   four && two ? " ||\n        " : "", two ? two : "", codegen->upper);
}

static void add_checks(struct codegen *codegen, struct str *out)
{
    const struct plan *plan = &codegen->plan;
    const int n_io = entry_arrays(codegen), kept = has_state(codegen);
    struct str test = { .arena = &codegen->arena };
    size_t line = 0;

    for (int i = 0; i < n_io + kept + plan->n_pools; i++) {
        const char *name = "state";
        const int pool = i - n_io - kept;

        if (pool >= 0 && plan->pools[pool].bytes == 0)
            continue;
        if (pool >= 0)
            name = pool_arena(codegen, pool);
        else if (i < n_io)
            entry_array(codegen, i, &name);
        if (test.n > 0 && test.n - line + strlen(name) > 80) {
            str_add(&test, " ||\n        ");
            line = test.n;
        } else if (test.n > 0) {
            str_add(&test, " || ");
        }
        str_printf(&test, "!%s", name);
    }
    if (test.n)
        str_printf(out, "    if (%s)\n        return %s_NULL_POINTER;\n", str_text(&test),
                   codegen->upper);
    add_alignment(codegen, out);
    add_array_alignment(codegen, out);
    add_guard_entry(codegen, out);
    if (codegen->strict)
        str_printf(out,
                   "    if (!arithmetic_is_strict())\n"
                   "        return %s_WRONG_ARITHMETIC;\n",
                   codegen->upper);
    str_add(out, "\n");
}

/* ", over NAME": what the result of a region takes the place of. */
static const char *over_comment(struct codegen *codegen, const struct region *region)
{
    if (!region->place.in_place || !entry_name(codegen, region->call->inputs[region->place.over]))
        return "";
    return arena_printf(&codegen->arena, ", over %s",
                        entry_name(codegen, region->call->inputs[region->place.over]));
}

/* Of what is in the arena, or a part of an output or an input. The region is NULL where nothing is
 * left of it.
 */
static void add_pointer(struct codegen *codegen, struct str *out, const struct value *value,
                        const struct region *region)
{
    const struct plan *plan = &codegen->plan;
    const struct codegen_place *place = &plan->place[value->id];
    const struct part *part = &plan->part[value->id];
    const char *name = codegen->local_names[value->id];

    str_printf(out, "    %s%s *const %s = ", place->kind == PLACE_INPUT ? "const " : "",
               dtype_c_type(value->type.dtype), name);
    if (place->kind == PLACE_INPUT)
        str_printf(out, "&%s[%s]", codegen->input_names[place->index],
                   slot_text(codegen, SLOT_OPERAND, part->at));
    else if (place->kind == PLACE_OUTPUT)
        str_printf(out, "&%s[%s]", codegen->output_names[place->index],
                   slot_text(codegen, SLOT_OPERAND, part->at));
    else
        str_printf(out, "(%s *)(void *)%s", dtype_c_type(value->type.dtype),
                   pool_address(codegen, plan->blocks[plan->block[value->id]].pool, place->offset));
    str_printf(out, "; /* %s", slot_shape_comment(codegen, &value->type));
    str_printf(out, "%s%s */\n", part_comment(codegen, value),
               region ? over_comment(codegen, region) : "");
}

static void add_inputs(struct codegen *codegen, struct str *out)
{
    const struct function *main = codegen->module->main;

    for (int i = 0; i < main->n_params; i++) {
        const struct value *param = main->params[i];

        if (codegen->local_names[param->id] && codegen->plan.block[param->id] >= 0)
            str_printf(out, "    const %s *const %s = (const %s *)(const void *)%s; /* %s */\n",
                       dtype_c_type(param->type.dtype), codegen->local_names[param->id],
                       dtype_c_type(param->type.dtype),
                       pool_address(codegen,
                                    codegen->plan.blocks[codegen->plan.block[param->id]].pool,
                                    codegen->plan.place[param->id].offset),
                       shape_comment(&codegen->arena, &param->type));
    }
}

void add_pointers(struct codegen *codegen, struct str *out, int variant, bool all)
{
    const struct plan *plan = &codegen->plan;
    bool any = false;
    int r = 0;

    for (int p = 0; p < plan->n_pools && !codegen->module->variants; p++)
        if (plan->pools[p].bytes > 0)
            str_printf(out, "    unsigned char *const %s = (unsigned char *)%s;\n",
                       pool_base(codegen, p), pool_arena(codegen, p));
    if (io_is_inside(codegen))
        add_inputs(codegen, out);
    for (const struct node *node = codegen->module->main->first; node; node = node->next) {
        const struct region *region = r < codegen->n_regions && codegen->regions[r].call == node
                                          ? &codegen->regions[r++]
                                          : NULL;

        if (variant_of(codegen->module, node) != variant)
            continue;
        for (int i = 0; i < node->n_outputs && node->op == OP_CALL; i++) {
            const struct value *value = node->outputs[i];

            if (!codegen->local_names[value->id] || !(all || is_outside_loops(codegen, value)))
                continue;
            add_pointer(codegen, out, value, region);
            any = true;
        }
    }
    if (any || (plan->arena_bytes > 0 && !codegen->module->variants))
        str_add(out, "\n");
}

/* Regions of a loop are one of its calls, whose arguments follow from the iteration. */
static void add_loop_of_steps(struct codegen *codegen, struct str *out,
                              const struct call_loop *loop)
{
    add_step_of_loop(codegen, out, loop);
    if (loop->first + loop->period * loop->count == codegen->n_regions && has_state(codegen)) {
        str_printf(out, "        if (region == %d) {\n", codegen->n_regions - 1);
        add_state_copies(codegen, out, 12);
        str_add(out, "        }\n");
    }
    str_printf(out, "        return %s_OK;\n    }\n", codegen->upper);
}

/* Where regions run under conditions, which NAME_step does not ask, each has a case: pointers of loops may be of
 * conditions alone. */
static void add_step(struct codegen *codegen, struct str *out)
{
    const bool with_loops = most_guards(codegen) == 0;

    add_prototype(codegen, out, true, ")\n{\n");
    add_checks(codegen, out);
    add_pointers(codegen, out, 0, !with_loops);
    for (int r = 0; r < codegen->n_regions && with_loops; r++)
        if (loop_at(codegen, r))
            add_loop_of_steps(codegen, out, loop_at(codegen, r));
    str_add(out, "    switch (region) {\n");
    for (int r = 0; r < codegen->n_regions; r++) {
        const struct call_loop *loop = with_loops ? loop_at(codegen, r) : NULL;

        if (loop) {
            r += loop->period * loop->count - 1;
            continue;
        }
        str_printf(out, "    case %d:\n", r);
        add_call(codegen, out, &codegen->regions[r], 8);
        if (r + 1 == codegen->n_regions)
            add_state_copies(codegen, out, 8);
        str_printf(out, "        return %s_OK;\n", codegen->upper);
    }
    str_printf(out, "    default:\n        return %s_NO_REGION;\n    }\n}\n\n", codegen->upper);
}

static void add_run_by_steps(struct codegen *codegen, struct str *out)
{
    struct arena *arena = &codegen->arena;
    const char **items =
        arena_array(arena, const char *, entry_arrays(codegen) + codegen->plan.n_pools + 2);
    const char *head = arena_printf(arena, "        code = %s_step(", codegen->options->name);
    int n = 0;

    items[n++] = "region";
    for (int i = 0; i < entry_arrays(codegen); i++)
        entry_array(codegen, i, &items[n++]);
    if (has_state(codegen))
        items[n++] = "state";
    for (int p = 0; p < codegen->plan.n_pools; p++)
        if (pool_has_arena(codegen, p))
            items[n++] = pool_arena(codegen, p);
    str_printf(out,
               "    int code = %s_OK;\n\n    for (int region = 0; region < %s_REGIONS && "
               "code == %s_OK; region++)\n",
               codegen->upper, codegen->upper, codegen->upper);
    add_list(out, head, n, items, ");\n", (int)strlen(head));
    str_add(out, "    return code;\n}\n");
}

/* NAME_run with sizes. */
static void add_entry_of_variants(struct codegen *codegen, struct str *out)
{
    const char *sizes[MAX_SYMBOLS];
    const int n = add_sizes(codegen, sizes, false);

    add_size_lookups(codegen, out);
    add_variants(codegen, out);
    add_prototype(codegen, out, false, ")\n{\n");
    add_list(out, "    const int row = row_of(", n, sizes, ");\n\n", 27);
    add_checks(codegen, out);
    add_variant_choice(codegen, out);
    str_printf(out, "    return %s_OK;\n}\n", codegen->upper);
}

void add_entry(struct codegen *codegen, struct str *out)
{
    const bool by_steps = codegen->options->step && !codegen->options->ships &&
                          codegen->n_regions > 0 && most_guards(codegen) == 0;

    if (codegen->module->variants) {
        add_entry_of_variants(codegen, out);
        return;
    }
    add_state_reset(codegen, out);
    if (codegen->options->step)
        add_step(codegen, out);
    add_prototype(codegen, out, false, ")\n{\n");
    if (by_steps) {
        add_run_by_steps(codegen, out);
        return;
    }
    add_checks(codegen, out);
    add_pointers(codegen, out, 0, false);
    add_calls(codegen, out, 0);
    add_state_copies(codegen, out, 4);
    str_printf(out, "    return %s_OK;\n}\n", codegen->upper);
}
