#include "tests/support/fp8_case.h"

#include <check.h>

#include "tests/support/expect.h"
#include "tests/support/graph.h"

static struct fp8_row rows_all[] = {
    { .op = OP_CONV1D, .data = BIT(F8E4M3), .weights = BIT(F8E4M3), .weight_scales = true },
    { .op = OP_CONV2D, .data = BIT(F8E4M3), .weights = BIT(F8E4M3), .weight_scales = true },
    { .op = OP_CONV3D, .data = BIT(F8E4M3), .weights = BIT(F8E4M3), .weight_scales = true },
    { .op = OP_DENSE, .data = BIT(F8E4M3), .weights = BIT(F8E4M3), .weight_scales = true },
    { .op = OP_MATMUL, .data = BIT(F8E4M3), .weights = BIT(F8E4M3), .weight_scales = true },
    { .op = OP_MAX_POOL2D, .data = BIT(F8E4M3) },
};
static struct fp8_row rows_conv[] = {
    { .op = OP_CONV2D, .data = BIT(F8E4M3) | BIT(F8E5M2), .weights = BIT(F8E4M3) | BIT(F8E5M2) },
};
static struct fp8_row rows_poor[] = {
    { .op = OP_CONV2D, .data = BIT(F8E5M2), .weights = BIT(F8E4M3) },
    { .op = OP_DENSE, .data = BIT(F8E4M3), .weights = BIT(F8E5M2) },
    { .op = OP_MATMUL, .data = BIT(F8E4M3), .weights = BIT(F8E4M3) },
    { .op = OP_CONV1D, .data = BIT(F8E4M3), .weights = BIT(F8E4M3) },
};

static struct target target_of(const char *name, struct fp8_row *rows, int n, enum dtype out)
{
    for (int i = 0; i < n; i++) {
        rows[i].accumulate = DTYPE_F32;
        rows[i].out = out;
    }
    return (struct target){ .name = name, .n_fp8 = n, .fp8 = rows };
}

struct target fp8_host, fp8_all, fp8_conv_only, fp8_poor, fp8_keeping;

void fp8_set_up(void)
{
    fp8_host = (struct target){ .name = "c", .rates = { .call_ns = 1000 } };
    fp8_all = target_of("all", rows_all, N_ROWS(rows_all), DTYPE_F32);
    fp8_conv_only = target_of("conv_only", rows_conv, N_ROWS(rows_conv), DTYPE_F32);
    fp8_poor = target_of("poor", rows_poor, N_ROWS(rows_poor), DTYPE_F32);
    rows_poor[2].out = DTYPE_F16;
    rows_poor[3].accumulate = DTYPE_F16;
    fp8_keeping = fp8_all;
    fp8_keeping.name = "keeping";
    fp8_keeping.keep_on_host[OP_CONV2D] = true;
}

void fp8_run_open(struct fp8_run *run, struct module *module, enum dtype format,
                  const struct target *first, const struct target *second)
{
    run->targets.first = &fp8_host;
    run->offload[0] = first;
    run->offload[1] = second;
    run->options = (struct partition_options){ .targets = &run->targets,
                                               .n_offload = (first != NULL) + (second != NULL),
                                               .offload = run->offload,
                                               .fp8 = format };
    run->partition = partition_new(module, &run->options);
    ck_assert_msg(partition_run_one(run->partition, "annotate_fp8"), "%s",
                  expect_text(module->ctx));
}

void fp8_expect_graph(struct module *module, const char *wanted)
{
    struct module *parsed = graph_parse(module->ctx, wanted, 1);

    ck_assert_str_eq(graph_text(module, true), graph_text(parsed, true));
    module_free(parsed);
}
