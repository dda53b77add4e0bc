#ifndef EMBED_INLINE_F32_H
#define EMBED_INLINE_F32_H

/* Functions of f32 become part of the loops around them wherever those can be vector code; gcc calls what
 * a file has many times otherwise. */
#if defined __OPTIMIZE__ && !defined __OPTIMIZE_SIZE__ \
    && (defined __SSE2__ || defined __ARM_NEON || defined __riscv_vector)
#define INLINE_F32 static inline __attribute__((always_inline))
#else
#define INLINE_F32 static inline
#endif

#endif
