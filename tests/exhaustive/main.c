/* exhaustive [SWEEP ...] - all sweeps, or these. */
#include <stdbool.h>
#include <string.h>

#include "tests/exhaustive/exhaustive.h"

static const struct {
    const char *name;
    int (*run)(void);
} sweeps[] = {
    { "math", sweep_math },
    { "minifloats", sweep_minifloats },
    { "codes", sweep_codes },
};

static bool is_wanted(const char *name, int n, char **words)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return n == 0;
}

int main(int argc, char **argv)
{
    int failed = 0, n_run = 0;

    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++)
        if (is_wanted(sweeps[i].name, argc - 1, argv + 1)) {
            failed += sweeps[i].run();
            n_run++;
        }
    return failed != 0 || n_run == 0;
}
