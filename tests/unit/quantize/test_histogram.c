/* Tallies against counting by definition; order and portions must not matter. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/histogram.h"

static struct arena arena;
static struct bulk bulk;

static void teardown(void)
{
    arena_release(&arena);
    bulk_release(&bulk);
}

static struct tensor tensor_of(const float *numbers, int64_t n)
{
    const struct type type = type_make(DTYPE_F32, 1, &n);
    struct tensor tensor = tensor_new(&bulk, &type);

    if (n)
        memcpy(tensor.data, numbers, (size_t)n * sizeof *numbers);
    return tensor;
}

/* Numbers of very different sizes, with zeros among them. */
static float *numbers(int n, unsigned seed)
{
    float *out = arena_array(&arena, float, n);

    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        out[i] = seed >> 28 == 0 ? 0 : ldexpf((float)(int)(seed >> 8) - 8e6f, (int)(i % 37) - 40);
    }
    return out;
}

static void expect_same(const struct tally *a, const struct tally *b)
{
    ck_assert_uint_eq(a->n, b->n);
    ck_assert_uint_eq(a->zeros, b->zeros);
    ck_assert_uint_eq(a->non_finite, b->non_finite);
    ck_assert(a->min == b->min && a->max == b->max);
    ck_assert_int_eq(a->exponent, b->exponent);
    ck_assert_mem_eq(a->bins, b->bins, TALLY_BINS * sizeof *a->bins);
}

START_TEST(a_tally_counts_by_definition)
{
    enum { N = 5000 };
    const float *x = numbers(N, 7);
    const struct tensor tensor = tensor_of(x, N);
    struct tally tally = tally_new(&arena);
    uint64_t *wanted = arena_array(&arena, uint64_t, TALLY_BINS), zeros = 0;
    double sum = 0, limit = 0;

    tally_fill(&tally, &tensor);
    for (int i = 0; i < N; i++) {
        sum += (double)x[i];
        zeros += x[i] == 0;
        limit = fmax(limit, fabs((double)x[i]));
        wanted[(int)floor(fabs((double)x[i]) / pow(2, tally.exponent) * TALLY_BINS)]++;
    }
    ck_assert(limit < pow(2, tally.exponent) && limit >= pow(2, tally.exponent - 1));
    ck_assert_mem_eq(tally.bins, wanted, TALLY_BINS * sizeof *wanted);
    ck_assert_uint_eq(tally.n, N);
    ck_assert_uint_eq(tally.zeros, zeros);
    ck_assert_double_eq_tol(tally.sum, sum, 1e-9 * limit);
}
END_TEST

/* One tensor, or the same numbers in portions, forwards and backwards. */
START_TEST(order_and_portions_do_not_matter)
{
    enum { N = 3000, PORTION = 70 };
    const float *x = numbers(N, (unsigned)_i);
    const struct tensor whole = tensor_of(x, N);
    struct tally all = tally_new(&arena), part = tally_new(&arena);
    struct tally forwards = tally_new(&arena), backwards = tally_new(&arena);

    tally_fill(&all, &whole);
    for (int i = 0; i < N; i += PORTION) {
        const int n = N - i < PORTION ? N - i : PORTION;
        const struct tensor tensor = tensor_of(x + i, n);

        tally_fill(&part, &tensor);
        tally_merge(&forwards, &part);
    }
    for (int i = (N - 1) / PORTION * PORTION; i >= 0; i -= PORTION) {
        const int n = N - i < PORTION ? N - i : PORTION;
        const struct tensor tensor = tensor_of(x + i, n);

        tally_fill(&part, &tensor);
        tally_merge(&backwards, &part);
    }
    expect_same(&forwards, &all);
    expect_same(&backwards, &all);
}
END_TEST

START_TEST(what_is_not_finite_is_counted_apart)
{
    const float x[] = { 1, NAN, -3, INFINITY, -INFINITY, 0, -0.0f };
    const struct tensor tensor = tensor_of(x, 7);
    struct tally tally = tally_new(&arena);

    tally_fill(&tally, &tensor);
    ck_assert_uint_eq(tally.n, 4);
    ck_assert_uint_eq(tally.non_finite, 3);
    ck_assert_uint_eq(tally.zeros, 2);
    ck_assert(tally.min == -3 && tally.max == 1 && tally.sum == -2);
}
END_TEST

START_TEST(tensors_of_nothing_and_of_zeros_have_a_histogram)
{
    const float x[3] = { 0 };
    const struct tensor none = tensor_of(NULL, 0), zeros = tensor_of(x, 3);
    struct tally tally = tally_new(&arena), all = tally_new(&arena);
    struct histogram h;

    tally_fill(&tally, &none);
    tally_merge(&all, &tally);
    tally_histogram(&all, &h);
    ck_assert(h.n == 0 && h.limit == 0);
    tally_fill(&tally, &zeros);
    tally_merge(&all, &tally);
    tally_histogram(&all, &h);
    ck_assert(h.n == 3 && h.zeros == 3 && h.bins[0] == 3 && h.limit == 0);
    ck_assert(all.min == 0 && all.max == 0);
}
END_TEST

START_TEST(extreme_numbers_have_a_bin)
{
    const float x[] = { 0x1p-149f, -0x1.fffffep127f, 0x1p127f, 0x1p-126f };
    const struct tensor all = tensor_of(x, 4), tiny = tensor_of(x, 1);
    struct tally tally = tally_new(&arena);
    struct histogram h;

    tally_fill(&tally, &tiny);
    tally_histogram(&tally, &h);
    ck_assert(h.limit == 0x1p-149 && h.bins[HISTOGRAM_BINS - 1] + h.bins[HISTOGRAM_BINS / 2] == 1);
    tally_fill(&tally, &all);
    tally_histogram(&tally, &h);
    ck_assert(h.bins[0] == 2 && h.bins[HISTOGRAM_BINS - 1] == 1 && h.bins[1024] == 1);
}
END_TEST

/* The histogram's borders may be off by half a bin of the tally, which is 1/8 of its own at most.
 */
START_TEST(a_histogram_divides_up_to_the_greatest_magnitude)
{
    enum { N = 20000 };
    float *x = arena_array(&arena, float, N);
    struct tally tally = tally_new(&arena);
    struct tensor tensor;
    struct histogram h;
    uint64_t below = 0;

    for (int i = 0; i < N; i++)
        x[i] = (float)((i * 7919 % N) - N / 2) * 0.001f * (float)(_i + 1);
    tensor = tensor_of(x, N);
    tally_fill(&tally, &tensor);
    tally_histogram(&tally, &h);
    ck_assert_double_eq(h.limit, fabs((double)x[0]));
    for (int bin = 0; bin < HISTOGRAM_BINS; bin++) {
        const double border = (bin + 1) * h.limit / HISTOGRAM_BINS;
        const double slack = h.limit / HISTOGRAM_BINS / 8 + 1e-9;
        uint64_t least = 0, most = 0;

        below += h.bins[bin];
        if (bin % 64)
            continue;
        for (int i = 0; i < N; i++) {
            least += fabs((double)x[i]) < border - slack;
            most += fabs((double)x[i]) < border + slack;
        }
        ck_assert_msg(below >= least && below <= most, "bin %d: %d, wanted %d to %d", bin,
                      (int)below, (int)least, (int)most);
    }
    ck_assert_uint_eq(h.n, N);
}
END_TEST

START_TEST(other_floats_are_read)
{
    const int64_t n = 2;
    const struct type type = type_make(DTYPE_BF16, 1, &n);
    const struct tensor tensor = tensor_new(&bulk, &type);
    struct tally tally = tally_new(&arena);

    dtype_store(DTYPE_BF16, tensor.data, 0, -2.5);
    dtype_store(DTYPE_BF16, tensor.data, 1, 1);
    tally_fill(&tally, &tensor);
    ck_assert(tally.min == -2.5 && tally.max == 1 && tally.sum == -1.5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("histogram");
    TCase *tests = tcase_create("histogram");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, a_tally_counts_by_definition);
    tcase_add_loop_test(tests, order_and_portions_do_not_matter, 0, 8);
    tcase_add_test(tests, what_is_not_finite_is_counted_apart);
    tcase_add_test(tests, tensors_of_nothing_and_of_zeros_have_a_histogram);
    tcase_add_test(tests, extreme_numbers_have_a_bin);
    tcase_add_loop_test(tests, a_histogram_divides_up_to_the_greatest_magnitude, 0, 3);
    tcase_add_test(tests, other_floats_are_read);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
