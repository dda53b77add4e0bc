/* precompiled.h - <immintrin.h> and <arm_neon.h> for many builds of generated C: a compiler reads one of them in
 * 0.2 to 0.4 s, more than most kernels take.
 *
 * They lie in the folder RELAYC_TEST_HEADERS, which a run of tests makes and removes (tests/run); without it there
 * are none. A header is of one command, word for word: compiler, language and all flags. */
#ifndef TESTS_SUPPORT_PRECOMPILED_H
#define TESTS_SUPPORT_PRECOMPILED_H

#include "base/ctx.h"

/* What to add to "gcc -std=c99 -O2 ..." for this file of C: "-include FILE", or "" where it does not include such a
 * header, or the command is the first of its kind or another program is about to make the header. */
const char *precompiled_header(struct ctx *ctx, const char *command, const char *path);

#endif
