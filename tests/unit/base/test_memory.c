/* base/memory.c: what an owner owns goes when memory ends, in the right order, and nothing else. */
#include <check.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/memory.h"

enum { N = 3000 };

static int released[N], n_released;

static void note(void *key, size_t size)
{
    ck_assert_uint_eq(size, 7);
    released[n_released++] = *(const int *)key;
}

static int numbers[N];

static struct memory_owner *new_owner(void)
{
    struct memory_owner *owner = memory_owner_new();

    ck_assert_ptr_nonnull(owner);
    n_released = 0;
    for (int i = 0; i < N; i++)
        numbers[i] = i;
    return owner;
}

static void own(int first, int end)
{
    for (int i = first; i < end; i++)
        memory_own(&numbers[i], note, 7);
}

static void own_ten(void *user)
{
    (void)user;
    own(0, 10);
}

static void own_and_fail(void *user)
{
    own(10, 20);
    memory_disown(&numbers[13]);
    memory_disown(&numbers[2]);  /* of before: gone, whatever comes */
    memory_disown(&numbers[99]); /* nobody's */
    out_of_memory(*(const size_t *)user);
}

START_TEST(a_failure_releases_what_came_since_and_the_newest_first)
{
    static const int wanted[] = { 19, 18, 17, 16, 15, 14, 12, 11, 10 };
    struct memory_owner *owner = new_owner();
    size_t bytes = 0, given = 12345;

    ck_assert(memory_guard(owner, own_ten, NULL, &bytes));
    ck_assert_uint_eq(memory_owner_count(owner), 10);
    ck_assert(!memory_guard(owner, own_and_fail, &given, &bytes));
    ck_assert_uint_eq(bytes, 12345);
    ck_assert_int_eq(n_released, 9);
    for (int i = 0; i < 9; i++)
        ck_assert_int_eq(released[i], wanted[i]);
    ck_assert_uint_eq(memory_owner_count(owner), 9);
    ck_assert_ptr_null(memory_current());
    ck_assert(memory_guard(owner, own_ten, NULL, &bytes)); /* it can go on */
    memory_owner_free(owner);
    ck_assert_int_eq(n_released, 9 + 19);
}
END_TEST

static void own_all(void *user)
{
    (void)user;
    own(0, N);
    for (int i = 1; i < N; i += 2)
        memory_disown(&numbers[i]);
    own(0, 0);
}

START_TEST(many_resources_are_found_again)
{
    struct memory_owner *owner = new_owner();
    size_t bytes;

    ck_assert(memory_guard(owner, own_all, NULL, &bytes));
    ck_assert_uint_eq(memory_owner_count(owner), N / 2);
    memory_owner_free(owner);
    ck_assert_int_eq(n_released, N / 2);
    for (int i = 0; i < N / 2; i++)
        ck_assert_int_eq(released[i], N - 2 - 2 * i);
}
END_TEST

static int fds[2];

static void acquire(void *user)
{
    struct ctx *ctx = ctx_new(NULL);
    struct bulk bulk = { 0 };

    ck_assert_int_eq(pipe(fds), 0);
    memory_own_fd(fds[0]);
    memory_own_fd(fds[1]);
    ck_assert_int_eq(memory_close(fds[1]), 0);
    arena_alloc(&ctx->perm, 1 << 20);
    bulk_alloc(&bulk, 1000);
    if (user)
        arena_alloc_array(&ctx->perm, SIZE_MAX, 2);
    bulk_release(&bulk);
    ck_assert_int_eq(memory_close(fds[0]), 0);
    ctx_free(ctx);
}

START_TEST(arenas_bulk_and_descriptors_are_resources)
{
    struct memory_owner *owner = new_owner();
    size_t bytes;

    ck_assert(memory_guard(owner, acquire, NULL, &bytes));
    ck_assert_uint_eq(memory_owner_count(owner), 0);
    ck_assert(!memory_guard(owner, acquire, owner, &bytes));
    ck_assert_uint_eq(bytes, SIZE_MAX);
    ck_assert_uint_eq(memory_owner_count(owner), 0);
    ck_assert_int_eq(close(fds[0]), -1);
    memory_owner_free(owner);
}
END_TEST

/* --- threads ---------------------------------------------------------------------------------- */

static void fail_here(void *user)
{
    own(20, 25);
    out_of_memory(*(const size_t *)user);
}

static void *run_thread(void *user)
{
    static size_t bytes = 99;

    ck_assert(!memory_attempt(user, fail_here, &bytes));
    ck_assert_ptr_null(memory_current());
    return NULL;
}

static int n_steps;

static void start_thread(void *user)
{
    pthread_t thread;

    (void)user;
    own(0, 5);
    ck_assert_int_eq(pthread_create(&thread, NULL, run_thread, memory_current()), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(n_released, 0); /* others may still use what it has made */
    n_steps++;
    memory_check();
    n_steps++;
}

START_TEST(the_failure_of_a_thread_is_that_of_its_owner)
{
    struct memory_owner *owner = new_owner();
    size_t bytes;

    n_steps = 0;
    ck_assert(!memory_guard(owner, start_thread, NULL, &bytes));
    ck_assert_int_eq(n_steps, 1);
    ck_assert_uint_eq(bytes, 99);
    ck_assert_int_eq(n_released, 10);
    memory_owner_free(owner);
}
END_TEST

START_TEST(without_an_owner_nothing_is_noted)
{
    struct memory_owner *owner = new_owner(); /* not this thread's */

    own(0, 5);
    memory_disown(&numbers[0]);
    memory_check();
    ck_assert(memory_attempt(NULL, own_ten, NULL));
    ck_assert_uint_eq(memory_owner_count(owner), 0);
    memory_owner_free(owner);
    ck_assert_int_eq(n_released, 0);
}
END_TEST

START_TEST(without_an_owner_the_process_ends)
{
    out_of_memory(1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tcase = tcase_create("memory");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tcase, a_failure_releases_what_came_since_and_the_newest_first);
    tcase_add_test(tcase, many_resources_are_found_again);
    tcase_add_test(tcase, arenas_bulk_and_descriptors_are_resources);
    tcase_add_test(tcase, the_failure_of_a_thread_is_that_of_its_owner);
    tcase_add_test(tcase, without_an_owner_nothing_is_noted);
    tcase_add_exit_test(tcase, without_an_owner_the_process_ends, 3);
    suite_add_tcase(suite, tcase);
    srunner_set_fork_status(runner, CK_FORK); /* tests end the process */
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
