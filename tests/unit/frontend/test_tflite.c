/* The TensorFlow Lite importer: what becomes of operators, what is refused and how, and files that
 * are broken on purpose. That the numbers are right, tests/e2e/run_tflite shows. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "frontend/tflite/import.h"
#include "frontend/tflite/model.h"
#include "relay_ir/text.h"
#include "relay_ir/verify.h"
#include "tests/support/expect.h"
#include "tests/support/tflite_builder.h"

static struct tflite_builder *b;
static struct ctx *ctx;
static struct module *module;

static const int8_t weights[16 * 9 * 2] = { 1, -2, 3 };
static const int32_t biases[16] = { 100, -100 };

static void setup(void)
{
    b = tflite_new();
    ctx = ctx_new("test.tflite");
    module = NULL;
}

static void teardown(void)
{
    module_free(module);
    ctx_free(ctx);
    tflite_free(b);
}

static struct module *import(const char *inputs, const char *outputs)
{
    size_t n;
    const uint8_t *bytes = tflite_bytes(b, inputs, outputs, &n);

    ck_assert(tflite_is_model(bytes, n));
    module = tflite_import_bytes(ctx, bytes, n);
    if (module)
        ck_assert(module_verify(module, "import"));
    return module;
}

static const char *text(void)
{
    struct str out = { .arena = &ctx->perm };

    module_print(module, &out);
    return str_text(&out);
}

static void assert_says(const char *part)
{
    ck_assert_msg(strstr(text(), part) != NULL, "no \"%s\" in\n%s", part, text());
}

/* x of 1 x 4 x 4 x 2, a convolution of 3 x 3 with four channels, a softmax of their average. */
static void small_network(void)
{
    static const float scales[] = { 0.25f, 0.5f, 0.125f, 1 };
    static const int32_t shape[] = { 1, 4 };

    tflite_tensor(b, "x", TFLITE_I8, "1,4,4,2", NULL, 0.5f, -3);
    tflite_tensor(b, "w", TFLITE_I8, "4,3,3,2", weights, 0, 0);
    tflite_scales(b, 4, scales, 0);
    tflite_tensor(b, "b", TFLITE_I32, "4", biases, 0, 0);
    tflite_tensor(b, "c", TFLITE_I8, "1,4,4,4", NULL, 0.75f, -128);
    tflite_tensor(b, "p", TFLITE_I8, "1,1,1,4", NULL, 0.75f, -128);
    tflite_tensor(b, "shape", TFLITE_I32, "2", shape, 0, 0);
    tflite_tensor(b, "r", TFLITE_I8, "1,4", NULL, 0.75f, -128);
    tflite_tensor(b, "y", TFLITE_I8, "1,4", NULL, 0.00390625f, -128);
    tflite_operator(b, TFL_CONV_2D, 3, "0 1 2", "3", 1, "b0 i1 i1 b1 i1 i1");
    tflite_operator(b, TFL_AVERAGE_POOL_2D, 2, "3", "4", 5, "b1 i4 i4 i4 i4 b0");
    tflite_operator(b, TFL_RESHAPE, 1, "4 5", "6", 0, NULL);
    tflite_operator(b, TFL_SOFTMAX, 2, "6", "7", 9, "f1");
}

START_TEST(a_network_becomes_integer_operators)
{
    small_network();
    ck_assert_msg(import("0", "7") != NULL, "%s", expect_text(ctx));
    assert_says("fn main(%x: (1,4,4,2) i8 scaled(scale=0.5, zero=-3)) -> (%y)");
    assert_says("qnn.conv2d(%x.nchw, @c.weights");
    assert_says("padding=[1,1,1,1]");
    assert_says("const @c.scale_of_sums : (4) f64 = [0.125, 0.25, 0.0625, 0.5]");
    assert_says("const @p.zero : () i8 = [0]"); /* the average is one of codes */
    assert_says("qnn.softmax_powers(%r, @y.powers");
    assert_says("from SOFTMAX \"y\" #3");
    ck_assert(module->rounds_as_written);
}
END_TEST

START_TEST(a_fused_relu_bounds_codes_where_it_does_anything)
{
    tflite_tensor(b, "a", TFLITE_I8, "1,2", NULL, 0.5f, 3);
    tflite_tensor(b, "y", TFLITE_I8, "1,2", NULL, 0.05f, -100);
    tflite_tensor(b, "z", TFLITE_I8, "1,2", NULL, 0.5f, -128);
    tflite_operator(b, TFL_ADD, 2, "0 0", "1", 11, "b3");
    tflite_operator(b, TFL_ADD, 2, "0 0", "2", 11, "b1");
    ck_assert_msg(import("0", "1 2") != NULL, "%s", expect_text(ctx));
    assert_says("clip(%y.codes) {a_min=-100, a_max=20}");
    assert_says("%z = qnn.add");
}
END_TEST

START_TEST(a_result_has_the_scale_of_the_file)
{
    tflite_tensor(b, "x", TFLITE_I8, "1,4,4,2", NULL, 0.5f, -3);
    tflite_tensor(b, "y", TFLITE_I8, "1,2,2,2", NULL, 0.5f, -3);
    tflite_operator(b, TFL_AVERAGE_POOL_2D, 1, "0", "1", 5, "b1 i2 i2 i2 i2 b0");
    ck_assert_msg(import("0", "1") != NULL, "%s", expect_text(ctx));
    assert_says("i8 scaled(scale=0.5)  from AVERAGE_POOL_2D"); /* of codes */
    assert_says("qnn.lut(%y, @codes, @scale, @zero) {axis=0} : (1,2,2,2) i8 scaled(scale=0.5, "
                "zero=-3)");
}
END_TEST

START_TEST(unsigned_codes_are_taken_128_less)
{
    static const uint8_t w[] = { 128, 130, 5, 7 };

    tflite_tensor(b, "x", TFLITE_U8, "1,2", NULL, 0.5f, 125);
    tflite_tensor(b, "w", TFLITE_U8, "2,2", w, 0.25f, 120);
    tflite_tensor(b, "y", TFLITE_U8, "1,2", NULL, 0.75f, 3);
    tflite_operator(b, TFL_FULLY_CONNECTED, 1, "0 1", "2", 8, "b0");
    ck_assert_msg(import("0", "2") != NULL, "%s", expect_text(ctx));
    assert_says("fn main(%x: (1,2) u8 scaled(scale=0.5, zero=125))");
    assert_says("(2,2) i8 = [0, 2, -123, -121]");
    assert_says("const @y.w_zero : () i8 = [-8]");
    assert_says("(1,2) u8 scaled(scale=0.75, zero=3)");
}
END_TEST

START_TEST(a_zero_point_beyond_the_type_is_no_scale)
{
    tflite_tensor(b, "x", TFLITE_I8, "1,2", NULL, 0.5f, -515);
    tflite_tensor(b, "y", TFLITE_BOOL, "1,2", NULL, 0, 0);
    tflite_operator(b, TFL_EQUAL, 1, "0 0", "1", 53, "");
    ck_assert(!import("0", "1"));
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_FORM, "the zero point of"));
}
END_TEST

/* --- what is refused -------------------------------------------------------------------------- */

static void assert_refused(enum diag_code code, const char *part)
{
    ck_assert(!module);
    ck_assert_msg(expect_error(ctx, code, part), "no \"%s\" in\n%s", part, expect_text(ctx));
}

START_TEST(joined_names_are_shortened)
{
    tflite_tensor(b, "x", TFLITE_I8, "1,2", NULL, 0.5f, 0);
    tflite_tensor(b, "a/Relu;a/bn;a/dense", TFLITE_I8, "1,2", NULL, 0.5f, 0);
    tflite_tensor(b, "a/Relu;a/dense", TFLITE_I8, "1,2", NULL, 0.5f, 0); /* taken: stays whole */
    tflite_tensor(b, "x;y", TFLITE_I8, "1,2", NULL, 0.5f, 0);
    tflite_tensor(b, "a/Relu;a/bias", TFLITE_I8, "1,2", weights, 0.5f, 0);
    tflite_operator(b, TFL_ADD, 1, "0 4", "1", 11, "b0");
    tflite_operator(b, TFL_ADD, 1, "1 4", "2", 11, "b0");
    tflite_operator(b, TFL_ADD, 1, "2 4", "3", 11, "b0");
    ck_assert_msg(import("0", "1 2 3") != NULL, "%s", expect_text(ctx));
    ck_assert_str_eq(module->main->result_names[0], "a/Relu");
    ck_assert_str_eq(module->main->result_names[1], "a/Relu;a/dense");
    ck_assert_str_eq(module->main->result_names[2], "x;y");
    assert_says("a/Relu.constant");
}
END_TEST

START_TEST(all_that_is_not_supported_is_said_at_once)
{
    tflite_tensor(b, "x", TFLITE_I8, "1,2", NULL, 0.5f, 3);
    tflite_tensor(b, "y", TFLITE_I8, "1,2", NULL, 0.5f, 3);
    tflite_tensor(b, "z", TFLITE_I8, "1,2", NULL, 0.5f, 3);
    tflite_tensor(b, "s", TFLITE_STRING, "1,2", NULL, 0, 0);
    tflite_operator(b, TFL_HASHTABLE_LOOKUP, 1, "0", "1", 6, "i1");
    tflite_custom(b, "SignalWhistle", "1", "2");
    tflite_operator(b, TFL_ADD, 99, "0 0", "2", 11, "b0");
    tflite_operator(b, TFL_ADD, 2, "0 3", "2", 11, "b0");
    import("0", "2");
    assert_refused(DIAG_UNSUPPORTED_OP, "operator HASHTABLE_LOOKUP is not supported");
    assert_refused(DIAG_UNSUPPORTED_OP, "custom operator SignalWhistle is not supported");
    assert_refused(DIAG_UNSUPPORTED_OP, "of version 99, versions 1 to");
    assert_refused(DIAG_UNSUPPORTED_TYPE, "tensor #3 \"s\" is of STRING");
}
END_TEST

START_TEST(a_detection_without_options_is_refused)
{
    tflite_tensor(b, "x", TFLITE_F32, "1,2,4", NULL, 0, 0);
    tflite_tensor(b, "y", TFLITE_F32, "1,2,4", NULL, 0, 0);
    tflite_custom(b, "TFLite_Detection_PostProcess", "0 0 0", "1 1 1 1");
    import("0", "1");
    assert_refused(DIAG_UNSUPPORTED_FORM, "its options are no map of numbers");
}
END_TEST

static const struct refusal {
    int code, options_type;
    const char *options, *inputs, *outputs;
    enum diag_code diag;
    const char *part;
} refusals[] = {
    { TFL_ADD, 11, "b4", "0 0", "1", DIAG_UNSUPPORTED_FORM, "fused activation 4" },
    { TFL_ADD, 11, "b0 b1 b1", "0 0", "1", DIAG_UNSUPPORTED_FORM, "option field 2" },
    { TFL_ADD, 28, "b0", "0 0", "1", DIAG_TFLITE_GRAPH, "its options are of kind 28" },
    { TFL_ADD, 11, "b0", "0 7", "1", DIAG_TFLITE_GRAPH, "input 1 is tensor #7" },
    { TFL_ADD, 11, "b0", "0", "1", DIAG_TFLITE_GRAPH, "has 1 input and 1 output" },
    { TFL_ADD, 11, "b0", "0 -1", "1", DIAG_TFLITE_GRAPH, "has 1 input and 1 output" },
    { TFL_ADD, 11, "b0", "0 4", "1", DIAG_UNSUPPORTED_FORM, "has no scale" },
    { TFL_ADD, 11, "b0", "0 1", "1", DIAG_TFLITE_GRAPH, "nothing defines before" },
    { TFL_ADD, 11, "b0", "0 0", "0", DIAG_TFLITE_GRAPH, "which is defined already" },
    { TFL_ADD, 11, "b0", "0 0", "2", DIAG_SHAPE, "and the file says (1,3) i8" },
    { TFL_ADD, 11, "b0", "0 0", "5", DIAG_UNSUPPORTED_FORM, "keeps its numbers" },
    { TFL_SOFTMAX, 9, "f1", "0", "1", DIAG_UNSUPPORTED_FORM, "expected 1/256 and -128" },
    { TFL_RESHAPE, 17, "", "0", "3", DIAG_UNSUPPORTED_FORM, "expected the same" },
    { TFL_DEQUANTIZE, 38, "", "6", "1", DIAG_UNSUPPORTED_FORM, "is f32, expected i8" },
};

START_TEST(each_refusal_says_what_it_found)
{
    const struct refusal *r = &refusals[_i];

    tflite_tensor(b, "x", TFLITE_I8, "1,2", NULL, 0.5f, 3);
    tflite_tensor(b, "y", TFLITE_I8, "1,2", NULL, 0.5f, 3);
    tflite_tensor(b, "long", TFLITE_I8, "1,3", NULL, 0.5f, 3);
    tflite_tensor(b, "other", TFLITE_I8, "2", NULL, 0.25f, 3);
    tflite_tensor(b, "bare", TFLITE_I8, "1,2", weights, 0, 0);
    tflite_tensor(b, "state", TFLITE_I8, "1,2", NULL, 0.5f, 3);
    tflite_variable(b);
    tflite_tensor(b, "f", TFLITE_F32, "1,2", NULL, 0, 0);
    tflite_operator(b, r->code, 2 - (r->code == TFL_RESHAPE), r->inputs, r->outputs,
                    r->options_type, *r->options ? r->options : NULL);
    import("0 6", r->outputs);
    assert_refused(r->diag, r->part);
}
END_TEST

/* --- broken files ----------------------------------------------------------------------------- */

static void survive(const uint8_t *bytes, size_t n, const char *what, size_t where)
{
    struct ctx *own = ctx_new("test.tflite");
    struct module *made = tflite_import_bytes(own, bytes, n);

    if (made)
        ck_assert_msg(own->diags.n_errors == 0 && module_verify(made, "import"), "%s %zu: %s", what,
                      where, expect_text(own));
    else
        ck_assert_msg(own->diags.n_errors > 0, "%s %zu: refused without a reason", what, where);
    for (const struct diag *d = own->diags.first; d; d = d->next)
        ck_assert_msg(d->code != DIAG_INTERNAL, "%s %zu: %s", what, where, expect_text(own));
    module_free(made);
    ctx_free(own);
}

START_TEST(a_model_cut_off_anywhere_is_survived)
{
    const uint8_t *bytes;
    size_t n;

    small_network();
    bytes = tflite_bytes(b, "0", "7", &n);
    for (size_t i = 0; i < n; i++) {
        uint8_t *cut = malloc(i); /* of its size, so that a sanitizer sees reads behind it */

        memcpy(cut, bytes, i);
        survive(cut, i, "cut at", i);
        free(cut);
    }
}
END_TEST

START_TEST(each_changed_byte_is_survived)
{
    static const uint8_t values[] = { 0, 1, 4, 127, 128, 255 };
    const uint8_t *bytes;
    uint8_t *copy;
    size_t n;

    small_network();
    bytes = tflite_bytes(b, "0", "7", &n);
    copy = malloc(n);
    memcpy(copy, bytes, n);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof values; k++) {
            copy[i] = values[k];
            survive(copy, n, "changed byte", i);
        }
        copy[i] = bytes[i];
    }
    free(copy);
}
END_TEST

static uint64_t random_state = 1;

static size_t below(size_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(random_state >> 33) % n;
}

/* Bytes and words of both ends of a file, where its tables are; weights lie between. */
static void damage(uint8_t *bytes, size_t n)
{
    static const uint32_t words[] = {
        0, 1, 3, 4, 0x7F, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF
    };

    for (size_t changes = 1 + below(6); changes; changes--) {
        const size_t edge = n / 6 + 8, at = below(2) ? below(edge) : n - 1 - below(edge);
        const uint32_t word = words[below(sizeof words / sizeof *words)];

        if (below(2) && at + 4 <= n)
            memcpy(bytes + at, &word, 4);
        else
            bytes[at] = (uint8_t)(below(3) ? bytes[at] + below(9) - 4 : below(256));
    }
}

START_TEST(damaged_networks_are_survived)
{
    enum { ROUNDS = 400 };
    const char *shared = getenv("RELAYC_SHARED");
    const char *folder = arena_printf(&ctx->perm, "%s/tflite", shared ? shared : "../shared");
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int n_files = 0;

    if (!dir) {
        printf("SKIPPED: no folder %s: its networks were NOT damaged\n", folder);
        return;
    }
    while ((entry = readdir(dir))) {
        struct mapping file;
        uint8_t *copy;

        if (strchr(entry->d_name, '.') ||
            !file_map(ctx, arena_printf(&ctx->perm, "%s/%s/model.tflite", folder, entry->d_name),
                      &file))
            continue;
        n_files++;
        copy = malloc(file.size);
        for (size_t round = 0; round < ROUNDS; round++) {
            const size_t n = below(8) ? file.size : below(file.size);

            memcpy(copy, file.data, file.size);
            damage(copy, file.size);
            survive(copy, n, entry->d_name, round);
        }
        free(copy);
        file_unmap(&file);
    }
    closedir(dir);
    printf("%d damaged files of %d networks\n", n_files * ROUNDS, n_files);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tflite");
    TCase *tests = tcase_create("tflite");
    SRunner *runner = srunner_create(suite);
    int failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, a_network_becomes_integer_operators);
    tcase_add_test(tests, a_fused_relu_bounds_codes_where_it_does_anything);
    tcase_add_test(tests, a_result_has_the_scale_of_the_file);
    tcase_add_test(tests, joined_names_are_shortened);
    tcase_add_test(tests, unsigned_codes_are_taken_128_less);
    tcase_add_test(tests, a_zero_point_beyond_the_type_is_no_scale);
    tcase_add_test(tests, all_that_is_not_supported_is_said_at_once);
    tcase_add_test(tests, a_detection_without_options_is_refused);
    tcase_add_loop_test(tests, each_refusal_says_what_it_found, 0,
                        (int)(sizeof refusals / sizeof *refusals));
    tcase_add_test(tests, a_model_cut_off_anywhere_is_survived);
    tcase_add_test(tests, each_changed_byte_is_survived);
    tcase_add_test(tests, damaged_networks_are_survived);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
