/* reuse_choose.h - internal: chooses the activations to keep. */
#ifndef RUNTIME_ENGINE_REUSE_CHOOSE_H
#define RUNTIME_ENGINE_REUSE_CHOOSE_H

#include "runtime/engine/plan.h"

/* A plan as a graph of steps. */
struct step_graph {
    int n;
    const struct step **steps; /* [n], in order */
    const double *seconds;     /* [n] seconds per step in a run */
    struct storage **written;  /* [n] first storage that the step writes */
    int *n_reads;              /* [n] number of steps whose results it reads */
    int **reads;               /* [n] these steps, ascending, without duplicates */
    bool *is_result;           /* [n] */
};

/* Graph of a plan that has been run, in `arena`. seconds: [plan->n_steps]. */
struct step_graph step_graph_of(const struct plan *plan, const double *seconds,
                                struct arena *arena);

/* Sets keep[i] for steps whose results are kept; n_samples of them take at most most_bytes. Returns
 * the mean seconds of a run over all steps that may change. */
double choose_kept(const struct step_graph *graph, int64_t n_samples, size_t most_bytes,
                   bool *keep);

#endif
