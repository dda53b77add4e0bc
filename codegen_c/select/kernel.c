/* kernel.c - the choice among the kernels of kernels.def. */
#include "codegen_c/core/kernel.h"

#include <string.h>

#include "base/embedded.h"
#include "codegen_c/core/stripe.h"
#include "codegen_c/expr/scalar.h"

static const struct entry {
    const struct kernel *kernel;
    bool late;
} entries[] = {
#define KERNEL(name) { &kernel_##name, false },
#define LATE(name) { &kernel_##name, true },
#include "codegen_c/core/kernels.def"
#undef KERNEL
#undef LATE
};

enum { N_ENTRIES = sizeof entries / sizeof *entries };

const struct embedded_file *kernel_template(struct arena *arena, const struct kernel *kernel)
{
    return embedded_find_below("templates/kernels/",
                               arena_printf(arena, "%s.c.tmpl", kernel->name));
}

static bool has_operator(const struct kernel_form *form, enum op op)
{
    for (const enum op *at = form->operators; *at != (enum op)OPS_END; at++)
        if (*at == op)
            return true;
    return false;
}

static enum op anchor_op(const struct region *region)
{
    return region->anchor ? region->anchor->op : OP_COUNT;
}

/* The entry's form for the region's anchor; NULL = it has none. */
static const struct kernel_form *form_of(const struct entry *entry, const struct region *region)
{
    for (const struct kernel_form *form = entry->kernel->forms; form->operators; form++)
        if (form->late == entry->late && has_operator(form, anchor_op(region)))
            return form;
    return NULL;
}

static const struct type *refused_type(const struct region *region)
{
    const struct node *node = region->anchor ? region->anchor : region->fn->first;

    return node->n_inputs && node->inputs[0] ? &node->inputs[0]->type : &node->outputs[0]->type;
}

static void refuse(struct ctx *ctx, const struct region *region)
{
    diag_error(ctx, DIAG_NO_KERNEL, node_origin(region->call), "no kernel takes %s of %s",
               region->anchor ? op_name(region->anchor->op) : "this element-wise chain",
               type_text(&ctx->perm, refused_type(region)));
}

/* A kernel that takes the region, and how. */
struct candidate {
    const struct kernel *kernel;
    const struct kernel_form *form;
};

static bool has_candidate(int n, const struct candidate *candidates, const struct kernel *kernel)
{
    for (int i = 0; i < n; i++)
        if (candidates[i].kernel == kernel)
            return true;
    return false;
}

/* All that accept the region, in order, each kernel once; *why of the entries that do not. */
static int candidates_of(const struct region *region, struct candidate *taken, const char **why)
{
    int n = 0;

    for (int i = 0; i < N_ENTRIES; i++) {
        const struct kernel_form *form = form_of(&entries[i], region);

        if (!form || !form->accepts(region, &why[i]) || has_candidate(n, taken, entries[i].kernel))
            continue;
        taken[n++] = (struct candidate){ entries[i].kernel, form };
    }
    return n;
}

static const struct kernel *choose_candidate(struct ctx *ctx, struct region *region, int n,
                                             const struct candidate *candidates)
{
    const char **names = arena_array(&ctx->perm, const char *, n);
    const char *taken;
    int chosen = 0;

    for (int i = 0; i < n; i++)
        names[i] = candidates[i].kernel->name;
    taken = knob_take(ctx, region, KNOB_KERNEL, names[0], n, names);
    for (int i = 0; i < n; i++)
        if (names[i] == taken)
            chosen = i;
    region->config.form = candidates[chosen].form;
    return candidates[chosen].kernel;
}

static void list_refusals(struct ctx *ctx, const struct region *region, const char *const *why)
{
    bool any = false;

    for (int i = 0; i < N_ENTRIES; i++)
        if (form_of(&entries[i], region)) {
            diag_note(ctx, "%s: %s", entries[i].kernel->name, why[i] ? why[i] : "refused");
            any = true;
        }
    if (!any)
        diag_note(ctx, "there is no kernel for this operator");
}

/* Kernels of every anchor, which are not in the table. */
static bool takes_any(const struct kernel *kernel, struct region *region, const char **why)
{
    if (!kernel->forms[0].accepts(region, why))
        return false;
    region->config.form = &kernel->forms[0];
    return true;
}

const struct kernel *kernel_choose(struct ctx *ctx, struct region *region)
{
    const char *why[N_ENTRIES] = { 0 };
    struct candidate candidates[N_ENTRIES];
    int n;

    if (takes_any(&kernel_stripes, region, &why[0]))
        return &kernel_stripes;
    if (takes_any(&kernel_nothing, region, &why[0]))
        return &kernel_nothing;
    if (!scalar_accepts(&ctx->perm, region, &why[0])) {
        refuse(ctx, region);
        diag_note(ctx, "%s", why[0]);
        diag_help(ctx, "export the model in float32, or compute this part outside of it");
        return NULL;
    }
    if (region->anchor && !anchor_decodes_all(region->anchor)) { /* it would be read as it is stored */
        refuse(ctx, region);
        diag_note(ctx, "no kernel of %s converts all inputs that its region converts",
                  op_name(region->anchor->op));
        return NULL;
    }
    n = candidates_of(region, candidates, why);
    if (n)
        return choose_candidate(ctx, region, n, candidates);
    refuse(ctx, region);
    list_refusals(ctx, region, why);
    diag_help(ctx, "%scompute this part outside of the model",
              refused_type(region)->dtype == DTYPE_F32 ? "" : "export the model in float32, or ");
    return NULL;
}

/* The first entry, of this name (NULL = any), that takes the region. */
static const struct entry *find_entry(const struct region *region, const char *name)
{
    const char *why;

    for (int i = 0; i < N_ENTRIES; i++) {
        const struct kernel_form *form = form_of(&entries[i], region);

        if (form && (!name || strcmp(entries[i].kernel->name, name) == 0) &&
            form->accepts(region, &why))
            return &entries[i];
    }
    return NULL;
}

const struct kernel *kernel_usual(const struct region *region)
{
    const struct entry *entry = find_entry(region, NULL);

    return entry ? entry->kernel : NULL;
}

const struct kernel *kernel_named(struct region *region, const char *name)
{
    const struct entry *entry = find_entry(region, name);

    if (!entry)
        return NULL;
    region->config.form = form_of(entry, region);
    return entry->kernel;
}

bool kernel_reads_strided(const struct region *region, int input)
{
    return region->config.kernel && region->config.kernel->reads_strided &&
           region->config.kernel->reads_strided(region, input);
}

bool kernel_writes_strided(const struct region *region)
{
    return region->config.kernel && region->config.kernel->writes_strided &&
           region->config.kernel->writes_strided(region);
}

/* The compiler may take accesses of different types apart, but for those of bytes. */
static bool may_share_memory(enum dtype a, enum dtype b)
{
    return a == b || dtype_bytes(a) == 1 || dtype_bytes(b) == 1;
}

bool kernel_overlaps(const struct region *region, struct overlap *overlap)
{
    const struct value *x;

    if (!region->config.kernel || !region->config.kernel->overlaps || !region->anchor ||
        region->fn->ret->n_inputs != 1)
        return false;
    x = anchor_source(region, 0);
    if (x->kind != VALUE_PARAM || value_n_uses(x) != 1 ||
        value_n_uses(region->anchor->inputs[0]) != 1 ||
        !may_share_memory(x->type.dtype, region->fn->ret->inputs[0]->type.dtype))
        return false;
    *overlap = (struct overlap){ .param = x->index };
    return region->config.kernel->overlaps(region, overlap);
}

bool kernel_fails(const struct region *region)
{
    return region->config.kernel && region->config.kernel->fails;
}

size_t kernel_spares(const struct region *region)
{
    return region->config.kernel && region->config.kernel->spares
               ? region->config.kernel->spares(region)
               : 0;
}
