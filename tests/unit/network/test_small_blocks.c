/* Blocks of networks in the form that quantisation leaves (QDQ): after all passes, generated C
 * keeps nothing but codes in its arena, and its results are those of the reference evaluator. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/codegen.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* D(v): v as it is read, decoded from codes; where `codes` is empty, v itself. */
struct text {
    struct arena *arena;
    struct str lines;
    const char *codes; /* "f8e4m3"; "" = a network of f32 */
    int n;
};

/* Encodes value `v` with scale @s, decodes it again: the name of what is read. */
static const char *stored(struct text *text, const char *v, const char *shape)
{
    const int i = text->n++;

    if (!*text->codes)
        return v;
    str_printf(&text->lines,
               "  %%q%d = qnn.quantize(%s, @s%d, @z) {axis=0, saturate=true} : (%s) %s\n"
               "  %%d%d = qnn.dequantize(%%q%d, @s%d, @z) {axis=0} : (%s) f32\n",
               i, v, i % 3, shape, text->codes, i, i, i % 3, shape);
    return arena_printf(text->arena, "%%d%d", i);
}

/* A reader of its own of what the last `stored` encoded. */
static const char *stored_again(struct text *text, const char *decoded, const char *shape)
{
    const int of = atoi(decoded + 2), i = text->n++;

    if (!*text->codes)
        return decoded;
    str_printf(&text->lines, "  %%d%d = qnn.dequantize(%%q%d, @s%d, @z) {axis=0} : (%s) f32\n", i,
               of, of % 3, shape);
    return arena_printf(text->arena, "%%d%d", i);
}

static const char *apply(struct text *text, const char *name, const char *shape, const char *op,
                         const char *inputs, const char *attrs)
{
    str_printf(&text->lines, "  %%%s = %s(%s)%s%s%s : (%s) f32\n", name, op, inputs,
               *attrs ? " {" : "", attrs, *attrs ? "}" : "", shape);
    return arena_printf(text->arena, "%%%s", name);
}

static const char *two(struct text *text, const char *a, const char *b)
{
    return arena_printf(text->arena, "%s, %s", a, b);
}

static const char conv3[] =
    "strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, data_layout=\"NCHW\", "
    "kernel_layout=\"OIHW\"";
static const char depthwise[] =
    "strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=8, data_layout=\"NCHW\", "
    "kernel_layout=\"OIHW\"";
static const char conv1[] =
    "strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NCHW\", "
    "kernel_layout=\"OIHW\"";
static const char pool2[] = "pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], dilation=[1,1]";
static const char big[] = "1,8,16,16";

/* conv - relu - conv - add(x) - relu - max_pool - global_avg_pool. */
static const char *resnet_block(struct text *t)
{
    const char *x = stored(t, "%x", big), *y;

    y = apply(t, "c1", big, "nn.conv2d", two(t, x, "%w1"), conv3);
    y = stored(t, apply(t, "r1", big, "nn.relu", y, ""), big);
    y = apply(t, "c2", big, "nn.conv2d", two(t, y, "%w2"), conv3);
    y = apply(t, "a", big, "add", two(t, y, stored_again(t, x, big)), "");
    y = stored(t, apply(t, "r2", big, "nn.relu", y, ""), big);
    y = apply(t, "m", "1,8,8,8", "nn.max_pool2d", y, pool2);
    y = stored(t, y, "1,8,8,8");
    return apply(t, "g", "1,8,1,1", "nn.global_avg_pool", y, "");
}

/* pointwise - relu - depthwise - squeeze and excite - pointwise - concatenate(x) - average. */
static const char *mobilenet_block(struct text *t)
{
    const char *x = stored(t, "%x", big), *y, *s;

    y = apply(t, "c1", big, "nn.conv2d", two(t, x, "%p1"), conv1);
    y = stored(t, apply(t, "r1", big, "nn.relu", y, ""), big);
    y = apply(t, "c2", big, "nn.conv2d", two(t, y, "%dw"), depthwise);
    y = stored(t, apply(t, "r2", big, "nn.relu", y, ""), big);
    s = apply(t, "g", "1,8,1,1", "nn.global_avg_pool", stored_again(t, y, big), "");
    s = stored(t, s, "1,8,1,1");
    s = apply(t, "e", "1,8,1,1", "nn.conv2d", two(t, s, "%p2"), conv1);
    s = stored(t, apply(t, "h", "1,8,1,1", "sigmoid", s, ""), "1,8,1,1");
    y = stored(t, apply(t, "m", big, "multiply", two(t, y, s), ""), big);
    y = apply(t, "c3", big, "nn.conv2d", two(t, y, "%p3"), conv1);
    y = stored(t, y, big);
    y = apply(t, "j", "1,16,16,16", "concatenate", two(t, y, stored_again(t, x, big)), "axis=1");
    y = stored(t, y, "1,16,16,16");
    y = apply(t, "v", "1,16,8,8", "nn.avg_pool2d", y, pool2);
    y = stored(t, y, "1,16,8,8");
    y = apply(t, "k", "1,16,1,1", "mean", y, "axis=[2,3], keepdims=true");
    y = apply(t, "l", "1,16", "reshape", y, "shape=[1,16]");
    return apply(t, "f", "1,16", "nn.softmax", stored(t, y, "1,16"), "axis=1");
}

/* Of each weight: its name and shape. */
static const char *const weights[][2] = {
    { "w1", "8,8,3,3" }, { "w2", "8,8,3,3" }, { "p1", "8,8,1,1" },
    { "p2", "8,8,1,1" }, { "p3", "8,8,1,1" }, { "dw", "8,1,3,3" },
};

static void add_weights(struct str *out, const struct text *text)
{
    for (int i = 0; i < N_ROWS(weights); i++) {
        const char *name = weights[i][0], *shape = weights[i][1];

        if (!strstr(text->lines.text, arena_printf(text->arena, "%%%s)", name)))
            continue;
        if (*text->codes)
            str_printf(out,
                       "  const @%sq : (%s) %s = crc32:00000000\n"
                       "  %%%s = qnn.dequantize(@%sq, @sw, @z) {axis=0} : (%s) f32\n",
                       name, shape, text->codes, name, name, shape);
        else
            str_printf(out,
                       "  const @%sq : (%s) f32 = crc32:00000000\n"
                       "  %%%s = multiply(@%sq, @sw) : (%s) f32\n",
                       name, shape, name, name, shape);
    }
}

static const char *graph_of(struct arena *arena, const char *codes,
                            const char *(*block)(struct text *text))
{
    struct text text = { .arena = arena, .lines.arena = arena, .codes = codes };
    struct str head = { .arena = arena };
    const char *result = block(&text);

    str_printf(&head, "  const @sw : () f32 = [%s]\n", strcmp(codes, "i8") == 0 ? "0.3" : "0.25");
    if (*codes)
        str_printf(&head,
                   "  const @s0 : () f32 = [0.031]\n  const @s1 : () f32 = [0.0625]\n"
                   "  const @s2 : () f32 = [0.05]\n  const @z : () %s = [%s]\n",
                   codes, *codes == 'f' ? "0x00" : "0");
    add_weights(&head, &text);
    return arena_printf(arena, "fn main(%%x: (1,8,16,16) f32) -> (%s) {\n%s%s}\n", result,
                        str_text(&head), str_text(&text.lines));
}

static const struct {
    const char *name;
    const char *(*block)(struct text *text);
} blocks[] = { { "resnet", resnet_block }, { "mobilenet", mobilenet_block } };

static const char *const formats[] = { "f8e4m3", "f8e5m2", "f8e3m4", "i8" };

static struct module *optimised(struct ctx *ctx, const char *text)
{
    return generated_module(ctx, &(struct generated_case){ .text = text, .whole_pipeline = true });
}

/* A result of the model, in its own memory or seen in another shape. */
static bool becomes_result(const struct value *value)
{
    const struct node *reader = value_only_user(value);

    return value_is_result(value) ||
           (reader && reader->op == OP_RESHAPE && value_is_result(reader->outputs[0]));
}

/* What regions hand to each other is one byte per element. */
static void check_values(const struct module *module)
{
    for (const struct node *n = module->main->first; n; n = n->next)
        for (int i = 0; i < n->n_outputs; i++)
            ck_assert_msg(dtype_bytes(n->outputs[i]->type.dtype) == 1 ||
                              becomes_result(n->outputs[i]),
                          "%s is %s", n->outputs[i]->name,
                          type_text(&module->ctx->perm, &n->outputs[i]->type));
}

static size_t arena_bytes(struct module *module)
{
    const struct codegen_options options = { .name = "net",
                                             .dir = "/nonexistent",
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "" };
    struct output_set set = { .ctx = module->ctx };
    struct codegen_result result;

    ck_assert_msg(codegen_c(module, &options, &set, &result), "%s", expect_text(module->ctx));
    output_abort(&set);
    return result.arena_bytes;
}

enum { N_FORMATS = N_ROWS(formats), SEED = 5 };

START_TEST(blocks_keep_nothing_but_codes)
{
    const int b = _i / N_FORMATS;
    const char *format = formats[_i % N_FORMATS];
    struct ctx *ctx = ctx_new("net.onnx");
    const char *text = graph_of(&ctx->perm, format, blocks[b].block);
    struct module *small = optimised(ctx, text);
    struct module *wide = optimised(ctx, graph_of(&ctx->perm, "", blocks[b].block));
    const size_t small_bytes = arena_bytes(small), wide_bytes = arena_bytes(wide);

    check_values(small);
    ck_assert_msg(small_bytes * 100 <= wide_bytes * 40, "%s of %s: arena %zu, of f32 %zu",
                  blocks[b].name, format, small_bytes, wide_bytes);
    module_free(small);
    module_free(wide);
    ctx_free(ctx);
}
END_TEST

/* Of the model as it was and as the passes leave it. */
START_TEST(blocks_compute_what_they_did)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const char *text = graph_of(&ctx->perm, formats[_i % N_FORMATS], blocks[_i / N_FORMATS].block);
    struct module *before = graph_parse(ctx, text, SEED), *after = graph_parse(ctx, text, SEED);
    struct bulk bulk = { NULL, 0 };
    const struct tensor *wanted = graph_run(before, SEED, &bulk), *found;
    double difference;

    ck_assert(pipeline_run(after, &(struct pipeline_options){ .dump_after = NULL }));
    found = graph_run(after, SEED, &bulk);
    ck_assert(wanted && found);
    difference = graph_difference(wanted, found, 1);
    ck_assert_msg(difference <= 0.05, "differ by %g", difference);
    bulk_release(&bulk);
    module_free(before);
    module_free(after);
    ctx_free(ctx);
}
END_TEST

/* Sums of f32 may take a number to the next code, and one region that to the next. */
START_TEST(generated_code_computes_the_same)
{
    struct ctx *ctx = ctx_new("net.onnx");

    generated_check(&(struct generated_case){
        .text = graph_of(&ctx->perm, formats[_i % N_FORMATS], blocks[_i / N_FORMATS].block),
        .whole_pipeline = true,
        .tolerance = 0.02 });
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("small_blocks");
    TCase *tcase = tcase_create("small_blocks");
    SRunner *runner = srunner_create(suite);
    const int n = N_ROWS(blocks) * N_FORMATS;
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, blocks_keep_nothing_but_codes, 0, n);
    tcase_add_loop_test(tcase, blocks_compute_what_they_did, 0, n);
    tcase_add_loop_test(tcase, generated_code_computes_the_same, 0, n);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
