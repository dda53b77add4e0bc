/* emit_constants.c - tables of constants for functions that the user writes (runtime/abi).
 *
 *   const struct relayc_constant kws_mynpu_conv1_constants[2] = {
 *       { "conv1.weight", { kws_conv1_weight.v, RELAYC_F32, 4, { 16, 3, 3, 3 } } },
 */
#include <inttypes.h>
#include <string.h>

#include "codegen_c/emit/emit_external.h"

void declare_constants(struct codegen *codegen, struct str *out, const struct external *external)
{
    if (external->n_constants && module_has_tables(external->module))
        str_printf(out, "extern const struct relayc_constant %s[%d];\n",
                   constants_table(codegen, external), external->n_constants);
}

/* A string literal: comment_safe leaves quotes. */
static const char *quoted(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, comment_safe(arena, text, 200));

    for (char *c = copy; *c; c++)
        if (*c == '"' || *c == '?')
            *c = '_';
    return copy;
}

static void add_constant(struct codegen *codegen, struct str *out,
                         const struct external_constant *constant)
{
    struct arena *arena = &codegen->arena;
    const struct type *type = &constant->weight->type;

    str_printf(out, "    { \"%s\", { %s, RELAYC_%s, %d, { ", quoted(arena, constant->name),
               constant->weight->expression, upper_case(arena, dtype_name(type->dtype)),
               type->rank);
    for (int i = 0; i < type->rank; i++)
        str_printf(out, "%s%" PRId64, i ? ", " : "", type->dim[i]);
    str_printf(out, "%s } } },\n", type->rank ? "" : "0");
}

void define_constants(struct codegen *codegen, struct str *out, const struct external *external)
{
    if (external->n_constants == 0 || !module_has_tables(external->module))
        return;
    str_printf(out, "const struct relayc_constant %s[%d] = {\n", constants_table(codegen, external),
               external->n_constants);
    for (const struct external_constant *c = external->constants; c; c = c->next)
        add_constant(codegen, out, c);
    str_add(out, "};\n");
}
