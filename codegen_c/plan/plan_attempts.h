/* plan_attempts.h - one plan after the other, until what is wanted fits. */
#ifndef CODEGEN_C_PLAN_PLAN_ATTEMPTS_H
#define CODEGEN_C_PLAN_PLAN_ATTEMPTS_H

#include <stdbool.h>

struct codegen;

/* Plans (plan_once.h) in other orders, in stripes (--ram), in pools, until what is wanted fits, or
 * else the best that was found. False after errors. `fresh` is *codegen as it began. Main may have got another order, and regions
 * of layers in stripes. */
bool plan_until_fits(struct codegen *codegen, const struct codegen *fresh);

#endif
