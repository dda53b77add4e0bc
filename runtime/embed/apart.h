#ifndef EMBED_APART_H
#define EMBED_APART_H

/* Inner loops that need all registers are functions of their own if their epilogue computes functions: inlined,
 * the constants of these would be loaded in front of the loop and take its registers. */
#ifdef __GNUC__
#define APART __attribute__((noinline))
#else
#define APART
#endif

#endif
