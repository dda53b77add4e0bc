/* platform.h - what an example needs to know of the machine it runs on. */
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdint.h>

void platform_print(const char *text);

/* What a piece of program costs, between the two calls. */
void platform_start(void);
uint64_t platform_stop(void);
extern const char platform_unit[]; /* "instructions", "nanoseconds" */
extern const int platform_rounds;  /* how often to repeat a measurement */

/* The most bytes of stack that were in use; 0 = nobody knows. */
unsigned long platform_stack(void);

#endif
