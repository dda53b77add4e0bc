/* signature.c - see signature.h. */
#include "codegen_c/select/signature.h"

#include "base/str.h"
#include "relay_ir/region.h"

/* Of what is known of the numbers only what changes the code: how many scales there are. */
static void add_type(struct str *out, const struct type *type)
{
    const struct qtype *quant = type->quant;
    const struct minifloat *codec = type_minifloat(type);

    str_printf(out, " %s[", codec ? codec->name : dtype_name(type->dtype));
    for (int i = 0; i < type->rank; i++)
        str_printf(out, "%s%lld", i ? "," : "", (long long)type->dim[i]);
    str_add(out, "]");
    if (quant && quant->kind == QTYPE_BLOCKS)
        str_printf(out, "/%lld", (long long)quant->block);
}

/* Operators count from 0. */
static int position_of(const struct function *region, const struct node *node)
{
    int i = 0;

    for (const struct node *n = region->first; n && n != node; n = n->next)
        i++;
    return i;
}

static void add_input(struct str *out, const struct node *node, const struct value *value)
{
    if (!value) {
        str_add(out, "-");
        return;
    }
    switch (value->kind) {
    case VALUE_PARAM:
        str_printf(out, "p%d", value->index);
        add_type(out, &value->type);
        break;
    case VALUE_CONSTANT:
        str_add(out, "c");
        add_type(out, &value->type);
        break;
    case VALUE_OUTPUT:
        str_add(out, "_");
        if (value->def != node->prev)
            str_printf(out, "%d", position_of(node->fn, value->def));
        break;
    }
}

const char *region_signature(struct arena *arena, const struct function *region)
{
    const struct node *anchor = region_anchor(region);
    struct str out = { .arena = arena };

    for (const struct node *n = region->first; n; n = n->next) {
        str_printf(&out, "%s%s(", out.n ? "; " : "", op_name(n->op));
        for (int i = 0; i < n->n_inputs; i++) {
            str_add(&out, i ? ", " : "");
            add_input(&out, n, n->inputs[i]);
        }
        str_add(&out, ")");
        if (n == anchor)
            attrs_print(&out, op_row(n->op)->attrs, &n->attrs);
    }
    return str_text(&out);
}
