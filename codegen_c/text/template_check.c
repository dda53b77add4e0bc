/* template_check.c - what can be said of a template before there is a region to write: blocks,
 * braces, and keys that nothing can ever set. */
#include <ctype.h>
#include <string.h>

#include "codegen_c/text/template.h"
#include "codegen_c/text/template_lines.h"

enum { MAX_OPEN = 64, MAX_WORDS = 4 };

struct check {
    struct ctx *ctx;
    const char *file;
    const struct template_names *names; /* NULL = keys are not looked at */
    int line;                           /* from 1 */
    int n_open;
    struct {
        int line;
        const char *variable; /* of a loop; NULL = an if */
        bool unread;          /* nothing is known of the keys in it */
        bool other_unread;    /* nor in what an //#else would begin */
        bool body_unread;     /* nor in a //#body of it: what stands around it */
        bool is_if;
        bool has_else;
    } open[MAX_OPEN];
    bool ok;
};

static void wrong(struct check *check, int line, const char *message)
{
    check->ok =
        diag_error(check->ctx, DIAG_TEMPLATE, NULL, "%s:%d: %s", check->file, line, message);
}

static bool is_known(const struct check *check, const char *key)
{
    for (int i = 0; i < check->n_open; i++)
        if (check->open[i].variable && strcmp(check->open[i].variable, key) == 0)
            return true;
    return check->names->known(check->names->user, key);
}

static bool is_composed(const char *key)
{
    return strstr(key, "${") != NULL;
}

static void see_key(struct check *check, const char *key)
{
    const bool unread = check->n_open && check->open[check->n_open - 1].unread;
    struct arena *arena = &check->ctx->perm;
    const char *nearest;

    if (!check->names || unread || is_composed(key) || is_known(check, key))
        return;
    wrong(check, check->line, arena_printf(arena, "unknown key '%s'", str_safe(arena, key, 120)));
    nearest = strlen(key) > 2 ? check->names->nearest(check->names->user, key) : NULL;
    if (nearest)
        diag_help(check->ctx, "did you mean '%s'?", nearest);
}

/* All keys of a line; those within others compose a name that is not known yet. */
static void see_text(struct check *check, const char *text)
{
    struct arena *arena = &check->ctx->perm;

    while ((text = strstr(text, "${"))) {
        const char *at = text + 2;
        int depth = 1;

        for (; *at && depth; at++) {
            if (at[0] == '$' && at[1] == '{')
                depth++;
            else if (*at == '}')
                depth--;
        }
        if (depth) {
            wrong(check, check->line,
                  arena_printf(arena, "'%s' has no closing brace", str_safe(arena, text, 60)));
            return;
        }
        see_key(check, arena_strndup(arena, text + 2, (size_t)(at - text) - 3));
        text = at;
    }
}

static void open_block(struct check *check, int n_words, char *const *words)
{
    const bool is_if = strcmp(words[0], "if") == 0, negated = words[1][0] == '!';
    const bool is_body = strcmp(words[0], "body") == 0;
    const bool around = check->n_open && check->open[check->n_open - 1].unread;
    const bool unread =
        is_body && check->n_open ? check->open[check->n_open - 1].body_unread : around;
    const bool composed = is_if && is_composed(words[1]);
    const bool never = is_if && !composed && check->names && !is_known(check, words[1] + negated);

    if (!is_if && !is_body && n_words == 3 && !isdigit((unsigned char)words[2][0]))
        see_key(check, words[2]);
    check->open[check->n_open].line = check->line;
    check->open[check->n_open].has_else = false;
    check->open[check->n_open].is_if = is_if;
    check->open[check->n_open].variable = is_if || is_body ? NULL : words[1];
    check->open[check->n_open].body_unread = around;
    check->open[check->n_open].unread = unread || composed || (never && !negated);
    check->open[check->n_open++].other_unread = unread || composed || (never && negated);
}

static void see_else(struct check *check)
{
    if (!check->n_open || !check->open[check->n_open - 1].is_if) {
        wrong(check, check->line, "this //#else belongs to no //#if");
        return;
    }
    if (check->open[check->n_open - 1].has_else)
        wrong(check, check->line, "this block has an //#else already");
    check->open[check->n_open - 1].has_else = true;
    check->open[check->n_open - 1].unread = check->open[check->n_open - 1].other_unread;
}

static bool opens_block(const char *word)
{
    return strcmp(word, "if") == 0 || strcmp(word, "for") == 0 || strcmp(word, "body") == 0;
}

/* Of a line that opens a block, or ought to. */
static void see_opening(struct check *check, int n_words, char *const *words)
{
    static const struct {
        const char *word;
        int n;
    } kinds[] = { { "if", 2 }, { "for", 3 }, { "body", 1 } };
    bool ok = false;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        ok = ok || (strcmp(words[0], kinds[i].word) == 0 && n_words == kinds[i].n);
    if (!ok)
        wrong(check, check->line,
              arena_printf(&check->ctx->perm,
                           "'//#%s' is not a control line, or has the wrong number of words",
                           str_safe(&check->ctx->perm, words[0], 60)));
    if (!opens_block(words[0]))
        return;
    if (strcmp(words[0], "body") == 0 && !(check->n_open && check->open[check->n_open - 1].is_if))
        wrong(check, check->line, "this //#body does not stand directly in an //#if");
    if (check->n_open == MAX_OPEN)
        wrong(check, check->line, "blocks are nested too deeply");
    else
        open_block(check, n_words, words);
}

static void see_control(struct check *check, char *text)
{
    char *words[MAX_WORDS] = { "", "", "", "" }, *rest = NULL;
    int n = 0;

    for (char *word = strtok_r(text, " \t\r", &rest); word && n < MAX_WORDS;
         word = strtok_r(NULL, " \t\r", &rest))
        words[n++] = word;
    if (strcmp(words[0], "end") == 0) {
        if (check->n_open)
            check->n_open--;
        else
            wrong(check, check->line, "this //#end closes no block");
    } else if (strcmp(words[0], "else") == 0 && n == 1) {
        see_else(check);
    } else if (strcmp(words[0], "parallel") != 0 || n < 3) {
        see_opening(check, n, words);
    }
}

/* A line of code, which may have a condition at its end. */
static void see_code(struct check *check, char *line)
{
    const char *condition = line_condition(line, strlen(line));
    const int n_open = check->n_open;

    if (condition)
        see_control(check, arena_strdup(&check->ctx->perm, condition + 3));
    see_text(check, line);
    check->n_open = n_open;
}

bool template_check(struct ctx *ctx, const char *name, const char *text,
                    const struct template_names *names)
{
    struct check check = { .ctx = ctx, .file = name, .names = names, .ok = true };

    for (check.line = 1; *text; check.line++) {
        const size_t n = strcspn(text, "\n");
        char *line = arena_strndup(&ctx->perm, text, n);
        char *start = line + strspn(line, " ");

        if (str_starts(start, "//#")) {
            see_text(&check, line);
            see_control(&check, start + 3);
        } else {
            see_code(&check, line);
        }
        text += n + (text[n] == '\n');
    }
    for (int i = 0; i < check.n_open; i++)
        wrong(&check, check.open[i].line, "this block has no //#end");
    return check.ok;
}
