#include <check.h>
#include <stdlib.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

/* As PyTorch writes it, with these numbers. */
#define TANH_GELU(k, s)                                                                            \
    "fn main(%x: (40) f32) -> (%y) {\n"                                                            \
    "  const @k : () f32 = [" k "]\n"                                                              \
    "  const @s : () f32 = [" s "]\n"                                                              \
    "  const @one : () f32 = [1]\n"                                                                \
    "  const @half : () f32 = [0.5]\n"                                                             \
    "  const @three : () f32 = [3]\n"                                                              \
    "  %c = power(%x, @three) : (40) f32\n"                                                        \
    "  %m = multiply(%c, @k) : (40) f32\n"                                                         \
    "  %b = add(%x, %m) : (40) f32\n"                                                              \
    "  %i = multiply(%b, @s) : (40) f32\n"                                                         \
    "  %t = tanh(%i) : (40) f32\n"                                                                 \
    "  %a = add(%t, @one) : (40) f32\n"                                                            \
    "  %h = multiply(%x, @half) : (40) f32\n"                                                      \
    "  %y = multiply(%h, %a) : (40) f32\n"                                                         \
    "}\n"

static const struct pass_case rows[] = {
    /* as PyTorch writes it */
    { "find_gelu_erf",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @r : () f32 = [1.41421354]\n"
      "  const @one : () f32 = [1]\n"
      "  const @half : () f32 = [0.5]\n"
      "  %s = divide(%x, @r) : (40) f32 from Div #0\n"
      "  %e = erf(%s) : (40) f32 from Erf #1\n"
      "  %a = add(%e, @one) : (40) f32 from Add #2\n"
      "  %p = multiply(%x, %a) : (40) f32 from Mul #3\n"
      "  %y = multiply(%p, @half) : (40) f32 from Mul #4\n"
      "}\n",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %y = nn.gelu(%x) {approximate=\"none\"} : (40) f32  from Div #0 + Erf #1 + Add #2 + "
      "Mul #3 + Mul #4\n"
      "}\n" },

    /* the half at x, a product for the quotient */
    { "find_gelu_erf",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @r : () f32 = [0.707106769]\n"
      "  const @one : () f32 = [1]\n"
      "  const @half : () f32 = [0.5]\n"
      "  %s = multiply(%x, @r) : (40) f32 from Div #0\n"
      "  %e = erf(%s) : (40) f32 from Erf #1\n"
      "  %a = add(%e, @one) : (40) f32 from Add #2\n"
      "  %p = multiply(%x, @half) : (40) f32\n"
      "  %y = multiply(%p, %a) : (40) f32\n"
      "}\n",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %y = nn.gelu(%x) {approximate=\"none\"} : (40) f32  from Div #0 + Erf #1 + Add #2\n"
      "}\n" },

    /* the half at the sum */
    { "find_gelu_erf",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @r : () f32 = [1.41421354]\n"
      "  const @one : () f32 = [1]\n"
      "  const @half : () f32 = [0.5]\n"
      "  %s = divide(%x, @r) : (40) f32 from Div #0\n"
      "  %e = erf(%s) : (40) f32 from Erf #1\n"
      "  %a = add(%e, @one) : (40) f32 from Add #2\n"
      "  %p = multiply(%a, @half) : (40) f32\n"
      "  %y = multiply(%x, %p) : (40) f32\n"
      "}\n",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %y = nn.gelu(%x) {approximate=\"none\"} : (40) f32  from Div #0 + Erf #1 + Add #2\n"
      "}\n" },

    /* divided by two */
    { "find_gelu_erf",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @r : () f32 = [1.41421354]\n"
      "  const @one : () f32 = [1]\n"
      "  const @half : () f32 = [2]\n"
      "  %s = divide(%x, @r) : (40) f32 from Div #0\n"
      "  %e = erf(%s) : (40) f32 from Erf #1\n"
      "  %a = add(%e, @one) : (40) f32 from Add #2\n"
      "  %p = multiply(%x, %a) : (40) f32\n"
      "  %y = divide(%p, @half) : (40) f32\n"
      "}\n",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %y = nn.gelu(%x) {approximate=\"none\"} : (40) f32  from Div #0 + Erf #1 + Add #2\n"
      "}\n" },

    /* another scale */
    { "find_gelu_erf",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @r : () f32 = [1.5]\n"
      "  const @one : () f32 = [1]\n"
      "  const @half : () f32 = [0.5]\n"
      "  %s = divide(%x, @r) : (40) f32 from Div #0\n"
      "  %e = erf(%s) : (40) f32 from Erf #1\n"
      "  %a = add(%e, @one) : (40) f32 from Add #2\n"
      "  %p = multiply(%x, %a) : (40) f32 from Mul #3\n"
      "  %y = multiply(%p, @half) : (40) f32 from Mul #4\n"
      "}\n",
      NULL },

    /* no half */
    { "find_gelu_erf",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @r : () f32 = [1.41421354]\n"
      "  const @one : () f32 = [1]\n"
      "  const @half : () f32 = [0.25]\n"
      "  %s = divide(%x, @r) : (40) f32 from Div #0\n"
      "  %e = erf(%s) : (40) f32 from Erf #1\n"
      "  %a = add(%e, @one) : (40) f32 from Add #2\n"
      "  %p = multiply(%x, %a) : (40) f32 from Mul #3\n"
      "  %y = multiply(%p, @half) : (40) f32 from Mul #4\n"
      "}\n",
      NULL },

    /* with the cube */
    { "find_gelu_tanh", TANH_GELU("0.0447149985", "0.797884583"),
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %y = nn.gelu(%x) {approximate=\"tanh\"} : (40) f32\n"
      "}\n" },

    /* with the square factored out */
    { "find_gelu_tanh",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @k : () f32 = [0.0447149985]\n"
      "  const @s : () f32 = [0.797884583]\n"
      "  const @one : () f32 = [1]\n"
      "  const @half : () f32 = [0.5]\n"
      "  const @three : () f32 = [3]\n"
      "  %q = multiply(%x, %x) : (40) f32\n"
      "  %m = multiply(%q, @k) : (40) f32\n"
      "  %b = add(%m, @one) : (40) f32\n"
      "  %u = multiply(%x, @s) : (40) f32\n"
      "  %i = multiply(%u, %b) : (40) f32\n"
      "  %t = tanh(%i) : (40) f32\n"
      "  %a = add(%t, @one) : (40) f32\n"
      "  %h = multiply(%x, @half) : (40) f32\n"
      "  %y = multiply(%h, %a) : (40) f32\n"
      "}\n",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %y = nn.gelu(%x) {approximate=\"tanh\"} : (40) f32\n"
      "}\n" },

    /* another coefficient */
    { "find_gelu_tanh", TANH_GELU("0.05", "0.797884583"), NULL },

    /* product first */
    { "find_hard_swish",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @three : () f32 = [3]\n"
      "  const @six : () f32 = [6]\n"
      "  %a = add(%x, @three) : (40) f32\n"
      "  %c = clip(%a) {a_min=0, a_max=6} : (40) f32\n"
      "  %p = multiply(%x, %c) : (40) f32\n"
      "  %y = divide(%p, @six) : (40) f32\n"
      "}\n",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %y = nn.hard_swish(%x) : (40) f32\n"
      "}\n" },

    /* quotient first: a hard_sigmoid on the way */
    { "find_hard_swish",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @three : () f32 = [3]\n"
      "  const @six : () f32 = [6]\n"
      "  %a = add(%x, @three) : (40) f32\n"
      "  %c = clip(%a) {a_min=0, a_max=6} : (40) f32\n"
      "  %p = divide(%c, @six) : (40) f32\n"
      "  %y = multiply(%x, %p) : (40) f32\n"
      "}\n",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %y = nn.hard_swish(%x) : (40) f32\n"
      "}\n" },

    /* clipped elsewhere */
    { "find_hard_swish",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @three : () f32 = [3]\n"
      "  const @six : () f32 = [6]\n"
      "  %a = add(%x, @three) : (40) f32\n"
      "  %c = clip(%a) {a_min=0, a_max=7} : (40) f32\n"
      "  %p = multiply(%x, %c) : (40) f32\n"
      "  %y = divide(%p, @six) : (40) f32\n"
      "}\n",
      NULL },

    /* alone */
    { "find_hard_sigmoid",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @three : () f32 = [3]\n"
      "  const @six : () f32 = [6]\n"
      "  %a = add(%x, @three) : (40) f32\n"
      "  %c = clip(%a) {a_min=0, a_max=6} : (40) f32\n"
      "  %y = divide(%c, @six) : (40) f32\n"
      "}\n",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %y = nn.hard_sigmoid(%x) {alpha=0.16666666666666666, beta=0.5} : (40) f32\n"
      "}\n" },

    /* clipped elsewhere */
    { "find_hard_sigmoid",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @three : () f32 = [3]\n"
      "  const @six : () f32 = [6]\n"
      "  %a = add(%x, @three) : (40) f32\n"
      "  %c = clip(%a) {a_min=0, a_max=5} : (40) f32\n"
      "  %y = divide(%c, @six) : (40) f32\n"
      "}\n",
      NULL },

    /* the product */
    { "find_silu",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %s = sigmoid(%x) : (40) f32 from Sigmoid #0\n"
      "  %y = multiply(%s, %x) : (40) f32 from Mul #1\n"
      "}\n",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %y = nn.silu(%x) : (40) f32  from Sigmoid #0 + Mul #1\n"
      "}\n" },

    /* of two things */
    { "find_silu",
      "fn main(%x: (40) f32, %z: (40) f32) -> (%y) {\n"
      "  %s = sigmoid(%x) : (40) f32\n"
      "  %y = multiply(%s, %z) : (40) f32\n"
      "}\n",
      NULL },

    /* the product */
    { "find_mish",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %s = nn.softplus(%x) : (40) f32\n"
      "  %t = tanh(%s) : (40) f32\n"
      "  %y = multiply(%x, %t) : (40) f32\n"
      "}\n",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %y = nn.mish(%x) : (40) f32\n"
      "}\n" },

    /* the quotient */
    { "find_softsign",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @one : () f32 = [1]\n"
      "  %m = abs(%x) : (40) f32\n"
      "  %a = add(%m, @one) : (40) f32\n"
      "  %y = divide(%x, %a) : (40) f32\n"
      "}\n",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  %y = nn.softsign(%x) : (40) f32\n"
      "}\n" },

    /* one more than one */
    { "find_softsign",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @two : () f32 = [2]\n"
      "  %m = abs(%x) : (40) f32\n"
      "  %a = add(%m, @two) : (40) f32\n"
      "  %y = divide(%x, %a) : (40) f32\n"
      "}\n",
      NULL },

    /* as quotient and as reciprocal */
    { "find_sigmoid",
      "fn main(%x: (40) f32) -> (%y, %z) {\n"
      "  const @one : () f32 = [1]\n"
      "  %m = negative(%x) : (40) f32\n"
      "  %e = exp(%m) : (40) f32\n"
      "  %a = add(%e, @one) : (40) f32\n"
      "  %y = divide(@one, %a) : (40) f32\n"
      "  %z = reciprocal(%a) : (40) f32\n"
      "}\n",
      "fn main(%x: (40) f32) -> (%y, %z) {\n"
      "  %y = sigmoid(%x) : (40) f32\n"
      "  %z = sigmoid(%x) : (40) f32\n"
      "}\n" },

    /* of minus x */
    { "find_sigmoid",
      "fn main(%x: (40) f32) -> (%y) {\n"
      "  const @one : () f32 = [1]\n"
      "  %e = exp(%x) : (40) f32\n"
      "  %a = add(%e, @one) : (40) f32\n"
      "  %y = divide(@one, %a) : (40) f32\n"
      "}\n",
      NULL },

    /* the square */
    { "power_to_multiply",
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  const @c : () f32 = [2]\n"
      "  %y = power(%x, @c) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  %y = multiply(%x, %x) : (2) f32\n"
      "}\n" },

    /* the square root treats infinity otherwise */
    { "power_to_multiply",
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  const @c : () f32 = [0.5]\n"
      "  %y = power(%x, @c) : (2) f32\n"
      "}\n",
      NULL },
};

START_TEST(definitions_become_activations)
{
    pass_case_check("simplify_expr", &rows[_i]);
}
END_TEST

/* Of a model of f16: its numbers are rounded, and so is one that is divided by. */
static const char *const rounded_gelus[] = {
    TANH_GELU("0.044708252", "0.7978515625"),
    "fn main(%x: (40) f32) -> (%y) {\n"
    "  const @root : () f32 = [1.4140625]\n"
    "  const @one : () f32 = [1]\n"
    "  const @half : () f32 = [0.5]\n"
    "  %d = divide(%x, @root) : (40) f32\n"
    "  %e = erf(%d) : (40) f32\n"
    "  %a = add(%e, @one) : (40) f32\n"
    "  %m = multiply(%x, %a) : (40) f32\n"
    "  %y = multiply(%m, @half) : (40) f32\n"
    "}\n",
};

START_TEST(definitions_in_halves_become_activations)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, rounded_gelus[_i], 1);
    struct bulk bulk = { NULL, 0 };
    struct tensor *before = graph_run(module, 2, &bulk), *after;

    ck_assert(pipeline_find("simplify_expr")->run(module)); /* further than f32 rounds */
    ck_assert(module->main->first == module->main->last);
    ck_assert(module->main->first->op == OP_GELU);
    after = graph_run(module, 2, &bulk);
    ck_assert_double_lt(graph_difference(after, before, 1),
                        5e-5); /* a tenth of a step of f16 at 1 */
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(every_rule_has_a_row)
{
    int n;
    const struct rule *rules = simplify_expr_rules(&n);

    pass_case_coverage(rules, n, "find_gelu_erf", "power_to_multiply", rows, N_ROWS(rows));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simplify_expr");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, definitions_become_activations, 0, N_ROWS(rows));
    tcase_add_loop_test(tests, definitions_in_halves_become_activations, 0, N_ROWS(rounded_gelus));
    tcase_add_test(tests, every_rule_has_a_row);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
