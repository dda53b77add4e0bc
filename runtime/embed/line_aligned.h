#ifndef EMBED_LINE_ALIGNED_H
#define EMBED_LINE_ALIGNED_H

/* Vectors that cross a cache line take two accesses. */
#ifdef __GNUC__
#define LINE_ALIGNED __attribute__((aligned(64)))
#else
#define LINE_ALIGNED
#endif

#endif
