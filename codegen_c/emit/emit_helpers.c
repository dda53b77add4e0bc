/* emit_helpers.c - see emit_helpers.h. What calls a helper is known late: conditions that the CPU decides may drop the
 * call, and a region that is written again, as its result lies over x, may have asked for another tile before. */
#include "codegen_c/emit/emit_helpers.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/core/comments.h"
#include "codegen_c/core/state.h"
#include "codegen_c/text/tokens.h"

/* An #include, or a line of the guard: what only a file needs. */
static bool is_file_line(const struct helper *helper, const char *line)
{
    return str_starts(line, "#include") || str_starts(line, "#ifndef EMBED_") ||
           str_starts(line, "#define EMBED_") ||
           (strcmp(line, "#endif\n") == 0 && str_starts(helper->text, "#ifndef EMBED_"));
}

/* Names what other branches of an #if use, for clang's -Wunused-function: a scalar core has no such branches. */
static bool is_for_other_branches(const char *line)
{
    return str_starts(line, "    (void)f32_bits;") || str_starts(line, "    (void)f32_of_bits;");
}

/* The text of a helper without the blank lines around; of a file, without what only a file needs.
 */
static void add_helper(struct str *out, const struct helper *helper, bool is_scalar)
{
    bool started = false;
    int n_blank = 0;

    for (const char *line = helper->text; *line;) {
        const size_t n = strcspn(line, "\n");

        if (n == 0) {
            n_blank++;
        } else if (!(is_scalar && is_for_other_branches(line)) &&
                   (helper->own || !is_file_line(helper, line))) {
            for (; started && n_blank; n_blank--)
                str_add(out, "\n");
            started = true;
            n_blank = 0;
            str_addn(out, line, n);
            str_add(out, "\n");
        }
        line += n + (line[n] == '\n');
    }
    str_add(out, "\n");
}

const char *helper_text(struct codegen *codegen, int i)
{
    const struct helper *helper = codegen->helpers.entries[i].value;
    struct str out = { .arena = &codegen->arena };

    add_section_of_file(&out, helper->from);
    add_helper(&out, helper, codegen->machine->lanes == 1);
    return str_text(&out);
}

static bool is_part_of_word(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);

    for (const char *at = strstr(text, word); at; at = strstr(at + n, word))
        if ((at == text || !is_part_of_word(at[-1])) && !is_part_of_word(at[n]))
            return true;
    return false;
}

/* Whether the macro that the line defines ends in the text. */
static bool is_undone(struct arena *arena, const char *text, const char *line)
{
    static const char define[] = "#define ";
    const char *name;

    if (!str_starts(line, define))
        return false;
    line += strlen(define);
    name = arena_strndup(arena, line, strcspn(line, "( \n"));
    return strstr(text, arena_printf(arena, "#undef %s\n", name)) != NULL;
}

/* Whether the text is one function of this name, or its variants under conditions, and defines nothing else that lasts. */
static bool is_one_function(struct arena *arena, const char *text, const char *name)
{
    const char *head = arena_printf(arena, " %s(", name);
    const char *pointer = arena_printf(arena, "*%s(", name);

    for (const char *line = text; *line; line += *line == '\n') {
        const size_t n = strcspn(line, "\n");
        const char *first = arena_strndup(arena, line, n);

        if ((str_starts(line, "#define") && !is_undone(arena, text, line)) ||
            str_starts(line, "typedef") || str_starts(line, "enum") || str_starts(line, "struct"))
            return false;
        if (isalpha((unsigned char)*line) && !strstr(first, head) && !strstr(first, pointer))
            return false;
        line += n;
    }
    return strstr(text, head) || strstr(text, pointer);
}

/* The name that the text defines if it is one typedef, "" if it is comments only, NULL if it is more. */
static const char *only_type(struct codegen *codegen, const char *text)
{
    struct arena *arena = &codegen->ctx->scratch;
    const struct tokens tokens = tokens_of(arena, text);
    const struct token *last = NULL;
    int n = 0;

    for (int i = 0; i < tokens.n; i++) {
        const struct token *token = &tokens.items[i];

        if (token->kind == TOKEN_COMMENT)
            continue;
        if (token->kind == TOKEN_DIRECTIVE || (n == 0 && !token_is(token, "typedef")))
            return NULL;
        if (token->kind == TOKEN_WORD)
            last = token;
        else if (!token_is(token, ";") || i + 1 < tokens.n)
            return NULL;
        n++;
    }
    return last ? arena_strndup(arena, last->text, (size_t)last->n) : "";
}

void helpers_drop_unused(struct codegen *codegen, const char **texts, int n)
{
    for (int i = (int)codegen->helpers.n; i > 0; i--) {
        const struct helper *helper = codegen->helpers.entries[i - 1].value;
        const char *name = helper->own ? helper->function : codegen->helpers.entries[i - 1].key;
        const char *type = only_type(codegen, texts[i]);
        bool used = !type && !is_one_function(&codegen->ctx->scratch, texts[i], name);

        if (type)
            name = type;

        for (int k = i + 1; k < n && !used && *name; k++)
            used = has_word(texts[k], name);
        if (!used)
            texts[i] = "";
    }
}
