/* The order of least memory against every order there is, and what must hold of any. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/plan/order/schedule.h"

static struct arena arena;

static void setup(void)
{
    arena = (struct arena){ 0 };
}

static void teardown(void)
{
    arena_release(&arena);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* --- problems --------------------------------------------------------------------------------- */

struct builder {
    struct schedule_task *tasks;
    struct schedule_buffer *buffers;
    int **after, **over, **writers, **readers;
    int n_tasks, n_buffers, capacity;
};

static struct builder builder_new(int capacity)
{
    return (struct builder){ .tasks = arena_array(&arena, struct schedule_task, capacity),
                             .buffers = arena_array(&arena, struct schedule_buffer, capacity),
                             .after = arena_array(&arena, int *, capacity),
                             .over = arena_array(&arena, int *, capacity),
                             .writers = arena_array(&arena, int *, capacity),
                             .readers = arena_array(&arena, int *, capacity),
                             .capacity = capacity };
}

static void append(int **list, const int **shared, int *n, int item)
{
    int *longer = arena_array(&arena, int, *n + 1);

    if (*n > 0)
        memcpy(longer, *list, (size_t)*n * sizeof *longer);
    longer[(*n)++] = item;
    *list = longer;
    *shared = longer;
}

/* A buffer without writers. */
static int add_buffer(struct builder *b, size_t bytes)
{
    ck_assert_int_lt(b->n_buffers, b->capacity);
    b->buffers[b->n_buffers].bytes = bytes;
    return b->n_buffers++;
}

static int add_task(struct builder *b)
{
    ck_assert_int_lt(b->n_tasks, b->capacity);
    return b->n_tasks++;
}

static void writes(struct builder *b, int task, int buffer)
{
    append(&b->writers[buffer], &b->buffers[buffer].writers, &b->buffers[buffer].n_writers, task);
}

/* And comes after its writers. */
static void reads(struct builder *b, int task, int buffer)
{
    const struct schedule_buffer *x = &b->buffers[buffer];

    append(&b->readers[buffer], &b->buffers[buffer].readers, &b->buffers[buffer].n_readers, task);
    for (int i = 0; i < x->n_writers; i++)
        append(&b->after[task], &b->tasks[task].after, &b->tasks[task].n_after, x->writers[i]);
}

static void may_go_over(struct builder *b, int task, int buffer)
{
    append(&b->over[task], &b->tasks[task].over, &b->tasks[task].n_over, buffer);
}

/* A task that reads `from` (-1: none) and writes a new buffer. */
static int add_step(struct builder *b, size_t bytes, int from, int from2)
{
    const int t = add_task(b), y = add_buffer(b, bytes);

    if (from >= 0)
        reads(b, t, from);
    if (from2 >= 0)
        reads(b, t, from2);
    writes(b, t, y);
    return y;
}

static struct schedule_problem problem_of(const struct builder *b)
{
    return (struct schedule_problem){ b->tasks, b->buffers, b->n_tasks, b->n_buffers };
}

/* Random tasks, of which some write into one buffer together, some over what they read. */
static struct schedule_problem random_problem(unsigned seed, int n, unsigned reach)
{
    struct builder b = builder_new(2 * n + 2);

    for (int i = 0; i < n; i++) {
        const int t = add_task(&b);
        int y;

        for (unsigned k = next_random(&seed) % 3; b.n_buffers > 0 && k > 0; k--) {
            const int x = b.n_buffers - 1 - (int)(next_random(&seed) % reach);

            if (x < 0)
                continue;
            if (b.buffers[x].n_readers == 0 ||
                b.buffers[x].readers[b.buffers[x].n_readers - 1] != t)
                reads(&b, t, x);
        }
        b.tasks[t].scratch = next_random(&seed) % 4 == 0 ? next_random(&seed) % 30 : 0;
        y = b.n_buffers - 1;
        if (y >= 0 && next_random(&seed) % 5 == 0 && b.buffers[y].n_readers == 0) {
            writes(&b, t, y); /* a slot of it */
            continue;
        }
        y = add_buffer(&b, 1 + next_random(&seed) % 4 * 10);
        writes(&b, t, y);
        for (int x = 0; x < y; x++)
            if (b.buffers[x].n_readers > 0 &&
                b.buffers[x].readers[b.buffers[x].n_readers - 1] == t &&
                next_random(&seed) % 2 == 0) {
                if (next_random(&seed) % 2 == 0) {
                    b.tasks[t].lap = x;
                    b.tasks[t].lap_bytes =
                        1 + next_random(&seed) % (b.buffers[x].bytes < b.buffers[y].bytes
                                                      ? b.buffers[x].bytes
                                                      : b.buffers[y].bytes);
                    break;
                }
                b.buffers[y].bytes = b.buffers[x].bytes;
                may_go_over(&b, t, x);
                break;
            }
    }
    return problem_of(&b);
}

/* --- the oracle ------------------------------------------------------------------------------- */

/* Written from the header, by definition: for each task of an order all buffers are looked at. */
static size_t alive_at(const struct schedule_problem *p, const int *order, int at)
{
    size_t alive = p->tasks[order[at]].scratch, saved = 0, lap = 0, written_new = 0;
    int *position = calloc((size_t)p->n_tasks, sizeof *position);

    for (int i = 0; i < p->n_tasks; i++)
        position[order[i]] = i;
    for (int i = 0; i < p->n_buffers; i++) {
        const struct schedule_buffer *b = &p->buffers[i];
        int first = p->n_tasks, last = -1;
        bool is_over = false;

        for (int k = 0; k < b->n_writers; k++) {
            first = position[b->writers[k]] < first ? position[b->writers[k]] : first;
            last = position[b->writers[k]] > last ? position[b->writers[k]] : last;
        }
        for (int k = 0; k < b->n_readers; k++)
            last = position[b->readers[k]] > last ? position[b->readers[k]] : last;
        if (at < first || at > last)
            continue;
        alive += b->bytes;
        written_new += first == at ? b->bytes : 0;
        for (int k = 0; k < p->tasks[order[at]].n_over; k++)
            is_over = is_over || p->tasks[order[at]].over[k] == i;
        if (is_over && last == at && first < at && b->bytes > saved)
            saved = b->bytes;
        if (p->tasks[order[at]].lap_bytes && p->tasks[order[at]].lap == i && last == at &&
            first < at)
            lap = p->tasks[order[at]].lap_bytes;
    }
    free(position);
    saved = written_new >= saved ? saved : 0;
    return alive - (written_new && lap > saved ? lap : saved);
}

static size_t peak_of(const struct schedule_problem *p, const int *order)
{
    size_t peak = 0;

    for (int i = 0; i < p->n_tasks; i++) {
        const size_t alive = alive_at(p, order, i);

        peak = alive > peak ? alive : peak;
    }
    return peak;
}

static size_t least_of_all(const struct schedule_problem *p, int *order, int n)
{
    size_t least = SIZE_MAX;

    if (n == p->n_tasks)
        return peak_of(p, order);
    for (int t = 0; t < p->n_tasks; t++) {
        bool ok = true;

        for (int i = 0; i < n; i++)
            ok = ok && order[i] != t;
        for (int k = 0; ok && k < p->tasks[t].n_after; k++) {
            bool done = false;

            for (int i = 0; i < n; i++)
                done = done || order[i] == p->tasks[t].after[k];
            ok = done;
        }
        if (ok) {
            size_t rest;

            order[n] = t;
            rest = least_of_all(p, order, n + 1);
            least = rest < least ? rest : least;
        }
    }
    return least;
}

static struct schedule check_problem(const struct schedule_problem *p, uint64_t work)
{
    const struct schedule s = schedule_tasks(&arena, p, work);

    ck_assert(schedule_verify(&arena, p, s.order));
    ck_assert_uint_eq(s.peak, schedule_peak(&arena, p, s.order));
    ck_assert_uint_le(s.peak, s.given_peak);
    ck_assert_uint_le(s.lower_bound, s.peak);
    ck_assert_int_eq(s.optimal, s.lower_bound == s.peak);
    return s;
}

/* --- tests ------------------------------------------------------------------------------------ */

START_TEST(test_every_order)
{
    int n_better = 0;

    for (unsigned seed = 0; seed < 400; seed++) {
        const int n = 1 + (int)(seed % 7);
        const struct schedule_problem p = random_problem(seed, n, 4);
        const struct schedule s = check_problem(&p, SCHEDULE_WORK);
        int *order = arena_array(&arena, int, n);

        ck_assert_uint_eq(s.peak, peak_of(&p, s.order));
        for (int i = 0; i < n; i++)
            order[i] = i;
        ck_assert_uint_eq(s.given_peak, peak_of(&p, order));
        ck_assert_msg(s.peak == least_of_all(&p, order, 0), "seed %u", seed);
        ck_assert_msg(s.optimal, "seed %u: not proved", seed);
        n_better += s.peak < s.given_peak;
    }
    ck_assert_int_gt(n_better, 20); /* else the problems are too easy */
}
END_TEST

/* Two branches that are small at their ends, given in turns: best one after the other. */
START_TEST(test_branches)
{
    struct builder b = builder_new(16);
    int x[2], head = add_step(&b, 4, -1, -1);
    struct schedule_problem p;
    struct schedule s;

    for (int i = 0; i < 2; i++)
        x[i] = add_step(&b, 100, head, -1);
    for (int i = 0; i < 2; i++)
        x[i] = add_step(&b, 8, x[i], -1);
    add_step(&b, 16, x[0], x[1]);
    p = problem_of(&b);
    s = check_problem(&p, SCHEDULE_WORK);
    ck_assert_uint_eq(s.given_peak, 100 + 100 + 8);
    ck_assert_uint_eq(s.peak, 100 + 8 + 8);
    ck_assert(s.optimal);
}
END_TEST

/* An order that cannot be improved stays as it is. */
START_TEST(test_keeps_order)
{
    struct builder b = builder_new(64);
    int x = add_step(&b, 10, -1, -1);
    struct schedule_problem p;
    struct schedule s;

    for (int i = 0; i < 10; i++) {
        const int left = add_step(&b, 5, x, -1), right = add_step(&b, 5, x, -1);

        x = add_step(&b, 10, left, right);
    }
    p = problem_of(&b);
    s = check_problem(&p, SCHEDULE_WORK);
    for (int i = 0; i < p.n_tasks; i++)
        ck_assert_int_eq(s.order[i], i);
    ck_assert(s.optimal);
}
END_TEST

/* Without leave to search there is still an order and a bound; with little, none that is worse. */
START_TEST(test_little_work)
{
    for (unsigned seed = 0; seed < 40; seed++) {
        const struct schedule_problem p = random_problem(seed, 60, 12);
        const struct schedule none = check_problem(&p, 0), some = check_problem(&p, 5000),
                              much = check_problem(&p, SCHEDULE_WORK / 20);

        ck_assert_uint_eq(none.peak, none.given_peak);
        ck_assert_uint_le(some.peak, none.peak);
        ck_assert_uint_le(much.lower_bound, some.peak);
        ck_assert_uint_le(some.lower_bound, much.peak);
    }
}
END_TEST

/* Blocks as in test_branches one after the other, and one buffer that is alive from the first to
 * the last, so that nothing cuts them in two. */
static void check_long(int n_blocks, bool optimal)
{
    struct builder b = builder_new(5 * n_blocks + 3);
    int head = add_step(&b, 4, -1, -1), all = head;
    struct schedule_problem p;
    struct schedule s, again;

    for (int block = 0; block < n_blocks; block++) {
        const int left = add_step(&b, 100, head, -1), right = add_step(&b, 100, head, -1);
        const int l = add_step(&b, 8, left, -1), r = add_step(&b, 8, right, -1);

        head = add_step(&b, 4, l, r);
    }
    add_step(&b, 4, head, all);
    p = problem_of(&b);
    s = check_problem(&p, SCHEDULE_WORK);
    ck_assert_uint_eq(s.given_peak, 4 + 100 + 100 + 8);
    ck_assert_uint_eq(s.peak, 4 + 100 + 8 + 8);
    ck_assert_int_eq(s.optimal, optimal);
    again = check_problem(&p, SCHEDULE_WORK);
    ck_assert_mem_eq(s.order, again.order, (size_t)p.n_tasks * sizeof *s.order);
}

START_TEST(test_long)
{
    check_long(40, true);
    check_long(2000, false); /* too long to be proved */
}
END_TEST

START_TEST(test_long_random)
{
    for (unsigned reach = 3; reach < 1000; reach *= 7) {
        const struct schedule_problem p = random_problem(reach, 4000, reach);
        const struct schedule s = check_problem(&p, SCHEDULE_WORK);

        ck_assert_uint_le(s.work, 4 * SCHEDULE_WORK);
    }
}
END_TEST

START_TEST(test_nothing)
{
    const struct schedule_problem p = { NULL, NULL, 0, 0 };
    const struct schedule s = check_problem(&p, SCHEDULE_WORK);

    ck_assert_uint_eq(s.peak, 0);
    ck_assert(s.optimal);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("schedule");
    TCase *tcase = tcase_create("schedule");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 0);
    tcase_add_test(tcase, test_every_order);
    tcase_add_test(tcase, test_branches);
    tcase_add_test(tcase, test_keeps_order);
    tcase_add_test(tcase, test_little_work);
    tcase_add_test(tcase, test_long);
    tcase_add_test(tcase, test_long_random);
    tcase_add_test(tcase, test_nothing);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed > 0;
}
