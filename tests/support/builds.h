/* builds.h - which ways of building generated C a test takes: they take turns from run to run. */
#ifndef TESTS_SUPPORT_BUILDS_H
#define TESTS_SUPPORT_BUILDS_H

#include <stdbool.h>

/* All ways, as make check-full has them: RELAYC_TEST_ALL_BUILDS is set. */
bool builds_all(void);

/* Whose turn it is: RELAYC_TEST_TURN, which tests/run makes the number of commits; 0 without. */
unsigned builds_turn(void);

#endif
