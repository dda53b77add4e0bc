/* Sizes of object files: those that binutils' `size -A` prints, for machines of 32 and 64 bits. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "measure/object_size.h"
#include "tests/support/expect.h"
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

static const char source[] =
    "const int table[100] = { 1, 2, 3 };\n"
    "static int counter = 7;\n"
    "static double scratch[33];\n"
    "const char *name(void) { return \"a name of some length\"; }\n"
    "double *count(int n) { counter += n; scratch[n] = n; return scratch; }\n";

static const struct {
    const char *compiler, *flags, *size;
} machines[] = {
    { "gcc", "-O2", "size" },
    { "gcc", "-O2 -ffunction-sections -fdata-sections", "size" },
    { "clang", "-O0", "size" },
    { "arm-none-eabi-gcc", "-O2 -mthumb -mcpu=cortex-m4", "arm-none-eabi-size" },
    { "arm-linux-gnueabihf-gcc", "-O2", "arm-linux-gnueabihf-size" },
    { "arm-none-eabi-gcc", "-O2 -mbig-endian", "arm-none-eabi-size" },
    { "riscv64-unknown-elf-gcc", "-O2 -march=rv32imc -mabi=ilp32", "riscv64-unknown-elf-size" },
};

/* The sum of the sections whose names begin with a word of the list. */
static uint64_t binutils_sum(const char *size, const char *object, const char *const *names)
{
    FILE *pipe = popen(arena_printf(&ctx->perm, "%s -A %s", size, object), "r");
    char line[400], name[200];
    unsigned long long bytes;
    uint64_t sum = 0;

    ck_assert_ptr_nonnull(pipe);
    while (fgets(line, sizeof line, pipe))
        for (int i = 0; names[i]; i++)
            if (sscanf(line, "%199s %llu", name, &bytes) == 2 && str_starts(name, names[i]))
                sum += bytes;
    pclose(pipe);
    return sum;
}

START_TEST(sizes_are_those_of_binutils)
{
    static const char *const text[] = { ".text", NULL }, *const rodata[] = { ".rodata", NULL },
                             *const data[] = { ".data", ".sdata", NULL },
                             *const bss[] = { ".bss", ".sbss", NULL };
    const char *from = temp_file(&dir, "source.c", source, strlen(source));
    const char *object = temp_path(&dir, "source.o");
    struct object_size size = { 0 };

    ck_assert_int_eq(system(arena_printf(&ctx->perm, "%s %s -c %s -o %s", machines[_i].compiler,
                                         machines[_i].flags, from, object)),
                     0);
    ck_assert_msg(object_size_add(ctx, object, &size), "%s", expect_text(ctx));
    ck_assert_uint_gt(size.text, 0);
    ck_assert_uint_ge(size.rodata, 400);
    ck_assert_uint_ge(size.data, 4);
    ck_assert_uint_ge(size.bss, 33 * 8);
    ck_assert_uint_eq(size.text, binutils_sum(machines[_i].size, object, text));
    ck_assert_uint_eq(size.rodata, binutils_sum(machines[_i].size, object, rodata));
    ck_assert_uint_eq(size.data, binutils_sum(machines[_i].size, object, data));
    ck_assert_uint_eq(size.bss, binutils_sum(machines[_i].size, object, bss));
    ck_assert(object_size_add(ctx, object, &size)); /* adds up */
    ck_assert_uint_eq(size.text, 2 * binutils_sum(machines[_i].size, object, text));
}
END_TEST

START_TEST(what_is_no_object_is_an_error)
{
    struct object_size size = { 0 };

    ck_assert(!object_size_add(ctx, temp_file(&dir, "a", "#!/bin/sh\n", 10), &size));
    ck_assert(expect_error(ctx, DIAG_BENCH, "no ELF file"));
    ck_assert(!object_size_add(ctx, temp_path(&dir, "missing"), &size));
    ck_assert(expect_error(ctx, DIAG_FILE_READ, "missing"));
}
END_TEST

/* A header that points anywhere is read without leaving the file. */
START_TEST(a_damaged_object_is_survived)
{
    unsigned char bytes[128] = "\177ELF\2\1\1";
    struct object_size size = { 0 };

    memset(bytes + 16, _i ? 0xFF : 0, sizeof bytes - 16);
    ck_assert(object_size_add(ctx, temp_file(&dir, "a", bytes, sizeof bytes), &size));
    ck_assert_uint_eq(size.text + size.rodata + size.data + size.bss, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("object_size");
    TCase *tcase = tcase_create("object_size");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_loop_test(tcase, sizes_are_those_of_binutils, 0, sizeof machines / sizeof *machines);
    tcase_add_test(tcase, what_is_no_object_is_an_error);
    tcase_add_loop_test(tcase, a_damaged_object_is_survived, 0, 2);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
