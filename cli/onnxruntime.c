#include "cli/onnxruntime.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/str.h"

static const char *find_python(struct ctx *ctx)
{
    const char *given = getenv("RELAYC_PYTHON");
    char self[4000];
    ssize_t n;

    if (given && *given)
        return given;
    n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        const char *beside;

        self[n] = '\0';
        *strrchr(self, '/') = '\0';
        beside = arena_printf(&ctx->perm, "%s/python/bin/python3", self);
        if (access(beside, X_OK) == 0)
            return beside;
    }
    return "python3";
}

static const char *write_script(struct cli *cli, struct host_code *folder)
{
    static const char name[] = "peer_onnxruntime.py";
    struct output_set set = { .ctx = cli->ctx };
    const char *path = host_code_path(cli->driver, folder, name);

    writer_text(output_open(&set, path),
                embedded_find(arena_printf(&cli->ctx->perm, "runtime/bench/%s", name))->text);
    return output_commit(&set) ? path : NULL;
}

/* "1x3x224x224"; "scalar". */
static const char *dims_text(struct arena *arena, const struct type *type)
{
    struct str text = { .arena = arena };

    for (int i = 0; i < type->rank; i++)
        str_printf(&text, "%s%lld", i ? "x" : "", (long long)type->dim[i]);
    return type->rank ? str_text(&text) : "scalar";
}

/* What is a constant of ours is an input of the model still. */
static bool freeze_inputs(struct cli *cli, struct worker *worker)
{
    const struct option_values *frozen = &cli->driver->args.options[OPTION_FREEZE];
    bool ok = true;

    for (int i = 0; i < frozen->n && ok; i++) {
        const char *text = frozen->at[i], *equals = strrchr(text, '=');

        ok = worker_ask(worker, "freeze %s %.*s", equals + 1, (int)(equals - text), text);
    }
    return ok;
}

struct worker *onnxruntime_start(struct cli *cli, struct host_code *folder, const char *option,
                                 bool plain, const char **version)
{
    const char *script = write_script(cli, folder), *python = find_python(cli->ctx), *says;
    const char *words[] = { python, script, cli->driver->args.operands[0], plain ? "plain" : NULL,
                            NULL };
    struct worker *worker;

    if (!script)
        return NULL;
    worker = worker_start(cli->ctx, "ONNX Runtime", words,
                          host_code_path(cli->driver, folder, "peer.messages"));
    if (!worker || !(says = worker_ask(worker, NULL))) {
        diag_help(cli->ctx,
                  "%s runs '%s'; RELAYC_PYTHON names another Python, which needs the package "
                  "onnxruntime (pip install onnxruntime)",
                  option, str_safe(&cli->ctx->perm, python, 300));
        worker_stop(worker);
        return NULL;
    }
    *version = arena_strdup(&cli->ctx->perm, says);
    if (freeze_inputs(cli, worker))
        return worker;
    worker_stop(worker);
    return NULL;
}

bool onnxruntime_input(struct cli *cli, struct worker *worker, const struct type *type,
                       const char *path)
{
    return worker_ask(worker, "input %s %s %s", dtype_name(type->dtype),
                      dims_text(&cli->ctx->perm, type), path) != NULL;
}
