/* register_loops.c - see register_loops.h. */
#include "codegen_c/text/register_loops.h"

#include <assert.h>
#include <string.h>

#include "codegen_c/text/tokens.h"

enum {
    MOST_ARRAYS = 16,
    MOST_LOCALS = 8,
    MOST_LISTS = 16,
    HEAD = 14 /* tokens of a loop's head */
};

/* A register array. */
struct array {
    const char *name, *type;
    int rank, block; /* block: the depth of the one that it is declared in */
    bool declared, constant;
};

struct list {
    const char *name, *body;
};

/* A register loop in the text. */
struct head {
    const char *variable;
    bool of_pixels;
    int body; /* behind it */
    const char *label, *comment;
};

struct writer {
    struct arena *arena;
    const struct tokens *in;
    struct tokens out;
    const char *each_pixel, *each_vector;
    struct array arrays[MOST_ARRAYS];
    struct list locals[MOST_LOCALS],
        lists[MOST_LISTS]; /* locals: and the name of their variables */
    int n_arrays, n_locals, n_lists;
    int depth, brackets,
        statement; /* where the statement of the function in hand begins in `out` */
    bool begins;   /* a statement begins here */
};

static const char *text_of(const struct writer *w, int i)
{
    const struct token *token = tokens_at(w->in, i);

    return arena_strndup(w->arena, token->text, (size_t)token->n);
}

static bool is_extent(const struct writer *w, int i)
{
    return tokens_is_word(w->in, i, "MR NR");
}

/* --- arrays ----------------------------------------------------------------------------------- */

static struct array *array_of(struct writer *w, int i)
{
    if (!tokens_is_kind(w->in, i, TOKEN_WORD) || !tokens_is_mark(w->in, i + 1, "["))
        return NULL;
    for (int k = w->n_arrays - 1; k >= 0; k--)
        if (token_is(tokens_at(w->in, i), w->arrays[k].name))
            return &w->arrays[k];
    return NULL;
}

/* Behind "name[j][v]", of this many dims. */
static int behind_indices(const struct writer *w, int i, int rank)
{
    for (i++; rank-- > 0 && tokens_is_mark(w->in, i, "[");)
        i = tokens_behind(w->in, i);
    return i;
}

/* How often the elements are assigned in the rest of the block. */
static int count_assignments(const struct writer *w, const char *name, int rank, int i)
{
    int n = 0, depth = 0;

    for (; depth >= 0 && i < w->in->n; i++) {
        depth += tokens_is_mark(w->in, i, "{") - tokens_is_mark(w->in, i, "}");
        if (tokens_is_word(w->in, i, name))
            n += tokens_is_mark(w->in, behind_indices(w, i, rank), "= += -= *= |=");
    }
    return n;
}

/* "vector_f32 sums[MR][NR], ws[NR];" at i: notes the arrays, and returns what is behind it; i if that is none. */
static int read_arrays(struct writer *w, int i)
{
    int first = i, end = i;

    while (end < w->in->n && !tokens_is_mark(w->in, end, "; = { }"))
        end++;
    while (first < end && !(tokens_is_kind(w->in, first, TOKEN_WORD) &&
                            tokens_is_mark(w->in, first + 1, "[") && is_extent(w, first + 2)))
        first++;
    if (first == i || first == end || !tokens_is_mark(w->in, end, ";"))
        return i;
    for (int at = first; at < end; at++) {
        const char *name = text_of(w, at);
        const int rank = tokens_is_mark(w->in, at + 4, "[") ? 2 : 1;
        struct str type = { .arena = w->arena };

        at = behind_indices(w, at, rank);
        for (int k = i; k < first; k++)
            str_printf(&type, "%s%s", k > i && tokens_at(w->in, k)->space ? " " : "",
                       text_of(w, k));
        assert(w->n_arrays < MOST_ARRAYS);
        w->arrays[w->n_arrays++] = (struct array){
            .name = name,
            .type = str_text(&type),
            .rank = rank,
            .block = w->depth,
            .constant = count_assignments(w, name, rank, end) == 1,
        };
    }
    return end + 1;
}

/* "sum##j##v" of sums[j][v], "sum00" of sums[0][0]. */
static void add_element(struct writer *w, const struct array *array, int i, struct str *out)
{
    bool pastes = false;

    str_addn(out, array->name, strlen(array->name) - 1);
    for (int k = 0; k < array->rank; k++) {
        const char *index = text_of(w, i + 2 + 3 * k);

        pastes = pastes || *index > '9';
        str_printf(out, "%s%s", pastes ? "##" : "", index);
    }
}

/* The type in front of an element that is assigned here for the first time. */
static void add_type(struct array *array, struct str *out)
{
    const bool pointer = str_ends(array->type, "*");

    if (array->constant && pointer)
        str_printf(out, "%sconst ", array->type);
    else
        str_printf(out, "%s%s%s", array->constant ? "const " : "", array->type, pointer ? "" : " ");
    array->declared = true;
}

/* --- loops ------------------------------------------------------------------------------------ */

/* Whether a register loop is at i: "for (int j = 0; j < MR; j++)". */
static bool read_head(struct writer *w, int i, struct head *head)
{
    const char *comment, *end;

    *head = (struct head){ .variable = text_of(w, i + 3), .body = i + HEAD };
    if (!tokens_is_word(w->in, i, "for") || !is_extent(w, i + 9))
        return false;
    head->of_pixels = tokens_is_word(w->in, i + 9, "MR");
    if (tokens_is_mark(w->in, head->body, "{") &&
        tokens_is_kind(w->in, head->body + 1, TOKEN_COMMENT))
        comment = text_of(w, head->body + 1);
    else if (tokens_is_kind(w->in, head->body, TOKEN_COMMENT))
        comment = text_of(w, head->body++);
    else
        return true;
    comment += strlen("/* ");
    end = comment + strcspn(comment, ": ");
    head->label = arena_strndup(w->arena, comment, (size_t)(end - comment));
    if (*end == ':')
        head->comment = arena_printf(w->arena, " /* %s", end + 2);
    return true;
}

/* Behind the statement at i, a loop's body. */
static int behind_statement(const struct writer *w, int i)
{
    while (tokens_is_kind(w->in, i, TOKEN_COMMENT))
        i++;
    if (tokens_is_mark(w->in, i, "{"))
        return tokens_behind(w->in, i);
    if (tokens_is_word(w->in, i, "for if"))
        return behind_statement(w, tokens_behind(w->in, i + 1));
    while (i < w->in->n && !tokens_is_mark(w->in, i, ";"))
        i = tokens_is_mark(w->in, i, "( [ {") ? tokens_behind(w->in, i) : i + 1;
    return i + 1;
}

/* "const float x_k = ..." at i: the index of the name, 0 if it is no declaration. */
static int declared_name(const struct writer *w, int i)
{
    int end = i;

    while (tokens_is_kind(w->in, end, TOKEN_WORD) || tokens_is_mark(w->in, end, "*"))
        end++;
    return end > i + 1 && tokens_is_mark(w->in, end, "=") ? end - 1 : 0;
}

/* Notes the locals of a body in its braces; whether all of them have the loop's index. */
static bool read_locals(struct writer *w, int from, int to, const char *variable)
{
    bool all = true;

    for (int i = from; i < to; i++) {
        const int name = declared_name(w, i);
        const char *local = text_of(w, name), *gap = strchr(local, '_');

        if (name && gap) {
            assert(w->n_locals < MOST_LOCALS);
            w->locals[w->n_locals++] =
                (struct list){ local, arena_printf(w->arena, "%.*s##%s##%s", (int)(gap - local),
                                                   local, variable, gap + 1) };
        } else if (name) {
            all = false;
        }
        while (i < to && !tokens_is_mark(w->in, i, ";"))
            i = tokens_is_mark(w->in, i, "( [ {") ? tokens_behind(w->in, i) : i + 1;
    }
    return all;
}

/* Defines the macro of a list, unless there is just this one. */
static void define(struct writer *w, const char *name, const char *parameters, const char *body,
                   struct tokens *definitions)
{
    struct token token = { .kind = TOKEN_DIRECTIVE, .newlines = 1 };

    for (int i = 0; i < w->n_lists; i++)
        if (strcmp(w->lists[i].name, name) == 0) {
            if (strcmp(w->lists[i].body, body) == 0)
                return;
            token.text = arena_printf(w->arena, "#undef %s", name);
            token.n = (int)strlen(token.text);
            tokens_add(definitions, &token);
            w->lists[i--] = w->lists[--w->n_lists];
        }
    assert(w->n_lists < MOST_LISTS);
    w->lists[w->n_lists++] = (struct list){ name, body };
    token.text = arena_printf(w->arena, "#define %s(%s) %s", name, parameters, body);
    token.n = (int)strlen(token.text);
    tokens_add(definitions, &token);
}

static const char *loop_text(struct writer *w, int i, const struct head *outer,
                             struct tokens *definitions);

/* The statements of a body. */
static const char *body_text(struct writer *w, int from, int to, const struct head *head,
                             struct tokens *definitions)
{
    struct str out = { .arena = w->arena };
    size_t condition = 0; /* what `out` had in front of an if */
    int behind_condition = -1;

    for (int i = from; i < to; i++) {
        struct array *array = array_of(w, i);
        const struct token *token = tokens_at(w->in, i);
        const char *local = NULL;
        struct head inner;

        if (read_head(w, i, &inner)) {
            const char *list = loop_text(w, i, head, definitions);

            if (i == behind_condition && !*list)
                out.n = condition;
            else
                str_printf(&out, i == behind_condition ? " { %s }" : out.n ? " %s" : "%s", list);
            i = behind_statement(w, inner.body) - 1;
            continue;
        }
        if (tokens_is_word(w->in, i, "if")) {
            if (tokens_is_word(w->in, i + 2, head->variable) && is_extent(w, i + 4)) {
                i += 5;
                continue;
            }
            condition = out.n;
            behind_condition = tokens_behind(w->in, i + 1);
        }
        if (out.n && (token->space || token->newlines))
            str_add(&out, " ");
        for (int k = 0; k < w->n_locals; k++)
            if (token->kind == TOKEN_WORD && token_is(token, w->locals[k].name))
                local = w->locals[k].body;
        if (array) {
            const int end = behind_indices(w, i, array->rank);
            const char *zeros = arena_printf(w->arena, "(%s)", array->type);
            const bool declares = !array->declared && tokens_is_mark(w->in, end, "=");

            if (declares)
                add_type(array, &out);
            add_element(w, array, i, &out);
            i = end - 1;
            /* "= (vector_f32){ 0 }" */
            if (declares && tokens_is_mark(w->in, end + 1, "(") &&
                str_starts(tokens_at(w->in, end + 1)->text, zeros) &&
                tokens_is_mark(w->in, tokens_behind(w->in, end + 1), "{")) {
                str_add(&out, " = { 0 }");
                i = tokens_behind(w->in, tokens_behind(w->in, end + 1)) - 1;
            }
        } else if (local) {
            str_add(&out, local);
        } else {
            str_addn(&out, token->text, (size_t)token->n);
        }
    }
    out.text = out.n ? arena_strndup(w->arena, out.text, out.n) : NULL;
    return str_text(&out);
}

/* Whether a loop over vectors is in the text. */
static bool has_vectors(const struct writer *w, int from, int to)
{
    for (int i = from; i < to; i++)
        if (tokens_is_word(w->in, i, "for") && tokens_is_word(w->in, i + 9, "NR"))
            return true;
    return false;
}

/* The list that stands for the loop at i, "EACH_PIXEL(BEGIN_PIXEL)"; "" if it does nothing. Adds the macros. */
static const char *loop_text(struct writer *w, int i, const struct head *outer,
                             struct tokens *definitions)
{
    struct head head;
    const int n_locals = w->n_locals;
    int from, to;
    bool braces = false;
    const char *body, *name, *parameters;

    read_head(w, i, &head);
    from = head.body;
    to = behind_statement(w, from);
    if (!head.label)
        head.label = outer ? outer->label : "EACH";
    if (tokens_is_mark(w->in, from, "{")) {
        from += 1 + tokens_is_kind(w->in, from + 1, TOKEN_COMMENT);
        to--;
        braces = !read_locals(w, from, to, head.variable);
    }
    body = body_text(w, from, to, &head, definitions);
    w->n_locals = n_locals;
    if (!*body)
        return "";
    if (braces)
        body = arena_printf(w->arena, "{ %s }", body);
    name = head.of_pixels && has_vectors(w, from, to)
               ? arena_printf(w->arena, "%s_PIXEL", head.label)
               : head.label;
    parameters = head.of_pixels ? head.variable
                                : arena_printf(w->arena, "%s, %s", outer ? outer->variable : "j",
                                               head.variable);
    define(w, name, parameters, body, definitions);
    return head.of_pixels
               ? arena_printf(w->arena, "%s(%s)%s", w->each_pixel, name,
                              head.comment ? head.comment : "")
               : arena_printf(w->arena, "%s(%s, %s)%s", w->each_vector, name,
                              outer ? outer->variable : "0", head.comment ? head.comment : "");
}

/* --- the function ----------------------------------------------------------------------------- */

/* Puts the definitions in front of the function's statement in hand. */
static void insert(struct writer *w, const struct tokens *definitions)
{
    struct tokens rest = { .arena = w->arena };

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

        token.text = arena_printf(w->arena, "#undef %s", w->lists[i].name);
        token.n = (int)strlen(token.text);
        tokens_add(&w->out, &token);
    }
    w->n_lists = 0;
}

static void copy(struct writer *w, int i, int newlines)
{
    struct token token = *tokens_at(w->in, i);

    if (newlines > token.newlines)
        token.newlines = newlines;
    if (tokens_is_mark(w->in, i, "}")) {
        if (--w->depth == 0)
            undefine(w);
        while (w->n_arrays && w->arrays[w->n_arrays - 1].block > w->depth)
            w->n_arrays--;
    }
    tokens_add(&w->out, &token);
    w->depth += tokens_is_mark(w->in, i, "{");
    w->brackets += tokens_is_mark(w->in, i, "( [") - tokens_is_mark(w->in, i, ") ]");
    if (token.kind != TOKEN_COMMENT)
        w->begins = w->brackets == 0 && tokens_is_mark(w->in, i, "; { }");
    if (w->depth == 1 && w->begins && (token.kind != TOKEN_COMMENT || !token.newlines))
        w->statement = w->out.n;
}

const char *register_loops_to_lists(struct arena *arena, const char *text, const char *each_pixel,
                                    const char *each_vector)
{
    const struct tokens in = tokens_of(arena, text);
    struct writer w = { .arena = arena,
                        .in = &in,
                        .out = { .arena = arena },
                        .each_pixel = each_pixel,
                        .each_vector = each_vector };
    int newlines = 0; /* in front of what went */

    for (int i = 0, end; i < in.n; i = end) {
        struct tokens definitions = { .arena = arena };
        struct array *array = array_of(&w, i);
        const struct token *token = &in.items[i];
        const bool begins = w.depth && w.begins && token->kind != TOKEN_COMMENT;
        struct token first = *token;
        struct head head;

        first.newlines = newlines > token->newlines ? newlines : token->newlines;
        end = begins ? read_arrays(&w, i) : i;
        if (end > i) {
            newlines = first.newlines;
            if (tokens_is_mark(&in, i - 1, "{"))
                newlines = 1;
            continue;
        }
        if (read_head(&w, i, &head)) {
            const char *list = loop_text(&w, i, NULL, &definitions);

            end = behind_statement(&w, head.body);
            if (*list)
                add_word(&w, &first, list);
            insert(&w, &definitions);
            newlines = *list ? 0 : first.newlines;
            if (w.depth == 1)
                w.statement = w.out.n;
            continue;
        }
        end = i + 1;
        if (array) {
            struct str name = { .arena = arena };

            add_element(&w, array, i, &name);
            add_word(&w, &first, str_text(&name));
            end = behind_indices(&w, i, array->rank);
        } else {
            copy(&w, i, newlines);
        }
        newlines = 0;
    }
    return tokens_text(&w.out);
}
