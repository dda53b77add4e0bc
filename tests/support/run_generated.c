#include "tests/support/run_generated.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/machine/machine.h"
#include "relay_ir/interpret.h"
#include "relay_ir/passes/pipeline.h"
#include "runtime/engine/generated.h"
#include "simulate/simulate.h"
#include "tests/support/builds.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/precompiled.h"
#include "tests/support/temp_dir.h"

#define STRICT                                                                                     \
    "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wsign-conversion "                            \
    "-Wdouble-promotion -Wvla -Werror "
/* What nothing was written to is 0xFE everywhere, and the arena 0xFF: a result that depends on it is wrong. gcc 12.2
 * fills arrays in the red zone as if they were aligned. */
#if defined __x86_64__
#define PATTERN "-ftrivial-auto-var-init=pattern -mno-red-zone "
#else
#define PATTERN "-ftrivial-auto-var-init=pattern "
#endif
#define SANITIZE "-fsanitize=undefined,float-cast-overflow " PATTERN

#if defined __x86_64__
#define V3 STRICT "-march=x86-64-v3 "
#define V4 STRICT "-march=x86-64-v4 -mavx512vnni "
#else
#define V3 STRICT
#define V4 V3
#endif

/* What runs here and what is built for it is what the builds for vectors are about: in make check without what takes
 * compilers two thirds of their time. */
#define VECTORS "-O3", "-O1"

static const struct {
    const char *compiler, *flags;
    const char *optimisation,
        *in_check; /* of all builds, and of those that take turns; NULL = the same */
} builds[] = {
    { "gcc", STRICT, "-O2", NULL },
    { "clang", STRICT, "-O2", NULL },
    { "gcc", STRICT SANITIZE "-fsanitize-undefined-trap-on-error -fira-region=one ", "-O1", NULL },
    { "clang", STRICT SANITIZE "-fsanitize-trap=all ", "-O1", NULL },
    { "gcc", V3, VECTORS },
    { "clang", V3, VECTORS },
    { "gcc", V4, VECTORS },
    { "clang", V4, VECTORS },
};

enum { GCC_TRAPS = 2, N_BUILDS = 4, N_V3 = 6, N_V4 = 8, WIDE = 16 };

static unsigned seed_of(const struct generated_case *row)
{
    unsigned seed = row->seed + 1;

    for (const char *c = row->text ? row->text : ""; *c; c++)
        seed = seed * 31 + (unsigned char)*c;
    return seed;
}

static bool is_wide(const struct generated_case *row)
{
    return row->machine && row->machine->lanes >= WIDE;
}

/* One of eight cases for wide vectors sees its C as it is on a CPU without any of them. */
static bool is_plain_case(const struct generated_case *row)
{
    return seed_of(row) / 8 % 8 == 1;
}

/* Compilers take long for vectors that the CPU does not have, gcc's register allocation with its
 * sanitizer most of all: half a minute for test_kernels_pairs. So C for a CPU that is here is built
 * for it by gcc with traps and, where its vectors are the widest, in the builds for others and in
 * seven of eight of the rest, which see it as it is elsewhere. */
static bool is_built_for_machine(const struct generated_case *row, int build)
{
    if (build == GCC_TRAPS)
        return true;
    if (builds_all() || !is_wide(row))
        return false;
    return build >= N_BUILDS || !is_plain_case(row);
}

const char *generated_vectors_here(const struct machine *machine)
{
    const char *here = machine_flags_here(machine);

    return *here || builds_all() ? here : machine_host()->flags;
}

static const char *vectors_of(const struct generated_case *row, int build)
{
    if (!row->machine || !is_built_for_machine(row, build))
        return "";
    return is_wide(row) ? generated_vectors_here(row->machine) : machine_flags_here(row->machine);
}

/* Taken apart, wide vectors take gcc two to four times as long at -O2 as at -O1, and a fifth less
 * where it allocates registers without regions. */
static const char *optimisation_of(const struct generated_case *row, int build)
{
    if (builds_all())
        return builds[build].optimisation;
    if (is_wide(row) && !*machine_flags_here(row->machine))
        return strcmp(builds[build].compiler, "gcc") == 0 ? "-O1 -fira-region=one" : "-O1";
    return builds[build].in_check ? builds[build].in_check : builds[build].optimisation;
}

static const char *flags_of(struct ctx *ctx, const struct generated_case *row, int build,
                            const char *path)
{
    const char *flags = arena_printf(&ctx->perm, "%s%s %s", builds[build].flags,
                                     optimisation_of(row, build), vectors_of(row, build));
    const char *command =
        arena_printf(&ctx->perm, "%s -std=c99 -fPIC %s", builds[build].compiler, flags);

    return arena_printf(&ctx->perm, "%s %s", flags, precompiled_header(ctx, command, path));
}

struct module *generated_module(struct ctx *ctx, const struct generated_case *row)
{
    static const struct pipeline_options all = { .dump_after = NULL };
    struct module *module = graph_parse(ctx, row->text, seed_of(row));
    const bool ok = row->whole_pipeline ? pipeline_run(module, &all)
                                        : pipeline_run_one(module, "infer_type") &&
                                              pipeline_run_one(module, "fuse_ops");

    ck_assert_msg(ok, "%s", expect_text(ctx));
    return module;
}

/* Writes the files of "net" into the folder. */
static struct codegen_result generate(struct module *module, const struct generated_case *row,
                                      const char *dir)
{
    const struct codegen_options options = { .name = "net",
                                             .dir = dir,
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .machine = row->machine,
                                             .choices = row->choices,
                                             .targets = row->targets,
                                             .weights = row->weights,
                                             .winograd = row->winograd,
                                             .parts = row->parts,
                                             .optimize_size = row->optimize_size,
                                             .keep_zeros = row->keep_zeros,
                                             .step = row->step,
                                             .ships = row->ships };
    struct output_set set = { .ctx = module->ctx };
    struct codegen_result result;

    ck_assert_msg(codegen_c(module, &options, &set, &result) && output_commit(&set), "%s",
                  expect_text(module->ctx));
    return result;
}

/* The files written, and those that the targets add for this machine. */
static const char **files_to_build(struct ctx *ctx, const struct codegen_result *result,
                                   struct temp_dir *dir)
{
    const char **files =
        arena_array(&ctx->perm, const char *, result->n_files + result->n_host_files);
    int n = 0;

    for (int i = 0; i < result->n_files; i++)
        files[n++] = result->files[i];
    for (int i = 0; i < result->n_host_files; i++)
        files[n++] = temp_file(dir, result->host_files[i].name, result->host_files[i].text,
                               strlen(result->host_files[i].text));
    return files;
}

static bool run(struct generated *generated, const struct generated_case *row, int n_regions,
                const struct tensor *inputs, struct tensor *outputs, struct bulk *bulk)
{
    bool ok = true;

    if (!row->step)
        return generated_run(generated, inputs, outputs, bulk);
    if (!generated_begin(generated, inputs, outputs, bulk))
        return false;
    for (int i = 0; i < n_regions && ok; i++)
        ok = generated_step(generated, i);
    return ok;
}

static void check_bits(struct module *module, const struct generated_case *row,
                       const struct tensor *inputs, const struct tensor *found)
{
    const struct simulate_options options = { .machine = row->machine };
    struct ctx *ctx = module->ctx;
    const int n = module->main->ret->n_inputs;
    struct tensor *wanted = arena_array(&ctx->perm, struct tensor, n);
    struct bulk bulk = { NULL, 0 };

    ck_assert_msg(simulate(ctx, module->main, &options, inputs, wanted, &bulk, NULL), "%s",
                  expect_text(ctx));
    for (int i = 0; i < n; i++) {
        const int64_t at =
            wanted[i].type.dtype == DTYPE_F64 ? -1 : other_bits(&found[i], &wanted[i]);

        ck_assert_msg(at < 0, "output %d '%s': element %lld is %a, simulated %a", i,
                      module->main->result_names[i], (long long)at, tensor_at(&found[i], at),
                      tensor_at(&wanted[i], at));
    }
    bulk_release(&bulk);
}

/* Inputs, and what the reference makes of them. */
struct sample {
    const struct tensor *inputs;
    struct tensor *wanted;
};

static void check_sample(struct module *module, const struct generated_case *row, int build,
                         struct generated *generated, const struct codegen_result *result,
                         const struct sample *sample)
{
    struct ctx *ctx = module->ctx;
    const int n = module->main->ret->n_inputs;
    struct tensor *found = arena_array(&ctx->perm, struct tensor, n);
    struct bulk bulk = { NULL, 0 };

    ck_assert_msg(run(generated, row, result->n_regions, sample->inputs, found, &bulk), "%s",
                  expect_text(ctx));
    for (int i = 0; i < n; i++) {
        const double d = difference(&found[i], &sample->wanted[i]);

        ck_assert_msg(d <= row->tolerance, "%s: output %d '%s' differs by %g",
                      builds[build].compiler, i, module->main->result_names[i], d);
    }
    if (build == 0 && !simulate_exception(result))
        check_bits(module, row, sample->inputs, found);
    bulk_release(&bulk);
}

static void check_build(struct module *module, const struct generated_case *row, int build,
                        int n_samples, const struct sample *samples)
{
    struct ctx *ctx = module->ctx;
    struct temp_dir dir = temp_dir_new();
    const struct codegen_result result = generate(module, row, dir.path);
    const struct generated_options options = { .name = "net",
                                               .dir = dir.path,
                                               .files = files_to_build(ctx, &result, &dir),
                                               .n_files = result.n_files + result.n_host_files,
                                               .libs = result.host_flags,
                                               .compiler = builds[build].compiler,
                                               .flags = flags_of(ctx, row, build,
                                                                 temp_path(&dir, "net.c")),
                                               .step = row->step };
    struct generated *generated = generated_build(ctx, module->main, &options);

    ck_assert_msg(generated != NULL, "%s %s\n%s", builds[build].compiler, builds[build].flags,
                  expect_text(ctx));
    for (int i = 0; i < n_samples; i++)
        check_sample(module, row, build, generated, &result, &samples[i]);
    generated_free(generated);
    temp_dir_free(&dir);
}

static bool vector_builds;

void generated_vector_builds(void)
{
    vector_builds = true;
}

static int count_builds(void)
{
#if defined __x86_64__
    if (vector_builds && __builtin_cpu_supports("avx2"))
        return __builtin_cpu_supports("avx512vnni") ? N_V4 : N_V3;
#endif
    return N_BUILDS;
}

/* One, by the case's number and the run's: gcc's, whose bits are the simulation's, and the next time one of the
 * others, so that many cases together have them all, and each case in time. */
static bool takes_build(int build, unsigned seed)
{
    const unsigned n_others = (unsigned)count_builds() - 1, turn = seed + builds_turn();

    return builds_all() || build == (turn % 2 == 0 ? 0 : 1 + (int)(turn / 2 % n_others));
}

static void check_samples(struct module *module, const struct generated_case *row, int n,
                          struct sample *samples)
{
    struct ctx *ctx = module->ctx;
    const int n_builds = row->one_build ? 1 : count_builds();
    struct bulk bulk = { NULL, 0 };

    for (int i = 0; i < n; i++) {
        samples[i].wanted = arena_array(&ctx->perm, struct tensor, module->main->ret->n_inputs);
        ck_assert_msg(
            interpret(ctx, module->main, samples[i].inputs, samples[i].wanted, &bulk, NULL), "%s",
            expect_text(ctx));
    }
    for (int i = 0; i < n_builds; i++)
        if (n_builds == 1 || takes_build(i, seed_of(row)))
            check_build(module, row, i, n, samples);
    bulk_release(&bulk);
}

static const struct tensor *inputs_within(struct module *module, const struct generated_case *row,
                                          double low, double high, struct bulk *bulk)
{
    unsigned seed = seed_of(row);

    return random_inputs(&module->ctx->perm, bulk, module->main, low, high, &seed);
}

void generated_check_module(struct module *module, const struct generated_case *row,
                            const struct tensor *inputs)
{
    const bool any_range = row->low == 0 && row->high == 0;
    struct bulk bulk = { NULL, 0 };
    struct sample sample = { .inputs = inputs };

    if (!inputs)
        sample.inputs =
            inputs_within(module, row, any_range ? -2 : row->low, any_range ? 2 : row->high, &bulk);
    check_samples(module, row, 1, &sample);
    bulk_release(&bulk);
}

void generated_check_ranges(const struct generated_case *row, int n,
                            const struct generated_range *ranges)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, row);
    struct sample *samples = arena_array(&ctx->perm, struct sample, n);
    struct bulk bulk = { NULL, 0 };

    for (int i = 0; i < n; i++)
        samples[i].inputs = inputs_within(module, row, ranges[i].low, ranges[i].high, &bulk);
    check_samples(module, row, n, samples);
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}

void generated_check(const struct generated_case *row)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, row);

    generated_check_module(module, row, NULL);
    module_free(module);
    ctx_free(ctx);
}

const char *generated_text(struct ctx *ctx, const struct generated_case *row, const char *suffix)
{
    struct temp_dir dir = temp_dir_new();
    struct module *module = generated_module(ctx, row);
    const char *path = temp_path(&dir, arena_printf(&ctx->perm, "net%s", suffix)), *text;
    struct mapping file;

    generate(module, row, dir.path);
    ck_assert_msg(file_map(ctx, path, &file), "%s", expect_text(ctx));
    text = arena_strndup(&ctx->perm, (const char *)file.data, file.size);
    file_unmap(&file);
    module_free(module);
    temp_dir_free(&dir);
    return text;
}

/* The text without spaces and line breaks. */
static const char *run_together(struct ctx *ctx, const char *text)
{
    char *to = arena_strndup(&ctx->perm, text, strlen(text)), *at = to;

    for (; *text; text++)
        if (*text != ' ' && *text != '\n')
            *at++ = *text;
    *at = '\0';
    return to;
}

bool generated_says(struct ctx *ctx, const char *text, const char *part)
{
    return strstr(run_together(ctx, text), run_together(ctx, part)) != NULL;
}

int generated_count(struct ctx *ctx, const struct generated_case *row, const char *what)
{
    const char *text = generated_text(ctx, row, ".c");
    int n = 0;

    for (; (text = strstr(text, what)) != NULL; text += strlen(what))
        n++;
    return n;
}
