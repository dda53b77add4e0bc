/* layout.c - see layout.h.
 *
 * method   a recursive descent over statements: what begins with a keyword of control gets braces, what is a declaration
 *          of several names becomes several; all else goes to layout_lines.c as it is. Where directives cut a
 *          statement, the text is left alone */
#include "codegen_c/text/layout.h"

#include <string.h>

#include "codegen_c/text/declaration.h"
#include "codegen_c/text/for_steps.h"
#include "codegen_c/text/layout_lines.h"
#include "codegen_c/text/precedence.h"

enum { STEP = 4, MOST_DEPTH = 200 };

struct layout {
    struct tokens tokens;
    int at;
    struct str out;
    int depth; /* of braces around */
    size_t begin; /* of the last statement in `out`: a comment that does not fit behind it goes there */
    bool fresh; /* nothing stands in the block yet */
    bool failed;
};

static const struct token *token_at(const struct layout *l, int i)
{
    return tokens_at(&l->tokens, i);
}

static bool is_mark(const struct layout *l, int i, const char *mark)
{
    return tokens_is_mark(&l->tokens, i, mark);
}

static bool is_word(const struct layout *l, int i, const char *words)
{
    return tokens_is_word(&l->tokens, i, words);
}

static bool is_kind(const struct layout *l, int i, enum token_kind kind)
{
    return tokens_is_kind(&l->tokens, i, kind);
}

static bool is_control(const struct layout *l, int i)
{
    return is_word(l, i, "if for while switch do else");
}

static int indent_of(const struct layout *l)
{
    return l->depth * STEP;
}

static int behind_bracket(const struct layout *l, int i)
{
    return tokens_behind(&l->tokens, i);
}

static void print_item(struct layout *l);

/* --- lines ------------------------------------------------------------------------------------ */

static void add_blank_line(struct layout *l)
{
    if (token_at(l, l->at)->newlines > 1 && !l->fresh)
        str_add(&l->out, "\n");
    l->fresh = false;
}

/* Comments that stand behind the statement in its line stay there if they fit, else they go in front of it. */
static void add_trailing_comments(struct layout *l)
{
    while (is_kind(l, l->at, TOKEN_COMMENT) && token_at(l, l->at)->newlines == 0) {
        const struct token *comment = token_at(l, l->at++);
        const char *begin = l->out.text + l->begin, *line = begin;

        for (const char *at = begin; *at; at++)
            if (*at == '\n' && at[1])
                line = at + 1;
        if (strlen(line) + (size_t)comment->n <= LAYOUT_COLUMNS &&
            !memchr(comment->text, '\n', (size_t)comment->n)) {
            l->out.text[--l->out.n] = '\0';
            str_printf(&l->out, " %.*s\n", comment->n, comment->text);
        } else {
            const char *statement = arena_strdup(l->out.arena, begin);
            struct token alone = *comment;

            alone.column = indent_of(l);
            l->out.n = l->begin;
            l->out.text[l->out.n] = '\0';
            lines_add_comment(&l->out, &alone, indent_of(l));
            l->begin = l->out.n;
            str_add(&l->out, statement);
        }
    }
}

/* Tokens [at, to) as lines, and `end` behind them. */
static void add_tokens(struct layout *l, int to, const char *before, const char *end)
{
    l->begin = l->out.n;
    lines_add(&l->out, &l->tokens, l->at, to, indent_of(l), before, (int)strcspn(end, "\n"));
    str_add(&l->out, end);
    l->at = to;
}

static void print_line(struct layout *l)
{
    const struct token *token = token_at(l, l->at++);

    l->begin = l->out.n;
    if (token->kind == TOKEN_COMMENT)
        lines_add_comment(&l->out, token, indent_of(l));
    else
        lines_add_directive(&l->out, token);
}

static void add_close(struct layout *l)
{
    l->begin = l->out.n;
    str_printf(&l->out, "%*s}\n", indent_of(l), "");
}

/* --- statements ------------------------------------------------------------------------------- */

/* Whether the brace at i begins a body: that of a function, or the members of a struct or union. */
static bool is_body(const struct layout *l, int from, int i)
{
    bool assigns = false;

    for (int k = from; k < i; k++)
        assigns = assigns || is_mark(l, k, "=") || is_word(l, k, "return enum");
    if (assigns)
        return false;
    return (l->depth == 0 && is_mark(l, i - 1, ")")) || is_word(l, i - 1, "struct union") ||
           (is_kind(l, i - 1, TOKEN_WORD) && is_word(l, i - 2, "struct union"));
}

/* Whether a directive follows, comments aside. */
static bool directive_follows(const struct layout *l, int i)
{
    while (is_kind(l, i, TOKEN_COMMENT))
        i++;
    return is_kind(l, i, TOKEN_DIRECTIVE);
}

/* Whether a call of a macro that needs no semicolon ends in front of i, and begins at `from`; also attributes that stand
 * between directives. */
static bool ends_macro(const struct layout *l, int from, int i)
{
    if (!is_kind(l, from, TOKEN_WORD) || !is_mark(l, from + 1, "(") ||
        behind_bracket(l, from + 1) != i || is_word(l, from, "return") ||
        (is_word(l, from, "__attribute__ _Alignas sizeof") && !directive_follows(l, i)))
        return false;
    return token_at(l, i)->kind != TOKEN_MARK || i == l->tokens.n || is_mark(l, i, "}") ||
           is_mark(l, i, "{") || (is_mark(l, i, "*") && token_at(l, i)->newlines);
}

/* Behind the statement that begins here, or at the brace of its body. */
static int statement_end(struct layout *l)
{
    int i = l->at;

    while (i < l->tokens.n) {
        if (is_mark(l, i, ";"))
            return i + 1;
        if (is_mark(l, i, "}") || (is_mark(l, i, "{") && is_body(l, l->at, i)))
            return i;
        if (is_kind(l, i, TOKEN_DIRECTIVE)) {
            l->failed = true;
            return i;
        }
        i = is_mark(l, i, "(") || is_mark(l, i, "[") || is_mark(l, i, "{") ? behind_bracket(l, i)
                                                                           : i + 1;
        if (ends_macro(l, l->at, i))
            return i;
    }
    return i;
}

/* The items up to the closing brace, which is not printed. */
static void print_items(struct layout *l)
{
    l->depth++;
    l->fresh = true;
    while (!l->failed && l->at < l->tokens.n && !is_mark(l, l->at, "}"))
        print_item(l);
    l->depth--;
    l->failed = l->failed || l->at >= l->tokens.n;
    l->fresh = false;
    l->at++;
}

/* The body of a function or struct at a brace, and what stands behind its end. */
static void print_body(struct layout *l, bool of_function)
{
    str_add(&l->out, of_function ? "\n{\n" : " {\n");
    l->at++;
    l->begin = l->out.n;
    print_items(l);
    if (of_function) {
        str_add(&l->out, "}\n");
    } else {
        const int end = statement_end(l);

        add_tokens(l, end, is_mark(l, l->at, ";") ? "}" : "} ", "\n");
    }
}

static void print_declarations(struct layout *l, int end)
{
    struct declaration declaration;

    if (!declaration_of_several(&l->tokens, l->at, end, &declaration)) {
        add_tokens(l, end, "", "\n");
        return;
    }
    for (int i = 0; i < declaration.n; i++) {
        const struct declarator *declarator = &declaration.declarators[i];

        l->at = declarator->from;
        add_tokens(l, declarator->to, i ? declaration.type : "", ";\n");
        if (i + 1 < declaration.n) {
            l->at++; /* the comma */
            add_trailing_comments(l);
            while (is_kind(l, l->at, TOKEN_COMMENT))
                print_line(l);
        }
    }
    l->at = end;
}

static void print_statement(struct layout *l)
{
    const int end = statement_end(l);

    if (l->failed)
        return;
    if (is_mark(l, end, "{") && is_body(l, l->at, end)) {
        const bool of_function = is_mark(l, end - 1, ")");

        add_tokens(l, end, "", "");
        print_body(l, of_function);
    } else {
        print_declarations(l, end);
    }
    add_trailing_comments(l);
}

/* A body without braces gets them; lines in front of it belong to it. */
static void print_single(struct layout *l)
{
    l->depth++;
    l->fresh = true;
    while (is_kind(l, l->at, TOKEN_COMMENT) && !l->failed)
        print_item(l);
    l->failed = l->failed || is_kind(l, l->at, TOKEN_DIRECTIVE) || l->at >= l->tokens.n;
    if (is_mark(l, l->at, ";"))
        l->at++;
    else if (!l->failed)
        print_item(l);
    add_trailing_comments(l);
    l->depth--;
}

/* Comments in front of an else belong to the block before it. */
static bool else_follows(const struct layout *l)
{
    int i = l->at;

    while (is_kind(l, i, TOKEN_COMMENT))
        i++;
    return is_word(l, i, "else");
}

/* The other steps, as the last statements of the body. */
static void print_steps(struct layout *l, int from, int to)
{
    const int at = l->at;

    l->depth++;
    for (int end; from < to; from = end) {
        l->at = ++from; /* behind the comma */
        end = step_end(&l->tokens, from, to);
        add_tokens(l, end, "", ";\n");
    }
    l->depth--;
    l->at = at;
}

/* A statement with a body: its head, tokens up to `head`, is printed here. */
static void print_controlled(struct layout *l, int head, const char *before)
{
    const bool is_do = is_word(l, l->at, "do");
    const bool is_if =
        is_word(l, l->at, "if") || (is_word(l, l->at, "else") && is_word(l, l->at + 1, "if"));

    const int step = is_word(l, l->at, "for") ? first_step_end(&l->tokens, l->at, head) : head - 1;
    const bool cut = step < head - 1;

    add_tokens(l, cut ? step : head, before, cut ? ") {\n" : " {\n");
    l->at = head;
    add_trailing_comments(l);
    if (is_mark(l, l->at, "{")) {
        l->at++;
        add_trailing_comments(l);
        print_items(l);
    } else {
        print_single(l);
    }
    if (cut)
        print_steps(l, step, head - 1);
    if (l->failed)
        return;
    if (is_if && else_follows(l)) {
        l->depth++;
        while (is_kind(l, l->at, TOKEN_COMMENT))
            print_item(l);
        l->depth--;
        head = is_word(l, l->at + 1, "if") ? behind_bracket(l, l->at + 2) : l->at + 1;
        print_controlled(l, head, "} ");
        return;
    }
    if (is_do) {
        const int end = statement_end(l);

        add_tokens(l, end, "} ", "\n");
    } else {
        add_close(l);
    }
    add_trailing_comments(l);
}

/* "KEEP_LOOP for (...)": what stands in front of the keyword stays there. */
static void print_control(struct layout *l, int keyword)
{
    int head = keyword + 1;

    if (is_word(l, keyword, "else") && is_word(l, head, "if"))
        head++;
    if (!is_word(l, keyword, "do else") || is_word(l, head - 1, "if"))
        head = behind_bracket(l, head);
    print_controlled(l, head, "");
}

static void print_label(struct layout *l, int end)
{
    l->depth--;
    add_tokens(l, end, "", "\n");
    l->depth++;
    add_trailing_comments(l);
}

/* Behind the colon of the label that begins here; the start itself if there is none. */
static int label_end(const struct layout *l)
{
    int i = l->at;

    if (is_word(l, i, "case default")) {
        while (i < l->tokens.n && !is_mark(l, i, ":"))
            i++;
        return i + 1;
    }
    return is_kind(l, i, TOKEN_WORD) && is_mark(l, i + 1, ":") && l->depth ? i + 2 : i;
}

static void print_item(struct layout *l)
{
    l->failed = l->failed || l->depth > MOST_DEPTH;
    if (l->failed)
        return;
    add_blank_line(l);
    if (is_kind(l, l->at, TOKEN_DIRECTIVE) || is_kind(l, l->at, TOKEN_COMMENT)) {
        print_line(l);
    } else if (label_end(l) > l->at) {
        print_label(l, label_end(l));
    } else if (is_control(l, l->at)) {
        print_control(l, l->at);
    } else if (is_kind(l, l->at, TOKEN_WORD) && is_control(l, l->at + 1)) {
        print_control(l, l->at + 1);
    } else if (is_mark(l, l->at, "{")) {
        l->begin = l->out.n;
        str_printf(&l->out, "%*s{\n", indent_of(l), "");
        l->at++;
        add_trailing_comments(l);
        print_items(l);
        add_close(l);
        add_trailing_comments(l);
    } else {
        print_statement(l);
    }
}

const char *layout(struct arena *arena, const char *text)
{
    struct layout l = { .tokens = tokens_of(arena, text), .out = { .arena = arena } };

    precedence_show(&l.tokens);
    l.fresh = true;
    while (!l.failed && l.at < l.tokens.n) {
        l.failed = is_mark(&l, l.at, "}");
        print_item(&l);
    }
    if (str_ends(text, "\n\n")) /* another part follows */
        str_add(&l.out, "\n");
    return l.failed ? text : str_text(&l.out);
}
