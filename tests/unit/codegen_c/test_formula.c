/* test_formula.c - numbers that follow from sizes given at run time. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/expr/formula.h"
#include "relay_ir/variants.h"

enum { MOST = 60, BATCHES = 3 };

static struct arena arena;
static struct variant at[MOST * BATCHES];
static int of[MOST * BATCHES];

/* Sizes 1 .. MOST; with a second symbol, 1 .. BATCHES of each. */
static struct variants sizes(int n_symbols)
{
    struct variants variants = { .n_symbols = n_symbols,
                                 .symbols = { { .c_name = "time" }, { .c_name = "batch" } },
                                 .n = n_symbols == 1 ? MOST : MOST * BATCHES,
                                 .at = at };

    for (int v = 0; v < variants.n; v++) {
        at[v].values[0] = n_symbols == 1 ? MOST - v : MOST - v / BATCHES;
        at[v].values[1] = BATCHES - v % BATCHES;
        of[v] = v;
    }
    return variants;
}

static const char *found(const struct variants *variants, int64_t (*number)(int64_t, int64_t))
{
    int64_t numbers[MOST * BATCHES];
    struct formula formula;

    for (int v = 0; v < variants->n; v++)
        numbers[v] = number(at[v].values[0], at[v].values[1]);
    return formula_find(variants, variants->n, of, numbers, &formula)
               ? formula_text(&arena, variants, &formula)
               : "none";
}

static int64_t itself(int64_t time, int64_t batch)
{
    (void)batch;
    return time;
}
static int64_t bytes(int64_t time, int64_t batch)
{
    (void)batch;
    return 128 * time - 96;
}
static int64_t strided(int64_t time, int64_t batch)
{
    (void)batch;
    return (time + 2 - 3) / 2 + 1;
}
static int64_t twice(int64_t time, int64_t batch)
{
    (void)batch;
    return ((time + 1) / 2 + 2) / 3;
}
static int64_t shrinking(int64_t time, int64_t batch)
{
    (void)batch;
    return 100 - time;
}
static int64_t aligned(int64_t time, int64_t batch)
{
    (void)batch;
    return (time * 4 + 15) / 16 * 16;
}
static int64_t square(int64_t time, int64_t batch)
{
    (void)batch;
    return time * time;
}
static int64_t large(int64_t time, int64_t batch)
{
    (void)batch;
    return time * 100000000;
}
static int64_t product(int64_t time, int64_t batch)
{
    return 3 * time * batch;
}
static int64_t of_batch(int64_t time, int64_t batch)
{
    (void)time;
    return batch - 1;
}
static int64_t one_off(int64_t time, int64_t batch)
{
    (void)batch;
    return time == 31 ? 32 : time;
}

START_TEST(one_symbol)
{
    const struct variants variants = sizes(1);

    ck_assert_str_eq(found(&variants, itself), "time");
    ck_assert_str_eq(found(&variants, bytes), "128 * time - 96");
    ck_assert_str_eq(found(&variants, strided), "(time + 1) / 2");
    ck_assert_str_eq(found(&variants, twice), "(time + 5) / 6");
    ck_assert_str_eq(found(&variants, shrinking), "100 - time");
    ck_assert_str_eq(found(&variants, aligned), "(time + 3) / 4 * 16");
}
END_TEST

START_TEST(two_symbols)
{
    const struct variants variants = sizes(2);

    ck_assert_str_eq(found(&variants, strided), "(time + 1) / 2");
    ck_assert_str_eq(found(&variants, of_batch), "batch - 1");
    ck_assert_str_eq(found(&variants, product), "3 * time * batch");
}
END_TEST

/* What is not of this form, what one size contradicts, and what does not fit an int. */
START_TEST(no_formula)
{
    const struct variants variants = sizes(1);

    ck_assert_str_eq(found(&variants, square), "none");
    ck_assert_str_eq(found(&variants, one_off), "none");
    ck_assert_str_eq(found(&variants, large), "none");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("formula");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_test(tests, one_symbol);
    tcase_add_test(tests, two_symbols);
    tcase_add_test(tests, no_formula);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    arena_release(&arena);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
