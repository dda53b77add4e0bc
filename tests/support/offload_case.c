#include "tests/support/offload_case.h"

#include <check.h>
#include <string.h>

#include "base/str.h"
#include "driver/driver.h"
#include "relay_ir/interpret.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/network.h"
#include "tests/support/run_generated.h"

enum { SEED = 7 };

static bool is_all_small(const struct value *value)
{
    const struct tensor tensor = value_tensor(value);

    for (int64_t i = 0; i < type_elements(&value->type); i++)
        if (tensor_int_at(&tensor, i) != 0 && tensor_int_at(&tensor, i) != -1)
            return false;
    return type_elements(&value->type) > 1;
}

/* graph_parse gives random numbers in [-1, 1), which says little about integers. */
static void fill_integers(struct function *fn)
{
    unsigned seed = SEED;

    for (struct value *v = fn->constants; v; v = v->next) {
        const bool is_i8 = v->type.dtype == DTYPE_I8, is_i32 = v->type.dtype == DTYPE_I32;
        struct tensor tensor = { .type = v->type };

        if ((!is_i8 && !is_i32) || (*v->name != 'w' && *v->name != 'b') || !is_all_small(v))
            continue;
        tensor.data = constant_alloc(fn, &v->type);
        fill_random(&tensor, is_i8 ? -127 : -3000, is_i8 ? 127 : 3000, &seed);
        v->data = tensor.data;
    }
}

/* The composites that were chosen, and the operators that were not, in order of execution. */
static void check_choice(const struct partition *partition, const struct offload_case *row)
{
    struct arena *arena = &partition->module->ctx->perm;
    struct str composites = { .arena = arena }, left = { .arena = arena };

    for (int i = 0; i < partition->n_nodes; i++) {
        const struct candidate *choice = partition->choice[i];
        const struct node *node = partition->nodes[i];

        if (choice && choice->match.root == node)
            str_printf(&composites, "%s%s", composites.n ? " " : "", choice->row->name);
        else if (!choice && op_row(node->op)->pattern != PATTERN_VIEW)
            str_printf(&left, "%s%s", left.n ? " " : "", op_name(node->op));
    }
    if (row->composites)
        ck_assert_str_eq(str_text(&composites), row->composites);
    ck_assert_str_eq(str_text(&left), row->left ? row->left : "");
}

/* The options of relayc compile; scales are 1, as no data tells others. */
static void begin(struct driver_state *driver, const struct offload_case *row, struct ctx *ctx)
{
    struct module *module = graph_parse(ctx, row->text, SEED);

    fill_integers(module->main);
    *driver = driver_begin(ctx, COMMAND_COMPILE);
    driver_give(driver, OPTION_NAME, "net");
    driver_give(driver, OPTION_OFFLOAD, row->target);
    driver_give(driver, OPTION_ASSIGN, "priority");
    driver_give(driver, OPTION_NO_COST, "");
    driver_give(driver, OPTION_CHECK_PASSES, "");
    if (row->precision) {
        driver_give(driver, OPTION_PRECISION, row->precision);
        driver_give(driver, OPTION_NO_DATA_FREE, "");
    }
    driver_take(driver, module);
    ck_assert_msg(driver_prepare(driver), "%s", expect_text(ctx));
}

static void run_to(struct driver_state *driver, enum driver_stage last)
{
    ck_assert_msg(driver_run(driver, last), "%s", expect_text(driver->ctx));
}

/* A case on its way: the module after fuse_ops, what goes in and what should come out. */
struct offloaded {
    struct network network;
    struct targets targets;
};

static void offloaded_new(const struct offload_case *row, struct offloaded *out)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct driver_state driver;
    struct function *fn;
    struct network *network = &out->network;
    unsigned seed = SEED;
    const bool any_range = row->low == 0 && row->high == 0;
    struct io_set *set = network->sets;

    begin(&driver, row, ctx);
    fn = driver.module->main;
    *network = (struct network){ .ctx = ctx, .name = "net", .module = driver.module, .n_sets = 1 };
    set->inputs = random_inputs(&ctx->perm, &network->bulk, fn, any_range ? -2 : row->low,
                                any_range ? 2 : row->high, &seed);
    set->outputs = arena_array(&ctx->perm, struct tensor, fn->ret->n_inputs);
    run_to(&driver, STAGE_QUANTIZE);
    ck_assert_msg(interpret(ctx, fn, set->inputs, set->outputs, &network->bulk, NULL), "%s",
                  expect_text(ctx));
    run_to(&driver, STAGE_PARTITION);
    check_choice(driver.offload.partition, row);
    run_to(&driver, STAGE_FUSE);
    out->targets = driver.offload.targets;
    driver_free(&driver);
}

void offload_check(const struct offload_case *row)
{
    struct offloaded offloaded;
    struct network *network = &offloaded.network;
    struct generated_case generated = { .text = row->text,
                                        .tolerance = row->tolerance,
                                        .one_build = !row->all_builds,
                                        .targets = &offloaded.targets };
    struct tensor *found;

    offloaded_new(row, &offloaded);
    found = arena_array(&network->ctx->perm, struct tensor, network->module->main->ret->n_inputs);
    ck_assert_msg(interpret(network->ctx, network->module->main, network->sets[0].inputs, found,
                            &network->bulk, NULL),
                  "%s", expect_text(network->ctx));
    for (int i = 0; i < network->module->main->ret->n_inputs; i++)
        ck_assert_msg(difference(&found[i], &network->sets[0].outputs[i]) == 0,
                      "output %d differs after partitioning", i);
    generated_check_module(network->module, &generated, network->sets[0].inputs);
    network_free(network);
}

void offload_write(const struct offload_case *row, const char *dir)
{
    struct offloaded offloaded;
    struct codegen_result result;

    offloaded_new(row, &offloaded);
    ck_assert_msg(network_write(&offloaded.network, dir, NULL, &offloaded.targets, &result), "%s",
                  expect_text(offloaded.network.ctx));
    network_free(&offloaded.network);
}
