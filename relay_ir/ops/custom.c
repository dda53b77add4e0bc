/* custom.c - operators that are C functions of the user. Only generated C computes them: nothing
 * folds them, the engine refuses them. What evaluates here stands in for them where passes are
 * validated, which asks only that equal inputs give equal results. */
#include "relay_ir/ops/custom.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/walk.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char name_rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
static const char text_chars[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789 .:/+-";

bool custom_is_name(const char *text)
{
    static const char words[] =
        " auto break case char const continue default do double else enum extern float for goto if "
        "inline int long register restrict return short signed sizeof static struct switch typedef "
        "union unsigned void volatile while ";
    const size_t n = strlen(text);
    const char *word;

    if (n == 0 || n > 100 || !(strchr(letters, *text) || *text == '_') ||
        strspn(text, name_rest) != n)
        return false;
    for (word = strstr(words, text); word; word = strstr(word + 1, text))
        if (word[-1] == ' ' && word[n] == ' ')
            return false;
    return true;
}

bool custom_is_header(const char *text)
{
    return *text && custom_is_text(text, strlen(text)) && !strchr(text, ' ');
}

bool custom_is_text(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!text[i] || !strchr(text_chars, text[i]))
            return false;
    return true;
}

static bool is_number(const char *text, size_t n, bool whole)
{
    char *end;

    if (n == 0 || !strchr("-0123456789in", *text))
        return false;
    if (whole)
        return n <= 20 && strspn(text + (*text == '-'), "0123456789") >= n - (*text == '-') &&
               n > (size_t)(*text == '-');
    (void)strtod(text, &end);
    return end == text + n;
}

static bool is_argument(const struct custom_argument *argument)
{
    const bool list = argument->kind == 'I' || argument->kind == 'F';
    const bool whole = argument->kind == 'i' || argument->kind == 'I';
    const char *at = argument->text, *end = at + argument->n;

    if (argument->kind == 's')
        return custom_is_text(at, argument->n);
    if (list && argument->n == 0)
        return true;
    while (true) {
        const char *comma = list ? memchr(at, ',', (size_t)(end - at)) : NULL;
        const char *stop = comma ? comma : end;

        if (!is_number(at, (size_t)(stop - at), whole))
            return false;
        if (!comma)
            return true;
        at = comma + 1;
    }
}

bool custom_argument(const char **at, struct custom_argument *argument)
{
    argument->kind = **at;
    if (!**at || !strchr("ifsIF", **at))
        return false;
    argument->text = *at + 1;
    argument->n = strcspn(argument->text, ";");
    if (!is_argument(argument))
        return false;
    *at = argument->text + argument->n;
    *at += **at == ';';
    return true;
}

/* "f32[1,3]" at *at, which is moved behind it. */
static bool read_type(const char **at, struct type *type)
{
    char name[16];
    const size_t n = strcspn(*at, "[");

    *type = (struct type){ .dtype = DTYPE_NONE };
    if (n >= sizeof name || (*at)[n] != '[')
        return false;
    memcpy(name, *at, n);
    name[n] = '\0';
    type->dtype = dtype_from_name(name);
    *at += n + 1;
    while (**at != ']') {
        char *end;

        if (type->rank == MAX_RANK || **at < '0' || **at > '9')
            return false;
        type->dim[type->rank++] = strtoll(*at, &end, 10);
        *at = end;
        *at += **at == ',';
    }
    *at += 1;
    *at += **at == ';';
    return type->dtype != DTYPE_NONE && type->dtype != DTYPE_AFP;
}

static bool refuse(struct ctx *ctx, const struct node *node, const char *what, const char *text)
{
    return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node), "%s: '%s' is not a %s",
                      op_name(node->op), str_safe(&ctx->perm, text, 80), what);
}

bool infer_custom(struct ctx *ctx, struct node *node)
{
    const struct custom_attrs *custom = &node->attrs.custom;
    const char *results = custom->results, *arguments = custom->arguments;
    struct custom_argument argument;

    if (!custom_is_name(custom->function))
        return refuse(ctx, node, "name of a C function", custom->function);
    if (!custom_is_header(custom->header))
        return refuse(ctx, node, "header's name", custom->header);
    while (custom_argument(&arguments, &argument))
        ;
    if (*arguments)
        return refuse(ctx, node, "list of attributes", custom->arguments);
    for (int i = 0; i < node->n_outputs; i++) {
        struct type type;

        if (!read_type(&results, &type))
            return refuse(ctx, node, "list of a type for each result", custom->results);
        if (!type_check_size(ctx, node_origin(node), &type))
            return false;
        set_output(node, i, type.dtype, &type);
    }
    return *results == '\0' || refuse(ctx, node, "list of a type for each result", custom->results);
}

bool eval_custom(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                 struct tensor *out)
{
    (void)ctx;
    for (int i = 0; i < node->n_outputs; i++) {
        const int64_t n = type_elements(&out[i].type);

        for (int k = 0; k < node->n_inputs; k++) {
            const int64_t given = in[k] ? type_elements(&in[k]->type) : 0;

            for (int64_t j = 0; j < n && given > 0; j++)
                tensor_put(&out[i], j, tensor_at(&out[i], j) + tensor_at(in[k], j % given));
        }
    }
    return true;
}
