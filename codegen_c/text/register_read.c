/* register_read.c - see register_read.h. */
#include "codegen_c/text/register_read.h"

#include <assert.h>
#include <string.h>

enum { HEAD = 14 /* tokens of a loop's head */ };

const char *register_word(const struct register_reader *r, int i)
{
    const struct token *token = tokens_at(r->in, i);

    return arena_strndup(r->arena, token->text, (size_t)token->n);
}

bool register_is_extent(const struct register_reader *r, int i)
{
    return tokens_is_word(r->in, i, "MR NR");
}

/* --- arrays ----------------------------------------------------------------------------------- */

struct register_array *register_array_at(struct register_reader *r, int i)
{
    if (!tokens_is_kind(r->in, i, TOKEN_WORD) || !tokens_is_mark(r->in, i + 1, "["))
        return NULL;
    for (int k = r->n_arrays - 1; k >= 0; k--)
        if (token_is(tokens_at(r->in, i), r->arrays[k].name))
            return &r->arrays[k];
    return NULL;
}

int register_behind_indices(const struct register_reader *r, int i, int rank)
{
    for (i++; rank-- > 0 && tokens_is_mark(r->in, i, "[");)
        i = tokens_behind(r->in, i);
    return i;
}

/* How often the elements are assigned in the rest of the block. */
static int count_assignments(const struct register_reader *r, const char *name, int rank, int i)
{
    int n = 0, depth = 0;

    for (; depth >= 0 && i < r->in->n; i++) {
        depth += tokens_is_mark(r->in, i, "{") - tokens_is_mark(r->in, i, "}");
        if (tokens_is_word(r->in, i, name))
            n += tokens_is_mark(r->in, register_behind_indices(r, i, rank), "= += -= *= |=");
    }
    return n;
}

int register_read_arrays(struct register_reader *r, int i)
{
    int first = i, end = i;

    while (end < r->in->n && !tokens_is_mark(r->in, end, "; = { }"))
        end++;
    while (first < end &&
           !(tokens_is_kind(r->in, first, TOKEN_WORD) && tokens_is_mark(r->in, first + 1, "[") &&
             register_is_extent(r, first + 2)))
        first++;
    if (first == i || first == end || !tokens_is_mark(r->in, end, ";"))
        return i;
    for (int at = first; at < end; at++) {
        const char *name = register_word(r, at);
        const int rank = tokens_is_mark(r->in, at + 4, "[") ? 2 : 1;
        struct str type = { .arena = r->arena };

        at = register_behind_indices(r, at, rank);
        for (int k = i; k < first; k++)
            str_printf(&type, "%s%s", k > i && tokens_at(r->in, k)->space ? " " : "",
                       register_word(r, k));
        assert(r->n_arrays < MOST_REGISTER_ARRAYS);
        r->arrays[r->n_arrays++] = (struct register_array){
            .name = name,
            .type = str_text(&type),
            .rank = rank,
            .block = r->depth,
            .constant = count_assignments(r, name, rank, end) == 1,
        };
    }
    return end + 1;
}

void register_add_element(struct register_reader *r, const struct register_array *array, int i,
                          struct str *out)
{
    bool pastes = false;

    str_addn(out, array->name, strlen(array->name) - 1);
    for (int k = 0; k < array->rank; k++) {
        const char *index = register_word(r, i + 2 + 3 * k);

        pastes = pastes || *index > '9';
        str_printf(out, "%s%s", pastes ? "##" : "", index);
    }
}

void register_add_type(struct register_array *array, struct str *out)
{
    const bool pointer = str_ends(array->type, "*");

    if (array->constant && pointer)
        str_printf(out, "%sconst ", array->type);
    else
        str_printf(out, "%s%s%s", array->constant ? "const " : "", array->type, pointer ? "" : " ");
    array->declared = true;
}

/* --- loops ------------------------------------------------------------------------------------ */

bool register_read_head(struct register_reader *r, int i, struct register_head *head)
{
    const char *comment, *end;

    *head = (struct register_head){ .variable = register_word(r, i + 3), .body = i + HEAD };
    if (!tokens_is_word(r->in, i, "for") || !register_is_extent(r, i + 9))
        return false;
    head->of_pixels = tokens_is_word(r->in, i + 9, "MR");
    if (tokens_is_mark(r->in, head->body, "{") &&
        tokens_is_kind(r->in, head->body + 1, TOKEN_COMMENT))
        comment = register_word(r, head->body + 1);
    else if (tokens_is_kind(r->in, head->body, TOKEN_COMMENT))
        comment = register_word(r, head->body++);
    else
        return true;
    comment += strlen("/* ");
    end = comment + strcspn(comment, ": ");
    head->label = arena_strndup(r->arena, comment, (size_t)(end - comment));
    if (*end == ':')
        head->comment = arena_printf(r->arena, " /* %s", end + 2);
    return true;
}

/* Behind the statement at i, a loop's body. */
int register_behind_statement(const struct register_reader *r, int i)
{
    while (tokens_is_kind(r->in, i, TOKEN_COMMENT))
        i++;
    if (tokens_is_mark(r->in, i, "{"))
        return tokens_behind(r->in, i);
    if (tokens_is_word(r->in, i, "for if"))
        return register_behind_statement(r, tokens_behind(r->in, i + 1));
    while (i < r->in->n && !tokens_is_mark(r->in, i, ";"))
        i = tokens_is_mark(r->in, i, "( [ {") ? tokens_behind(r->in, i) : i + 1;
    return i + 1;
}

/* "const float x_k = ..." at i: the index of the name, 0 if it is no declaration. */
static int declared_name(const struct register_reader *r, int i)
{
    int end = i;

    while (tokens_is_kind(r->in, end, TOKEN_WORD) || tokens_is_mark(r->in, end, "*"))
        end++;
    return end > i + 1 && tokens_is_mark(r->in, end, "=") ? end - 1 : 0;
}

bool register_read_locals(struct register_reader *r, int from, int to, const char *variable)
{
    bool all = true;

    for (int i = from; i < to; i++) {
        const int name = declared_name(r, i);
        const char *local = register_word(r, name), *gap = strchr(local, '_');

        if (name && gap) {
            assert(r->n_locals < MOST_REGISTER_LOCALS);
            r->locals[r->n_locals++] =
                (struct register_local){ local,
                                         arena_printf(r->arena, "%.*s##%s##%s", (int)(gap - local),
                                                      local, variable, gap + 1) };
        } else if (name) {
            all = false;
        }
        while (i < to && !tokens_is_mark(r->in, i, ";"))
            i = tokens_is_mark(r->in, i, "( [ {") ? tokens_behind(r->in, i) : i + 1;
    }
    return all;
}
