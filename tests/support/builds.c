#include "tests/support/builds.h"

#include <stdlib.h>

bool builds_all(void)
{
    return getenv("RELAYC_TEST_ALL_BUILDS") != NULL;
}

unsigned builds_turn(void)
{
    const char *turn = getenv("RELAYC_TEST_TURN");

    return turn ? (unsigned)strtoul(turn, NULL, 10) : 0;
}
