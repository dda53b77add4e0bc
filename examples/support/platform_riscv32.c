/* platform_riscv32.c - a RISC-V core of 32 bits in QEMU, with picolibc's start-up code and semihosting: the counter of
 * retired instructions counts exactly with -icount shift=0. */
#include "platform.h"

#include <stdio.h>

const char platform_unit[] = "instructions";
const int platform_rounds = 1; /* the count is always the same */

/* From picolibc.ld; only their addresses mean something. */
extern uint32_t __heap_end[], __stack[];

static const uint32_t PAINT = 0xA5A5A5A5u;
static uint64_t started;

static uint64_t instructions_retired(void)
{
    uint32_t low, high, again;

    do
        __asm volatile(".option arch, +zicsr\n\t"
                       "csrr %0, minstreth\n\tcsrr %1, minstret\n\tcsrr %2, minstreth"
                       : "=r"(high), "=r"(low), "=r"(again));
    while (high != again);
    return (uint64_t)high << 32 | low;
}

/* Runs before main: below the stack pointer, the stack is nobody's yet. */
__attribute__((constructor)) static void paint_stack(void)
{
    uint32_t *sp;

    __asm volatile("mv %0, sp" : "=r"(sp));
    for (volatile uint32_t *word = __heap_end; word < sp; word++)
        *word = PAINT;
}

void platform_print(const char *text)
{
    fputs(text, stdout);
}

void platform_start(void)
{
    started = instructions_retired();
}

uint64_t platform_stop(void)
{
    return instructions_retired() - started;
}

unsigned long platform_stack(void)
{
    const volatile uint32_t *word = __heap_end;

    while (word < __stack && *word == PAINT)
        word++;
    return (unsigned long)(__stack - word) * sizeof *word;
}
