#include "codegen_c/text/linkage.h"

#include "codegen_c/text/tokens.h"

/* An item of file scope: a function's head ends at `body`, its text at `end`. */
struct item {
    int start, body, end; /* body = end: no function */
    int name;             /* token of a function's name */
    bool is_static, is_inline, loops;
};

static struct item item_at(const struct tokens *tokens, int start)
{
    struct item item = { .start = start, .name = start };
    int i = start;

    while (i < tokens->n && !tokens_is_mark(tokens, i, "; {")) {
        item.is_static = item.is_static || tokens_is_word(tokens, i, "static");
        item.is_inline = item.is_inline || tokens_is_word(tokens, i, "inline");
        if (!tokens_is_mark(tokens, i, "(")) {
            i++;
            continue;
        }
        if (!tokens_is_word(tokens, i - 1, "__attribute__"))
            item.name = i - 1;
        i = tokens_behind(tokens, i);
    }
    item.body = i;
    if (!tokens_is_mark(tokens, i, "{") || !tokens_is_mark(tokens, i - 1, ")")) {
        while (i < tokens->n && !tokens_is_mark(tokens, i, ";"))
            i = tokens_is_mark(tokens, i, "{") ? tokens_behind(tokens, i) : i + 1;
        item.body = item.end = i < tokens->n ? i + 1 : i;
        return item;
    }
    item.end = tokens_behind(tokens, i);
    for (; i < item.end; i++)
        item.loops = item.loops || tokens_is_word(tokens, i, "for while do");
    return item;
}

static bool stands_apart(const struct tokens *tokens, int i)
{
    return tokens_is_kind(tokens, i, TOKEN_COMMENT) || tokens_is_kind(tokens, i, TOKEN_DIRECTIVE);
}

static void add_token(struct str *out, const struct token *token)
{
    if (token->newlines && out->n)
        str_printf(out, "%s%*s", token->newlines > 1 ? "\n\n" : "\n", token->column, "");
    else if (token->space && out->n)
        str_add(out, " ");
    str_addn(out, token->text, (size_t)token->n);
}

/* Without the word `static`; what follows it stands in its place. */
static void add_tokens(struct str *out, const struct tokens *tokens, int from, int to)
{
    for (int i = from; i < to; i++) {
        struct token token = *tokens_at(tokens, i);

        if (tokens_is_word(tokens, i, "static"))
            continue;
        if (i > from && tokens_is_word(tokens, i - 1, "static")) {
            token.newlines = tokens_at(tokens, i - 1)->newlines;
            token.column = tokens_at(tokens, i - 1)->column;
        }
        add_token(out, &token);
    }
}

/* "#if": whether a function is there, and which of several. */
static bool is_condition(struct arena *arena, const struct token *token)
{
    const char *rest;

    return str_starts(directive_word(arena, token, &rest), "if") ||
           str_starts(directive_word(arena, token, &rest), "el") ||
           str_starts(directive_word(arena, token, &rest), "endif");
}

static bool can_split(struct arena *arena, const struct tokens *tokens)
{
    int n = 0;

    for (int i = 0; i < tokens->n;) {
        const struct item item = item_at(tokens, i);

        if (tokens_is_kind(tokens, i, TOKEN_DIRECTIVE) &&
            !is_condition(arena, tokens_at(tokens, i)))
            return false;
        if (stands_apart(tokens, i)) {
            i++;
            continue;
        }
        if (item.body == item.end || !item.is_static || item.is_inline || !item.loops)
            return false;
        i = item.end;
        n++;
    }
    return n > 0;
}

bool linkage_split(struct arena *arena, const char *text, struct str *definitions,
                   struct str *declarations, struct map *names)
{
    const struct tokens tokens = tokens_of(arena, text);
    struct str heads = { .arena = arena };

    if (!can_split(arena, &tokens))
        return false;
    for (int i = 0; i < tokens.n;) {
        const struct item item = item_at(&tokens, i);

        if (tokens_is_kind(&tokens, i, TOKEN_COMMENT)) {
            i++;
        } else if (tokens_is_kind(&tokens, i, TOKEN_DIRECTIVE)) {
            str_printf(&heads, "%.*s\n", tokens.items[i].n, tokens.items[i].text);
            i++;
        } else {
            struct str head = { .arena = arena };

            add_tokens(&head, &tokens, item.start, item.body);
            str_printf(&heads, "%s;\n", str_text(&head));
            map_set(names,
                    arena_strndup(arena, tokens.items[item.name].text,
                                  (size_t)tokens.items[item.name].n),
                    names);
            i = item.end;
        }
    }
    str_printf(declarations, "%s\n", str_text(&heads));
    add_tokens(definitions, &tokens, 0, tokens.n);
    str_add(definitions, "\n\n");
    return true;
}

const char *linkage_mark(struct arena *arena, const char *text, const char *word)
{
    const struct tokens tokens = tokens_of(arena, text);
    struct str out = { .arena = arena };
    int end = 0; /* of the function to be marked */

    for (int i = 0; i < tokens.n; i++) {
        if (i >= end && !stands_apart(&tokens, i)) {
            const struct item item = item_at(&tokens, i);

            end = item.end;
            if (item.body < item.end && item.is_static && !item.is_inline) {
                for (; !tokens_is_word(&tokens, i, "static"); i++)
                    add_token(&out, &tokens.items[i]);
                add_token(&out, &tokens.items[i]);
                str_printf(&out, " %s", word);
                continue;
            }
        }
        add_token(&out, &tokens.items[i]);
    }
    str_add(&out, "\n\n");
    return str_text(&out);
}

const char *linkage_rename(struct arena *arena, const char *text, const struct map *words,
                           const char *prefix)
{
    const struct tokens tokens = tokens_of(arena, text);
    const char *copied = text;
    struct str out = { .arena = arena };

    for (int i = 0; i < tokens.n; i++) {
        const struct token *token = &tokens.items[i];
        const char *whole = arena_strndup(arena, token->text, (size_t)token->n);
        const bool is_directive = token->kind == TOKEN_DIRECTIVE;

        if (!is_directive && (token->kind != TOKEN_WORD || !map_get(words, whole)))
            continue;
        str_addn(&out, copied, (size_t)(token->text - copied));
        copied = token->text;
        if (is_directive) { /* the body of a macro */
            str_printf(&out, "#%s", linkage_rename(arena, whole + 1, words, prefix));
            copied += token->n;
        } else {
            str_add(&out, prefix);
        }
    }
    str_add(&out, copied);
    return str_text(&out);
}
