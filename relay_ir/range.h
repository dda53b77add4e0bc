/* range.h - what integers a value may have at run time, by its type and the nodes that compute it. */
#ifndef RELAY_IR_RANGE_H
#define RELAY_IR_RANGE_H

#include "base/map.h"
#include "relay_ir/walk.h"

struct range {
    wide low, high; /* of all elements, both possible as far as is known */
};

/* Truth values that are taken to be true, by address. Zeroed but for the arena: none. */
struct premise {
    struct map truths;
};

void premise_add(struct premise *premise, const struct value *truth);

/* The range of a value of an integer type or bool; false for other types. premise may be NULL. A few thousand nodes are
 * looked at; behind them a value may have any number of its type. */
bool range_of_value(const struct value *value, const struct premise *premise, struct range *range);

/* How far numbers are from making the condition false, whatever run time says: the least distance of the comparisons that
 * it needs all of; 0 = it is false. -1: that cannot be said. */
wide range_to_false(const struct value *condition, const struct premise *premise);

#endif
