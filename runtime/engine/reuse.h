/* reuse.h - many variants of one network on the same samples: what a search needs.
 *
 *     reuse = reuse_new(n, inputs, n_params, bytes)
 *     reuse_keep(reuse, ctx, base, n_threads)      runs the base, and keeps activations
 *     for each variant, by any thread:
 *         variant = variant_new(reuse, ctx, fn)
 *         for each sample: variant_run(variant, sample, outputs, &bulk)
 *         variant_free(variant)
 *
 * A variant is a function of the same parameters as the base: with a layer in other numbers, say.
 * It is planned as engine_new plans it. Then each step is known by what it computes, from the
 * model's inputs on, to the bit (marks.c): its operators, constants, implementation and layouts.
 * What the base computes as well and is kept is not computed again, nor is what only such things
 * need. So a change in the middle of a network costs the half behind it, whatever made the variant,
 * and outputs are those of engine_run under engine_use_one_core, bit for bit, whatever is kept.
 *
 * Memory: the kept activations of all samples, never more than `most_bytes`, which the inputs, that
 * belong to the caller, count towards. When not all fit, those are kept that save the most time per
 * byte, if a change is as likely at any step: times are those of a run of the first sample. Besides
 * them, each variant has an engine's memory, but the weights that it shares with the base.
 *
 * All of oneDNN runs on the calling thread; threads are the caller's, one variant each, and have
 * asked for engine_use_one_core. */
#ifndef RUNTIME_ENGINE_REUSE_H
#define RUNTIME_ENGINE_REUSE_H

#include "relay_ir/ir.h"

struct reuse;   /* opaque */
struct variant; /* opaque */

/* inputs: [n_samples][n_params of the functions], borrowed; at least one sample. */
struct reuse *reuse_new(int64_t n_samples, const struct tensor *inputs, int n_params,
                        size_t most_bytes);

/* Runs the base on all samples, by n_threads threads. What was kept of another base is dropped.
 * The base and its constants must stay alive until the next one is kept. No variant may be alive.
 * False after an error. */
bool reuse_keep(struct reuse *reuse, struct ctx *ctx, struct function *base, int n_threads);

/* NULL after an error. Variants of several threads at once are fine. fn must outlive it. */
struct variant *variant_new(const struct reuse *reuse, struct ctx *ctx, struct function *fn);

/* outputs[n results] are allocated in bulk. False after an error. */
bool variant_run(struct variant *variant, int64_t sample, struct tensor *outputs,
                 struct bulk *bulk);

void variant_free(struct variant *variant); /* NULL is fine */

/* Steps that a run has, and of them those that it does. */
void variant_count(const struct variant *variant, int *n_steps, int *n_run);

/* Of the base: activations, those that are kept, the bytes of these for all samples, and which part
 * of the time of a whole run a changed step costs in the mean (1 with nothing kept and changes at
 * the beginning). */
struct reuse_report {
    int n_values, n_kept;
    size_t bytes;
    double share;
};
struct reuse_report reuse_report(const struct reuse *reuse);

void reuse_free(struct reuse *reuse); /* NULL is fine */

#endif
