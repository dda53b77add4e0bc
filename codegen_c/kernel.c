/* kernel.c - kernels.def as a table, and the choice from it. */
#include "codegen_c/kernel.h"

#include "codegen_c/scalar.h"

static const struct kernel kernels[] = {
#define KERNEL(name, anchor, accepts_function, bind_function, in_place)                            \
    { #name, OP_##anchor, accepts_function, bind_function, in_place },
#include "codegen_c/kernels.def"
#undef KERNEL
};

/* Takes regions of every anchor, so it is no row of the table. */
static const struct kernel nothing = { "nothing", OP_COUNT, accepts_nothing, bind_nothing, true };

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

const struct kernel *kernel_choose(struct ctx *ctx, const struct region *region)
{
    const enum op anchor = region->anchor ? region->anchor->op : OP_COUNT;
    const size_t n = sizeof kernels / sizeof *kernels;
    const char *why[sizeof kernels / sizeof *kernels] = { 0 };
    bool any = false;

    if (nothing.accepts(region, &why[0]))
        return &nothing;
    if (!scalar_accepts(&ctx->perm, region, &why[0])) {
        refuse(ctx, region);
        diag_note(ctx, "%s", why[0]);
        diag_help(ctx, "export the model in float32, or compute this part outside of it");
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (kernels[i].anchor == anchor && kernels[i].accepts(region, &why[i]))
            return &kernels[i];
    refuse(ctx, region);
    for (size_t i = 0; i < n; i++)
        if (kernels[i].anchor == anchor) {
            diag_note(ctx, "%s: %s", kernels[i].name, why[i] ? why[i] : "refused");
            any = true;
        }
    if (!any)
        diag_note(ctx, "there is no kernel for this operator");
    diag_help(ctx, "export the model in float32, or compute this part outside of it");
    return NULL;
}
