#include "codegen_c/text/template_lines.h"

#include <string.h>

const char *line_condition(const char *text, size_t n)
{
    static const char mark[] = " //#if ";
    const size_t length = strlen(mark);

    for (size_t at = strspn(text, " "); at + length < n; at++)
        if (memcmp(&text[at], mark, length) == 0)
            return &text[at + 1];
    return NULL;
}

struct line *lines_of(struct arena *arena, const char *text, int *n)
{
    static const char end[] = "//#end";
    struct line *lines;
    int most = 0;

    for (const char *at = text; *at; at++)
        most += *at == '\n';
    lines = arena_array(arena, struct line, 3 * (most + 1));
    *n = 0;
    for (int number = 1; *text; number++) {
        const size_t length = strcspn(text, "\n");
        const char *condition = line_condition(text, length);

        if (condition) {
            size_t code = (size_t)(condition - text);

            while (code && text[code - 1] == ' ')
                code--;
            lines[(*n)++] = (struct line){ condition, length - (size_t)(condition - text), number };
            lines[(*n)++] = (struct line){ text, code, number };
            lines[(*n)++] = (struct line){ end, strlen(end), number };
        } else {
            lines[(*n)++] = (struct line){ text, length, number };
        }
        text += length + (text[length] == '\n');
    }
    return lines;
}

size_t line_indentation(const struct line *line)
{
    size_t n = 0;

    while (n < line->n && line->text[n] == ' ')
        n++;
    return n;
}

const char *line_control(const struct line *line)
{
    const size_t indent = line_indentation(line);

    return line->n >= indent + 3 && memcmp(&line->text[indent], "//#", 3) == 0
               ? &line->text[indent + 3]
               : NULL;
}

/* What stands behind "//#word"; NULL of another line. */
static const char *behind_word(const struct line *line, const char *word)
{
    const char *control = line_control(line), *end = line->text + line->n;
    const size_t n = strlen(word);

    if (!control || (size_t)(end - control) < n || memcmp(control, word, n) != 0)
        return NULL;
    control += n;
    return control == end || *control == ' ' || *control == '\r' ? control : NULL;
}

bool line_is(const struct line *line, const char *word)
{
    return behind_word(line, word) != NULL;
}

bool line_is_brace(const struct line *line)
{
    const size_t indent = line_indentation(line);

    return indent > 0 && line->n == indent + 1 && line->text[indent] == '{';
}

static bool is_alone(const struct line *line, const char *word)
{
    const char *at = behind_word(line, word), *end = line->text + line->n;

    while (at < end && (*at == ' ' || *at == '\r'))
        at++;
    return at == end;
}

/* What is wrong with an //#else that stands directly in the block; NULL = nothing. */
static const char *misplaced(const struct line *block, const struct line *otherwise, bool second)
{
    if (!line_is(block, "if"))
        return "this //#else belongs to no //#if";
    if (!is_alone(otherwise, "else"))
        return "'//#else' has the wrong number of words";
    return second ? "this block has an //#else already" : NULL;
}

const char *cut_block(const struct line *lines, int open, int to, struct cut *cut, int *wrong)
{
    const char *message = NULL;
    int depth = 0;

    cut->otherwise = -1;
    for (int i = open; i < to && !message; i++) {
        const struct line *line = &lines[i];

        *wrong = i;
        if (line_is(line, "if") || line_is(line, "for") || line_is(line, "body")) {
            depth++;
        } else if (depth == 1 && line_is(line, "else")) {
            message = misplaced(&lines[open], line, cut->otherwise >= 0);
            cut->otherwise = i;
        } else if (line_is(line, "end") && --depth == 0) {
            cut->end = i;
            if (cut->otherwise < 0)
                cut->otherwise = i;
            return NULL;
        }
    }
    if (message)
        return message;
    *wrong = open;
    return "this block has no //#end";
}
