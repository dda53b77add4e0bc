/* engine.c - the engine's life: one plan with fusion for speed, one without for looking inside. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "runtime/engine/engine.h"

#include <dlfcn.h>

#include <oneapi/dnnl/dnnl_debug.h>

#include "base/memory.h"
#include "runtime/engine/plan.h"

struct engine {
    struct arena arena;
    struct ctx *ctx;
    struct function *fn;
    dnnl_engine_t onednn;
    dnnl_stream_t stream;
    struct plan *fused, *separate; /* separate: made when an observer wants it first */
};

static bool open_onednn(struct engine *engine)
{
    dnnl_status_t status = dnnl_engine_create(&engine->onednn, dnnl_cpu, 0);

    if (status == dnnl_success)
        status = dnnl_stream_create(&engine->stream, engine->onednn, dnnl_stream_default_flags);
    if (status == dnnl_success)
        return true;
    return diag_error(engine->ctx, DIAG_ENGINE, NULL, "oneDNN does not start: %s",
                      dnnl_status2str(status));
}

/* Of its plans, each is a resource itself. */
static void release(void *user, size_t size)
{
    struct engine *engine = user;

    (void)size;
    dnnl_stream_destroy(engine->stream);
    dnnl_engine_destroy(engine->onednn);
}

struct engine *engine_new(struct ctx *ctx, struct function *fn)
{
    struct arena arena = { NULL };
    struct engine *engine = arena_new(&arena, struct engine);

    engine->arena = arena; /* the engine lives in its own arena */
    memory_own(engine, release, 0);
    engine->ctx = ctx;
    engine->fn = fn;
    if (open_onednn(engine))
        engine->fused = plan_new(ctx, engine->onednn, engine->stream, fn, true);
    if (engine->fused)
        return engine;
    engine_free(engine);
    return NULL;
}

bool engine_run(struct engine *engine, const struct tensor *inputs, struct tensor *outputs,
                struct bulk *bulk, const struct observer *observer)
{
    if (!interpret_check_inputs(engine->ctx, engine->fn, engine->fn->n_params, inputs))
        return false;
    if (!observer || !observer->inside_regions)
        return plan_run(engine->fused, inputs, outputs, bulk, observer);
    if (!engine->separate)
        engine->separate = plan_new(engine->ctx, engine->onednn, engine->stream, engine->fn, false);
    return engine->separate && plan_run(engine->separate, inputs, outputs, bulk, observer);
}

void engine_count(const struct engine *engine, int *n_onednn, int *n_reference)
{
    *n_onednn = engine->fused->n_onednn;
    *n_reference = engine->fused->n_reference;
}

void engine_explain(const struct engine *engine,
                    void (*see)(void *user, const struct node *node, const char *impl,
                                const char *why),
                    void *user)
{
    for (const struct step *step = engine->fused->first; step; step = step->next)
        see(user, step->node, step->impl, step->why);
}

void engine_free(struct engine *engine)
{
    struct arena arena;

    if (!engine)
        return;
    memory_disown(engine);
    plan_free(engine->fused);
    plan_free(engine->separate);
    dnnl_stream_destroy(engine->stream);
    dnnl_engine_destroy(engine->onednn);
    arena = engine->arena;
    arena_release(&arena);
}

/* OpenMP's setting is one of the calling thread's. An oneDNN without OpenMP does not have it. */
void engine_use_one_core(void)
{
    void (*set_threads)(int) = NULL;

    *(void **)&set_threads = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    if (set_threads)
        set_threads(1);
}
