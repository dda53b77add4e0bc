/* partition_speed - how long the partitioner's steps take on large graphs, in milliseconds; not a
 * test.
 *
 *   partition_speed [NODES [ROWS]]
 *
 * Two targets whose rows overlap, one of ROWS rows; by cost, with limits that split regions. */
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "tests/support/partition_case.h"
#include "tests/support/partition_graph.h"

/* Rows that hardly ever match stand first, as in a long table of a library. */
static const char *npu_text(struct arena *arena, int n_rows)
{
    static const char *const rare[] = { "tanh", "sigmoid", "exp", "erf", "sqrt", "abs" };
    struct str text = { .arena = arena };

    str_add(&text, "{ \"name\": \"npu\", \"format\": \"extern\", \"composites\": [");
    for (int i = 0; i < n_rows - 2; i++)
        str_printf(&text,
                   "{ \"name\": \"row%d\", \"pattern\": \"conv2d(x, w:const) -> bias_add(_, b)? -> "
                   "%s -> %s?\", \"where\": [\"w.dim[0] > %d\"] }, ",
                   i, rare[i % 6], rare[i / 6 % 6], i);
    str_add(&text, ROW("conv", "conv2d(x, w:const) -> bias_add(_, b:const)? -> relu?") ", " ROW(
                       "scale", "multiply(x, s:const) -> add(_, t:const)? -> relu?"));
    str_add(&text, "], \"limits\": { \"max_nodes\": 40, \"max_onchip_bytes\": 4000000 }, "
                   "\"rates\": { \"launch_ns\": 1000, \"transfer_ns_per_byte\": 0.01, "
                   "\"call_ns\": 20, \"ns_per_mac\": { \"other\": 0.01 } } }");
    return str_text(&text);
}

#define DSP                                                                                        \
    TARGET("dsp",                                                                                  \
           ROW("sum", "add(a, b) -> relu?") "," ROW("act", "relu") "," ROW("concat",               \
                                                                           "concatenate(...)"),    \
           ", \"rates\": { \"launch_ns\": 50, \"call_ns\": 30 }")

static const char *no_file(void *user, const char *name)
{
    (void)user;
    (void)name;
    return NULL;
}

static struct target *load(struct ctx *ctx, const char *text)
{
    struct target *target = target_parse(ctx, "target.json", text, no_file, NULL);

    if (!target) {
        diag_print(ctx, stderr, false, 0);
        exit(EXIT_FAILURE);
    }
    return target;
}

static bool measure(struct ctx *ctx, const char *what, struct module *module, int n_rows)
{
    const struct pipeline_options options = { .time_passes = true, .log = stdout };
    struct target *targets[] = { load(ctx, npu_text(&ctx->perm, n_rows)), load(ctx, DSP) };
    struct partition *partition =
        partition_new(module, case_options(ctx, load(ctx, HOST), 2, targets, ASSIGN_COST, false));
    bool ok;

    printf("== %s: targets of %d and %d rows\n", what, targets[0]->n_rows, targets[1]->n_rows);
    ok = partition_run(partition, &options);
    if (!ok)
        diag_print(ctx, stderr, false, 0);
    printf("   %d candidates, %d regions\n", partition->n_candidates, partition->n_regions);
    partition_free(partition);
    module_free(module);
    return ok;
}

int main(int argc, char **argv)
{
    const int n_nodes = argc > 1 ? atoi(argv[1]) : 10000, n_rows = argc > 2 ? atoi(argv[2]) : 100;
    struct ctx *ctx = ctx_new(NULL);
    bool ok = measure(ctx, "DenseNet-121", partition_graph_densenet(ctx), n_rows);

    ok = measure(ctx, "a long network", partition_graph_long(ctx, n_nodes), n_rows) && ok;
    ctx_free(ctx);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
