#include "quantize/spread.h"

#include <math.h>

/* --- rounding --------------------------------------------------------------------------------- */

struct rounder rounder_of(const struct number_format *format)
{
    struct rounder rounder = { .format = format, .limit = (float)number_format_max(format) };

    if (dtype_kind(format->dtype) == KIND_MINIFLOAT)
        minifloat_table(&format->codec, rounder.table);
    return rounder;
}

static void round_minifloats(const struct rounder *rounder, const float *from, float *to, size_t n)
{
    uint8_t quantized[SPREAD_BLOCK];

    minifloat_encode_array(&rounder->format->codec, from, quantized, n, true);
    for (size_t i = 0; i < n; i++)
        to[i] = rounder->table[quantized[i]];
}

/* Below 2^22, adding 1.5 * 2^23 rounds to an integer, ties to even, and vectorises. */
static void round_integers(const struct rounder *rounder, const float *from, float *to, size_t n)
{
    const float rounding = 12582912, limit = rounder->limit;

    for (size_t i = 0; i < n; i++) {
        const float x = from[i] > limit ? limit : from[i] < -limit ? -limit : from[i];

        to[i] = (x + rounding) - rounding;
    }
}

static void round_others(const struct rounder *rounder, const float *from, float *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (float)number_format_round(rounder->format, (double)from[i], 1);
}

void rounder_apply(const struct rounder *rounder, const float *from, float *to, size_t n)
{
    if (dtype_kind(rounder->format->dtype) == KIND_MINIFLOAT)
        round_minifloats(rounder, from, to, n);
    else if (dtype_is_float(rounder->format->dtype))
        round_others(rounder, from, to, n);
    else
        round_integers(rounder, from, to, n);
}

/* A product with the inverse takes a quarter of a quotient's time. It may differ from it in the
 * last bit of a double, which is gone in an f32. */
static void divide(const float *from, double scale, float *to, size_t n)
{
    const double inverse = 1 / scale;

    for (size_t i = 0; i < n; i++)
        to[i] = (float)((double)from[i] * inverse);
}

void rounder_simulate(const struct rounder *rounder, const float *from, double scale, float *y,
                      size_t n)
{
    float quotient[SPREAD_BLOCK];

    for (size_t i = 0; i < n; i += SPREAD_BLOCK) {
        const size_t m = n - i < SPREAD_BLOCK ? n - i : SPREAD_BLOCK;

        divide(from + i, scale, quotient, m);
        rounder_apply(rounder, quotient, y + i, m);
        for (size_t k = i; k < i + m; k++)
            y[k] = (float)((double)y[k] * scale);
    }
}

/* --- points ----------------------------------------------------------------------------------- */

struct spread spread_of_histogram(const struct histogram *histogram, float *at, double *count)
{
    struct spread spread = { .at = at, .count = count, .limit = histogram->limit };

    if (histogram->zeros) {
        at[spread.n] = 0;
        count[spread.n++] = (double)histogram->zeros;
    }
    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        const uint64_t non_zeros = histogram_non_zeros(histogram, i);

        if (non_zeros == 0)
            continue;
        at[spread.n] = (float)histogram_middle(histogram, i);
        count[spread.n++] = (double)non_zeros;
    }
    return spread;
}

struct spread spread_of_numbers(const float *numbers, size_t n, float *at)
{
    struct spread spread = { .at = at };
    float limit = 0;

    for (size_t i = 0; i < n; i++) {
        const float x = fabsf(numbers[i]);

        if (!isfinite(x))
            continue;
        at[spread.n++] = x;
        limit = x > limit ? x : limit;
    }
    spread.limit = (double)limit;
    return spread;
}

void histogram_of_numbers(const float *numbers, size_t n, struct histogram *out)
{
    float limit = 0;
    double scale;

    *out = (struct histogram){ .n = 0 };
    for (size_t i = 0; i < n; i++)
        if (isfinite(numbers[i]) && fabsf(numbers[i]) > limit)
            limit = fabsf(numbers[i]);
    out->limit = (double)limit;
    scale = limit > 0 ? HISTOGRAM_BINS / out->limit : 0;
    for (size_t i = 0; i < n; i++) {
        int bin;

        if (!isfinite(numbers[i]))
            continue;
        bin = (int)((double)fabsf(numbers[i]) * scale);
        out->bins[bin < HISTOGRAM_BINS ? bin : HISTOGRAM_BINS - 1]++;
        out->zeros += numbers[i] == 0;
        out->n++;
    }
}

/* --- errors ----------------------------------------------------------------------------------- */

double spread_error(const struct spread *spread, const struct rounder *rounder, double scale)
{
    float y[SPREAD_BLOCK];
    double sum = 0;

    for (size_t i = 0; i < spread->n; i += SPREAD_BLOCK) {
        const size_t m = spread->n - i < SPREAD_BLOCK ? spread->n - i : SPREAD_BLOCK;
        const float *x = spread->at + i;

        divide(x, scale, y, m);
        rounder_apply(rounder, y, y, m);
        for (size_t k = 0; k < m; k++) {
            const double error = (double)x[k] - (double)y[k] * scale;

            sum += error * error * (spread->count ? spread->count[i + k] : 1);
        }
    }
    return sum;
}

double spread_clipping(const struct spread *spread, double threshold)
{
    double sum = 0;

    for (size_t i = 0; i < spread->n; i++) {
        const double above = (double)spread->at[i] - threshold;

        sum += above > 0 ? above * above * (spread->count ? spread->count[i] : 1) : 0;
    }
    return sum;
}
