/* reuse.c - variants of a network without oneDNN: each runs as a whole, nothing is kept. */
#include "runtime/engine/reuse.h"

#include <stdlib.h>

#include "base/memory.h"
#include "relay_ir/interpret.h"

struct reuse {
    const struct tensor *inputs;
    int n_params;
};

struct variant {
    const struct reuse *reuse;
    struct ctx *ctx;
    struct function *fn;
};

struct reuse *reuse_new(int64_t n_samples, const struct tensor *inputs, int n_params,
                        size_t most_bytes)
{
    struct reuse *reuse = block_alloc(sizeof *reuse, 0);

    (void)n_samples;
    (void)most_bytes;
    *reuse = (struct reuse){ inputs, n_params };
    return reuse;
}

bool reuse_keep(struct reuse *reuse, struct ctx *ctx, struct function *base, int n_threads)
{
    (void)reuse;
    (void)ctx;
    (void)base;
    (void)n_threads;
    return true;
}

struct variant *variant_new(const struct reuse *reuse, struct ctx *ctx, struct function *fn)
{
    struct variant *variant = block_alloc(sizeof *variant, 0);

    *variant = (struct variant){ reuse, ctx, fn };
    return variant;
}

bool variant_run(struct variant *variant, int64_t sample, struct tensor *outputs, struct bulk *bulk)
{
    const struct reuse *reuse = variant->reuse;

    return interpret(variant->ctx, variant->fn, reuse->inputs + sample * reuse->n_params, outputs,
                     bulk, NULL);
}

void variant_free(struct variant *variant)
{
    block_free(variant);
}

void variant_count(const struct variant *variant, int *n_steps, int *n_run)
{
    *n_steps = 0;
    for (const struct node *node = variant->fn->first; node; node = node->next)
        *n_steps += 1;
    *n_run = *n_steps;
}

struct reuse_report reuse_report(const struct reuse *reuse)
{
    (void)reuse;
    return (struct reuse_report){ .share = 1 };
}

void reuse_free(struct reuse *reuse)
{
    block_free(reuse);
}
