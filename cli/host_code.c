#include "cli/host_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool host_code_build(struct cli *cli, struct module *module, bool step, struct host_code *out)
{
    const char *temporary = getenv("TMPDIR");
    char *dir = arena_printf(&cli->ctx->perm, "%s/relayc-XXXXXX",
                             temporary && *temporary ? temporary : "/tmp");
    struct codegen_options options = {
        .name = "model", .model_file = "", .model_sha256 = "", .command = "", .step = step
    };
    struct output_set set = { .ctx = cli->ctx };

    *out = (struct host_code){ .dir = mkdtemp(dir) };
    if (!out->dir)
        return diag_error(cli->ctx, DIAG_FILE_WRITE, NULL, "cannot make the folder %s: %s", dir,
                          strerror(errno));
    options.dir = dir;
    if (!codegen_c(module, &options, &set, &out->result)) {
        output_abort(&set);
        return false;
    }
    if (!output_commit(&set))
        return false;
    out->generated = generated_build(cli->ctx, module->main,
                                     &(struct generated_options){ .name = "model",
                                                                  .dir = dir,
                                                                  .files = out->result.files,
                                                                  .n_files = out->result.n_files,
                                                                  .step = step });
    return out->generated != NULL;
}

void host_code_free(struct cli *cli, struct host_code *code)
{
    static const char *const made[] = { "model_adapter.c", "model.so", "model.so.log" };

    generated_free(code->generated);
    if (!code->dir)
        return;
    for (int i = 0; i < code->result.n_files; i++)
        unlink(code->result.files[i]);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(arena_printf(&cli->ctx->perm, "%s/%s", code->dir, made[i]));
    rmdir(code->dir);
}
