/* The call graph's deepest chain: graphs written here, and gcc's own of a small program whose use
 * of the stack is bounded from below by its arrays. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "measure/stack_usage.h"
#include "tests/support/temp_dir.h"

static struct ctx *ctx;
static struct temp_dir dir;

static void begin(void)
{
    ctx = ctx_new(NULL);
    dir = temp_dir_new();
}

static void end(void)
{
    ctx_free(ctx);
    temp_dir_free(&dir);
}

static bool read_one(const char *text, struct stack_usage *out)
{
    const char *path = temp_file(&dir, "a.ci", text, strlen(text));

    return stack_usage_read(ctx, &path, 1, "run", 0, out);
}

#define NODE(name, bytes, how)                                                                     \
    "node: { title: \"" name "\" label: \"" name "\\na.c:1:1\\n" bytes " bytes (" how ")\" }\n"
#define EXTERN(name)                                                                               \
    "node: { title: \"" name "\" label: \"" name "\\n<built-in>\" shape : ellipse }\n"
#define EDGE(from, to)                                                                             \
    "edge: { sourcename: \"" from "\" targetname: \"" to "\" label: \"a.c:2:3\" }\n"

START_TEST(the_deepest_chain_counts)
{
    struct stack_usage usage;

    ck_assert(read_one("graph: { title: \"a.c\"\n" NODE("a.c:shallow", "500", "static")
                           NODE("a.c:deep", "300", "static") NODE("a.c:leaf", "400", "static")
                               NODE("run", "16", "static") EDGE("run", "a.c:shallow")
                                   EDGE("run", "a.c:deep") EDGE("a.c:deep", "a.c:leaf") "}\n",
                       &usage));
    ck_assert_uint_eq(usage.bytes, 716);
    ck_assert_str_eq(usage.chain, "run > deep > leaf");
    ck_assert_str_eq(usage.beyond, "");
}
END_TEST

START_TEST(functions_that_nobody_defines_are_listed)
{
    struct stack_usage usage;

    ck_assert(read_one(NODE("run", "16", "static") EXTERN("memset") EXTERN("expf") EXTERN("unused")
                           EDGE("run", "memset") EDGE("run", "expf") EDGE("run", "expf"),
                       &usage));
    ck_assert_uint_eq(usage.bytes, 16);
    ck_assert_str_eq(usage.beyond, "expf, memset");
}
END_TEST

START_TEST(a_pointer_may_call_what_nobody_calls_by_name)
{
    struct stack_usage usage;

    ck_assert(read_one(NODE("run", "16", "static") NODE("a.c:part", "200", "static")
                           EXTERN("__indirect_call") EDGE("run", "__indirect_call"),
                       &usage));
    ck_assert_uint_eq(usage.bytes, 216);
    ck_assert_ptr_nonnull(strstr(usage.beyond, "caller"));
}
END_TEST

static const struct {
    const char *text, *message;
} refused[] = {
    { NODE("run", "16", "static") NODE("a.c:f", "8", "static") EDGE("run", "a.c:f")
          EDGE("a.c:f", "a.c:f"),
      "f calls itself" },
    { NODE("run", "16", "static") NODE("a.c:f", "8", "dynamic") EDGE("run", "a.c:f"),
      "the stack frame of f is unbounded" },
    { NODE("walk", "16", "static"), "the compiler gives no data about run" },
};

START_TEST(what_has_no_bound_is_refused)
{
    struct stack_usage usage;

    ck_assert(!read_one(refused[_i].text, &usage));
    ck_assert_int_eq(ctx->diags.latest->code, DIAG_NO_STACK);
    ck_assert_str_eq(ctx->diags.latest->message, refused[_i].message);
}
END_TEST

/* Every array is used, so that no compiler can leave it out. */
static const char program[] =
    "void fill(volatile char *at, int n);\n"
    "__attribute__((noinline)) static int leaf(void) { volatile char a[3000]; fill(a, 3000); "
    "return a[7]; }\n"
    "__attribute__((noinline)) static int node(void) { volatile char a[500]; fill(a, 500); return "
    "a[3] + leaf(); }\n"
    "int run(void) { volatile char a[100]; fill(a, 100); return a[1] + node() + leaf(); }\n";

static const char *const compilers[] = { "gcc -O0", "gcc -O2",
                                         "arm-none-eabi-gcc -O2 -mcpu=cortex-m4" };

START_TEST(what_gcc_writes_is_understood)
{
    const char *path = temp_path(&dir, "program.ci");
    struct stack_usage usage;

    temp_file(&dir, "program.c", program, strlen(program));
    if (system(arena_printf(
            &ctx->perm, "cd %s && %s -fstack-usage -fcallgraph-info=su -c program.c -o program.o",
            dir.path, compilers[_i])) != 0) {
        printf("SKIPPED: %s\n", compilers[_i]);
        return;
    }
    ck_assert(stack_usage_read(ctx, &path, 1, "run", 0, &usage));
    ck_assert_uint_ge(usage.bytes, 3600);
    ck_assert_uint_le(usage.bytes, 3600 + 200);
    ck_assert_str_eq(usage.chain, "run > node > leaf > fill");
    ck_assert_str_eq(usage.beyond, "fill");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stack_usage");
    TCase *tcase = tcase_create("stack_usage");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, the_deepest_chain_counts);
    tcase_add_test(tcase, functions_that_nobody_defines_are_listed);
    tcase_add_test(tcase, a_pointer_may_call_what_nobody_calls_by_name);
    tcase_add_loop_test(tcase, what_has_no_bound_is_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_loop_test(tcase, what_gcc_writes_is_understood, 0,
                        sizeof compilers / sizeof *compilers);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
