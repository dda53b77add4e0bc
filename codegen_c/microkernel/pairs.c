/* pairs.c - see pairs.h. */
#include "codegen_c/microkernel/pairs.h"

#include <math.h>

#include "codegen_c/expr/shuffle.h"
#include "codegen_c/expr/vector.h"

enum { MOST_EXPONENT = 60 /* exponent of a scale: products of two scales stay finite */ };

int64_t pairs_paired(int64_t len)
{
    return len / 3 * 2;
}

double pairs_time(const struct machine *machine, int64_t vectors, int64_t len)
{
    const double pairs = (double)(len - pairs_paired(len) / 2);

    /* Tiles of two vectors beat the FMA peak on a Zen 5 (docs/lab/kernels.md); with one vector,
     * each product needs a load, and nothing is gained. */
    if (machine->adders == ADDERS_REGISTERS)
        return (double)(vectors / 2 * 2) * pairs * 1.07 + (double)(vectors % 2 * len);
    return (double)vectors * pairs;
}

double pairs_sum_time(const struct machine *machine, int64_t len)
{
    const double once = machine->adders == ADDERS_REGISTERS ? 3 : 8; /* 8: one pixel at a time */

    return (double)pairs_paired(len) / PAIRS_LANES * 2.5 + once;
}

bool pairs_want_one_pointer(const struct machine *machine)
{
    return machine->adders == ADDERS_REGISTERS;
}

float pairs_scale(const float *weights, int64_t step, int64_t len, double usual)
{
    const int64_t n = pairs_paired(len);
    double squares = 0;
    int exponent;

    for (int64_t k = 0; k < n; k++)
        squares += (double)weights[k * step] * (double)weights[k * step];
    if (!(squares > 0) || isinf(squares))
        return 1;
    frexp(sqrt(2 * squares / ((double)n * usual)), &exponent); /* 1/2 to 1, times 2^exponent */
    return ldexpf(1, exponent < -MOST_EXPONENT  ? -MOST_EXPONENT
                     : exponent > MOST_EXPONENT ? MOST_EXPONENT
                                                : exponent);
}

float pairs_sum(const float *weights, int64_t step, int64_t len)
{
    double sum = 0;

    for (int64_t k = 0; k < pairs_paired(len); k += 2)
        sum += (k % 4 == 0 ? 1 : -1) * (double)weights[k * step] * (double)weights[(k + 1) * step];
    return (float)sum;
}

void bind_sums_of_pairs(struct bind *bind, int most)
{
    const char *name = "sum_pairs", *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (!fn) {
        bind_helper(bind, "apart");
        keys_init(&keys, bind->arena);
        keys_set(&keys, "firsts",
                 bind_shuffle(bind, "firsts",
                              "The first elements of the pairs of a and b, by groups of four.",
                              "0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30"));
        keys_set(&keys, "seconds",
                 bind_shuffle(bind, "seconds",
                              "The second elements of the pairs of a and b, by groups of four.",
                              "1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31"));
        keys_set(&keys, "linkage", vector_linkage(bind));
        keys_set_int(&keys, "least", PAIRS_LEAST);
        keys_set_flag(&keys, "registers", bind->machine->adders == ADDERS_REGISTERS);
        fn = bind_new_helper(bind, name, "templates/helpers/pairs.c.tmpl", &keys);
    }
    bind_text(bind, "sum_pairs", "%s", fn);
    bind_int(bind, "most", most);
}
