/* main.c - the self-test of a package of relayc on a bare microcontroller: PASS or FAIL, and what one run takes. SELFTEST
 * names the function, SELFTEST_HEADER its header. */
#include <stdio.h>

#include SELFTEST_HEADER
#include "platform.h"

int main(void)
{
    unsigned long cost;
    int code;

    platform_start();
    code = SELFTEST();
    cost = (unsigned long)platform_stop();
    if (code)
        printf("FAIL: %d\n", code);
    else
        printf("PASS: %lu %s, stack %lu bytes\n", cost, platform_unit, platform_stack());
    return code != 0;
}
