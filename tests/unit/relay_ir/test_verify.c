#include "relay_ir/verify.h"

#include <check.h>
#include <stdlib.h>

#include "tests/support/expect.h"
#include "tests/support/op_case.h"

/* A graph with one of everything, as the tests start from: main(x, z) calls "region", which adds a
 * constant; main has a constant, two nodes and two results. */
static struct ctx *ctx;
static struct module *module;
static struct function *fn, *region;
static struct value *x, *z, *constant, *sum, *scaled, *called;
static struct node *call;

static struct value *apply(struct function *where, enum op op, struct value *a, struct value *b)
{
    return build(where, op, NULL, op_name(op), NULL, NULL, 2, (struct value *[]){ a, b });
}

static struct node *call_of(struct function *from, struct function *callee, struct value *argument)
{
    return node_new(
        from,
        &(struct node_args){
            .op = OP_CALL, .n_inputs = 1, .inputs = &argument, .n_outputs = 1, .callee = callee });
}

static struct value *ones(struct function *where, const struct type *type)
{
    float *data = constant_alloc(where, type);

    data[0] = data[1] = 1;
    return constant_new(where, "ones", type, data);
}

static void begin(void)
{
    const struct type type = type_make(DTYPE_F32, 1, (int64_t[]){ 2 });
    struct value *p;

    ctx = ctx_new(NULL);
    module = module_new(ctx);
    fn = module->main;
    region = function_new(module, "region");
    p = param_new(region, "p", &type);
    result_add(region, apply(region, OP_ADD, p, ones(region, &type)), "r");
    x = param_new(fn, "x", &type);
    z = param_new(fn, "z", &type);
    constant = ones(fn, &type);
    sum = apply(fn, OP_ADD, x, z);
    scaled = apply(fn, OP_MULTIPLY, sum, constant);
    call = call_of(fn, region, scaled);
    called = call->outputs[0];
    result_add(fn, called, "y");
    result_add(fn, x, "same");
}

static void end(void)
{
    module_free(module);
    ctx_free(ctx);
}

/* --- ways to break it ------------------------------------------------------------------------- */

static void break_prev(void)
{
    scaled->def->prev = NULL;
}
static void break_last(void)
{
    fn->last = sum->def;
}
static void break_cycle(void)
{
    call->next = sum->def;
}
static void break_owner(void)
{
    sum->def->fn = region;
}
static void break_op(void)
{
    sum->def->op = OP_COUNT;
}
static void break_return(void)
{
    fn->ret->op = OP_ADD;
}
static void break_kind(void)
{
    constant->kind = VALUE_PARAM;
}
static void break_index(void)
{
    z->index = 0;
}
static void break_def(void)
{
    sum->def = scaled->def;
}
static void break_value_owner(void)
{
    x->fn = region;
}
static void break_twice(void)
{
    scaled->def->outputs[0] = sum;
}
static void break_name(void)
{
    scaled->name = sum->name;
}
static void break_map(void)
{
    map_set(&fn->names, "z", NULL);
}
static void break_dtype(void)
{
    sum->type.dtype = DTYPE_NONE;
}
static void break_rank(void)
{
    sum->type.rank = MAX_RANK + 1;
}
static void break_payload(void)
{
    constant->data = NULL;
}
static void break_alignment(void)
{
    constant->data = (const char *)constant->data + 1;
}
static void break_last_constant(void)
{
    fn->last_constant = NULL;
}
static void break_input_count(void)
{
    sum->def->n_inputs = 1;
}
static void break_missing_input(void)
{
    node_set_input(sum->def, 1, NULL);
}
static void break_missing_result(void)
{
    node_set_input(fn->ret, 1, NULL);
}
static void break_output_count(void)
{
    sum->def->n_outputs = 0;
}
static void break_foreign_input(void)
{
    node_set_input(sum->def, 1, region->params[0]);
}
static void break_order(void)
{
    node_move_before(scaled->def, sum->def);
}
static void break_lost_use(void)
{
    z->uses = NULL;
}
static void break_own_input(void)
{
    node_set_input(sum->def, 1, scaled);
}
static void break_callee(void)
{
    call->callee = NULL;
}
static void break_superfluous_callee(void)
{
    sum->def->callee = region;
}
static void break_swept_callee(void)
{
    module->functions->next = NULL;
}
static void break_types(void)
{
    scaled->type.dim[0] = 3;
}
static void break_shapes(void)
{
    z->type.dim[0] = 3;
}
static void break_result_names(void)
{
    fn->result_names[1] = NULL;
}
static void break_main(void)
{
    module->main = region;
}
static void break_function_names(void)
{
    region->name = "main";
}

static void break_use_twice(void)
{
    struct use *use = arena_new(&module->arena, struct use);

    *use = *z->uses;
    use->next = z->uses;
    z->uses = use;
}

static void break_use_circle(void)
{
    z->uses->next = z->uses;
}

static void break_stale_use(void)
{
    z->uses->input = 0;
}

static void break_use_of_removed_node(void)
{
    struct node *node = sum->def;
    struct value *other = apply(fn, OP_SUBTRACT, x, z);
    struct use *uses = z->uses;

    node_remove(other->def);
    z->uses = uses; /* with the removed node's */
    ck_assert_ptr_eq(node, sum->def);
}

static void break_self_call(void)
{
    call_of(region, region, region->params[0]);
}

static void break_mutual_calls(void)
{
    struct function *other = function_new(module, "other");
    struct value *q = param_new(other, "q", &x->type);

    result_add(other, q, "q");
    call_of(region, other, region->params[0]);
    call_of(other, region, q);
}

static const struct {
    void (*break_it)(void);
    const char *finding;
} findings[] = {
    { break_prev, "its link to the node before is wrong" },
    { break_last, "the link to the last node is wrong" },
    { break_cycle, "its link to the node before is wrong" },
    { break_owner, "the node says that it belongs to another function" },
    { break_op, "a node has operator" },
    { break_return, "it has no return node of its own" },
    { break_kind, "value \"ones\" does not say where it comes from" },
    { break_index, "value \"z\" does not say where it comes from" },
    { break_def, "value \"add\" does not say where it comes from" },
    { break_value_owner, "value \"x\" is in two places, or says it belongs to another function" },
    { break_twice, "value \"add\" does not say where it comes from" },
    { break_name, "the name \"add\" is not that value's in the table of names" },
    { break_map, "the name \"z\" is not that value's in the table of names" },
    { break_dtype, "value \"add\" has no complete type" },
    { break_rank, "value \"add\" has no complete type" },
    { break_payload, "constant \"ones\" has no aligned payload" },
    { break_alignment, "constant \"ones\" has no aligned payload" },
    { break_last_constant, "the link to the last constant is wrong" },
    { break_input_count, "add has 1 inputs" },
    { break_missing_input, "input 1 of add is missing" },
    { break_missing_result, "input 1 of return is missing" },
    { break_output_count, "add has 0 outputs" },
    { break_foreign_input, "input 1, \"p\", is not a value of this function" },
    { break_order, "input 0, \"add\", is read before it is computed" },
    { break_own_input, "input 1, \"multiply\", is read before it is computed" },
    { break_lost_use, "input 1 is listed 0 times among the uses of \"z\"" },
    { break_use_twice, "input 1 is listed 2 times among the uses of \"z\"" },
    { break_use_circle, "the use list of \"z\" has a cycle" },
    { break_stale_use, "\"z\" has a use that is not one" },
    { break_use_of_removed_node, "\"z\" has a use that is not one" },
    { break_callee, "call lacks a callee" },
    { break_superfluous_callee, "add has a callee" },
    { break_swept_callee, "the callee is not a function of this module" },
    { break_self_call, "\"region\" is called recursively" },
    { break_mutual_calls, "\"region\" is called recursively" },
    { break_types, "\"multiply\" has type (3) f32, inference gives (2) f32" },
    { break_shapes, "type inference fails: add: shapes 2 and 3 do not broadcast" },
    { break_result_names, "result 1 has no name" },
    { break_main, "main is not the first function" },
    { break_function_names, "two functions are called \"main\"" },
};

START_TEST(broken_graphs_are_found)
{
    char *message = arena_printf(&ctx->perm, "finding %d", _i);

    findings[_i].break_it();
    ck_assert_msg(!module_verify(module, "some_pass"), "%s", message);
    ck_assert_msg(expect_error(ctx, DIAG_INTERNAL, findings[_i].finding), "%s: %s", message,
                  expect_text(ctx));
    ck_assert_msg(expect_error(ctx, DIAG_INTERNAL, "the graph is broken after some_pass"), "%s",
                  message);
}
END_TEST

START_TEST(sound_graphs_pass)
{
    ck_assert_msg(module_verify(module, "some_pass"), "%s", expect_text(ctx));
    ck_assert_ptr_eq(ctx->diags.first, NULL);
}
END_TEST

START_TEST(earlier_diagnostics_are_kept)
{
    diag_error(ctx, DIAG_USAGE, NULL, "an earlier error");
    ck_assert(module_verify(module, "some_pass"));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    scaled->type.dim[0] = 3;
    ck_assert(!module_verify(module, "some_pass"));
    ck_assert_int_eq(scaled->type.dim[0], 3); /* as it was found */
    ck_assert(expect_error(ctx, DIAG_USAGE, "an earlier error"));
}
END_TEST

START_TEST(all_findings_are_reported)
{
    x->type.dtype = DTYPE_NONE;
    constant->data = NULL;
    region->last = NULL;
    ck_assert(!module_verify(module, "some_pass"));
    ck_assert(expect_error(ctx, DIAG_INTERNAL, "value \"x\" has no complete type"));
    ck_assert(expect_error(ctx, DIAG_INTERNAL, "constant \"ones\" has no aligned payload"));
    ck_assert(expect_error(ctx, DIAG_INTERNAL, "function \"region\": the link to the last node"));
}
END_TEST

START_TEST(an_empty_module_is_sound)
{
    struct module *empty = module_new(ctx);

    ck_assert(module_verify(empty, "nothing"));
    module_free(empty);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verify");
    TCase *tcase = tcase_create("verify");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_loop_test(tcase, broken_graphs_are_found, 0, N_ROWS(findings));
    tcase_add_test(tcase, sound_graphs_pass);
    tcase_add_test(tcase, earlier_diagnostics_are_kept);
    tcase_add_test(tcase, all_findings_are_reported);
    tcase_add_test(tcase, an_empty_module_is_sound);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
