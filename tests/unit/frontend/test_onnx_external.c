#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/onnx/import.h"
#include "tests/support/expect.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/temp_dir.h"

static struct ctx *ctx;
static struct temp_dir outer; /* holds the model's folder "in", and a secret beside it */
static struct onnx_builder *b;
static Onnx__TensorProto *weight;
static const float data[4] = { 1, 2, 3, 4 };

static void make_folder(const char *name)
{
    ck_assert_int_eq(mkdir(temp_path(&outer, name), 0777), 0);
}

static void setup(void)
{
    ctx = ctx_new("test.onnx");
    outer = temp_dir_new();
    make_folder("in");
    make_folder("in/sub");
    temp_file(&outer, "secret", data, sizeof data);
    temp_file(&outer, "in/w.bin", data, sizeof data);
    temp_file(&outer, "in/sub/w.bin", data, sizeof data);
    temp_file(&outer, "in/a..b", data, sizeof data);
    b = builder_new(17);
    builder_input(b, "x", DTYPE_F32, "2");
    weight = builder_tensor(b, "w", DTYPE_F32, "2", NULL);
    weight->has_raw_data = 0;
    weight->has_data_location = 1;
    weight->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    builder_node(b, "Add", "x w", "y");
    builder_output(b, "y", DTYPE_F32, "2");
}

static void teardown(void)
{
    builder_free(b);
    temp_dir_free(&outer);
    ctx_free(ctx);
}

/* "location=w.bin offset=8" */
static void set_keys(const char *keys)
{
    weight->external_data = arena_array(&b->arena, Onnx__StringStringEntryProto *, 8);
    weight->n_external_data = 0;
    for (char *rest = arena_strdup(&b->arena, keys), *word; (word = strtok_r(rest, " ", &rest));) {
        Onnx__StringStringEntryProto *entry = arena_new(&b->arena, Onnx__StringStringEntryProto);
        char *value = strchr(word, '=');

        *value++ = '\0';
        onnx__string_string_entry_proto__init(entry);
        entry->key = word;
        entry->value = value;
        weight->external_data[weight->n_external_data++] = entry;
    }
}

static struct module *import(const char *keys)
{
    size_t n;
    const uint8_t *bytes;

    set_keys(keys);
    bytes = builder_bytes(b, &n);
    return onnx_import_bytes(ctx, bytes, n, temp_path(&outer, "in"), NULL);
}

static const struct {
    const char *keys;
    float first; /* the first element that is read */
} accepted[] = {
    { "location=w.bin length=8", 1 },
    { "location=w.bin", 1 },
    { "location=w.bin offset=8", 3 },
    { "location=w.bin offset=4 length=8", 2 },
    { "location=w.bin offset=0 length=8 checksum=feed basepath=/nowhere", 1 },
    { "location=./w.bin offset=8", 3 },
    { "location=sub/w.bin offset=8", 3 },
    { "location=a..b offset=8", 3 },
};

START_TEST(data_beside_the_model_is_read)
{
    struct module *module = import(accepted[_i].keys);

    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert_float_eq(*(const float *)module->main->constants->data, accepted[_i].first);
    module_free(module);
}
END_TEST

START_TEST(data_that_is_not_aligned_is_copied)
{
    char shifted[1 + sizeof data] = "x";
    struct module *module;

    memcpy(shifted + 1, data, sizeof data);
    temp_file(&outer, "in/odd.bin", shifted, sizeof shifted);
    module = import("location=odd.bin offset=5");
    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert_mem_eq(module->main->constants->data, data + 1, 2 * sizeof *data);
    ck_assert_uint_eq((uintptr_t)module->main->constants->data % sizeof(float), 0);
    module_free(module);
}
END_TEST

static const struct {
    const char *keys, *reason;
} refused[] = {
    { "location=../secret", "'..'" },
    { "location=sub/../../secret", "'..'" },
    { "location=sub/../w.bin", "'..'" },
    { "location=./..", "'..'" },
    { "location=sub//..//..//secret", "'..'" },
    { "location=sub/..", "'..'" },
    { "location=/etc/passwd", "leads outside the model's folder" },
    { "location=", "" },
    { "location=nothing.bin", "No such file" },
    { "location=sub", "not a regular file" },
    { "location=pipe", "not a regular file" },
    { "location=link", "a symbolic link" },
    { "location=link_inside", "a symbolic link" },
    { "location=link_folder/w.bin", "a symbolic link" },
    { "location=sub/link_up/secret", "a symbolic link" },
    { "location=hard", "several hard links" },
    { "location=w.bin/", "" },
    { "location=w.bin offset=9", "needs 8 bytes at 9, the file has 16" },
    { "location=w.bin offset=16", "8 bytes at 16" },
    { "location=w.bin offset=17", "8 bytes at 17" },
    { "location=w.bin offset=18446744073709551615", "8 bytes at 18446744073709551615" },
    { "location=w.bin offset=18446744073709551616", "the offset is not a number" },
    { "location=w.bin offset=-1", "the offset is not a number" },
    { "location=w.bin offset=0x8", "the offset is not a number" },
    { "location=w.bin offset=", "the offset is not a number" },
    { "location=w.bin length=-1", "the length is not a number" },
    { "location=w.bin length=4", "the tensor's type needs 8" },
    { "location=w.bin length=16", "the tensor's type needs 8" },
    { "location=w.bin length=18446744073709551615", "18446744073709551615 bytes at 0" },
    { "location=w.bin offset=8 length=18446744073709551608",
      "needs 18446744073709551608 bytes at 8" },
    { "location=w.bin location=w.bin", "occurs twice" },
    { "location=w.bin mode=0777", "not of the format" },
    { "offset=0", "the location is missing" },
};

START_TEST(what_could_leave_the_folder_or_the_file_is_refused)
{
    ck_assert_int_eq(symlink("../secret", temp_path(&outer, "in/link")), 0);
    ck_assert_int_eq(symlink("w.bin", temp_path(&outer, "in/link_inside")), 0);
    ck_assert_int_eq(symlink("sub", temp_path(&outer, "in/link_folder")), 0);
    ck_assert_int_eq(symlink("../..", temp_path(&outer, "in/sub/link_up")), 0);
    ck_assert_int_eq(link(temp_path(&outer, "secret"), temp_path(&outer, "in/hard")), 0);
    ck_assert_int_eq(mkfifo(temp_path(&outer, "in/pipe"), 0600), 0);
    ck_assert_ptr_null(import(refused[_i].keys));
    ck_assert_msg(expect_error(ctx, DIAG_ONNX_EXTERNAL, refused[_i].reason), "%s",
                  expect_text(ctx));
}
END_TEST

START_TEST(a_model_from_memory_may_be_denied_external_data)
{
    size_t n;
    const uint8_t *bytes;

    set_keys("location=w.bin");
    bytes = builder_bytes(b, &n);
    ck_assert_ptr_null(onnx_import_bytes(ctx, bytes, n, NULL, NULL));
    ck_assert(expect_error(ctx, DIAG_ONNX_EXTERNAL, "must hold all its data itself"));
}
END_TEST

START_TEST(the_folder_is_that_of_the_model_or_of_the_option)
{
    const struct import_options elsewhere = { .external_data_dir = temp_path(&outer, "in") };
    struct module *module;

    set_keys("location=w.bin");
    builder_write(b, temp_path(&outer, "in/model.onnx"));
    builder_write(b, temp_path(&outer, "model.onnx"));
    module = onnx_import(ctx, temp_path(&outer, "in/model.onnx"), NULL);
    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    module_free(module);
    module = onnx_import(ctx, temp_path(&outer, "model.onnx"), &elsewhere);
    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    module_free(module);
    ck_assert_ptr_null(onnx_import(ctx, temp_path(&outer, "model.onnx"), NULL));
    ck_assert(expect_error(ctx, DIAG_ONNX_EXTERNAL, "--external-data-dir"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx external data");
    TCase *tests = tcase_create("onnx external data");
    SRunner *runner = srunner_create(suite);
    int failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, data_beside_the_model_is_read, 0,
                        sizeof accepted / sizeof *accepted);
    tcase_add_test(tests, data_that_is_not_aligned_is_copied);
    tcase_add_loop_test(tests, what_could_leave_the_folder_or_the_file_is_refused, 0,
                        sizeof refused / sizeof *refused);
    tcase_add_test(tests, a_model_from_memory_may_be_denied_external_data);
    tcase_add_test(tests, the_folder_is_that_of_the_model_or_of_the_option);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
