/* emit_header.c - NAME.h: what the firmware programs against. */
#include "codegen_c/emit/emit_header.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/core/weights.h"
#include "codegen_c/emit/emit_budget.h"
#include "codegen_c/emit/emit_entry.h"
#include "codegen_c/emit/guard.h"
#include "codegen_c/print/parallel.h"
#include "codegen_c/text/literal.h"

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

/* --- what codes mean -------------------------------------------------------------------------- */

/* The one scale of an input or output of small numbers; NULL where there is none. */
static const struct qtype *scale_of(const struct value *value)
{
    const struct qtype *quant = value->type.quant;

    return quant && quant->kind == QTYPE_SCALED && quant->n == 1 ? quant : NULL;
}

/* real = SCALE * (stored - ZERO_POINT), as macros: firmware without floats takes what it needs. */
static void add_scale(struct codegen *codegen, struct str *out, const struct value *value,
                      const char *c_name)
{
    const struct qtype *quant = scale_of(value);
    const char *upper = upper_case(&codegen->arena, c_name);
    bool needs_math = false;

    if (!quant)
        return;
    str_printf(out, "#define %s_%s_SCALE %s\n", codegen->upper, upper,
               literal_of_number(&codegen->arena, DTYPE_F32, (double)quant->scale[0], &needs_math));
    if (dtype_is_integer(value->type.dtype))
        str_printf(out, "#define %s_%s_ZERO_POINT (%" PRId32 ")\n", codegen->upper, upper,
                   quant->zero ? quant->zero[0] : 0);
}

/* To nearest, ties to even, saturated; NaN becomes 0: what the network does with an input of
 * floats. */
static const char quantize_text[] =
    "static inline %s %s_quantize_%s(float real)\n"
    "{\n"
    "    const float quotient = real / %s_%s_SCALE;\n"
    "    int32_t whole;\n"
    "    float rest;\n"
    "\n"
    "    if (quotient != quotient)\n"
    "        return 0;\n"
    "    if (quotient <= (float)(%" PRId64 " - %s_%s_ZERO_POINT))\n"
    "        return %" PRId64 ";\n"
    "    if (quotient >= (float)(%" PRId64 " - %s_%s_ZERO_POINT))\n"
    "        return %" PRId64 ";\n"
    "    whole = (int32_t)quotient;\n"
    "    rest = quotient - (float)whole;\n"
    "    if (rest > 0.5f || (rest == 0.5f && whole %% 2 != 0))\n"
    "        whole++;\n"
    "    else if (rest < -0.5f || (rest == -0.5f && whole %% 2 != 0))\n"
    "        whole--;\n"
    "    return (%s)(whole + %s_%s_ZERO_POINT);\n"
    "}\n\n";

static const char dequantize_text[] =
    "static inline float %s_dequantize_%s(%s stored)\n"
    "{\n"
    "    return (float)(stored - %s_%s_ZERO_POINT) * %s_%s_SCALE;\n"
    "}\n\n";

/* Has a zero point; of at most 16 bits also functions that convert. */
static bool has_zero(const struct value *value)
{
    return scale_of(value) && dtype_is_integer(value->type.dtype);
}

static bool is_converted(const struct value *value)
{
    return has_zero(value) && dtype_bytes(value->type.dtype) <= 2;
}

static void add_conversion(struct codegen *codegen, struct str *out, const struct value *value,
                           const char *c_name, bool is_input)
{
    const enum dtype dtype = value->type.dtype;
    const char *name = codegen->options->name, *upper = codegen->upper;
    const char *id = upper_case(&codegen->arena, c_name), *type = dtype_c_type(dtype);
    const int bits = 8 * (int)dtype_bytes(dtype);
    int64_t least, most;

    if (!is_converted(value))
        return;
    least = dtype_kind(dtype) == KIND_INT ? -((int64_t)1 << (bits - 1)) : 0;
    most = least + ((int64_t)1 << bits) - 1;
    if (is_input)
        str_printf(out, quantize_text, type, name, c_name, upper, id, least, upper, id, least, most,
                   upper, id, most, type, upper, id);
    else
        str_printf(out, dequantize_text, name, c_name, type, upper, id, upper, id);
}

static bool any_of_io(const struct function *main, bool (*is)(const struct value *value))
{
    bool any = false;

    for (int i = 0; i < main->n_params; i++)
        any = any || is(main->params[i]);
    for (int i = 0; i < main->ret->n_inputs; i++)
        any = any || is(main->ret->inputs[i]);
    return any;
}

static bool has_scale(const struct value *value)
{
    return scale_of(value) != NULL;
}

static void add_scales(struct codegen *codegen, struct str *out)
{
    const struct function *main = codegen->module->main;

    if (!any_of_io(main, has_scale))
        return;
    str_printf(out, "/* What is stored in inputs and outputs: real = SCALE * %s. */\n",
               any_of_io(main, has_zero) ? "(stored - ZERO_POINT)"
                                         : "the number that the code stands for");
    for (int i = 0; i < main->n_params; i++)
        add_scale(codegen, out, main->params[i], codegen->input_names[i]);
    for (int i = 0; i < main->ret->n_inputs; i++)
        add_scale(codegen, out, main->ret->inputs[i], codegen->output_names[i]);
    if (!any_of_io(main, is_converted)) {
        str_add(out, "\n");
        return;
    }
    str_printf(out,
               "\n/* Conversions from and to floats, for callers that have some; with %s_NO_FLOAT\n"
               " * nobody can call them by accident. */\n#ifndef %s_NO_FLOAT\n",
               codegen->upper, codegen->upper);
    for (int i = 0; i < main->n_params; i++)
        add_conversion(codegen, out, main->params[i], codegen->input_names[i], true);
    for (int i = 0; i < main->ret->n_inputs; i++)
        add_conversion(codegen, out, main->ret->inputs[i], codegen->output_names[i], false);
    str_add(out, "#endif\n\n");
}

static void add_pool_sizes(struct codegen *codegen, struct str *out)
{
    const struct plan *plan = &codegen->plan;

    for (int p = 0; p < codegen->options->n_pools; p++) {
        const struct pool *pool = &plan->pools[p];
        const char *name = upper_case(&codegen->arena, pool->of->name);

        if (pool_has_arena(codegen, p))
            str_printf(out, ",\n    %s_ARENA_%s_BYTES = %zu", codegen->upper, name, pool->bytes);
        if (pool->of->takes != POOL_OF_ARENA)
            str_printf(out, ",\n    %s_CONSTANT_%s_BYTES = %zu", codegen->upper, name,
                       pool->constant_bytes);
    }
}

/* Whether an array may be misaligned: not one of bytes. */
static bool checks_arrays(const struct codegen *codegen)
{
    bool any = false;
    const char *name;

    for (int i = 0; i < entry_arrays(codegen); i++)
        any = any || entry_alignment(entry_array(codegen, i, &name)) > 1;
    return any;
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
    if (codegen->strict)
        str_printf(
            out,
            ",\n    %s_WRONG_ARITHMETIC = 5 /* another rounding, subnormal numbers flushed to "
            "zero, or FMA:\n%*s * the bits would not be those of other machines */",
            upper, (int)strlen(upper) + 26, "");
    if (codegen->n_modules)
        str_printf(out, ",\n    %s_REGION_FAILED = 4", upper);
    if (is_guarded(codegen))
        str_printf(out, ",\n    %s_OVERRUN = 6", upper);
    if (checks_arrays(codegen))
        str_printf(out, ",\n    %s_MISALIGNED_ARRAY = 7", upper);
    if (is_guarded(codegen) && !io_is_inside(codegen))
        str_printf(out, ",\n    %s_OVERLAP = 8", upper);
    str_printf(out,
               "\n};\n\n/* Bytes of the arena%s and their alignment; numbers of elements. */\n"
               "enum {\n    %s_ARENA_BYTES = %zu,\n    %s_ARENA_ALIGN = %d",
               !codegen->options->n_pools ? ""
               : pools_take_constants(codegen)
                   ? ", of all pools together and of each, bytes of constants\n * there,"
                   : ", of all pools together and of each,",
               upper, codegen->plan.arena_bytes, upper, machine_alignment(codegen->machine));
    add_pool_sizes(codegen, out);
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
    const char **items = arena_array(
        arena, const char *, main->n_params + main->ret->n_inputs + codegen->plan.n_pools + 1);
    const char *head =
        arena_printf(arena, "int %s_%s(", codegen->options->name, step ? "step" : "run");
    int n = 0;

    if (step)
        items[n++] = "int region";
    for (int i = 0; i < main->n_params && !io_is_inside(codegen); i++)
        items[n++] = array_parameter(arena, &main->params[i]->type, codegen->input_names[i], true);
    for (int i = 0; i < main->ret->n_inputs && !io_is_inside(codegen); i++)
        items[n++] =
            array_parameter(arena, &main->ret->inputs[i]->type, codegen->output_names[i], false);
    for (int p = 0; p < codegen->plan.n_pools; p++)
        if (pool_has_arena(codegen, p))
            items[n++] = arena_printf(arena, "void *%s", pool_arena(codegen, p));
    add_list(out, head, n, items, tail, (int)strlen(head));
}

/* " * arena_dtcm: fast, section .dtcm" for pools of which something is known. */
static void add_pool_comment(struct codegen *codegen, struct str *out)
{
    static const char *const speeds[] = { [POOL_FAST] = "fast", [POOL_SLOW] = "slow" };

    for (int p = 0; p < codegen->options->n_pools; p++) {
        const struct codegen_pool *pool = codegen->plan.pools[p].of;
        const char *speed = speeds[pool->speed];

        if (pool_has_arena(codegen, p) && (speed || pool->section))
            str_printf(out, " *    %s: %s%s%s\n", pool_arena(codegen, p), speed ? speed : "",
                       speed && pool->section ? ", " : "",
                       pool->section
                           ? arena_printf(&codegen->arena, "section %s",
                                          comment_safe(&codegen->arena, pool->section, 60))
                           : "");
    }
}

/* Where an input or output is. */
static void add_accessor(struct codegen *codegen, struct str *out, const struct value *value,
                         const char *c_name, bool is_input)
{
    const char *type = dtype_c_type(value->type.dtype), *arena = io_arena(codegen, value);
    const char *constant = is_input ? "" : "const ";

    str_printf(out,
               "static inline %s%s *%s(void *%s)\n{\n"
               "    return (%s%s *)(void *)((unsigned char *)%s + %zu);\n}\n\n",
               constant, type, io_accessor(codegen, c_name, is_input), arena, constant, type, arena,
               io_offset(codegen, value));
}

static void add_accessors(struct codegen *codegen, struct str *out)
{
    const struct function *main = codegen->module->main;

    if (!io_is_inside(codegen))
        return;
    str_add(out,
            "/* Where inputs are to be written before a run, and outputs can be read after it. "
            "*/\n");
    for (int i = 0; i < main->n_params; i++)
        add_accessor(codegen, out, main->params[i], codegen->input_names[i], true);
    for (int i = 0; i < main->ret->n_inputs; i++)
        add_accessor(codegen, out, main->ret->inputs[i], codegen->output_names[i], false);
}

static void add_functions(struct codegen *codegen, struct str *out)
{
    const struct function *main = codegen->module->main;
    const bool inside = io_is_inside(codegen);

    add_accessors(codegen, out);
    str_printf(out, "/* Runs the whole network.\n");
    add_tensors(codegen, out,
                inside ? "Inputs, in the arena, of which nothing is left afterwards:"
                       : "Inputs, only read:",
                main->n_params, main->params, codegen->input_names, NULL);
    add_tensors(codegen, out,
                inside ? "Outputs, in the arena:" : "Outputs, written (also in between) and read:",
                main->ret->n_inputs, main->ret->inputs, codegen->output_names, main->result_names);
    str_printf(out,
               " *\n * A pointer that is NULL or not aligned (the arena to %s_ARENA_ALIGN%s)\n"
               " * is refused with a code, and nothing is written.",
               codegen->upper, checks_arrays(codegen) ? ", an array to its type" : "");
    if (!inside)
        str_printf(out, " Arrays must overlap neither each other nor\n * the arena: %s.",
                   is_guarded(codegen) ? "code OVERLAP, where one of the two is written"
                                       : "nobody checks that");
    str_add(out,
            inside
                ? "\n *\n * The arena needs no other initial contents and holds nothing else "
                  "afterwards;\n"
                : "\n *\n * The arena needs no initial contents and holds nothing afterwards;\n");
    if (codegen->options->n_pools) {
        str_add(out,
                " * several networks may share its pools, one after the other. A pool of 0 bytes "
                "may be NULL.\n");
        add_pool_comment(codegen, out);
        str_add(out, " * ");
    } else if (codegen->plan.arena_bytes == 0) {
        str_add(out, " * this network needs none: it may be NULL. ");
    } else {
        str_add(out, " * several networks may share one, one after the other. ");
    }
    if (codegen->n_modules)
        str_add(out, "Regions of other\n * targets may keep a state of their own. */\n");
    else
        str_printf(out,
                   "Nothing else is written: calls with\n * different %sarenas may run at the same "
                   "time. */\n",
                   inside ? "" : "outputs and ");
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
    /* Not K_H, IN_H or OUT_H, which kernels call their extents, if that is the model's name. */
    str_printf(&out, "#ifndef %s_INCLUDED\n#define %s_INCLUDED\n\n%s#include <stdint.h>\n\n",
               codegen->upper, codegen->upper, is_guarded(codegen) ? "#include <stddef.h>\n" : "");
    str_add(&out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    add_constants(codegen, &out);
    add_budget(codegen, &out);
    add_guard_header(codegen, &out);
    add_scales(codegen, &out);
    if (codegen->n_split)
        add_parallel_header(codegen, &out);
    add_functions(codegen, &out);
    str_add(&out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    writer_write(writer, out.text, out.n);
}
