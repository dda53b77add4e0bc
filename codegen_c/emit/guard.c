#include "codegen_c/emit/guard.h"

#include <stdlib.h>

#include "base/embedded.h"
#include "codegen_c/core/comments.h"
#include "codegen_c/emit/emit_entry.h"
#include "codegen_c/emit/emit_state.h"
#include "codegen_c/text/template.h"

static const char path[] = "templates/helpers/guard.c.tmpl";

void add_guard_header(struct codegen *codegen, struct str *out)
{
    const char *name = codegen->options->name;

    if (!is_guarded(codegen))
        return;
    str_printf(out,
               "/* What was found when a function returned %s_OVERRUN:\n"
               " * the region's function wrote behind `tensor` or in front of `next` (\"\": the "
               "arena's ends),\n"
               " * at this byte of %s. */\n"
               "extern struct %s_overrun {\n    const char *region, *tensor, *next;\n    size_t "
               "offset;\n} %s_overrun;\n\n",
               codegen->upper, codegen->options->n_pools ? "its pool" : "the arena", name, name);
}

static int by_offset(const void *left, const void *right)
{
    const struct block *a = *(const struct block *const *)left;
    const struct block *b = *(const struct block *const *)right;

    if (a->pool != b->pool)
        return a->pool - b->pool;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->first - b->first;
}

/* Those that are empty would cut a gap in two. */
static void add_blocks(struct codegen *codegen, struct str *out)
{
    const struct plan *plan = &codegen->plan;
    const struct block **sorted =
        arena_array(&codegen->arena, const struct block *, plan->n_blocks);
    int n = 0;

    for (int i = 0; i < plan->n_blocks; i++)
        if (plan->blocks[i].bytes)
            sorted[n++] = &plan->blocks[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_offset);
    str_printf(
        out,
        "enum { GUARD_BLOCKS = %d, GUARD_BYTE = 0xFF };\n\n"
        "/* By their pools (one without --pool) and offsets; alive from the first region to the "
        "last. */\n"
        "static const struct {\n    size_t offset, bytes;\n    int pool, first, last;\n"
        "    const char *name;\n} guard_blocks[GUARD_BLOCKS] = {\n",
        n);
    for (int i = 0; i < n; i++)
        str_printf(out, "    { %zu, %zu, %d, %d, %d, \"%s\" },\n", sorted[i]->offset,
                   sorted[i]->bytes, sorted[i]->pool, sorted[i]->first, sorted[i]->last,
                   sorted[i]->value ? c_identifier(&codegen->arena, sorted[i]->value->name)
                                    : arena_printf(&codegen->arena, "scratch of %s",
                                                   codegen->regions[sorted[i]->first].c_name));
    str_printf(out, "};\n\nstatic const char *const guard_regions[] = {\n");
    for (int r = 0; r < codegen->n_regions; r++)
        str_printf(out, "    \"%s\",\n", codegen->regions[r].c_name);
    str_add(out, "};\n\n");
}

void add_guard(struct codegen *codegen, struct str *out)
{
    struct keys keys;

    if (!is_guarded(codegen))
        return;
    keys_init(&keys, &codegen->arena);
    keys_offer(&keys, "name", codegen->options->name);
    keys_offer(&keys, "upper", codegen->upper);
    keys_set_flag(&keys, "arrays", !io_is_inside(codegen));
    add_section(out, "guard");
    add_blocks(codegen, out);
    if (!template_expand(codegen->ctx, path, embedded_find(path)->text, &keys, out))
        diag_error(codegen->ctx, DIAG_INTERNAL, NULL, "the template of --guard is wrong");
}

/* "base_dtcm, 0, NET_ARENA_DTCM_BYTES" */
static const char *pool_arguments(struct codegen *codegen, int pool)
{
    const struct codegen_pool *of = codegen->plan.pools[pool].of;

    return arena_printf(&codegen->arena, "%s, %d, %s_ARENA_%s%sBYTES", pool_base(codegen, pool),
                        pool, codegen->upper, of ? upper_case(&codegen->arena, of->name) : "",
                        of ? "_" : "");
}

void add_guard_entry(struct codegen *codegen, struct str *out)
{
    const struct plan *plan = &codegen->plan;
    const int n_params = count_inputs(codegen->module);

    if (!is_guarded(codegen) || io_is_inside(codegen))
        return;
    str_add(out, "    if (guard_overlap((const struct guard_array[]){\n");
    for (int i = 0; i < entry_arrays(codegen); i++) {
        const char *name;
        const struct value *value = entry_array(codegen, i, &name);

        str_printf(out, "            { (uintptr_t)%s, %zu, %d },\n", name, type_bytes(&value->type),
                   i >= n_params);
    }
    if (has_state(codegen))
        str_printf(out, "            { (uintptr_t)state, %zu, 1 },\n", state_bytes(codegen));
    for (int p = 0; p < plan->n_pools; p++)
        if (plan->pools[p].bytes)
            str_printf(out, "            { (uintptr_t)%s, %zu, 1 },\n", pool_arena(codegen, p),
                       plan->pools[p].bytes);
    str_printf(out, "            { 0, 0, 0 } }))\n        return %s_OVERLAP;\n", codegen->upper);
}

void add_guard_before(struct codegen *codegen, struct str *out, const char *region, int indent)
{
    for (int p = 0; p < codegen->plan.n_pools && is_guarded(codegen); p++)
        if (codegen->plan.pools[p].bytes)
            str_printf(out, "%*sguard_before(%s, %s);\n", indent, "", pool_arguments(codegen, p),
                       region);
}

void add_guard_after(struct codegen *codegen, struct str *out, const char *region, int indent)
{
    for (int p = 0; p < codegen->plan.n_pools && is_guarded(codegen); p++)
        if (codegen->plan.pools[p].bytes)
            str_printf(out, "%*sif (guard_after(%s, %s))\n%*sreturn %s_OVERRUN;\n", indent, "",
                       pool_arguments(codegen, p), region, indent + 4, "", codegen->upper);
}
