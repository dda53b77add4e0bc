#include <stdint.h>

/* Whether each of n numbers is one of its `ways` (the least int64_t: any number), and no more than `most_open` are -1. */
static int numbers_agree(const int64_t *numbers, int n, const int64_t *allowed, int ways, int most_open)
{
    int open = 0;

    for (int i = 0; i < n; i++) {
        const int64_t *const of = &allowed[i * ways];
        int way = 0;

        while (way < ways && of[way] != numbers[i] && of[way] >= -INT64_MAX)
            way++;
        if (numbers[i] == -1)
            open++;
        if (way == ways || open > most_open)
            return 0;
    }
    return 1;
}
