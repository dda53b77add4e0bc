/* difference.h - how far two tensors are apart. */
#ifndef RELAY_IR_VALIDATE_DIFFERENCE_H
#define RELAY_IR_VALIDATE_DIFFERENCE_H

#include "relay_ir/type.h"

struct difference {
    double most, largest; /* the greatest difference; the greatest magnitude that was wanted */
    int64_t at;           /* of the greatest; -1 = none */
    double got, wanted;   /* there */
};

/* Codes of one that stand for the floats of the other are compared as the numbers they stand for.
 * Infinite where shapes differ, or one of two elements is no finite number and the other is not the
 * same. */
struct difference difference_of(const struct tensor *got, const struct tensor *wanted);

/* The same type and the same bits; what a NaN holds besides does not count. */
bool difference_is_none(const struct tensor *got, const struct tensor *wanted);

/* Whether what was finite is finite still. */
bool difference_is_finite(const struct tensor *got, const struct tensor *wanted);

/* One step of quantised values that a result is, or has become; 0 where it is neither. */
double difference_step(const struct tensor *a, const struct tensor *b);

/* "[0,3,1]": the coordinates of an element. */
const char *element_text(struct arena *arena, const struct type *type, int64_t at);

#endif
