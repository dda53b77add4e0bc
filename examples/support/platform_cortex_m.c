/* platform_cortex_m.c - a Cortex-M in QEMU: SysTick counts instructions. */
#include "platform.h"

#include "semihosting.h"
#include "startup.h"
#include "systick.h"

const char platform_unit[] = "instructions";
const int platform_rounds = 1; /* the count is always the same */

void platform_print(const char *text)
{
    semihosting_write(text);
}

void platform_start(void)
{
    systick_start();
}

uint64_t platform_stop(void)
{
    return systick_instructions();
}

unsigned long platform_stack(void)
{
    return stack_bytes_used();
}
