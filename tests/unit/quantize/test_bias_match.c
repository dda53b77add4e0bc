/* bias_match: the mean behind the activation comes back, whatever has become of the numbers. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "quantize/bias_match.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

enum { N = 500, CHANNELS = 2 };

#define DENSE                                                                                      \
    "fn main(%x: (1,2) f32) -> (%y) {\n"                                                           \
    "  const @w : (2,2) f32 = [1, 2, 3, 4]\n"                                                      \
    "  const @b : (2) f32 = [0.5, -1]\n"                                                           \
    "  %d = nn.dense(%x, @w)\n"                                                                    \
    "  %a = nn.bias_add(%d, @b) {axis=1}\n"

/* Between the product and y. */
static const struct {
    const char *text;
    int n; /* nodes of the activation */
    double low, high, slope;
} cases[] = {
    { DENSE "  %y = nn.relu(%a)\n}\n", 1, 0, INFINITY, 0 },
    { DENSE "  %y = clip(%a) {a_min=0, a_max=1.5}\n}\n", 1, 0, 1.5, 0 },
    { DENSE "  %c = nn.relu(%a)\n  %y = clip(%c) {a_min=-1, a_max=1}\n}\n", 2, 0, 1, 0 },
    { DENSE "  %y = nn.leaky_relu(%a) {alpha=0.1, beta=0}\n}\n", 1, 0, INFINITY, 0.1 },
    { DENSE "  %y = sigmoid(%a)\n}\n", 0, -INFINITY, INFINITY, 0 },
    { DENSE "  %c = nn.relu(%a)\n  %y = add(%c, %a)\n}\n", 0, -INFINITY, INFINITY, 0 },
};

static double own_activation(int row, double x)
{
    if (x < cases[row].low)
        return cases[row].slope > 0 ? cases[row].slope * x : cases[row].low;
    return fmin(x, cases[row].high);
}

static double own_mean(int row, const float *x, double shift)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        sum += own_activation(row, (double)x[i] + shift);
    return sum / N;
}

/* Bell-shaped around `middle`, then smaller and moved, with noise: as weights of few bits make it.
 */
static void make_numbers(float *wanted, float *found, double middle, unsigned seed)
{
    for (int i = 0; i < N; i++) {
        double sum = 0, noise;

        for (int k = 0; k < 12; k++) {
            seed = seed * 1664525u + 1013904223u;
            sum += (double)(seed >> 8) / (1 << 24);
        }
        seed = seed * 1664525u + 1013904223u;
        noise = (double)(seed >> 8) / (1 << 24) - 0.5;
        wanted[i] = (float)(sum - 6 + middle);
        found[i] = (float)(0.7 * (double)wanted[i] + 0.3 * noise + 0.2);
    }
}

static double difference_of(const float *wanted, const float *found)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        sum += (double)wanted[i] - (double)found[i];
    return sum / N;
}

START_TEST(the_mean_behind_the_activation_comes_back)
{
    static const double biases[CHANNELS] = { 0.5, -1 };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, cases[_i].text, 1);
    const struct node *product = module->main->first;
    struct linear linear;
    struct activation activation;
    float wanted[N], found[N];

    ck_assert(linear_of(product, &linear));
    activation = activation_of(product, &linear);
    ck_assert_ptr_nonnull(activation.bias);
    ck_assert_int_eq(activation.n, cases[_i].n);
    for (int c = 0; c < CHANNELS; c++)
        for (int middle = -3; middle <= 3; middle++) {
            double difference, shift;

            make_numbers(wanted, found, middle, (unsigned)(middle + 7));
            difference = difference_of(wanted, found);
            shift = bias_match(&activation, c, wanted, found, N, difference);
            ck_assert_double_eq_tol(own_mean(_i, found, biases[c] + shift),
                                    own_mean(_i, wanted, biases[c]), 1e-9);
            if (!cases[_i].n)
                ck_assert_double_eq(shift, difference);
        }
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Nothing comes through, before and after: the plain difference is as good as any. */
START_TEST(a_dead_channel_stays_dead)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, cases[0].text, 1);
    struct linear linear;
    struct activation activation;
    float wanted[N], found[N];

    ck_assert(linear_of(module->main->first, &linear));
    activation = activation_of(module->main->first, &linear);
    make_numbers(wanted, found, -100, 5);
    ck_assert_double_eq(bias_match(&activation, 0, wanted, found, N, -30.25), -30.25);
    for (int i = 0; i < N; i++)
        found[i] = 1; /* alive by mistake */
    ck_assert_double_eq(own_mean(0, found, 0.5 + bias_match(&activation, 0, wanted, found, N, -1)),
                        0);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bias_match");
    TCase *tcase = tcase_create("bias_match");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, the_mean_behind_the_activation_comes_back, 0,
                        sizeof cases / sizeof *cases);
    tcase_add_test(tcase, a_dead_channel_stays_dead);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
