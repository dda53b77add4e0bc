/* Minimal cuts against all ways to divide small graphs; and that big ones are quick. */
#include <check.h>
#include <stdlib.h>

#include "base/min_cut.h"

enum { N_OWN = 8, N_EDGES = 20, N_GRAPHS = 300 };

struct given {
    int a, b;
    int64_t forth, back;
};

static unsigned below(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

static int64_t cost_of(const struct given *edges, unsigned at_source)
{
    int64_t cost = 0;

    for (int i = 0; i < N_EDGES; i++) {
        const bool a = at_source >> edges[i].a & 1, b = at_source >> edges[i].b & 1;

        cost += a && !b ? edges[i].forth : !a && b ? edges[i].back : 0;
    }
    return cost;
}

/* Vertex 0 is the source, 1 the sink. The cheapest division, of several the one with the fewest
 * vertices at the source, which is contained in all others. */
static unsigned best_by_trial(const struct given *edges)
{
    unsigned best = 1;

    for (unsigned own = 0; own < 1U << N_OWN; own++) {
        const unsigned set = 1 | own << MIN_CUT_FIRST;
        const int64_t cost = cost_of(edges, set), least = cost_of(edges, best);

        if (cost < least || (cost == least && (set & best) == set))
            best = set;
    }
    return best;
}

START_TEST(cuts_are_minimal)
{
    unsigned seed = (unsigned)_i * 7919u + 1;
    struct arena arena = { NULL };
    struct min_cut *cut = min_cut_new(&arena);
    struct given edges[N_EDGES];
    unsigned wanted;

    for (int i = 0; i < N_OWN; i++)
        ck_assert_int_eq(min_cut_vertex(cut), MIN_CUT_FIRST + i);
    for (int i = 0; i < N_EDGES; i++) {
        edges[i].a = (int)below(&seed, N_OWN + MIN_CUT_FIRST);
        edges[i].b = (int)below(&seed, N_OWN + MIN_CUT_FIRST);
        edges[i].forth = below(&seed, 6);
        edges[i].back = below(&seed, 2) ? 0 : below(&seed, 6);
        min_cut_edge(cut, edges[i].a, edges[i].b, edges[i].forth, edges[i].back);
    }
    wanted = best_by_trial(edges);
    ck_assert_int_eq(min_cut_solve(cut), cost_of(edges, wanted));
    for (int i = 0; i < N_OWN + MIN_CUT_FIRST; i++)
        ck_assert_int_eq(min_cut_at_source(cut, i), wanted >> i & 1);
    arena_release(&arena);
}
END_TEST

/* A chain of 100,000 with ties to both sides: as a long network is. */
START_TEST(long_chains_are_quick)
{
    enum { LENGTH = 100000 };
    struct arena arena = { NULL };
    struct min_cut *cut = min_cut_new(&arena);
    int before = MIN_CUT_SOURCE;

    for (int i = 0; i < LENGTH; i++) {
        const int v = min_cut_vertex(cut);

        min_cut_edge(cut, before, v, 100 + i % 7, 100 + i % 7);
        if (i % 10 == 0)
            min_cut_edge(cut, i % 20 ? MIN_CUT_SOURCE : v, i % 20 ? v : MIN_CUT_SINK, 30, 0);
        before = v;
    }
    min_cut_edge(cut, before, MIN_CUT_SINK, MIN_CUT_NEVER, 0);
    ck_assert_int_gt(min_cut_solve(cut), 0);
    ck_assert(!min_cut_at_source(cut, before));
    arena_release(&arena);
}
END_TEST

START_TEST(what_must_not_be_cut_is_not)
{
    struct arena arena = { NULL };
    struct min_cut *cut = min_cut_new(&arena);
    const int a = min_cut_vertex(cut), b = min_cut_vertex(cut);

    min_cut_edge(cut, MIN_CUT_SOURCE, a, 5, 0);
    min_cut_edge(cut, a, b, MIN_CUT_NEVER, MIN_CUT_NEVER);
    min_cut_edge(cut, b, MIN_CUT_SINK, 3, 0);
    ck_assert_int_eq(min_cut_solve(cut), 3);
    ck_assert(min_cut_at_source(cut, a) && min_cut_at_source(cut, b));
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("min_cut");
    TCase *tcase = tcase_create("min_cut");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, cuts_are_minimal, 0, N_GRAPHS);
    tcase_add_test(tcase, long_chains_are_quick);
    tcase_add_test(tcase, what_must_not_be_cut_is_not);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
