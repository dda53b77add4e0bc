#include "codegen_c/text/for_steps.h"

#include <string.h>

static bool has_word(const struct tokens *tokens, int from, int to, const struct token *word)
{
    for (int i = from; i < to; i++) {
        const struct token *token = tokens_at(tokens, i);

        if (token->kind == TOKEN_WORD && token->n == word->n &&
            memcmp(token->text, word->text, (size_t)word->n) == 0)
            return true;
    }
    return false;
}

static int next(const struct tokens *tokens, int i)
{
    return tokens_is_mark(tokens, i, "( [ {") ? tokens_behind(tokens, i) : i + 1;
}

int step_end(const struct tokens *tokens, int from, int to)
{
    while (from < to && !tokens_is_mark(tokens, from, ","))
        from = next(tokens, from);
    return from < to ? from : to;
}

/* Behind the second semicolon of the for; `to` if there is none. */
static int first_step(const struct tokens *tokens, int at, int to)
{
    int n = 0;

    for (int i = at + 2; i < to; i = next(tokens, i))
        if (tokens_is_mark(tokens, i, ";") && ++n == 2)
            return i + 1;
    return to;
}

/* Whether the first step reads what a later one sets: it would get the new number. */
static bool reads_later(const struct tokens *tokens, int first, int end, int last)
{
    for (int i = end; i < last; i = step_end(tokens, i + 1, last))
        if (has_word(tokens, first, end, tokens_at(tokens, i + 1)))
            return true;
    return false;
}

int first_step_end(const struct tokens *tokens, int at, int head)
{
    static const struct token go_on = { .text = "continue", .n = 8 };
    const int last = head - 1, first = first_step(tokens, at, last), end = step_end(tokens, first, last);
    const int body = tokens_is_mark(tokens, head, "{") ? tokens_behind(tokens, head) : head;

    if (end == last || has_word(tokens, head, body, &go_on) ||
        has_word(tokens, end, last, tokens_at(tokens, first)) ||
        reads_later(tokens, first, end, last))
        return last;
    return end;
}
