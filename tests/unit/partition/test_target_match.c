#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "partition/target.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"
#include "tests/support/toy_target.h"

static struct ctx *ctx;
static struct module *module;

static void setup(void)
{
    ctx = ctx_new(NULL);
    module = NULL;
}

static void teardown(void)
{
    module_free(module);
    ctx_free(ctx);
}

static struct target *parse(const char *json)
{
    return toy_target_quoted(ctx, json);
}

static const char graph[] = "fn main(%x: (1,2,3,3) f32, %r: (1,4,3,3) f32) -> (%z) {\n"
                            "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
                            "  const @b : (4) f32 = crc32:00000000\n"
                            "  %c = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32\n"
                            "  %a = nn.bias_add(%c, @b) {axis=1} : (1,4,3,3) f32\n"
                            "  %s = add(%a, %r) : (1,4,3,3) f32\n"
                            "  %z = nn.relu(%s) : (1,4,3,3) f32\n"
                            "}\n";

enum { MACS = 4 * 3 * 3 * 2, X = 2 * 3 * 3 * 4, W = 4 * 2 * 4, B = 4 * 4, Y = 4 * 3 * 3 * 4 };

static struct node *node_called(const char *output)
{
    for (struct node *node = module->main->first; node; node = node->next)
        if (strcmp(node->outputs[0]->name, output) == 0)
            return node;
    ck_abort_msg("no node %s", output);
    return NULL;
}

/* A target with one row, whose pattern must match where `root` is computed. */
static const struct composite_row *row_at(const char *pattern, const char *rest, const char *root,
                                          struct match *match)
{
    const struct matcher matcher = { .arena = &ctx->perm };
    const struct target *target =
        parse(arena_printf(&ctx->perm,
                           "{'name': 't', 'rates': {'call_ns': 1000, 'ns_per_byte': 2, "
                           "'ns_per_mac': {'f32': 3, 'other': 7}},"
                           "'composites': [{'name': 'r', 'template': 'r', 'pattern': '%s'%s}]}",
                           pattern, rest));
    struct mismatch why;

    if (!module)
        module = graph_parse(ctx, graph, 1);
    function_number(module->main);
    ck_assert_msg(pattern_match(&matcher, target->rows[0].pattern, node_called(root), match, &why),
                  "%s", why.found);
    return &target->rows[0];
}

#define PATTERN "conv2d(x, w:const) -> bias_add(_, b:const)? -> relu?"

/* The value of an expression in the scope of the row. */
static bool value(const struct composite_row *row, const struct match *match, const char *text,
                  int64_t *number, const char **why)
{
    const struct source source = { .file = "test" };
    const struct scope scope = composite_scope(&ctx->perm, row, match);
    const struct expression *expression = expression_parse(ctx, &source, text);
    struct term term = { .kind = TERM_ABSENT };

    ck_assert_msg(expression != NULL, "%s", expect_text(ctx));
    if (!expression_evaluate(expression, &scope, &ctx->perm, &term, why))
        return false;
    ck_assert_int_eq(term.kind, TERM_INT);
    *number = term.integer;
    return true;
}

START_TEST(lets_are_names_like_captures)
{
    static const struct {
        const char *text;
        int64_t want;
    } rows[] = {
        { "later", 8 },    { "twice", 16 },     { "later + w.dim[1] * 100", 208 },
        { "x.dim[1]", 2 }, { "macs", MACS },    { "kind == plain ? 1 : 2", 1 },
        { "nothing", 5 },  { "deep", 1 << 15 },
    };
    struct match match;
    const struct composite_row *row =
        row_at(PATTERN,
               ", 'let': {'twice': 'later * 2', 'later': 'w.dim[0] + out.dim[1]',"
               "          'kind': 'present(relu) ? fused : plain', 'nothing': 'relu.rank + 5',"
               "          'deep': 'd4 * d4 / 2', 'd4': 'd3 * d3', 'd3': 'd2 * d2', 'd2': '4',"
               "          'wrong': '1 / (x.dim[0] - 1)', 'on_wrong': 'wrong + 1'}",
               "a", &match);
    const char *why = NULL;
    int64_t number;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(value(row, &match, rows[i].text, &number, &why), "%s", why);
        ck_assert_msg(number == rows[i].want, "%s: %lld", rows[i].text, (long long)number);
    }
    ck_assert(!value(row, &match, "wrong", &number, &why));
    ck_assert_msg(strstr(why, "zero") != NULL, "%s", why);
    ck_assert(!value(row, &match, "on_wrong == 3", &number, &why));
    ck_assert(!value(row, &match, "wrong != 3", &number, &why));
}
END_TEST

/* a15 = a14 + a14 ...: as often evaluated as there are names. */
START_TEST(lets_that_use_each_other_twice_are_evaluated_once)
{
    struct str lets = { .arena = &ctx->perm };
    const struct composite_row *row;
    struct match match;
    const char *why = NULL;
    int64_t number;

    str_add(&lets, ", 'let': {'a0': '1'");
    for (int i = 1; i < 16; i++) {
        str_printf(&lets, ", 'a%d': 'a%d", i, i - 1);
        for (int j = 1; j < 8; j++)
            str_printf(&lets, " + a%d", i - 1);
        str_add(&lets, "'");
    }
    str_add(&lets, "}");
    row = row_at(PATTERN, str_text(&lets), "a", &match);
    ck_assert(value(row, &match, "a15", &number, &why));
    ck_assert(number == INT64_C(1) << 45);
}
END_TEST

START_TEST(conditions_are_asked_in_order)
{
    struct match match;
    const char *found = NULL, *wanted = NULL;
    const struct composite_row *row =
        row_at(PATTERN,
               ", 'where': ['x.rank == 4', 'relu.rank == 9', 'k <= 7 && x.dim[1] > 1']"
               ", 'let': {'k': 'w.dim[2]'}",
               "a", &match);

    ck_assert(composite_accepts(row, &match, &ctx->perm, &found, &wanted));
    row = row_at(PATTERN,
                 ", 'where': ['x.rank == 4', 'k <= 3', 'x.rank < x.dim[1]'], "
                 "'let': {'k': 'w.dim[0]'}",
                 "a", &match);
    ck_assert(!composite_accepts(row, &match, &ctx->perm, &found, &wanted));
    ck_assert_str_eq(found, "k is 4");
    ck_assert_str_eq(wanted, "k <= 3");
    row = row_at(PATTERN, ", 'where': ['1 / (x.dim[0] - 1) == 0']", "a", &match);
    ck_assert(!composite_accepts(row, &match, &ctx->perm, &found, &wanted));
}
END_TEST

static bool refuse(const struct match *match, struct arena *arena, const char **found,
                   const char **wanted)
{
    *found = arena_printf(arena, "%d nodes", match->n_nodes);
    *wanted = "none";
    return false;
}

static bool accepts_none(const struct composite_row *row, const struct match *match,
                         struct arena *arena, const char **found, const char **wanted)
{
    *wanted = row->name;
    return refuse(match, arena, found, &(const char *){ NULL });
}

START_TEST(behind_the_conditions_check_and_hook_are_asked)
{
    const struct target_hooks hooks = { .target = "t", .accepts = accepts_none };
    struct match match;
    const char *found, *wanted;
    struct composite_row row = *row_at(PATTERN, ", 'where': ['x.rank == 4']", "a", &match);
    struct target target = *row.target;

    row.target = &target;
    target.hooks = &hooks;
    ck_assert(!composite_accepts(&row, &match, &ctx->perm, &found, &wanted));
    ck_assert_str_eq(found, "2 nodes");
    ck_assert_str_eq(wanted, "t.r");
    row.check = refuse;
    ck_assert(!composite_accepts(&row, &match, &ctx->perm, &found, &wanted));
    ck_assert_str_eq(wanted, "none");
}
END_TEST

static double answer(const struct composite_row *row, const struct match *match,
                     struct arena *arena)
{
    (void)row, (void)match, (void)arena;
    return 12.5;
}

static double refuses(const struct composite_row *row, const struct match *match,
                      struct arena *arena)
{
    (void)row, (void)match, (void)arena;
    return -1;
}

START_TEST(a_cost_is_by_hook_or_row_or_rates)
{
    static const struct {
        const char *cost;
        double want;
    } rows[] = {
        { "", 1000 + 3 * MACS + 2 * (X + W + B + Y) },
        { ", 'cost_ns': '100 + macs'", 100 + MACS },
        { ", 'cost_ns': 'half * 3', 'let': {'half': '0.5'}", 1.5 },
        { ", 'cost_ns': '0'", 0 },
        { ", 'cost_ns': '0 - 1'", 1000 + 3 * MACS + 2 * (X + W + B + Y) },
        { ", 'cost_ns': '1 / (x.dim[0] - 1)'", 1000 + 3 * MACS + 2 * (X + W + B + Y) },
        { ", 'cost_ns': '1e300 * 1e300'", 1000 + 3 * MACS + 2 * (X + W + B + Y) },
        { ", 'cost_ns': '1e300 * 1e300 - 1e300 * 1e300'", 1000 + 3 * MACS + 2 * (X + W + B + Y) },
    };
    struct match match;
    struct composite_row row;
    struct target target;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_double_eq(
            composite_cost_ns(row_at(PATTERN, rows[i].cost, "a", &match), &match, &ctx->perm),
            rows[i].want);
    row = *row_at(PATTERN, ", 'cost_ns': '5'", "a", &match);
    target = *row.target;
    row.target = &target;
    target.hooks = &(const struct target_hooks){ .target = "t", .cost_ns = answer };
    ck_assert_double_eq(composite_cost_ns(&row, &match, &ctx->perm), 12.5);
    target.hooks = &(const struct target_hooks){ .target = "t", .cost_ns = refuses };
    ck_assert_double_eq(composite_cost_ns(&row, &match, &ctx->perm), 5);
}
END_TEST

START_TEST(what_is_wrong_with_an_estimate)
{
    static const struct {
        const char *cost, *why;
    } cases[] = { { "", NULL },
                  { ", 'cost_ns': '5'", NULL },
                  { ", 'cost_ns': '0'", NULL },
                  { ", 'cost_ns': '5 / (nodes - nodes)'", "divides by zero" },
                  { ", 'cost_ns': '0 - 5'", "it is -5" },
                  { ", 'cost_ns': 'x.shape'", "it is not a number" } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct match match;
        const struct composite_row *row = row_at(PATTERN, cases[i].cost, "a", &match);
        const char *why = composite_cost_problem(row, &match, &ctx->perm);

        if (cases[i].why)
            ck_assert_msg(why && strstr(why, cases[i].why), "%s: %s", cases[i].cost, why);
        else
            ck_assert_ptr_null(why);
    }
}
END_TEST

/* What is read twice is fetched once; what is computed inside costs nothing. */
START_TEST(bytes_are_those_that_cross_the_border)
{
    struct match match;
    const struct composite_row *row;

    module = graph_parse(ctx,
                         "fn main(%x: (10) f32, %y: (10) f32) -> (%z) {\n"
                         "  %a = add(%x, %y) : (10) f32\n"
                         "  %b = multiply(%a, %x) : (10) f32\n"
                         "  %z = tanh(%b) : (10) f32\n"
                         "}\n",
                         1);
    row = row_at("add(p, q) -> multiply(_, r) -> tanh", "", "z", &match);
    ck_assert_double_eq(composite_cost_ns(row, &match, &ctx->perm), 1000 + 2 * 40 * 3);
}
END_TEST

START_TEST(the_host_pays_for_every_node_alone)
{
    struct target *c = parse("{'name': 'c', 'rates': {'call_ns': 10, 'ns_per_byte': 1, "
                             "'ns_per_mac': {'i8': 100, 'other': 7}}}");
    struct node *shaped;

    module = graph_parse(ctx, graph, 1);
    ck_assert_double_eq(host_cost_ns(c, node_called("c")), 10 + X + W + Y + 7 * MACS);
    ck_assert_double_eq(host_cost_ns(c, node_called("a")), 10 + Y + B + Y);
    ck_assert_double_eq(host_cost_ns(c, node_called("z")), 10 + Y + Y);
    ck_assert_double_eq(host_cost_ns(c, module->main->ret), 0);
    module_free(module);
    module = graph_parse(ctx,
                         "fn main(%x: (2,3) f32) -> (%y) {\n"
                         "  %y = reshape(%x) {shape=[6]} : (6) f32\n"
                         "}\n",
                         1);
    shaped = module->main->first;
    ck_assert_double_eq(host_cost_ns(c, shaped), 0);
}
END_TEST

/* The rule of fuse_ops: element-wise, the same shape, the only reader, behind an anchor or another
 * element-wise node. */
START_TEST(the_host_fuses_elementwise_nodes)
{
    static const struct {
        const char *node, *into;
    } wanted[] = { { "d", NULL }, { "a", "d" },  { "r", "a" },     { "s", NULL },
                   { "t", NULL }, { "u", NULL }, { "wide", NULL }, { "v", "u" } };

    module = graph_parse(ctx,
                         "fn main(%x: (1,4) f32, %y: (2,4) f32) -> (%v, %wide) {\n"
                         "  const @w : (4,4) f32 = crc32:00000000\n"
                         "  %d = nn.dense(%x, @w) : (1,4) f32\n"
                         "  %a = add(%x, %d) : (1,4) f32\n"
                         "  %r = nn.relu(%a) : (1,4) f32\n"
                         "  %s = nn.hardmax(%r) {axis=1} : (1,4) f32\n"
                         "  %t = tanh(%s) : (1,4) f32\n" /* behind no anchor */
                         "  %u = tanh(%t) : (1,4) f32\n" /* its input is read twice */
                         "  %wide = add(%t, %y) : (2,4) f32\n"
                         "  %v = multiply(%u, %u) : (1,4) f32\n"
                         "}\n",
                         1);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        ck_assert_msg(host_fused_into(node_called(wanted[i].node)) ==
                          (wanted[i].into ? node_called(wanted[i].into) : NULL),
                      "%s", wanted[i].node);
    ck_assert_ptr_null(host_fused_into(module->main->ret));
}
END_TEST

/* --- composite functions ---------------------------------------------------------------------- */

START_TEST(a_composite_function_matches_its_row_again)
{
    const struct target *target = parse(
        "{'name': 't', 'composites': [{'name': 'r', 'template': 'r', 'pattern': '" PATTERN "'}]}");
    const struct match *match;

    module = graph_parse(ctx,
                         "fn main(%p: (1,2,3,3) f32) -> (%q) {\n"
                         "  %q = call f(%p) : (1,4,3,3) f32\n"
                         "}\n"
                         "\n"
                         "fn f(%x: (1,2,3,3) f32) -> (%z) compiler \"t\" composite \"t.r\" {\n"
                         "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
                         "  %c = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32\n"
                         "  %z = nn.relu(%c) : (1,4,3,3) f32\n"
                         "}\n",
                         1);
    match = composite_rematch(ctx, &target->rows[0], module->main->first->callee);
    ck_assert_msg(match != NULL, "%s", expect_text(ctx));
    ck_assert_int_eq(match->n_nodes, 2);
    ck_assert_str_eq(match_capture(match, "x")->value->name, "x");
    ck_assert_str_eq(match_capture(match, "w")->value->name, "w");
    ck_assert_ptr_nonnull(match_capture(match, "relu"));
    ck_assert_int_eq(ctx->diags.n_errors, 0);
    ck_assert_ptr_null(composite_rematch(ctx, &target->rows[0], module->main));
    ck_assert(expect_error(ctx, DIAG_INTERNAL, "t.r"));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("targets and matches");
    TCase *tests = tcase_create("targets and matches");

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, lets_are_names_like_captures);
    tcase_add_test(tests, lets_that_use_each_other_twice_are_evaluated_once);
    tcase_add_test(tests, conditions_are_asked_in_order);
    tcase_add_test(tests, behind_the_conditions_check_and_hook_are_asked);
    tcase_add_test(tests, a_cost_is_by_hook_or_row_or_rates);
    tcase_add_test(tests, bytes_are_those_that_cross_the_border);
    tcase_add_test(tests, the_host_pays_for_every_node_alone);
    tcase_add_test(tests, the_host_fuses_elementwise_nodes);
    tcase_add_test(tests, what_is_wrong_with_an_estimate);
    tcase_add_test(tests, a_composite_function_matches_its_row_again);
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
