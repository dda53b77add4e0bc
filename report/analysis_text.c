/* analysis_text.c - the table of relayc analyze. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "report/analysis.h"

enum { BAR = 16 }; /* cells of the bar of the arena */

static const char *with_estimate(struct arena *arena, const struct analysis *a, const char *verdict)
{
    const char *estimate = estimate_text(arena, a->facts);

    return estimate ? arena_printf(arena, "%s, %s", verdict, estimate) : verdict;
}

static void add_need(struct str *out, const char *what, double needed, double allowed)
{
    str_printf(out, "%s%s %.0f", out->n ? ", " : "", what, needed);
    if (allowed > 0)
        str_printf(out, " of %.0f bytes (%.1f %%)", allowed, 100 * needed / allowed);
    else
        str_add(out, " bytes");
}

bool analysis_fits(const struct analysis *a)
{
    return (a->limits.ram <= 0 || facts_ram(a->facts) <= a->limits.ram) &&
           (a->limits.flash <= 0 || facts_flash(a->facts) <= a->limits.flash);
}

const char *analysis_verdict(struct arena *arena, const struct analysis *a)
{
    struct str needs = { .arena = arena };

    if (a->limits.ram <= 0 && a->limits.flash <= 0)
        return NULL;
    add_need(&needs, "RAM", facts_ram(a->facts), a->limits.ram);
    add_need(&needs, "flash", facts_flash(a->facts), a->limits.flash);
    return with_estimate(arena, a,
                         arena_printf(arena, "%s%s%s: %s",
                                      analysis_fits(a) ? "fits" : "does not fit",
                                      a->limits.board ? " " : "",
                                      a->limits.board ? a->limits.board : "", str_text(&needs)));
}

static void add_summary(struct str *out, const struct analysis *a)
{
    const struct facts *facts = a->facts;
    const struct fact_measured *m = &facts->measured;
    const char *verdict = analysis_verdict(out->arena, a);

    str_printf(out, "%s: %.0f ONNX nodes -> %d regions for %s%s%s\n", facts->model_file,
               facts->onnx_nodes, facts->n_regions, facts->target, *facts->options ? ", " : "",
               facts->options);
    str_printf(out, "  flash   %.0f bytes", facts_flash(facts));
    if (m->compiler)
        str_printf(out, " = code %.0f + constants %.0f + data %.0f (%s)\n", m->text, m->rodata,
                   m->data, m->compiler);
    else
        str_add(out, " of weights; --cc measures the code as well\n");
    str_printf(out, "  RAM     %.0f bytes = arena %.0f", facts_ram(facts), facts->arena_bytes);
    if (m->compiler)
        str_printf(out, " + data and bss %.0f + stack %.0f", m->data + m->bss, fmax(0, m->stack));
    str_printf(out, "; inputs and outputs, the caller's: %.0f\n", facts->io_bytes);
    if (verdict)
        str_printf(out, "  board   %s\n", verdict);
    for (int i = 0; i < a->scores.n; i++)
        str_printf(out, "  %-7s %.4g\n", a->scores.at[i].name ? a->scores.at[i].name : "?",
                   a->scores.at[i].value);
}

/* "#######.........": how much of the arena is in use. */
static const char *bar(struct arena *arena, double share)
{
    char text[BAR + 1];
    const int n = (int)ceil(fmin(1, share) * BAR);

    memset(text, '.', BAR);
    memset(text, '#', (size_t)n);
    text[BAR] = '\0';
    return arena_strdup(arena, text);
}

/* Which columns there is anything for. */
struct columns {
    bool seconds, estimate, cycles, loss; /* cycles: where no clock makes seconds of them */
};

static struct columns find_columns(const struct facts *facts)
{
    struct columns has = { 0 };

    for (int i = 0; i < facts->n_regions; i++) {
        has.seconds = has.seconds || facts->regions[i].seconds > 0;
        has.estimate = has.estimate || facts->regions[i].estimate > 0;
        has.cycles = has.cycles || facts->regions[i].cycles > 0;
        has.loss = has.loss || !isnan(facts->regions[i].sqnr);
    }
    has.cycles = has.cycles && !has.estimate;
    return has;
}

static void add_optional(struct str *out, const struct columns *has, const struct fact_region *r)
{
    if (has->seconds && r->seconds > 0)
        str_printf(out, " %9.3f", 1000 * r->seconds);
    else if (has->seconds)
        str_printf(out, " %9s", "-");
    if (has->estimate && r->estimate > 0)
        str_printf(out, " %10.3f", 1000 * r->estimate);
    else if (has->estimate)
        str_printf(out, " %10s", "-");
    if (has->cycles && r->cycles > 0)
        str_printf(out, " %13.1f", r->cycles / 1000);
    else if (has->cycles)
        str_printf(out, " %13s", "-");
    if (has->loss && !isnan(r->sqnr))
        str_printf(out, " %8.1f", r->sqnr);
    else if (has->loss)
        str_printf(out, " %8s", "-");
}

static void add_region(struct str *out, const struct facts *facts, const struct columns *has, int i)
{
    const struct fact_region *r = &facts->regions[i];
    struct arena *arena = out->arena;

    str_printf(out, "%4d %-28s %-13s %-14s %6.1f %9.0f", i,
               str_safe(arena, region_label(arena, r, 9), 25),
               r->compiler ? r->compiler
               : r->kernel ? r->kernel
                           : "-",
               r->output, facts->macs > 0 ? 100 * r->macs / facts->macs : 0, r->weight_bytes);
    add_optional(out, has, r);
    str_printf(out, " %9.0f %s %s\n", r->arena_bytes,
               bar(arena, facts->arena_bytes > 0 ? r->arena_bytes / facts->arena_bytes : 0),
               region_precision(arena, r));
}

/* What the estimates are made of, and the sum of cycles. */
static void add_estimate(struct str *out, const struct analysis *a)
{
    const struct estimate sum = facts_estimate(a->facts);
    const double mhz = a->limits.clock_mhz;

    if (sum.cycles > 0)
        str_printf(out,
                   "%s est.: an estimate, %s%.4g M cycles of %s%s compiled with -O2, without waits "
                   "for memory; not a measurement\n",
                   sum.seconds > 0 ? "ms" : "kcycles",
                   sum.n < a->facts->n_regions ? "at least " : "", sum.cycles / 1e6,
                   a->facts->target,
                   sum.seconds > 0 && mhz > 0 ? arena_printf(out->arena, " at %.0f MHz", mhz) : "");
    else
        str_add(out, "ms est.: an estimate by the backend's cost model, not a measurement\n");
}

const char *analysis_text(struct arena *arena, const struct analysis *a)
{
    const struct facts *facts = a->facts;
    const struct columns has = find_columns(facts);
    struct str out = { .arena = arena };

    add_summary(&out, a);
    str_printf(&out, "\n%4s %-28s %-13s %-14s %6s %9s%s%s%s%s %9s %-*s %s\n", "#", "nodes",
               "kernel", "result", "% MACs", "weights", has.seconds ? "  ms here" : "",
               has.estimate ? "   ms est." : "", has.cycles ? "  kcycles est." : "",
               has.loss ? "  SQNR dB" : "", "RAM", BAR, "of the arena", "format");
    for (int i = 0; i < facts->n_regions; i++)
        add_region(&out, facts, &has, i);
    if (has.seconds)
        str_printf(&out, "ms here: measured on the machine that wrote %s\n", a->times_from);
    if (has.estimate || has.cycles)
        add_estimate(&out, a);
    return str_text(&out);
}
