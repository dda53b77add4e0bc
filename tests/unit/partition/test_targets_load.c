#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/str.h"
#include "partition/target.h"
#include "tests/support/expect.h"
#include "tests/support/temp_dir.h"

static struct ctx *ctx;
static struct temp_dir dir;
static struct targets targets;

static void setup(void)
{
    ctx = ctx_new(NULL);
    dir = temp_dir_new();
}

static void teardown(void)
{
    temp_dir_free(&dir);
    ctx_free(ctx);
}

/* A file FOLDER/NAME, ' for ". */
static const char *put(const char *folder, const char *name, const char *text)
{
    char *quoted = arena_strdup(&ctx->perm, text);

    mkdir(temp_path(&dir, folder), 0700);
    for (char *at = quoted; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return temp_file(&dir, arena_printf(&ctx->perm, "%s/%s", folder, name), quoted, strlen(text));
}

static bool load(const char *a, const char *b)
{
    const char *dirs[2] = { NULL };
    int n = 0;

    if (a)
        dirs[n++] = temp_path(&dir, a);
    if (b)
        dirs[n++] = temp_path(&dir, b);
    return targets_load(ctx, n, dirs, &targets);
}

/* "c dnnl npu" */
static const char *names(void)
{
    struct str all = { .arena = &ctx->perm };

    for (const struct target *target = targets.first; target; target = target->next)
        str_printf(&all, "%s%s", target == targets.first ? "" : " ", target->name);
    return str_text(&all);
}

#define NPU                                                                                        \
    "{'name': 'npu', 'composites': [{'name': 'r', 'pattern': 'relu(x)', 'template': 'a.tmpl'}]}"

START_TEST(what_ships_is_well_and_in_order)
{
    const char *before = "";
    int n = 0;

    ck_assert_msg(load(NULL, NULL), "%s", expect_text(ctx));
    ck_assert_str_eq(targets.first->name, "c");
    for (const struct target *target = targets.first; target; target = target->next, n++) {
        ck_assert_ptr_null(target->folder);
        ck_assert_str_eq(target->file, arena_printf(&ctx->perm, "partition/targets/%s/target.json",
                                                    target->name));
        if (target != targets.first) {
            ck_assert_int_lt(strcmp(before, target->name), 0);
            before = target->name;
        }
        ck_assert_ptr_eq(targets_find(&targets, target->name), target);
        ck_assert_int_gt((int)strlen(target->description), 0);
        for (int i = 0; i < target->n_rows; i++) {
            ck_assert_ptr_eq(target->rows[i].target, target);
            ck_assert_ptr_eq(targets_row(&targets, target->rows[i].name), &target->rows[i]);
        }
    }
    for (size_t i = 0; i < n_embedded_files; i++)
        if (str_starts(embedded_files[i].path, "partition/targets/") &&
            str_ends(embedded_files[i].path, "/target.json"))
            n--;
    ck_assert_int_eq(n, 0);
    ck_assert_ptr_null(targets_find(&targets, "nothing"));
    ck_assert_ptr_null(targets_row(&targets, "nothing.conv2d"));
    ck_assert_ptr_null(targets_row(&targets, "c"));
}
END_TEST

START_TEST(the_host_has_rates_and_no_composites)
{
    const struct target *c;

    ck_assert(load(NULL, NULL));
    c = targets_find(&targets, "c");
    ck_assert_int_eq(c->n_rows, 0);
    ck_assert(c->rates.ns_per_byte > 0 && c->rates.n_macs > 1);
}
END_TEST

START_TEST(a_folder_adds_a_target)
{
    const struct target *npu;

    put("npu", "target.json", NPU);
    put("npu", "a.tmpl", "text of a\n");
    ck_assert_msg(load("npu/", NULL), "%s", expect_text(ctx));
    npu = targets_find(&targets, "npu");
    ck_assert_ptr_null(npu->next);
    ck_assert_str_eq(npu->folder, temp_path(&dir, "npu"));
    ck_assert_str_eq(npu->rows[0].template_text, "text of a\n");
    ck_assert_str_eq(npu->rows[0].name, "npu.r");
    ck_assert_ptr_eq(targets_row(&targets, "npu.r"), &npu->rows[0]);
    ck_assert_ptr_null(targets_row(&targets, "npu.q"));
    ck_assert_ptr_null(targets_row(&targets, "np.r"));
}
END_TEST

START_TEST(a_folder_of_folders_adds_all_by_name)
{
    mkdir(temp_path(&dir, "all"), 0700);
    put("all/b", "target.json", "{'name': 'y'}");
    put("all/a", "target.json", "{'name': 'z'}");
    put("all/.hidden", "target.json", "{'name': 'w'}");
    put("all/docs", "README", "no target");
    put("more", "target.json", "{'name': 'x'}");
    ck_assert_msg(load("all", "more"), "%s", expect_text(ctx));
    ck_assert(str_ends(names(), " z y x"));
}
END_TEST

START_TEST(a_folder_replaces_what_ships_in_its_place)
{
    const char *before;

    ck_assert(load(NULL, NULL));
    before = names();
    put("mine", "target.json", "{'name': 'c', 'description': 'my host', 'rates': {'call_ns': 7}}");
    ck_assert_msg(load("mine", NULL), "%s", expect_text(ctx));
    ck_assert_str_eq(names(), before);
    ck_assert_str_eq(targets.first->description, "my host");
    ck_assert(targets.first->rates.call_ns == 7);
    ck_assert_int_eq(targets.first->rates.n_macs, 0);
}
END_TEST

START_TEST(a_replacement_keeps_the_hooks)
{
    const struct target_hooks *hooks;

    ck_assert(load(NULL, NULL));
    hooks = targets_find(&targets, "dnnl")->hooks;
    ck_assert_ptr_nonnull(hooks);
    put("mine", "target.json", "{'name': 'dnnl'}");
    ck_assert_msg(load("mine", NULL), "%s", expect_text(ctx));
    ck_assert_ptr_eq(targets_find(&targets, "dnnl")->hooks, hooks);
}
END_TEST

START_TEST(two_folders_with_one_name_are_refused)
{
    put("a", "target.json", "{\n 'name': 'npu'}");
    put("b", "target.json", "{\n 'name': 'npu'}");
    ck_assert(!load("a", "b"));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE, "b/target.json:2:11: there is already a target"));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE, "from /"));
}
END_TEST

START_TEST(folders_without_a_target_are_refused)
{
    put("docs", "README", "no target");
    ck_assert(!load("docs", "nothing"));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE, "docs: there is no target.json"));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE, "nothing: there is no target.json"));
    ck_assert_int_eq(ctx->diags.n_errors, 2);
}
END_TEST

START_TEST(the_errors_of_all_folders_are_told)
{
    put("a", "target.json", "{'name': 'a',\n 'nmae': 1}");
    put("b", "target.json", "{'name': 'b',\n\n");
    put("good", "target.json", "{'name': 'good'}");
    ck_assert(!load("a", "b"));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE, "a/target.json:2:2: unknown key 'nmae'"));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE, "b/target.json:3:1: malformed JSON"));
    ck_assert(!load("a", "good"));
    ck_assert_ptr_nonnull(targets_find(&targets, "good")); /* what is well is there */
    ck_assert_ptr_null(targets_find(&targets, "a"));
}
END_TEST

/* The folder npu needs a.tmpl; what stands there instead is refused. */
static bool load_npu(const char *message)
{
    put("npu", "target.json", NPU);
    return !load("npu", NULL) && ctx->diags.n_errors == 1 &&
           expect_error(ctx, DIAG_TARGET_FILE, "npu/target.json:1:80: cannot read 'a.tmpl'") &&
           expect_error(ctx, DIAG_TARGET_FILE, message);
}

START_TEST(a_missing_template_is_told)
{
    ck_assert_msg(load_npu("No such file"), "%s", expect_text(ctx));
}
END_TEST

START_TEST(links_and_other_things_are_no_templates)
{
    mkdir(temp_path(&dir, "npu"), 0700);
    if (_i == 0)
        ck_assert_int_eq(symlink("/etc/hostname", temp_path(&dir, "npu/a.tmpl")), 0);
    else if (_i == 1)
        ck_assert_int_eq(mkdir(temp_path(&dir, "npu/a.tmpl"), 0700), 0);
    else if (_i == 2)
        ck_assert_int_eq(mkfifo(temp_path(&dir, "npu/a.tmpl"), 0600), 0);
    else
        ck_assert_int_eq(link(put("npu", "b.tmpl", "x"), temp_path(&dir, "npu/a.tmpl")), 0);
    ck_assert_msg(load_npu(_i == 0   ? "symbolic link"
                           : _i == 3 ? "several hard links"
                                     : "not a regular file"),
                  "%s", expect_text(ctx));
}
END_TEST

START_TEST(big_and_binary_files_are_refused)
{
    const size_t n = (1 << 20) + 1;
    char *big = arena_alloc(&ctx->perm, n);

    memset(big, ' ', n);
    mkdir(temp_path(&dir, "npu"), 0700);
    temp_file(&dir, "npu/a.tmpl", _i ? "a\0b" : big, _i ? 3 : n);
    ck_assert_msg(load_npu(_i ? "a zero byte" : "more than 1 MiB"), "%s", expect_text(ctx));
    temp_file(&dir, "npu/target.json", _i ? "{\0}" : big, _i ? 3 : n);
    ck_assert(!load("npu", NULL));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE,
                           _i ? "target.json:1:1: cannot read it: it is not text"
                              : "target.json:1:1: cannot read it: it has"));
}
END_TEST

START_TEST(a_target_json_that_is_no_file_is_refused)
{
    mkdir(temp_path(&dir, "npu"), 0700);
    ck_assert_int_eq(_i ? mkdir(temp_path(&dir, "npu/target.json"), 0700)
                        : symlink("/dev/zero", temp_path(&dir, "npu/target.json")),
                     0);
    ck_assert(!load("npu", NULL));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE, _i ? "not a regular file" : "symbolic link"));
}
END_TEST

START_TEST(headers_and_host_files_are_read)
{
    const struct target *npu;

    put("npu", "target.json",
        "{'name': 'npu', 'format': 'extern', 'headers': ['a.h', 'b.h'],"
        " 'host': {'files': ['sim.c'], 'flags': '-lm -DX=1'}}");
    put("npu", "a.h", "a\n");
    put("npu", "b.h", "b\n");
    put("npu", "sim.c", "sim\n");
    ck_assert_msg(load("npu", NULL), "%s", expect_text(ctx));
    npu = targets_find(&targets, "npu");
    ck_assert_int_eq(npu->n_headers, 2);
    ck_assert_str_eq(npu->header_names[1], "b.h");
    ck_assert_str_eq(npu->header_texts[1], "b\n");
    ck_assert_int_eq(npu->n_host_files, 1);
    ck_assert_str_eq(npu->host_names[0], "sim.c");
    ck_assert_str_eq(npu->host_texts[0], "sim\n");
    ck_assert_str_eq(npu->host_flags, "-lm -DX=1");
}
END_TEST

START_TEST(a_stream_needs_a_plug_in)
{
    put("npu", "target.json", "{'format': 'stream',\n'name': 'npu'}");
    ck_assert(!load("npu", NULL));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE, "target.json:2:10: a target of format stream"));
}
END_TEST

START_TEST(a_plug_in_that_is_none_is_refused)
{
    put("npu", "target.json", "{'name': 'npu', 'plugin': 'lib.so'}");
    ck_assert(!load("npu", NULL));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE, "target.json:1:27: cannot use 'lib.so'"));
    put("npu", "lib.so", "no shared object");
    ck_assert(!load("npu", NULL));
    ck_assert(expect_error(ctx, DIAG_PLUGIN, "lib.so"));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("loading of targets");
    TCase *tests = tcase_create("loading of targets");

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, what_ships_is_well_and_in_order);
    tcase_add_test(tests, the_host_has_rates_and_no_composites);
    tcase_add_test(tests, a_folder_adds_a_target);
    tcase_add_test(tests, a_folder_of_folders_adds_all_by_name);
    tcase_add_test(tests, a_folder_replaces_what_ships_in_its_place);
    tcase_add_test(tests, a_replacement_keeps_the_hooks);
    tcase_add_test(tests, two_folders_with_one_name_are_refused);
    tcase_add_test(tests, folders_without_a_target_are_refused);
    tcase_add_test(tests, the_errors_of_all_folders_are_told);
    tcase_add_test(tests, a_missing_template_is_told);
    tcase_add_loop_test(tests, links_and_other_things_are_no_templates, 0, 4);
    tcase_add_loop_test(tests, big_and_binary_files_are_refused, 0, 2);
    tcase_add_loop_test(tests, a_target_json_that_is_no_file_is_refused, 0, 2);
    tcase_add_test(tests, headers_and_host_files_are_read);
    tcase_add_test(tests, a_stream_needs_a_plug_in);
    tcase_add_test(tests, a_plug_in_that_is_none_is_refused);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(make_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
