/* common_formats.c - see common_formats.h.
 *
 * method   the smallest set of formats whose expected noise, each tensor in the best of the set, is
 *          at most `most_noise` times that of all formats; of equal ones that of the least noise.
 *          Inside the set the tensors of a kind (weights; data with a sign; without) have one
 *          format, that of the least noise in all. Where the bound does not allow that, those for
 *          which it costs most have the best of the set instead, no more than it takes */
#include "quantize/common_formats.h"

#include <math.h>

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

    for (int i = 0; i < N_CHOOSABLE; i++)
        n += has(set, i);
    return n;
}

static int best_of(const double noise[N_CHOOSABLE], unsigned set)
{
    int best = -1;

    for (int i = 0; i < N_CHOOSABLE; i++)
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

static double noise_of_choice(const struct common_formats *common)
{
    double sum = 0;

    for (size_t i = 0; i < common->tensors.n; i++)
        sum += known(common, i)->noise[known(common, i)->format];
    return sum;
}

static void choose_set(struct common_formats *common)
{
    const unsigned all = (1u << N_CHOOSABLE) - 1;
    int least_size = N_CHOOSABLE + 1;

    common->least = noise_of_set(common, all);
    for (unsigned set = 1; set <= all; set++) {
        const double noise = noise_of_set(common, set);
        const int size = size_of(set);

        if (noise > most_noise * common->least || size > least_size ||
            (size == least_size && noise >= common->noise))
            continue;
        common->set = set;
        common->noise = noise;
        least_size = size;
    }
}

/* The format of the set that the tensors of a kind have. */
static int format_of_kind(const struct common_formats *common, enum tensor_kind kind)
{
    double sums[N_CHOOSABLE] = { 0 };

    for (size_t i = 0; i < common->tensors.n; i++)
        for (int k = 0; k < N_CHOOSABLE && known(common, i)->kind == kind; k++)
            sums[k] += known(common, i)->noise[k];
    return best_of(sums, common->set);
}

/* What loses most by the format of its kind; NULL = nothing does. */
static struct common_tensor *worst(const struct common_formats *common)
{
    struct common_tensor *worst = NULL;
    double most = 0;

    for (size_t i = 0; i < common->tensors.n; i++) {
        struct common_tensor *tensor = common->tensors.entries[i].value;
        const double loss =
            tensor->noise[tensor->format] - tensor->noise[best_of(tensor->noise, common->set)];

        if (loss > most) {
            worst = tensor;
            most = loss;
        }
    }
    return worst;
}

void common_formats_choose(struct common_formats *common)
{
    int of_kind[KIND_COUNT];
    struct common_tensor *tensor;

    choose_set(common);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        of_kind[kind] = format_of_kind(common, (enum tensor_kind)kind);
    for (size_t i = 0; i < common->tensors.n; i++) {
        tensor = common->tensors.entries[i].value;
        tensor->format = of_kind[tensor->kind];
    }
    common->noise = noise_of_choice(common);
    while (common->noise > most_noise * common->least && (tensor = worst(common))) {
        tensor->format = best_of(tensor->noise, common->set);
        common->noise = noise_of_choice(common);
        common->n_exceptions++;
    }
}
