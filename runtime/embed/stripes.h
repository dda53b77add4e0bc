#include <string.h>

/* Drops the rows before `needed` of rows [*first, end), which lie one after the other from `at` on, and moves the
 * others to the front. */
static void drop_rows(void *at, int *first, int needed, int end, size_t row_bytes)
{
    unsigned char *const rows = at;
    const int from = needed < end ? needed : end;

    if (from <= *first)
        return;
    (void)memmove(rows, rows + (size_t)(from - *first) * row_bytes, (size_t)(end - from) * row_bytes);
    *first = from;
}
