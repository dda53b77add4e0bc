#include "tests/support/offload_case.h"

#include <check.h>
#include <string.h>

#include "base/str.h"
#include "partition/partition.h"
#include "quantize/quantize.h"
#include "relay_ir/interpret.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/network.h"
#include "tests/support/run_generated.h"

enum { MAX_TARGETS = 4, SEED = 7 };

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

static struct partition_options options_of(struct ctx *ctx, const struct offload_case *row,
                                           const struct targets *targets)
{
    const struct target **list = arena_array(&ctx->perm, const struct target *, MAX_TARGETS);
    struct partition_options options = {
        .targets = targets, .offload = list, .assign = ASSIGN_PRIORITY, .no_cost = true
    };

    for (const char *at = row->target; *at;) {
        const size_t n = strcspn(at, ",");
        const char *name = arena_strndup(&ctx->perm, at, n);

        list[options.n_offload] = targets_find(targets, name);
        ck_assert_msg(list[options.n_offload++] != NULL, "there is no target %s", name);
        at += n + (at[n] == ',');
    }
    return options;
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

static void offload(struct partition *partition, const struct offload_case *row)
{
    int n;
    const struct partition_pass *passes = partition_passes(&n);

    for (int i = 0; i < n; i++) {
        if (strcmp(passes[i].name, "partition") == 0)
            check_choice(partition, row);
        ck_assert_msg(partition_run_one(partition, passes[i].name), "%s: %s", passes[i].name,
                      expect_text(partition->module->ctx));
    }
}

/* The graph of the row, before the partitioner. */
static struct module *prepared(const struct offload_case *row, struct ctx *ctx)
{
    const struct pipeline_options pipeline = { .dump_after = NULL };
    struct module *module = graph_parse(ctx, row->text, SEED);
    struct quantize_options options = { .n_threads = 1 };
    struct quantize_report report;

    fill_integers(module->main);
    if (row->precision)
        ck_assert_msg(precision_parse(ctx, "test", row->precision, &options.precision) &&
                          quantize_module(module, &options, &pipeline, &report),
                      "%s", expect_text(ctx));
    return module;
}

/* What the graph computes there. */
static struct tensor *expected(const struct offload_case *row, const struct tensor *inputs,
                               struct ctx *ctx, struct bulk *bulk)
{
    struct module *module = prepared(row, ctx);
    struct tensor *outputs = arena_array(&ctx->perm, struct tensor, module->main->ret->n_inputs);

    ck_assert_msg(interpret(ctx, module->main, inputs, outputs, bulk, NULL), "%s",
                  expect_text(ctx));
    module_free(module);
    return outputs;
}

/* A case on its way: the module after fuse_ops, what goes in and what should come out. */
struct offloaded {
    struct network network;
    struct targets targets;
};

static void offloaded_new(const struct offload_case *row, struct offloaded *out)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = prepared(row, ctx);
    struct network *network = &out->network;
    unsigned seed = SEED;
    const bool any_range = row->low == 0 && row->high == 0;
    struct partition_options options;
    struct partition *partition;

    *network = (struct network){ .ctx = ctx, .name = "net", .module = module, .n_sets = 1 };
    ck_assert_msg(targets_load(ctx, 0, NULL, &out->targets), "%s", expect_text(ctx));
    options = options_of(ctx, row, &out->targets);
    network->sets[0].inputs =
        random_inputs(&ctx->perm, &network->bulk, module->main, any_range ? -2 : row->low,
                      any_range ? 2 : row->high, &seed);
    network->sets[0].outputs = expected(row, network->sets[0].inputs, ctx, &network->bulk);
    partition = partition_new(module, &options);
    offload(partition, row);
    partition_free(partition);
    ck_assert_msg(pipeline_run_one(module, "fuse_ops"), "%s", expect_text(ctx));
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
