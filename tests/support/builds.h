/* builds.h - which ways of building generated C a test takes: they take turns from run to run. */
#ifndef TESTS_SUPPORT_BUILDS_H
#define TESTS_SUPPORT_BUILDS_H

#include <stdbool.h>

/* All ways, as make check-full has them: RELAYC_TEST_ALL_BUILDS is set. */
bool builds_all(void);

/* N = RELAYC_TEST_SHARE: every Nth test of this program runs, in rotation (tests/share.c); 1, all, without it or where
 * builds_all. */
unsigned builds_share(void);

/* How often the turn has come to this test: RELAYC_TEST_TURN, which tests/run makes the number of commits (0 without),
 * by builds_share, so that a test that runs at every third commit meets all ways of building. */
unsigned builds_turn(void);

/* RELAYC_TEST_TURN itself, which says what tests have their turn. */
unsigned builds_whole_turn(void);

#endif
