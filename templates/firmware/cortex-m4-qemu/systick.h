/* systick.h - counts instructions on a Cortex-M in QEMU: with -icount shift=0 its time moves one
 * nanosecond per instruction. SysTick of mps2-an385, -an386 and -an500 counts at 25 MHz, that of
 * mps3-an547 at 32 MHz; it has 24 bits, for at most 671 (524) million instructions. Instructions
 * are not cycles. */
#ifndef SYSTICK_H
#define SYSTICK_H

#include <stdint.h>

#ifdef __ARM_FEATURE_MVE /* a Cortex-M55: mps3-an547 */
#define SYSTICK_HZ 32000000u
#else
#define SYSTICK_HZ 25000000u
#endif

#define SYSTICK_CONTROL ((volatile uint32_t *)0xE000E010u)
#define SYSTICK_RELOAD ((volatile uint32_t *)0xE000E014u)
#define SYSTICK_VALUE ((volatile uint32_t *)0xE000E018u)
#define SYSTICK_MASK 0xFFFFFFu

static inline void systick_start(void)
{
    *SYSTICK_CONTROL = 0;
    *SYSTICK_RELOAD = SYSTICK_MASK;
    *SYSTICK_VALUE = 0;   /* writing anything clears it */
    *SYSTICK_CONTROL = 5; /* the processor's clock, no interrupt, on */
}

/* Instructions since then. */
static inline uint64_t systick_instructions(void)
{
    return (uint64_t)(SYSTICK_MASK - *SYSTICK_VALUE) * 1000000000u / SYSTICK_HZ;
}

#endif
