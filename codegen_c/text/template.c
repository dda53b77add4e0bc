/* template.c - expands template.h's language.
 *
 * method   the text is cut into lines once; blocks are matched by walking to their //#end; a block
 *          that is left out is walked as well, so that its keys count as used */
#include "codegen_c/text/template.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/text/template_lines.h"
#include "codegen_c/text/template_loop.h"

/* Templates of targets are the user's: none makes us run forever or use up the stack. */
enum {
    MAX_LOOPS = 8,
    MAX_BLOCKS = 64,
    MAX_KEYS = 8, /* within each other */
    MAX_KEY = 120,
    MAX_REPEAT = 4096,
    MAX_STEPS = 1000000,         /* lines gone through */
    MAX_BYTES = 64 * 1024 * 1024 /* of text */
};

struct expansion {
    struct ctx *ctx;
    struct arena *arena;
    const char *name;
    struct keys *keys;
    struct line *lines;
    int n_lines;
    int n_loops, n_blocks, n_keys; /* that are open */
    int n_steps;
    size_t n_bytes;
    struct {
        const char *name;
        char text[24];
    } loops[MAX_LOOPS];
    struct str *out;  /* NULL: keys are asked for only */
    struct loop loop; /* of the first //#parallel that is written; no var = there is none yet */
    bool at_loop;     /* the next line begins it */
    const bool
        *around; /* directly in an //#if: whether what stands around it is silent; else NULL */
    bool silent; /* inside a block that is left out: nothing is written, unknown keys are fine */
    bool ok;
};

static void error(struct expansion *x, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void error(struct expansion *x, int line, const char *format, ...)
{
    const char *message;
    va_list args;

    va_start(args, format);
    message = arena_vprintf(x->arena, format, args);
    va_end(args);
    x->ok = diag_error(x->ctx, DIAG_TEMPLATE, x->keys->origin, "%s:%d: %s", x->name,
                       line < x->n_lines ? x->lines[line].number : line + 1, message);
}

/* The text of a key or loop variable, NULL if there is none; it counts as used from now on. */
static const char *look_up(struct expansion *x, const char *name, bool written, const char **why)
{
    struct key *key;
    const char *text;

    for (int i = x->n_loops - 1; i >= 0; i--)
        if (strcmp(x->loops[i].name, name) == 0)
            return x->loops[i].text;
    key = map_get(&x->keys->map, name);
    if (key) {
        key->used = true;
        key->written |= written;
        return key->text;
    }
    if (!x->keys->compute)
        return NULL;
    text = x->keys->compute(x->keys->user, name, written, why);
    if (text && written)
        keys_offer(x->keys, name, text);
    return text;
}

static void unknown_key(struct expansion *x, int line, const char *name, const char *why)
{
    error(x, line, "unknown key '%s'%s%s", name, why ? ": " : "", why ? why : "");
}

static const char *expand_key(struct expansion *x, int line, const char *text, size_t n,
                              size_t *length);

/* The name of the key at text[0..n), with the keys in it expanded; as expand_key. */
static bool read_name(struct expansion *x, int line, const char *text, size_t n, char *name,
                      size_t *length)
{
    size_t used = 0, at = 2;

    while (at < n && text[at] != '}') {
        const char *piece = &text[at];
        size_t taken = 1, piece_n = 1;

        if (text[at] == '$' && at + 1 < n && text[at + 1] == '{') {
            piece = expand_key(x, line, piece, n - at, &taken);
            if (!piece) {
                *length = at + taken;
                return false;
            }
            piece_n = strlen(piece);
        }
        if (used + piece_n > MAX_KEY) {
            error(x, line, "a key is longer than expected: '%s'",
                  arena_strndup(x->arena, name, used));
            *length = n;
            return false;
        }
        memcpy(&name[used], piece, piece_n);
        used += piece_n;
        at += taken;
    }
    *length = at < n ? at + 1 : n;
    name[used] = '\0';
    if (at >= n)
        error(x, line, "'${%s' has no closing brace", name);
    return at < n;
}

/* Expands "${...}" at text[0..n), which may hold further ones; *length is how many bytes it took.
 * NULL after an error, and for an unknown key in silence. */
static const char *expand_key(struct expansion *x, int line, const char *text, size_t n,
                              size_t *length)
{
    char name[MAX_KEY + 1];
    const char *found, *why = NULL;
    bool ok;

    if (x->n_keys == MAX_KEYS) {
        error(x, line, "keys are nested too deeply");
        *length = n;
        return NULL;
    }
    x->n_keys++;
    ok = read_name(x, line, text, n, name, length);
    x->n_keys--;
    if (!ok)
        return NULL;
    found = look_up(x, name, !x->silent, &why);
    if (!found && !x->silent)
        unknown_key(x, line, name, why);
    return found;
}

/* A text of several lines: those after the first get the indentation of the template's line. */
static void add_indented(struct str *out, const char *text, const char *indent, size_t n_indent)
{
    size_t n = strlen(text);

    while (n && text[n - 1] == '\n')
        n--;
    for (size_t i = 0; i < n; i++) {
        str_addn(out, &text[i], 1);
        if (text[i] == '\n' && text[i + 1] != '\n')
            str_addn(out, indent, n_indent);
    }
}

/* A line that is nothing but one key whose text is empty vanishes. */
static bool is_lone_empty(const struct line *line, size_t indent, size_t length, const char *text)
{
    return text && !*text && indent + length == line->n;
}

/* The head of a loop or condition, inside a function: "    for (...)\n". */
static bool ends_in_head(const struct str *out)
{
    size_t start = out->n > 1 ? out->n - 1 : 0;

    while (start > 0 && out->text[start - 1] != '\n')
        start--;
    return out->n > 1 && out->text[start] == ' ' && str_ends(&out->text[start], ")\n");
}

/* Whether the line is a brace right behind an //#end, and what was written last its head. */
static bool is_brace_of_block(const struct expansion *x, int index)
{
    return index > 0 && line_is(&x->lines[index - 1], "end") && line_is_brace(&x->lines[index]) &&
           ends_in_head(x->out);
}

/* The line behind //#parallel. */
static void add_loop(struct expansion *x, int index, const char *text)
{
    if (!loop_add(x->out, text, &x->loop, x->keys->split))
        error(x, index, "this is no loop of %s from 0 to below %s, as //#parallel says",
              x->loop.var, x->loop.limit);
    x->at_loop = false;
}

static void expand_line(struct expansion *x, int index)
{
    const struct line *line = &x->lines[index];
    const size_t indent = line_indentation(line);
    struct str text = { .arena = x->arena };

    for (size_t at = 0; at < line->n;) {
        size_t length;
        const char *value;

        if (line->text[at] != '$' || at + 1 >= line->n || line->text[at + 1] != '{') {
            str_addn(&text, &line->text[at++], 1);
            continue;
        }
        value = expand_key(x, index, &line->text[at], line->n - at, &length);
        if (at == indent && is_lone_empty(line, indent, length, value))
            return;
        if (value)
            add_indented(&text, value, line->text, indent);
        at += length;
    }
    x->n_bytes += text.n;
    if (x->silent)
        return;
    if (is_brace_of_block(x, index)) {
        x->out->n--;
        str_add(x->out, " {\n");
        return;
    }
    if (x->at_loop)
        add_loop(x, index, str_text(&text));
    else
        str_add(x->out, str_text(&text));
    str_add(x->out, "\n");
}

/* The keys of a line, for template_ask. */
static void ask_line(struct expansion *x, int index)
{
    const struct line *line = &x->lines[index];

    for (size_t at = 0; at < line->n;) {
        const bool is_key = line->text[at] == '$' && at + 1 < line->n && line->text[at + 1] == '{';
        size_t length = 1;
        const char *value =
            is_key ? expand_key(x, index, &line->text[at], line->n - at, &length) : NULL;

        x->n_bytes += is_key ? (value ? strlen(value) : 0) : 1;
        at += length;
    }
    x->at_loop = false;
}

/* The next blank-separated word of a control line, its keys expanded; "" at the end. */
static const char *next_word(struct expansion *x, int index, const char **at)
{
    const char *end = x->lines[index].text + x->lines[index].n;
    struct str word = { .arena = x->arena };

    while (*at < end && isspace((unsigned char)**at))
        (*at)++;
    while (*at < end && !isspace((unsigned char)**at)) {
        const bool is_key = **at == '$' && *at + 1 < end && (*at)[1] == '{';
        size_t length = 1;
        const char *value = is_key ? expand_key(x, index, *at, (size_t)(end - *at), &length) : NULL;

        if (!is_key)
            str_addn(&word, *at, 1);
        else if (value)
            str_add(&word, value);
        *at += length;
    }
    return str_text(&word);
}

static bool is_true(const char *text)
{
    return text && *text && strcmp(text, "0") != 0;
}

static void expand_lines(struct expansion *x, int from, int to);

/* One branch of an //#if; nothing is written of the other, but its keys count as used. */
static void expand_branch(struct expansion *x, bool kept, int from, int to)
{
    const bool was_silent = x->silent, *const was_around = x->around;

    x->around = &was_silent;
    x->silent = was_silent || !kept;
    expand_lines(x, from, to);
    x->silent = was_silent;
    x->around = was_around;
}

/* What is written whether its //#if holds or not. */
static void expand_body(struct expansion *x, int open, int end)
{
    const bool was_silent = x->silent, *const was_around = x->around;

    if (!was_around) {
        error(x, open, "this //#body does not stand directly in an //#if");
        return;
    }
    x->around = NULL;
    x->silent = *was_around;
    expand_lines(x, open + 1, end);
    x->silent = was_silent;
    x->around = was_around;
}

/* Whether a condition asks a text that happens to be "0". */
static bool asks_a_zero(const struct expansion *x, const char *name)
{
    const struct key *key = map_get(&x->keys->map, name);

    for (int i = 0; i < x->n_loops; i++)
        if (strcmp(x->loops[i].name, name) == 0)
            return false;
    return key && key->is_text && strcmp(key->text, "0") == 0;
}

static void expand_if(struct expansion *x, const char *condition, int open, const struct cut *cut)
{
    const bool negated = *condition == '!';
    const char *why = NULL;
    const bool holds = is_true(look_up(x, condition + negated, false, &why)) != negated;

    if (!x->silent && asks_a_zero(x, condition + negated)) {
        error(x, open, "'%s' is the text 0, which is no flag", condition + negated);
        return;
    }
    expand_branch(x, holds, open + 1, cut->otherwise);
    if (x->ok && cut->otherwise < cut->end)
        expand_branch(x, !holds, cut->otherwise + 1, cut->end);
}

/* The number of repetitions that `count` gives: digits, or a key; -1 after an error. */
static long repetitions(struct expansion *x, int line, const char *count)
{
    const char *why = NULL;
    const char *number = isdigit((unsigned char)*count) ? count : look_up(x, count, false, &why);
    char *end;
    long n;

    if (!number && x->silent)
        return 0;
    if (!number) {
        unknown_key(x, line, count, why);
        return -1;
    }
    n = strtol(number, &end, 10);
    if (end == number || *end || n < 0 || n > MAX_REPEAT) {
        error(x, line, "'%s' is not a number of repetitions", number);
        return -1;
    }
    return n;
}

static void expand_for(struct expansion *x, int line, const char *variable, const char *count,
                       int from, int to)
{
    const long n = repetitions(x, line, count);
    const bool was_silent = x->silent, *const was_around = x->around;

    if (n < 0)
        return;
    if (x->n_loops == MAX_LOOPS) {
        error(x, line, "blocks are nested too deeply");
        return;
    }
    x->loops[x->n_loops++].name = variable;
    x->silent = was_silent || n == 0;
    x->around = NULL;
    for (long i = 0; (i < n || i == 0) && x->ok; i++) {
        snprintf(x->loops[x->n_loops - 1].text, sizeof x->loops->text, "%ld", i);
        expand_lines(x, from, to);
    }
    x->around = was_around;
    x->silent = was_silent;
    x->n_loops--;
}

/* The line of the //#end of the block opened at line `open`; -1 after an error. */
static int expand_known(struct expansion *x, int open, int to, const char *first,
                        const char *second)
{
    struct cut cut;
    int wrong = open;
    const char *message = cut_block(x->lines, open, to, &cut, &wrong);

    if (message) {
        error(x, wrong, "%s", message);
        return -1;
    }
    x->n_blocks++;
    if (line_is(&x->lines[open], "if"))
        expand_if(x, first, open, &cut);
    else if (line_is(&x->lines[open], "for"))
        expand_for(x, open, first, second, open + 1, cut.end);
    else
        expand_body(x, open, cut.end);
    x->n_blocks--;
    return cut.end;
}

/* The block opened at line `open`; returns the line of its end, `to` after an error. */
static int expand_block(struct expansion *x, int open, int to)
{
    const char *at = line_control(&x->lines[open]), *word = next_word(x, open, &at);
    const char *first = next_word(x, open, &at), *second = next_word(x, open, &at);
    const char *rest = next_word(x, open, &at);
    const int n_words = *rest ? 4 : *second ? 3 : *first ? 2 : 1;
    int end = -1;

    if (strcmp(word, "else") == 0)
        error(x, open, "this //#else belongs to no //#if");
    else if (!(strcmp(word, "if") == 0 && n_words == 2) &&
             !(strcmp(word, "for") == 0 && n_words == 3) &&
             !(strcmp(word, "body") == 0 && n_words == 1))
        error(x, open, "'//#%s' is not a control line, or has the wrong number of words", word);
    else if (x->n_blocks == MAX_BLOCKS)
        error(x, open, "blocks are nested too deeply");
    else
        end = expand_known(x, open, to, first, second);
    return end < 0 ? to : end;
}

/* The first that is written counts: others are its further dims, or in blocks left out. */
static void expand_parallel(struct expansion *x, int line)
{
    const char *at = line_control(&x->lines[line]) + strlen("parallel");
    const char *var = next_word(x, line, &at), *limit = next_word(x, line, &at);
    const char *grain = next_word(x, line, &at), *rest = next_word(x, line, &at);

    if (x->silent)
        return;
    if (!*limit || *rest) {
        error(x, line, "'//#parallel' has the wrong number of words");
        return;
    }
    if (x->loop.var)
        return;
    x->loop = (struct loop){ var, limit, *grain ? grain : "1" };
    x->at_loop = true;
}

static void expand_lines(struct expansion *x, int from, int to)
{
    for (int i = from; i < to; i++) {
        if (++x->n_steps > MAX_STEPS || x->n_bytes > MAX_BYTES) {
            error(x, i, "the text becomes too long");
            return;
        }
        if (line_is(&x->lines[i], "parallel"))
            expand_parallel(x, i);
        else if (line_control(&x->lines[i]))
            i = expand_block(x, i, to);
        else if (x->out)
            expand_line(x, i);
        else
            ask_line(x, i);
    }
}

/* out NULL: nothing is written. */
static bool expand(struct ctx *ctx, const char *name, const char *text, struct keys *keys,
                   struct str *out)
{
    struct arena temporary = { NULL };
    struct expansion x = {
        .ctx = ctx, .arena = &temporary, .name = name, .keys = keys, .out = out, .ok = true
    };

    x.lines = lines_of(x.arena, text, &x.n_lines);
    expand_lines(&x, 0, x.n_lines);
    for (size_t i = 0; i < keys->map.n && x.ok; i++) {
        const struct key *key = keys->map.entries[i].value;

        if (!key->used)
            error(&x, 0, "unused key '%s'", keys->map.entries[i].key);
    }
    if (x.ok && keys->split && (!x.loop.var || x.at_loop))
        error(&x, 0, "there is no loop behind a //#parallel");
    arena_release(&temporary);
    return x.ok;
}

bool template_expand(struct ctx *ctx, const char *name, const char *text, struct keys *keys,
                     struct str *out)
{
    return expand(ctx, name, text, keys, out);
}

bool template_ask(struct ctx *ctx, const char *name, const char *text, struct keys *keys)
{
    return expand(ctx, name, text, keys, NULL);
}
