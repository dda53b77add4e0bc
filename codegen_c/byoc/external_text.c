/* external_text.c - the functions of NAME_TARGET.c: composites' templates inside the region's.
 *
 * select asks each template for its keys: what it mentions gets an array, a pointer, scratch. print
 * expands it once. The function of a region of FORMAT_C points at the values in between, then each
 * composite's text is a block, in order; what the text does not mention is not declared. */
#include <string.h>

#include "base/embedded.h"
#include "codegen_c/byoc/external.h"
#include "codegen_c/core/comments.h"
#include "codegen_c/core/weights.h"
#include "codegen_c/select/configure.h"

/* Without a region template of the target's own. */
static const char plain_region[] = "int ${fn}(${params})\n{\n    ${body}\n    return 0;\n}\n";

void external_prototype(struct codegen *codegen, struct str *out, const struct external *external,
                        const char *tail)
{
    const struct function *fn = external->fn;
    const struct region *region = external->region;
    struct arena *arena = &codegen->arena;
    const char **items = arena_array(arena, const char *, fn->n_params + fn->ret->n_inputs + 1);
    const char *head = arena_printf(arena, "int %s(", region->c_name);
    int n = 0;

    for (int i = 0; i < fn->n_params; i++)
        items[n++] = arena_printf(arena, "const %s *%s", dtype_c_type(fn->params[i]->type.dtype),
                                  region->params[i]);
    for (int i = 0; i < fn->ret->n_inputs; i++)
        items[n++] = arena_printf(arena, "%s *%s", dtype_c_type(fn->ret->inputs[i]->type.dtype),
                                  region->results[i]);
    if (region->config.scratch_bytes)
        items[n++] = "void *scratch";
    add_list(out, head, n, items, tail, (int)strlen(head));
}

/* --- FORMAT_C --------------------------------------------------------------------------------- */

static void add_indented_lines(struct str *out, const char *text)
{
    while (*text) {
        const size_t n = strcspn(text, "\n");

        if (n)
            str_add(out, "    ");
        str_addn(out, text, n);
        str_add(out, "\n");
        text += n + (text[n] == '\n');
    }
}

static const char *template_path(struct codegen *codegen, const struct target *target,
                                 const char *file)
{
    if (!file)
        file = "target.json";
    return target->folder
               ? arena_printf(&codegen->ctx->perm, "%s/%s", target->folder, file)
               : arena_printf(&codegen->ctx->perm, "partition/targets/%s/%s", target->name, file);
}

static bool ask_composite(struct codegen *codegen, struct external *external,
                          struct external_composite *composite)
{
    const struct composite_row *row = composite->row;

    if (!row->template_text)
        return diag_error(codegen->ctx, DIAG_OFFLOAD, node_origin(composite->call),
                          "composite '%s' has no template", row->name);
    external_composite_keys(codegen, external, composite, &composite->keys);
    return template_ask(codegen->ctx, template_path(codegen, row->target, row->template_file),
                        row->template_text, &composite->keys);
}

static bool print_composite(struct codegen *codegen, struct external_composite *composite)
{
    const struct composite_row *row = composite->row;
    struct str text = { .arena = &codegen->arena };

    codegen->result->n_printed++;
    if (!template_expand(codegen->ctx, template_path(codegen, row->target, row->template_file),
                         row->template_text, &composite->keys, &text))
        return false;
    composite->text = str_text(&text);
    return true;
}

static void add_pointer(struct str *out, const char *type, const char *name, size_t offset,
                        const char *comment)
{
    enum { COLUMNS = 100, INDENT = 4 }; /* of the function's body */
    struct str line = { .arena = out->arena };

    str_printf(&line, "%s *const %s = ", type, name);
    if (offset)
        str_printf(&line, "(void *)((unsigned char *)scratch + %zu);", offset);
    else
        str_add(&line, "scratch;");
    if (INDENT + line.n + strlen(" /*  */") + strlen(comment) <= COLUMNS)
        str_printf(out, "%s /* %s */\n", str_text(&line), comment);
    else
        str_printf(out, "/* %s */\n%s\n", comment, str_text(&line));
}

/* Pointers may share memory, so it says how long the value lives. */
static const char *place_comment(struct codegen *codegen, const struct block *block)
{
    const struct value *value = block->value;

    return arena_printf(&codegen->arena, "%s %s, composites %d-%d",
                        comment_safe(&codegen->arena, value->name, 40),
                        shape_comment(&codegen->arena, &value->type), block->first, block->last);
}

/* Pointers into the scratch; parameters that no composite mentions must not be warned of. */
static void add_pointers(struct codegen *codegen, const struct external *external, struct str *out)
{
    const struct function *fn = external->fn;
    bool reads_scratch = false;

    for (int i = 0; i < external->n_blocks; i++) {
        const struct block *block = &external->blocks[i];
        const struct external_composite *composite = &external->composites[block->first];

        if (block->value && external->is_read[block->value->id])
            add_pointer(out, dtype_c_type(block->value->type.dtype),
                        external->name[block->value->id], block->offset,
                        place_comment(codegen, block));
        else if (!block->value && composite->reads_scratch)
            add_pointer(out, "void", composite->scratch_name, block->offset,
                        arena_printf(&codegen->arena, "%zu bytes, composite %d", block->bytes,
                                     block->first));
        else
            continue;
        reads_scratch = true;
    }
    if (external->region->config.scratch_bytes && !reads_scratch)
        str_add(out, "(void)scratch;\n");
    for (int i = 0; i < fn->n_params; i++)
        if (!external->is_read[fn->params[i]->id])
            str_printf(out, "(void)%s;\n", external->region->params[i]);
    for (int id = 0; id < fn->n_values; id++)
        if (external->place[id].kind == REGION_OUTPUT && external->name[id] &&
            !external->is_read[id])
            str_printf(out, "(void)%s;\n", external->name[id]);
}

static bool name_copies(struct codegen *codegen, struct external *external)
{
    external->copy_names = arena_array(&codegen->arena, const char *, external->n_copies);
    for (int i = 0; i < external->n_copies; i++) {
        const struct value *from = external->copies[i];
        const char *why = NULL;

        external->copy_names[i] = external_memory(codegen, external, from, true, &why);
        if (!external->copy_names[i])
            return diag_error(codegen->ctx, DIAG_OFFLOAD, node_origin(external->region->call),
                              "'%s' cannot be a result: %s",
                              str_safe(&codegen->arena, from->name, 80), why);
        map_set(&external->module->includes, "string.h", external);
    }
    return true;
}

static void add_copies(const struct external *external, struct str *out)
{
    for (int i = 0; i < external->n_copies; i++)
        str_printf(out, "(void)memcpy(%s, %s, %zu);\n",
                   external->region->results[external->copy_results[i]], external->copy_names[i],
                   type_bytes(&external->copies[i]->type));
}

/* Pointers first; which of them the composites' texts mention is known since they were asked. */
static const char *print_body(struct codegen *codegen, struct external *external)
{
    struct arena *arena = &codegen->arena;
    struct str blocks = { .arena = arena }, out = { .arena = arena };
    bool ok = true;

    for (int i = 0; i < external->n_composites; i++) {
        struct external_composite *composite = &external->composites[i];
        const struct region shown = { .fn = composite->fn, .call = composite->call };

        ok = print_composite(codegen, composite) && ok;
        if (!composite->text)
            continue;
        str_printf(&blocks, "%s/* %s, %s: %s */\n{\n", i ? "\n" : "",
                   comment_safe(arena, composite->row->name, 60),
                   comment_safe(arena, composite->row->template_file, 60),
                   origin_comment(arena, &shown, " * "));
        add_indented_lines(&blocks, composite->text);
        str_add(&blocks, "}\n");
    }
    if (!ok)
        return NULL;
    add_pointers(codegen, external, &out);
    if (out.n)
        str_add(&out, "\n");
    str_add(&out, str_text(&blocks));
    if (external->n_copies)
        str_add(&out, "\n");
    add_copies(external, &out);
    return str_text(&out);
}

/* --- the region's template -------------------------------------------------------------------- */

static const char *region_text(const struct target *target)
{
    return target->region_template ? target->region_template : plain_region;
}

static bool ask_region(struct codegen *codegen, struct external *external)
{
    const struct target *target = external->module->target;
    const char *head = arena_printf(&codegen->arena, "int %s(", external->region->c_name);
    struct arena *arena = &codegen->arena;
    struct str prototype = { .arena = arena };

    external_prototype(codegen, &prototype, external, ")");
    keys_set(&external->keys, "params",
             arena_strndup(arena, prototype.text + strlen(head), prototype.n - strlen(head) - 1));
    return template_ask(codegen->ctx, template_path(codegen, target, target->region_file),
                        region_text(target), &external->keys);
}

bool external_ask_c(struct codegen *codegen, struct external *external)
{
    bool ok = true;

    for (int i = 0; i < external->n_composites; i++)
        ok = ask_composite(codegen, external, &external->composites[i]) && ok;
    if (!ok || !name_copies(codegen, external))
        return false;
    external_region_keys(codegen, external, &external->keys);
    keys_set(&external->keys, "body", "body"); /* as there will be one */
    return ask_region(codegen, external);
}

bool external_ask_stream(struct codegen *codegen, struct external *external)
{
    const struct lowering *lowering = &external->lowering;
    const struct type type = type_make(DTYPE_U8, 1, (int64_t[]){ (int64_t)lowering->stream_bytes });
    const struct target *target = external->module->target;
    struct keys *keys = &external->keys;

    if (!target->region_template)
        return diag_error(codegen->ctx, DIAG_OFFLOAD, NULL,
                          "target '%s' has format 'stream', but no template \"region\", which "
                          "hands the stream over",
                          target->name);
    if (!lowering->stream || lowering->stream_bytes == 0 || lowering->stream_bytes > INT32_MAX)
        return diag_error(codegen->ctx, DIAG_OFFLOAD, node_origin(external->region->call),
                          "target '%s' gives a stream of %zu bytes", target->name,
                          lowering->stream_bytes);
    external->stream =
        weights_stream(codegen, external->module->reader,
                       arena_printf(&codegen->arena, "%s_stream", external->fn->global_symbol),
                       &type, lowering->stream);
    external_region_keys(codegen, external, keys);
    keys_offer(keys, "body", "");
    keys_offer(keys, "stream", external->stream->expression);
    keys_offer(keys, "stream_bytes", arena_printf(&codegen->arena, "%zu", lowering->stream_bytes));
    return ask_region(codegen, external);
}

bool external_print(struct codegen *codegen, struct external *external)
{
    const struct target *target = external->module->target;
    struct arena *arena = &codegen->arena;
    struct str out = { .arena = arena };

    if (target->format == FORMAT_C) {
        const char *body = print_body(codegen, external);

        if (!body)
            return false;
        keys_set(&external->keys, "body", body);
    }
    str_printf(&out, "/* %s\n * %s */\n", origin_comment(arena, external->region, " * "),
               shapes_comment(codegen, external->region));
    codegen->result->n_printed++;
    if (!template_expand(codegen->ctx, template_path(codegen, target, target->region_file),
                         region_text(target), &external->keys, &out))
        return false;
    external->text = str_text(&out);
    return true;
}

bool external_print_prologue(struct codegen *codegen, struct external_module *module)
{
    const struct target *target = module->target;
    struct str out = { .arena = &codegen->arena };
    struct keys keys;

    module->prologue = "";
    if (!target->prologue)
        return true;
    keys_init(&keys, &codegen->arena);
    keys_offer(&keys, "name", codegen->options->name);
    keys_offer(&keys, "upper", codegen->upper);
    codegen->result->n_printed++;
    if (!template_expand(codegen->ctx, template_path(codegen, target, target->prologue_file),
                         target->prologue, &keys, &out))
        return false;
    module->prologue = str_text(&out);
    return true;
}
