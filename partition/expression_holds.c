/* expression_holds.c - whether a condition holds, and in words why not. */
#include <string.h>

#include "base/str.h"
#include "partition/expression_tree.h"

/* The first part of a conjunction that does not hold; NULL = all hold. */
static const struct expression *failing_part(struct evaluation *e, const struct expression *part)
{
    const struct expression *failing;
    bool holds;

    if (part->kind == EXPRESSION_BINARY && part->sign == SIGN_AND) {
        failing = failing_part(e, part->args[0]);
        return failing ? failing : failing_part(e, part->args[1]);
    }
    return evaluation_truth(e, part, &holds) && holds ? NULL : part;
}

void term_print(struct str *text, const struct term *term)
{
    switch (term->kind) {
    case TERM_ABSENT: str_add(text, "absent"); break;
    case TERM_INT: str_printf(text, "%lld", (long long)term->integer); break;
    case TERM_REAL: str_printf(text, "%.9g", term->real); break;
    case TERM_TEXT:
        str_add(text, *term->text ? str_safe(text->arena, term->text, 80) : "\"\"");
        break;
    case TERM_INTS:
        str_add(text, "[");
        for (int i = 0; i < term->ints.n; i++)
            str_printf(text, "%s%lld", i ? "," : "", (long long)term->ints.at[i]);
        str_add(text, "]");
    }
}

/* Whether `one` is among what `all` lists with ", " between. */
static bool tells(const char *all, const char *one)
{
    const size_t n = strlen(one);

    for (const char *at = all; (at = strstr(at, one)); at++)
        if ((at == all || at[-1] == ' ') && (!at[n] || at[n] == ','))
            return true;
    return false;
}

/* "NAME is VALUE" for every name below, elements of lists as such; each once. Where a word of the
 * scope stands for nothing but text, there is nothing to tell. */
static void describe_names(struct evaluation *e, const struct expression *part, struct str *text)
{
    const bool asks = part->kind == EXPRESSION_CALL && part->callee == CALLEE_PRESENT;
    struct str one = { .arena = e->arena };
    struct term term;

    if (asks || part->kind == EXPRESSION_NAME || part->kind == EXPRESSION_INDEX) {
        if (!evaluation_run(e, part, &term) ||
            (part->kind == EXPRESSION_NAME && !part->field && term.kind == TERM_TEXT))
            return;
        str_printf(&one, "%s is ", expression_part(asks ? part->args[0] : part, e->arena));
        if (asks)
            str_add(&one, term.integer ? "there" : "absent");
        else
            term_print(&one, &term);
        if (tells(str_text(text), str_text(&one)))
            return;
        str_printf(text, "%s%s", text->n ? ", " : "", str_text(&one));
        return;
    }
    for (int i = 0; i < part->n_args; i++)
        describe_names(e, part->args[i], text);
}

bool expression_holds(const struct expression *expression, const struct scope *scope,
                      struct arena *arena, const char **found, const char **wanted)
{
    struct evaluation e = { .scope = scope, .arena = arena };
    const struct expression *failing = failing_part(&e, expression);
    struct str text = { .arena = arena };

    if (!failing)
        return true;
    *wanted = expression_part(failing, arena);
    *found = e.why;
    if (!e.why) {
        describe_names(&e, failing, &text);
        *found = text.n ? str_text(&text) : "it is false";
    }
    return false;
}
