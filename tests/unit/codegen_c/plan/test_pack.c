/* The exact packing against every packing there is, and where best fit fails. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/plan.h"
#include "codegen_c/plan/pack/pack_exact.h"
#include "codegen_c/plan/pack/pack_search.h"

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void random_blocks(struct block *blocks, int n, unsigned seed, unsigned n_times)
{
    for (int i = 0; i < n; i++) {
        const int first = (int)(next_random(&seed) % n_times);

        blocks[i] = (struct block){ .bytes = 1 + next_random(&seed) % (9 * PLAN_ALIGN),
                                    .first = first,
                                    .last = first + (int)(next_random(&seed) % n_times / 2) };
    }
}

static bool alive_together(const struct block *a, const struct block *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* The least that any order of placing needs, when each block lies on top of those before it. Every
 * packing, let fall down, is one of these. */
static size_t least_of_all(struct block *blocks, int n, int n_placed, size_t height)
{
    size_t least = SIZE_MAX;

    if (n_placed == n)
        return height;
    for (int i = n_placed; i < n; i++) {
        struct block block = blocks[i];
        size_t top, needed;

        blocks[i] = blocks[n_placed];
        block.offset = 0;
        for (int j = 0; j < n_placed; j++) {
            const size_t end = blocks[j].offset + plan_round(blocks[j].bytes);

            if (alive_together(&block, &blocks[j]) && end > block.offset)
                block.offset = end;
        }
        blocks[n_placed] = block;
        top = block.offset + plan_round(block.bytes);
        needed = least_of_all(blocks, n, n_placed + 1, top > height ? top : height);
        least = needed < least ? needed : least;
        blocks[n_placed] = blocks[i];
        blocks[i] = block;
    }
    return least;
}

enum { FEW = 7 };

START_TEST(no_packing_of_few_blocks_is_smaller)
{
    const int n = 3 + _i % (FEW - 2);
    struct block blocks[FEW], copy[FEW];
    struct arena arena = { NULL };
    struct packing packing;

    random_blocks(blocks, n, (unsigned)_i, 3 + (unsigned)_i % 7);
    memcpy(copy, blocks, sizeof copy);
    packing = pack_blocks(&arena, blocks, n, PACK_WORK);
    ck_assert(pack_verify(blocks, n, packing.bytes));
    ck_assert(packing.optimal);
    ck_assert_uint_eq(packing.bytes, packing.lower_bound);
    ck_assert_uint_eq(packing.bytes, least_of_all(copy, n, 0, 0));
    arena_release(&arena);
}
END_TEST

/* From the worst packing and without a bound, so that the search has to find and to prove all. */
START_TEST(search_finds_and_proves_the_least_by_itself)
{
    const int n = 3 + _i % (FEW - 2);
    struct block blocks[FEW], copy[FEW];
    struct arena arena = { NULL };
    struct packing packing = { 0 };
    size_t least;

    random_blocks(blocks, n, 1000 + (unsigned)_i, 3 + (unsigned)_i % 5);
    memcpy(copy, blocks, sizeof copy);
    least = least_of_all(copy, n, 0, 0);
    for (int i = 0; i < n; i++) {
        blocks[i].offset = packing.bytes;
        packing.bytes += plan_round(blocks[i].bytes);
    }
    pack_exact(&arena, blocks, n, PACK_WORK, &packing);
    ck_assert(pack_verify(blocks, n, packing.bytes));
    ck_assert_uint_eq(packing.bytes, least);
    ck_assert_uint_eq(packing.lower_bound, least);
    arena_release(&arena);
}
END_TEST

/* Runs cut short leave nothing behind but an order; the answer is the same in every order. */
START_TEST(learning_from_failures_does_not_change_what_is_possible)
{
    const int n = 4 + _i % (FEW - 3), n_times = 3 + _i % 4;
    struct block blocks[FEW];
    struct item items[FEW];
    struct arena arena = { NULL };
    struct search *search;
    uint64_t work = 0;
    int least;

    random_blocks(blocks, n, 5000 + (unsigned)_i, (unsigned)n_times);
    blocks[n - 1] = blocks[0]; /* twins */
    for (int i = 0; i < n; i++)
        items[i] = (struct item){ .size = (int)(plan_round(blocks[i].bytes) / PLAN_ALIGN),
                                  .from = blocks[i].first,
                                  .to = blocks[i].last + 1,
                                  .block = i };
    least = (int)(least_of_all(blocks, n, 0, 0) / PLAN_ALIGN);
    search = search_new(&arena, items, n, 2 * n_times);
    for (int round = 0; round < 6; round++) {
        (void)search_run(search, least - 1, 10 * (uint64_t)round, &work);
        search_learn(search);
        ck_assert_int_eq(search_run(search, least - 1, PACK_WORK, &work), SEARCH_IMPOSSIBLE);
        ck_assert_int_eq(search_run(search, least, PACK_WORK, &work), SEARCH_FOUND);
        for (int i = 0; i < n; i++)
            ck_assert_int_le(search_offset(search, i) + items[i].size, least);
    }
    arena_release(&arena);
}
END_TEST

/* A packing without gaps, cut at random from a full rectangle: its height is the least possible. */
static int cut_rectangle(struct block *blocks, int n, unsigned seed, int n_times, int units)
{
    struct {
        int from, to, low, high;
    } pieces[200] = { { 0, n_times, 0, units } };
    int count = 1;

    for (int tries = 0; count < n && tries < 100 * n; tries++) {
        const int i = (int)(next_random(&seed) % (unsigned)count);
        const bool in_time = next_random(&seed) % 2;
        const int low = in_time ? pieces[i].from : pieces[i].low;
        const int high = in_time ? pieces[i].to : pieces[i].high;
        int at;

        if (high - low < 2)
            continue;
        at = low + 1 + (int)(next_random(&seed) % (unsigned)(high - low - 1));
        pieces[count] = pieces[i];
        if (in_time)
            pieces[i].to = pieces[count].from = at;
        else
            pieces[i].high = pieces[count].low = at;
        count++;
    }
    for (int i = 0; i < count; i++)
        blocks[i] = (struct block){ .bytes = (size_t)(pieces[i].high - pieces[i].low) * PLAN_ALIGN,
                                    .first = pieces[i].from,
                                    .last = pieces[i].to - 1 };
    return count;
}

START_TEST(packings_without_gaps_are_found)
{
    enum { N = 40, UNITS = 64 };
    struct block blocks[N];
    struct arena arena = { NULL };
    const int n = cut_rectangle(blocks, N, (unsigned)_i, 20, UNITS);
    const struct packing packing = pack_blocks(&arena, blocks, n, PACK_WORK);

    ck_assert_int_eq(n, N);
    ck_assert(pack_verify(blocks, n, packing.bytes));
    ck_assert_uint_eq(packing.lower_bound, UNITS * PLAN_ALIGN);
    ck_assert_uint_eq(packing.bytes, UNITS * PLAN_ALIGN);
    arena_release(&arena);
}
END_TEST

START_TEST(search_improves_on_best_fit)
{
    enum { N = 40 };
    int n_improved = 0;

    for (unsigned seed = 0; seed < 20; seed++) {
        struct block blocks[N], copy[N];
        struct arena arena = { NULL };
        const int n = cut_rectangle(blocks, N, seed, 20, 64);
        struct packing fit, exact;

        memcpy(copy, blocks, sizeof copy);
        fit = pack_blocks(&arena, blocks, n, 0);
        exact = pack_blocks(&arena, copy, n, PACK_WORK);
        ck_assert(pack_verify(blocks, n, fit.bytes));
        ck_assert_uint_eq(fit.work, 0);
        ck_assert_uint_ge(fit.bytes, exact.bytes);
        ck_assert_uint_eq(fit.optimal, fit.bytes == fit.lower_bound);
        n_improved += fit.bytes > exact.bytes;
        arena_release(&arena);
    }
    ck_assert_int_gt(n_improved, 4);
}
END_TEST

START_TEST(search_stops_when_its_work_is_done)
{
    enum { N = 200, LIMIT = 20000, STEP = 10000 };
    struct block blocks[N], again[N];
    struct arena arena = { NULL };
    struct packing packing, second;
    const int n = cut_rectangle(blocks, N, (unsigned)_i, 60, 1000);

    memcpy(again, blocks, sizeof again);
    packing = pack_blocks(&arena, blocks, n, LIMIT);
    ck_assert(pack_verify(blocks, n, packing.bytes));
    ck_assert(!packing.optimal);
    ck_assert_uint_gt(packing.nodes, 0);
    ck_assert_uint_gt(packing.work, LIMIT / 2);
    ck_assert_uint_le(packing.work, LIMIT + STEP); /* a placement is never cut in two */
    ck_assert_uint_gt(packing.bytes, packing.lower_bound);
    second = pack_blocks(&arena, again, n, LIMIT);
    ck_assert_uint_eq(second.nodes, packing.nodes);
    for (int i = 0; i < n; i++)
        ck_assert_uint_eq(blocks[i].offset, again[i].offset);
    arena_release(&arena);
}
END_TEST

/* Offsets beyond what the search counts with; best fit takes them all the same. */
START_TEST(huge_blocks_are_packed_without_search)
{
    const size_t huge = (size_t)1 << 40;
    struct block blocks[] = { { .bytes = huge, .first = 0, .last = 1 },
                              { .bytes = 2 * huge, .first = 1, .last = 2 },
                              { .bytes = huge, .first = 2, .last = 3 } };
    struct arena arena = { NULL };
    const struct packing packing = pack_blocks(&arena, blocks, 3, PACK_WORK);

    ck_assert(pack_verify(blocks, 3, packing.bytes));
    ck_assert_uint_eq(packing.bytes, 3 * huge);
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pack");
    TCase *packing = tcase_create("packing");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(packing, 0);
    tcase_add_loop_test(packing, no_packing_of_few_blocks_is_smaller, 0, 300);
    tcase_add_loop_test(packing, search_finds_and_proves_the_least_by_itself, 0, 300);
    tcase_add_loop_test(packing, learning_from_failures_does_not_change_what_is_possible, 0, 200);
    tcase_add_loop_test(packing, packings_without_gaps_are_found, 0, 20);
    tcase_add_test(packing, search_improves_on_best_fit);
    tcase_add_loop_test(packing, search_stops_when_its_work_is_done, 2, 5);
    tcase_add_test(packing, huge_blocks_are_packed_without_search);
    suite_add_tcase(suite, packing);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
