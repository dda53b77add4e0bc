/* register_loops.c - see register_loops.h. */
#include "codegen_c/text/register_loops.h"

#include <assert.h>
#include <string.h>

#include "codegen_c/text/register_read.h"

enum { MOST_LISTS = 16 };

/* A macro of a list. */
struct list {
    const char *name, *body;
};

struct writer {
    struct register_reader r;
    struct tokens out;
    const char *each_pixel, *each_vector;
    struct list lists[MOST_LISTS];
    int n_lists, brackets;
    int statement; /* where the statement of the function in hand begins in `out` */
    bool begins;   /* a statement begins here */
};

/* Defines the macro of a list, unless there is just this one. */
static void define(struct writer *w, const char *name, const char *parameters, const char *body,
                   struct tokens *definitions)
{
    struct token token = { .kind = TOKEN_DIRECTIVE, .newlines = 1 };

    for (int i = 0; i < w->n_lists; i++)
        if (strcmp(w->lists[i].name, name) == 0) {
            if (strcmp(w->lists[i].body, body) == 0)
                return;
            token.text = arena_printf(w->r.arena, "#undef %s", name);
            token.n = (int)strlen(token.text);
            tokens_add(definitions, &token);
            w->lists[i--] = w->lists[--w->n_lists];
        }
    assert(w->n_lists < MOST_LISTS);
    w->lists[w->n_lists++] = (struct list){ name, body };
    token.text = arena_printf(w->r.arena, "#define %s(%s) %s", name, parameters, body);
    token.n = (int)strlen(token.text);
    tokens_add(definitions, &token);
}

static const char *loop_text(struct writer *w, int i, const struct register_head *outer,
                             struct tokens *definitions);

/* The statements of a body. */
static const char *body_text(struct writer *w, int from, int to, const struct register_head *head,
                             struct tokens *definitions)
{
    struct str out = { .arena = w->r.arena };
    size_t condition = 0; /* what `out` had in front of an if */
    int behind_condition = -1;

    for (int i = from; i < to; i++) {
        struct register_array *array = register_array_at(&w->r, i);
        const struct token *token = tokens_at(w->r.in, i);
        const char *local = NULL;
        struct register_head inner;

        if (register_read_head(&w->r, i, &inner)) {
            const char *list = loop_text(w, i, head, definitions);

            if (i == behind_condition && !*list)
                out.n = condition;
            else
                str_printf(&out, i == behind_condition ? " { %s }" : out.n ? " %s" : "%s", list);
            i = register_behind_statement(&w->r, inner.body) - 1;
            continue;
        }
        if (tokens_is_word(w->r.in, i, "if")) {
            if (tokens_is_word(w->r.in, i + 2, head->variable) &&
                register_is_extent(&w->r, i + 4)) {
                i += 5;
                continue;
            }
            condition = out.n;
            behind_condition = tokens_behind(w->r.in, i + 1);
        }
        if (out.n && (token->space || token->newlines))
            str_add(&out, " ");
        for (int k = 0; k < w->r.n_locals; k++)
            if (token->kind == TOKEN_WORD && token_is(token, w->r.locals[k].name))
                local = w->r.locals[k].body;
        if (array) {
            const int end = register_behind_indices(&w->r, i, array->rank);
            const char *zeros = arena_printf(w->r.arena, "(%s)", array->type);
            const bool declares = !array->declared && tokens_is_mark(w->r.in, end, "=");

            if (declares)
                register_add_type(array, &out);
            register_add_element(&w->r, array, i, &out);
            i = end - 1;
            /* "= (vector_f32){ 0 }" */
            if (declares && tokens_is_mark(w->r.in, end + 1, "(") &&
                str_starts(tokens_at(w->r.in, end + 1)->text, zeros) &&
                tokens_is_mark(w->r.in, tokens_behind(w->r.in, end + 1), "{")) {
                str_add(&out, " = { 0 }");
                i = tokens_behind(w->r.in, tokens_behind(w->r.in, end + 1)) - 1;
            }
        } else if (local) {
            str_add(&out, local);
        } else {
            str_addn(&out, token->text, (size_t)token->n);
        }
    }
    out.text = out.n ? arena_strndup(w->r.arena, out.text, out.n) : NULL;
    return str_text(&out);
}

/* Whether a loop over vectors is in the text. */
static bool has_vectors(const struct writer *w, int from, int to)
{
    for (int i = from; i < to; i++)
        if (tokens_is_word(w->r.in, i, "for") && tokens_is_word(w->r.in, i + 9, "NR"))
            return true;
    return false;
}

/* The list that stands for the loop at i, "EACH_PIXEL(BEGIN_PIXEL)"; "" if it does nothing. Adds the macros. */
static const char *loop_text(struct writer *w, int i, const struct register_head *outer,
                             struct tokens *definitions)
{
    struct register_head head;
    const int n_locals = w->r.n_locals;
    int from, to;
    bool braces = false;
    const char *body, *name, *parameters;

    register_read_head(&w->r, i, &head);
    from = head.body;
    to = register_behind_statement(&w->r, from);
    if (!head.label)
        head.label = outer ? outer->label : "EACH";
    if (tokens_is_mark(w->r.in, from, "{")) {
        from += 1 + tokens_is_kind(w->r.in, from + 1, TOKEN_COMMENT);
        to--;
        braces = !register_read_locals(&w->r, from, to, head.variable);
    }
    body = body_text(w, from, to, &head, definitions);
    w->r.n_locals = n_locals;
    if (!*body)
        return "";
    if (braces)
        body = arena_printf(w->r.arena, "{ %s }", body);
    name = head.of_pixels && has_vectors(w, from, to)
               ? arena_printf(w->r.arena, "%s_PIXEL", head.label)
               : head.label;
    parameters = head.of_pixels ? head.variable
                                : arena_printf(w->r.arena, "%s, %s", outer ? outer->variable : "j",
                                               head.variable);
    define(w, name, parameters, body, definitions);
    return head.of_pixels
               ? arena_printf(w->r.arena, "%s(%s)%s", w->each_pixel, name,
                              head.comment ? head.comment : "")
               : arena_printf(w->r.arena, "%s(%s, %s)%s", w->each_vector, name,
                              outer ? outer->variable : "0", head.comment ? head.comment : "");
}

/* --- the function ----------------------------------------------------------------------------- */

/* Puts the definitions in front of the function's statement in hand. */
static void insert(struct writer *w, const struct tokens *definitions)
{
    struct tokens rest = { .arena = w->r.arena };

    for (int i = w->statement; i < w->out.n; i++)
        tokens_add(&rest, &w->out.items[i]);
    w->out.n = w->statement;
    for (int i = 0; i < definitions->n; i++) {
        struct token token = definitions->items[i];

        if (i == 0 && rest.n)
            token.newlines = rest.items[0].newlines;
        tokens_add(&w->out, &token);
    }
    if (definitions->n)
        w->statement = w->out.n;
    for (int i = 0; i < rest.n; i++) {
        if (i == 0 && definitions->n)
            rest.items[0].newlines = 1;
        tokens_add(&w->out, &rest.items[i]);
    }
}

static void add_word(struct writer *w, const struct token *like, const char *text)
{
    struct token token = *like;

    token.kind = TOKEN_WORD;
    token.text = text;
    token.n = (int)strlen(text);
    tokens_add(&w->out, &token);
}

/* The macros end with the function. */
static void undefine(struct writer *w)
{
    for (int i = 0; i < w->n_lists; i++) {
        struct token token = { .kind = TOKEN_DIRECTIVE, .newlines = 1 };

        token.text = arena_printf(w->r.arena, "#undef %s", w->lists[i].name);
        token.n = (int)strlen(token.text);
        tokens_add(&w->out, &token);
    }
    w->n_lists = 0;
}

static void copy(struct writer *w, int i, int newlines)
{
    struct token token = *tokens_at(w->r.in, i);

    if (newlines > token.newlines)
        token.newlines = newlines;
    if (tokens_is_mark(w->r.in, i, "}")) {
        if (--w->r.depth == 0)
            undefine(w);
        while (w->r.n_arrays && w->r.arrays[w->r.n_arrays - 1].block > w->r.depth)
            w->r.n_arrays--;
    }
    tokens_add(&w->out, &token);
    w->r.depth += tokens_is_mark(w->r.in, i, "{");
    w->brackets += tokens_is_mark(w->r.in, i, "( [") - tokens_is_mark(w->r.in, i, ") ]");
    if (token.kind != TOKEN_COMMENT)
        w->begins = w->brackets == 0 && tokens_is_mark(w->r.in, i, "; { }");
    if (w->r.depth == 1 && w->begins && (token.kind != TOKEN_COMMENT || !token.newlines))
        w->statement = w->out.n;
}

const char *register_loops_to_lists(struct arena *arena, const char *text, const char *each_pixel,
                                    const char *each_vector)
{
    const struct tokens in = tokens_of(arena, text);
    struct writer w = { .r = { .arena = arena, .in = &in },
                        .out = { .arena = arena },
                        .each_pixel = each_pixel,
                        .each_vector = each_vector };
    int newlines = 0; /* in front of what went */

    for (int i = 0, end; i < in.n; i = end) {
        struct tokens definitions = { .arena = arena };
        struct register_array *array = register_array_at(&w.r, i);
        const struct token *token = &in.items[i];
        const bool begins = w.r.depth && w.begins && token->kind != TOKEN_COMMENT;
        struct token first = *token;
        struct register_head head;

        first.newlines = newlines > token->newlines ? newlines : token->newlines;
        end = begins ? register_read_arrays(&w.r, i) : i;
        if (end > i) {
            newlines = first.newlines;
            if (tokens_is_mark(&in, i - 1, "{"))
                newlines = 1;
            continue;
        }
        if (register_read_head(&w.r, i, &head)) {
            const char *list = loop_text(&w, i, NULL, &definitions);

            end = register_behind_statement(&w.r, head.body);
            if (*list)
                add_word(&w, &first, list);
            insert(&w, &definitions);
            newlines = *list ? 0 : first.newlines;
            if (w.r.depth == 1)
                w.statement = w.out.n;
            continue;
        }
        end = i + 1;
        if (array) {
            struct str name = { .arena = arena };

            register_add_element(&w.r, array, i, &name);
            add_word(&w, &first, str_text(&name));
            end = register_behind_indices(&w.r, i, array->rank);
        } else {
            copy(&w, i, newlines);
        }
        newlines = 0;
    }
    return tokens_text(&w.out);
}
