/* epilogue_rows.c - epilogues of rows of results, by vectors (codec.h): quantised operands are
 * dequantised before the loop over the row's elements, results are quantised after it. */
#include "codegen_c/expr/epilogue.h"

#include <ctype.h>
#include <string.h>

#include "codegen_c/expr/codec.h"
#include "codegen_c/expr/decode.h"

/* Whether an operand runs along with the result's row, so that a row of it can be dequantised
 * before the loop. Sets *at to the row's start. */
static bool lies_in_rows(struct epilogue *e, const struct value *value, const char **at)
{
    const struct operand operand = operand_of(e->bind->region, value);
    const enum operand_beside beside =
        operand_beside(&operand, &e->bind->region->fn->ret->inputs[0]->type);

    if (value->kind != VALUE_PARAM || (beside != OPERAND_ALONG && beside != OPERAND_PIXELS))
        return false;
    *at = epilogue_index(e, value, -1, &e->row->start);
    return true;
}

const char *epilogue_decode_row(struct epilogue *e, const struct node *node, const char *text,
                                const char **operand, const char **needs)
{
    struct arena *arena = e->bind->arena;
    const struct value *value = node->n_inputs ? node->inputs[0] : NULL;
    const struct minifloat *format = value ? decode_format(&value->type) : NULL;
    const char *decode, *found, *at, *array;

    if (!e->row || !format || !decode_has_vectors(e->bind, &value->type) ||
        !lies_in_rows(e, value, &at))
        return text;
    decode = arena_printf(arena, "%s($a)", codec_decoder(arena, format));
    found = strstr(text, decode);
    if (!found || scalar_count(text, 'a') != 1)
        return text;
    array = arena_printf(arena, "%s_number", bind_operand(e->bind, node->inputs[0]));
    if (!strstr(str_text(&e->before), arena_printf(arena, " %s[", array)))
        str_printf(&e->before, "float %s[%s];\n\n%s\n", array, e->row->most,
                   codec_unpack(e->bind, &value->type, bind_operand(e->bind, node->inputs[0]), at,
                                e->row->n, array, e->row->multiple));
    *operand = arena_printf(arena, "%s[%s]", array, e->row->i);
    *needs = scalar_needs_without(arena, *needs, codec_decoder(arena, format));
    return arena_printf(arena, "%.*s$a%s", (int)(found - text), text, found + strlen(decode));
}

/* Whether `text` is one call, "FUNCTION(...)". */
static bool is_call(const char *text)
{
    int depth = 0;

    for (text += strcspn(text, "("); *text; text++) {
        depth += (*text == '(') - (*text == ')');
        if (depth == 0)
            return text[1] == '\0';
    }
    return false;
}

/* If the last variable is the quantised result, "const uint8_t cast_4 = f32_to_f8e4m3(NUMBER);":
 * removes it from the text, sets *number and *encoder and returns statements that quantise a row of
 * them; else NULL. */
static const char *take_encoder(struct epilogue *e, const char **number, const char **encoder)
{
    struct arena *arena = e->bind->arena;
    char *const text = arena_strdup(arena, str_text(&e->text));
    const size_t n = strlen(text);
    const char *equals, *pack;
    char *line = text + n;

    while (line > text && (line == text + n || line[-1] != '\n'))
        line--;
    equals = strstr(line, " = ");
    if (!equals || !str_ends(text, ");\n") ||
        !str_ends(arena_strndup(arena, line, (size_t)(equals - line)), epilogue_result(e)))
        return NULL;
    equals += strlen(" = ");
    *number = arena_strndup(arena, equals, strlen(equals) - strlen(";\n"));
    *encoder = arena_strndup(arena, *number, strcspn(*number, "("));
    pack = is_call(*number)
               ? codec_pack(e->bind, *encoder, "result", e->row->n, "&y[start]", e->row->multiple)
               : NULL;
    if (!pack)
        return NULL;
    *number = arena_strndup(arena, *number + strlen(*encoder) + 1,
                            strlen(*number) - strlen(*encoder) - 2);
    *line = '\0';
    e->text = (struct str){ .arena = arena };
    str_add(&e->text, text);
    return pack;
}

/* Whether the text contains the name as a word. */
static bool has_word(const char *text, const char *word)
{
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
            !(isalnum((unsigned char)at[strlen(word)]) || at[strlen(word)] == '_'))
            return true;
    return false;
}

bool bind_row_epilogue(struct bind *bind, const char *acc, const struct position *position,
                       const struct epilogue_row *row)
{
    struct epilogue e = epilogue_begin(bind, position);
    const char *number = NULL, *encoder = "", *pack, *result, *text;

    e.row = row;
    if (!epilogue_add_nodes(&e, acc))
        return false;
    pack = take_encoder(&e, &number, &encoder);
    if (e.last)
        scalar_needs(bind, e.last, scalar_needs_without(bind->arena, e.needs, pack ? encoder : ""));
    result = pack ? number : epilogue_result(&e);
    text = arena_printf(bind->arena, "%s%s", str_text(&e.text), result);
    bind_epilogue_text(&e, result);
    bind_text(bind, "decoded", "%s", str_text(&e.before));
    bind_flag(bind, "packed", pack != NULL);
    bind_text(bind, "pack", "%s", pack ? pack : "");
    bind_flag(bind, "uses_at", !pack || has_word(text, "at"));
    bind_flag(bind, "uses_oc", !pack || has_word(text, "oc") || has_word(text, "at"));
    bind_flag(bind, "uses_start", pack || has_word(str_text(&e.before), "start"));
    return true;
}
