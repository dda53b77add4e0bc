/* pattern_parse.c - the text of a pattern becomes a tree.
 *
 * needs    the text and where it stands
 * gives    the tree, or errors: all those that leave the structure clear (names, attributes,
 *          numbers of inputs), and the first that does not
 * method   recursive descent; docs/guide/patterns.md has the grammar, a function here per rule.
 *          What `_` means is handed down as `previous`; names that operators get by themselves are
 *          given in the order of the text. */
#include "partition/pattern_parse.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

size_t pattern_offset(const struct pattern_parser *p)
{
    return (size_t)(p->at - p->text);
}

void pattern_complain(struct pattern_parser *p, size_t at, const char *format, ...)
{
    struct str message = { .arena = &p->ctx->perm };
    va_list args;

    if (p->stopped) /* what comes now follows from the error before */
        return;
    va_start(args, format);
    str_vprintf(&message, format, args);
    va_end(args);
    source_error(p->ctx, p->source, at, "%s", str_text(&message));
    p->failed = true;
}

static void skip_blanks(struct pattern_parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

size_t pattern_word_length(const char *at)
{
    size_t n = 0;

    if (!isalpha((unsigned char)*at) && *at != '_')
        return 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_' ||
           (at[n] == '.' && isalpha((unsigned char)at[n + 1])))
        n++;
    return n;
}

void pattern_expected(struct pattern_parser *p, const char *what)
{
    size_t n;

    skip_blanks(p);
    n = pattern_word_length(p->at);
    if (!*p->at)
        pattern_complain(p, pattern_offset(p), "expected %s, found the end of the pattern", what);
    else
        pattern_complain(
            p, pattern_offset(p), "expected %s, found '%s'", what,
            str_safe(&p->ctx->perm, arena_strndup(&p->ctx->perm, p->at, n ? n : 1), 40));
    p->stopped = true;
}

bool pattern_peek(struct pattern_parser *p, const char *token)
{
    skip_blanks(p);
    return strncmp(p->at, token, strlen(token)) == 0;
}

bool pattern_accept(struct pattern_parser *p, const char *token)
{
    if (p->stopped || !pattern_peek(p, token))
        return false;
    p->at += strlen(token);
    return true;
}

bool pattern_expect(struct pattern_parser *p, const char *token)
{
    if (pattern_accept(p, token))
        return true;
    pattern_expected(p, arena_printf(&p->ctx->scratch, "'%s'", token));
    return false;
}

const char *pattern_word(struct pattern_parser *p)
{
    const char *start;

    skip_blanks(p);
    start = p->at;
    p->at += pattern_word_length(start);
    return p->at == start ? NULL : arena_strndup(&p->ctx->perm, start, (size_t)(p->at - start));
}

struct pattern *pattern_make(struct pattern_parser *p, enum pattern_kind kind, size_t at)
{
    struct pattern *pattern = arena_new(&p->ctx->perm, struct pattern);

    *pattern = (struct pattern){ .kind = kind, .offset = at, .op = OP_COUNT, .type.rank = -1 };
    return pattern;
}

void pattern_set_args(struct pattern_parser *p, struct pattern *pattern, int n,
                      struct pattern *const *args)
{
    p->n_parts += n;
    if (p->n_parts > PATTERN_MAX_PARTS && !p->stopped) {
        pattern_complain(p, pattern->offset, "more than %d parts in one pattern",
                         PATTERN_MAX_PARTS);
        p->stopped = true;
    }
    pattern->n_args = n;
    pattern->args = arena_array(&p->ctx->perm, struct pattern *, n);
    if (n)
        memcpy(pattern->args, args, (size_t)n * sizeof *args);
}

/* --- steps ------------------------------------------------------------------------------------ */

static struct pattern *parse_leaf(struct pattern_parser *p, const char *name, size_t at)
{
    struct pattern *pattern = pattern_make(p, PAT_WILDCARD, at);

    if (name)
        pattern_set_capture(p, pattern, name, at);
    return pattern;
}

/* A word that stands for an operator here, or for a value: alone among the inputs of an operator.
 */
static struct pattern *parse_word(struct pattern_parser *p, struct pattern *previous, bool in_args,
                                  const char *capture, size_t capture_at)
{
    const size_t at = pattern_offset(p);
    const char *word = pattern_word(p);

    if (strcmp(word, "_") == 0)
        return previous;
    if (strcmp(word, "tuple") == 0 && pattern_peek(p, "(")) {
        struct pattern *pattern = pattern_make(p, PAT_TUPLE, at);

        pattern_accept(p, "(");
        pattern_parse_args(p, pattern, previous);
        return pattern;
    }
    if (strcmp(word, "dominates") == 0 && pattern_peek(p, "(")) {
        struct pattern *pattern = pattern_parse_dominates(p, previous, at);

        if (capture && pattern)
            pattern_complain(p, capture_at, "name the operators in dominates, not the whole");
        return pattern;
    }
    if (in_args && !capture && !pattern_peek(p, "(") && !pattern_peek(p, "{") &&
        !(*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return parse_leaf(p, word, at);
    return pattern_parse_op(p, word, at, previous, capture, capture_at);
}

/* "name=" in front of a part; NULL = none. */
static const char *parse_name(struct pattern_parser *p)
{
    const char *const start = p->at;
    const char *name = pattern_word(p);

    if (name && pattern_peek(p, "=")) {
        p->at++;
        return name;
    }
    p->at = start;
    return NULL;
}

/* The last operators of a chain in parentheses are what a name in front of it captures. */
static void name_group(struct pattern_parser *p, struct pattern *pattern, const char *name,
                       size_t at)
{
    if (pattern->kind == PAT_OPTIONAL || pattern->kind == PAT_DOMINATES ||
        pattern->kind == PAT_TUPLE)
        pattern_complain(p, at, "'%s=' names an operator, alternatives or '*'", name);
    else if (pattern->kind == PAT_ALTERNATIVE && !pattern->capture)
        pattern_set_capture(p, pattern, name, at);
    else
        pattern_complain(p, at, "this has a name already: write '%s=' inside the parentheses",
                         name);
}

static struct pattern *parse_item(struct pattern_parser *p, struct pattern *previous, bool in_args)
{
    struct pattern *pattern = NULL;
    const char *name;
    size_t at;

    skip_blanks(p);
    at = pattern_offset(p);
    name = parse_name(p);
    skip_blanks(p);
    if (*p->at == '*') {
        p->at++;
        pattern = pattern_make(p, PAT_WILDCARD, at);
        if (name)
            pattern_set_capture(p, pattern, name, at);
    } else if (*p->at == '@') {
        const size_t class_at = pattern_offset(p);

        p->at++;
        pattern = pattern_parse_class(p, previous, class_at);
        if (name)
            pattern_set_capture(p, pattern, name, at);
    } else if (pattern_accept(p, "(")) {
        pattern = pattern_parse_chain(p, previous, false);
        pattern_expect(p, ")");
        if (name && pattern)
            name_group(p, pattern, name, at);
    } else if (pattern_word_length(p->at)) {
        pattern = parse_word(p, previous, in_args, name, at);
    } else {
        pattern_expected(p, "an operator, a name or '('");
    }
    if (pattern && pattern_peek(p, ":")) {
        struct pattern unused = { .kind = PAT_WILDCARD };

        if (pattern == previous)
            pattern_complain(p, pattern_offset(p),
                             "'_' takes no conditions: they belong to the step before");
        pattern_accept(p, ":");
        pattern_parse_conditions(p, pattern == previous ? &unused : pattern);
    }
    return pattern;
}

/* Whether `_` stands somewhere in the step; of alternatives in every one, or in any. */
static bool reads(const struct pattern *step, const struct pattern *previous, bool in_every)
{
    const bool all = step->kind == PAT_ALTERNATIVE && in_every;

    if (step == previous)
        return true;
    if (step->previous && step->previous != previous)
        return reads(step->previous, previous, in_every);
    for (int i = 0; i < step->n_args; i++)
        if (reads(step->args[i], previous, in_every) != all)
            return !all;
    return all;
}

/* a | b | c */
static struct pattern *parse_group(struct pattern_parser *p, struct pattern *previous, bool in_args)
{
    struct pattern *branches[PATTERN_MAX_ARGS], *pattern;
    const size_t at = pattern_offset(p);
    const int n_outer = p->names.n;
    struct names all = { .arena = &p->ctx->scratch };
    int n = 0;

    do {
        if (n == PATTERN_MAX_ARGS) {
            pattern_complain(p, pattern_offset(p), "more than %d alternatives", PATTERN_MAX_ARGS);
            p->stopped = true;
            return NULL;
        }
        branches[n] = parse_item(p, previous, in_args);
        if (!branches[n])
            return NULL;
        n++;
        /* what the branches name: each may use the same names, what follows may use none of them */
        for (int i = n_outer; i < p->names.n; i++)
            if (!names_has(&all, p->names.at[i]))
                names_add(&all, p->names.at[i]);
        p->names.n = n_outer;
    } while (pattern_accept(p, "|"));
    for (int i = 0; i < all.n; i++)
        names_add(&p->names, all.at[i]);
    if (n == 1)
        return branches[0];
    pattern = pattern_make(p, PAT_ALTERNATIVE, at);
    pattern_set_args(p, pattern, n, branches);
    return pattern;
}

/* group, or group?: which goes on with what was before it. */
static struct pattern *parse_step(struct pattern_parser *p, struct pattern *previous, bool in_args)
{
    struct pattern *step = parse_group(p, previous, in_args), *optional, *args[2];
    size_t at;

    skip_blanks(p);
    at = pattern_offset(p);
    if (!step || p->stopped || !pattern_accept(p, "?"))
        return step;
    if (!reads(step, previous, true)) {
        pattern_complain(p, at,
                         "'?' makes this step optional, but it does not read the previous result");
        diag_help(p->ctx, "a chain may begin with a value: x=* -> pad(_)? -> conv2d(_, w)");
    }
    optional = pattern_make(p, PAT_OPTIONAL, step->offset);
    args[0] = step;
    args[1] = previous;
    pattern_set_args(p, optional, 2, args);
    return optional;
}

struct pattern *pattern_parse_chain(struct pattern_parser *p, struct pattern *previous,
                                    bool in_args)
{
    struct pattern *step = NULL;
    bool first = true;

    if (++p->nesting > PATTERN_MAX_NESTING && !p->stopped) {
        pattern_complain(p, pattern_offset(p), "nested more than %d deep", PATTERN_MAX_NESTING);
        p->stopped = true;
    }
    while (!p->stopped) {
        step = parse_step(p, previous, in_args && first);
        if (!step || p->stopped)
            break;
        if (step != previous && !step->previous && reads(step, previous, false))
            step->previous = previous;
        if (!first && !reads(step, previous, true)) {
            pattern_complain(p, step->offset, "this step does not read the previous result");
            diag_help(p->ctx, "'_' is where it goes: add(_, y)");
        }
        if (!pattern_accept(p, "->"))
            break;
        previous = step;
        first = false;
    }
    p->nesting--;
    return p->stopped ? NULL : step;
}

/* A chain with nothing before it: `_` in its first step is some value. */
struct pattern *pattern_parse_new_chain(struct pattern_parser *p)
{
    skip_blanks(p);
    return pattern_parse_chain(p, pattern_make(p, PAT_WILDCARD, pattern_offset(p)), false);
}

static bool is_root(const struct pattern *pattern)
{
    switch (pattern->kind) {
    case PAT_OP:
    case PAT_OP_CLASS:
    case PAT_TUPLE_GET:
    case PAT_DOMINATES: return true;
    case PAT_OPTIONAL:
    case PAT_ALTERNATIVE:
        for (int i = 0; i < pattern->n_args; i++)
            if (!is_root(pattern->args[i]))
                return false;
        return true;
    default: return false;
    }
}

struct pattern *pattern_parse(struct ctx *ctx, const struct source *source, const char *text)
{
    struct pattern_parser p = { .ctx = ctx,
                                .source = source,
                                .text = arena_strdup(&ctx->perm, text),
                                .names = { .arena = &ctx->perm } };
    struct pattern *pattern;

    p.at = p.text;
    skip_blanks(&p);
    if (!*p.at) {
        source_error(ctx, source, 0, "the pattern is empty");
        return NULL;
    }
    pattern = pattern_parse_new_chain(&p);
    skip_blanks(&p);
    if (pattern && !p.stopped && *p.at)
        pattern_expected(&p, "'->' or the end");
    if (pattern && !p.failed && !is_root(pattern))
        pattern_complain(&p, pattern->offset,
                         "a pattern ends with an operator; here it may be a value alone");
    return p.failed ? NULL : pattern;
}
