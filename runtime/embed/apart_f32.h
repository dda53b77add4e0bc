#ifndef EMBED_APART_F32_H
#define EMBED_APART_F32_H

/* v, a product that is rounded before it is added: with -ffp-contract=fast, clang would contract both to an FMA. */
static inline float apart_f32(float v)
{
#if defined __clang__ && defined __SSE__
    __asm__("" : "+x"(v));
#elif defined __clang__ && defined __ARM_64BIT_STATE
    __asm__("" : "+w"(v));
#elif defined __clang__ && defined __ARM_FP
    __asm__("" : "+t"(v));
#elif defined __clang__ && defined __riscv_flen
    __asm__("" : "+f"(v));
#endif
    return v;
}

#endif
