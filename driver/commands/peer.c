#include "driver/commands/peer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/str.h"
#include "driver/part.h"
#include "frontend/tflite/import.h"
#include "relay_ir/variants.h"

const struct implementation implementations[] = {
    { "onnxruntime", "ONNX Runtime", "onnxruntime", "peer_onnxruntime.py", "without optimisations",
      .bit_exact = false },
    { "tflm", "TensorFlow Lite Micro", "tflite-micro", "peer_tflite.py",
      "with its reference kernels", .reads_tflite = true, .bit_exact = true },
    { "litert", "LiteRT", "ai-edge-litert", "peer_tflite.py", "with its reference kernels",
      .reads_tflite = true },
    { "xnnpack", "LiteRT", "ai-edge-litert", "peer_tflite.py", "through XNNPACK",
      .reads_tflite = true },
};

const char *const implementation_words[] = { "onnxruntime", "tflm", "litert", "xnnpack", NULL };

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

static const char *write_script(struct driver_state *driver, struct host_code *folder,
                                const char *name)
{
    struct output_set set = { .ctx = driver->ctx };
    const char *path = host_code_path(driver, folder, name);

    writer_text(output_open(&set, path),
                embedded_find(arena_printf(&driver->ctx->perm, "runtime/bench/%s", name))->text);
    return output_commit(&set) ? path : NULL;
}

/* The format, by its bytes. */
static bool takes_model(struct driver_state *driver, const struct implementation *which,
                        const char *option)
{
    const char *model = driver->args.operands[0];
    struct mapping file;
    bool is_tflite;

    if (!file_map(driver->ctx, model, &file))
        return false;
    is_tflite = tflite_is_model(file.data, file.size);
    file_unmap(&file);
    if (is_tflite == which->reads_tflite)
        return true;
    diag_error(driver->ctx, DIAG_USAGE, NULL, "%s %s: %s is %s TensorFlow Lite model, %s reads %s",
               option, which->word, str_safe(&driver->ctx->perm, model, 300),
               is_tflite ? "a" : "no", which->name, is_tflite ? "ONNX" : "these only");
    if (strcmp(option, "--against") == 0)
        diag_help(driver->ctx, is_tflite ? "--against tflm and --against litert run it"
                                         : "--against onnxruntime runs ONNX models");
    return false;
}

/* Python with TensorFlow Lite runs the file as it is. */
static bool takes_options(struct driver_state *driver, const struct implementation *which,
                          const char *option)
{
    static const enum option_id changes[] = { OPTION_FREEZE, OPTION_CUT_AT, OPTION_EXTRACT,
                                              OPTION_SHAPE, OPTION_DEQUANTIZE };
    bool ok = true;

    for (size_t i = 0; i < sizeof changes / sizeof *changes && which->reads_tflite; i++)
        if (has_option(&driver->args, changes[i]))
            ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                            "%s %s runs the whole file as it is: it excludes --%s", option,
                            which->word, option_name(changes[i]));
    return ok;
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
static bool freeze_inputs(struct driver_state *driver, struct worker *worker)
{
    const struct option_values *frozen = &driver->args.options[OPTION_FREEZE];
    bool ok = true;

    for (int i = 0; i < frozen->n && ok; i++) {
        const char *text = frozen->at[i], *equals = strrchr(text, '=');

        ok = worker_ask(worker, "freeze %s %.*s", equals + 1, (int)(equals - text), text);
    }
    for (int s = 0; driver->sizes && s < driver->sizes->n_symbols && ok; s++) {
        const char *name = driver->sizes->symbols[s].name;
        const char *value = size_given(&driver->args.options[OPTION_SHAPE], name);

        ok = !value || worker_ask(worker, "size %s %s", value, name);
    }
    return ok;
}

/* "part=A,B..C,D", of --cut and --extract; NULL = the whole model. */
static const char *part_text(struct driver_state *driver)
{
    struct import_options part = { 0 };
    struct str text = { .arena = &driver->ctx->perm };

    if (!read_part(driver, &part) || (!part.n_from && !part.n_to))
        return NULL;
    str_add(&text, "part=");
    for (int i = 0; i < part.n_from; i++)
        str_printf(&text, "%s%s", i ? "," : "", part.from[i]);
    str_add(&text, "..");
    for (int i = 0; i < part.n_to; i++)
        str_printf(&text, "%s%s", i ? "," : "", part.to[i]);
    return str_text(&text);
}

/* What lacks no package may still refuse the file. */
static bool open_model(struct driver_state *driver, const struct implementation *which,
                       struct worker *worker)
{
    if (!which->reads_tflite || worker_ask(worker, "open"))
        return true;
    diag_help(driver->ctx,
              which->bit_exact
                  ? "it may lack an operator or a form of one that relayc takes; "
                    "--against litert has more of them"
                  : "--against tflm may take it; verify without --against needs neither");
    return false;
}

struct worker *peer_start(struct driver_state *driver, struct host_code *folder,
                          const struct implementation *which, const char *option, bool plain,
                          const char **version)
{
    const char *python = find_python(driver->ctx), *script, *part, *says;
    const char *words[6] = { python, NULL, driver->args.operands[0] };
    int n = 3;
    struct worker *worker;

    if (!takes_model(driver, which, option) || !takes_options(driver, which, option) ||
        !(script = write_script(driver, folder, which->script)))
        return NULL;
    words[1] = script;
    if (which->reads_tflite)
        words[n++] = which->word;
    else if ((part = part_text(driver)))
        words[n++] = part;
    if (plain && !which->reads_tflite)
        words[n++] = "plain";
    worker = worker_start(driver->ctx, which->name, words,
                          host_code_path(driver, folder, "peer.messages"));
    if (!worker || !(says = worker_ask(worker, NULL))) {
        diag_help(driver->ctx,
                  "%s %s runs '%s'; RELAYC_PYTHON names another Python, which needs the package "
                  "%s (pip install %s)",
                  option, which->word, str_safe(&driver->ctx->perm, python, 300), which->package,
                  which->package);
        worker_stop(worker);
        return NULL;
    }
    *version = arena_strdup(&driver->ctx->perm, says);
    if (open_model(driver, which, worker) && freeze_inputs(driver, worker))
        return worker;
    worker_stop(worker);
    return NULL;
}

bool peer_input(struct driver_state *driver, struct worker *worker, const struct type *type,
                const char *path)
{
    return worker_ask(worker, "input %s %s %s", dtype_name(type->dtype),
                      dims_text(&driver->ctx->perm, type), path) != NULL;
}
