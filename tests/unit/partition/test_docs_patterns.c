/* test_docs_patterns.c - docs/guide/patterns.md: its patterns and expressions parse, and print and
 * parse again; those that it explains match what it says. Run in the project's folder. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "partition/pattern.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

static const struct source source = { .file = "docs/guide/patterns.md" };

static const char *read_page(struct ctx *ctx)
{
    FILE *file = fopen("docs/guide/patterns.md", "r");
    struct str text = { .arena = &ctx->perm };
    char piece[4096];
    size_t n;

    ck_assert_msg(file != NULL, "run in the project's folder");
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        str_addn(&text, piece, n);
    fclose(file);
    return str_text(&text);
}

static void check_pattern(struct ctx *ctx, const char *text)
{
    struct pattern *pattern = pattern_parse(ctx, &source, text);
    struct str printed = { .arena = &ctx->perm };

    ck_assert_msg(pattern != NULL, "%s\n%s", text, expect_text(ctx));
    pattern_print(pattern, &printed);
    ck_assert_ptr_nonnull(pattern_parse(ctx, &source, str_text(&printed)));
}

/* Calls check() for each block that begins with ```WORD. */
static int check_blocks(struct ctx *ctx, const char *word, bool is_pattern)
{
    const char *fence = arena_printf(&ctx->perm, "```%s\n", word);
    int n = 0;

    for (const char *at = read_page(ctx); (at = strstr(at, fence)); n++) {
        const char *text;

        at += strlen(fence);
        text = arena_strndup(&ctx->perm, at, strcspn(at, "`"));
        if (is_pattern)
            check_pattern(ctx, text);
        else
            ck_assert_msg(expression_parse(ctx, &source, text) != NULL, "%s\n%s", text,
                          expect_text(ctx));
    }
    return n;
}

START_TEST(blocks_parse)
{
    struct ctx *ctx = ctx_new(NULL);

    ck_assert_int_ge(check_blocks(ctx, "pattern", true), 4);
    ck_assert_int_ge(check_blocks(ctx, "expression", false), 3);
    ctx_free(ctx);
}
END_TEST

/* In the text and its table: `...` with a parenthesis of an operator behind its first word. "\|" is
 * how a table writes '|'. */
START_TEST(patterns_in_the_text_parse)
{
    static const char *const texts[] = {
        "conv2d(x, w)",
        "conv2d(x, w) -> add(_, y)",
        "conv2d(x, w) -> relu",
        "conv2d(x, w) -> relu?",
        "conv2d(x, w) -> (bias_add(_, b) -> relu)\\|silu",
        "add(x, (relu))",
        "add(*, y)",
        "dense(x:var, w:const)",
        "conv2d(x, w:const f32\\|f16 (_,_,3,3))",
        "relu:f32",
        "conv2d(x, w){strides=[1,1], groups=1}",
        "conv2d(...)",
        "layer_norm(x, ...)",
        "concatenate(tuple(a, b))",
        "concatenate(a, b)",
        "split(x).1",
        "conv2d(x, w) -> @elemwise",
        "c=conv2d(x, w) -> act=(relu\\|clip)",
    };
    struct ctx *ctx = ctx_new(NULL);
    const char *page = read_page(ctx);

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct str plain = { .arena = &ctx->perm };

        ck_assert_msg(strstr(page, arena_printf(&ctx->perm, "`%s`", texts[i])) != NULL,
                      "the page has no `%s`", texts[i]);
        for (const char *at = texts[i]; *at; at++)
            if (*at != '\\')
                str_addn(&plain, at, 1);
        check_pattern(ctx, str_text(&plain));
    }
    ctx_free(ctx);
}
END_TEST

/* What is said of dominates: c * sigmoid(c), and c * clip(c + 3) * 0.2. */
START_TEST(dominates_takes_both_forms)
{
    static const char *const bodies[] = {
        "  %s = sigmoid(%c) : (1,2,3,3) f32\n"
        "  %y = multiply(%c, %s) : (1,2,3,3) f32\n",
        "  %a = add(%c, @three) : (1,2,3,3) f32\n"
        "  %b = clip(%a) {a_min=0, a_max=6} : (1,2,3,3) f32\n"
        "  %d = multiply(%c, %b) : (1,2,3,3) f32\n"
        "  %y = multiply(%d, @fifth) : (1,2,3,3) f32\n",
    };
    struct ctx *ctx = ctx_new(NULL);
    struct matcher matcher = { .arena = &ctx->perm };
    struct pattern *pattern =
        pattern_parse(ctx, &source, "dominates(conv2d(x, w), @elemwise|@broadcast, multiply)");
    struct module *module = graph_parse(
        ctx,
        arena_printf(&ctx->perm,
                     "fn main(%%x: (1,2,3,3) f32) -> (%%y) {\n"
                     "  const @w : (2,2,1,1) f32 = crc32:00000000\n"
                     "  const @three : () f32 = [3]\n"
                     "  const @fifth : () f32 = [0.2]\n"
                     "  %%c = nn.conv2d(%%x, @w) {strides=[1,1], padding=[0,0,0,0], "
                     "dilation=[1,1], groups=1, data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : "
                     "(1,2,3,3) f32\n%s}\n",
                     bodies[_i]),
        1);
    struct match match;
    struct mismatch why = { 0 };

    function_number(module->main);
    ck_assert_msg(pattern_match(&matcher, pattern, module->main->last, &match, &why), "%s",
                  why.found);
    ck_assert_int_eq(match.n_nodes, module->main->n_nodes);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("docs_patterns");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_test(tests, blocks_parse);
    tcase_add_test(tests, patterns_in_the_text_parse);
    tcase_add_loop_test(tests, dominates_takes_both_forms, 0, 2);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
