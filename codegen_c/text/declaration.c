#include "codegen_c/text/declaration.h"

static const char qualifiers[] = "const volatile static register inline restrict signed unsigned";
static const char types[] = "void char short int long float double _Bool";
static const char statements[] = "return goto break continue typedef extern sizeof enum case "
                                 "default else _Static_assert __asm__ __asm asm";

static bool is_word(const struct tokens *tokens, int i, const char *words)
{
    return tokens->items[i].kind == TOKEN_WORD && token_is_any(&tokens->items[i], words);
}

static bool is_mark(const struct tokens *tokens, int i, const char *marks)
{
    return tokens->items[i].kind == TOKEN_MARK && token_is_any(&tokens->items[i], marks);
}

/* Behind the specifiers of the type, or `from` if these tokens begin with none. */
static int behind_type(const struct tokens *tokens, int from, int to)
{
    bool named = false;
    int i = from;

    for (; i < to && tokens->items[i].kind == TOKEN_WORD; i++) {
        if (is_word(tokens, i, statements))
            return from;
        if (is_word(tokens, i, qualifiers))
            named = named || is_word(tokens, i, "unsigned signed");
        else if (is_word(tokens, i, types))
            named = true;
        else if (is_word(tokens, i, "struct union") && !named && i + 1 < to) {
            i++;
            named = true;
        } else if (!named)
            named = true;
        else
            break;
    }
    return named ? i : from;
}

/* Whether a declarator begins at i: "*const p", "p", in front of "=", "[", "," or ";". */
static bool begins_declarator(const struct tokens *tokens, int i, int to)
{
    while (i < to && (is_mark(tokens, i, "*") || is_word(tokens, i, "const restrict volatile")))
        i++;
    return i + 1 < to && tokens->items[i].kind == TOKEN_WORD && is_mark(tokens, i + 1, "= [ , ;");
}

static const char *type_text(const struct tokens *tokens, int from, int to)
{
    struct str out = { .arena = tokens->arena };

    for (int i = from; i < to; i++)
        str_printf(&out, "%.*s ", tokens->items[i].n, tokens->items[i].text);
    return str_text(&out);
}

bool declaration_of_several(const struct tokens *tokens, int from, int to,
                            struct declaration *declaration)
{
    const int begin = behind_type(tokens, from, to);
    int depth = 0;

    *declaration = (struct declaration){ .n = 0 };
    if (begin == from || to - from < 3 || !is_mark(tokens, to - 1, ";") ||
        !begins_declarator(tokens, begin, to))
        return false;
    declaration->type = type_text(tokens, from, begin);
    declaration->declarators = arena_array(tokens->arena, struct declarator, to - from);
    declaration->declarators[0].from = from;
    for (int i = begin; i < to; i++) {
        if (is_mark(tokens, i, "( [ {"))
            depth++;
        else if (is_mark(tokens, i, ") ] }"))
            depth--;
        if (depth || !is_mark(tokens, i, ", ;"))
            continue;
        declaration->declarators[declaration->n++].to = i;
        for (int next = i + 1; next <= to && declaration->n < to - from; next++) {
            declaration->declarators[declaration->n].from = next;
            if (next == to || tokens->items[next].kind != TOKEN_COMMENT)
                break;
        }
    }
    return declaration->n > 1;
}
