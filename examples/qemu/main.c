/* main.c - the self-test of a package of relayc on a bare Cortex-M: PASS or FAIL, and what one run takes. SELFTEST names
 * the function, SELFTEST_HEADER its header. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include SELFTEST_HEADER
#include "semihosting.h"
#include "startup.h"
#include "systick.h"

int main(void)
{
    char line[120];
    uint64_t instructions;
    int code;

    systick_start();
    code = SELFTEST();
    instructions = systick_instructions();
    if (code)
        snprintf(line, sizeof line, "FAIL: %d\n", code);
    else
        snprintf(line, sizeof line, "PASS: %" PRIu32 " instructions, stack %lu bytes\n", (uint32_t)instructions,
                 stack_bytes_used());
    semihosting_write(line);
    return code != 0;
}
