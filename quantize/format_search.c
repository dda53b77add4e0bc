#include "quantize/format_search.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "quantize/points.h"

enum { AFP_RANGES = 3 }; /* biases that are tried: of greatest / 1, / 2, / 4 */

static const char best_of_channels[] = "best of each channel";

/* --- spaces ----------------------------------------------------------------------------------- */

struct search_space search_space_of(struct arena *arena, const struct number_format *formats, int n,
                                    enum loss loss)
{
    static const char *const names[] = { "max",
                                         "percentile:99.999",
                                         "percentile:99.99",
                                         "percentile:99.9",
                                         "kl",
                                         "mse",
                                         "1",
                                         "0.5",
                                         "0.25",
                                         "0.2",
                                         "0.125",
                                         "0.1",
                                         "0.0625",
                                         "0.03125" };
    enum { N = sizeof names / sizeof *names };
    struct scale_rule *rules = arena_array(arena, struct scale_rule, N);
    bool ok = true;

    for (int i = 0; i < N; i++)
        ok &= scale_rule_parse(names[i], &rules[i]);
    assert(ok);
    (void)ok;
    return (struct search_space){
        .n_formats = n, .n_rules = N, .formats = formats, .rules = rules, .loss = loss
    };
}

/* The comma that is in no angle brackets, or the end. */
static size_t item_length(const char *text)
{
    int depth = 0;
    size_t n = 0;

    for (; text[n] && (text[n] != ',' || depth > 0); n++)
        depth += (text[n] == '<') - (text[n] == '>');
    return n;
}

bool search_takes(const struct precision *p, const struct number_format *format, bool for_data)
{
    if (p->mode == PRECISION_INT8)
        return format->dtype == DTYPE_I8;
    return !for_data || number_format_is_fp8(format);
}

bool search_formats_parse(struct arena *arena, const char *text, const struct number_format **out,
                          int *n, const char **wrong)
{
    struct number_format *list = arena_array(arena, struct number_format, strlen(text) + 1);

    *n = 0;
    *out = list;
    for (const char *at = text;; at++) {
        const size_t length = item_length(at);
        const char *item = arena_strndup(arena, at, length);

        if (!number_format_parse(item, &list[*n]) || list[*n].block || list[*n].chooses_format) {
            *wrong = item;
            return false;
        }
        ++*n;
        at += length;
        if (!*at)
            return true;
    }
}

int search_formats_afp(struct arena *arena, int bits, bool fewer, const struct number_format **out)
{
    struct number_format *list = arena_array(arena, struct number_format, 64);
    int n = 0;

    for (int e = 1; e <= 7; e++)
        for (int m = 0; m <= 6 && 1 + e + m <= bits && bits <= 8; m++)
            if ((fewer || 1 + e + m == bits) &&
                number_format_parse(arena_printf(arena, "afp<%d,%d>", e, m), &list[n]))
                n++;
    *out = list;
    return n;
}

/* --- columns: formats as they are tried ------------------------------------------------------- */

struct column {
    struct number_format format; /* the rounder has its address */
    struct rounder rounder;
    const struct scale_rule *rules;
    int n_rules;
    bool mixed;        /* the best rule of each channel is a trial as well */
    int first;         /* trial */
    const char *scale; /* name of the only one where there are no rules */
    float *best;       /* [channels]: the scale of the best rule */
};

struct totals {
    struct loss_sums sums;
    double weight, kld; /* of klds */
    float least, greatest;
};

struct search {
    const struct search_space *space;
    int64_t channels;
    int n_columns, n_trials;
    struct column *columns;
    struct totals *totals; /* [n_trials] */
    uint64_t n_numbers, non_finite;
};

static void add_column(struct search *s, struct arena *arena, const struct number_format *format,
                       const char *scale)
{
    struct column *column = &s->columns[s->n_columns++];

    assert(!format->block);
    column->format = *format;
    column->rounder = rounder_of(&column->format);
    column->first = s->n_trials;
    column->scale = scale;
    column->best = arena_array(arena, float, s->channels);
    if (!scale) {
        column->rules = s->space->rules;
        column->n_rules = s->space->n_rules;
        column->mixed = s->channels > 1 && column->n_rules > 1;
    }
    s->n_trials += scale ? 1 : column->n_rules + column->mixed;
}

/* `greatest`: of all numbers. */
static struct search search_begin(struct arena *arena, const struct search_space *space,
                                  double greatest, int64_t channels)
{
    static const char *const ranges[AFP_RANGES] = { "greatest", "greatest / 2", "greatest / 4" };
    struct search s = { .space = space, .channels = channels };

    s.columns = arena_array(arena, struct column, AFP_RANGES * space->n_formats);
    for (int f = 0; f < space->n_formats; f++) {
        const struct number_format *format = &space->formats[f];

        if (number_format_has_scale(format)) {
            add_column(&s, arena, format, NULL);
            continue;
        }
        for (int i = 0; i < (format->chooses_bias ? AFP_RANGES : 1); i++) {
            const struct number_format fitted =
                number_format_fit(format, greatest > 0 ? ldexp(greatest, -i) : 1);

            add_column(&s, arena, &fitted, format->chooses_bias ? ranges[i] : "unit");
        }
    }
    s.totals = arena_array(arena, struct totals, s.n_trials);
    return s;
}

/* --- one channel ------------------------------------------------------------------------------ */

struct channel {
    struct points *points;
    const float *numbers; /* NULL: only the histogram is known */
    int64_t n;
    struct histogram histogram;
    double *thresholds; /* [n_rules]: common ones; negative: not common */
};

/* They are those of all formats, and kl takes its time. */
static void find_thresholds(const struct search_space *space, struct channel *channel)
{
    for (int r = 0; r < space->n_rules; r++)
        if (!scale_rule_common_threshold(&space->rules[r], &channel->histogram,
                                         &channel->thresholds[r]))
            channel->thresholds[r] = -1;
}

static float scale_of(const struct column *column, int rule, const struct channel *channel)
{
    if (!column->rules)
        return 1;
    if (channel->thresholds[rule] >= 0)
        return scale_of_threshold(&column->rules[rule], &column->format, channel->thresholds[rule]);
    if (channel->numbers)
        return scale_of_numbers(&column->rules[rule], &column->format, channel->numbers,
                                channel->n);
    return scale_of_histogram(&column->rules[rule], &column->format, &channel->histogram);
}

static void add_totals(struct totals *totals, const struct loss_sums *sums, double non_zero,
                       float scale)
{
    totals->sums.n += sums->n;
    totals->sums.noise += sums->noise;
    totals->sums.absolute += sums->absolute;
    totals->sums.xx += sums->xx;
    totals->sums.yy += sums->yy;
    totals->sums.xy += sums->xy;
    totals->kld += sums->kld * non_zero;
    totals->weight += non_zero;
    totals->least = totals->least == 0 || scale < totals->least ? scale : totals->least;
    totals->greatest = scale > totals->greatest ? scale : totals->greatest;
}

static void try_channel(struct search *s, struct channel *channel, int64_t index)
{
    find_thresholds(s->space, channel);
    for (int c = 0; c < s->n_columns; c++) {
        struct column *column = &s->columns[c];
        const int n = column->rules ? column->n_rules : 1;
        struct loss_sums best = { 0 };
        double least = INFINITY;

        for (int r = 0; r < n; r++) {
            const float scale = scale_of(column, r, channel);
            struct loss_sums sums;
            double loss[LOSS_COUNT];

            points_loss(channel->points, &column->rounder, (double)scale, &sums);
            add_totals(&s->totals[column->first + r], &sums, channel->points->non_zero, scale);
            loss_of_sums(&sums, loss);
            if (loss[s->space->loss] < least) {
                least = loss[s->space->loss];
                best = sums;
                column->best[index] = scale;
            }
        }
        if (column->mixed)
            add_totals(&s->totals[column->first + n], &best, channel->points->non_zero,
                       column->best[index]);
    }
    s->n_numbers += (uint64_t)channel->points->total;
    s->non_finite += channel->points->non_finite;
}

/* --- the result ------------------------------------------------------------------------------- */

static void finish_trial(const struct column *column, int r, const struct totals *totals,
                         struct trial *out)
{
    struct loss_sums sums = totals->sums;

    sums.kld = totals->weight > 0 ? totals->kld / totals->weight : 0;
    *out = (struct trial){ .format = column->format,
                           .scale = column->scale,
                           .least_scale = totals->least,
                           .greatest_scale = totals->greatest };
    if (column->rules)
        out->scale = r < column->n_rules ? column->rules[r].name : best_of_channels;
    loss_of_sums(&sums, out->loss);
}

static void search_finish(const struct search *s, struct arena *arena, struct search_result *out)
{
    struct trial *trials = arena_array(arena, struct trial, s->n_trials);

    *out = (struct search_result){ .n = s->n_trials,
                                   .trials = trials,
                                   .n_channels = s->channels,
                                   .n_numbers = s->n_numbers,
                                   .non_finite = s->non_finite };
    for (int c = 0; c < s->n_columns; c++) {
        const struct column *column = &s->columns[c];
        const int n = column->rules ? column->n_rules + column->mixed : 1;

        for (int r = 0; r < n; r++) {
            const int t = column->first + r;

            finish_trial(column, r, &s->totals[t], &trials[t]);
            if (trials[t].loss[s->space->loss] < trials[out->best].loss[s->space->loss])
                out->best = t;
        }
    }
}

/* Whose trial it is, and which rule's; n_rules: the best of each channel. */
static const struct column *column_of(const struct search *s, int trial, int *rule)
{
    int c = s->n_columns - 1;

    while (c > 0 && s->columns[c].first > trial)
        c--;
    *rule = trial - s->columns[c].first;
    return &s->columns[c];
}

/* --- weights and histograms ------------------------------------------------------------------- */

/* The numbers of one channel, side by side. */
static const float *gather(const float *numbers, int64_t outer, int64_t channels, int64_t inner,
                           int64_t channel, float *room)
{
    if (outer == 1)
        return numbers + channel * inner;
    for (int64_t i = 0; i < outer; i++)
        memcpy(room + i * inner, numbers + (i * channels + channel) * inner,
               (size_t)inner * sizeof *room);
    return room;
}

static double greatest_of(const float *numbers, int64_t n)
{
    float greatest = 0;

    for (int64_t i = 0; i < n; i++) {
        const float x = fabsf(numbers[i]);

        greatest = x > greatest && isfinite(x) ? x : greatest;
    }
    return (double)greatest;
}

void search_weights(struct arena *arena, const struct search_space *space, const float *numbers,
                    int64_t outer, int64_t channels, int64_t inner, struct search_result *out)
{
    struct arena scratch = { NULL };
    const int64_t n = outer * inner;
    struct search s = search_begin(&scratch, space, greatest_of(numbers, n * channels), channels);
    struct points points = points_new(&scratch, (size_t)n);
    struct channel *channel = arena_new(&scratch, struct channel);
    float *room = arena_array(&scratch, float, n), *scales;
    const struct column *column;
    int rule;

    channel->points = &points;
    channel->n = n;
    channel->thresholds = arena_array(&scratch, double, space->n_rules);
    for (int64_t c = 0; c < channels; c++) {
        channel->numbers = gather(numbers, outer, channels, inner, c, room);
        histogram_of_numbers(channel->numbers, (size_t)n, &channel->histogram);
        points_of_numbers(&points, channel->numbers, (size_t)n);
        try_channel(&s, channel, c);
    }
    search_finish(&s, arena, out);
    scales = arena_array(arena, float, channels);
    out->scales = scales;
    column = s.n_columns ? column_of(&s, out->best, &rule) : NULL;
    for (int64_t c = 0; c < channels && column; c++) {
        scales[c] = column->best[c];
        if (!column->rules || rule == column->n_rules)
            continue;
        scales[c] = scale_of_numbers(&column->rules[rule], &column->format,
                                     gather(numbers, outer, channels, inner, c, room), n);
    }
    arena_release(&scratch);
}

void search_histogram(struct arena *arena, const struct search_space *space,
                      const struct histogram *histogram, struct search_result *out)
{
    struct arena scratch = { NULL };
    struct search s = search_begin(&scratch, space, histogram->limit, 1);
    struct points points = points_new(&scratch, 0);
    struct channel *channel = arena_new(&scratch, struct channel);

    channel->points = &points;
    channel->histogram = *histogram;
    channel->thresholds = arena_array(&scratch, double, space->n_rules);
    points_of_histogram(&points, histogram);
    try_channel(&s, channel, 0);
    search_finish(&s, arena, out);
    out->scales = arena_memdup(arena, &out->trials[out->best].least_scale, sizeof *out->scales);
    arena_release(&scratch);
}
