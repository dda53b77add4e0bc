/* engine.c - the host executor of a build without oneDNN (make ONEDNN=no): the reference evaluator, which is slow. */
#include "runtime/engine/engine.h"

#include "runtime/engine/gram.h"

struct engine {
    struct ctx *ctx;
    struct function *fn;
};

struct engine *engine_new(struct ctx *ctx, struct function *fn)
{
    struct engine *engine = arena_new(&ctx->perm, struct engine);

    *engine = (struct engine){ ctx, fn };
    return engine;
}

bool engine_run(struct engine *engine, const struct tensor *inputs, struct tensor *outputs,
                struct bulk *bulk, const struct observer *observer)
{
    return interpret(engine->ctx, engine->fn, inputs, outputs, bulk, observer);
}

void engine_count(const struct engine *engine, int *n_onednn, int *n_reference)
{
    *n_onednn = *n_reference = 0;
    for (const struct node *node = engine->fn->first; node; node = node->next)
        *n_reference += 1;
}

void engine_explain(const struct engine *engine,
                    void (*see)(void *user, const struct node *node, const char *impl,
                                const char *why),
                    void *user)
{
    for (const struct node *node = engine->fn->first; node; node = node->next)
        see(user, node, NULL, "relayc is built without oneDNN");
}

void engine_use_one_core(void)
{
}

void engine_free(struct engine *engine)
{
    (void)engine; /* lies in an arena */
}

bool engine_gram(const float *x, int64_t n, int64_t k, float *sum)
{
    for (int64_t row = 0; row < n; row++)
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < k; j++)
                sum[i * k + j] += x[row * k + i] * x[row * k + j];
    return true;
}
