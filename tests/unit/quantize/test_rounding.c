/* Rounding of weights: the sums that it minimises against outputs of real products, small cases by
 * hand and by trying everything, and what it promises of every row: never worse than nearest. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/gram.h"
#include "quantize/number_format.h"
#include "quantize/rounding.h"
#include "relay_ir/verify.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/network.h"
#include "tests/support/pass_case.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

static bool load(void *user, struct ctx *own, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const struct function *fn = user;
    unsigned seed = (unsigned)index + 1;

    (void)own;
    for (int i = 0; i < fn->n_params; i++) {
        inputs[i] = tensor_new(bulk, &fn->params[i]->type);
        fill_random(&inputs[i], -1, 2, &seed);
    }
    return true;
}

/* --- grids ------------------------------------------------------------------------------------ */

static const char *const formats[] = { "i8",     "i4",     "f8e4m3",     "f8e5m2", "f8e4m3fnuz",
                                       "f8e3m4", "f4e2m1", "afp<4,3,9>", "mxfp6" };

static double random_number(unsigned *seed, double most)
{
    *seed = *seed * 1664525u + 1013904223u;
    return ((double)(*seed >> 8) / (1 << 24) * 2 - 1) * most;
}

START_TEST(grids_hold_what_the_format_rounds_to)
{
    struct arena *arena = &ctx->perm;
    struct number_format format;
    struct grid grid;
    unsigned seed = 1;
    const struct type shape = type_make(DTYPE_F32, 1, (int64_t[]){ 1 });
    struct type type;

    ck_assert(number_format_parse(formats[_i], &format));
    type = number_format_type(&format, &shape, arena);
    grid = grid_of(&type);
    for (int i = 1; i < grid.n; i++)
        ck_assert_double_lt(grid.at[i - 1], grid.at[i]);
    for (int i = 0; i < 2000; i++) {
        const double x = random_number(&seed, number_format_max(&format) * (i % 2 ? 1.2 : 0.01));
        const float numbers[] = { (float)x };
        const int index = grid_nearest(&grid, (double)numbers[0]);
        const double wanted = number_format_round(&format, (double)numbers[0], 1);
        uint8_t code[1];

        ck_assert_msg(grid.at[index] == wanted || fabs(grid.at[index] - (double)numbers[0]) ==
                                                      fabs(wanted - (double)numbers[0]),
                      "%s: %g becomes %g, not %g", formats[_i], x, grid.at[index], wanted);
        number_format_encode(&format, numbers, 1, 1, code);
        if (grid.at[index] == wanted && wanted != 0)
            ck_assert_uint_eq(code[0], grid.code[index]);
    }
}
END_TEST

/* --- by hand ---------------------------------------------------------------------------------- */

static struct grid integers(void)
{
    const struct type type = type_make(DTYPE_I4, 1, (int64_t[]){ 1 });

    return grid_of(&type); /* -7 .. 7 */
}

/* Both weights see the same number: 0.4 + 0.4 is nearer to 1 than to 0, and no nearest rounding
 * sees that. */
START_TEST(one_weight_makes_up_for_the_other)
{
    static const float w[] = { 0.4f, 0.4f }, scales[] = { 1, 1 }, h[] = { 1, 1, 1, 1 };
    const struct grid grid = integers();
    const enum rounding methods[] = { ROUND_ADAROUND, ROUND_GPTQ };

    for (int i = 0; i < 2; i++) {
        uint8_t index[] = { 7, 7 }; /* 0 and 0 */
        struct rows rows = { methods[i], 1, 2, w, scales, h, index, 1, 0, 0, 0 };

        ck_assert(rows_round(ctx, &grid, &rows));
        ck_assert_double_eq_tol(rows.before, 0.64, 1e-6);
        ck_assert_double_eq_tol(rows.after, 0.04, 1e-6);
        ck_assert_int_eq(rows.n_changed, 1);
        ck_assert_double_eq(grid.at[index[0]] + grid.at[index[1]], 1);
    }
}
END_TEST

START_TEST(without_data_nothing_changes)
{
    static const float w[] = { 0.6f, 0.4f }, scales[] = { 1, 1 }, h[4];
    const struct grid grid = integers();
    uint8_t index[] = { 8, 7 };
    struct rows rows = { ROUND_GPTQ, 1, 2, w, scales, h, index, 1, 0, 0, 0 };

    ck_assert(!rows_round(ctx, &grid, &rows));
    rows.method = ROUND_ADAROUND;
    ck_assert(rows_round(ctx, &grid, &rows));
    ck_assert_int_eq(rows.n_changed, 0);
    ck_assert_uint_eq(index[0], 8);
    ck_assert_uint_eq(index[1], 7);
}
END_TEST

/* --- random layers ---------------------------------------------------------------------------- */

enum { ROWS = 6, K = 9, VECTORS = 40 };

struct layer {
    float x[VECTORS][K], w[ROWS * K], scales[ROWS * K], h[K * K];
    uint8_t index[ROWS * K];
};

/* Numbers that depend on each other, and one that is always 0. */
static void make_layer(struct layer *layer, const struct grid *grid, unsigned seed)
{
    for (int v = 0; v < VECTORS; v++) {
        const double common = random_number(&seed, 1);

        for (int i = 0; i < K; i++)
            layer->x[v][i] = i == 4 ? 0 : (float)(common + random_number(&seed, 0.5));
    }
    for (int i = 0; i < K * K; i++) {
        double sum = 0;

        for (int v = 0; v < VECTORS; v++)
            sum += (double)layer->x[v][i / K] * (double)layer->x[v][i % K];
        layer->h[i] = (float)sum;
    }
    for (int i = 0; i < ROWS * K; i++) {
        layer->w[i] = (float)random_number(&seed, 1);
        layer->scales[i] = (float)(1 / grid->at[grid->n - 1]);
        layer->index[i] = (uint8_t)grid_nearest(grid, (double)(layer->w[i] / layer->scales[i]));
    }
}

/* |x (w - q)|^2 over the vectors. */
static double error_of_row(const struct layer *layer, const struct grid *grid, int row,
                           const uint8_t *index)
{
    double sum = 0;

    for (int v = 0; v < VECTORS; v++) {
        double y = 0;

        for (int i = 0; i < K; i++)
            y += (double)layer->x[v][i] * ((double)layer->w[row * K + i] -
                                           (double)layer->scales[row * K + i] * grid->at[index[i]]);
        sum += y * y;
    }
    return sum;
}

/* Of all 2^K ways to go up or down from each weight. */
static double least_error(const struct layer *layer, const struct grid *grid, int row)
{
    double least = INFINITY;

    for (int ways = 0; ways < 1 << K; ways++) {
        uint8_t index[K];

        for (int i = 0; i < K; i++) {
            const double x = (double)layer->w[row * K + i] / (double)layer->scales[row * K + i];
            int low = 0;

            while (low + 1 < grid->n && grid->at[low + 1] <= x)
                low++;
            index[i] = (uint8_t)(low + ((ways >> i & 1) && low + 1 < grid->n));
        }
        least = fmin(least, error_of_row(layer, grid, row, index));
    }
    return least;
}

struct random_case {
    const char *format;
    enum rounding method;
};

static const struct random_case random_cases[] = {
    { "i4", ROUND_ADAROUND },     { "i4", ROUND_GPTQ },     { "i8", ROUND_ADAROUND },
    { "i8", ROUND_GPTQ },         { "f8e4m3", ROUND_GPTQ }, { "f8e4m3", ROUND_ADAROUND },
    { "f4e2m1", ROUND_ADAROUND }, { "f4e2m1", ROUND_GPTQ }, { "afp<2,1,2>", ROUND_GPTQ },
};

START_TEST(no_row_becomes_worse_than_nearest)
{
    const struct random_case *c = &random_cases[_i];
    const struct type shape = type_make(DTYPE_F32, 1, (int64_t[]){ 1 });
    struct number_format format;
    double nearest = 0, chosen = 0, least = 0;
    struct type type;
    struct grid grid;

    ck_assert(number_format_parse(c->format, &format));
    type = number_format_type(&format, &shape, &ctx->perm);
    grid = grid_of(&type);
    for (unsigned seed = 1; seed <= 20; seed++) {
        static struct layer layer, was;
        struct rows rows = { c->method,     ROWS, K, layer.w, layer.scales, layer.h, layer.index,
                             (int)seed % 3, 0,    0, 0 };
        double before = 0, after = 0;

        make_layer(&layer, &grid, seed);
        was = layer;
        ck_assert(rows_round(ctx, &grid, &rows));
        for (int row = 0; row < ROWS; row++) {
            const double then = error_of_row(&was, &grid, row, was.index + row * K);
            const double now = error_of_row(&layer, &grid, row, layer.index + row * K);

            ck_assert_double_le(now, then * (1 + 1e-5) + 1e-9);
            before += then;
            after += now;
            if (c->method == ROUND_ADAROUND) {
                const double best = least_error(&layer, &grid, row);

                ck_assert_double_ge(now, best * (1 - 1e-5) - 1e-9);
                least += best;
            }
        }
        ck_assert_double_eq_tol(rows.before, before, 1e-4 * before + 1e-9);
        ck_assert_double_eq_tol(rows.after, after, 1e-4 * before + 1e-9);
        nearest += before;
        chosen += after;
    }
    /* what numbers have in common is most of the energy here, and can be made up for */
    ck_assert_double_lt(chosen, 0.35 * nearest);
    if (c->method == ROUND_ADAROUND) /* descent is no search of all ways, but comes near */
        ck_assert_double_lt(chosen - least, 0.15 * (nearest - least));
}
END_TEST

/* --- what products read ----------------------------------------------------------------------- */

static const char *const products[] = {
    "fn main(%x: (1,3,6,5) f32) -> (%y) {\n"
    "  const @w : (4,3,3,2) f32 = crc32:00000000\n"
    "  %y = nn.conv2d(%x, @w) {strides=[2,1], padding=[1,0,1,1], dilation=[1,2], groups=1, "
    "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : "
    "(1,4,3,4) f32\n}\n",
    "fn main(%x: (2,4,5,5) f32) -> (%y) {\n"
    "  const @w : (8,2,3,3) f32 = crc32:00000000\n"
    "  %y = nn.conv2d(%x, @w) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=2, "
    "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : "
    "(2,8,5,5) f32\n}\n",
    "fn main(%x: (1,3,9) f32) -> (%y) {\n"
    "  const @w : (3,1,4) f32 = crc32:00000000\n"
    "  %y = nn.conv1d(%x, @w) {strides=[2], padding=[2,1], dilation=[1], groups=3, "
    "data_layout=\"NCW\", kernel_layout=\"OIW\"} : "
    "(1,3,5) f32\n}\n",
    "fn main(%x: (1,2,3,4,3) f32) -> (%y) {\n"
    "  const @w : (3,2,2,1,3) f32 = crc32:00000000\n"
    "  %y = nn.conv3d(%x, @w) {strides=[1,1,1], padding=[0,0,1,1,0,1], dilation=[1,1,1], "
    "groups=1, data_layout=\"NCDHW\", kernel_layout=\"OIDHW\"} : (1,3,3,4,3) f32\n}\n",
    "fn main(%x: (3,5) f32) -> (%y) {\n"
    "  const @w : (4,5) f32 = crc32:00000000\n"
    "  %y = nn.dense(%x, @w) : (3,4) f32\n}\n",
    "fn main(%x: (2,3,5) f32) -> (%y) {\n"
    "  const @w : (5,4) f32 = crc32:00000000\n"
    "  %y = nn.matmul(%x, @w) {transpose_a=false, transpose_b=false} : (2,3,4) f32\n}\n",
    "fn main(%x: (2,3,5) f32) -> (%y) {\n"
    "  const @w : (4,5) f32 = crc32:00000000\n"
    "  %y = nn.matmul(%x, @w) {transpose_a=false, transpose_b=true} : (2,3,4) f32\n}\n",
};

enum { SAMPLES = 7 };

/* The product with the weights w gives results of energy w H w. */
START_TEST(sums_foretell_the_energy_of_results)
{
    struct module *module = graph_parse(ctx, products[_i], 3);
    const struct node *product = module->main->ret->inputs[0]->def;
    const struct calibration_source source = { SAMPLES, load, module->main };
    const struct quantize_options options = { .samples = &source, .n_threads = 1 + _i % 3 };
    struct quantization q = { .module = module, .ctx = ctx, .options = &options };
    struct gram gram;
    const float *w = product->inputs[1]->data;
    double foretold = 0, found = 0;

    ck_assert(gram_prepare(product, &gram));
    ck_assert_msg(grams_collect(&q, &gram, 1, true, &ctx->perm), "%s", expect_text(ctx));
    for (int64_t o = 0; o < gram.linear.out_c; o++) {
        const int64_t group = o / (gram.linear.out_c / gram.linear.groups);

        for (int64_t i = 0; i < gram.k; i++)
            for (int64_t j = 0; j < gram.k; j++) {
                const bool in_first = gram.linear.in_first;
                const double a = (double)w[in_first ? i * gram.linear.out_c + o : o * gram.k + i];
                const double b = (double)w[in_first ? j * gram.linear.out_c + o : o * gram.k + j];

                foretold += a * b * (double)gram.sums[(group * gram.k + i) * gram.k + j];
            }
    }
    for (int s = 0; s < SAMPLES; s++) {
        struct tensor inputs[1], outputs[1];
        struct bulk bulk = { 0 };

        ck_assert(load(module->main, ctx, &bulk, s, inputs));
        ck_assert(interpret(ctx, module->main, inputs, outputs, &bulk, NULL));
        for (int64_t i = 0; i < type_elements(&outputs[0].type); i++)
            found += pow(tensor_at(&outputs[0], i), 2);
        bulk_release(&bulk);
    }
    ck_assert_double_gt(found, 0);
    ck_assert_double_eq_tol(foretold, found, 1e-4 * found);
    module_free(module);
}
END_TEST

/* --- the step --------------------------------------------------------------------------------- */

static const char network[] =
    "fn main(%x: (1,3,8,8) f32) -> (%y) {\n"
    "  const @w1 : (8,3,3,3) f32 = crc32:00000000\n"
    "  const @w2 : (8,1,3,3) f32 = crc32:00000000\n"
    "  const @w3 : (6,8,1,1) f32 = crc32:00000000\n"
    "  const @w4 : (5,384) f32 = crc32:00000000\n"
    "  %a = nn.conv2d(%x, @w1) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, "
    "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : "
    "(1,8,8,8) f32\n"
    "  %b = nn.relu(%a) : (1,8,8,8) f32\n"
    "  %c = nn.conv2d(%b, @w2) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=8, "
    "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : "
    "(1,8,8,8) f32\n"
    "  %d = nn.relu(%c) : (1,8,8,8) f32\n"
    "  %e = nn.conv2d(%d, @w3) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, "
    "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : "
    "(1,6,8,8) f32\n"
    "  %f = reshape(%e) {shape=[1,384]} : (1,384) f32\n"
    "  %y = nn.dense(%f, @w4) : (1,5) f32\n"
    "}\n";

static struct module *round_network(const char *precision, enum rounding method, int n_threads,
                                    struct quantize_report *report)
{
    const struct pipeline_options pipeline = { .log = stderr };
    struct module *module = graph_parse(ctx, network, 5);
    const struct calibration_source source = { 24, load, module->main };
    struct quantize_options options = {
        .samples = &source, .n_threads = n_threads, .round = method, .simulate_only = true
    };

    ck_assert(precision_parse(ctx, "test", precision, &options.precision));
    ck_assert_msg(quantize_module(module, &options, &pipeline, report), "%s", expect_text(ctx));
    ck_assert(module_verify(module, "round"));
    return module;
}

struct step_case {
    const char *precision;
    enum rounding method;
    int n_least; /* products that change */
};

static const struct step_case step_cases[] = {
    { "int8w=i4", ROUND_GPTQ, 3 },     { "int8w=i4", ROUND_ADAROUND, 4 },
    { "int8", ROUND_GPTQ, 3 },         { "fp8w=f8e4m3", ROUND_ADAROUND, 4 },
    { "fp8=f8e4m3", ROUND_GPTQ, 4 },   { "mxfp4", ROUND_GPTQ, 4 },
    { "afp=afp<2,1>", ROUND_GPTQ, 4 }, { "afp=afp4", ROUND_ADAROUND, 3 },
};

START_TEST(results_are_nearer_with_codes_of_the_same_format)
{
    const struct step_case *c = &step_cases[_i];
    struct quantize_report report, again;
    struct module *one = round_network(c->precision, c->method, 1, &report);
    struct module *three = round_network(c->precision, c->method, 3, &again);

    ck_assert_int_ge(report.n_rounded, c->n_least);
    ck_assert(!report.is_unrounded);
    ck_assert_double_lt(report.round_after, report.round_before);
    ck_assert_str_eq(graph_text(one, true), graph_text(three, true)); /* whatever the threads */
    module_free(one);
    module_free(three);
}
END_TEST

/* Half floats are left alone. */
START_TEST(halves_stay_as_they_are)
{
    struct quantize_report report;
    struct module *module = round_network("f16w", ROUND_GPTQ, 1, &report);

    ck_assert_int_eq(report.n_rounded, 0);
    ck_assert_int_eq(report.n_unrounded, 4);
    module_free(module);
}
END_TEST

/* --- smoothing -------------------------------------------------------------------------------- */

/* Channel 2 of the norm is 60 times as great as the others, and its weights are small. */
static const char transformer[] =
    "fn main(%x: (1,6,4) f32) -> (%y, %z) {\n"
    "  const @g : (4) f32 = [1, 1, 60, 1]\n"
    "  const @b : (4) f32 = [0, 0.5, 3, 0]\n"
    "  const @w : (4,3) f32 = [1, -1, 0.5, 0.25, 1, 1, 0.01, -0.02, 0.01, 1, 0.5, -0.75]\n"
    "  const @v : (2,4) f32 = [0.5, 1, 0.02, -1, 1, -0.5, 0.01, 1]\n"
    "  %n = nn.layer_norm(%x, @g, @b) {axis=2, groups=0, epsilon=0.00001} : (1,6,4) f32\n"
    "  %y = nn.matmul(%n, @w) {transpose_a=false, transpose_b=false} : (1,6,3) f32\n"
    "  %r = reshape(%n) {shape=[6,4]} : (6,4) f32\n"
    "  %z = nn.dense(%r, @v) : (6,2) f32\n"
    "}\n";

/* Two products read the norm. What the first one gains by smoothing is great, but goes into the
 * result in a millionth; what the second one, which is all of it, loses is less. */
static const char unheard[] =
    "fn main(%x: (1,6,4) f32) -> (%h) {\n"
    "  const @g : (4) f32 = [1, 1, 3, 1]\n"
    "  const @b : (4) f32 = [0, 0.5, 0, 0]\n"
    "  const @w : (4,3) f32 = [100, -100, 50, 25, 100, 100, 0.01, -0.02, 0.01, 100, 50, -75]\n"
    "  const @v : (4,3) f32 = [0.5, 1, 1, -1, 0.75, 1, 0.5, -0.5, 0.25, 1, -1, 0.5]\n"
    "  const @s : (1) f32 = [0.000001]\n"
    "  %n = nn.layer_norm(%x, @g, @b) {axis=2, groups=0, epsilon=0.00001} : (1,6,4) f32\n"
    "  %y = nn.matmul(%n, @w) {transpose_a=false, transpose_b=false} : (1,6,3) f32\n"
    "  %z = nn.matmul(%n, @v) {transpose_a=false, transpose_b=false} : (1,6,3) f32\n"
    "  %m = multiply(%y, @s) : (1,6,3) f32\n"
    "  %h = add(%m, %z) : (1,6,3) f32\n"
    "}\n";

static struct module *smooth_network(const char *text, const char *precision, double smooth,
                                     struct quantize_report *report)
{
    const struct pipeline_options pipeline = { .log = stderr };
    struct module *module = graph_parse(ctx, text, 5);
    const struct calibration_source source = { 16, load, module->main };
    struct quantize_options options = {
        .samples = &source, .n_threads = 2, .smooth = smooth, .simulate_only = true
    };

    ck_assert(precision_parse(ctx, "test", precision, &options.precision));
    ck_assert_msg(quantize_module(module, &options, &pipeline, report), "%s", expect_text(ctx));
    return module;
}

START_TEST(smoothing_makes_results_nearer)
{
    struct module *was = graph_parse(ctx, transformer, 5);
    struct quantize_report report;
    struct module *plain = smooth_network(transformer, "int8", 0, &report), *smooth;
    struct bulk bulk = { 0 };
    const struct tensor *wanted = graph_run(was, 9, &bulk), *rough = graph_run(plain, 9, &bulk),
                        *fine;

    ck_assert_int_eq(report.n_smoothed, 0);
    smooth = smooth_network(transformer, "int8", 0.5, &report);
    fine = graph_run(smooth, 9, &bulk);
    ck_assert_int_eq(report.n_smoothed, 1);
    ck_assert_int_eq(report.n_unsmoothed, 0);
    ck_assert(!report.is_roughened);
    ck_assert_double_lt(report.smooth_after, report.smooth_before);
    ck_assert_double_lt(graph_difference(fine, wanted, 2),
                        0.5 * graph_difference(rough, wanted, 2));
    bulk_release(&bulk);
    module_free(was);
    module_free(plain);
    module_free(smooth);
}
END_TEST

START_TEST(smoothing_is_taken_back_where_the_network_loses)
{
    struct quantize_report report;
    struct module *plain = smooth_network(unheard, "int8", 0, &report);
    struct module *smooth = smooth_network(unheard, "int8", 0.5, &report);

    ck_assert(report.is_roughened);
    ck_assert_double_gt(report.smooth_after, report.smooth_before);
    ck_assert_int_eq(report.n_smoothed, 0);
    ck_assert_int_eq(report.n_unsmoothed, 1);
    ck_assert_str_eq(graph_text(smooth, true), graph_text(plain, true));
    module_free(plain);
    module_free(smooth);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rounding");
    TCase *tcase = tcase_create("rounding");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, grids_hold_what_the_format_rounds_to, 0, N_ROWS(formats));
    tcase_add_test(tcase, one_weight_makes_up_for_the_other);
    tcase_add_test(tcase, without_data_nothing_changes);
    tcase_add_loop_test(tcase, no_row_becomes_worse_than_nearest, 0, N_ROWS(random_cases));
    tcase_add_loop_test(tcase, sums_foretell_the_energy_of_results, 0, N_ROWS(products));
    tcase_add_loop_test(tcase, results_are_nearer_with_codes_of_the_same_format, 0,
                        N_ROWS(step_cases));
    tcase_add_test(tcase, halves_stay_as_they_are);
    tcase_add_test(tcase, smoothing_makes_results_nearer);
    tcase_add_test(tcase, smoothing_is_taken_back_where_the_network_loses);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
