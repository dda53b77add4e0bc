#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/tensor.h"
#include "tests/support/expect.h"
#include "tests/support/onnx_builder.h"

static struct ctx *ctx;
static struct arena arena;
static struct bulk bulk;
static struct onnx_builder *b;

static void setup(void)
{
    ctx = ctx_new("test.onnx");
    arena = (struct arena){ NULL };
    bulk = (struct bulk){ NULL, 0 };
    b = builder_new(17);
}

static void teardown(void)
{
    builder_free(b);
    bulk_release(&bulk);
    arena_release(&arena);
    ctx_free(ctx);
}

static bool decode_bytes(const uint8_t *bytes, size_t n, struct tensor *out)
{
    struct wire_image image;
    struct tensor_source source = { .externals = NULL };
    struct tensor_reader reader = { .ctx = ctx,
                                    .arena = &arena,
                                    .bulk = &bulk,
                                    .file = bytes,
                                    .image = &image,
                                    .source = &source,
                                    .external_files = { .arena = &arena } };
    const Onnx__TensorProto *proto = NULL;

    if (wire_scan(ctx, &onnx__tensor_proto__descriptor, bytes, n, &arena, &image))
        proto = (const Onnx__TensorProto *)wire_unpack(ctx, &onnx__tensor_proto__descriptor, &image,
                                                       &arena);
    return proto && tensor_decode(&reader, NULL, proto, out);
}

static bool decode(const Onnx__TensorProto *proto, struct tensor *out)
{
    size_t n;
    const uint8_t *bytes = builder_tensor_bytes(b, proto, &n);

    return decode_bytes(bytes, n, out);
}

enum { N = 5 };

/* The elements of `raw` in the typed field that the format names for the type. */
static void fill_typed_field(Onnx__TensorProto *proto, enum dtype dtype, const void *raw)
{
    if (dtype == DTYPE_F32) {
        proto->n_float_data = N;
        proto->float_data = arena_memdup(&arena, raw, N * sizeof(float));
    } else if (dtype == DTYPE_F64) {
        proto->n_double_data = N;
        proto->double_data = arena_memdup(&arena, raw, N * sizeof(double));
    } else if (dtype == DTYPE_I64) {
        proto->n_int64_data = N;
        proto->int64_data = arena_memdup(&arena, raw, N * sizeof(int64_t));
    } else if (dtype == DTYPE_U32 || dtype == DTYPE_U64) {
        proto->n_uint64_data = N;
        proto->uint64_data = arena_array(&arena, uint64_t, N);
        for (int i = 0; i < N; i++)
            proto->uint64_data[i] = (uint64_t)dtype_load_int(dtype, raw, i);
    } else if (dtype_packed_bits(dtype) < 8) {
        proto->n_int32_data = (size_t)(N * dtype_packed_bits(dtype) + 7) / 8;
        proto->int32_data = arena_array(&arena, int32_t, N);
        for (size_t i = 0; i < proto->n_int32_data; i++)
            proto->int32_data[i] = ((const uint8_t *)raw)[i];
    } else {
        const size_t bytes = dtype_bytes(dtype);

        proto->n_int32_data = N;
        proto->int32_data = arena_array(&arena, int32_t, N);
        for (int i = 0; i < N; i++) {
            memcpy(&proto->int32_data[i], (const char *)raw + (size_t)i * bytes, bytes);
            if (dtype_kind(dtype) == KIND_INT)
                proto->int32_data[i] = (int32_t)dtype_load_int(dtype, raw, i);
        }
    }
}

static bool is_of_onnx(enum dtype dtype)
{
    for (int32_t code = 1; code < 64; code++)
        if (dtype_from_onnx(code) == dtype)
            return true;
    return false;
}

START_TEST(every_type_is_read_from_raw_data_and_from_its_typed_field)
{
    const enum dtype dtype = (enum dtype)_i;
    const struct type type = type_make(dtype, 2, (int64_t[]){ 1, N });
    uint8_t raw[8 * N];
    Onnx__TensorProto *proto;
    struct tensor from_raw, from_field;

    if (!is_of_onnx(dtype))
        return;
    for (size_t i = 0; i < sizeof raw; i++)
        raw[i] = dtype == DTYPE_BOOL ? i & 1 : (uint8_t)(0x91 + 0x3b * i);
    proto = builder_tensor_proto(b, "t", dtype, "1,5", raw);
    ck_assert_msg(decode(proto, &from_raw), "%s", expect_text(ctx));
    ck_assert(type_equal(&from_raw.type, &type));
    if (dtype_packed_bits(dtype) >= 8)
        ck_assert_mem_eq(from_raw.data, raw, N * dtype_bytes(dtype));
    for (int i = 0; dtype_packed_bits(dtype) < 8 && i < N; i++) {
        const int bits = dtype_packed_bits(dtype), each = 8 / bits, mask = (1 << bits) - 1;

        ck_assert_int_eq(((uint8_t *)from_raw.data)[i] & mask,
                         raw[i / each] >> i % each * bits & mask);
    }
    proto->has_raw_data = 0;
    fill_typed_field(proto, dtype, raw);
    ck_assert_msg(decode(proto, &from_field), "%s", expect_text(ctx));
    ck_assert(tensor_equal(&from_raw, &from_field));
}
END_TEST

/* Elements of 4 bits: the first one in the low half; i4 with its sign. */
START_TEST(two_elements_of_4_bits_lie_in_a_byte)
{
    static const struct {
        enum dtype dtype;
        double want[3];
    } rows[] = {
        { DTYPE_I4, { -1, 7, -8 } },
        { DTYPE_U4, { 15, 7, 8 } },
        { DTYPE_F4E2M1, { -6, 6, -0.0 } },
    };
    Onnx__TensorProto *proto =
        builder_tensor_proto(b, "t", rows[_i].dtype, "3", (const uint8_t[]){ 0x7f, 0xf8 });
    struct tensor tensor;

    ck_assert_msg(decode(proto, &tensor), "%s", expect_text(ctx));
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq(tensor_at(&tensor, i), rows[_i].want[i]);
    ck_assert_int_eq(((int8_t *)tensor.data)[2], _i ? 8 : -8);
}
END_TEST

START_TEST(four_elements_of_2_bits_lie_in_a_byte)
{
    static const struct {
        enum dtype dtype;
        double want[5];
    } rows[] = { { DTYPE_I2, { -1, 0, -2, 1, -2 } }, { DTYPE_U2, { 3, 0, 2, 1, 2 } } };
    Onnx__TensorProto *proto =
        builder_tensor_proto(b, "t", rows[_i].dtype, "5", (const uint8_t[]){ 0x63, 0x02 });
    struct tensor tensor;

    ck_assert_msg(decode(proto, &tensor), "%s", expect_text(ctx));
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq(tensor_at(&tensor, i), rows[_i].want[i]);
}
END_TEST

/* onnx 1.18 writes FLOAT4E2M1 so. */
START_TEST(one_float4_per_byte_is_read_as_well)
{
    static const char bytes[] = "\x08\x03\x10\x17\x4a\x03\x07\x09\x00";
    struct tensor tensor;

    ck_assert(decode_bytes((const uint8_t *)bytes, sizeof bytes - 1, &tensor));
    ck_assert_double_eq(tensor_at(&tensor, 0), 6);
    ck_assert_double_eq(tensor_at(&tensor, 1), -0.5);
}
END_TEST

/* TensorProtos by hand: dims 3, a type, elements 1 -2 3 or 1 2 3 in various encodings. */
static const struct {
    const char *bytes;
    size_t n;
    double want[3];
} encodings[] = {
#define BYTES(text) text, sizeof text - 1
#define MINUS_2 "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
    /* int32_data one by one, packed, and both mixed; i32, then i8 */
    { BYTES("\x08\x03\x10\x06\x28\x01\x28" MINUS_2 "\x28\x03"), { 1, -2, 3 } },
    { BYTES("\x08\x03\x10\x06\x2a\x0c\x01" MINUS_2 "\x03"), { 1, -2, 3 } },
    { BYTES("\x08\x03\x10\x06\x28\x01\x2a\x0b" MINUS_2 "\x03"), { 1, -2, 3 } },
    { BYTES("\x08\x03\x10\x03\x28\x01\x28" MINUS_2 "\x28\x03"), { 1, -2, 3 } },
    /* int64_data packed in two pieces */
    { BYTES("\x08\x03\x10\x07\x3a\x0b\x01" MINUS_2 "\x3a\x01\x03"), { 1, -2, 3 } },
    /* float_data one by one, and packed in two pieces */
    { BYTES("\x08\x03\x10\x01\x25\x00\x00\x80\x3f\x25\x00\x00\x00\xc0\x25\x00\x00\x40\x40"),
      { 1, -2, 3 } },
    { BYTES("\x08\x03\x10\x01\x22\x08\x00\x00\x80\x3f\x00\x00\x00\xc0\x22\x04\x00\x00\x40\x40"),
      { 1, -2, 3 } },
    /* uint64_data for u32; dims packed; the payload before the type */
    { BYTES("\x5a\x03\x01\x02\x03\x0a\x01\x03\x10\x0c"), { 1, 2, 3 } },
};

START_TEST(elements_may_come_packed_unpacked_and_in_pieces)
{
    struct tensor tensor;

    ck_assert_msg(decode_bytes((const uint8_t *)encodings[_i].bytes, encodings[_i].n, &tensor),
                  "%s", expect_text(ctx));
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq(tensor_at(&tensor, i), encodings[_i].want[i]);
}
END_TEST

static const struct {
    const char *bytes;
    size_t n;
    enum diag_code code;
    const char *part;
} malformed[] = {
    { BYTES("\x08\x02\x10\x01\x4a\x04\x00\x00\x00\x00"), DIAG_ONNX_TENSOR,
      "a payload of 4 bytes, its type (2) f32 needs 8" },
    { BYTES("\x08\x02\x10\x06\x28\x01"), DIAG_ONNX_TENSOR,
      "a payload of 1 elements, its type (2) i32 needs 2" },
    { BYTES("\x08\x02\x10\x01"), DIAG_ONNX_TENSOR, "a payload of 0 elements" },
    { BYTES(""), DIAG_ONNX_TENSOR, "the unknown element type 0" },
    { BYTES("\x10\x63"), DIAG_ONNX_TENSOR, "the unknown element type 99" },
    { BYTES("\x10\x08\x32\x01x"), DIAG_UNSUPPORTED_TYPE, "the element type string" },
    { BYTES("\x10\x0e"), DIAG_UNSUPPORTED_TYPE, "the element type complex64" },
    { BYTES("\x10\x1b"), DIAG_UNSUPPORTED_TYPE, "the element type float6e2m3" },
    { BYTES("\x10\x16"), DIAG_ONNX_TENSOR, "a payload of 0 elements, its type () i4 needs 1" },
    { BYTES("\x08\x03\x10\x16\x4a\x03\x01\x02\x03"), DIAG_ONNX_TENSOR,
      "a payload of 3 bytes, its type (3) i4 needs 2" },
    { BYTES("\x08\x03\x10\x15\x28\x01\x28\x02\x28\x03"), DIAG_ONNX_TENSOR,
      "a payload of 3 elements, its type (3) u4 needs 2" },
    { BYTES("\x08\x01\x10\x15\x28\x80\x02"), DIAG_ONNX_TENSOR, "its type cannot hold" },
    { BYTES("\x08\x03\x10\x17\x4a\x03\x01\x02\x13"), DIAG_ONNX_TENSOR,
      "a payload of 3 bytes, its type (3) f4e2m1 needs 2" },
    { BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01"), DIAG_ONNX_TENSOR,
      "a negative dimension" },
    { BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x40\x08\x80\x80\x80\x80\x80\x80\x80\x80\x40\x10"
            "\x01"),
      DIAG_TOO_BIG, "" },
    { BYTES("\x08\x80\x80\x80\x80\x80\x20\x10\x01"), DIAG_TOO_BIG, "" },
    { BYTES("\x0a\x09\1\1\1\1\1\1\1\1\1\x10\x01\x25\x00\x00\x80\x3f"), DIAG_UNSUPPORTED_FORM,
      "rank 9, at most 8" },
    { BYTES("\x08\x01\x10\x02\x4a\x01\x05\x4a\x01\x05"), DIAG_ONNX_TENSOR,
      "several raw_data fields" },
    { BYTES("\x08\x01\x10\x01\x48\x05"), DIAG_ONNX_TENSOR, "a broken raw_data field" },
    { BYTES("\x08\x01\x10\x01\x4a\x04\x00\x00\x80\x3f\x25\x00\x00\x80\x3f"), DIAG_ONNX_TENSOR,
      "its payload in several fields" },
    { BYTES("\x08\x01\x10\x01\x28\x01"), DIAG_ONNX_TENSOR, "its payload in int32_data" },
    { BYTES("\x08\x01\x10\x06\x38\x01"), DIAG_ONNX_TENSOR, "its payload in int64_data" },
    { BYTES("\x08\x01\x10\x01\x22\x05\x00\x00\x00\x00\x00"), DIAG_ONNX_TENSOR,
      "a broken list of elements" },
    { BYTES("\x08\x01\x10\x06\x2a\x01\x80"), DIAG_ONNX_TENSOR, "a broken list of elements" },
    { BYTES("\x08\x01\x10\x03\x28\xac\x02"), DIAG_ONNX_TENSOR, "its type cannot hold" },
    { BYTES("\x08\x01\x10\x02\x28" MINUS_2), DIAG_ONNX_TENSOR, "its type cannot hold" },
    { BYTES("\x08\x01\x10\x0c\x58\x80\x80\x80\x80\x10"), DIAG_ONNX_TENSOR, "its type cannot hold" },
    { BYTES("\x08\x01\x10\x09\x28\x02"), DIAG_ONNX_TENSOR, "its type cannot hold" },
    { BYTES("\x08\x01\x10\x09\x4a\x01\x02"), DIAG_ONNX_TENSOR, "other bytes than 0 and 1" },
    { BYTES("\x10\x01\x25\x00\x00\x80\x3f\x6a\x00"), DIAG_ONNX_TENSOR,
      "its location is not external" },
    { BYTES("\x10\x01\x25\x00\x00\x80\x3f\x70\x01"), DIAG_ONNX_TENSOR, "its location is external" },
    { BYTES("\x10\x01\x70\x01"), DIAG_ONNX_EXTERNAL, "the location is missing" },
};

START_TEST(malformed_tensors_are_refused_with_the_reason)
{
    struct tensor tensor;

    ck_assert(!decode_bytes((const uint8_t *)malformed[_i].bytes, malformed[_i].n, &tensor));
    ck_assert_msg(expect_error(ctx, malformed[_i].code, malformed[_i].part), "%s",
                  expect_text(ctx));
}
END_TEST

START_TEST(a_payload_is_borrowed_where_its_alignment_allows_it_and_copied_otherwise)
{
    static const float want[4] = { 1, 2, 3, 4 };
    size_t n;
    const uint8_t *bytes =
        builder_tensor_bytes(b, builder_tensor_proto(b, "t", DTYPE_F32, "4", want), &n);
    uint8_t *moved = arena_alloc(&arena, n + 8);
    int n_borrowed = 0;

    for (size_t shift = 0; shift < 8; shift++) {
        struct tensor tensor;
        bool inside;

        memcpy(moved + shift, bytes, n);
        ck_assert(decode_bytes(moved + shift, n, &tensor));
        ck_assert_mem_eq(tensor.data, want, sizeof want);
        ck_assert_uint_eq((uintptr_t)tensor.data % sizeof(float), 0);
        inside = (uint8_t *)tensor.data >= moved && (uint8_t *)tensor.data < moved + n + 8;
        n_borrowed += inside;
    }
    ck_assert_int_eq(n_borrowed, 2);
}
END_TEST

START_TEST(an_empty_tensor_has_a_payload_of_no_bytes)
{
    struct tensor tensor;

    ck_assert(decode(builder_tensor_proto(b, "t", DTYPE_F32, "3,0,2", NULL), &tensor));
    ck_assert_int_eq(type_elements(&tensor.type), 0);
    ck_assert_ptr_nonnull(tensor.data);
}
END_TEST

START_TEST(a_hostile_name_reaches_no_message_unescaped)
{
    Onnx__TensorProto *proto = builder_tensor_proto(b, "\033[31m\"\n", DTYPE_F32, "2", NULL);
    struct tensor tensor;

    proto->raw_data.len = 3;
    ck_assert(!decode(proto, &tensor));
    ck_assert(expect_error(ctx, DIAG_ONNX_TENSOR, "\\x1B[31m"));
    ck_assert_ptr_null(strchr(expect_text(ctx), '\033'));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx tensor");
    TCase *tests = tcase_create("onnx tensor");
    SRunner *runner = srunner_create(suite);
    int failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, two_elements_of_4_bits_lie_in_a_byte, 0, 3);
    tcase_add_loop_test(tests, four_elements_of_2_bits_lie_in_a_byte, 0, 2);
    tcase_add_test(tests, one_float4_per_byte_is_read_as_well);
    tcase_add_loop_test(tests, every_type_is_read_from_raw_data_and_from_its_typed_field,
                        DTYPE_NONE + 1, DTYPE_COUNT);
    tcase_add_loop_test(tests, elements_may_come_packed_unpacked_and_in_pieces, 0,
                        sizeof encodings / sizeof *encodings);
    tcase_add_loop_test(tests, malformed_tensors_are_refused_with_the_reason, 0,
                        sizeof malformed / sizeof *malformed);
    tcase_add_test(tests, a_payload_is_borrowed_where_its_alignment_allows_it_and_copied_otherwise);
    tcase_add_test(tests, an_empty_tensor_has_a_payload_of_no_bytes);
    tcase_add_test(tests, a_hostile_name_reaches_no_message_unescaped);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
