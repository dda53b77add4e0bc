/* stripe_functions.c - the functions of regions that are computed in stripes, and their buffers.
 *
 * method   of each region a function for every kind of stripe that there is: at the upper edge with
 *          its padding, in the middle, at the lower edge. The kernels are those that the whole
 *          regions would have. Buffers are packed as the arena is */
#include <inttypes.h>
#include <string.h>

#include "codegen_c/plan/depth_first/stripe_lines.h"
#include "codegen_c/select/configure.h"
#include "codegen_c/select/signature.h"

/* --- the regions' functions ------------------------------------------------------------------- */

static bool is_same_kind(const struct stripe_kind *a, const struct stripe_kind *b,
                         const struct row_region *region)
{
    if (a->n != b->n)
        return false;
    for (int k = 0; k < region->call->n_inputs; k++) {
        const struct row_window *window = &region->reads[k];

        /* Where the rows begin within the window: the padding above; the rest is below. */
        if (!window->whole &&
            (a->rows[k] != b->rows[k] ||
             a->begin[k] - a->row * window->stride != b->begin[k] - b->row * window->stride))
            return false;
    }
    return true;
}

static struct stripe_kind kind_at(const struct stripe_lines *lines, int i, int64_t row)
{
    const struct row_region *region = &lines->stripes.regions[i];
    const int n_inputs = region->call->n_inputs;
    const int64_t end = stripes_end(&lines->stripes, i, row);
    struct stripe_kind kind = { .row = row,
                                .n = (end < region->rows ? end : region->rows) - row,
                                .begin = arena_array(lines->arena, int64_t, n_inputs),
                                .rows = arena_array(lines->arena, int64_t, n_inputs) };

    kind.end = row + kind.n;
    for (int k = 0; k < n_inputs; k++)
        if (!region->reads[k].whole) {
            row_window_range(&region->reads[k], row, kind.n, &kind.begin[k], &kind.rows[k]);
            kind.rows[k] -= kind.begin[k];
        }
    return kind;
}

static void find_kinds(struct stripe_lines *lines, int i)
{
    const struct row_region *region = &lines->stripes.regions[i];
    struct stripe_kind *kinds =
        arena_array(lines->arena, struct stripe_kind, region->rows / lines->stripes.step[i] + 2);
    int n = 0;

    for (int64_t row = 0; row < region->rows; row = stripes_end(&lines->stripes, i, row)) {
        const struct stripe_kind kind = kind_at(lines, i, row);

        if (n > 0 && is_same_kind(&kind, &kinds[n - 1], region))
            kinds[n - 1].end = kind.end;
        else
            kinds[n++] = kind;
    }
    lines->kinds[i] = kinds;
    lines->n_kinds[i] = n;
}

/* "region_conv1", of the stripes at the edges "region_conv1_top" and "_bottom". */
static const char *function_name(const struct stripe_lines *lines, int i,
                                 const struct stripe_kind *kind)
{
    const struct row_region *region = &lines->stripes.regions[i];
    const struct function *fn = region->call->callee;
    const struct node *anchor = region_anchor(fn);
    const struct origin *origin = anchor && anchor->origin ? anchor->origin : region->call->origin;
    const char *name = origin && *origin->name ? origin->name : fn->name;
    const bool single = lines->n_kinds[i] > 1 && kind->end - kind->row == kind->n;
    const char *edge = single && kind->row == 0              ? "_top"
                       : single && kind->end == region->rows ? "_bottom"
                                                             : "";

    return names_unique(
        &lines->codegen->names,
        arena_printf(lines->arena, "region_%s%s", c_identifier(lines->arena, name), edge));
}

/* The kernel that the whole region would have, where it takes the stripe: then its sums are added
 * in the same order. */
static const struct kernel *choose_kernel(const struct stripe_lines *lines, const struct node *call,
                                          struct region *stripe)
{
    struct ctx *ctx = lines->codegen->ctx;
    struct region whole = *stripe;
    const struct kernel *kernel;

    whole.fn = call->callee;
    whole.anchor = region_anchor(whole.fn);
    kernel = kernel_choose(ctx, &whole);
    kernel = kernel ? kernel_named(stripe, kernel->name) : NULL;
    return kernel ? kernel : kernel_choose(ctx, stripe);
}

/* The operands of a stripe's function: rows side by side, but for the planes of the anchor's input
 * 0 where these would have to be gathered and nobody else reads them. */
static const struct operand *operands_of(const struct stripe_lines *lines, int i,
                                         const struct region *region)
{
    const struct value *x = region->anchor ? anchor_source(region, 0) : NULL;
    struct operand *operands = arena_array(lines->arena, struct operand, region->fn->n_params);

    for (int k = 0; k < region->fn->n_params; k++)
        operands[k] = operand_make(&region->fn->params[k]->type, 0);
    if (x && x->kind == VALUE_PARAM && value_n_uses(x) == 1 &&
        stripes_gathers(&lines->stripes, i, x->index))
        operands[x->index].plane_rows = lines->stripes.regions[i].reads[x->index].rows;
    return operands;
}

/* The function of a kind; false after errors. */
static bool configure_kind(struct stripe_lines *lines, struct bind *bind, int i,
                           struct stripe_kind *kind)
{
    struct codegen *codegen = lines->codegen;
    const struct row_region *of = &lines->stripes.regions[i];
    struct region *region = arena_new(lines->arena, struct region);
    struct region_function *function;

    *region = (struct region){ .call = of->call,
                               .machine = codegen->machine,
                               .winograd = WINOGRAD_OFF,
                               .amx = codegen->amx,
                               .index = lines->region->index,
                               .fn = stripe_function(codegen->module, of, kind->row, kind->n) };
    if (!region->fn)
        return diag_error(codegen->ctx, DIAG_INTERNAL, node_origin(of->call),
                          "the region cannot be cut at row %" PRId64, kind->row);
    region->anchor = region_anchor(region->fn);
    region->c_name = region->own_name = kind->fn = function_name(lines, i, kind);
    region->place.operands = operands_of(lines, i, region);
    if (codegen->options->choices)
        region->choice = map_get(&codegen->options->choices->by_signature,
                                 region_signature(lines->arena, region->fn));
    region->config.kernel = choose_kernel(lines, of->call, region);
    function = region->config.kernel ? configure_function(codegen, region, region->c_name) : NULL;
    if (!function)
        return false;
    bind_function_before(bind, function);
    kind->works = region->config.scratch_bytes > 0;
    kind->apart = region->config.planes_apart ? anchor_source(region, 0)->index : -1;
    if (region->config.scratch_bytes > lines->scratch[i])
        lines->scratch[i] = region->config.scratch_bytes;
    return true;
}

bool stripe_functions(struct stripe_lines *lines, struct bind *bind)
{
    for (int i = 0; i < lines->stripes.n; i++) {
        find_kinds(lines, i);
        for (int k = 0; k < lines->n_kinds[i]; k++)
            if (!configure_kind(lines, bind, i, &lines->kinds[i][k]))
                return false;
    }
    return true;
}

/* --- buffers ---------------------------------------------------------------------------------- */

static int add_block(struct stripe_lines *lines, size_t bytes, int first, int last)
{
    if (bytes == 0)
        return -1;
    lines->blocks[lines->n_blocks] = (struct block){ .bytes = bytes, .first = first, .last = last };
    return lines->n_blocks++;
}

int stripe_last_reader(const struct stripes *stripes, int i, int *n_readers)
{
    int last = i;

    *n_readers = 0;
    for (int r = i + 1; r < stripes->n; r++)
        for (int k = 0; k < stripes->regions[r].call->n_inputs; k++)
            if (stripes->source[r][k] == i) {
                last = r;
                ++*n_readers;
            }
    return last;
}

/* Whether all kinds of region i read the planes of this input where they lie. */
static bool reads_apart(const struct stripe_lines *lines, int i, int input)
{
    for (int k = 0; k < lines->n_kinds[i]; k++)
        if (lines->kinds[i][k].apart != input)
            return false;
    return true;
}

static void place_buffers(struct stripe_lines *lines)
{
    const struct stripes *stripes = &lines->stripes;
    int n = 2 * stripes->n, n_readers;

    for (int i = 0; i < stripes->n; i++)
        n += stripes->regions[i].call->n_inputs;
    lines->blocks = arena_array(lines->arena, struct block, n);
    for (int i = 0; i < stripes->n; i++) {
        const struct row_region *region = &stripes->regions[i];
        const bool stays = stripes->stays[i];
        const int last = stays ? stripes->n - 1 : stripe_last_reader(stripes, i, &n_readers);

        lines->buffer[i] =
            add_block(lines, (size_t)stripes->held[i] * region->row_bytes, stays ? 0 : i, last);
        lines->working[i] = add_block(lines, lines->scratch[i], i, i);
        lines->gather[i] = arena_array(lines->arena, int, region->call->n_inputs);
        for (int k = 0; k < region->call->n_inputs; k++)
            lines->gather[i][k] = stripes_gathers(stripes, i, k) && !reads_apart(lines, i, k)
                                      ? add_block(lines,
                                                  (size_t)(stripes_gathered_rows(stripes, i, k) *
                                                           region->reads[k].planes) *
                                                      region->reads[k].row_bytes,
                                                  i, i)
                                      : -1;
    }
}

size_t stripe_buffers(struct stripe_lines *lines)
{
    struct arena scratch = { NULL };
    struct packing packing;

    place_buffers(lines);
    packing = pack_blocks(&scratch, lines->blocks, lines->n_blocks, PACK_WORK / 10);
    arena_release(&scratch);
    return packing.bytes;
}
