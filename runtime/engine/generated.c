#include "runtime/engine/generated.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/engine/crash.h"

extern char **environ;

/* NAME_REGION_FAILED of NAME.h; the region's index is added. */
enum { ARENA_ALIGN = 64, MESSAGE_BYTES = 2000, REGION_FAILED = 4 };

typedef int call_function(int region, const void *const *in, void *const *out, void *arena);

struct generated {
    struct ctx *ctx;
    const struct function *fn;
    void *library;
    call_function *call;
    size_t arena_bytes;
    void *arena;
    const void **in; /* of the run under way */
    void **out;
    const struct generated_region *regions;
    int n_regions;
};

/* The adapter gives every model the same interface: arrays of pointers. */
static bool write_adapter(struct ctx *ctx, const struct function *fn,
                          const struct generated_options *options, const char *path)
{
    struct output_set set = { .ctx = ctx };
    struct writer *w = output_open(&set, path);
    char *upper = arena_strdup(&ctx->perm, options->name);

    for (char *c = upper; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    writer_printf(w, "#include \"%s.h\"\n#include <stddef.h>\n\n", options->name);
    writer_text(w, "size_t relayc_arena_bytes(void);\n"
                   "int relayc_call(int region, const void *const *in, void *const *out, "
                   "void *arena);\n\n");
    writer_printf(w, "size_t relayc_arena_bytes(void)\n{\n    return %s_ARENA_BYTES;\n}\n\n",
                  upper);
    writer_text(w, "int relayc_call(int region, const void *const *in, void *const *out, "
                   "void *arena)\n{\n    (void)region, (void)in, (void)out;\n");
    for (int step = options->step; step >= 0; step--) {
        writer_printf(w, "    %sreturn %s_%s(%s", step ? "if (region >= 0)\n        " : "",
                      options->name, step ? "step" : "run", step ? "region, " : "");
        for (int i = 0; i < fn->n_params; i++)
            writer_printf(w, "in[%d], ", i);
        for (int i = 0; i < fn->ret->n_inputs; i++)
            writer_printf(w, "out[%d], ", i);
        writer_text(w, "arena);\n");
    }
    writer_text(w, "}\n");
    return output_commit(&set);
}

static int split_words(struct arena *arena, const char *text, char **words, int n)
{
    char *copy = arena_strdup(arena, text);

    for (char *word = strtok(copy, " \t"); word; word = strtok(NULL, " \t"))
        words[n++] = word;
    return n;
}

/* The environment, with messages in plain English. */
static char **compiler_environment(struct arena *arena)
{
    char **all;
    int n = 0, k = 0;

    while (environ[n])
        n++;
    all = arena_array(arena, char *, n + 2);
    for (int i = 0; i < n; i++)
        if (!str_starts(environ[i], "LC_ALL="))
            all[k++] = environ[i];
    all[k++] = arena_strdup(arena, "LC_ALL=C");
    all[k] = NULL;
    return all;
}

/* Runs the compiler with its messages in a file; its exit status, -1 if it could not be started. */
static int run_compiler(struct arena *arena, char **words, const char *messages)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status, error;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, messages,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    error = posix_spawnp(&pid, words[0], &actions, NULL, words, compiler_environment(arena));
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        errno = error;
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void add_messages(struct ctx *ctx, const char *path)
{
    struct mapping file;
    struct str text = { .arena = &ctx->perm };
    struct diags saved = diag_save(ctx);
    const bool ok = file_map(ctx, path, &file);

    diag_restore(ctx, saved);
    if (!ok)
        return;
    for (size_t i = 0; i < file.size && i < MESSAGE_BYTES; i++) {
        const char c = (char)file.data[i];

        str_addn(&text, c == '\n' || (c >= ' ' && c < 127) ? &c : "?", 1);
    }
    diag_note(ctx, "%s", str_text(&text));
    file_unmap(&file);
}

static bool compile(struct ctx *ctx, const struct generated_options *options, const char *adapter,
                    const char *library)
{
    enum { OWN_WORDS = 16 };
    const char *given = options->compiler ? options->compiler : getenv("CC");
    const char *compiler = given && *given ? given : "cc";
    const char *flags = options->flags ? options->flags : "-O2";
    const char *libs = options->libs ? options->libs : "";
    const char *messages = arena_printf(&ctx->perm, "%s.log", library);
    char **words = arena_array(&ctx->perm, char *,
                               strlen(compiler) + strlen(flags) + strlen(libs) +
                                   (size_t)options->n_files + OWN_WORDS);
    int n = split_words(&ctx->perm, compiler, words, 0), status;
    struct stat said;

    if (n == 0)
        return diag_error(ctx, DIAG_TOOLCHAIN, NULL, "no C compiler is named");
    n = split_words(&ctx->perm, "-std=c99 -shared -fPIC", words, n);
    n = split_words(&ctx->perm, flags, words, n);
    if (options->warn)
        words[n++] = arena_strdup(&ctx->perm, "-Wall");
    words[n++] = arena_printf(&ctx->perm, "-I%s", options->dir);
    words[n++] = arena_strdup(&ctx->perm, "-o");
    words[n++] = arena_strdup(&ctx->perm, library);
    words[n++] = arena_strdup(&ctx->perm, adapter);
    for (int i = 0; i < options->n_files; i++)
        if (str_ends(options->files[i], ".c"))
            words[n++] = arena_strdup(&ctx->perm, options->files[i]);
    n = split_words(&ctx->perm, libs, words, n);
    words[n++] = arena_strdup(&ctx->perm, "-lm");
    words[n] = NULL;
    status = run_compiler(&ctx->perm, words, messages);
    if (status < 0)
        return diag_error(ctx, DIAG_TOOLCHAIN, NULL, "cannot run the C compiler '%s': %s", words[0],
                          strerror(errno));
    if (status) {
        diag_error(ctx, DIAG_TOOLCHAIN, NULL, "the C compiler '%s' failed (exit code %d)", words[0],
                   status);
        add_messages(ctx, messages);
        return false;
    }
    if (options->warn && stat(messages, &said) == 0 && said.st_size > 0) {
        diag_warn(ctx, DIAG_TOOLCHAIN, NULL, "the C compiler '%s' warns of the generated code",
                  words[0]);
        add_messages(ctx, messages);
    }
    return true;
}

struct generated *generated_build(struct ctx *ctx, const struct function *fn,
                                  const struct generated_options *options)
{
    const char *adapter = arena_printf(&ctx->perm, "%s/%s_adapter.c", options->dir, options->name);
    const char *library = arena_printf(&ctx->perm, "%s/%s.so", options->dir, options->name);
    size_t (*arena_bytes)(void);
    struct crash_guard guard;
    struct generated *g;

    if (!write_adapter(ctx, fn, options, adapter) || !compile(ctx, options, adapter, library))
        return NULL;
    g = arena_new(&ctx->perm, struct generated);
    g->ctx = ctx;
    g->fn = fn;
    g->regions = options->regions;
    g->n_regions = options->regions ? options->n_regions : 0;
    crash_guard_begin(&guard, "while it was loaded");
    g->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    crash_guard_end(&guard);
    if (!g->library) {
        diag_error(ctx, DIAG_TOOLCHAIN, NULL, "cannot load the generated code: %s", dlerror());
        return NULL;
    }
    /* The cast that POSIX prescribes for functions. */
    *(void **)&g->call = dlsym(g->library, "relayc_call");
    *(void **)&arena_bytes = dlsym(g->library, "relayc_arena_bytes");
    g->arena_bytes = arena_bytes();
    g->arena =
        aligned_alloc(ARENA_ALIGN, (g->arena_bytes + ARENA_ALIGN) / ARENA_ALIGN * ARENA_ALIGN);
    if (!g->arena)
        out_of_memory(g->arena_bytes);
    g->in = arena_array(&ctx->perm, const void *, fn->n_params);
    g->out = arena_array(&ctx->perm, void *, fn->ret->n_inputs);
    return g;
}

bool generated_begin(struct generated *g, const struct tensor *inputs, struct tensor *outputs,
                     struct bulk *bulk)
{
    for (int i = 0; i < g->fn->n_params; i++)
        g->in[i] = inputs[i].data;
    for (int i = 0; i < g->fn->ret->n_inputs; i++) {
        outputs[i] = tensor_new(bulk, &g->fn->ret->inputs[i]->type);
        memset(outputs[i].data, 0xFF, type_bytes(&outputs[i].type));
        g->out[i] = outputs[i].data;
    }
    memset(g->arena, 0xFF, g->arena_bytes);
    return true;
}

/* "region 14 (npu_conv1, npu: npu.conv2d_act)" */
static const char *region_text(const struct generated *g, int region)
{
    return region < g->n_regions
               ? arena_printf(&g->ctx->perm, "region %d (%s)", region, g->regions[region].name)
               : arena_printf(&g->ctx->perm, "region %d", region);
}

bool generated_step(struct generated *g, int region)
{
    struct crash_guard guard;
    int code;

    crash_guard_begin(&guard, region < 0
                                  ? "in one of its regions"
                                  : arena_printf(&g->ctx->perm, "in %s", region_text(g, region)));
    code = g->call(region, g->in, g->out, g->arena);
    crash_guard_end(&guard);
    if (code >= REGION_FAILED) {
        region = code - REGION_FAILED;
        return diag_error(g->ctx, DIAG_REGION_FAILED,
                          region < g->n_regions ? g->regions[region].origin : NULL,
                          "%s failed: its function did not return 0", region_text(g, region));
    }
    return code == 0 || diag_error(g->ctx, DIAG_INTERNAL, NULL,
                                   "the generated code returned %d (region %d)", code, region);
}

bool generated_run(struct generated *g, const struct tensor *inputs, struct tensor *outputs,
                   struct bulk *bulk)
{
    return generated_begin(g, inputs, outputs, bulk) && generated_step(g, -1);
}

const void *generated_arena(const struct generated *g)
{
    return g->arena;
}

void generated_free(struct generated *g)
{
    if (!g)
        return;
    dlclose(g->library);
    free(g->arena);
}
