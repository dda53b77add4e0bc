/* precedence.c - see precedence.h.
 *
 * method   precedence climbing over the tokens between separators, which include "=", "," and keywords. Declarations
 *          look like products of words; they have no second operator, so nothing becomes of it. Where "(a) & b" may be
 *          a cast or not, the expression is left alone */
#include "codegen_c/text/precedence.h"

#include <string.h>

enum { CONDITIONAL = 2, LEAST = 3, NONE = 0 };

struct showing {
    const struct tokens *tokens;
    int at;
    int *opens, *closes; /* [n] parentheses to put in front of and behind each token */
    bool *dropped;       /* [n] tokens that go … */
    int *instead;        /* … and 1 + the one whose place in the line this one takes; 0: its own */
    bool index;          /* between brackets */
    bool unsure;         /* the expression has a "(a) & b": nothing is put around its parts */
};

/* What an expression is made of: its tokens [from, to), and its outermost operator's precedence. */
struct operand {
    int from, to;
    int binds;   /* NONE: no binary operator */
    int number;  /* 0 or 1 if it is that literal, or a product with 0, else -1 */
    bool product; /* that is 0 */
};

static const struct token *token_of(const struct showing *s, int i)
{
    return tokens_at(s->tokens, i);
}

static bool is_mark(const struct showing *s, int i, const char *marks)
{
    return tokens_is_mark(s->tokens, i, marks);
}

static bool is_kind(const struct showing *s, int i, enum token_kind kind)
{
    return tokens_is_kind(s->tokens, i, kind);
}

static bool is_comment(const struct showing *s, int i)
{
    return is_kind(s, i, TOKEN_COMMENT) || is_kind(s, i, TOKEN_DIRECTIVE);
}

static void skip_comments(struct showing *s)
{
    while (is_comment(s, s->at))
        s->at++;
}

static int precedence_of(const struct showing *s, int i)
{
    static const char *const levels[] = { "||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %" };

    for (int level = 0; level < (int)(sizeof levels / sizeof *levels); level++)
        if (is_mark(s, i, levels[level]))
            return LEAST + level;
    return NONE;
}

static bool is_keyword(const struct showing *s, int i)
{
    return is_kind(s, i, TOKEN_WORD) && token_is_any(token_of(s, i), "return case else do goto");
}

/* --- casts ------------------------------------------------------------------------------------ */

static bool is_type_word(const struct token *token)
{
    return token_is_any(token, "const unsigned signed char short int long float double void struct union size_t") ||
           (token->n > 2 && memcmp(token->text + token->n - 2, "_t", 2) == 0) ||
           (token->n > 3 && memcmp(token->text, "__m", 3) == 0);
}

enum group { EXPRESSION, TYPE, EITHER };

/* What stands between the parentheses at `open` and `close`. */
static enum group group_of(const struct showing *s, int open, int close)
{
    bool type = false;

    for (int i = open + 1; i < close; i++) {
        if (!is_kind(s, i, TOKEN_WORD) && !is_mark(s, i, "*"))
            return EXPRESSION;
        type = type || is_type_word(token_of(s, i));
    }
    if (type || is_mark(s, close - 1, "*"))
        return TYPE;
    return close == open + 2 ? EITHER : EXPRESSION;
}

static bool begins_operand(const struct showing *s, int i)
{
    return is_kind(s, i, TOKEN_WORD) || is_kind(s, i, TOKEN_STRING) || is_mark(s, i, "( ~ ! ++ --");
}

/* Whether the parenthesis at s->at begins a cast. */
static bool is_cast(struct showing *s)
{
    const int end = tokens_behind(s->tokens, s->at);
    const enum group group = group_of(s, s->at, end - 1);

    if (group == EXPRESSION || is_mark(s, end, "{"))
        return false;
    if (begins_operand(s, end) && !is_mark(s, end, "("))
        return true;
    if (group == EITHER) {
        s->unsure = s->unsure || is_mark(s, end, "&");
        return false;
    }
    return begins_operand(s, end) || is_mark(s, end, "- + * &");
}

/* --- expressions ------------------------------------------------------------------------------ */

static void show_until(struct showing *s, const char *close);

static void show_group(struct showing *s)
{
    const char *close = is_mark(s, s->at, "(") ? ")" : is_mark(s, s->at, "[") ? "]" : "}";
    const bool outer = s->index;

    s->index = is_mark(s, s->at, "[") || (outer && is_mark(s, s->at, "("));
    s->at++;
    show_until(s, close);
    s->at++;
    s->index = outer;
}

/* Words and strings in a row, calls, elements, with the signs in front. False: there is none. */
static bool read_operand(struct showing *s)
{
    const int from = s->at;

    for (;;) {
        skip_comments(s);
        if (is_mark(s, s->at, "(") && is_cast(s))
            s->at = tokens_behind(s->tokens, s->at);
        else if (is_mark(s, s->at, "! ~ - + * & ++ --"))
            s->at++;
        else
            break;
    }
    for (bool more = true; more;) {
        if (is_mark(s, s->at, "( ["))
            show_group(s);
        else if (is_mark(s, s->at, "{") && s->at > from && is_mark(s, s->at - 1, ")"))
            show_group(s); /* a compound literal, or a body, whose statements are shown too */
        else if ((is_kind(s, s->at, TOKEN_WORD) && !is_keyword(s, s->at)) || is_kind(s, s->at, TOKEN_STRING) ||
                 is_mark(s, s->at, ". -> ++ --"))
            s->at++;
        else
            more = false;
    }
    return s->at > from;
}

/* Whether it is made of names and integers: no call, no element, and no float, whose product with 0 need not be 0. */
static bool is_plain(const struct showing *s, const struct operand *operand)
{
    for (int i = operand->from; i < operand->to; i++) {
        const struct token *token = token_of(s, i);

        if (token->kind == TOKEN_MARK && !token_is_any(token, "* + - ( )"))
            return false;
        for (int k = 0; token->kind == TOKEN_WORD && k < token->n && !s->index; k++)
            if (token->text[k] >= 'a' && token->text[k] <= 'z')
                return false;
    }
    return true;
}

static void drop(struct showing *s, int from, int to)
{
    for (int i = from; i < to; i++)
        s->dropped[i] = !is_comment(s, i);
}

/* The right operand alone. */
static struct operand without_left(struct showing *s, const struct operand *left, const struct operand *right)
{
    struct operand rest = *right;

    while (is_comment(s, rest.from))
        rest.from++;
    drop(s, left->from, rest.from);
    s->instead[rest.from] = s->instead[left->from] ? s->instead[left->from] : left->from + 1;
    return rest;
}

static struct operand without_right(struct showing *s, const struct operand *left, const struct operand *right)
{
    drop(s, left->to, right->to);
    return *left;
}

/* Products with 1 and 0, sums with 0: what templates have where a number of theirs is that (MISRA C:2012, rule 2.2). */
static bool simplify(struct showing *s, int operator, struct operand *left, struct operand *right)
{
    const bool product = is_mark(s, operator, "*"), sum = is_mark(s, operator, "+");
    const bool zeros = s->index || left->product || right->product;

    if ((product && left->number == 1) || (sum && left->number == 0 && zeros)) {
        *left = without_left(s, left, right);
    } else if ((product && right->number == 1) ||
               ((sum || is_mark(s, operator, "-")) && right->number == 0 && zeros)) {
        *left = without_right(s, left, right);
    } else if (product && left->number == 0 && is_plain(s, right)) {
        *left = without_right(s, left, right);
        left->product = true;
    } else if (product && right->number == 0 && is_plain(s, left)) {
        *left = without_left(s, left, right);
        left->product = true;
    } else {
        return false;
    }
    return true;
}

static void surround(struct showing *s, const struct operand *operand, int precedence)
{
    int from = operand->from, to = operand->to - 1;

    if (operand->binds <= precedence || operand->binds == NONE || s->unsure)
        return;
    while (is_comment(s, from))
        from++;
    while (is_comment(s, to))
        to--;
    s->opens[from]++;
    s->closes[to]++;
}

/* Binary operators that bind at least this strongly. */
static struct operand read_binary(struct showing *s, int least)
{
    struct operand left = { .binds = NONE, .number = -1 };

    skip_comments(s);
    left.from = s->at;
    read_operand(s);
    left.to = s->at;
    if (left.to == left.from + 1 && (token_is(token_of(s, left.from), "0") || token_is(token_of(s, left.from), "1")))
        left.number = *token_of(s, left.from)->text - '0';
    for (;;) {
        struct operand right;
        int precedence, operator;

        skip_comments(s);
        operator = s->at;
        precedence = precedence_of(s, operator);
        if (precedence == NONE || precedence < least)
            return left;
        s->at++;
        right = read_binary(s, precedence + 1);
        if (simplify(s, operator, &left, &right))
            continue;
        surround(s, &left, precedence);
        surround(s, &right, precedence);
        left.to = right.to;
        left.binds = precedence;
        left.number = -1;
    }
}

static struct operand read_conditional(struct showing *s)
{
    struct operand condition = read_binary(s, LEAST), yes, no;

    skip_comments(s);
    if (!is_mark(s, s->at, "?"))
        return condition;
    s->at++;
    yes = read_conditional(s);
    skip_comments(s);
    if (!is_mark(s, s->at, ":"))
        return condition;
    s->at++;
    no = read_conditional(s);
    surround(s, &condition, CONDITIONAL);
    surround(s, &yes, CONDITIONAL);
    surround(s, &no, CONDITIONAL);
    condition.to = no.to;
    condition.binds = CONDITIONAL;
    return condition;
}

/* Expressions up to the bracket that closes this group, or the end. */
static void show_until(struct showing *s, const char *close)
{
    const bool outer = s->unsure;

    while (s->at < s->tokens->n && !is_mark(s, s->at, close)) {
        const int from = s->at;

        s->unsure = false;
        if (is_mark(s, s->at, "{"))
            show_group(s);
        else
            read_conditional(s);
        if (s->at == from)
            s->at++; /* a separator */
    }
    s->unsure = outer;
}

/* --- the tokens again ------------------------------------------------------------------------- */

static void add_open(struct tokens *out, struct token *before)
{
    const struct token open = { .kind = TOKEN_MARK,
                                .text = "(",
                                .n = 1,
                                .newlines = before->newlines,
                                .column = before->column,
                                .space = before->space };

    tokens_add(out, &open);
    before->newlines = 0;
    before->space = false;
}

enum { MOST_BRACKETS = 64 };

static void put_in(const struct showing *s, struct tokens *out)
{
    static const struct token close = { .kind = TOKEN_MARK, .text = ")", .n = 1 };
    int column[MOST_BRACKETS] = { 0 }, moved[MOST_BRACKETS] = { 0 }, depth = 0, shift = 0, was = 0;

    for (int i = 0; i < s->tokens->n; i++) {
        struct token token = s->tokens->items[i];

        was = token.newlines ? token.column : was + token.space;
        if (s->dropped[i]) {
            was += token.n;
            continue;
        }
        if (s->instead[i]) {
            const struct token *place = &s->tokens->items[s->instead[i] - 1];

            token.newlines = place->newlines;
            token.space = place->space;
            token.column = place->column;
        }
        if (token.newlines) /* lines that begin below a bracket move with it */
            shift = depth > 0 && depth < MOST_BRACKETS && was == column[depth] ? moved[depth] : 0;
        token.column += shift;
        for (int k = 0; k < s->opens[i]; k++, shift++)
            add_open(out, &token);
        tokens_add(out, &token);
        if (is_mark(s, i, "( [ {") && ++depth < MOST_BRACKETS) {
            column[depth] = was + 1;
            moved[depth] = shift;
        } else if (is_mark(s, i, ") ] }") && depth > 0) {
            depth--;
        }
        for (int k = 0; k < s->closes[i]; k++, shift++)
            tokens_add(out, &close);
        was += token.n;
    }
}

/* "float sum = 0, most = 0;" */
static void write_floats(struct tokens *tokens)
{
    struct token *items = tokens->items;
    bool in_float = false;

    for (int i = 0; i + 2 < tokens->n; i++) {
        if (items[i].kind == TOKEN_MARK && token_is_any(&items[i], "; { } ( )"))
            in_float = false;
        in_float = in_float || (token_is(&items[i], "float") && items[i + 1].kind == TOKEN_WORD);
        if (in_float && token_is(&items[i], "=") && token_is(&items[i + 1], "0") &&
            token_is_any(&items[i + 2], ", ;")) {
            items[i + 1].text = "0.0f";
            items[i + 1].n = 4;
        }
    }
}

void precedence_show(struct tokens *tokens)
{
    struct tokens out = { .arena = tokens->arena };
    struct showing s = { .tokens = tokens,
                         .opens = arena_array(tokens->arena, int, tokens->n + 1),
                         .closes = arena_array(tokens->arena, int, tokens->n + 1),
                         .dropped = arena_array(tokens->arena, bool, tokens->n + 1),
                         .instead = arena_array(tokens->arena, int, tokens->n + 1) };

    write_floats(tokens);
    show_until(&s, "\n"); /* no token: up to the end */
    put_in(&s, &out);
    *tokens = out;
}
