/* pattern_conditions.c - what a pattern asks of a value (":const f32 (64,_,3,3)") and of an
 * operator
 * ("{strides=[1,1]}"). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "partition/pattern_parse.h"

/* --- of a value ------------------------------------------------------------------------------- */

static void parse_integer(struct pattern_parser *p, int64_t *out)
{
    char *end;

    pattern_peek(p, "");
    errno = 0;
    *out = strtoll(p->at, &end, 10);
    if (end == p->at)
        pattern_expected(p, "a whole number");
    else if (errno == ERANGE)
        pattern_complain(p, pattern_offset(p), "this number is beyond 64 bits");
    p->at = end;
}

static void set_rank(struct pattern_parser *p, struct type_test *test, int64_t rank, size_t at)
{
    if (rank < 0 || rank > MAX_RANK)
        pattern_complain(p, at, "a rank is 0 to %d, found %lld", MAX_RANK, (long long)rank);
    else if (test->rank >= 0 && test->rank != rank)
        pattern_complain(p, at, "rank %lld and rank %d exclude each other", (long long)rank,
                         test->rank);
    else
        test->rank = (int)rank;
}

/* "64,_,3,3)" */
static void parse_shape(struct pattern_parser *p, struct type_test *test)
{
    const size_t at = pattern_offset(p);
    int64_t dim[MAX_RANK] = { 0 };
    int n = 0;

    while (!p->stopped && !pattern_accept(p, ")")) {
        if (n && !pattern_accept(p, ",")) {
            pattern_expected(p, "',' or ')'");
            return;
        }
        if (n == MAX_RANK) {
            pattern_complain(p, at, "a shape has at most %d extents", MAX_RANK);
            p->stopped = true;
            return;
        }
        dim[n] = -1;
        if (!pattern_accept(p, "_")) {
            const size_t extent_at = pattern_offset(p);

            parse_integer(p, &dim[n]);
            if (!p->stopped && dim[n] < 0)
                pattern_complain(p, extent_at, "an extent is not negative; '_' is any");
        }
        n++;
    }
    if (test->has_shape)
        pattern_complain(p, at, "a second shape");
    test->has_shape = true;
    memcpy(test->dim, dim, (size_t)n * sizeof *dim);
    set_rank(p, test, n, at);
}

static uint64_t dtype_bit(enum dtype dtype)
{
    return dtype == DTYPE_NONE ? 0 : (uint64_t)1 << dtype;
}

/* The element type that is next, if there is one. */
static enum dtype peek_dtype(struct pattern_parser *p)
{
    char word[16] = "";
    size_t n;

    pattern_peek(p, "");
    n = pattern_word_length(p->at);
    if (n < sizeof word)
        memcpy(word, p->at, n);
    return dtype_from_name(word);
}

/* f32|f16, the first of which is known to be there. */
static void parse_dtypes(struct pattern_parser *p, struct type_test *test, enum dtype dtype)
{
    const char *behind;

    if (test->dtypes)
        pattern_complain(p, pattern_offset(p),
                         "a second element type; several are written f32|f16");
    for (;;) {
        test->dtypes |= dtype_bit(dtype);
        pattern_word(p);
        behind = p->at;
        if (!pattern_accept(p, "|"))
            return;
        dtype = peek_dtype(p);
        if (dtype == DTYPE_NONE) { /* it was the sign of an alternative */
            p->at = behind;
            return;
        }
    }
}

static void set_kind(struct pattern_parser *p, struct pattern *pattern, enum pattern_kind kind,
                     size_t at)
{
    if (pattern->kind == PAT_WILDCARD)
        pattern->kind = kind;
    else if (pattern->kind == PAT_CONSTANT || pattern->kind == PAT_VARIABLE)
        pattern_complain(p, at, "const and var may be given once");
    else
        pattern_complain(p, at,
                         "the result of an operator is never constant: only values in an "
                         "operator's parentheses take const and var");
}

static void complain_of_condition(struct pattern_parser *p, const char *word, size_t at)
{
    const char *candidates[DTYPE_COUNT + 3], *nearest;
    size_t n = 0;

    for (int i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++)
        candidates[n++] = dtype_name((enum dtype)i);
    candidates[n++] = "const";
    candidates[n++] = "var";
    candidates[n++] = "rank";
    nearest = str_nearest(word, candidates, n);
    pattern_complain(p, at, "'%s' is not a condition", str_safe(&p->ctx->perm, word, 60));
    if (nearest)
        diag_help(p->ctx, "did you mean %s?", nearest);
    else
        diag_help(p->ctx, "there are const, var, element types such as f32|f16, a shape such as "
                          "(64,_,3,3), and rank=4");
}

static void parse_condition_word(struct pattern_parser *p, struct pattern *pattern)
{
    const size_t at = pattern_offset(p);
    const char *word = pattern_word(p);
    int64_t rank;

    if (strcmp(word, "const") == 0)
        set_kind(p, pattern, PAT_CONSTANT, at);
    else if (strcmp(word, "var") == 0)
        set_kind(p, pattern, PAT_VARIABLE, at);
    else if (strcmp(word, "rank") == 0 && pattern_expect(p, "=")) {
        parse_integer(p, &rank);
        if (!p->stopped)
            set_rank(p, &pattern->type, rank, at);
    } else if (!p->stopped) {
        complain_of_condition(p, word, at);
    }
}

void pattern_parse_conditions(struct pattern_parser *p, struct pattern *pattern)
{
    int n = 0;

    for (; !p->stopped; n++) {
        const enum dtype dtype = peek_dtype(p);

        if (pattern_accept(p, "("))
            parse_shape(p, &pattern->type);
        else if (dtype != DTYPE_NONE)
            parse_dtypes(p, &pattern->type, dtype);
        else if (pattern_word_length(p->at))
            parse_condition_word(p, pattern);
        else
            break;
    }
    if (!n)
        pattern_expected(p, "a condition behind ':'");
}

/* --- of an operator --------------------------------------------------------------------------- */

static const struct attr_field *find_field(const struct attr_schema *schema, const char *name)
{
    for (int i = 0; i < schema->n_fields; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return &schema->fields[i];
    return NULL;
}

static void complain_of_field(struct pattern_parser *p, enum op op, const char *name, size_t at)
{
    const struct attr_schema *schema = attrs_schema(op_row(op)->attrs);
    struct str fields = { .arena = &p->ctx->scratch };

    pattern_complain(p, at, "%s has no attribute '%s'", op_name(op),
                     str_safe(&p->ctx->perm, name, 60));
    for (int i = 0; i < schema->n_fields; i++)
        str_printf(&fields, "%s%s", i ? ", " : "", schema->fields[i].name);
    if (schema->n_fields)
        diag_help(p->ctx, "it has %s", str_text(&fields));
    else
        diag_help(p->ctx, "it has none");
}

/* A whole number, a real one, a list, a word or quoted text: what is there, whatever is wanted. */
static void parse_value(struct pattern_parser *p, struct term *out)
{
    size_t n;

    pattern_peek(p, "");
    *out = (struct term){ .kind = TERM_ABSENT };
    if (*p->at == '"' || *p->at == '\'') {
        n = strcspn(p->at + 1, *p->at == '"' ? "\"" : "'");
        if (!p->at[n + 1]) {
            pattern_complain(p, pattern_offset(p), "this text has no closing %c", *p->at);
            p->stopped = true;
            return;
        }
        *out =
            (struct term){ .kind = TERM_TEXT, .text = arena_strndup(&p->ctx->perm, p->at + 1, n) };
        p->at += n + 2;
    } else if (pattern_accept(p, "-inf")) {
        *out = (struct term){ .kind = TERM_REAL, .real = -strtod("inf", NULL) };
    } else if (pattern_word_length(p->at)) {
        *out = (struct term){ .kind = TERM_TEXT, .text = pattern_word(p) };
    } else if (pattern_accept(p, "[")) {
        out->kind = TERM_INTS;
        while (!p->stopped && !pattern_accept(p, "]")) {
            if (out->ints.n == MAX_INTS) {
                pattern_complain(p, pattern_offset(p), "more than %d elements", MAX_INTS);
                p->stopped = true;
            } else if (out->ints.n && !pattern_accept(p, ",")) {
                pattern_expected(p, "',' or ']'");
            } else {
                parse_integer(p, &out->ints.at[out->ints.n++]);
            }
        }
    } else {
        n = strspn(p->at, "+-0123456789");
        if (n && (p->at[n] == '.' || p->at[n] == 'e' || p->at[n] == 'E')) {
            char *end;

            *out = (struct term){ .kind = TERM_REAL, .real = strtod(p->at, &end) };
            if (end == p->at)
                pattern_expected(p, "a number");
            p->at = end;
        } else {
            out->kind = TERM_INT;
            parse_integer(p, &out->integer);
        }
    }
}

/* The value as the attribute's kind wants it. False when it is of another kind; *wanted tells. */
static bool fit_value(enum attr_kind kind, struct term *value, const char **wanted)
{
    switch (kind) {
    case ATTR_BOOL:
        *wanted = "true or false";
        if (value->kind == TERM_TEXT &&
            (strcmp(value->text, "true") == 0 || strcmp(value->text, "false") == 0))
            *value = (struct term){ .kind = TERM_INT, .integer = *value->text == 't' };
        return value->kind == TERM_INT && (value->integer == 0 || value->integer == 1);
    case ATTR_INT: *wanted = "a whole number"; return value->kind == TERM_INT;
    case ATTR_INTS: *wanted = "a list such as [1,1]"; return value->kind == TERM_INTS;
    case ATTR_REAL:
        *wanted = "a number";
        if (value->kind == TERM_TEXT && strcmp(value->text, "inf") == 0)
            *value = (struct term){ .kind = TERM_REAL, .real = strtod("inf", NULL) };
        if (value->kind == TERM_INT)
            *value = (struct term){ .kind = TERM_REAL, .real = (double)value->integer };
        return value->kind == TERM_REAL;
    case ATTR_DTYPE:
        *wanted = "an element type";
        return value->kind == TERM_TEXT && dtype_from_name(value->text) != DTYPE_NONE;
    case ATTR_WORD: *wanted = "a word"; return value->kind == TERM_TEXT;
    case ATTR_REALS: *wanted = "nothing: lists of reals cannot be compared"; return false;
    }
    return false;
}

static void parse_attr(struct pattern_parser *p, struct pattern *pattern)
{
    const size_t at = (pattern_peek(p, ""), pattern_offset(p));
    const char *name = pattern_word(p), *wanted;
    const struct attr_field *field;
    struct term value;
    size_t value_at;

    if (!name) {
        pattern_expected(p, "an attribute");
        return;
    }
    if (!pattern_expect(p, "="))
        return;
    pattern_peek(p, "");
    value_at = pattern_offset(p);
    parse_value(p, &value);
    if (p->stopped || pattern->op == OP_COUNT)
        return;
    field = find_field(attrs_schema(op_row(pattern->op)->attrs), name);
    if (!field) {
        complain_of_field(p, pattern->op, name, at);
        return;
    }
    for (int i = 0; i < pattern->n_attrs; i++)
        if (pattern->attrs[i].field == field->name)
            pattern_complain(p, at, "attribute '%s' is given twice", name);
    if (!fit_value(field->kind, &value, &wanted)) {
        pattern_complain(p, value_at, "attribute '%s' takes %s", name, wanted);
        return;
    }
    pattern->attrs[pattern->n_attrs++] = (struct attr_test){ field->name, value };
}

void pattern_parse_attrs(struct pattern_parser *p, struct pattern *pattern)
{
    enum { MAX_ATTRS = 24 };
    bool first = true;

    pattern->attrs = arena_array(&p->ctx->perm, struct attr_test, MAX_ATTRS);
    while (!p->stopped && !pattern_accept(p, "}")) {
        if (!first && !pattern_accept(p, ",")) {
            pattern_expected(p, "',' or '}'");
            return;
        }
        first = false;
        if (pattern->n_attrs == MAX_ATTRS) {
            pattern_complain(p, pattern_offset(p), "more than %d attributes", MAX_ATTRS);
            p->stopped = true;
            return;
        }
        parse_attr(p, pattern);
    }
}
