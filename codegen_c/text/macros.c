/* macros.c - see macros.h.
 *
 * method   the substitution of C11 6.10.3, without # and variadic macros: arguments are expanded, put in place, pasted,
 *          and the result is expanded again without the macro's own name */
#include "codegen_c/text/macros.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "codegen_c/text/tokens.h"

enum { MOST_PARAMETERS = 16, MOST_DEPTH = 16 };

struct macro {
    struct tokens body;
    const char *parameters[MOST_PARAMETERS];
    int n; /* parameters; -1: no call */
    bool busy;
};

struct writer_out {
    struct arena *arena;
    struct map macros; /* by name; NULL = undefined again */
    struct map kept;   /* names of macros that stay as they are */
    int newlines;      /* in front of definitions that went, since the last token */
    bool keeps_pastes; /* ## is for the macros that the text becomes a part of */
};

static const char *text_of(struct arena *arena, const struct token *token)
{
    return arena_strndup(arena, token->text, (size_t)token->n);
}

static bool is_mark(const struct token *token, const char *mark)
{
    return token->kind == TOKEN_MARK && token_is(token, mark);
}

/* --- what stays ------------------------------------------------------------------------------- */

static void keep_words(struct writer_out *w, const char *text, struct map *names)
{
    const struct tokens words = tokens_of(w->arena, text);

    for (int i = 0; i < words.n; i++)
        if (words.items[i].kind == TOKEN_WORD)
            map_set(names, text_of(w->arena, &words.items[i]), w);
}

/* Names of directives that are conditions, or under one. */
static void find_kept(struct writer_out *w, const struct tokens *tokens)
{
    int depth = 0;

    for (int i = 0; i < tokens->n; i++) {
        const char *rest, *word = directive_word(w->arena, &tokens->items[i], &rest);

        if (str_starts(word, "if"))
            depth++;
        if (*word && (depth || strcmp(word, "pragma") == 0))
            keep_words(w, rest, &w->kept);
        if (strcmp(word, "endif") == 0)
            depth--;
    }
}

static const char *name_of(struct arena *arena, const char *rest)
{
    size_t n = 0;

    while (rest[n] == '_' || isalnum((unsigned char)rest[n]))
        n++;
    return arena_strndup(arena, rest, n);
}

/* --- definitions ------------------------------------------------------------------------------ */

/* "(a, b)" behind the name: the parameters; *text goes behind them. False: too many, or unusual ones. */
static bool read_parameters(struct arena *arena, struct macro *macro, const char **text)
{
    const char *end = strchr(*text, ')');
    const struct tokens tokens =
        tokens_of(arena, arena_strndup(arena, *text + 1, end ? (size_t)(end - *text - 1) : 0));

    for (int i = 0; i < tokens.n; i++) {
        if (is_mark(&tokens.items[i], ","))
            continue;
        if (tokens.items[i].kind != TOKEN_WORD || macro->n == MOST_PARAMETERS)
            return false;
        macro->parameters[macro->n++] = text_of(arena, &tokens.items[i]);
    }
    *text = end ? end + 1 : *text;
    return end != NULL;
}

/* The body without the line ends that continue it. */
static struct tokens body_of(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);

    for (char *at = copy; *at; at++)
        if (*at == '\\' && at[1] == '\n')
            at[0] = at[1] = ' ';
    return tokens_of(arena, copy);
}

/* NULL: it stays. */
static struct macro *read_macro(struct writer_out *w, const char *name, const char *rest)
{
    struct macro *macro = arena_new(w->arena, struct macro);
    const char *text = rest + strlen(name);

    if (map_get(&w->kept, name))
        return NULL;
    *macro = (struct macro){ .n = *text == '(' ? 0 : -1 };
    if (macro->n == 0 && !read_parameters(w->arena, macro, &text))
        return NULL;
    macro->body = body_of(w->arena, text);
    for (int i = 0; i < macro->body.n; i++)
        if (is_mark(&macro->body.items[i], "#") || macro->body.items[i].kind == TOKEN_DIRECTIVE)
            return NULL;
    return macro;
}

/* Adds what the definitions that stay are made of. False: nothing was added. */
static bool find_kept_by_kept(struct writer_out *w, const struct tokens *tokens)
{
    const size_t before = w->kept.n;

    for (int i = 0; i < tokens->n; i++) {
        const char *rest, *word = directive_word(w->arena, &tokens->items[i], &rest);
        const char *name = name_of(w->arena, rest);

        if (strcmp(word, "define") == 0 && !read_macro(w, name, rest))
            keep_words(w, rest, &w->kept);
    }
    return w->kept.n > before;
}

static bool is_number(const struct macro *macro)
{
    return macro->n < 0 && macro->body.n == 1 &&
           isdigit((unsigned char)macro->body.items[0].text[0]);
}

/* Whether an enumerator can be so: a whole number that fits an int. */
static bool is_int(const struct token *number)
{
    char *end;
    const unsigned long long value = strtoull(number->text, &end, 0);

    return end == number->text + number->n && value <= INT_MAX;
}

/* --- substitution ----------------------------------------------------------------------------- */

static void expand(struct writer_out *w, const struct token *items, int n, int depth,
                   struct tokens *out);

static int parameter_of(const struct macro *macro, const struct token *token)
{
    for (int i = 0; i < macro->n; i++)
        if (token->kind == TOKEN_WORD && token_is(token, macro->parameters[i]))
            return i;
    return -1;
}

static void add_all(struct tokens *to, const struct tokens *from, bool space)
{
    for (int i = 0; i < from->n; i++) {
        struct token token = from->items[i];

        token.space = i ? token.space || token.newlines : space;
        token.newlines = 0;
        tokens_add(to, &token);
    }
}

static void paste(struct tokens *to, const struct tokens *right)
{
    struct token *left = to->n ? &to->items[to->n - 1] : NULL;

    for (int i = 0; i < right->n; i++) {
        if (i == 0 && left) {
            left->text = arena_printf(to->arena, "%.*s%.*s", left->n, left->text, right->items[0].n,
                                      right->items[0].text);
            left->n = (int)strlen(left->text);
        } else {
            tokens_add(to, &right->items[i]);
        }
    }
}

/* The body with its arguments. */
static struct tokens substitute(struct writer_out *w, const struct macro *macro,
                                const struct tokens *arguments, int depth)
{
    struct tokens out = { .arena = w->arena };

    for (int i = 0; i < macro->body.n; i++) {
        const struct token *token = &macro->body.items[i];
        const bool pastes = !w->keeps_pastes && i > 0 && is_mark(token - 1, "##");
        const bool pasted = !w->keeps_pastes && i + 1 < macro->body.n && is_mark(token + 1, "##");
        const int p = parameter_of(macro, token);
        struct tokens piece = { .arena = w->arena };

        if (is_mark(token, "##") && !w->keeps_pastes)
            continue;
        if (p >= 0 && !pastes && !pasted)
            expand(w, arguments[p].items, arguments[p].n, depth, &piece);
        else if (p >= 0)
            add_all(&piece, &arguments[p], false);
        else
            tokens_add(&piece, token);
        if (pastes)
            paste(&out, &piece);
        else
            add_all(&out, &piece, token->space || token->newlines);
    }
    return out;
}

/* Reads the arguments of a call whose bracket is items[i]; returns the index behind it, 0 = no call of this macro. */
static int read_arguments(struct arena *arena, const struct token *items, int n, int i,
                          const struct macro *macro, struct tokens *arguments)
{
    int depth = 0, at = 0;

    for (int k = 0; k < MOST_PARAMETERS; k++)
        arguments[k] = (struct tokens){ .arena = arena };
    for (; i < n; i++) {
        const bool opens = items[i].kind == TOKEN_MARK && token_is_any(&items[i], "( [ {");
        const bool closes = items[i].kind == TOKEN_MARK && token_is_any(&items[i], ") ] }");

        if (closes && --depth == 0)
            return at + 1 == macro->n || (macro->n == 0 && arguments[0].n == 0) ? i + 1 : 0;
        if (depth == 1 && is_mark(&items[i], ","))
            at++;
        else if (depth && at < MOST_PARAMETERS)
            tokens_add(&arguments[at], &items[i]);
        if (at >= MOST_PARAMETERS)
            return 0;
        if (opens)
            depth++;
    }
    return 0;
}

/* A macro may become the name of another one, whose arguments stand behind: expands the call that the end of `whole`
 * begins; returns the index behind it in items, `next` if there is none. */
static int expand_end(struct writer_out *w, const struct token *items, int n, int next, int depth,
                      struct tokens *whole)
{
    struct tokens arguments[MOST_PARAMETERS], call = { .arena = w->arena };
    struct token *last = whole->n ? &whole->items[whole->n - 1] : NULL;
    const struct macro *macro =
        last && last->kind == TOKEN_WORD && next < n && is_mark(&items[next], "(")
            ? map_get(&w->macros, text_of(w->arena, last))
            : NULL;
    const int end = macro && macro->n >= 0 && !macro->busy
                        ? read_arguments(w->arena, items, n, next, macro, arguments)
                        : 0;

    if (end == 0)
        return next;
    tokens_add(&call, last);
    for (int i = next; i < end; i++)
        tokens_add(&call, &items[i]);
    whole->n--;
    expand(w, call.items, call.n, depth + 1, whole);
    return end;
}

static void expand(struct writer_out *w, const struct token *items, int n, int depth,
                   struct tokens *out)
{
    for (int i = 0, next; i < n; i = next) {
        struct tokens arguments[MOST_PARAMETERS], body, whole = { .arena = w->arena };
        struct macro *macro = items[i].kind == TOKEN_WORD && depth < MOST_DEPTH
                                  ? map_get(&w->macros, text_of(w->arena, &items[i]))
                                  : NULL;

        next = i + 1;
        if (macro && macro->n >= 0)
            next = i + 1 < n && is_mark(&items[i + 1], "(")
                       ? read_arguments(w->arena, items, n, i + 1, macro, arguments)
                       : 0;
        if (!macro || macro->busy || next == 0) {
            tokens_add(out, &items[i]);
            next = i + 1;
            continue;
        }
        body = substitute(w, macro, arguments, depth + 1);
        macro->busy = true;
        expand(w, body.items, body.n, depth + 1, &whole);
        macro->busy = false;
        next = expand_end(w, items, n, next, depth, &whole);
        for (int k = 0; k < whole.n; k++) {
            if (k == 0) {
                whole.items[0].newlines = items[i].newlines;
                whole.items[0].column = items[i].column;
                whole.items[0].space = items[i].space;
            }
            tokens_add(out, &whole.items[k]);
        }
    }
}

/* --- texts ------------------------------------------------------------------------------------ */

static bool is_section(const struct token *token)
{
    return token->kind == TOKEN_COMMENT && str_starts(token->text, "/* --- from ");
}

/* Drops comments at the end of `out` that say what is no longer there, and the head of an empty section. */
static void drop_comments(struct tokens *out, bool of_definition)
{
    if (of_definition && out->n && out->items[out->n - 1].kind == TOKEN_COMMENT &&
        !is_section(&out->items[out->n - 1]))
        out->n--;
    if (!of_definition && out->n && is_section(&out->items[out->n - 1]))
        out->n--;
}

/* A blank line in front of definitions that go is one in front of what follows. */
static void note_newlines(struct writer_out *w, const struct token *token)
{
    if (token->newlines > w->newlines)
        w->newlines = token->newlines;
}

static void define(struct writer_out *w, const struct token *directive, const char *rest,
                   struct tokens *out)
{
    const char *name = name_of(w->arena, rest);
    struct macro *macro = read_macro(w, name, rest);

    /* A factor of 1 goes (precedence.h). */
    if (macro && (!is_number(macro) || token_is(&macro->body.items[0], "1"))) {
        map_set(&w->macros, name, macro);
        if (directive->newlines == 1)
            drop_comments(out, true);
        note_newlines(w, directive);
        return;
    }
    tokens_add(out, directive);
    if (macro && is_int(&macro->body.items[0])) {
        struct token *token = &out->items[out->n - 1];

        token->kind = TOKEN_WORD;
        token->text = arena_printf(w->arena, "enum { %s = %.*s };", name, macro->body.items[0].n,
                                   macro->body.items[0].text);
        token->n = (int)strlen(token->text);
    }
}

static void undefine(struct writer_out *w, const struct token *directive, const char *rest,
                     struct tokens *out)
{
    const char *name = name_of(w->arena, rest);

    if (map_get(&w->kept, name))
        tokens_add(out, directive);
    else
        note_newlines(w, directive);
    map_set(&w->macros, name, NULL);
}

/* Behind the tokens from i on that are neither comments nor directives. */
static int expandable_end(const struct tokens *tokens, int i)
{
    while (i < tokens->n && tokens->items[i].kind != TOKEN_DIRECTIVE &&
           tokens->items[i].kind != TOKEN_COMMENT)
        i++;
    return i;
}

static const char *write_out(struct writer_out *w, const struct tokens *tokens)
{
    struct tokens out = { .arena = w->arena };

    for (int i = 0, end; i < tokens->n; i = end) {
        const struct token *token = &tokens->items[i];
        const char *rest, *word = directive_word(w->arena, token, &rest);
        const int before = out.n;

        end = i + 1;
        if (strcmp(word, "define") == 0) {
            define(w, token, rest, &out);
        } else if (strcmp(word, "undef") == 0) {
            undefine(w, token, rest, &out);
        } else if (*word || token->kind == TOKEN_COMMENT) {
            if (is_section(token))
                drop_comments(&out, false);
            tokens_add(&out, token);
        } else {
            end = expandable_end(tokens, i);
            expand(w, token, end - i, 0, &out);
        }
        if (out.n > before) {
            note_newlines(w, &out.items[before]);
            out.items[before].newlines = w->newlines;
            w->newlines = 0;
        }
    }
    w->newlines = 0;
    return tokens_text(&out);
}

const char *macros_fill(struct arena *arena, const char *definitions, const char *text)
{
    struct writer_out w = { .arena = arena,
                            .macros = { .arena = arena },
                            .kept = { .arena = arena },
                            .keeps_pastes = true };
    const struct tokens lines = tokens_of(arena, definitions), tokens = tokens_of(arena, text);
    struct tokens out = { .arena = arena };

    for (int i = 0; i < lines.n; i++) {
        const char *rest;

        directive_word(arena, &lines.items[i], &rest);
        map_set(&w.macros, name_of(arena, rest), read_macro(&w, name_of(arena, rest), rest));
    }
    for (int i = 0, end; i < tokens.n; i = end) {
        const int before = out.n;

        end = expandable_end(&tokens, i);
        if (end == i)
            tokens_add(&out, &tokens.items[end++]);
        else
            expand(&w, &tokens.items[i], end - i, 0, &out);
        if (out.n > before)
            out.items[before].newlines = tokens.items[i].newlines;
    }
    return tokens_text(&out);
}

void macros_write_out(struct arena *arena, const char **texts, int n)
{
    struct writer_out w = { .arena = arena,
                            .macros = { .arena = arena },
                            .kept = { .arena = arena } };
    struct tokens *tokens = arena_array(arena, struct tokens, n);

    for (int i = 0; i < n; i++) {
        tokens[i] = tokens_of(arena, texts[i]);
        find_kept(&w, &tokens[i]);
    }
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < n; i++)
            more = find_kept_by_kept(&w, &tokens[i]) || more;
    }
    for (int i = 0; i < n; i++) {
        const bool goes_on = str_ends(texts[i], "\n\n");

        texts[i] = write_out(&w, &tokens[i]);
        if (goes_on)
            texts[i] = arena_printf(arena, "%s\n", texts[i]);
    }
}
