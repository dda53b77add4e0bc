#ifndef EMBED_APART_H
#define EMBED_APART_H

/* Inner loops that need all registers stay functions of their own where what follows them computes functions:
 * compilers load the constants of these once, in front of both, and the inner loop has no registers left. */
#ifdef __GNUC__
#define APART __attribute__((noinline))
#else
#define APART
#endif

#endif
