/* The headers that builds of generated C share: who gets one, and that nothing but the time depends on it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "tests/support/precompiled.h"
#include "tests/support/temp_dir.h"

#define COMMAND "gcc -std=c99 -O2 -march=x86-64-v3"

static const char *const one = "#include <immintrin.h>\nint f(void) { return 1; }\n";
static const char *const two = "#include <immintrin.h>\nint f(void) { return 2; }\n";

static struct ctx *ctx;
static struct temp_dir dir;

static void setup(void)
{
    ctx = ctx_new(NULL);
    dir = temp_dir_new();
    ck_assert_int_eq(setenv("RELAYC_TEST_HEADERS", dir.path, 1), 0);
}

static void teardown(void)
{
    temp_dir_free(&dir);
    ctx_free(ctx);
}

static const char *header_for(const char *command, const char *text)
{
    return precompiled_header(ctx, command, temp_file(&dir, "net.c", text, strlen(text)));
}

/* "-include FILE" that the compiler takes. */
static const char *ready(const char *command, const char *text)
{
    const char *flag = header_for(command, text);

    ck_assert_msg(str_starts(flag, "-include "), "'%s'", flag);
    ck_assert_int_eq(access(arena_printf(&ctx->perm, "%s.gch", flag + strlen("-include ")), R_OK),
                     0);
    return flag;
}

/* What the program returns that calls f(). */
static int result(const char *flag, const char *text)
{
    const char *body = arena_printf(&ctx->perm, "%sint main(void) { return f() + 40; }\n", text);
    const char *source = temp_file(&dir, "main.c", body, strlen(body));
    const char *program = temp_path(&dir, "main");

    ck_assert_int_eq(system(arena_printf(&ctx->perm, COMMAND " -Winvalid-pch -Werror %s -o %s %s",
                                         flag, program, source)),
                     0);
    return WEXITSTATUS(system(program));
}

START_TEST(the_second_of_a_command_makes_it)
{
    ck_assert_str_eq(header_for(COMMAND, one), "");
    ready(COMMAND, one);
    ready(COMMAND, two);
}
END_TEST

START_TEST(what_the_c_says_is_compiled)
{
    header_for(COMMAND, one);
    ck_assert_int_eq(result(ready(COMMAND, one), one), 41);
    ck_assert_int_eq(result(ready(COMMAND, two), two), 42);
}
END_TEST

START_TEST(other_flags_have_others)
{
    static const char *const others[] = {
        "gcc -std=c99 -O3 -march=x86-64-v3",   "gcc -std=c99 -O2 -march=x86-64-v4",
        "gcc -std=gnu99 -O2 -march=x86-64-v3", "gcc -std=c99 -fPIC -O2 -march=x86-64-v3",
        "clang -std=c99 -O2 -march=x86-64-v3",
    };
    const char *flag;

    header_for(COMMAND, one);
    flag = ready(COMMAND, one);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_str_eq(header_for(others[i], one), "");
        ck_assert_str_ne(ready(others[i], one), flag);
    }
}
END_TEST

START_TEST(c_that_does_not_include_it_gets_none)
{
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(header_for(COMMAND, "int f(void) { return 1; }\n"), "");
        ck_assert_str_eq(header_for("gcc -std=c99 -O2", one), "");
        ck_assert_str_eq(header_for("gcc -std=c99 -O2 -march=x86-64 -U__SSE2__", one), "");
    }
}
END_TEST

START_TEST(without_a_folder_there_are_none)
{
    ck_assert_int_eq(unsetenv("RELAYC_TEST_HEADERS"), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_str_eq(header_for(COMMAND, one), "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("precompiled");
    TCase *tcase = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, the_second_of_a_command_makes_it);
    tcase_add_test(tcase, what_the_c_says_is_compiled);
    tcase_add_test(tcase, other_flags_have_others);
    tcase_add_test(tcase, c_that_does_not_include_it_gets_none);
    tcase_add_test(tcase, without_a_folder_there_are_none);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
