/* stripe.h - parts of the network that are computed stripe by stripe, so that no feature map
 * between their regions is ever whole in memory (docs/design/memory.md, "Depth-first tiling").
 *
 * A *stripe* of a feature map is some of its rows (what lies along the first spatial dim; of
 * sequences: some places). A region whose rows need a few rows of its operands each can be computed
 * by stripes; regions that follow each other in the order, all of that kind, can be *striped*
 * together: each computes a stripe as soon as the rows that it needs are there, and only when
 * somebody waits for it. Rows that are needed again stay in a buffer, so nothing is computed twice.
 *
 *   stripe_rows.c     what rows a region reads
 *   stripe_flow.c     who computes when, and how many rows the buffers hold
 *   stripe_search.c   which regions are striped together, so that the arena is small enough
 *   stripe_outline.c  the graph: striped regions become one, a function of calls
 *   stripe_text.c     (codegen_c/) its C */
#ifndef CODEGEN_C_CORE_STRIPE_H
#define CODEGEN_C_CORE_STRIPE_H

#include "relay_ir/ir.h"

/* How the rows of a region's result read an argument: row i needs the rows from i * stride - pad,
 * `extent` of them, as far as there are such. */
struct row_window {
    bool whole;                  /* all of it for each row: the same for all, or rows of no place */
    int64_t extent, stride, pad; /* 1, 1, 0: one row each */
    int64_t rows;                /* that the argument has */
    size_t row_bytes;            /* of one plane */
    int64_t planes;              /* that each have such rows, one behind the other; 1 usually */
    int axis;                    /* of the rows */
};

/* A region as stripes see it. */
struct row_region {
    struct node *call;
    const char *why; /* it cannot be computed by stripes; NULL = it can */
    int64_t rows;    /* of the result, which has one plane */
    size_t row_bytes;
    int axis;
    struct row_window *reads; /* [call->n_inputs] */
};

struct row_region rows_of_region(struct arena *arena, struct node *call);

/* The rows [*begin, *end) that the window needs for rows [row, row + n) of the result. */
void row_window_range(const struct row_window *window, int64_t row, int64_t n, int64_t *begin,
                      int64_t *end);

/* The region's function for rows [row, row + n) of its result, which reads only the rows of its
 * parameters that these need. A new function of the module; NULL where it cannot be made. */
struct function *stripe_function(struct module *module, const struct row_region *region,
                                 int64_t row, int64_t n);

/* --- stripe_flow.c ---------------------------------------------------------------------------- */

/* Regions that are striped together, in their order. */
struct stripes {
    int n;
    const struct row_region *regions; /* [n] */
    int **source;    /* [n][n_inputs] the region in here that makes the argument; -1 = none */
    bool *is_result; /* [n] whether others read it: it lies where they do, whole */

    /* How they flow; see stripes_flow. */
    int64_t *step;   /* [n] rows of a stripe; the last one may have fewer */
    int64_t *top;    /* [n] rows of the first: with what its readers see beyond their own stripes,
                        so that no round leaves them a row short */
    int64_t *held;   /* [n] rows of the buffer, 0 for results */
    bool *stays;     /* [n] whether rows are kept from one round to the next */
    int64_t n_calls; /* stripes in all */
    size_t scratch;  /* bytes that the buffers take at least */
};

struct region;

/* Fills in source and is_result. */
void stripes_link(struct arena *arena, struct stripes *stripes);

/* Where the stripe that begins at row `done` ends: beyond the result, perhaps. */
int64_t stripes_end(const struct stripes *stripes, int i, int64_t done);

/* Runs the flow in rows only: each round goes over the regions in their order, and a region that is
 * waited for and has the rows it needs computes one stripe. `parts`: about how many stripes each
 * feature map is cut into. `scratch_of`: of each region while it runs, or NULL. False where one
 * region reads another's result by rows of another axis, or all of it for each row; where the
 * buffers take more than `most`; or after too many steps. */
bool stripes_flow(struct arena *arena, struct stripes *stripes, int64_t parts,
                  const size_t *scratch_of, size_t most, int64_t *work);

/* Whether the rows of a call's argument are copied together first: a parameter with many planes. */
bool stripes_gathers(const struct stripes *stripes, int i, int input);
int64_t stripes_gathered_rows(const struct stripes *stripes, int i, int input);

/* --- stripe_search.c -------------------------------------------------------------------------- */

/* A run of regions: calls of main in their order, from `first` to `last`, in about `parts` parts.
 */
struct stripe_choice {
    int first, last;
    int64_t parts;
};

struct stripe_plan {
    int n;
    struct stripe_choice *at; /* from the front to the back */
    size_t bytes;             /* that the arena takes at least, by estimate */
    int n_nodes;
    const char *const *order; /* [n_nodes] first results of main's nodes, in the order that the
                                 choices count in */
};

struct plan;
struct stripe_search;

/* Looks at main as it has been planned. In the arena, as all that is found. */
struct stripe_search *stripe_search_new(struct arena *arena, const struct plan *plan,
                                        const struct region *regions);

/* The plan with the fewest stripes that needs at most `most` bytes, by estimate; where there is
 * none, the one that needs least, of the smallest stripes: it may need less than is estimated. */
struct stripe_plan stripe_search_plan(struct stripe_search *search, size_t most);

/* The plan by which least goes through the cache behind one of `cache` bytes, by estimate. */
struct stripe_plan stripe_search_fast(struct stripe_search *search, size_t cache);

/* --- stripe_outline.c ------------------------------------------------------------------------- */

/* The name that a function of striped calls has as composite. */
#define STRIPES_COMPOSITE "c.stripes"

bool is_striped(const struct function *fn);

/* The regions of such a function, linked, without their flow. */
struct stripes stripes_of(struct arena *arena, struct function *fn);

/* What the choices name becomes calls of such functions; false after an error. */
bool stripes_outline(struct module *module, const struct stripe_plan *plan);

/* And main is as it was. */
bool stripes_inline(struct module *module);

#endif
