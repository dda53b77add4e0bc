/* kernel.c - kernels.def as a table, and the choice from it. */
#include "codegen_c/select/kernel.h"

#include <string.h>

#include "codegen_c/expr/scalar.h"
#include "codegen_c/plan/depth_first/stripe.h"

static const struct kernel kernels[] = {
#define KERNEL(name, anchor, accepts_function, bind_function, in_place)                            \
    { #name, OP_##anchor, accepts_function, bind_function, in_place },
#define PITCHED(name, reads_function, writes_function)
#define LEADS(name, leads_function)
#define SPARES(name, scratch_function)
#include "codegen_c/select/kernels.def"
#undef KERNEL
#undef PITCHED
#undef LEADS
#undef SPARES
};

static const struct pitched {
    const char *name;
    bool (*reads)(const struct region *region, int input);
    bool (*writes)(const struct region *region);
} pitched[] = {
#define KERNEL(name, anchor, accepts_function, bind_function, in_place)
#define PITCHED(name, reads_function, writes_function) { #name, reads_function, writes_function },
#define LEADS(name, leads_function)
#define SPARES(name, scratch_function)
#include "codegen_c/select/kernels.def"
#undef KERNEL
#undef PITCHED
#undef LEADS
#undef SPARES
};

static const struct leading {
    const char *name;
    bool (*leads)(const struct region *region, struct lead *lead);
} leading[] = {
#define KERNEL(name, anchor, accepts_function, bind_function, in_place)
#define PITCHED(name, reads_function, writes_function)
#define LEADS(name, leads_function) { #name, leads_function },
#define SPARES(name, scratch_function)
#include "codegen_c/select/kernels.def"
#undef KERNEL
#undef PITCHED
#undef LEADS
#undef SPARES
};

static const struct sparing {
    const char *name;
    size_t (*scratch)(const struct region *region);
} sparing[] = {
#define KERNEL(name, anchor, accepts_function, bind_function, in_place)
#define PITCHED(name, reads_function, writes_function)
#define LEADS(name, leads_function)
#define SPARES(name, scratch_function) { #name, scratch_function },
#include "codegen_c/select/kernels.def"
#undef KERNEL
#undef PITCHED
#undef LEADS
#undef SPARES
};

enum { N_KERNELS = sizeof kernels / sizeof *kernels };

/* Takes regions of every anchor, so it is no row of the table. */
static const struct kernel nothing = { "nothing", OP_COUNT, accepts_nothing, bind_nothing, true };

/* For functions of calls, which are no regions of fuse_ops. */
static const struct kernel stripes = { "stripes", OP_CALL, accepts_stripes, bind_stripes, false };

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

/* All rows that accept the region, in order; *why of those that do not. */
static int accepting_rows(const struct region *region, const struct kernel **rows, const char **why)
{
    const enum op anchor = region->anchor ? region->anchor->op : OP_COUNT;
    int n = 0;

    for (size_t i = 0; i < N_KERNELS; i++)
        if (kernels[i].anchor == anchor && kernels[i].accepts(region, &why[i]))
            rows[n++] = &kernels[i];
    return n;
}

/* A row further down may have the name of one above: it takes more, but is not the usual one. */
static const struct kernel *choose_row(struct ctx *ctx, struct region *region, int n,
                                       const struct kernel *const *rows)
{
    const char **names = arena_array(&ctx->perm, const char *, n);
    const struct kernel **distinct = arena_array(&ctx->perm, const struct kernel *, n);
    const char *taken;
    int n_names = 0;

    for (int i = 0; i < n; i++) {
        int same = 0;

        while (same < n_names && strcmp(names[same], rows[i]->name) != 0)
            same++;
        if (same < n_names)
            continue;
        names[n_names] = rows[i]->name;
        distinct[n_names++] = rows[i];
    }
    taken = knob_take(ctx, region, KNOB_KERNEL, names[0], n_names, names);
    for (int i = 0; i < n_names; i++)
        if (names[i] == taken)
            return distinct[i];
    return distinct[0];
}

const struct kernel *kernel_choose(struct ctx *ctx, struct region *region)
{
    const enum op anchor = region->anchor ? region->anchor->op : OP_COUNT;
    const char *why[N_KERNELS] = { 0 };
    const struct kernel *rows[N_KERNELS];
    bool any = false;
    int n;

    if (stripes.accepts(region, &why[0]))
        return &stripes;
    if (nothing.accepts(region, &why[0]))
        return &nothing;
    if (!scalar_accepts(&ctx->perm, region, &why[0])) {
        refuse(ctx, region);
        diag_note(ctx, "%s", why[0]);
        diag_help(ctx, "export the model in float32, or compute this part outside of it");
        return NULL;
    }
    n = accepting_rows(region, rows, why);
    if (n)
        return choose_row(ctx, region, n, rows);
    refuse(ctx, region);
    for (size_t i = 0; i < N_KERNELS; i++)
        if (kernels[i].anchor == anchor) {
            diag_note(ctx, "%s: %s", kernels[i].name, why[i] ? why[i] : "refused");
            any = true;
        }
    if (!any)
        diag_note(ctx, "there is no kernel for this operator");
    diag_help(ctx, "%scompute this part outside of the model",
              refused_type(region)->dtype == DTYPE_F32 ? "" : "export the model in float32, or ");
    return NULL;
}

const struct kernel *kernel_usual(const struct region *region)
{
    const enum op anchor = region->anchor ? region->anchor->op : OP_COUNT;
    const char *why;

    for (size_t i = 0; i < N_KERNELS; i++)
        if (kernels[i].anchor == anchor && kernels[i].accepts(region, &why))
            return &kernels[i];
    return NULL;
}

const struct kernel *kernel_named(const struct region *region, const char *name)
{
    const enum op anchor = region->anchor ? region->anchor->op : OP_COUNT;
    const char *why;

    for (size_t i = 0; i < N_KERNELS; i++)
        if (kernels[i].anchor == anchor && strcmp(kernels[i].name, name) == 0 &&
            kernels[i].accepts(region, &why))
            return &kernels[i];
    return NULL;
}

static const struct pitched *find_pitched(const struct region *region)
{
    for (size_t i = 0; region->kernel && i < sizeof pitched / sizeof *pitched; i++)
        if (strcmp(pitched[i].name, region->kernel->name) == 0)
            return &pitched[i];
    return NULL;
}

bool kernel_reads_pitched(const struct region *region, int input)
{
    const struct pitched *row = find_pitched(region);

    return row && row->reads(region, input);
}

bool kernel_writes_pitched(const struct region *region)
{
    const struct pitched *row = find_pitched(region);

    return row && row->writes(region);
}

/* The compiler may take accesses of different types apart, but for those of bytes. */
static bool may_share_memory(enum dtype a, enum dtype b)
{
    return a == b || dtype_bytes(a) == 1 || dtype_bytes(b) == 1;
}

bool kernel_leads(const struct region *region, struct lead *lead)
{
    const struct leading *row = NULL;
    const struct value *x;

    if (!region->kernel || !region->anchor || region->fn->ret->n_inputs != 1)
        return false;
    for (size_t i = 0; i < sizeof leading / sizeof *leading; i++)
        if (strcmp(leading[i].name, region->kernel->name) == 0)
            row = &leading[i];
    x = anchor_source(region, 0);
    if (!row || x->kind != VALUE_PARAM || value_n_uses(x) != 1 ||
        value_n_uses(region->anchor->inputs[0]) != 1 ||
        !may_share_memory(x->type.dtype, region->fn->ret->inputs[0]->type.dtype))
        return false;
    *lead = (struct lead){ .param = x->index };
    return row->leads(region, lead);
}

size_t kernel_spares(const struct region *region)
{
    for (size_t i = 0; region->kernel && i < sizeof sparing / sizeof *sparing; i++)
        if (strcmp(sparing[i].name, region->kernel->name) == 0)
            return sparing[i].scratch(region);
    return 0;
}
