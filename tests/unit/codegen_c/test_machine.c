/* The table of machines: what --target names, and what depends on its order. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/machine/machine.h"

START_TEST(rows_make_sense)
{
    const struct machine *m = &machines[_i];

    for (int i = 0; i < _i; i++)
        ck_assert_str_ne(machines[i].name, m->name);
    ck_assert_str_ne(m->name, "host");
    ck_assert_str_ne(m->name, "help");
    ck_assert_int_eq(m->lanes == 0, m->arch == ARCH_ANY);
    ck_assert_int_eq(m->lanes & (m->lanes - 1), 0);
    ck_assert(m->fpu || (m->lanes == 1 && m->registers == 0 && !m->fma));
    ck_assert(m->arch == ARCH_ANY || *m->flags);
    ck_assert(m->l2_bytes == 0 || m->l2_bytes > m->l1_bytes);
    /* The tile and one column of its operand stay in registers. */
    if (m->registers)
        ck_assert_int_le(m->tile_vectors * m->tile_columns + m->tile_vectors, m->registers);
}
END_TEST

START_TEST(the_first_row_is_generic)
{
    ck_assert_str_eq(machines[0].name, "generic");
    ck_assert_int_eq(machines[0].arch, ARCH_ANY);
}
END_TEST

START_TEST(every_name_is_found)
{
    struct ctx *ctx = ctx_new(NULL);

    for (size_t i = 0; i < n_machines; i++)
        ck_assert_ptr_eq(machine_find(ctx, machines[i].name), &machines[i]);
    ck_assert_ptr_eq(machine_find(ctx, "host"), machine_host());
    ck_assert_int_eq(ctx->diags.n_errors, 0);
    ctx_free(ctx);
}
END_TEST

START_TEST(an_unknown_name_is_an_error_with_the_list)
{
    struct ctx *ctx = ctx_new(NULL);

    ck_assert_ptr_null(machine_find(ctx, "cortex-m44"));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert_ptr_nonnull(strstr(ctx->diags.latest->help, "did you mean cortex-m4?"));
    for (size_t i = 0; i < n_machines; i++)
        ck_assert_ptr_nonnull(strstr(ctx->diags.latest->help, machines[i].name));
    ctx_free(ctx);
}
END_TEST

START_TEST(only_what_this_machine_can_run_has_flags_here)
{
    const struct machine *host = machine_host();

    ck_assert_str_eq(machine_flags_here(host), host->flags);
    for (size_t i = 0; i < n_machines; i++) {
        const struct machine *machine = &machines[i];
        const char *flags = machine_flags_here(machine);

        ck_assert(!*flags || strcmp(flags, machine->flags) == 0);
        if (machine->arch != host->arch || machine->lanes > host->lanes)
            ck_assert_str_eq(flags, "");
#if defined __x86_64__
        if (machine->arch == host->arch && machine->bf16)
            ck_assert(!*flags == !__builtin_cpu_supports("avx512bf16"));
#endif
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("machine");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_add_loop_test(tests, rows_make_sense, 0, (int)n_machines);
    tcase_add_test(tests, the_first_row_is_generic);
    tcase_add_test(tests, every_name_is_found);
    tcase_add_test(tests, an_unknown_name_is_an_error_with_the_list);
    tcase_add_test(tests, only_what_this_machine_can_run_has_flags_here);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
