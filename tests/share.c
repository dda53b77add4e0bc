/* share.c - of the tests of a program, every Nth, in front of Check's own function (--wrap, Makefile): tests/run sets
 * RELAYC_TEST_SHARE=N for programs that build C for half a minute and more (tests/seconds). Which N says
 * RELAYC_TEST_TURN, so that N runs have all of them. Each step of a loop test counts as one, as tables of cases are
 * loops. RELAYC_TEST_ALL_BUILDS: all. */
#include <check.h>

#include "tests/support/builds.h"

void __real__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_value, int start,
                            int end);
void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_value, int start,
                            int end);

void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_value, int start,
                            int end)
{
    const unsigned share = builds_share();
    static unsigned number;

    if (share == 1) {
        __real__tcase_add_test(tcase, test, signal, exit_value, start, end);
        return;
    }
    for (int i = start; i < end; i++)
        if (number++ % share == builds_whole_turn() % share)
            __real__tcase_add_test(tcase, test, signal, exit_value, i, i + 1);
}
