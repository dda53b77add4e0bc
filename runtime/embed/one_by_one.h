#ifndef EMBED_ONE_BY_ONE_H
#define EMBED_ONE_BY_ONE_H

/* Loops that load numbers from computed places, and do nothing else: gcc makes gathers of vectors, which take longer
 * than a load for each. */
#if defined __GNUC__ && !defined __clang__ && defined __AVX2__
#define ONE_BY_ONE __attribute__((optimize("no-tree-vectorize")))
#else
#define ONE_BY_ONE
#endif

#endif
