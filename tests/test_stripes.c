/* Regions in stripes: the same bits as layer by layer, whatever windows, strides, padding and
 * heights; what the search finds keeps to --ram, and is never larger than without. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "codegen_c/machine.h"
#include "codegen_c/plan/stripe.h"
#include "relay_ir/interpret.h"
#include "relay_ir/passes/pipeline.h"
#include "runtime/engine/generated.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))
#define STRICT                                                                                     \
    "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wsign-conversion -Wdouble-promotion -Wvla "   \
    "-Werror -O1 -fsanitize=undefined,float-cast-overflow -fsanitize-undefined-trap-on-error"

/* --- running -----------------------------------------------------------------------------------
 */

static struct codegen_result generate(struct module *module, const char *dir, size_t ram)
{
    const struct codegen_options options = { .name = "net",
                                             .dir = dir,
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .ram = ram };
    struct output_set set = { .ctx = module->ctx };
    struct codegen_result result;

    ck_assert_msg(codegen_c(module, &options, &set, &result) && output_commit(&set), "%s",
                  expect_text(module->ctx));
    return result;
}

static struct codegen_result run_generated(struct module *module, size_t ram,
                                           const struct tensor *inputs, struct tensor *outputs,
                                           struct bulk *bulk)
{
    struct ctx *ctx = module->ctx;
    struct temp_dir dir = temp_dir_new();
    const struct codegen_result result = generate(module, dir.path, ram);
    const struct generated_options options = { .name = "net",
                                               .dir = dir.path,
                                               .files = result.files,
                                               .n_files = result.n_files,
                                               .libs = result.host_flags,
                                               .compiler = "gcc",
                                               .flags = STRICT };
    struct generated *generated = generated_build(ctx, module->main, &options);

    ck_assert_msg(generated != NULL, "%s", expect_text(ctx));
    ck_assert_msg(generated_run(generated, inputs, outputs, bulk), "%s", expect_text(ctx));
    generated_free(generated);
    temp_dir_free(&dir);
    return result;
}

static void check_bits(const struct tensor *a, const struct tensor *b, const char *what)
{
    for (int64_t i = 0; i < type_elements(&a->type); i++)
        ck_assert_msg(tensor_at(a, i) == tensor_at(b, i), "%s: element %lld is %a, was %a", what,
                      (long long)i, tensor_at(b, i), tensor_at(a, i));
    ck_assert_msg(tensor_equal(a, b), "%s: other bits", what);
}

static void check_equal(const struct module *module, const struct tensor *a, const struct tensor *b,
                        const char *what)
{
    for (int i = 0; i < module->main->ret->n_inputs; i++)
        check_bits(&a[i], &b[i], what);
}

/* All regions of main from `first` to `last` in so many parts: the same bits, and what the
 * reference gives. */
static void check_parts(const char *text, int first, int last, int64_t parts)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const struct generated_case row = { .text = text };
    struct module *module = generated_module(ctx, &row);
    const int n = module->main->ret->n_inputs;
    struct tensor *whole = arena_array(&ctx->perm, struct tensor, n);
    struct tensor *striped = arena_array(&ctx->perm, struct tensor, n);
    struct tensor *wanted = arena_array(&ctx->perm, struct tensor, n);
    struct stripe_choice choice = { first, last, parts };
    struct bulk bulk = { NULL, 0 };
    int n_calls = 0;
    unsigned seed = 7;
    const struct tensor *inputs = random_inputs(&ctx->perm, &bulk, module->main, -2, 2, &seed);
    const char *what = arena_printf(&ctx->perm, "%lld parts of\n%s", (long long)parts, text);

    for (struct node *node = module->main->first; node; node = node->next)
        if (node->op == OP_CALL && n_calls++ >= first && n_calls <= last + 1)
            ck_assert_msg(!rows_of_region(&ctx->perm, node).why, "%s: %s", node->outputs[0]->name,
                          rows_of_region(&ctx->perm, node).why);
    ck_assert(interpret(ctx, module->main, inputs, wanted, &bulk, NULL));
    run_generated(module, 0, inputs, whole, &bulk);
    ck_assert_msg(stripes_outline(module, &(struct stripe_plan){ .n = 1, .at = &choice }), "%s",
                  expect_text(ctx));
    ck_assert_int_eq(run_generated(module, 0, inputs, striped, &bulk).n_striped, last - first + 1);
    check_equal(module, whole, striped, what);
    for (int i = 0; i < n; i++)
        ck_assert_msg(difference(&striped[i], &wanted[i]) <= 1e-5, "%s: output %d differs by %g",
                      what, i, difference(&striped[i], &wanted[i]));
    ck_assert(interpret(ctx, module->main, inputs, whole, &bulk, NULL)); /* calls of calls */
    check_equal(module, whole, wanted, "the graph");
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}

/* --- operators ----------------------------------------------------------------------------------
 */

#define CONV(strides, padding, dilation, groups)                                                   \
    "{strides=[" strides "], padding=[" padding "], dilation=[" dilation "], groups=" groups ", "  \
    "data_layout=\"NHWC\", kernel_layout=\"OIHW\"} "
#define SAME CONV("1,1", "1,1,1,1", "1,1", "1")
#define POINT CONV("1,1", "0,0,0,0", "1,1", "1")
#define POOL(size, strides, padding, ceil, count)                                                  \
    "{pool_size=[" size "], strides=[" strides "], padding=[" padding "], dilation=[1,1], "        \
    "ceil_mode=" ceil ", count_include_pad=" count ", p=0, storage_order=0, layout=\"NHWC\"} "
#define HEAD(type) "fn main(%x: " type " f32) -> (%y) {\n"
#define WEIGHT(name, shape) "  const @" name " : (" shape ") f32 = crc32:00000000\n"

static const struct {
    const char *name, *text;
} cases[] = {
    { "two convolutions",
      HEAD("(1,11,9,3)") WEIGHT("w", "5,3,3,3")
          WEIGHT("v", "4,5,3,3") "  %a = nn.conv2d(%x, @w) " SAME ": (1,11,9,5) f32\n"
                                 "  %y = nn.conv2d(%a, @v) " SAME ": (1,11,9,4) f32\n}\n" },
    { "strides, padding on one side, an odd height",
      HEAD("(1,23,10,4)") WEIGHT("w", "6,4,3,3") WEIGHT("v", "4,6,3,3")
          WEIGHT("u", "3,4,2,2") "  %a = nn.conv2d(%x, @w) " CONV(
              "2,2", "0,0,1,1", "1,1",
              "1") ": (1,11,5,6) f32\n"
                   "  %b = nn.conv2d(%a, @v) " CONV("1,1", "2,1,0,1", "1,1",
                                                    "1") ": (1,11,5,4) f32\n"
                                                         "  %y = nn.conv2d(%b, @u) " CONV(
                                                             "3,2", "0,0,0,0", "1,1",
                                                             "1") ": (1,4,2,3) f32\n}\n" },
    { "dilation, wide kernels",
      HEAD("(1,17,12,4)") WEIGHT("w", "8,4,3,3")
          WEIGHT("v", "4,8,7,5") "  %a = nn.conv2d(%x, @w) " CONV(
              "1,1", "2,2,2,2", "2,2",
              "1") ": (1,17,12,8) f32\n"
                   "  %y = nn.conv2d(%a, @v) " CONV("1,1", "3,2,3,2", "1,1",
                                                    "1") ": (1,17,12,4) f32\n}\n" },
    { "an inverted residual",
      HEAD("(1,13,8,8)") WEIGHT("w", "24,8,1,1") WEIGHT("d", "24,1,3,3")
          WEIGHT("v", "8,24,1,1") "  %a = nn.conv2d(%x, @w) " POINT ": (1,13,8,24) f32\n"
                                  "  %r = nn.relu(%a) : (1,13,8,24) f32\n"
                                  "  %b = nn.conv2d(%r, @d) " CONV(
                                      "1,1", "1,1,1,1", "1,1",
                                      "24") ": (1,13,8,24) f32\n"
                                            "  %c = nn.conv2d(%b, @v) " POINT ": (1,13,8,8) f32\n"
                                            "  %y = add(%c, %x) : (1,13,8,8) f32\n}\n" },
    { "a residual inside, a depthwise convolution with stride 2",
      HEAD("(1,14,10,8)") WEIGHT("w", "8,8,3,3") WEIGHT("v", "8,8,3,3")
          WEIGHT("d", "8,1,3,3") "  %a = nn.conv2d(%x, @w) " SAME ": (1,14,10,8) f32\n"
                                 "  %b = nn.conv2d(%a, @v) " SAME ": (1,14,10,8) f32\n"
                                 "  %r = nn.conv2d(%b, @w) " SAME ": (1,14,10,8) f32\n"
                                 "  %c = add(%r, %a) : (1,14,10,8) f32\n"
                                 "  %y = nn.conv2d(%c, @d) " CONV("2,2", "1,1,1,1", "1,1",
                                                                  "8") ": (1,7,5,8) f32\n}\n" },
    { "pools", HEAD("(1,21,12,8)") WEIGHT("w", "8,8,3,3") "  %a = nn.max_pool2d(%x) " POOL(
                   "3,3", "2,2", "1,1,1,1", "false",
                   "false") ": (1,11,6,8) f32\n"
                            "  %b = nn.avg_pool2d(%a) " POOL(
                                "3,3", "1,1", "1,1,1,1", "false",
                                "true") ": (1,11,6,8) f32\n"
                                        "  %c = nn.conv2d(%b, @w) " SAME ": (1,11,6,8) f32\n"
                                        "  %d = nn.avg_pool2d(%c) " POOL(
                                            "3,3", "2,2", "1,1,1,1", "false",
                                            "false") ": (1,6,3,8) f32\n"
                                                     "  %y = nn.avg_pool2d(%d) " POOL(
                                                         "3,2", "3,2", "0,0,0,0", "true",
                                                         "true") ": (1,2,2,8) f32\n}\n" },
    { "a concatenation of branches",
      HEAD("(1,9,8,6)") WEIGHT("w", "4,6,1,1") WEIGHT("v", "8,4,3,3") WEIGHT("u", "8,4,1,1")
          WEIGHT("t", "4,16,3,3") "  %a = nn.conv2d(%x, @w) " POINT ": (1,9,8,4) f32\n"
                                  "  %b = nn.conv2d(%a, @v) " SAME ": (1,9,8,8) f32\n"
                                  "  %c = nn.conv2d(%a, @u) " POINT ": (1,9,8,8) f32\n"
                                  "  %d = concatenate(%b, %c) {axis=3} : (1,9,8,16) f32\n"
                                  "  %y = nn.conv2d(%d, @t) " CONV("2,2", "1,1,1,1", "1,1",
                                                                   "1") ": (1,5,4,4) f32\n}\n" },
    { "planes, and one operand for all rows",
      "fn main(%x: (1,3,15,10) f32, %v: (1,1,5,8) f32, %u: (8) f32) -> (%y) {\n" WEIGHT("w",
                                                                                        "8,3,3,3")
          WEIGHT("t", "8,8,3,3") "  %a = nn.conv2d(%x, @w) {strides=[2,2], padding=[1,1,1,1], "
                                 "dilation=[1,1], groups=1, "
                                 "data_layout=\"NCHW\", out_layout=\"NHWC\", "
                                 "kernel_layout=\"OIHW\"} : (1,8,5,8) f32\n"
                                 "  %b = multiply(%a, %v) : (1,8,5,8) f32\n"
                                 "  %c = nn.conv2d(%b, @t) " SAME ": (1,8,5,8) f32\n"
                                 "  %y = add(%c, %u) : (1,8,5,8) f32\n}\n" },
    { "a sequence",
      HEAD("(1,31,6)") WEIGHT("w", "8,6,5") WEIGHT(
          "v",
          "4,8,3") "  %a = nn.conv1d(%x, @w) {strides=[2], padding=[2,2], dilation=[1], groups=1, "
                   "data_layout=\"NWC\", kernel_layout=\"OIW\"} : (1,16,8) f32\n"
                   "  %y = nn.conv1d(%a, @v) {strides=[1], padding=[2,0], dilation=[1], groups=1, "
                   "data_layout=\"NWC\", kernel_layout=\"OIW\"} : (1,16,4) f32\n}\n" },
    { "results that are read outside as well",
      "fn main(%x: (1,12,8,4) f32) -> (%a, %y) {\n" WEIGHT("w", "4,4,3,3")
          WEIGHT("v", "4,4,3,3") "  %a = nn.conv2d(%x, @w) " SAME ": (1,12,8,4) f32\n"
                                 "  %y = nn.conv2d(%a, @v) " CONV("2,2", "1,1,0,0", "1,1",
                                                                  "1") ": (1,6,4,4) f32\n}\n" },
};

/* A stripe for each row, some rows, uneven ones, and half of the height. */
static const int64_t parts[] = { 100, 5, 3, 2 };

static int count_regions(const char *text)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });
    int n = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        n += node->op == OP_CALL;
    module_free(module);
    ctx_free(ctx);
    return n;
}

START_TEST(stripes_have_the_bits_of_layers)
{
    const char *text = cases[_i / N_ROWS(parts)].text;

    check_parts(text, 0, count_regions(text) - 1, parts[_i % N_ROWS(parts)]);
}
END_TEST

/* What is left outside reads and is read. */
START_TEST(some_of_the_regions)
{
    const char *text = cases[5].text;

    check_parts(text, 0, 2, 4);
    check_parts(text, 2, 4, 3);
}
END_TEST

/* An image in planes: rows are read where they lie, but for groups, whose planes are gathered. */
#define PLANES(padding, groups, rows)                                                              \
    "  %a = nn.conv2d(%x, @w) {strides=[2,2], padding=[" padding "], dilation=[1,1], "             \
    "groups=" groups ", data_layout=\"NCHW\", out_layout=\"NHWC\", kernel_layout=\"OIHW\"} "       \
    ": (1," rows ",9,6) f32\n"                                                                     \
    "  %y = nn.conv2d(%a, @t) " SAME ": (1," rows ",9,4) f32\n}\n"

static const struct {
    const char *text;
    bool gathers;
} images[] = {
    { HEAD("(1,3,37,18)") WEIGHT("w", "6,3,3,3") WEIGHT("t", "4,6,3,3")
          PLANES("1,1,1,1", "1", "19"),
      false },
    { HEAD("(1,3,37,19)") WEIGHT("w", "6,3,3,3") WEIGHT("t", "4,6,3,3")
          PLANES("0,0,0,0", "1", "18"),
      false },
    { HEAD("(1,40,37,18)") WEIGHT("w", "6,40,3,3") WEIGHT("t", "4,6,3,3")
          PLANES("1,1,1,1", "1", "19"),
      false }, /* more under the kernel than has offsets */
    { HEAD("(1,3,37,18)") WEIGHT("w", "6,1,3,3") WEIGHT("t", "4,6,3,3")
          PLANES("1,1,1,1", "3", "19"),
      true },
};

static bool has_text(struct ctx *ctx, const char *dir, const char *wanted)
{
    struct mapping file;
    const char *text;

    ck_assert(file_map(ctx, arena_printf(&ctx->perm, "%s/net.c", dir), &file));
    text = arena_printf(&ctx->perm, "%.*s", (int)file.size, (const char *)file.data);
    file_unmap(&file);
    return strstr(text, wanted) != NULL;
}

START_TEST(planes_are_read_where_they_lie)
{
    const struct generated_case row = { .text = images[_i].text };
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &row);
    struct temp_dir dir = temp_dir_new();
    struct stripe_choice choice = { 0, 1, 4 };

    check_parts(row.text, 0, 1, 4);
    check_parts(row.text, 0, 1, 100);
    ck_assert(stripes_outline(module, &(struct stripe_plan){ .n = 1, .at = &choice }));
    generate(module, dir.path, 0);
    ck_assert(has_text(ctx, dir.path, "gather_rows(") == images[_i].gathers);
    ck_assert(has_text(ctx, dir.path, "PLANE_H") != images[_i].gathers);
    temp_dir_free(&dir);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* What has no rows of this kind, and why. */
static const struct {
    const char *line, *why;
} refusals[] = {
    { "  %y = nn.max_pool2d(%x) " POOL("4,2", "3,2", "0,0,0,0", "true", "true") ": (1,3,4,4) f32\n",
      "its last window reaches beyond the padding" },
    { "  %y = nn.softmax(%x) {axis=1} : (1,9,8,4) f32\n",
      "its rows need more than a few rows of what it reads" },
    { "  %y = concatenate(%x, %x) {axis=1} : (1,18,8,4) f32\n", "it puts rows below each other" },
    { "  %a = nn.conv2d(%x, @w) " SAME ": (1,9,8,4) f32\n  %y = add(%a, %x) : (1,9,8,4) f32\n",
      "it reads an argument in two ways" },
};

START_TEST(what_has_no_stripes)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const char *text = arena_printf(&ctx->perm, "%s%s%s}\n", HEAD("(1,9,8,4)"),
                                    WEIGHT("w", "4,4,3,3"), refusals[_i].line);
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });

    ck_assert_str_eq(rows_of_region(&ctx->perm, module->main->last).why, refusals[_i].why);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- the search ---------------------------------------------------------------------------------
 */

enum { MAX_NODES = 9, N_RANDOM = 12 };

static unsigned next(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % n;
}

/* A chain with residuals and branches; every value lies channels last. */
struct growth {
    struct str constants, lines;
    struct arena *arena;
    unsigned seed;
    int n_values;
    struct {
        int h, w, c;
    } shape[MAX_NODES + 1];
};

static void grow_conv(struct growth *g, int from)
{
    const int h = g->shape[from].h, w = g->shape[from].w, c = g->shape[from].c, i = ++g->n_values;
    const bool depthwise = next(&g->seed, 3) == 0;
    const int k = (int)next(&g->seed, 3) + 1 + (depthwise ? 2 : 0),
              s = h > 6 ? (int)next(&g->seed, 2) + 1 : 1;
    const int top = (int)next(&g->seed, (unsigned)k), bottom = (int)next(&g->seed, (unsigned)k);
    const int out = depthwise ? c : 4 * ((int)next(&g->seed, 5) + 1);

    g->shape[i].h = (h + top + bottom - k) / s + 1;
    g->shape[i].w = (w + 2 * (k / 2) - k) / s + 1;
    g->shape[i].c = out;
    str_printf(&g->constants, "  const @w%d : (%d,%d,%d,%d) f32 = crc32:00000000\n", i, out,
               depthwise ? 1 : c, k, k);
    str_printf(&g->lines,
               "  %%v%d = nn.conv2d(%%v%d, @w%d) {strides=[%d,%d], padding=[%d,%d,%d,%d], "
               "dilation=[1,1], groups=%d, data_layout=\"NHWC\", kernel_layout=\"OIHW\"} : "
               "(1,%d,%d,%d) f32\n",
               i, from, i, s, s, top, k / 2, bottom, k / 2, depthwise ? c : 1, g->shape[i].h,
               g->shape[i].w, out);
}

/* An older value of the same shape, but that with the number `not`; -1 = none. */
static int alike(const struct growth *g, int of)
{
    for (int i = 0; i < of; i++)
        if (g->shape[i].h == g->shape[of].h && g->shape[i].w == g->shape[of].w &&
            g->shape[i].c == g->shape[of].c)
            return i;
    return -1;
}

static void grow_join(struct growth *g, int from, int other)
{
    const bool concat = next(&g->seed, 2) == 0;
    const int i = ++g->n_values;

    g->shape[i] = g->shape[from];
    g->shape[i].c *= 1 + concat;
    str_printf(&g->lines, "  %%v%d = %s(%%v%d, %%v%d) %s: (1,%d,%d,%d) f32\n", i,
               concat ? "concatenate" : "add", from, other, concat ? "{axis=3} " : "",
               g->shape[i].h, g->shape[i].w, g->shape[i].c);
}

static const char *grow(struct arena *arena, unsigned seed)
{
    struct growth g = {
        .constants = { .arena = arena }, .lines = { .arena = arena }, .arena = arena, .seed = seed
    };

    g.shape[0].h = 16 + (int)next(&g.seed, 17);
    g.shape[0].w = 6 + (int)next(&g.seed, 7);
    g.shape[0].c = 4;
    while (g.n_values < MAX_NODES) {
        const int from = g.n_values, other = alike(&g, from);

        if (other >= 0 && next(&g.seed, 2) == 0)
            grow_join(&g, from, other);
        else
            grow_conv(&g, from);
    }
    return arena_printf(arena, "fn main(%%v0: (1,%d,%d,%d) f32) -> (%%v%d) {\n%s%s}\n",
                        g.shape[0].h, g.shape[0].w, g.shape[0].c, g.n_values, g.constants.text,
                        g.lines.text);
}

/* Whether that much RAM is enough; its errors are forgotten. */
static bool fits(struct module *module, size_t ram, size_t *bytes)
{
    const struct codegen_options options = { .name = "net",
                                             .dir = "/nonexistent",
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .ram = ram };
    struct output_set set = { .ctx = module->ctx };
    const struct diags saved = diag_save(module->ctx);
    struct codegen_result result;
    const bool ok = codegen_c(module, &options, &set, &result);

    output_abort(&set);
    diag_restore(module->ctx, saved);
    *bytes = result.arena_bytes;
    ck_assert(stripes_inline(module));
    return ok;
}

START_TEST(random_chains_fit_and_have_the_bits)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const char *text = grow(&ctx->perm, (unsigned)_i);
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });
    struct tensor whole, striped, wanted;
    struct bulk bulk = { NULL, 0 };
    unsigned seed = 3;
    const struct tensor *inputs = random_inputs(&ctx->perm, &bulk, module->main, -1, 1, &seed);
    const size_t bytes = run_generated(module, 0, inputs, &whole, &bulk).arena_bytes;
    size_t least = bytes, found;
    struct codegen_result result;

    ck_assert(interpret(ctx, module->main, inputs, &wanted, &bulk, NULL));
    ck_assert_msg(difference(&whole, &wanted) < 1e-4, "%s", text);
    for (size_t ram = bytes * 7 / 8; fits(module, ram, &found); ram = ram * 7 / 8) {
        ck_assert_msg(found <= ram, "%zu bytes, %zu were allowed: %s", found, ram, text);
        least = found;
    }
    ck_assert_msg(least == bytes || fits(module, bytes - 1, &found),
                  "%zu bytes are found, but not %zu: %s", least, bytes - 1, text);
    result = run_generated(module, least, inputs, &striped, &bulk);
    ck_assert_uint_le(result.arena_bytes, least);
    ck_assert(least == bytes || result.n_stripes > 0);
    check_bits(&whole, &striped, text);
    printf("%zu -> %zu bytes, %d of %d layers\n", bytes, least, result.n_striped,
           result.n_striped + result.n_regions - result.n_stripes);
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Without --ram, and where the arena fits, nothing changes; outlining and back is the same graph.
 */
START_TEST(nothing_changes_unasked)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module =
        generated_module(ctx, &(struct generated_case){ .text = cases[3].text });
    struct temp_dir dir = temp_dir_new();
    const size_t bytes = generate(module, dir.path, 0).arena_bytes;
    struct codegen_result result;

    ck_assert_int_eq(generate(module, dir.path, bytes).n_stripes, 0);
    result = generate(module, dir.path, bytes / 2);
    ck_assert_int_gt(result.n_stripes, 0);
    ck_assert_uint_eq(result.arena_whole_bytes, bytes);
    ck_assert(stripes_inline(module));
    ck_assert_uint_eq(generate(module, dir.path, 0).arena_bytes, bytes);
    temp_dir_free(&dir);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- for speed ----------------------------------------------------------------------------------
 */

static const char wide[] = HEAD("(1,112,112,8)") WEIGHT("w", "96,8,1,1") WEIGHT("d", "96,1,3,3")
    WEIGHT("v", "16,96,1,1") "  %a = nn.conv2d(%x, @w) " POINT ": (1,112,112,96) f32\n"
                             "  %r = nn.relu(%a) : (1,112,112,96) f32\n"
                             "  %b = nn.conv2d(%r, @d) " CONV(
                                 "2,2", "1,1,1,1", "1,1", "96") ": (1,56,56,96) f32\n"
                                                                "  %y = nn.conv2d(%b, @v) " POINT
                                                                ": (1,56,56,16) f32\n}\n";

/* How `wide` is made for a machine, and what it computes, if y is not NULL. */
static struct codegen_result make_wide(struct ctx *ctx, const struct codegen_options *wanted,
                                       const char *machine, struct tensor *y, struct bulk *bulk)
{
    const struct machine *of = machine_find(ctx, machine);
    struct module *module =
        generated_module(ctx, &(struct generated_case){ .text = wide, .machine = of });
    struct temp_dir dir = temp_dir_new();
    struct codegen_options options = *wanted;
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;
    unsigned seed = 5;

    options.name = "net";
    options.dir = dir.path;
    options.model_file = "net.onnx";
    options.model_sha256 = options.command = "";
    options.machine = of;
    ck_assert_msg(codegen_c(module, &options, &set, &result) && output_commit(&set), "%s",
                  expect_text(ctx));
    if (y) {
        const struct generated_options build = { .name = "net",
                                                 .dir = dir.path,
                                                 .files = result.files,
                                                 .n_files = result.n_files,
                                                 .libs = result.host_flags,
                                                 .compiler = "gcc",
                                                 .flags = STRICT " -Wno-psabi" };
        struct generated *generated = generated_build(ctx, module->main, &build);

        ck_assert_msg(generated != NULL, "%s", expect_text(ctx));
        ck_assert_msg(generated_run(generated,
                                    random_inputs(&ctx->perm, bulk, module->main, -1, 1, &seed), y,
                                    bulk),
                      "%s", expect_text(ctx));
        generated_free(generated);
    }
    temp_dir_free(&dir);
    module_free(module);
    return result;
}

/* Maps that would leave the second cache, where the third is far: the bits of whole layers, in no
 * larger an arena; not where --ram, parts or size are asked for. */
START_TEST(maps_stay_in_the_second_cache)
{
    static const char far[] = "sapphirerapids";
    struct ctx *ctx = ctx_new("net.onnx");
    struct tensor striped, whole;
    struct bulk bulk = { NULL, 0 };
    const struct codegen_result fast =
        make_wide(ctx, &(struct codegen_options){ .ram = 0 }, far, &striped, &bulk);
    const struct codegen_result slow =
        make_wide(ctx, &(struct codegen_options){ .ram = SIZE_MAX }, far, &whole, &bulk);

    ck_assert_int_ge(fast.n_striped, 2);
    ck_assert_uint_lt(fast.arena_bytes, slow.arena_bytes);
    ck_assert_uint_eq(fast.arena_whole_bytes, slow.arena_bytes);
    ck_assert_int_eq(slow.n_stripes, 0);
    check_bits(&striped, &whole, "stripes for speed");
    ck_assert_int_eq(
        make_wide(ctx, &(struct codegen_options){ .parts = 2 }, far, NULL, NULL).n_stripes, 0);
    ck_assert_int_eq(
        make_wide(ctx, &(struct codegen_options){ .optimize_size = true }, far, NULL, NULL)
            .n_stripes,
        0);
    ck_assert_int_eq(
        make_wide(ctx, &(struct codegen_options){ .ram = 0 }, "x86-64-v4", NULL, NULL).n_stripes,
        0);
    bulk_release(&bulk);
    ctx_free(ctx);
}
END_TEST

/* The first stripe has the rows that readers see beyond theirs, so that buffers never hold a whole
 * stripe more; not where it is one row. */
START_TEST(stripes_begin_together)
{
    static const struct generated_case row = {
        .text = HEAD("(1,49,8,4)") WEIGHT("w", "4,4,3,3") WEIGHT(
            "v", "4,4,3,3") "  %a = nn.conv2d(%x, @w) " SAME ": (1,49,8,4) f32\n"
                            "  %b = nn.conv2d(%a, @v) " SAME ": (1,49,8,4) f32\n"
                            "  %y = nn.max_pool2d(%b) " POOL("3,3", "2,2", "0,0,0,0", "false",
                                                             "false") ": (1,24,3,4) f32\n}\n"
    };
    static const struct {
        int64_t parts, step[3], top[3], held[3];
    } wanted[] = { { 4, { 12, 12, 6 }, { 14, 13, 6 }, { 14, 13, 0 } },
                   { 49, { 1, 1, 1 }, { 1, 1, 1 }, { 3, 3, 0 } } };
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &row);
    struct stripe_choice choice = { 0, 2, 4 };
    struct stripes stripes;

    ck_assert(stripes_outline(module, &(struct stripe_plan){ .n = 1, .at = &choice }));
    stripes = stripes_of(&ctx->perm, module->main->first->callee);
    for (int k = 0; k < 2; k++) {
        int64_t work = INT64_MAX;

        ck_assert(stripes_flow(&ctx->perm, &stripes, wanted[k].parts, NULL, SIZE_MAX, &work));
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(stripes.step[i], wanted[k].step[i]);
            ck_assert_int_eq(stripes.top[i], wanted[k].top[i]);
            ck_assert_int_eq(stripes.held[i], wanted[k].held[i]);
        }
    }
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stripes");
    TCase *operators = tcase_create("operators"), *search = tcase_create("search");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(operators, 0);
    tcase_add_loop_test(operators, stripes_have_the_bits_of_layers, 0,
                        N_ROWS(cases) * N_ROWS(parts));
    tcase_add_test(operators, some_of_the_regions);
    tcase_add_loop_test(operators, planes_are_read_where_they_lie, 0, N_ROWS(images));
    tcase_add_test(operators, stripes_begin_together);
    tcase_add_loop_test(operators, what_has_no_stripes, 0, N_ROWS(refusals));
    tcase_set_timeout(search, 0);
    tcase_add_loop_test(search, random_chains_fit_and_have_the_bits, 0, N_RANDOM);
    tcase_add_test(search, nothing_changes_unasked);
    tcase_add_test(search, maps_stay_in_the_second_cache);
    suite_add_tcase(suite, operators);
    suite_add_tcase(suite, search);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
