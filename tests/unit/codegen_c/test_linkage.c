/* Helper functions for a file that several networks share (codegen_c/text/linkage.h). */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/text/linkage.h"

static const struct {
    const char *given, *definitions, *declarations, *name; /* definitions NULL: it stays in the header */
} cases[] = {
    { "/* sums */\nstatic int sum(const int *x)\n{\n    for (;;)\n        use(x);\n}\n",
      "/* sums */\nint sum(const int *x)\n{\n    for (;;)\n        use(x);\n}\n\n",
      "int sum(const int *x);\n\n", "sum" },
    /* attributes in front and behind */
    { "APART static __attribute__((noipa)) void f(void)\n{\n    while (x)\n        x--;\n}\n",
      "APART __attribute__((noipa)) void f(void)\n{\n    while (x)\n        x--;\n}\n\n",
      "APART __attribute__((noipa)) void f(void);\n\n", "f" },
    /* variants: a declaration for each */
    { "#if defined A\nstatic int f(int n)\n{\n    do n--; while (n);\n}\n#else\nstatic int f(int n)\n{\n"
      "#if defined B\n    n++;\n#endif\n    for (;;);\n}\n#endif\n",
      "#if defined A\nint f(int n)\n{\n    do n--; while (n);\n}\n#else\nint f(int n)\n{\n"
      "#if defined B\n    n++;\n#endif\n    for (;;);\n}\n#endif\n\n",
      "#if defined A\nint f(int n);\n#else\nint f(int n);\n#endif\n\n", "f" },
    /* no loop; inline; a macro or a type beside it; a table; no static */
    { "static int f(int n)\n{\n    return n;\n}\n", NULL, NULL, NULL },
    { "static inline int f(int n)\n{\n    for (;;)\n        n++;\n}\n", NULL, NULL, NULL },
    { "#define N 2\nstatic int f(int n)\n{\n    for (;;)\n        n++;\n}\n", NULL, NULL, NULL },
    { "typedef int number;\nstatic int f(int n)\n{\n    for (;;)\n        n++;\n}\n", NULL, NULL, NULL },
    { "struct s {\n    int n;\n};\n", NULL, NULL, NULL },
    { "static const int table[2] = { 1, 2 };\n", NULL, NULL, NULL },
    { "INLINE int f(int n)\n{\n    for (;;)\n        n++;\n}\n", NULL, NULL, NULL },
    { "static int f(int n)\n{\n    for (;;)\n        n++;\n}\n\nstatic int g(int n)\n{\n    return n;\n}\n",
      NULL, NULL, NULL },
};

START_TEST(split)
{
    struct arena arena = { NULL };
    struct str definitions = { .arena = &arena }, declarations = { .arena = &arena };
    struct map names = { .arena = &arena };
    const bool ok =
        linkage_split(&arena, cases[_i].given, &definitions, &declarations, &names);

    ck_assert_int_eq(ok, cases[_i].definitions != NULL);
    ck_assert_str_eq(str_text(&definitions), ok ? cases[_i].definitions : "");
    ck_assert_str_eq(str_text(&declarations), ok ? cases[_i].declarations : "");
    ck_assert_uint_eq(names.n, ok ? 1u : 0u);
    if (ok)
        ck_assert_ptr_nonnull(map_get(&names, cases[_i].name));
    arena_release(&arena);
}
END_TEST

START_TEST(only_functions_that_are_not_inline_are_marked)
{
    struct arena arena = { NULL };

    ck_assert_str_eq(linkage_mark(&arena,
                                  "static const int t[1] = { 0 };\nstatic int f(void)\n{\n    static int n;\n}\n"
                                  "static inline int g(void)\n{\n}\n",
                                  "UNUSED"),
                     "static const int t[1] = { 0 };\nstatic UNUSED int f(void)\n{\n    static int n;\n}\n"
                     "static inline int g(void)\n{\n}\n\n");
    arena_release(&arena);
}
END_TEST

START_TEST(words_are_renamed_in_macros_and_not_in_comments)
{
    struct arena arena = { NULL };
    struct map words = { .arena = &arena };

    map_set(&words, "f", &arena);
    ck_assert_str_eq(linkage_rename(&arena,
                                    "/* f */\n#define CALL(x) f(x)\nint a = f(1) + ff(2) + CALL(\"f\"); /* f */\n",
                                    &words, "my_"),
                     "/* f */\n#define CALL(x) my_f(x)\nint a = my_f(1) + ff(2) + CALL(\"f\"); /* f */\n");
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("linkage");
    TCase *tcase = tcase_create("linkage");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tcase, split, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tcase, only_functions_that_are_not_inline_are_marked);
    tcase_add_test(tcase, words_are_renamed_in_macros_and_not_in_comments);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
