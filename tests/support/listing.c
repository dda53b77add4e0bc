#include "tests/support/listing.h"

#include "base/str.h"

static void add_inputs(struct str *out, const struct node *node)
{
    for (int i = 0; i < node->n_inputs; i++)
        str_printf(out, "%s%s", i ? ", " : "", node->inputs[i] ? node->inputs[i]->name : "_");
}

const char *listing(const struct module *module)
{
    struct str out = { .arena = &module->ctx->perm };
    const struct function *fn = module->main;

    for (const struct node *n = fn->first; n; n = n->next) {
        for (int i = 0; i < n->n_outputs; i++)
            str_printf(&out, "%s%s", i ? ", " : "", n->outputs[i]->name);
        str_printf(&out, " = %s(", op_name(n->op));
        add_inputs(&out, n);
        str_add(&out, ")\n");
    }
    str_add(&out, "-> ");
    add_inputs(&out, fn->ret);
    str_add(&out, "\n");
    return str_text(&out);
}
