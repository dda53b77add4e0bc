/* reuse_choose.c - see reuse_choose.h.
 *
 * method   greedy: again and again the activation that saves the most seconds per byte, summed over
 *          all steps that may change. Savings of the others are looked at again only when they
 *          might be the greatest (they mostly fall as more is kept) */
#include "runtime/engine/reuse_choose.h"

#include <math.h>

/* --- the graph -------------------------------------------------------------------------------- */

/* What a step writes: pool storages that begin with it. */
static struct storage *first_written(const struct step *step, int i)
{
    for (int k = 0; k < step->n_slots; k++)
        if (step->slots[k] && step->slots[k]->storage->home == HOME_POOL &&
            step->slots[k]->storage->first == i)
            return step->slots[k]->storage;
    return NULL;
}

static void add_read(struct step_graph *graph, int i, int writer)
{
    int at = graph->n_reads[i];

    for (int k = 0; k < at; k++)
        if (graph->reads[i][k] == writer)
            return;
    while (at > 0 && graph->reads[i][at - 1] > writer) {
        graph->reads[i][at] = graph->reads[i][at - 1];
        at--;
    }
    graph->reads[i][at] = writer;
    graph->n_reads[i]++;
}

struct step_graph step_graph_of(const struct plan *plan, const double *seconds, struct arena *arena)
{
    const int n = plan->n_steps;
    struct step_graph graph = { .n = n, .seconds = seconds };
    int i = 0;

    graph.steps = arena_array(arena, const struct step *, n);
    graph.written = arena_array(arena, struct storage *, n);
    graph.n_reads = arena_array(arena, int, n);
    graph.reads = arena_array(arena, int *, n);
    graph.is_result = arena_array(arena, bool, n);
    for (const struct step *step = plan->first; step; step = step->next, i++) {
        graph.steps[i] = step;
        graph.written[i] = first_written(step, i);
        graph.reads[i] = arena_array(arena, int, step->n_slots);
        for (int k = 0; k < step->n_slots; k++) {
            const struct storage *storage = step->slots[k] ? step->slots[k]->storage : NULL;
            const int writer =
                storage && storage->home == HOME_POOL && storage->first < i ? storage->first : -1;

            if (writer >= 0)
                add_read(&graph, i, writer);
        }
    }
    for (int r = 0; r < plan->n_results; r++) {
        const struct storage *storage = plan->results[r]->storage;

        if (storage->home == HOME_POOL)
            graph.is_result[storage->first] = true;
    }
    return graph;
}

/* --- what a change costs ---------------------------------------------------------------------- */

struct choice {
    const struct step_graph *graph;
    bool *keep;
    bool *runs, *dirty; /* of one change, [n] */
};

/* The seconds of a run in which step `changed` gives something else: it and all that depend on it,
 * and what these read as far as it is not kept. */
static double seconds_of_change(const struct choice *c, int changed)
{
    const struct step_graph *g = c->graph;
    double seconds = 0;

    for (int i = 0; i < g->n; i++) {
        c->runs[i] = false;
        c->dirty[i] = i == changed;
        for (int k = 0; i > changed && k < g->n_reads[i] && !c->dirty[i]; k++)
            c->dirty[i] = c->dirty[g->reads[i][k]];
    }
    for (int i = g->n - 1; i >= 0; i--) {
        if (!c->dirty[i] && !((c->runs[i] || g->is_result[i]) && !c->keep[i]))
            continue;
        seconds += g->seconds[i];
        for (int k = 0; k < g->n_reads[i]; k++)
            c->runs[g->reads[i][k]] = true;
    }
    return seconds;
}

/* Layouts change with the operator behind them. */
static bool may_change(const struct step_graph *graph, int i)
{
    return graph->steps[i]->node != NULL;
}

static double seconds_of_all(const struct choice *c)
{
    double seconds = 0;

    for (int i = 0; i < c->graph->n; i++)
        if (may_change(c->graph, i))
            seconds += seconds_of_change(c, i);
    return seconds;
}

/* --- choosing --------------------------------------------------------------------------------- */

static double bytes_of(const struct step_graph *graph, int i, int64_t n_samples)
{
    return ((double)graph->written[i]->bytes + 64) * (double)n_samples;
}

/* Steps with several results are computed again: they are few, and cheap. */
static bool may_be_kept(const struct step_graph *graph, int i)
{
    int n = 0;

    for (int k = 0; k < graph->steps[i]->n_slots; k++)
        n += graph->steps[i]->slots[k] && graph->steps[i]->slots[k]->storage->home == HOME_POOL &&
             graph->steps[i]->slots[k]->storage->first == i;
    return n == 1;
}

static double gain_of(const struct choice *c, int i, double now)
{
    double with;

    c->keep[i] = true;
    with = seconds_of_all(c);
    c->keep[i] = false;
    return now - with;
}

static void choose_greedily(const struct choice *c, int64_t n_samples, double most, double *gains)
{
    double now = seconds_of_all(c), used = 0;

    for (;;) {
        int best = -1, previous = -1;

        for (;;) {
            best = -1;
            for (int i = 0; i < c->graph->n; i++)
                if (!c->keep[i] && gains[i] > 0 &&
                    used + bytes_of(c->graph, i, n_samples) <= most &&
                    (best < 0 || gains[i] * bytes_of(c->graph, best, n_samples) >
                                     gains[best] * bytes_of(c->graph, i, n_samples)))
                    best = i;
            if (best < 0 || best == previous)
                break;
            gains[best] = fmin(gains[best], gain_of(c, best, now));
            previous = best;
        }
        if (best < 0)
            return;
        c->keep[best] = true;
        used += bytes_of(c->graph, best, n_samples);
        now -= gains[best];
        gains[best] = 0;
    }
}

double choose_kept(const struct step_graph *graph, int64_t n_samples, size_t most_bytes, bool *keep)
{
    struct arena arena = { NULL };
    struct choice c = { graph, keep, arena_array(&arena, bool, graph->n),
                        arena_array(&arena, bool, graph->n) };
    double *gains = arena_array(&arena, double, graph->n), all = 0, seconds;
    int n_changes = 0;

    for (int i = 0; i < graph->n; i++) {
        keep[i] = may_be_kept(graph, i);
        all += keep[i] ? bytes_of(graph, i, n_samples) : 0;
        n_changes += may_change(graph, i);
    }
    if (all > (double)most_bytes) {
        double now;

        for (int i = 0; i < graph->n; i++)
            keep[i] = false;
        now = seconds_of_all(&c);
        for (int i = 0; i < graph->n; i++)
            gains[i] = may_be_kept(graph, i) ? gain_of(&c, i, now) : 0;
        choose_greedily(&c, n_samples, (double)most_bytes, gains);
    }
    seconds = seconds_of_all(&c) / (n_changes ? n_changes : 1);
    arena_release(&arena);
    return seconds;
}
