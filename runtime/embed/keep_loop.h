#ifndef EMBED_KEEP_LOOP_H
#define EMBED_KEEP_LOOP_H

/* Stands before a loop of at most 16 iterations: gcc -O3 would unroll it completely and then not vectorise it. */
#if defined __GNUC__ && __GNUC__ >= 8 && !defined __clang__ && \
    (defined __SSE2__ || (defined __ARM_NEON && defined __aarch64__) || defined __riscv_vector)
#define KEEP_LOOP _Pragma("GCC unroll 1")
#else
#define KEEP_LOOP
#endif

#endif
