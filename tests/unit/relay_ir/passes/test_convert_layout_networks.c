/* convert_layout on real networks: how many transposes are left (the table of
 * docs/design/layout.md), and that small ones compute what they did. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "relay_ir/interpret.h"
#include "relay_ir/macs.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/expect.h"
#include "tests/support/network.h"

enum { MOST_MACS = 60000000 }; /* of a network that the evaluators run */

static const struct row {
    const char *name;
    int before, after; /* transposes in main */
} rows[] = {
    { "cct_transformer", 9, 8 },  { "ic_resnet8", 0, 0 },          { "kws_dscnn", 0, 0 },
    { "micro_kws_fp32", 1, 0 },   { "micro_kws_qdq", 1, 0 },       { "micro_kws_qoperator", 1, 0 },
    { "mnist8", 0, 0 },           { "mobilenetv1_025_128", 0, 0 }, { "mobilenetv2", 0, 0 },
    { "resnet20_cifar10", 0, 0 }, { "silero_vad_16k_op15", 0, 0 }, { "squeezenet11", 0, 0 },
    { "tinyvit_demo", 11, 0 },    { "ultraface_rfb320", 8, 0 },    { "vww_mobilenetv1", 0, 0 },
    { "yolov5n_640", 3, 3 },      { "yolox_nano_416", 1, 1 },
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static const char *models;

static bool run_pass(struct module *module, void *user)
{
    (void)user;
    return pass_convert_layout(module);
}

static int count_transposes(const struct module *module)
{
    int n = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        n += node->op == OP_TRANSPOSE;
    return n;
}

static bool is_small(const struct module *module)
{
    int64_t macs = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        macs += node_macs(node);
    return macs <= MOST_MACS;
}

static struct tensor *results_of(struct network *network)
{
    struct function *fn = network->module->main;
    struct tensor *results = arena_array(&network->ctx->perm, struct tensor, fn->ret->n_inputs);

    ck_assert_msg(
        interpret(network->ctx, fn, network->sets[0].inputs, results, &network->bulk, NULL), "%s",
        expect_text(network->ctx));
    return results;
}

START_TEST(networks_need_no_transposes)
{
    const struct row *row = &rows[_i];
    const struct pipeline_options prepare = { .part = PIPELINE_PREPARE }, none = { .part = 0 };
    struct network network;
    struct tensor *wanted = NULL, *got;
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", models, row->name);
    ck_assert_msg(network_load(&network, path), "%s", expect_text(network.ctx));
    ck_assert_msg(pipeline_run(network.module, &prepare), "%s", expect_text(network.ctx));
    ck_assert_int_eq(count_transposes(network.module), row->before);
    if (is_small(network.module))
        wanted = results_of(&network);
    ck_assert_msg(
        pipeline_run_step(network.module, "convert_layout", PROMISE_BITS, run_pass, NULL, &none),
        "%s", expect_text(network.ctx));
    ck_assert_int_eq(count_transposes(network.module), row->after);
    if (wanted) {
        got = results_of(&network);
        for (int i = 0; i < network.module->main->ret->n_inputs; i++)
            ck_assert_msg(tensor_equal(&got[i], &wanted[i]), "%s: result %d", row->name, i);
    }
    network_free(&network);
}
END_TEST

int main(void)
{
    const char *shared = getenv("RELAYC_SHARED");
    Suite *suite = suite_create("convert_layout_networks");
    TCase *tcase = tcase_create("convert_layout_networks");
    SRunner *runner = srunner_create(suite);
    static char path[4096];
    int n_failed;

    snprintf(path, sizeof path, "%s/models", shared ? shared : ".");
    models = path;
    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 0);
    if (shared && access(path, R_OK) == 0)
        tcase_add_loop_test(tcase, networks_need_no_transposes, 0, N_ROWS);
    else
        printf(
            "SKIPPED: no models (set RELAYC_SHARED): layouts of real networks were NOT tested\n");
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
