#ifndef EMBED_ONCE_H
#define EMBED_ONCE_H

/* Loads v into a register once: gcc would fold a load into each instruction that reads it, and a core begins only
 * two loads per cycle. */
#if (defined __AVX512F__ || (defined __AVX__ && LANES < 16)) && defined __GNUC__
#define ONCE(v) __asm__("" : "+v"(v));
#else
#define ONCE(v)
#endif

#endif
