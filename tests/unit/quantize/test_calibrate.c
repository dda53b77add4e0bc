/* Calibration of small graphs, against numbers by hand and against the reference evaluator; the
 * result does not depend on threads, nor memory on the number of samples. */
#include <check.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "frontend/tensors/samples.h"
#include "frontend/tensors/tensor_file.h"
#include "quantize/calibrate.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/temp_dir.h"

static struct ctx *ctx;
static struct temp_dir dir;

static void setup(void)
{
    ctx = ctx_new(NULL);
    dir = temp_dir_new();
}

static void teardown(void)
{
    temp_dir_free(&dir);
    ctx_free(ctx);
}

static const char graph[] =
    "fn main(%x: (1,3,8,8) f32) -> (%r) {\n"
    "  const @w : (4,3,3,3) f32 = crc32:00000000\n"
    "  %c = nn.conv2d(%x, @w) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1} "
    ": (1,4,8,8) f32\n"
    "  %r = nn.relu(%c) : (1,4,8,8) f32\n"
    "}\n";

/* Sample i is numbers in i / n * [-1, 1), by a generator of its own; one may fail. */
struct numbers {
    int64_t n, fails_from;
    atomic_int greatest_bulk;
};

static bool load(void *user, struct ctx *own, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    struct numbers *numbers = user;
    const struct type type = type_make(DTYPE_F32, 4, (int64_t[]){ 1, 3, 8, 8 });
    unsigned seed = (unsigned)index + 1;
    float *data;

    if (numbers->fails_from && index >= numbers->fails_from)
        return diag_error(own, DIAG_FILE_READ, NULL, "sample %d is not there", (int)index);
    inputs[0] = tensor_new(bulk, &type);
    data = inputs[0].data;
    for (int64_t i = 0; i < 192; i++) {
        seed = seed * 1664525u + 1013904223u;
        data[i] = ((float)(seed >> 8) * 0x1p-23f - 1) * (float)(index + 1) / (float)numbers->n;
    }
    if ((int)bulk->bytes > atomic_load(&numbers->greatest_bulk))
        atomic_store(&numbers->greatest_bulk, (int)bulk->bytes);
    return true;
}

static bool run(struct module *module, struct numbers *numbers, int threads,
                struct calib_table *out)
{
    const struct calibration_source source = { numbers->n, load, numbers };
    struct calibration_options options = { .n_threads = threads };
    struct threshold_method *methods;

    options.n_methods = threshold_methods(&ctx->perm, 99, &methods);
    options.methods = methods;
    return calibrate(ctx, module->main, &source, &options, out);
}

/* The table as a file's text. */
static const char *text_of(const struct calib_table *table, const char *name)
{
    struct output_set set = { .ctx = ctx };
    const char *path = temp_path(&dir, name);
    struct mapping mapping;
    const char *text;

    calib_write_json(output_open(&set, path), table);
    ck_assert(output_commit(&set));
    ck_assert(file_map(ctx, path, &mapping));
    text = arena_strndup(&ctx->perm, (const char *)mapping.data, mapping.size);
    file_unmap(&mapping);
    return text;
}

START_TEST(the_number_of_threads_does_not_matter)
{
    struct module *module = graph_parse(ctx, graph, 1);
    struct numbers numbers = { .n = 37 };
    struct calib_table one, many;

    ck_assert_msg(run(module, &numbers, 1, &one), "%s", expect_text(ctx));
    for (int threads = 2; threads <= 64; threads *= 2) {
        ck_assert(run(module, &numbers, threads, &many));
        ck_assert_str_eq(text_of(&one, "one"), text_of(&many, "many"));
    }
    module_free(module);
}
END_TEST

/* What the reference evaluator sees, added up by definition. */
struct sums {
    struct function *fn;
    double sum[3], min[3], max[3];
    uint64_t n[3], zeros[3];
};

static void add(void *user, const struct value *value, const struct tensor *tensor)
{
    struct sums *sums = user;
    const int i = strcmp(value->name, "c") == 0 ? 1 : strcmp(value->name, "r") == 0 ? 2 : 0;

    for (int64_t k = 0; k < type_elements(&tensor->type); k++) {
        const double x = tensor_at(tensor, k);

        sums->sum[i] += x;
        sums->min[i] = sums->n[i] ? fmin(sums->min[i], x) : x;
        sums->max[i] = sums->n[i] ? fmax(sums->max[i], x) : x;
        sums->zeros[i] += x == 0;
        sums->n[i]++;
    }
}

START_TEST(every_tensor_is_what_the_reference_computes)
{
    struct module *module = graph_parse(ctx, graph, 1);
    struct numbers numbers = { .n = 9 };
    struct sums sums = { .fn = module->main };
    const struct observer observer = { .see = add, .user = &sums };
    static const char *const names[] = { "x", "c", "r" };
    struct calib_table table;

    ck_assert_msg(run(module, &numbers, 3, &table), "%s", expect_text(ctx));
    for (int i = 0; i < 9; i++) {
        struct bulk bulk = { 0 };
        struct tensor input, output;

        ck_assert(load(&numbers, ctx, &bulk, i, &input));
        add(&sums, module->main->params[0], &input);
        ck_assert(interpret(ctx, module->main, &input, &output, &bulk, &observer));
        bulk_release(&bulk);
    }
    ck_assert_int_eq(table.n, 3);
    ck_assert_int_eq(table.n_samples, 9);
    for (int i = 0; i < 3; i++) {
        const struct calib_tensor *t = &table.at[i];

        ck_assert_str_eq(t->name, names[i]);
        ck_assert_uint_eq(t->histogram->n, sums.n[i]);
        ck_assert_uint_eq(t->histogram->zeros, sums.zeros[i]);
        ck_assert_double_eq_tol(t->min, sums.min[i], 1e-5);
        ck_assert_double_eq_tol(t->max, sums.max[i], 1e-5);
        ck_assert_double_eq_tol(t->mean, sums.sum[i] / (double)sums.n[i], 1e-6);
        ck_assert_double_eq(calib_threshold(t, "max")->value, t->histogram->limit);
        ck_assert_double_le(calib_threshold(t, "percentile:99")->value, t->histogram->limit);
    }
    module_free(module);
}
END_TEST

/* Rows of four: a mask of -infinity, one of -1e9, none, nothing but -infinity. */
static bool load_masked(void *user, struct ctx *own, struct bulk *bulk, int64_t index,
                        struct tensor *inputs)
{
    static const float rows[4][4] = { { 1, -INFINITY, 2, -INFINITY },
                                      { -3, -1e9f, -1e9f, -1e9f },
                                      { 5, 4, -6, -14 },
                                      { -INFINITY, -INFINITY, -INFINITY, -INFINITY } };
    const struct type type = type_make(DTYPE_F32, 2, (int64_t[]){ 4, 4 });

    (void)user;
    (void)own;
    (void)index;
    inputs[0] = tensor_new(bulk, &type);
    memcpy(inputs[0].data, rows, sizeof rows);
    return true;
}

/* Of the same numbers, with and without a reader that sees what the softmax does not. */
START_TEST(of_logits_only_what_softmax_sees_is_counted)
{
    struct module *seen = graph_parse(ctx,
                                      "fn main(%x: (4,4) f32) -> (%r) {\n"
                                      "  %r = nn.softmax(%x) {axis=1} : (4,4) f32\n"
                                      "}\n",
                                      1);
    struct module *read = graph_parse(ctx,
                                      "fn main(%x: (4,4) f32) -> (%r, %n) {\n"
                                      "  %r = nn.softmax(%x) {axis=1} : (4,4) f32\n"
                                      "  %n = negative(%x) : (4,4) f32\n"
                                      "}\n",
                                      1);
    const struct calibration_source source = { 2, load_masked, NULL };
    const struct calibration_options options = { .n_threads = 1 };
    struct calib_table table;

    ck_assert_msg(calibrate(ctx, seen->main, &source, &options, &table), "%s", expect_text(ctx));
    ck_assert_double_eq(table.at[0].min, -3 - 16);
    ck_assert_double_eq(table.at[0].max, 5);
    ck_assert_uint_eq(table.at[0].histogram->n, 2 * 12);
    ck_assert_uint_eq(table.at[0].non_finite, 2 * 4);
    /* Sums: 1 - 14 + 2 - 14, -3 - 3 * 19, 5 + 4 - 6 - 11. */
    ck_assert_double_eq(table.at[0].mean, (-25.0 - 60 - 8) / 12);

    ck_assert_msg(calibrate(ctx, read->main, &source, &options, &table), "%s", expect_text(ctx));
    ck_assert_double_eq(table.at[0].min, -1e9);
    ck_assert_uint_eq(table.at[0].non_finite, 2 * 6);
    module_free(seen);
    module_free(read);
}
END_TEST

START_TEST(memory_does_not_grow_with_the_samples)
{
    struct module *module = graph_parse(ctx, graph, 1);
    struct numbers few = { .n = 2 }, many = { .n = 500 };
    struct calib_table table;

    ck_assert(run(module, &few, 2, &table));
    ck_assert(run(module, &many, 2, &table));
    ck_assert_int_eq(few.greatest_bulk, many.greatest_bulk); /* what a sample finds in its bulk */
    ck_assert_int_eq(few.greatest_bulk, 192 * sizeof(float));
    module_free(module);
}
END_TEST

START_TEST(samples_that_fail_are_reported_in_their_order)
{
    struct module *module = graph_parse(ctx, graph, 1);
    struct numbers numbers = { .n = 40, .fails_from = 23 };
    struct calib_table table;

    ck_assert(!run(module, &numbers, 1 + _i, &table));
    ck_assert_int_eq(ctx->diags.n_errors, 17);
    ck_assert_str_eq(ctx->diags.first->message, "sample 23 is not there");
    ck_assert_str_eq(ctx->diags.latest->message, "sample 39 is not there");
    module_free(module);
}
END_TEST

START_TEST(of_many_samples_that_fail_twenty_are_named)
{
    struct module *module = graph_parse(ctx, graph, 1);
    struct numbers numbers = { .n = 60, .fails_from = 10 };
    struct calib_table table;

    ck_assert(!run(module, &numbers, 2, &table));
    ck_assert_int_eq(ctx->diags.n_errors, 20);
    ck_assert_str_eq(ctx->diags.latest->note, "and 30 more samples cannot be used");
    module_free(module);
}
END_TEST

/* --- samples ---------------------------------------------------------------------------------- */

/* A .npy file with the numbers first, first + 1, ..., and `other` in place of number `at`. */
static void write_npy_but(const char *name, enum dtype dtype, int rank, const int64_t *dim,
                          double first, int64_t at, double other)
{
    struct output_set set = { .ctx = ctx };
    struct bulk bulk = { 0 };
    const struct type type = type_make(dtype, rank, dim);
    const struct tensor tensor = tensor_new(&bulk, &type);

    for (int64_t i = 0; i < type_elements(&type); i++)
        dtype_store(dtype, tensor.data, i, i == at ? other : first + (double)i);
    npy_write(output_open(&set, temp_path(&dir, name)), &tensor);
    ck_assert(output_commit(&set));
    bulk_release(&bulk);
}

static void write_npy(const char *name, enum dtype dtype, int rank, const int64_t *dim,
                      double first)
{
    write_npy_but(name, dtype, rank, dim, first, -1, 0);
}

/* The first number of each sample. */
static void expect_samples(struct samples *samples, const double *wanted, int n)
{
    ck_assert_msg(samples != NULL, "%s", expect_text(ctx));
    ck_assert_int_eq(samples_count(samples), n);
    for (int i = 0; i < n; i++) {
        struct bulk bulk = { 0 };
        struct tensor input;

        ck_assert(samples_load(samples, ctx, &bulk, i, &input));
        ck_assert_double_eq(tensor_at(&input, 0), wanted[i]);
        ck_assert_str_eq(type_text(&ctx->perm, &input.type), "(1,2,2) f32");
        bulk_release(&bulk);
    }
    samples_close(samples);
}

static const char small[] = "fn main(%x: (1,2,2) f32) -> (%r) {\n"
                            "  %r = nn.relu(%x) : (1,2,2) f32\n"
                            "}\n";

START_TEST(folders_of_arrays_are_taken_by_name)
{
    struct module *module = graph_parse(ctx, small, 1);

    write_npy("b.npy", DTYPE_F32, 3, (int64_t[]){ 3, 2, 2 }, 100);    /* a batch of 3 */
    write_npy("a.npy", DTYPE_F32, 3, (int64_t[]){ 1, 2, 2 }, 1);      /* one */
    write_npy("c.npy", DTYPE_U8, 2, (int64_t[]){ 2, 2 }, 7);          /* without its first 1 */
    write_npy("d.npy", DTYPE_F64, 4, (int64_t[]){ 2, 1, 2, 2 }, 500); /* stacked */
    temp_file(&dir, "labels.txt", "a 1\n", 4);
    temp_file(&dir, ".hidden.npy", "", 0);
    expect_samples(samples_open(ctx, dir.path, module->main, NULL),
                   (double[]){ 1, 100, 104, 108, 7, 500, 504 }, 7);
    expect_samples(samples_open(ctx, temp_path(&dir, "b.npy"), module->main, NULL),
                   (double[]){ 100, 104, 108 }, 3);
    module_free(module);
}
END_TEST

START_TEST(an_archive_has_a_member_for_each_input)
{
    static const char two[] = "fn main(%x: (1,2) f32, %y: (2) f32) -> (%r) {\n"
                              "  %r = add(%x, %y) : (1,2) f32\n"
                              "}\n";
    struct module *module = graph_parse(ctx, two, 1);
    struct output_set set = { .ctx = ctx };
    struct bulk bulk = { 0 };
    const struct type stacked = type_make(DTYPE_F32, 2, (int64_t[]){ 3, 2 });
    struct named_tensor members[] = { { "y", tensor_new(&bulk, &stacked) },
                                      { "x", tensor_new(&bulk, &stacked) } };
    const struct named_tensors all = { 2, members };
    struct samples *samples;
    struct tensor inputs[2];

    for (int i = 0; i < 6; i++) {
        dtype_store(DTYPE_F32, members[0].tensor.data, i, i);
        dtype_store(DTYPE_F32, members[1].tensor.data, i, 10 + i);
    }
    ck_assert(npz_write(ctx, output_open(&set, temp_path(&dir, "a.npz")), &all));
    ck_assert(output_commit(&set));
    samples = samples_open(ctx, temp_path(&dir, "a.npz"), module->main, NULL);
    ck_assert_msg(samples != NULL, "%s", expect_text(ctx));
    ck_assert_int_eq(samples_count(samples), 3);
    ck_assert(samples_load(samples, ctx, &bulk, 2, inputs));
    ck_assert(tensor_at(&inputs[0], 0) == 14 && tensor_at(&inputs[1], 1) == 5);
    samples_close(samples);
    bulk_release(&bulk);
    module_free(module);
}
END_TEST

START_TEST(data_that_do_not_fit_are_refused)
{
    struct module *module = graph_parse(ctx, small, 1);
    const struct preprocessing how = preprocessing_default();

    ck_assert_ptr_null(samples_open(ctx, dir.path, module->main, NULL));
    ck_assert(expect_error(ctx, DIAG_FILE_READ, "holds no data"));
    write_npy("a.npy", DTYPE_F32, 3, (int64_t[]){ 1, 3, 2 }, 1);
    ck_assert_ptr_null(samples_open(ctx, dir.path, module->main, NULL));
    ck_assert(expect_error(ctx, DIAG_INPUT_MISMATCH,
                           "holds (1,3,2) f32, no samples of the input 'x' (1,2,2) f32"));
    write_npy("a.npy", DTYPE_F32, 3, (int64_t[]){ 0, 2, 2 }, 1);
    ck_assert_ptr_null(samples_open(ctx, dir.path, module->main, NULL));
    write_npy("a.npy", DTYPE_F32, 3, (int64_t[]){ 1, 2, 2 }, 1);
    ck_assert_ptr_null(samples_open(ctx, dir.path, module->main, &how));
    ck_assert(expect_error(ctx, DIAG_USAGE, "--preprocess is for images"));
    temp_file(&dir, "b.JPEG", "x", 1);
    ck_assert_ptr_null(samples_open(ctx, dir.path, module->main, NULL));
    ck_assert(expect_error(ctx, DIAG_FILE_READ, "holds both images and .npy files"));
    ck_assert_ptr_null(samples_open(ctx, temp_path(&dir, "none.npz"), module->main, NULL));
    ck_assert(expect_error(ctx, DIAG_FILE_READ, "cannot open"));
    module_free(module);
}
END_TEST

static bool load_sample(void *user, struct ctx *own, struct bulk *bulk, int64_t index,
                        struct tensor *inputs)
{
    return samples_load(user, own, bulk, index, inputs);
}

START_TEST(samples_with_nan_and_infinities_are_named_all_at_once)
{
    struct module *module = graph_parse(ctx, small, 1);
    const struct calibration_options options = { .n_threads = 2 };
    struct calibration_source source = { .load = load_sample };
    struct calib_table table;
    const struct diag *first, *second;

    write_npy("a.npy", DTYPE_F32, 3, (int64_t[]){ 1, 2, 2 }, 1);
    write_npy_but("b.npy", DTYPE_F32, 3, (int64_t[]){ 3, 2, 2 }, 1, 5, NAN);
    write_npy_but("c.npy", DTYPE_F32, 3, (int64_t[]){ 1, 2, 2 }, 1, 3, -INFINITY);
    source.user = samples_open(ctx, dir.path, module->main, NULL);
    ck_assert_msg(source.user != NULL, "%s", expect_text(ctx));
    source.n = samples_count(source.user);
    ck_assert(!calibrate(ctx, module->main, &source, &options, &table));
    ck_assert_int_eq(ctx->diags.n_errors, 2);
    first = ctx->diags.first;
    second = ctx->diags.latest;
    ck_assert(strncmp(first->message, "sample 1 of ", 12) == 0);
    ck_assert(str_ends(first->message, "b.npy: element 1 of the input 'x' is NaN"));
    ck_assert(strncmp(second->message, dir.path, strlen(dir.path)) == 0);
    ck_assert(str_ends(second->message, "c.npy: element 3 of the input 'x' is infinite"));
    samples_close(source.user);
    module_free(module);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("calibrate");
    TCase *tests = tcase_create("calibrate");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_number_of_threads_does_not_matter);
    tcase_add_test(tests, every_tensor_is_what_the_reference_computes);
    tcase_add_test(tests, of_logits_only_what_softmax_sees_is_counted);
    tcase_add_test(tests, memory_does_not_grow_with_the_samples);
    tcase_add_loop_test(tests, samples_that_fail_are_reported_in_their_order, 0, 4);
    tcase_add_test(tests, of_many_samples_that_fail_twenty_are_named);
    tcase_add_test(tests, folders_of_arrays_are_taken_by_name);
    tcase_add_test(tests, an_archive_has_a_member_for_each_input);
    tcase_add_test(tests, data_that_do_not_fit_are_refused);
    tcase_add_test(tests, samples_with_nan_and_infinities_are_named_all_at_once);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
