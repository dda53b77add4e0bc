/* startup.c - from reset to main on a Cortex-M4F: vector table, FPU, .data, .bss, painted stack. */
#include "startup.h"

#include <stdint.h>

#include "semihosting.h"

/* From linker.ld; only their addresses mean something. */
extern uint32_t stack_limit[], stack_top[], data_start[], data_end[], bss_start[], bss_end[];
extern const uint32_t data_load[];

int main(void);
void reset(void);

static const uint32_t PAINT = 0xA5A5A5A5u;

enum { FAULT_EXIT = 70 };

static void fault(void)
{
    semihosting_write("fault: the program stopped at an exception\n");
    semihosting_exit(FAULT_EXIT);
}

static void enable_fpu(void)
{
    volatile uint32_t *const cpacr = (volatile uint32_t *)0xE000ED88u;

    *cpacr |= 0xFu << 20; /* full access to coprocessors 10 and 11 */
    __asm volatile("dsb\n\tisb" ::: "memory");
}

/* Below the stack pointer, the stack is nobody's yet. */
static void paint_stack(void)
{
    uint32_t *sp;

    __asm volatile("mov %0, sp" : "=r"(sp));
    for (volatile uint32_t *word = stack_limit; word < sp; word++)
        *word = PAINT;
}

unsigned long stack_bytes_used(void)
{
    const volatile uint32_t *word = stack_limit;

    while (word < stack_top && *word == PAINT)
        word++;
    return (unsigned long)(stack_top - word) * sizeof *word;
}

void reset(void)
{
    const uint32_t *from = data_load;

    enable_fpu();
    paint_stack();
    for (volatile uint32_t *to = data_start; to < data_end; to++)
        *to = *from++;
    for (volatile uint32_t *to = bss_start; to < bss_end; to++)
        *to = 0;
    semihosting_exit(main());
}

/* The processor takes its stack pointer and its first instruction from here. Interrupts are not
 * used: the table ends with the exceptions. */
struct vectors {
    uint32_t *stack;
    void (*handlers[15])(void);
};

extern const struct vectors vectors;
__attribute__((section(".vectors"), used))
const struct vectors vectors = { stack_top,
                                 { reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault,
                                   fault, 0, fault, fault } };
