/* reuse.h - runs many variants of a network on one set of samples, for searches.
 *
 *     reuse = reuse_new(n, inputs, n_params, bytes)
 *     reuse_keep(reuse, ctx, base, n_threads)      runs the base, and keeps activations
 *     for each variant, by any thread:
 *         variant = variant_new(reuse, ctx, fn)
 *         for each sample: variant_run(variant, sample, outputs, &bulk)
 *         variant_free(variant)
 *
 * A variant is a function with the parameters of the base, for instance with one layer in another
 * precision, and is planned as by engine_new. Each step has a hash of all that determines its
 * result (marks.c): inputs, operators, constants, implementation and layouts. Results that the base
 * has too, and that are kept, are not recomputed. So a change in the middle of a network costs only
 * the half after it. Outputs are bit-identical to engine_run under engine_use_one_core, whatever is
 * kept.
 *
 * Memory: kept activations of all samples, at most `most_bytes` including the caller's inputs. If
 * not all fit, those that save the most time per byte are kept, assuming changes equally likely at
 * any step; times are from a run of the first sample. Each variant also needs an engine's memory,
 * except weights shared with the base.
 *
 * oneDNN runs on the calling thread. Threads belong to the caller: one variant each, after
 * engine_use_one_core. */
#ifndef RUNTIME_ENGINE_REUSE_H
#define RUNTIME_ENGINE_REUSE_H

#include "relay_ir/ir.h"

struct reuse;   /* opaque */
struct variant; /* opaque */

/* inputs: [n_samples][n_params of the functions], borrowed; at least one sample. */
struct reuse *reuse_new(int64_t n_samples, const struct tensor *inputs, int n_params,
                        size_t most_bytes);

/* Runs the base on all samples with n_threads threads and keeps activations, dropping those of an
 * earlier base. The base and its constants must outlive the next call. No variant may exist. False
 * after an error. */
bool reuse_keep(struct reuse *reuse, struct ctx *ctx, struct function *base, int n_threads);

/* Thread-safe. fn must outlive the variant. NULL after an error. */
struct variant *variant_new(const struct reuse *reuse, struct ctx *ctx, struct function *fn);

/* outputs[n results] are allocated in bulk. False after an error. */
bool variant_run(struct variant *variant, int64_t sample, struct tensor *outputs,
                 struct bulk *bulk);

void variant_free(struct variant *variant); /* NULL is fine */

/* Number of steps, and of those that run. */
void variant_count(const struct variant *variant, int *n_steps, int *n_run);

/* Statistics of the base: activations, kept ones, their bytes for all samples, and the mean share
 * of a whole run's time that a changed step costs (1 with nothing kept and a change at the
 * beginning). */
struct reuse_report {
    int n_values, n_kept;
    size_t bytes;
    double share;
};
struct reuse_report reuse_report(const struct reuse *reuse);

void reuse_free(struct reuse *reuse); /* NULL is fine */

#endif
