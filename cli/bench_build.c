/* bench_build.c - the program that is timed: each file of the model as an object of its own, as
 * users build it, linked with the harness. */
#include <string.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/str.h"
#include "cli/bench.h"
#include "runtime/engine/adapter.h"
#include "runtime/engine/host_compile.h"

static const char *const harness_files[] = { "harness.c", "peak.c", "peak.h" };

enum { HARNESS_FILES = sizeof harness_files / sizeof *harness_files, ADAPTER = 1 };

static bool write_harness(struct bench *bench)
{
    struct cli *cli = bench->cli;
    struct output_set set = { .ctx = cli->ctx };

    for (int i = 0; i < HARNESS_FILES; i++) {
        const char *path = arena_printf(&cli->ctx->perm, "runtime/bench/%s", harness_files[i]);

        writer_text(output_open(&set, host_code_path(cli, &bench->code, harness_files[i])),
                    embedded_find(path)->text);
    }
    return output_commit(&set) &&
           adapter_write(cli->ctx, bench->module->main, "model", true,
                         host_code_path(cli, &bench->code, "model_adapter.c"));
}

static bool call_compiler(struct bench *bench, const char *mode, const char *const *files,
                          int n_files, const char *output)
{
    const struct host_compile job = { .compiler = bench->compiler,
                                      .mode = mode,
                                      .flags = bench->cflags,
                                      .libs = bench->code.result.host_flags,
                                      .include_dir = bench->code.dir,
                                      .files = files,
                                      .n_files = n_files,
                                      .output = output };

    return host_compile(bench->cli->ctx, &job);
}

/* DIR/NAME.c -> DIR/NAME.o, with the file of messages beside it remembered. */
static const char *compile_object(struct bench *bench, const char *source)
{
    struct cli *cli = bench->cli;
    const char *name = strrchr(source, '/') + 1;
    const char *stem = arena_strndup(&cli->ctx->perm, name, strlen(name) - 2);
    const char *object =
        host_code_path(cli, &bench->code, arena_printf(&cli->ctx->perm, "%s.o", stem));

    host_code_path(cli, &bench->code, arena_printf(&cli->ctx->perm, "%s.o.log", stem));
    return call_compiler(bench, "-std=gnu99 -c", &source, 1, object) ? object : NULL;
}

/* The generated files count for the sizes, those that a target needs on this machine do not. */
static bool compile_objects(struct bench *bench, const char **objects, int *n_objects)
{
    const struct host_code *code = &bench->code;

    for (int i = 0; i < code->n_files; i++) {
        const char *object;

        if (!str_ends(code->files[i], ".c"))
            continue;
        object = compile_object(bench, code->files[i]);
        if (!object ||
            (i < code->result.n_files && !object_size_add(bench->cli->ctx, object, &bench->size)))
            return false;
        objects[(*n_objects)++] = object;
    }
    return true;
}

static bool link_program(struct bench *bench, const char **files, int n_files)
{
    struct cli *cli = bench->cli;

    for (int i = 0; i < HARNESS_FILES; i++)
        if (str_ends(harness_files[i], ".c"))
            files[n_files++] =
                arena_printf(&cli->ctx->perm, "%s/%s", bench->code.dir, harness_files[i]);
    files[n_files++] = arena_printf(&cli->ctx->perm, "%s/model_adapter.c", bench->code.dir);
    bench->program = host_code_path(cli, &bench->code, "bench");
    host_code_path(cli, &bench->code, "bench.log");
    return call_compiler(bench, "-std=gnu99", files, n_files, bench->program);
}

bool bench_build(struct bench *bench)
{
    struct cli *cli = bench->cli;
    const double start = wall_seconds();
    const char **files;
    int n_files = 0;

    if (!host_code_write(cli, bench->module, true, &bench->code) || !write_harness(bench))
        return false;
    files =
        arena_array(&cli->ctx->perm, const char *, bench->code.n_files + HARNESS_FILES + ADAPTER);
    if (!compile_objects(bench, files, &n_files) || !link_program(bench, files, n_files)) {
        host_code_explain(cli, bench->module, &bench->code);
        return false;
    }
    bench->compile_seconds = wall_seconds() - start;
    return true;
}

/* The runner's words with {exe} replaced, or the program behind them. */
static const char *const *program_words(struct bench *bench)
{
    struct arena *arena = &bench->cli->ctx->perm;
    char *runner = arena_strdup(arena, bench->runner ? bench->runner : "");
    const char **words = arena_array(arena, const char *, strlen(runner) + 2);
    bool named = false;
    int n = 0;

    for (char *word = strtok(runner, " \t"); word; word = strtok(NULL, " \t")) {
        char *at = strstr(word, "{exe}");

        words[n++] = at ? arena_printf(arena, "%.*s%s%s", (int)(at - word), word, bench->program,
                                       at + strlen("{exe}"))
                        : word;
        named = named || at;
    }
    if (!named)
        words[n++] = bench->program;
    words[n] = NULL;
    return words;
}

bool bench_start_own(struct bench *bench)
{
    struct cli *cli = bench->cli;
    const struct function *fn = bench->module->main;
    struct worker *worker = worker_start(cli->ctx, "the generated code", program_words(bench),
                                         host_code_path(cli, &bench->code, "harness.messages"));
    bool ok = worker != NULL;

    bench->contenders[OWN].worker = worker;
    for (int i = 0; i < fn->n_params && ok; i++) {
        const char *name = arena_printf(&cli->ctx->perm, "input_%d.bin", i);
        const char *path = bench_write_tensor(bench, name, &bench->inputs[i]);

        ok = path && worker_ask(worker, "input %s", path);
    }
    for (int i = 0; i < fn->ret->n_inputs && ok; i++)
        ok = worker_ask(worker, "output %zu", type_bytes(&fn->ret->inputs[i]->type)) != NULL;
    return ok;
}

const char *bench_write_tensor(struct bench *bench, const char *name, const struct tensor *tensor)
{
    struct output_set set = { .ctx = bench->cli->ctx };
    const char *path = host_code_path(bench->cli, &bench->code, name);

    writer_write(output_open(&set, path), tensor->data, type_bytes(&tensor->type));
    return output_commit(&set) ? path : NULL;
}

bool bench_fetch_outputs(struct bench *bench, struct worker *worker, const struct type *types,
                         struct tensor *outputs)
{
    struct cli *cli = bench->cli;
    const int n = bench->module->main->ret->n_inputs;
    const char *path = host_code_path(cli, &bench->code, "outputs.bin");
    struct mapping file;
    size_t wanted = 0, at = 0;
    bool ok;

    for (int i = 0; i < n; i++)
        wanted += type_bytes(&types[i]);
    if (!worker_ask(worker, "run 1") || !worker_ask(worker, "save %s", path) ||
        !file_map(cli->ctx, path, &file))
        return false;
    ok = file.size == wanted ||
         diag_error(cli->ctx, DIAG_BENCH, NULL, "%zu bytes of outputs came back, not %zu",
                    file.size, wanted);
    for (int i = 0; i < n && ok; i++) {
        outputs[i] = tensor_new(&cli->bulk, &types[i]);
        memcpy(outputs[i].data, file.data + at, type_bytes(&types[i]));
        at += type_bytes(&types[i]);
    }
    file_unmap(&file);
    return ok;
}
