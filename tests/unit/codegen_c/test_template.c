#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/text/template.h"

/* Offered to every case whose text mentions them. */
static const struct {
    const char *key, *text;
} values[] = {
    { "k", "42" },    { "on", "1" },     { "off", "0" },           { "empty", "" },
    { "n", "3" },     { "two", "a\nb" }, { "a0", "zero" },         { "a1", "one" },
    { "i_key", "0" }, { "big", "5000" }, { "word", "words" },      { "gap", "a\n\nb" },
    { "b0_0", "p" },  { "b0_1", "q" },   { "trailing", "a\nb\n" },
};

static const struct {
    const char *text, *want, *error;
} cases[] = {
    { "plain\n", "plain\n", NULL },
    { "no line end", "no line end\n", NULL },
    { "a ${k} b ${k}\n", "a 42 b 42\n", NULL },
    { "$ {k} $k {} $\n", "$ {k} $k {} $\n", NULL },
    { "    ${two}\n", "    a\n    b\n", NULL },
    { "  x = ${two};\n", "  x = a\n  b;\n", NULL },
    { "  ${gap}\n", "  a\n\n  b\n", NULL },
    { "  ${trailing}\n", "  a\n  b\n", NULL },
    { "a\n    ${empty}\nb\n", "a\nb\n", NULL },
    { "a${empty}b\n", "ab\n", NULL },
    { "//#if on\nx\n//#end\n", "x\n", NULL },
    { "//#if off\nx\n//#end\ny\n", "y\n", NULL },
    { "//#if empty\nx\n//#end\ny\n", "y\n", NULL },
    { "//#if nope\nx\n//#end\ny\n", "y\n", NULL },
    { "//#if !nope\nx\n//#end\n", "x\n", NULL },
    { "//#if !on\nx\n//#end\n", "", NULL },
    { "  //#if on\n  //#if off\n  x\n  //#end\n  y\n  //#end\n", "  y\n", NULL },
    { "//#if off\n${k}${unknown_here}\n//#end\n", "", NULL },
    { "  x //#if on\ny\n", "  x\ny\n", NULL },
    { "  x ${unknown_here}  //#if off\ny\n", "y\n", NULL },
    { "x //#if !on\ny ${k} //#if !off\n", "y 42\n", NULL },
    { "    if (a) //#if on\n    {\n    }\n", "    if (a) {\n    }\n", NULL },
    { "x //#if on\n${nope}\n", NULL, "t:2: unknown key 'nope'" },
    { "x //#if on\ny ${nope} //#if on\n", NULL, "t:2: unknown key 'nope'" },
    { "x //#if on off\n", NULL, "t:1: '//#if' is not a control line, or has the wrong" },
    { "//#for i 2\nx${i} //#if a${i}\n//#end\n", "x0\nx1\n", NULL },
    { "//#for i 2\nx${i}\n//#end\n", "x0\nx1\n", NULL },
    { "//#for i n\n${i}\n//#end\n", "0\n1\n2\n", NULL },
    { "//#for i 0\n${k}\n//#end\n", "", NULL },
    { "//#for i 2\n${a${i}}\n//#end\n", "zero\none\n", NULL },
    { "//#for i 1\n//#for j 2\n${b${i}_${j}}\n//#end\n//#end\n", "p\nq\n", NULL },
    { "//#for i 3\n//#if !a${i}\nno ${i}\n//#end\n//#end\n", "no 2\n", NULL },
    { "//#if zero\nx\n//#end\n", NULL, "t:1: 'zero' is the text 0, which is no flag" },
    { "//#if off\n//#if zero\nx\n//#end\n//#end\n", "", NULL },
    { "//#for zero 2\n//#if zero\nx\n//#end\n//#end\n", "x\n", NULL },
    { "//#for i ${${word}}\n//#end\n", NULL, "t:1: unknown key 'words'" },
    { "${k}\n${nope}\n", NULL, "t:2: unknown key 'nope'" },
    { "${k\n", NULL, "t:1: '${k' has no closing brace" },
    { "x\n//#if on\n", NULL, "t:2: this block has no //#end" },
    { "x\n//#end\n", NULL, "t:2: '//#end' is not a control line" },
    { "//#if on\nx\n//#else\ny\n//#end\nz\n", "x\nz\n", NULL },
    { "//#if off\nx\n//#else\ny\n//#end\nz\n", "y\nz\n", NULL },
    { "//#if !on\nx\n//#else\ny\n//#end\n", "y\n", NULL },
    { "//#if nope\nx\n//#else \r\n//#end\ny\n", "y\n", NULL },
    { "//#if on\n//#else\n${unknown_here}\n//#end\n", "", NULL },
    { "//#if off\n//#if on\na\n//#else\nb\n//#end\n//#else\n  //#if off\nc\n  //#else\nd\n  "
      "//#end\n//#end\n",
      "d\n", NULL },
    { "//#for i 3\n//#if a${i}\nyes\n//#else\nno\n//#end\n//#end\n", "yes\nyes\nno\n", NULL },
    { "//#else\n", NULL, "t:1: this //#else belongs to no //#if" },
    { "x\n//#for i 2\n//#else\n//#end\n", NULL, "t:3: this //#else belongs to no //#if" },
    { "//#if on\n//#end\n//#else\n//#end\n", NULL, "t:3: this //#else belongs to no //#if" },
    { "//#if on\n//#else\n//#else\n//#end\n", NULL, "t:3: this block has an //#else already" },
    { "//#if on\n//#else off\n//#end\n", NULL, "t:2: '//#else' has the wrong number of words" },
    { "//#if on\n//#else\n", NULL, "t:1: this block has no //#end" },
    { "//#if on\n{\n//#body\nx\n//#end\n}\n//#end\n", "{\nx\n}\n", NULL },
    { "//#if off\n{\n//#body\nx\n//#end\n}\n//#end\n", "x\n", NULL },
    { "//#if off\n{\n//#else\n(\n//#body\n${k}\n//#end\n)\n//#end\n", "(\n42\n)\n", NULL },
    { "//#if off\n//#if on\n//#body\n${unknown_here}\n//#end\n//#end\n//#end\n", "", NULL },
    { "//#if off\n{\n//#body\n//#if "
      "off\n[\n//#body\nx\n//#end\n]\n//#else\ny\n//#end\n//#end\n}\n//#end\n",
      "x\ny\n", NULL },
    { "//#for i 2\n//#if i\n[\n//#body\n${i}\n//#end\n]\n//#end\n//#end\n", "0\n[\n1\n]\n", NULL },
    { "//#body\n//#end\n", NULL, "t:1: this //#body does not stand directly in an //#if" },
    { "//#if on\n//#for i 2\n//#body\n//#end\n//#end\n//#end\n", NULL,
      "t:3: this //#body does not stand directly in an //#if" },
    { "//#if on\n//#body\n//#body\n//#end\n//#end\n//#end\n", NULL,
      "t:3: this //#body does not stand directly in an //#if" },
    { "//#if on\n//#body x\n//#end\n//#end\n", NULL, "t:2: '//#body' is not a control line" },
    { "//#if off\n//#body\n${nope}\n//#end\n//#end\n", NULL, "t:3: unknown key 'nope'" },
    { "f(x)\n{\n  //#if on\n  for (a)\n  for (b)\n  //#else\n  for (c)\n  //#end\n  {\n  }\n}\n",
      "f(x)\n{\n  for (a)\n  for (b) {\n  }\n}\n", NULL },
    { "  for (a)\n  //#for i 0\n  for (b)\n  //#end\n  {\n  }\n", "  for (a) {\n  }\n", NULL },
    { "  x;\n  //#if off\n  //#end\n  {\n  }\n", "  x;\n  {\n  }\n", NULL },
    { "f(x)\n//#if off\n//#end\n{\n}\n", "f(x)\n{\n}\n", NULL },
    { "f(x,\n  y)\n//#if off\n//#end\n{\n}\n", "f(x,\n  y)\n{\n}\n", NULL },
    { "#define X(a) f(a)\n//#if off\n//#end\n  {\n  }\n", "#define X(a) f(a)\n  {\n  }\n", NULL },
    { "//#if off\n//#end\n  {\n  }\n", "  {\n  }\n", NULL },
    { "  for (a)\n  {\n  }\n", "  for (a)\n  {\n  }\n", NULL },
    { "  //#if off\n  //#if on\n  //#end\n  {\n  //#end\n", "", NULL },
    { "//#if\n//#end\n", NULL, "t:1: '//#if'" },
    { "//#if on off\n//#end\n", NULL, "t:1: '//#if'" },
    { "//#for i\n//#end\n", NULL, "t:1: '//#for'" },
    { "//#for i nope\n//#end\n", NULL, "t:1: unknown key 'nope'" },
    { "//#for i word\n//#end\n", NULL, "t:1: 'words' is not a number" },
    { "//#for i big\n//#end\n", NULL, "t:1: '5000' is not a number" },
};

static const char *expand(struct ctx *ctx, const char *text, const char *extra)
{
    struct keys keys;
    struct str out = { .arena = &ctx->perm };

    keys_init(&keys, &ctx->perm);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const bool composed = strstr(text, "a${") || strstr(text, "b${");

        if (composed || strstr(text, values[i].key))
            keys_offer(&keys, values[i].key, values[i].text);
    }
    keys_offer_flag(&keys, "off", false);
    keys_offer(&keys, "zero", "0");
    if (extra)
        keys_set(&keys, extra, "never used");
    return template_expand(ctx, "t", text, &keys, &out) ? str_text(&out) : NULL;
}

START_TEST(template_expands_or_says_what_is_wrong)
{
    struct ctx *ctx = ctx_new(NULL);
    const char *got = expand(ctx, cases[_i].text, NULL);

    if (cases[_i].want) {
        ck_assert_ptr_nonnull(got);
        ck_assert_str_eq(got, cases[_i].want);
        ck_assert_int_eq(ctx->diags.n_errors, 0);
    } else {
        ck_assert_ptr_null(got);
        ck_assert_msg(strstr(ctx->diags.first->message, cases[_i].error) != NULL, "%s",
                      ctx->diags.first->message);
    }
    ctx_free(ctx);
}
END_TEST

/* Of the loops that //#parallel names the first that is written is divided. */
static const struct {
    const char *text, *whole, *divided; /* NULL = this error: */
    const char *error;
} loops[] = {
    { "a\n//#if nope\n//#parallel i N\nfor (int i = 0; i < N; i++)\n//#end\n  //#parallel j M "
      "${k}\n"
      "  for (int j = 0; j < M; j += 4) {\n//#parallel n N\n    for (int n = 0; n < N; n++)\n",
      "a\n  for (int j = 0; j < M; j += 4) {\n    for (int n = 0; n < N; n++)\n",
      "a\n  for (int j = part_begin(this_part, M, 4),\n"
      "           this_end = part_begin(this_part + 1, M, 4); j < this_end && j < M; j += 4) {\n"
      "    for (int n = 0; n < N; n++)\n",
      NULL },
    { "//#parallel i N\nfor (int i = 0, n; i < N; i += n)\n//#if nope\n${k}\n//#end\n",
      "for (int i = 0, n; i < N; i += n)\n",
      "for (int i = part_begin(this_part, N, 1),\n"
      "         this_end = part_begin(this_part + 1, N, 1), n; i < this_end && i < N; i += n)\n",
      NULL },
    { "//#parallel i N\nfor (int j = 0; j < N; j++) ${k}\n", NULL, NULL,
      "t:2: this is no loop of i" },
    { "//#parallel i N\nfor (int i = 1; i < N; i++) ${k}\n", NULL, NULL,
      "t:2: this is no loop of i" },
    { "//#parallel i N\nfor (int i = 0; i < M; i++) ${k}\n", NULL, NULL, "to below N" },
    { "//#parallel i\nfor (int i = 0; i < M; i++) ${k}\n", NULL, NULL, "number of words" },
    { "//#parallel i N 4 4\nfor (int i = 0; i < N; i++) ${k}\n", NULL, NULL, "number of words" },
    { "//#if nope\n//#parallel i N\nfor (int i = 0; i < N; i++)\n//#end\n${k}\n", "4\n", NULL,
      "no loop behind" },
};

static void expand_loop(int i, bool split)
{
    const char *want = split ? loops[i].divided : loops[i].whole;
    struct ctx *ctx = ctx_new(NULL);
    struct str out = { .arena = &ctx->perm };
    struct keys keys;

    keys_init(&keys, &ctx->perm);
    keys_set(&keys, "k", "4");
    keys_set_flag(&keys, "nope", false);
    keys.split = split;
    ck_assert_int_eq(template_expand(ctx, "t", loops[i].text, &keys, &out), want != NULL);
    if (want)
        ck_assert_str_eq(str_text(&out), want);
    else
        ck_assert_msg(strstr(ctx->diags.first->message, loops[i].error) != NULL, "%s",
                      ctx->diags.first->message);
    ctx_free(ctx);
}

START_TEST(the_first_parallel_loop_that_is_written_is_divided)
{
    expand_loop(_i, false);
    expand_loop(_i, true);
}
END_TEST

/* What is said of a text before there is a region: of its keys only `a` and `b` are ever set. */
static bool knows(void *user, const char *key)
{
    (void)user;
    return strcmp(key, "a") == 0 || strcmp(key, "b") == 0;
}

static const char *none_is_near(void *user, const char *key)
{
    (void)user;
    (void)key;
    return NULL;
}

static const struct {
    const char *text, *error; /* NULL = none */
} checks[] = {
    { "//#if a\n${b}\n//#else\n${a}\n//#end\n", NULL },
    { "//#if a\n//#else\n${c}\n//#end\n", "t:3: unknown key 'c'" },
    { "//#if !a\n//#else\n${c}\n//#end\n", "t:3: unknown key 'c'" },
    { "//#if c\n${c}\n//#else\n${a}\n//#end\n", NULL }, /* never written */
    { "//#if c\n//#else\n${c}\n//#end\n", "t:3: unknown key 'c'" },
    { "//#if !c\n${a}\n//#else\n${c}\n//#end\n", NULL },
    { "//#if !c\n${c}\n//#else\n//#end\n", "t:2: unknown key 'c'" },
    { "//#if c\n//#if a\n//#else\n${c}\n//#end\n//#else\n${a}\n//#end\n", NULL },
    { "//#if a\n//#if b\n//#end\n//#else\n//#end\n", NULL },
    { "//#if c\n${c}\n//#body\n${a}\n//#end\n${c}\n//#end\n", NULL },
    { "//#if c\n//#body\n${c}\n//#end\n//#end\n", "t:3: unknown key 'c'" },
    { "//#if c\n//#if c\n//#body\n${c}\n//#end\n//#end\n//#end\n", NULL },
    { "//#body\n//#end\n", "t:1: this //#body does not stand directly in an //#if" },
    { "//#if a\n//#for i 2\n//#body\n//#end\n//#end\n//#end\n",
      "t:3: this //#body does not stand directly in an //#if" },
    { "//#if a\n//#body b\n//#end\n//#end\n", "t:2: '//#body' is not a control line" },
    { "//#else\n", "t:1: this //#else belongs to no //#if" },
    { "//#for i 2\n//#else\n//#end\n", "t:2: this //#else belongs to no //#if" },
    { "//#if a\n//#else\n//#else\n//#end\n", "t:3: this block has an //#else already" },
    { "//#if a\n//#else b\n//#end\n", "t:2: '//#else' is not a control line" },
    { "//#if a\n//#else\n", "t:1: this block has no //#end" },
};

START_TEST(a_check_says_what_is_wrong_whatever_the_keys_are)
{
    const struct template_names names = { knows, none_is_near, NULL };
    struct ctx *ctx = ctx_new(NULL);
    const bool ok = template_check(ctx, "t", checks[_i].text, &names);

    ck_assert_int_eq(ok, !checks[_i].error);
    if (!ok)
        ck_assert_ptr_nonnull(strstr(ctx->diags.first->message, checks[_i].error));
    ctx_free(ctx);
}
END_TEST

START_TEST(a_key_that_nothing_uses_is_an_error)
{
    struct ctx *ctx = ctx_new(NULL);

    ck_assert_ptr_null(expand(ctx, "nothing\n", "left_over"));
    ck_assert_str_eq(ctx->diags.first->message, "t:1: unused key 'left_over'");
    ctx_free(ctx);
}
END_TEST

START_TEST(a_key_used_only_in_a_block_left_out_counts_as_used)
{
    struct ctx *ctx = ctx_new(NULL);

    ck_assert_str_eq(expand(ctx, "//#if off\n${left_over}\n//#end\nx\n", "left_over"), "x\n");
    ctx_free(ctx);
}
END_TEST

/* Templates of targets are the user's. */
START_TEST(no_template_runs_forever_or_uses_up_the_stack)
{
    static const struct {
        const char *open, *close;
        int n;
        const char *error;
    } rows[] = {
        { "//#for i 4096\n", "//#end\n", 8, "the text becomes too long" },
        { "//#for i 4000\n", "//#end\n", 2, "the text becomes too long" },
        { "//#for i 1\n", "//#end\n", 9, "nested too deeply" },
        { "//#if on\n", "//#end\n", 100000, "nested too deeply" },
        { "//#if !on\n", "//#end\n", 100000, "nested too deeply" },
        { "${", "}", 200000, "nested too deeply" },
    };
    struct ctx *ctx = ctx_new(NULL);
    struct str text = { .arena = &ctx->perm };
    bool found = false;

    for (int i = 0; i < rows[_i].n; i++)
        str_add(&text, rows[_i].open);
    str_add(&text, _i < 5 ? "a line\n" : "on");
    for (int i = 0; i < rows[_i].n; i++)
        str_add(&text, rows[_i].close);
    ck_assert_ptr_null(expand(ctx, str_text(&text), NULL));
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        found = found || strstr(d->message, rows[_i].error);
    ck_assert(found);
    ctx_free(ctx);
}
END_TEST

START_TEST(setting_a_key_again_replaces_its_text)
{
    struct ctx *ctx = ctx_new(NULL);
    struct keys keys;
    struct str out = { .arena = &ctx->perm };

    keys_init(&keys, &ctx->perm);
    keys_set_int(&keys, "k", -7);
    keys_set_flag(&keys, "flag", true);
    keys_set(&keys, "k", "new");
    ck_assert(template_expand(ctx, "t", "${k} ${flag}\n", &keys, &out));
    ck_assert_str_eq(str_text(&out), "new 1\n");
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("template");
    TCase *tcase = tcase_create("template");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, template_expands_or_says_what_is_wrong, 0,
                        (int)(sizeof cases / sizeof *cases));
    tcase_add_loop_test(tcase, a_check_says_what_is_wrong_whatever_the_keys_are, 0,
                        (int)(sizeof checks / sizeof *checks));
    tcase_add_loop_test(tcase, no_template_runs_forever_or_uses_up_the_stack, 0, 6);
    tcase_add_loop_test(tcase, the_first_parallel_loop_that_is_written_is_divided, 0,
                        (int)(sizeof loops / sizeof *loops));
    tcase_add_test(tcase, a_key_that_nothing_uses_is_an_error);
    tcase_add_test(tcase, a_key_used_only_in_a_block_left_out_counts_as_used);
    tcase_add_test(tcase, setting_a_key_again_replaces_its_text);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
