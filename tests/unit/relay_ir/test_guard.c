/* What need not be computed, and the order that guards ask for. */
#include "relay_ir/guard.h"

#include <check.h>
#include <stdlib.h>

#include "base/str.h"
#include "relay_ir/order.h"
#include "tests/support/graph.h"

/* "name: c !d", a line for each guarded node, by its first output. */
static const char *guards_text(struct ctx *ctx, const struct function *fn)
{
    const struct guards *guards = guards_find(&ctx->perm, fn);
    struct str out = { .arena = &ctx->perm };

    for (const struct node *node = fn->first; guards && node; node = node->next) {
        const struct guards *of = &guards[node->id];

        if (of->n == 0)
            continue;
        str_printf(&out, "%s:", node->outputs[0]->name);
        for (int i = 0; i < of->n; i++)
            str_printf(&out, " %s%s", of->at[i].when ? "" : "!", of->at[i].condition->name);
        str_add(&out, "\n");
    }
    return out.n ? str_text(&out) : "";
}

static const struct {
    const char *params, *body, *guards;
} cases[] = {
    { "%c: () bool, %x: (2) f32", "%a = exp(%x)\n%b = abs(%x)\n%y = if(%c, %a, %b)\n",
      "a: c\nb: !c\n" },
    /* read by both sides, by a condition, as a result: always */
    { "%c: () bool, %x: (2) f32", "%a = exp(%x)\n%b = abs(%a)\n%y = if(%c, %a, %b)\n", "b: !c\n" },
    { "%x: (2) f32, %z: () f32",
      "%a = exp(%z)\n%c = greater(%a, %z)\n%b = add(%x, %a)\n%y = if(%c, %b, %x)\n", "b: c\n" },
    /* far from the join, and through a view */
    { "%c: (1) bool, %x: (2) f32",
      "%n = reshape(%c) {shape=[]}\n%a = exp(%x)\n%b = abs(%a)\n%v = reshape(%b) {shape=[2]}\n"
      "%y = if(%n, %v, %x)\n",
      "a: c\nb: c\nv: c\n" },
    /* the inner condition is computed where the outer one wants it */
    { "%c: () bool, %x: (2) f32, %z: () f32",
      "%s = sigmoid(%z)\n%d = greater(%s, %z)\n%a = exp(%x)\n%b = abs(%x)\n%i = if(%d, %a, %b)\n"
      "%y = if(%c, %i, %x)\n",
      "s: c\nd: c\na: c d\nb: c !d\ni: c\n" },
    /* what two joins demand in common */
    { "%c: () bool, %d: () bool, %x: (2) f32",
      "%a = exp(%x)\n%i = if(%c, %a, %x)\n%j = if(%d, %a, %i)\n%y = if(%c, %j, %x)\n",
      "a: c\ni: c !d\nj: c\n" },
    { "%x: (2) f32", "%y = exp(%x)\n", "" },
};

static struct module *parsed(struct ctx *ctx, int i)
{
    struct module *module =
        graph_parse(ctx,
                    arena_printf(&ctx->perm, "module opset 17\n\nfn main(%s) -> (%%y) {\n%s}\n",
                                 cases[i].params, cases[i].body),
                    1);

    function_number(module->main);
    return module;
}

START_TEST(what_one_side_reads_is_guarded)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = parsed(ctx, _i);

    ck_assert_str_eq(guards_text(ctx, module->main), cases[_i].guards);
    ck_assert(module->chooses == (*cases[_i].guards != '\0'));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* What is guarded may stand before its condition, as long as nobody sorts. */
START_TEST(conditions_come_before_what_they_guard)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module =
        graph_parse(ctx,
                    "module opset 17\n\nfn main(%x: (2) f32, %z: () f32) -> (%y) {\n%a = exp(%x)\n"
                    "%s = sigmoid(%z)\n%c = greater(%s, %z)\n%y = if(%c, %a, %x)\n}\n",
                    1);
    struct function *fn = module->main;

    function_number(fn);
    function_sort_guarded(fn, guards_find(&ctx->perm, fn));
    ck_assert_str_eq(fn->first->outputs[0]->name, "s");
    ck_assert_str_eq(fn->first->next->outputs[0]->name, "c");
    ck_assert_str_eq(fn->first->next->next->outputs[0]->name, "a");
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("guard");
    TCase *tcase = tcase_create("guard");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, what_one_side_reads_is_guarded, 0,
                        (int)(sizeof cases / sizeof *cases));
    tcase_add_test(tcase, conditions_come_before_what_they_guard);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
