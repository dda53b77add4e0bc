#ifndef EMBED_APART_F32_H
#define EMBED_APART_F32_H

/* Rounds a product before it is added: with -ffp-contract=fast, clang would contract both to an FMA. */
#if defined __clang__ && defined __SSE__
#define APART_F32(v) __asm__("" : "+x"(v));
#elif defined __clang__ && defined __ARM_64BIT_STATE
#define APART_F32(v) __asm__("" : "+w"(v));
#elif defined __clang__ && defined __ARM_FP
#define APART_F32(v) __asm__("" : "+t"(v));
#elif defined __clang__ && defined __riscv_flen
#define APART_F32(v) __asm__("" : "+f"(v));
#else
#define APART_F32(v)
#endif

#endif
