#ifndef EMBED_ONCE_H
#define EMBED_ONCE_H

/* v is loaded into a register, once: gcc would make a load of each instruction that has it as an operand, and no more
 * than two loads are begun in a cycle. */
#if (defined __AVX512F__ || (defined __AVX__ && LANES < 16)) && defined __GNUC__
#define ONCE(v) __asm__("" : "+v"(v));
#else
#define ONCE(v)
#endif

#endif
