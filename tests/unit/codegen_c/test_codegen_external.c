/* Regions of other targets: the C that a toy target's templates make, compiled and run. */
#include <check.h>
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/bench.h"
#include "tests/support/expect.h"

static struct bench bench;

static void set_up(void)
{
    bench = bench_new();
}

static void tear_down(void)
{
    bench_free(&bench);
}

/* --- format c --------------------------------------------------------------------------------- */

START_TEST(regions_of_templates_give_the_results_of_the_reference)
{
    bench_check(&bench, toy_net, toy_plain(bench.ctx), (enum weights_form)_i, _i == WEIGHTS_AUTO);
}
END_TEST

START_TEST(the_files_say_what_runs_where)
{
    const struct codegen_result result =
        bench_generate(&bench, toy_net, toy_plain(bench.ctx), WEIGHTS_INLINE, false);

    ck_assert_int_eq(result.n_regions, 3);
    ck_assert_str_eq(result.regions[0].compiler, "toy");
    ck_assert_ptr_null(result.regions[1].compiler);
    ck_assert_int_eq(result.n_files, 6);
    bench_has(&bench, "net.h", "    NET_REGION_FAILED = 100\n");
    bench_has(&bench, "net.c", "#include \"net_toy.h\"\n");
    bench_has(&bench, "net.c", "    if (net_toy_conv1(x, skip, a, b, base");
    bench_has(&bench, "net.c", ") != 0) {\n            return NET_REGION_FAILED + 0;\n        }\n");
    bench_has(&bench, "net.c", " *      0  net_toy_conv1  conv1 + conv2  toy, 3 composites");
    bench_has(&bench, "net.c", "toy.dense");
    bench_has(&bench, "net.c", "scratch of net_toy_conv1");
    bench_has(&bench, "net_toy.h",
              "int net_toy_conv1(const float *input0, const float *input1, float *output0, "
              "float *output1,\n                  void *scratch);\n");
    bench_has(&bench, "net_toy.h", "int net_toy_fc(const float *input0, float *output0);\n");
    bench_has(&bench, "net_toy.h",
              "/* conv1 (Conv) + conv2 (Conv)\n * input0 f32 [1,2,6,6], input1");
    bench_has(&bench, "net_toy.h", " * toy.conv2d_act: conv1\n * toy.conv2d_act: conv2\n");
    bench_has(&bench, "net_toy.c",
              "    /* toy.conv2d_act, conv2d.c.tmpl: conv1 (Conv) */\n    {\n        enum {\n");
    bench_has(&bench, "net_toy.c", "static const float net_bias[3] = {\n");
    bench_has(&bench, "toy_max.h", "toy_max");
    bench_lacks(&bench, "net.c", "net_bias");
    bench_lacks(&bench, "net_toy.c", "net_half");
}
END_TEST

/* Views between composites, an output of a composite that nobody reads, results that are
 * parameters, views and each other's copies, constants that are numbers and infinite. */
START_TEST(views_copies_and_several_outputs)
{
    static const char text[] =
        "fn main(%x: (2,6) f32) -> (%p, %q, %r, %s) {\n"
        "  %p, %q, %r, %s = call toy_odd(%x) : (2,6) f32, (3,4) f32, (2,6) f32, (4,3) f32\n"
        "}\n"
        "fn toy_odd(%x: (2,6) f32) -> (%x, %v, %d, %w) compiler \"toy\" global_symbol "
        "\"toy_odd\" {\n"
        "  %a = call scaled(%x) : (2,6) f32\n"
        "  %v = reshape(%a) {shape=[3,4]} : (3,4) f32\n"
        "  %b = call clipped(%v) : (3,4) f32\n"
        "  %c, %unread = call halves(%b) : (1,4) f32, (2,4) f32\n"
        "  %l = reshape(%c) {shape=[4]} : (4) f32\n"
        "  %k = call twice(%l) : (4) f32\n"
        "  %d = call infinite(%a, %x) : (2,6) f32\n"
        "  %w = reshape(%d) {shape=[4,3]} : (4,3) f32\n"
        "}\n"
        "fn scaled(%x: (2,6) f32) -> (%y) compiler \"toy\" composite \"toy.scale\" {\n"
        "  const @third : (6) f32 = [0.1, ...]\n"
        "  %y = multiply(%x, @third) : (2,6) f32\n"
        "}\n"
        "fn clipped(%x: (3,4) f32) -> (%y) compiler \"toy\" composite \"toy.clip\" {\n"
        "  %y = clip(%x) {a_min=-inf, a_max=0.100000001} : (3,4) f32\n"
        "}\n"
        "fn halves(%x: (3,4) f32) -> (%y, %z) compiler \"toy\" composite \"toy.split\" {\n"
        "  %y, %z = split(%x) {axis=0, sizes=[1,2]} : (1,4) f32, "
        "(2,4) f32\n"
        "}\n"
        "fn twice(%x: (4) f32) -> (%y) compiler \"toy\" composite \"toy.add\" {\n"
        "  %y = add(%x, %x) : (4) f32\n"
        "}\n"
        "fn infinite(%x: (2,6) f32, %z: (2,6) f32) -> (%y) compiler \"toy\" composite \"toy.add\" "
        "{\n"
        "  %y = add(%x, %z) : (2,6) f32\n"
        "}\n";

    bench_check(&bench, text, toy_plain(bench.ctx), WEIGHTS_AUTO, false);
    bench_generate(&bench, text, toy_plain(bench.ctx), WEIGHTS_AUTO, false);
    bench_lacks(&bench, "net_toy.c",
                "third"); /* all its elements are one number, which stands in the text */
    bench_has(&bench, "net_toy.c", "#include <math.h>\n");
    bench_has(&bench, "net_toy.c", "memcpy(output0, input0, 48);\n");
    bench_has(&bench, "net_toy.c", "memcpy(output3, output2, 48);\n");
}
END_TEST

/* The same numbers for ours and for the toy: one array, also where arrays stand inline. */
START_TEST(an_array_of_two_files_is_stored_once)
{
    static const char text[] =
        "fn main(%x: (4) f32) -> (%y, %z) {\n"
        "  %y = call ours(%x) : (4) f32\n"
        "  %z = call toy_scale(%y) : (4) f32\n"
        "}\n"
        "fn ours(%x: (4) f32) -> (%y) compiler \"c\" composite \"c.multiply\" {\n"
        "  const @a : (4) f32 = [1, 2, nan, 4]\n"
        "  %y = multiply(%x, @a) : (4) f32\n"
        "}\n"
        "fn toy_scale(%x: (4) f32) -> (%y) compiler \"toy\" global_symbol \"toy_scale\" {\n"
        "  %y = call k(%x) : (4) f32\n"
        "}\n"
        "fn k(%x: (4) f32) -> (%y) compiler \"toy\" composite \"toy.scale\" {\n"
        "  const @other : (4) f32 = [1, 2, nan, 4]\n"
        "  %y = multiply(%x, @other) : (4) f32\n"
        "}\n";

    bench_check(&bench, text, toy_plain(bench.ctx), WEIGHTS_INLINE, false);
    bench_check(&bench, text, toy_plain(bench.ctx), WEIGHTS_FILE, false);
    bench_generate(&bench, text, toy_plain(bench.ctx), WEIGHTS_INLINE, false);
    bench_has(&bench, "net.c", "\nconst float net_a[4] = {\n");
    bench_has(&bench, "net_toy.c", "extern const float net_a[4];\n");
    bench_generate(&bench, text, toy_plain(bench.ctx), WEIGHTS_FILE, false);
    bench_has(&bench, "net_toy.c", "#include \"net_weights.h\"\n");
    bench_lacks(&bench, "net_toy.c", "extern const float");
}
END_TEST

/* A concatenation whose operands lie in it already has no function: what comes after it moves up,
 * and keeps its own names and scratch. */
START_TEST(regions_behind_one_that_is_dropped)
{
    static const char text[] =
        "fn main(%x: (1,2,3,4) f32) -> (%z) {\n"
        "  %a = call left(%x) : (1,2,3,4) f32\n"
        "  %b = call right(%x) : (1,2,3,4) f32\n"
        "  %c = call both(%a, %b) : (1,2,3,8) f32\n"
        "  %y = call toy_two(%c) : (1,2,3,8) f32\n"
        "  %z = call left_of_all(%y) : (1,2,3,8) f32\n"
        "}\n"
        "fn left(%x: (1,2,3,4) f32) -> (%y) compiler \"c\" composite \"c.clip\" {\n"
        "  %y = clip(%x) {a_min=0.0, a_max=6.0} : (1,2,3,4) f32\n"
        "}\n"
        "fn right(%x: (1,2,3,4) f32) -> (%y) compiler \"c\" composite \"c.negative\" {\n"
        "  %y = negative(%x) : (1,2,3,4) f32\n"
        "}\n"
        "fn both(%a: (1,2,3,4) f32, %b: (1,2,3,4) f32) -> (%y) compiler \"c\" composite "
        "\"c.concatenate\" {\n"
        "  %y = concatenate(%a, %b) {axis=3} : (1,2,3,8) f32\n"
        "}\n"
        "fn left_of_all(%x: (1,2,3,8) f32) -> (%y) compiler \"c\" composite \"c.abs\" {\n"
        "  %y = abs(%x) : (1,2,3,8) f32\n"
        "}\n"
        "fn toy_two(%x: (1,2,3,8) f32) -> (%y) compiler \"toy\" global_symbol \"toy_two\" {\n"
        "  %a = call clipped(%x) : (1,2,3,8) f32\n"
        "  %y = call sum(%a, %x) : (1,2,3,8) f32\n"
        "}\n"
        "fn clipped(%x: (1,2,3,8) f32) -> (%y) compiler \"toy\" composite \"toy.clip\" {\n"
        "  %y = clip(%x) {a_min=-0.5, a_max=0.5} : (1,2,3,8) f32\n"
        "}\n"
        "fn sum(%x: (1,2,3,8) f32, %z: (1,2,3,8) f32) -> (%y) compiler \"toy\" composite "
        "\"toy.add\" {\n"
        "  %y = add(%x, %z) : (1,2,3,8) f32\n"
        "}\n";
    struct codegen_result result;

    bench_check(&bench, text, toy_plain(bench.ctx), WEIGHTS_AUTO, true);
    result = bench_generate(&bench, text, toy_plain(bench.ctx), WEIGHTS_AUTO, false);
    ck_assert_int_eq(result.n_regions, 4); /* the concatenation is gone */
    ck_assert_str_eq(result.regions[2].compiler, "toy");
    bench_has(&bench, "net_toy.h",
              "int net_toy_two(const float *input0, float *output0, void *scratch);\n");
    bench_has(&bench, "net.c", "scratch of net_toy_two");
}
END_TEST

/* --- scratch ---------------------------------------------------------------------------------- */

/* The region needs: the patch of the second convolution (3 * 3 * 3 floats, 108 bytes) together with
 * its result (12 floats), which the sum reads: 112 + 48. The first convolution's patch is smaller.
 * The second region needs nothing. */
START_TEST(scratch_is_counted_exactly)
{
    static const char source[] =
        "#include <stdlib.h>\n"
        "#include <string.h>\n"
        "#include \"net.h\"\n"
        "#include \"net_toy.h\"\n"
        "enum { SCRATCH = 160 };\n"
        "int main(void)\n"
        "{\n"
        "    float x[NET_X_LEN] = { 1.0f }, skip[NET_SKIP_LEN] = { 1.0f };\n"
        "    float a[12], b[NET_B_LEN], y[NET_Y_LEN], b2[NET_B_LEN];\n"
        "    void *arena = malloc(NET_ARENA_BYTES), *scratch = malloc(SCRATCH);\n"
        "    memset(arena, 255, NET_ARENA_BYTES);\n"
        "    memset(scratch, 255, SCRATCH);\n"
        "    if (net_toy_conv1(x, skip, a, b, scratch) != 0)\n"
        "        return 1;\n"
        "    if (net_run(x, skip, y, b2, arena) != NET_OK || memcmp(b, b2, sizeof b) != 0)\n"
        "        return 2;\n"
        "    for (int i = 0; i < 12; i++)\n"
        "        if (a[i] != a[i])\n"
        "            return 3;\n"
        "    free(arena);\n"
        "    free(scratch);\n"
        "    return 0;\n"
        "}\n";
    const cJSON *json, *modules, *region, *map;

    bench_generate(&bench, toy_net, toy_plain(bench.ctx), WEIGHTS_AUTO, false);
    json = cJSON_Parse(bench_file(&bench, "net.json"));
    modules = json_item(json, "modules");
    ck_assert_int_eq(cJSON_GetArraySize(modules), 2);
    region = cJSON_GetArrayItem(json_item(cJSON_GetArrayItem(modules, 1), "regions"), 0);
    ck_assert_int_eq(json_number(region, "scratch_bytes"), 160);
    map = json_item(region, "scratch");
    ck_assert_int_eq(cJSON_GetArraySize(map), 3);
    ck_assert_int_eq(json_number(cJSON_GetArrayItem(map, 0), "bytes"), 72);
    /* x, b and skip are the caller's; a follows the scratch: 48 bytes. */
    ck_assert_int_eq(json_number(region, "arena_bytes_in_use"), 160 + 48);
    ck_assert_int_eq(json_number(json_item(json, "arena"), "bytes"), 160 + 48);
    region = cJSON_GetArrayItem(json_item(cJSON_GetArrayItem(modules, 1), "regions"), 1);
    ck_assert_int_eq(json_number(region, "scratch_bytes"), 0);
    cJSON_Delete((cJSON *)(uintptr_t)json);
    ck_assert_int_eq(bench_run(&bench, source, "gcc"), 0);
    ck_assert_int_eq(bench_run(&bench, source, "clang"), 0);
}
END_TEST

/* Sums of earlier values, in regions of up to 24 composites of which any may be results: whatever
 * is packed over something that is still needed shows. */
START_TEST(random_regions_keep_what_they_need)
{
    unsigned state = (unsigned)_i * 2654435761u + 1;
    struct str main_text = { .arena = &bench.ctx->perm }, region = { .arena = &bench.ctx->perm };
    struct str results = { .arena = &bench.ctx->perm }, types = { .arena = &bench.ctx->perm };
    const int n = 8 + _i * 4;

#define NEXT(limit) ((int)((state = state * 1664525u + 1013904223u) >> 16) % (limit))
    for (int i = 0; i < n; i++) {
        if (NEXT(4) != 0 && i < n - 1)
            continue;
        str_printf(&results, "%s%%v%d", results.n ? ", " : "", i + 2);
        str_printf(&types, "%s(5) f32", types.n ? ", " : "");
    }
    str_printf(&main_text,
               "fn main(%%v0: (5) f32, %%v1: (5) f32) -> (%s) {\n"
               "  %s = call toy_r(%%v0, %%v1) : %s\n}\n",
               str_text(&results), str_text(&results), str_text(&types));
    str_printf(&region,
               "fn toy_r(%%v0: (5) f32, %%v1: (5) f32) -> (%s) compiler \"toy\" global_symbol "
               "\"toy_r\" {\n",
               str_text(&results));
    for (int i = 0; i < n; i++) {
        const int most = i + 2 < 7 ? i + 2 : 7; /* how far back it reads */
        const int a = i + 1 - NEXT(most), b = i + 1 - NEXT(most);

        str_printf(&region, "  %%v%d = call s(%%v%d, %%v%d) : (5) f32\n", i + 2, a, b);
    }
#undef NEXT
    str_printf(&main_text, "%s}\n%s", str_text(&region),
               "fn s(%a: (5) f32, %b: (5) f32) -> (%y) compiler \"toy\" composite \"toy.add\" {\n"
               "  %y = add(%a, %b) : (5) f32\n"
               "}\n");
    bench_check(&bench, str_text(&main_text), toy_plain(bench.ctx), WEIGHTS_AUTO, _i % 2);
}
END_TEST

/* Sums of the caller's x and of what came before: all in one place. The row does not allow it for
 * the product. */
START_TEST(outputs_take_over_what_dies)
{
    static const char text[] =
        "fn main(%x: (4) f32) -> (%y) {\n"
        "  %y = call toy_r(%x) : (4) f32\n"
        "}\n"
        "fn toy_r(%x: (4) f32) -> (%z) compiler \"toy\" global_symbol \"toy_r\" {\n"
        "  %a = call s(%x, %x) : (4) f32\n"
        "  %b = call s(%a, %x) : (4) f32\n"
        "  %c = reshape(%b) {shape=[4]} : (4) f32\n"
        "  %d = call s(%x, %c) : (4) f32\n"
        "  %p = call m(%d) : (4) f32\n"
        "  %q = call s(%d, %p) : (4) f32\n"
        "  %y = call twice(%q) : (4) f32\n"
        "  %z = call s(%y, %x) : (4) f32\n"
        "}\n"
        "fn twice(%a: (4) f32) -> (%y) compiler \"toy\" composite \"toy.add\" {\n"
        "  %y = add(%a, %a) : (4) f32\n"
        "}\n"
        "fn s(%a: (4) f32, %b: (4) f32) -> (%y) compiler \"toy\" composite \"toy.add\" {\n"
        "  %y = add(%a, %b) : (4) f32\n"
        "}\n"
        "fn m(%a: (4) f32) -> (%y) compiler \"toy\" composite \"toy.scale\" {\n"
        "  const @half : (4) f32 = [0.5, ...]\n"
        "  %y = multiply(%a, @half) : (4) f32\n"
        "}\n";

    bench_check(&bench, text, toy_plain(bench.ctx), WEIGHTS_AUTO, false);
    bench_generate(&bench, text, toy_plain(bench.ctx), WEIGHTS_AUTO, false);
    bench_has(&bench, "net_toy.c", "            value0[i] = value0[i] + input0[i];\n");
    bench_has(&bench, "net_toy.c", "            value0[i] = input0[i] + value0[i];\n");
    bench_has(&bench, "net_toy.c", "            value1[i] = value0[i] * 0.5f;\n");
    bench_has(&bench, "net_toy.c", "            value0[i] = value0[i] + value1[i];\n");
    bench_has(&bench, "net_toy.c", "            value2[i] = value0[i] + value0[i];\n");
    bench_has(&bench, "net.h", "NET_ARENA_BYTES = 32,");
}
END_TEST

/* --- metadata --------------------------------------------------------------------------------- */

START_TEST(the_json_lists_modules_entry_points_and_constants)
{
    cJSON *json;
    const cJSON *ours, *theirs, *region;

    bench_generate(&bench, toy_net, toy_plain(bench.ctx), WEIGHTS_FILE, false);
    json = cJSON_Parse(bench_file(&bench, "net.json"));
    ours = cJSON_GetArrayItem(json_item(json, "modules"), 0);
    theirs = cJSON_GetArrayItem(json_item(json, "modules"), 1);
    ck_assert_str_eq(cJSON_GetStringValue(json_item(ours, "compiler")), "c");
    ck_assert_str_eq(json_text_at(json_item(ours, "files"), 3), "net_weights.c");
    ck_assert_str_eq(json_text_at(json_item(ours, "entry_points"), 1), "net_step");
    ck_assert_int_eq(json_number(cJSON_GetArrayItem(json_item(ours, "regions"), 0), "index"), 1);
    ck_assert_str_eq(cJSON_GetStringValue(json_item(theirs, "compiler")), "toy");
    ck_assert_str_eq(cJSON_GetStringValue(json_item(theirs, "format")), "c");
    ck_assert_str_eq(json_text_at(json_item(theirs, "files"), 1), "net_toy.c");
    ck_assert_str_eq(json_text_at(json_item(theirs, "files"), 2), "toy_max.h");
    ck_assert_str_eq(json_text_at(json_item(theirs, "entry_points"), 1), "net_toy_fc");
    region = cJSON_GetArrayItem(json_item(theirs, "regions"), 0);
    ck_assert_str_eq(json_text_at(json_item(region, "composites"), 2), "toy.add");
    ck_assert_str_eq(json_text_at(json_item(region, "constants"), 1), "net_w");
    ck_assert_int_eq(cJSON_GetArraySize(json_item(region, "constants")), 3);
    /* 3 * 4 * 4 results of 2 * 3 * 3 products, 3 * 2 * 2 of 3 * 3 * 3 */
    ck_assert_int_eq(json_number(region, "macs"), 48 * 18 + 12 * 27);
    ck_assert_int_eq(json_number(region, "weight_bytes"), 4 * (54 + 3 + 81));
    ck_assert_str_eq(cJSON_GetStringValue(
                         json_item(cJSON_GetArrayItem(json_item(json, "regions"), 0), "compiler")),
                     "toy");
    cJSON_Delete(json);
}
END_TEST

/* --- main ------------------------------------------------------------------------------------- */

int main(void)
{
    Suite *suite = suite_create("codegen_external");
    TCase *tcase = tcase_create("codegen_external");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, regions_of_templates_give_the_results_of_the_reference, 0, 3);
    tcase_add_test(tcase, the_files_say_what_runs_where);
    tcase_add_test(tcase, views_copies_and_several_outputs);
    tcase_add_test(tcase, an_array_of_two_files_is_stored_once);
    tcase_add_test(tcase, regions_behind_one_that_is_dropped);
    tcase_add_test(tcase, scratch_is_counted_exactly);
    tcase_add_test(tcase, outputs_take_over_what_dies);
    tcase_add_loop_test(tcase, random_regions_keep_what_they_need, 0, 5);
    tcase_add_test(tcase, the_json_lists_modules_entry_points_and_constants);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
