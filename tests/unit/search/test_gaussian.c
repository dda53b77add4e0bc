/* The Gaussian process: it goes through what was seen, doubts what is far from it, and finds the
 * least of functions with fewer looks than a grid has points. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "search/gaussian.h"

static struct arena arena;

static void set_up(void)
{
    arena = (struct arena){ NULL };
}

static void tear_down(void)
{
    arena_release(&arena);
}

static double smooth(double x, double y)
{
    return sin(3 * x) + (y - 0.3) * (y - 0.3);
}

START_TEST(what_was_seen_is_known)
{
    double points[12][2], values[12], mean, deviation;
    struct gaussian g = { .n = 12, .dims = 2, .points = &points[0][0], .values = values };

    for (int i = 0; i < 12; i++) {
        points[i][0] = i % 4 / 3.0;
        points[i][1] = i / 4 / 2.0;
        values[i] = smooth(points[i][0], points[i][1]);
    }
    gaussian_fit(&g, &arena);
    for (int i = 0; i < 12; i++) {
        gaussian_predict(&g, points[i], &mean, &deviation);
        ck_assert_double_eq_tol(mean, values[i], 1e-3);
        ck_assert_double_lt(deviation, 1e-3);
        ck_assert_double_lt(gaussian_improvement(&g, points[i], -2), 1e-3);
    }
    gaussian_predict(&g, (double[]){ 0.5, 0.25 }, &mean, &deviation);
    ck_assert_double_eq_tol(mean, smooth(0.5, 0.25), 0.1);
    gaussian_predict(&g, (double[]){ 50, 50 }, &mean, &deviation);
    ck_assert_double_eq_tol(mean, g.mean, 1e-6);
    ck_assert_double_eq_tol(deviation, g.scale, 1e-6);
}
END_TEST

/* By the definition: mean = k' K^-1 y, by Gauss elimination, of two points. */
START_TEST(two_points_are_as_by_hand)
{
    const double points[] = { 0, 1 }, values[] = { -1, 1 };
    struct gaussian g = { .n = 2, .dims = 1, .points = points, .values = values };
    double mean, deviation, r, k1, k2, c;

    gaussian_fit(&g, &arena);
    r = sqrt(5) / g.length;
    c = (1 + r + r * r / 3) * exp(-r);
    r = sqrt(5) * 0.25 / g.length;
    k1 = (1 + r + r * r / 3) * exp(-r);
    r = sqrt(5) * 0.75 / g.length;
    k2 = (1 + r + r * r / 3) * exp(-r);
    gaussian_predict(&g, (double[]){ 0.25 }, &mean, &deviation);
    ck_assert_double_eq_tol(mean, (k2 - k1) / (1 - c), 1e-5);
    ck_assert_double_eq_tol(deviation,
                            sqrt(1 - (k1 * k1 + k2 * k2 - 2 * c * k1 * k2) / (1 - c * c)), 1e-5);
}
END_TEST

START_TEST(equal_values_and_equal_points_are_fine)
{
    const double points[] = { 0.5, 0.5, 0.5 }, values[] = { 2, 2, 2 };
    struct gaussian g = { .n = 3, .dims = 1, .points = points, .values = values };
    double mean, deviation;

    gaussian_fit(&g, &arena);
    gaussian_predict(&g, (double[]){ 0.1 }, &mean, &deviation);
    ck_assert_double_eq_tol(mean, 2, 1e-9);
    ck_assert(isfinite(deviation));
}
END_TEST

/* 441 points, of which it may look at 25. */
START_TEST(it_finds_the_least)
{
    double points[25][2] = { { 0, 0 }, { 1, 1 }, { 0, 1 }, { 1, 0 } }, values[25], least = 1e9;

    for (int n = 0; n < 25; n++) {
        struct gaussian g = { .n = n, .dims = 2, .points = &points[0][0], .values = values };
        double best = -1;

        if (n >= 4) {
            gaussian_fit(&g, &arena);
            for (int i = 0; i < 441; i++) {
                const double point[] = { i % 21 / 20.0, i / 21 / 20.0 };
                const double gain = gaussian_improvement(&g, point, least);

                if (gain > best) {
                    best = gain;
                    points[n][0] = point[0];
                    points[n][1] = point[1];
                }
            }
        }
        values[n] = cos(9 * points[n][0]) + smooth(points[n][0], points[n][1]);
        least = fmin(least, values[n]);
    }
    for (int i = 0; i < 441; i++)
        ck_assert_double_le(least,
                            cos(9 * (i % 21 / 20.0)) + smooth(i % 21 / 20.0, i / 21 / 20.0) + 1e-2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gaussian");
    TCase *tcase = tcase_create("gaussian");
    SRunner *runner;
    int n_failed;

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, what_was_seen_is_known);
    tcase_add_test(tcase, two_points_are_as_by_hand);
    tcase_add_test(tcase, equal_values_and_equal_points_are_fine);
    tcase_add_test(tcase, it_finds_the_least);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
