#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "partition/target_file.h"
#include "tests/support/expect.h"
#include "tests/support/toy_target.h"

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

static struct target *parse(const char *json)
{
    return toy_target_quoted(ctx, json);
}

/* --- reading ---------------------------------------------------------------------------------- */

START_TEST(everything_is_read)
{
    const struct target *t = parse(
        "{'name': 'npu', 'description': 'array', 'format': 'c',\n"
        " 'composites': [\n"
        "  {'name': 'k', 'pattern': 'conv2d(x, w:const) -> relu?',\n"
        "   'where': ['x.dtype == f32', 'a < 7'], 'let': {'b': '2 * a', 'a': 'w.dim[0]'},\n"
        "   'cost_ns': 'b + 1', 'scratch': 'a * 4', 'template': 'k.tmpl'},\n"
        "  {'name': 'r', 'pattern': 'relu(x)', 'template': 'r.tmpl'}],\n"
        " 'limits': {'max_nodes': 3, 'max_macs': 9007199254740992, 'max_weight_bytes': 5,\n"
        "            'max_onchip_bytes': 6, 'weights_onchip': true, 'min_macs': 8},\n"
        " 'rates': {'launch_ns': 1.5, 'transfer_ns_per_byte': 0.25, 'call_ns': 3,\n"
        "           'ns_per_byte': 1e-3, 'ns_per_mac': {'f32': 0.5, 'i8': 0.125, 'other': 2}},\n"
        " 'keep_on_host': ['nn.softmax', 'dense'],\n"
        " 'prologue': 'p.tmpl', 'region': 'g.tmpl', 'headers': ['h.h', 'i.h'],\n"
        " 'host': {'files': ['s.c'], 'flags': '-lm'}}\n");
    const struct composite_row *k = &t->rows[0];

    ck_assert_str_eq(t->name, "npu");
    ck_assert_str_eq(t->description, "array");
    ck_assert_str_eq(t->file, "t.json");
    ck_assert_int_eq(t->format, FORMAT_C);
    ck_assert_int_eq(t->n_rows, 2);
    ck_assert_str_eq(k->name, "npu.k");
    ck_assert_str_eq(k->text, "conv2d(x, w:const) -> relu?");
    ck_assert_int_eq(k->source.line, 3);
    ck_assert_int_eq(k->source.column, 29);
    ck_assert_int_eq(k->n_conditions, 2);
    ck_assert_str_eq(expression_text(k->conditions[1].test), "a < 7");
    ck_assert_int_eq(k->conditions[1].source.line, 4);
    ck_assert_int_eq(k->n_lets, 2);
    ck_assert_str_eq(k->lets[0].name, "b");
    ck_assert_str_eq(expression_text(k->cost_ns), "b + 1");
    ck_assert_str_eq(expression_text(k->scratch), "a * 4");
    ck_assert_str_eq(k->template_file, "k.tmpl");
    ck_assert_str_eq(k->template_text, "k.tmpl");
    ck_assert_ptr_eq(k->target, t);
    ck_assert_ptr_null(t->rows[1].cost_ns);
    ck_assert_int_eq(t->limits.max_nodes, 3);
    ck_assert(t->limits.max_macs == INT64_C(1) << 53);
    ck_assert_int_eq(t->limits.max_weight_bytes, 5);
    ck_assert_int_eq(t->limits.max_onchip_bytes, 6);
    ck_assert(t->limits.weights_onchip);
    ck_assert_int_eq(t->limits.min_macs, 8);
    ck_assert(t->rates.launch_ns == 1.5 && t->rates.transfer_ns_per_byte == 0.25);
    ck_assert(t->rates.call_ns == 3 && t->rates.ns_per_byte == 1e-3);
    ck_assert_int_eq(t->rates.n_macs, 3);
    ck_assert(t->rates.per_mac[1].dtype == DTYPE_I8 && t->rates.per_mac[1].ns == 0.125);
    ck_assert(t->rates.per_mac[2].dtype == DTYPE_NONE && t->rates.per_mac[2].ns == 2);
    for (int op = 0; op < OP_COUNT; op++)
        ck_assert_int_eq(t->keep_on_host[op], op == OP_SOFTMAX || op == OP_DENSE);
    ck_assert_str_eq(t->prologue, "p.tmpl");
    ck_assert_str_eq(t->region_template, "g.tmpl");
    ck_assert_int_eq(t->n_headers, 2);
    ck_assert_str_eq(t->header_names[1], "i.h");
    ck_assert_int_eq(t->n_host_files, 1);
    ck_assert_str_eq(t->host_flags, "-lm");
    ck_assert_ptr_null(t->hooks);
}
END_TEST

START_TEST(what_is_missing_is_empty)
{
    const struct target *t = parse("{'name': 'npu'}");

    ck_assert_int_eq(t->format, FORMAT_C);
    ck_assert_str_eq(t->description, "");
    ck_assert_str_eq(t->host_flags, "");
    ck_assert_int_eq(t->n_rows, 0);
    ck_assert_int_eq(t->limits.max_nodes, LIMIT_NONE);
    ck_assert_ptr_null(t->prologue);
    ck_assert_ptr_null(t->plugin);
}
END_TEST

static const char *count_file(void *user, const char *name)
{
    ++*(int *)user;
    return name;
}

/* Otherwise a small file could fill the memory with a big template. */
START_TEST(a_file_that_many_name_is_read_once)
{
    struct str json = { .arena = &ctx->perm };
    const struct target *target;
    int n = 0;

    str_add(&json, "{\"name\":\"t\",\"prologue\":\"p\",\"composites\":[");
    for (int i = 0; i < 100; i++)
        str_printf(&json,
                   "%s{\"name\":\"r%d\",\"template\":\"r\",\"pattern\":\"relu(x):f32 (%d)\"}",
                   i ? "," : "", i, i + 1);
    str_add(&json, "]}");
    target = target_parse(ctx, "t.json", str_text(&json), count_file, &n);
    ck_assert_msg(target != NULL, "%s", expect_text(ctx));
    ck_assert_int_eq(n, 2);
    ck_assert_ptr_eq(target->rows[0].template_text, target->rows[99].template_text);
}
END_TEST

/* Words that stand for text, and names that only an optional part has, are no mistakes. */
START_TEST(sound_expressions_are_taken)
{
    static const char *const sound[] = {
        "x.dtype == f32",
        "f32 == x.dtype",
        "x.dtype == ( f32 )",
        "macs > 7 && NCHW == conv2d.data_layout || present(relu)",
        "conv2d.data_layout == NCHW && macs > 7",
        "present(relu) ? x.dtype == f32 : (present(b) && b.elements == out.dim[1])",
        "bias_add.axis == 1 || relu.dtype != f16",
        "x.shape == [1, 2, 3, 3] && len(conv2d.strides) == 2",
        "out.dtype == x.dtype && conv2d.rank == 4",
        "max(min(input_bytes, output_bytes), weight_bytes) <= nodes * 1000000",
        "a == 4 && algorithm != slow",
    };

    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        parse(arena_printf(&ctx->perm,
                           "{'name': 't', 'composites': [{'name': 'r', 'template': 'r',"
                           " 'pattern': 'conv2d(x, w:const) -> bias_add(_, b)? -> relu?',"
                           " 'let': {'a': 'w.dim[0]', 'algorithm': 'present(relu) ? fast : slow'},"
                           " 'where': ['%s']}]}",
                           sound[i]));
}
END_TEST

/* --- rows of hooks ---------------------------------------------------------------------------- */

static bool refuse(const struct match *match, struct arena *arena, const char **found,
                   const char **wanted)
{
    *found = arena_printf(arena, "%d nodes", match->n_nodes);
    *wanted = "none";
    return false;
}

static const char *read_any(void *user, const char *name, const char **reason)
{
    (void)user;
    *reason = "nothing is here";
    return strcmp(name, "missing") == 0 ? NULL : name;
}

static bool add_hooks(struct target *target, int n_rows, struct composite_c_row *rows)
{
    const struct target_folder folder = { .read = read_any };
    struct target_hooks *hooks = arena_new(&ctx->perm, struct target_hooks);

    hooks->target = target->name;
    hooks->rows = rows;
    hooks->n_rows = n_rows;
    return target_add_hooks(ctx, target, hooks, "t/hooks.c", &folder);
}

START_TEST(rows_of_hooks_stand_behind_the_others)
{
    static const char *const conditions[] = { "x.rank == 4", "x.dtype == f32", NULL };
    struct composite_c_row rows[] = {
        { .name = "k", .pattern = "conv2d(x, w)", .conditions = conditions, .template_file = "k" },
        { .name = "s", .pattern = "softmax(x)", .check = refuse, .template_file = "s" },
    };
    struct target *t = parse("{'name': 't', 'composites': [{'name': 'r', 'template': 'r', "
                             "'pattern': 'relu(x)'}]}");

    ck_assert_msg(add_hooks(t, 2, rows), "%s", expect_text(ctx));
    ck_assert_int_eq(t->n_rows, 3);
    ck_assert_str_eq(t->rows[0].name, "t.r");
    ck_assert_str_eq(t->rows[1].name, "t.k");
    ck_assert_int_eq(t->rows[1].source.line, 0);
    ck_assert_int_eq(t->rows[1].n_conditions, 2);
    ck_assert_str_eq(t->rows[1].template_text, "k");
    ck_assert_ptr_eq(t->rows[2].target, t);
    ck_assert(t->rows[2].check == refuse);
    ck_assert_ptr_nonnull(t->hooks);
}
END_TEST

START_TEST(mistakes_in_rows_of_hooks_are_told)
{
    static const char *const clash[] = { "x.rank == 4", "x.rank == 3", NULL };
    static const char *const unknown[] = { "y.rank == 4", NULL };
    static const char *const broken[] = { "x.rank ==", NULL };
    struct {
        struct composite_c_row row;
        const char *message;
    } bad[] = {
        { { .name = "k", .pattern = "conv2d(x", .template_file = "k" }, "t/hooks.c: " },
        { { .name = "k", .pattern = "tanh(x)" }, "t/hooks.c: t.k needs a template" },
        { { .name = "k", .pattern = "tanh(x)", .template_file = "missing" },
          "t/hooks.c: t.k: cannot read 'missing': nothing is here" },
        { { .name = "r", .pattern = "tanh(x)", .template_file = "k" },
          "t/hooks.c: there is another composite t.r" },
        { { .name = "k k", .pattern = "tanh(x)", .template_file = "k" },
          "t/hooks.c: 'k k' is not a name" },
        { { .name = "k", .pattern = "relu(x)", .template_file = "k" },
          "t/hooks.c: this composite can never match" },
        { { .name = "k", .pattern = "tanh(x)", .template_file = "k", .conditions = clash },
          "t/hooks.c: 'x.rank == 4' and 'x.rank == 3' can never" },
        { { .name = "k", .pattern = "tanh(x)", .template_file = "k", .conditions = unknown },
          "t/hooks.c: the pattern captures nothing under 'y'" },
        { { .name = "k", .pattern = "tanh(x)", .template_file = "k", .conditions = broken },
          "t/hooks.c: " },
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct target *t = parse("{'name': 't', 'composites': [{'name': 'r', 'template': 'r', "
                                 "'pattern': 'relu(x)'}]}");

        ck_assert_msg(!add_hooks(t, 1, &bad[i].row), "%s", bad[i].message);
        ck_assert_msg(expect_error(ctx, DIAG_TARGET_FILE, bad[i].message), "%s\n%s", bad[i].message,
                      expect_text(ctx));
        diag_restore(ctx, (struct diags){ .seen = { .arena = &ctx->perm } });
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("targets");
    TCase *tests = tcase_create("targets");

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, everything_is_read);
    tcase_add_test(tests, what_is_missing_is_empty);
    tcase_add_test(tests, a_file_that_many_name_is_read_once);
    tcase_add_test(tests, sound_expressions_are_taken);
    tcase_add_test(tests, rows_of_hooks_stand_behind_the_others);
    tcase_add_test(tests, mistakes_in_rows_of_hooks_are_told);
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
