/* pack_search.h - can these items be packed below a given height? Used by pack_exact.c only.
 *
 * An item is a block of memory in small units: its size in units of PLAN_ALIGN, its lifetime in
 * sections. A section is a stretch of time in which nothing begins or ends. */
#ifndef CODEGEN_C_PLAN_PACK_PACK_SEARCH_H
#define CODEGEN_C_PLAN_PACK_PACK_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct item {
    int size;
    int from, to; /* sections [from, to) */
    int block;    /* where the caller finds it */
};

enum search_result { SEARCH_FOUND, SEARCH_IMPOSSIBLE, SEARCH_GAVE_UP };

struct search;

/* Items are tried in the order given; it decides how fast the search is, not what is possible. */
struct search *search_new(struct arena *arena, const struct item *items, int n, int n_sections);

/* Looks for offsets such that every item ends at `target` or below, with at most `limit` steps of
 * work; adds the steps done to *work. A step is one turn of an inner loop. */
enum search_result search_run(struct search *search, int target, uint64_t limit, uint64_t *work);

/* Changes the order for later runs: first come the items that met most often in what failed. */
void search_learn(struct search *search);

/* Of item i, after SEARCH_FOUND. */
int search_offset(const struct search *search, int i);

/* Placements tried in all runs. */
uint64_t search_nodes(const struct search *search);

#endif
