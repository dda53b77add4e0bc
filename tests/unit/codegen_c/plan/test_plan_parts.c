/* Concatenations whose operands are written straight into them: random graphs with the channels
 * last, the places that the plan gives checked element by element, and the numbers that the
 * generated C computes there. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "codegen_c/codegen.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/follow_plan.h"
#include "tests/support/graph.h"
#include "tests/support/image_graph.h"
#include "tests/support/run_generated.h"

enum { N_PLANS = 300, N_RUNS = 10, N_OPERANDS = 3000 };

static const struct image_graph images = { .n_nodes = 26,
                                           .most_n = 2,
                                           .h = 4,
                                           .w = 5,
                                           .most_c = 10,
                                           .most_elements = 2000,
                                           .overlays = true };

/* Regions of this operator alone that are not left, and (in *n) how many there were. */
static int count_gone(const struct module *module, const struct codegen_result *result, enum op op,
                      int *n)
{
    int gone = 0;

    for (const struct node *node = module->main->first; node; node = node->next) {
        if (node->op != OP_CALL || node->callee->first->op != op)
            continue;
        ++*n;
        ++gone;
        for (int r = 0; r < result->n_regions; r++)
            gone -= result->regions[r].call == node;
    }
    return gone;
}

START_TEST(every_element_is_where_it_is_read)
{
    int gone = 0, concats = 0, views = 0, n_pieces = 0, overlaid = 0;

    for (unsigned seed = 0; seed < N_PLANS; seed++) {
        struct ctx *ctx = ctx_new(NULL);
        struct module *module = image_graph(ctx, &images, seed);
        const struct codegen_options options = { .name = "net",
                                                 .dir = "/nonexistent",
                                                 .model_file = "net.onnx",
                                                 .model_sha256 = "",
                                                 .command = "" };
        struct output_set set = { .ctx = ctx };
        struct codegen_result result;

        ck_assert_msg(codegen_c(module, &options, &set, &result), "%u: %s", seed, expect_text(ctx));
        output_abort(&set);
        overlaid += follow_plan(module, &result, 0).n_overlaid;
        gone += count_gone(module, &result, OP_CONCATENATE, &concats);
        views += count_gone(module, &result, OP_SPLIT, &n_pieces) +
                 count_gone(module, &result, OP_STRIDED_SLICE, &n_pieces);
        module_free(module);
        ctx_free(ctx);
    }
    ck_assert_msg(gone > concats / 4, "%d of %d concatenations have no region", gone, concats);
    ck_assert_msg(views > n_pieces / 8, "%d of %d splits and slices have no region", views,
                  n_pieces);
    ck_assert_int_gt(overlaid, 20);
    printf(
        "%d of %d concatenations have no region, %d of %d splits and slices; %d results lie over "
        "a piece\n",
        gone, concats, views, n_pieces, overlaid);
}
END_TEST

/* More than are tried one by one; every third one is a result of main as well, and copied. */
START_TEST(thousands_of_operands)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = module_new(ctx);
    const struct type type = type_make(DTYPE_F32, 2, (int64_t[]){ 1, 4 });
    struct value *x = param_new(module->main, "x", &type), *y;
    static struct value *operands[N_OPERANDS];
    const struct codegen_options options = { .name = "net",
                                             .dir = "/nonexistent",
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "" };
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;

    for (int i = 0; i < N_OPERANDS; i++)
        operands[i] = build(module->main, OP_TANH, NULL, "v", NULL, NULL, 1, &x);
    y = build(module->main, OP_CONCATENATE, NULL, "c", NULL, NULL, N_OPERANDS, operands);
    result_add(module->main, build(module->main, OP_TANH, NULL, "y", NULL, NULL, 1, &y), "y");
    for (int i = 0; i < N_OPERANDS; i += 3)
        result_add(module->main, operands[i], "z");
    ck_assert_msg(pipeline_run_one(module, "fuse_ops"), "%s", expect_text(ctx));
    ck_assert_msg(codegen_c(module, &options, &set, &result), "%s", expect_text(ctx));
    output_abort(&set);
    follow_plan(module, &result, 0);
    for (int i = 0; i < N_OPERANDS; i++)
        ck_assert_int_eq(result.places[operands[i]->id].kind, i % 3 ? PLACE_ARENA : PLACE_OUTPUT);
    ck_assert_uint_eq(result.arena_bytes, N_OPERANDS * type_bytes(&type));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(random_graphs_compute_the_same_in_parts)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = image_graph(ctx, &images, (unsigned)_i + N_PLANS);
    const struct generated_case row = { .tolerance = 1e-4, .low = -1, .high = 1 };

    generated_check_module(module, &row, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan_parts");
    TCase *places = tcase_create("places"), *runs = tcase_create("runs");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(places, 0);
    tcase_add_test(places, every_element_is_where_it_is_read);
    tcase_add_test(places, thousands_of_operands);
    tcase_set_timeout(runs, 0);
    tcase_add_loop_test(runs, random_graphs_compute_the_same_in_parts, 0, N_RUNS);
    suite_add_tcase(suite, places);
    suite_add_tcase(suite, runs);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
