/* reuse_choose.h - inside the engine: which activations are worth their memory. */
#ifndef RUNTIME_ENGINE_REUSE_CHOOSE_H
#define RUNTIME_ENGINE_REUSE_CHOOSE_H

#include "runtime/engine/plan.h"

/* A plan as a graph of steps. */
struct step_graph {
    int n;
    const struct step **steps; /* [n], in order */
    const double *seconds;     /* [n], of a run */
    struct storage **written;  /* [n]: the first storage that the step writes */
    int *n_reads;              /* [n]: how many steps' results it reads, and which */
    int **reads;               /* ascending, each once */
    bool *is_result;           /* [n] */
};

/* Of a plan that has been run; all in `arena`. seconds: [plan->n_steps]. */
struct step_graph step_graph_of(const struct plan *plan, const double *seconds,
                                struct arena *arena);

/* Sets keep[i] for steps whose results are to be kept; n_samples of them may take at most
 * most_bytes. Gives the mean, over steps that may change, of the seconds that a run then takes. */
double choose_kept(const struct step_graph *graph, int64_t n_samples, size_t most_bytes,
                   bool *keep);

#endif
