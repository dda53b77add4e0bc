#include "quantize/threshold.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum {
    KL_LEVELS = 128,
    MSE_CANDIDATES = 128, /* thresholds i / 128 of the greatest magnitude */
    INT8_MAX_CODE = 127
};

static const double default_percent = 99.99, least_p = 1e-30;

struct threshold_row {
    const char *name;
    bool (*parse)(const char *parameter, struct threshold_method *out); /* "" = none given */
    double (*find)(const struct threshold_method *method, const struct histogram *histogram);
};

/* --- max, percentile -------------------------------------------------------------------------- */

static bool parse_nothing(const char *parameter, struct threshold_method *out)
{
    snprintf(out->name, sizeof out->name, "%s", out->row->name);
    return *parameter == '\0';
}

static double find_max(const struct threshold_method *method, const struct histogram *histogram)
{
    (void)method;
    return histogram->limit;
}

static bool parse_percent(const char *parameter, struct threshold_method *out)
{
    char *end = NULL;

    out->percent = *parameter ? strtod(parameter, &end) : default_percent;
    snprintf(out->name, sizeof out->name, "%s:%.10g", out->row->name, out->percent);
    return (!*parameter || (end != parameter && !*end)) && out->percent > 0 && out->percent <= 100;
}

/* Within the bin that the rank falls into, numbers are taken to lie evenly. */
static double find_percentile(const struct threshold_method *method,
                              const struct histogram *histogram)
{
    const double rank = method->percent / 100 * (double)histogram->n;
    const double width = histogram->limit / HISTOGRAM_BINS;
    double before = 0;

    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        const double count = (double)histogram->bins[i];

        if (count > 0 && before + count >= rank)
            return fmin((i + (rank - before) / count) * width, histogram->limit);
        before += count;
    }
    return histogram->limit;
}

/* --- Kullback-Leibler ------------------------------------------------------------------------- */

/* The divergence of the distribution cut off at `cut` (what lies above joins its last bin) from the
 * same without what lies above, in KL_LEVELS levels: each level spreads over its bins that are not
 * empty. Zeros do not count, since every format stores them exactly. log_p: of the shares of bins
 * that are not empty, which are the same for every cut. */
static double divergence(const double *count, const double *log_p, int cut, double all, double kept)
{
    const int bins_of_level = cut / KL_LEVELS;
    double result = 0;

    for (int level = 0; level < KL_LEVELS; level++) {
        const int first = level * bins_of_level, last = first + bins_of_level - 1;
        double sum = 0, log_mean;
        int occupied = 0;

        for (int i = first; i <= last; i++) {
            sum += count[i];
            occupied += count[i] > 0;
        }
        if (occupied == 0 && last < cut - 1)
            continue;
        log_mean = log((occupied && kept > 0 ? sum / occupied / kept : 0) + least_p);
        for (int i = first; i <= last; i++)
            if (count[i] > 0 && i < cut - 1)
                result += count[i] / all * (log_p[i] - log_mean);
        if (last == cut - 1) {
            const double p = (count[last] + (all - kept)) / all;

            result += p * (log(p + least_p) - (count[last] > 0 ? log_mean : log(least_p)));
        }
    }
    return result;
}

static double find_kl(const struct threshold_method *method, const struct histogram *histogram)
{
    const double all = (double)(histogram->n - histogram->zeros);
    double count[HISTOGRAM_BINS], log_p[HISTOGRAM_BINS], kept = 0, least = INFINITY;
    int best = HISTOGRAM_BINS;

    (void)method;
    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        count[i] = (double)histogram_non_zeros(histogram, i);
        log_p[i] = count[i] > 0 ? log(count[i] / all + least_p) : 0;
    }
    for (int cut = KL_LEVELS; cut <= HISTOGRAM_BINS && all > 0; cut += KL_LEVELS) {
        double found;

        for (int i = cut - KL_LEVELS; i < cut; i++)
            kept += count[i];
        found = divergence(count, log_p, cut, all, kept);
        if (found < least) {
            least = found;
            best = cut;
        }
    }
    return histogram->limit * best / HISTOGRAM_BINS;
}

/* --- mean squared error ----------------------------------------------------------------------- */

static bool parse_format(const char *parameter, struct threshold_method *out)
{
    const char *format = *parameter ? parameter : "int8";

    snprintf(out->name, sizeof out->name, "%s:%s", out->row->name, format);
    out->integer = strcmp(format, "int8") == 0;
    return out->integer ||
           (minifloat_from_name(format, &out->minifloat) && minifloat_bits(&out->minifloat) == 8);
}

double threshold_format_max(const struct threshold_method *method)
{
    return method->integer ? INT8_MAX_CODE : (double)minifloat_max(&method->minifloat);
}

/* What the format makes of the numbers, which are not negative. */
static void round_to_format(const struct threshold_method *method, const float *from, float *to,
                            size_t n)
{
    uint8_t quantized[HISTOGRAM_BINS];

    if (!method->integer) {
        minifloat_encode_array(&method->minifloat, from, quantized, n, true);
        minifloat_decode_array(&method->minifloat, quantized, to, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        to[i] = fminf(rintf(from[i]), INT8_MAX_CODE);
}

double threshold_error(const struct threshold_method *method, const struct histogram *histogram,
                       double threshold)
{
    const double scale = threshold / threshold_format_max(method);
    float from[HISTOGRAM_BINS], to[HISTOGRAM_BINS];
    double weight[HISTOGRAM_BINS], middle[HISTOGRAM_BINS];
    double sum = 0, all = 0;
    size_t n = 0;

    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        const uint64_t count = histogram_non_zeros(histogram, i);

        if (count == 0)
            continue;
        middle[n] = histogram_middle(histogram, i);
        from[n] = (float)(middle[n] / scale);
        weight[n++] = (double)count;
    }
    round_to_format(method, from, to, n);
    for (size_t i = 0; i < n; i++) {
        const double error = middle[i] - (double)to[i] * scale;

        sum += error * error * weight[i];
        all += weight[i];
    }
    return all > 0 ? sum / all : 0;
}

/* From the greatest threshold down: among equals, the one that cuts off least. */
static double find_mse(const struct threshold_method *method, const struct histogram *histogram)
{
    double least = INFINITY, best = histogram->limit;

    for (int i = MSE_CANDIDATES; i > 0 && histogram->limit > 0; i--) {
        const double threshold = histogram->limit * i / MSE_CANDIDATES;
        const double error = threshold_error(method, histogram, threshold);

        if (error < least) {
            least = error;
            best = threshold;
        }
    }
    return best;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct threshold_row rows[] = {
    { "max", parse_nothing, find_max },
    { "percentile", parse_percent, find_percentile },
    { "kl", parse_nothing, find_kl },
    { "mse", parse_format, find_mse },
};

bool threshold_method_parse(const char *text, struct threshold_method *out)
{
    const size_t n = strcspn(text, ":");

    *out = (struct threshold_method){ .row = NULL };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == n && memcmp(rows[i].name, text, n) == 0)
            out->row = &rows[i];
    /* A colon with nothing behind it is a mistake. */
    if (!out->row || (text[n] && !text[n + 1]) || strlen(text) >= sizeof out->name)
        return false;
    return out->row->parse(text[n] ? text + n + 1 : "", out);
}

int threshold_methods(struct arena *arena, double percent, struct threshold_method **out)
{
    struct threshold_method *list =
        arena_array(arena, struct threshold_method, MINIFLOAT_COUNT + 4);
    char text[48];
    int n = 0;
    bool ok = threshold_method_parse("max", &list[n++]);

    snprintf(text, sizeof text, "percentile:%.10g", percent);
    ok &= threshold_method_parse(text, &list[n++]);
    ok &= threshold_method_parse("kl", &list[n++]);
    ok &= threshold_method_parse("mse:int8", &list[n++]);
    for (int i = 0; i < MINIFLOAT_COUNT; i++) {
        if (minifloat_bits(&minifloats[i]) != 8)
            continue;
        snprintf(text, sizeof text, "mse:%.40s", minifloats[i].name);
        ok &= threshold_method_parse(text, &list[n++]);
    }
    assert(ok);
    (void)ok;
    *out = list;
    return n;
}

double threshold_find(const struct threshold_method *method, const struct histogram *histogram)
{
    return method->row->find(method, histogram);
}
