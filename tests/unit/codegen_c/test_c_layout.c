/* The layout of generated C: braces, a declaration a line, 100 columns; and what it must leave alone. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/text/layout.h"

static const struct {
    const char *given, *wanted;
} cases[] = {
    /* a line of a comment that becomes four */
    { "/* A1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
      "B2 bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb "
      "C3 cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc "
      "D4 ddddd */\n\nint a;\n",
      "/* A1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa B2\n"
      " * bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb C3\n"
      " * cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc D4\n"
      " * ddddd */\n\nint a;\n" },
    /* loops above each other, a body in the line below, one in the same line */
    { "void f(void)\n{\n    for (;;)\n    for (;;) {\n        g();\n    }\n}\n",
      "void f(void)\n{\n    for (;;) {\n        for (;;) {\n            g();\n        }\n    "
      "}\n}\n" },
    { "void f(void)\n{\n    if (a)\n        b();\n    else if (c)\n        d();\n    else\n        "
      "e();\n}\n",
      "void f(void)\n{\n    if (a) {\n        b();\n    } else if (c) {\n        d();\n    } else "
      "{\n"
      "        e();\n    }\n}\n" },
    { "void f(void)\n{\n    do\n        g();\n    while (a);\n    while (b) /* until */\n        "
      "h();\n}\n",
      "void f(void)\n{\n    do {\n        g();\n    } while (a);\n    while (b) { /* until */\n"
      "        h();\n    }\n}\n" },
    { "void f(void)\n{\n    for (;;);\n    KEEP for (;;) { g(); h(); }\n}\n",
      "void f(void)\n{\n    for (;;) {\n    }\n    KEEP for (;;) {\n        g();\n        h();\n   "
      " }\n}\n" },
    /* a comment in front of an else stays in front of it */
    { "void f(void)\n{\n    if (a)\n        b();\n    /* not a */\n    else\n        c();\n}\n",
      "void f(void)\n{\n    if (a) {\n        b();\n        /* not a */\n    } else {\n        "
      "c();\n    }\n}\n" },
    { "void f(void)\n{\n    switch (a) {\n    case 1: b(); break;\n    default: c();\n    }\n}\n",
      "void f(void)\n{\n    switch (a) {\n    case 1:\n        b();\n        break;\n    default:\n"
      "        c();\n    }\n}\n" },
    /* declarations; commas within brackets, of calls and of conditions are none */
    { "void f(void)\n{\n    const float a = g(1, 2), *b = &a, *const c[2] = { b, b };\n    vec s0, "
      "s1;\n"
      "    g(a, b), h(c);\n    a * b;\n    return g(1), h(2);\n}\n",
      "void f(void)\n{\n    const float a = g(1, 2);\n    const float *b = &a;\n    const float "
      "*const c[2] = { b, b };\n"
      "    vec s0;\n    vec s1;\n    g(a, b), h(c);\n    a * b;\n    return g(1), h(2);\n}\n" },
    { "void f(void)\n{\n    int a = 1, /* one */\n        b = 2; /* two */\n}\n",
      "void f(void)\n{\n    int a = 1; /* one */\n    int b = 2; /* two */\n}\n" },
    { "enum { A = 1, B = 2 };\nstruct s {\n    int a, b;\n};\nint g(int a, int b);\n",
      "enum { A = 1, B = 2 };\nstruct s {\n    int a;\n    int b;\n};\nint g(int a, int b);\n" },
    /* macros without semicolons, directives, attributes between these */
    { "#define EACH(DO) DO(0) \\\n    DO(1)\n#ifdef __GNUC__\n__attribute__((unused)) /* here "
      "*/\n#endif\n"
      "static void f(void)\n{\n    EACH(A) EACH(B)\n#if A\n    if (a)\n        b();\n#endif\n}\n",
      "#define EACH(DO) DO(0) \\\n    DO(1)\n#ifdef __GNUC__\n__attribute__((unused)) /* here "
      "*/\n#endif\n"
      "static void f(void)\n{\n    EACH(A)\n    EACH(B)\n#if A\n    if (a) {\n        b();\n    "
      "}\n#endif\n}\n" },
    { "void f(void)\n{\n    int c = b;\n\n    { int d, e; }\n}\n",
      "void f(void)\n{\n    int c = b;\n\n    {\n        int d;\n        int e;\n    }\n}\n" },
    { "int f(void)\n{\n    return (int)g(1);\n}\n", NULL }, /* no call of a macro */
    /* blank lines: one, and none at the start of a block */
    { "void f(void)\n{\n\n    a();\n\n\n    b();\n}\n",
      "void f(void)\n{\n    a();\n\n    b();\n}\n" },
    /* what directives cut, and what is no whole C, is left alone */
    { "void f(void)\n{\n    for (;;)\n#if A\n        a();\n#else\n        b();\n#endif\n}\n",
      NULL },
    { "void f(void)\n{\n    a()\n#if A\n        + 1\n#endif\n        ;\n    if (a)\n        "
      "b();\n}\n",
      NULL },
    { "void f(void)\n{\n    if (a)\n        b();\n", NULL },
    { "void f(void)\n{\n    x = '{' + \"}\\\"{\"[0]; /* { */\n}\n", NULL },
    { "#define A\n\n", NULL }, /* another part of the file follows */
    { "}\n", NULL },
    { "", NULL },
    /* what binds first is in parentheses; casts and signs are no operators between two operands */
    { "int f(void)\n{\n    return a * b + c;\n}\n",
      "int f(void)\n{\n    return (a * b) + c;\n}\n" },
    { "int f(void)\n{\n    return a < 0 && b >= 1 << 3 || !c ? -a : (int)-b * c;\n}\n",
      "int f(void)\n{\n    return (((a < 0) && (b >= (1 << 3))) || !c) ? -a : ((int)-b * "
      "c);\n}\n" },
    { "int f(void)\n{\n    return x[i * N + j] + (uint32_t)*p + sizeof *p * n;\n}\n",
      "int f(void)\n{\n    return x[(i * N) + j] + (uint32_t)*p + (sizeof *p * n);\n}\n" },
    { "int f(void)\n{\n    const int8_t *const a = b * c - d, *e;\n    return a - b - c;\n}\n",
      "int f(void)\n{\n    const int8_t *const a = (b * c) - d;\n    const int8_t *e;\n    return "
      "a - b - "
      "c;\n}\n" },
    { "int f(void)\n{\n    return (word)&x == y;\n}\n", NULL }, /* a cast or a mask */
    { "int f(void)\n{\n    return a ? b : c ? d + e : f;\n}\n",
      "int f(void)\n{\n    return a ? b : c ? (d + e) : f;\n}\n" },
    /* lines below a bracket move with it */
    { "int f(void)\n{\n    return a < 1 && g(b,\n                      c);\n}\n",
      "int f(void)\n{\n    return (a < 1) && g(b,\n                        c);\n}\n" },
    /* what goes on stands below the bracket, or 8 columns further in if that takes fewer lines */
    { "void function_of_six_arrays_25x5x64(const int32_t *first, const int32_t *second, const "
      "int32_t *third)\n{\n}\n",
      "void function_of_six_arrays_25x5x64(const int32_t *first, const int32_t *second,\n"
      "                                    const int32_t *third)\n{\n}\n" },
    { "void function_of_six_arrays_25x5x64(const int32_t *first, const int32_t *second, const "
      "int32_t *third, "
      "const int32_t *fourth, const int32_t *fifth, int n)\n{\n}\n",
      "void function_of_six_arrays_25x5x64(const int32_t *first, const int32_t *second,\n"
      "        const int32_t *third, const int32_t *fourth, const int32_t *fifth, int n)\n{\n}\n" },
    /* products with 1 and 0, sums with 0; not those of floats */
    { "int f(void)\n{\n    return x[0 * N + i] + x[1 * N + i + 0] + 1 * OUT_H * OUT_W;\n}\n",
      "int f(void)\n{\n    return x[i] + x[N + i] + (OUT_H * OUT_W);\n}\n" },
    { "int f(void)\n{\n    return 0 * step + a + 0 * g(1) + (0 * 4 + b);\n}\n",
      "int f(void)\n{\n    return (0 * step) + a + (0 * g(1)) + (b);\n}\n" },
    { "float f(void)\n{\n    float a = 0, b = 0;\n    int c = 0;\n}\n",
      "float f(void)\n{\n    float a = 0.0f;\n    float b = 0.0f;\n    int c = 0;\n}\n" },
    /* steps of a for, unless something hangs on where they stand */
    { "void f(void)\n{\n    for (int i = 0; i < n; i++, x = &x[g(1, 2)], y++)\n        h(x);\n}\n",
      "void f(void)\n{\n    for (int i = 0; i < n; i++) {\n        h(x);\n        x = &x[g(1, "
      "2)];\n        y++;\n"
      "    }\n}\n" },
    { "void f(void)\n{\n    for (; i < n; i++, a = i) {\n        h(a);\n    }\n}\n", NULL },
    { "void f(void)\n{\n    for (; i < n; i = a, a = 2 * a) {\n        h(a);\n    }\n}\n", NULL },
    { "void f(void)\n{\n    for (; i < n; i++, a++) {\n        if (i) {\n            continue;\n   "
      "     }\n    }\n}\n",
      NULL },
};

START_TEST(statements)
{
    struct arena arena = { NULL };
    const char *wanted = cases[_i].wanted ? cases[_i].wanted : cases[_i].given;
    const char *found = layout(&arena, cases[_i].given);

    ck_assert_str_eq(found, wanted);
    ck_assert_str_eq(layout(&arena, found), wanted);
    arena_release(&arena);
}
END_TEST

static void check_columns(const char *text)
{
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        ck_assert_msg(n <= 100, "%zu columns: %.*s", n, (int)n, text);
    }
}

static void without_space(char *text)
{
    char *to = text;

    for (; *text; text++)
        if (!strchr(" \n\\*/", *text))
            *to++ = *text;
    *to = '\0';
}

/* Statements, heads, comments and macros of 120 columns and more; words stay in their order. */
START_TEST(long_lines)
{
    static const char text[] = "/* A comment of a template whose lines have up to one hundred and "
                               "twenty columns, which is more than "
                               "reviewers want;\n * it goes on here. */\n"
                               "#if defined ALPHA || defined BETA /* a comment behind a condition "
                               "that makes its line longer than it "
                               "should be */\n#endif\n"
                               "#define LONG(a, b, c) first_function_with_a_long_name(a, b, c, (a) "
                               "* (b)) + second_function(a, b, c) * "
                               "(a)\n"
                               "static void shared_function_of_many_arrays_25x5x64(const float "
                               "*restrict x, float *restrict y, const "
                               "float *restrict w)\n{\n"
                               "    enum {\n        LEN = 36, /* length of a sum: [IN_C, K_H, K_W "
                               "and one more], rounded up to a multiple "
                               "of four */\n        STORED = 8,\n    };\n"
                               "    const float *const row = &x[position / (OUT_H * OUT_W) * IN_H "
                               "* IN_W * CHANNELS]; /* of x: [IN_H, "
                               "IN_W] */\n"
                               "    y[at] = (condition < least_of_all_numbers) ? "
                               "alternative_number_one : function_of(argument_one, "
                               "argument_two + 3);\n}\n";
    struct arena arena = { NULL };
    const char *found = layout(&arena, text);
    char *words = arena_strdup(&arena, found), *before = arena_strdup(&arena, text);

    check_columns(found);
    ck_assert_str_eq(layout(&arena, found), found);
    ck_assert_ptr_nonnull(
        strstr(found, "    /* of x: [IN_H, IN_W] */\n    const float *const row"));
    without_space(words);
    without_space(before);
    ck_assert_uint_eq(strlen(words), strlen(before));
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layout");
    TCase *tests = tcase_create("layout");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, statements, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(tests, long_lines);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
