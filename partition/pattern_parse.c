/* pattern_parse.c - the text of a pattern becomes a tree.
 *
 * needs    the text and where it stands
 * gives    the tree, or errors: all those that leave the structure clear (names, attributes,
 * numbers of inputs), and the first that does not method   recursive descent; docs/patterns.md has
 * the grammar, a function here per rule. What `_` means is handed down as `previous`; names that
 * operators get by themselves are given in the order of the text. */
#include "partition/pattern_parse.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static struct pattern *parse_chain(struct pattern_parser *p, struct pattern *previous,
                                   bool in_args);
static struct pattern *parse_new_chain(struct pattern_parser *p);

size_t pattern_offset(const struct pattern_parser *p)
{
    return (size_t)(p->at - p->text);
}

void pattern_complain(struct pattern_parser *p, size_t at, const char *format, ...)
{
    struct str message = { .arena = &p->ctx->perm };
    va_list args;

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
    if (p->stopped)
        return;
    p->stopped = true;
    if (!*p->at)
        pattern_complain(p, pattern_offset(p), "expected %s, found the end of the pattern", what);
    else
        pattern_complain(
            p, pattern_offset(p), "expected %s, found '%s'", what,
            str_safe(&p->ctx->perm, arena_strndup(&p->ctx->perm, p->at, n ? n : 1), 40));
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

static struct pattern *make(struct pattern_parser *p, enum pattern_kind kind, size_t at)
{
    struct pattern *pattern = arena_new(&p->ctx->perm, struct pattern);

    *pattern = (struct pattern){ .kind = kind, .offset = at, .op = OP_COUNT, .type.rank = -1 };
    return pattern;
}

static void set_args(struct pattern_parser *p, struct pattern *pattern, int n,
                     struct pattern *const *args)
{
    p->n_parts += n;
    if (p->n_parts > PATTERN_MAX_PARTS && !p->stopped) {
        p->stopped = true;
        pattern_complain(p, pattern->offset, "more than %d parts in one pattern",
                         PATTERN_MAX_PARTS);
    }
    pattern->n_args = n;
    pattern->args = arena_array(&p->ctx->perm, struct pattern *, n);
    if (n)
        memcpy(pattern->args, args, (size_t)n * sizeof *args);
}

/* --- captures ------------------------------------------------------------------------------------
 */

static bool is_bare_name(const char *name)
{
    static const char *const names[] = { "nodes",       "macs",         "weight_bytes",
                                         "input_bytes", "output_bytes", "out" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return dtype_from_name(name) != DTYPE_NONE;
}

/* A name that the user gave. */
static void set_capture(struct pattern_parser *p, struct pattern *pattern, const char *name,
                        size_t at)
{
    if (p->no_names)
        pattern_complain(p, at, "'%s' stands in the path of dominates, which captures nothing",
                         name);
    else if (strchr(name, '.'))
        pattern_complain(p, at, "'%s' is no name of a capture: it has a dot", name);
    else if (is_bare_name(name))
        pattern_complain(p, at, "'%s' is no name of a capture: expressions have another use for it",
                         name);
    else if (names_has(&p->names, name)) {
        pattern_complain(p, at, "capture '%s' is used twice", name);
        diag_help(p->ctx,
                  "a value that is read twice begins a chain: x=* -> multiply(_, sigmoid(_))");
    }
    pattern->capture = name;
    names_add(&p->names, name);
}

/* --- operators -----------------------------------------------------------------------------------
 */

static enum op parse_op_name(struct pattern_parser *p, const char *name, size_t at)
{
    const char *candidates[2 * OP_COUNT], *nearest;
    const enum op op = op_from_short_name(name);
    size_t n = 0;

    if (op == OP_CALL || op == OP_RETURN)
        pattern_complain(p, at, "'%s' belongs to the structure of the graph, no pattern takes it",
                         name);
    if (op != OP_COUNT)
        return op;
    for (int i = 0; i < OP_COUNT; i++) {
        candidates[n++] = op_short_name((enum op)i);
        candidates[n++] = op_name((enum op)i);
    }
    nearest = str_nearest(name, candidates, n);
    pattern_complain(p, at, "unknown operator '%s'", str_safe(&p->ctx->perm, name, 60));
    if (nearest)
        diag_help(p->ctx, "did you mean %s?", nearest);
    else
        diag_help(p->ctx,
                  "docs/operators.md lists them; a value stands in parentheses of an operator");
    return OP_COUNT;
}

static void check_inputs(struct pattern_parser *p, const struct pattern *pattern)
{
    const struct op_row *row;
    const char *wanted;

    if (pattern->op == OP_COUNT)
        return;
    row = op_row(pattern->op);
    if ((pattern->any_args || pattern->n_args >= row->least_inputs) &&
        (row->most_inputs < 0 || pattern->n_args <= row->most_inputs))
        return;
    if (row->most_inputs < 0)
        wanted = arena_printf(&p->ctx->scratch, "%d or more", row->least_inputs);
    else if (row->most_inputs != row->least_inputs)
        wanted = arena_printf(&p->ctx->scratch, "%d to %d", row->least_inputs, row->most_inputs);
    else
        wanted = arena_printf(&p->ctx->scratch, "%d", row->least_inputs);
    pattern_complain(p, pattern->offset, "%s takes %s input%s, found %d", op_name(pattern->op),
                     wanted, strcmp(wanted, "1") == 0 ? "" : "s", pattern->n_args);
    if (pattern->n_args < row->least_inputs)
        diag_help(p->ctx, "'...' as the last one stands for any others");
}

/* What follows '(' of an operator, a class or tuple. */
static void parse_args(struct pattern_parser *p, struct pattern *pattern, struct pattern *previous)
{
    struct pattern *args[PATTERN_MAX_ARGS];
    int n = 0;

    while (!p->stopped && !pattern_accept(p, ")")) {
        if (n && !pattern_accept(p, ",")) {
            pattern_expected(p, "',' or ')'");
            break;
        }
        if (pattern_accept(p, "...")) {
            pattern->any_args = true;
            pattern_expect(p, ")");
            break;
        }
        if (n == PATTERN_MAX_ARGS) {
            pattern_complain(p, pattern_offset(p), "more than %d inputs", PATTERN_MAX_ARGS);
            p->stopped = true;
            break;
        }
        args[n] = parse_chain(p, previous, true);
        if (args[n])
            n++;
    }
    /* concatenate(tuple(a, b)) */
    if (n == 1 && args[0]->kind == PAT_TUPLE && pattern->kind == PAT_OP)
        set_args(p, pattern, args[0]->n_args, args[0]->args);
    else
        set_args(p, pattern, n, args);
    for (int i = 0; i < pattern->n_args; i++)
        if (pattern->args[i]->kind == PAT_TUPLE)
            pattern_complain(p, pattern->args[i]->offset,
                             "tuple(...) stands alone in the parentheses of an operator");
}

/* An operator or a class without parentheses: the previous result is its first input. */
static void imply_args(struct pattern_parser *p, struct pattern *pattern, struct pattern *previous)
{
    set_args(p, pattern, 1, &previous);
    pattern->any_args = pattern->kind == PAT_OP_CLASS || pattern->op == OP_COUNT ||
                        op_row(pattern->op)->most_inputs != 1;
}

static struct pattern *parse_class(struct pattern_parser *p, struct pattern *previous, size_t at)
{
    struct pattern *pattern = make(p, PAT_OP_CLASS, at);
    const char *name = pattern_word(p);
    int found = -1;

    for (int i = PATTERN_VIEW; i <= PATTERN_OPAQUE; i++)
        if (name && op_class_name((enum op_pattern)i) &&
            strcmp(op_class_name((enum op_pattern)i), name) == 0)
            found = i;
    if (found < 0) {
        pattern_complain(p, at, "unknown class of operators '@%s'",
                         name ? str_safe(&p->ctx->perm, name, 60) : "");
        diag_help(p->ctx, "there are @elemwise, @broadcast, @injective, @reduce, @out_fusable");
    } else {
        pattern->op_class = (enum op_pattern)found;
    }
    if (pattern_accept(p, "("))
        parse_args(p, pattern, previous);
    else
        imply_args(p, pattern, previous);
    return pattern;
}

/* ".1" behind an operator. */
static struct pattern *parse_tuple_get(struct pattern_parser *p, struct pattern *op)
{
    const size_t at = pattern_offset(p);
    struct pattern *pattern;
    long index;
    char *end;
    int n_outputs;

    if (*p->at != '.' || !isdigit((unsigned char)p->at[1]))
        return op;
    index = strtol(p->at + 1, &end, 10);
    p->at = end;
    n_outputs = op->op == OP_COUNT ? -1 : op_row(op->op)->n_outputs;
    if (index >= (n_outputs < 0 ? INT_MAX : n_outputs)) {
        pattern_complain(p, at, "%s has %d output%s, the last is .%d", op_name(op->op), n_outputs,
                         n_outputs == 1 ? "" : "s", n_outputs - 1);
        index = 0;
    }
    pattern = make(p, PAT_TUPLE_GET, at);
    pattern->index = (int)index;
    set_args(p, pattern, 1, &op);
    return pattern;
}

static struct pattern *parse_op(struct pattern_parser *p, const char *name, size_t at,
                                struct pattern *previous, const char *capture, size_t capture_at)
{
    struct pattern *pattern = make(p, PAT_OP, at);

    pattern->op = parse_op_name(p, name, at);
    if (capture)
        set_capture(p, pattern, capture, capture_at);
    else if (!p->no_names && pattern->op != OP_COUNT)
        pattern->capture = names_own(&p->names, pattern->op);
    if (pattern_accept(p, "("))
        parse_args(p, pattern, previous);
    else
        imply_args(p, pattern, previous);
    check_inputs(p, pattern);
    if (pattern_accept(p, "{"))
        pattern_parse_attrs(p, pattern);
    return parse_tuple_get(p, pattern);
}

/* --- dominates -----------------------------------------------------------------------------------
 */

/* A path is a single operator at a time: what its inputs are is the matcher's business. */
static bool is_path(const struct pattern *pattern)
{
    switch (pattern->kind) {
    case PAT_OP:
    case PAT_OP_CLASS:
        for (int i = 0; i < pattern->n_args; i++)
            if (pattern->args[i]->kind > PAT_VARIABLE)
                return false;
        return true;
    case PAT_ALTERNATIVE:
        for (int i = 0; i < pattern->n_args; i++)
            if (!is_path(pattern->args[i]))
                return false;
        return true;
    default: return false;
    }
}

static struct pattern *parse_dominates(struct pattern_parser *p, struct pattern *previous,
                                       size_t at)
{
    struct pattern *pattern = make(p, PAT_DOMINATES, at), *args[3];
    const bool no_names = p->no_names;

    for (int i = 0; i < 3; i++) {
        if (!pattern_expect(p, i == 0 ? "(" : ","))
            return NULL;
        p->no_names = no_names || i == 1;
        args[i] = i == 0 ? parse_chain(p, previous, true) : parse_new_chain(p);
        p->no_names = no_names;
        if (!args[i])
            return NULL;
    }
    if (!pattern_expect(p, ")"))
        return NULL;
    set_args(p, pattern, 3, args);
    if (!is_path(args[1]))
        pattern_complain(p, args[1]->offset,
                         "the path of dominates is one operator, or alternatives of one operator "
                         "each, with nothing but values as inputs");
    if (args[2]->kind != PAT_OP && args[2]->kind != PAT_OP_CLASS &&
        args[2]->kind != PAT_ALTERNATIVE)
        pattern_complain(p, args[2]->offset, "the child of dominates is an operator");
    return pattern;
}

/* --- steps ---------------------------------------------------------------------------------------
 */

static struct pattern *parse_leaf(struct pattern_parser *p, const char *name, size_t at)
{
    struct pattern *pattern = make(p, PAT_WILDCARD, at);

    if (name)
        set_capture(p, pattern, name, at);
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
        struct pattern *pattern = make(p, PAT_TUPLE, at);

        pattern_accept(p, "(");
        parse_args(p, pattern, previous);
        return pattern;
    }
    if (strcmp(word, "dominates") == 0 && pattern_peek(p, "(")) {
        struct pattern *pattern = parse_dominates(p, previous, at);

        if (capture && pattern)
            pattern_complain(p, capture_at, "name the operators in dominates, not the whole");
        return pattern;
    }
    if (in_args && !capture && !pattern_peek(p, "(") && !pattern_peek(p, "{") &&
        !(*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return parse_leaf(p, word, at);
    return parse_op(p, word, at, previous, capture, capture_at);
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
        set_capture(p, pattern, name, at);
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
        pattern = make(p, PAT_WILDCARD, at);
        if (name)
            set_capture(p, pattern, name, at);
    } else if (*p->at == '@') {
        const size_t class_at = pattern_offset(p);

        p->at++;
        pattern = parse_class(p, previous, class_at);
        if (name)
            set_capture(p, pattern, name, at);
    } else if (pattern_accept(p, "(")) {
        pattern = parse_chain(p, previous, false);
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

/* Whether `_` stands somewhere in the step. */
static bool reads(const struct pattern *step, const struct pattern *previous)
{
    if (step == previous)
        return true;
    if (step->kind == PAT_ALTERNATIVE) {
        for (int i = 0; i < step->n_args; i++)
            if (!reads(step->args[i], previous))
                return false;
        return true;
    }
    if (step->previous && step->previous != previous)
        return reads(step->previous, previous);
    for (int i = 0; i < step->n_args; i++)
        if (reads(step->args[i], previous))
            return true;
    return false;
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
    pattern = make(p, PAT_ALTERNATIVE, at);
    set_args(p, pattern, n, branches);
    return pattern;
}

/* group, or group?: which goes on with what was before it. */
static struct pattern *parse_step(struct pattern_parser *p, struct pattern *previous, bool in_args)
{
    struct pattern *step = parse_group(p, previous, in_args), *optional, *args[2];
    size_t at;

    skip_blanks(p);
    at = pattern_offset(p);
    if (!step || !pattern_accept(p, "?"))
        return step;
    if (!reads(step, previous)) {
        pattern_complain(p, at,
                         "'?' says that the chain may go on without this, but this does not "
                         "read the result before it");
        diag_help(p->ctx, "a chain may begin with a value: x=* -> pad(_)? -> conv2d(_, w)");
    }
    optional = make(p, PAT_OPTIONAL, step->offset);
    args[0] = step;
    args[1] = previous;
    set_args(p, optional, 2, args);
    return optional;
}

static struct pattern *parse_chain(struct pattern_parser *p, struct pattern *previous, bool in_args)
{
    struct pattern *step = NULL;
    bool first = true;

    if (++p->nesting > PATTERN_MAX_NESTING && !p->stopped) {
        pattern_complain(p, pattern_offset(p), "nested more than %d deep", PATTERN_MAX_NESTING);
        p->stopped = true;
    }
    while (!p->stopped) {
        step = parse_step(p, previous, in_args && first);
        if (!step)
            break;
        if (step != previous && !step->previous && reads(step, previous)) {
            step->previous = previous;
        } else if (!first && !reads(step, previous)) {
            pattern_complain(p, step->offset, "this step does not read the result before it");
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
static struct pattern *parse_new_chain(struct pattern_parser *p)
{
    skip_blanks(p);
    return parse_chain(p, make(p, PAT_WILDCARD, pattern_offset(p)), false);
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
    pattern = parse_new_chain(&p);
    skip_blanks(&p);
    if (pattern && !p.stopped && *p.at)
        pattern_expected(&p, "'->' or the end");
    if (pattern && !p.failed && !is_root(pattern))
        pattern_complain(&p, pattern->offset,
                         "a pattern ends with an operator; here it may be a value alone");
    return p.failed ? NULL : pattern;
}
