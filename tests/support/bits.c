#include "tests/support/bits.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "codegen_c/codegen.h"
#include "codegen_c/machine/machine.h"
#include "relay_ir/interpret.h"
#include "simulate/simulate.h"
#include "tests/support/builds.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/precompiled.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"

#define BF16 "-march=x86-64-v4 -mavx512bf16 -mavx512vbmi"

static const struct build {
    const char *name, *compiler, *emulator;
    const char *target; /* --target; NULL = generic */
} builds[] = {
    { "x86-64, gcc", "gcc -O2", "", NULL },
    { "x86-64, gcc, tables", "gcc -O2 -U__SSE2__", "", NULL },
    { "x86-64, clang", "clang -O3 -march=x86-64-v3 -ffp-contract=off", "", NULL },
    { "aarch64", "aarch64-linux-gnu-gcc -O3 -static", "qemu-aarch64", NULL },
    { "armhf", "arm-linux-gnueabihf-gcc -O2 -static", "qemu-arm", NULL },
    { "riscv64", "riscv64-linux-gnu-gcc -O2 -static", "qemu-riscv64", NULL },
}, target_builds[] = {
    { "x86-64, gcc", "gcc -O2", "", "x86-64" },
    { "x86-64, gcc, no SSE2's intrinsics", "gcc -O2 -U__SSE2__", "", "x86-64" },
    { "x86-64-v3, gcc", "gcc -O3 -march=x86-64-v3 -ffp-contract=off", "", "x86-64-v3" },
    { "x86-64-v3, clang", "clang -O2 -march=x86-64-v3 -ffp-contract=off", "", "x86-64-v3" },
    { "x86-64-v4, gcc", "gcc -O2 -march=x86-64-v4 -ffp-contract=off", "", "x86-64-v4" },
    { "x86-64-v4, clang", "clang -O3 -march=x86-64-v4 -ffp-contract=off", "", "x86-64-v4" },
    { "znver5, gcc", "gcc -O2 " BF16 " -ffp-contract=off", "", "znver5" },
    { "znver5, clang", "clang -O2 " BF16 " -ffp-contract=off", "", "znver5" },
    { "x86-64-v4, gcc, C for znver5", "gcc -O3 -march=x86-64-v4 -ffp-contract=off", "", "znver5" },
    { "aarch64", "aarch64-linux-gnu-gcc -O3 -static", "qemu-aarch64", "aarch64" },
}, fused_builds[] = { /* the second without the instruction: it computes the same by way of double */
    { "x86-64-v3, gcc", "gcc -O2 -march=x86-64-v3", "", "x86-64-v3" },
    { "x86-64, gcc, C for v3", "gcc -O2 -Wno-psabi", "", "x86-64-v3" },
    { "x86-64-v3, clang", "clang -O2 -march=x86-64-v3", "", "x86-64-v3" },
    /* not -O2: gcc 12.2 clears an array in the red zone there as if it were aligned, and crashes */
    { "x86-64-v4, gcc", "gcc -O3 -march=x86-64-v4", "", "x86-64-v4" },
    { "aarch64", "aarch64-linux-gnu-gcc -O3 -static", "qemu-aarch64", "aarch64" },
    { "armhf", "arm-linux-gnueabihf-gcc -O2 -mfpu=neon-vfpv4 -static", "qemu-arm", "armv7" },
    { "riscv64", "riscv64-linux-gnu-gcc -O2 -static", "qemu-riscv64", "rv64gc" },
};

#define STRICT "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror"

/* --- the program around the model ------------------------------------------------------------- */

static const char *c_type_of(enum dtype dtype)
{
    return dtype_c_type(dtype);
}

static void add_arrays(struct str *out, const char *stem, int n, const struct type *types)
{
    for (int i = 0; i < n; i++) {
        const int64_t elements = type_elements(&types[i]);

        str_printf(out, "static %s %s%d[%lld];\n", c_type_of(types[i].dtype), stem, i,
                   (long long)(elements ? elements : 1));
    }
}

/* Reads the inputs from in.bin, one after the other, and writes the outputs to the file that it is
 * told. */
static const char *main_text(struct arena *arena, int n_in, const struct type *in, int n_out,
                             const struct type *results)
{
    struct str out = { .arena = arena };

    str_add(&out, "#include <stdint.h>\n#include <stdio.h>\n\n#include \"net.h\"\n\n");
    add_arrays(&out, "in", n_in, in);
    add_arrays(&out, "out", n_out, results);
    str_add(&out, "static unsigned char memory[NET_ARENA_BYTES + 2 * NET_ARENA_ALIGN];\n\n"
                  "int main(int argc, char **argv)\n{\n"
                  "    unsigned char *arena = memory + NET_ARENA_ALIGN -\n"
                  "                           (uintptr_t)memory % NET_ARENA_ALIGN;\n"
                  "    FILE *in = fopen(argv[1], \"rb\"), *out = fopen(argv[argc - 1], \"wb\");\n\n"
                  "    if (!in || !out)\n        return 1;\n");
    for (int i = 0; i < n_in; i++)
        if (type_bytes(&in[i]))
            str_printf(&out, "    if (fread(in%d, sizeof in%d, 1, in) != 1)\n        return 2;\n",
                       i, i);
    str_add(&out, "    if (net_run(");
    for (int i = 0; i < n_in; i++)
        str_printf(&out, "in%d, ", i);
    for (int i = 0; i < n_out; i++)
        str_printf(&out, "out%d, ", i);
    str_add(&out, "arena) != NET_OK)\n        return 3;\n");
    for (int i = 0; i < n_out; i++)
        if (type_bytes(&results[i]))
            str_printf(&out,
                       "    if (fwrite(out%d, sizeof out%d, 1, out) != 1)\n        return 4;\n", i,
                       i);
    str_add(&out, "    return fclose(out);\n}\n");
    return str_text(&out);
}

static const struct type *types_of(struct arena *arena, int n, const struct tensor *tensors)
{
    struct type *types = arena_array(arena, struct type, n);

    for (int i = 0; i < n; i++)
        types[i] = tensors[i].type;
    return types;
}

/* --- running ---------------------------------------------------------------------------------- */

/* The model, its program and its inputs in a folder. */
struct bench {
    struct ctx *ctx;
    struct temp_dir dir;
    struct module *module;
    int n_in, n_out;
    const struct tensor *inputs;
    struct tensor *wanted;
    struct bulk *bulk; /* of the inputs, if they are random, and of what is wanted */
    bool deterministic;
    /* For a compiler's command: the C, and program.c, which has main() and the weights, as a compiler takes as long to
     * start as for these. */
    const char *files;
};

/* The C for a machine, and what it must compute. */
static void generate(struct bench *bench, const char *target)
{
    const struct machine *machine = target ? machine_find(bench->ctx, target) : NULL;
    const struct simulate_options how = { machine, bench->deterministic };
    const struct codegen_options options = { .name = "net",
                                             .dir = bench->dir.path,
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .winograd = WINOGRAD_OFF,
                                             .deterministic = bench->deterministic,
                                             .machine = machine };
    struct ctx *ctx = bench->ctx;
    struct output_set set = { .ctx = ctx };
    struct str files = { .arena = &ctx->perm }, rest = { .arena = &ctx->perm };
    struct codegen_result result;

    ck_assert_msg(codegen_c(bench->module, &options, &set, &result) && output_commit(&set), "%s",
                  expect_text(ctx));
    str_add(&rest, "#include \"main.c\"\n");
    for (int i = 0; i < result.n_files; i++)
        if (str_ends(result.files[i], "_weights.c"))
            str_printf(&rest, "#include \"%s\"\n", strrchr(result.files[i], '/') + 1);
        else if (str_ends(result.files[i], ".c"))
            str_printf(&files, " %s", result.files[i]);
    str_printf(&files, " %s", temp_file(&bench->dir, "program.c", str_text(&rest), rest.n));
    bench->files = str_text(&files);
    ck_assert_msg(
        simulate(ctx, bench->module->main, &how, bench->inputs, bench->wanted, bench->bulk, NULL),
        "%s", expect_text(ctx));
}

static void write_program(struct bench *bench)
{
    struct arena *arena = &bench->ctx->perm;
    const char *text = main_text(arena, bench->n_in, types_of(arena, bench->n_in, bench->inputs),
                                 bench->n_out, types_of(arena, bench->n_out, bench->wanted));
    FILE *file = fopen(temp_path(&bench->dir, "in.bin"), "wb");

    temp_file(&bench->dir, "main.c", text, strlen(text));
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < bench->n_in; i++)
        fwrite(bench->inputs[i].data, 1, type_bytes(&bench->inputs[i].type), file);
    ck_assert_int_eq(fclose(file), 0);
}

/* Builds the program and runs it; the outputs, one after the other. */
static void run_build(struct bench *bench, const struct build *build, struct mapping *results)
{
    struct arena *arena = &bench->ctx->perm;
    const char *dir = bench->dir.path;
    const char *compiler = arena_printf(arena, "%s " STRICT, build->compiler);
    const char *header = precompiled_header(bench->ctx, compiler, temp_path(&bench->dir, "net.c"));
    const char *command = arena_printf(arena, "%s %s -I%s -o %s/program%s -lm", compiler, header,
                                       dir, dir, bench->files);
    const char *start =
        arena_printf(arena, "%s %s/program %s/in.bin %s/out.bin", build->emulator, dir, dir, dir);
    size_t bytes = 0;

    ck_assert_msg(system(command) == 0, "%s: %s", build->name, command);
    ck_assert_msg(system(start) == 0, "%s: %s", build->name, start);
    ck_assert_msg(file_map(bench->ctx, temp_path(&bench->dir, "out.bin"), results), "%s",
                  expect_text(bench->ctx));
    for (int i = 0; i < bench->n_out; i++)
        bytes += type_bytes(&bench->wanted[i].type);
    ck_assert_uint_eq(bytes, results->size);
}

/* Whether all bits are those of the simulation. */
static bool compare(const struct build *build, const struct bench *bench,
                    const struct mapping *results, bool must_be_same)
{
    const unsigned char *at = results->data;
    bool same = true;

    for (int i = 0; i < bench->n_out; i++) {
        const struct tensor *wanted = &bench->wanted[i];
        const struct tensor got = { wanted->type, (void *)(uintptr_t)at };
        const int64_t k = other_bits(&got, wanted);

        ck_assert_msg(k < 0 || !must_be_same, "%s: output %d '%s', element %lld is %a, wanted %a",
                      build->name, i, bench->module->main->result_names[i], (long long)k,
                      tensor_at(&got, k), tensor_at(wanted, k));
        same = same && k < 0;
        at += type_bytes(&wanted->type);
    }
    return same;
}

static void check_build(struct bench *bench, const struct build *build)
{
    struct mapping results;

    run_build(bench, build, &results);
    compare(build, bench, &results, true);
    file_unmap(&results);
}

/* Whether programs for it run on this machine. */
static bool runs_here(const struct build *build, struct ctx *ctx)
{
    return *build->emulator || !strstr(build->compiler, "-march") || !build->target ||
           *machine_flags_here(machine_find(ctx, build->target));
}

static bool is_same_target(const struct build *a, const struct build *b)
{
    return a->target == b->target || (a->target && b->target && strcmp(a->target, b->target) == 0);
}

static struct bench bench_begin(struct module *module, const struct tensor *inputs,
                                bool deterministic, struct bulk *bulk)
{
    struct ctx *ctx = module->ctx;
    unsigned seed = 11;
    struct bench bench = { .ctx = ctx,
                           .dir = temp_dir_new(),
                           .module = module,
                           .n_in = module->main->n_params,
                           .n_out = module->main->ret->n_inputs,
                           .inputs = inputs,
                           .bulk = bulk,
                           .deterministic = deterministic };

    if (!inputs)
        bench.inputs = random_inputs(&ctx->perm, bulk, module->main, -2, 2, &seed);
    bench.wanted = arena_array(&ctx->perm, struct tensor, bench.n_out);
    return bench;
}

/* Of what a module is made of: modules take turns with the builds. */
static unsigned seed_of(const struct module *module)
{
    unsigned seed = 0;

    for (const struct function *fn = module->functions; fn; fn = fn->next)
        for (const struct node *node = fn->first; node; node = node->next) {
            seed = seed * 31 + (unsigned)node->op;
            for (int i = 0; i < node->n_outputs; i++)
                seed = seed * 31 + (unsigned)type_elements(&node->outputs[i]->type);
        }
    return seed / 7;
}

#define ALL(rows) rows, (int)(sizeof(rows) / sizeof *(rows))

/* Every sixth of those that run here, by the module's number and the run's. */
enum { TURNS = 6 };

static void check_module(struct module *module, const struct tensor *inputs, bool deterministic,
                         const struct build *all, int n)
{
    const struct build *generated = NULL; /* whose C is there */
    unsigned turn = seed_of(module) + builds_turn();
    struct bulk bulk = { NULL, 0 };
    struct bench bench = bench_begin(module, inputs, deterministic, &bulk);

    for (int i = 0; i < n; i++) {
        if (!runs_here(&all[i], bench.ctx) || (turn++ % TURNS != 0 && !builds_all()))
            continue;
        if (!generated || !is_same_target(generated, &all[i]))
            generate(&bench, all[i].target);
        if (!generated)
            write_program(&bench);
        check_build(&bench, generated = &all[i]);
    }
    bulk_release(&bulk);
    temp_dir_free(&bench.dir);
}

void bits_check_fused(struct module *module, const struct tensor *inputs)
{
    check_module(module, inputs, true, ALL(fused_builds));
}

/* In NAME.c, wherever it stands. */
static void replace_text(struct bench *bench, const char *from, const char *to)
{
    struct str changed = { .arena = &bench->ctx->perm };
    struct mapping file;
    const char *text, *next;

    ck_assert_msg(file_map(bench->ctx, temp_path(&bench->dir, "net.c"), &file), "%s",
                  expect_text(bench->ctx));
    text = arena_strndup(&bench->ctx->perm, (const char *)file.data, file.size);
    file_unmap(&file);
    ck_assert_msg(strstr(text, from) != NULL, "no '%s' in the C", from);
    for (; (next = strstr(text, from)); text = next + strlen(from)) {
        str_addn(&changed, text, (size_t)(next - text));
        str_add(&changed, to);
    }
    str_add(&changed, text);
    temp_file(&bench->dir, "net.c", str_text(&changed), changed.n);
}

bool bits_differ(struct module *module, const char *from, const char *to)
{
    struct bulk bulk = { NULL, 0 };
    struct bench bench = bench_begin(module, NULL, true, &bulk);
    struct mapping results;
    bool same;

    generate(&bench, NULL);
    write_program(&bench);
    replace_text(&bench, from, to);
    run_build(&bench, &builds[0], &results);
    same = compare(&builds[0], &bench, &results, false);
    file_unmap(&results);
    bulk_release(&bulk);
    temp_dir_free(&bench.dir);
    return !same;
}

void bits_check_module(struct module *module, const struct tensor *inputs)
{
    check_module(module, inputs, false, ALL(builds));
}

void bits_check_deterministic(struct module *module, const struct tensor *inputs)
{
    check_module(module, inputs, true, ALL(builds));
}

void bits_check_targets(struct module *module, const struct tensor *inputs)
{
    check_module(module, inputs, false, ALL(target_builds));
}

void bits_check(const char *text)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });

    bits_check_module(module, NULL);
    module_free(module);
    ctx_free(ctx);
}
