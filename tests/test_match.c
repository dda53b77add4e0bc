#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "partition/pattern.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

/* A graph, a pattern and the node at which it is tried. */
struct match_case {
    const char *graph; /* nodes of main and results, see `graph_of` */
    const char *pattern;
    const char *root;           /* name of the output at which it must match */
    const char *want;           /* "conv2d bias_add | x=x w=w b=b conv2d=c": nodes, captures */
    const char *found, *wanted; /* instead of `want`: why not */
};

#define CONV_ATTRS                                                                                 \
    "{strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NCHW\", "          \
    "kernel_layout=\"OIHW\"}"

/* A convolution with everything that may follow it. */
#define LONG                                                                                       \
    "fn main(%x: (1,2,3,3) f32, %r: (1,4,3,3) f32) -> (%y) {\n"                                    \
    "  const @w : (4,2,1,1) f32 = crc32:00000000\n"                                                \
    "  const @b : (4) f32 = crc32:00000000\n"                                                      \
    "  %c = nn.conv2d(%x, @w) " CONV_ATTRS " : (1,4,3,3) f32\n"                                    \
    "  %a = nn.bias_add(%c, @b) {axis=1} : (1,4,3,3) f32\n"                                        \
    "  %s = add(%r, %a) : (1,4,3,3) f32\n"                                                         \
    "  %y = nn.relu(%s) : (1,4,3,3) f32\n"                                                         \
    "}\n"

#define SHORT                                                                                      \
    "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"                                                       \
    "  const @w : (4,2,1,1) f32 = crc32:00000000\n"                                                \
    "  %c = nn.conv2d(%x, @w) " CONV_ATTRS " : (1,4,3,3) f32\n"                                    \
    "  %y = clip(%c) {a_min=0, a_max=6} : (1,4,3,3) f32\n"                                         \
    "}\n"

#define CHAIN "conv2d(x, w:const) -> bias_add(_, b:const)? -> add(_, residual)? -> relu|clip?"

static const struct match_case rows[] = {
    { LONG, CHAIN, "y", "c a s y | conv2d=c x=x w=w bias_add=a b=b add=s residual=r relu=y", 0, 0 },
    { LONG, CHAIN, "s", "c a s | conv2d=c x=x w=w bias_add=a b=b add=s residual=r", 0, 0 },
    { LONG, CHAIN, "a", "c a | conv2d=c x=x w=w bias_add=a b=b", 0, 0 },
    { LONG, CHAIN, "c", "c | conv2d=c x=x w=w", 0, 0 },
    { SHORT, CHAIN, "y", "c y | conv2d=c x=x w=w clip=y", 0, 0 },
    { SHORT, "conv2d(x, w:var) -> clip", "y", NULL, "@w is a constant", "w:var" },
    { SHORT, "conv2d(x, w){strides=[2,2]} -> clip", "y", NULL, "strides is [1,1]",
      "strides=[2,2]" },
    { SHORT, "conv2d(x, w) -> relu|silu?", "y", NULL, "op is clip", "conv2d, relu or silu" },
};

static struct value *find(struct function *fn, const char *name)
{
    struct value *value = map_get(&fn->names, name);

    ck_assert_msg(value != NULL, "no value '%s'", name);
    return value;
}

static const char *match_text(struct arena *arena, const struct match *match)
{
    struct str text = { .arena = arena };

    for (int i = 0; i < match->n_nodes; i++)
        str_printf(&text, "%s ", match->nodes[i]->outputs[0]->name);
    str_add(&text, "|");
    for (int i = 0; i < match->n_captures; i++) {
        ck_assert(!match->captures[i].node ||
                  match->captures[i].node->outputs[0] == match->captures[i].value);
        str_printf(&text, " %s=%s", match->captures[i].name, match->captures[i].value->name);
    }
    return str_text(&text);
}

START_TEST(a_pattern_matches_or_says_why_not)
{
    const struct match_case *row = &rows[_i];
    const struct source source = { .file = "test" };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, row->graph, 1);
    struct pattern *pattern = pattern_parse(ctx, &source, row->pattern);
    struct matcher matcher = { .arena = &ctx->perm };
    struct match match;
    struct mismatch why;

    ck_assert_msg(pattern != NULL, "%s\n%s", row->pattern, expect_text(ctx));
    function_number(module->main);
    if (pattern_match(&matcher, pattern, find(module->main, row->root)->def, &match, &why)) {
        ck_assert_msg(row->want != NULL, "%s matches: %s", row->pattern,
                      match_text(&ctx->perm, &match));
        ck_assert_str_eq(match_text(&ctx->perm, &match), row->want);
        ck_assert_ptr_eq(match.nodes[match.n_nodes - 1], match.root);
        ck_assert_int_le(match.n_nodes, pattern_length(pattern));
    } else {
        ck_assert_msg(row->want == NULL, "%s at %s: found %s, wanted %s", row->pattern, row->root,
                      why.found, why.wanted);
        ck_assert_str_eq(why.found, row->found);
        ck_assert_str_eq(why.wanted, row->wanted);
        ck_assert_ptr_nonnull(why.node);
    }
    module_free(module);
    ctx_free(ctx);
}
END_TEST

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

int main(void)
{
    Suite *suite = suite_create("match");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_pattern_matches_or_says_why_not, 0, N_ROWS(rows));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
