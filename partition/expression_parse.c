/* expression_parse.c - the text of an expression becomes a tree.
 *
 * needs    the text and where it stands
 * gives    the tree, or one error with its column
 * method   precedence climbing over a table of signs. Nesting of the text and depth of the tree are
 *          limited, so that whoever walks the tree may recurse. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "partition/expression_tree.h"

enum { MAX_NESTING = 64, MAX_DEPTH = 256, MAX_ARGS = MAX_INTS };

struct parser {
    struct ctx *ctx;
    const struct source *source;
    const char *text, *at;
    int nesting;
};

struct sign_row {
    const char *text;
    enum sign sign;
    int level; /* binds tighter the higher it is */
};

/* Two characters before one, so that "<=" is not "<". */
static const struct sign_row signs[] = {
    { "||", SIGN_OR, 0 },       { "&&", SIGN_AND, 1 },        { "==", SIGN_EQUAL, 2 },
    { "!=", SIGN_UNEQUAL, 2 },  { "<=", SIGN_LESS_EQUAL, 3 }, { ">=", SIGN_GREATER_EQUAL, 3 },
    { "<", SIGN_LESS, 3 },      { ">", SIGN_GREATER, 3 },     { "+", SIGN_ADD, 4 },
    { "-", SIGN_SUBTRACT, 4 },  { "*", SIGN_MULTIPLY, 5 },    { "/", SIGN_DIVIDE, 5 },
    { "%", SIGN_REMAINDER, 5 },
};

static const struct {
    const char *name;
    int least, most;
} callees[CALLEE_COUNT] = {
    [CALLEE_MIN] = { "min", 1, MAX_ARGS },    [CALLEE_MAX] = { "max", 1, MAX_ARGS },
    [CALLEE_ABS] = { "abs", 1, 1 },           [CALLEE_CEIL_DIV] = { "ceil_div", 2, 2 },
    [CALLEE_ROUND_UP] = { "round_up", 2, 2 }, [CALLEE_LOG2] = { "log2", 1, 1 },
    [CALLEE_LEN] = { "len", 1, 1 },           [CALLEE_PRESENT] = { "present", 1, 1 },
};

static struct expression *parse_conditional(struct parser *p);

static size_t offset(const struct parser *p)
{
    return (size_t)(p->at - p->text);
}

static void *fail_at(struct parser *p, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void *fail_at(struct parser *p, size_t at, const char *format, ...)
{
    struct str message = { .arena = &p->ctx->perm };
    va_list args;

    va_start(args, format);
    str_vprintf(&message, format, args);
    va_end(args);
    source_error(p->ctx, p->source, at, "%s", str_text(&message));
    return NULL;
}

static void skip_blanks(struct parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

static size_t word_length(const char *at)
{
    size_t n = 0;

    if (!isalpha((unsigned char)*at) && *at != '_')
        return 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    return n;
}

/* "expected WHAT, found ...": what stands here, for messages. */
static void *expected(struct parser *p, const char *what)
{
    size_t n;

    skip_blanks(p);
    if (!*p->at)
        return fail_at(p, offset(p), "expected %s, found the end of the expression", what);
    n = word_length(p->at);
    return fail_at(p, offset(p), "expected %s, found '%s'", what,
                   str_safe(&p->ctx->perm, arena_strndup(&p->ctx->perm, p->at, n ? n : 1), 40));
}

static bool accept(struct parser *p, char character)
{
    skip_blanks(p);
    if (*p->at != character)
        return false;
    p->at++;
    return true;
}

static bool enter(struct parser *p)
{
    if (++p->nesting <= MAX_NESTING)
        return true;
    fail_at(p, offset(p), "nested more than %d deep", MAX_NESTING);
    return false;
}

/* A part with these operands, from `start` to here; NULL when it is too deep. */
static struct expression *make(struct parser *p, enum expression_kind kind, size_t start,
                               int n_args, struct expression *const *args)
{
    struct expression *part = arena_new(&p->ctx->perm, struct expression);

    *part = (struct expression){ .kind = kind,
                                 .text = p->text,
                                 .start = start,
                                 .end = offset(p),
                                 .n_args = n_args,
                                 .args = arena_array(&p->ctx->perm, struct expression *, n_args) };
    for (int i = 0; i < n_args; i++) {
        part->args[i] = args[i];
        part->depth = args[i]->depth >= part->depth ? args[i]->depth + 1 : part->depth;
    }
    if (part->depth > MAX_DEPTH)
        return fail_at(p, start, "operations are nested more than %d deep", MAX_DEPTH);
    return part;
}

static struct expression *parse_number(struct parser *p)
{
    const size_t start = offset(p);
    const size_t digits = strspn(p->at, "0123456789");
    const bool real = p->at[digits] == '.' || p->at[digits] == 'e' || p->at[digits] == 'E';
    struct term number = { .kind = real ? TERM_REAL : TERM_INT };
    struct expression *part;
    char *end;

    errno = 0;
    if (real)
        number.real = strtod(p->at, &end);
    else
        number.integer = strtoll(p->at, &end, 10);
    if (errno == ERANGE && (!real || number.real > 1))
        return fail_at(p, start, "'%s' is too big a number",
                       arena_strndup(&p->ctx->perm, p->at, digits < 40 ? digits : 40));
    p->at = end;
    if (word_length(p->at))
        return expected(p, "an operator behind the number");
    part = make(p, EXPRESSION_CONSTANT, start, 0, NULL);
    part->constant = number;
    return part;
}

static struct expression *parse_quoted(struct parser *p)
{
    const size_t start = offset(p);
    const char quote = *p->at;
    const char *end = strchr(p->at + 1, quote);
    struct expression *part;

    if (!end)
        return fail_at(p, start, "this text has no closing %c", quote);
    p->at = end + 1;
    part = make(p, EXPRESSION_CONSTANT, start, 0, NULL);
    part->constant = (struct term){ .kind = TERM_TEXT,
                                    .text = arena_strndup(&p->ctx->perm, p->text + start + 1,
                                                          offset(p) - start - 2) };
    return part;
}

/* Operands up to `close`, at most MAX_ARGS; their number, or -1 after an error. */
static int parse_operands(struct parser *p, char close, struct expression **args)
{
    int n = 0;

    if (accept(p, close))
        return 0;
    for (;;) {
        if (n == MAX_ARGS) {
            fail_at(p, offset(p), "more than %d elements", MAX_ARGS);
            return -1;
        }
        args[n] = parse_conditional(p);
        if (!args[n])
            return -1;
        n++;
        if (accept(p, close))
            return n;
        if (!accept(p, ',')) {
            expected(p, close == ')' ? "',' or ')'" : "',' or ']'");
            return -1;
        }
    }
}

static struct expression *parse_call(struct parser *p, const char *name, size_t start)
{
    struct expression *args[MAX_ARGS], *part;
    const char *names[CALLEE_COUNT], *nearest;
    int callee = 0, n;

    while (callee < CALLEE_COUNT && strcmp(callees[callee].name, name) != 0)
        callee++;
    if (callee == CALLEE_COUNT) {
        for (int i = 0; i < CALLEE_COUNT; i++)
            names[i] = callees[i].name;
        nearest = str_nearest(name, names, CALLEE_COUNT);
        fail_at(p, start, "unknown function '%s'", name);
        if (nearest)
            diag_help(p->ctx, "did you mean %s?", nearest);
        else
            diag_help(p->ctx, "there are min, max, abs, ceil_div, round_up, log2, len, present");
        return NULL;
    }
    n = parse_operands(p, ')', args);
    if (n < 0)
        return NULL;
    if (n < callees[callee].least || n > callees[callee].most)
        return fail_at(p, start, "%s takes %d operand%s%s, found %d", name, callees[callee].least,
                       callees[callee].least == 1 ? "" : "s",
                       callees[callee].most == callees[callee].least ? "" : " or more", n);
    if (callee == CALLEE_PRESENT && args[0]->kind != EXPRESSION_NAME)
        return fail_at(p, args[0]->start, "present asks for a name, as in present(b)");
    part = make(p, EXPRESSION_CALL, start, n, args);
    if (part)
        part->callee = (enum callee)callee;
    return part;
}

/* word, word.field, word(operands) */
static struct expression *parse_word(struct parser *p)
{
    const size_t start = offset(p), n = word_length(p->at);
    const char *name = arena_strndup(&p->ctx->perm, p->at, n), *field = NULL;
    struct expression *part;

    p->at += n;
    if (*p->at == '.') {
        const size_t n_field = word_length(p->at + 1);

        p->at++;
        if (!n_field)
            return expected(p, "a field behind '.'");
        field = arena_strndup(&p->ctx->perm, p->at, n_field);
        p->at += n_field;
    } else if (accept(p, '(')) {
        return parse_call(p, name, start);
    } else {
        p->at = p->text + start + n;
    }
    part = make(p, EXPRESSION_NAME, start, 0, NULL);
    part->name = name;
    part->field = field;
    part->name_start = start;
    return part;
}

static struct expression *parse_list(struct parser *p)
{
    struct expression *args[MAX_ARGS];
    const size_t start = offset(p);
    int n;

    p->at++;
    n = parse_operands(p, ']', args);
    return n < 0 ? NULL : make(p, EXPRESSION_LIST, start, n, args);
}

static struct expression *parse_parentheses(struct parser *p)
{
    const size_t start = offset(p);
    struct expression *part;

    p->at++;
    part = parse_conditional(p);
    if (!part)
        return NULL;
    if (!accept(p, ')'))
        return expected(p, "')'");
    part->start = start;
    part->end = offset(p);
    part->in_parentheses = true;
    return part;
}

static struct expression *parse_primary(struct parser *p)
{
    struct expression *part, *pair[2];

    skip_blanks(p);
    if (isdigit((unsigned char)*p->at))
        part = parse_number(p);
    else if (word_length(p->at))
        part = parse_word(p);
    else if (*p->at == '"' || *p->at == '\'')
        part = parse_quoted(p);
    else if (*p->at == '(')
        part = parse_parentheses(p);
    else if (*p->at == '[')
        part = parse_list(p);
    else
        return expected(p, "a number, a name or '('");
    while (part && accept(p, '[')) {
        pair[0] = part;
        pair[1] = parse_conditional(p);
        if (!pair[1])
            return NULL;
        if (!accept(p, ']'))
            return expected(p, "']'");
        part = make(p, EXPRESSION_INDEX, part->start, 2, pair);
    }
    return part;
}

static struct expression *parse_unary(struct parser *p)
{
    struct expression *operand, *part;
    size_t start;
    enum sign sign;

    skip_blanks(p);
    start = offset(p);
    if (*p->at != '-' && !(*p->at == '!' && p->at[1] != '='))
        return parse_primary(p);
    sign = *p->at == '-' ? SIGN_NEGATE : SIGN_NOT;
    p->at++;
    if (!enter(p))
        return NULL;
    operand = parse_unary(p);
    p->nesting--;
    part = operand ? make(p, EXPRESSION_UNARY, start, 1, &operand) : NULL;
    if (part) {
        part->sign = sign;
        part->end = operand->end;
    }
    return part;
}

static const struct sign_row *peek_sign(struct parser *p, int level)
{
    skip_blanks(p);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(p->at, signs[i].text, strlen(signs[i].text)) == 0)
            return signs[i].level >= level ? &signs[i] : NULL;
    return NULL;
}

static struct expression *parse_binary(struct parser *p, int level)
{
    struct expression *pair[2], *part = parse_unary(p);
    const struct sign_row *row;

    while (part && (row = peek_sign(p, level))) {
        if (sign_is_comparison(row->sign) && !part->in_parentheses &&
            part->kind == EXPRESSION_BINARY && sign_is_comparison(part->sign)) {
            fail_at(p, offset(p), "comparisons do not chain");
            diag_help(p->ctx, "write a < b && b < c, or put one of them in parentheses");
            return NULL;
        }
        p->at += strlen(row->text);
        pair[0] = part;
        pair[1] = parse_binary(p, row->level + 1);
        if (!pair[1])
            return NULL;
        part = make(p, EXPRESSION_BINARY, pair[0]->start, 2, pair);
        if (part) {
            part->sign = row->sign;
            part->end = pair[1]->end;
        }
    }
    return part;
}

static struct expression *parse_conditional(struct parser *p)
{
    struct expression *args[3], *part = NULL;

    if (!enter(p))
        return NULL;
    args[0] = parse_binary(p, 0);
    if (!args[0] || !accept(p, '?')) {
        part = args[0];
    } else if ((args[1] = parse_conditional(p))) {
        if (!accept(p, ':'))
            expected(p, "':' of this '?'");
        else if ((args[2] = parse_conditional(p)))
            part = make(p, EXPRESSION_CONDITIONAL, args[0]->start, 3, args);
        if (part)
            part->end = args[2]->end;
    }
    p->nesting--;
    return part;
}

struct expression *expression_parse(struct ctx *ctx, const struct source *source, const char *text)
{
    struct parser p = { .ctx = ctx, .source = source, .text = arena_strdup(&ctx->perm, text) };
    struct expression *whole;

    p.at = p.text;
    skip_blanks(&p);
    if (!*p.at)
        return fail_at(&p, offset(&p), "the expression is empty");
    whole = parse_conditional(&p);
    if (!whole)
        return NULL;
    skip_blanks(&p);
    if (!*p.at)
        return whole;
    expected(&p, "an operator or the end");
    if (*p.at == '=')
        diag_help(ctx, "'==' compares");
    else if (*p.at == '&' || *p.at == '|')
        diag_help(ctx, "'&&' and '||' join conditions");
    return NULL;
}
