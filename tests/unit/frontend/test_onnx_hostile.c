/* Files that are broken on purpose: whatever the bytes, the importer returns, and a refusal has a
 * diagnostic. (tests/fuzz/ goes further with the same claim.) */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/import.h"
#include "relay_ir/verify.h"
#include "tests/support/expect.h"
#include "tests/support/onnx_builder.h"

static struct onnx_builder *b;

/* A small model with a bit of everything that the importer handles itself. */
static void setup(void)
{
    static const float kernel[] = { 1, 2, 3, 4 };
    const int64_t shape[] = { 1, -1 };
    const uint8_t yes = 1;
    struct builder_outer outer;

    b = builder_new(17);
    builder_input(b, "x", DTYPE_F32, "1,1,4,4");
    builder_input(b, "w", DTYPE_F32, "1,1,2,2");
    builder_floats(b, "w", "1,1,2,2", kernel);
    builder_ints(b, "shape", "2", shape);
    builder_tensor(b, "cond", DTYPE_BOOL, "", &yes);
    builder_node(b, "Conv", "x w", "c");
    builder_attrs(b, "pads=[0,0,1,1] strides=[1,1] auto_pad='NOTSET'");
    builder_node(b, "If", "cond", "r");
    outer = builder_begin_graph(b, "then_branch");
    builder_node(b, "Relu", "c", "t");
    builder_output(b, "t", DTYPE_F32, "1,1,4,4");
    builder_end_graph(b, outer);
    outer = builder_begin_graph(b, "else_branch");
    builder_output(b, "c", DTYPE_F32, "1,1,4,4");
    builder_end_graph(b, outer);
    builder_node(b, "Constant", "", "axes");
    builder_attrs(b, "value_ints=[2,3]");
    builder_node(b, "Unsqueeze", "r axes", "u");
    builder_node(b, "Reshape", "u shape", "y");
    builder_output(b, "y", DTYPE_F32, "1,16");
}

static void teardown(void)
{
    builder_free(b);
}

/* Returns whether the bytes were accepted. */
static bool survive(const uint8_t *bytes, size_t n, const char *what, size_t where)
{
    struct ctx *ctx = ctx_new("test.onnx");
    struct module *module = onnx_import_bytes(ctx, bytes, n, NULL, NULL);
    const bool accepted = module != NULL;

    if (accepted)
        ck_assert_msg(ctx->diags.n_errors == 0 && module_verify(module, "import"), "%s %zu: %s",
                      what, where, expect_text(ctx));
    else
        ck_assert_msg(ctx->diags.n_errors > 0, "%s %zu: refused without a reason", what, where);
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        ck_assert_msg(d->code != DIAG_INTERNAL, "%s %zu: %s", what, where, expect_text(ctx));
    module_free(module);
    ctx_free(ctx);
    return accepted;
}

START_TEST(a_model_cut_off_anywhere_is_survived)
{
    size_t n;
    const uint8_t *bytes = builder_bytes(b, &n);

    ck_assert(survive(bytes, n, "whole", n));
    for (size_t i = 0; i < n; i++)
        survive(bytes, i, "cut at", i);
}
END_TEST

START_TEST(each_flipped_bit_is_survived)
{
    size_t n, n_accepted = 0;
    const uint8_t *bytes = builder_bytes(b, &n);
    uint8_t *copy = arena_memdup(&b->arena, bytes, n);

    for (size_t bit = 0; bit < 8 * n; bit++) {
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        n_accepted += survive(copy, n, "bit", bit);
        copy[bit / 8] = bytes[bit / 8];
    }
    ck_assert_uint_gt(n_accepted, 0); /* bits of weights and unread text */
    ck_assert_uint_lt(n_accepted, 8 * n);
}
END_TEST

/* Several changes at once: bytes set, pieces copied over others. */
START_TEST(thousands_of_seeded_corruptions_are_survived)
{
    enum { ROUNDS = 5000 };
    size_t n;
    const uint8_t *bytes = builder_bytes(b, &n);
    uint8_t *copy = arena_alloc(&b->arena, n);

    b->random = 12345;
    for (size_t round = 0; round < ROUNDS; round++) {
        memcpy(copy, bytes, n);
        for (int changes = (int)(round % 7) + 1; changes; changes--) {
            const size_t from = (size_t)((builder_next_random(b) + 1) / 2 * (double)n) % n;
            const size_t to = (size_t)((builder_next_random(b) + 1) / 2 * (double)n) % n;
            const size_t length = (round + (size_t)changes) % 24;

            if (round % 2 && from + length <= n && to + length <= n)
                memmove(copy + to, copy + from, length);
            else
                copy[to] = (uint8_t)(128 * (builder_next_random(b) + 1));
        }
        survive(copy, n, "round", round);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx hostile");
    TCase *tests = tcase_create("onnx hostile");
    SRunner *runner = srunner_create(suite);
    int failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, a_model_cut_off_anywhere_is_survived);
    tcase_add_test(tests, each_flipped_bit_is_survived);
    tcase_add_test(tests, thousands_of_seeded_corruptions_are_survived);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
