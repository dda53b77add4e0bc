#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/map.h"
#include "base/str.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

START_TEST(arena_pieces_are_zeroed_aligned_and_apart)
{
    static const size_t sizes[] = { 0, 1, 15, 16, 17, 1000, 65535, 65536, 65537, 1 << 20, 3 };
    struct arena arena = { NULL };
    enum { N = sizeof sizes / sizeof *sizes, PIECES = 20 * N };
    unsigned char *pieces[PIECES];

    for (size_t i = 0; i < PIECES; i++) {
        const size_t bytes = sizes[i % N];

        pieces[i] = arena_alloc(&arena, bytes);
        ck_assert_uint_eq((uintptr_t)pieces[i] % 16, 0);
        for (size_t k = 0; k < bytes; k++)
            if (pieces[i][k])
                ck_abort_msg("byte %zu of %zu is not zero", k, bytes);
        memset(pieces[i], (int)(i + 1), bytes);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < sizes[i % N]; k += 997)
            ck_assert_uint_eq(pieces[i][k], (unsigned char)(i + 1));
    arena_release(&arena);
    ck_assert_ptr_null(arena.blocks);
    ck_assert_str_eq(arena_strdup(&arena, "usable again"), "usable again");
    arena_release(&arena);
}
END_TEST

START_TEST(small_pieces_share_a_block_across_a_big_one)
{
    struct arena arena = { NULL };
    const char *before = arena_alloc(&arena, 16);

    arena_alloc(&arena, 1 << 20);
    ck_assert_ptr_eq(arena_alloc(&arena, 16), before + 16);
    arena_release(&arena);
}
END_TEST

START_TEST(arena_text_is_copied_and_formatted)
{
    struct arena arena = { NULL };
    char long_text[5000];

    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    ck_assert_str_eq(arena_strndup(&arena, "abcdef", 3), "abc");
    ck_assert_str_eq(arena_printf(&arena, "%d-%s", 7, "b"), "7-b");
    ck_assert_str_eq(arena_printf(&arena, "%s", long_text), long_text);
    ck_assert_str_eq(arena_printf(&arena, "%s", ""), "");
    ck_assert_mem_eq(arena_memdup(&arena, "a\0b", 3), "a\0b", 3);
    arena_release(&arena);
}
END_TEST

START_TEST(an_overflowing_array_is_out_of_memory)
{
    struct arena arena = { NULL };

    arena_alloc_array(&arena, SIZE_MAX / 2, 4);
}
END_TEST

START_TEST(bulk_keeps_exactly_what_is_pointed_into)
{
    enum { N = 20000 };
    static char *payloads[N];
    static const void *inside[N];
    struct bulk bulk = { 0 };
    size_t n = 0;
    int foreign;

    for (int i = 0; i < N; i++) {
        payloads[i] = bulk_alloc(&bulk, (size_t)(i % 200));
        ck_assert_uint_eq((uintptr_t)payloads[i] % 64, 0);
        memset(payloads[i], i % 251, (size_t)(i % 200));
    }
    for (int i = 0; i < N; i += 3)
        inside[n++] = payloads[i] + (i % 200 ? i % 200 - 1 : 0); /* the last byte counts as well */
    inside[n++] = &foreign;
    inside[n++] = NULL;
    bulk_keep(&bulk, inside, n);
    for (int i = 0; i < N; i += 3)
        for (int k = 0; k < i % 200; k++)
            ck_assert_int_eq((unsigned char)payloads[i][k], i % 251);
    n = 0;
    for (int i = 0; i < N; i += 3)
        n += i % 200 ? (size_t)(i % 200 + 63) / 64 * 64 : 64;
    ck_assert_uint_eq(bulk.bytes, n);
    bulk_release(&bulk);
    ck_assert_uint_eq(bulk.bytes, 0);
    ck_assert_ptr_null(bulk.blocks);
}
END_TEST

START_TEST(a_neighbour_of_a_payload_is_not_inside)
{
    struct bulk bulk = { 0 };
    const char *payload = bulk_alloc(&bulk, 64);
    const void *outside[] = { payload - 1, payload + 64 };

    bulk_keep(&bulk, outside, 2);
    ck_assert_ptr_null(bulk.blocks);
}
END_TEST

START_TEST(text_grows_and_is_always_terminated)
{
    struct arena arena = { NULL };
    struct str str = { .arena = &arena };
    char want[6001] = "";

    ck_assert_str_eq(str_text(&str), "");
    for (int i = 0; i < 1000; i++) {
        str_printf(&str, "%03d", i);
        str_addn(&str, "abc", 2);
        str_add(&str, ";");
        snprintf(want + i * 6, sizeof want - (size_t)i * 6, "%03dab;", i);
        ck_assert_uint_eq(strlen(str.text), str.n);
    }
    ck_assert_str_eq(str_text(&str), want);
    str_clear(&str);
    ck_assert_str_eq(str_text(&str), "");
    str_add(&str, "x");
    ck_assert_str_eq(str_text(&str), "x");
    arena_release(&arena);
}
END_TEST

static const struct {
    const char *text, *want;
    size_t limit;
} safe[] = {
    { "", "", 10 },
    { "conv1/weight:0", "conv1/weight:0", 100 },
    { "a\x1b[31mb", "a\\x1B[31mb", 100 },
    { "line\nline\r\t", "line\\x0Aline\\x0D\\x09", 100 },
    { "\"*/\\", "\\x22*/\\x5C", 100 },
    { "\x7f", "\\x7F", 100 },
    { "\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac", 100 }, /* e acute, euro */
    { "\xc0\xaf", "\\xC0\\xAF", 100 },                       /* overlong */
    { "\xe0\x80\xaf", "\\xE0\\x80\\xAF", 100 },              /* overlong */
    { "\xed\xa0\x80", "\\xED\\xA0\\x80", 100 },              /* a surrogate */
    { "\xc2\x9b"
      "31m",
      "\\xC2\\x9B"
      "31m",
      100 }, /* C1: CSI */
    { "a\xe2\x80\xae"
      "b",
      "a\\xE2\\x80\\xAE"
      "b",
      100 },                                    /* right-to-left override */
    { "\xe2\x81\xa6", "\\xE2\\x81\\xA6", 100 }, /* isolate */
    { "\xe2\x82", "\\xE2\\x82", 100 },          /* cut short */
    { "abcdef", "abc...", 3 },
    { "abc", "abc", 3 },
    { "ab\xe2\x82\xac"
      "d",
      "ab\xe2\x82\xac...", 3 },
};

START_TEST(unsafe_text_is_escaped)
{
    struct arena arena = { NULL };

    ck_assert_str_eq(str_safe(&arena, safe[_i].text, safe[_i].limit), safe[_i].want);
    arena_release(&arena);
}
END_TEST

static const struct {
    const char *word, *want;
} near[] = {
    { "comple", "compile" }, { "compile", "compile" }, { "verfiy", "verify" },
    { "x", NULL },           { "inspekt", "inspect" }, { "", NULL },
    { "something", NULL },
};

START_TEST(a_misspelt_word_finds_its_neighbour)
{
    static const char *const words[] = { "compile", "inspect", "verify", "run" };
    const char *found = str_nearest(near[_i].word, words, 4);

    if (near[_i].want)
        ck_assert_str_eq(found, near[_i].want);
    else
        ck_assert_ptr_null(found);
}
END_TEST

START_TEST(text_begins_and_ends)
{
    ck_assert(str_starts("model.onnx", "model"));
    ck_assert(str_starts("a", ""));
    ck_assert(!str_starts("mod", "model"));
    ck_assert(str_ends("model.onnx", ".onnx"));
    ck_assert(str_ends("a", ""));
    ck_assert(!str_ends("nx", ".onnx"));
}
END_TEST

START_TEST(a_map_finds_every_key_in_order_of_insertion)
{
    enum { N = 20000 };
    struct arena arena = { NULL };
    struct map map = { .arena = &arena };
    static int values[N];

    ck_assert_ptr_null(map_get(&map, "nothing yet"));
    for (int i = 0; i < N; i++)
        map_set(&map, arena_printf(&arena, "key %d", i), &values[i]);
    map_set(&map, "key 7", &values[8]); /* replaced */
    map_set(&map, "key 9", NULL);       /* as good as removed */
    ck_assert_uint_eq(map.n, N);
    for (int i = 0; i < N; i++) {
        const char *key = arena_printf(&arena, "key %d", i);

        ck_assert_str_eq(map.entries[i].key, key);
        ck_assert_ptr_eq(map_get(&map, key), i == 7 ? &values[8] : i == 9 ? NULL : &values[i]);
    }
    ck_assert_ptr_null(map_get(&map, "key"));
    map_set(&map, "", &values[0]);
    ck_assert_ptr_eq(map_get(&map, ""), &values[0]);
    arena_release(&arena);
}
END_TEST

static char printed[8192];

static const char *print_diags(struct ctx *ctx, bool colour, int limit)
{
    FILE *out = fmemopen(printed, sizeof printed, "w");

    diag_print(ctx, out, colour, limit);
    fclose(out);
    return printed;
}

static const struct origin conv = { .name = "conv\n1", .op_type = "Conv", .index = 17 };
static const struct origin pool = { .name = "", .op_type = "MaxPool", .index = 18 };
static const struct origin made = { .name = "x", .op_type = "add", .index = -1 };

START_TEST(a_diagnostic_says_what_where_and_how_to_go_on)
{
    struct ctx *ctx = ctx_new("resnet8.onnx");

    ck_assert(!diag_error(ctx, DIAG_SHAPE, &conv, "weight expects %d channels, x has %d", 16, 8));
    diag_note(ctx, "one");
    diag_note(ctx, "two");
    diag_help(ctx, "export again");
    diag_warn(ctx, DIAG_USAGE, NULL, "careful");
    ck_assert_str_eq(print_diags(ctx, false, 0),
                     "error[R0301]: weight expects 16 channels, x has 8\n"
                     " --> resnet8.onnx: node #17 \"conv\\x0A1\" (Conv)\n"
                     "note: one\n"
                     "      two\n"
                     "help: export again\n"
                     "warning[R0501]: careful\n"
                     " --> resnet8.onnx\n");
    ck_assert_ptr_nonnull(strstr(print_diags(ctx, true, 0), "\033[1;31merror[R0301]\033[0m: "));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert_int_eq(ctx->diags.n_warnings, 1);
    ctx_free(ctx);
}
END_TEST

START_TEST(the_same_problem_of_several_nodes_is_one_message)
{
    struct ctx *ctx = ctx_new(NULL);

    diag_error(ctx, DIAG_SHAPE, &conv, "bad");
    diag_error(ctx, DIAG_TYPE, &conv, "bad"); /* another code is another problem */
    diag_error(ctx, DIAG_SHAPE, &pool, "bad");
    diag_error(ctx, DIAG_SHAPE, &made, "bad");
    ck_assert_str_eq(
        print_diags(ctx, false, 2),
        "error[R0301]: bad\n --> node #17 \"conv\\x0A1\" (Conv)\n --> node #18 (MaxPool)\n"
        " ... and 1 more node\nerror[R0302]: bad\n --> node #17 \"conv\\x0A1\" (Conv)\n");
    ck_assert_ptr_nonnull(strstr(print_diags(ctx, false, 0), " --> \"x\" (add)\n"));
    ctx_free(ctx);
}
END_TEST

START_TEST(a_repeated_diagnostic_is_recorded_once_with_its_own_notes)
{
    struct ctx *ctx = ctx_new(NULL);

    diag_error(ctx, DIAG_SHAPE, &conv, "bad");
    diag_help(ctx, "way out");
    diag_error(ctx, DIAG_SHAPE, &pool, "worse");
    diag_error(ctx, DIAG_SHAPE, &conv, "bad");
    diag_help(ctx, "way out");
    ck_assert_int_eq(ctx->diags.n_errors, 2);
    ck_assert_str_eq(ctx->diags.first->help, "way out");
    ck_assert_ptr_null(ctx->diags.last->help);
    ctx_free(ctx);
}
END_TEST

START_TEST(tentative_diagnostics_are_forgotten)
{
    struct ctx *ctx = ctx_new("m");
    struct diags saved;

    diag_error(ctx, DIAG_SHAPE, &conv, "first");
    saved = diag_save(ctx);
    ck_assert_int_eq(ctx->diags.n_errors, 0);
    diag_error(ctx, DIAG_SHAPE, &conv, "tentative");
    diag_error(ctx, DIAG_SHAPE, &conv, "first");
    ck_assert_str_eq(ctx->diags.last->file, "m");
    ck_assert_int_eq(ctx->diags.n_errors, 2);
    diag_restore(ctx, saved);
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert_ptr_null(ctx->diags.first->next);
    diag_error(ctx, DIAG_SHAPE, &conv, "first");     /* still known */
    diag_error(ctx, DIAG_SHAPE, &conv, "tentative"); /* never said */
    ck_assert_int_eq(ctx->diags.n_errors, 2);
    ctx_free(ctx);
}
END_TEST

START_TEST(a_hundred_thousand_diagnostics_take_no_time)
{
    struct ctx *ctx = ctx_new(NULL);
    struct origin *nodes = arena_array(&ctx->perm, struct origin, 100000);

    for (int i = 0; i < 100000; i++) {
        nodes[i] = (struct origin){ .name = "", .op_type = "Op", .index = i };
        diag_error(ctx, DIAG_UNSUPPORTED_OP, &nodes[i], "unsupported %d", i % 1000);
    }
    ck_assert_ptr_nonnull(strstr(print_diags(ctx, false, 1), " ... and 99 more nodes\n"));
    ctx_free(ctx);
}
END_TEST

static const struct {
    enum diag_code codes[3];
    int want;
} exits[] = {
    { { 0 }, 0 },
    { { DIAG_SHAPE }, 1 },
    { { DIAG_USAGE, DIAG_SHAPE }, 2 },
    { { DIAG_SHAPE, DIAG_FILE_READ, DIAG_USAGE }, 3 },
    { { DIAG_FILE_WRITE, DIAG_INTERNAL }, 70 },
};

START_TEST(the_worst_error_decides_the_exit_code)
{
    struct ctx *ctx = ctx_new(NULL);

    diag_warn(ctx, DIAG_INTERNAL, NULL, "a warning does not count");
    for (int i = 0; i < 3 && exits[_i].codes[i]; i++)
        diag_error(ctx, exits[_i].codes[i], NULL, "x");
    ck_assert_int_eq(diag_exit_code(ctx), exits[_i].want);
    ctx_free(ctx);
}
END_TEST

START_TEST(every_code_is_explained)
{
    static const enum diag_code codes[] = {
#define DIAG(symbol, number, title, explanation) DIAG_##symbol,
#include "base/diag.def"
#undef DIAG
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        ck_assert_ptr_nonnull(diag_title(codes[i]));
        ck_assert_uint_gt(strlen(diag_explanation(codes[i])), 10);
        ck_assert(i == 0 || codes[i] > codes[i - 1]); /* and no number is used twice */
    }
    ck_assert_ptr_null(diag_title((enum diag_code)9999));
    ck_assert_ptr_null(diag_explanation((enum diag_code)9999));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *tcase = tcase_create("base");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tcase, arena_pieces_are_zeroed_aligned_and_apart);
    tcase_add_test(tcase, small_pieces_share_a_block_across_a_big_one);
    tcase_add_test(tcase, arena_text_is_copied_and_formatted);
    tcase_add_exit_test(tcase, an_overflowing_array_is_out_of_memory, 3);
    tcase_add_test(tcase, bulk_keeps_exactly_what_is_pointed_into);
    tcase_add_test(tcase, a_neighbour_of_a_payload_is_not_inside);
    tcase_add_test(tcase, text_grows_and_is_always_terminated);
    tcase_add_loop_test(tcase, unsafe_text_is_escaped, 0, N_ROWS(safe));
    tcase_add_loop_test(tcase, a_misspelt_word_finds_its_neighbour, 0, N_ROWS(near));
    tcase_add_test(tcase, text_begins_and_ends);
    tcase_add_test(tcase, a_map_finds_every_key_in_order_of_insertion);
    tcase_add_test(tcase, a_diagnostic_says_what_where_and_how_to_go_on);
    tcase_add_test(tcase, the_same_problem_of_several_nodes_is_one_message);
    tcase_add_test(tcase, a_repeated_diagnostic_is_recorded_once_with_its_own_notes);
    tcase_add_test(tcase, tentative_diagnostics_are_forgotten);
    tcase_add_test(tcase, a_hundred_thousand_diagnostics_take_no_time);
    tcase_add_loop_test(tcase, the_worst_error_decides_the_exit_code, 0, N_ROWS(exits));
    tcase_add_test(tcase, every_code_is_explained);
    suite_add_tcase(suite, tcase);
    srunner_set_fork_status(runner, CK_FORK); /* tests end the process */
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
