/* verify_whole.c - results of the whole network, of all who have computed it. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "driver/commands/tensor_error.h"
#include "driver/commands/verify.h"
#include "simulate/simulate.h"

/* Layers add up their errors, and ill-conditioned networks magnify them. */
#define WHOLE_NETWORK_FACTOR 10

/* 1 - cosine of results where quantised values are on the way of both, rounded alike but for
 * ties. */
#define LOOSE_LIMIT 0.02

struct numbers {
    int64_t n;
    const double *at;
};

static double distance_of(const double *a, const double *b, int64_t n)
{
    double aa = 0, bb = 0, ab = 0;

    for (int64_t i = 0; i < n; i++)
        if (isfinite(a[i]) && isfinite(b[i])) {
            aa += a[i] * a[i];
            bb += b[i] * b[i];
            ab += a[i] * b[i];
        }
    if (aa == 0 || bb == 0)
        return aa == bb ? 0 : 1;
    return fmax(0, 1 - ab / sqrt(aa * bb));
}

static int64_t argmax_of(const double *numbers, int64_t n)
{
    int64_t best = 0;

    for (int64_t i = 1; i < n; i++)
        if (numbers[i] > numbers[best])
            best = i;
    return best;
}

static double error_of(const double *wanted, const double *found, int64_t n)
{
    double worst = 0, largest = 0;

    for (int64_t i = 0; i < n; i++) {
        const double x = wanted[i], y = found[i];
        const double d = x == y || (isnan(x) && isnan(y)) ? 0 : fabs(x - y);

        if (!(d <= worst))
            worst = isnan(d) ? INFINITY : d;
        if (isfinite(x))
            largest = fmax(largest, fabs(x));
    }
    return largest > 0 ? worst / largest : worst;
}

static void compare_results(struct agreement *a, int n, const struct tensor *wanted,
                            const struct tensor *found)
{
    for (int i = 0; i < n; i++) {
        struct bulk bulk = { 0 };
        const int64_t elements = type_elements(&wanted[i].type);
        const double *x, *y;
        double error;

        if (!wanted[i].data || !found[i].data) /* a state, which is nobody's output there */
            continue;
        x = real_numbers(&bulk, &wanted[i]);
        y = real_numbers(&bulk, &found[i]);
        error = error_of(x, y, elements);
        a->n++;
        a->error = error <= a->error ? a->error : error;
        a->distance = fmax(a->distance, distance_of(x, y, elements));
        a->n_argmax += argmax_of(x, elements) == argmax_of(y, elements);
        bulk_release(&bulk);
    }
}

/* Which of a set's results. */
enum side { SIDE_IMPORTED, SIDE_REFERENCE, SIDE_ENGINE, SIDE_GENERATED, SIDE_EXPECTED, SIDE_PEER };

static const struct tensor *side_of(const struct verify_set *set, enum side side)
{
    switch (side) {
    case SIDE_IMPORTED: return set->imported;
    case SIDE_REFERENCE: return set->outputs;
    case SIDE_ENGINE: return set->engine;
    case SIDE_GENERATED: return set->generated;
    case SIDE_EXPECTED: return set->expected;
    case SIDE_PEER: return set->peer;
    }
    return NULL;
}

/* Both sides store quantised values, one of them does, or none. */
static void agree(struct verification *v, const char *name, enum side a, enum side b)
{
    const bool model_rounds = v->rounds && !v->rounds_anew;
    const bool is_file[] = { [SIDE_IMPORTED] = true, [SIDE_EXPECTED] = true, [SIDE_PEER] = true };
    const bool both_file = is_file[a] && (b < SIDE_EXPECTED ? is_file[b] : true);
    struct agreement *one = &v->agreements[v->n_agreements];

    *one = (struct agreement){ .name = name };
    for (int k = 0; k < v->n_sets; k++)
        if (side_of(&v->sets[k], a) && side_of(&v->sets[k], b))
            compare_results(one, v->imported->main->ret->n_inputs, side_of(&v->sets[k], a),
                            side_of(&v->sets[k], b));
    one->loose =
        (both_file ? model_rounds : v->rounds) || (a == SIDE_PEER && verify_peer_rounds(v));
    one->only_warn = v->rounds_anew && is_file[a] && !both_file;
    one->limit = one->loose ? LOOSE_LIMIT : v->tolerance * WHOLE_NETWORK_FACTOR;
    v->n_agreements += one->n > 0;
}

/* --- the simulation --------------------------------------------------------------------------- */

static bool is_ours(const struct function *fn)
{
    for (const struct node *n = fn->first; n; n = n->next)
        if (n->op == OP_CALL && n->callee->compiler && strcmp(n->callee->compiler, "c") != 0)
            return false;
    return true;
}

bool verify_simulate(struct verification *v)
{
    struct function *fn = v->module->main;
    const struct simulate_options how = { v->driver->machine, true };
    bool ok = true;

    for (int k = 0; k < v->n_sets && ok && v->driver->deterministic && is_ours(fn); k++) {
        struct verify_set *set = &v->sets[k];

        set->simulated = arena_array(&v->driver->ctx->perm, struct tensor, fn->ret->n_inputs);
        ok =
            simulate(v->driver->ctx, fn, &how, set->inputs, set->simulated, &v->driver->bulk, NULL);
    }
    return ok;
}

/* NaN is NaN. */
static bool same_bits(const struct tensor *a, const struct tensor *b)
{
    const size_t size = dtype_bytes(a->type.dtype);

    for (int64_t i = 0; i < type_elements(&a->type); i++) {
        const size_t at = (size_t)i * size;

        if (memcmp((const char *)a->data + at, (const char *)b->data + at, size) != 0 &&
            !(isnan(tensor_at(a, i)) && isnan(tensor_at(b, i))))
            return false;
    }
    return true;
}

static bool compare_bits(struct verification *v)
{
    for (int k = 0; k < v->n_sets; k++)
        for (int i = 0; i < v->module->main->ret->n_inputs && v->sets[k].simulated; i++)
            if (!same_bits(&v->sets[k].simulated[i], &v->sets[k].generated[i]))
                return diag_error(
                    v->driver->ctx, DIAG_MISMATCH, NULL,
                    "--deterministic: output '%s' of the generated C differs from the bit-exact "
                    "simulation (%s)",
                    str_safe(&v->driver->ctx->perm, v->module->main->result_names[i], 120),
                    v->sets[k].what);
    return true;
}

/* ---------------------------------------------------------------------------------------------- */

static void agree_with_peer(struct verification *v)
{
    struct arena *arena = &v->driver->ctx->perm;
    const char *name = v->which->name;

    agree(v, arena_printf(arena, "the imported graph and %s", name), SIDE_PEER, SIDE_IMPORTED);
    agree(v, arena_printf(arena, "the generated C and %s", name), SIDE_PEER, SIDE_GENERATED);
    verify_count_peer(v);
}

void verify_whole(struct verification *v)
{
    agree(v, "the graph after the passes and the imported graph", SIDE_IMPORTED, SIDE_REFERENCE);
    agree(v, "oneDNN and the graph after the passes", SIDE_REFERENCE, SIDE_ENGINE);
    agree(v, "the generated C and the graph after the passes", SIDE_REFERENCE, SIDE_GENERATED);
    agree(v, "the generated C and the imported graph", SIDE_IMPORTED, SIDE_GENERATED);
    if (v->which)
        agree_with_peer(v);
    agree(v, "the imported graph and --expect", SIDE_EXPECTED, SIDE_IMPORTED);
    agree(v, "the generated C and --expect", SIDE_EXPECTED, SIDE_GENERATED);
    if (!v->driver->deterministic || !v->sets[0].simulated)
        return;
    if (v->exception)
        v->bits =
            arena_printf(&v->driver->ctx->perm, "not compared: no simulation of %s", v->exception);
    else
        v->bits = compare_bits(v) ? "bit-identical to the simulation"
                                  : "NOT bit-identical to the simulation";
}
