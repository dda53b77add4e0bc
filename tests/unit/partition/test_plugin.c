#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "partition/plugin.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/temp_dir.h"

/* --- plug-ins, built here --------------------------------------------------------------------- */

/* What it does, options of the compiler say. */
static const char source[] =
    "#include \"relayc_plugin.h\"\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "#ifndef VERSION\n"
    "#define VERSION RELAYC_PLUGIN_VERSION\n"
    "#endif\n"
    "#ifndef OLD\n"
    "#define OLD 0\n"
    "#endif\n"
    "#ifndef ENTRY\n"
    "#define ENTRY relayc_plugin_get\n"
    "#endif\n"
    "#ifndef CHECK\n"
    "#define CHECK NULL\n"
    "#endif\n"
    "#ifndef COST\n"
    "#define COST NULL\n"
    "#endif\n"
    "#ifndef LOWER\n"
    "#define LOWER NULL\n"
    "#endif\n"
    "#ifndef ASSEMBLE\n"
    "#define ASSEMBLE NULL\n"
    "#endif\n"
    "#ifndef ARRAY\n"
    "#define ARRAY { NULL, 0, { 0 }, NULL, 0 }\n"
    "#endif\n"
    "#define UNUSED __attribute__((unused))\n"
    "int missing(const struct relayc_call *call);\n"
    "UNUSED static int yes(const struct relayc_call *call) { return call->version == 1; }\n"
    "UNUSED static int no(const struct relayc_call *call) { (void)call; return 0; }\n"
    "UNUSED static int refuses(const struct relayc_call *call)\n"
    "{\n"
    "    call->refuse(call, \"w is \\x1B[red]\", \"w is blue\");\n"
    "    return call->refuse(call, \"second\", \"second\");\n"
    "}\n"
    "UNUSED static int fails(const struct relayc_call *call)\n"
    "{\n"
    "    call->fail(call, \"the moon is not full\");\n"
    "    return 1;\n"
    "}\n"
    "/* w has 20 elements: its numbers are not in the graph. */\n"
    "UNUSED static int looks(const struct relayc_call *call)\n"
    "{\n"
    "    struct relayc_tensor w, x, y;\n"
    "    const float *numbers;\n"
    "\n"
    "    if (strcmp(call->target, \"npu\") || strcmp(call->composite, \"npu.add\") ||\n"
    "        !strstr(call->graph, \"\\\"captures\\\": {\\\"x\\\":\\\"in \\\\\\\\x22put\\\"\") ||\n"
    "        !strstr(call->graph, \"\\\"op\\\":\\\"add\\\"\") || call->places)\n"
    "        return call->fail(call, call->graph);\n"
    "    if (!call->capture(call, NULL, \"x\", &x) || x.data || x.rank != 1 || x.dim[0] != 20)\n"
    "        return call->refuse(call, \"x\", \"\");\n"
    "    if (!call->constant(call, NULL, \"the w\", &w) || strcmp(w.dtype, \"f32\") || w.bytes != "
    "80)\n"
    "        return call->refuse(call, \"w\", \"\");\n"
    "    if (!call->capture(call, NULL, \"w\", &y) || y.data != w.data ||\n"
    "        call->capture(call, NULL, \"none\", &y) || call->constant(call, \"f\", \"the w\", &y) "
    "||\n"
    "        call->constant(call, NULL, \"in \\\\x22put\", &y))\n"
    "        return call->refuse(call, \"names\", \"\");\n"
    "    numbers = w.data;\n"
    "    return numbers[19] == 2.5f;\n"
    "}\n"
    "UNUSED static double cheap(const struct relayc_call *call) { (void)call; return 12.5; }\n"
    "UNUSED static double nan_ns(const struct relayc_call *call) { (void)call; return 0.0 / 0.0; "
    "}\n"
    "UNUSED static int adds(const struct relayc_call *call)\n"
    "{\n"
    "    static const short numbers[] = { 1, -2, 3 };\n"
    "    const struct relayc_tensor array = { \"i16\", 1, { 3 }, numbers, sizeof numbers };\n"
    "    char key[8] = \"mode\", text[8] = \"fast %s\";\n"
    "\n"
    "    call->add_text(call, key, text);\n"
    "    strcpy(key, \"gone\");\n"
    "    strcpy(text, \"gone\");\n"
    "    call->add_int(call, \"big\", -9223372036854775807 - 1);\n"
    "    call->add_scratch(call, 100);\n"
    "    call->add_scratch(call, 28);\n"
    "    return call->add_array(call, \"steps\", &array, \"steps\") && looks(call);\n"
    "}\n"
    "UNUSED static int bad_key(const struct relayc_call *call)\n"
    "{\n"
    "    call->add_int(call, \"a b\", 1);\n"
    "    return 1;\n"
    "}\n"
    "UNUSED static int bad_array(const struct relayc_call *call)\n"
    "{\n"
    "    static const struct relayc_tensor array = ARRAY;\n"
    "\n"
    "    call->add_array(call, \"steps\", &array, NULL);\n"
    "    return 1;\n"
    "}\n"
    "UNUSED static int streams(const struct relayc_call *call)\n"
    "{\n"
    "    for (size_t i = 0; i < call->n_places; i++) {\n"
    "        const struct relayc_place *place = &call->places[i];\n"
    "        char line[100];\n"
    "\n"
    "        snprintf(line, sizeof line, \"%s %d %d %d %d\\n\", place->value, (int)place->kind,\n"
    "                 (int)place->index, (int)place->offset, (int)place->bytes);\n"
    "        call->add_stream(call, line, strlen(line));\n"
    "    }\n"
    "    call->add_stream(call, call->graph, strlen(call->graph));\n"
    "    return call->scratch_bytes == 112 && call->n_call_scratch == 2 &&\n"
    "           call->call_scratch[1] == 96;\n"
    "}\n"
    "const struct relayc_plugin *ENTRY(uint32_t version)\n"
    "{\n"
    "    static const struct relayc_plugin plugin = { VERSION, \"test \\\"plug-in\\\"\", CHECK, "
    "COST,\n"
    "                                                 LOWER, ASSEMBLE };\n"
    "\n"
    "    return version == 1 && !OLD ? &plugin : NULL;\n"
    "}\n";

/* Builds `text` as NAME.so; later options win. Another name each time: the loader knows a file that
 * it has open. */
static const char *build_plugin(struct temp_dir *dir, const char *name, const char *text,
                                const char *options)
{
    const char *compiler = getenv("CC");
    const char *file = temp_file(dir, arena_printf(&dir->arena, "%s.c", name), text, strlen(text));
    const char *object = temp_path(dir, arena_printf(&dir->arena, "%s.so", name));

    ck_assert_int_eq(system(arena_printf(&dir->arena,
                                         "%s -std=c99 -Wall -Wextra -Wpedantic -Werror -fPIC "
                                         "-shared -Iruntime/abi %s -o %s %s -lm",
                                         compiler ? compiler : "cc", options, object, file)),
                     0);
    return object;
}

static const struct target_hooks *load(struct ctx *ctx, struct temp_dir *dir, const char *options)
{
    return plugin_load(ctx, build_plugin(dir, "plugin", source, options), "npu");
}

/* --- a match ---------------------------------------------------------------------------------- */

struct fixture {
    struct temp_dir dir;
    struct ctx *ctx;
    struct module *module;
    struct target target;
    struct composite_row row;
    struct match match;
    struct capture captures[2];
    struct lowering lowering;
};

static const char graph[] = "fn main(%\"in \\x22put\": (20) f32) -> (%y) {\n"
                            "  const @\"the w\" : (20) f32 = [2.5, ...]\n"
                            "  %y = add(%\"in \\x22put\", @\"the w\") : (20) f32\n"
                            "}\n";

/* Of the first node of main. */
static void setup(struct fixture *f, const char *options)
{
    struct node *node;

    memset(f, 0, sizeof *f);
    f->dir = temp_dir_new();
    f->ctx = ctx_new(NULL);
    f->module = graph_parse(f->ctx, graph, 0);
    f->target.name = "npu";
    f->target.hooks = load(f->ctx, &f->dir, options);
    f->row = (struct composite_row){ .name = "npu.add", .target = &f->target };
    node = f->module->main->first;
    f->captures[0] = (struct capture){ "x", node->inputs[0], NULL };
    f->captures[1] = (struct capture){ "w", node->inputs[1], NULL };
    f->match = (struct match){ .root = node,
                               .n_nodes = 1,
                               .nodes = &f->match.root,
                               .n_captures = 2,
                               .captures = f->captures };
    f->lowering = (struct lowering){ .ctx = f->ctx, .arena = &f->ctx->perm };
}

static void teardown(struct fixture *f)
{
    module_free(f->module);
    ctx_free(f->ctx);
    temp_dir_free(&f->dir);
}

static bool accepts(struct fixture *f, const char **found, const char **wanted)
{
    ck_assert_msg(f->target.hooks != NULL, "%s", expect_text(f->ctx));
    return f->target.hooks->accepts(&f->row, &f->match, &f->ctx->perm, found, wanted);
}

START_TEST(a_check_sees_graph_captures_and_numbers)
{
    struct fixture f;
    const char *found = "", *wanted = "";

    setup(&f, "-DCHECK=looks");
    ck_assert_msg(accepts(&f, &found, &wanted), "%s, %s", found, wanted);
    ck_assert(!f.target.hooks->lower);
    ck_assert(!f.target.hooks->cost_ns);
    ck_assert(!f.target.hooks->assemble);
    ck_assert_ptr_null(f.target.hooks->rows);
    ck_assert_str_eq(f.target.hooks->target, "npu");
    teardown(&f);
}
END_TEST

static const struct {
    const char *check, *found, *wanted;
} refusals[] = {
    { "-DCHECK=refuses", "w is \\x1B[red]", "w is blue" },
    { "-DCHECK=no", "it is refused", "what the plug-in 'test \\x22plug-in\\x22' takes" },
    { "-DCHECK=fails", "the plug-in 'test \\x22plug-in\\x22' failed: the moon is not full", "" },
    { "-DCHECK=bad_key", "failed: add_int outside of lower and assemble", "" },
};

START_TEST(a_check_refuses_with_found_and_wanted)
{
    struct fixture f;
    const char *found = "", *wanted = "";

    setup(&f, refusals[_i].check);
    ck_assert(!accepts(&f, &found, &wanted));
    ck_assert_msg(strstr(found, refusals[_i].found) != NULL, "%s", found);
    ck_assert_msg(strstr(wanted, refusals[_i].wanted) != NULL, "%s", wanted);
    teardown(&f);
}
END_TEST

START_TEST(a_cost_counts_unless_it_is_no_number)
{
    struct fixture f;

    setup(&f, "-DCOST=cheap");
    ck_assert_double_eq(f.target.hooks->cost_ns(&f.row, &f.match, &f.ctx->perm), 12.5);
    teardown(&f);
    setup(&f, "-DCOST=nan_ns");
    ck_assert_double_lt(f.target.hooks->cost_ns(&f.row, &f.match, &f.ctx->perm), 0);
    teardown(&f);
}
END_TEST

/* --- lower ------------------------------------------------------------------------------------ */

static const struct lowering_key *find_key(const struct fixture *f, const char *name)
{
    const struct lowering_key *key = f->lowering.keys;

    while (key && strcmp(key->name, name) != 0)
        key = key->next;
    ck_assert_msg(key != NULL, "%s", name);
    return key;
}

START_TEST(keys_arrays_and_scratch_are_copied)
{
    static const int16_t steps[] = { 1, -2, 3 };
    struct fixture f;

    setup(&f, "-DLOWER=adds");
    ck_assert_msg(f.target.hooks && f.target.hooks->lower(&f.row, &f.match, &f.lowering), "%s",
                  expect_text(f.ctx));
    ck_assert_str_eq(find_key(&f, "mode")->text, "fast %s");
    ck_assert_str_eq(find_key(&f, "big")->text, "-9223372036854775808");
    ck_assert(find_key(&f, "steps")->is_array);
    ck_assert_uint_eq(f.lowering.scratch_bytes, 128);
    ck_assert_ptr_nonnull(f.lowering.arrays);
    ck_assert_str_eq(f.lowering.arrays->layout, "steps");
    ck_assert_int_eq(f.lowering.arrays->type.dtype, DTYPE_I16);
    ck_assert_mem_eq(f.lowering.arrays->data, steps, sizeof steps);
    teardown(&f);
}
END_TEST

static const struct {
    const char *options, *error;
} failures[] = {
    { "-DLOWER=no", "of target npu refused npu.add: found no reason" },
    { "-DLOWER=refuses", "refused npu.add: found w is \\x1B[red], wanted w is blue" },
    { "-DLOWER=fails", "of target npu failed on npu.add: the moon is not full" },
    { "-DLOWER=bad_key", "add_int with the key 'a b'" },
    { "-DLOWER=bad_array '-DARRAY={\"i16\",1,{2},\"ab\",3}'", "'steps' with a size that" },
    { "-DLOWER=bad_array '-DARRAY={\"i16\",1,{1},0,2}'", "'steps' with a size that" },
    { "-DLOWER=bad_array '-DARRAY={\"i17\",1,{1},\"ab\",2}'", "'steps' with an element type" },
    { "-DLOWER=bad_array '-DARRAY={0,1,{1},\"ab\",2}'", "'steps' with an element type" },
    { "-DLOWER=bad_array '-DARRAY={\"i8\",9,{1},\"ab\",2}'", "'steps' with a rank" },
    { "-DLOWER=bad_array '-DARRAY={\"i8\",-1,{1},\"ab\",2}'", "'steps' with a rank" },
    { "-DLOWER=bad_array '-DARRAY={\"i8\",1,{-2},\"ab\",2}'", "'steps' with extents" },
    { "-DLOWER=bad_array '-DARRAY={\"i8\",2,{1LL<<62,1LL<<62},\"ab\",2}'", "with extents" },
};

START_TEST(what_goes_wrong_in_lower_is_an_error)
{
    struct fixture f;

    setup(&f, failures[_i].options);
    ck_assert_msg(f.target.hooks != NULL, "%s", expect_text(f.ctx));
    ck_assert(!f.target.hooks->lower(&f.row, &f.match, &f.lowering));
    ck_assert_msg(expect_error(f.ctx, DIAG_PLUGIN, failures[_i].error), "%s", expect_text(f.ctx));
    teardown(&f);
}
END_TEST

/* --- assemble --------------------------------------------------------------------------------- */

START_TEST(a_region_becomes_bytes)
{
    static const char region_text[] =
        "fn main(%x: (4) f32) -> (%y) {\n  %y = call r(%x) : (4) f32\n}\n"
        "fn r(%x: (4) f32) -> (%y) compiler \"npu\" global_symbol \"npu_y\" {\n"
        "  %a = call f(%x) : (4) f32\n  %y = call f(%a) : (4) f32\n}\n"
        "fn f(%x: (4) f32) -> (%o) compiler \"npu\" composite \"npu.relu\" {\n"
        "  %o = nn.relu(%x) : (4) f32\n}\n";
    static const struct region_place places[] = { { REGION_INPUT, 0, 0 },
                                                  { REGION_SCRATCH, 0, 64 },
                                                  { REGION_OUTPUT, 0, 0 } };
    static const size_t call_scratch[] = { 80, 96 };
    static const char wanted[] = "x 0 0 0 16\na 2 0 64 16\ny 1 0 0 16\n{\n  \"functions\": [\n";
    struct fixture f;
    struct module *module;
    struct region_view view = { .places = places,
                                .scratch_bytes = 112,
                                .call_scratch = call_scratch };
    const char *stream;

    setup(&f, "-DASSEMBLE=streams");
    f.row = (struct composite_row){ .name = "npu.relu", .target = &f.target };
    f.row.source = (struct source){ .file = "test" };
    f.row.pattern = pattern_parse(f.ctx, &f.row.source, "relu(x)");
    ck_assert_msg(f.row.pattern != NULL, "%s", expect_text(f.ctx));
    f.target.rows = &f.row;
    f.target.n_rows = 1;
    module = graph_parse(f.ctx, region_text, 0);
    view.fn = module->main->first->callee;
    function_number(view.fn);
    ck_assert_msg(f.target.hooks && f.target.hooks->assemble(&f.target, &view, &f.lowering), "%s",
                  expect_text(f.ctx));
    stream = arena_strndup(&f.ctx->perm, (const char *)f.lowering.stream, f.lowering.stream_bytes);
    ck_assert_msg(strncmp(stream, wanted, sizeof wanted - 1) == 0, "%s", stream);
    ck_assert_msg(strstr(stream, "\"composite\": \"npu.relu\"") != NULL, "%s", stream);
    ck_assert_msg(strstr(stream, "\"captures\": {\"relu\":\"o\",\"x\":\"x\"}") != NULL, "%s",
                  stream);
    module_free(module);
    teardown(&f);
}
END_TEST

/* --- what cannot be loaded -------------------------------------------------------------------- */

static const struct {
    const char *options, *error;
} unloadable[] = {
    { "-DVERSION=7", "it implements version 7 of the interface, expected 1" },
    { "-DOLD=1", "it does not implement version 1 of the interface" },
    { "-DENTRY=other", "it exports no function relayc_plugin_get" },
    { "-DCHECK=missing", "undefined symbol: missing" },
};

START_TEST(other_versions_and_missing_symbols_are_errors)
{
    struct fixture f;

    setup(&f, unloadable[_i].options);
    ck_assert_ptr_null(f.target.hooks);
    ck_assert_msg(expect_error(f.ctx, DIAG_PLUGIN, unloadable[_i].error), "%s", expect_text(f.ctx));
    ck_assert(expect_error(f.ctx, DIAG_PLUGIN, "plugin.so of target npu cannot be used"));
    teardown(&f);
}
END_TEST

START_TEST(what_is_no_shared_object_is_an_error)
{
    struct temp_dir dir = temp_dir_new();
    struct ctx *ctx = ctx_new(NULL);

    ck_assert_ptr_null(plugin_load(ctx, temp_path(&dir, "none.so"), "npu"));
    ck_assert(expect_error(ctx, DIAG_PLUGIN, "No such file or directory"));
    ck_assert_ptr_null(plugin_load(ctx, temp_file(&dir, "text.so", "text", 4), "npu"));
    ck_assert(expect_error(ctx, DIAG_PLUGIN, "text.so of target npu cannot be used"));
    /* A library of the system is not looked for. */
    ck_assert_ptr_null(plugin_load(ctx, "libm.so.6", "npu"));
    ck_assert(expect_error(ctx, DIAG_PLUGIN, "./libm.so.6"));
    ctx_free(ctx);
    temp_dir_free(&dir);
}
END_TEST

START_TEST(the_header_is_cplusplus_too)
{
    ck_assert_int_eq(system("printf '#include \"relayc_plugin.h\"\\nint main() { return "
                            "RELAYC_PLUGIN_VERSION - 1; }\\n' | ${CXX:-c++} -std=c++11 -Wall "
                            "-Wextra -Wpedantic -Werror -Iruntime/abi -fsyntax-only -x c++ -"),
                     0);
}
END_TEST

/* --- the manual ------------------------------------------------------------------------------- */

/* The text of the n-th block of docs/guide/plugin.md that is fenced as `language`. */
static const char *manual_block(struct arena *arena, const char *language, int n)
{
    const char *fence = arena_printf(arena, "\n```%s\n", language), *at;
    struct ctx *ctx = ctx_new(NULL);
    struct mapping file;
    const char *text;

    ck_assert(file_map(ctx, "docs/guide/plugin.md", &file));
    text = arena_strndup(arena, (const char *)file.data, file.size);
    file_unmap(&file);
    ctx_free(ctx);
    at = strstr(text, fence);
    while (at && n-- > 0)
        at = strstr(at + 1, fence);
    ck_assert_msg(at != NULL && strstr(at + 1, "\n```\n") != NULL, "%s", language);
    at += strlen(fence);
    return arena_strndup(arena, at, (size_t)(strstr(at, "\n```\n") - at) + 1);
}

static const char scales[] = "fn main(%x: (2,3) f32) -> (%y, %z) {\n"
                             "  const @k : (3) f32 = [0.5, 8, 1]\n"
                             "  const @l : (3) f32 = [0.5, 7, 1]\n"
                             "  %y = multiply(%x, @k) : (2,3) f32\n"
                             "  %z = multiply(%x, @l) : (2,3) f32\n"
                             "}\n";

static bool match_node(struct ctx *ctx, const struct composite_row *row, struct node *node,
                       struct match *match)
{
    const struct matcher matcher = { .arena = &ctx->perm };
    struct mismatch why;

    return pattern_match(&matcher, row->pattern, node, match, &why);
}

START_TEST(the_example_of_the_manual_works)
{
    struct temp_dir dir = temp_dir_new();
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, scales, 0);
    const char *json = manual_block(&dir.arena, "json", 0);
    const char *prologue = manual_block(&dir.arena, "tmpl", 0);
    const char *template = manual_block(&dir.arena, "tmpl", 1);
    const char *found = "", *wanted = "";
    struct lowering lowering = { .ctx = ctx, .arena = &ctx->perm };
    struct targets targets;
    const struct composite_row *row;
    struct match match;

    temp_file(&dir, "target.json", json, strlen(json));
    temp_file(&dir, "prologue.c.tmpl", prologue, strlen(prologue));
    temp_file(&dir, "scale.c.tmpl", template, strlen(template));
    build_plugin(&dir, "shifter", manual_block(&dir.arena, "c", 0), "-O2 -Wconversion");
    ck_assert_msg(targets_load(ctx, 1, &dir.path, &targets), "%s", expect_text(ctx));
    row = targets_row(&targets, "shifter.scale");
    ck_assert_ptr_nonnull(row);
    function_number(module->main);

    ck_assert(match_node(ctx, row, module->main->first, &match));
    ck_assert_msg(composite_accepts(row, &match, &ctx->perm, &found, &wanted), "%s, %s", found,
                  wanted);
    ck_assert_double_eq(composite_cost_ns(row, &match, &ctx->perm), 6);
    ck_assert(row->target->hooks->lower(row, &match, &lowering));
    ck_assert_str_eq(lowering.arrays->name, "exponents");
    ck_assert_mem_eq(lowering.arrays->data, ((int8_t[]){ -1, 3, 0 }), 3);

    ck_assert(match_node(ctx, row, module->main->first->next, &match));
    ck_assert(!composite_accepts(row, &match, &ctx->perm, &found, &wanted));
    ck_assert_str_eq(found, "factor 1 is 7");
    ck_assert_str_eq(wanted, "a power of two, 2^-100 to 2^100");
    module_free(module);
    ctx_free(ctx);
    temp_dir_free(&dir);
}
END_TEST

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

int main(void)
{
    Suite *suite = suite_create("plugin");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, a_check_sees_graph_captures_and_numbers);
    tcase_add_loop_test(tests, a_check_refuses_with_found_and_wanted, 0, N_ROWS(refusals));
    tcase_add_test(tests, a_cost_counts_unless_it_is_no_number);
    tcase_add_test(tests, keys_arrays_and_scratch_are_copied);
    tcase_add_loop_test(tests, what_goes_wrong_in_lower_is_an_error, 0, N_ROWS(failures));
    tcase_add_test(tests, a_region_becomes_bytes);
    tcase_add_loop_test(tests, other_versions_and_missing_symbols_are_errors, 0,
                        N_ROWS(unloadable));
    tcase_add_test(tests, what_is_no_shared_object_is_an_error);
    tcase_add_test(tests, the_header_is_cplusplus_too);
    tcase_add_test(tests, the_example_of_the_manual_works);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
