#include "tests/support/builds.h"

#include <stdlib.h>

static unsigned number_in(const char *name)
{
    const char *text = getenv(name);

    return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

bool builds_all(void)
{
    return getenv("RELAYC_TEST_ALL_BUILDS") != NULL;
}

unsigned builds_share(void)
{
    const unsigned share = number_in("RELAYC_TEST_SHARE");

    return builds_all() || share == 0 ? 1 : share;
}

unsigned builds_whole_turn(void)
{
    return number_in("RELAYC_TEST_TURN");
}

unsigned builds_turn(void)
{
    return builds_whole_turn() / builds_share();
}
