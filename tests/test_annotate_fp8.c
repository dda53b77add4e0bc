/* annotate_fp8 and legalize: graphs before and after, scales and codes against a search of the
 * test's own, what stays float and why, and that the host computes the same in the end. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "partition/annotate_fp8.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/random_graph.h"
#include "tests/support/run_generated.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))
#define BIT(dtype) ((uint64_t)1 << DTYPE_##dtype)
#define FORM                                                                                       \
    "strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NCHW\", "           \
    "kernel_layout=\"OIHW\""
#define CONV "{" FORM "}"
#define CONV8 "{" FORM ", out_dtype=f32}"
#define CAST "{dtype=f8e4m3, saturate=true}"
#define POOL                                                                                       \
    "{pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], dilation=[1,1], ceil_mode=false, "        \
    "count_include_pad=false, p=0, storage_order=0, layout=\"NCHW\"}"

/* --- targets ---------------------------------------------------------------------------------- */

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

static struct target host, all, conv_only, poor, keeping;

static void set_up(void)
{
    host = (struct target){ .name = "c", .rates = { .call_ns = 1000 } };
    all = target_of("all", rows_all, N_ROWS(rows_all), DTYPE_F32);
    conv_only = target_of("conv_only", rows_conv, N_ROWS(rows_conv), DTYPE_F32);
    poor = target_of("poor", rows_poor, N_ROWS(rows_poor), DTYPE_F32);
    rows_poor[2].out = DTYPE_F16;
    rows_poor[3].accumulate = DTYPE_F16;
    keeping = all;
    keeping.name = "keeping";
    keeping.keep_on_host[OP_CONV2D] = true;
}

/* The steps before the regions, on a module. The result owns what the report says. */
struct run {
    struct targets targets;
    struct partition_options options;
    const struct target *offload[2];
    struct partition *partition;
};

static void run_open(struct run *run, struct module *module, enum dtype format,
                     const struct target *first, const struct target *second)
{
    run->targets.first = &host;
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

static void expect_graph(struct module *module, const char *wanted)
{
    struct module *parsed = graph_parse(module->ctx, wanted, 1);

    ck_assert_str_eq(graph_text(module, true), graph_text(parsed, true));
    module_free(parsed);
}

/* --- graphs before and after -------------------------------------------------------------------
 */

/* 448: codes 0x7e and 0xfe are +-448, 0x38 is 1. 2/448 = 0.00446428591 as f32. */
static const struct graph_case {
    const char *before, *after;
    const struct target *target;
    enum dtype format;
} graphs[] = {
    /* the cast in front, the scales behind, before the bias; names stay */
    { "fn main(%x: (1,1,2,2) f32) -> (%r) {\n"
      "  const @w : (2,1,1,1) f32 = [2, -4]\n"
      "  const @b : (2) f32 = [1, -1]\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %a = nn.bias_add(%c, @b) {axis=1} : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %r = nn.relu(%a) : (1,2,2,2) f32  from Relu #1\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%r) {\n"
      "  const @b : (2) f32 = [1, -1]\n"
      "  const @w : (2,1,1,1) f8e4m3 = [0x7e, 0xfe]\n"
      "  const @w.scale : (2,1,1) f32 = [0.00446428591, 0.00892857183]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (1,1,2,2) f8e4m3  from Conv \"c\" #0\n"
      "  %c.conv2d = nn.conv2d(%x.f8e4m3, @w) " CONV8 " : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %c = multiply(%c.conv2d, @w.scale) : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %a = nn.bias_add(%c, @b) {axis=1} : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %r = nn.relu(%a) : (1,2,2,2) f32  from Relu #1\n"
      "}\n",
      &all, DTYPE_F8E4M3 },
    /* no scales in the row: no factor behind, and 0.3 rounds to 0.3125 */
    { "fn main(%x: (1,1,2,2) f32) -> (%c) {\n"
      "  const @w : (2,1,1,1) f32 = [1, 0.3]\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%c) {\n"
      "  const @w : (2,1,1,1) f8e4m3 = [0x38, 0x2a]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (1,1,2,2) f8e4m3\n"
      "  %c = nn.conv2d(%x.f8e4m3, @w) " CONV8 " : (1,2,2,2) f32\n"
      "}\n",
      &conv_only, DTYPE_F8E4M3 },
    /* another format: 57344 is the greatest of E5M2, 0x7b */
    { "fn main(%x: (1,1,2,2) f32) -> (%c) {\n"
      "  const @w : (2,1,1,1) f32 = [1, 57344]\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%c) {\n"
      "  const @w : (2,1,1,1) f8e5m2 = [0x3c, 0x7b]\n"
      "  %x.f8e5m2 = cast(%x) {dtype=f8e5m2, saturate=true} : (1,1,2,2) f8e5m2\n"
      "  %c = nn.conv2d(%x.f8e5m2, @w) " CONV8 " : (1,2,2,2) f32\n"
      "}\n",
      &conv_only, DTYPE_F8E5M2 },
    /* one cast and one copy of the weight for two readers; a reader of f32 keeps its own */
    { "fn main(%x: (1,1,2,2) f32) -> (%c, %d, %s) {\n"
      "  const @w : (1,1,1,1) f32 = [448]\n"
      "  %s = sigmoid(%x) : (1,1,2,2) f32\n"
      "  %c = nn.conv2d(%s, @w) " CONV " : (1,1,2,2) f32\n"
      "  %d = nn.conv2d(%s, @w) " CONV " : (1,1,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%c, %d, %s) {\n"
      "  const @w : (1,1,1,1) f8e4m3 = [0x7e]\n"
      "  %s = sigmoid(%x) : (1,1,2,2) f32\n"
      "  %s.f8e4m3 = cast(%s) " CAST " : (1,1,2,2) f8e4m3\n"
      "  %c = nn.conv2d(%s.f8e4m3, @w) " CONV8 " : (1,1,2,2) f32\n"
      "  %d = nn.conv2d(%s.f8e4m3, @w) " CONV8 " : (1,1,2,2) f32\n"
      "}\n",
      &all, DTYPE_F8E4M3 },
    /* a weight that an operator reads as f32 too stays */
    { "fn main(%x: (1,1) f32) -> (%d, %s) {\n"
      "  const @w : (1,1) f32 = [448]\n"
      "  %d = nn.dense(%x, @w) : (1,1) f32\n"
      "  %s = add(%x, @w) : (1,1) f32\n"
      "}\n",
      "fn main(%x: (1,1) f32) -> (%d, %s) {\n"
      "  const @w : (1,1) f32 = [448]\n"
      "  const @w.f8e4m3 : (1,1) f8e4m3 = [0x7e]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (1,1) f8e4m3\n"
      "  %d = nn.dense(%x.f8e4m3, @w.f8e4m3) {out_dtype=f32} : (1,1) f32\n"
      "  %s = add(%x, @w) : (1,1) f32\n"
      "}\n",
      &all, DTYPE_F8E4M3 },
    /* between two of them the cast stands behind the last element-wise node of the first; a row of
     * the target lets pooling work on codes, and channels of zeros have the scale 1 */
    { "fn main(%x: (1,1,4,4) f32) -> (%d) {\n"
      "  const @w : (2,1,1,1) f32 = [448, -0]\n"
      "  const @v : (1,2,1,1) f32 = [448, 1]\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,4,4) f32\n"
      "  %r = nn.relu(%c) : (1,2,4,4) f32\n"
      "  %p = nn.max_pool2d(%r) " POOL " : (1,2,2,2) f32\n"
      "  %d = nn.conv2d(%p, @v) " CONV " : (1,1,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,4,4) f32) -> (%d) {\n"
      "  const @w : (2,1,1,1) f8e4m3 = [0x7e, 0x80]\n"
      "  const @v : (1,2,1,1) f8e4m3 = [0x7e, 0x38]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (1,1,4,4) f8e4m3\n"
      "  %c = nn.conv2d(%x.f8e4m3, @w) " CONV8 " : (1,2,4,4) f32\n"
      "  %r = nn.relu(%c) : (1,2,4,4) f32\n"
      "  %r.f8e4m3 = cast(%r) " CAST " : (1,2,4,4) f8e4m3\n"
      "  %p = nn.max_pool2d(%r.f8e4m3) " POOL " : (1,2,2,2) f8e4m3\n"
      "  %d = nn.conv2d(%p, @v) " CONV8 " : (1,1,2,2) f32\n"
      "}\n",
      &all, DTYPE_F8E4M3 },
    /* without the row it does not */
    { "fn main(%x: (1,1,4,4) f32) -> (%d) {\n"
      "  const @v : (1,1,1,1) f32 = [1]\n"
      "  %p = nn.max_pool2d(%x) " POOL " : (1,1,2,2) f32\n"
      "  %d = nn.conv2d(%p, @v) " CONV " : (1,1,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,4,4) f32) -> (%d) {\n"
      "  const @v : (1,1,1,1) f8e4m3 = [0x38]\n"
      "  %p = nn.max_pool2d(%x) " POOL " : (1,1,2,2) f32\n"
      "  %p.f8e4m3 = cast(%p) " CAST " : (1,1,2,2) f8e4m3\n"
      "  %d = nn.conv2d(%p.f8e4m3, @v) " CONV8 " : (1,1,2,2) f32\n"
      "}\n",
      &conv_only, DTYPE_F8E4M3 },
    /* past views, transpose, slice, concatenation, padding with zeros, one after the other */
    { "fn main(%x: (2,3) f32, %y: (2,3) f32) -> (%d) {\n"
      "  const @w : (1,3) f32 = [448, 1, 1]\n"
      "  %e = exp(%x) : (2,3) f32\n"
      "  %c = concatenate(%e, %y) {axis=0} : (4,3) f32\n"
      "  %r = reshape(%c) {shape=[3,4]} : (3,4) f32\n"
      "  %t = transpose(%r) {axes=[1,0]} : (4,3) f32\n"
      "  %s = strided_slice(%t) {begin=[0,0], strides=[1,1], size=[2,3]} : (2,3) f32\n"
      "  %p = nn.pad(%s) {pad_before=[1,0], pad_after=[0,0], mode=\"constant\", value=0} : (3,3) "
      "f32\n"
      "  %d = nn.dense(%p, @w) : (3,1) f32\n"
      "}\n",
      "fn main(%x: (2,3) f32, %y: (2,3) f32) -> (%d) {\n"
      "  const @w : (1,3) f8e4m3 = [0x7e, 0x38, 0x38]\n"
      "  %y.f8e4m3 = cast(%y) " CAST " : (2,3) f8e4m3\n"
      "  %e = exp(%x) : (2,3) f32\n"
      "  %e.f8e4m3 = cast(%e) " CAST " : (2,3) f8e4m3\n"
      "  %c = concatenate(%e.f8e4m3, %y.f8e4m3) {axis=0} : (4,3) f8e4m3\n"
      "  %r = reshape(%c) {shape=[3,4]} : (3,4) f8e4m3\n"
      "  %t = transpose(%r) {axes=[1,0]} : (4,3) f8e4m3\n"
      "  %s = strided_slice(%t) {begin=[0,0], strides=[1,1], size=[2,3]} : (2,3) f8e4m3\n"
      "  %p = nn.pad(%s) {pad_before=[1,0], pad_after=[0,0], mode=\"constant\", value=0} : (3,3) "
      "f8e4m3\n"
      "  %d = nn.dense(%p, @w) {out_dtype=f32} : (3,1) f32\n"
      "}\n",
      &all, DTYPE_F8E4M3 },
    /* not past what somebody else reads, nor past a padding of ones */
    { "fn main(%x: (2,3) f32) -> (%t, %d, %f) {\n"
      "  const @w : (1,2) f32 = [448, 1]\n"
      "  %t = transpose(%x) {axes=[1,0]} : (3,2) f32\n"
      "  %d = nn.dense(%t, @w) : (3,1) f32\n"
      "  %p = nn.pad(%t) {pad_before=[1,0], pad_after=[0,0], mode=\"constant\", value=1} : (4,2) "
      "f32\n"
      "  %f = nn.dense(%p, @w) : (4,1) f32\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%t, %d, %f) {\n"
      "  const @w : (1,2) f8e4m3 = [0x7e, 0x38]\n"
      "  %t = transpose(%x) {axes=[1,0]} : (3,2) f32\n"
      "  %t.f8e4m3 = cast(%t) " CAST " : (3,2) f8e4m3\n"
      "  %d = nn.dense(%t.f8e4m3, @w) {out_dtype=f32} : (3,1) f32\n"
      "  %p = nn.pad(%t) {pad_before=[1,0], pad_after=[0,0], mode=\"constant\", value=1} : (4,2) "
      "f32\n"
      "  %p.f8e4m3 = cast(%p) " CAST " : (4,2) f8e4m3\n"
      "  %f = nn.dense(%p.f8e4m3, @w) {out_dtype=f32} : (4,1) f32\n"
      "}\n",
      &all, DTYPE_F8E4M3 },
    /* matmul: scales along the columns of the constant; two computed operands have none; a vector
     * has one for all */
    { "fn main(%x: (2,2) f32) -> (%a, %b, %c, %d) {\n"
      "  const @w : (2,2) f32 = [2, 1, 1, -4]\n"
      "  const @v : (2) f32 = [2, 1]\n"
      "  %a = nn.matmul(%x, @w) {transpose_a=false, transpose_b=false} : (2,2) f32\n"
      "  %b = nn.matmul(%x, @w) {transpose_a=false, transpose_b=true} : (2,2) f32\n"
      "  %c = nn.matmul(%x, %x) {transpose_a=false, transpose_b=false} : (2,2) f32\n"
      "  %d = nn.matmul(%x, @v) {transpose_a=false, transpose_b=false} : (2) f32\n"
      "}\n",
      "fn main(%x: (2,2) f32) -> (%a, %b, %c, %d) {\n"
      "  const @w.f8e4m3 : (2,2) f8e4m3 = [0x7e, 0x6e, 0x76, 0xfe]\n"
      "  const @w.scale : (2) f32 = [0.00446428591, 0.00892857183]\n"
      "  const @w : (2,2) f8e4m3 = [0x7e, 0x76, 0x6e, 0xfe]\n"
      "  const @w.scale_2 : (2) f32 = [0.00446428591, 0.00892857183]\n"
      "  const @v : (2) f8e4m3 = [0x7e, 0x76]\n"
      "  const @v.scale : () f32 = [0.00446428591]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (2,2) f8e4m3\n"
      "  %a.matmul = nn.matmul(%x.f8e4m3, @w.f8e4m3) {transpose_a=false, transpose_b=false, "
      "out_dtype=f32} : (2,2) f32\n"
      "  %a = multiply(%a.matmul, @w.scale) : (2,2) f32\n"
      "  %b.matmul = nn.matmul(%x.f8e4m3, @w) {transpose_a=false, transpose_b=true, "
      "out_dtype=f32} : (2,2) f32\n"
      "  %b = multiply(%b.matmul, @w.scale_2) : (2,2) f32\n"
      "  %c = nn.matmul(%x.f8e4m3, %x.f8e4m3) {transpose_a=false, transpose_b=false, "
      "out_dtype=f32} : (2,2) f32\n"
      "  %d.matmul = nn.matmul(%x.f8e4m3, @v) {transpose_a=false, transpose_b=false, "
      "out_dtype=f32} : (2) f32\n"
      "  %d = multiply(%d.matmul, @v.scale) : (2) f32\n"
      "}\n",
      &all, DTYPE_F8E4M3 },
    /* a cast of the user's own that is the same is the one, wherever it stood */
    { "fn main(%x: (1,1) f32) -> (%d, %q) {\n"
      "  const @w : (1,1) f32 = [448]\n"
      "  %d = nn.dense(%x, @w) : (1,1) f32\n"
      "  %q = cast(%x) " CAST " : (1,1) f8e4m3\n"
      "}\n",
      "fn main(%x: (1,1) f32) -> (%d, %q) {\n"
      "  const @w : (1,1) f8e4m3 = [0x7e]\n"
      "  %q = cast(%x) " CAST " : (1,1) f8e4m3\n"
      "  %d = nn.dense(%q, @w) {out_dtype=f32} : (1,1) f32\n"
      "}\n",
      &all, DTYPE_F8E4M3 },
};

START_TEST(graph_becomes)
{
    const struct graph_case *row = &graphs[_i];
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, row->before, 1);
    struct run run;

    run_open(&run, module, row->format, row->target, NULL);
    expect_graph(module, row->after);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(nothing_happens_without_a_format)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, graphs[0].before, 1);
    struct run run;

    run_open(&run, module, DTYPE_NONE, &all, NULL);
    ck_assert_ptr_null(run.partition->fp8);
    expect_graph(module, graphs[0].before);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- what stays float, and why ------------------------------------------------------------------
 */

#define DENSE_OF(weight)                                                                           \
    "fn main(%x: (1,2) f32) -> (%d) {\n"                                                           \
    "  const @w : (1,2) f32 = " weight "\n"                                                        \
    "  %d = nn.dense(%x, @w) : (1,1) f32\n"                                                        \
    "}\n"
#define ONE_CONV                                                                                   \
    "fn main(%x: (1,1,2,2) f32) -> (%d) {\n"                                                       \
    "  const @w : (1,1,1,1) f32 = [1]\n"                                                           \
    "  %d = nn.conv2d(%x, @w) " CONV " : (1,1,2,2) f32\n"                                          \
    "}\n"

static const struct refusal {
    const char *text, *why;
    const struct target *target;
} refusals[] = {
    { DENSE_OF("[1, nan]"), "element 1 of its weights is not finite", &all },
    { DENSE_OF("[-inf, 1]"), "element 0 of its weights is not finite", &all },
    { DENSE_OF("[1, 2]"), "no target takes nn.dense in f8e4m3", &conv_only },
    { DENSE_OF("[1, 2]"), "no target takes nn.dense in f8e4m3", NULL },
    { DENSE_OF("[1, 2]"), "poor takes no weights of f8e4m3 in nn.dense", &poor },
    { ONE_CONV, "poor takes no data of f8e4m3 in nn.conv2d", &poor },
    { ONE_CONV, "keeping keeps nn.conv2d on the host", &keeping },
    { "fn main(%x: (1,2) f32, %w: (2,2) f32) -> (%d) {\n"
      "  %d = nn.matmul(%x, %w) {transpose_a=false, transpose_b=false} : (1,2) f32\n"
      "}\n",
      "poor gives f16 in nn.matmul, wanted is f32", &poor },
    { "fn main(%x: (1,1,2) f32) -> (%d) {\n"
      "  const @w : (1,1,1) f32 = [1]\n"
      "  %d = nn.conv1d(%x, @w) {groups=1}\n"
      "}\n",
      "poor sums in f16 in nn.conv1d, the graph means f32", &poor },
    { "fn main(%x: (1,2) f32, %w: (2,2) f32) -> (%d) {\n"
      "  %d = nn.dense(%x, %w) : (1,2) f32\n"
      "}\n",
      "its weights are computed at run time", &all },
    { "fn main(%x: (2,1) f32) -> (%d) {\n"
      "  const @w : (1,2) f32 = [1, 2]\n"
      "  %d = nn.matmul(@w, %x) {transpose_a=false, transpose_b=false} : (1,1) f32\n"
      "}\n",
      "its data is a constant", &all },
    { "fn main(%x: (1,2) f64) -> (%d) {\n"
      "  const @w : (1,2) f64 = [1, 2]\n"
      "  %d = nn.dense(%x, @w) : (1,1) f64\n"
      "}\n",
      "its data is f64, wanted is f32", &all },
    { "fn main(%x: (1,2) i32) -> (%d) {\n"
      "  const @w : (1,2) i32 = [1, 2]\n"
      "  %d = nn.dense(%x, @w) : (1,1) i32\n"
      "}\n",
      "its data is i32, wanted is f32", &all },
    { "fn main(%x: (1,0) f32) -> (%d) {\n"
      "  const @w : (1,0) f32 = []\n"
      "  %d = nn.dense(%x, @w) : (1,1) f32\n"
      "}\n",
      "its weights are empty", &all },
    { "fn main(%x: (1,2) f32) -> (%d) {\n"
      "  %d = nn.softmax(%x) {axis=1} : (1,2) f32\n"
      "}\n",
      "no target takes nn.softmax in f8e4m3", &all },
    { "fn main(%x: (1,2) f8e4m3) -> (%d) {\n" /* FP8 already */
      "  const @w : (1,2) f8e4m3 = [0x38, 0x39]\n"
      "  %d = nn.dense(%x, @w) {out_dtype=f32} : (1,1) f32\n"
      "}\n",
      "its data is f8e4m3, wanted is f32", &all },
    { "fn main(%x: (1,1,1,2) f32) -> (%d) {\n"
      "  const @w : (1,1,1,1) f32 = [1]\n"
      "  %d = nn.conv2d_transpose(%x, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], "
      "output_padding=[0,0], groups=1, data_layout=\"NCHW\", kernel_layout=\"IOHW\"} : (1,1,1,2) "
      "f32\n"
      "}\n",
      "no target takes nn.conv2d_transpose in f8e4m3", &all },
};

START_TEST(node_stays_float_because)
{
    const struct refusal *row = &refusals[_i];
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, row->text, 1);
    struct run run;

    run_open(&run, module, DTYPE_F8E4M3, row->target, NULL);
    expect_graph(module, row->text);
    ck_assert_int_eq(run.partition->fp8->n, 1);
    ck_assert_int_eq(run.partition->fp8->n_annotated, 0);
    ck_assert_ptr_null(run.partition->fp8->lines[0].target);
    ck_assert_str_eq(run.partition->fp8->lines[0].why, row->why);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(targets_are_asked_in_the_order_of_the_user)
{
    static const struct {
        const struct target *first, *second, *wanted;
    } orders[] = {
        { &all, &conv_only, &all },
        { &conv_only, &all, &conv_only },
        { &poor, &all, &all },
        { &keeping, &conv_only, &conv_only },
    };

    for (int i = 0; i < N_ROWS(orders); i++) {
        struct ctx *ctx = ctx_new(NULL);
        struct module *module = graph_parse(ctx, ONE_CONV, 1);
        struct run run;

        run_open(&run, module, DTYPE_F8E4M3, orders[i].first, orders[i].second);
        ck_assert_ptr_eq(run.partition->fp8->lines[0].target, orders[i].wanted);
        ck_assert_ptr_null(run.partition->fp8->lines[0].why);
        partition_free(run.partition);
        module_free(module);
        ctx_free(ctx);
    }
}
END_TEST

/* --- the report ----------------------------------------------------------------------------------
 */

static const char report_graph[] = "fn main(%x: (1,1,4,4) f32) -> (%\"s\\x22\\x1b\") {\n"
                                   "  const @w : (2,1,1,1) f32 = [2, -4]\n"
                                   "  const @v : (1,2) f32 = [448, 1]\n"
                                   "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,4,4) f32\n"
                                   "  %p = nn.max_pool2d(%c) " POOL " : (1,2,2,2) f32\n"
                                   "  %r = reshape(%p) {shape=[4,2]} : (4,2) f32\n"
                                   "  %d = nn.dense(%r, @v) : (4,1) f32\n"
                                   "  %\"s\\x22\\x1b\" = nn.softmax(%d) {axis=1} : (4,1) f32\n"
                                   "}\n";

START_TEST(report_names_every_node)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, report_graph, 1);
    struct str text = { .arena = &ctx->perm };
    struct run run;
    cJSON *json, *nodes;

    run_open(&run, module, DTYPE_F8E4M3, &all, NULL);
    fp8_report_print(run.partition->fp8, true, &ctx->perm, &text);
    ck_assert_str_eq(
        str_text(&text),
        "f8e4m3: 2 of 5 nodes, 2 casts, weights 16 -> 12 bytes\n"
        "  c                            nn.conv2d          all, f8e4m3, weights 8 -> 10 bytes\n"
        "  p                            nn.max_pool2d      f8e4m3: works on the codes: the cast "
        "stands "
        "in front of it\n"
        "  r                            reshape            f8e4m3: works on the codes: the cast "
        "stands "
        "in front of it\n"
        "  d                            nn.dense           all, f8e4m3, weights 8 -> 2 bytes\n"
        "  s\\x22\\x1B                    nn.softmax         float: no target takes nn.softmax in "
        "f8e4m3\n");
    json = fp8_report_json(run.partition->fp8);
    ck_assert_str_eq(cJSON_GetObjectItem(json, "format")->valuestring, "f8e4m3");
    ck_assert_int_eq(cJSON_GetObjectItem(json, "annotated")->valueint, 2);
    ck_assert_int_eq(cJSON_GetObjectItem(json, "weight_bytes_after")->valueint, 12);
    nodes = cJSON_GetObjectItem(json, "nodes");
    ck_assert_int_eq(cJSON_GetArraySize(nodes), 5);
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(nodes, 0), "target")->valuestring,
                     "all");
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(nodes, 4), "node")->valuestring,
                     "s\\x22\\x1B");
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(nodes, 4), "why")->valuestring,
                     "no target takes nn.softmax in f8e4m3");
    cJSON_Delete(json);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- scales and codes against a search -------------------------------------------------------- */

/* E4M3 by its definition; the codes 0x7f and 0xff are no numbers. */
static double own_e4m3(int code)
{
    const int exponent = code >> 3 & 15, mantissa = code & 7;
    const double magnitude = exponent ? ldexp(8 + mantissa, exponent - 10) : ldexp(mantissa, -9);

    return code & 128 ? -magnitude : magnitude;
}

/* The code nearest to a number of at most 448; of two the even one. */
static int own_nearest(double number)
{
    const int sign = signbit(number) ? 128 : 0;
    int best = 0;

    for (int code = 1; code < 0x7f; code++) {
        const double was = fabs(own_e4m3(best) - fabs(number));
        const double is = fabs(own_e4m3(code) - fabs(number));

        if (is < was || (is == was && code % 2 == 0))
            best = code;
    }
    return sign | best;
}

static void check_channel(const float *w, const uint8_t *codes, float scale, int n)
{
    float greatest = 0;

    for (int i = 0; i < n; i++)
        greatest = fmaxf(greatest, fabsf(w[i]));
    ck_assert(scale == (greatest == 0 ? 1 : (float)((double)greatest / 448)));
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(codes[i], own_nearest((double)w[i] / (double)scale));
}

START_TEST(scales_and_codes_are_the_nearest)
{
    enum { CHANNELS = 6, SIZE = 3 * 5 * 5 };
    static const float sizes[CHANNELS] = { 1, 0.001f, 3000, 1e-30f, 0, 7 };
    const char *text = "fn main(%x: (1,3,5,5) f32) -> (%c) {\n"
                       "  const @w : (6,3,5,5) f32 = crc32:00000000\n"
                       "  %c = nn.conv2d(%x, @w) " CONV " : (1,6,1,1) f32\n"
                       "}\n";
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, text, 5);
    float *w = (float *)(uintptr_t)module->main->constants->data, copy[CHANNELS * SIZE];
    const struct node *node;
    const float *scales;
    struct run run;

    for (int i = 0; i < CHANNELS * SIZE; i++)
        copy[i] = w[i] *= sizes[i / SIZE];
    run_open(&run, module, DTYPE_F8E4M3, &all, NULL);
    node = module->main->last;
    ck_assert_int_eq(node->op, OP_MULTIPLY);
    scales = node->inputs[1]->data;
    for (int c = 0; c < CHANNELS; c++)
        check_channel(copy + c * SIZE,
                      (const uint8_t *)node->inputs[0]->def->inputs[1]->data + c * SIZE, scales[c],
                      SIZE);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Numbers so small that the scale would be subnormal: no division by zero, no infinity. */
START_TEST(tiny_weights_do_no_harm)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, DENSE_OF("[1e-45, -1e-44]"), 1);
    struct bulk bulk = { NULL, 0 };
    struct tensor *y;
    struct run run;

    run_open(&run, module, DTYPE_F8E4M3, &all, NULL);
    y = graph_run(module, 1, &bulk);
    ck_assert_ptr_nonnull(y);
    ck_assert_double_eq(tensor_at(&y[0], 0), 0);
    bulk_release(&bulk);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- legalize -------------------------------------------------------------------------------- */

static const struct {
    const char *before, *after;
} host_graphs[] = {
    { "fn main(%x: (1,1,2,2) f32) -> (%c, %d) {\n"
      "  const @w : (2,1,1,1) f8e4m3 = [0x7e, 0x2a]\n"
      "  const @v : (1,1,1,1) f8e5m2 = [0x3c]\n"
      "  %q = cast(%x) " CAST " : (1,1,2,2) f8e4m3\n"
      "  %c = nn.conv2d(%q, @w) " CONV8 " : (1,2,2,2) f32\n"
      "  %d = nn.conv2d(%q, @v) " CONV8 " : (1,1,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%c, %d) {\n"
      "  const @w : (2,1,1,1) f32 = [448, 0.3125]\n"
      "  const @v : (1,1,1,1) f32 = [1]\n"
      "  %q = cast(%x) " CAST " : (1,1,2,2) f8e4m3\n"
      "  %q.f32 = cast(%q) {dtype=f32, saturate=true} : (1,1,2,2) f32\n"
      "  %c = nn.conv2d(%q.f32, @w) " CONV " : (1,2,2,2) f32\n"
      "  %q.f32_2 = cast(%q) {dtype=f32, saturate=true} : (1,1,2,2) f32\n"
      "  %d = nn.conv2d(%q.f32_2, @v) " CONV " : (1,1,2,2) f32\n"
      "}\n" },
    { "fn main(%x: (2,2) f32) -> (%a) {\n"
      "  %q = cast(%x) " CAST " : (2,2) f8e4m3\n"
      "  %a = nn.matmul(%q, %q) {transpose_a=false, transpose_b=true, out_dtype=f32} : (2,2) f32\n"
      "}\n",
      "fn main(%x: (2,2) f32) -> (%a) {\n"
      "  %q = cast(%x) " CAST " : (2,2) f8e4m3\n"
      "  %q.f32 = cast(%q) {dtype=f32, saturate=true} : (2,2) f32\n"
      "  %a = nn.matmul(%q.f32, %q.f32) {transpose_a=false, transpose_b=true} : (2,2) f32\n"
      "}\n" },
    { "fn main(%x: (1,1,2,2) f8e5m2) -> (%p, %t) {\n"
      "  %p = nn.max_pool2d(%x) " POOL " : (1,1,1,1) f8e5m2\n"
      "  %t = transpose(%x) {axes=[0,1,3,2]} : (1,1,2,2) f8e5m2\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f8e5m2) -> (%p, %t) {\n"
      "  %x.f32 = cast(%x) {dtype=f32, saturate=true} : (1,1,2,2) f32\n"
      "  %p.max_pool = nn.max_pool2d(%x.f32) " POOL " : (1,1,1,1) f32\n"
      "  %p = cast(%p.max_pool) {dtype=f8e5m2, saturate=false} : (1,1,1,1) f8e5m2\n"
      "  %t = transpose(%x) {axes=[0,1,3,2]} : (1,1,2,2) f8e5m2\n"
      "}\n" },
};

START_TEST(host_computes_f32)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, host_graphs[_i].before, 1);
    struct run run;

    run_open(&run, module, DTYPE_NONE, NULL, NULL);
    ck_assert(partition_run_one(run.partition, "legalize"));
    expect_graph(module, host_graphs[_i].after);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(report_says_what_ended_on_the_host)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, report_graph, 1);
    struct str text = { .arena = &ctx->perm };
    struct run run;

    run_open(&run, module, DTYPE_F8E4M3, &all, NULL);
    ck_assert(partition_run_one(run.partition, "legalize"));
    fp8_report_print(run.partition->fp8, true, &ctx->perm, &text);
    ck_assert_ptr_nonnull(strstr(str_text(&text), "weights 16 -> 24 bytes\n")); /* 8 of scales */
    ck_assert_ptr_nonnull(strstr(
        str_text(&text), "all, f8e4m3, weights 8 -> 16 bytes, ends on c: computed in f32\n"));
    ck_assert_ptr_nonnull(
        strstr(str_text(&text), "nn.dense           all, f8e4m3, ends on c: computed in f32\n"));
    ck_assert(!run.partition->fp8->lines[1].on_host);
    text.n = 0;
    fp8_report_print(run.partition->fp8, false, &ctx->perm, &text);
    ck_assert_ptr_nonnull(strstr(str_text(&text), "nn.dense "));
    ck_assert_ptr_null(strstr(str_text(&text), "nn.softmax")); /* no product */
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(host_keeps_what_it_has_a_row_for)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, host_graphs[1].before, 1);
    struct run run;

    host = all;
    run_open(&run, module, DTYPE_NONE, NULL, NULL);
    ck_assert(partition_run_one(run.partition, "legalize"));
    expect_graph(module, host_graphs[1].before);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- any graph -------------------------------------------------------------------------------- */

static void check_invariants(const struct function *fn)
{
    for (const struct node *node = fn->first; node; node = node->next) {
        ck_assert_msg(node->op != OP_CAST || node->inputs[0]->kind != VALUE_CONSTANT,
                      "a constant is cast at run time");
        for (const struct node *other = node->next; other && node->op == OP_CAST;
             other = other->next)
            ck_assert_msg(other->op != OP_CAST || other->inputs[0] != node->inputs[0] ||
                              other->attrs.cast.dtype != node->attrs.cast.dtype ||
                              node->attrs.cast.dtype == DTYPE_F32,
                          "a value is cast twice");
    }
}

static int products_of_fp8(const struct function *fn)
{
    int n = 0;

    for (const struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_inputs; i++)
            n += node->inputs[i] && dtype_minifloat(node->inputs[i]->type.dtype) &&
                 op_row(node->op)->pattern == PATTERN_OUT_FUSABLE;
    return n;
}

START_TEST(random_graph_is_the_same_on_the_host)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = random_graph(ctx, 60, (unsigned)_i);
    const int n = module->main->ret->n_inputs;
    struct bulk bulk = { NULL, 0 };
    struct tensor *annotated, *legal;
    struct run run;

    run_open(&run, module, DTYPE_F8E4M3, &all, NULL);
    check_invariants(module->main);
    annotated = graph_run(module, 9, &bulk);
    ck_assert(partition_run_one(run.partition, "legalize"));
    ck_assert_int_eq(products_of_fp8(module->main), 0);
    legal = graph_run(module, 9, &bulk);
    ck_assert(annotated && legal);
    /* both sum in double: the same order, the same numbers */
    ck_assert_double_le(graph_difference(legal, annotated, n), 1e-12);
    bulk_release(&bulk);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* The whole way on the host: pooling, moving and casts as C. */
START_TEST(annotated_network_becomes_c)
{
    static const struct generated_case row = { .tolerance = 1e-5, .one_build = true };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, report_graph, 1);
    struct run run;

    run_open(&run, module, DTYPE_F8E4M3, &all, NULL);
    ck_assert(partition_run_one(run.partition, "legalize"));
    ck_assert(pipeline_run_one(module, "fuse_ops"));
    generated_check_module(module, &row, NULL);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- with regions ----------------------------------------------------------------------------- */

static const char npu_json[] =
    "{ \"name\": \"npu\", \"description\": \"for tests\", \"format\": \"extern\",\n"
    "  \"composites\": [ { \"name\": \"conv2d\", \"pattern\": \"conv2d(x, w:const) -> "
    "multiply(_, s:const)? -> bias_add(_, b:const)? -> relu? -> cast?\",\n"
    "    \"where\": [\"x.dtype == f8e4m3\", \"x.dim[1] <= 2\"] } ],\n"
    "  \"limits\": { \"max_nodes\": 4 },\n"
    "  \"fp8\": [ { \"op\": \"conv2d\", \"data\": [\"f8e4m3\"], \"weights\": "
    "[\"f8e4m3\"], \"accumulate\": \"f32\", \"out\": \"f32\", \"weight_scales\": true } "
    "] }\n";

/* The third convolution has too many channels for the target's pattern. */
static const char three_convs[] =
    "fn main(%x: (1,1,4,4) f32) -> (%e) {\n"
    "  const @w : (2,1,1,1) f32 = [2, -4]\n"
    "  const @v : (3,2,1,1) f32 = [1, 2, 3, -4, 5, -6]\n"
    "  const @u : (1,3,1,1) f32 = [1, 2, 3]\n"
    "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,4,4) f32  from Conv \"first\" #0\n"
    "  %r = nn.relu(%c) : (1,2,4,4) f32\n"
    "  %d = nn.conv2d(%r, @v) " CONV " : (1,3,4,4) f32  from Conv \"second\" #1\n"
    "  %e = nn.conv2d(%d, @u) " CONV " : (1,1,4,4) f32  from Conv \"third\" #2\n"
    "}\n";

static struct value *input_of_call(const struct function *fn, int index)
{
    for (const struct node *node = fn->first; node; node = node->next)
        if (node->op == OP_CALL && index-- == 0)
            return node->inputs[0];
    return NULL;
}

START_TEST(what_lies_between_regions_is_fp8)
{
    struct ctx *ctx = ctx_new(NULL);
    struct target *npu = target_parse(ctx, "target.json", npu_json, NULL, NULL);
    struct module *module = graph_parse(ctx, three_convs, 1);
    struct pipeline_options options = { .part = PIPELINE_WHOLE };
    struct bulk bulk = { NULL, 0 };
    struct tensor *annotated, *got;
    struct run run;

    ck_assert_msg(npu != NULL, "%s", expect_text(ctx));
    run_open(&run, module, DTYPE_F8E4M3, npu, NULL);
    annotated = graph_run(module, 3, &bulk);
    partition_free(run.partition);
    module_free(module);

    module = graph_parse(ctx, three_convs, 1);
    run.partition = partition_new(module, &run.options);
    ck_assert_msg(partition_run(run.partition, &options), "%s", expect_text(ctx));
    ck_assert_ptr_nonnull(input_of_call(module->main, 1));
    ck_assert_int_eq(input_of_call(module->main, 0)->type.dtype, DTYPE_F8E4M3);
    ck_assert_int_eq(input_of_call(module->main, 1)->type.dtype, DTYPE_F8E4M3);
    ck_assert_int_eq(input_of_call(module->main, 1)->def->op, OP_CALL); /* no cast on the host */
    ck_assert_ptr_null(input_of_call(module->main, 2));
    ck_assert(!run.partition->fp8->lines[2].on_host);
    ck_assert(run.partition->fp8->lines[3].on_host);
    ck_assert_int_eq(products_of_fp8(module->main), 0);
    got = graph_run(module, 3, &bulk);
    ck_assert(annotated && got);
    ck_assert_double_eq(graph_difference(got, annotated, 1), 0);
    bulk_release(&bulk);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

static void add_tests(TCase *tcase)
{
    tcase_add_loop_test(tcase, graph_becomes, 0, N_ROWS(graphs));
    tcase_add_test(tcase, nothing_happens_without_a_format);
    tcase_add_loop_test(tcase, node_stays_float_because, 0, N_ROWS(refusals));
    tcase_add_test(tcase, targets_are_asked_in_the_order_of_the_user);
    tcase_add_test(tcase, report_names_every_node);
    tcase_add_test(tcase, scales_and_codes_are_the_nearest);
    tcase_add_test(tcase, tiny_weights_do_no_harm);
    tcase_add_loop_test(tcase, host_computes_f32, 0, N_ROWS(host_graphs));
    tcase_add_test(tcase, report_says_what_ended_on_the_host);
    tcase_add_test(tcase, host_keeps_what_it_has_a_row_for);
    tcase_add_loop_test(tcase, random_graph_is_the_same_on_the_host, 0, 40);
    tcase_add_test(tcase, annotated_network_becomes_c);
    tcase_add_test(tcase, what_lies_between_regions_is_fp8);
}

int main(void)
{
    Suite *suite = suite_create("annotate_fp8");
    TCase *tcase = tcase_create("annotate_fp8");
    SRunner *runner;
    int n_failed;

    tcase_add_checked_fixture(tcase, set_up, NULL);
    add_tests(tcase);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
