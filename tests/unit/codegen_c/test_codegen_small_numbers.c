/* Regions that read and write quantised values: operators decode what they read, in front of the
 * anchor and as operands behind it, and encode what they give. Generated C agrees with the
 * reference evaluator, bit for bit where nothing is summed. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/region.h"
#include "tests/support/bits.h"
#include "tests/support/expect.h"
#include "tests/support/run_generated.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* How the numbers are stored: in the text of a graph, D(x) decodes x. */
static const struct storage {
    const char *dtype, *scale, *zero;
    bool cast;
} storages[] = {
    { "f8e4m3", "0.37", "0x00", false }, { "f8e5m2", "0.5", "0x00", false },
    { "f8e4m3fnuz", "", "", true },      { "f8e3m4", "1.25", "0x00", false },
    { "i8", "0.043", "-7", false },      { "u8", "0.25", "0", false },
};

/* One operator each; X becomes the decoded input, of shape SHAPE. */
static const struct row {
    const char *shape, *body, *result;
    double tolerance; /* 0: one rounding at most */
} rows[] = {
    { "1,3,7,6",
      "nn.avg_pool2d(X) {pool_size=[2,3], strides=[2,1], padding=[1,0,0,1], dilation=[1,1]}",
      "1,3,4,5", 1e-5 },
    { "1,2,4,5,4",
      "nn.avg_pool3d(X) {pool_size=[2,2,2], strides=[1,2,1], padding=[0,1,0,0,0,1], "
      "dilation=[1,1,1]}",
      "1,2,3,3,4", 1e-5 },
    { "1,3,7,6",
      "nn.lp_pool2d(X) {pool_size=[2,3], strides=[2,1], padding=[1,0,0,1], dilation=[1,1], p=2}",
      "1,3,4,5", 1e-4 },
    { "1,3,7,6", "nn.global_avg_pool(X)", "1,3,1,1", 1e-5 },
    { "1,3,7,6", "nn.global_max_pool(X)", "1,3,1,1", 0 },
    { "2,3,4", "sum(X) {axis=[1], keepdims=true}", "2,1,4", 1e-5 },
    { "2,3,4", "mean(X) {axis=[0,2], keepdims=false}", "3", 1e-5 },
    { "2,3,4", "max(X) {axis=[2], keepdims=false}", "2,3", 0 },
    { "2,3,4", "min(X) {axis=[1], keepdims=false}", "2,4", 0 },
    { "2,5", "prod(X) {axis=[1], keepdims=false}", "2", 1e-4 },
    { "2,5,3", "nn.softmax(X) {axis=1}", "2,5,3", 1e-4 },
    { "4,9", "nn.softmax(X) {axis=1}", "4,9", 1e-4 },
    { "2,5,3", "nn.log_softmax(X) {axis=1}", "2,5,3", 1e-4 },
    { "2,6,5", "nn.lrn(X) {size=3, alpha=0.01, beta=0.75, bias=1}", "2,6,5", 1e-4 },
    { "2,6,5", "nn.lp_normalize(X) {axis=1, p=2}", "2,6,5", 1e-4 },
    { "2,3,4", "transpose(X) {axes=[2,0,1]}", "4,2,3", 0 },
    { "2,6,4", "strided_slice(X) {begin=[0,4,1], strides=[1,-2,1], size=[2,2,3]}", "2,2,3", 0 },
    { "2,3", "broadcast_to(X) {shape=[4,2,3]}", "4,2,3", 0 },
    { "2,3", "tile(X) {shape=[2,2]}", "4,6", 0 },
    { "1,8,2,3", "nn.depth_to_space(X) {block_size=[2,2], mode=\"DCR\"}", "1,2,4,6", 0 },
    { "2,3", "nn.pad(X) {pad_before=[0,1], pad_after=[1,0], mode=\"constant\", value=1.5}", "3,4",
      0 },
    { "2,5", "nn.pad(X) {pad_before=[0,2], pad_after=[0,1], mode=\"reflect\", value=0}", "2,8", 0 },
    { "1,2,3,4",
      "image.resize(X) {size=[1,2,6,8], method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\"}",
      "1,2,6,8", 0 },
    { "1,2,3,4",
      "image.resize(X) {size=[1,2,6,7], method=\"linear\", "
      "coordinate_transformation_mode=\"half_pixel\", rounding_method=\"\"}",
      "1,2,6,7", 1e-5 },
    { "2,6", "nn.dense(X, @w)", "2,5", 1e-4 },
    { "3,6", "nn.matmul(X, @w) {transpose_a=false, transpose_b=true}", "3,5", 1e-4 },
    { "1,2,6,5",
      "nn.conv2d(X, @k) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, "
      "data_layout=\"NCHW\", kernel_layout=\"OIHW\"}",
      "1,3,6,5", 1e-4 },
    { "1,3,6,5",
      "nn.conv2d(X, @g) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=3, "
      "data_layout=\"NCHW\", kernel_layout=\"OIHW\"}",
      "1,3,6,5", 1e-4 },
    { "1,2,4,5",
      "nn.conv2d(X, @p) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, "
      "data_layout=\"NCHW\", kernel_layout=\"OIHW\"}",
      "1,3,4,5", 1e-4 },
    { "3,7", "argmax(X) {axis=1, keepdims=false, select_last_index=false}", "3", 0 },
};

/* Which rows, and which results: of sums the numbers before they are stored, and after, when they
 * may be one step away. */
enum { EXACT, SUMS, SUMS_STORED, N_KINDS };

/* The text of a graph, as it grows: parameters, lines, results. */
struct graph {
    struct arena *arena;
    const struct storage *storage;
    struct str params, lines, results;
};

static struct graph graph_new(struct arena *arena, const struct storage *s)
{
    struct graph graph = { arena, s, { .arena = arena }, { .arena = arena }, { .arena = arena } };

    str_add(&graph.lines, "  const @w : (5,6) f32 = crc32:00000000\n"
                          "  const @k : (3,2,3,3) f32 = crc32:00000000\n"
                          "  const @g : (3,1,3,3) f32 = crc32:00000000\n"
                          "  const @p : (3,2,1,1) f32 = crc32:00000000\n");
    if (!s->cast)
        str_printf(&graph.lines, "  const @s : () f32 = [%s]\n  const @z : () %s = [%s]\n",
                   s->scale, s->dtype, s->zero);
    return graph;
}

static const char *graph_end(struct graph *graph)
{
    return arena_printf(graph->arena, "fn main(%s) -> (%s) {\n%s}\n", str_text(&graph->params),
                        str_text(&graph->results), str_text(&graph->lines));
}

static void add_result(struct graph *graph, const char *letter, int i)
{
    str_printf(&graph->results, "%s%%%s%d", graph->results.n ? ", " : "", letter, i);
}

static void decode(struct graph *graph, const char *to, const char *from, int i, const char *shape)
{
    str_printf(&graph->lines,
               graph->storage->cast
                   ? "  %%%s%d = cast(%%%s%d) {dtype=f32, saturate=true} : (%s) f32\n"
                   : "  %%%s%d = qnn.dequantize(%%%s%d, @s, @z) {axis=0} : (%s) f32\n",
               to, i, from, i, shape);
}

static void encode(struct graph *graph, const char *to, const char *from, int i, const char *shape)
{
    const char *dtype = graph->storage->dtype;

    if (graph->storage->cast)
        str_printf(&graph->lines, "  %%%s%d = cast(%%%s%d) {dtype=%s, saturate=true} : (%s) %s\n",
                   to, i, from, i, dtype, shape, dtype);
    else
        str_printf(&graph->lines,
                   "  %%%s%d = qnn.quantize(%%%s%d, @s, @z) {axis=0, saturate=true} : (%s) %s\n",
                   to, i, from, i, shape, dtype);
}

static void apply(struct graph *graph, const struct row *row, const char *to, const char *from,
                  int i)
{
    str_printf(&graph->lines, "  %%%s%d = ", to, i);
    for (const char *c = row->body; *c; c++) {
        if (*c == 'X')
            str_printf(&graph->lines, "%%%s%d", from, i);
        else
            str_addn(&graph->lines, c, 1);
    }
    str_printf(&graph->lines, " : (%s) %s\n", row->result,
               str_starts(row->body, "arg") ? "i64" : "f32");
}

/* y: the operator on what it decodes. q: with an encoder behind it. */
static void add_row(struct graph *graph, const struct row *row, int i, int kind)
{
    str_printf(&graph->params, "%s%%x%d: (%s) %s", graph->params.n ? ", " : "", i, row->shape,
               graph->storage->dtype);
    decode(graph, "d", "x", i, row->shape);
    apply(graph, row, "y", "d", i);
    if (kind != SUMS_STORED)
        add_result(graph, "y", i);
    if (kind == SUMS || str_starts(row->body, "arg"))
        return;
    decode(graph, "e", "x", i, row->shape);
    apply(graph, row, "p", "e", i);
    encode(graph, "q", "p", i, row->result);
    if (kind == SUMS_STORED)
        decode(graph, "r", "q", i, row->result);
    add_result(graph, kind == EXACT ? "q" : "r", i);
}

/* Nobody decodes for others: a region of nothing but a decoder would keep f32 in the arena. */
static void check_regions(const struct module *module)
{
    for (const struct function *fn = module->functions->next; fn; fn = fn->next)
        ck_assert_msg(fn->first->next || !is_decoder(fn->last), "%s is %s", fn->name,
                      fn->composite);
}

static void run(const char *text, double tolerance)
{
    const struct generated_case row = {
        .text = text, .low = -3, .high = 3, .tolerance = tolerance
    };
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &row);

    check_regions(module);
    generated_check_module(module, &row, NULL);
    module_free(module);
    ctx_free(ctx);
}

START_TEST(operators_read_codes)
{
    static const double tolerance[] = { [EXACT] = 0, [SUMS] = 1e-4, [SUMS_STORED] = 0.15 };
    struct arena arena = { NULL };
    struct graph graph = graph_new(&arena, &storages[_i / N_KINDS]);
    const int kind = _i % N_KINDS;

    for (int i = 0; i < N_ROWS(rows); i++)
        if ((rows[i].tolerance > 0) == (kind != EXACT))
            add_row(&graph, &rows[i], i, kind);
    run(graph_end(&graph), tolerance[kind]);
    arena_release(&arena);
}
END_TEST

START_TEST(what_is_rounded_once_has_the_same_bits_on_every_processor)
{
    struct arena arena = { NULL };
    struct graph graph = graph_new(&arena, &storages[_i]);

    for (int i = 0; i < N_ROWS(rows); i++)
        if (rows[i].tolerance == 0)
            add_row(&graph, &rows[i], i, EXACT);
    bits_check(graph_end(&graph));
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codegen_small_numbers");
    TCase *tcase = tcase_create("codegen_small_numbers");
    TCase *processors = tcase_create("processors");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, operators_read_codes, 0, N_KINDS * N_ROWS(storages));
    tcase_set_timeout(processors, 0);
    tcase_add_loop_test(processors, what_is_rounded_once_has_the_same_bits_on_every_processor, 0,
                        N_ROWS(storages));
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, processors);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
