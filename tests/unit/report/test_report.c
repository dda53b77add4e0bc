/* test_report.c - what analyses compute from NAME.json, and the page. */
#include <check.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis.h"
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

/* ' stands for ". */
static const char *quoted(const char *text)
{
    char *copy = arena_strdup(&ctx->perm, text);

    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return copy;
}

static struct facts *facts_of(const char *members)
{
    struct facts *facts =
        facts_parse(ctx, "m.json",
                    quoted(arena_printf(
                        &ctx->perm, "{ 'schema': 'relayc-model', 'version': 1, %s }", members)));

    ck_assert_ptr_nonnull(facts);
    return facts;
}

static const char three[] = "'regions': [ { 'function': 'a', 'results': [ { 'name': 'x', 'in': "
                            "['cat'] } ] }, { 'function': 'b', 'inputs': [ { 'name': 'x' } ], "
                            "'results': [ { 'name': 'y', 'in': ['cat'] } ] }, { 'function': 'c', "
                            "'inputs': [ { 'name': 'cat' }, { 'name': 'y' }, { 'name': 'none' } ], "
                            "'results': [ { 'name': 'z' } ] }, { 'function': 'd', 'inputs': [ { "
                            "'name': 'part', 'in': ['z'] } ] } ]";

/* A concatenation is written by all who write parts of it; a part of a split by who wrote all. */
START_TEST(test_sources)
{
    const struct facts *facts = facts_of(three);
    const struct fact_region *c = &facts->regions[2], *d = &facts->regions[3];

    ck_assert_int_eq(facts->regions[0].n_sources, 0);
    ck_assert_int_eq(facts->regions[1].n_sources, 1);
    ck_assert_int_eq(c->n_sources, 2);
    ck_assert_int_eq(c->sources[0] + c->sources[1], 0 + 1);
    ck_assert_int_eq(d->n_sources, 1);
    ck_assert_int_eq(d->sources[0], 2);
}
END_TEST

/* Blocks that overlap count once, pools lie one behind the other. */
START_TEST(test_bytes_in_use)
{
    const struct facts *facts = facts_of(
        "'regions': [ {}, {} ], 'arena': { 'bytes': 200, 'map': [ "
        "{ 'offset': 50, 'bytes': 100, 'written': 0, 'last_read': 1 }, "
        "{ 'offset': 0, 'bytes': 80, 'written': 1, 'last_read': 1 }, "
        "{ 'offset': 60, 'bytes': 10, 'written': 1, 'last_read': 1, 'scratch_of': 'f' } ] }");
    const struct facts *pools = facts_of(
        "'regions': [ {} ], 'arena': { 'bytes': 30, 'pools': [ { 'name': 'a', 'bytes': 10 }, { "
        "'name': 'b', 'bytes': 20 } ], 'map': [ "
        "{ 'pool': 'b', 'offset': 0, 'bytes': 20, 'written': 0, 'last_read': 0 }, "
        "{ 'pool': 'a', 'offset': 0, 'bytes': 10, 'written': 0, 'last_read': 0 } ] }");

    ck_assert_double_eq(facts->regions[0].arena_bytes, 100);
    ck_assert_double_eq(facts->regions[1].arena_bytes, 150);
    ck_assert_double_eq(pools->blocks[0].offset, 10);
    ck_assert_double_eq(pools->regions[0].arena_bytes, 30);
}
END_TEST

/* Measured code counts as flash, the stack as RAM; inputs and outputs as neither. */
START_TEST(test_verdict)
{
    struct analysis a = { .facts = facts_of(
                              "'weight_bytes': 1000, 'arena': { 'bytes': 100 }, 'inputs': [ { "
                              "'name': 'x', 'dtype': 'f32', 'shape': [4] } ], 'measured': { "
                              "'compiler': 'cc', 'text': 500, 'rodata': 1000, 'data': 8, 'bss': 2, "
                              "'stack': 90 }") };

    ck_assert_double_eq(a.facts->io_bytes, 16);
    ck_assert_ptr_null(analysis_verdict(&ctx->perm, &a));
    a.limits.ram = 200;
    a.limits.flash = 1508;
    ck_assert_str_eq(analysis_verdict(&ctx->perm, &a),
                     "fits: RAM 200 of 200 bytes (100.0 %), flash 1508 of 1508 bytes (100.0 %)");
    a.limits.ram = 199;
    ck_assert(!analysis_fits(&a));
    a.limits.ram = 0;
    a.limits.flash = 1507;
    ck_assert(!analysis_fits(&a));
}
END_TEST

START_TEST(test_times_and_losses)
{
    static const char model[] =
        "'regions': [ { 'function': 'f', 'signature': 's', 'results': [ { 'name': 'y' } ] }, "
        "{ 'function': 'g', 'signature': 's', 'nodes': [ { 'name': 'n', 'op_type': 'Relu', "
        "'output': 'z' } ] }, { 'function': 'h', 'signature': 'other' } ]";
    const char *bench = quoted("{ 'schema': 'relayc-bench-1', 'regions': [ { 'signature': 's', "
                               "'ms': { 'median': 2 } }, { 'signature': 's', 'ms': { 'median': 4 "
                               "} }, { 'signature': null } ] }");
    const char *compare = quoted(
        "{ 'schema': 'relayc-compare-1', 'layers': [ { 'name': 'y', 'op': 'weights', 'snr': 1 }, "
        "{ 'name': 'y', 'op': 'nn.relu', 'snr': 0.001, 'cos': 0.25 }, "
        "{ 'name': 'z', 'op': 'nn.relu', 'snr': 0, 'cos': 0 } ] }");
    struct facts *facts = facts_of(model);

    ck_assert(analysis_add_times(ctx, facts, temp_file(&folder, "b", bench, strlen(bench))));
    ck_assert_double_eq(facts->regions[0].seconds, 0.003);
    ck_assert_double_eq(facts->regions[1].seconds, 0.003);
    ck_assert_double_eq(facts->regions[2].seconds, 0);
    ck_assert(analysis_add_losses(ctx, facts, temp_file(&folder, "c", compare, strlen(compare))));
    ck_assert_double_eq_tol(facts->regions[0].sqnr, 30, 1e-9);
    ck_assert_double_eq(facts->regions[0].cosine, 0.75);
    ck_assert(isinf(facts->regions[1].sqnr));
    ck_assert(isnan(facts->regions[2].sqnr));
}
END_TEST

static const char *page_of(const struct facts *facts)
{
    const struct analysis analysis = { .facts = facts };
    const char *path = temp_path(&folder, "page.html");
    struct output_set set = { .ctx = ctx };
    struct mapping file;
    const char *text;

    analysis_write_html(ctx, output_open(&set, path), &analysis);
    ck_assert(output_commit(&set));
    ck_assert(file_map(ctx, path, &file));
    text = arena_strndup(&ctx->perm, (const char *)file.data, file.size);
    file_unmap(&file);
    return text;
}

/* Names of the model can neither end the script nor begin an element. */
START_TEST(test_page_of_hostile_names)
{
    const char *page = page_of(facts_of(
        "'name': '</script><script>alert(1)</script>', 'model': { 'file': '<img src=x> & @json' }, "
        "'regions': [ { 'function': 'f', 'nodes': [ { 'name': '<!--<script>', 'op_type': '@css' "
        "} ] } ]"));
    const char *data = strstr(page, "id=\"data\">") + strlen("id=\"data\">"), *end;
    cJSON *json;

    ck_assert_ptr_null(strstr(page, "alert(1)</script>"));
    ck_assert_ptr_null(strstr(page, "<img"));
    ck_assert_ptr_nonnull(strstr(page, "<title>&lt;img src=x> &amp; @json - relayc report"));
    end = strstr(data, "</script>");
    ck_assert_ptr_eq(memchr(data, '<', (size_t)(end - data)), NULL);
    json = cJSON_ParseWithLength(data, (size_t)(end - data));
    ck_assert_str_eq(cJSON_GetObjectItem(json, "name")->valuestring,
                     "</script><script>alert(1)</script>");
    cJSON_Delete(json);
}
END_TEST

/* Nothing at all is a page and a table, too. */
START_TEST(test_empty)
{
    const struct facts *facts = facts_of("'name': 'm'");
    const struct analysis analysis = { .facts = facts };

    ck_assert_ptr_nonnull(strstr(page_of(facts), "\"regions\":[]"));
    ck_assert_ptr_nonnull(strstr(analysis_text(&ctx->perm, &analysis), "0 regions"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *tcase = tcase_create("report");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, test_sources);
    tcase_add_test(tcase, test_bytes_in_use);
    tcase_add_test(tcase, test_verdict);
    tcase_add_test(tcase, test_times_and_losses);
    tcase_add_test(tcase, test_page_of_hostile_names);
    tcase_add_test(tcase, test_empty);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
