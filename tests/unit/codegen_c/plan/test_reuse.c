/* Variants of a network give the same bits as an engine of their own, whatever is kept of the base;
 * and what is kept is not computed again. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/copy.h"
#include "relay_ir/passes/pipeline.h"
#include "runtime/engine/mark.h"
#include "runtime/engine/reuse.h"
#include "tests/support/executions.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

enum { N_SAMPLES = 5, N_NODES = 19 };

/* Branches that meet again, parts and their concatenation, operators of oneDNN, of relayc's own
 * loops and of the reference evaluators. */
static const char network[] = "fn main(%x: (1,3,12,12) f32) -> (%p, %h) {\n"
                              "  const @w0 : (16,3,3,3) f32 = crc32:00000000\n"
                              "  const @b0 : (16) f32 = crc32:00000000\n"
                              "  const @w1 : (16,16,3,3) f32 = crc32:00000000\n"
                              "  const @w2 : (24,16,1,1) f32 = crc32:00000000\n"
                              "  const @w3 : (24,16,3,3) f32 = crc32:00000000\n"
                              "  const @w4 : (10,24) f32 = crc32:00000000\n"
                              "  %c0 = nn.conv2d(%x, @w0) " CONV_PADDED "\n"
                              "  %d0 = nn.bias_add(%c0, @b0) {axis=1}\n"
                              "  %a = nn.relu(%d0)\n"
                              "  %c1 = nn.conv2d(%a, @w1) " CONV_PADDED "\n"
                              "  %s1 = sigmoid(%c1)\n"
                              "  %m1 = multiply(%c1, %s1)\n"
                              "  %e = add(%m1, %a)\n"
                              "  %c2 = nn.conv2d(%e, @w2) " CONV "\n"
                              "  %c3 = nn.conv2d(%e, @w3) " CONV_PADDED "\n"
                              "  %t = tanh(%c3)\n"
                              "  %j = concatenate(%c2, %t) {axis=1}\n"
                              "  %k0, %k1 = split(%j) {axis=1, sizes=[24,24]}\n"
                              "  %f = subtract(%k1, %k0)\n"
                              "  %q = cumsum(%f) {axis=2, exclusive=false, reverse=false}\n"
                              "  %g = nn.global_avg_pool(%q)\n"
                              "  %v = reshape(%g) {shape=[1,24]}\n"
                              "  %h = nn.dense(%v, @w4)\n"
                              "  %o = floor(%h)\n"
                              "  %p = add(%h, %o)\n"
                              "}\n";

static struct ctx *ctx;
static struct bulk bulk;
static struct module *module;
static struct tensor inputs[N_SAMPLES];

static void set_up(void)
{
    unsigned seed = 7;

    ctx = ctx_new(NULL);
    bulk = (struct bulk){ 0 };
    engine_use_one_core();
    module = graph_parse(ctx, network, 3);
    for (int i = 0; i < N_SAMPLES; i++) {
        inputs[i] = tensor_new(&bulk, &module->main->params[0]->type);
        fill_random(&inputs[i], -1, 1, &seed);
    }
}

static void tear_down(void)
{
    module_free(module);
    bulk_release(&bulk);
    ctx_free(ctx);
}

static struct module *fused(struct module *copy)
{
    ck_assert(pipeline_run_one(copy, "fuse_ops"));
    return copy;
}

/* The network, rounded to f8e4m3 behind its k-th node; k = -1: as it is. */
static struct module *rounded_behind(int k)
{
    const union attrs small = { .cast = { .dtype = DTYPE_F8E4M3, .saturate = true } };
    const union attrs back = { .cast = { .dtype = DTYPE_F32, .saturate = true } };
    struct module *copy = module_copy(ctx, module);
    struct node *node;
    struct value *codes, *numbers, *value;
    int i = 0;

    ck_assert_ptr_nonnull(copy);
    if (k < 0)
        return fused(copy);
    for (node = copy->main->first; i < k; node = node->next)
        i++;
    value = node->outputs[0];
    codes = build(copy->main, OP_CAST, &small, "codes", NULL, node->next, 1, &value);
    numbers = build(copy->main, OP_CAST, &back, "numbers", NULL, codes->def->next, 1, &codes);
    for (struct use *use = value->uses, *next; use; use = next) {
        next = use->next;
        if (use->node != codes->def)
            node_set_input(use->node, use->input, numbers);
    }
    return fused(copy);
}

/* Runs the variant both ways on all samples; gives how many steps it did. */
static int check_variant(const struct reuse *reuse, struct module *copy)
{
    struct engine *engine = engine_new(ctx, copy->main);
    struct variant *variant = variant_new(reuse, ctx, copy->main);
    struct tensor wanted[2], got[2];
    int n_steps, n_run;

    ck_assert_ptr_nonnull(engine);
    ck_assert_ptr_nonnull(variant);
    for (int s = N_SAMPLES - 1; s >= 0; s--) {
        ck_assert(engine_run(engine, &inputs[s], wanted, &bulk, NULL));
        ck_assert(variant_run(variant, s, got, &bulk));
        for (int i = 0; i < 2; i++)
            ck_assert_mem_eq(got[i].data, wanted[i].data, type_bytes(&wanted[i].type));
    }
    variant_count(variant, &n_steps, &n_run);
    variant_free(variant);
    engine_free(engine);
    return n_run;
}

/* Nothing is kept, the cheapest, about half, everything; with one thread and with several. */
static const struct {
    size_t bytes;
    int n_threads;
} budgets[] = { { 0, 1 }, { 20000, 2 }, { 200000, 3 }, { (size_t)1 << 30, 4 } };

START_TEST(variants_are_equal_to_a_run_of_their_own_bit_for_bit)
{
    struct module *base = rounded_behind(-1);
    struct reuse *reuse = reuse_new(N_SAMPLES, inputs, 1, budgets[_i].bytes);

    ck_assert(reuse_keep(reuse, ctx, base->main, budgets[_i].n_threads));
    ck_assert_uint_le(reuse_report(reuse).bytes, budgets[_i].bytes);
    for (int k = -1; k < N_NODES; k++) {
        struct module *copy = rounded_behind(k);

        check_variant(reuse, copy);
        module_free(copy);
    }
    reuse_free(reuse);
    module_free(base);
}
END_TEST

START_TEST(what_is_kept_is_not_computed_again)
{
    struct module *base = rounded_behind(-1), *late = rounded_behind(N_NODES - 3),
                  *early = rounded_behind(0);
    struct reuse *reuse = reuse_new(N_SAMPLES, inputs, 1, (size_t)1 << 30);
    int n_late, n_early;

    ck_assert(reuse_keep(reuse, ctx, base->main, 2));
    ck_assert_int_eq(check_variant(reuse, base), 0);
    n_late = check_variant(reuse, late);
    n_early = check_variant(reuse, early);
    ck_assert_int_gt(n_late, 0);
    ck_assert_int_lt(2 * n_late, n_early);
    ck_assert_int_eq(reuse_report(reuse).n_kept, reuse_report(reuse).n_values);
    module_free(base);
    module_free(late);
    module_free(early);
    reuse_free(reuse);
}
END_TEST

START_TEST(another_base_can_be_kept)
{
    struct module *base = rounded_behind(-1), *other = rounded_behind(4);
    struct reuse *reuse = reuse_new(N_SAMPLES, inputs, 1, (size_t)1 << 30);

    ck_assert(reuse_keep(reuse, ctx, base->main, 1));
    ck_assert(reuse_keep(reuse, ctx, other->main, 2));
    ck_assert_int_eq(check_variant(reuse, other), 0);
    ck_assert_int_gt(check_variant(reuse, base), 0);
    module_free(base);
    module_free(other);
    reuse_free(reuse);
}
END_TEST

START_TEST(a_constant_that_differs_in_one_bit_is_another)
{
    struct module *base = rounded_behind(-1), *copy = module_copy(ctx, module);
    struct reuse *reuse = reuse_new(N_SAMPLES, inputs, 1, (size_t)1 << 30);

    ck_assert(reuse_keep(reuse, ctx, base->main, 1));
    for (struct value *c = copy->main->constants; c; c = c->next)
        if (strcmp(c->name, "w4") == 0) {
            unsigned char *bytes = bulk_alloc(&bulk, type_bytes(&c->type));

            memcpy(bytes, c->data, type_bytes(&c->type));
            bytes[100] ^= 1;
            c->data = bytes;
        }
    ck_assert_int_gt(check_variant(reuse, fused(copy)), 0);
    module_free(base);
    module_free(copy);
    reuse_free(reuse);
}
END_TEST

START_TEST(a_smaller_budget_costs_time_and_no_more_memory)
{
    struct module *base = rounded_behind(-1);
    double last = 0;

    for (int i = 3; i >= 0; i--) {
        struct reuse *reuse = reuse_new(N_SAMPLES, inputs, 1, budgets[i].bytes);

        ck_assert(reuse_keep(reuse, ctx, base->main, 1));
        ck_assert_int_ge(reuse_report(reuse).n_values, reuse_report(reuse).n_kept);
        ck_assert_double_gt(reuse_report(reuse).share, 0);
        ck_assert_double_le(reuse_report(reuse).share, 1.000001);
        last = reuse_report(reuse).share;
        reuse_free(reuse);
    }
    ck_assert_double_eq_tol(last, 1, 1e-6);
    module_free(base);
}
END_TEST

START_TEST(marks_differ_in_every_bit_and_length)
{
    unsigned char bytes[70] = { 0 };
    struct mark seen[sizeof bytes * 9];
    size_t n = 0;

    for (size_t length = 0; length < sizeof bytes; length++)
        seen[n++] = mark_add((struct mark){ 0 }, bytes, length);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        seen[n++] = mark_add((struct mark){ 0 }, bytes, sizeof bytes);
        bytes[bit / 8] = 0;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            ck_assert_uint_ne(seen[i].a, seen[k].a); /* each half alone */
            ck_assert_uint_ne(seen[i].b, seen[k].b);
        }
}
END_TEST

START_TEST(a_table_of_marks_finds_what_was_set)
{
    struct arena arena = { NULL };
    struct mark_table table = { .arena = &arena };
    static int numbers[1000];

    for (int i = 0; i < 1000; i++)
        mark_set(&table, mark_add((struct mark){ 0 }, &i, sizeof i), &numbers[i]);
    for (int i = 0; i < 1000; i++)
        ck_assert_ptr_eq(mark_find(&table, mark_add((struct mark){ 0 }, &i, sizeof i)),
                         &numbers[i]);
    ck_assert_ptr_null(mark_find(&table, (struct mark){ 1, 2 }));
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reuse");
    TCase *tcase = tcase_create("reuse");
    SRunner *runner;
    int n_failed;

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, variants_are_equal_to_a_run_of_their_own_bit_for_bit, 0, 4);
    tcase_add_test(tcase, what_is_kept_is_not_computed_again);
    tcase_add_test(tcase, another_base_can_be_kept);
    tcase_add_test(tcase, a_constant_that_differs_in_one_bit_is_another);
    tcase_add_test(tcase, a_smaller_budget_costs_time_and_no_more_memory);
    tcase_add_test(tcase, marks_differ_in_every_bit_and_length);
    tcase_add_test(tcase, a_table_of_marks_finds_what_was_set);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
