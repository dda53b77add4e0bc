/* What the search for stripes finds: it keeps to --ram, is never larger than without, has the same
 * bits, and leaves maps in the second cache where the third is far. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/core/stripe.h"
#include "codegen_c/machine/machine.h"
#include "runtime/engine/generated.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/run_generated.h"
#include "tests/support/stripe_case.h"
#include "tests/support/temp_dir.h"

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
    const size_t bytes = stripe_run(module, 0, inputs, &whole, &bulk).arena_bytes;
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
    result = stripe_run(module, least, inputs, &striped, &bulk);
    ck_assert_uint_le(result.arena_bytes, least);
    ck_assert(least == bytes || result.n_stripes > 0);
    stripe_check_bits(&whole, &striped, text);
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
        generated_module(ctx, &(struct generated_case){ .text = INVERTED_RESIDUAL });
    struct temp_dir dir = temp_dir_new();
    const size_t bytes = stripe_generate(module, dir.path, 0).arena_bytes;
    struct codegen_result result;

    ck_assert_int_eq(stripe_generate(module, dir.path, bytes).n_stripes, 0);
    result = stripe_generate(module, dir.path, bytes / 2);
    ck_assert_int_gt(result.n_stripes, 0);
    ck_assert_uint_eq(result.arena_whole_bytes, bytes);
    ck_assert(stripes_inline(module));
    ck_assert_uint_eq(stripe_generate(module, dir.path, 0).arena_bytes, bytes);
    temp_dir_free(&dir);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- for speed -------------------------------------------------------------------------------- */

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
                                                 .flags = STRIPE_FLAGS " -Wno-psabi" };
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
    stripe_check_bits(&striped, &whole, "stripes for speed");
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

int main(void)
{
    Suite *suite = suite_create("stripe_search");
    TCase *search = tcase_create("search");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(search, 0);
    tcase_add_loop_test(search, random_chains_fit_and_have_the_bits, 0, N_RANDOM);
    tcase_add_test(search, nothing_changes_unasked);
    tcase_add_test(search, maps_stay_in_the_second_cache);
    suite_add_tcase(suite, search);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
