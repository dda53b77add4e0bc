/* exhaustive.h - sweeps over all 2^32 f32. Each says what it has found, and returns how much was
 * wrong. */
#ifndef TESTS_EXHAUSTIVE_EXHAUSTIVE_H
#define TESTS_EXHAUSTIVE_EXHAUSTIVE_H

int sweep_math(void);
int sweep_minifloats(void);
int sweep_codes(void);

#endif
