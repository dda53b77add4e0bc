#include "semihosting.h"

#include <stdint.h>

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20 };

static const uint32_t STOPPED_APPLICATION_EXIT = 0x20026;

static void call(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;

    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

void semihosting_write(const char *text)
{
    call(SYS_WRITE0, text);
}

void semihosting_exit(int code)
{
    const uint32_t argument[2] = { STOPPED_APPLICATION_EXIT, (uint32_t)code };

    call(SYS_EXIT_EXTENDED, argument);
    for (;;)
        continue;
}
