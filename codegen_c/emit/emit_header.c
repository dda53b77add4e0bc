/* emit_header.c - NAME.h: what the firmware programs against. */
#include "codegen_c/emit/emit_header.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/core/weights.h"
#include "codegen_c/emit/emit_budget.h"
#include "codegen_c/emit/emit_entry.h"
#include "codegen_c/emit/emit_interface.h"
#include "codegen_c/emit/emit_model.h"
#include "codegen_c/emit/emit_state.h"
#include "codegen_c/emit/emit_variants.h"
#include "codegen_c/emit/guard.h"
#include "codegen_c/print/parallel.h"
#include "relay_ir/variants.h"

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

/* A field of the state. */
static bool is_kept(const char *c_name)
{
    return str_starts(c_name, "state->");
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
        width = !is_kept(c_names[i]) && strlen(c_names[i]) > width ? strlen(c_names[i]) : width;
    for (int i = 0; i < n; i++)
        if (!is_kept(c_names[i]))
            str_printf(
                out, " *    %-*s  %s  \"%s\"\n", (int)width, c_names[i],
                interface_shape_comment(codegen, !onnx_names, i),
                comment_safe(&codegen->arena, onnx_names ? onnx_names[i] : values[i]->name, 80));
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
    return any || (has_state(codegen) && state_alignment(codegen) > 1);
}

/* Whether numbers of inputs are asked whether they are those that the network was compiled for. */
static bool can_fail(const struct codegen *codegen)
{
    bool any = false;

    for (int r = 0; r < codegen->n_regions; r++)
        any = any || kernel_fails(&codegen->regions[r]);
    return any;
}

/* NAME_REGION_FAILED: above all other codes, since the index of a region is added. */
enum { REGION_FAILED = 100 };

static void add_constants(struct codegen *codegen, struct str *out)
{
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
    if (is_guarded(codegen))
        str_printf(out, ",\n    %s_OVERRUN = 6", upper);
    if (checks_arrays(codegen))
        str_printf(out, ",\n    %s_MISALIGNED_ARRAY = 7", upper);
    if (is_guarded(codegen) && !io_is_inside(codegen))
        str_printf(out, ",\n    %s_OVERLAP = 8", upper);
    if (codegen->module->variants)
        str_printf(out, ",\n    %s_WRONG_SIZE = 9", upper);
    if (can_fail(codegen))
        str_printf(
            out,
            ",\n    %s_WRONG_NUMBER = -1 /* an input has a number that asks for another shape "
            "than the\n%*s * model declares: the outputs are not to be used */",
            upper, (int)strlen(upper) + 23, "");
    if (codegen->n_modules) /* the last, since indices are added */
        str_printf(out, ",\n    %s_REGION_FAILED = %d", upper, REGION_FAILED);
    str_add(out, "\n};\n\n");
}

/* Bytes of memory, and what regions there are. */
static void add_memory(struct codegen *codegen, struct str *out)
{
    const char *upper = codegen->upper;

    str_printf(out,
               "/* Bytes: the arena%s and its alignment, constants,\n"
               " * what is kept from one run to the next%s. */\n"
               "enum {\n    %s_ARENA_BYTES = %zu,\n    %s_ARENA_ALIGN = %d",
               !codegen->options->n_pools ? ""
               : pools_take_constants(codegen)
                   ? ", of all pools together and of each, and constants there,"
                   : ", of all pools together and of each,",
               codegen->n_modules ? ", besides what backends keep" : "", upper,
               codegen->plan.arena_bytes, upper, machine_alignment(codegen->machine));
    add_pool_sizes(codegen, out);
    str_printf(out, ",\n    %s_WEIGHT_BYTES = %zu,\n    %s_STATE_BYTES = %zu", upper,
               codegen->weights.bytes, upper, has_state(codegen) ? state_bytes(codegen) : 0);
    if (codegen->options->step)
        str_printf(out, ",\n    %s_REGIONS = %d", upper, codegen->n_regions);
    str_add(out, "\n};\n\n");
}

/* What NAME.c and NAME_weights.c compare, so that files of two compilations never mix. */
static void add_identity(struct codegen *codegen, struct str *out)
{
    const struct codegen_options *options = codegen->options;
    const char *upper = codegen->upper;

    if (*options->model_sha256)
        str_printf(out, "#define %s_MODEL_SHA256 \\\n    \"%s\"\n", upper,
                   comment_safe(&codegen->arena, options->model_sha256, 64));
    if (options->version)
        str_printf(out, "#define %s_RELAYC_VERSION \"%s\"\n", upper, options->version);
    str_printf(
        out,
        "/* Checksums of the code and of its constants: the other files compare them, so that "
        "files\n * of two compilations never mix. */\n"
        "#define %s_CODE_ID 0x%08" PRIx32 "u\n#define %s_DATA_ID 0x%08" PRIx32 "u\n\n",
        upper, codegen->code_id, upper, codegen->data_id);
}

void add_prototype(struct codegen *codegen, struct str *out, bool step, const char *tail)
{
    const int n_inputs = count_inputs(codegen->module);
    struct arena *arena = &codegen->arena;
    const char **items = arena_array(
        arena, const char *, entry_arrays(codegen) + codegen->plan.n_pools + 2 + MAX_SYMBOLS);
    const char *head =
        arena_printf(arena, "int %s_%s(", codegen->options->name, step ? "step" : "run");
    int n = 0;

    if (step)
        items[n++] = "int region";
    for (int i = 0; i < entry_arrays(codegen); i++) {
        const char *name;
        const struct value *value = entry_array(codegen, i, &name);

        if (i == n_inputs)
            n += add_sizes(codegen, &items[n], true);
        items[n++] = codegen->module->variants
                         ? arena_printf(arena, "%s%s *%s", i < n_inputs ? "const " : "",
                                        dtype_c_type(value->type.dtype), name)
                         : array_parameter(arena, &value->type, name, i < n_inputs);
    }
    if (has_state(codegen))
        items[n++] = arena_printf(arena, "struct %s_state *state", codegen->options->name);
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
        if (!state_of_param(codegen->module, i))
            add_accessor(codegen, out, main->params[i], codegen->input_names[i], true);
    for (int i = 0; i < main->ret->n_inputs; i++)
        if (!state_of_result(codegen->module, i))
            add_accessor(codegen, out, main->ret->inputs[i], codegen->output_names[i], false);
}

enum { LONG_NAME = 18 }; /* letters of a name that stands twice in a line */

/* What happens with pointers that are wrong. */
static void add_pointer_rules(struct codegen *codegen, struct str *out)
{
    const char *upper = codegen->upper;
    const bool inside = io_is_inside(codegen);

    str_printf(out,
               " *\n * Wrong pointers; with a code nothing is written:\n"
               " *    NULL        %s_NULL_POINTER\n"
               " *    misaligned  %s_MISALIGNED_ARENA: an arena,%sto %s_ARENA_ALIGN",
               upper, upper, strlen(upper) > LONG_NAME ? "\n *                " : " ", upper);
    if (checks_arrays(codegen))
        str_printf(out, ";\n *                %s_MISALIGNED_ARRAY: an array, to its type", upper);
    str_add(out, "\n");
    if (inside)
        return;
    if (is_guarded(codegen))
        str_printf(out,
                   " *    overlap     %s_OVERLAP: an output or the arena with any other array\n",
                   upper);
    else
        str_add(out, " *    overlap     not checked: the results are undefined if an output or the "
                     "arena\n *                overlaps any other array; inputs may overlap\n");
}

static void add_functions(struct codegen *codegen, struct str *out)
{
    const struct function *main = codegen->module->main;
    const bool inside = io_is_inside(codegen);

    add_accessors(codegen, out);
    add_size_functions(codegen, out);
    add_state_functions(codegen, out);
    str_printf(out, "/* Runs the whole network.\n");
    add_tensors(codegen, out,
                inside ? "Inputs, in the arena, of which nothing is left afterwards:"
                       : "Inputs, only read:",
                interface_params(codegen->module), main->params, codegen->input_names, NULL);
    add_tensors(codegen, out,
                inside ? "Outputs, in the arena:" : "Outputs, written (also in between) and read:",
                interface_results(codegen->module), main->ret->inputs, codegen->output_names,
                main->result_names);
    if (has_state(codegen))
        str_add(out, " *\n * State, read and written: what the runs before have left\n");
    add_pointer_rules(codegen, out);
    str_add(out,
            inside ? " *\n * The arena needs no other initial contents and holds nothing else "
                     "afterwards;\n"
                   : " *\n * The arena needs no initial contents and holds nothing afterwards;\n");
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

    str_printf(
        &out, "%s */\n",
        generated_from(codegen, arena_printf(&codegen->arena, "%s.h", codegen->options->name)));
    /* Not K_H, IN_H or OUT_H, which kernels call their extents, if that is the model's name. */
    str_printf(&out, "#ifndef %s_INCLUDED\n#define %s_INCLUDED\n\n%s#include <stdint.h>\n\n",
               codegen->upper, codegen->upper, is_guarded(codegen) ? "#include <stddef.h>\n" : "");
    str_add(&out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    add_identity(codegen, &out);
    add_constants(codegen, &out);
    add_memory(codegen, &out);
    add_size_constants(codegen, &out);
    add_budget(codegen, &out);
    add_guard_header(codegen, &out);
    add_state_struct(codegen, &out);
    add_interface(codegen, &out);
    if (codegen->n_split)
        add_parallel_header(codegen, &out);
    add_functions(codegen, &out);
    str_add(&out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    writer_write(writer, out.text, out.n);
}
