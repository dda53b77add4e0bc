#ifndef EMBED_KEEP_LOOP_H
#define EMBED_KEEP_LOOP_H

/* In front of a loop of 16 numbers or less: gcc -O3 would write it out, and then find no vectors in what that makes.
 * Without vectors it may. */
#if defined __GNUC__ && __GNUC__ >= 8 && !defined __clang__ && \
    (defined __SSE2__ || (defined __ARM_NEON && defined __aarch64__) || defined __riscv_vector)
#define KEEP_LOOP _Pragma("GCC unroll 1")
#else
#define KEEP_LOOP
#endif

#endif
