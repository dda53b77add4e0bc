/* difference.h - difference between two tensors. */
#ifndef RELAY_IR_VALIDATE_DIFFERENCE_H
#define RELAY_IR_VALIDATE_DIFFERENCE_H

#include "relay_ir/type.h"

struct difference {
    double most, largest; /* greatest difference; greatest magnitude in `wanted` */
    int64_t at;           /* element with the greatest difference; -1 = none */
    double got, wanted;   /* values of that element */
};

/* Quantised values are compared with floats as the real values that they stand for. Infinite if
 * shapes differ, or if one of two elements is not finite and the other is different. */
struct difference difference_of(const struct tensor *got, const struct tensor *wanted);

/* True if types and bits are equal; payloads of NaN are ignored. */
bool difference_is_none(const struct tensor *got, const struct tensor *wanted);

/* Of each element of `wanted` and `other`, which have one type, that which is nearer to `got`'s goes to `wanted`. */
void difference_take_nearer(const struct tensor *got, struct tensor *wanted,
                            const struct tensor *other);

/* Quantisation step of a or b; 0 if neither is quantised. */
double difference_step(const struct tensor *a, const struct tensor *b);

/* "[0,3,1]": the coordinates of an element. */
const char *element_text(struct arena *arena, const struct type *type, int64_t at);

#endif
