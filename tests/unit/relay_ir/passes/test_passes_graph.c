#include <check.h>
#include <stdlib.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

static const struct pass_case fold_constant_rows[] = {
    /* arithmetic and shapes; views share the payload */
    { NULL,
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  const @a : (2) f32 = [1, 2]\n"
      "  const @i : () i64 = [1]\n"
      "  %n = negative(@a) : (2) f32 from Neg #0\n"
      "  %r = reshape(%n) {shape=[1,2]} : (1,2) f32\n"
      "  %s, %t = split(%r) {axis=1, sizes=[1,1]} : (1,1) f32, (1,1) f32\n"
      "  %g = take(%n, @i) {axis=0} : () f32\n"
      "  %u = add(%x, %g) : (2) f32\n"
      "  %z = add(%u, %t) : (1,2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  const @t : (1,1) f32 = crc32:00000000\n"
      "  const @g : () f32 = crc32:00000000\n"
      "  %u = add(%x, @g) : (2) f32\n"
      "  %z = add(%u, @t) : (1,2) f32\n"
      "}\n" },

    /* what is small stays small */
    { NULL,
      "fn main(%x: (200,200) f32) -> (%z) {\n"
      "  const @a : (1) f32 = [1]\n"
      "  const @b : (300) f32 = [2, ...]\n"
      "  %big = broadcast_to(@a) {shape=[200,200]} : (200,200) f32\n"
      "  %small = broadcast_to(@a) {shape=[20,20]} : (20,20) f32\n"
      "  %pair = concatenate(@b, @b) {axis=0} : (600) f32\n"
      "  %q = add(%x, %big) : (200,200) f32\n"
      "  %m = sum(%small) {axis=[0,1], keepdims=false} : () f32\n"
      "  %k = sum(%pair) {axis=[0], keepdims=false} : () f32\n"
      "  %y = multiply(%q, %m) : (200,200) f32\n"
      "  %z = multiply(%y, %k) : (200,200) f32\n"
      "}\n",
      "fn main(%x: (200,200) f32) -> (%z) {\n"
      "  const @a : (1) f32 = crc32:00000000\n"
      "  const @m : () f32 = crc32:00000000\n"
      "  const @k : () f32 = crc32:00000000\n"
      "  %big = broadcast_to(@a) {shape=[200,200]} : (200,200) f32\n"
      "  %q = add(%x, %big) : (200,200) f32\n"
      "  %y = multiply(%q, @m) : (200,200) f32\n"
      "  %z = multiply(%y, @k) : (200,200) f32\n"
      "}\n" },
};

START_TEST(what_is_known_is_computed)
{
    pass_case_check("fold_constant", &fold_constant_rows[_i]);
}
END_TEST

static const struct pass_case dead_code_rows[] = {
    /* chains and unread outputs */
    { NULL,
      "fn main(%x: (4) f32) -> (%a) {\n"
      "  const @c : (4) f32 = [1, 2, 3, 4]\n"
      "  %a, %b = split(%x) {axis=0, sizes=[2,2]} : (2) f32, (2) f32\n"
      "  %u = exp(%b) : (2) f32\n"
      "  %v = tanh(%u) : (2) f32\n"
      "  %w = add(%x, @c) : (4) f32\n"
      "}\n",
      "fn main(%x: (4) f32) -> (%a) {\n"
      "  %a, %b = split(%x) {axis=0, sizes=[2,2]} : (2) f32, (2) f32\n"
      "}\n" },
};

START_TEST(what_no_result_needs_goes)
{
    pass_case_check("dead_code", &dead_code_rows[_i]);
}
END_TEST

static const struct pass_case common_subexpr_rows[] = {
    /* equal nodes, and nodes that become equal; origins are joined */
    { NULL,
      "fn main(%x: (4) f32) -> (%z) {\n"
      "  const @c : (4) f32 = [1, 2, 3, 4]\n"
      "  const @d : (4) f32 = [1, 2, 3, 4]\n"
      "  %a = add(%x, @c) : (4) f32 from Add \"a\" #0\n"
      "  %b = add(%x, @d) : (4) f32 from Add \"b\" #1\n"
      "  %e = exp(%a) : (4) f32 from Exp #2\n"
      "  %f = exp(%b) : (4) f32 from Exp #3\n"
      "  %z = multiply(%e, %f) : (4) f32\n"
      "}\n",
      "fn main(%x: (4) f32) -> (%z) {\n"
      "  const @c : (4) f32 = crc32:00000000\n"
      "  %a = add(%x, @c) : (4) f32  from Add \"a\" #0 + Add \"b\" #1\n"
      "  %e = exp(%a) : (4) f32  from Exp #2 + Exp #3\n"
      "  %z = multiply(%e, %e) : (4) f32\n"
      "}\n" },

    /* other attributes, other operators, other constants */
    { NULL,
      "fn main(%x: (4) f32) -> (%s) {\n"
      "  const @c : (4) f32 = [1, 2, 3, 4]\n"
      "  const @d : (4) f32 = [1, 2, 3, 5]\n"
      "  %a = clip(%x) {a_min=0, a_max=1} : (4) f32\n"
      "  %b = clip(%x) {a_min=-0.5, a_max=1} : (4) f32\n"
      "  %e = add(%a, @c) : (4) f32\n"
      "  %f = add(%a, @d) : (4) f32\n"
      "  %g = multiply(%e, %f) : (4) f32\n"
      "  %s = multiply(%g, %b) : (4) f32\n"
      "}\n",
      "fn main(%x: (4) f32) -> (%s) {\n"
      "  const @c : (4) f32 = crc32:00000000\n"
      "  const @d : (4) f32 = crc32:00000000\n"
      "  %a = clip(%x) {a_min=0, a_max=1} : (4) f32\n"
      "  %b = clip(%x) {a_min=-0.5, a_max=1} : (4) f32\n"
      "  %e = add(%a, @c) : (4) f32\n"
      "  %f = add(%a, @d) : (4) f32\n"
      "  %g = multiply(%e, %f) : (4) f32\n"
      "  %s = multiply(%g, %b) : (4) f32\n"
      "}\n" },

    /* outputs of a node with several, and equal results */
    { NULL,
      "fn main(%x: (4) f32) -> (%p, %q) {\n"
      "  %a, %b = split(%x) {axis=0, sizes=[1,3]} : (1) f32, (3) f32\n"
      "  %c, %d = split(%x) {axis=0, sizes=[1,3]} : (1) f32, (3) f32\n"
      "  %p = add(%a, %d) : (3) f32\n"
      "  %q = add(%c, %b) : (3) f32\n"
      "}\n",
      "fn main(%x: (4) f32) -> (%p, %p as \"q\") {\n"
      "  %a, %b = split(%x) {axis=0, sizes=[1,3]} : (1) f32, (3) f32\n"
      "  %p = add(%a, %b) : (3) f32\n"
      "}\n" },

    /* 0 and -0 are different constants */
    { NULL,
      "fn main(%x: (1) f32) -> (%p, %q) {\n"
      "  const @z : (1) f32 = [0]\n"
      "  const @n : (1) f32 = [-0]\n"
      "  %p = divide(%x, @z) : (1) f32\n"
      "  %q = divide(%x, @n) : (1) f32\n"
      "}\n",
      "fn main(%x: (1) f32) -> (%p, %q) {\n"
      "  const @z : (1) f32 = crc32:00000000\n"
      "  const @n : (1) f32 = crc32:00000000\n"
      "  %p = divide(%x, @z) : (1) f32\n"
      "  %q = divide(%x, @n) : (1) f32\n"
      "}\n" },
};

START_TEST(what_is_equal_is_computed_once)
{
    pass_case_check("common_subexpr", &common_subexpr_rows[_i]);
}
END_TEST

START_TEST(an_index_out_of_range_is_reported_when_it_is_folded)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module =
        graph_parse(ctx,
                    "fn main(%x: (1) f32) -> (%z) {\n"
                    "  const @a : (2) f32 = [1, 2]\n"
                    "  const @i : (1) i64 = [7]\n"
                    "  %t = take(@a, @i) {axis=0} : (1) f32 from Gather \"g\" #0\n"
                    "  %z = add(%x, %t) : (1) f32\n"
                    "}\n",
                    1);

    ck_assert(!pipeline_run_one(module, "fold_constant"));
    ck_assert_int_gt(ctx->diags.n_errors, 0);
    ck_assert_str_eq(ctx->diags.first->origin->name, "g");
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* infer_type is asked after something changed behind its back, as --shape does to parameters. */
START_TEST(types_follow_a_changed_parameter)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx,
                                        "fn main(%x: (2,3) f32) -> (%z) {\n"
                                        "  %y = nn.relu(%x) : (2,3) f32\n"
                                        "  %z = transpose(%y) {axes=[1,0]} : (3,2) f32\n"
                                        "}\n",
                                        1);

    module->main->params[0]->type.dim[0] = 5;
    ck_assert(pipeline_find("infer_type")->run(module));
    ck_assert_int_eq(module->main->ret->inputs[0]->type.dim[1], 5);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(every_node_whose_type_does_not_fit_is_reported)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx,
                                        "fn main(%x: (2) f32, %u: (2) f32) -> (%y, %z) {\n"
                                        "  %y = add(%x, %u) : (2) f32  from Add \"a\" #0\n"
                                        "  %z = multiply(%x, %u) : (2) f32  from Mul \"b\" #1\n"
                                        "}\n",
                                        1);

    module->main->params[0]->type.dim[0] = 5;
    ck_assert(!pipeline_run_one(module, "infer_type"));
    ck_assert_int_eq(ctx->diags.n_errors, 2);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* They agree in their first bytes, which is all that most constants are asked for. */
START_TEST(big_constants_are_unified_only_if_all_their_bytes_agree)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = module_new(ctx);
    struct function *fn = module->main;
    const struct type type = type_make(DTYPE_F32, 1, (int64_t[]){ 1000 });
    struct value *constants[3], *sums[3], *x = param_new(fn, "x", &type);

    for (int i = 0; i < 3; i++) {
        float *data = constant_alloc(fn, &type);

        data[999] = i == 1 ? 2 : 1;
        constants[i] = constant_new(fn, "c", &type, data);
        sums[i] =
            build(fn, OP_ADD, NULL, "sum", NULL, NULL, 2, (struct value *[]){ x, constants[i] });
        result_add(fn, sums[i], "sum");
    }
    ck_assert(pipeline_run_one(module, "common_subexpr"));
    ck_assert_ptr_eq(fn->ret->inputs[2], fn->ret->inputs[0]);
    ck_assert_ptr_ne(fn->ret->inputs[1], fn->ret->inputs[0]);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(a_long_chain_that_becomes_one_node_keeps_some_of_its_origins)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = module_new(ctx);
    struct function *fn = module->main;
    const struct type type = type_make(DTYPE_F32, 1, (int64_t[]){ 6 });
    struct value *x = param_new(fn, "x", &type);
    int n = 0;

    for (int i = 0; i < 3001; i++) {
        struct origin *origin = arena_new(&ctx->perm, struct origin);
        union attrs attrs = { .shape = { .shape = { 2, { 2 + i % 2, 3 - i % 2 } } } };

        *origin = (struct origin){ .name = "", .op_type = "Reshape", .index = i };
        x = build(fn, OP_RESHAPE, &attrs, "r", origin, NULL, 1, &x);
    }
    result_add(fn, x, "r");
    ck_assert(pipeline_run_one(module, "canonicalize"));
    ck_assert_ptr_eq(fn->first, fn->last);
    ck_assert_int_eq(fn->first->origin->index, 0);
    for (const struct origin *origin = fn->first->origin; origin; origin = origin->next)
        n++;
    ck_assert_int_eq(n, 100);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("passes");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, what_is_known_is_computed, 0, N_ROWS(fold_constant_rows));
    tcase_add_loop_test(tests, what_no_result_needs_goes, 0, N_ROWS(dead_code_rows));
    tcase_add_loop_test(tests, what_is_equal_is_computed_once, 0, N_ROWS(common_subexpr_rows));
    tcase_add_test(tests, an_index_out_of_range_is_reported_when_it_is_folded);
    tcase_add_test(tests, big_constants_are_unified_only_if_all_their_bytes_agree);
    tcase_add_test(tests, a_long_chain_that_becomes_one_node_keeps_some_of_its_origins);
    tcase_add_test(tests, types_follow_a_changed_parameter);
    tcase_add_test(tests, every_node_whose_type_does_not_fit_is_reported);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
