/* custom.c - operators that are C functions of the user (--custom-op): a call.
 *
 *     void function(const T *x, const int *x_dims, ..., T *y, const int *y_dims, ..., attributes)
 *
 * Attributes come in the order of their names: int64_t, float, const char *, and lists as a pointer
 * and a number. What is absent is NULL. */
#include "relay_ir/ops/custom.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/state.h"

static bool accepts_custom(const struct region *region, const char **why)
{
    (void)region;
    (void)why;
    return true;
}

/* ", (const int[]){ 1, 3 }" */
static void add_dims(struct str *out, const struct type *type)
{
    str_add(out, ", (const int[]){ ");
    for (int i = 0; i < type->rank; i++)
        str_printf(out, "%s%" PRId64, i ? ", " : "", type->dim[i]);
    str_add(out, type->rank ? " }" : "1 }"); /* C has no empty arrays */
}

static void add_number(struct bind *bind, struct str *out, char kind, const char *text, size_t n)
{
    const char *number = arena_strndup(bind->arena, text, n);
    const long long integer = strtoll(number, NULL, 10);

    if (kind == 'f' || kind == 'F')
        str_add(out, bind_literal(bind, DTYPE_F32, strtod(number, NULL)));
    else if (integer == INT64_MIN) /* C has no literal for it */
        str_printf(out, "-INT64_C(%lld) - 1", (long long)INT64_MAX);
    else
        str_printf(out, integer < INT32_MIN || integer > INT32_MAX ? "INT64_C(%lld)" : "%lld",
                   integer);
}

static void add_list(struct bind *bind, struct str *out, const struct custom_argument *argument)
{
    const char *at = argument->text, *end = at + argument->n;
    int n = 0;

    if (argument->n == 0) {
        str_add(out, "0, 0");
        return;
    }
    str_printf(out, "(const %s[]){ ", argument->kind == 'I' ? "int64_t" : "float");
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;

        str_add(out, n++ ? ", " : "");
        add_number(bind, out, argument->kind, at, (size_t)(stop - at));
        at = stop + (comma != NULL);
    }
    str_printf(out, " }, %d", n);
}

static void add_attributes(struct bind *bind, struct str *out, const char *text)
{
    struct custom_argument argument;

    while (custom_argument(&text, &argument)) {
        str_add(out, ", ");
        if (argument.kind == 's')
            str_printf(out, "\"%.*s\"", (int)argument.n, argument.text);
        else if (argument.kind == 'I' || argument.kind == 'F')
            add_list(bind, out, &argument);
        else
            add_number(bind, out, argument.kind, argument.text, argument.n);
    }
}

static bool is_taken(const struct bind *bind, const char *function)
{
    const struct codegen *codegen = bind->codegen;

    return map_get(&codegen->defined, function) ||
           (str_starts(function, codegen->options->name) &&
            function[strlen(codegen->options->name)] == '_');
}

static bool bind_custom(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct custom_attrs *custom = &node->attrs.custom;
    struct str out = { .arena = bind->arena };

    if (is_taken(bind, custom->function))
        return diag_error(bind->ctx, DIAG_USAGE, node_origin(node),
                          "--custom-op %s: the generated C has a function of this name, or names "
                          "that begin so",
                          custom->op);
    str_printf(&out, "%s(", custom->function);
    for (int i = 0; i < node->n_inputs; i++) {
        str_add(&out, i ? ", " : "");
        if (!node->inputs[i]) {
            str_add(&out, "0, 0");
            continue;
        }
        str_add(&out, bind_operand(bind, node->inputs[i]));
        add_dims(&out, &node->inputs[i]->type);
    }
    for (int i = 0; i < node->n_outputs; i++) {
        str_printf(&out, "%s%s", node->n_inputs || i ? ", " : "", bind->region->results[i]);
        add_dims(&out, &node->outputs[i]->type);
    }
    add_attributes(bind, &out, custom->arguments);
    str_add(&out, ");");
    bind_text(bind, "call", "%s", str_text(&out));
    bind_include(bind, arena_printf(bind->arena, "\"%s\"", custom->header));
    return true;
}

const struct kernel kernel_custom = {
    .name = "custom",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_CUSTOM), accepts_custom, bind_custom } },
};
