/* emit_calls.c - the calls of the regions, and the conditions around them. */
#include "codegen_c/emit/emit_calls.h"

#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/emit/emit_entry.h"
#include "codegen_c/emit/emit_loops.h"
#include "codegen_c/emit/guard.h"
#include "codegen_c/expr/slots.h"

const struct block *scratch_block(const struct codegen *codegen, int region)
{
    const struct block *block = &codegen->plan.blocks[codegen->plan.n_blocks - 1];

    while (block->value || block->first != region)
        block--;
    return block;
}

bool is_given(const struct region *region, int input)
{
    return !(region->place.in_place && region->place.over == input) && /* is the result as well */
           !(region->place.absent && region->place.absent[input]);
}

/* "&base[4096]", with a slot */
static const char *scratch_text(struct codegen *codegen, int region)
{
    const struct block *block = scratch_block(codegen, region);

    return pool_address(codegen, block->pool, block->offset);
}

/* The region's operands; `loop`: of its first round, for each. */
static int list_operands(struct codegen *codegen, const struct region *region,
                         const struct call_loop *loop, const char **items)
{
    const struct node *call = region->call;
    int n = 0;

    for (int i = 0; i < call->n_inputs; i++)
        if (is_given(region, i))
            items[n++] = entry_name(codegen, call->inputs[i]);
    for (int i = 0; i < call->n_outputs; i++)
        items[n++] = entry_name(codegen, call->outputs[i]);
    if (region->config.scratch_bytes)
        items[n++] = scratch_text(codegen, region->index);
    for (int i = 0; i < n && loop; i++)
        items[i] = loop_argument(codegen, loop, region->index, i);
    return n;
}

static void add_plain_call(struct codegen *codegen, struct str *out, const struct region *region,
                           const struct call_loop *loop, int indent)
{
    const struct node *call = region->call;
    struct arena *arena = &codegen->arena;
    const struct emitted *emitted = &codegen->emitted[region->index];
    const char **items =
        arena_array(arena, const char *, call->n_inputs + call->n_outputs + 2 + emitted->n_arrays);
    const bool tested = region->external || kernel_fails(region);
    const char *head =
        arena_printf(arena, "%*s%s%s(", indent, "", tested ? "if (" : "", region->c_name);
    const char *number =
        loop ? loop_region(codegen, loop, region->index) : arena_printf(arena, "%d", region->index);
    int n = 0;

    add_guard_before(codegen, out, number, indent);
    if (emitted->shape)
        items[n++] = arena_printf(arena, "&%s", emitted->shape_type ? "shape" : emitted->shape);
    n += list_operands(codegen, region, loop, items + n);
    for (int i = 0; i < emitted->n_arrays; i++)
        items[n++] = emitted->arrays[i]->expression;
    add_list(out, head, n, items, tested ? ") != 0)\n" : ");\n", (int)strlen(head));
    if (kernel_fails(region))
        str_printf(out, "%*sreturn %s_WRONG_NUMBER;\n", indent + 4, "", codegen->upper);
    else if (region->external)
        str_printf(out, "%*sreturn %s_REGION_FAILED + %d;\n", indent + 4, "", codegen->upper,
                   region->index);
    add_guard_after(codegen, out, number, indent);
}

void add_call(struct codegen *codegen, struct str *out, const struct region *region, int indent)
{
    const struct emitted *emitted = &codegen->emitted[region->index];

    if (!emitted->shape_type) {
        add_plain_call(codegen, out, region, NULL, indent);
        return;
    }
    str_printf(out, "%*s{\n%*s" SLOT_STATIC "const struct %s shape = { %s };\n\n", indent, "",
               indent + 4, "", emitted->shape_type, emitted->shape);
    add_plain_call(codegen, out, region, NULL, indent + 4);
    str_printf(out, "%*s}\n", indent, "");
}

int most_guards(const struct codegen *codegen)
{
    int most = 0;

    for (int r = 0; r < codegen->n_regions; r++)
        if (codegen->regions[r].guards.n > most)
            most = codegen->regions[r].guards.n;
    return most;
}

static bool same_guard(const struct guard *a, const struct guard *b)
{
    return a->condition == b->condition && a->when == b->when;
}

/* Brackets that stand open. */
struct brackets {
    int indent; /* outside of them */
    struct guards guards;
    bool *is_else; /* [guards.n] */
};

static struct brackets no_brackets(struct codegen *codegen, int indent)
{
    struct arena *arena = &codegen->arena;
    const int most = most_guards(codegen);

    return (struct brackets){ indent,
                              { 0, arena_array(arena, struct guard, most) },
                              arena_array(arena, bool, most) };
}

/* The brackets around the next region (NULL: none), in a loop of its first round. What closes a condition and opens its
 * opposite is an else. */
static void change_guards(struct codegen *codegen, struct str *out, struct brackets *open,
                          const struct region *region, const struct call_loop *loop)
{
    const struct guards none = { 0, NULL }, *to = region ? &region->guards : &none;
    struct guards *from = &open->guards;
    int common = 0;
    bool opposite;

    while (common < from->n && common < to->n && same_guard(&from->at[common], &to->at[common]))
        common++;
    opposite = common < from->n && common < to->n && !open->is_else[common] &&
               from->at[common].condition == to->at[common].condition;
    while (from->n > common) {
        from->n--;
        str_printf(out, "%*s}%s", open->indent + 4 * from->n, "",
                   from->n == common && opposite ? " else {\n" : "\n");
    }
    for (; from->n < to->n; from->n++) {
        const struct guard *guard = &to->at[from->n];

        open->is_else[from->n] = opposite && from->n == common;
        if (!open->is_else[from->n])
            str_printf(out, "%*sif (%s*%s) {\n", open->indent + 4 * from->n, "",
                       guard->when ? "" : "!",
                       loop ? loop_condition(codegen, loop, region->index, from->n)
                            : entry_name(codegen, guard->condition));
        from->at[from->n] = *guard;
    }
}

static void add_loop(struct codegen *codegen, struct str *out, const struct call_loop *loop)
{
    struct brackets open = no_brackets(codegen, 8);

    add_loop_head(codegen, out, loop);
    for (int r = loop->first; r < loop->first + loop->period; r++) {
        change_guards(codegen, out, &open, &codegen->regions[r], loop);
        add_plain_call(codegen, out, &codegen->regions[r], loop, 8 + 4 * open.guards.n);
    }
    change_guards(codegen, out, &open, NULL, loop);
    str_add(out, "    }\n");
}

void add_step_of_loop(struct codegen *codegen, struct str *out, const struct call_loop *loop)
{
    add_loop_step_head(codegen, out, loop);
    if (loop->period == 1) {
        add_plain_call(codegen, out, &codegen->regions[loop->first], loop, 8);
        return;
    }
    for (int r = loop->first; r < loop->first + loop->period; r++) {
        if (r + 1 < loop->first + loop->period)
            str_printf(out, "        case %d:\n", r - loop->first);
        else
            str_add(out, "        default:\n");
        add_plain_call(codegen, out, &codegen->regions[r], loop, 12);
        str_add(out, "            break;\n");
    }
    str_add(out, "        }\n");
}

void add_calls(struct codegen *codegen, struct str *out, int variant)
{
    struct brackets open = no_brackets(codegen, 4);

    for (int r = 0; r < codegen->n_regions; r++) {
        const struct call_loop *loop = loop_at(codegen, r);

        if (codegen->regions[r].variant != variant)
            continue;
        change_guards(codegen, out, &open, loop ? NULL : &codegen->regions[r], NULL);
        if (loop) {
            add_loop(codegen, out, loop);
            r += loop->period * loop->count - 1;
        } else {
            add_call(codegen, out, &codegen->regions[r], 4 + 4 * open.guards.n);
        }
    }
    change_guards(codegen, out, &open, NULL, NULL);
}
