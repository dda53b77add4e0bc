/* Bias correction by data: by numbers, and by its property: on the samples, the mean of every
 * channel of every layer, behind its activation, is that of the float model. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "frontend/tensors/samples.h"
#include "quantize/batch_norms.h"
#include "quantize/layer_mean.h"
#include "quantize/layer_walk.h"
#include "relay_ir/products.h"
#include "relay_ir/verify.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/network.h"
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

/* --- samples ---------------------------------------------------------------------------------- */

struct numbers {
    const struct function *fn;
    const float *given;            /* the samples one after the other; NULL = random ones */
    int64_t nan_from, absent_from; /* 0 = never */
};

static bool load(void *user, struct ctx *own, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const struct numbers *numbers = user;
    unsigned seed = (unsigned)index + 1;

    if (numbers->absent_from && index >= numbers->absent_from)
        return diag_error(own, DIAG_FILE_READ, NULL, "sample %d is not there", (int)index);
    for (int i = 0; i < numbers->fn->n_params; i++) {
        const int64_t n = type_elements(&numbers->fn->params[i]->type);

        inputs[i] = tensor_new(bulk, &numbers->fn->params[i]->type);
        fill_random(&inputs[i], -1, 2, &seed);
        if (numbers->given)
            memcpy(inputs[i].data, numbers->given + index * n, (size_t)n * sizeof(float));
        if (numbers->nan_from && index >= numbers->nan_from)
            ((float *)inputs[i].data)[0] = NAN;
    }
    return true;
}

struct job {
    struct numbers numbers;
    struct calibration_source source;
    struct quantize_options options;
    struct quantize_report report;
    struct quantization q;
};

static void job_begin(struct job *job, struct module *module, int64_t n, int threads)
{
    *job = (struct job){ .numbers = { .fn = module->main } };
    job->source = (struct calibration_source){ n, load, &job->numbers };
    job->options = (struct quantize_options){ .bias = BIAS_BY_DATA,
                                              .samples = &job->source,
                                              .n_threads = threads };
    job->q = (struct quantization){
        .module = module, .ctx = module->ctx, .options = &job->options, .report = &job->report
    };
}

static void correct(struct job *job)
{
    ck_assert_msg(quantize_correct_bias(&job->q), "%s", expect_text(job->q.ctx));
    module_sweep(job->q.module);
    ck_assert_msg(module_verify(job->q.module, "correct"), "%s", expect_text(job->q.ctx));
}

/* --- numbers ---------------------------------------------------------------------------------- */

static struct node *node_of(const struct module *module, const char *name)
{
    struct value *value = map_get(&module->main->names, name);

    ck_assert_msg(value && value->def, "%s", name);
    return value->def;
}

static void set_weight(struct module *module, const char *product, float number)
{
    struct node *node = node_of(module, product);
    float *data = constant_alloc(module->main, &node->inputs[1]->type);

    data[0] = number;
    constant_exchange(node, 1, &node->inputs[1]->type, data);
}

/* r is 1.25, 3.75, 6.25, 0 with the weight 1.25, 2.8125 in the mean; c is 1, 3, 5, -1 with 1: with
 * the bias 0.75, r has that mean. d without its bias: 2 * 2.8125 wanted, 2.5 * 2.8125 found: the
 * bias is 1 - 1.40625. */
START_TEST(biases_are_what_the_numbers_say)
{
    static const float samples[] = { 1, 3, 5, -1 };
    static const char before[] = "fn main(%x: (1,1,1,2) f32) -> (%e) {\n"
                                 "  const @w : (1,1,1,1) f32 = [1.25]\n"
                                 "  const @v : (1,1,1,1) f32 = [2]\n"
                                 "  const @b : (1) f32 = [1]\n"
                                 "  %c = nn.conv2d(%x, @w) " CONV " : (1,1,1,2) f32\n"
                                 "  %r = nn.relu(%c) : (1,1,1,2) f32\n"
                                 "  %d = nn.conv2d(%r, @v) " CONV " : (1,1,1,2) f32\n"
                                 "  %e = nn.bias_add(%d, @b) {axis=1} : (1,1,1,2) f32\n"
                                 "}\n";
    static const char after[] = "fn main(%x: (1,1,1,2) f32) -> (%e) {\n"
                                "  const @w : (1,1,1,1) f32 = [1]\n"
                                "  const @v : (1,1,1,1) f32 = [2.5]\n"
                                "  const @c.bias : (1) f32 = [0.75]\n"
                                "  const @b : (1) f32 = [-0.40625]\n"
                                "  %c.conv2d = nn.conv2d(%x, @w) " CONV " : (1,1,1,2) f32\n"
                                "  %c = nn.bias_add(%c.conv2d, @c.bias) {axis=1} : (1,1,1,2) f32\n"
                                "  %r = nn.relu(%c) : (1,1,1,2) f32\n"
                                "  %d = nn.conv2d(%r, @v) " CONV " : (1,1,1,2) f32\n"
                                "  %e = nn.bias_add(%d, @b) {axis=1} : (1,1,1,2) f32\n"
                                "}\n";
    struct module *module = graph_parse(ctx, before, 1);
    struct module *wanted = graph_parse(ctx, after, 1);
    struct job job;

    job_begin(&job, module, 2, 1);
    job.numbers.given = samples;
    ck_assert_msg(quantize_observe(&job.q), "%s", expect_text(ctx));
    job.q.wanted = NULL; /* of so few numbers they would be nearer without corrections */
    set_weight(module, "c", 1);
    set_weight(module, "d", 2.5f);
    correct(&job);
    ck_assert_str_eq(graph_text(module, true), graph_text(wanted, true));
    ck_assert_int_eq(job.report.n_corrected, 2);
    ck_assert_int_eq(job.report.n_uncorrected, 0);
    module_free(module);
    module_free(wanted);
}
END_TEST

/* The same, judged by the results: 2.5 * r is what they were without any correction. */
START_TEST(what_makes_the_results_worse_is_taken_back)
{
    static const float samples[] = { 1, 3, 5, -1 };
    static const char text[] = "fn main(%x: (1,1,1,2) f32) -> (%e) {\n"
                               "  const @w : (1,1,1,1) f32 = [1.25]\n"
                               "  const @v : (1,1,1,1) f32 = [2]\n"
                               "  const @b : (1) f32 = [1]\n"
                               "  %c = nn.conv2d(%x, @w) " CONV " : (1,1,1,2) f32\n"
                               "  %r = nn.relu(%c) : (1,1,1,2) f32\n"
                               "  %d = nn.conv2d(%r, @v) " CONV " : (1,1,1,2) f32\n"
                               "  %e = nn.bias_add(%d, @b) {axis=1} : (1,1,1,2) f32\n"
                               "}\n";
    struct module *module = graph_parse(ctx, text, 1);
    const char *after;
    struct job job;

    job_begin(&job, module, 2, 1);
    job.numbers.given = samples;
    ck_assert_msg(quantize_observe(&job.q), "%s", expect_text(ctx));
    set_weight(module, "c", 1);
    set_weight(module, "d", 2.5f);
    correct(&job);
    after = graph_text(module, true);
    ck_assert_ptr_nonnull(strstr(after, "const @b : (1) f32 = [1]\n"));
    ck_assert_ptr_nonnull(strstr(after, "%c = nn.conv2d(%x, @w)"));
    ck_assert_ptr_null(strstr(after, "c.bias"));
    ck_assert(job.report.is_restored);
    ck_assert_double_lt(job.report.loss_before, job.report.loss_after);
    ck_assert_int_eq(job.report.n_corrected, 0);
    module_free(module);
}
END_TEST

START_TEST(nothing_changes_where_nothing_was_quantised)
{
    static const char text[] = "fn main(%x: (2,3,5,5) f32) -> (%d) {\n"
                               "  const @w : (4,3,3,3) f32 = crc32:00000000\n"
                               "  const @v : (2,4,1,1) f32 = crc32:00000000\n"
                               "  %c = nn.conv2d(%x, @w) " CONV_PADDED " : (2,4,5,5) f32\n"
                               "  %r = sigmoid(%c) : (2,4,5,5) f32\n"
                               "  %d = nn.conv2d(%r, @v) " CONV " : (2,2,5,5) f32\n"
                               "}\n";
    struct module *module = graph_parse(ctx, text, 1);
    const char *before = graph_text(module, true);
    struct job job;

    job_begin(&job, module, 5, 2);
    ck_assert(quantize_observe(&job.q));
    correct(&job);
    ck_assert_str_eq(graph_text(module, true), before);
    module_free(module);
}
END_TEST

/* --- the property ----------------------------------------------------------------------------- */

/* Branches, a split, several readers, all kinds of products, one that feeds a result only, one
 * whose weights are computed. */
static const char branches[] =
    "fn main(%x: (1,4,6,6) f32, %y: (1,3) f32) -> (%o, %p, %q) {\n"
    "  const @w1 : (8,4,3,3) f32 = crc32:00000000\n"
    "  const @b1 : (8) f32 = crc32:00000000\n"
    "  const @w2 : (8,1,3,3) f32 = crc32:00000000\n"
    "  const @w3 : (8,8,1,1) f32 = crc32:00000000\n"
    "  const @w4 : (8,3,2,2) f32 = crc32:00000000\n"
    "  const @w5 : (5,8) f32 = crc32:00000000\n"
    "  const @b5 : (5) f32 = crc32:00000000\n"
    "  const @w6 : (5,3) f32 = crc32:00000000\n"
    "  const @w7 : (2,4,1,1) f32 = crc32:00000000\n"
    "  %c1 = nn.conv2d(%x, @w1) " CONV_PADDED " : (1,8,6,6) f32\n"
    "  %a1 = nn.bias_add(%c1, @b1) {axis=1} : (1,8,6,6) f32\n"
    "  %r1 = nn.relu(%a1) : (1,8,6,6) f32\n"
    "  %c2 = nn.conv2d(%r1, @w2) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=8, " NCHW
    " : (1,8,6,6) f32\n"
    "  %s = add(%c2, %r1) : (1,8,6,6) f32\n"
    "  %c3 = nn.conv2d(%s, @w3) " CONV " : (1,8,6,6) f32\n"
    "  %h1, %h2 = split(%c3) {axis=1, sizes=[4,4]} : (1,4,6,6) f32, (1,4,6,6) f32\n"
    "  %t = tanh(%h2) : (1,4,6,6) f32\n"
    "  %k = concatenate(%t, %h1) {axis=1} : (1,8,6,6) f32\n"
    "  %p = nn.conv2d_transpose(%k, @w4) {strides=[2,2], padding=[0,0,0,0], dilation=[1,1], "
    "output_padding=[0,0], groups=1, data_layout=\"NCHW\", kernel_layout=\"IOHW\"} "
    ": (1,3,12,12) f32\n"
    "  %g = nn.global_avg_pool(%k) : (1,8,1,1) f32\n"
    "  %f = reshape(%g) {shape=[1,8]} : (1,8) f32\n"
    "  %d5 = nn.dense(%f, @w5) : (1,5) f32\n"
    "  %a5 = nn.bias_add(%d5, @b5) {axis=1} : (1,5) f32\n"
    "  %m6 = nn.matmul(%a5, @w6) {transpose_a=false, transpose_b=false} : (1,3) f32\n"
    "  %z = add(%m6, %y) : (1,3) f32\n"
    "  %e = expand_dims(%z) {axes=[2]} : (1,3,1) f32\n"
    "  %q = nn.matmul(%e, %e) {transpose_a=false, transpose_b=true} : (1,3,3) f32\n"
    "  %o = nn.conv2d(%h1, @w7) " CONV " : (1,2,6,6) f32\n"
    "}\n";

/* The means per channel of what products give with their biases, behind a relu or clip. */
struct means {
    struct map by_name; /* of double[64] */
};

static bool is_cut(const struct node *node)
{
    return node && (node->op == OP_RELU || node->op == OP_CLIP);
}

static bool is_output_of_product(const struct value *value)
{
    const struct node *def = value->def, *user = value_only_user(value);

    if (is_cut(user) || (user && user->op == OP_BIAS_ADD))
        return false;
    if (is_cut(def) && def->inputs[0]->def && value_only_user(def->inputs[0]))
        def = def->inputs[0]->def;
    if (def->op == OP_BIAS_ADD && def->inputs[0]->def)
        def = def->inputs[0]->def;
    return is_product(def->op);
}

static void see(void *user, const struct value *value, const struct tensor *tensor)
{
    struct means *means = user;
    const struct type *type = &tensor->type;
    const int axis = type->rank > 2 && type->rank != 3 ? 1 : type->rank - 1;
    const int64_t inner = type_span(type, axis + 1, type->rank), n = type->dim[axis];
    double *sums = map_get(&means->by_name, value->name);

    if (!is_output_of_product(value))
        return;
    if (!sums) {
        sums = arena_array(&ctx->perm, double, n);
        map_set(&means->by_name, value->name, sums);
    }
    for (int64_t i = 0; i < type_elements(type); i++)
        sums[i / inner % n] += tensor_at(tensor, i);
}

static void observe_means(struct module *module, const struct calibration_source *source,
                          struct means *means)
{
    const struct observer observer = { .see = see, .user = means };
    struct engine *engine = engine_new(ctx, module->main);
    struct tensor inputs[4], outputs[8];

    means->by_name = (struct map){ .arena = &ctx->perm };
    for (int64_t i = 0; i < source->n; i++) {
        struct bulk bulk = { 0 };

        ck_assert(source->load(source->user, ctx, &bulk, i, inputs));
        ck_assert(engine_run(engine, inputs, outputs, &bulk, &observer));
        bulk_release(&bulk);
    }
    engine_free(engine);
}

/* The greatest difference of two channels, relative to the greatest mean of the layer. */
static double worst_shift(const struct module *module, const struct means *a, const struct means *b)
{
    double worst = 0;

    for (size_t i = 0; i < a->by_name.n; i++) {
        const char *name = a->by_name.entries[i].key;
        const double *x = a->by_name.entries[i].value, *y = map_get(&b->by_name, name);
        const struct value *value = map_get(&module->main->names, name);
        const struct type *type = &value->type;
        const int64_t n = type->dim[type->rank > 2 && type->rank != 3 ? 1 : type->rank - 1];
        double greatest = 1e-6;

        ck_assert_msg(y != NULL, "%s", name);
        for (int64_t c = 0; c < n; c++)
            greatest = fmax(greatest, fabs(x[c]));
        for (int64_t c = 0; c < n; c++)
            worst = fmax(worst, fabs(x[c] - y[c]) / greatest);
    }
    return worst;
}

static void annotate(struct job *job, const char *precision)
{
    ck_assert(precision_parse(ctx, "test", precision, &job->options.precision));
    ck_assert_msg(quantize_annotate(&job->q), "%s", expect_text(ctx));
    module_sweep(job->q.module);
    ck_assert_msg(module_verify(job->q.module, "annotate"), "%s", expect_text(ctx));
}

static const char *const precisions[] = { "fp8w=f8e5m2", "int8w", "mxfp4", "fp8=f8e4m3" };

START_TEST(means_of_all_layers_become_those_of_the_float_model)
{
    struct module *module = graph_parse(ctx, branches, 5);
    struct means wanted, shifted, corrected;
    struct job job;

    job_begin(&job, module, 6, 2);
    observe_means(module, &job.source, &wanted);
    ck_assert_int_eq((int)wanted.by_name.n, 8);
    ck_assert_msg(quantize_observe(&job.q), "%s", expect_text(ctx));
    annotate(&job, precisions[_i]);
    observe_means(module, &job.source, &shifted);
    correct(&job);
    ck_assert_int_eq(job.report.n_corrected, 7);
    ck_assert_int_eq(job.report.n_uncorrected, 1); /* its weights are computed */
    observe_means(module, &job.source, &corrected);
    ck_assert_double_gt(worst_shift(module, &wanted, &shifted), 1e-3);
    map_set(&wanted.by_name, "q", map_get(&corrected.by_name, "q")); /* behind all corrections */
    ck_assert_msg(worst_shift(module, &wanted, &corrected) < 2e-6, "%g",
                  worst_shift(module, &wanted, &corrected));
    module_free(module);
}
END_TEST

/* --- the walk --------------------------------------------------------------------------------- */

static const char *corrected_text(int threads)
{
    struct module *module = graph_parse(ctx, branches, 5);
    const char *text;
    struct job job;

    job_begin(&job, module, 13, threads);
    ck_assert(quantize_observe(&job.q));
    annotate(&job, "fp8w");
    correct(&job);
    text = graph_text(module, true);
    module_free(module);
    return text;
}

START_TEST(the_number_of_threads_changes_no_bit)
{
    const char *one = corrected_text(1);

    for (int threads = 2; threads <= 32; threads *= 4)
        ck_assert_str_eq(corrected_text(threads), one);
}
END_TEST

static bool wants_all(void *user, const struct node *product)
{
    (void)user;
    return product->inputs[1]->kind == VALUE_CONSTANT;
}

struct seen {
    int n;
    double mean[16][8];
};

static bool write_down(void *user, struct node *product, const struct linear *linear,
                       const struct layer_result *result)
{
    struct seen *seen = user;

    (void)product;
    memcpy(seen->mean[seen->n++], result->mean, (size_t)linear->out_c * sizeof(double));
    return true;
}

/* With no memory at all every layer is computed from the inputs; with some, a few samples are kept.
 */
START_TEST(memory_changes_nothing)
{
    static const size_t memories[] = { 0, 5000, 20000, 1 << 30 };
    struct module *module = graph_parse(ctx, branches, 5);
    struct numbers numbers = { .fn = module->main };
    const struct calibration_source source = { 9, load, &numbers };
    struct seen seen[4];

    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 4; i++) {
        const struct layer_walk walk = { .ctx = ctx,
                                         .fn = module->main,
                                         .source = &source,
                                         .n_samples = 9,
                                         .n_threads = 2,
                                         .memory = memories[i],
                                         .what = "test",
                                         .wants = wants_all,
                                         .see = write_down,
                                         .user = &seen[i] };

        ck_assert_msg(layer_walk(&walk), "%s", expect_text(ctx));
        ck_assert_int_eq(seen[i].n, 7);
        for (int k = 0; k < 7; k++)
            for (int c = 0; c < 8; c++)
                ck_assert_double_eq_tol(seen[i].mean[k][c], seen[0].mean[k][c], 1e-6);
    }
    ck_assert_double_ne(seen[0].mean[3][1], 0);
    module_free(module);
}
END_TEST

/* --- errors ----------------------------------------------------------------------------------- */

START_TEST(the_layer_is_named_where_a_sample_gives_no_number)
{
    struct module *module = graph_parse(ctx, branches, 5);
    struct job job;

    job_begin(&job, module, 9, 1 + _i % 2 * 3);
    if (_i < 2)
        job.numbers.nan_from = 4;
    else
        job.numbers.absent_from = 3;
    ck_assert(!quantize_observe(&job.q));
    if (_i < 2) {
        ck_assert_msg(expect_error(ctx, DIAG_CALIB_TABLE,
                                   "bias correction: sample 4 gives infinities or NaN in 'c1' "
                                   "(nn.conv2d), channel 0"),
                      "%s", expect_text(ctx));
        ck_assert(expect_error(ctx, DIAG_CALIB_TABLE, "leave this sample out"));
    } else {
        ck_assert(expect_error(ctx, DIAG_FILE_READ, "sample 3 is not there"));
    }
    module_free(module);
}
END_TEST

START_TEST(correction_by_data_needs_samples)
{
    struct module *module = graph_parse(ctx, branches, 5);
    struct job job;

    job_begin(&job, module, 0, 1);
    ck_assert(!quantize_observe(&job.q));
    ck_assert(expect_error(ctx, DIAG_USAGE, "needs samples"));
    module_free(module);
}
END_TEST

/* --- a real model ----------------------------------------------------------------------------- */

static bool load_image(void *user, struct ctx *own, struct bulk *bulk, int64_t index,
                       struct tensor *inputs)
{
    return samples_load(user, own, bulk, index, inputs);
}

static const char preprocessing[] =
    "{\"resize\": {\"mode\": \"shorter\", \"size\": 146}, \"crop\": {\"width\": 128, \"height\": "
    "128}, \"mean\": 127.5, \"std\": 127.5}";

/* By data they are those of the float model, up to what a part of the numbers does not show;
 * without data they come nearer. */
START_TEST(means_of_a_real_model_stay)
{
    const struct pipeline_options prepare = { .part = PIPELINE_PREPARE, .log = stderr };
    const char *shared = getenv("RELAYC_SHARED");
    const char *model = arena_printf(&ctx->perm, "%s/models/mobilenetv1_025_128", shared);
    const char *images = arena_printf(&ctx->perm, "%s/data/imagenet_calib200", shared);
    struct means wanted, shifted, corrected;
    struct preprocessing how;
    const struct batch_norms *norms;
    struct samples *samples;
    struct network network;
    struct job job;

    if (!shared || access(model, R_OK) != 0 || access(images, R_OK) != 0) {
        printf("SKIPPED: no models (set RELAYC_SHARED): biases of real models were NOT tested\n");
        return;
    }
    ck_assert(network_load(&network, model));
    norms = batch_norms_collect(ctx, network.module);
    ck_assert(pipeline_run(network.module, &prepare));
    ck_assert(preprocessing_parse(ctx, "test", preprocessing, sizeof preprocessing - 1, &how));
    samples = samples_open(ctx, images, network.module->main, &how);
    ck_assert_msg(samples != NULL, "%s", expect_text(ctx));
    job_begin(&job, network.module, 8, 2);
    job.source = (struct calibration_source){ 8, load_image, samples };
    job.options.bias = _i ? BIAS_DATA_FREE : BIAS_BY_DATA;
    job.options.batch_norms = norms;
    observe_means(network.module, &job.source, &wanted);
    ck_assert_int_eq((int)wanted.by_name.n, 28);
    ck_assert_msg(quantize_observe(&job.q), "%s", expect_text(network.ctx));
    annotate(&job, "fp8w");
    observe_means(network.module, &job.source, &shifted);
    correct(&job);
    ck_assert_int_eq(job.report.n_corrected, _i ? 27 : 28);
    observe_means(network.module, &job.source, &corrected);
    ck_assert_double_gt(worst_shift(network.module, &wanted, &shifted), 0.1);
    ck_assert_msg(worst_shift(network.module, &wanted, &corrected) <
                      (_i ? 0.5 * worst_shift(network.module, &wanted, &shifted) : 0.01),
                  "%g, it was %g", worst_shift(network.module, &wanted, &corrected),
                  worst_shift(network.module, &wanted, &shifted));
    samples_close(samples);
    network_free(&network);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bias correction");
    TCase *tests = tcase_create("bias correction");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, biases_are_what_the_numbers_say);
    tcase_add_test(tests, what_makes_the_results_worse_is_taken_back);
    tcase_add_test(tests, nothing_changes_where_nothing_was_quantised);
    tcase_add_loop_test(tests, means_of_all_layers_become_those_of_the_float_model, 0,
                        N_ROWS(precisions));
    tcase_add_test(tests, the_number_of_threads_changes_no_bit);
    tcase_add_test(tests, memory_changes_nothing);
    tcase_add_loop_test(tests, the_layer_is_named_where_a_sample_gives_no_number, 0, 4);
    tcase_add_test(tests, correction_by_data_needs_samples);
    tcase_add_loop_test(tests, means_of_a_real_model_stay, 0, 2);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
