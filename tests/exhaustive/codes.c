/* codes.c - exhaustive: generated C that makes codes of FP8 by AVX-512
 * (templates/helpers/codes.c.tmpl) for all 2^32 f32, from gcc and clang, against the codec of
 * base/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/minifloat.h"
#include "base/str.h"
#include "codegen_c/codegen.h"
#include "codegen_c/machine/machine.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/text.h"
#include "runtime/engine/generated.h"
#include "tests/exhaustive/exhaustive.h"
#include "tests/support/temp_dir.h"

enum { ROWS = 256, CHANNELS = 256, CHUNK = ROWS * CHANNELS };

/* What the C must have in it, or it is not the code that is looked for. */
static const char avx512[] = "_mm512_range_ps";

static const char *const names[] = { "f8e3m4", "f8e4m3", "f8e5m2", "hfp8_143" };
static const char *const compilers[] = { "gcc", "clang" };

/* Kernels of codes encode by vectors what they have summed. Here they sum 1 * 1, which the number
 * is multiplied with. */
static const char *quantiser_text(struct ctx *ctx, const char *format)
{
    struct str text = { .arena = &ctx->perm };

    str_printf(&text,
               "fn main(%%x: (1,%d,1,%d) f32, %%one: (1,%d,1,1) f32) -> (%%y) {\n"
               "  const @w : (%d,1,1,1) f8e4m3 = [0x38",
               ROWS, CHANNELS, ROWS, CHANNELS);
    for (int i = 1; i < CHANNELS; i++)
        str_add(&text, ", 0x38");
    str_printf(&text,
               "]\n"
               "  %%s = nn.conv2d(%%one, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], "
               "groups=1, data_layout=\"NHWC\", kernel_layout=\"OIHW\", out_dtype=f32}\n"
               "  %%m = multiply(%%x, %%s)\n"
               "  %%y = cast(%%m) {dtype=%s, saturate=true}\n"
               "}\n",
               format);
    return str_text(&text);
}

static bool has_text(struct ctx *ctx, const char *path, const char *what)
{
    struct mapping file;
    bool found;

    if (!file_map(ctx, path, &file))
        return false;
    found = strstr(arena_strndup(&ctx->scratch, (const char *)file.data, file.size), what) != NULL;
    file_unmap(&file);
    return found;
}

/* The quantiser's C, built and loaded; NULL after a message. */
static struct generated *build_quantiser(struct ctx *ctx, const char *format,
                                         const struct machine *machine, const char *compiler,
                                         const char *dir)
{
    struct module *module = module_parse(ctx, quantiser_text(ctx, format), NULL, false);
    const struct codegen_options options = { .name = "net",
                                             .dir = dir,
                                             .model_file = "",
                                             .model_sha256 = "",
                                             .command = "",
                                             .machine = machine };
    struct generated_options how = { .name = "net", .dir = dir, .compiler = compiler };
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;

    if (!module || !pipeline_run_one(module, "infer_type") ||
        !pipeline_run_one(module, "fuse_ops") || !codegen_c(module, &options, &set, &result) ||
        !output_commit(&set))
        return NULL;
    if (!has_text(ctx, arena_printf(&ctx->perm, "%s/net.c", dir), avx512)) {
        fprintf(stderr, "%s: the C for %s has no %s\n", format, machine->name, avx512);
        return NULL;
    }
    how.files = result.files;
    how.n_files = result.n_files;
    how.flags = arena_printf(&ctx->perm, "-O2 %s", machine_flags_here(machine));
    return generated_build(ctx, module->main, &how);
}

static bool is_same(const struct minifloat *format, const uint32_t *bits, const uint8_t *found)
{
    static float values[CHUNK];
    static uint8_t wanted[CHUNK];

    memcpy(values, bits, sizeof values);
    minifloat_encode_array(format, values, wanted, CHUNK, true);
    for (int i = 0; memcmp(found, wanted, CHUNK) != 0 && i < CHUNK; i++)
        if (found[i] != wanted[i]) {
            fprintf(stderr, "%s by AVX-512: f32 %08x gives code %02x, expected %02x\n",
                    format->name, (unsigned)bits[i], found[i], wanted[i]);
            return false;
        }
    return true;
}

static bool sweep(struct generated *quantiser, const struct minifloat *format)
{
    static uint32_t bits[CHUNK];
    static float ones[ROWS];
    const struct tensor inputs[] = {
        { .type = type_make(DTYPE_F32, 4, (int64_t[]){ 1, ROWS, 1, CHANNELS }), .data = bits },
        { .type = type_make(DTYPE_F32, 4, (int64_t[]){ 1, ROWS, 1, 1 }), .data = ones },
    };
    uint32_t first = 0;
    bool ok = true;

    for (int i = 0; i < ROWS; i++)
        ones[i] = 1;

    do {
        struct bulk bulk = { NULL, 0 };
        struct tensor y;

        for (uint32_t i = 0; i < CHUNK; i++)
            bits[i] = first + i;
        ok = generated_run(quantiser, inputs, &y, &bulk) && is_same(format, bits, y.data);
        bulk_release(&bulk);
        first += CHUNK;
    } while (ok && first != 0);
    return ok;
}

static bool check(const char *name, const struct machine *machine, const char *compiler)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct temp_dir dir = temp_dir_new();
    const clock_t start = clock();
    struct minifloat format;
    struct generated *quantiser = build_quantiser(ctx, name, machine, compiler, dir.path);
    const bool ok =
        minifloat_from_name(name, &format) && quantiser != NULL && sweep(quantiser, &format);

    if (ok)
        printf("%-12s by AVX-512, %-5s 2^32 f32, %.0f s\n", name, compiler,
               (double)(clock() - start) / CLOCKS_PER_SEC);
    else
        diag_print(ctx, stderr, false, 5);
    fflush(stdout);
    generated_free(quantiser);
    temp_dir_free(&dir);
    ctx_free(ctx);
    return ok;
}

int sweep_codes(void)
{
    struct ctx *ctx = ctx_new(NULL);
    const struct machine *machine = machine_find(ctx, "x86-64-v4");
    int failed = 0;

    if (!machine || !*machine_flags_here(machine))
        fprintf(stderr,
                "SKIPPED: no AVX-512 on this machine: codes of FP8 by it were NOT looked at\n");
    else
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            for (size_t k = 0; k < sizeof compilers / sizeof *compilers; k++)
                failed += !check(names[i], machine, compilers[k]);
    ctx_free(ctx);
    return failed + !machine;
}
