/* plan_attempts.c - one plan after the other, each from the module on, until one fits: better
 * orders, layers in stripes, pools. */
#include "codegen_c/plan/plan_attempts.h"

#include "codegen_c/core/state.h"
#include "codegen_c/core/stripe.h"
#include "codegen_c/plan/in_place_only.h"
#include "codegen_c/plan/plan_once.h"

/* Times that the order may change: scratch depends a little on it, so that two orders could each be
 * the better one by the other's scratch. */
enum { ORDERS = 3 };

/* What the network takes without this planner, layer by layer. */
static void note_unplanned(struct codegen *codegen)
{
    struct in_place_only needed;

    for (int r = 0; r < codegen->n_regions; r++)
        if (is_striped(codegen->regions[r].fn))
            return;
    needed = plan_in_place_only(&codegen->plan, &codegen->arena, codegen->regions);
    codegen->result->arena_naive_bytes = codegen->plan.naive_bytes;
    codegen->result->arena_in_place_bytes = needed.bytes;
    codegen->result->arena_in_place_alive = needed.alive;
}

/* From the module to a packed arena; main may have got another order. */
static bool plan_all(struct codegen *codegen, const struct codegen *fresh)
{
    bool again = true, ok = codegen_prepare(codegen, &again);

    for (int i = 1; ok && again; i++) {
        arena_release(&codegen->arena);
        module_sweep(fresh->module);
        *codegen = *fresh;
        again = i < ORDERS;
        ok = codegen_prepare(codegen, &again);
    }
    if (!ok || !codegen_pack(codegen))
        return false;
    note_unplanned(codegen);
    return true;
}

static bool plan_anew(struct codegen *codegen, const struct codegen *fresh)
{
    arena_release(&codegen->arena);
    module_sweep(fresh->module);
    *codegen = *fresh;
    return plan_all(codegen, fresh);
}

/* Times that a plan with stripes may turn out to need more than the search had reckoned. */
enum { STRIPE_TRIALS = 4 };

/* The plan for `wanted` bytes. As the search reckons with less than what layers as they are take,
 * `whole`, it may find no stripes needed: then for less and less, until it does. */
static struct stripe_plan less_than_whole(struct stripe_search *search, size_t wanted, size_t whole)
{
    struct stripe_plan plan = stripe_search_plan(search, wanted);

    while (plan.n == 0 && plan.bytes <= wanted && whole - wanted < wanted) {
        wanted -= whole - wanted + 1;
        plan = stripe_search_plan(search, wanted);
    }
    return plan;
}

/* Where the arena takes more than it may: parts of the network in stripes. The smallest arena that
 * was found stays, which is the one without stripes where these do not help. */
static bool plan_stripes(struct codegen *codegen, const struct codegen *fresh)
{
    const size_t ram = codegen->ram, whole = codegen->plan.arena_bytes;
    struct arena arena = { NULL };
    struct stripe_search *search;
    struct stripe_plan best = { .bytes = whole }, tried = { .n = 0 };
    size_t wanted = ram;
    bool ok = true;

    if (!ram || whole <= ram)
        return true;
    search = stripe_search_new(&arena, &codegen->plan, codegen->regions);
    for (int i = 0; ok && i < STRIPE_TRIALS && best.bytes > ram; i++) {
        tried = less_than_whole(search, wanted, whole);
        if (tried.n == 0)
            break;
        ok = stripes_outline(codegen->module, &tried) && plan_anew(codegen, fresh);
        if (!ok)
            break;
        if (codegen->plan.arena_bytes < best.bytes) {
            best = tried;
            best.bytes = codegen->plan.arena_bytes;
        }
        if (codegen->plan.arena_bytes <= ram)
            break;
        ok = stripes_inline(codegen->module);
        wanted = tried.bytes - (codegen->plan.arena_bytes - tried.bytes) - 1;
        if (tried.bytes > ram || codegen->plan.arena_bytes <= tried.bytes) /* no plan needs less */
            break;
    }
    if (ok && codegen->plan.arena_bytes > ram)
        ok = (best.n == 0 || stripes_outline(codegen->module, &best)) && plan_anew(codegen, fresh);
    codegen->result->arena_whole_bytes = whole;
    arena_release(&arena);
    return ok;
}

/* Whether layers are striped for speed: nothing is said of memory, and the third cache is far.
 * Parts that run side by side are of whole layers. */
static bool wants_fast_stripes(const struct codegen *codegen)
{
    const struct codegen_options *options = codegen->options;

    return codegen->machine->far_l3 && !options->ram && !options->n_pools && options->parts <= 1 &&
           !options->optimize_size;
}

/* Stripes that keep feature maps in the second cache, unless the arena would be larger. */
static bool plan_fast_stripes(struct codegen *codegen, const struct codegen *fresh)
{
    const size_t whole = codegen->plan.arena_bytes;
    struct arena arena = { NULL };
    struct stripe_plan plan;
    bool ok = true;

    plan = stripe_search_fast(stripe_search_new(&arena, &codegen->plan, codegen->regions),
                              codegen->machine->l2_bytes);
    if (plan.n > 0) {
        ok = stripes_outline(codegen->module, &plan) && plan_anew(codegen, fresh);
        if (ok && codegen->plan.arena_bytes > whole)
            ok = stripes_inline(codegen->module) && plan_anew(codegen, fresh);
        codegen->result->arena_whole_bytes = whole;
    }
    arena_release(&arena);
    return ok;
}

/* Stripes as for one arena of `ram` bytes, and then into the pools. */
static bool plan_striped_pools(struct codegen *codegen, const struct codegen *fresh, size_t ram)
{
    struct codegen one = *fresh;

    one.one_arena = true;
    one.ram = ram;
    return stripes_inline(fresh->module) && plan_anew(codegen, &one) &&
           plan_stripes(codegen, &one) && plan_anew(codegen, fresh);
}

static bool fits_ram(const struct codegen *codegen)
{
    return !codegen->options->ram || codegen->plan.arena_bytes <= codegen->options->ram;
}

/* With --pool. Where layers do not fit as they are, they are computed in stripes: for as much as
 * the pools have together, then for the greatest alone, as blocks lie in one pool or another. */
static bool plan_pools_and_stripes(struct codegen *codegen, const struct codegen *fresh)
{
    const struct codegen_options *options = codegen->options;
    struct diags saved = diag_save(codegen->ctx);
    size_t sum = 0, greatest = 0, most[2];
    bool whole, ok;

    for (int p = 0; p < options->n_pools; p++)
        if (options->pools[p].takes != POOL_OF_CONSTANTS) {
            sum += options->pools[p].bytes;
            greatest = options->pools[p].bytes > greatest ? options->pools[p].bytes : greatest;
        }
    if (options->ram && options->ram < sum)
        sum = options->ram;
    most[0] = sum;
    most[1] = greatest < sum ? greatest : 0;
    whole = plan_all(codegen, fresh);
    ok = whole && fits_ram(codegen);
    if (ok && codegen->ctx->diags.n_warnings) { /* once more, for these */
        diag_restore(codegen->ctx, saved);
        return plan_anew(codegen, fresh);
    }
    if (!whole && codegen->ctx->diags.latest->code != DIAG_RAM)
        most[0] = most[1] = 0;
    for (int i = 0; i < 2 && !ok && most[i]; i++) {
        diag_restore(codegen->ctx, saved);
        saved = diag_save(codegen->ctx);
        whole = plan_striped_pools(codegen, fresh, most[i]);
        ok = whole && fits_ram(codegen);
    }
    diag_restore(codegen->ctx, saved);
    if (whole) /* --ram is for the caller to judge */
        return true;
    ok = stripes_inline(fresh->module) && plan_anew(codegen, fresh); /* for its errors */
    if (!ok && most[0])
        diag_note(codegen->ctx, "layers in stripes do not fit either (docs/guide/memory.md)");
    return ok;
}

/* Variants come with orders and stripes of their own, and share what they need. */
static bool plan_variants(struct codegen *codegen)
{
    bool again = false;

    if (!codegen_prepare(codegen, &again) || !codegen_pack(codegen))
        return false;
    codegen->result->arena_naive_bytes = codegen->options->largest->arena_naive_bytes;
    codegen->result->arena_in_place_bytes = codegen->options->largest->arena_in_place_bytes;
    codegen->result->arena_in_place_alive = codegen->options->largest->arena_in_place_alive;
    return true;
}

bool plan_until_fits(struct codegen *codegen, const struct codegen *fresh)
{
    const struct codegen_options *options = codegen->options;
    const bool fast = wants_fast_stripes(fresh);

    if (fresh->module->variants)
        return plan_variants(codegen);
    if ((options->ram || options->n_pools || fast) && !stripes_inline(fresh->module))
        return false; /* of a call before */
    if (options->n_pools)
        return plan_pools_and_stripes(codegen, fresh);
    return plan_all(codegen, fresh) &&
           (fast ? plan_fast_stripes(codegen, fresh) : plan_stripes(codegen, fresh));
}
