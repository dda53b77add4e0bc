/* scalars.c - see scalars.h. */
#include "codegen_c/text/scalars.h"

#include <string.h>

#include "codegen_c/text/tokens.h"

static const char vectors[] = "vector_f32 vector4_f32"; /* the widest, and of four lanes at most */

static bool is_vector(const struct tokens *tokens, int i)
{
    return tokens_is_word(tokens, i, vectors);
}

/* Behind "(vector_f32" or "(const vector_f32" at i; 0 if neither stands there. */
static int behind_type(const struct tokens *tokens, int i)
{
    const int type = i + 1 + tokens_is_word(tokens, i + 1, "const");

    return tokens_is_mark(tokens, i, "(") && is_vector(tokens, type) ? type + 1 : 0;
}

/* Behind "*(const vector_f32 *)&" at i, where an element of an array of floats follows. */
static int behind_load(const struct tokens *tokens, int i)
{
    const int at = tokens_is_mark(tokens, i, "*") ? behind_type(tokens, i + 1) : 0;

    return at && tokens_is_mark(tokens, at, "*") && tokens_is_mark(tokens, at + 1, ")") &&
                   tokens_is_mark(tokens, at + 2, "&") && tokens_is_kind(tokens, at + 3, TOKEN_WORD) &&
                   tokens_is_mark(tokens, at + 4, "[")
               ? at + 3
               : 0;
}

static int behind_zeros(const struct tokens *tokens, int i)
{
    return tokens_is_mark(tokens, i, "{") && tokens_is_word(tokens, i + 1, "0") &&
                   tokens_is_mark(tokens, i + 2, "}")
               ? i + 3
               : 0;
}

/* Behind "(vector_f32){ 0 }" at i. */
static int behind_literal(const struct tokens *tokens, int i)
{
    const int at = behind_type(tokens, i);

    return at && tokens_is_mark(tokens, at, ")") ? behind_zeros(tokens, at + 1) : 0;
}

static struct token word_like(const struct token *like, const char *text)
{
    struct token word = *like;

    word.kind = TOKEN_WORD;
    word.text = text;
    word.n = (int)strlen(text);
    return word;
}

/* Behind "name = { 0 }" at i; 0 if that does not stand there. */
static int behind_zero_variable(const struct tokens *tokens, int i)
{
    return tokens_is_kind(tokens, i, TOKEN_WORD) && tokens_is_mark(tokens, i + 1, "=") ? behind_zeros(tokens, i + 2) : 0;
}

/* Writes "vector_f32" at i, and the variables behind it that begin as zeros; behind these. */
static int add_type(struct tokens *out, const struct tokens *tokens, int i)
{
    const struct token type = word_like(&tokens->items[i], "float");

    tokens_add(out, &type);
    for (i++; behind_zero_variable(tokens, i); i++) {
        const struct token zero = word_like(&tokens->items[i + 2], "0.0f");

        tokens_add(out, &tokens->items[i]);
        tokens_add(out, &tokens->items[i + 1]);
        tokens_add(out, &zero);
        i = behind_zero_variable(tokens, i);
        if (!tokens_is_mark(tokens, i, ",") || !behind_zero_variable(tokens, i + 1))
            return i;
        tokens_add(out, &tokens->items[i]);
    }
    return i;
}

static const char *write_out(struct arena *arena, const char *text)
{
    const struct tokens tokens = tokens_of(arena, text);
    struct tokens out = { .arena = arena };

    for (int i = 0, end; i < tokens.n; i = end) {
        struct token token = tokens.items[i];

        if ((end = behind_load(&tokens, i))) {
            struct token *next = &tokens.items[end];

            next->space = token.space;
            next->newlines = token.newlines;
            next->column = token.column;
        } else if ((end = behind_literal(&tokens, i))) {
            token = word_like(&token, "0.0f");
            tokens_add(&out, &token);
        } else if (is_vector(&tokens, i)) {
            end = add_type(&out, &tokens, i);
        } else {
            const bool is_typedef = tokens_is_word(&tokens, i, "typedef");

            for (end = i; end == i || (is_typedef && end < tokens.n && !tokens_is_mark(&tokens, end - 1, ";")); end++)
                tokens_add(&out, &tokens.items[end]);
        }
    }
    return tokens_text(&out);
}

void scalars_write_out(struct arena *arena, const char **texts, int n)
{
    for (int i = 0; i < n; i++) {
        const bool goes_on = str_ends(texts[i], "\n\n");

        if (!strstr(texts[i], "_f32"))
            continue;
        texts[i] = write_out(arena, texts[i]);
        if (goes_on)
            texts[i] = arena_printf(arena, "%s\n", texts[i]);
    }
}
