#include "codegen_c/print/print_region.h"

#include "codegen_c/core/number.h"
#include "codegen_c/core/state.h"
#include "codegen_c/microkernel/microkernel.h"
#include "codegen_c/print/parallel.h"
#include "codegen_c/select/configure.h"

static bool expand_function(struct codegen *codegen, struct region_function *function,
                            struct str *out)
{
    struct str text = { .arena = out->arena };

    codegen->result->n_printed++;
    if (!template_expand(codegen->ctx, function->template->path, function->template->text,
                         &function->keys, &text))
        return false;
    str_add(out, numbers_declare(out->arena, str_text(&text), function->name, &function->numbers));
    return true;
}

/* The functions in front of it, which have none in front of them. */
static bool print_before(struct codegen *codegen, struct region_function *function,
                         struct arena *temporary)
{
    struct str text = { .arena = temporary };

    for (struct region_function *f = function->before; f; f = f->next) {
        if (!expand_function(codegen, f, &text))
            return false;
        str_add(&text, "\n");
    }
    if (function->before)
        keys_set(&function->keys, "functions", str_text(&text));
    return true;
}

static bool print_region(struct codegen *codegen, struct emitted *emitted)
{
    struct region_function *function = emitted->function;
    struct arena temporary = { NULL };
    struct str out = { .arena = &temporary };
    const bool ok =
        print_before(codegen, function, &temporary) && expand_function(codegen, function, &out);

    if (ok && function->run)
        add_hand_over(codegen, &out, function);
    if (ok)
        emitted->text = arena_strdup(&codegen->arena, str_text(&out));
    arena_release(&temporary);
    return ok;
}

static bool print_helper(struct codegen *codegen, struct helper *helper)
{
    struct str text = { .arena = &codegen->arena };
    const bool ok =
        template_expand(codegen->ctx, helper->from, helper->template, &helper->keys, &text);

    helper->text = numbers_as_literals(&codegen->arena, str_text(&text));
    if (helper->microkernel)
        helper->text = microkernel_text(&codegen->arena, helper->microkernel, helper->text);
    return ok;
}

bool print_regions(struct codegen *codegen)
{
    bool ok = true;

    for (int i = 0; i < codegen->n_regions; i++)
        if (codegen->emitted[i].function)
            ok = print_region(codegen, &codegen->emitted[i]) && ok;
    for (size_t i = 0; i < codegen->helpers.n; i++) {
        struct helper *helper = codegen->helpers.entries[i].value;

        if (helper->own)
            ok = print_helper(codegen, helper) && ok;
    }
    return ok;
}
