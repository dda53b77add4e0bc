/* generated.c - the last stage: generated C, compiled with the flags that it promises to pass
 * silently. One compiler run builds many cases, as starting it costs more than compiling a case; a
 * run that fails is repeated case by case. */
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "tests/conformance/conformance.h"
#include "tests/support/builds.h"
#include "tests/support/executions.h"

enum { BATCH = 80, MAX_WORDS = 800, GUARD = 64, ALIGN = 64 };

/* A case's name before: the file with the function that calls it. */
#define CALL "_call.c"

static const char flags[] = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -shared -fPIC";

/* What optimisation does to kernels, their own tests show: in make check every fourth batch has it, in rotation. */
static const char *optimisation(const struct settings *settings, unsigned batch)
{
    return builds_all() || (batch + builds_turn() / settings->turns) % 4 == 0 ? "-O1" : "-O0";
}

bool case_adapter_write(struct ctx *ctx, const struct test_case *test, int n_inputs, int n_outputs)
{
    struct output_set set = { .ctx = ctx };
    struct writer *w =
        output_open(&set, arena_printf(&ctx->perm, "%s/%s" CALL, test->work, test->c_name));
    char *upper = arena_strdup(&ctx->perm, test->c_name);

    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    writer_printf(w, "#include \"%s.h\"\n\n#include <stddef.h>\n\n", test->c_name);
    writer_printf(w, "size_t %s_bytes(void);\n", test->c_name);
    writer_printf(w, "int %s_call(const void *const *in, void *const *out, void *arena);\n\n",
                  test->c_name);
    writer_printf(w, "size_t %s_bytes(void)\n{\n    return %s_ARENA_BYTES;\n}\n\n", test->c_name,
                  upper);
    writer_printf(w, "int %s_call(const void *const *in, void *const *out, void *arena)\n{\n",
                  test->c_name);
    writer_printf(w, "    (void)in, (void)out;\n    return %s_run(", test->c_name);
    for (int i = 0; i < n_inputs; i++)
        writer_printf(w, "in[%d], ", i);
    for (int i = 0; i < n_outputs; i++)
        writer_printf(w, "out[%d], ", i);
    writer_text(w, "arena);\n}\n");
    return output_commit(&set);
}

/* --- building --------------------------------------------------------------------------------- */
struct batch {
    struct arena arena;
    struct test_case *tests[BATCH];
    int n;
    const char *library, *log, *optimisation;
    char *words[MAX_WORDS];
    int n_words;
    int pid;
};

static void add_word(struct batch *batch, const char *word)
{
    if (batch->n_words < MAX_WORDS - 1)
        batch->words[batch->n_words++] = arena_strdup(&batch->arena, word);
}

static void add_words(struct batch *batch, const char *text)
{
    for (char *word = strtok(arena_strdup(&batch->arena, text), " "); word;
         word = strtok(NULL, " "))
        add_word(batch, word);
}

/* The .c files of a case, but for the function that calls it. */
static void add_sources(struct batch *batch, const struct test_case *test)
{
    const char *call = arena_printf(&batch->arena, "%s" CALL, test->c_name);
    DIR *dir = opendir(test->work);

    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (str_starts(entry->d_name, test->c_name) && str_ends(entry->d_name, ".c") &&
            strcmp(entry->d_name, call) != 0)
            add_word(batch, arena_printf(&batch->arena, "%s/%s", test->work, entry->d_name));
    if (dir)
        closedir(dir);
}

/* The functions that call the cases are one file: each has a name of its own, and a compiler that is
 * started for them takes as long as for a case. */
static void add_calls(struct batch *batch)
{
    const char *path = arena_printf(&batch->arena, "%s/%s.c", batch->tests[0]->work,
                                    batch->n > 1 ? "calls" : "call");
    FILE *file = fopen(path, "w");

    for (int i = 0; file && i < batch->n; i++)
        fprintf(file, "#include \"../%s/%s" CALL "\"\n", batch->tests[i]->c_name,
                batch->tests[i]->c_name);
    if (file && fclose(file) == 0)
        add_word(batch, path);
}

static void batch_start(const struct settings *settings, struct batch *batch)
{
    batch->library = arena_printf(&batch->arena, "%s/%s.so", batch->tests[0]->work,
                                  batch->n > 1 ? "batch" : "single");
    batch->log = arena_printf(&batch->arena, "%s.log", batch->library);
    batch->n_words = 0;
    add_words(batch, settings->compiler);
    add_words(batch, flags);
    add_word(batch, batch->optimisation);
    add_word(batch, "-o");
    add_word(batch, batch->library);
    for (int i = 0; i < batch->n; i++)
        add_sources(batch, batch->tests[i]);
    add_calls(batch);
    add_word(batch, "-lm");
    batch->words[batch->n_words] = NULL;
    batch->pid = child_start(batch->words, batch->log);
}

/* The first error of the compiler, for the report. */
static void report_messages(const struct batch *batch, struct report *report)
{
    struct ctx *ctx = ctx_new(batch->log);
    struct mapping file;
    const char *text = "", *error;

    if (file_map(ctx, batch->log, &file))
        text = arena_strndup(&ctx->perm, (const char *)file.data, file.size);
    error = strstr(text, "error");
    report_fail(report, STAGE_C,
                arena_printf(&ctx->perm, "does not compile: %.*s",
                             (int)strcspn(error ? error : text, "\n"), error ? error : text));
    report->has_c = false;
    ctx_free(ctx);
}

static bool batch_finish(struct batch *batch)
{
    void *library;

    if (child_wait(batch->pid) != 0)
        return false;
    library = dlopen(batch->library, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    for (int i = 0; i < batch->n; i++)
        batch->tests[i]->library = library;
    return true;
}

/* Every case of a batch that failed, on its own. */
static void build_singly(const struct settings *settings, const struct batch *failed)
{
    for (int i = 0; i < failed->n; i++) {
        struct batch single = { .tests = { failed->tests[i] },
                                .n = 1,
                                .optimisation = failed->optimisation };

        batch_start(settings, &single);
        if (!batch_finish(&single))
            report_messages(&single, failed->tests[i]->report);
        arena_release(&single.arena);
    }
}

void generated_build_all(const struct settings *settings, struct test_case *tests, int n)
{
    static unsigned n_before, n_cases;
    const int n_batches = settings->jobs;
    struct batch *batches = calloc((size_t)n_batches, sizeof *batches);
    int with_c = 0, at = 0;

    if (!batches)
        out_of_memory((size_t)n_batches * sizeof *batches);
    for (int i = 0; i < n; i++) {
        const bool has_its_turn =
            builds_all() || (n_cases++ + builds_turn()) % settings->turns == 0;

        if (!tests[i].report->has_c || !has_its_turn)
            continue;
        batches[with_c % n_batches].tests[batches[with_c % n_batches].n++] = &tests[i];
        with_c++;
    }
    for (at = 0; at < n_batches; at++) {
        batches[at].optimisation = optimisation(settings, n_before++);
        if (batches[at].n)
            batch_start(settings, &batches[at]);
    }
    for (at = 0; at < n_batches; at++) {
        if (batches[at].n && !batch_finish(&batches[at]))
            build_singly(settings, &batches[at]);
        arena_release(&batches[at].arena);
    }
    free(batches);
}

void generated_close_all(struct test_case *tests, int n)
{
    for (int i = 0; i < n; i++)
        tests[i].library = NULL; /* stays loaded: names are unique, and the process is short */
}

/* --- running ---------------------------------------------------------------------------------- */

/* Zeroed bytes with a guard behind them. */
static void *guarded(size_t bytes)
{
    unsigned char *memory = aligned_alloc(ALIGN, (bytes + GUARD + ALIGN) / ALIGN * ALIGN);

    if (!memory)
        out_of_memory(bytes);
    memset(memory, 0xFF, bytes);
    memset(memory + bytes, 0xA5, GUARD);
    return memory;
}

static bool guard_holds(const void *memory, size_t bytes)
{
    for (size_t i = bytes; i < bytes + GUARD; i++)
        if (((const unsigned char *)memory)[i] != 0xA5)
            return false;
    return true;
}

struct code {
    int (*call)(const void *const *in, void *const *out, void *arena);
    size_t arena_bytes;
};

static bool find_code(struct ctx *ctx, const struct test_case *test, struct code *code)
{
    size_t (*bytes)(void);

    /* The cast that POSIX prescribes for functions. */
    *(void **)&code->call = dlsym(test->library, arena_printf(&ctx->perm, "%s_call", test->c_name));
    *(void **)&bytes = dlsym(test->library, arena_printf(&ctx->perm, "%s_bytes", test->c_name));
    if (!code->call || !bytes)
        return false;
    code->arena_bytes = bytes();
    return true;
}

static const char *simulated_path(struct ctx *ctx, const struct test_case *test, int index,
                                  int output)
{
    return arena_printf(&ctx->perm, "%s/simulated_%d_%d.bin", test->work, index, output);
}

bool simulated_write(struct ctx *ctx, const struct test_case *test, int index, int output,
                     const struct tensor *tensor)
{
    FILE *file = fopen(simulated_path(ctx, test, index, output), "wb");
    const size_t bytes = type_bytes(&tensor->type);
    const bool ok = file && fwrite(tensor->data, 1, bytes, file) == bytes;

    return file && fclose(file) == 0 && ok;
}

static bool has_bits(struct ctx *ctx, const struct test_case *test, int index, int output,
                     const struct tensor *found, const char **why)
{
    struct tensor wanted = { found->type, NULL };
    struct mapping file;
    int64_t i;

    if (type_elements(&found->type) == 0)
        return true;
    if (!file_map(ctx, simulated_path(ctx, test, index, output), &file)) {
        *why = "was not simulated";
        return false;
    }
    wanted.data = (void *)(uintptr_t)file.data;
    i = other_bits(found, &wanted);
    if (i >= 0)
        *why = arena_printf(&ctx->perm,
                            "has other bits than the simulation: element %lld is %a, "
                            "simulated %a",
                            (long long)i, tensor_at(found, i), tensor_at(&wanted, i));
    file_unmap(&file);
    return i < 0;
}

static bool run_set(struct ctx *ctx, const struct test_case *test, int index,
                    const struct code *code, const struct data_set *set, const char **reason)
{
    const void *in[MAX_TENSORS] = { NULL };
    void *out[MAX_TENSORS] = { NULL }, *arena = guarded(code->arena_bytes);
    int status;

    for (int i = 0; i < set->n_inputs; i++)
        in[i] = set->inputs[i].data;
    for (int i = 0; i < set->n_outputs; i++)
        out[i] = guarded(type_bytes(&set->outputs[i].type));
    status = code->call(in, out, arena);
    if (status != 0) {
        *reason = arena_printf(&ctx->perm, "returned %d", status);
        return false;
    }
    if (!guard_holds(arena, code->arena_bytes)) {
        *reason = "wrote behind the arena";
        return false;
    }
    for (int i = 0; i < set->n_outputs; i++) {
        struct tensor found = { set->outputs[i].type, out[i] };
        const char *why;

        if (!guard_holds(out[i], type_bytes(&found.type))) {
            *reason = arena_printf(&ctx->perm, "wrote behind output %d", i);
            return false;
        }
        if (!tensor_agrees(ctx, STAGE_C, &set->outputs[i], &found, &why)) {
            *reason = arena_printf(&ctx->perm, "output %d %s", i, why);
            return false;
        }
        if (test->report->simulated && !has_bits(ctx, test, index, i, &found, &why)) {
            test->report->stage = STAGE_BITS;
            *reason = arena_printf(&ctx->perm, "output %d %s", i, why);
            return false;
        }
    }
    return true;
}

void generated_examine(const struct settings *settings, const struct test_case *test)
{
    struct ctx *ctx = ctx_new(test->name);
    struct bulk bulk = { NULL, 0 };
    struct data_set set;
    struct code code;
    const char *reason = "";
    bool broken, ok;

    (void)settings;
    test->report->stage = STAGE_C;
    ok = find_code(ctx, test, &code);
    if (!ok)
        reason = "the library lacks its function";
    for (int i = 0; ok && data_set_read(ctx, test, i, &bulk, &set, &broken); i++) {
        data_set_freeze(&set, test->report->frozen);
        for (int k = 0; k < set.n_outputs; k++)
            if (test->report->bf16_outputs >> k & 1)
                set.outputs[k].type.dtype = DTYPE_BF16;
        ok = run_set(ctx, test, i, &code, &set, &reason);
    }
    if (!ok)
        report_fail(test->report, test->report->stage, reason);
    bulk_release(&bulk);
    ctx_free(ctx);
}
