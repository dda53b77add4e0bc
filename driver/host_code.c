#include "driver/host_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "base/temporary.h"
#include "codegen_c/machine/machine.h"

bool host_code_folder(struct driver_state *driver, struct host_code *code)
{
    *code = (struct host_code){ .dir = temporary_work_folder(driver->ctx) };
    return code->dir != NULL;
}

const char *host_code_path(struct driver_state *driver, const struct host_code *code,
                           const char *name)
{
    return arena_printf(&driver->ctx->perm, "%s/%s", code->dir, name);
}

/* The files that the targets need on this machine go beside the generated ones. */
static void add_host_files(struct driver_state *driver, struct host_code *code,
                           struct output_set *set)
{
    const struct codegen_result *result = &code->result;

    code->files =
        arena_array(&driver->ctx->perm, const char *, result->n_files + result->n_host_files);
    for (int i = 0; i < result->n_files; i++)
        code->files[code->n_files++] = result->files[i];
    for (int i = 0; i < result->n_host_files; i++) {
        const char *path =
            arena_printf(&driver->ctx->perm, "%s/%s", code->dir, result->host_files[i].name);

        writer_text(output_open(set, path), result->host_files[i].text);
        code->files[code->n_files++] = path;
    }
}

/* Regions of an `extern` target call functions that are the user's to write, those of others the
 * functions of a library. */
static void explain_symbols(struct driver_state *driver, const struct module *module)
{
    const struct diag *last = driver->ctx->diags.latest;
    const bool undefined = last && strstr(last->message, "undefined symbol");

    for (const struct node *n = module->main->first; n; n = n->next) {
        const char *compiler = n->op == OP_CALL ? n->callee->compiler : NULL;
        const struct target *target =
            compiler ? targets_find(&driver->offload.targets, compiler) : NULL;

        if (target && target->format == FORMAT_C && undefined && target->folder) {
            diag_help(driver->ctx,
                      "if it is a function of %s's library, name the library's C files under "
                      "\"host\" in its "
                      "target.json",
                      target->name);
            return;
        }
        if (target && target->format != FORMAT_C && target->n_host_files == 0) {
            diag_help(driver->ctx,
                      "the code calls functions of the target %s; \"host\" in its target.json can "
                      "name files that have them on this machine",
                      target->name);
            return;
        }
    }
}

/* The comment in front of a composite's block, "TARGET.ROW, TEMPLATE: NODES", that stands last
 * before a line of the file; NULL if there is none. */
static const char *block_comment(struct driver_state *driver, const char *path, const char *target,
                                 long line)
{
    struct arena *arena = &driver->ctx->perm;
    const char *start = arena_printf(arena, "/* %s.", target), *found = NULL, *text;
    struct mapping file;

    if (!file_map(driver->ctx, path, &file))
        return NULL;
    text = arena_strndup(arena, (const char *)file.data, file.size);
    file_unmap(&file);
    for (long i = 1; i <= line && *text; i++) {
        const size_t n = strcspn(text, "\n");
        const char *at = text + strspn(text, " ");

        if (*text == '}')
            found = NULL; /* the function's end */
        if (str_starts(at, start))
            found = arena_strndup(arena, at + 3, (size_t)(text + n - at) - 3);
        text += n + (text[n] == '\n');
    }
    return found;
}

/* Whose text the compiler refused: the composite around the line of its first message. */
static void explain_text(struct driver_state *driver, const struct module *module,
                         const struct host_code *code)
{
    struct arena *arena = &driver->ctx->perm;
    const struct diag *last = driver->ctx->diags.latest;

    for (const struct node *n = module->main->first; n && last && last->note; n = n->next) {
        const char *target = n->op == OP_CALL ? n->callee->compiler : NULL;
        const char *file, *at, *comment;
        long line;

        if (!target || strcmp(target, "c") == 0)
            continue;
        file = arena_printf(arena, "%s/model_%s.c", code->dir, target);
        at = strstr(last->note, arena_printf(arena, "%s:", file));
        while (at && strtol(at + strlen(file) + 1, NULL, 10) == 0) /* "FILE: In function ..." */
            at = strstr(at + 1, arena_printf(arena, "%s:", file));
        line = at ? strtol(at + strlen(file) + 1, NULL, 10) : 0;
        if (line == 0)
            continue;
        comment = block_comment(driver, file, target, line);
        if (comment)
            diag_help(driver->ctx, "line %ld of model_%s.c comes from %.*s", line, target,
                      (int)strcspn(comment, "*") - 1, comment);
        else
            diag_help(driver->ctx,
                      "line %ld of model_%s.c comes from no composite, so from the prologue or the "
                      "region template of %s",
                      line, target, target);
        return;
    }
}

enum { MOST_NAMED = 4 }; /* composites of a region in a message */

/* "npu_conv1, npu: npu.conv2d_act", of one of ours "conv_2". */
static const char *region_name(struct driver_state *driver, const struct codegen_region *region)
{
    const struct function *fn = region->call->callee;
    struct str text = { .arena = &driver->ctx->perm };
    int n = 0;

    if (!region->compiler)
        return region->c_name;
    str_printf(&text, "%s, %s:", str_safe(&driver->ctx->perm, fn->global_symbol, 80),
               region->compiler);
    for (const struct node *node = fn->first; node; node = node->next) {
        if (node->op == OP_CALL && node->callee->composite && n++ < MOST_NAMED)
            str_printf(&text, "%s %s", n > 1 ? "," : "",
                       str_safe(&driver->ctx->perm, node->callee->composite, 80));
    }
    if (n > MOST_NAMED)
        str_printf(&text, " and %d more", n - MOST_NAMED);
    return str_text(&text);
}

static const struct generated_region *name_regions(struct driver_state *driver,
                                                   const struct codegen_result *result)
{
    struct generated_region *regions =
        arena_array(&driver->ctx->perm, struct generated_region, result->n_regions);

    for (int i = 0; i < result->n_regions; i++)
        regions[i] = (struct generated_region){ region_name(driver, &result->regions[i]),
                                                node_origin(result->regions[i].call) };
    return regions;
}

/* Whether C of the user's, by templates or host files, is built: warnings are of interest then. */
static bool is_users(struct driver_state *driver, const struct codegen_result *result)
{
    for (int i = 0; i < result->n_regions; i++) {
        const char *compiler = result->regions[i].compiler;
        const struct target *target =
            compiler ? targets_find(&driver->offload.targets, compiler) : NULL;

        if (target && target->folder)
            return true;
    }
    return false;
}

/* Code for a machine that this one can stand in for is built with its flags. */
const char *host_code_flags(struct driver_state *driver)
{
    return arena_printf(&driver->ctx->perm, "-O2 %s", machine_flags_here(driver->machine));
}

bool host_code_write_as(struct driver_state *driver, struct module *module,
                        const struct codegen_options *options, struct host_code *out)
{
    struct codegen_options here = *options;
    struct output_set set = { .ctx = driver->ctx };

    if (!host_code_folder(driver, out))
        return false;
    here.dir = out->dir;
    if (!codegen_c(module, &here, &set, &out->result)) {
        output_abort(&set);
        return false;
    }
    add_host_files(driver, out, &set);
    return output_commit(&set);
}

bool host_code_write(struct driver_state *driver, struct module *module, bool step,
                     const struct choices *choices, struct host_code *out)
{
    struct codegen_options options = driver_codegen_options(driver);

    options.name = "model";
    options.step = options.ships = step;
    if (choices)
        options.choices = choices;
    return host_code_write_as(driver, module, &options, out);
}

void host_code_explain(struct driver_state *driver, const struct module *module,
                       const struct host_code *code)
{
    explain_symbols(driver, module);
    explain_text(driver, module, code);
}

/* Pools of constants have no pointer. */
static struct adapter_memory memory_of(struct driver_state *driver, const struct function *main,
                                       const struct host_code *code)
{
    size_t *in_at = arena_array(&driver->ctx->perm, size_t, main->n_params);
    size_t *out_at = arena_array(&driver->ctx->perm, size_t, main->ret->n_inputs);
    size_t *bytes = arena_array(&driver->ctx->perm, size_t, driver->n_pools);
    struct adapter_memory memory = { .pool_room = bytes,
                                     .n_regions = code->result.n_regions,
                                     .state_place = code->result.state_place,
                                     .state_bytes = code->result.state_bytes,
                                     .state_at = code->result.state_at };

    for (int p = 0; p < driver->n_pools; p++)
        if (driver->pools[p].takes != POOL_OF_CONSTANTS)
            bytes[memory.n_pools++] = code->result.pool_room[p];
    if (!driver->io_in_arena || memory.n_regions == 0)
        return memory;
    memory.in_at = in_at;
    memory.out_at = out_at;
    for (int i = 0; i < main->n_params; i++)
        in_at[i] = code->result.places[main->params[i]->id].offset;
    for (int i = 0; i < main->ret->n_inputs; i++)
        out_at[i] = code->result.places[main->ret->inputs[i]->id].offset;
    return memory;
}

bool host_code_adapter(struct driver_state *driver, const struct module *module, bool step,
                       const struct host_code *code, const char *path)
{
    const struct adapter_memory memory = memory_of(driver, module->main, code);

    return adapter_write(driver->ctx, module->main, "model", step, &memory, path);
}

bool host_code_build(struct driver_state *driver, struct module *module, bool step,
                     struct host_code *out)
{
    struct generated_options options = { .name = "model", .step = step };

    if (!host_code_write(driver, module, step, NULL, out))
        return false;
    options.memory = memory_of(driver, module->main, out);
    options.dir = out->dir;
    options.flags = host_code_flags(driver);
    options.files = out->files;
    options.n_files = out->n_files;
    options.libs = out->result.host_flags;
    options.warn = is_users(driver, &out->result);
    options.regions = name_regions(driver, &out->result);
    options.n_regions = out->result.n_regions;
    driver_begins(driver, "building the C");
    out->generated = generated_build(driver->ctx, module->main, &options);
    if (!out->generated)
        host_code_explain(driver, module, out);
    return out->generated != NULL;
}

void host_code_free(struct host_code *code)
{
    generated_free(code->generated);
    temporary_remove(code->dir);
}
