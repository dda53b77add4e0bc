#include "report/diff.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/str.h"
#include "report/values.h"

const char *diff_state_name(enum diff_state state)
{
    static const char *const names[DIFF_STATES] = { "equal", "changed", "added", "removed" };

    return names[state];
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* --- facts ------------------------------------------------------------------------------------ */

static struct diff_fact text_fact(const char *what, const char *old, const char *new)
{
    return (struct diff_fact){ .what = what,
                               .old_text = old && *old ? old : "-",
                               .new_text = new &&*new ? new : "-",
                               .old_number = (double)NAN,
                               .new_number = (double)NAN,
                               .differs = !same_text(old ? old : "", new ? new : "") };
}

static struct diff_fact number_fact(struct arena *arena, const char *what, const char *unit,
                                    double old, double new)
{
    struct diff_fact fact = text_fact(what, isnan(old) ? "-" : arena_printf(arena, "%.17g", old),
                                      isnan(new) ? "-" : arena_printf(arena, "%.17g", new));

    fact.unit = unit;
    fact.old_number = old;
    fact.new_number = new;
    return fact;
}

static void add(struct diff_fact *facts, int *n, struct diff_fact fact)
{
    facts[(*n)++] = fact;
}

/* An older relayc did not say its version. */
static const char *version(const struct facts *facts)
{
    return facts->relayc ? facts->relayc : "0.1 or older";
}

static double if_measured(const struct facts *facts, double number)
{
    return facts->measured.compiler && number >= 0 ? number : (double)NAN;
}

static void compare_totals(struct arena *arena, struct diff *diff)
{
    enum { MOST = 20 };
    const struct facts *a = diff->old, *b = diff->new;
    const struct fact_measured *x = &a->measured, *y = &b->measured;
    struct diff_fact *f = diff->totals = arena_array(arena, struct diff_fact, MOST);
    const struct diff_fact *file = &f[0];
    int n = 0;

    add(f, &n, text_fact("file", a->model_file, b->model_file));
    add(f, &n, text_fact("relayc", version(a), version(b)));
    add(f, &n, text_fact("sha256", a->model_sha256, b->model_sha256));
    add(f, &n, text_fact("target", a->target, b->target));
    add(f, &n, text_fact("options", a->options, b->options));
    add(f, &n, number_fact(arena, "nodes", "", a->onnx_nodes, b->onnx_nodes));
    add(f, &n, number_fact(arena, "regions", "", a->n_regions, b->n_regions));
    add(f, &n, number_fact(arena, "MACs", "", a->macs, b->macs));
    add(f, &n, number_fact(arena, "weights", "bytes", a->weight_bytes, b->weight_bytes));
    add(f, &n, number_fact(arena, "arena", "bytes", a->arena_bytes, b->arena_bytes));
    add(f, &n, number_fact(arena, "in/outputs", "bytes", a->io_bytes, b->io_bytes));
    if (x->compiler || y->compiler) {
        add(f, &n, text_fact("compiler", x->compiler, y->compiler));
        add(f, &n,
            number_fact(arena, "flash", "bytes", if_measured(a, facts_flash(a)),
                        if_measured(b, facts_flash(b))));
        add(f, &n,
            number_fact(arena, "code", "bytes", if_measured(a, x->text), if_measured(b, y->text)));
        add(f, &n,
            number_fact(arena, "stack", "bytes", if_measured(a, x->stack),
                        if_measured(b, y->stack)));
    }
    diff->n_totals = n;
    for (int i = 0; i < n; i++) /* a copy under another name is the same model */
        diff->differs = diff->differs || (f[i].differs && &f[i] != file);
}

/* "conv1 + relu1" of the nodes that other has not. */
static const char *nodes_not_in(struct arena *arena, const struct fact_region *region,
                                const struct fact_region *other)
{
    struct str text = { .arena = arena };

    for (int i = 0; i < region->n_nodes; i++) {
        int k = 0;

        while (k < other->n_nodes && !same_text(other->nodes[k].key, region->nodes[i].key))
            k++;
        if (k == other->n_nodes)
            str_printf(&text, "%s%s", text.n ? " + " : "", region->nodes[i].key);
    }
    return str_text(&text);
}

static void compare_region(struct arena *arena, struct diff_region *region)
{
    enum { MOST = 10 };
    const struct fact_region *a = region->old, *b = region->new;
    struct diff_fact all[MOST];
    int n = 0;

    if (!region->is_renamed) {
        add(all, &n, text_fact("nodes", nodes_not_in(arena, a, b), nodes_not_in(arena, b, a)));
        all[0].is_set = true;
    }
    add(all, &n, text_fact("backend", a->compiler, b->compiler));
    add(all, &n, text_fact("kernel", a->kernel, b->kernel));
    if (a->data && b->data) /* older files do not say */
        add(all, &n, text_fact("format", region_precision(arena, a), region_precision(arena, b)));
    add(all, &n, text_fact("result", a->output, b->output));
    add(all, &n, number_fact(arena, "MACs", "", a->macs, b->macs));
    add(all, &n, number_fact(arena, "weights", "bytes", a->weight_bytes, b->weight_bytes));
    add(all, &n, number_fact(arena, "scratch", "bytes", a->scratch_bytes, b->scratch_bytes));
    region->facts = arena_array(arena, struct diff_fact, MOST);
    for (int i = 0; i < n; i++)
        if (all[i].differs)
            region->facts[region->n_facts++] = all[i];
    if (!region->n_facts && a->signature && b->signature && !same_text(a->signature, b->signature))
        add(region->facts, &region->n_facts, text_fact("computes", a->signature, b->signature));
    region->state = region->n_facts ? DIFF_CHANGED : DIFF_EQUAL;
}

static void add_region(struct diff *diff, struct diff_region region)
{
    diff->regions[diff->n_regions++] = region;
    diff->region_count[region.state]++;
    diff->n_renamed += region.is_renamed;
    diff->differs = diff->differs || region.state != DIFF_EQUAL;
}

/* In the order of the new compilation; removed ones before the first matched one that followed. */
static void compare_regions(struct ctx *ctx, struct diff *diff, const int *old_of,
                            const bool *is_renamed)
{
    const struct facts *a = diff->old, *b = diff->new;
    bool *kept = arena_array(&ctx->perm, bool, a->n_regions);
    int next = 0; /* old regions before this one are listed */

    for (int i = 0; i < b->n_regions; i++)
        if (old_of[i] >= 0)
            kept[old_of[i]] = true;
    diff->regions = arena_array(&ctx->perm, struct diff_region, a->n_regions + b->n_regions);
    for (int i = 0; i < b->n_regions; i++) {
        struct diff_region region = { DIFF_ADDED, NULL, &b->regions[i], is_renamed[i], 0, NULL };

        for (; old_of[i] >= 0 && next <= old_of[i]; next++)
            if (!kept[next])
                add_region(diff, (struct diff_region){ DIFF_REMOVED, &a->regions[next], NULL, false,
                                                       0, NULL });
        if (old_of[i] >= 0) {
            region.old = &a->regions[old_of[i]];
            compare_region(&ctx->perm, &region);
        }
        add_region(diff, region);
    }
    for (; next < a->n_regions; next++)
        if (!kept[next])
            add_region(diff, (struct diff_region){ DIFF_REMOVED, &a->regions[next], NULL, false, 0,
                                                   NULL });
}

/* --- weights ---------------------------------------------------------------------------------- */

static void compare_numbers(const struct values *old, const struct values *new,
                            struct diff_weight *weight)
{
    size_t n = 0, m = 0;
    double *x = values_read(old, weight->old, &n);
    double *y = x ? values_read(new, weight->new, &m) : NULL;
    double sum = 0;

    weight->has_numbers = y && n == m;
    for (size_t i = 0; i < n && weight->has_numbers; i++) {
        const double change = fabs(y[i] - x[i]);

        if (x[i] == y[i] || (isnan(x[i]) && isnan(y[i])))
            continue;
        weight->n_changed++;
        sum += change;
        weight->largest = fmax(weight->largest, change);
    }
    weight->mean = n ? sum / (double)n : 0;
    block_free(x);
    block_free(y);
}

/* Older files do not say; the checksum tells then. */
static bool same_layout(const char *a, const char *b)
{
    return !a || !b || strcmp(a, b) == 0;
}

static struct diff_weight compare_weight(const struct values *old, const struct values *new,
                                         const struct fact_weight *a, const struct fact_weight *b)
{
    struct diff_weight weight = { .state = DIFF_CHANGED, .old = a, .new = b };
    const bool same_form = same_text(a->dtype, b->dtype) && same_text(a->shape, b->shape) &&
                           same_layout(a->layout, b->layout) && a->bytes == b->bytes;

    if (same_form && same_text(a->crc32, b->crc32)) {
        weight.state = DIFF_EQUAL;
    } else if (same_form) {
        weight.is_retrained = true;
        compare_numbers(old, new, &weight);
    }
    return weight;
}

static void add_weight(struct diff *diff, struct diff_weight weight)
{
    diff->weights[diff->n_weights++] = weight;
    diff->weight_count[weight.state]++;
    diff->n_retrained += weight.is_retrained;
    diff->differs = diff->differs || weight.state != DIFF_EQUAL;
}

static void compare_weights(struct ctx *ctx, struct diff *diff, const int *old_of)
{
    const struct facts *a = diff->old, *b = diff->new;
    bool *kept = arena_array(&ctx->perm, bool, a->n_weights);
    struct values old, new;

    values_open(ctx, a, &old);
    values_open(ctx, b, &new);
    diff->weights = arena_array(&ctx->perm, struct diff_weight, a->n_weights + b->n_weights);
    for (int i = 0; i < b->n_weights; i++) {
        if (old_of[i] < 0) {
            add_weight(diff, (struct diff_weight){ .state = DIFF_ADDED, .new = &b->weights[i] });
            continue;
        }
        kept[old_of[i]] = true;
        add_weight(diff, compare_weight(&old, &new, &a->weights[old_of[i]], &b->weights[i]));
    }
    for (int i = 0; i < a->n_weights; i++)
        if (!kept[i])
            add_weight(diff, (struct diff_weight){ .state = DIFF_REMOVED, .old = &a->weights[i] });
    values_close(&old);
    values_close(&new);
}

struct diff *diff_make(struct ctx *ctx, const struct facts *old, const struct facts *new)
{
    struct diff *diff = arena_new(&ctx->perm, struct diff);
    bool *is_renamed = arena_array(&ctx->perm, bool, new->n_regions);
    int *old_of = match_regions(ctx, old, new, is_renamed);

    diff->old = old;
    diff->new = new;
    compare_totals(&ctx->perm, diff);
    compare_regions(ctx, diff, old_of, is_renamed);
    compare_weights(ctx, diff, match_weights(ctx, old, new, old_of));
    return diff;
}
