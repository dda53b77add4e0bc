/* emit_header.c - NAME.h: what the firmware programs against. */
#include <inttypes.h>
#include <string.h>

#include "codegen_c/emit.h"

struct writer *emit_open_named(struct codegen *codegen, const char *name)
{
    struct codegen_result *result = codegen->result;
    const char *path = arena_printf(&codegen->ctx->perm, "%s/%s", codegen->options->dir, name);
    struct writer *writer = output_open(codegen->set, path);

    codegen->writers[result->n_files] = writer;
    result->files[result->n_files++] = path;
    return writer;
}

struct writer *emit_open(struct codegen *codegen, const char *suffix)
{
    return emit_open_named(codegen,
                           arena_printf(&codegen->arena, "%s%s", codegen->options->name, suffix));
}

/* One line per tensor: C name, ONNX name, type. */
static void add_tensors(struct codegen *codegen, struct str *out, const char *title, int n,
                        struct value *const *values, const char *const *c_names,
                        const char *const *onnx_names)
{
    size_t width = 0;

    if (n == 0)
        return;
    str_printf(out, " *\n * %s\n", title);
    for (int i = 0; i < n; i++)
        width = strlen(c_names[i]) > width ? strlen(c_names[i]) : width;
    for (int i = 0; i < n; i++)
        str_printf(out, " *    %-*s  %s  \"%s\"\n", (int)width, c_names[i],
                   shape_comment(&codegen->arena, &values[i]->type),
                   comment_safe(&codegen->arena, onnx_names ? onnx_names[i] : values[i]->name, 80));
}

static void add_length(struct codegen *codegen, struct str *out, const struct value *value,
                       const char *c_name)
{
    const char *wanted = arena_printf(&codegen->arena, "%s_%s_LEN", codegen->upper,
                                      upper_case(&codegen->arena, c_name));

    str_printf(out, ",\n    %s = %" PRId64, names_unique(&codegen->names, wanted),
               type_elements(&value->type));
}

static void add_constants(struct codegen *codegen, struct str *out)
{
    const struct function *main = codegen->module->main;
    const char *upper = codegen->upper;

    if (codegen->n_modules)
        str_printf(
            out,
            "/* What the functions return. Last: %s_REGION_FAILED + the index of the region\n"
            " * whose function did not return 0 (%s.c lists the regions). */\n",
            upper, codegen->options->name);
    else
        str_add(out, "/* What the functions return. */\n");
    str_printf(out,
               "enum {\n    %s_OK = 0,\n    %s_NULL_POINTER = 1,\n"
               "    %s_MISALIGNED_ARENA = 2",
               upper, upper, upper);
    if (codegen->options->step)
        str_printf(out, ",\n    %s_NO_REGION = 3", upper);
    if (codegen->n_modules)
        str_printf(out, ",\n    %s_REGION_FAILED = 4", upper);
    str_printf(out,
               "\n};\n\n/* Bytes of the arena and their alignment; numbers of elements. */\n"
               "enum {\n    %s_ARENA_BYTES = %zu,\n    %s_ARENA_ALIGN = %d",
               upper, codegen->plan.arena_bytes, upper, PLAN_ALIGN);
    if (codegen->options->step)
        str_printf(out, ",\n    %s_REGIONS = %d", upper, codegen->n_regions);
    for (int i = 0; i < main->n_params; i++)
        add_length(codegen, out, main->params[i], codegen->input_names[i]);
    for (int i = 0; i < main->ret->n_inputs; i++)
        add_length(codegen, out, main->ret->inputs[i], codegen->output_names[i]);
    str_add(out, "\n};\n\n");
}

void add_prototype(struct codegen *codegen, struct str *out, bool step, const char *tail)
{
    const struct function *main = codegen->module->main;
    struct arena *arena = &codegen->arena;
    const char **items = arena_array(arena, const char *, main->n_params + main->ret->n_inputs + 2);
    const char *head =
        arena_printf(arena, "int %s_%s(", codegen->options->name, step ? "step" : "run");
    int n = 0;

    if (step)
        items[n++] = "int region";
    for (int i = 0; i < main->n_params; i++)
        items[n++] = array_parameter(arena, &main->params[i]->type, codegen->input_names[i], true);
    for (int i = 0; i < main->ret->n_inputs; i++)
        items[n++] =
            array_parameter(arena, &main->ret->inputs[i]->type, codegen->output_names[i], false);
    items[n++] = "void *arena";
    add_list(out, head, n, items, tail, (int)strlen(head));
}

static void add_functions(struct codegen *codegen, struct str *out)
{
    const struct function *main = codegen->module->main;

    str_printf(out, "/* Runs the whole network.\n");
    add_tensors(codegen, out, "Inputs, only read:", main->n_params, main->params,
                codegen->input_names, NULL);
    add_tensors(codegen, out, "Outputs, written (also in between) and read:", main->ret->n_inputs,
                main->ret->inputs, codegen->output_names, main->result_names);
    str_add(out,
            " *\n * The arrays must not overlap. The arena needs no initial contents and holds "
            "nothing afterwards;\n");
    if (codegen->plan.arena_bytes == 0)
        str_add(out, " * this network needs none: it may be NULL. ");
    else
        str_add(out, " * several networks may share one, one after the other. ");
    if (codegen->n_modules)
        str_add(out, "Regions of other\n * targets may keep a state of their own. */\n");
    else
        str_add(out, "Nothing else is written: calls with\n * different outputs and arenas may run "
                     "at the same time. */\n");
    add_prototype(codegen, out, false, ");\n");
    if (!codegen->options->step)
        return;
    str_printf(out,
               "\n/* Runs one region: 0, 1 ... %s_REGIONS - 1 in this order, with the same\n"
               " * arrays and an arena that nothing else touches in between, is one run. */\n",
               codegen->upper);
    add_prototype(codegen, out, true, ");\n");
}

void emit_header(struct codegen *codegen)
{
    struct writer *writer = emit_open(codegen, ".h");
    struct str out = { .arena = &codegen->arena };

    str_printf(&out, "/* %s.h - generated by relayc from %s; do not edit. */\n",
               codegen->options->name,
               comment_safe(&codegen->arena, codegen->options->model_file, 60));
    str_printf(&out, "#ifndef %s_H\n#define %s_H\n\n#include <stdint.h>\n\n", codegen->upper,
               codegen->upper);
    str_add(&out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    add_constants(codegen, &out);
    add_functions(codegen, &out);
    str_add(&out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    writer_write(writer, out.text, out.n);
}
