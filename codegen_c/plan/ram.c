/* ram.c - --ram: whether the arena fits, and what stands at its peak where it does not. */
#include "codegen_c/plan/ram.h"

#include <stdlib.h>

#include "codegen_c/core/state.h"
#include "codegen_c/core/stripe.h"

enum { MOST_NAMED = 4 }; /* blocks in the message */

static int compare_blocks(const void *a, const void *b)
{
    const struct block *x = *(const struct block *const *)a, *y = *(const struct block *const *)b;

    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : (x > y) - (x < y);
}

/* "while region_conv5 runs: relu6_5 1204224 bytes, conv_4 200704" */
static void note_peak(struct codegen *codegen, int region)
{
    const struct plan *plan = &codegen->plan;
    struct arena *arena = &codegen->ctx->perm;
    const struct block **blocks = arena_array(arena, const struct block *, plan->n_blocks);
    struct str text = { .arena = arena };
    int n = 0;

    for (int i = 0; i < plan->n_blocks; i++)
        if (plan->blocks[i].first <= region && region <= plan->blocks[i].last)
            blocks[n++] = &plan->blocks[i];
    qsort(blocks, (size_t)n, sizeof *blocks, compare_blocks);
    for (int i = 0; i < n && i < MOST_NAMED; i++)
        str_printf(&text, "%s%s %zu", i ? ", " : "",
                   blocks[i]->value ? str_safe(arena, blocks[i]->value->name, 60)
                   : is_striped(codegen->regions[region].fn) ? "its buffers"
                                                             : "its scratch",
                   blocks[i]->bytes);
    if (n > MOST_NAMED)
        str_printf(&text, " and %d more", n - MOST_NAMED);
    diag_note(codegen->ctx, "most is alive while %s runs: %s", codegen->regions[region].c_name,
              str_text(&text));
}

static void note_stripes(struct codegen *codegen)
{
    int n = 0;

    for (int r = 0; r < codegen->n_regions; r++)
        n += is_striped(codegen->regions[r].fn);
    if (n)
        diag_note(
            codegen->ctx,
            "that is the least that was found, with %d group%s of layers in stripes; layer by "
            "layer it is %zu",
            n, n == 1 ? "" : "s", codegen->result->arena_whole_bytes);
    else
        diag_note(codegen->ctx, "to compute layers in stripes does not help");
}

bool ram_check(struct codegen *codegen)
{
    const struct plan *plan = &codegen->plan;
    const size_t wanted = codegen->options->ram;
    const size_t *alive;
    int peak = 0;

    if (!wanted || plan->arena_bytes <= wanted || codegen->options->ram_bytes)
        return true; /* compile judges by itself, and knows of a way out */
    alive = plan_alive(plan, &codegen->arena);
    for (int r = 1; r < codegen->n_regions; r++)
        if (alive[r] > alive[peak])
            peak = r;
    diag_error(codegen->ctx, DIAG_RAM, node_origin(codegen->regions[peak].call),
               "the arena takes %zu bytes, --ram allows %zu", plan->arena_bytes, wanted);
    note_peak(codegen, peak);
    note_stripes(codegen);
    if (codegen->regions[peak].config.winograd_tile && codegen->regions[peak].config.scratch_bytes)
        diag_help(codegen->ctx, "--winograd off does without %zu bytes of scratch there",
                  codegen->regions[peak].config.scratch_bytes);
    diag_help(codegen->ctx,
              "numbers of 8 bits (--precision int8 or fp8) take a quarter of floats; a "
              "smaller input (--shape) helps as well");
    return false;
}
