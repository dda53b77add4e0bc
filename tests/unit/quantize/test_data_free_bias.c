/* Bias correction without data: what batch norms say of the numbers behind them, by formula and by
 * sampling, and what goes into biases for it. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "quantize/expectation.h"
#include "quantize/layer_mean.h"
#include "relay_ir/verify.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

/* --- formulas --------------------------------------------------------------------------------- */

/* The first two moments, by adding up thin slices. */
static void integrate(const struct clipped_normal *x, double slope, double *mean, double *variance)
{
    enum { SLICES = 200000 };
    double weights = 0, sum = 0, squares = 0;

    for (int i = 0; i < SLICES; i++) {
        const double z = 9 * (2 * (i + 0.5) / SLICES - 1), weight = exp(-z * z / 2);
        double y = fmin(fmax(x->mean + z * x->deviation, x->low), x->high);

        y = y < 0 ? slope * y : y;
        weights += weight;
        sum += weight * y;
        squares += weight * y * y;
    }
    *mean = sum / weights;
    *variance = squares / weights - *mean * *mean;
}

static const struct clipped_normal normals[] = {
    { 0, 1, -INFINITY, INFINITY },
    { 3, 2, -INFINITY, INFINITY },
    { 0, 1, 0, INFINITY },
    { 1.5, 0.7, 0, 6 },
    { -4, 1, 0, 6 },
    { 9, 1, 0, 6 },
    { 2, 3, -1, 1 },
    { -0.3, 0.2, -INFINITY, -0.2 },
    { 5, 0, 0, 4 },
    { 5, 0, 0, 6 },
    { 0.25, 1e-6, 0, 6 },
    { -2, 5, -3, INFINITY },
};

START_TEST(moments_are_those_of_the_integral)
{
    const struct clipped_normal *x = &normals[_i];
    const struct clipped_normal leaky = clipped_leaky(x, 0.25);
    double mean, variance;

    integrate(x, 1, &mean, &variance);
    ck_assert_double_eq_tol(clipped_mean(x), mean, 1e-6);
    ck_assert_double_eq_tol(clipped_variance(x), variance, 1e-5);
    integrate(x, 0.25, &mean, &variance);
    ck_assert_double_eq_tol(clipped_mean(&leaky), mean, 1e-6);
    ck_assert_double_eq_tol(clipped_variance(&leaky), variance, 1e-5);
    ck_assert(isinf(leaky.low) && isinf(leaky.high));
}
END_TEST

START_TEST(clips_and_lines_are_exact)
{
    const struct clipped_normal x = normal_of(2, 3);
    struct clipped_normal y = clipped_clip(&x, -1, 5);

    y = clipped_linear(&y, -2, 1); /* 1 - 2 * [-1, 5] */
    ck_assert_double_eq(y.mean, -3);
    ck_assert_double_eq(y.deviation, 6);
    ck_assert_double_eq(y.low, -9);
    ck_assert_double_eq(y.high, 3);
    y = clipped_clip(&y, 4, 7); /* all of it lies below */
    ck_assert_double_eq(clipped_mean(&y), 4);
    ck_assert_double_eq_tol(clipped_variance(&y), 0, 1e-12);
    y = clipped_linear(&x, 0, 5);
    ck_assert_double_eq(clipped_mean(&y), 5);
}
END_TEST

/* --- through the graph ------------------------------------------------------------------------ */

/* x is standard normal, so a batch norm that has seen a mean of 0 and a variance of 1 gives what it
 * says it gives; the numbers of all values are compared with what is expected of them. */
#define HEAD                                                                                       \
    "fn main(%x: (1,4,40,40) f32, %y: (1,4,40,40) f32) -> (%z) {\n"                                \
    "  const @gamma : (4) f32 = [1, -2, 0.5, 0.25]\n"                                              \
    "  const @beta : (4) f32 = [0.5, 1, -0.25, 3]\n"                                               \
    "  const @zero : (4) f32 = [1e-20, 1e-20, 1e-20, 1e-20]\n"                                     \
    "  const @one : (4) f32 = [1, 1, 1, 1]\n"                                                      \
    "  const @c : (4,1,1) f32 = [2, -1, 0.5, 3]\n"                                                 \
    "  const @half : () f32 = [0.5]\n"                                                             \
    "  %n = nn.batch_norm(%x, @gamma, @beta, @zero, @one) {axis=1, epsilon=0} "                    \
    ": (1,4,40,40) f32\n"                                                                          \
    "  %m = nn.batch_norm(%y, @beta, @gamma, @zero, @one) {axis=1, epsilon=0} "                    \
    ": (1,4,40,40) f32\n"
#define MAP " : (1,4,40,40) f32\n"

static const struct {
    const char *text;
    int known; /* values but the batch norms' */
} graphs[] = {
    { HEAD "  %a = nn.relu(%n)" MAP "  %b = clip(%m) {a_min=-1, a_max=1}" MAP
           "  %z = add(%a, %b)" MAP "}\n",
      3 },
    { HEAD "  %a = nn.relu(%n)" MAP "  %b = minimum(%a, @c)" MAP "  %d = maximum(%b, @half)" MAP
           "  %z = subtract(@half, %d)" MAP "}\n",
      4 },
    { HEAD "  %l = clip(%n) {a_min=-9, a_max=1}" MAP "  %a = multiply(%l, @c)" MAP
           "  %b = divide(%a, @half)" MAP "  %d = nn.bias_add(%b, @beta) {axis=1}" MAP
           "  %e = add(%d, @half)" MAP "  %z = nn.relu(%e)" MAP "}\n",
      6 },
    { HEAD "  %a = nn.leaky_relu(%n) {alpha=0.1, beta=0}" MAP "  %b = nn.prelu(%m, @c)" MAP
           "  %d = subtract(%a, %b)" MAP "  %z = nn.silu(%d)" MAP "}\n",
      4 },
    { HEAD "  %a = sigmoid(%n)" MAP "  %b = nn.hard_swish(%m)" MAP
           "  %d = concatenate(%a, %b) {axis=1} : (1,8,40,40) f32\n"
           "  %e, %f = split(%d) {axis=1, sizes=[3,5]} : (1,3,40,40) f32, (1,5,40,40) f32\n"
           "  %g = strided_slice(%f) {begin=[0,1,0,0], strides=[1,2,1,1], size=[1,2,40,40]} "
           ": (1,2,40,40) f32\n"
           "  %z = concatenate(%g, %e) {axis=1} : (1,5,40,40) f32\n}\n",
      7 },
    { HEAD "  %a = nn.relu(%n)" MAP
           "  %b = nn.avg_pool2d(%a) {pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], "
           "dilation=[1,1]} : (1,4,20,20) f32\n"
           "  %d = transpose(%b) {axes=[0,2,3,1]} : (1,20,20,4) f32\n"
           "  %e = transpose(%d) {axes=[0,3,1,2]} : (1,4,20,20) f32\n"
           "  %f = reshape(%e) {shape=[4,400]} : (4,400) f32\n"
           "  %g = reshape(%f) {shape=[1,4,400]} : (1,4,400) f32\n"
           "  %h = expand_dims(%g) {axes=[0]} : (1,1,4,400) f32\n"
           "  %i = squeeze(%h) {axes=[1]} : (1,4,400) f32\n"
           "  %z = mean(%i) {axis=[2], keepdims=false} : (1,4) f32\n}\n",
      9 },
    { HEAD "  %a = nn.global_avg_pool(%n) : (1,4,1,1) f32\n"
           "  %z = reshape(%a) {shape=[1,4]} : (1,4) f32\n}\n",
      2 },
    { HEAD "  %a = reshape(%n) {shape=[1,6400]} : (1,6400) f32\n  %z = abs(%a) : (1,6400) f32\n}\n",
      2 },
    /* Nothing is known of maxima, products of two, softmax, what is added along another shape. */
    { HEAD "  %a = multiply(%n, %m)" MAP "  %b = maximum(%n, %m)" MAP "  %d = add(%a, %b)" MAP
           "  %e = nn.softmax(%n) {axis=1}" MAP "  %f = add(%e, %d)" MAP
           "  %g = mean(%n) {axis=[1], keepdims=true} : (1,1,40,40) f32\n"
           "  %h = nn.max_pool2d(%n) {pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], "
           "dilation=[1,1]} : (1,4,20,20) f32\n"
           "  %i = nn.global_max_pool(%h) : (1,4,1,1) f32\n"
           "  %z = add(%f, %i)" MAP "}\n",
      0 },
};

struct check {
    const struct expectation **known;
    int n;
};

static void compare(void *user, const struct value *value, const struct tensor *tensor)
{
    struct check *check = user;
    const struct expectation *e = check->known[value->id];
    const struct type *type = &tensor->type;
    int64_t inner, count;
    double *sums;

    if (!e)
        return;
    check->n++;
    ck_assert_int_eq(e->n, type->dim[e->axis]);
    inner = type_span(type, e->axis + 1, type->rank);
    count = type_elements(type) / e->n;
    sums = arena_array(&ctx->perm, double, e->n);
    for (int64_t i = 0; i < type_elements(type); i++)
        sums[i / inner % e->n] += tensor_at(tensor, i);
    for (int64_t c = 0; c < e->n && count > 1; c++)
        ck_assert_msg(fabs(sums[c] / (double)count - clipped_mean(&e->channels[c])) <
                          0.01 + 4 * e->channels[c].deviation / sqrt((double)count),
                      "%s, channel %d: %g, expected %g", value->name, (int)c,
                      sums[c] / (double)count, clipped_mean(&e->channels[c]));
}

/* Standard normal: the sum of twelve numbers of [-0.5, 0.5). */
static void fill_normal(struct tensor *tensor, unsigned seed)
{
    float *data = tensor->data;

    for (int64_t i = 0; i < type_elements(&tensor->type); i++) {
        double sum = 0;

        for (int k = 0; k < 12; k++) {
            seed = seed * 1664525u + 1013904223u;
            sum += (double)(seed >> 8) * 0x1p-24 - 0.5;
        }
        data[i] = (float)sum;
    }
}

START_TEST(means_are_those_of_sampled_numbers)
{
    struct module *module = graph_parse(ctx, graphs[_i].text, 1);
    const struct batch_norms *norms = batch_norms_collect(ctx, module);
    struct check check = { .n = 0 };
    const struct observer observer = { .see = compare, .user = &check };
    struct bulk bulk = { 0 };
    struct tensor inputs[2], output;

    check.known = expectations(ctx, &ctx->perm, module->main, norms);
    for (int i = 0; i < 2; i++) {
        inputs[i] = tensor_new(&bulk, &module->main->params[i]->type);
        fill_normal(&inputs[i], 5 + (unsigned)i);
    }
    ck_assert(interpret(ctx, module->main, inputs, &output, &bulk, &observer));
    ck_assert_int_eq(check.n, graphs[_i].known + batch_norms_count(norms));
    bulk_release(&bulk);
    module_free(module);
}
END_TEST

/* --- what is collected ------------------------------------------------------------------------ */

/* a is scaled again behind relu, and by fold_scale_axis in front of it; b has a computed scale; d
 * is read twice; e is the last. */
START_TEST(batch_norms_that_are_scaled_again_are_left_out)
{
    static const char text[] =
        "fn main(%x: (1,2,4,4) f32, %s: (2) f32) -> (%r, %g) {\n"
        "  const @one : (2) f32 = [1, 1]\n"
        "  const @beta : (2) f32 = [0.5, 0.25]\n"
        "  %a = nn.batch_norm(%x, @one, @beta, @beta, @one) {axis=1, epsilon=0} : (1,2,4,4) f32\n"
        "  %f = nn.relu(%a) : (1,2,4,4) f32\n"
        "  %d = nn.batch_norm(%f, @one, @beta, @beta, @one) {axis=1, epsilon=0} : (1,2,4,4) f32\n"
        "  %b = nn.batch_norm(%d, %s, @beta, @beta, @one) {axis=1, epsilon=0} : (1,2,4,4) f32\n"
        "  %e = nn.batch_norm(%d, @one, @beta, @beta, @one) {axis=1, epsilon=0} : (1,2,4,4) f32\n"
        "  %r = nn.relu(%e) : (1,2,4,4) f32\n"
        "  %g = nn.relu(%b) : (1,2,4,4) f32\n"
        "}\n";
    struct module *module = graph_parse(ctx, text, 1);
    const struct batch_norms *norms = batch_norms_collect(ctx, module);

    ck_assert_ptr_null(batch_norms_find(norms, "a"));
    ck_assert_ptr_null(batch_norms_find(norms, "b"));
    ck_assert_ptr_nonnull(batch_norms_find(norms, "d"));
    ck_assert_ptr_nonnull(batch_norms_find(norms, "e"));
    ck_assert_int_eq(batch_norms_count(norms), 2);
    module_free(module);
}
END_TEST

/* --- biases ----------------------------------------------------------------------------------- */

struct job {
    struct quantize_options options;
    struct quantize_report report;
    struct quantization q;
};

static void job_begin(struct job *job, struct module *module)
{
    *job = (struct job){ .options = { .bias = BIAS_DATA_FREE, .n_threads = 1 } };
    job->options.batch_norms = batch_norms_collect(ctx, module);
    job->q = (struct quantization){
        .module = module, .ctx = ctx, .options = &job->options, .report = &job->report
    };
}

static void set_weights(struct module *module, const char *product, const float *numbers)
{
    const struct value *value = map_get(&module->main->names, product);
    struct node *node = value->def;
    float *data = constant_alloc(module->main, &node->inputs[1]->type);

    memcpy(data, numbers, type_bytes(&node->inputs[1]->type));
    constant_exchange(node, 1, &node->inputs[1]->type, data);
}

/* With a deviation of 0 numbers are those of beta: 2 and, behind relu, 0. d reads them with weights
 * that were [3, 5; 1, 1] and are [2, 7; 1, 1.5]: 6 and 2 become 4 and 2. The first layer and the
 * one behind the softmax are not known. */
START_TEST(biases_are_what_the_numbers_say)
{
    static const float weights[] = { 2, 7, 1, 1.5f };
    static const char before[] =
        "fn main(%x: (1,1,2,2) f32) -> (%e) {\n"
        "  const @w : (2,1,1,1) f32 = [1.5, 2]\n"
        "  const @v : (2,2,1,1) f32 = [3, 5, 1, 1]\n"
        "  const @b : (2) f32 = [0.5, 0.25]\n"
        "  const @u : (1,2,1,1) f32 = [1, 2]\n"
        "  const @zero : (2) f32 = [1e-20, 1e-20]\n"
        "  const @one : (2) f32 = [1, 1]\n"
        "  const @beta : (2) f32 = [2, -1]\n"
        "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,2,2) f32\n"
        "  %n = nn.batch_norm(%c, @zero, @beta, @zero, @one) {axis=1, epsilon=0} : (1,2,2,2) f32\n"
        "  %r = nn.relu(%n) : (1,2,2,2) f32\n"
        "  %d = nn.conv2d(%r, @v) " CONV " : (1,2,2,2) f32\n"
        "  %a = nn.bias_add(%d, @b) {axis=1} : (1,2,2,2) f32\n"
        "  %s = nn.softmax(%a) {axis=1} : (1,2,2,2) f32\n"
        "  %e = nn.conv2d(%s, @u) " CONV " : (1,1,2,2) f32\n"
        "}\n";
    struct module *module = graph_parse(ctx, before, 1);
    struct job job;
    const struct value *bias;

    job_begin(&job, module);
    ck_assert(quantize_observe(&job.q));
    set_weights(module, "d", weights);
    ck_assert(quantize_correct_bias(&job.q));
    ck_assert_msg(module_verify(module, "correct"), "%s", expect_text(ctx));
    ck_assert_int_eq(job.report.n_corrected, 1);
    ck_assert_int_eq(job.report.n_uncorrected, 2);
    bias = map_get(&module->main->names, "b");
    ck_assert_double_eq(dtype_load(DTYPE_F32, bias->data, 0), 0.5 + (6 - 4));
    ck_assert_double_eq(dtype_load(DTYPE_F32, bias->data, 1), 0.25 + (2 - 2));
    module_free(module);
}
END_TEST

/* Depthwise and transposed kernels, flattened maps: a small change of one weight shifts the mean by
 * that change times the mean of the channel that it reads. */
START_TEST(each_weight_reads_its_channel)
{
    static const char text[] =
        "fn main(%x: (1,4,2,2) f32) -> (%d) {\n"
        "  const @zero : (4) f32 = [1e-20, 1e-20, 1e-20, 1e-20]\n"
        "  const @one : (4) f32 = [1, 1, 1, 1]\n"
        "  const @beta : (4) f32 = [1, 2, 4, 8]\n"
        "  const @v : (4,3,2,2) f32 = crc32:00000000\n"
        "  const @g : (6,2,1,1) f32 = crc32:00000000\n"
        "  const @f : (3,16) f32 = crc32:00000000\n"
        "  %n = nn.batch_norm(%x, @zero, @beta, @zero, @one) {axis=1, epsilon=0} : (1,4,2,2) f32\n"
        "  %t = nn.conv2d_transpose(%n, @v) {strides=[2,2], padding=[0,0,0,0], dilation=[1,1], "
        "output_padding=[0,0], groups=2, data_layout=\"NCHW\", kernel_layout=\"IOHW\"} "
        ": (1,6,4,4) f32\n"
        "  %c = nn.conv2d(%n, @g) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], "
        "groups=2, " NCHW " : (1,6,2,2) f32\n"
        "  %s = reshape(%n) {shape=[1,16]} : (1,16) f32\n"
        "  %d = nn.dense(%s, @f) : (1,3) f32\n"
        "}\n";
    static const struct {
        const char *product;
        int weight, channel; /* of the data */
        int out;
    } rows[] = {
        { "t", (2 * 3 + 1) * 4 + 3, 2, 4 }, /* second group, its second output */
        { "c", 4 * 2 + 1, 3, 4 },
        { "d", 1 * 16 + 9, 2, 1 },
    };
    struct module *module = graph_parse(ctx, text, 1);
    struct job job;
    struct linear linear;
    double *mean = arena_array(&ctx->perm, double, 8);

    job_begin(&job, module);
    ck_assert(quantize_observe(&job.q));
    for (int i = 0; i < N_ROWS(rows); i++) {
        const struct value *value = map_get(&module->main->names, rows[i].product);
        const struct layer_mean *known = layer_mean_find(&job.q, value->def);
        float numbers[64];

        ck_assert_ptr_nonnull(known);
        memcpy(numbers, value->def->inputs[1]->data, type_bytes(&value->def->inputs[1]->type));
        numbers[rows[i].weight] += 1;
        set_weights(module, rows[i].product, numbers);
        ck_assert(linear_of(value->def, &linear));
        ck_assert(product_mean(ctx, value->def, &linear, known->in, mean));
        for (int c = 0; c < linear.out_c; c++)
            ck_assert_double_eq_tol(mean[c] - known->out[c],
                                    c == rows[i].out ? 1 << rows[i].channel : 0, 1e-5);
    }
    module_free(module);
}
END_TEST

START_TEST(a_model_without_batch_norms_is_told_about)
{
    struct module *module = graph_parse(ctx,
                                        "fn main(%x: (1,2) f32) -> (%d) {\n"
                                        "  const @w : (1,2) f32 = [1, 2]\n"
                                        "  %d = nn.dense(%x, @w) : (1,1) f32\n"
                                        "}\n",
                                        1);
    struct job job;

    job_begin(&job, module);
    ck_assert(quantize_observe(&job.q));
    ck_assert(expect_warning(ctx, DIAG_CALIB_TABLE, "has no batch norms"));
    ck_assert(quantize_correct_bias(&job.q));
    ck_assert_int_eq(job.report.n_uncorrected, 1);
    module_free(module);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("data-free bias");
    TCase *tests = tcase_create("data-free bias");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, moments_are_those_of_the_integral, 0, N_ROWS(normals));
    tcase_add_test(tests, clips_and_lines_are_exact);
    tcase_add_loop_test(tests, means_are_those_of_sampled_numbers, 0, N_ROWS(graphs));
    tcase_add_test(tests, batch_norms_that_are_scaled_again_are_left_out);
    tcase_add_test(tests, biases_are_what_the_numbers_say);
    tcase_add_test(tests, each_weight_reads_its_channel);
    tcase_add_test(tests, a_model_without_batch_norms_is_told_about);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
