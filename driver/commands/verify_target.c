/* verify_target.c - the generated C built by --cc with --cflags and run by --runner: a program with
 * all inputs in it (runtime/bench/verify_driver.c), which prints what its regions give. */
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/str.h"
#include "driver/commands/verify.h"
#include "codegen_c/machine/machine.h"
#include "measure/output.h"
#include "runtime/engine/host_compile.h"

/* --- what goes in ----------------------------------------------------------------------------- */

enum { DRIVER_FILL, DRIVER_WRITE, DRIVER_READ, DRIVER_CALL, DRIVER_END, DRIVER_WORDS = 6 };

static void put_words(struct writer *w, uint32_t kind, const struct code_command *c)
{
    const uint32_t words[DRIVER_WORDS] = { kind,
                                           (uint32_t)(c->kind == CODE_CALL ? c->region : c->space),
                                           (uint32_t)c->offset,
                                           (uint32_t)c->count,
                                           (uint32_t)c->size,
                                           (uint32_t)c->pitch };

    for (int i = 0; i < DRIVER_WORDS; i++)
        for (int byte = 0; byte < 4; byte++)
            writer_write(w, &(unsigned char){ (unsigned char)(words[i] >> 8 * byte) }, 1);
}

static void write_commands(struct writer *w, const struct code_commands *commands)
{
    static const uint32_t kinds[] = { [CODE_FILL] = DRIVER_FILL,
                                      [CODE_WRITE] = DRIVER_WRITE,
                                      [CODE_CALL] = DRIVER_CALL,
                                      [CODE_READ] = DRIVER_READ };

    for (const struct code_command *c = commands->first; c; c = c->next) {
        const size_t bytes = c->count * c->size;

        put_words(w, kinds[c->kind], c);
        if (c->kind != CODE_WRITE)
            continue;
        writer_write(w, c->data, bytes);
        writer_write(w, "\0\0\0", (4 - bytes % 4) % 4);
    }
    put_words(w, DRIVER_END, &(struct code_command){ .kind = CODE_FILL });
}

/* Arrays for the arena, the inputs and the outputs; the commands, which the assembler takes from
 * their file. */
static void write_memory(struct writer *w, const struct function *fn, const char *commands,
                         size_t arena_bytes)
{
    const int n_spaces = 1 + fn->n_params + fn->ret->n_inputs;

    writer_printf(w, "#include \"model.h\"\n\nenum { N_INPUTS = %d, N_SPACES = %d };\n\n",
                  fn->n_params, n_spaces);
    writer_printf(w,
                  "__asm__(\".section .rodata,\\\"a\\\",%%progbits\\n.balign 8\\n\"\n"
                  "        \".globl relayc_commands\\nrelayc_commands:\\n\"\n"
                  "        \".incbin \\\"%s\\\"\\n.balign 8\\n.text\\n\");\n\n"
                  "#define PLACE static __attribute__((aligned(64))) unsigned char\n"
                  "PLACE memory0[%zu + 1];\n",
                  commands, arena_bytes);
    for (int i = 1; i < n_spaces; i++)
        writer_printf(w, "PLACE memory%d[%zu];\n", i,
                      type_bytes(i <= fn->n_params ? &fn->params[i - 1]->type
                                                   : &fn->ret->inputs[i - 1 - fn->n_params]->type) +
                          1);
    writer_text(w, "\nstatic unsigned char *const spaces[] = { ");
    for (int i = 0; i < n_spaces; i++)
        writer_printf(w, "memory%d, ", i);
    writer_text(w, "};\nstatic const size_t space_bytes[] = { ");
    for (int i = 0; i < n_spaces; i++)
        writer_printf(w, "sizeof memory%d - 1, ", i);
    writer_text(w, "};\nstatic const void *const inputs[] = { ");
    for (int i = 0; i < fn->n_params; i++)
        writer_printf(w, "memory%d, ", 1 + i);
    writer_text(w, "NULL };\nstatic void *const outputs[] = { ");
    for (int i = 0; i < fn->ret->n_inputs; i++)
        writer_printf(w, "memory%d, ", 1 + fn->n_params + i);
    writer_text(w, "NULL };\n");
}

static bool write_program(struct verification *v, struct host_code *code,
                          const struct code_commands *commands, const char *harness)
{
    struct driver_state *driver = v->driver;
    struct output_set set = { .ctx = driver->ctx };
    const char *list = host_code_path(driver, code, "verify_commands.bin");

    write_commands(output_open(&set, list), commands);
    write_memory(output_open(&set, host_code_path(driver, code, "verify_memory.h")),
                 v->module->main, list,
                 code->result.state_bytes ? code->result.state_place + code->result.state_bytes
                                          : code->result.arena_bytes);
    writer_text(output_open(&set, harness), embedded_find("runtime/bench/verify_driver.c")->text);
    return output_commit(&set);
}

/* --- the program ------------------------------------------------------------------------------ */

static bool build_program(struct verification *v, struct host_code *code, const char *harness,
                          const char *adapter, const char *program)
{
    struct driver_state *driver = v->driver;
    const char **files = arena_array(&driver->ctx->perm, const char *, code->n_files + 2);
    struct host_compile job = { .compiler = option_text(&driver->args, OPTION_CC, NULL),
                                .mode = "-std=gnu99",
                                .flags = option_text(&driver->args, OPTION_CFLAGS, NULL),
                                .libs = code->result.host_flags,
                                .include_dir = code->dir,
                                .files = files,
                                .output = program };

    if (!job.flags)
        job.flags = arena_printf(&driver->ctx->perm, "-O2 %s", driver->machine->flags);
    files[job.n_files++] = harness;
    files[job.n_files++] = adapter;
    for (int i = 0; i < code->n_files; i++)
        if (str_ends(code->files[i], ".c"))
            files[job.n_files++] = code->files[i];
    return host_compile(driver->ctx, &job);
}

bool target_does_not_fit(struct ctx *ctx)
{
    const struct diag *last = ctx->diags.latest;

    return last && last->note &&
           (strstr(last->note, "will not fit") || strstr(last->note, "overflowed") ||
            strstr(last->note, "relocation truncated"));
}

/* --- what comes out --------------------------------------------------------------------------- */

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Hands out the bytes that the program printed, one after the other. */
struct answers {
    const char *at, *end;
};

static bool take_byte(struct answers *a, unsigned char *byte)
{
    while (a->at < a->end && (*a->at == '\n' || *a->at == '\r'))
        a->at++;
    if (a->end - a->at < 2 || digit(a->at[0]) < 0 || digit(a->at[1]) < 0)
        return false;
    *byte = (unsigned char)(digit(a->at[0]) << 4 | digit(a->at[1]));
    a->at += 2;
    return true;
}

static bool take_answers(struct answers *a, const struct code_commands *commands)
{
    for (const struct code_command *c = commands->first; c; c = c->next)
        for (size_t i = 0; c->kind == CODE_READ && i < c->count * c->size; i++)
            if (!take_byte(a, (unsigned char *)c->data + i))
                return false;
    while (a->at < a->end && (*a->at == '\n' || *a->at == '\r'))
        a->at++;
    return a->end - a->at >= 3 && memcmp(a->at, "end", 3) == 0;
}

/* The line at which the answers end. */
static bool report_end(struct ctx *ctx, const struct answers *a, int status)
{
    const char *end = a->at;

    while (end < a->end && *end != '\n' && end - a->at < 300)
        end++;
    diag_error(ctx, DIAG_TOOLCHAIN, NULL,
               "the program with the generated C ended early with exit code %d", status);
    if (end > a->at)
        diag_note(
            ctx, "%s",
            str_safe(&ctx->perm, arena_strndup(&ctx->perm, a->at, (size_t)(end - a->at)), 300));
    return false;
}

bool target_run(struct verification *v, struct host_code *code,
                const struct code_commands *commands)
{
    struct driver_state *driver = v->driver;
    const char *harness = host_code_path(driver, code, "verify_driver.c");
    const char *adapter = host_code_path(driver, code, "model_adapter.c");
    const char *program = host_code_path(driver, code, "verify");
    const char *printed = host_code_path(driver, code, "verify.out");
    struct mapping file;
    struct answers answers;
    int status;
    bool ok;

    host_code_path(driver, code, "verify.log");
    if (!host_code_adapter(driver, v->module, true, code, adapter) ||
        !write_program(v, code, commands, harness) ||
        !build_program(v, code, harness, adapter, program))
        return false;
    status = run_to_file(
        driver->ctx,
        runner_words(driver->ctx, option_text(&driver->args, OPTION_RUNNER, NULL), program),
        printed);
    if (status < 0 || !file_map(driver->ctx, printed, &file))
        return false;
    answers.at = (const char *)file.data;
    answers.end = answers.at + file.size;
    ok = take_answers(&answers, commands) || report_end(driver->ctx, &answers, status);
    file_unmap(&file);
    return ok;
}
