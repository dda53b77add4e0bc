#include <stdint.h>

/* Whether each of n numbers is one of its `ways` (INT64_MIN stands for any), and at most `most_open` of them are -1. */
static int numbers_agree(const int64_t *numbers, int n, const int64_t *allowed, int ways, int most_open)
{
    int open = 0;

    for (int i = 0; i < n; i++) {
        const int64_t *of = allowed + i * ways;
        int way = 0;

        while (way < ways && of[way] != numbers[i] && of[way] != INT64_MIN)
            way++;
        open += numbers[i] == -1;
        if (way == ways || open > most_open)
            return 0;
    }
    return 1;
}
