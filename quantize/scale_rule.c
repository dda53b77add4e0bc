#include "quantize/scale_rule.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "quantize/spread.h"

enum {
    LEAST_POWER = FLT_MIN_EXP - 1, /* of a normal f32 */
    GREATEST_POWER = FLT_MAX_EXP - 1,
    POW2_FROM = -5, /* where nothing is said: PopRT's */
    POW2_TO = 0,
    MSE_CANDIDATES = 128 /* thresholds i / 128 of the greatest magnitude, as threshold.c has them */
};

static const double default_percent = 99.99;

/* --- names ------------------------------------------------------------------------------------ */

/* What strtod takes beyond this (blanks, hexadecimal, "inf") is no number here. */
static bool parse_number(const char *text, double *out)
{
    char *end;

    if (!*text || text[strspn(text, "0123456789.eE+-")])
        return false;
    *out = strtod(text, &end);
    return !*end && isfinite(*out);
}

static bool parse_fixed(const char *text, struct scale_rule *out)
{
    float scale;

    if (!parse_number(text, &out->number) || out->number > (double)FLT_MAX)
        return false;
    scale = (float)out->number;
    out->kind = SCALE_FIXED;
    /* As short as tells it from its neighbours. */
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(out->name, sizeof out->name, "%.*g", digits, (double)scale);
        if (strtof(out->name, NULL) == scale)
            break;
    }
    return scale >= FLT_MIN;
}

static bool parse_nothing(const char *parameter, struct scale_rule *out)
{
    (void)out;
    return !*parameter;
}

static bool parse_percent(const char *parameter, struct scale_rule *out)
{
    char *name_end = out->name + strlen(out->name);

    out->number = default_percent;
    if (*parameter && !parse_number(parameter, &out->number))
        return false;
    snprintf(name_end, sizeof out->name - (size_t)(name_end - out->name), ":%.10g", out->number);
    return out->number > 0 && out->number <= 100;
}

/* "A..B", or "A" alone. */
static bool parse_powers(const char *parameter, struct scale_rule *out)
{
    char *end, *name_end = out->name + strlen(out->name);
    long from = POW2_FROM, to = POW2_TO;

    if (parameter[strspn(parameter, "0123456789-+.")])
        return false;
    if (*parameter) {
        from = to = strtol(parameter, &end, 10);
        if (end == parameter)
            return false;
        if (str_starts(end, "..")) {
            const char *second = end + 2;

            to = strtol(second, &end, 10);
            if (end == second)
                return false;
        }
        if (*end)
            return false;
    }
    if (from < LEAST_POWER || to > GREATEST_POWER || from > to)
        return false;
    out->pow2_from = (int)from;
    out->pow2_to = (int)to;
    snprintf(name_end, sizeof out->name - (size_t)(name_end - out->name), ":%ld..%ld", from, to);
    return true;
}

static const struct {
    const char *name;
    enum scale_kind kind;
    bool (*parse)(const char *parameter, struct scale_rule *out); /* "" = none given */
} rows[] = {
    { "auto", SCALE_AUTO, parse_nothing },
    { "kl", SCALE_KL, parse_nothing },
    { "max", SCALE_MAX, parse_nothing },
    { "mse", SCALE_MSE, parse_nothing },
    { "paper-percentile", SCALE_PAPER_PERCENTILE, parse_percent },
    { "percentile", SCALE_PERCENTILE, parse_percent },
    { "pow2", SCALE_POW2, parse_powers },
    { "search", SCALE_SEARCH, parse_nothing },
    { "table", SCALE_TABLE, parse_nothing },
    { "unit", SCALE_UNIT, parse_nothing },
};

bool scale_rule_parse(const char *text, struct scale_rule *out)
{
    const size_t n = strcspn(text, ":");

    *out = (struct scale_rule){ .kind = SCALE_UNIT };
    if (strlen(text) >= sizeof out->name || (text[n] && !text[n + 1]))
        return false; /* a colon with nothing behind it is a mistake */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == n && memcmp(rows[i].name, text, n) == 0) {
            out->kind = rows[i].kind;
            strcpy(out->name, rows[i].name);
            return rows[i].parse(text[n] ? text + n + 1 : "", out);
        }
    return parse_fixed(text, out);
}

const char *scale_rule_list(void)
{
    return "unit, a number, max, percentile:P, paper-percentile:P, kl, mse, pow2:A..B, table, "
           "auto, search";
}

bool scale_rule_needs_data(const struct scale_rule *rule)
{
    return rule->kind != SCALE_UNIT && rule->kind != SCALE_FIXED;
}

bool number_format_has_scale(const struct number_format *format)
{
    return !format->block && format->dtype != DTYPE_AFP && !dtype_is_float(format->dtype);
}

const char *scale_rule_threshold(const struct scale_rule *rule, const struct number_format *format,
                                 struct arena *arena)
{
    switch (rule->kind) {
    case SCALE_MAX: return "max";
    case SCALE_KL: return "kl";
    case SCALE_PERCENTILE:
    case SCALE_PAPER_PERCENTILE: return arena_printf(arena, "percentile:%.10g", rule->number);
    case SCALE_MSE:
        if (format->dtype == DTYPE_I8)
            return "mse:int8";
        return number_format_is_fp8(format) ? arena_printf(arena, "mse:%s", format->codec.name)
                                            : "";
    default: return "";
    }
}

/* --- scales ----------------------------------------------------------------------------------- */

/* A scale must be a normal f32, since subnormal ones have few digits and some cores none at all. */
static float scale_from(double scale)
{
    if (!(scale > 0))
        return 1;
    return scale < (double)FLT_MIN ? FLT_MIN : scale > (double)FLT_MAX ? FLT_MAX : (float)scale;
}

float scale_of_threshold(const struct scale_rule *rule, const struct number_format *format,
                         double threshold)
{
    const double quantized = number_format_max(format);

    return !number_format_has_scale(format)
               ? 1
               : scale_from(threshold /
                            (rule->kind == SCALE_PAPER_PERCENTILE ? 2 * quantized : quantized));
}

/* From the greatest threshold down: among equals, the one that cuts off least. What is cut off
 * makes an error that only grows as thresholds sink: where it alone exceeds the least error, the
 * rest need not be tried. */
static double least_error_threshold(const struct spread *spread, const struct number_format *format)
{
    const struct rounder rounder = rounder_of(format);
    double least = INFINITY, best = spread->limit;

    for (int i = MSE_CANDIDATES; i > 0 && spread->limit > 0; i--) {
        const double threshold = spread->limit * i / MSE_CANDIDATES;
        double error;

        if (spread_clipping(spread, threshold) > least)
            break;
        error = spread_error(spread, &rounder, threshold / number_format_max(format));
        if (error < least) {
            least = error;
            best = threshold;
        }
    }
    return best;
}

/* Among equals the greatest, which cuts off least. */
static double least_error_power(const struct scale_rule *rule, const struct number_format *format,
                                const struct spread *spread)
{
    const struct rounder rounder = rounder_of(format);
    double least = INFINITY, best = 1;

    for (int k = rule->pow2_to; k >= rule->pow2_from && spread->limit > 0; k--) {
        const double scale = ldexp(1, k);
        const double error = spread_error(spread, &rounder, scale);

        if (error < least) {
            least = error;
            best = scale;
        }
    }
    return best;
}

/* Rules for which it matters where the numbers lie, not only how many lie where. */
static float of_spread(const struct scale_rule *rule, const struct number_format *format,
                       const struct spread *spread)
{
    if (rule->kind == SCALE_POW2)
        return scale_from(least_error_power(rule, format, spread));
    return scale_of_threshold(rule, format, least_error_threshold(spread, format));
}

bool scale_rule_common_threshold(const struct scale_rule *rule, const struct histogram *histogram,
                                 double *out)
{
    char name[48] = "max";
    struct threshold_method method;

    switch (rule->kind) {
    case SCALE_MAX:
    case SCALE_TABLE: break;
    case SCALE_KL: strcpy(name, "kl"); break;
    case SCALE_PERCENTILE:
    case SCALE_PAPER_PERCENTILE:
        snprintf(name, sizeof name, "percentile:%.10g", rule->number);
        break;
    default: return false;
    }
    if (!threshold_method_parse(name, &method))
        return false; /* of no rule that scale_rule_parse made */
    *out = threshold_find(&method, histogram);
    return true;
}

/* Whether the scale is known without looking at numbers. */
static bool known(const struct scale_rule *rule, const struct number_format *format, float *out)
{
    *out =
        rule->kind == SCALE_FIXED && number_format_has_scale(format) ? scale_from(rule->number) : 1;
    return !scale_rule_needs_data(rule) || !number_format_has_scale(format);
}

static bool is_of_spread(const struct scale_rule *rule)
{
    return rule->kind == SCALE_MSE || rule->kind == SCALE_POW2;
}

float scale_of_histogram(const struct scale_rule *rule, const struct number_format *format,
                         const struct histogram *histogram)
{
    float at[HISTOGRAM_BINS + 1], scale;
    double count[HISTOGRAM_BINS + 1];
    struct spread spread;
    double threshold;

    if (known(rule, format, &scale) || histogram->limit == 0)
        return scale;
    if (scale_rule_common_threshold(rule, histogram, &threshold))
        return scale_of_threshold(rule, format, threshold);
    spread = spread_of_histogram(histogram, at, count);
    return of_spread(rule, format, &spread);
}

float scale_of_numbers(const struct scale_rule *rule, const struct number_format *format,
                       const float *numbers, int64_t n)
{
    float at[HISTOGRAM_BINS], scale;
    struct histogram histogram;
    struct spread spread;

    if (known(rule, format, &scale))
        return scale;
    if (!is_of_spread(rule) || n > HISTOGRAM_BINS) {
        histogram_of_numbers(numbers, (size_t)n, &histogram);
        return scale_of_histogram(rule, format, &histogram);
    }
    spread = spread_of_numbers(numbers, (size_t)n, at);
    return of_spread(rule, format, &spread);
}

bool scale_of_calibration(const struct scale_rule *rule, const struct number_format *format,
                          const struct calib_tensor *tensor, float *out)
{
    struct arena arena = { NULL };
    const char *method = scale_rule_threshold(rule, format, &arena);
    const struct calib_threshold *threshold = NULL;
    bool ok = known(rule, format, out);

    if (!ok && rule->kind == SCALE_TABLE) {
        *out =
            scale_of_threshold(rule, format,
                               tensor->n_thresholds ? tensor->thresholds[0].value
                                                    : fmax(fabs(tensor->min), fabs(tensor->max)));
        ok = true;
    }
    if (!ok && *method) {
        for (int i = 0; i < tensor->n_thresholds && !threshold; i++)
            if (strcmp(tensor->thresholds[i].method, method) == 0 ||
                (!*tensor->thresholds[i].method && rule->kind != SCALE_MAX))
                threshold = &tensor->thresholds[i];
        if (threshold || rule->kind == SCALE_MAX) {
            *out = scale_of_threshold(rule, format,
                                      threshold ? threshold->value
                                                : fmax(fabs(tensor->min), fabs(tensor->max)));
            ok = true;
        }
    }
    if (!ok && tensor->histogram && rule->kind != SCALE_SEARCH) {
        *out = scale_of_histogram(rule, format, tensor->histogram);
        ok = true;
    }
    arena_release(&arena);
    return ok;
}
