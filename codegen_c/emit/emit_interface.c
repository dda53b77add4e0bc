/* emit_interface.c - NAME.h: type, dims, layout and scale of inputs and outputs. */
#include "codegen_c/emit/emit_interface.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/core/state.h"
#include "codegen_c/text/literal.h"
#include "relay_ir/state.h"
#include "relay_ir/variants.h"

/* A tensor of the interface. */
struct tensor_of {
    const struct value *value;
    const char *c_name, *onnx_name;
    const char *id; /* "KWS_INPUT": what its macros begin with */
    bool is_input;
};

static const char *const endings[] = { "TYPE",  "RANK",  "DIMS",       "STRIDES", "LEN",
                                       "BYTES", "SCALE", "ZERO_POINT", "NAMES" };

static bool is_free(struct codegen *codegen, const char *id)
{
    bool is = true;

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        is = is && !map_get(&codegen->names.taken,
                            arena_printf(&codegen->arena, "%s_%s", id, endings[i]));
    return is;
}

/* "a" and "A" are two names in C, but one in capitals. */
static const char *macro_id(struct codegen *codegen, const char *c_name)
{
    struct arena *arena = &codegen->arena;
    const char *wanted = arena_printf(arena, "%s_%s", codegen->upper, upper_case(arena, c_name));
    const char *id = wanted;

    for (int n = 2; !is_free(codegen, id); n++)
        id = arena_printf(arena, "%s_%d", wanted, n);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        names_reserve(&codegen->names, arena_printf(arena, "%s_%s", id, endings[i]));
    return id;
}

/* The inputs, then the outputs. */
static struct tensor_of *find_tensors(struct codegen *codegen, int *n)
{
    const struct function *main = codegen->module->main;
    struct tensor_of *tensors =
        arena_array(&codegen->arena, struct tensor_of, main->n_params + main->ret->n_inputs);

    *n = 0;
    for (int i = 0; i < interface_params(codegen->module); i++)
        if (!state_of_param(codegen->module, i))
            tensors[(*n)++] = (struct tensor_of){ .value = main->params[i],
                                                  .c_name = codegen->input_names[i],
                                                  .onnx_name = main->params[i]->name,
                                                  .is_input = true };
    for (int i = 0; i < interface_results(codegen->module); i++)
        if (!state_of_result(codegen->module, i))
            tensors[(*n)++] = (struct tensor_of){ .value = main->ret->inputs[i],
                                                  .c_name = codegen->output_names[i],
                                                  .onnx_name = main->result_names[i] };
    for (int i = 0; i < *n; i++)
        tensors[i].id = macro_id(codegen, tensors[i].c_name);
    return tensors;
}

/* --- dims and layout -------------------------------------------------------------------------- */

static void add_numbers(struct str *out, const char *id, const char *what, int n,
                        const int64_t *numbers)
{
    str_printf(out, "#define %s_%s {", id, what);
    for (int i = 0; i < n; i++)
        str_printf(out, "%s %" PRId64, i ? "," : "", numbers[i]);
    str_add(out, " }\n");
}

static void add_dims(struct str *out, const struct tensor_of *tensor)
{
    const struct type *type = &tensor->value->type;
    int64_t strides[MAX_RANK], stride = 1;

    for (int i = type->rank; i-- > 0; stride *= type->dim[i])
        strides[i] = stride;
    str_printf(out, "#define %s_RANK %d\n", tensor->id, type->rank);
    if (type->rank == 0)
        return;
    add_numbers(out, tensor->id, "DIMS", type->rank, type->dim);
    add_numbers(out, tensor->id, "STRIDES", type->rank, strides);
}

/* --- what codes mean -------------------------------------------------------------------------- */

/* The one scale of a quantised input or output; NULL where there is none. */
static const struct qtype *scale_of(const struct value *value)
{
    const struct qtype *quant = value->type.quant;

    return quant && quant->kind == QTYPE_SCALED && quant->n == 1 ? quant : NULL;
}

static bool has_zero(const struct value *value)
{
    return scale_of(value) && dtype_is_integer(value->type.dtype);
}

/* Whether functions convert its numbers: those of at most 16 bits with a zero point. */
static bool is_converted(const struct value *value)
{
    return has_zero(value) && dtype_bytes(value->type.dtype) <= 2;
}

/* As macros, so that firmware without floats takes what it needs. */
static void add_scale(struct codegen *codegen, struct str *out, const struct tensor_of *tensor)
{
    const struct qtype *quant = scale_of(tensor->value);

    if (!quant)
        return;
    str_printf(out, "#define %s_SCALE %s\n", tensor->id,
               literal_decimal_f32(&codegen->arena, quant->scale[0]));
    if (has_zero(tensor->value))
        str_printf(out, "#define %s_ZERO_POINT (%" PRId32 ")\n", tensor->id,
                   quant->zero ? quant->zero[0] : 0);
}

static void add_tensor(struct codegen *codegen, struct str *out, const struct tensor_of *tensor)
{
    const struct type *type = &tensor->value->type;
    const char *real = !scale_of(tensor->value)  ? ""
                       : has_zero(tensor->value) ? "; real = SCALE * (stored - ZERO_POINT)"
                                                 : "; real = SCALE * the number of the code";

    str_printf(out, "/* %s \"%s\": %s%s */\n", tensor->is_input ? "Input" : "Output",
               comment_safe(&codegen->arena, tensor->onnx_name, 60),
               shape_comment(&codegen->arena, type), real);
    str_printf(out, "#define %s_TYPE %s\n", tensor->id, dtype_c_type(type->dtype));
    add_dims(out, tensor);
    str_printf(out, "#define %s_LEN %" PRId64 "\n#define %s_BYTES %zu\n", tensor->id,
               type_elements(type), tensor->id, type_bytes(type));
    add_scale(codegen, out, tensor);
    str_add(out, "\n");
}

/* To nearest, ties to even, saturated; NaN becomes 0: what the network does with an input of
 * floats. */
static const char quantize_text[] =
    "static inline %s %s_quantize_%s(float real)\n"
    "{\n"
    "    const float quotient = real / %s_SCALE;\n"
    "\n"
    "    if (quotient >= (float)(%" PRId64 " - %s_ZERO_POINT)) {\n"
    "        return %" PRId64 ";\n"
    "    }\n"
    "    if (quotient > (float)(%" PRId64 " - %s_ZERO_POINT)) {\n"
    "        int32_t whole = (int32_t)quotient;\n"
    "        const float rest = quotient - (float)whole;\n"
    "\n"
    "        if (rest > 0.5f || (rest >= 0.5f && whole %% 2 != 0)) {\n"
    "            whole++;\n"
    "        } else if (rest < -0.5f || (rest <= -0.5f && whole %% 2 != 0)) {\n"
    "            whole--;\n"
    "        }\n"
    "        return (%s)(whole + %s_ZERO_POINT);\n"
    "    }\n"
    "    return quotient <= 0.0f ? %" PRId64 " : 0;\n"
    "}\n\n";

static const char dequantize_text[] = "static inline float %s_dequantize_%s(%s stored)\n"
                                      "{\n"
                                      "    return (float)(stored - %s_ZERO_POINT) * %s_SCALE;\n"
                                      "}\n\n";

static void add_conversion(struct codegen *codegen, struct str *out, const struct tensor_of *tensor)
{
    const enum dtype dtype = tensor->value->type.dtype;
    const char *name = codegen->options->name, *id = tensor->id, *type = dtype_c_type(dtype);
    const int bits = 8 * (int)dtype_bytes(dtype);
    int64_t least, most;

    if (!is_converted(tensor->value))
        return;
    least = dtype_kind(dtype) == KIND_INT ? -((int64_t)1 << (bits - 1)) : 0;
    most = least + ((int64_t)1 << bits) - 1;
    if (tensor->is_input)
        str_printf(out, quantize_text, type, name, tensor->c_name, id, most, id, most, least, id,
                   type, id, least);
    else
        str_printf(out, dequantize_text, name, tensor->c_name, type, id, id);
}

/* Any bytes as a C string; octal, because an escape in hex has no end. */
static void add_string(struct str *out, const char *text)
{
    str_add(out, "\"");
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            str_printf(out, "\\%c", *text);
        else if (*text < ' ' || *text > '~' || *text == '?')
            str_printf(out, "\\%03o", (unsigned)(unsigned char)*text);
        else
            str_printf(out, "%c", *text);
    str_add(out, "\"");
}

/* The strings of an output that is their numbers. */
static void add_names(struct codegen *codegen, struct str *out, const struct tensor_of *tensor)
{
    const struct class_names *names = codegen->module->class_names;

    while (names && strcmp(names->output, tensor->onnx_name) != 0)
        names = names->next;
    if (!names || tensor->is_input)
        return;
    str_printf(
        out,
        "/* Output %s is strings in the model: here, numbers of these. NAMES initialises an\n"
        " * array of const char *. */\n#define %s_NAMES \\\n    {",
        tensor->c_name, tensor->id);
    for (int i = 0; i < names->n; i++) {
        str_add(out, i == 0 ? " " : i % 8 ? ", " : ", \\\n      ");
        add_string(out, names->names[i]);
    }
    str_add(out, " }\n\n");
}

void add_interface(struct codegen *codegen, struct str *out)
{
    int n;
    const struct tensor_of *tensors = find_tensors(codegen, &n);
    bool any = false;

    for (int i = 0; i < n; i++)
        any = any || is_converted(tensors[i].value);
    if (n)
        str_add(out, "/* Inputs and outputs, dims as in the model. DIMS and STRIDES initialise "
                     "arrays [RANK]; strides\n * are elements: the last dim is contiguous. */\n\n");
    for (int i = 0; i < n; i++)
        add_tensor(codegen, out, &tensors[i]);
    for (int i = 0; i < n; i++)
        add_names(codegen, out, &tensors[i]);
    if (!any)
        return;
    str_printf(out,
               "/* Conversions from and to floats, for callers that have some; with %s_NO_FLOAT\n"
               " * nobody can call them by accident. */\n#ifndef %s_NO_FLOAT\n",
               codegen->upper, codegen->upper);
    for (int i = 0; i < n; i++)
        add_conversion(codegen, out, &tensors[i]);
    str_add(out, "#endif\n\n");
}
