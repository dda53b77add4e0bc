#ifndef EMBED_WIDE_LOOPS_H
#define EMBED_WIDE_LOOPS_H

/* gcc uses half the vector length of CPUs with AVX-512 unless told otherwise. */
#if defined __AVX512F__ && defined __GNUC__ && __GNUC__ >= 8 && !defined __clang__
#define WIDE_LOOPS __attribute__((target("prefer-vector-width=512")))
#else
#define WIDE_LOOPS
#endif

#endif
