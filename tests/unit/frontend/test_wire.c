#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/wire.h"
#include "tests/support/expect.h"
#include "tests/support/onnx_blocks.h"

static struct ctx *ctx;
static struct arena arena;
static struct wire_image image;

static void setup(void)
{
    ctx = ctx_new("test.onnx");
    arena = (struct arena){ NULL };
}

static void teardown(void)
{
    arena_release(&arena);
    ctx_free(ctx);
}

static bool scan_model(const uint8_t *bytes, size_t n)
{
    return wire_scan(ctx, &onnx__model_proto__descriptor, bytes, n, &arena, &image);
}

static Onnx__ModelProto *unpack_model(const uint8_t *bytes, size_t n)
{
    if (!scan_model(bytes, n))
        return NULL;
    return (Onnx__ModelProto *)wire_unpack(ctx, &onnx__model_proto__descriptor, &image, &arena);
}

START_TEST(the_image_holds_the_graph_and_not_the_weights)
{
    struct onnx_builder *b = builder_mixed_network(1);
    size_t n;
    const uint8_t *bytes = builder_bytes(b, &n);
    const Onnx__ModelProto *model = unpack_model(bytes, n);

    ck_assert_msg(model != NULL, "%s", expect_text(ctx));
    ck_assert_uint_lt(image.size, n / 4);
    ck_assert_uint_eq(model->graph->n_node, b->graph->n_node);
    ck_assert_uint_eq(model->graph->n_initializer, b->graph->n_initializer);
    for (size_t i = 0; i < model->graph->n_node; i++) {
        ck_assert_str_eq(model->graph->node[i]->op_type, b->graph->node[i]->op_type);
        ck_assert_uint_eq(model->graph->node[i]->n_attribute, b->graph->node[i]->n_attribute);
    }
    for (size_t i = 0; i < model->graph->n_initializer; i++) {
        const Onnx__TensorProto *tensor = model->graph->initializer[i];

        ck_assert_uint_lt(tensor->payload, image.n_tensors);
        ck_assert_uint_eq(tensor->raw_data.len, 0);
        ck_assert_uint_ge(image.tensors[tensor->payload].size,
                          b->graph->initializer[i]->raw_data.len);
    }
    builder_free(b);
}
END_TEST

START_TEST(a_file_cannot_spell_the_index_of_a_payload)
{
    /* TensorProto: dims 1, payload (field 1000) 77, an unknown field 500. */
    static const uint8_t bytes[] = { 0x08, 1, 0xc0, 0x3e, 77, 0xa2, 0x1f, 2, 'h', 'i' };
    const Onnx__TensorProto *tensor;

    ck_assert(wire_scan(ctx, &onnx__tensor_proto__descriptor, bytes, sizeof bytes, &arena, &image));
    tensor = (const Onnx__TensorProto *)wire_unpack(ctx, &onnx__tensor_proto__descriptor, &image,
                                                    &arena);
    ck_assert_ptr_nonnull(tensor);
    ck_assert_uint_eq(tensor->payload, 0);
    ck_assert_uint_eq(tensor->base.n_unknown_fields, 0);
    ck_assert_uint_eq(image.n_tensors, 1);
}
END_TEST

/* Encodings that must be refused, as the body of a ModelProto. */
static const struct {
    const char *bytes;
    size_t n;
    const char *reason;
} broken[] = {
#define BYTES(text) text, sizeof text - 1
    { BYTES("\x08"), "a number is cut off" },
    { BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "cut off or too long" },
    { BYTES("\x00\x01"), "a field number is broken" },
    { BYTES("\x80\x80\x80\x80\x80\x01\x01"), "a field number is broken" },
    { BYTES("\x0b\x0c"), "an unknown wire type" },
    { BYTES("\x0e\x01"), "an unknown wire type" },
    { BYTES("\x12\x05"
            "ab"),
      "beyond the end" },
    { BYTES("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "beyond the end" },
    { BYTES("\x12\x80"), "a length is cut off" },
    { BYTES("\x12\x03"
            "a\0b"),
      "a NUL byte" },
    { BYTES("\x10\x01"), "encoded as another type" },
    { BYTES("\x0a\x01"
            "a"),
      "encoded as another type" },
    { BYTES("\x3a\x00\x3a\x00"), "occurs twice" },
    { BYTES("\x08\x01\x08\x02"), "occurs twice" },
    { BYTES("\x3a\x02\x0a\x7f"), "beyond the end" },
    { BYTES("\xfa\x01\x04"), "beyond the end" }, /* an unknown field */
    { BYTES("\xfd\x01\x00\x00"), "a 4-byte number is cut off" },
    { BYTES("\xf9\x01\x00\x00"), "an 8-byte number is cut off" },
    { BYTES("\x3a\x0d\x0a\x0b\x2a\x09\x3a\x03\x00\x00\x00\x42\x02\x01\x80"), "a packed list" },
#undef BYTES
};

START_TEST(broken_encodings_are_refused_with_the_reason)
{
    ck_assert(!scan_model((const uint8_t *)broken[_i].bytes, broken[_i].n));
    ck_assert_msg(expect_error(ctx, DIAG_ONNX_FORMAT, broken[_i].reason), "%s", expect_text(ctx));
}
END_TEST

/* A ModelProto whose graph holds `depth` - 2 graphs, each in an attribute of a node: from the
 * inside out, so that every length is known. */
static uint8_t *nested(size_t levels, size_t *size)
{
    static const uint8_t tags[] = { 0x32, 0x2a,
                                    0x0a }; /* attribute.g, node.attribute, graph.node */
    uint8_t *end = (uint8_t *)arena_alloc(&arena, levels * 24 + 24) + levels * 24 + 24, *at = end;

    for (size_t level = 0; level < 3 * levels + 1; level++) {
        uint64_t length = (uint64_t)(end - at);
        uint8_t varint[10];
        size_t n = 0;

        do
            varint[n++] = (uint8_t)((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
        while (length >>= 7);
        at -= n;
        memcpy(at, varint, n);
        *--at = level == 3 * levels ? 0x3a : tags[level % 3]; /* at last model.graph */
    }
    *size = (size_t)(end - at);
    return at;
}

START_TEST(nesting_is_limited_to_100_messages)
{
    size_t n;
    const uint8_t *bytes = nested(32, &n); /* 1 + 1 + 96 messages */

    ck_assert_msg(unpack_model(bytes, n) != NULL, "%s", expect_text(ctx));
    bytes = nested(33, &n);
    ck_assert(!scan_model(bytes, n));
    ck_assert(expect_error(ctx, DIAG_ONNX_FORMAT, "nested more than 100 deep"));
}
END_TEST

START_TEST(nesting_of_3000_graphs_does_not_exhaust_the_stack)
{
    size_t n;
    const uint8_t *bytes = nested(3000, &n);

    ck_assert(!scan_model(bytes, n));
    ck_assert(expect_error(ctx, DIAG_ONNX_FORMAT, "nested more than 100 deep"));
}
END_TEST

/* A model whose graph has n empty initialisers of two bytes. */
static uint8_t *empty_initialisers(size_t n, size_t *size)
{
    uint8_t *bytes = arena_alloc(&arena, 2 * n + 16), *at = bytes;
    uint64_t length = 2 * (uint64_t)n;

    *at++ = 0x3a;
    for (; length > 0x7f; length >>= 7)
        *at++ = (uint8_t)(length | 0x80);
    *at++ = (uint8_t)length;
    for (size_t i = 0; i < n; i++) {
        *at++ = 0x2a;
        *at++ = 0;
    }
    *size = (size_t)(at - bytes);
    return bytes;
}

START_TEST(two_megabytes_of_empty_messages_are_refused)
{
    size_t n;
    const uint8_t *bytes = empty_initialisers(1000000, &n);

    ck_assert(!scan_model(bytes, n));
    ck_assert(expect_error(ctx, DIAG_ONNX_FORMAT, "more than 1000000 messages"));
}
END_TEST

START_TEST(unpacking_stays_within_its_budget)
{
    size_t n;
    const uint8_t *bytes = empty_initialisers(900000, &n);

    ck_assert_ptr_null(unpack_model(bytes, n));
    ck_assert(expect_error(ctx, DIAG_ONNX_FORMAT, "too much memory for its size"));
}
END_TEST

START_TEST(a_file_of_more_than_2_gib_is_refused_unread)
{
    static const uint8_t byte;

    ck_assert(!wire_scan(ctx, &onnx__model_proto__descriptor, &byte, (size_t)WIRE_MAX_BYTES + 1,
                         &arena, &image));
    ck_assert(expect_error(ctx, DIAG_ONNX_FORMAT, "2147483648 bytes"));
}
END_TEST

START_TEST(varints_are_read_to_their_tenth_byte)
{
    static const uint8_t minus_one[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 };
    struct wire_cursor cursor = { minus_one, minus_one + sizeof minus_one };
    uint64_t value;

    ck_assert(wire_varint(&cursor, &value));
    ck_assert_uint_eq(value, UINT64_MAX);
    ck_assert(!wire_varint(&cursor, &value));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wire");
    TCase *tests = tcase_create("wire");
    SRunner *runner = srunner_create(suite);
    int failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, the_image_holds_the_graph_and_not_the_weights);
    tcase_add_test(tests, a_file_cannot_spell_the_index_of_a_payload);
    tcase_add_loop_test(tests, broken_encodings_are_refused_with_the_reason, 0,
                        sizeof broken / sizeof *broken);
    tcase_add_test(tests, nesting_is_limited_to_100_messages);
    tcase_add_test(tests, nesting_of_3000_graphs_does_not_exhaust_the_stack);
    tcase_add_test(tests, two_megabytes_of_empty_messages_are_refused);
    tcase_add_test(tests, unpacking_stays_within_its_budget);
    tcase_add_test(tests, a_file_of_more_than_2_gib_is_refused_unread);
    tcase_add_test(tests, varints_are_read_to_their_tenth_byte);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
