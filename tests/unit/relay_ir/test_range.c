/* What integers a value may have, by its type and what computes it. */
#include "relay_ir/range.h"

#include <check.h>
#include <stdlib.h>

#include "tests/support/graph.h"

static const char params[] = "%b: (3) i8, %n: () i32, %m: () i32, %f: (4,9) f32, %c: () bool";
static const char constants[] = "  const @two : () i32 = [2]\n  const @nine : () i32 = [9]\n  "
                                "const @row : (3) i32 = [4,-1,7]\n";

static const struct {
    const char *body;
    double low, high;
} cases[] = {
    { "%y = abs(%b)\n", -128, 127 },
    { "%w = cast(%b) {dtype=i32, saturate=true}\n%y = add(%w, @row)\n", -129, 134 },
    { "%w = cast(%b) {dtype=i32, saturate=true}\n%y = subtract(@row, %w)\n", -128, 135 },
    { "%w = cast(%b) {dtype=i32, saturate=true}\n%y = multiply(%w, @row)\n", -896, 889 },
    { "%w = cast(%b) {dtype=i32, saturate=true}\n%y = negative(%w)\n", -127, 128 },
    { "%y = negative(%b)\n", -128, 127 }, /* it wraps around */
    { "%y = add(%n, @two)\n", -2147483648.0, 2147483647.0 },
    { "%y = minimum(%n, @nine)\n", -2147483648.0, 9 },
    { "%a = minimum(%n, @nine)\n%y = maximum(%a, @two)\n", 2, 9 },
    { "%y = clip(%b) {a_min=-inf, a_max=60}\n", -128, 60 },
    { "%y = cast(%f) {dtype=i32, saturate=true}\n", -2147483648.0, 2147483647.0 },
    { "%y = argmax(%f) {axis=1, keepdims=false, select_last_index=false}\n", 0, 8 },
    { "%y = if(%c, @two, @nine)\n", 2, 9 },
    { "%y = where(%c, @row, @nine)\n", -1, 9 },
    { "%y = reshape(@row) {shape=[1,3]}\n", -1, 7 },
    { "%y = less(@two, @nine)\n", 1, 1 },
    { "%y = less(@nine, @row)\n", 0, 0 },
    { "%y = less(@two, @row)\n", 0, 1 },
    { "%a = minimum(%n, @two)\n%y = greater_equal(%a, @nine)\n", 0, 0 },
    { "%a = minimum(%n, @two)\n%y = less_equal(%a, @two)\n", 1, 1 },
    { "%a = minimum(%n, @two)\n%y = not_equal(%a, @nine)\n", 1, 1 },
    { "%a = minimum(%n, @two)\n%y = equal(%a, @nine)\n", 0, 0 },
    { "%y = equal(%n, %n)\n", 0, 1 },
    { "%a = less(@nine, @two)\n%y = logical_and(%c, %a)\n", 0, 0 },
    { "%a = less(@nine, @two)\n%y = logical_or(%c, %a)\n", 0, 1 },
    { "%a = less(@nine, @two)\n%y = logical_not(%a)\n", 1, 1 },
};

static struct module *parsed(struct ctx *ctx, const char *body)
{
    return graph_parse(ctx,
                       arena_printf(&ctx->perm,
                                    "module opset 17\n\nfn main(%s) -> (%%y) {\n%s%s}\n", params,
                                    constants, body),
                       1);
}

START_TEST(a_value_is_within_its_range)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = parsed(ctx, cases[_i].body);
    struct range range;

    ck_assert(range_of_value(module->main->ret->inputs[0], NULL, &range));
    ck_assert_double_eq((double)range.low, cases[_i].low);
    ck_assert_double_eq((double)range.high, cases[_i].high);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(floats_have_no_range)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = parsed(ctx, "%y = exp(%f)\n");
    struct range range;

    ck_assert(!range_of_value(module->main->ret->inputs[0], NULL, &range));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* An `if` of what is taken to be true is its first side. */
START_TEST(a_premise_decides)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = parsed(ctx, "%y = if(%c, @two, @nine)\n");
    struct premise premise = { .truths = { .arena = &ctx->perm } };
    const struct value *y = module->main->ret->inputs[0];
    struct range range;

    premise_add(&premise, y->def->inputs[1]);
    ck_assert(range_of_value(y, &premise, &range));
    ck_assert(range.high == 9);
    premise_add(&premise, y->def->inputs[0]);
    ck_assert(range_of_value(y, &premise, &range));
    ck_assert(range.low == 2 && range.high == 2);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

static const struct {
    const char *body;
    double distance;
} conditions[] = {
    { "%a = minimum(%n, @nine)\n%y = less(@two, %a)\n", 7 },
    { "%a = minimum(%n, @nine)\n%y = less_equal(@two, %a)\n", 8 },
    { "%a = minimum(%n, @nine)\n%y = greater(%a, @two)\n", 7 },
    { "%a = minimum(%n, @nine)\n%y = greater_equal(%a, @two)\n", 8 },
    { "%a = minimum(%n, @two)\n%y = less(@nine, %a)\n", 0 },
    { "%a = minimum(%n, @nine)\n%l = less(@two, %a)\n%v = logical_and(%c, %l)\n"
      "%y = reshape(%v) {shape=[1]}\n",
      7 },
    { "%a = minimum(%n, @nine)\n%l = less(@two, %a)\n%k = less(%n, %m)\n%y = logical_and(%k, %l)\n",
      7 },
    { "%y = equal(%n, %m)\n", -1 },
    { "%y = logical_not(%c)\n", -1 },
    { "%y = less(%f, %f)\n", -1 },
};

START_TEST(comparisons_are_so_far_from_false)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = parsed(ctx, conditions[_i].body);

    ck_assert_double_eq((double)range_to_false(module->main->ret->inputs[0], NULL),
                        conditions[_i].distance);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("range");
    TCase *tcase = tcase_create("range");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, a_value_is_within_its_range, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(tcase, floats_have_no_range);
    tcase_add_test(tcase, a_premise_decides);
    tcase_add_loop_test(tcase, comparisons_are_so_far_from_false, 0,
                        (int)(sizeof conditions / sizeof *conditions));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
