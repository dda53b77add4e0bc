#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "frontend/tensors/tensor_file.h"
#include "tests/support/expect.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/temp_dir.h"

static struct ctx *ctx;
static struct bulk bulk;
static struct temp_dir dir;

static void setup(void)
{
    ctx = ctx_new(NULL);
    bulk = (struct bulk){ NULL, 0 };
    dir = temp_dir_new();
}

static void teardown(void)
{
    temp_dir_free(&dir);
    bulk_release(&bulk);
    ctx_free(ctx);
}

/* A .npy file: version, header, elements. */
static const uint8_t *npy(int version, const char *header, const void *elements, size_t n_bytes,
                          size_t *size)
{
    const size_t n = strlen(header), start = version == 1 ? 10 : 12;
    uint8_t *file = arena_alloc(&ctx->perm, start + n + n_bytes);

    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)version;
    file[8] = (uint8_t)n;
    file[9] = (uint8_t)(n >> 8);
    memcpy(file + start, header, n);
    if (n_bytes)
        memcpy(file + start + n, elements, n_bytes);
    *size = start + n + n_bytes;
    return file;
}

static bool read_header(int version, const char *header, const void *elements, size_t n_bytes,
                        struct tensor *out)
{
    struct named_tensors all;
    size_t size;
    const uint8_t *file = npy(version, header, elements, n_bytes, &size);

    if (!tensor_file_read_bytes(ctx, "t.npy", file, size, &bulk, &all))
        return false;
    ck_assert_int_eq(all.n, 1);
    *out = all.at->tensor;
    return true;
}

static const float six[6] = { 1, 2, 3, 4, 5, 6 };

static const struct {
    int version;
    const char *header;
    const char *type;
    double at1; /* element 1 of the result */
} accepted[] = {
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n", "(2,3) f32", 2 },
    { 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }\n", "(6) f32", 2 },
    { 3, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 6, 1), }\n", "(1,6,1) f32", 2 },
    { 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", "(2,3) f32", 3 },
    { 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }\n", "(3,2) f32", 4 },
    { 1, "{\"shape\": (3,2,), \"descr\": \"<f4\", \"fortran_order\": False}\n", "(3,2) f32", 2 },
    { 1, "{ 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 6 , ) } \n", "(6) f32", 2 },
    { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (24,), }\n", "(24) u8", 0 },
    { 1, "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }\n", "(3) i64", 0 },
};

START_TEST(headers_that_numpy_writes_are_read)
{
    struct tensor tensor;

    ck_assert_msg(read_header(accepted[_i].version, accepted[_i].header, six, sizeof six, &tensor),
                  "%s", expect_text(ctx));
    ck_assert_str_eq(type_text(&ctx->perm, &tensor.type), accepted[_i].type);
    if (accepted[_i].at1 != 0)
        ck_assert_double_eq(tensor_at(&tensor, 1), accepted[_i].at1);
}
END_TEST

START_TEST(a_scalar_has_the_empty_shape)
{
    struct tensor tensor;

    ck_assert(read_header(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", six, 4,
                          &tensor));
    ck_assert_int_eq(tensor.type.rank, 0);
    ck_assert_double_eq(tensor_at(&tensor, 0), 1);
}
END_TEST

#define F4 "{'descr': '<f4', 'fortran_order': False, "
static const struct {
    const char *header;
    enum diag_code code;
    const char *reason;
} refused[] = {
    { "{'descr': '|O', 'fortran_order': False, 'shape': (6,), }\n", DIAG_TENSOR_FILE,
      "its elements are '|O'" },
    { "{'descr': '>f4', 'fortran_order': False, 'shape': (6,), }\n", DIAG_TENSOR_FILE, "'>f4'" },
    { "{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }\n", DIAG_TENSOR_FILE, "'<c8'" },
    { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }\n", DIAG_TENSOR_FILE,
      "the dictionary" },
    { F4 "'shape': (7,), }\n", DIAG_TENSOR_FILE, "24 bytes of elements, (7) f32 needs 28" },
    { F4 "'shape': (5,), }\n", DIAG_TENSOR_FILE, "24 bytes of elements, (5) f32 needs 20" },
    { F4 "'shape': (6), }\n", DIAG_TENSOR_FILE, "the dictionary" },
    { F4 "'shape': (-6,), }\n", DIAG_TENSOR_FILE, "the dictionary" },
    { F4 "'shape': (6,,), }\n", DIAG_TENSOR_FILE, "the dictionary" },
    { F4 "'shape': (6,), } x\n", DIAG_TENSOR_FILE, "the dictionary" },
    { F4 "'shape': (6,), }", DIAG_TENSOR_FILE, "the dictionary" },
    { F4 "'shape': (6,)\n", DIAG_TENSOR_FILE, "the dictionary" },
    { F4 "'shape': (6,), 'shape': (6,), }\n", DIAG_TENSOR_FILE, "the dictionary" },
    { F4 "'shape': (6,), 'more': 1, }\n", DIAG_TENSOR_FILE, "the dictionary" },
    { F4 "}\n", DIAG_TENSOR_FILE, "the dictionary" },
    { "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (6,), }\n", DIAG_TENSOR_FILE,
      "the dictionary" },
    { F4 "'shape': (1,1,1,1,1,1,1,1,6), }\n", DIAG_TENSOR_FILE, "the dictionary" },
    { F4 "'shape': (4294967296, 4294967296), }\n", DIAG_TOO_BIG, "" },
    { F4 "'shape': (99999999999999999999,), }\n", DIAG_TENSOR_FILE, "the dictionary" },
    { "{'descr': '|b1', 'fortran_order': False, 'shape': (24,), }\n", DIAG_TENSOR_FILE,
      "bools are other bytes" },
    { "{'descr': '<f4<f4<f4<f4<f4<', 'fortran_order': False, 'shape': (6,), }\n", DIAG_TENSOR_FILE,
      "the dictionary" },
};

START_TEST(other_headers_are_refused)
{
    struct tensor tensor;

    ck_assert(!read_header(1, refused[_i].header, six, sizeof six, &tensor));
    ck_assert_msg(expect_error(ctx, refused[_i].code, refused[_i].reason), "%s", expect_text(ctx));
}
END_TEST

START_TEST(a_header_length_beyond_the_file_or_64_kib_allocates_nothing)
{
    struct named_tensors all;
    size_t size;
    uint8_t *file;

    file = (uint8_t *)(uintptr_t)npy(2, "x", NULL, 0, &size);
    memset(file + 8, 0xff, 4);
    ck_assert(!tensor_file_read_bytes(ctx, "t.npy", file, size, &bulk, &all));
    ck_assert(expect_error(ctx, DIAG_TENSOR_FILE, "longer than 64 KiB"));
    memcpy(file + 8, "\x10\x00\x00\x00", 4);
    ck_assert(!tensor_file_read_bytes(ctx, "t.npy", file, size, &bulk, &all));
    ck_assert(expect_error(ctx, DIAG_TENSOR_FILE, "its header is cut off"));
    file[6] = 4;
    ck_assert(!tensor_file_read_bytes(ctx, "t.npy", file, size, &bulk, &all));
    ck_assert(expect_error(ctx, DIAG_TENSOR_FILE, "format version"));
    ck_assert_uint_eq(bulk.bytes, 0);
}
END_TEST

START_TEST(a_file_cut_off_anywhere_is_refused)
{
    struct named_tensors all;
    size_t size;
    const uint8_t *file = npy(1, F4 "'shape': (2, 3), }\n", six, sizeof six, &size);

    for (size_t n = 0; n < size; n++) {
        ck_assert(!tensor_file_read_bytes(ctx, "t.npy", file, n, &bulk, &all));
        ck_assert_int_gt(ctx->diags.n_errors, 0);
        diag_restore(ctx, (struct diags){ .first = NULL });
    }
}
END_TEST

/* --- writing and reading back ----------------------------------------------------------------- */

static struct tensor pattern(enum dtype dtype, int rank)
{
    static const int64_t dims[] = { 2, 3, 1, 2 };
    const struct type type = type_make(dtype, rank, dims);
    const struct tensor tensor = tensor_new(&bulk, &type);

    for (int64_t i = 0; i < type_elements(&type); i++)
        if (dtype_kind(dtype) == KIND_MINIFLOAT)
            ((uint8_t *)tensor.data)[i] = (uint8_t)i;
        else
            dtype_store(dtype, tensor.data, i, (double)(i % 2));
    return tensor;
}

static const char *write_npy(const struct tensor *tensor)
{
    struct output_set set = { .ctx = ctx };

    npy_write(output_open(&set, temp_path(&dir, "t.npy")), tensor);
    ck_assert(output_commit(&set));
    return temp_path(&dir, "t.npy");
}

START_TEST(every_type_and_rank_reads_back_as_it_was_written)
{
    const enum dtype dtype = (enum dtype)_i;
    /* numpy has neither bfloat16, which is widened, nor FP8, e8m0 and i4, whose bytes are written. */
    const enum dtype as = dtype == DTYPE_BF16                                          ? DTYPE_F32
                          : dtype_kind(dtype) == KIND_MINIFLOAT                        ? DTYPE_U8
                          : dtype_kind(dtype) == KIND_EXPONENT                         ? DTYPE_U8
                          : dtype_kind(dtype) == KIND_NIBBLE && dtype_is_signed(dtype) ? DTYPE_I8
                          : dtype_kind(dtype) == KIND_NIBBLE                           ? DTYPE_U8
                                                                                       : dtype;

    for (int rank = 0; rank <= 4; rank++) {
        const struct tensor tensor = pattern(dtype, rank);
        struct tensor back;

        ck_assert_msg(tensor_file_read_one(ctx, write_npy(&tensor), &bulk, &back), "%s",
                      expect_text(ctx));
        ck_assert_int_eq(back.type.dtype, as);
        ck_assert(type_same_shape(&tensor.type, &back.type));
        if (dtype != DTYPE_BF16)
            ck_assert_mem_eq(tensor.data, back.data, type_bytes(&tensor.type));
        for (int64_t i = 0; dtype == DTYPE_BF16 && i < type_elements(&tensor.type); i++)
            ck_assert_double_eq(tensor_at(&tensor, i), tensor_at(&back, i));
    }
}
END_TEST

static const char *write_npz(const struct named_tensors *tensors, const char *name)
{
    struct output_set set = { .ctx = ctx };

    ck_assert_msg(npz_write(ctx, output_open(&set, temp_path(&dir, name)), tensors), "%s",
                  expect_text(ctx));
    ck_assert(output_commit(&set));
    return temp_path(&dir, name);
}

START_TEST(an_archive_keeps_names_order_and_bytes)
{
    struct named_tensor members[] = { { "x", pattern(DTYPE_F32, 2) },
                                      { "a.b/c", pattern(DTYPE_I64, 1) },
                                      { "flag", pattern(DTYPE_BOOL, 0) } };
    const struct named_tensors tensors = { 3, members };
    struct mapping first, second;
    struct named_tensors back;

    ck_assert_msg(tensor_file_read(ctx, write_npz(&tensors, "a.npz"), &bulk, &back), "%s",
                  expect_text(ctx));
    ck_assert_int_eq(back.n, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(back.at[i].name, members[i].name);
        ck_assert(tensor_equal(&back.at[i].tensor, &members[i].tensor));
    }
    ck_assert(file_map(ctx, temp_path(&dir, "a.npz"), &first));
    ck_assert(file_map(ctx, write_npz(&tensors, "b.npz"), &second));
    ck_assert_uint_eq(first.size, second.size);
    ck_assert_mem_eq(first.data, second.data, first.size);
    file_unmap(&first);
    file_unmap(&second);
}
END_TEST

/* --- archives that are not ours --------------------------------------------------------------- */

static const char *make_zip(const char *name, const void *bytes, size_t n, zip_int32_t method)
{
    const char *path = temp_path(&dir, "t.npz");
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    zip_int64_t index;

    ck_assert_ptr_nonnull(zip);
    index = zip_file_add(zip, name, zip_source_buffer(zip, bytes, n, 0), ZIP_FL_ENC_UTF_8);
    ck_assert_int_ge(index, 0);
    ck_assert_int_eq(zip_set_file_compression(zip, (zip_uint64_t)index, method, 0), 0);
    ck_assert_int_eq(zip_close(zip), 0);
    return path;
}

START_TEST(deflated_members_are_read)
{
    struct named_tensors all;
    size_t size;
    const uint8_t *file = npy(1, F4 "'shape': (6,), }\n", six, sizeof six, &size);

    ck_assert_msg(tensor_file_read(ctx, make_zip("x.npy", file, size, ZIP_CM_DEFLATE), &bulk, &all),
                  "%s", expect_text(ctx));
    ck_assert_double_eq(tensor_at(&all.at->tensor, 5), 6);
}
END_TEST

START_TEST(a_member_that_is_no_array_is_refused)
{
    struct named_tensors all;

    ck_assert(!tensor_file_read(ctx, make_zip("x.txt", "hi", 2, ZIP_CM_STORE), &bulk, &all));
    ck_assert(expect_error(ctx, DIAG_TENSOR_FILE, "not a .npy member"));
    ck_assert(!tensor_file_read(ctx, make_zip("x.npy", "hi", 2, ZIP_CM_STORE), &bulk, &all));
    ck_assert(expect_error(ctx, DIAG_TENSOR_FILE, "does not begin as a .npy file"));
}
END_TEST

START_TEST(an_archive_with_a_changed_byte_never_crashes_the_reader)
{
    struct named_tensor member = { "x", pattern(DTYPE_F32, 2) };
    const struct named_tensors tensors = { 1, &member };
    struct mapping whole;
    struct named_tensors all;
    uint8_t *copy;

    ck_assert(file_map(ctx, write_npz(&tensors, "a.npz"), &whole));
    copy = arena_memdup(&ctx->perm, whole.data, whole.size);
    for (size_t i = 0; i < whole.size; i++) {
        copy[i] ^= (uint8_t)(1u << i % 8);
        if (!tensor_file_read_bytes(ctx, "a.npz", copy, whole.size, &bulk, &all))
            ck_assert_int_gt(ctx->diags.n_errors, 0);
        diag_restore(ctx, (struct diags){ .first = NULL });
        copy[i] = whole.data[i];
        if (!tensor_file_read_bytes(ctx, "a.npz", copy, i, &bulk, &all))
            ck_assert_int_gt(ctx->diags.n_errors, 0);
        diag_restore(ctx, (struct diags){ .first = NULL });
    }
    file_unmap(&whole);
}
END_TEST

START_TEST(an_archive_that_lies_about_a_size_is_refused)
{
    struct named_tensor member = { "x", pattern(DTYPE_F32, 2) };
    const struct named_tensors tensors = { 1, &member };
    struct mapping whole;
    struct named_tensors all;
    uint8_t *copy, *central;

    ck_assert(file_map(ctx, write_npz(&tensors, "a.npz"), &whole));
    copy = arena_memdup(&ctx->perm, whole.data, whole.size);
    central = copy;
    while (memcmp(central, "PK\1\2", 4) != 0)
        central++;
    memcpy(copy + 22, "\0\0\0\x40", 4);    /* size in the local header: 1 GiB */
    memcpy(central + 24, "\0\0\0\x40", 4); /* and in the central directory */
    ck_assert(!tensor_file_read_bytes(ctx, "a.npz", copy, whole.size, &bulk, &all));
    ck_assert_msg(expect_error(ctx, DIAG_TENSOR_FILE, ""), "%s", expect_text(ctx));
    ck_assert_uint_lt(bulk.bytes, 1 << 20);
    file_unmap(&whole);
}
END_TEST

/* --- .pb and others --------------------------------------------------------------------------- */

START_TEST(a_tensor_proto_is_read)
{
    struct onnx_builder *b = builder_new(17);
    size_t n;
    const uint8_t *bytes =
        builder_tensor_bytes(b, builder_tensor_proto(b, "input_0", DTYPE_F32, "2,3", six), &n);
    struct named_tensors all;

    ck_assert_msg(tensor_file_read(ctx, temp_file(&dir, "t.pb", bytes, n), &bulk, &all), "%s",
                  expect_text(ctx));
    ck_assert_str_eq(all.at->name, "input_0");
    ck_assert_mem_eq(all.at->tensor.data, six, sizeof six);
    ck_assert(!tensor_file_read(ctx, temp_file(&dir, "cut.pb", bytes, n - 1), &bulk, &all));
    ck_assert(expect_error(ctx, DIAG_ONNX_FORMAT, "cut.pb"));
    builder_free(b);
}
END_TEST

START_TEST(a_file_of_another_kind_is_refused)
{
    struct named_tensors all;

    ck_assert(!tensor_file_read(ctx, temp_file(&dir, "a.png", "\x89PNG", 4), &bulk, &all));
    ck_assert(expect_error(ctx, DIAG_TENSOR_FILE, "neither a .npy nor a .npz"));
    ck_assert(!tensor_file_read(ctx, temp_file(&dir, "empty.npy", "", 0), &bulk, &all));
    ck_assert(expect_error(ctx, DIAG_TENSOR_FILE, "it is empty"));
    ck_assert(!tensor_file_read(ctx, temp_path(&dir, "missing.npy"), &bulk, &all));
    ck_assert(expect_error(ctx, DIAG_FILE_READ, "missing.npy"));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("tensor files");
    TCase *tests = tcase_create("tensor files");

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, headers_that_numpy_writes_are_read, 0,
                        sizeof accepted / sizeof *accepted);
    tcase_add_test(tests, a_scalar_has_the_empty_shape);
    tcase_add_loop_test(tests, other_headers_are_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(tests, a_header_length_beyond_the_file_or_64_kib_allocates_nothing);
    tcase_add_test(tests, a_file_cut_off_anywhere_is_refused);
    tcase_add_loop_test(tests, every_type_and_rank_reads_back_as_it_was_written, DTYPE_NONE + 1,
                        DTYPE_COUNT);
    tcase_add_test(tests, an_archive_keeps_names_order_and_bytes);
    tcase_add_test(tests, deflated_members_are_read);
    tcase_add_test(tests, a_member_that_is_no_array_is_refused);
    tcase_add_test(tests, an_archive_with_a_changed_byte_never_crashes_the_reader);
    tcase_add_test(tests, an_archive_that_lies_about_a_size_is_refused);
    tcase_add_test(tests, a_tensor_proto_is_read);
    tcase_add_test(tests, a_file_of_another_kind_is_refused);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(make_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
