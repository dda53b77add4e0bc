#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "partition/target_file.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

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

/* Every file exists; its text is its name. */
static const char *any_file(void *user, const char *name)
{
    (void)user;
    return name;
}

/* JSON with ' for ". */
static struct target *parse(const char *json)
{
    char *text = arena_strdup(&ctx->perm, json);
    struct target *target;

    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    target = target_parse(ctx, "t.json", text, any_file, NULL);
    ck_assert_msg(target != NULL, "%s", expect_text(ctx));
    return target;
}

/* --- reading -----------------------------------------------------------------------------------*/

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
        " 'fp8': [{'op': 'conv2d', 'data': ['f8e4m3', 'f8e5m2'], 'weights': ['f8e5m2'],\n"
        "          'accumulate': 'f16', 'weight_scales': true},\n"
        "         {'op': 'nn.dense', 'data': ['f8e4m3'], 'weights': ['f8e4m3'], 'out': 'f64'}],\n"
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
    ck_assert_int_eq(t->n_fp8, 2);
    ck_assert_int_eq(t->fp8[0].op, OP_CONV2D);
    ck_assert(t->fp8[0].data == (UINT64_C(1) << DTYPE_F8E4M3 | UINT64_C(1) << DTYPE_F8E5M2));
    ck_assert(t->fp8[0].weights == UINT64_C(1) << DTYPE_F8E5M2);
    ck_assert(t->fp8[0].accumulate == DTYPE_F16 && t->fp8[0].out == DTYPE_F32);
    ck_assert(t->fp8[0].weight_scales && !t->fp8[1].weight_scales);
    ck_assert(t->fp8[1].accumulate == DTYPE_F32 && t->fp8[1].out == DTYPE_F64);
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

/* --- matches -----------------------------------------------------------------------------------*/

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

/* --- composite functions -----------------------------------------------------------------------*/

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

/* --- rows of hooks -----------------------------------------------------------------------------*/

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
          "t/hooks.c: 'k k' is no name" },
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
    tcase_add_test(tests, lets_are_names_like_captures);
    tcase_add_test(tests, lets_that_use_each_other_twice_are_evaluated_once);
    tcase_add_test(tests, conditions_are_asked_in_order);
    tcase_add_test(tests, behind_the_conditions_check_and_hook_are_asked);
    tcase_add_test(tests, a_cost_is_by_hook_or_row_or_rates);
    tcase_add_test(tests, bytes_are_those_that_cross_the_border);
    tcase_add_test(tests, the_host_pays_for_every_node_alone);
    tcase_add_test(tests, a_composite_function_matches_its_row_again);
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
