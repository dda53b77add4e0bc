#ifndef EMBED_INLINE_F32_H
#define EMBED_INLINE_F32_H

/* f32 functions are inlined into loops that can be vectorised; gcc otherwise calls those that a file uses often. */
#if defined __OPTIMIZE__ && !defined __OPTIMIZE_SIZE__ \
    && (defined __SSE2__ || defined __ARM_NEON || defined __riscv_vector)
#define INLINE_F32 static inline __attribute__((always_inline))
#else
#define INLINE_F32 static inline
#endif

#endif
