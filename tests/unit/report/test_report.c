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
        "{ 'name': 'y', 'op': 'nn.relu', 'snr': 0.001, 'cos': 0.25, 'data': { 'min': -1, 'max': 3, "
        "'mean': 0.5, 'std': 2, 'skewness': null, 'histogram': [7, 0, 9] }, 'noise': { 'min': "
        "null, "
        "'histogram': [1] } }, "
        "{ 'name': 'z', 'op': 'nn.relu', 'snr': 0, 'cos': 0 } ] }");
    struct facts *facts = facts_of(model);

    ck_assert(analysis_add_times(ctx, facts, temp_file(&folder, "b", bench, strlen(bench))));
    ck_assert_double_eq(facts->regions[0].seconds, 0.003);
    ck_assert_double_eq(facts->regions[1].seconds, 0.003);
    ck_assert_double_eq(facts->regions[2].seconds, 0);
    ck_assert(analysis_add_losses(ctx, facts, temp_file(&folder, "c", compare, strlen(compare))));
    ck_assert_double_eq_tol(facts->regions[0].sqnr, 30, 1e-9);
    ck_assert_double_eq(facts->regions[0].cosine, 0.75);
    ck_assert_int_eq(facts->regions[0].values.n_bins, 3);
    ck_assert_double_eq(facts->regions[0].values.bins[2], 9);
    ck_assert_double_eq(facts->regions[0].values.min, -1);
    ck_assert(isnan(facts->regions[0].noise.min));
    ck_assert_int_eq(facts->regions[0].quantised.n_bins, 0);
    ck_assert_int_eq(facts->regions[1].values.n_bins, 0);
    ck_assert(isinf(facts->regions[1].sqnr));
    ck_assert(isnan(facts->regions[2].sqnr));
}
END_TEST

/* A convolution of 1000 MACs, 160 elements read, 320 results at 20 positions. */
static const char *estimated_region(const char *kernel, const char *y, const char *more)
{
    return arena_printf(
        &ctx->perm,
        "{ 'function': 'f', 'kernel': '%s', 'signature': 'nn.conv2d(p0 f32[1,4,5,8]) "
        "{}; nn.relu(_)', 'weights': 'f32', 'macs': 1000, 'inputs': [ { 'name': "
        "'x', 'dtype': 'f32', 'shape': [1, 4, 5, 8] } ], 'results': [ { 'name': 'y', "
        "'dtype': '%s', 'shape': [1, 4, 5, 16] } ] %s }",
        kernel, y, more);
}

static double cycles_by_the_table(void)
{
    static const struct {
        const char *cpu, *kernel, *operator, * x, *weights, *y;
        double mac, result, read, position, call;
    } rows[] = {
#define CYCLES(...) { __VA_ARGS__ },
#include "report/cycles.def"
#undef CYCLES
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].cpu, "cortex-m4") == 0 && strcmp(rows[i].kernel, "conv") == 0 &&
            strcmp(rows[i].operator, "conv2d") == 0 && strcmp(rows[i].x, "f32") == 0 &&
            strcmp(rows[i].weights, "f32") == 0 && strcmp(rows[i].y, "f32") == 0)
            return 1000 * rows[i].mac + 320 * rows[i].result + 160 * rows[i].read +
                   20 * rows[i].position + rows[i].call;
    ck_abort_msg("no row");
    return 0;
}

/* The clock makes seconds of cycles. What no row is for has none, and makes the sum a lower bound;
 * a backend's own estimate stays. */
START_TEST(test_estimate)
{
    struct facts *facts = facts_of(arena_printf(
        &ctx->perm,
        "'target': 'cortex-m4', 'regions': [ %s, %s, %s, %s ], 'modules': [ { 'regions': [ { "
        "'symbol': 'g', 'estimated_ns': 1e6 } ] } ]",
        estimated_region("conv", "f32", ""), estimated_region("none", "f32", ""),
        estimated_region("conv", "i64", ""), "{ 'function': 'g', 'compiler': 'npu' }"));
    const double wanted = cycles_by_the_table();

    ck_assert(wanted > 0);
    analysis_estimate(facts, 0);
    ck_assert_double_eq_tol(facts->regions[0].cycles, wanted, 1e-6);
    ck_assert_double_eq(facts->regions[1].cycles, 0);
    ck_assert_double_eq(facts->regions[2].cycles, 0);
    ck_assert_double_eq(facts_estimate(facts).seconds, 1e-3);
    analysis_estimate(facts, 100);
    ck_assert_double_eq_tol(facts->regions[0].estimate, wanted * 1e-8, 1e-12);
    ck_assert_double_eq_tol(facts_estimate(facts).seconds, 1e-3 + wanted * 1e-8, 1e-9);
    ck_assert_ptr_nonnull(strstr(estimate_text(&ctx->perm, facts), "(estimate of 2 of 4 regions)"));
    facts->target = "generic";
    analysis_estimate(facts, 100);
    ck_assert_double_eq(facts_estimate(facts).cycles, 0);
    facts->regions[3].estimate = 0;
    ck_assert_ptr_null(estimate_text(&ctx->perm, facts));
}
END_TEST

/* Of a pool, the elements of its windows are the work. */
START_TEST(test_estimate_of_a_pool)
{
    static const char model[] = "'target': 'cortex-m4', 'regions': [ { 'function': 'f', 'kernel': "
                                "'pool_tiles', 'signature': "
                                "'nn.max_pool2d(p0 f32[1,8,8,4]) {pool_size=[%d,%d], "
                                "strides=[2,2]}', 'inputs': [ { 'name': "
                                "'x', 'dtype': 'f32', 'shape': [1, 8, 8, 4] } ], 'results': [ { "
                                "'name': 'y', 'dtype': 'f32', "
                                "'shape': [1, 4, 4, 4] } ] } ]";
    double cycles[3];
    int n = 0;

    for (int side = 2; side <= 4; side++) {
        struct facts *facts = facts_of(arena_printf(&ctx->perm, model, side, side));

        analysis_estimate(facts, 0);
        cycles[n++] = facts->regions[0].cycles;
    }
    ck_assert(cycles[0] > 0 && cycles[1] > cycles[0]);
    ck_assert_double_eq_tol((cycles[1] - cycles[0]) / 5, (cycles[2] - cycles[1]) / 7, 1e-6);
}
END_TEST

/* A function behind a convolution adds what it takes alone; one that was not fitted leaves no estimate. */
START_TEST(test_estimate_of_functions)
{
    static const char *const functions[] = { "", "; sigmoid(_); multiply(_, _)", "; nn.mish(_)" };
    double cycles[3];

    for (int i = 0; i < 3; i++) {
        const char *region = estimated_region("conv", "f32", ""),
                   *end = strstr(region, "; nn.relu");
        struct facts *facts =
            facts_of(arena_printf(&ctx->perm, "'target': 'cortex-m4', 'regions': [ %.*s%s%s ]",
                                  (int)(end - region), region, functions[i], end));

        analysis_estimate(facts, 0);
        cycles[i] = facts->regions[0].cycles;
    }
    ck_assert(cycles[0] > 0 && cycles[1] > cycles[0] + 320 * 10);
    ck_assert_double_eq(cycles[2], 0);
}
END_TEST

/* A trial a line, of which the last may be unfinished; infinite losses are unknown. */
START_TEST(test_tried)
{
    static const char lines[] = "{'relayc_search': 2, 'of': 'x'}\n"
                                "{'key': 'a', 'what': 'n', 'loss': 0.5, 'cos': 0.9}\n"
                                "{'key': 'b', 'what': 'm', 'loss': 'inf', 'cos': 0}\n{'key'";
    const char *trials = quoted(lines);
    const char *search =
        quoted("{ 'schema': 'relayc-search-1', 'front': [ { 'network': 'a', "
               "'flash': 10, 'ram': 5, 'score': { 'loss': 0.25, 'cos': 0.75 } } ] }");
    const char *quantize = quoted(
        "{ 'schema': 'relayc-quantize-1', 'metric': 'top1', 'recommended': 'int8', 'recipes': [ { "
        "'recipe': 'f32', 'state': 'dropped', 'weight_bytes': 40 }, { 'recipe': 'int8', 'state': "
        "'front', 'weight_bytes': 10, 'value': 0.5, 'loss': null }, { 'recipe': 'no', 'state': "
        "'failed' } ] }");
    struct tried_list tried = { 0 }, points = { 0 };

    ck_assert(tried_read(ctx, temp_file(&folder, "t", trials, strlen(trials)), &tried, &points));
    ck_assert(tried_read(ctx, temp_file(&folder, "s", search, strlen(search)), &tried, &points));
    ck_assert(
        tried_read(ctx, temp_file(&folder, "q", quantize, strlen(quantize)), &tried, &points));
    ck_assert_int_eq(tried.n, 2);
    ck_assert_double_eq(tried.at[0].loss, 0.5);
    ck_assert(isnan(tried.at[1].loss));
    ck_assert_int_eq(points.n, 3);
    ck_assert_double_eq(points.at[0].ram, 5);
    ck_assert_double_eq(points.at[0].cosine, 0.75);
    ck_assert_str_eq(points.at[1].state, "dropped");
    ck_assert_str_eq(points.at[2].state, "recommended");
    ck_assert(isnan(points.at[2].loss));
    ck_assert_str_eq(points.metric, "top1");
    ck_assert(!tried_read(ctx, temp_file(&folder, "x", "{}", 2), &tried, &points));
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
    tcase_add_test(tcase, test_estimate);
    tcase_add_test(tcase, test_estimate_of_a_pool);
    tcase_add_test(tcase, test_estimate_of_functions);
    tcase_add_test(tcase, test_tried);
    tcase_add_test(tcase, test_page_of_hostile_names);
    tcase_add_test(tcase, test_empty);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
