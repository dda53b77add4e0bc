#include "relay_ir/text.h"

#include <stdint.h>
#include <string.h>

#include "relay_ir/text/words.h"

static void print_quoted(struct str *out, const char *text)
{
    str_printf(out, "\"%s\"", str_safe(out->arena, text, SIZE_MAX));
}

static void print_name(struct str *out, const char *name)
{
    if (word_length(name) == strlen(name) && *name)
        str_add(out, name);
    else
        print_quoted(out, name);
}

static void print_reference(struct str *out, const struct value *value)
{
    if (!value) {
        str_add(out, "_");
        return;
    }
    str_add(out, value->kind == VALUE_CONSTANT ? "@" : "%");
    print_name(out, value->name);
}

static void print_origin(struct str *out, const struct origin *origin)
{
    for (const char *before = "  from "; origin; origin = origin->next, before = " + ") {
        str_add(out, before);
        print_name(out, origin->op_type);
        if (*origin->name) {
            str_add(out, " ");
            print_quoted(out, origin->name);
        }
        if (origin->index >= 0)
            str_printf(out, " #%ld", origin->index);
    }
}

void node_print(const struct node *node, struct str *out)
{
    for (int i = 0; i < node->n_outputs; i++) {
        str_add(out, i ? ", " : "");
        print_reference(out, node->outputs[i]);
    }
    str_printf(out, " = %s", op_name(node->op));
    if (node->callee) {
        str_add(out, " ");
        print_name(out, node->callee->name);
    }
    str_add(out, "(");
    for (int i = 0; i < node->n_inputs; i++) {
        str_add(out, i ? ", " : "");
        print_reference(out, node->inputs[i]);
    }
    str_add(out, ")");
    attrs_print(out, op_row(node->op)->attrs, &node->attrs);
    for (int i = 0; i < node->n_outputs; i++) {
        str_add(out, i ? ", " : " : ");
        type_print(out, &node->outputs[i]->type);
    }
    print_origin(out, node->origin);
}

static void print_constant(struct str *out, const struct value *value)
{
    str_add(out, "  const ");
    print_reference(out, value);
    str_add(out, " : ");
    type_print(out, &value->type);
    str_add(out, " = ");
    print_elements(out, value->type.dtype, value->data, type_elements(&value->type));
    str_add(out, "\n");
}

static void print_head(const struct function *fn, struct str *out)
{
    str_add(out, "fn ");
    print_name(out, fn->name);
    str_add(out, "(");
    for (int i = 0; i < fn->n_params; i++) {
        str_add(out, i ? ", " : "");
        print_reference(out, fn->params[i]);
        str_add(out, ": ");
        type_print(out, &fn->params[i]->type);
    }
    str_add(out, ") -> (");
    for (int i = 0; i < fn->ret->n_inputs; i++) {
        str_add(out, i ? ", " : "");
        print_reference(out, fn->ret->inputs[i]);
        if (strcmp(fn->result_names[i], fn->ret->inputs[i]->name) != 0) {
            str_add(out, " as ");
            print_quoted(out, fn->result_names[i]);
        }
    }
    str_add(out, ")");
    if (fn->compiler) {
        str_add(out, " compiler ");
        print_quoted(out, fn->compiler);
    }
    if (fn->composite) {
        str_add(out, " composite ");
        print_quoted(out, fn->composite);
    }
    if (fn->global_symbol) {
        str_add(out, " global_symbol ");
        print_quoted(out, fn->global_symbol);
    }
    str_add(out, " {\n");
}

void function_print(const struct function *fn, struct str *out)
{
    print_head(fn, out);
    for (const struct value *v = fn->constants; v; v = v->next)
        print_constant(out, v);
    for (const struct node *n = fn->first; n; n = n->next) {
        str_add(out, "  ");
        node_print(n, out);
        str_add(out, "\n");
    }
    str_add(out, "}\n");
}

void module_print(const struct module *module, struct str *out)
{
    str_printf(out, "module opset %d", module->opset);
    if (*module->producer) {
        str_add(out, " producer ");
        print_quoted(out, module->producer);
    }
    str_add(out, "\n");
    for (const struct function *fn = module->functions; fn; fn = fn->next) {
        str_add(out, "\n");
        function_print(fn, out);
    }
}
