#ifndef EMBED_ONE_BY_ONE_H
#define EMBED_ONE_BY_ONE_H

/* For loops that only load from computed indices: gcc's vector gathers are slower than a load for each. */
#if defined __GNUC__ && !defined __clang__ && defined __AVX2__
#define ONE_BY_ONE __attribute__((optimize("no-tree-vectorize")))
#else
#define ONE_BY_ONE
#endif

#endif
