#include "quantize/metrics.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 256 }; /* pairs that are worked on at a time, so that loops are simple */

/* --- losses ----------------------------------------------------------------------------------- */

static const char *const loss_names[LOSS_COUNT] = {
    [LOSS_MSE] = "mse", [LOSS_MAE] = "mae", [LOSS_SNR] = "snr",
    [LOSS_KLD] = "kld", [LOSS_COS] = "cos",
};

const char *loss_name(enum loss loss)
{
    return loss_names[loss];
}

bool loss_parse(const char *text, enum loss *out)
{
    for (int i = 0; i < LOSS_COUNT; i++)
        if (strcmp(loss_names[i], text) == 0) {
            *out = (enum loss)i;
            return true;
        }
    return false;
}

const char *loss_list(void)
{
    return "mse, mae, snr, kld, cos";
}

static double cosine_distance(const struct loss_sums *sums)
{
    if (sums->noise == 0)
        return 0;
    if (sums->xx == 0 || sums->yy == 0)
        return 1;
    /* Rounding may leave a cosine just above 1. */
    return fmax(0, 1 - sums->xy / (sqrt(sums->xx) * sqrt(sums->yy)));
}

void loss_of_sums(const struct loss_sums *sums, double loss[LOSS_COUNT])
{
    loss[LOSS_MSE] = sums->n > 0 ? sums->noise / sums->n : 0;
    loss[LOSS_MAE] = sums->n > 0 ? sums->absolute / sums->n : 0;
    loss[LOSS_SNR] = sums->noise > 0 ? sums->noise / sums->xx : 0;
    loss[LOSS_KLD] = sums->kld;
    loss[LOSS_COS] = cosine_distance(sums);
}

double kld_scale(double limit)
{
    return limit > 0 ? KLD_BINS / limit : DBL_MAX; /* 0 is in the first bin, all else in the last */
}

int kld_first(int previous, int at)
{
    return previous < 0 ? 0 : (previous + at) / 2 + 1;
}

int kld_last(int previous, int at, int next)
{
    const int above = at + (at - kld_first(previous, at));

    if (next >= 0)
        return (at + next) / 2;
    return above < KLD_BINS ? above : KLD_BINS - 1;
}

static int next_occupied(const uint64_t *bins, int after)
{
    for (int i = after + 1; i < KLD_BINS; i++)
        if (bins[i])
            return i;
    return -1;
}

static void spread_evenly(const uint64_t *bins, uint64_t n, double *out)
{
    for (int previous = -1, at = next_occupied(bins, -1); at >= 0;) {
        const int next = next_occupied(bins, at);
        const int first = kld_first(previous, at), last = kld_last(previous, at, next);

        for (int i = first; i <= last; i++)
            out[i] = (double)bins[at] / (double)n / (last - first + 1);
        previous = at;
        at = next;
    }
}

double kld_of_counts(const uint64_t x[KLD_BINS], const uint64_t y[KLD_BINS], uint64_t n)
{
    double p[KLD_BINS] = { 0 }, q[KLD_BINS] = { 0 }, sum = 0;

    spread_evenly(x, n, p);
    spread_evenly(y, n, q);
    for (int i = 0; i < KLD_BINS; i++)
        if (p[i] > 0)
            sum += p[i] * log(p[i] / fmax(q[i], KLD_LEAST));
    return fmax(0, sum);
}

/* --- one series of numbers -------------------------------------------------------------------- */

struct series {
    double sum, min, max; /* of the first pass */
    double mean, width;   /* from it, for the second: of a bin */
    double power[5];      /* [k]: sum (v - mean)^k */
    uint64_t histogram[MOMENT_BINS];
};

static void series_range(struct series *s, const double *v, const double *w, int n)
{
    double sum = s->sum, min = s->min, max = s->max;

    for (int i = 0; i < n; i++) {
        sum += v[i] * w[i];
        min = v[i] < min ? v[i] : min;
        max = v[i] > max ? v[i] : max;
    }
    s->sum = sum;
    s->min = min;
    s->max = max;
}

static void series_add(struct series *s, const double *v, const double *w, int n)
{
    const double scale = s->width > 0 ? 1 / s->width : 0;
    double p1 = s->power[1], p2 = s->power[2], p3 = s->power[3], p4 = s->power[4];

    for (int i = 0; i < n; i++) {
        const double d = v[i] - s->mean, wd = w[i] * d, wdd = wd * d;

        p1 += wd;
        p2 += wdd;
        p3 += wdd * d;
        p4 += wdd * (d * d);
    }
    s->power[1] = p1;
    s->power[2] = p2;
    s->power[3] = p3;
    s->power[4] = p4;
    for (int i = 0; i < n; i++) {
        const double at = (v[i] - s->min) * scale;

        s->histogram[at < MOMENT_BINS ? (int)fmax(at, 0) : MOMENT_BINS - 1] += (uint64_t)w[i];
    }
}

/* The sums are about a mean that was rounded: p1 / n is what it is off by. */
static void series_result(const struct series *s, uint64_t count, struct moments *out)
{
    const double n = (double)count;
    double off, m2, m3, m4;

    *out = (struct moments){ .n = count };
    if (count == 0)
        return;
    off = s->power[1] / n;
    out->min = s->min + 0.0; /* no -0 */
    out->max = s->max + 0.0;
    out->mean = s->mean + off;
    memcpy(out->histogram, s->histogram, sizeof out->histogram);
    m2 = s->power[2] / n - off * off;
    if (s->min == s->max || m2 <= 0)
        return;
    m3 = s->power[3] / n - 3 * off * s->power[2] / n + 2 * off * off * off;
    m4 = s->power[4] / n - 4 * off * s->power[3] / n + 6 * off * off * s->power[2] / n -
         3 * off * off * off * off;
    out->std = sqrt(m2);
    out->skewness = m3 / (m2 * out->std);
    out->kurtosis = m4 / (m2 * m2) - 3;
}

/* --- pairs ------------------------------------------------------------------------------------ */

enum { DATA, QUANTIZED, NOISE, N_SERIES };

struct metrics {
    uint64_t n, non_finite;
    bool ranged;  /* the second pass has begun */
    double scale; /* kld_scale of the greatest |x| */
    struct series series[N_SERIES];
    struct loss_sums sums;
    uint64_t n_binned, x_bins[KLD_BINS], y_bins[KLD_BINS];
};

struct block {
    int n;
    double v[N_SERIES][BLOCK];
    double w[BLOCK];            /* how many times each pair counts */
    uint64_t total, non_finite; /* of w */
};

struct metrics *metrics_new(struct arena *arena)
{
    struct metrics *metrics = arena_new(arena, struct metrics);

    for (int i = 0; i < N_SERIES; i++) {
        metrics->series[i].min = INFINITY;
        metrics->series[i].max = -INFINITY;
    }
    return metrics;
}

/* Pairs from `at` on, BLOCK of them or what is left of n. counts NULL: each counts once. */
static void take_block(const float *x, const float *y, const double *counts, int64_t at, int64_t n,
                       struct block *out)
{
    const int64_t end = n - at < BLOCK ? n : at + BLOCK;
    double finite = 0, all = 0;
    int m = 0;

    for (int64_t i = at; i < end; i++) {
        const double w = counts ? counts[i] : 1, noise = (double)y[i] - (double)x[i];

        out->v[DATA][m] = (double)x[i];
        out->v[QUANTIZED][m] = (double)y[i];
        out->v[NOISE][m] = noise;
        out->w[m] = w;
        all += w;
        if (isfinite(noise)) { /* it is not if one of the two is not */
            finite += w;
            m++;
        }
    }
    out->n = m;
    out->total = (uint64_t)finite;
    out->non_finite = (uint64_t)(all - finite);
}

static void range(struct metrics *metrics, const float *x, const float *y, const double *counts,
                  int64_t n)
{
    struct block block;

    for (int64_t i = 0; i < n; i += BLOCK) {
        take_block(x, y, counts, i, n, &block);
        metrics->n += block.total;
        metrics->non_finite += block.non_finite;
        for (int k = 0; k < N_SERIES; k++)
            series_range(&metrics->series[k], block.v[k], block.w, block.n);
    }
}

static void begin_second_pass(struct metrics *metrics)
{
    const struct series *data = &metrics->series[DATA];

    metrics->ranged = true;
    if (metrics->n == 0)
        return;
    metrics->scale = kld_scale(fmax(fabs(data->min), fabs(data->max)));
    for (int k = 0; k < N_SERIES; k++) {
        struct series *s = &metrics->series[k];

        s->mean = s->sum / (double)metrics->n;
        s->width = (s->max - s->min) / MOMENT_BINS;
    }
}

static void add_losses(struct metrics *metrics, const struct block *block)
{
    const double *x = block->v[DATA], *y = block->v[QUANTIZED], *noise = block->v[NOISE];
    const double *w = block->w;
    struct loss_sums sums = metrics->sums;

    for (int i = 0; i < block->n; i++) {
        sums.noise += w[i] * (noise[i] * noise[i]);
        sums.absolute += w[i] * fabs(noise[i]);
        sums.xx += w[i] * (x[i] * x[i]);
        sums.yy += w[i] * (y[i] * y[i]);
        sums.xy += w[i] * (x[i] * y[i]);
    }
    sums.n += (double)block->total;
    metrics->sums = sums;
    for (int i = 0; i < block->n; i++) {
        if (x[i] == 0)
            continue;
        metrics->n_binned += (uint64_t)w[i];
        metrics->x_bins[kld_bin(fabs(x[i]), metrics->scale)] += (uint64_t)w[i];
        metrics->y_bins[kld_bin(fabs(y[i]), metrics->scale)] += (uint64_t)w[i];
    }
}

static void add(struct metrics *metrics, const float *x, const float *y, const double *counts,
                int64_t n)
{
    struct block block;

    if (!metrics->ranged)
        begin_second_pass(metrics);
    for (int64_t i = 0; i < n; i += BLOCK) {
        take_block(x, y, counts, i, n, &block);
        add_losses(metrics, &block);
        for (int k = 0; k < N_SERIES; k++)
            series_add(&metrics->series[k], block.v[k], block.w, block.n);
    }
}

void metrics_range(struct metrics *metrics, const float *x, const float *y, int64_t n)
{
    range(metrics, x, y, NULL, n);
}

void metrics_add(struct metrics *metrics, const float *x, const float *y, int64_t n)
{
    add(metrics, x, y, NULL, n);
}

void metrics_result(const struct metrics *metrics, struct metrics_result *out)
{
    struct loss_sums sums = metrics->sums;

    *out = (struct metrics_result){ .n = metrics->n, .non_finite = metrics->non_finite };
    if (metrics->n_binned)
        sums.kld = kld_of_counts(metrics->x_bins, metrics->y_bins, metrics->n_binned);
    loss_of_sums(&sums, out->loss);
    series_result(&metrics->series[DATA], metrics->n, &out->data);
    series_result(&metrics->series[QUANTIZED], metrics->n, &out->quantized);
    series_result(&metrics->series[NOISE], metrics->n, &out->noise);
}

void metrics_of_counted(struct arena *arena, const float *x, const float *y, const double *counts,
                        int64_t n, struct metrics_result *out)
{
    struct metrics *metrics = metrics_new(arena);

    range(metrics, x, y, counts, n);
    add(metrics, x, y, counts, n);
    metrics_result(metrics, out);
}

void metrics_of(struct arena *arena, const float *x, const float *y, int64_t n,
                struct metrics_result *out)
{
    metrics_of_counted(arena, x, y, NULL, n, out);
}
