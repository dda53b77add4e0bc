/* search.c - units, settings, what the trials are of: a search's life. */
#include "search/search.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "quantize/workers.h"
#include "runtime/engine/engine.h"
#include "search/judge.h"

/* --- settings and candidates ------------------------------------------------------------------ */

static const char *setting_text(struct arena *arena, const struct precision *p)
{
    struct str text = { .arena = arena };

    str_add(&text, precision_text(arena, p));
    if (p->has_data && p->has_data_scale)
        str_printf(&text, " scale=%s", p->data_scale.name);
    if (p->has_weights && strcmp(p->weight_scale.name, "max") != 0)
        str_printf(&text, " scale-weights=%s", p->weight_scale.name);
    return str_text(&text);
}

int search_setting(struct search *search, const struct precision *precision)
{
    struct arena *arena = &search->ctx->perm;
    const char *text = setting_text(arena, precision);
    struct setting *more;

    for (int i = 0; i < search->n_settings; i++)
        if (strcmp(search->settings[i].text, text) == 0)
            return i;
    more = arena_array(arena, struct setting, search->n_settings + 1);
    if (search->n_settings)
        memcpy(more, search->settings, (size_t)search->n_settings * sizeof *more);
    more[search->n_settings] = (struct setting){ text, *precision };
    search->settings = more;
    return search->n_settings++;
}

int *search_with(struct search *search, const int *settings, int unit, int setting)
{
    int *copy =
        arena_memdup(&search->ctx->perm, settings, (size_t)search->units.n * sizeof *settings);

    copy[unit] = setting;
    return copy;
}

void search_qtable(const struct search *search, const int *settings, struct arena *arena,
                   struct qtable *out)
{
    size_t n = 0;

    for (int i = 0; i < search->units.n; i++)
        n += (size_t)search->units.at[i].n_rows;
    *out = (struct qtable){ .path = "", .by_name = { .arena = arena } };
    out->rows = arena_array(arena, struct qtable_row, n);
    for (int i = 0; i < search->units.n; i++)
        for (int k = 0; k < search->units.at[i].n_rows; k++) {
            struct qtable_row *row = &out->rows[out->n++];

            row->name = search->units.at[i].rows[k];
            row->precision = search->settings[settings[i]].precision;
            map_set(&out->by_name, row->name, row);
        }
}

bool score_is_better(const struct score *a, const struct score *b)
{
    return a->loss < b->loss || (a->loss == b->loss && a->cos > b->cos);
}

/* --- the module of a candidate ---------------------------------------------------------------- */

static const struct calib_table *table_of(const struct search *search,
                                          const struct proposal *candidate)
{
    return candidate->table ? candidate->table : search->options->calib;
}

static struct module *build_module(const struct search *search, const struct proposal *proposal,
                                   struct ctx *ctx, bool simulate_only)
{
    struct module *module;
    struct qtable qtable;

    search_qtable(search, proposal->settings, &ctx->perm, &qtable);
    module = search->options->stages->quantize(search->module, ctx, &qtable,
                                               table_of(search, proposal), simulate_only);
    return module;
}

struct module *search_build(const struct search *search, const struct proposal *proposal,
                            struct ctx *ctx)
{
    return build_module(search, proposal, ctx, true);
}

struct module *search_realise(const struct search *search, const struct proposal *proposal,
                              struct ctx *ctx)
{
    return build_module(search, proposal, ctx, false);
}

bool search_prepare_run(const struct search *search, struct module *module)
{
    const struct search_options *options = search->options;

    for (int i = 0; i < options->n_tensors; i++) {
        struct value *value = map_get(&module->main->names, options->tensors[i]);

        if (value)
            result_add(module->main, value, options->tensors[i]);
    }
    return options->stages->fuse(module);
}

/* --- what the trials are of ------------------------------------------------------------------- */

static struct mark add_table(struct mark mark, const struct calib_table *table)
{
    for (int i = 0; table && i < table->n; i++) {
        const struct calib_tensor *tensor = &table->at[i];

        mark = mark_add_text(mark, tensor->name);
        mark = mark_add(mark, &tensor->min, sizeof tensor->min);
        mark = mark_add(mark, &tensor->max, sizeof tensor->max);
        for (int k = 0; k < tensor->n_thresholds; k++) {
            mark = mark_add_text(mark, tensor->thresholds[k].method);
            mark = mark_add(mark, &tensor->thresholds[k].value, sizeof(double));
        }
    }
    return mark;
}

struct mark search_key(const struct search *search, const struct proposal *candidate)
{
    struct mark mark = { 0 };

    for (int i = 0; i < search->units.n; i++) {
        mark = mark_add_text(mark, search->units.at[i].name);
        mark = mark_add_text(mark, search->settings[candidate->settings[i]].text);
    }
    return candidate->table ? add_table(mark, candidate->table) : mark;
}

/* The f32 results stand for the model and its data. */
static struct mark identity_of(const struct search *search, const struct module *base)
{
    const struct search_options *options = search->options;
    struct mark mark = mark_add_text((struct mark){ 0 }, "relayc search");

    for (int64_t s = 0; s < options->n_samples; s++)
        for (int i = 0; i < search->n_seen; i++)
            mark = mark_add(mark, search->wanted[s * search->n_seen + i],
                            type_bytes(&base->main->ret->inputs[search->first_seen + i]->type));
    for (const struct value *c = search->module->main->constants; c; c = c->next)
        mark = mark_add(mark, c->data, type_bytes(&c->type));
    mark = add_table(mark, options->calib);
    mark = mark_add(mark, &options->measure, sizeof options->measure);
    if (options->judge)
        mark = mark_add_text(mark, options->judge->name);
    for (int i = 0; i < options->n_tensors; i++)
        mark = mark_add_text(mark, options->tensors[i]);
    return mark;
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool check_tensors(const struct search *search)
{
    const struct search_options *options = search->options;
    bool ok = true;

    for (int i = 0; i < options->n_tensors; i++) {
        const struct value *value = map_get(&search->module->main->names, options->tensors[i]);

        if (!value || value->kind != VALUE_OUTPUT || value->type.dtype != DTYPE_F32)
            ok = diag_error(search->ctx, DIAG_USAGE, NULL,
                            "--tensors: no node computes a tensor of floats called '%s'",
                            str_safe(&search->ctx->perm, options->tensors[i], 200));
    }
    return ok;
}

/* Which results are compared: the named tensors stand behind the model's own. */
static bool find_seen(struct search *search, const struct function *fn)
{
    const int n_own = search->module->main->ret->n_inputs;

    search->first_seen = search->options->n_tensors ? n_own : 0;
    search->n_seen = search->options->n_tensors ? search->options->n_tensors : n_own;
    for (int i = 0; i < search->n_seen; i++)
        if (fn->ret->inputs[search->first_seen + i]->type.dtype != DTYPE_F32) {
            diag_error(search->ctx, DIAG_USAGE, NULL, "the results of the model are not floats");
            diag_help(search->ctx, "name float tensors to compare by --tensors");
            return false;
        }
    return true;
}

bool search_open(struct search *search, struct ctx *ctx, struct module *module,
                 const struct search_options *options)
{
    static const struct precision f32 = { .mode = PRECISION_F32 };
    struct proposal nothing = { .what = "f32" };

    *search = (struct search){ .ctx = ctx, .options = options, .module = module };
    search->units = units_of(ctx, module);
    search_setting(search, &f32);
    if (search->units.n == 0)
        return diag_error(ctx, DIAG_QUANTIZE, NULL, "the model has nothing to quantise");
    if (!check_tensors(search))
        return false;
    search->reuse =
        reuse_new(options->n_samples, options->inputs, module->main->n_params, options->mem);
    nothing.settings = arena_array(&ctx->perm, int, search->units.n);
    if (!search_rebase(search, &nothing) || !find_seen(search, search->base->main) ||
        !search_see_f32(search))
        return false;
    search->trials = trials_open(ctx, options->log, identity_of(search, search->base));
    return search->trials != NULL;
}

bool search_rebase(struct search *search, const struct proposal *candidate)
{
    struct ctx *ctx = ctx_new(search->ctx->diags.input_name);
    struct module *module = search_build(search, candidate, ctx);
    bool ok = module && search_prepare_run(search, module) &&
              reuse_keep(search->reuse, ctx, module->main, search->options->n_threads);

    if (!ok)
        workers_report(search->ctx, ctx, NULL);
    module_free(search->base);
    if (search->base_ctx)
        ctx_free(search->base_ctx);
    search->base = module;
    search->base_ctx = ctx;
    return ok;
}

void search_close(struct search *search)
{
    reuse_free(search->reuse);
    module_free(search->base);
    if (search->base_ctx)
        ctx_free(search->base_ctx);
    trials_close(search->trials);
}
