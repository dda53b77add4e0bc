#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/ir.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static struct ctx *ctx;
static struct module *module;
static struct function *fn;
static struct type vector; /* (2) f32 */

static void setup(void)
{
    ctx = ctx_new(NULL);
    module = module_new(ctx);
    fn = module->main;
    vector = type_make(DTYPE_F32, 1, (const int64_t[]){ 2 });
}

static void teardown(void)
{
    module_free(module);
    ctx_free(ctx);
}

static struct value *constant(const char *name, float first, float second)
{
    float *data = constant_alloc(fn, &vector);

    data[0] = first;
    data[1] = second;
    return constant_new(fn, name, &vector, data);
}

static struct value *apply1(enum op op, const char *name, struct value *x)
{
    return build(fn, op, NULL, name, NULL, NULL, 1, &x);
}

static struct value *apply2(enum op op, const char *name, struct value *x, struct value *y)
{
    return build(fn, op, NULL, name, NULL, NULL, 2, (struct value *[]){ x, y });
}

/* Every input has exactly one use at its value. Returns the number of inputs. */
static int check_uses_of(const struct node *node)
{
    int n = 0;

    for (int i = 0; i < node->n_inputs; i++) {
        int found = 0;

        if (!node->inputs[i])
            continue;
        for (const struct use *use = node->inputs[i]->uses; use; use = use->next)
            found += use->node == node && use->input == i;
        ck_assert_int_eq(found, 1);
        n++;
    }
    return n;
}

static int count_uses(void)
{
    int n = 0;

    for (int i = 0; i < fn->n_params; i++)
        n += value_n_uses(fn->params[i]);
    for (const struct value *v = fn->constants; v; v = v->next)
        n += value_n_uses(v);
    for (const struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            n += value_n_uses(node->outputs[i]);
    return n;
}

/* Inputs and uses agree both ways, and the list of nodes is well linked. */
static void check_chains(void)
{
    const struct node *before = NULL;
    int n = check_uses_of(fn->ret);

    for (const struct node *node = fn->first; node; node = node->next) {
        ck_assert_ptr_eq(node->prev, before);
        before = node;
        n += check_uses_of(node);
        for (int i = 0; i < node->n_outputs; i++)
            ck_assert(node->outputs[i]->def == node && node->outputs[i]->index == i);
    }
    ck_assert_ptr_eq(fn->last, before);
    ck_assert_int_eq(count_uses(), n);
}

static void check_order(const char *want)
{
    struct str order = { .arena = &ctx->perm };

    for (const struct node *node = fn->first; node; node = node->next)
        str_printf(&order, "%s ", node->outputs[0]->name);
    ck_assert_str_eq(str_text(&order), want);
}

START_TEST(building_links_definitions_and_uses)
{
    struct value *x = param_new(fn, "x", &vector), *c = constant("c", 1, 2);
    struct value *sum = apply2(OP_ADD, "sum", x, c),
                 *twice = apply2(OP_MULTIPLY, "twice", sum, sum);

    result_add(fn, twice, "out");
    result_add(fn, sum, "between");
    check_chains();
    check_order("sum twice ");
    ck_assert_int_eq(value_n_uses(sum), 3);
    ck_assert(value_is_result(sum) && value_is_result(twice) && !value_is_result(x));
    ck_assert_ptr_eq(value_only_user(x), sum->def);
    ck_assert_ptr_null(value_only_user(sum));   /* several */
    ck_assert_ptr_null(value_only_user(twice)); /* a result */
    ck_assert_str_eq(fn->result_names[0], "out");
    ck_assert_str_eq(fn->result_names[1], "between");
    ck_assert(type_equal(&twice->type, &vector));
}
END_TEST

START_TEST(inputs_can_be_set_replaced_and_absent)
{
    struct value *x = param_new(fn, "x", &vector), *y = param_new(fn, "y", &vector);
    struct value *sum = apply2(OP_ADD, "sum", x, x), *other = apply1(OP_EXP, "other", sum);

    node_set_input(sum->def, 1, y);
    check_chains();
    ck_assert_int_eq(value_n_uses(x), 1);
    node_set_inputs(sum->def, 3, (struct value *[]){ y, NULL, y });
    check_chains();
    ck_assert_int_eq(value_n_uses(y), 2);
    node_set_inputs(sum->def, 2, sum->def->inputs); /* a prefix of itself */
    check_chains();
    node_set_input(sum->def, 1, x);
    value_replace(y, x);
    check_chains();
    ck_assert_int_eq(value_n_uses(x), 2);
    ck_assert_ptr_null(y->uses);
    value_replace(sum, x);
    check_chains();
    ck_assert_ptr_eq(other->def->inputs[0], x);
}
END_TEST

START_TEST(nodes_can_be_moved_inserted_and_removed)
{
    struct value *x = param_new(fn, "x", &vector);
    struct value *a = apply1(OP_EXP, "a", x), *b = apply1(OP_ABS, "b", x),
                 *c = apply1(OP_COS, "c", x);

    node_move_before(c->def, a->def);
    check_order("c a b ");
    node_move_before(c->def, NULL);
    check_order("a b c ");
    node_move_before(b->def, c->def); /* where it is */
    check_order("a b c ");
    build(fn, OP_SIN, NULL, "d", NULL, b->def, 1, &x);
    check_order("a d b c ");
    check_chains();
    node_remove(fn->first);
    node_remove(c->def);
    check_order("d b ");
    node_remove(b->def);
    node_remove(fn->first);
    check_order("");
    check_chains();
    ck_assert_ptr_null(x->uses);
}
END_TEST

START_TEST(a_node_that_does_not_type_leaves_no_trace)
{
    struct type other = type_make(DTYPE_F32, 1, (const int64_t[]){ 3 });
    struct value *x = param_new(fn, "x", &vector), *y = param_new(fn, "y", &other);

    ck_assert_ptr_null(apply2(OP_ADD, "sum", x, y));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert_ptr_null(fn->first);
    check_chains();
    ck_assert_str_eq(function_unique_name(fn, "sum"), "sum");
}
END_TEST

START_TEST(names_stay_unique_and_become_free)
{
    struct value *x = param_new(fn, "x", &vector), *again = apply1(OP_EXP, "x", x);
    struct value *third = constant("x", 1, 1);

    ck_assert_str_eq(again->name, "x_2");
    ck_assert_str_eq(third->name, "x_3");
    ck_assert_str_eq(apply1(OP_EXP, "", x)->name, "value");
    ck_assert_str_eq(apply1(OP_EXP, "", x)->name, "value_2");
    node_remove(again->def);
    ck_assert_str_eq(apply1(OP_EXP, "x_2", x)->name, "x_2");
}
END_TEST

START_TEST(a_name_used_fifty_thousand_times_takes_no_time)
{
    struct value *x = param_new(fn, "x", &vector);

    for (int i = 0; i < 50000; i++)
        x = apply1(OP_ABS, "same", x);
    ck_assert_str_eq(x->name, "same_50000");
}
END_TEST

START_TEST(a_value_that_supplants_another_takes_its_name)
{
    struct value *x = param_new(fn, "x", &vector), *old = apply1(OP_EXP, "y", x);
    struct value *user = apply1(OP_ABS, "z", old), *new = apply1(OP_COS, "new", x);

    result_add(fn, old, "y");
    value_supplant(old, new);
    check_chains();
    ck_assert_str_eq(new->name, "y");
    ck_assert_str_eq(old->name, "y_2");
    ck_assert_ptr_eq(map_get(&fn->names, "y"), new);
    ck_assert_ptr_eq(map_get(&fn->names, "y_2"), old);
    ck_assert_ptr_null(map_get(&fn->names, "new"));
    ck_assert_ptr_eq(user->def->inputs[0], new);
    ck_assert_ptr_eq(fn->ret->inputs[0], new);
    ck_assert_str_eq(fn->result_names[0], "y");
    node_remove(old->def);
    ck_assert_ptr_eq(map_get(&fn->names, "y"), new);
}
END_TEST

/* The next number of a fixed sequence. */
static unsigned next_random(unsigned n)
{
    static unsigned state = 1;

    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
}

static struct value *any_value(void)
{
    unsigned n = next_random(20);

    for (const struct node *node = fn->first; node; node = node->next)
        if (n-- == 0)
            return node->outputs[0];
    return fn->params[next_random((unsigned)fn->n_params)];
}

/* Order and acyclicity are not kept here: only the chains are looked at. */
static void mutate(void)
{
    struct value *a = any_value(), *b = any_value();

    switch (next_random(8)) {
    case 0: apply2(OP_ADD, "n", a, b); break;
    case 1: apply1(OP_EXP, "n", a); break;
    case 2:
        if (a != b)
            value_replace(a, b);
        break;
    case 3:
        if (a->def && b->def && a != b)
            value_supplant(a, b);
        break;
    case 4:
        if (a->def)
            node_set_input(a->def, 0, b);
        break;
    case 5:
        if (a->def)
            node_set_inputs(a->def, 3, (struct value *[]){ b, NULL, a });
        break;
    case 6:
        if (a->def && b->def && a != b)
            node_move_before(a->def, next_random(2) ? b->def : NULL);
        break;
    default:
        if (a->def && !a->uses)
            node_remove(a->def);
        break;
    }
}

START_TEST(chains_survive_any_sequence_of_changes)
{
    for (int i = 0; i < 3; i++)
        param_new(fn, "p", &vector);
    for (int i = 0; i < 1500; i++) {
        mutate();
        check_chains();
        if (i % 150 == 0)
            result_add(fn, any_value(), "r");
    }
    ck_assert_int_eq(ctx->diags.n_errors, 0);
}
END_TEST

START_TEST(numbering_is_dense_and_in_order)
{
    struct value *x = param_new(fn, "x", &vector), *c = constant("c", 1, 2);
    struct value *a = apply2(OP_ADD, "a", x, c), *b = apply1(OP_EXP, "b", a);

    function_number(fn);
    ck_assert(x->id == 0 && c->id == 1 && a->id == 2 && b->id == 3);
    ck_assert(a->def->id == 0 && b->def->id == 1 && fn->ret->id == 2);
    ck_assert(fn->n_values == 4 && fn->n_nodes == 2);
}
END_TEST

static struct function *identity_region(const char *name)
{
    struct function *region = function_new(module, name);

    result_add(region, param_new(region, "p", &vector), "r");
    return region;
}

static struct value *call(struct function *callee, struct value *x)
{
    const char *name = "call";
    struct node *node = node_new(fn, &(struct node_args){ .op = OP_CALL,
                                                          .n_inputs = 1,
                                                          .inputs = &x,
                                                          .n_outputs = 1,
                                                          .names = &name,
                                                          .callee = callee });

    return node ? node->outputs[0] : NULL;
}

START_TEST(sweeping_drops_what_nobody_reaches)
{
    struct value *x = param_new(fn, "x", &vector), *kept = constant("kept", 1, 2);
    struct value *dead = constant("dead", 3, 4), *last = constant("last", 5, 6);
    struct function *unused = identity_region("unused"), *used = identity_region("used");
    struct value *sum = apply2(OP_ADD, "sum", x, kept);
    const size_t bytes = module->bulk.bytes;

    (void)dead;
    result_add(fn, apply2(OP_ADD, "y", call(used, sum), last), "y");
    module_sweep(module);
    check_chains();
    ck_assert_uint_lt(module->bulk.bytes, bytes);
    ck_assert(((const float *)kept->data)[1] == 2 && ((const float *)last->data)[1] == 6);
    ck_assert(fn->constants == kept && kept->next == last && !last->next);
    ck_assert(module->functions == fn && fn->next == used && !used->next);
    ck_assert_ptr_ne(fn->next, unused);
    ck_assert_str_eq(constant("dead", 7, 8)->name, "dead"); /* the name is free again */
    ck_assert_str_eq(last->next->name, "dead");
    ck_assert_ptr_eq(function_new(module, "later"), used->next);
}
END_TEST

START_TEST(a_call_must_fit_its_callee)
{
    struct type other = type_make(DTYPE_F32, 1, (const int64_t[]){ 3 });
    struct function *region = identity_region("region");

    ck_assert(type_equal(&call(region, param_new(fn, "x", &vector))->type, &vector));
    ck_assert_ptr_null(call(region, param_new(fn, "y", &other)));
    ck_assert_str_eq(ctx->diags.first->message,
                     "call of region: argument 0 is (3) f32, expected (2) f32");
    param_new(region, "second", &vector);
    ck_assert_ptr_null(call(region, fn->params[0]));
    ck_assert_ptr_nonnull(strstr(ctx->diags.last->message, "with 1 arguments for 1 results"));
}
END_TEST

static const struct {
    enum dtype dtype;
    union {
        float f32[2];
        int64_t i64[2];
        uint64_t u64[2];
        uint8_t bytes[16];
    } data;
    bool uniform;
    double number;
} uniforms[] = {
    { DTYPE_F32, { .f32 = { 0.5F, 0.5F } }, true, 0.5 },
    { DTYPE_F32, { .f32 = { 0.5F, 0.25F } }, false, 0 },
    { DTYPE_F32, { .f32 = { NAN, NAN } }, false, 0 },
    { DTYPE_I64, { .i64 = { -7, -7 } }, true, -7 },
    { DTYPE_I64, { .i64 = { 9007199254740992, 9007199254740992 } }, true, 9007199254740992.0 },
    { DTYPE_I64, { .i64 = { 9007199254740992, 9007199254740993 } }, false, 0 },
    { DTYPE_I64,
      { .i64 = { 9007199254740993, 9007199254740993 } },
      false,
      0 }, /* no double is it */
    { DTYPE_U64, { .u64 = { UINT64_MAX, UINT64_MAX } }, false, 0 },
    { DTYPE_BOOL, { .bytes = { 1, 1 } }, true, 1 },
    { DTYPE_F8E4M3, { .bytes = { 1, 1 } }, false, 0 },
};

START_TEST(a_uniform_constant_has_one_exact_number)
{
    const struct type type = type_make(uniforms[_i].dtype, 1, (const int64_t[]){ 2 });
    const struct type none = type_make(uniforms[_i].dtype, 1, (const int64_t[]){ 0 });
    const struct value *c = constant_new(fn, "c", &type, &uniforms[_i].data);
    double number = 0;

    ck_assert_int_eq(value_uniform(c, &number), uniforms[_i].uniform);
    if (uniforms[_i].uniform)
        ck_assert_double_eq(number, uniforms[_i].number);
    ck_assert(!value_uniform(constant_new(fn, "n", &none, &uniforms[_i].data), &number));
    ck_assert(!value_uniform(param_new(fn, "p", &type), &number));
}
END_TEST

START_TEST(origins_join_in_the_order_of_the_file_without_doubles)
{
    const struct origin c = { .name = "c", .op_type = "Relu", .index = 9 };
    const struct origin a = { .name = "a", .op_type = "Conv", .index = 2, .next = &c };
    const struct origin c_again = { .name = "c", .op_type = "Relu", .index = 9 };
    const struct origin b = { .name = "b", .op_type = "Add", .index = 5, .next = &c_again };
    const struct origin *o = origin_join(module, &b, &a);

    for (const char *want = "abc"; *want; want++, o = o->next) {
        ck_assert_ptr_nonnull(o);
        ck_assert_int_eq(o->name[0], *want);
    }
    ck_assert_ptr_null(o);
    ck_assert_ptr_null(origin_join(module, NULL, NULL));
    ck_assert_str_eq(origin_join(module, NULL, &c)->name, "c");
}
END_TEST

START_TEST(a_node_without_origin_is_named_by_its_operator_and_output)
{
    const struct node *node = apply1(OP_EXP, "y", param_new(fn, "x", &vector))->def;

    ck_assert_str_eq(node_origin(node)->name, "y");
    ck_assert_str_eq(node_origin(node)->op_type, "exp");
    ck_assert_int_eq((int)node_origin(node)->index, -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ir");
    TCase *tcase = tcase_create("ir");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, building_links_definitions_and_uses);
    tcase_add_test(tcase, inputs_can_be_set_replaced_and_absent);
    tcase_add_test(tcase, nodes_can_be_moved_inserted_and_removed);
    tcase_add_test(tcase, a_node_that_does_not_type_leaves_no_trace);
    tcase_add_test(tcase, names_stay_unique_and_become_free);
    tcase_add_test(tcase, a_name_used_fifty_thousand_times_takes_no_time);
    tcase_add_test(tcase, a_value_that_supplants_another_takes_its_name);
    tcase_add_test(tcase, chains_survive_any_sequence_of_changes);
    tcase_add_test(tcase, numbering_is_dense_and_in_order);
    tcase_add_test(tcase, sweeping_drops_what_nobody_reaches);
    tcase_add_test(tcase, a_call_must_fit_its_callee);
    tcase_add_loop_test(tcase, a_uniform_constant_has_one_exact_number, 0, N_ROWS(uniforms));
    tcase_add_test(tcase, origins_join_in_the_order_of_the_file_without_doubles);
    tcase_add_test(tcase, a_node_without_origin_is_named_by_its_operator_and_output);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
