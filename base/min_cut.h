/* min_cut.h - the cheapest way to divide a directed graph: who stays with the source, who goes with
 * the sink. Exact, and deterministic: of several cheapest ways, the one with the fewest vertices at
 * the source. */
#ifndef BASE_MIN_CUT_H
#define BASE_MIN_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { MIN_CUT_SOURCE, MIN_CUT_SINK, MIN_CUT_FIRST /* vertex of one's own */ };

/* A capacity that is never worth cutting. */
#define MIN_CUT_NEVER (INT64_MAX / 4)

struct min_cut;

/* In the arena. */
struct min_cut *min_cut_new(struct arena *arena);

/* A new vertex: 2, 3, ... */
int min_cut_vertex(struct min_cut *cut);

/* It costs `forth` to leave a with the source and send b to the sink, `back` the other way round.
 * The sum of all capacities below MIN_CUT_NEVER must be below it, too. */
void min_cut_edge(struct min_cut *cut, int a, int b, int64_t forth, int64_t back);

/* Divides, and returns what it costs; then at_source answers. Dinic 1970: shortest augmenting
 * paths, in phases of one level graph each. */
int64_t min_cut_solve(struct min_cut *cut);
bool min_cut_at_source(const struct min_cut *cut, int vertex);

#endif
