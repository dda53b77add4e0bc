/* test_expression.c - expressions of target files: values, what is absent, messages, clashes. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "partition/expression.h"
#include "tests/support/expect.h"

static const struct source source = { .file = "t.json", .line = 3, .column = 21 };

/* A scope with x (2,3,8,8) f32, b absent, bare numbers, and a list. */
static bool look_up(void *user, const char *name, const char *field, struct term *out,
                    const char **why)
{
    static const int64_t dims[] = { 2, 3, 8, 8 };

    (void)user;
    *out = (struct term){ .kind = TERM_INT };
    if (strcmp(name, "b") == 0) {
        out->kind = TERM_ABSENT;
        return true;
    }
    if (!field && strcmp(name, "broken") == 0) {
        *why = "it cannot be computed";
        return false;
    }
    if (!field) {
        out->integer = strcmp(name, "macs") == 0 ? 1000 : strcmp(name, "big") == 0 ? INT64_MAX : -1;
        return out->integer >= 0;
    }
    if (strcmp(name, "x") != 0)
        return false;
    if (strcmp(field, "dim") == 0 || strcmp(field, "shape") == 0)
        *out = (struct term){ .kind = TERM_INTS, .ints = ints_of(4, dims) };
    else if (strcmp(field, "dtype") == 0)
        *out = (struct term){ .kind = TERM_TEXT, .text = "f32" };
    else if (strcmp(field, "scale") == 0)
        *out = (struct term){ .kind = TERM_REAL, .real = 0.5 };
    else if (strcmp(field, "rank") == 0)
        out->integer = 4;
    else {
        *why = "there is no such field";
        return false;
    }
    return true;
}

static const struct scope scope = { .look_up = look_up };

/* What an expression is: an integer, a real, a text (in quotes), a list, or "error: ...". */
static const struct {
    const char *text, *want;
} values[] = {
    { "1 + 2 * 3", "7" },
    { "(1 + 2) * 3", "9" },
    { "7 - 2 - 1", "4" },
    { "100 / 10 / 5", "2" },
    { "-7 / 2", "-3" },
    { "-7 % 3", "-1" },
    { "7 % -3", "1" },
    { "7 / 2.0", "3.5" },
    { "1.5e1", "15.0" },
    { "- - 3", "3" },
    { "!0 + !5", "1" },
    { "1 < 2 && 2 < 1 || 1", "1" },
    { "1 || 0 && 0", "1" },
    { "0 && 1 / 0", "0" },
    { "1 || 1 / 0", "1" },
    { "1 ? 2 : 0 ? 3 : 4", "2" },
    { "0 ? 2 : 0 ? 3 : 4", "4" },
    { "1 < 2 == 1", "error: parse" },
    { "(1 < 2) == 1", "1" },
    { "1 == 1.0", "1" },
    { "9223372036854775807 == 9223372036854775806", "0" },
    { "min(3, 1, 2)", "1" },
    { "max(3, 1.5)", "3.0" },
    { "abs(-4) + abs(4)", "8" },
    { "ceil_div(7, 4)", "2" },
    { "ceil_div(8, 4)", "2" },
    { "ceil_div(-7, 4)", "-1" },
    { "ceil_div(-7, -4)", "2" },
    { "round_up(13, 8)", "16" },
    { "round_up(16, 8)", "16" },
    { "log2(1024)", "10" },
    { "log2(1023)", "9" },
    { "log2(0.25)", "-2.0" },
    { "len(x.shape)", "4" },
    { "x.dim[2]", "8" },
    { "x.dim[-4]", "2" },
    { "x.dim[1 + 1] * macs", "8000" },
    { "x.shape == x.dim", "1" },
    { "x.shape != [2,3,8,8]", "0" },
    { "[1, 2+3, macs]", "[1,5,1000]" },
    { "[1,2][1]", "2" },
    { "x.dtype", "'f32'" },
    { "x.dtype == f32", "1" },
    { "x.dtype == \"f32\" && 'f32' == x.dtype", "1" },
    { "x.dtype != f16", "1" },
    { "unknown", "'unknown'" },
    { "x.scale * 4", "2.0" },
    { "present(b)", "0" },
    { "present(macs) && present(x.dim)", "1" },
    { "present(b) ? b.elements : 5", "5" },
    /* what is absent */
    { "b.dim[0] == 4", "1" },
    { "b.dim[0] == 4 && b.dim[0] != 4", "1" },
    { "4 < b.rank * 0", "1" },
    { "b.dim[0] + 3", "3" },
    { "b", "absent" },
    { "b.flag || 0", "1" },
    { "b.flag && 1", "1" },
    { "!b.flag", "1" },
    { "b.flag ? 1 : 2", "2" },
    { "(b.rank == 3) + 1", "2" },
    { "b.rank == 4 && x.rank == 3", "0" },
    { "len(b.shape)", "0" },
    { "max(b.elements, 3)", "3" },
    { "-b.elements", "0" },
    /* what goes wrong */
    { "1 / 0", "error: 1 / 0 divides by zero" },
    { "1 % (2 - 2)", "error: 1 % (2 - 2) divides by zero" },
    { "1.0 / 0", "error: 1.0 / 0 divides by zero" },
    { "ceil_div(1, 0)", "error: ceil_div(1, 0) divides by zero" },
    { "big + 1", "error: big + 1 is beyond 64 bits" },
    { "big * 2", "error: big * 2 is beyond 64 bits" },
    { "-big - 2", "error: -big - 2 is beyond 64 bits" },
    { "(-big - 1) / -1", "error: (-big - 1) / -1 is beyond 64 bits" },
    { "(-big - 1) % -1", "error: (-big - 1) % -1 is beyond 64 bits" },
    { "-(-big - 1)", "error: -(-big - 1) is beyond 64 bits" },
    { "abs(-big - 1)", "error: abs(-big - 1) is beyond 64 bits" },
    { "round_up(big, 8)", "error: round_up(big, 8) is beyond 64 bits" },
    { "ceil_div(-big - 1, -1)", "error: ceil_div(-big - 1, -1) is beyond 64 bits" },
    { "1e300 * 1e300", "error: 1e300 * 1e300 is not a finite number" },
    { "log2(0)", "error: log2(0): only positive numbers have a logarithm" },
    { "x.dim[4]", "error: x.dim has 4 elements, there is no [4]" },
    { "x.dim[-5]", "error: x.dim has 4 elements, there is no [-5]" },
    { "x.dim[0.5]", "error: 0.5 is not a whole number" },
    { "x.rank[0]", "error: x.rank is a number, not a list" },
    { "len(4)", "error: 4 is a number, not a list" },
    { "x.dtype + 1", "error: x.dtype is text, not a number" },
    { "tils * 4", "error: tils is text, not a number" },
    { "x.shape + 1", "error: x.shape is a list, not a number" },
    { "x.rank == f32", "error: x.rank == f32 compares a number with text" },
    { "x.shape < x.dim", "error: x.shape < x.dim: only numbers have an order" },
    { "x.nothing", "error: x.nothing: there is no such field" },
    { "y.dim", "error: y.dim: there is no such name" },
    { "broken == 1", "error: broken: it cannot be computed" },
    { "present(y)", "error: present(y): there is no such name" },
    { "x.dtype && 1", "error: x.dtype is text, not a condition" },
    { "!x.shape", "error: x.shape is a list, not a condition" },
    { "5.5 % 2", "error: 5.5 % 2: % takes whole numbers" },
};

static const char *value_text(struct arena *arena, const struct term *term)
{
    struct str text = { .arena = arena };

    switch (term->kind) {
    case TERM_ABSENT: return "absent";
    case TERM_INT: return arena_printf(arena, "%lld", (long long)term->integer);
    case TERM_REAL:
        str_printf(&text, "%.9g", term->real);
        return strpbrk(text.text, ".e") ? text.text : arena_printf(arena, "%s.0", text.text);
    case TERM_TEXT: return arena_printf(arena, "'%s'", term->text);
    case TERM_INTS:
        for (int i = 0; i < term->ints.n; i++)
            str_printf(&text, "%s%lld", i ? "," : "[", (long long)term->ints.at[i]);
        return arena_printf(arena, "%s]", str_text(&text));
    }
    return "";
}

START_TEST(an_expression_has_a_value)
{
    struct ctx *ctx = ctx_new(NULL);
    struct expression *expression = expression_parse(ctx, &source, values[_i].text);
    const char *why = NULL, *got;
    struct term term;

    if (!expression)
        got = "error: parse";
    else if (expression_evaluate(expression, &scope, &ctx->perm, &term, &why))
        got = value_text(&ctx->perm, &term);
    else
        got = arena_printf(&ctx->perm, "error: %s", why);
    ck_assert_msg(strcmp(got, values[_i].want) == 0, "%s: %s, wanted %s\n%s", values[_i].text, got,
                  values[_i].want, expect_text(ctx));
    if (expression)
        ck_assert_str_eq(expression_text(expression), values[_i].text);
    ctx_free(ctx);
}
END_TEST

static const struct {
    const char *text, *found, *wanted; /* found NULL = it holds */
} conditions[] = {
    { "x.rank == 4 && macs > 10", NULL, NULL },
    { "b.rank == 7", NULL, NULL },
    { "b.flag", NULL, NULL },
    { "b", NULL, NULL },
    { "x.dim[2] <= 7 && x.dim[3] <= 7", "x.dim[2] is 8", "x.dim[2] <= 7" },
    { "x.rank == 4 && (x.dtype == f16 && macs == 0)", "x.dtype is f32", "x.dtype == f16" },
    { "x.shape == [1,3]", "x.shape is [2,3,8,8]", "x.shape == [1,3]" },
    { "x.rank == 3 || macs < 10", "x.rank is 4, macs is 1000", "x.rank == 3 || macs < 10" },
    { "x.rank * x.rank < x.rank", "x.rank is 4", "x.rank * x.rank < x.rank" },
    { "x.scale > 1", "x.scale is 0.5", "x.scale > 1" },
    { "present(b)", "b is absent", "present(b)" },
    { "!present(macs)", "macs is there", "!present(macs)" },
    { "0", "it is false", "0" },
    { "1 && x.dim[9] == 1", "x.dim has 4 elements, there is no [9]", "x.dim[9] == 1" },
    { "x.dtype", "x.dtype is text, not a condition", "x.dtype" },
    { "x.dim[macs - 1000] == 1", "x.dim[macs - 1000] is 2", "x.dim[macs - 1000] == 1" },
};

START_TEST(a_condition_that_does_not_hold_tells_what_is_instead)
{
    struct ctx *ctx = ctx_new(NULL);
    struct expression *expression = expression_parse(ctx, &source, conditions[_i].text);
    const char *found = NULL, *wanted = NULL;

    ck_assert_msg(expression != NULL, "%s", expect_text(ctx));
    if (expression_holds(expression, &scope, &ctx->perm, &found, &wanted)) {
        ck_assert_msg(!conditions[_i].found, "%s holds", conditions[_i].text);
    } else {
        ck_assert_msg(conditions[_i].found != NULL, "%s: %s", conditions[_i].text, found);
        ck_assert_str_eq(found, conditions[_i].found);
        ck_assert_str_eq(wanted, conditions[_i].wanted);
    }
    ctx_free(ctx);
}
END_TEST

static const struct {
    const char *text, *error, *help;
} wrong[] = {
    { "", "21: the expression is empty", NULL },
    { "  ", "23: the expression is empty", NULL },
    { "1 +", "24: expected a number, a name or '(', found the end of the expression", NULL },
    { "1 + )", "25: expected a number, a name or '(', found ')'", NULL },
    { "(1", "23: expected ')', found the end", NULL },
    { "1 2", "23: expected an operator or the end, found '2'", NULL },
    { "x.rank = 4", "28: expected an operator or the end, found '='", "'==' compares" },
    { "1 & 2", "23: expected an operator or the end, found '&'", "'&&' and '||'" },
    { "x.", "23: expected a field behind '.'", NULL },
    { "12abc", "23: expected an operator behind the number, found 'abc'", NULL },
    { "99999999999999999999", "21: '99999999999999999999' is too big", NULL },
    { "1e999", "21: '1' is too big", NULL },
    { "\"abc", "21: this text has no closing \"", NULL },
    { "maxx(1, 2)", "21: unknown function 'maxx'", "did you mean max?" },
    { "foobar(1, 2)", "21: unknown function 'foobar'", "there are min, max" },
    { "abs(1, 2)", "21: abs takes 1 operand, found 2", NULL },
    { "ceil_div(1)", "21: ceil_div takes 2 operands, found 1", NULL },
    { "min()", "21: min takes 1 operand or more, found 0", NULL },
    { "min(1", "26: expected ',' or ')', found the end", NULL },
    { "x.dim[1", "28: expected ']', found the end", NULL },
    { "1 ? 2", "26: expected ':' of this '?'", NULL },
    { "1 < x.rank < 3", "32: comparisons do not chain", "write a < b && b < c" },
    { "present(1)", "29: present asks for a name", NULL },
    { "[1,2", "25: expected ',' or ']', found the end", NULL },
    { "$", "21: expected a number, a name or '(', found '$'", NULL },
    { "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]", "54: more than 16 elements", NULL },
};

START_TEST(errors_tell_the_column)
{
    struct ctx *ctx = ctx_new(NULL);
    const char *part = arena_printf(&ctx->perm, "t.json:3:%s", wrong[_i].error);

    ck_assert_msg(!expression_parse(ctx, &source, wrong[_i].text), "%s", wrong[_i].text);
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert_msg(expect_error(ctx, DIAG_TARGET_FILE, part), "wanted %s\n%s", part,
                  expect_text(ctx));
    if (wrong[_i].help)
        ck_assert_msg(expect_error(ctx, DIAG_TARGET_FILE, wrong[_i].help), "%s", expect_text(ctx));
    ctx_free(ctx);
}
END_TEST

START_TEST(deep_texts_are_refused)
{
    static const char *const pieces[] = { "(",    "-",    "!",  "1+", "1?",
                                          "1?1:", "abs(", "x[", "[",  "1<(" };
    struct ctx *ctx = ctx_new(NULL);
    struct str text = { .arena = &ctx->perm };

    for (int i = 0; i < 100000; i++)
        str_add(&text, pieces[_i]);
    str_add(&text, "1");
    ck_assert_ptr_null(expression_parse(ctx, &source, str_text(&text)));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ctx_free(ctx);
}
END_TEST

static void note_name(void *user, const char *name, const char *field, size_t offset)
{
    str_printf(user, "%s%s%s@%zu ", name, field ? "." : "", field ? field : "", offset);
}

START_TEST(names_are_told_with_their_places)
{
    struct ctx *ctx = ctx_new(NULL);
    struct str names = { .arena = &ctx->perm };

    expression_names(
        expression_parse(ctx, &source, "present(b) ? (( w.dim )[macs]) : max(1, x.rank == f32)"),
        note_name, &names);
    ck_assert_str_eq(str_text(&names), "b@8 w.dim@16 macs@24 x.rank@40 f32@50 ");
    ctx_free(ctx);
}
END_TEST

static const struct {
    const char *conditions[3];
    int first, second; /* -1 = no clash */
} clashes[] = {
    { { "x.rank == 4", "x.rank < 3" }, 0, 1 },
    { { "x.rank == 4", "x.rank <= 4" }, -1, -1 },
    { { "x.rank < 4", "4 < x.rank" }, 0, 1 },
    { { "x.rank < 4", "x.rank > 3" }, -1, -1 }, /* for reals there is room */
    { { "x.rank >= 4", "x.rank <= 4" }, -1, -1 },
    { { "x.rank >= 4", "x.rank < 4" }, 0, 1 },
    { { "x.rank == 4", "x.rank != 4" }, 0, 1 },
    { { "x.rank != 4", "x.rank != 4" }, -1, -1 },
    { { "x.rank == 4", "x.rank == 2 + 2" }, -1, -1 },
    { { "x.rank == 4", "x.rank == 2 * 3" }, 0, 1 },
    { { "x.rank == 4", "y.rank == 5" }, -1, -1 },
    { { "x.dtype == f32", "macs > 1", "x.dtype == f16" }, 0, 2 },
    { { "x.dtype == f32", "f32 != x.dtype" }, 0, 1 },
    { { "x.dtype == f32", "x.dtype == \"f32\"" }, -1, -1 },
    { { "x.dtype == tiles", "x.dtype == others" }, -1, -1 }, /* lets, for all we know */
    { { "macs > 1", "x.dim[0]==1 && x.dim[ 0 ] > 1" }, 1, 1 },
    { { "c.strides == [1,1]", "c.strides == [2,2]" }, 0, 1 },
    { { "c.strides == [1,1]", "c.strides == [1, 1]" }, -1, -1 },
    { { "1 > 2" }, 0, 0 },
    { { "1 < 2" }, -1, -1 },
    { { "x.rank == 4 || x.rank == 5", "x.rank == 6" }, -1, -1 },
    { { "x.scale > 0.5", "x.scale < 0.25" }, 0, 1 },
    { { "x.scale > 0.5", "x.scale <= 1" }, -1, -1 },
    { { "present(b) == 1", "present(b) == 0" }, 0, 1 },
};

START_TEST(conditions_that_exclude_each_other_are_found)
{
    struct ctx *ctx = ctx_new(NULL);
    struct expression *all[3];
    int n = 0, first = -1, second = -1;
    bool clash;

    for (; n < 3 && clashes[_i].conditions[n]; n++) {
        all[n] = expression_parse(ctx, &source, clashes[_i].conditions[n]);
        ck_assert_msg(all[n] != NULL, "%s", expect_text(ctx));
    }
    clash = expressions_clash(&ctx->scratch, all, n, &first, &second);
    ck_assert_msg(clash == (clashes[_i].first >= 0), "row %d", _i);
    ck_assert_int_eq(first, clashes[_i].first);
    ck_assert_int_eq(second, clashes[_i].second);
    ctx_free(ctx);
}
END_TEST

/* --- random arithmetic against C's ------------------------------------------------------------ */

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16 & 0x7fff;
}

/* A random expression over quantised values, fully in parentheses, and its value by C. */
static long long random_value(struct str *text, unsigned *seed, int depth)
{
    static const char *const signs[] = { "+", "-", "*", "<", "==", ">=" };
    const unsigned sign = next_random(seed) % 6;
    long long a, b;

    if (depth == 0) {
        a = next_random(seed) % 10;
        str_printf(text, "%lld", a);
        return a;
    }
    str_add(text, "(");
    a = random_value(text, seed, depth - 1);
    str_printf(text, " %s ", signs[sign]);
    b = random_value(text, seed, depth - 1);
    str_add(text, ")");
    switch (sign) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a < b;
    case 4: return a == b;
    default: return a >= b;
    }
}

START_TEST(random_arithmetic_agrees_with_c)
{
    unsigned seed = (unsigned)_i;

    for (int i = 0; i < 500; i++) {
        struct ctx *ctx = ctx_new(NULL);
        struct str text = { .arena = &ctx->perm };
        const long long want = random_value(&text, &seed, 1 + i % 5);
        const char *why = NULL;
        struct term term;

        ck_assert_msg(expression_evaluate(expression_parse(ctx, &source, str_text(&text)), &scope,
                                          &ctx->perm, &term, &why),
                      "%s: %s", str_text(&text), why);
        ck_assert_msg(term.kind == TERM_INT && term.integer == want, "%s", str_text(&text));
        ctx_free(ctx);
    }
}
END_TEST

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

int main(void)
{
    Suite *suite = suite_create("expression");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, an_expression_has_a_value, 0, N_ROWS(values));
    tcase_add_loop_test(tests, a_condition_that_does_not_hold_tells_what_is_instead, 0,
                        N_ROWS(conditions));
    tcase_add_loop_test(tests, errors_tell_the_column, 0, N_ROWS(wrong));
    tcase_add_loop_test(tests, deep_texts_are_refused, 0, 10);
    tcase_add_test(tests, names_are_told_with_their_places);
    tcase_add_loop_test(tests, conditions_that_exclude_each_other_are_found, 0, N_ROWS(clashes));
    tcase_add_loop_test(tests, random_arithmetic_agrees_with_c, 0, 4);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
