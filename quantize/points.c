#include "quantize/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct points points_new(struct arena *arena, size_t n)
{
    const size_t most = n > POINTS_SORTED ? n : POINTS_SORTED;

    return (struct points){
        .at = arena_array(arena, float, most),
        .y = arena_array(arena, float, POINTS_SORTED),
        .count = arena_array(arena, double, POINTS_SORTED),
        .bin = arena_array(arena, int16_t, POINTS_SORTED),
        .below = arena_array(arena, double, KLD_BINS + 1),
        .x_bins = arena_array(arena, uint64_t, KLD_BINS),
    };
}

static double count_of(const struct points *points, size_t i)
{
    return points->spread.count ? points->spread.count[i] : 1;
}

/* Sorted points that lie in one bin. */
struct run {
    int bin;
    double count;
    size_t end;
};

/* Of points->bin. */
static struct run next_run(const struct points *points, size_t from)
{
    struct run run = { .bin = -1, .end = from };

    if (from == points->spread.n)
        return run;
    run.bin = points->bin[from];
    while (run.end < points->spread.n && points->bin[run.end] == run.bin)
        run.count += count_of(points, run.end++);
    return run;
}

static void find_bins(const struct points *points, const float *at)
{
    for (size_t i = 0; i < points->spread.n; i++)
        points->bin[i] = (int16_t)kld_bin((double)at[i], points->scale);
}

static size_t first_non_zero(const struct points *points)
{
    size_t i = 0;

    while (i < points->spread.n && !(points->at[i] > 0))
        i++;
    return i;
}

/* --- getting ready ---------------------------------------------------------------------------- */

static void measure(struct points *points)
{
    points->scale = kld_scale(points->spread.limit);
    points->total = points->non_zero = points->xx = points->entropy = 0;
    for (size_t i = 0; i < points->spread.n; i++) {
        const double x = (double)points->at[i], count = count_of(points, i);

        points->total += count;
        points->non_zero += x > 0 ? count : 0;
        points->xx += count * (x * x);
    }
}

static void bin_sorted(struct points *points)
{
    struct run run, next;
    int previous = -1, end = 0;

    points->below[0] = 0;
    find_bins(points, points->at);
    run = next_run(points, first_non_zero(points));
    for (; run.bin >= 0; run = next) {
        int last;
        double p;

        next = next_run(points, run.end);
        last = kld_last(previous, run.bin, next.bin);
        p = run.count / points->non_zero / (last - kld_first(previous, run.bin) + 1);
        points->entropy += run.count / points->non_zero * log(p);
        for (; end <= last; end++)
            points->below[end + 1] = points->below[end] + p;
        previous = run.bin;
    }
    for (; end < KLD_BINS; end++)
        points->below[end + 1] = points->below[end];
}

static void bin_unsorted(struct points *points)
{
    memset(points->x_bins, 0, KLD_BINS * sizeof *points->x_bins);
    for (size_t i = 0; i < points->spread.n; i++)
        if (points->at[i] > 0)
            points->x_bins[kld_bin((double)points->at[i], points->scale)]++;
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

void points_of_numbers(struct points *points, const float *numbers, size_t n)
{
    points->spread = spread_of_numbers(numbers, n, points->at);
    points->non_finite = n - points->spread.n;
    points->sorted = points->spread.n <= POINTS_SORTED;
    if (points->sorted)
        qsort(points->at, points->spread.n, sizeof *points->at, compare_floats);
    measure(points);
    if (points->sorted)
        bin_sorted(points);
    else
        bin_unsorted(points);
}

void points_of_histogram(struct points *points, const struct histogram *histogram)
{
    points->spread = spread_of_histogram(histogram, points->at, points->count);
    points->non_finite = 0;
    points->sorted = true;
    measure(points);
    bin_sorted(points);
}

/* --- losses of sorted points ------------------------------------------------------------------ */

/* As kld_of_counts. Cells, which are in order, leave no bin out up to the last one. */
static double kld_sorted(const struct points *points)
{
    struct run run, next;
    double sum = points->entropy;
    int previous = -1, end = 0;

    find_bins(points, points->y);
    run = next_run(points, first_non_zero(points));
    if (run.bin < 0)
        return 0;
    for (; run.bin >= 0; run = next) {
        int last;
        double q;

        next = next_run(points, run.end);
        last = kld_last(previous, run.bin, next.bin);
        q = run.count / points->non_zero / (last - kld_first(previous, run.bin) + 1);
        sum -= (points->below[last + 1] - points->below[end]) * log(q);
        end = last + 1;
        previous = run.bin;
    }
    sum -= (points->below[KLD_BINS] - points->below[end]) * log(KLD_LEAST);
    return fmax(0, sum);
}

static void add_pairs(const float *x, const float *y, const double *count, size_t n,
                      struct loss_sums *out)
{
    struct loss_sums sums = *out;

    for (size_t i = 0; i < n; i++) {
        const double w = count ? count[i] : 1, noise = (double)x[i] - (double)y[i];

        sums.noise += w * (noise * noise);
        sums.absolute += w * fabs(noise);
        sums.yy += w * ((double)y[i] * (double)y[i]);
        sums.xy += w * ((double)x[i] * (double)y[i]);
    }
    *out = sums;
}

static void loss_sorted(const struct points *points, const struct rounder *rounder, double scale,
                        struct loss_sums *out)
{
    const struct spread *spread = &points->spread;

    rounder_simulate(rounder, spread->at, scale, points->y, spread->n);
    if (spread->count)
        add_pairs(spread->at, points->y, spread->count, spread->n, out);
    else
        add_pairs(spread->at, points->y, NULL, spread->n, out);
    out->kld = kld_sorted(points);
}

/* --- losses of the others --------------------------------------------------------------------- */

static void loss_unsorted(const struct points *points, const struct rounder *rounder, double scale,
                          struct loss_sums *out)
{
    const struct spread *spread = &points->spread;
    uint64_t y_bins[KLD_BINS] = { 0 };
    float y[SPREAD_BLOCK];

    for (size_t i = 0; i < spread->n; i += SPREAD_BLOCK) {
        const size_t m = spread->n - i < SPREAD_BLOCK ? spread->n - i : SPREAD_BLOCK;

        rounder_simulate(rounder, spread->at + i, scale, y, m);
        add_pairs(spread->at + i, y, NULL, m, out);
        for (size_t k = 0; k < m; k++)
            y_bins[kld_bin((double)y[k], points->scale)] += spread->at[i + k] > 0;
    }
    if (points->non_zero > 0)
        out->kld = kld_of_counts(points->x_bins, y_bins, (uint64_t)points->non_zero);
}

void points_loss(const struct points *points, const struct rounder *rounder, double scale,
                 struct loss_sums *out)
{
    *out = (struct loss_sums){ .n = points->total, .xx = points->xx };
    if (points->sorted)
        loss_sorted(points, rounder, scale, out);
    else
        loss_unsorted(points, rounder, scale, out);
    if (out->noise == 0) /* what rounding leaves of logarithms is nothing either */
        out->kld = 0;
}
