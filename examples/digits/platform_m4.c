/* platform_m4.c - a Cortex-M4 in QEMU: SysTick counts instructions.
 *
 * With -icount shift=0 QEMU's time moves one nanosecond per instruction, and SysTick of mps2-an386
 * counts at 25 MHz: a tick is 40 instructions. (Instructions are not cycles.) */
#include "platform.h"

#include "semihosting.h"
#include "startup.h"

enum { INSTRUCTIONS_PER_TICK = 40, COUNTER_MASK = 0xFFFFFF };

const char platform_unit[] = "instructions";
const int platform_rounds = 1; /* the count is always the same */

static volatile uint32_t *const systick_control = (volatile uint32_t *)0xE000E010u;
static volatile uint32_t *const systick_reload = (volatile uint32_t *)0xE000E014u;
static volatile uint32_t *const systick_value = (volatile uint32_t *)0xE000E018u;

void platform_print(const char *text)
{
    semihosting_write(text);
}

void platform_start(void)
{
    *systick_control = 0;
    *systick_reload = COUNTER_MASK;
    *systick_value = 0;   /* writing anything clears it */
    *systick_control = 5; /* the processor's clock, no interrupt, on */
}

uint64_t platform_stop(void)
{
    return (uint64_t)(COUNTER_MASK - *systick_value) * INSTRUCTIONS_PER_TICK;
}

unsigned long platform_stack(void)
{
    return stack_bytes_used();
}
