/* convert_custom.c - custom operators that are C functions of the user (--custom-op). The function gets what the file
 * has: tensors in its types and order of dims, quantised values as they are, and the numbers of its options, in the
 * order of their names. */
#include <string.h>

#include "base/str.h"
#include "frontend/tflite/convert_compose.h"
#include "frontend/tflite/flexbuffer.h"
#include "frontend/tflite/importer.h"
#include "relay_ir/ops/custom.h"

/* As relay_ir/ops/custom.h has attributes; NULL after an error. Keys of a map are sorted. */
static const char *options_text(struct tfl_node *node)
{
    const struct fb_vector *options = &node->op->custom_options;
    struct str out = { .arena = &node->fn->module->arena };
    struct flex_map map;

    if (options->n == 0)
        return "";
    if (!flex_map_of(options->data, options->n, &map)) {
        tfl_unsupported(node,
                        "its options are no map of numbers, so that no function can get them");
        return NULL;
    }
    for (size_t i = 0; i < map.count; i++) {
        struct flex_value value;
        const char *key;

        if (!flex_entry(&map, i, &key, &value)) {
            tfl_unsupported(node, "option \"%s\" is no number, so that no function can get it",
                            str_safe(&node->ctx->perm, key ? key : "", 60));
            return NULL;
        }
        str_add(&out, i ? ";" : "");
        if (value.is_real)
            str_printf(&out, "f%.9g", value.real);
        else
            str_printf(&out, "i%lld", (long long)value.whole);
    }
    return out.n ? str_text(&out) : "";
}

/* The type in the file: quantised values of UINT8 are taken as i8 everywhere else. */
static enum dtype type_in_file(const struct tfl_tensor *tensor)
{
    return tensor->is_unsigned ? DTYPE_U8 : tensor->type.dtype;
}

static bool is_of_c(struct tfl_node *node, const struct tfl_tensor *tensor)
{
    return (tensor->type.dtype != DTYPE_F16 && tensor->type.dtype != DTYPE_BF16) ||
           tfl_unsupported(node, "tensors of %s: C has no such type",
                           dtype_name(tensor->type.dtype));
}

static const char *results_text(struct tfl_node *node)
{
    struct str out = { .arena = &node->fn->module->arena };

    for (int i = 0; i < node->n_outputs; i++) {
        const struct tfl_tensor *tensor = node->outputs[i];

        if (!is_of_c(node, tensor))
            return NULL;
        str_printf(&out, "%s%s[", i ? ";" : "", dtype_name(type_in_file(tensor)));
        for (int d = 0; d < tensor->type.rank; d++)
            str_printf(&out, "%s%lld", d ? "," : "", (long long)tensor->type.dim[d]);
        str_add(&out, "]");
    }
    return str_text(&out);
}

static bool read_operands(struct tfl_node *node, struct value **inputs)
{
    for (int i = 0; i < node->n_inputs; i++) {
        if (!node->inputs[i])
            continue;
        inputs[i] = is_of_c(node, node->inputs[i]) ? tfl_value(node, i) : NULL;
        if (inputs[i] && node->inputs[i]->is_unsigned)
            inputs[i] = tfl_flipped(node, inputs[i], DTYPE_U8);
        if (!inputs[i])
            return false;
    }
    return true;
}

bool tfl_convert_custom(struct tfl_node *node, struct custom_op *custom)
{
    struct value **inputs = arena_array(&node->ctx->perm, struct value *, node->n_inputs + 1);
    union attrs attrs = {
        .custom = { .op = custom->given, .header = custom->header, .function = custom->function }
    };
    struct node_args args = { .op = OP_CUSTOM,
                              .n_inputs = node->n_inputs,
                              .inputs = inputs,
                              .n_outputs = node->n_outputs,
                              .attrs = &attrs,
                              .origin = node->origin };
    const struct node *made;
    bool ok;

    custom->n_uses++;
    if (custom->n_shapes)
        return tfl_unsupported(node,
                               "shapes behind the function: the file has those of all results");
    attrs.custom.arguments = options_text(node);
    attrs.custom.results = attrs.custom.arguments ? results_text(node) : NULL;
    ok = attrs.custom.results && read_operands(node, inputs);
    made = ok ? node_new(node->fn, &args) : NULL;
    for (int i = 0; made && i < made->n_outputs; i++) {
        const bool flips = node->outputs[i]->is_unsigned;

        ok = tfl_output(node, i,
                        flips ? tfl_flipped(node, made->outputs[i], DTYPE_I8) : made->outputs[i]) &&
             ok;
    }
    return made && ok;
}
