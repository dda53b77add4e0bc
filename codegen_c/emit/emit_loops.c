/* emit_loops.c - calls of NAME_run that repeat themselves become loops.
 *
 * needs    the plan, and the printed functions of all regions
 * gives    codegen->loops; rounds call the functions of the first one
 * method   rounds of a Loop or Scan are regions of one text, whose operands the plan mostly puts where those of the
 *          round before were (or of the one before that: what is handed on alternates between two places), and slices
 *          of a sequence a step further. So calls repeat from some region on: of equal functions, whose arguments are
 *          the same or move by a constant step. Of all periods that begin at a region the one that saves the most
 *          calls is taken. The same calls with the same arguments in the same order: results cannot differ. */
#include "codegen_c/emit/emit_loops.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/emit/emit_calls.h"
#include "codegen_c/emit/emit_entry.h"
#include "codegen_c/print/fold.h"
#include "relay_ir/state.h"

enum { LONGEST_PERIOD = 1024, FEWEST_ROUNDS = 3, FEWEST_SAVED = 6 };

/* An argument of a call. */
struct address {
    const struct value *value; /* its root; NULL = scratch */
    const char *base;          /* an array or a pool; NULL = nothing that moves */
    const char *name;          /* without `base` */
    enum dtype dtype;
    bool in_pool; /* `at` is bytes */
    bool is_read; /* in an input */
    int64_t at;   /* elements */
};

struct call {
    const char *function; /* text without its name; NULL = stays as it is */
    int n, n_operands;
    struct address *arguments; /* [n] operands, then the conditions under which it runs */
};

/* Declared in a loop. */
struct loop_pointer {
    const struct value *value; /* of the first round */
    int64_t step;
    const char *name, *declaration;
    struct loop_pointer *next;
};

struct loops {
    struct call *calls; /* [n_regions] */
    bool *outside;      /* [n_values] named outside of loops */
    const char *counter;
    struct call_loop *first;
};

/* --- calls ------------------------------------------------------------------------------------ */

static bool is_part_of_word(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

/* The function without its name, and without the blanks by which lines are aligned with it. */
static const char *nameless(struct arena *arena, const char *text, const char *name)
{
    const size_t n = strlen(name);
    struct str out = { .arena = arena };

    for (const char *at = text; *at;) {
        const bool begins = at == text || !is_part_of_word(at[-1]);
        const size_t blanks = strspn(at, " \n");

        if (begins && strncmp(at, name, n) == 0 && !is_part_of_word(at[n])) {
            str_add(&out, "\1");
            at += n;
        } else if (blanks) {
            str_add(&out, " ");
            at += blanks;
        } else {
            str_addn(&out, at++, 1);
        }
    }
    return str_text(&out);
}

static struct address address_of(struct codegen *codegen, const struct value *value)
{
    const struct plan *plan = &codegen->plan;
    const struct value *root = plan->root[value->id];
    const struct codegen_place *place = &plan->place[root->id];
    struct address address = { .value = root,
                               .name = entry_name(codegen, value),
                               .dtype = root->type.dtype,
                               .is_read = place->kind == PLACE_INPUT };

    if (root->kind != VALUE_OUTPUT || address.name != codegen->local_names[root->id])
        return address;
    address.in_pool = place->kind != PLACE_INPUT && place->kind != PLACE_OUTPUT;
    if (address.in_pool) {
        address.base = pool_base(codegen, plan->blocks[plan->block[root->id]].pool);
        address.at = (int64_t)place->offset;
    } else {
        address.base = address.is_read ? codegen->input_names[place->index]
                                       : codegen->output_names[place->index];
        address.at = plan->part[root->id].at;
    }
    return address;
}

static struct address scratch_of(struct codegen *codegen, int region)
{
    const struct block *block = scratch_block(codegen, region);

    return (struct address){ .base = pool_base(codegen, block->pool),
                             .dtype = DTYPE_U8,
                             .in_pool = true,
                             .at = (int64_t)block->offset };
}

static struct call call_of(struct codegen *codegen, struct map *functions,
                           const struct region *region)
{
    const struct node *node = region->call;
    const struct emitted *emitted = &codegen->emitted[region->index];
    const struct emitted *printed =
        emitted->same_as ? &codegen->emitted[emitted->same_as->index] : emitted;
    struct call call = { .n = 0 };
    const char *key;

    call.arguments = arena_array(&codegen->arena, struct address,
                                 node->n_inputs + node->n_outputs + 1 + region->guards.n);
    for (int i = 0; i < node->n_inputs; i++)
        if (is_given(region, i))
            call.arguments[call.n++] = address_of(codegen, node->inputs[i]);
    for (int i = 0; i < node->n_outputs; i++)
        call.arguments[call.n++] = address_of(codegen, node->outputs[i]);
    if (region->config.scratch_bytes)
        call.arguments[call.n++] = scratch_of(codegen, region->index);
    call.n_operands = call.n;
    for (int i = 0; i < region->guards.n; i++)
        call.arguments[call.n++] = address_of(codegen, region->guards.at[i].condition);
    if (region->external || emitted->shape_type || !printed->text)
        return call;
    key = nameless(&codegen->arena, printed->text, region->c_name);
    call.function = map_get(functions, key);
    if (!call.function) {
        call.function = key;
        map_set(functions, key, (void *)key);
    }
    return call;
}

/* Equal, but for where arguments are. */
static bool is_alike(const struct codegen *codegen, int a, int b)
{
    const struct emitted *x = &codegen->emitted[a], *y = &codegen->emitted[b];
    const struct call *one = &codegen->loops->calls[a], *other = &codegen->loops->calls[b];
    const struct guards *ifs = &codegen->regions[a].guards, *others = &codegen->regions[b].guards;
    bool same = one->function && one->function == other->function && one->n == other->n &&
                ifs->n == others->n && x->n_arrays == y->n_arrays && !x->shape == !y->shape &&
                (!x->shape || strcmp(x->shape, y->shape) == 0);

    for (int i = 0; same && i < ifs->n; i++)
        same = ifs->at[i].when == others->at[i].when;
    for (int i = 0; same && i < x->n_arrays; i++)
        same = strcmp(x->arrays[i]->expression, y->arrays[i]->expression) == 0;
    for (int i = 0; same && i < one->n; i++) {
        const struct address *p = &one->arguments[i], *q = &other->arguments[i];

        same = !p->base == !q->base && p->dtype == q->dtype && p->is_read == q->is_read &&
               p->in_pool == q->in_pool &&
               strcmp(p->base ? p->base : p->name, q->base ? q->base : q->name) == 0;
    }
    return same;
}

/* How far argument i moves from region a to region b. */
static int64_t step_of(const struct codegen *codegen, int a, int b, int i)
{
    const struct call *calls = codegen->loops->calls;

    return calls[b].arguments[i].at - calls[a].arguments[i].at;
}

/* --- periods ---------------------------------------------------------------------------------- */

/* Whether round `round` follows on the one before as the second does on the first. */
static bool goes_on(const struct codegen *codegen, int first, int period, int round)
{
    const struct call *calls = codegen->loops->calls;

    for (int r = first; r < first + period; r++) {
        const int now = r + round * period;

        if (!is_alike(codegen, r, now))
            return false;
        for (int i = 0; i < calls[r].n; i++)
            if (step_of(codegen, now - period, now, i) != step_of(codegen, r, r + period, i) ||
                calls[now].arguments[i].at > INT32_MAX)
                return false;
    }
    return true;
}

static int count_rounds(const struct codegen *codegen, int first, int period)
{
    int count = 1;

    while (first + (count + 1) * period <= codegen->n_regions &&
           goes_on(codegen, first, period, count))
        count++;
    return count;
}

/* The period that saves the most calls, the shortest of these; 0 = none. */
static struct call_loop best_loop(const struct codegen *codegen, int first)
{
    const int left = codegen->n_regions - first;
    struct call_loop best = { .first = first };
    int saved = FEWEST_SAVED - 1;

    for (int period = 1; period <= LONGEST_PERIOD && period * FEWEST_ROUNDS <= left; period++) {
        const struct call *calls = codegen->loops->calls;
        int count;

        if (!calls[first].function || calls[first + period].function != calls[first].function)
            continue;
        count = count_rounds(codegen, first, period);
        if (count >= FEWEST_ROUNDS && (count - 1) * period > saved) {
            saved = (count - 1) * period;
            best.period = period;
            best.count = count;
        }
    }
    return best;
}

/* Regions with the text of one of a loop have its function, in that loop and outside. */
static void share_functions(struct codegen *codegen)
{
    const struct call *calls = codegen->loops->calls;
    struct map firsts = { .arena = &codegen->arena };

    for (const struct call_loop *loop = codegen->loops->first; loop; loop = loop->next)
        for (int r = loop->first; r < loop->first + loop->period; r++)
            map_set(&firsts, calls[r].function, codegen);
    for (int r = 0; r < codegen->n_regions; r++) {
        struct region *region = &codegen->regions[r];
        void *first = calls[r].function ? map_get(&firsts, calls[r].function) : NULL;
        const struct region *of = first;

        if (first == codegen)
            map_set(&firsts, calls[r].function, region);
        if (!first || first == codegen || region->c_name == of->c_name)
            continue;
        codegen->emitted[r].text = NULL;
        codegen->emitted[r].same_as = of;
        region->c_name = of->c_name;
    }
}

/* --- pointers --------------------------------------------------------------------------------- */

static void mark_outside(struct codegen *codegen)
{
    struct loops *loops = codegen->loops;
    const struct function *main = codegen->module->main;
    const struct call_loop *loop = loops->first;

    for (int r = 0; r < codegen->n_regions; r++) {
        const struct call *call = &loops->calls[r];

        while (loop && r >= loop->first + loop->period * loop->count)
            loop = loop->next;
        for (int i = 0; i < call->n && (!loop || r < loop->first); i++)
            if (call->arguments[i].value)
                loops->outside[call->arguments[i].value->id] = true;
    }
    for (int i = 0; i < main->ret->n_inputs;
         i++) /* in the arena NAME_run does nothing with them, but for states */
        if (!io_is_inside(codegen) || state_of_result(codegen->module, i))
            loops->outside[codegen->plan.root[main->ret->inputs[i]->id]->id] = true;
}

/* "8 + 16 * iteration" */
static const char *index_text(struct codegen *codegen, int64_t at, int64_t step)
{
    const char *product = step == 1 || step == -1
                              ? codegen->loops->counter
                              : arena_printf(&codegen->arena, "%" PRId64 " * %s",
                                             step < 0 ? -step : step, codegen->loops->counter);

    if (step == 0)
        return arena_printf(&codegen->arena, "%" PRId64, at);
    if (at == 0 && step > 0)
        return product;
    return arena_printf(&codegen->arena, "%" PRId64 " %c %s", at, step < 0 ? '-' : '+', product);
}

/* "&base[64 * iteration]" */
static const char *place_text(struct codegen *codegen, const struct address *address, int64_t step)
{
    if (address->in_pool && address->at == 0 && step == 0)
        return address->base;
    return arena_printf(&codegen->arena, "&%s[%s]", address->base,
                        index_text(codegen, address->at, step));
}

static const char *declaration(struct codegen *codegen, const struct address *address, int64_t step,
                               const char *name)
{
    const char *type = dtype_c_type(address->dtype);
    const char *cast =
        address->in_pool ? arena_printf(&codegen->arena, "(%s *)(void *)", type) : "";

    return arena_printf(&codegen->arena, "%s%s *const %s = %s%s; /* %s */",
                        address->is_read ? "const " : "", type, name, cast,
                        place_text(codegen, address, step),
                        shape_comment(&codegen->arena, &address->value->type));
}

/* Names of locals: all that are taken outside of loops. */
static void reserve_names(struct codegen *codegen, struct names *names)
{
    const struct function *main = codegen->module->main;

    names_init(names, &codegen->arena);
    for (size_t i = 0; i < codegen->names.taken.n; i++)
        names_reserve(names, codegen->names.taken.entries[i].key);
    for (int p = 0; p < codegen->plan.n_pools; p++) {
        names_reserve(names, pool_arena(codegen, p));
        names_reserve(names, pool_base(codegen, p));
    }
    for (int i = 0; i < main->n_params; i++)
        names_reserve(names, codegen->input_names[i]);
    for (int i = 0; i < main->ret->n_inputs; i++)
        names_reserve(names, codegen->output_names[i]);
    for (int i = 0; i < main->n_values; i++)
        if (codegen->loops->outside[i] && codegen->local_names[i])
            names_reserve(names, codegen->local_names[i]);
    names_reserve(names, "state");
    codegen->loops->counter = names_unique(names, "iteration");
}

/* The pointer of an argument that not all rounds have in one place, or that has no name outside of loops. */
static struct loop_pointer *pointer_of(const struct codegen *codegen, const struct call_loop *loop,
                                       int region, int i)
{
    const struct address *address = &codegen->loops->calls[region].arguments[i];
    const int64_t step = step_of(codegen, region, region + loop->period, i);
    struct loop_pointer *pointer = loop->pointers;

    while (pointer && (pointer->value != address->value || pointer->step != step))
        pointer = pointer->next;
    return pointer;
}

static void declare_pointers(struct codegen *codegen, struct call_loop *loop, struct names names)
{
    struct loop_pointer **end = &loop->pointers;

    for (int r = loop->first; r < loop->first + loop->period; r++)
        for (int i = 0; i < codegen->loops->calls[r].n; i++) {
            const struct address *address = &codegen->loops->calls[r].arguments[i];
            const int64_t step = step_of(codegen, r, r + loop->period, i);
            struct loop_pointer *pointer;

            if (!address->base || !address->value || pointer_of(codegen, loop, r, i) ||
                (step == 0 && codegen->loops->outside[address->value->id]))
                continue;
            pointer = *end = arena_new(&codegen->arena, struct loop_pointer);
            end = &pointer->next;
            pointer->value = address->value;
            pointer->step = step;
            pointer->name = names_unique(&names, codegen->local_names[address->value->id]);
            pointer->declaration = declaration(codegen, address, step, pointer->name);
        }
}

/* --- interface -------------------------------------------------------------------------------- */

void find_loops(struct codegen *codegen)
{
    struct arena *arena = &codegen->arena;
    struct map functions = { .arena = arena };
    struct call_loop **end;
    struct names names;

    if (codegen->module->variants)
        return;
    codegen->loops = arena_new(arena, struct loops);
    codegen->loops->calls = arena_array(arena, struct call, codegen->n_regions);
    codegen->loops->outside = arena_array(arena, bool, codegen->module->main->n_values);
    for (int r = 0; r < codegen->n_regions; r++)
        codegen->loops->calls[r] = call_of(codegen, &functions, &codegen->regions[r]);
    end = &codegen->loops->first;
    for (int r = 0; r < codegen->n_regions;) {
        const struct call_loop loop = best_loop(codegen, r);

        if (loop.count) {
            *end = arena_memdup(arena, &loop, sizeof loop);
            end = &(*end)->next;
        }
        r += loop.count ? loop.period * loop.count : 1;
    }
    share_functions(codegen);
    mark_outside(codegen);
    reserve_names(codegen, &names);
    for (struct call_loop *loop = codegen->loops->first; loop; loop = loop->next)
        declare_pointers(codegen, loop, names);
    if (codegen->loops->first)
        fold_rename_results(codegen);
}

const struct call_loop *loop_at(const struct codegen *codegen, int region)
{
    const struct call_loop *loop = codegen->loops ? codegen->loops->first : NULL;

    while (loop && loop->first != region)
        loop = loop->next;
    return loop;
}

bool is_outside_loops(const struct codegen *codegen, const struct value *value)
{
    return !codegen->loops || !codegen->loops->first || codegen->loops->outside[value->id];
}

static void add_loop_pointers(struct str *out, const struct call_loop *loop)
{
    for (const struct loop_pointer *pointer = loop->pointers; pointer; pointer = pointer->next)
        str_printf(out, "        %s\n", pointer->declaration);
    str_add(out, loop->pointers ? "\n" : "");
}

void add_loop_head(struct codegen *codegen, struct str *out, const struct call_loop *loop)
{
    str_printf(out, "    /* Regions %d to %d: %d in each iteration. */\n", loop->first,
               loop->first + loop->period * loop->count - 1, loop->period);
    str_printf(out, "    for (int %s = 0; %s < %d; %s++) {\n", codegen->loops->counter,
               codegen->loops->counter, loop->count, codegen->loops->counter);
    add_loop_pointers(out, loop);
}

/* Whether an argument, or a number that --guard gets, follows from the iteration. */
static bool reads_counter(const struct codegen *codegen, const struct call_loop *loop)
{
    bool reads = is_guarded(codegen);

    for (int r = loop->first; r < loop->first + loop->period; r++)
        for (int i = 0; i < codegen->loops->calls[r].n; i++)
            reads = reads || step_of(codegen, r, r + loop->period, i) != 0;
    return reads;
}

void add_loop_step_head(struct codegen *codegen, struct str *out, const struct call_loop *loop)
{
    const char *number =
        loop->first ? arena_printf(&codegen->arena, "(region - %d)", loop->first) : "region";

    str_printf(out, "    if (region >= %d && region < %d) {\n", loop->first,
               loop->first + loop->period * loop->count);
    if (reads_counter(codegen, loop))
        str_printf(out, "        const int %s = %s / %d;\n", codegen->loops->counter, number,
                   loop->period);
    add_loop_pointers(out, loop);
    if (loop->period > 1)
        str_printf(out, "        switch (%s %% %d) {\n", number, loop->period);
}

const char *loop_region(struct codegen *codegen, const struct call_loop *loop, int region)
{
    return index_text(codegen, region, loop->period);
}

const char *loop_argument(struct codegen *codegen, const struct call_loop *loop, int region, int i)
{
    const struct address *address = &codegen->loops->calls[region].arguments[i];
    const int64_t step = step_of(codegen, region, region + loop->period, i);

    if (!address->value)
        return place_text(codegen, address, step);
    return address->base && pointer_of(codegen, loop, region, i)
               ? pointer_of(codegen, loop, region, i)->name
               : address->name;
}

const char *loop_condition(struct codegen *codegen, const struct call_loop *loop, int region, int i)
{
    return loop_argument(codegen, loop, region, codegen->loops->calls[region].n_operands + i);
}
