#ifndef EMBED_SORT_I64_H
#define EMBED_SORT_I64_H

#include <stdint.h>

/* Sorts n <= 16 distinct numbers into `to`, each by the number of smaller ones; without branches. */
static void place_i64(const int64_t *from, int n, int64_t *to)
{
    enum { MOST = 16 };
    int64_t rivals[MOST];

    for (int i = 0; i < MOST; i++)
        rivals[i] = i < n ? from[i] : INT64_MAX;
    for (int i = 0; i < n; i++) {
        int64_t less = 0;

        for (int k = 0; k < MOST; k++)
            less += rivals[k] < from[i];
        to[less] = from[i];
    }
}

/* Merges two ascending runs of `from`: [begin, middle) and [middle, end). */
static void merge_i64(const int64_t *from, int begin, int middle, int end, int64_t *to)
{
    int a = begin, b = middle, n = begin;

    while (a < middle && b < end) { /* without branches on random data */
        const int64_t of_a = from[a], of_b = from[b];
        const int is_b = of_b < of_a;

        to[n++] = is_b ? of_b : of_a;
        a += 1 - is_b;
        b += is_b;
    }
    while (a < middle)
        to[n++] = from[a++];
    while (b < end)
        to[n++] = from[b++];
}

/* Sorts n distinct numbers of x in ascending order, into x or `spare`, which has room for as many; returns which. */
static int64_t *sort_i64(int64_t *x, int64_t *spare, int n)
{
    enum { RUN = 16 };
    int64_t *from = spare, *to = x;

    for (int begin = 0; begin < n; begin += RUN)
        place_i64(&x[begin], n - begin > RUN ? RUN : n - begin, &spare[begin]);
    for (int length = RUN; length < n; length *= 2) {
        int64_t *const swapped = from;

        for (int begin = 0; begin < n; begin += 2 * length)
            merge_i64(from, begin, n - begin < length ? n : begin + length,
                      n - begin < 2 * length ? n : begin + 2 * length, to);
        from = to;
        to = swapped;
    }
    return from;
}

#endif
