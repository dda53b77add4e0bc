/* random_target.h - targets for differential tests of the partitioner. */
#ifndef TESTS_SUPPORT_RANDOM_TARGET_H
#define TESTS_SUPPORT_RANDOM_TARGET_H

#include "base/arena.h"

/* The text of a target.json for the target "tINDEX": some of a pool of rows in some order, limits
 * that fit every row alone, rates. Moves *seed on. */
const char *random_target(struct arena *arena, int index, unsigned *seed);

#endif
