/* Regions of other targets: what hooks add, and what is refused. */
#include <check.h>
#include <stdlib.h>

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

/* --- hooks ------------------------------------------------------------------------------------ */

static const char hook_json[] =
    "{ \"name\": \"toy\", \"description\": \"\", \"format\": \"c\",\n"
    "  \"composites\": [ { \"name\": \"add\", \"pattern\": \"add(x, w:const)\",\n"
    "                    \"scratch\": \"4\", \"template\": \"add.c.tmpl\" } ] }\n";

/* Reads the constant as the hook stored it: negative. The original is not stored. */
static const struct toy_file hook_files[] = {
    { "add.c.tmpl", "float *const there = (float *)(void *)((unsigned char *)${scratch} + 16);\n\n"
                    "//#if missing\n"
                    "${missing}\n"
                    "//#end\n"
                    "for (int i = 0; i < ${count}; i++)\n"
                    "    there[i] = ${negative}[i];\n"
                    "for (int i = 0; i < ${count}; i++)\n"
                    "    ${out}[i] = ${x}[i] - there[i]; /* ${word} */\n" },
    { NULL, NULL }
};

static bool negate(const struct composite_row *row, const struct match *match,
                   struct lowering *lowering)
{
    const struct value *w = match_capture(match, "w")->value;
    const int64_t n = type_elements(&w->type);
    float *negative = arena_array(lowering->arena, float, n);

    ck_assert_str_eq(row->name, "toy.add");
    for (int64_t i = 0; i < n; i++)
        negative[i] = -((const float *)w->data)[i];
    lowering_array(lowering, "negative", &w->type, negative, "negated");
    lowering_array(lowering, "unused", &w->type, w->data, "");
    lowering_int(lowering, "count", n);
    lowering_text(lowering, "word", "old");
    lowering_text(lowering, "word", "as %s", "said");
    lowering->scratch_bytes = (size_t)n * sizeof(float);
    return true;
}

static const char hook_text[] =
    "fn main(%x: (3) f32) -> (%y) {\n"
    "  %y = call toy_add(%x) : (3) f32\n"
    "}\n"
    "fn toy_add(%x: (3) f32) -> (%y) compiler \"toy\" global_symbol \"toy_add\" {\n"
    "  %y = call k(%x) : (3) f32  from Add \"plus\" #0\n"
    "}\n"
    "fn k(%x: (3) f32) -> (%y) compiler \"toy\" composite \"toy.add\" {\n"
    "  const @w : (3) f32 = [1, 2, 3]\n"
    "  %y = add(%x, @w) : (3) f32\n"
    "}\n";

START_TEST(hooks_add_keys_arrays_and_scratch)
{
    static const struct target_hooks hooks = { .target = "toy", .lower = negate };
    struct target *target = toy_target(bench.ctx, hook_json, hook_files);
    const struct targets *targets = toy_targets(bench.ctx, 1, &target);

    target->hooks = &hooks;
    bench_check(&bench, hook_text, targets, WEIGHTS_AUTO, false);
    bench_generate(&bench, hook_text, targets, WEIGHTS_AUTO, false);
    bench_has(&bench, "net_toy.c", "/* plus.negative: f32 [3] negated, -3 .. -1, ");
    bench_has(&bench, "net_toy.c", "/* as said */");
    bench_lacks(&bench, "net_toy.c", "net_w");
    bench_lacks(&bench, "net_toy.c", "unused");
    bench_has(&bench, "net.h",
              "NET_ARENA_BYTES = 32,"); /* 4 bytes of the row, then 12 of the hook */
}
END_TEST

static bool refuse(const struct composite_row *row, const struct match *match,
                   struct lowering *lowering)
{
    (void)row, (void)match, (void)lowering;
    return false;
}

START_TEST(what_cannot_be_lowered_is_an_error)
{
    static const struct target_hooks hooks = { .target = "toy", .lower = refuse };
    struct target *target = toy_target(bench.ctx, hook_json, hook_files);
    struct targets *targets = toy_targets(bench.ctx, 1, &target);

    target->hooks = &hooks;
    bench_generate(&bench, hook_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(bench.ctx, DIAG_OFFLOAD, "toy.add cannot be lowered"));
    target->hooks = NULL;
    bench_generate(&bench, hook_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(bench.ctx, DIAG_TEMPLATE,
                           "partition/targets/toy/add.c.tmpl:6: unknown key 'count'"));
    target->rows[0].template_text = NULL;
    bench_generate(&bench, hook_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(bench.ctx, DIAG_OFFLOAD, "composite 'toy.add' has no template"));
    target->rows[0].name = "toy.plus";
    bench_generate(&bench, hook_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(bench.ctx, DIAG_OFFLOAD, "target 'toy' has no composite 'toy.add'"));
    target->name = "tyo";
    bench_generate(&bench, hook_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(bench.ctx, DIAG_TARGET_UNKNOWN, "is for target 'toy'"));
    bench_generate(&bench, hook_text, NULL, WEIGHTS_AUTO, true);
}
END_TEST

/* All that a template may ask for; what it is, is written in docs/guide/backends.md. */
START_TEST(keys_are_what_the_documentation_says)
{
    static const struct {
        const char *key, *text;
    } rows[] = {
        { "x", "input0" },
        { "w", "net_w" },
        { "b", "net_bias" },
        { "out", "output1" },
        { "other", NULL },
        { "x.dtype", "f32" },
        { "x.ctype", "float" },
        { "x.rank", "4" },
        { "x.elements", "72" },
        { "x.bytes", "288" },
        { "x.dim1", "2" },
        { "x.shape", "1, 2, 6, 6" },
        { "out.shape", "1, 3, 4, 4" },
        { "out.dim3", "4" },
        { "conv2d.strides", "1, 1" },
        { "conv2d.strides1", "1" },
        { "conv2d.n_strides", "2" },
        { "conv2d.n_padding", "4" },
        { "conv2d.groups", "1" },
        { "conv2d.data_layout", "NCHW" },
        { "conv2d.dtype", "f32" },
        { "relu.elements", "48" },
        { "bias_add.axis", "1" },
        { "b.value", "" },
        { "patch", "18" },
        { "macs", "864" },
        { "nodes", "3" },
        { "scratch", "scratch0" },
        { "scratch_bytes", "72" },
        { "composite", "toy.conv2d_act" },
        { "origin", "conv1 (Conv)" },
        { "fn", "net_toy_conv1" },
        { "name", "net" },
        { "upper", "NET" },
    };
    const char *const template = arena_printf(&bench.ctx->perm, "/* [${%s}] */\n", rows[_i].key);
    struct target *target = toy_target(bench.ctx, toy_plain_json, toy_plain_files);

    target->rows[0].template_text = template;
    bench_generate(&bench, toy_net, toy_targets(bench.ctx, 1, &target), WEIGHTS_INLINE,
                   !rows[_i].text);
    if (rows[_i].text)
        bench_has(&bench, "net_toy.c", arena_printf(&bench.ctx->perm, "/* [%s] */", rows[_i].text));
}
END_TEST

/* Working memory that no machine has. */
START_TEST(scratch_must_be_a_number_of_bytes)
{
    static const struct {
        const char *scratch, *message;
    } rows[] = {
        { "3000000000", "toy.add asks for 3000000000 bytes of scratch" },
        { "0 - 1", "toy.add asks for -1 bytes of scratch" },
        { "1.5", "scratch of toy.add, '1.5', is no whole number" },
        { "1 / (nodes - 1)", "scratch of toy.add, '1 / (nodes - 1)': " },
        { "0", NULL },
    };
    const char *json = arena_printf(&bench.ctx->perm,
                                    "{ \"name\": \"toy\", \"description\": \"\", \"format\": \"c\","
                                    "\"composites\": [ { \"name\": \"add\", \"pattern\": "
                                    "\"add(x, w:const)\", \"scratch\": \"%s\", \"template\": \"t\" "
                                    "} ] }\n",
                                    rows[_i].scratch);
    static const struct toy_file files[] = { { "t", "${out}[0] = ${x}[0];\n" }, { NULL, NULL } };
    struct target *target = toy_target(bench.ctx, json, files);

    bench_generate(&bench, hook_text, toy_targets(bench.ctx, 1, &target), WEIGHTS_AUTO,
                   rows[_i].message != NULL);
    if (rows[_i].message)
        ck_assert_msg(expect_error(bench.ctx, DIAG_OFFLOAD, rows[_i].message), "%s",
                      expect_text(bench.ctx));
}
END_TEST

/* Templates that ask for what is not there. */
START_TEST(errors_of_templates_name_file_line_and_reason)
{
    static const struct {
        const char *template, *message;
    } rows[] = {
        { "${conv2d}", "unknown key 'conv2d': it is computed inside of the composite" },
        { "${x}\n${x.dim4}", "conv2d.c.tmpl:2: unknown key 'x.dim4'" },
        { "${conv2d.stride}", "unknown key 'conv2d.stride'" },
        { "${conv2d.strides2}", "unknown key 'conv2d.strides2'" },
        { "${out1}", "unknown key 'out1'" },
        { "//#for i x.dimension\n//#end", "unknown key 'x.dimension'" },
    };
    struct target *target = toy_target(bench.ctx, toy_plain_json, toy_plain_files);

    target->rows[0].template_text = rows[_i].template;
    bench_generate(&bench, toy_net, toy_targets(bench.ctx, 1, &target), WEIGHTS_AUTO, true);
    ck_assert_msg(expect_error(bench.ctx, DIAG_TEMPLATE, rows[_i].message), "%s",
                  expect_text(bench.ctx));
}
END_TEST

/* --- element types ---------------------------------------------------------------------------- */

START_TEST(element_types_without_c_are_errors)
{
    static const struct {
        const char *text;
        enum diag_code code;
        const char *message;
    } rows[] = {
        { "fn main(%x: (4) f16) -> (%y) {\n"
          "  %y = call toy_scale(%x) : (4) f16\n}\n"
          "fn toy_scale(%x: (4) f16) -> (%y) compiler \"toy\" {\n"
          "  %y = call k(%x) : (4) f16\n}\n"
          "fn k(%x: (4) f16) -> (%y) compiler \"toy\" composite \"toy.clip\" {\n"
          "  %y = clip(%x) {a_min=0, a_max=6} : (4) f16\n}\n",
          DIAG_OFFLOAD, "'x' is f16, which has no arithmetic in C" },
        { "fn main(%x: (2,4) f32) -> (%y) {\n"
          "  %y = call toy_scale(%x) : (2,4) f32\n}\n"
          "fn toy_scale(%x: (2,4) f32) -> (%y) compiler \"toy\" {\n"
          "  %y = call k(%x) : (2,4) f32\n}\n"
          "fn k(%x: (2,4) f32) -> (%y) compiler \"toy\" composite \"toy.gathered\" {\n"
          "  const @h : (2,4) f16 = [1, 2, 3, 4, 5, 6, 7, 8]\n"
          "  %c = cast(@h) {dtype=f32, saturate=true} : (2,4) f32\n"
          "  %y = add(%x, %c) : (2,4) f32\n}\n",
          DIAG_TEMPLATE, "unknown key 'h': it is f16, which has no arithmetic in C" },
    };
    static const char json[] =
        "{ \"name\": \"toy\", \"description\": \"\", \"format\": \"c\",\n"
        "  \"composites\": [ { \"name\": \"gathered\", \"pattern\": \"add(x, cast(h:const))\",\n"
        "                    \"template\": \"t\" },\n"
        "                  { \"name\": \"clip\", \"pattern\": \"clip(x)\", \"template\": \"t\" } ] "
        "}\n";
    static const struct toy_file files[] = { { "t", "${x} ${h}" }, { NULL, NULL } };
    struct target *target = toy_target(bench.ctx, json, files);

    bench_generate(&bench, rows[_i].text, toy_targets(bench.ctx, 1, &target), WEIGHTS_AUTO, true);
    ck_assert_msg(expect_error(bench.ctx, rows[_i].code, rows[_i].message), "%s",
                  expect_text(bench.ctx));
}
END_TEST

/* --- files ------------------------------------------------------------------------------------ */

START_TEST(files_of_one_name_are_refused)
{
    static const char json[] = "{ \"name\": \"toy\", \"description\": \"\", \"format\": \"c\",\n"
                               "  \"composites\": [ { \"name\": \"add\", \"pattern\": "
                               "\"add(x, w:const)\", \"template\": \"a.c.tmpl\" } ],\n"
                               "  \"headers\": [\"net.h\"] }\n";
    static const struct toy_file files[] = { { "a.c.tmpl", "${out}[0] = ${x}[0];\n" },
                                             { "net.h", "int a;\n" },
                                             { NULL, NULL } };
    struct target *target = toy_target(bench.ctx, json, files);

    bench_generate(&bench, hook_text, toy_targets(bench.ctx, 1, &target), WEIGHTS_AUTO, true);
    ck_assert(expect_error(bench.ctx, DIAG_OFFLOAD,
                           "target 'toy' wants a file net.h of its own; there is another"));
}
END_TEST

START_TEST(a_header_that_the_machine_needs_too_is_written_once)
{
    static const char json[] = "{ \"name\": \"toy\", \"description\": \"\", \"format\": \"c\",\n"
                               "  \"composites\": [ { \"name\": \"add\", \"pattern\": "
                               "\"add(x, w:const)\", \"template\": \"a.c.tmpl\" } ],\n"
                               "  \"headers\": [\"a.h\"], \"host\": { \"files\": [\"a.h\", "
                               "\"b.c\"], \"flags\": \"-lm\" } }\n";
    static const struct toy_file files[] = { { "a.c.tmpl", "${out}[0] = ${x}[0];\n" },
                                             { "a.h", "extern int a;\n" },
                                             { "b.c", "#include \"a.h\"\nint a;\n" },
                                             { NULL, NULL } };
    struct target *target = toy_target(bench.ctx, json, files);
    const struct codegen_result result =
        bench_generate(&bench, hook_text, toy_targets(bench.ctx, 1, &target), WEIGHTS_AUTO, false);

    ck_assert_int_eq(result.n_host_files, 1);
    ck_assert_str_eq(result.host_files[0].name, "b.c");
    bench_has(&bench, "a.h", "extern int a;\n");
}
END_TEST

static const char *no_file(void *user, const char *name)
{
    (void)user, (void)name;
    return "";
}

START_TEST(in_place_names_captures)
{
    static const char json[] =
        "{ \"name\": \"toy\", \"description\": \"\", \"format\": \"c\",\n"
        "  \"composites\": [ { \"name\": \"add\", \"pattern\": \"add(x, other)\", \"template\": "
        "\"t\",\n"
        "                    \"in_place\": [\"x\", \"y\", 3] } ] }\n";

    ck_assert_ptr_null(target_parse(bench.ctx, "t.json", json, no_file, NULL));
    ck_assert_msg(
        expect_error(bench.ctx, DIAG_TARGET_FILE, "t.json:3:39: the pattern has no capture 'y'"),
        "%s", expect_text(bench.ctx));
    ck_assert_int_eq(bench.ctx->diags.n_errors, 2);
}
END_TEST

/* --- main ------------------------------------------------------------------------------------- */

int main(void)
{
    Suite *suite = suite_create("codegen_external_hooks");
    TCase *tcase = tcase_create("codegen_external_hooks");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 0);
    tcase_add_test(tcase, hooks_add_keys_arrays_and_scratch);
    tcase_add_test(tcase, what_cannot_be_lowered_is_an_error);
    tcase_add_loop_test(tcase, scratch_must_be_a_number_of_bytes, 0, 5);
    tcase_add_loop_test(tcase, keys_are_what_the_documentation_says, 0, 34);
    tcase_add_loop_test(tcase, errors_of_templates_name_file_line_and_reason, 0, 6);
    tcase_add_loop_test(tcase, element_types_without_c_are_errors, 0, 2);
    tcase_add_test(tcase, a_header_that_the_machine_needs_too_is_written_once);
    tcase_add_test(tcase, in_place_names_captures);
    tcase_add_test(tcase, files_of_one_name_are_refused);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
