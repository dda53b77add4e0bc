#include "cli/host_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void make_folder(struct cli *cli, struct host_code *code)
{
    static const char *const names[HOST_CODE_MADE] = { "model_adapter.c", "model.so",
                                                       "model.so.log" };
    const char *temporary = getenv("TMPDIR");
    char *dir = arena_printf(&cli->ctx->perm, "%s/relayc-XXXXXX",
                             temporary && *temporary ? temporary : "/tmp");

    code->dir = mkdtemp(dir);
    if (!code->dir) {
        diag_error(cli->ctx, DIAG_FILE_WRITE, NULL, "cannot make the folder %s: %s", dir,
                   strerror(errno));
        return;
    }
    temporary_remember(code->dir);
    for (int i = 0; i < HOST_CODE_MADE; i++) {
        code->made[i] = arena_printf(&cli->ctx->perm, "%s/%s", dir, names[i]);
        temporary_remember(code->made[i]);
    }
}

bool host_code_build(struct cli *cli, struct module *module, bool step, struct host_code *out)
{
    struct codegen_options options = {
        .name = "model", .model_file = "", .model_sha256 = "", .command = "", .step = step
    };
    struct output_set set = { .ctx = cli->ctx };

    *out = (struct host_code){ .dir = NULL };
    make_folder(cli, out);
    if (!out->dir)
        return false;
    options.dir = out->dir;
    if (!codegen_c(module, &options, &set, &out->result)) {
        output_abort(&set);
        return false;
    }
    for (int i = 0; i < out->result.n_files; i++)
        temporary_remember(out->result.files[i]);
    if (!output_commit(&set))
        return false;
    out->generated = generated_build(cli->ctx, module->main,
                                     &(struct generated_options){ .name = "model",
                                                                  .dir = out->dir,
                                                                  .files = out->result.files,
                                                                  .n_files = out->result.n_files,
                                                                  .step = step });
    return out->generated != NULL;
}

static void remove_file(const char *path)
{
    unlink(path);
    temporary_forget(path);
}

void host_code_free(struct host_code *code)
{
    generated_free(code->generated);
    if (!code->dir)
        return;
    for (int i = 0; i < code->result.n_files; i++)
        remove_file(code->result.files[i]);
    for (int i = 0; i < HOST_CODE_MADE; i++)
        remove_file(code->made[i]);
    rmdir(code->dir);
    temporary_forget(code->dir);
}
