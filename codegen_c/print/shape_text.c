#include "codegen_c/print/shape_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/state.h"
#include "codegen_c/select/configure.h"

struct parser {
    struct codegen *codegen;
    struct shape_text *text;
    struct tokens tokens;
    const struct emitted *emitted;
    const char *name;
    int at; /* in tokens */
};

static bool is(const struct piece *piece, const char *text)
{
    return token_is(&piece->token, text);
}

static bool is_word(const struct piece *piece)
{
    return piece->token.kind == TOKEN_WORD && !isdigit((unsigned char)*piece->token.text);
}

static bool is_integer(const struct piece *piece)
{
    for (int i = 0; i < piece->token.n; i++)
        if (!isdigit((unsigned char)piece->token.text[i]))
            return false;
    return piece->token.kind == TOKEN_WORD;
}

static int slot_of(struct parser *p, const struct weight *weight, int argument)
{
    struct shape_text *text = p->text;

    for (int i = 0; i < text->n_arrays; i++)
        if (text->arrays[i] == weight && text->argument[i] == argument)
            return i;
    text->arrays[text->n_arrays] = weight;
    text->argument[text->n_arrays] = argument;
    return text->n_arrays++;
}

/* "array3" of a function that takes arrays: which it is. */
static int argument_of(const struct parser *p, const struct token *token)
{
    static const char stem[] = "array";
    long i;

    if (!p->emitted->takes_arrays || !str_starts(token->text, stem) || token->n == sizeof stem - 1)
        return NOTHING;
    for (int k = sizeof stem - 1; k < token->n; k++)
        if (!isdigit((unsigned char)token->text[k]))
            return NOTHING;
    i = strtol(token->text + sizeof stem - 1, NULL, 10) - 1;
    return i < p->emitted->n_arrays ? (int)i : NOTHING;
}

static const struct weight *weight_of(const struct parser *p, const struct token *token)
{
    for (const struct weight *w = p->codegen->weights.first; w; w = w->next)
        if ((token_is(token, w->c_name) || token_is(token, w->expression)) &&
            str_starts(token->text, w->expression))
            return w;
    return NULL;
}

/* "net_w.v" is one piece. */
static void join_array(struct parser *p, struct piece *piece)
{
    const struct weight *weight = weight_of(p, &piece->token);
    const char *end;

    if (!weight)
        return;
    end = piece->token.text + strlen(weight->expression);
    piece->token.n = (int)strlen(weight->expression);
    while (p->at + 1 < p->tokens.n && p->tokens.items[p->at + 1].text < end)
        p->at++;
}

static void find_arrays(struct parser *p)
{
    for (int i = 0; i < p->text->n; i++) {
        struct piece *piece = &p->text->pieces[i];
        const int argument =
            piece->token.kind == TOKEN_WORD ? argument_of(p, &piece->token) : NOTHING;
        const struct weight *weight = argument == NOTHING && piece->token.kind == TOKEN_WORD
                                          ? weight_of(p, &piece->token)
                                          : NULL;

        if (argument != NOTHING)
            piece->array = slot_of(p, p->emitted->arrays[argument], argument);
        else if (weight)
            piece->array = slot_of(p, weight, NOTHING);
    }
}

static bool ends_statement(const struct piece *piece)
{
    return is(piece, ";") || is(piece, "{") || is(piece, "}") ||
           piece->token.kind == TOKEN_DIRECTIVE;
}

static void take_apart(struct parser *p, const char *source)
{
    struct shape_text *text = p->text;
    const char *end = source, *gap = source;
    /* Whether pointers are restricted is no difference: the common function has none that one of them lacks. Bytes that
     * are written could be anything's, so that all would be read again. */
    const bool may_lack = text->region->fn->ret->inputs[0]->type.dtype == DTYPE_F32;
    int statement = 0, lists = 0; /* of initialisers, which are open */
    bool ends_list = false;

    for (p->at = 0; p->at < p->tokens.n; p->at++) {
        const struct token *token = &p->tokens.items[p->at];
        struct piece *piece = &text->pieces[text->n];

        if (token->kind == TOKEN_COMMENT || (may_lack && token_is(token, "restrict"))) {
            end = token->text + token->n;
            continue;
        }
        *piece = (struct piece){ .token = *token,
                                 .gap = gap,
                                 .n_gap = (int)(token->text - gap),
                                 .array = NOTHING,
                                 .member = NOTHING,
                                 .function = token_is(token, p->name) };
        if (token->kind == TOKEN_WORD)
            join_array(p, piece);
        end = gap = piece->token.text + piece->token.n;
        if (text->n && lists == 0 && !ends_list && ends_statement(piece - 1))
            statement = text->n;
        ends_list = lists > 0 && is(piece, "}");
        if (is(piece, "{") && text->n && (lists > 0 || is(piece - 1, "=")))
            lists++;
        lists -= ends_list;
        piece->statement = statement;
        text->n++;
    }
    text->rest = end;
}

static int behind(const struct shape_text *text, int open)
{
    int depth = 0;

    for (int i = open; i < text->n; i++) {
        depth +=
            is(&text->pieces[i], "(") || is(&text->pieces[i], "{") || is(&text->pieces[i], "[");
        depth -=
            is(&text->pieces[i], ")") || is(&text->pieces[i], "}") || is(&text->pieces[i], "]");
        if (depth == 0)
            return i;
    }
    return NOTHING;
}

/* The parameters; those that are arrays go. */
static bool find_parameters(struct parser *p, int n_parameters)
{
    struct shape_text *text = p->text;
    int i = 0, n = 0, from, depth = 0;

    while (i + 1 < text->n && !(text->pieces[i].function && is(&text->pieces[i + 1], "(")))
        i++;
    text->opened = i + 1;
    text->params = i + 1 < text->n ? behind(text, i + 1) : NOTHING;
    if (text->params == NOTHING || text->params + 1 >= text->n ||
        !is(&text->pieces[text->params + 1], "{"))
        return false;
    if (!p->emitted->takes_arrays)
        return true;
    from = n_parameters ? text->params : text->opened + 1;
    for (i = text->opened; i < text->params && n_parameters; i++) {
        depth += is(&text->pieces[i], "(") - is(&text->pieces[i], ")");
        n += depth == 1 && is(&text->pieces[i], ",");
        if (n == n_parameters && is(&text->pieces[i], ",")) {
            from = i;
            break;
        }
    }
    memmove(&text->pieces[from], &text->pieces[text->params],
            (size_t)(text->n - text->params) * sizeof *text->pieces);
    for (int k = from; k < text->n; k++)
        text->pieces[k].statement -= text->params - from;
    text->n -= text->params - from;
    text->params = from;
    return true;
}

static void find_members(struct parser *p)
{
    struct shape_text *text = p->text;
    struct piece *pieces = text->pieces;

    for (int i = text->params; i + 1 < text->n; i++) {
        int close, at;

        if (!is(&pieces[i], "enum") || (close = behind(text, i + 1)) == NOTHING ||
            !is(&pieces[i + 1], "{"))
            continue;
        for (int k = i + 2; k < close; k++)
            pieces[k].in_enum = true;
        for (at = i + 2; at + 2 < close && is_word(&pieces[at]) && is(&pieces[at + 1], "=");) {
            struct member *member = &text->members[text->n_members];
            int end = at + 2;

            for (int depth = 0; end < close && (depth || !is(&pieces[end], ",")); end++)
                depth += is(&pieces[end], "(") - is(&pieces[end], ")");
            *member = (struct member){ arena_strndup(&p->codegen->arena, pieces[at].token.text,
                                                     (size_t)pieces[at].token.n),
                                       at, at + 2, end, close };
            for (int k = at + 2; k < end; k++)
                pieces[k].member = text->n_members;
            text->n_members++;
            at = end + 1;
        }
        i = close;
    }
}

struct shape_text *shape_text_of(struct codegen *codegen, struct region *region)
{
    const struct emitted *emitted = &codegen->emitted[region->index];
    const struct region_function *function = emitted->function;
    struct shape_text *text = arena_new(&codegen->arena, struct shape_text);
    struct parser p = { .codegen = codegen,
                        .text = text,
                        .tokens = tokens_of(&codegen->arena, emitted->text),
                        .emitted = emitted,
                        .name = function->name };

    text->codegen = codegen;
    text->region = region;
    text->pieces = arena_array(&codegen->arena, struct piece, p.tokens.n);
    text->arrays = arena_array(&codegen->arena, const struct weight *, p.tokens.n);
    text->argument = arena_array(&codegen->arena, int, p.tokens.n);
    text->members = arena_array(&codegen->arena, struct member, p.tokens.n);
    take_apart(&p, emitted->text);
    if (!find_parameters(&p, function->n_parameters - emitted->n_arrays))
        return NULL;
    find_arrays(&p);
    find_members(&p);
    return text;
}

static bool is_number_of_member(const struct shape_text *text, int i)
{
    const struct piece *piece = &text->pieces[i];

    if (piece->member == NOTHING)
        return false;
    for (int k = text->members[piece->member].value; k < text->members[piece->member].end; k++)
        if (!is_integer(&text->pieces[k]) && !(text->pieces[k].token.kind == TOKEN_MARK &&
                                               token_is_any(&text->pieces[k].token, "* + - / ( )")))
            return false;
    return true;
}

static bool must_be_constant(const struct shape_text *text, int i);

/* A number of a statement, of which no compiler must know it. */
static bool can_be_loose(const struct shape_text *text, int i)
{
    return is_integer(&text->pieces[i]) && i > text->params && !must_be_constant(text, i);
}

bool shape_text_compare(const struct shape_text *a, const struct shape_text *b, bool *varies,
                        bool *loose)
{
    if (a->n != b->n || a->n_arrays != b->n_arrays || a->n_members != b->n_members)
        return false;
    for (int i = 0; i < a->n_arrays; i++)
        if (a->arrays[i]->stored.dtype != b->arrays[i]->stored.dtype)
            return false;
    for (int i = 0; i < a->n; i++) {
        const struct piece *one = &a->pieces[i], *other = &b->pieces[i];

        if (one->function != other->function || one->array != other->array ||
            one->member != other->member)
            return false;
        if (one->function || one->array != NOTHING ||
            (one->token.n == other->token.n &&
             memcmp(one->token.text, other->token.text, (size_t)one->token.n) == 0))
            continue;
        if (loose && can_be_loose(a, i) && can_be_loose(b, i)) {
            loose[i] = true;
            continue;
        }
        if (!is_integer(one) || !is_integer(other) || !is_number_of_member(a, i) ||
            !is_number_of_member(b, i))
            return false;
        varies[one->member] = true;
    }
    return true;
}

static int marked_member(const struct shape_text *text, const struct piece *piece,
                         const bool *varies)
{
    for (int m = 0; m < text->n_members && is_word(piece); m++)
        if (varies[m] && is(piece, text->members[m].name))
            return m;
    return NOTHING;
}

/* "static", a type and a name, or a type that is a keyword: a declaration begins there. */
static bool begins_declaration(const struct piece *piece)
{
    if (token_is_any(&piece->token, "return else case goto"))
        return false;
    return token_is_any(&piece->token,
                        "const static int float double char unsigned signed struct union") ||
           (is_word(piece) && is_word(piece + 1));
}

/* Whether a C compiler must know what stands at i: in the length of an array, or in `static`. */
static bool must_be_constant(const struct shape_text *text, int i)
{
    const struct piece *pieces = text->pieces;
    const int start = pieces[i].statement;
    int depth = 0, open = NOTHING;

    if (pieces[i].in_enum || is(&pieces[start], "static") || is(&pieces[start], "case"))
        return true;
    for (int k = i; k > start && open == NOTHING; k--) {
        depth += is(&pieces[k], "]") - is(&pieces[k], "[");
        if (depth < 0)
            open = k;
    }
    if (open == NOTHING || !begins_declaration(&pieces[start]))
        return false;
    for (int k = start; k < open; k++)
        if (is(&pieces[k], "=") || is(&pieces[k], "("))
            return false;
    return true;
}

static bool has_word(const struct token *token, const char *word)
{
    const size_t n = strlen(word);

    for (int i = 0; i + (int)n <= token->n; i++)
        if (memcmp(token->text + i, word, n) == 0)
            return true;
    return false;
}

bool shape_text_can_vary(const struct shape_text *text, bool *varies)
{
    for (int m = 0; m < text->n_members; m++)
        for (int k = text->members[m].value; k < text->members[m].end; k++)
            varies[m] = varies[m] || marked_member(text, &text->pieces[k], varies) != NOTHING;
    for (int i = 0; i < text->n; i++) {
        const struct piece *piece = &text->pieces[i];

        for (int m = 0; m < text->n_members && piece->token.kind == TOKEN_DIRECTIVE; m++)
            if (varies[m] && has_word(&piece->token, text->members[m].name))
                return false;
        if (piece->member != NOTHING && varies[piece->member])
            continue;
        if (marked_member(text, piece, varies) != NOTHING && must_be_constant(text, i) &&
            !(piece->in_enum && i + 1 < text->n && is(piece + 1, "=")))
            return false;
    }
    return true;
}

/* Marks what is read from a piece on to another. */
static void mark_used(const struct shape_text *text, int from, int end, bool *used)
{
    for (int i = from; i < end; i++)
        for (int m = 0; m < text->n_members && is_word(&text->pieces[i]); m++)
            used[m] = used[m] || is(&text->pieces[i], text->members[m].name);
}

void shape_text_find_used(const struct shape_text *text, bool *used)
{
    for (int i = 0; i < text->n; i++)
        if (text->pieces[i].member == NOTHING &&
            !(text->pieces[i].in_enum && i + 1 < text->n && is(&text->pieces[i + 1], "=")))
            mark_used(text, i, i + 1, used);
    for (int m = text->n_members; m-- > 0;) /* values read members in front of them */
        if (used[m])
            mark_used(text, text->members[m].value, text->members[m].end, used);
}
