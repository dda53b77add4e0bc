/* test_diff.c - facts of NAME.json, what is matched with what, numbers read back from C. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/str.h"
#include "report/diff.h"
#include "report/diff_words.h"
#include "report/values.h"
#include "tests/support/temp_dir.h"

static struct temp_dir folder;
static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
    folder = temp_dir_new();
}

static void teardown(void)
{
    temp_dir_free(&folder);
    ctx_free(ctx);
}

static const char *put(const char *name, const char *text)
{
    return temp_file(&folder, name, text, strlen(text));
}

/* A NAME.json with these members; ' stands for ". */
static struct facts *facts_of(const char *name, const char *members)
{
    char *text =
        arena_printf(&ctx->perm, "{ 'schema': 'relayc-model', 'version': 1, %s }", members);

    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return facts_read(ctx, put(name, text));
}

/* "a+b|kernel c|kernel": regions of these nodes, with the signature of their kernel. */
static const char *regions(const char *list)
{
    struct str out = { .arena = &ctx->perm };
    int n = 0;

    str_add(&out, "'regions': [");
    while (*list) {
        const size_t nodes = strcspn(list, "|"), all = strcspn(list, " ");
        const char *kernel = arena_strndup(&ctx->perm, list + nodes + 1, all - nodes - 1);

        str_printf(&out, "%s{ 'function': 'f%d', 'kernel': '%s', 'signature': '%s()', 'nodes': [",
                   n ? ", " : "", n, kernel, kernel);
        for (size_t at = 0; at < nodes;) {
            const size_t length = strcspn(list + at, "+|");

            str_printf(&out, "%s{ 'name': '%.*s', 'op_type': 'Op' }", at ? ", " : "", (int)length,
                       list + at);
            at += length + 1;
        }
        str_add(&out, "] }");
        n++;
        list += all;
        list += strspn(list, " ");
    }
    str_add(&out, "]");
    return str_text(&out);
}

/* "~b+c +d -e": the regions of the difference that are not equal, by their nodes. */
static const char *difference(const char *old, const char *new)
{
    const struct diff *diff =
        diff_make(ctx, facts_of("old.json", regions(old)), facts_of("new.json", regions(new)));
    struct str out = { .arena = &ctx->perm };

    for (int i = 0; i < diff->n_regions; i++) {
        const struct diff_region *r = &diff->regions[i];
        const struct fact_region *named = r->new ? r->new : r->old;

        if (r->state == DIFF_EQUAL)
            continue;
        str_printf(&out, "%s%c", out.n ? " " : "", diff_signs[r->state]);
        for (int k = 0; k < named->n_nodes; k++)
            str_printf(&out, "%s%s", k ? "+" : "", named->nodes[k].name);
    }
    ck_assert_int_eq(diff->differs, out.n > 0);
    return str_text(&out);
}

static const struct {
    const char *old, *new, *wanted;
} pairs[] = {
    { "a|x b|y", "a|x b|y", "" },
    { "a|x b|y", "b|y a|x", "" },               /* the order is no difference */
    { "a|x b|y", "a|x b|z", "~b" },             /* another kernel */
    { "a|x b|y c|z", "a|x c|z", "-b" },         /* gone */
    { "a|x b|y", "a|x n|z b|y", "+n" },         /* a new one in between */
    { "a+b|x", "a+n+b|x", "~a+n+b" },           /* a new one that is fused */
    { "a+b|x c|y", "a|x b|e c|y", "~a +b" },    /* fusion undone: the anchor stays */
    { "a|t a|x b|y", "a|x b|y", "-a" },         /* two of one origin */
    { "a|x b|y c|z", "p|x q|y r|z", "" },       /* all have other names */
    { "a|x b|y c|z", "p|x n|m q|y r|z", "+n" }, /* and one is new */
    { "a|x b|y", "c|z", "+c -a -b" },           /* nothing in common */
    { "", "a|x", "+a" },
    { "a|x", "", "-a" },
    { "", "", "" },
};

START_TEST(test_match)
{
    ck_assert_str_eq(difference(pairs[_i].old, pairs[_i].new), pairs[_i].wanted);
}
END_TEST

/* Nodes without names are told apart by what they compute. */
START_TEST(test_nodes_without_names)
{
    static const char one[] = "'regions': [ { 'function': 'f', 'kernel': 'k', 'nodes': "
                              "[ { 'name': '', 'op_type': 'Conv', 'output': '%s' } ] } ]";
    const struct facts *old = facts_of("old.json", arena_printf(&ctx->perm, one, "y1"));

    ck_assert_str_eq(region_label(&ctx->perm, &old->regions[0], 3), "Conv:y1");
    ck_assert(!diff_make(ctx, old, old)->differs);
}
END_TEST

/* What older files lack is no difference. */
START_TEST(test_older_file)
{
    const struct facts *old =
        facts_of("old.json", "'regions': [ { 'function': 'f', 'kernel': 'k', 'macs': 7, 'nodes': "
                             "[ { 'name': 'n', 'op_type': 'Conv', 'index': 0 } ] } ], 'weights': "
                             "[ { 'symbol': 'w', 'name': 'w', 'dtype': 'f32', 'shape': [2], "
                             "'bytes': 8, 'crc32': '00000001' } ]");
    const struct facts *new = facts_of(
        "new.json",
        "'regions': [ { 'function': 'f', 'kernel': 'k', 'macs': 7, 'data': 'f32', 'weights': "
        "'f32', 'nodes': [ { 'name': 'n', 'op_type': 'Conv', 'index': 0, 'output': 'y' } ] } ], "
        "'weights': [ { 'symbol': 'w', 'name': 'w', 'dtype': 'f32', 'shape': [2], 'layout': "
        "'panels', 'bytes': 8, 'crc32': '00000001', 'mean': 1, 'regions': ['f'] } ]");

    ck_assert(!diff_make(ctx, old, new)->differs);
    ck_assert(!diff_make(ctx, new, old)->differs);
}
END_TEST

/* --- numbers ---------------------------------------------------------------------------------- */

/* The only weight of a folder with this C text. */
static struct facts *with_c(const char *name, const char *c, const char *dtype, int n, int bytes)
{
    const uLong crc = crc32_z(crc32_z(0, NULL, 0), (const Bytef *)c, strlen(c));

    put(arena_printf(&ctx->perm, "%s.c", name), c);
    return facts_of(arena_printf(&ctx->perm, "%s.json", name),
                    arena_printf(&ctx->perm,
                                 "'weights': [ { 'symbol': 'm_w', 'name': 'w', 'dtype': '%s', "
                                 "'shape': [%d], 'layout': '', 'bytes': %d, 'crc32': '%s' } ], "
                                 "'files': [ { 'name': '%s.c', 'crc32': '%08lx', 'bytes': 1 } ]",
                                 dtype, n, bytes, name, name, crc));
}

static const struct {
    const char *c, *dtype;
    int n, bytes;
    double wanted[4];
} arrays[] = {
    { "static const float m_w[4] = {\n    0.5f, -0x1.8p-3f,\n    INFINITY, -0.0f,\n};\n",
      "f32",
      4,
      16,
      { 0.5, -0.1875, INFINITY, 0 } },
    { "const int8_t m_w[3] IN_POOL = {\n    -7, 127, -128,\n};\n", "i8", 3, 3, { -7, 127, -128 } },
    { "static const uint16_t m_w[2] = {\n    0x3c00, 49152,\n};\n", "f16", 2, 4, { 1, -2 } },
    { "static const uint8_t m_w[2] = {\n    56, 0xb8,\n};\n", "f8e4m3", 2, 2, { 1, -1 } },
    { "static const union m_w {\n    uint64_t word[2];\n    float v[3];\n} m_w CACHE_LINE = { {\n"
      "    0x400000003f800000u,\n    0x0000000040400000u,\n} };\n",
      "f32",
      3,
      12,
      { 1, 2, 3 } },
    { "const union m_w m_w CACHE_LINE = { {\n    0x00000000fe030201,\n} };\n",
      "i8",
      4,
      4,
      { 1, 2, 3, -2 } },
    { "static const uint8_t m_w[2] = {\n    18, 52,\n};\n", "f4e2m1", 4, 2, { 18, 52 } },
};

START_TEST(test_numbers)
{
    struct facts *facts =
        with_c("m", arrays[_i].c, arrays[_i].dtype, arrays[_i].n, arrays[_i].bytes);
    struct values values;
    double *numbers;
    size_t n = 0;

    values_open(ctx, facts, &values);
    numbers = values_read(&values, &facts->weights[0], &n);
    ck_assert_ptr_nonnull(numbers);
    for (size_t i = 0; i < n; i++)
        ck_assert_double_eq(numbers[i], arrays[_i].wanted[i]);
    block_free(numbers);
    values_close(&values);
}
END_TEST

static const char *const not_arrays[] = {
    "",
    "static const float m_other[1] = {\n    1,\n};\n",
    "static const float m_w[2] = {\n    1,\n};\n",
    "static const float m_w[2] = {\n    1, 2, 3,\n};\n",
    "static const float m_w[2] = {\n    1, two,\n};\n",
    "static const float m_w[2] = {\n    1, ",
    "const union m_w m_w CACHE_LINE = { {\n    0x0000000000000000,\n    0x0000000000000000,\n} "
    "};\n",
    "const union m_w m_w CACHE_LINE = { {\n    0x00000000",
};

START_TEST(test_no_numbers)
{
    struct facts *facts = with_c("m", not_arrays[_i], "f32", 2, 8);
    struct values values;
    size_t n;

    values_open(ctx, facts, &values);
    ck_assert_ptr_null(values_read(&values, &facts->weights[0], &n));
    values_close(&values);
}
END_TEST

/* Sizes that no file can have. */
START_TEST(test_sizes)
{
    static const double sizes[] = { -8, 0, 0.5, 1e30, 9 };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct facts *facts =
            with_c("m", "static const float m_w[2] = {\n    1, 2,\n};\n", "f32", 2, 8);
        struct values values;
        size_t n;

        facts->weights[0].bytes = sizes[i];
        values_open(ctx, facts, &values);
        ck_assert_ptr_null(values_read(&values, &facts->weights[0], &n));
        values_close(&values);
    }
}
END_TEST

START_TEST(test_retrained)
{
    struct facts *old = with_c("a", "const float m_w[4] = {\n    1, 2, 3, 4,\n};\n", "f32", 4, 16);
    struct facts *new =
        with_c("b", "const float m_w[4] = {\n    1, 2.5, 3, 2,\n};\n", "f32", 4, 16);
    const struct diff *diff;

    new->weights[0].crc32 = "11111111";
    diff = diff_make(ctx, old, new);
    ck_assert_int_eq(diff->n_retrained, 1);
    ck_assert(diff->weights[0].has_numbers);
    ck_assert_double_eq(diff->weights[0].largest, 2);
    ck_assert_double_eq(diff->weights[0].mean, 2.5 / 4);
    ck_assert_double_eq(diff->weights[0].n_changed, 2);
}
END_TEST

/* --- files that relayc did not write ---------------------------------------------------------- */

START_TEST(test_hostile_text)
{
    const struct facts *facts =
        facts_of("m.json", "'name': 'a\\u001b[31m', 'model': { 'file': 'b\\nc' }, 'arena': { "
                           "'map': [ { 'offset': -5, 'bytes': 3, 'written': 9e9, 'last_read': "
                           "-9e9 }, 7 ] }, 'regions': [ {}, 3, null ]");

    ck_assert_ptr_nonnull(facts);
    ck_assert_ptr_null(strchr(facts->name, 27));
    ck_assert_ptr_null(strchr(facts->model_file, '\n'));
    ck_assert_int_eq(facts->n_regions, 3);
    ck_assert_int_eq(facts->blocks[0].written, 2);
    ck_assert_int_eq(facts->blocks[0].last_read, 2);
    ck_assert(!diff_make(ctx, facts, facts)->differs);
}
END_TEST

static const char *const refused[] = {
    "'regions': {}",
    "'arena': 5",
    "'weights': [ { 'bytes': '7' } ]",
    "'regions': [ { 'nodes': [ { 'name': 5 } ] } ]",
    "'arena': { 'optimal': 1 }",
    "'version': 2, 'version': 3, 'macs': []",
};

START_TEST(test_refused)
{
    ck_assert_ptr_null(facts_of("m.json", refused[_i]));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
}
END_TEST

int main(void)
{
#define LOOP(test, rows) tcase_add_loop_test(tcase, test, 0, (int)(sizeof(rows) / sizeof *(rows)))
    Suite *suite = suite_create("diff");
    TCase *tcase = tcase_create("diff");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_checked_fixture(tcase, setup, teardown);
    LOOP(test_match, pairs);
    tcase_add_test(tcase, test_nodes_without_names);
    tcase_add_test(tcase, test_older_file);
    LOOP(test_numbers, arrays);
    LOOP(test_no_numbers, not_arrays);
    tcase_add_test(tcase, test_sizes);
    tcase_add_test(tcase, test_retrained);
    tcase_add_test(tcase, test_hostile_text);
    LOOP(test_refused, refused);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
