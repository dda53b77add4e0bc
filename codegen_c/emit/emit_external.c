/* emit_external.c - NAME_TARGET.h and NAME_TARGET.c, and what a target wants beside them. */
#include "codegen_c/emit/emit_external.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "codegen_c/core/comments.h"
#include "codegen_c/emit/emit_header.h"
#include "codegen_c/emit/emit_model.h"
#include "codegen_c/emit/emit_weights.h"
#include "codegen_c/select/configure.h"
#include "relay_ir/json.h"

static const char abi_header[] = "relayc_abi.h";

const char *module_file(struct codegen *codegen, const struct external_module *module,
                        const char *end)
{
    return arena_printf(&codegen->arena, "%s_%s%s", codegen->options->name, module->target->name,
                        end);
}

const char *graph_file(struct codegen *codegen, const struct external *external)
{
    return arena_printf(&codegen->arena, "%s.json", external->region->c_name);
}

/* --- which files ------------------------------------------------------------------------------ */

int external_count_files(const struct codegen *codegen)
{
    int n = 0;

    for (int i = 0; i < codegen->n_modules; i++)
        n += 2 + codegen->modules[i].target->n_headers;
    for (int i = 0; i < codegen->n_regions; i++) /* JSON */
        n += codegen->regions[i].external != NULL;
    return n + (codegen->n_modules > 0); /* the ABI's header */
}

static bool take_name(struct codegen *codegen, struct map *names, const char *name,
                      const char *text, const struct target *target)
{
    const char *there = map_get(names, name);

    if (!there) {
        map_set(names, name, (void *)text);
        return true;
    }
    if (*text && strcmp(there, text) == 0)
        return true;
    return diag_error(codegen->ctx, DIAG_OFFLOAD, NULL,
                      "target '%s' wants a file %s of its own; there is another of that name",
                      target->name, str_safe(&codegen->arena, name, 80));
}

/* Files of one name and text, which several targets may bring, are written once. */
bool external_check_files(struct codegen *codegen)
{
    static const char *const ours[] = { ".h", ".c", ".json", "_weights.h", "_adapter.c" };
    struct map names = { .arena = &codegen->arena };
    bool ok = true;

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        map_set(&names, arena_printf(&codegen->arena, "%s%s", codegen->options->name, ours[i]), "");
    for (int i = 0; i < codegen->n_weight_files; i++)
        map_set(&names, weights_file(codegen, i), "");
    if (codegen->n_modules)
        map_set(&names, abi_header, (void *)embedded_find("runtime/abi/relayc_abi.h")->text);
    for (int i = 0; i < codegen->n_modules; i++) {
        const struct target *target = codegen->modules[i].target;

        ok = take_name(codegen, &names, module_file(codegen, &codegen->modules[i], ".h"), "",
                       target) &&
             take_name(codegen, &names, module_file(codegen, &codegen->modules[i], ".c"), "",
                       target) &&
             ok;
        for (int k = 0; k < target->n_headers; k++)
            ok = take_name(codegen, &names, target->header_names[k], target->header_texts[k],
                           target) &&
                 ok;
        for (int k = 0; k < target->n_host_files; k++)
            ok = take_name(codegen, &names, target->host_names[k], target->host_texts[k], target) &&
                 ok;
        for (int r = 0; r < codegen->n_regions && target->format == FORMAT_JSON; r++)
            if (region_of(codegen, &codegen->modules[i], r))
                ok = take_name(codegen, &names, graph_file(codegen, codegen->regions[r].external),
                               "", target) &&
                     ok;
    }
    return ok;
}

void external_host_files(struct codegen *codegen)
{
    struct arena *arena = &codegen->ctx->perm;
    struct map seen = { .arena = &codegen->arena };
    struct str flags = { .arena = arena };
    struct codegen_host_file *files;
    int n = 0;

    for (int i = 0; i < codegen->n_modules; i++) {
        const struct target *target = codegen->modules[i].target;

        n += target->n_host_files;
        for (int k = 0; k < target->n_headers; k++) /* they are there anyway */
            map_set(&seen, target->header_names[k], codegen);
    }
    files = arena_array(arena, struct codegen_host_file, n);
    codegen->result->host_files = files;
    for (int i = 0; i < codegen->n_modules; i++) {
        const struct target *target = codegen->modules[i].target;

        if (target->host_flags && *target->host_flags)
            str_printf(&flags, "%s%s", flags.n ? " " : "", target->host_flags);
        for (int k = 0; k < target->n_host_files; k++) {
            if (map_get(&seen, target->host_names[k]))
                continue;
            map_set(&seen, target->host_names[k], codegen);
            files[codegen->result->n_host_files++] =
                (struct codegen_host_file){ target->host_names[k], target->host_texts[k] };
        }
    }
    codegen->result->host_flags = str_text(&flags);
}

/* --- NAME_TARGET.h ---------------------------------------------------------------------------- */

static void add_numbers(struct codegen *codegen, struct str *out, const struct external *external)
{
    const struct emitted *emitted = &codegen->emitted[external->region->index];

    if (emitted->macs)
        str_printf(out, "%" PRId64 " multiply-accumulate operations, ", emitted->macs);
    str_printf(out, "%zu bytes of weights, ", emitted->weight_bytes);
    if (external->stream)
        str_printf(out, "%zu of stream, ", type_bytes(&external->stream->type));
    str_printf(out, "%zu of scratch", external->region->config.scratch_bytes);
}

void external_estimate(struct codegen *codegen, const struct external *external, double *here,
                       double *host)
{
    const struct target *target = external->module->target;
    const struct target *c = targets_find(codegen->options->targets, "c");
    const struct function *fn = external->fn;
    double bytes = 0;

    *here = 0;
    *host = 0;
    for (int i = 0; i < external->n_composites; i++) {
        const struct external_composite *composite = &external->composites[i];

        *here += composite_cost_ns(composite->row, composite->match, &codegen->arena);
        for (const struct node *node = composite->fn->first; c && node; node = node->next)
            *host += host_fused_into(node) ? 0 : host_cost_ns(c, node);
    }
    for (int i = 0; i < fn->n_params; i++)
        bytes += (double)type_bytes(&fn->params[i]->type);
    for (int i = 0; i < fn->ret->n_inputs; i++)
        bytes += (double)type_bytes(&fn->ret->inputs[i]->type);
    *here += target->rates.launch_ns + bytes * target->rates.transfer_ns_per_byte;
}

static void add_estimate(struct codegen *codegen, struct str *out, const struct external *external)
{
    double here, host;

    external_estimate(codegen, external, &here, &host);
    if (here > 0 && host > 0)
        str_printf(out, " * estimated %.3g us, on the host %.3g us\n", here / 1000, host / 1000);
}

static void add_function(struct codegen *codegen, struct str *out, const struct external *external)
{
    struct arena *arena = &codegen->arena;

    str_printf(out, "/* %s\n * %s\n", origin_comment(arena, external->region, " * "),
               shapes_comment(codegen, external->region));
    for (int i = 0; i < external->n_composites; i++) {
        const struct external_composite *composite = &external->composites[i];
        const struct region shown = { .fn = composite->fn, .call = composite->call };

        str_printf(out, " * %s: %s\n", comment_safe(arena, composite->row->name, 60),
                   origin_short(arena, &shown));
    }
    add_estimate(codegen, out, external);
    str_add(out, " * ");
    add_numbers(codegen, out, external);
    str_add(out, " */\n");
    external_prototype(codegen, out, external, ");\n");
    declare_constants(codegen, out, external);
    str_add(out, "\n");
}

static void write_header(struct codegen *codegen, const struct external_module *module)
{
    struct writer *writer = emit_open_named(codegen, module_file(codegen, module, ".h"));
    const char *guard = upper_case(&codegen->arena, module_file(codegen, module, "_H"));
    struct str out = { .arena = &codegen->arena };

    str_printf(&out, "%s\n *\n", generated_from(codegen, module_file(codegen, module, ".h")));
    str_printf(&out, " * What %s runs. The functions return 0, or another number when they fail%s",
               module->target->name,
               module_has_tables(module)
                   ? "; they are\n * yours to write. scratch is aligned to 16 and holds nothing "
                     "before and after. */\n"
                   : ". */\n");
    str_printf(&out, "#ifndef %s\n#define %s\n\n#include <stdint.h>\n\n", guard, guard);
    if (module_has_tables(module))
        str_printf(&out, "#include \"%s\"\n\n", abi_header);
    str_add(&out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (int i = 0; i < codegen->n_regions; i++)
        if (region_of(codegen, module, i))
            add_function(codegen, &out, region_of(codegen, module, i));
    str_add(&out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    writer_write(writer, out.text, out.n);
}

/* --- NAME_TARGET.c ---------------------------------------------------------------------------- */

static void write_source(struct codegen *codegen, const struct external_module *module)
{
    const char *suffix = arena_printf(&codegen->arena, "_%s.c", module->target->name);
    struct writer *writer = emit_open(codegen, suffix);
    struct str out = { .arena = &codegen->arena };
    bool any = false;

    add_banner(codegen, &out, suffix);
    str_printf(&out, " * What %s runs", module->target->name);
    if (module->target->description && *module->target->description)
        str_printf(&out, ": %s", comment_safe(&codegen->arena, module->target->description, 80));
    str_printf(&out, "\n * The target's files: crc32 %08" PRIx32 "\n */\n", module->target->crc32);
    str_printf(&out, "#include \"%s\"\n#include \"%s.h\"\n\n", module_file(codegen, module, ".h"),
               codegen->options->name);
    add_checks_of_files(codegen, &out, suffix, module->reader);
    add_includes(codegen, &out, &module->includes, module->reader);
    if (*module->prologue)
        str_printf(&out, "%s\n", module->prologue);
    writer_write(writer, out.text, out.n);
    write_inline_weights(codegen, writer, module->reader);
    str_clear(&out);
    for (int i = 0; i < codegen->n_regions; i++) {
        const struct external *external = region_of(codegen, module, i);

        if (!external || (!external->text && !external->n_constants))
            continue;
        if (!any)
            add_section(&out, external->text ? "regions" : "tables");
        else
            str_add(&out, "\n");
        any = true;
        str_add(&out, external->text ? external->text : "");
        define_constants(codegen, &out, external);
    }
    writer_write(writer, out.text ? out.text : "", out.n);
}

static void write_graphs(struct codegen *codegen, const struct external_module *module)
{
    for (int i = 0; i < codegen->n_regions; i++) {
        const struct external *external = region_of(codegen, module, i);
        struct writer *writer;

        if (!external)
            continue;
        writer = emit_open_named(codegen, graph_file(codegen, external));
        writer_text(writer, function_json(external->fn, &codegen->arena));
    }
}

void emit_external(struct codegen *codegen)
{
    struct map written = { .arena = &codegen->arena };

    for (int i = 0; i < codegen->n_modules; i++) {
        const struct external_module *module = &codegen->modules[i];
        const struct target *target = module->target;

        write_header(codegen, module);
        write_source(codegen, module);
        if (target->format == FORMAT_JSON)
            write_graphs(codegen, module);
        if (module_has_tables(module) && !map_get(&written, abi_header)) {
            map_set(&written, abi_header, codegen);
            writer_text(emit_open_named(codegen, abi_header),
                        embedded_find("runtime/abi/relayc_abi.h")->text);
        }
        for (int k = 0; k < target->n_headers; k++) {
            if (map_get(&written, target->header_names[k]))
                continue;
            map_set(&written, target->header_names[k], codegen);
            writer_text(emit_open_named(codegen, target->header_names[k]), target->header_texts[k]);
        }
    }
}
