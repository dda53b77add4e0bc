#include "eval/roc.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

struct scored {
    float score;
    bool positive;
};

static int compare(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;

    return x->score < y->score ? -1 : x->score > y->score;
}

double roc_auc(const float *scores, const bool *positive, int64_t n, const bool *skip)
{
    struct arena arena = { NULL };
    struct scored *all = arena_array(&arena, struct scored, n);
    int64_t used = 0;
    double n_positive = 0, n_negative = 0, pairs = 0, below = 0;
    bool finite = true;

    for (int64_t i = 0; i < n; i++)
        if (!skip || !skip[i]) {
            all[used++] = (struct scored){ scores[i], positive[i] };
            finite = finite && !isnan(scores[i]);
        }
    if (used && finite)
        qsort(all, (size_t)used, sizeof *all, compare);
    for (int64_t i = 0, next; i < used; i = next) { /* groups of equal scores */
        double positives = 0, negatives = 0;

        for (next = i; next < used && all[next].score == all[i].score; next++) {
            positives += all[next].positive;
            negatives += !all[next].positive;
        }
        if (next == i) /* NaN */
            break;
        pairs += positives * (below + negatives / 2);
        below += negatives;
        n_positive += positives;
        n_negative += negatives;
    }
    arena_release(&arena);
    return finite && n_positive > 0 && n_negative > 0 ? pairs / (n_positive * n_negative) : NAN;
}
