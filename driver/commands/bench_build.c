/* bench_build.c - the programs that are timed: each file of the model as an object of its own, as
 * users build it, linked with the harness. */
#include <string.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/str.h"
#include "driver/commands/bench.h"
#include "codegen_c/machine/machine.h"
#include "runtime/engine/adapter.h"
#include "runtime/engine/host_compile.h"

static const char *const harness_files[] = { "harness.c", "peak.c", "peak.h" };

enum { HARNESS_FILES = sizeof harness_files / sizeof *harness_files, ADAPTER = 1 };

const char *bench_default_flags(struct driver_state *driver)
{
    const char *given = has_option(&driver->args, OPTION_TARGET) ? driver->machine->flags : "";

    return arena_printf(&driver->ctx->perm, "-O3 %s -ffp-contract=%s",
                        *given ? given : "-march=native", driver->deterministic ? "off" : "fast");
}

static bool write_harness(struct driver_state *driver, struct host_code *folder)
{
    struct output_set set = { .ctx = driver->ctx };

    for (int i = 0; i < HARNESS_FILES; i++) {
        const char *path = arena_printf(&driver->ctx->perm, "runtime/bench/%s", harness_files[i]);

        writer_text(output_open(&set, host_code_path(driver, folder, harness_files[i])),
                    embedded_find(path)->text);
    }
    return output_commit(&set);
}

static bool write_adapter(struct driver_state *driver, const struct sized_code *sized,
                          struct program *program)
{
    const struct adapter_memory memory = { .n_sizes = sized ? sized->variants->n_symbols : 0 };

    return adapter_write(driver->ctx, program->module->main, "model", program->step, &memory,
                         host_code_path(driver, &program->code, "model_adapter.c"));
}

static struct host_compile compiler_job(const struct bench *bench, const struct host_code *code,
                                        const char *mode, const char *const *files, int n_files,
                                        const char *output)
{
    return (struct host_compile){ .compiler = bench->compiler,
                                  .mode = mode,
                                  .flags = bench->cflags,
                                  .libs = code->result.host_flags,
                                  .include_dir = code->dir,
                                  .files = files,
                                  .n_files = n_files,
                                  .output = output };
}

/* Weights take most of the compiler's time and seldom change: they are compiled by a name that is
 * the same each time, so that --cc 'ccache cc' finds them. */
static bool is_weights(const char *name)
{
    return str_starts(name, "model_weights");
}

/* DIR/NAME.c -> DIR/NAME.o, with the file of messages beside it remembered. */
static const char *compile_object(struct bench *bench, struct host_code *code, const char *source)
{
    struct driver_state *driver = bench->driver;
    const char *name = strrchr(source, '/') + 1;
    const char *stem = arena_strndup(&driver->ctx->perm, name, strlen(name) - 2);
    const char *object =
        host_code_path(driver, code, arena_printf(&driver->ctx->perm, "%s.o", stem));
    struct host_compile job =
        compiler_job(bench, code, "-std=gnu99 -c", is_weights(name) ? &name : &source, 1, object);

    if (is_weights(name)) {
        job.run_in = code->dir;
        job.include_dir = ".";
    }
    host_code_path(driver, code, arena_printf(&driver->ctx->perm, "%s.o.log", stem));
    return host_compile(driver->ctx, &job) ? object : NULL;
}

static bool same_content(struct ctx *ctx, const char *path_a, const char *path_b)
{
    struct mapping a, b;
    bool same;

    if (!file_map(ctx, path_a, &a))
        return false;
    if (!file_map(ctx, path_b, &b)) {
        file_unmap(&a);
        return false;
    }
    same = a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
    file_unmap(&a);
    file_unmap(&b);
    return same;
}

/* The generated files count for the sizes, those that a target needs on this machine do not. */
static bool compile_objects(struct bench *bench, struct program *program,
                            const struct program *sharing)
{
    const struct host_code *code = &program->code;

    program->objects = arena_array(&bench->driver->ctx->perm, const char *, code->n_files);
    for (int i = 0; i < code->n_files; i++) {
        bool shared;

        if (!str_ends(code->files[i], ".c"))
            continue;
        shared = sharing && i < sharing->code.n_files && sharing->objects[i] &&
                 same_content(bench->driver->ctx, code->files[i], sharing->code.files[i]);
        program->objects[i] =
            shared ? sharing->objects[i] : compile_object(bench, &program->code, code->files[i]);
        if (!program->objects[i] ||
            (i < code->result.n_files &&
             !object_size_add(bench->driver->ctx, program->objects[i], &program->size)))
            return false;
    }
    return true;
}

/* The harness, as the objects that all programs share. */
static bool compile_harness(struct bench *bench)
{
    struct driver_state *driver = bench->driver;
    int n = 0;

    if (bench->harness_objects[0])
        return true;
    if (!host_code_folder(driver, &bench->harness) || !write_harness(driver, &bench->harness))
        return false;
    for (int i = 0; i < HARNESS_FILES; i++) {
        const char *source =
            arena_printf(&driver->ctx->perm, "%s/%s", bench->harness.dir, harness_files[i]);

        if (str_ends(source, ".c") &&
            !(bench->harness_objects[n++] = compile_object(bench, &bench->harness, source)))
            return false;
    }
    return true;
}

static bool link_program(struct bench *bench, struct program *program)
{
    struct driver_state *driver = bench->driver;
    struct host_code *code = &program->code;
    const char **files =
        arena_array(&driver->ctx->perm, const char *, code->n_files + HARNESS_FILES + ADAPTER);
    struct host_compile job;
    int n_files = 0;

    for (int i = 0; i < code->n_files; i++)
        if (program->objects[i])
            files[n_files++] = program->objects[i];
    files[n_files++] = bench->harness_objects[0];
    files[n_files++] = bench->harness_objects[1];
    files[n_files++] = arena_printf(&driver->ctx->perm, "%s/model_adapter.c", code->dir);
    program->path = host_code_path(driver, code, "bench");
    host_code_path(driver, code, "bench.log");
    job = compiler_job(bench, code, "-std=gnu99", files, n_files, program->path);
    return host_compile(driver->ctx, &job);
}

bool program_build(struct bench *bench, struct program *program, const struct program *sharing)
{
    struct driver_state *driver = bench->driver;
    double start;

    if (!host_code_write(driver, program->module, program->step, program->choices,
                         &program->code) ||
        !write_adapter(driver, NULL, program))
        return false;
    start = wall_seconds();
    if (!compile_objects(bench, program, sharing) || !compile_harness(bench) ||
        !link_program(bench, program)) {
        host_code_explain(driver, program->module, &program->code);
        return false;
    }
    bench->compile_seconds += wall_seconds() - start;
    return true;
}

bool program_build_sized(struct bench *bench, struct program *program)
{
    const double start = wall_seconds();

    program->borrows = true;
    program->code = bench->sized->code;
    if (!write_adapter(bench->driver, bench->sized, program) ||
        !compile_objects(bench, program, NULL) || !compile_harness(bench) ||
        !link_program(bench, program))
        return false;
    bench->compile_seconds += wall_seconds() - start;
    return true;
}

/* The runner's words with {exe} replaced, or the program behind them. */
static const char *const *program_words(struct bench *bench, const char *path)
{
    struct arena *arena = &bench->driver->ctx->perm;
    char *runner = arena_strdup(arena, bench->runner ? bench->runner : "");
    const char **words = arena_array(arena, const char *, strlen(runner) + 2);
    bool named = false;
    int n = 0;

    for (char *word = strtok(runner, " \t"); word; word = strtok(NULL, " \t")) {
        char *at = strstr(word, "{exe}");

        words[n++] =
            at ? arena_printf(arena, "%.*s%s%s", (int)(at - word), word, path, at + strlen("{exe}"))
               : word;
        named = named || at;
    }
    if (!named)
        words[n++] = path;
    words[n] = NULL;
    return words;
}

static const char *write_tensor(struct driver_state *driver, struct host_code *code,
                                const char *name, const struct tensor *tensor)
{
    struct output_set set = { .ctx = driver->ctx };
    const char *path = host_code_path(driver, code, name);

    writer_write(output_open(&set, path), tensor->data, type_bytes(&tensor->type));
    return output_commit(&set) ? path : NULL;
}

const char *bench_write_tensor(struct bench *bench, const char *name, const struct tensor *tensor)
{
    return write_tensor(bench->driver, &bench->own.code, name, tensor);
}

/* Behind the inputs, as the adapter reads them. */
static bool send_sizes(struct bench *bench, struct program *program)
{
    const int64_t n = bench->sized->variants->n_symbols;
    const struct tensor sizes = { type_make(DTYPE_I32, 1, &n),
                                  (void *)sized_code_sizes(bench->sized, bench->size) };
    const char *path = write_tensor(bench->driver, &program->code, "sizes.bin", &sizes);

    return path && worker_ask(program->worker, "input %s", path);
}

bool program_start(struct bench *bench, struct program *program)
{
    struct driver_state *driver = bench->driver;
    const struct function *fn = program->module->main;
    bool ok;

    program->worker =
        worker_start(driver->ctx, "the generated code", program_words(bench, program->path),
                     host_code_path(driver, &program->code, "harness.messages"));
    ok = program->worker != NULL;
    for (int i = 0; i < fn->n_params && ok; i++) {
        const char *path =
            write_tensor(driver, &program->code,
                         arena_printf(&driver->ctx->perm, "input_%d.bin", i), &program->inputs[i]);

        ok = path && worker_ask(program->worker, "input %s", path);
    }
    ok = ok && (!bench->sized || send_sizes(bench, program));
    for (int i = 0; i < fn->ret->n_inputs && ok; i++)
        ok = worker_ask(program->worker, "output %zu", type_bytes(&fn->ret->inputs[i]->type)) !=
             NULL;
    return ok;
}

void program_free(struct program *program)
{
    worker_stop(program->worker);
    if (program->code.dir && !program->borrows)
        host_code_free(&program->code);
}

void bench_free_harness(struct bench *bench)
{
    if (bench->harness.dir)
        host_code_free(&bench->harness);
}

bool bench_fetch_outputs(struct bench *bench, struct worker *worker, const struct type *types,
                         struct tensor *outputs)
{
    struct driver_state *driver = bench->driver;
    const int n = bench->own.module->main->ret->n_inputs;
    const char *path = host_code_path(driver, &bench->own.code, "outputs.bin");
    struct mapping file;
    size_t wanted = 0, at = 0;
    bool ok;

    for (int i = 0; i < n; i++)
        wanted += type_bytes(&types[i]);
    if (!worker_ask(worker, "run 1") || !worker_ask(worker, "save %s", path) ||
        !file_map(driver->ctx, path, &file))
        return false;
    ok = file.size == wanted ||
         diag_error(driver->ctx, DIAG_BENCH, NULL, "%zu bytes of outputs came back, not %zu",
                    file.size, wanted);
    for (int i = 0; i < n && ok; i++) {
        outputs[i] = tensor_new(&driver->bulk, &types[i]);
        memcpy(outputs[i].data, file.data + at, type_bytes(&types[i]));
        at += type_bytes(&types[i]);
    }
    file_unmap(&file);
    return ok;
}
