/* plan_variants.c - one arena for the variants of a network (--vary), of which one runs.
 *
 * needs    blocks of all variants, with scratch
 * gives    their offsets, and the arena's bytes: what the variant takes that needs most
 * method   each is packed by itself; the search for better offsets is only for those that decide. Then a variant takes
 *          the offsets of a larger one whose blocks are alive together in the same way, so that both have one text */
#include "codegen_c/core/plan.h"
#include "relay_ir/variants.h"

/* Blocks of a variant, in the order of plan->blocks. */
struct variant_blocks {
    int n, first_region;
    struct block **at;
};

/* Whether the blocks are alive together as those of a larger variant are, and fit into these. */
static bool fits_into(const struct variant_blocks *small, const struct variant_blocks *large)
{
    bool fits = small->n == large->n;

    for (int i = 0; fits && i < small->n; i++) {
        const struct block *a = small->at[i], *b = large->at[i];

        fits = a->bytes <= b->bytes && !a->before && !b->before &&
               a->first - small->first_region == b->first - large->first_region &&
               a->last - small->first_region == b->last - large->first_region;
    }
    return fits;
}

static struct variant_blocks *split_blocks(struct plan *plan, struct arena *arena,
                                           const struct region *regions, int n_variants)
{
    struct variant_blocks *split = arena_array(arena, struct variant_blocks, n_variants);

    for (int i = 0; i < plan->n_blocks; i++)
        split[regions[plan->blocks[i].first].variant].n++;
    for (int v = 0; v < n_variants; v++) {
        split[v].at = arena_array(arena, struct block *, split[v].n);
        split[v].n = 0;
    }
    for (int i = 0; i < plan->n_blocks; i++) {
        struct variant_blocks *own = &split[regions[plan->blocks[i].first].variant];

        own->at[own->n++] = &plan->blocks[i];
    }
    for (int r = plan->n_regions; r-- > 0;)
        split[regions[r].variant].first_region = r;
    return split;
}

/* One plan for as many variants as can have it: what is alive together is so in the larger one, where it does not
 * overlap. Their calls have the same offsets then. */
static void share_offsets(const struct variant_blocks *split, int n, struct arena *arena)
{
    int *leaders = arena_array(arena, int, n), n_leaders = 0;

    for (int v = 0; v < n; v++) {
        int k = 0;

        while (k < n_leaders && !fits_into(&split[v], &split[leaders[k]]))
            k++;
        if (k == n_leaders)
            leaders[n_leaders++] = v;
        else
            for (int i = 0; i < split[v].n; i++)
                split[v].at[i]->offset = split[leaders[k]].at[i]->offset;
    }
}

/* The blocks as one network's: `before` counts these. */
static struct block *copy_blocks(const struct plan *plan, struct arena *arena,
                                 const struct variant_blocks *of)
{
    struct block *copies = arena_array(arena, struct block, of->n);

    for (int i = 0; i < of->n; i++) {
        const struct block *before =
            of->at[i]->before ? &plan->blocks[of->at[i]->before - 1] : NULL;

        copies[i] = *of->at[i];
        for (int k = 0; k < of->n && before; k++)
            if (of->at[k] == before)
                copies[i].before = k + 1;
    }
    return copies;
}

static struct packing pack_variant(const struct plan *plan, struct arena *arena,
                                   const struct variant_blocks *of, uint64_t work)
{
    struct block *copies = copy_blocks(plan, arena, of);
    const struct packing packing = pack_blocks(arena, copies, of->n, work);

    for (int i = 0; i < of->n; i++)
        of->at[i]->offset = copies[i].offset;
    return packing;
}

void plan_pack_variants(struct plan *plan, struct arena *arena, const struct region *regions)
{
    const int n = count_variants(plan->main->module);
    struct variant_blocks *split = split_blocks(plan, arena, regions, n);

    for (int v = 0; v < n; v++) {
        struct packing packing = pack_variant(plan, arena, &split[v], v ? 0 : PACK_WORK);

        if (v && packing.bytes > plan->arena_bytes)
            packing = pack_variant(plan, arena, &split[v], PACK_WORK);
        if (packing.bytes > plan->arena_bytes)
            plan->arena_bytes = packing.bytes;
        if (packing.lower_bound > plan->lower_bound)
            plan->lower_bound = packing.lower_bound;
    }
    plan->optimal = plan->arena_bytes == plan->lower_bound;
    plan->pools[0].bytes = plan->arena_bytes;
    share_offsets(split, n, arena);
}
