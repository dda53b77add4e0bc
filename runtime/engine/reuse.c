#include "runtime/engine/reuse.h"

#include <pthread.h>
#include <time.h>

#include <oneapi/dnnl/dnnl_debug.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/reuse_choose.h"

enum { STEP_ALIGN = 64 };

/* An activation of the base, of all samples. */
struct kept {
    struct mark mark;
    size_t step; /* bytes from sample to sample */
    char *data;
};

/* What plans of all variants share. Read-only while variants are alive. */
struct shared {
    struct mark_table constants; /* mark -> payload, in a layout of oneDNN's */
    struct mark_table known;     /* address of a payload -> struct mark * */
    struct mark_table kept;      /* mark -> struct kept * */
};

struct planned {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct plan *plan;
};

struct reuse {
    struct arena arena, base_arena; /* base_arena: until the next base */
    int64_t n_samples;
    int n_params;
    const struct tensor *inputs;
    size_t most_bytes;
    struct shared shared;
    struct planned base;
    struct bulk activations;
    struct reuse_report report;
};

struct variant {
    struct arena arena;
    const struct reuse *reuse;
    struct planned planned;
    int n_kept, n_steps, n_run;
    struct storage **kept; /* whose data is set for each sample */
};

/* --- what plans share ------------------------------------------------------------------------- */

const void *shared_constant(const struct shared *shared, struct mark mark)
{
    return mark_find(&shared->constants, mark);
}

static struct mark address_key(const void *data)
{
    return (struct mark){ (uintptr_t)data, 1 };
}

struct mark shared_mark(const struct shared *shared, const void *data)
{
    const struct mark *mark = mark_find(&shared->known, address_key(data));

    return mark ? *mark : (struct mark){ 0 };
}

static void share_constants(struct reuse *reuse, struct plan *plan)
{
    for (struct storage *s = plan->storages; s; s = s->next)
        if (s->home == HOME_FIXED && s->bytes > 0) {
            const struct mark mark = mark_of_fixed(plan, s);

            mark_set(&reuse->shared.known, address_key(s->data),
                     arena_memdup(&reuse->base_arena, &mark, sizeof mark));
            mark_set(&reuse->shared.constants, mark, (void *)(uintptr_t)s->data);
        }
}

/* --- plans ------------------------------------------------------------------------------------ */

static void planned_free(struct planned *planned)
{
    plan_free(planned->plan);
    dnnl_stream_destroy(planned->stream);
    dnnl_engine_destroy(planned->engine);
    *planned = (struct planned){ NULL };
}

/* Built and marked; without memory yet. */
static bool planned_new(struct ctx *ctx, struct function *fn, const struct shared *shared,
                        struct planned *out)
{
    dnnl_status_t status = dnnl_engine_create(&out->engine, dnnl_cpu, 0);

    if (status == dnnl_success)
        status = dnnl_stream_create(&out->stream, out->engine, dnnl_stream_default_flags);
    if (status != dnnl_success)
        return diag_error(ctx, DIAG_ENGINE, NULL, "oneDNN does not start: %s",
                          dnnl_status2str(status));
    out->plan = plan_build(ctx, out->engine, out->stream, fn, true, (struct shared *)shared);
    if (!out->plan)
        return false;
    marks_of_plan(out->plan);
    return true;
}

static bool planned_place(struct planned *planned)
{
    plan_place(planned->plan);
    return plan_bind(planned->plan, NULL);
}

static const struct tensor *inputs_of(const struct reuse *reuse, int64_t sample)
{
    return reuse->inputs + sample * reuse->n_params;
}

/* --- the base --------------------------------------------------------------------------------- */

struct filler {
    struct reuse *reuse;
    struct ctx *ctx;
    struct function *base;
    struct planned planned;
    int index, n; /* of the threads */
    pthread_t thread;
    bool started, ok;
};

static double own_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The seconds of each step, of the second of two runs of the first sample. */
static bool time_steps(struct reuse *reuse, double *seconds)
{
    struct plan *plan = reuse->base.plan;
    bool ok = plan_bind(plan, inputs_of(reuse, 0));

    for (int run = 0; run < 2; run++) {
        int i = 0;

        for (const struct step *step = plan->first; step && ok; step = step->next, i++) {
            const double start = own_seconds();

            ok = plan_run_step(plan, step, inputs_of(reuse, 0));
            seconds[i] = own_seconds() - start;
        }
    }
    return ok;
}

static void allocate_kept(struct reuse *reuse, const struct step_graph *graph, const bool *keep,
                          const size_t *bytes)
{
    for (int i = 0; i < graph->n; i++) {
        struct kept *kept;

        if (!keep[i])
            continue;
        kept = arena_new(&reuse->base_arena, struct kept);
        kept->mark = graph->written[i]->mark;
        kept->step = (bytes[i] + STEP_ALIGN - 1) / STEP_ALIGN * STEP_ALIGN;
        kept->data = bulk_alloc(&reuse->activations, kept->step * (size_t)reuse->n_samples);
        mark_set(&reuse->shared.kept, kept->mark, kept);
        reuse->report.n_kept++;
    }
    reuse->report.bytes = reuse->activations.bytes;
}

static size_t input_bytes(const struct reuse *reuse)
{
    size_t bytes = 0;

    for (int64_t i = 0; i < reuse->n_samples * reuse->n_params; i++)
        bytes += type_bytes(&reuse->inputs[i].type);
    return bytes;
}

static bool choose_activations(struct reuse *reuse)
{
    struct plan *plan = reuse->base.plan;
    struct arena arena = { NULL };
    double *seconds = arena_array(&arena, double, plan->n_steps), whole = 0;
    size_t *bytes = arena_array(&arena, size_t, plan->n_steps);
    bool *keep = arena_array(&arena, bool, plan->n_steps);
    const size_t taken = input_bytes(reuse);
    struct step_graph graph;
    bool ok = planned_place(&reuse->base) && time_steps(reuse, seconds);

    if (ok) {
        graph = step_graph_of(plan, seconds, &arena);
        for (int i = 0; i < graph.n; i++) {
            whole += seconds[i];
            bytes[i] = graph.written[i] ? graph.written[i]->bytes : 0;
            reuse->report.n_values += graph.written[i] != NULL;
        }
        reuse->report.share =
            choose_kept(&graph, reuse->n_samples,
                        reuse->most_bytes > taken ? reuse->most_bytes - taken : 0, keep) /
            (whole > 0 ? whole : 1);
        allocate_kept(reuse, &graph, keep, bytes);
    }
    arena_release(&arena);
    bulk_release(&plan->pool_memory); /* this plan stays for its constants only */
    return ok;
}

/* One thread makes all plans, because that numbers the function's values. */
static void *plan_base(void *user)
{
    struct filler *f = user;

    engine_use_one_core();
    f->ok = planned_new(f->ctx, f->base, &f->reuse->shared, &f->reuse->base);
    if (!f->ok)
        return NULL;
    share_constants(f->reuse, f->reuse->base.plan);
    f->ok = choose_activations(f->reuse);
    for (int i = 0; i < f->n && f->ok && f->reuse->report.n_kept > 0; i++)
        f->ok = planned_new(f[i].ctx, f->base, &f->reuse->shared, &f[i].planned);
    return NULL;
}

static struct kept *kept_of(const struct shared *shared, const struct storage *storage)
{
    return storage->home == HOME_POOL ? mark_find(&shared->kept, storage->mark) : NULL;
}

static bool fill_samples(struct filler *f, struct plan *plan)
{
    bool ok = true;

    for (int64_t sample = f->index; sample < f->reuse->n_samples && ok; sample += f->n) {
        const struct tensor *inputs = inputs_of(f->reuse, sample);

        for (struct storage *s = plan->storages; s; s = s->next)
            if (s->home == HOME_KEPT)
                s->data = s->kept->data + (size_t)sample * s->kept->step;
        ok = plan_bind(plan, inputs);
        for (const struct step *step = plan->first; step && ok; step = step->next)
            ok = plan_run_step(plan, step, inputs);
    }
    return ok;
}

/* The base again, whose steps write what is kept where it is kept. */
static void *fill(void *user)
{
    struct filler *f = user;

    engine_use_one_core();
    for (struct storage *s = f->planned.plan->storages; s; s = s->next) {
        s->kept = kept_of(&f->reuse->shared, s);
        if (s->kept)
            s->home = HOME_KEPT;
    }
    f->ok = planned_place(&f->planned) && fill_samples(f, f->planned.plan);
    return NULL;
}

/* False when a thread failed, or could not be started. */
static bool run_threads(struct ctx *ctx, struct filler *fillers, int n, void *(*body)(void *))
{
    bool ok = true;

    for (int i = 0; i < n; i++)
        fillers[i].started = pthread_create(&fillers[i].thread, NULL, body, &fillers[i]) == 0;
    for (int i = 0; i < n; i++) {
        if (fillers[i].started)
            pthread_join(fillers[i].thread, NULL);
        else
            diag_error(ctx, DIAG_ENGINE, NULL, "cannot start a thread");
        ok = ok && fillers[i].started && fillers[i].ok;
    }
    return ok;
}

static void forget_base(struct reuse *reuse)
{
    planned_free(&reuse->base);
    bulk_release(&reuse->activations);
    arena_release(&reuse->base_arena);
    reuse->report = (struct reuse_report){ .n_values = 0 };
    reuse->shared = (struct shared){ { .arena = &reuse->base_arena },
                                     { .arena = &reuse->base_arena },
                                     { .arena = &reuse->base_arena } };
}

/* What the threads had to say; of several that say the same, once. */
static void hear(struct ctx *ctx, const struct ctx *from)
{
    for (const struct diag *d = from->diags.first; d; d = d->next)
        if (d->severity == DIAG_ERROR)
            diag_error(ctx, d->code, d->origin, "%s", d->message);
}

bool reuse_keep(struct reuse *reuse, struct ctx *ctx, struct function *base, int n_threads)
{
    const int n = reuse->n_samples < n_threads ? (int)reuse->n_samples : n_threads;
    struct arena arena = { NULL };
    struct filler *fillers = arena_array(&arena, struct filler, n);
    bool ok;

    forget_base(reuse);
    for (int i = 0; i < n; i++)
        fillers[i] = (struct filler){
            .reuse = reuse, .ctx = ctx_new(ctx->diags.input_name), .base = base, .index = i, .n = n
        };
    ok = run_threads(ctx, fillers, 1, plan_base);
    if (ok && reuse->report.n_kept > 0)
        ok = run_threads(ctx, fillers, n, fill);
    for (int i = 0; i < n; i++) {
        hear(ctx, fillers[i].ctx);
        planned_free(&fillers[i].planned);
        ctx_free(fillers[i].ctx);
    }
    arena_release(&arena);
    return ok;
}

/* --- variants --------------------------------------------------------------------------------- */

/* A storage that somebody reads: it is kept, or must be computed. */
static void need(const struct shared *shared, struct storage *storage)
{
    if (storage->home != HOME_POOL || storage->needed)
        return;
    storage->kept = kept_of(shared, storage);
    if (storage->kept)
        storage->home = HOME_KEPT;
    else
        storage->needed = true;
}

static bool must_run(const struct step *step, int i)
{
    for (int k = 0; k < step->n_slots; k++)
        if (step->slots[k] && step->slots[k]->storage->home == HOME_POOL &&
            step->slots[k]->storage->first == i && step->slots[k]->storage->needed)
            return true;
    return false;
}

static void drop_step(struct step *step)
{
    for (int i = 0; i < step->n_args; i++)
        dnnl_memory_destroy(step->args[i].memory);
    dnnl_primitive_destroy(step->primitive);
}

/* Takes out of the plan what need not run, from the results backwards. */
static void prune(struct variant *variant)
{
    struct plan *plan = variant->planned.plan;
    const struct shared *shared = &variant->reuse->shared;
    struct step **steps = arena_array(&variant->arena, struct step *, plan->n_steps);
    int n = 0;

    for (struct step *step = plan->first; step; step = step->next)
        steps[n++] = step;
    for (int i = 0; i < plan->n_results; i++)
        need(shared, plan->results[i]->storage);
    plan->first = plan->last = NULL;
    for (int i = n - 1; i >= 0; i--) {
        if (!must_run(steps[i], i)) {
            drop_step(steps[i]);
            continue;
        }
        variant->n_run++;
        steps[i]->next = plan->first;
        plan->first = steps[i];
        plan->last = plan->last ? plan->last : steps[i];
        for (int k = 0; k < steps[i]->n_slots; k++) {
            struct storage *storage = steps[i]->slots[k] ? steps[i]->slots[k]->storage : NULL;

            if (storage && storage->home == HOME_POOL && storage->first == i)
                storage->needed = true; /* also a result that nobody reads */
            else if (storage)
                need(shared, storage);
        }
    }
    variant->n_steps = n;
}

/* Memory for what is computed, and a list of what is kept. */
static void settle_storages(struct variant *variant)
{
    struct plan *plan = variant->planned.plan;
    size_t n = 0;

    for (struct storage *s = plan->storages; s; s = s->next) {
        n += s->home == HOME_KEPT;
        if (s->home == HOME_POOL && !s->needed)
            s->home = HOME_FIXED; /* nobody looks at it */
    }
    variant->kept = arena_array(&variant->arena, struct storage *, n);
    for (struct storage *s = plan->storages; s; s = s->next)
        if (s->home == HOME_KEPT)
            variant->kept[variant->n_kept++] = s;
}

struct variant *variant_new(const struct reuse *reuse, struct ctx *ctx, struct function *fn)
{
    struct arena arena = { NULL };
    struct variant *variant = arena_new(&arena, struct variant);

    variant->arena = arena;
    variant->reuse = reuse;
    if (planned_new(ctx, fn, &reuse->shared, &variant->planned)) {
        prune(variant);
        settle_storages(variant);
        if (planned_place(&variant->planned))
            return variant;
    }
    variant_free(variant);
    return NULL;
}

bool variant_run(struct variant *variant, int64_t sample, struct tensor *outputs, struct bulk *bulk)
{
    const struct tensor *inputs = inputs_of(variant->reuse, sample);
    struct plan *plan = variant->planned.plan;
    bool ok;

    for (int i = 0; i < variant->n_kept; i++) {
        const struct kept *kept = variant->kept[i]->kept;

        variant->kept[i]->data = kept->data + (size_t)sample * kept->step;
    }
    ok = plan_bind(plan, inputs);
    for (const struct step *step = plan->first; step && ok; step = step->next)
        ok = plan_run_step(plan, step, inputs);
    return ok && plan_take_results(plan, inputs, outputs, bulk);
}

void variant_count(const struct variant *variant, int *n_steps, int *n_run)
{
    *n_steps = variant->n_steps;
    *n_run = variant->n_run;
}

void variant_free(struct variant *variant)
{
    struct arena arena;

    if (!variant)
        return;
    planned_free(&variant->planned);
    arena = variant->arena;
    arena_release(&arena);
}

/* --- the whole -------------------------------------------------------------------------------- */

struct reuse *reuse_new(int64_t n_samples, const struct tensor *inputs, int n_params,
                        size_t most_bytes)
{
    struct arena arena = { NULL };
    struct reuse *reuse = arena_new(&arena, struct reuse);

    reuse->arena = arena;
    reuse->n_samples = n_samples;
    reuse->n_params = n_params;
    reuse->inputs = inputs;
    reuse->most_bytes = most_bytes;
    forget_base(reuse);
    return reuse;
}

struct reuse_report reuse_report(const struct reuse *reuse)
{
    return reuse->report;
}

void reuse_free(struct reuse *reuse)
{
    struct arena arena;

    if (!reuse)
        return;
    forget_base(reuse);
    arena = reuse->arena;
    arena_release(&arena);
}
