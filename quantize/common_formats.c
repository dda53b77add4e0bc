/* common_formats.c - see common_formats.h.
 *
 * method   the smallest set of formats whose expected noise, each tensor in the best of the set, is
 *          at most `most_noise` times that of all formats; where n formats are asked for, the best
 *          set of n. Inside the set the tensors of a kind (weights; data with a sign;
 *          without) have one format, that of the least noise in all. Where this costs more than
 *          `most_noise` times what the set could do, those for which it costs most have the best of
 *          the set instead, no more than it takes */
#include "quantize/common_formats.h"

#include <math.h>

enum { ALL = (1 << ALL_FORMATS) - 1 }; /* the set */

/* docs/lab/quantisation.md: what other bounds give. */
static const double most_noise = 1.1;

static const struct common_tensor *known(const struct common_formats *common, size_t i)
{
    return common->tensors.entries[i].value;
}

static bool has(unsigned set, int format)
{
    return set >> format & 1;
}

static int size_of(unsigned set)
{
    int n = 0;

    for (int i = 0; i < ALL_FORMATS; i++)
        n += has(set, i);
    return n;
}

static int best_of(const double noise[ALL_FORMATS], unsigned set)
{
    int best = -1;

    for (int i = 0; i < ALL_FORMATS; i++)
        if (has(set, i) && (best < 0 || noise[i] < noise[best]))
            best = i;
    return best;
}

static double noise_of_set(const struct common_formats *common, unsigned set)
{
    double sum = 0;

    for (size_t i = 0; i < common->tensors.n; i++)
        sum += known(common, i)->noise[best_of(known(common, i)->noise, set)];
    return sum;
}

/* The noise of the tensors of a kind, all in one format, by format. */
static void noise_of_kind(const struct common_formats *common, enum tensor_kind kind,
                          double sums[ALL_FORMATS])
{
    for (int k = 0; k < ALL_FORMATS; k++)
        sums[k] = 0;
    for (size_t i = 0; i < common->tensors.n; i++)
        for (int k = 0; k < ALL_FORMATS && known(common, i)->kind == kind; k++)
            sums[k] += known(common, i)->noise[k];
}

/* Where the tensors of a kind have one format of the set. */
static double noise_by_kind(const struct common_formats *common, unsigned set)
{
    double sums[ALL_FORMATS], noise = 0;

    for (int kind = 0; kind < KIND_COUNT; kind++) {
        noise_of_kind(common, (enum tensor_kind)kind, sums);
        noise += sums[best_of(sums, set)];
    }
    return noise;
}

/* Of the sets of n formats that with the least noise. */
static unsigned best_set(const struct common_formats *common, struct format_count n)
{
    double least = INFINITY;
    unsigned best = ALL;

    for (unsigned set = 1; set <= ALL; set++) {
        const double noise = size_of(set) != n.n ? INFINITY
                             : n.by_kind         ? noise_by_kind(common, set)
                                                 : noise_of_set(common, set);

        if (noise < least) {
            least = noise;
            best = set;
        }
    }
    return best;
}

static unsigned near_set(const struct common_formats *common)
{
    unsigned set = ALL;

    for (int n = 1; n < ALL_FORMATS; n++) {
        set = best_set(common, (struct format_count){ .n = n });
        if (noise_of_set(common, set) <= most_noise * common->set.least)
            return set;
    }
    return ALL;
}

/* The format of the set that the tensors of a kind have. */
static int format_of_kind(const struct common_formats *common, enum tensor_kind kind, unsigned set)
{
    double sums[ALL_FORMATS];

    noise_of_kind(common, kind, sums);
    return best_of(sums, set);
}

/* What loses most by the format of its kind; NULL = nothing does. */
static struct common_tensor *worst(const struct common_formats *common, unsigned set)
{
    struct common_tensor *worst = NULL;
    double most = 0;

    for (size_t i = 0; i < common->tensors.n; i++) {
        struct common_tensor *tensor = common->tensors.entries[i].value;
        const double loss =
            tensor->noise[tensor->format] - tensor->noise[best_of(tensor->noise, set)];

        if (loss > most) {
            worst = tensor;
            most = loss;
        }
    }
    return worst;
}

static void sum_up(struct common_formats *common)
{
    common->set.formats = 0;
    common->set.noise = 0;
    for (size_t i = 0; i < common->tensors.n; i++) {
        const struct common_tensor *tensor = known(common, i);

        common->set.formats |= 1u << tensor->format;
        common->set.noise += tensor->noise[tensor->format];
    }
}

void common_formats_choose(struct common_formats *common, struct format_count n)
{
    int of_kind[KIND_COUNT];
    struct common_tensor *tensor;
    unsigned set;
    double bound;

    common->set = (struct format_set){ .least = noise_of_set(common, ALL) };
    set = n.n == 0 ? near_set(common) : n.n < ALL_FORMATS ? best_set(common, n) : ALL;
    bound = n.by_kind    ? INFINITY
            : set == ALL ? common->set.least
                         : most_noise * noise_of_set(common, set);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        of_kind[kind] = format_of_kind(common, (enum tensor_kind)kind, set);
    for (size_t i = 0; i < common->tensors.n; i++) {
        tensor = common->tensors.entries[i].value;
        tensor->format = of_kind[tensor->kind];
    }
    sum_up(common);
    while (common->set.noise > bound && (tensor = worst(common, set))) {
        tensor->format = best_of(tensor->noise, set);
        common->set.n_exceptions++;
        sum_up(common);
    }
}
