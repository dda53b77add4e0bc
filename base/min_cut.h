/* min_cut.h - minimum s-t cut of a directed graph. Exact and deterministic: among minimum cuts, the
 * one with the fewest vertices at the source. */
#ifndef BASE_MIN_CUT_H
#define BASE_MIN_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { MIN_CUT_SOURCE, MIN_CUT_SINK, MIN_CUT_FIRST /* first free vertex */ };

/* Infinite capacity. */
#define MIN_CUT_NEVER (INT64_MAX / 4)

struct min_cut;

/* In the arena. */
struct min_cut *min_cut_new(struct arena *arena);

/* A new vertex: 2, 3, ... */
int min_cut_vertex(struct min_cut *cut);

/* Adds capacities: `forth` for a at the source and b at the sink, `back` for the opposite. The sum
 * of all finite capacities must be below MIN_CUT_NEVER. */
void min_cut_edge(struct min_cut *cut, int a, int b, int64_t forth, int64_t back);

/* Computes the cut and returns its capacity; min_cut_at_source then tells the side of a vertex.
 * Dinic 1970: shortest augmenting paths by level graphs. */
int64_t min_cut_solve(struct min_cut *cut);
bool min_cut_at_source(const struct min_cut *cut, int vertex);

#endif
