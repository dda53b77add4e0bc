/* search_files.c - the files of a search: a qtable, a calibration table, a log. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/commands/search.h"

static double decibels(double snr)
{
    return snr > 0 ? -10 * log10(snr) : (double)INFINITY;
}

static void write_score(struct writer *w, const char *what, const struct score *s)
{
    writer_printf(w, "%-60s loss %.9g, cosine %.9f, SQNR %.2f dB, mse %.6g", what, s->loss, s->cos,
                  decibels(s->snr), s->mse);
    if (!isnan(s->task))
        writer_printf(w, ", metric %.9g", s->task);
    writer_text(w, "\n");
}

static int by_name(const void *a, const void *b)
{
    const struct judged *x = *(const struct judged *const *)a;
    const struct judged *y = *(const struct judged *const *)b;
    const int order = strcmp(x->what, y->what);

    if (order)
        return order;
    return x->key.a != y->key.a ? (x->key.a < y->key.a ? -1 : 1)
                                : (x->key.b > y->key.b) - (x->key.b < y->key.b);
}

/* In an order that does not depend on who did what when. */
static void write_trials(struct writer *w, struct arena *arena, const struct trials *trials)
{
    const int n = trials_count(trials);
    const struct judged **all = arena_array(arena, const struct judged *, n);

    for (int i = 0; i < n; i++)
        all[i] = trials_at(trials, i);
    qsort(all, (size_t)n, sizeof *all, by_name);
    writer_printf(w, "\n%d trials\n", n);
    for (int i = 0; i < n; i++)
        write_score(w, all[i]->what, &all[i]->score);
}

static void write_log(const struct precision_search *r, struct writer *w)
{
    struct arena *arena = &r->driver->ctx->perm;
    const struct search *search = &r->search;
    const struct found *found = &r->found;

    writer_printf(w, "relayc search --strategy %s --precision %s\n\n", r->strategy,
                  precision_text(arena, &r->options.precision));
    write_score(w, "start", &found->start);
    for (int i = 0; i < found->n_stages; i++)
        write_score(w, found->stages[i].what, &found->stages[i].score);
    write_score(w, found->is_start ? "found: the start" : "found", &found->end);
    writer_text(w, "\n");
    for (int i = 0; i < found->n_ranked; i++) {
        const struct ranked *row = &found->ranking[i];
        const struct unit *unit = &search->units.at[row->unit];

        writer_printf(w, "the layer %s is %d sensitive layer, loss is %.17g, type is %s, by %s\n",
                      str_safe(arena, unit->name, 400), i, row->score.loss, op_name(unit->op),
                      search->settings[row->setting].text);
    }
    write_trials(w, arena, search->trials);
}

bool search_write_files(struct precision_search *r)
{
    struct output_set *outputs = r->driver->outputs;
    struct arena *arena = &r->driver->ctx->perm;
    const struct found *found = &r->found;
    const struct calib_table *table = found->table ? found->table : r->search_options.calib;
    struct qtable qtable;

    search_qtable(&r->search, found->settings, arena, &qtable);
    qtable_write(output_open(outputs, arena_printf(arena, "%s.qtable", r->prefix)), &qtable);
    if (table)
        calib_write_json(output_open(outputs, arena_printf(arena, "%s.calib.json", r->prefix)),
                         table);
    write_log(r, output_open(outputs, arena_printf(arena, "%s.log", r->prefix)));
    return output_finish(outputs);
}
