/* platform_host.c - any POSIX system: time of the monotonic clock, the best of ROUNDS rounds. */
#define _POSIX_C_SOURCE 200809L

#include "platform.h"

#include <stdio.h>
#include <time.h>

#ifndef ROUNDS
#define ROUNDS 20
#endif

const char platform_unit[] = "nanoseconds";
const int platform_rounds = ROUNDS;

static struct timespec started;

void platform_print(const char *text)
{
    fputs(text, stdout);
}

void platform_start(void)
{
    clock_gettime(CLOCK_MONOTONIC, &started);
}

uint64_t platform_stop(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)((now.tv_sec - started.tv_sec) * 1000000000LL + now.tv_nsec - started.tv_nsec);
}

unsigned long platform_stack(void)
{
    return 0;
}
