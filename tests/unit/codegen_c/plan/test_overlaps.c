/* Results that reach into what their regions read: every kernel of kernels.def that says it can,
 * with no byte more in front than it asks for, against the reference; and how blocks are packed
 * that reach into others. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/core/plan.h"
#include "codegen_c/machine/machine.h"
#include "relay_ir/interpret.h"
#include "runtime/engine/generated.h"
#include "tests/support/builds.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/precompiled.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static unsigned next(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % n;
}

/* --- networks --------------------------------------------------------------------------------- */

/* A window over [h, w, c] of random extents. */
struct shape {
    int h, w, c, out_h, out_w, out_c, k_h, k_w, stride, dil, pad[4];
};

static int positions(int in, int k, int dil, int stride, int pad)
{
    return (in + pad - (k - 1) * dil - 1) / stride + 1;
}

/* What stands between the operator's result and the next region: nothing, an activation, or what
 * makes 8 bits of it again. */
enum behind { NOTHING, RELU, CODES, CODES_EXACT };

static const struct kind {
    const char *kernel, *op, *in, *weight, *out; /* of the operator: types */
    enum behind behind;
    bool depthwise, strided; /* always */
    const char *target;      /* --target; NULL = generic */
} kinds[] = {
    { "conv", "nn.conv2d", "f32", "f32", "f32", RELU, false, false, NULL },
    { "conv", "nn.conv2d", "f32", "f32", "f32", NOTHING, false, false, NULL },
    { "conv", "nn.conv2d", "f32", "f32", "f32", RELU, false, false, "rv64gc" },
    { "conv", "nn.conv2d", "f32", "f32", "f32", RELU, false, false, "x86-64" },
    { "conv", "nn.conv2d", "f32", "f32", "f32", RELU, false, false, "x86-64-v4" },
    { "conv_stationary", "nn.conv2d", "f32", "f32", "f32", RELU, false, false, "x86-64-v4" },
    { "depthwise", "nn.conv2d", "f32", "f32", "f32", RELU, true, false, NULL },
    { "pool_tiles", "nn.max_pool2d", "f32", NULL, "f32", NOTHING, true, false, NULL },
    { "pool_tiles", "nn.avg_pool2d", "f32", NULL, "f32", RELU, true, false, NULL },
    { "pool", "nn.max_pool2d", "u8", NULL, "u8", NOTHING, true, false, NULL },
    { "max_pool_codes", "nn.max_pool2d", "f8e4m3", NULL, "f8e4m3", NOTHING, true, false, NULL },
    { "max_pool_lanes", "nn.max_pool2d", "f8e4m3", NULL, "f8e4m3", NOTHING, true, false, "x86-64" },
    { "conv_small", "nn.conv2d", "f8e4m3", "f8e4m3", "f32", CODES, false, false, NULL },
    { "conv_decoded", "nn.conv2d", "f8e4m3", "f8e4m3", "f32", CODES, false, false, "x86-64" },
    { "conv_bf16", "nn.conv2d", "f8e4m3", "f8e4m3", "f32", CODES, false, false, "znver5" },
    { "depthwise", "nn.conv2d", "f8e4m3", "f8e4m3", "f32", CODES, true, false, "x86-64" },
    { "depthwise_bf16", "nn.conv2d", "f8e4m3", "f8e4m3", "f32", CODES, true, false, "znver5" },
    { "depthwise_winograd", "nn.conv2d", "f32", "f32", "f32", RELU, true, false, "znver5" },
    { "conv_pairs", "nn.conv2d", "f32", "f32", "f32", RELU, false, false, "znver5" },
    { "conv_amx", "nn.conv2d", "f32", "f32", "f32", RELU, false, false, "sapphirerapids" },
    { "exact_conv", "qnn.conv2d", "f8e4m3", "f8e4m3", "i64", CODES_EXACT, false, false, NULL },
    { "exact_conv", "qnn.conv2d", "f8e4m3", "f8e4m3", "i64", CODES_EXACT, true, true, NULL },
    { "depthwise", "nn.conv2d", "f8e4m3", "f8e4m3", "f32", CODES, true, false, NULL },
    { "qnn_conv_tiles", "qnn.conv2d", "i8", "i8", "i32", CODES_EXACT, false, false, NULL },
    { "qnn_conv", "qnn.conv2d", "i16", "i8", "i32", CODES_EXACT, false, false, NULL },
    { "qnn_depthwise", "qnn.conv2d", "i8", "i8", "i32", CODES_EXACT, true, false, NULL },
    { "qnn_depthwise_rows", "qnn.conv2d", "i8", "i8", "i32", CODES_EXACT, true, false,
      "x86-64-v4" },
    { "qnn_avg_pool", "qnn.avg_pool2d", "i8", NULL, "i8", NOTHING, true, false, NULL },
};

/* Whether the kernel is one that --winograd off goes without. */
static bool is_winograd(const struct kind *kind)
{
    return strcmp(kind->kernel, "depthwise_winograd") == 0 ||
           strcmp(kind->kernel, "conv_pairs") == 0 || strcmp(kind->kernel, "conv_amx") == 0;
}

/* What such kernels take: 3 x 3 over channels that fill vectors, or 1 x 1 of many. */
static void make_winograd(struct shape *s, const struct kind *kind, unsigned *seed)
{
    s->k_h = s->k_w = kind->depthwise ? 3 : 1;
    s->c = kind->depthwise ? 8 << next(seed, 3) : 64 << next(seed, 2);
    s->out_c = 32 + 24 * (int)next(seed, 3);
    s->stride = kind->depthwise ? 1 : s->stride;
    s->dil = 1;
    for (int i = 0; i < 4; i++)
        s->pad[i] = kind->depthwise ? (int)next(seed, 3) > 0 : 0;
}

/* 1 x 1 of few inputs to few channels that fill vectors of 16 lanes, or shorter ones. */
static void make_stationary(struct shape *s, unsigned *seed)
{
    s->c = 1 + (int)next(seed, 8);
    s->out_c = 4 << next(seed, 4);
    s->k_h = s->k_w = s->stride = s->dil = 1;
    for (int i = 0; i < 4; i++)
        s->pad[i] = 0;
}

/* 1 x 1 of so many channels that products of matrices pay. */
static void make_amx(struct shape *s, unsigned *seed)
{
    s->c = 93 + 33 * (int)next(seed, 3);
    s->out_c = 64 + 16 * (int)next(seed, 4);
    s->k_h = s->k_w = s->stride = s->dil = 1;
    for (int i = 0; i < 4; i++)
        s->pad[i] = 0;
}

static struct shape random_shape(unsigned *seed, const struct kind *kind)
{
    const bool pool = !kind->weight;
    struct shape s = { .h = 12 + (int)next(seed, 12), .w = 5 + (int)next(seed, 9) };

    s.c = (int[]){ 3, 8, 16, 20, 33 }[kind->target && pool ? 2 + next(seed, 3) : next(seed, 5)];
    s.out_c = (int[]){ 2, 8, 16, 24, 40 }[next(seed, 5)];
    s.k_h = 1 + (int)next(seed, 3);
    if (str_ends(kind->kernel, "_rows")) { /* takes no others */
        s.c = s.out_c == 2 ? 48 : s.out_c;
        s.k_h += s.k_h == 1;
    }
    s.k_w = next(seed, 3) ? s.k_h : 1 + (int)next(seed, 3);
    s.stride = 1 + (kind->strided || next(seed, 3) == 2);
    s.dil = s.k_h * s.k_w > 1 && !pool && !str_ends(kind->kernel, "depthwise_bf16") &&
                    next(seed, 4) == 0
                ? 2
                : 1;
    for (int i = 0; i < 4; i++)
        s.pad[i] = (int)next(seed, (unsigned)((i % 2 ? s.k_w : s.k_h) - 1) * (unsigned)s.dil + 1);
    if (pool && s.k_h > 1 && s.pad[0] >= s.k_h)
        s.pad[0] = s.k_h - 1;
    if (kind->target && strcmp(kind->kernel, "conv") == 0) { /* few are another kernel's */
        s.out_c += 8;
        s.c += 20;
    }
    if (strcmp(kind->kernel, "conv_stationary") == 0)
        make_stationary(&s, seed);
    if (strcmp(kind->kernel, "conv_amx") == 0)
        make_amx(&s, seed);
    else if (is_winograd(kind))
        make_winograd(&s, kind, seed);
    s.out_h = positions(s.h, s.k_h, s.dil, s.stride, s.pad[0] + s.pad[2]);
    s.out_w = positions(s.w, s.k_w, s.dil, s.stride, s.pad[1] + s.pad[3]);
    return s;
}

static void add_behind(struct str *out, const struct kind *kind, const char *type)
{
    switch (kind->behind) {
    case NOTHING: break;
    case RELU: str_printf(out, "  %%b = nn.relu(%%k) : %s %s\n", type, kind->out); break;
    case CODES:
        str_printf(out, "  %%b = cast(%%k) {dtype=%s, saturate=true} : %s %s\n", kind->in, type,
                   kind->in);
        break;
    case CODES_EXACT:
        str_printf(out,
                   "  %%b = qnn.requantize(%%k, @s, @z, @t, @zx) {axis=3, rounding=\"\"} : %s %s\n",
                   type, kind->in);
        break;
    }
}

/* The operator reads a transposed input, and is transposed, so that both lie in the arena. */
static const char *text_of(struct arena *arena, const struct kind *kind, const struct shape *s)
{
    const int out_c = kind->depthwise ? s->c : s->out_c;
    const char *last = kind->behind >= CODES ? kind->in : kind->out;
    const char *type = arena_printf(arena, "(1,%d,%d,%d)", s->out_h, s->out_w, out_c);
    const char *padding =
        arena_printf(arena, "[%d,%d,%d,%d]", s->pad[0], s->pad[1], s->pad[2], s->pad[3]);
    const char *result = kind->behind == NOTHING ? "b" : "k";
    const bool floats = str_starts(kind->in, "f8");
    struct str out = { .arena = arena };

    str_printf(&out, "fn main(%%x: (1,%d,%d,%d) %s) -> (%%y) {\n", s->w, s->h, s->c, kind->in);
    if (kind->weight)
        str_printf(&out, "  const @w : (%d,%d,%d,%d) %s = crc32:00000000\n", out_c,
                   kind->depthwise ? 1 : s->c, s->k_h, s->k_w, kind->weight);
    if (str_starts(kind->op, "qnn"))
        str_printf(&out,
                   "  const @zx : () %s = [%s]\n  const @zw : () %s = [%s]\n  const @z : () %s = "
                   "[0]\n  const @s : () f32 = [0.003]\n  const @t : () f32 = [0.4]\n",
                   kind->in, floats ? "0x00" : "-3", kind->weight ? kind->weight : "i8",
                   floats ? "0x00" : "0", floats ? "i64" : "i32");
    str_printf(&out, "  %%a = transpose(%%x) {axes=[0,2,1,3]} : (1,%d,%d,%d) %s\n", s->h, s->w,
               s->c, kind->in);
    if (kind->weight)
        str_printf(&out,
                   "  %%%s = %s(%%a, @w%s) {strides=[%d,%d], padding=%s, dilation=[%d,%d], "
                   "groups=%d, data_layout=\"NHWC\", kernel_layout=\"OIHW\"%s} : %s %s\n",
                   result, kind->op, str_starts(kind->op, "qnn") ? ", @zx, @zw" : "", s->stride,
                   s->stride, padding, s->dil, s->dil, kind->depthwise ? s->c : 1,
                   kind->behind == CODES ? ", out_dtype=f32" : "", type, kind->out);
    else
        str_printf(&out,
                   "  %%%s = %s(%%a%s) {pool_size=[%d,%d], strides=[%d,%d], padding=%s, "
                   "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, "
                   "storage_order=0, layout=\"NHWC\"} : %s %s\n",
                   result, kind->op, str_starts(kind->op, "qnn") ? ", @s, @zx, @s, @zx" : "",
                   s->k_h, s->k_w, s->stride, s->stride, padding, type, kind->out);
    if (kind->behind != NOTHING)
        add_behind(&out, kind, type);
    str_printf(&out, "  %%y = transpose(%%b) {axes=[0,2,1,3]} : (1,%d,%d,%d) %s\n}\n", s->out_w,
               s->out_h, out_c, last);
    return str_text(&out);
}

/* --- running them ----------------------------------------------------------------------------- */

static const struct codegen_region *region_of(const struct codegen_result *result,
                                              const char *kernel)
{
    for (int r = 0; r < result->n_regions; r++)
        if (strcmp(result->regions[r].kernel, kernel) == 0)
            return &result->regions[r];
    return NULL;
}

/* Whether its result lies over what it reads. */
static bool lies_over(const struct codegen_result *result, const struct codegen_region *region)
{
    const struct value *x = region->call->inputs[0], *y = region->call->outputs[0];
    const struct codegen_place *from = &result->places[x->id], *to = &result->places[y->id];

    return to->offset < from->offset + type_bytes(&x->type) &&
           from->offset < to->offset + type_bytes(&y->type);
}

#define TRAPS                                                                                      \
    "-O1 -Wall -Wextra -Wconversion -Werror -fsanitize=undefined "                                 \
    "-fsanitize-undefined-trap-on-error -fira-region=one "

enum { WIDE = 16 };

/* With traps, C for the widest vectors is built for them where they are, as in run_generated.c; the headers of vectors
 * are precompiled. */
static const char *flags_of(struct ctx *ctx, const struct machine *machine, const char *flags,
                            const char *path)
{
    const bool for_machine = machine && machine->lanes >= WIDE && str_starts(flags, TRAPS);
    const char *all =
        arena_printf(&ctx->perm, "%s%s", flags, for_machine ? generated_vectors_here(machine) : "");
    const char *command = arena_printf(&ctx->perm, "gcc -std=c99 -fPIC %s", all);

    return arena_printf(&ctx->perm, "%s %s", all, precompiled_header(ctx, command, path));
}

static void check_build(struct module *module, const struct codegen_result *result,
                        const struct codegen_options *options, const char *flags, const char *text)
{
    struct ctx *ctx = module->ctx;
    struct bulk bulk = { NULL, 0 };
    unsigned seed = 5;
    const struct tensor *inputs = random_inputs(&ctx->perm, &bulk, module->main, -2, 2, &seed);
    const char *path = arena_printf(&ctx->perm, "%s/net.c", options->dir);
    struct tensor wanted, found;
    struct generated *generated = generated_build(
        ctx, module->main,
        &(struct generated_options){ .name = "net",
                                     .dir = options->dir,
                                     .files = result->files,
                                     .n_files = result->n_files,
                                     .libs = result->host_flags,
                                     .compiler = "gcc",
                                     .flags = flags_of(ctx, options->machine, flags, path) });

    ck_assert_msg(generated != NULL, "%s", expect_text(ctx));
    ck_assert(interpret(ctx, module->main, inputs, &wanted, &bulk, NULL));
    ck_assert_msg(generated_run(generated, inputs, &found, &bulk), "%s", expect_text(ctx));
    ck_assert_msg(difference(&found, &wanted) <= 1e-5, "%g: %s", difference(&found, &wanted), text);
    generated_free(generated);
    bulk_release(&bulk);
}

/* Returns whether the result led. Builds of the C take turns: of cases 0 to 3, say, two in this run, two in the next. */
static bool check(const char *text, const struct kind *kind, const char *flags, int number)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });
    struct temp_dir dir = temp_dir_new();
    const struct codegen_options options = {
        .name = "net",
        .dir = dir.path,
        .model_file = "net.onnx",
        .model_sha256 = "",
        .command = "",
        .winograd = is_winograd(kind) ? WINOGRAD_AUTO : WINOGRAD_OFF,
        .machine = kind->target ? machine_find(ctx, kind->target) : NULL
    };
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;
    const struct codegen_region *region;
    bool overlaps;

    ck_assert_msg(codegen_c(module, &options, &set, &result) && output_commit(&set), "%s",
                  expect_text(ctx));
    region = region_of(&result, kind->kernel);
    ck_assert_msg(region != NULL, "no %s in %s", kind->kernel, text);
    overlaps = region->overlaps;
    ck_assert(overlaps == lies_over(&result, region));
    if (builds_all() || ((unsigned)number / 2 + builds_turn()) % 2 == 0)
        check_build(module, &result, &options, flags, text);
    temp_dir_free(&dir);
    module_free(module);
    ctx_free(ctx);
    return overlaps;
}

enum { N_SHAPES = 8 };

START_TEST(kernels_keep_what_they_have_to_read)
{
    const char *const flags[] = { TRAPS,
                                  builds_all() ? "-O3 -march=native -w" : "-O1 -march=native -w" };
    const struct kind *kind = &kinds[_i];
    unsigned seed = (unsigned)_i * 77 + 1;
    int n = 0;

    for (int i = 0; i < N_SHAPES; i++) {
        struct arena arena = { NULL };
        const struct shape shape = random_shape(&seed, kind);

        n += check(text_of(&arena, kind, &shape), kind, flags[i % N_ROWS(flags)], 2 * _i + i);
        arena_release(&arena);
    }
    ck_assert_msg(n >= N_SHAPES / 2, "%s: only %d of %d results overlap", kind->kernel, n,
                  N_SHAPES);
    printf("%s (%s): %d of %d overlap\n", kind->kernel, kind->in, n, N_SHAPES);
}
END_TEST

/* Copies between two element-wise regions, so that both sides lie in the arena: of a f32 or an i8
 * image. */
static const char *const copies[] = {
    "(1,6,5,8) strided_slice {begin=[0,1,1,2], strides=[1,1,1,1], size=[1,4,3,5]} (1,4,3,5)",
    "(1,9,9,7) strided_slice {begin=[0,0,1,0], strides=[1,2,3,1], size=[1,5,3,7]} (1,5,3,7)",
    "(1,9,9,7) strided_slice {begin=[0,0,0,1], strides=[1,1,1,2], size=[1,9,9,3]} (1,9,9,3)",
    "(1,5,4,12) nn.depth_to_space {block_size=[2,2], layout=\"NHWC\"} (1,10,8,3)",
    "(1,4,3,12) nn.depth_to_space {block_size=[2,2], mode=\"CRD\", layout=\"NHWC\"} (1,8,6,3)",
    "(1,3,3,80) nn.depth_to_space {block_size=[4,4], mode=\"CRD\", layout=\"NHWC\"} (1,12,12,5)",
    "(1,7,3,18) nn.depth_to_space {block_size=[3,2], layout=\"NHWC\"} (1,21,6,3)",
    "(1,3,5,6) nn.depth_to_space {block_size=[1,3], layout=\"NHWC\"} (1,3,15,2)",
    "(1,3,4,2,24) nn.depth_to_space {block_size=[2,3,2], layout=\"NDHWC\"} (1,6,12,4,2)",
    "(1,8,6) nn.depth_to_space {block_size=[3], mode=\"CRD\", layout=\"NWC\"} (1,24,2)",
};

/* Weights that would all go by for each tile, from a third cache that is far, go by NC blocks: then
 * the result does not lie over x. */
START_TEST(far_weights_do_not_overlap)
{
    static const char conv[] = "{strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, "
                               "data_layout=\"NHWC\", kernel_layout=\"OIHW\"}";
    static const struct {
        const char *machine;
        int channels;
        bool overlaps;
    } rows[] = { { "sapphirerapids", 512, false },
                 { "sapphirerapids", 256, true }, /* 768 KiB, which stay in the second cache */
                 { "x86-64-v4", 512, true } };
    struct ctx *ctx = ctx_new("net.onnx");
    const int n = rows[_i].channels;
    const struct generated_case row = { .machine = machine_find(ctx, rows[_i].machine),
                                        .text = arena_printf(
                                            &ctx->perm,
                                            "fn main(%%x: (1,1,82,4) f32) -> (%%y) {\n"
                                            "  const @u : (%d,4,1,1) f32 = crc32:00000000\n"
                                            "  const @v : (%d,%d,1,3) f32 = crc32:00000000\n"
                                            "  const @w : (4,%d,1,1) f32 = crc32:00000000\n"
                                            "  %%a = nn.conv2d(%%x, @u) %s : (1,1,82,%d) f32\n"
                                            "  %%b = nn.conv2d(%%a, @v) %s : (1,1,80,%d) f32\n"
                                            "  %%y = nn.conv2d(%%b, @w) %s : (1,1,80,4) f32\n}\n",
                                            n, n, n, n, conv, n, conv, n, conv) };

    ck_assert_int_eq(generated_count(ctx, &row, "overlaps a"), rows[_i].overlaps);
    ck_assert_int_eq(generated_count(ctx, &row, "CHUNK = ") > 0, !rows[_i].overlaps);
    ctx_free(ctx);
}
END_TEST

/* A region is written again when its result has come to lie over x: tiles for NC blocks, which it had
 * before, are not there for nobody. */
START_TEST(no_tile_is_left_over)
{
    static const char conv[] = "{strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, "
                               "data_layout=\"NHWC\", kernel_layout=\"OIHW\"}";
    struct ctx *ctx = ctx_new("net.onnx");
    const struct generated_case row = { .text = arena_printf(
                                            &ctx->perm,
                                            "fn main(%%x: (1,14,14,4) f32) -> (%%y) {\n"
                                            "  const @u : (384,4,1,1) f32 = crc32:00000000\n"
                                            "  const @v : (1680,384,1,1) f32 = crc32:00000000\n"
                                            "  const @w : (4,1680,1,1) f32 = crc32:00000000\n"
                                            "  %%a = nn.conv2d(%%x, @u) %s : (1,14,14,384) f32\n"
                                            "  %%b = nn.conv2d(%%a, @v) %s : (1,14,14,1680) f32\n"
                                            "  %%y = nn.conv2d(%%b, @w) %s : (1,14,14,4) f32\n}\n",
                                            conv, conv, conv) };

    ck_assert_int_eq(generated_count(ctx, &row, "overlaps x: "), 1);
    ck_assert_int_eq(generated_count(ctx, &row, "tile_64_ahead("), 0);
    ctx_free(ctx);
}
END_TEST

START_TEST(copies_keep_what_they_have_to_read)
{
    const char *const dtype = _i % 2 ? "i8" : "f32", *const bounds = "{a_min=-100, a_max=100}";
    struct ctx *ctx = ctx_new(NULL);
    char x[32], op[32], y[32], attrs[96];
    const char *text;

    ck_assert_int_eq(sscanf(copies[_i / 2], "%31s %31s %95[^}]} %31s", x, op, attrs, y), 4);
    text = arena_printf(&ctx->perm,
                        "fn main(%%x: %s %s) -> (%%y) {\n  %%a = clip(%%x) %s : %s %s\n"
                        "  %%b = %s(%%a) %s} : %s %s\n  %%y = clip(%%b) %s : %s %s\n}\n",
                        x, dtype, bounds, x, dtype, op, attrs, y, dtype, bounds, y, dtype);
    ck_assert_msg(check(text, &(struct kind){ .kernel = "copy" }, TRAPS, _i),
                  "%s: it does not overlap", text);
    ctx_free(ctx);
}
END_TEST

/* --- packing ---------------------------------------------------------------------------------- */

/* Chains of blocks, each alive with the next, some of which reach into the one before, and others
 * anywhere. */
static int random_chain(struct block *blocks, unsigned *seed)
{
    const int n_chain = 3 + (int)next(seed, 10), n = n_chain + (int)next(seed, 12);

    for (int i = 0; i < n; i++) {
        struct block *b = &blocks[i];

        *b = (struct block){ .bytes = 1 + next(seed, 3000) };
        b->first = i < n_chain ? i : (int)next(seed, (unsigned)n_chain);
        b->last = i < n_chain ? i + 1 : b->first + (int)next(seed, 3);
        if (i > 0 && i < n_chain && next(seed, 2)) {
            b->before = i;
            b->overlap = 16 * next(seed, 20);
            b->exact = next(seed, 4) == 0;
        }
    }
    return n;
}

START_TEST(blocks_reach_into_others_as_they_may)
{
    enum { MOST = 25, N_PACKS = 3000 };
    struct block blocks[MOST], apart[MOST];
    unsigned seed = 3;
    int n_optimal = 0, n_smaller = 0;

    for (int i = 0; i < N_PACKS; i++) {
        const int n = random_chain(blocks, &seed);
        struct arena arena = { NULL };
        struct packing packing, other;

        memcpy(apart, blocks, sizeof apart);
        for (int k = 0; k < n; k++)
            apart[k].before = 0;
        packing = pack_blocks(&arena, blocks, n, PACK_WORK / 100);
        other = pack_blocks(&arena, apart, n, PACK_WORK / 100);
        ck_assert(pack_verify(blocks, n, packing.bytes));
        ck_assert_uint_le(packing.bytes, other.bytes);
        ck_assert_uint_le(packing.lower_bound, packing.bytes);
        n_optimal += packing.optimal;
        n_smaller += packing.bytes < other.bytes;
        arena_release(&arena);
    }
    printf("%d of %d are smaller, %d are proved optimal\n", n_smaller, N_PACKS, n_optimal);
    ck_assert_int_gt(n_smaller, N_PACKS / 3);
}
END_TEST

/* The least height of all placements of a few small blocks that are lower than `least`, else that. */
static size_t least_of_all(struct block *blocks, int n, int placed, size_t height, size_t least)
{
    if (placed == n)
        return height;
    for (size_t at = 0; at <= 16 * 24; at += PLAN_ALIGN) {
        const size_t end = at + plan_round(blocks[placed].bytes), top = end > height ? end : height;

        if (top >= least) /* and what lies above is no lower */
            break;
        blocks[placed].offset = at;
        if (pack_verify(blocks, placed + 1, SIZE_MAX / 2))
            least = least_of_all(blocks, n, placed + 1, top, least);
    }
    return least;
}

START_TEST(no_packing_goes_below_the_bound)
{
    enum { FEW = 4 };
    unsigned seed = 11;

    for (int i = 0; i < 150; i++) {
        struct block blocks[FEW], copy[FEW];
        struct arena arena = { NULL };
        struct packing packing;
        size_t least;

        for (int k = 0; k < FEW; k++) {
            blocks[k] = (struct block){ .bytes = 16 * (1 + next(&seed, 6)),
                                        .first = k ? k - 1 : 0,
                                        .last = k };
            if (k > 0 && next(&seed, 3)) {
                blocks[k].before = k;
                blocks[k - 1].last = blocks[k].first;
                blocks[k].overlap = 16 * next(&seed, 3);
                blocks[k].exact = next(&seed, 3) == 0;
            }
        }
        memcpy(copy, blocks, sizeof copy);
        packing = pack_blocks(&arena, blocks, FEW, PACK_WORK / 100);
        least = least_of_all(copy, FEW, 0, 0, SIZE_MAX);
        ck_assert_msg(packing.lower_bound <= least, "%zu > %zu", packing.lower_bound, least);
        ck_assert_uint_ge(packing.bytes, least);
        ck_assert(!packing.optimal || packing.bytes == least);
        arena_release(&arena);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("overlaps");
    TCase *kernels = tcase_create("kernels"), *packing = tcase_create("packing");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(kernels, 0);
    tcase_add_loop_test(kernels, kernels_keep_what_they_have_to_read, 0, N_ROWS(kinds));
    tcase_add_loop_test(kernels, copies_keep_what_they_have_to_read, 0, 2 * N_ROWS(copies));
    tcase_add_loop_test(kernels, far_weights_do_not_overlap, 0, 3);
    tcase_add_test(kernels, no_tile_is_left_over);
    tcase_set_timeout(packing, 0);
    tcase_add_test(packing, blocks_reach_into_others_as_they_may);
    tcase_add_test(packing, no_packing_goes_below_the_bound);
    suite_add_tcase(suite, kernels);
    suite_add_tcase(suite, packing);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
