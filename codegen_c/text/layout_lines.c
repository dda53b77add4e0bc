/* layout_lines.c - see layout_lines.h.
 *
 * method   lines that are short enough keep their breaks, moved with the first. Else the tokens are one line, cut where
 *          it is too long: as far outside of brackets as there is a place, and there as late as possible. What goes on
 *          within brackets begins behind the bracket or, where that takes fewer lines, 8 columns further in than the
 *          first line */
#include "codegen_c/text/layout_lines.h"

#include <string.h>

enum { MOST_BRACKETS = 64, FAR_RIGHT = 56 };

static void add_spaces(struct str *out, int n)
{
    str_printf(out, "%*s", n > 0 ? n : 0, "");
}

/* --- as it was -------------------------------------------------------------------------------- */

/* The indentation of the line that token i stands in. */
static int line_column(const struct tokens *tokens, int i)
{
    while (i > 0 && tokens->items[i].newlines == 0)
        i--;
    return tokens->items[i].column;
}

static bool add_as_it_was(struct str *out, const struct tokens *tokens, int from, int to,
                          int indent, const char *before, int after)
{
    const int moved = indent - line_column(tokens, from);
    struct str line = { .arena = out->arena };
    struct str all = { .arena = out->arena };

    add_spaces(&line, indent);
    str_add(&line, before);
    for (int i = from; i < to; i++) {
        const struct token *token = &tokens->items[i];
        const int column = token->column + moved;

        if (i > from && token->newlines) {
            str_printf(&all, "%s\n", str_text(&line));
            line = (struct str){ .arena = out->arena };
            add_spaces(&line, column > indent ? column : indent);
        } else if (i > from && token->space) {
            str_add(&line, " ");
        }
        str_addn(&line, token->text, (size_t)token->n);
        if (line.n + (size_t)(i == to - 1 ? after : 0) > LAYOUT_COLUMNS)
            return false;
    }
    str_printf(out, "%s%s", str_text(&all), str_text(&line));
    return true;
}

/* --- cut -------------------------------------------------------------------------------------- */

struct cut {
    const struct tokens *tokens;
    int from, to;
    bool keeps;                /* its lines, as far as they are short enough: an enum's */
    int column[MOST_BRACKETS]; /* behind each open bracket, 1 .. depth */
    int depth;
};

static bool is_open(const struct token *token)
{
    return token->kind == TOKEN_MARK && token_is_any(token, "( [ {");
}

static bool is_close(const struct token *token)
{
    return token->kind == TOKEN_MARK && token_is_any(token, ") ] }");
}

/* How bad a line end in front of token i is; -1: there may be none. */
static int badness(const struct cut *cut, int i)
{
    const struct token *token = &cut->tokens->items[i], *last = token - 1;

    if (token->kind == TOKEN_COMMENT)
        return 5;
    if (is_close(token))
        return -1;
    if (token_is(last, ","))
        return 0;
    if (token->kind == TOKEN_MARK && token->space && i + 1 < cut->to && token[1].space) {
        if (token_is_any(token, "? : && ||"))
            return 1;
        if (token_is_any(token, "+ - * / % & | ^ << >> == != < > <= >="))
            return 3;
    }
    if (last->kind == TOKEN_MARK && last->space && token->space &&
        token_is_any(last, "= += -= *= /= |= &= ^= <<= >>="))
        return 2;
    if (token->kind == TOKEN_STRING && last->kind == TOKEN_STRING)
        return 0;
    if (token_is(last, ";"))
        return 0;
    return last->kind == TOKEN_MARK && token_is(last, "(") ? 6 : -1;
}

static int width_of(const struct token *token, bool first)
{
    return token->n + (!first && (token->space || token->newlines) ? 1 : 0);
}

/* Whether a space stands in front of the token if no line end does. */
static bool has_space(const struct cut *cut, int i)
{
    const struct token *token = &cut->tokens->items[i], *last = token - 1;

    if (token->newlines)
        return !(last->kind == TOKEN_MARK && token_is_any(last, "( [")) &&
               !(token->kind == TOKEN_MARK && token_is_any(token, ") ]"));
    return token->space;
}

/* Where the line that begins with token `first` at `column` ends. */
static int find_end(struct cut *cut, int first, int column, int after)
{
    int end = -1, best = 0, depth = 0;

    for (int i = first; i < cut->to; i++) {
        const struct token *token = &cut->tokens->items[i];
        const int bad = i > first ? badness(cut, i) : -1;

        if (is_close(token))
            depth--;
        if (bad >= 0 && (end < 0 || bad + 4 * depth <= best) && i > first + 1) {
            end = i;
            best = bad + 4 * depth;
        }
        if (is_open(token))
            depth++;
        column += width_of(token, i == first);
        if (column + (i == cut->to - 1 ? after : 0) > LAYOUT_COLUMNS)
            return end < 0 ? cut->to : end;
        if (i + 1 < cut->to && token[1].newlines && (cut->keeps || token->kind == TOKEN_COMMENT))
            return i + 1;
    }
    return cut->to;
}

static void add_line(struct cut *cut, struct str *out, int first, int end, size_t line)
{
    for (int i = first; i < end; i++) {
        const struct token *token = &cut->tokens->items[i];

        if (i > first && has_space(cut, i))
            str_add(out, " ");
        str_addn(out, token->text, (size_t)token->n);
        if (is_open(token) && cut->depth < MOST_BRACKETS - 1)
            cut->column[++cut->depth] = (int)(out->n - line);
        else if (is_close(token) && cut->depth > 0)
            cut->depth--;
    }
}

/* Returns the number of lines. */
static int cut_lines(struct str *out, const struct tokens *tokens, int from, int to, int indent,
                     const char *before, int after, bool flat)
{
    struct cut cut = { .tokens = tokens, .from = from, .to = to };
    int n = 0, column = indent + (int)strlen(before);

    cut.keeps = token_is(&tokens->items[from], "enum");
    for (int first = from, end; first < to; first = end, n++) {
        const size_t line = out->n;

        add_spaces(out, first == from ? indent : column);
        if (first == from)
            str_add(out, before);
        end = find_end(&cut, first, column, after);
        add_line(&cut, out, first, end, line);
        if (end < to)
            str_add(out, "\n");
        if (cut.keeps)
            column = indent + (end < to && is_close(&tokens->items[end]) ? 0 : 4);
        else
            column = cut.depth && !flat && cut.column[cut.depth] <= FAR_RIGHT
                         ? cut.column[cut.depth]
                         : indent + (cut.depth ? 8 : 4);
    }
    return n;
}

static void add_cut(struct str *out, const struct tokens *tokens, int from, int to, int indent,
                    const char *before, int after)
{
    struct str aligned = { .arena = out->arena }, flat = { .arena = out->arena };
    const int n = cut_lines(&aligned, tokens, from, to, indent, before, after, false);

    str_add(out, n > cut_lines(&flat, tokens, from, to, indent, before, after, true)
                     ? str_text(&flat)
                     : str_text(&aligned));
}

/* Whether these are the head of a function, whose lines follow its name's length. */
static bool is_head(const struct tokens *tokens, int from, int to)
{
    return tokens->items[from].newlines && from + 1 < to && tokens->items[from].column == 0 &&
           token_is(&tokens->items[to - 1], ")");
}

void lines_add(struct str *out, const struct tokens *tokens, int from, int to, int indent,
               const char *before, int after)
{
    if (is_head(tokens, from, to) || !add_as_it_was(out, tokens, from, to, indent, before, after))
        add_cut(out, tokens, from, to, indent, before, after);
}

/* --- comments --------------------------------------------------------------------------------- */

/* A line of a comment is cut at a space, and what is left begins the next line if that goes on with the same text. */
static size_t cut_at(const char *text, size_t n)
{
    size_t at = n < LAYOUT_COLUMNS ? n : LAYOUT_COLUMNS;

    while (at > 0 && text[at] != ' ')
        at--;
    return at ? at : n;
}

/* "   * ", what begins each line of a comment. */
static size_t prefix_length(const char *text)
{
    const size_t n = strspn(text, " ");

    return text[n] == '*' && text[n + 1] != '/' ? n + 1 + strspn(text + n + 1, " ") : n;
}

static bool goes_on(const char *next, size_t prefix)
{
    return *next && next[prefix_length(next)] != '\n' && prefix_length(next) == prefix &&
           next[prefix] != '-' && next[prefix] != '*';
}

/* A line of a comment: what begins it, and what it says, in which the rest of the last one stands. */
struct comment_line {
    const char *head;
    const char *text;
};

/* Adds the line, without what is beyond the last column, which it returns; "" if all fits. */
static const char *add_comment_line(struct str *out, const struct comment_line *line)
{
    const char *all = arena_printf(out->arena, "%s%s", line->head, line->text);
    size_t n = strlen(all), at = n;

    if (n > LAYOUT_COLUMNS)
        at = cut_at(all, n);
    if (strcmp(all + at, " */") == 0) /* a word goes with it */
        at = cut_at(all, at - 1);
    if (at <= strlen(line->head))
        at = n;
    for (n = at; n > 0 && all[n - 1] == ' ';)
        n--;
    str_printf(out, "%.*s\n", (int)n, all);
    return all[at] ? all + at + 1 : "";
}

/* What is left of a line, which may be several. */
static void add_rest(struct str *out, const char *head, const char *rest)
{
    while (*rest)
        rest = add_comment_line(out, &(struct comment_line){ head, rest });
}

void lines_add_comment(struct str *out, const struct token *comment, int indent)
{
    const int moved = indent - comment->column;
    const char *text = arena_strndup(out->arena, comment->text, (size_t)comment->n);
    const char *next = arena_printf(out->arena, "%*s * ", indent, ""), *rest = "";
    size_t prefix = (size_t)comment->column + 3;

    for (bool first = true; *text; first = false) {
        const size_t n = strcspn(text, "\n");
        const size_t begin = first ? 0 : prefix_length(text) < n ? prefix_length(text) : n;
        const int spaces = (int)strspn(text, " ") + moved;
        struct comment_line line = { "", arena_strndup(out->arena, text + begin, n - begin) };

        if (first)
            line.head = arena_printf(out->arena, "%*s", indent, "");
        else if (n)
            line.head = arena_printf(out->arena, "%*s%.*s", spaces > 0 ? spaces : 0, "",
                                     (int)(begin - strspn(text, " ")), text + strspn(text, " "));
        if (*rest && goes_on(text, prefix))
            line.text = arena_printf(out->arena, "%s %s", rest, line.text);
        else
            add_rest(out, next, rest);
        rest = add_comment_line(out, &line);
        if (!first) {
            prefix = begin;
            next = line.head;
        }
        text += n + (text[n] == '\n');
    }
    add_rest(out, next, rest);
}

/* Lines that are too long are cut at a space, and go on behind a backslash. */
static void add_directive_lines(struct str *out, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n"), at = n;

        if (n > LAYOUT_COLUMNS) {
            for (at = LAYOUT_COLUMNS - 2; at > 4 && text[at] != ' ';)
                at--;
            at = at > 4 ? at : n;
        }
        str_printf(out, "%.*s%s\n", (int)at, text, at < n ? " \\" : "");
        if (at < n)
            str_add(out, "   "); /* and the space */
        text += at + (at == n && text[n] == '\n');
    }
}

void lines_add_directive(struct str *out, const struct token *directive)
{
    const char *text = arena_strndup(out->arena, directive->text, (size_t)directive->n);
    const char *comment = strstr(text, " /*");
    const struct token alone = { .kind = TOKEN_COMMENT,
                                 .text = comment ? comment + 1 : "",
                                 .n = comment ? (int)strlen(comment + 1) : 0 };
    const bool apart = comment && strlen(text) > LAYOUT_COLUMNS && !strchr(text, '\n') &&
                       str_ends(text, "*/") && !strstr(comment + 1, " /*");

    if (apart)
        lines_add_comment(out, &alone, 0);
    add_directive_lines(out,
                        apart ? arena_strndup(out->arena, text, (size_t)(comment - text)) : text);
}
