#include "codegen_c/text/tokens.h"

#include <ctype.h>
#include <string.h>

bool token_is(const struct token *token, const char *text)
{
    return strlen(text) == (size_t)token->n && memcmp(token->text, text, (size_t)token->n) == 0;
}

bool token_is_any(const struct token *token, const char *words)
{
    for (size_t n; *words; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        if (n == (size_t)token->n && memcmp(token->text, words, n) == 0)
            return true;
    }
    return false;
}

void tokens_add(struct tokens *tokens, const struct token *token)
{
    if (tokens->n == tokens->capacity) {
        const int capacity = tokens->capacity ? tokens->capacity * 2 : 256;
        struct token *items = arena_array(tokens->arena, struct token, capacity);

        if (tokens->n)
            memcpy(items, tokens->items, (size_t)tokens->n * sizeof *items);
        tokens->items = items;
        tokens->capacity = capacity;
    }
    tokens->items[tokens->n++] = *token;
}

static bool is_word(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

/* A number may have a point, and a sign in its exponent. */
static int word_length(const char *text)
{
    const bool number = isdigit((unsigned char)*text) || *text == '.';
    const bool hex = number && (text[1] == 'x' || text[1] == 'X');
    int n = 0;

    while (is_word(text[n]) || (number && text[n] == '.') ||
           (number && n > 0 && (text[n] == '+' || text[n] == '-') &&
            strchr(hex ? "pP" : "eE", text[n - 1])))
        n++;
    return n;
}

static int string_length(const char *text)
{
    int n = 1;

    while (text[n] && text[n] != *text)
        n += text[n] == '\\' && text[n + 1] ? 2 : 1;
    return text[n] ? n + 1 : n;
}

static int comment_length(const char *text)
{
    const char *end;

    if (text[1] == '/')
        return (int)strcspn(text, "\n");
    end = strstr(text + 2, "*/");
    return end ? (int)(end + 2 - text) : (int)strlen(text);
}

static int directive_length(const char *text)
{
    int n = 0;

    while (text[n] && text[n] != '\n')
        n += text[n] == '\\' && text[n + 1] ? 2 : 1;
    return n;
}

static int mark_length(const char *text)
{
    static const char *const marks[] = { "<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
                                         "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                         "*=",  "/=",  "%=",  "&=", "|=", "^=", "##" };

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (str_starts(text, marks[i]))
            return (int)strlen(marks[i]);
    return 1;
}

static void measure(struct token *token, bool at_line)
{
    const char *text = token->text;

    if (*text == '#' && at_line) {
        token->kind = TOKEN_DIRECTIVE;
        token->n = directive_length(text);
    } else if (*text == '/' && (text[1] == '*' || text[1] == '/')) {
        token->kind = TOKEN_COMMENT;
        token->n = comment_length(text);
    } else if (is_word(*text) || (*text == '.' && isdigit((unsigned char)text[1]))) {
        token->kind = TOKEN_WORD;
        token->n = word_length(text);
    } else if (*text == '"' || *text == '\'') {
        token->kind = TOKEN_STRING;
        token->n = string_length(text);
    } else {
        token->kind = TOKEN_MARK;
        token->n = mark_length(text);
    }
}

struct tokens tokens_of(struct arena *arena, const char *text)
{
    struct tokens tokens = { .arena = arena };
    bool at_line = true;

    while (*text) {
        struct token token = { .text = text };
        const char *line = text;

        for (; *text == ' ' || *text == '\t' || *text == '\n' || *text == '\r'; text++)
            if (*text == '\n') {
                token.newlines++;
                line = text + 1;
                at_line = true;
            }
        if (!*text)
            break;
        token.space = text != token.text;
        token.text = text;
        token.column = (int)(text - line);
        measure(&token, at_line);
        at_line = false;
        tokens_add(&tokens, &token);
        text += token.n;
    }
    return tokens;
}

const struct token *tokens_at(const struct tokens *tokens, int i)
{
    static const struct token end = { .kind = TOKEN_MARK, .text = "", .newlines = 1 };

    return i >= 0 && i < tokens->n ? &tokens->items[i] : &end;
}

bool tokens_is_kind(const struct tokens *tokens, int i, enum token_kind kind)
{
    return i < tokens->n && tokens_at(tokens, i)->kind == kind;
}

bool tokens_is_mark(const struct tokens *tokens, int i, const char *marks)
{
    return tokens_at(tokens, i)->kind == TOKEN_MARK && token_is_any(tokens_at(tokens, i), marks);
}

bool tokens_is_word(const struct tokens *tokens, int i, const char *words)
{
    return tokens_at(tokens, i)->kind == TOKEN_WORD && token_is_any(tokens_at(tokens, i), words);
}

int tokens_behind(const struct tokens *tokens, int i)
{
    int depth = 0;

    for (; i < tokens->n; i++) {
        depth += tokens_is_mark(tokens, i, "( [ {");
        if (tokens_is_mark(tokens, i, ") ] }") && --depth == 0)
            return i + 1;
    }
    return i;
}

const char *directive_word(struct arena *arena, const struct token *token, const char **rest)
{
    const char *text, *word;
    size_t n;

    *rest = "";
    if (token->kind != TOKEN_DIRECTIVE)
        return "";
    text = arena_strndup(arena, token->text, (size_t)token->n);
    text += 1 + strspn(text + 1, " ");
    n = strcspn(text, " ");
    word = arena_strndup(arena, text, n);
    *rest = text + n + strspn(text + n, " ");
    return word;
}

const char *tokens_text(const struct tokens *tokens)
{
    struct str out = { .arena = tokens->arena };

    for (int i = 0; i < tokens->n; i++) {
        const struct token *token = &tokens->items[i];

        if (token->newlines)
            str_printf(&out, "%s%*s", token->newlines > 1 ? "\n\n" : "\n", token->column, "");
        else if (token->space)
            str_add(&out, " ");
        str_addn(&out, token->text, (size_t)token->n);
    }
    str_add(&out, "\n");
    return str_text(&out);
}
