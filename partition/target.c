/* target.c - what a loaded target says about a match: its names, whether it is taken, what it
 * costs.
 */
#include "partition/target.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/macs.h"

/* --- finding ---------------------------------------------------------------------------------- */

const struct target *targets_find(const struct targets *targets, const char *name)
{
    for (const struct target *target = targets->first; target; target = target->next)
        if (strcmp(target->name, name) == 0)
            return target;
    return NULL;
}

const struct composite_row *targets_row(const struct targets *targets, const char *composite)
{
    for (const struct target *target = targets->first; target; target = target->next) {
        const size_t n = strlen(target->name);

        if (strncmp(composite, target->name, n) != 0 || composite[n] != '.')
            continue;
        for (int i = 0; i < target->n_rows; i++)
            if (strcmp(target->rows[i].name, composite) == 0)
                return &target->rows[i];
    }
    return NULL;
}

/* --- names ------------------------------------------------------------------------------------ */

/* The scope of a match with the lets of its row. A let is evaluated when it is first asked for, and
 * once: definitions that use each other twice would take exponential time otherwise. */
struct let_scope {
    const struct composite_row *row;
    struct arena *arena;
    struct scope match;
    struct let_value {
        enum { LET_NEW, LET_BUSY, LET_KNOWN, LET_FAILED } state;
        struct term term;
        const char *why;
    } * lets;
};

static bool look_up(void *user, const char *name, const char *field, struct term *out,
                    const char **why);

static bool look_up_let(struct let_scope *scope, int i, struct term *out, const char **why)
{
    const struct definition *let = &scope->row->lets[i];
    struct let_value *value = &scope->lets[i];

    if (value->state == LET_NEW) {
        const struct scope self = { .look_up = look_up, .user = scope };

        value->state = LET_BUSY;
        value->why = "it cannot be computed";
        value->state =
            expression_evaluate(let->value, &self, scope->arena, &value->term, &value->why)
                ? LET_KNOWN
                : LET_FAILED;
    }
    if (value->state == LET_BUSY) /* loading refuses circles */
        value->why = "it is defined by itself";
    *out = value->term;
    *why = value->why;
    return value->state == LET_KNOWN;
}

static bool look_up(void *user, const char *name, const char *field, struct term *out,
                    const char **why)
{
    struct let_scope *scope = user;

    if (!field)
        for (int i = 0; i < scope->row->n_lets; i++)
            if (strcmp(scope->row->lets[i].name, name) == 0)
                return look_up_let(scope, i, out, why);
    return scope->match.look_up(scope->match.user, name, field, out, why);
}

struct scope composite_scope(struct arena *arena, const struct composite_row *row,
                             const struct match *match)
{
    struct let_scope *scope = arena_new(arena, struct let_scope);

    scope->row = row;
    scope->arena = arena;
    scope->match = match_scope(arena, row->pattern, match);
    scope->lets = arena_array(arena, struct let_value, row->n_lets);
    return (struct scope){ .look_up = look_up, .user = scope };
}

/* --- acceptance ------------------------------------------------------------------------------- */

bool composite_accepts(const struct composite_row *row, const struct match *match,
                       struct arena *arena, const char **found, const char **wanted)
{
    const struct target_hooks *hooks = row->target->hooks;

    if (row->n_conditions) {
        const struct scope scope = composite_scope(arena, row, match);

        for (int i = 0; i < row->n_conditions; i++)
            if (!expression_holds(row->conditions[i].test, &scope, arena, found, wanted))
                return false;
    }
    if (row->check && !row->check(match, arena, found, wanted))
        return false;
    return !hooks || !hooks->accepts || hooks->accepts(row, match, arena, found, wanted);
}

struct match *composite_rematch(struct ctx *ctx, const struct composite_row *row,
                                struct function *composite)
{
    const struct matcher matcher = { .arena = &ctx->perm };
    const struct value *result =
        composite->ret && composite->ret->n_inputs ? composite->ret->inputs[0] : NULL;
    struct match *match = arena_new(&ctx->perm, struct match);
    struct mismatch why = { .found = "it has no result" };

    function_number(composite);
    if (result && result->def && pattern_match(&matcher, row->pattern, result->def, match, &why))
        return match;
    diag_error(ctx, DIAG_INTERNAL, result && result->def ? node_origin(result->def) : NULL,
               "%s, made by the pattern of %s, does not match it: %s",
               str_safe(&ctx->perm, composite->name, 64), row->name,
               why.found ? why.found : "reason unknown");
    if (why.wanted)
        diag_note(ctx, "wanted: %s", why.wanted);
    return NULL;
}

/* --- costs ------------------------------------------------------------------------------------ */

static double ns_per_mac(const struct target_rates *rates, enum dtype dtype)
{
    double others = 0;

    for (int i = 0; i < rates->n_macs; i++) {
        if (rates->per_mac[i].dtype == dtype)
            return rates->per_mac[i].ns;
        if (rates->per_mac[i].dtype == DTYPE_NONE)
            others = rates->per_mac[i].ns;
    }
    return others;
}

static double macs_ns(const struct target_rates *rates, const struct node *node)
{
    const int64_t macs = node_macs(node);

    return macs ? (double)macs * ns_per_mac(rates, node->inputs[0]->type.dtype) : 0;
}

static bool match_computes(const struct match *match, const struct value *value)
{
    for (int i = 0; value->def && i < match->n_nodes; i++)
        if (match->nodes[i] == value->def)
            return true;
    return false;
}

/* Whether an input before this one reads the same value. */
static bool was_read(const struct match *match, int n, int input)
{
    const struct value *value = match->nodes[n]->inputs[input];

    for (int i = 0; i <= n; i++)
        for (int j = 0; j < (i < n ? match->nodes[i]->n_inputs : input); j++)
            if (match->nodes[i]->inputs[j] == value)
                return true;
    return false;
}

static double output_bytes(const struct node *node)
{
    double bytes = 0;

    for (int i = 0; i < node->n_outputs; i++)
        bytes += (double)type_bytes(&node->outputs[i]->type);
    return bytes;
}

static double match_bytes(const struct match *match)
{
    double bytes = output_bytes(match->root);

    for (int i = 0; i < match->n_nodes; i++)
        for (int j = 0; j < match->nodes[i]->n_inputs; j++) {
            const struct value *value = match->nodes[i]->inputs[j];

            if (value && !match_computes(match, value) && !was_read(match, i, j))
                bytes += (double)type_bytes(&value->type);
        }
    return bytes;
}

static double rates_ns(const struct target_rates *rates, const struct match *match)
{
    double ns = rates->call_ns + match_bytes(match) * rates->ns_per_byte;

    for (int i = 0; i < match->n_nodes; i++)
        ns += macs_ns(rates, match->nodes[i]);
    return ns;
}

/* What the row's expression says; negative if it is not a valid time: *why. */
static double row_ns(const struct composite_row *row, const struct match *match,
                     struct arena *arena, const char **why)
{
    const struct scope scope = composite_scope(arena, row, match);
    struct term term;
    double ns = -1;

    if (!expression_evaluate(row->cost_ns, &scope, arena, &term, why))
        return -1;
    *why = "it is not a number";
    if (term.kind == TERM_INT)
        ns = (double)term.integer;
    else if (term.kind == TERM_REAL && isfinite(term.real))
        ns = term.real;
    else
        return -1;
    *why = ns < 0 ? arena_printf(arena, "it is %g", ns) : NULL;
    return ns;
}

const char *composite_cost_problem(const struct composite_row *row, const struct match *match,
                                   struct arena *arena)
{
    const struct target_hooks *hooks = row->target->hooks;
    const char *why = NULL;

    if (!row->cost_ns || (hooks && hooks->cost_ns && hooks->cost_ns(row, match, arena) >= 0))
        return NULL;
    row_ns(row, match, arena, &why);
    return why;
}

double composite_cost_ns(const struct composite_row *row, const struct match *match,
                         struct arena *arena)
{
    const struct target *target = row->target;
    const char *why;
    double ns = -1;

    if (target->hooks && target->hooks->cost_ns)
        ns = target->hooks->cost_ns(row, match, arena);
    if (!(isfinite(ns) && ns >= 0) && row->cost_ns)
        ns = row_ns(row, match, arena, &why);
    return isfinite(ns) && ns >= 0 ? ns : rates_ns(&target->rates, match);
}

static bool is_read_by_only(const struct value *value, const struct node *node)
{
    for (const struct use *use = value->uses; use; use = use->next)
        if (use->node != node)
            return false;
    return true;
}

const struct node *host_fused_into(const struct node *node)
{
    if (!op_is_elementwise(node->op))
        return NULL;
    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *value = node->inputs[i];
        const struct node *def = value ? value->def : NULL;

        if (def && value == def->outputs[0] && is_read_by_only(value, node) &&
            (op_is_elementwise(def->op) || op_row(def->op)->pattern == PATTERN_OUT_FUSABLE) &&
            type_same_shape(&value->type, &node->outputs[0]->type))
            return def;
    }
    return NULL;
}

double host_cost_ns(const struct target *c, const struct node *node)
{
    double bytes = output_bytes(node);

    if (op_row(node->op)->pattern == PATTERN_VIEW || node->op == OP_RETURN)
        return 0;
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i])
            bytes += (double)type_bytes(&node->inputs[i]->type);
    return c->rates.call_ns + bytes * c->rates.ns_per_byte + macs_ns(&c->rates, node);
}
