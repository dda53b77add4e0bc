/* target_names.c - the names in a row's expressions: captures of its pattern with their fields,
 * lets, and what match_scope offers. */
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "base/json/read.h"
#include "partition/pattern_parse.h"
#include "partition/target_file.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* A let is evaluated by what uses it: this bounds the stack. */
enum { MAX_LET_DEPTH = 16, MAX_STEPS = 1 << 16 };

static const char *const bare_names[] = { "nodes",       "macs",         "weight_bytes",
                                          "input_bytes", "output_bytes", "out" };
static const char *const value_fields[] = { "dtype", "rank",  "shape", "dim", "elements",
                                            "bytes", "const", "value", "min", "max" };

struct row_names {
    struct ctx *ctx;
    const struct composite_row *row;
    const char **captures;
    int n_captures;

    /* of the expression that is looked at */
    const struct expression *expression;
    const struct source *source;
    int let; /* its number, -1 = none */
    bool ok;

    bool *uses; /* [n_lets * n_lets]: the first let reads the second */
    int *
        depth; /* by let: 0 = not seen, -1 = on the path, else the longest chain that begins here */
    int *path;
    int n_path;
};

static bool is_in(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

bool is_identifier(const char *text)
{
    const size_t n = strlen(text);

    if (n == 0 || n > 64 || isdigit((unsigned char)*text))
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_')
            return false;
    return true;
}

const char *reserved_name(const char *name)
{
    static const char *const keys[] = { "composite", "origin",  "fn",           "name",
                                        "upper",     "scratch", "scratch_bytes" };

    if (strncmp(name, "out", 3) == 0 && name[3 + strspn(name + 3, "0123456789")] == '\0')
        return "an output of the root";
    if (is_in(name, bare_names, COUNT(bare_names)))
        return "about the whole composite";
    return is_in(name, keys, COUNT(keys)) ? "a key of all templates" : NULL;
}

/* --- what a capture is ------------------------------------------------------------------------ */

/* The operator that this name captures, OP_COUNT when it is a leaf or several. */
static enum op captured_op(const struct pattern *pattern, const char *capture, int *steps)
{
    if (--*steps < 0)
        return OP_COUNT;
    if (pattern->kind == PAT_OP && pattern->capture && strcmp(pattern->capture, capture) == 0)
        return pattern->op;
    for (int i = 0; i < pattern->n_args; i++) {
        const enum op op = captured_op(pattern->args[i], capture, steps);

        if (op != OP_COUNT)
            return op;
    }
    return OP_COUNT;
}

static int let_index(const struct row_names *names, const char *name)
{
    for (int i = 0; i < names->row->n_lets; i++)
        if (strcmp(names->row->lets[i].name, name) == 0)
            return i;
    return -1;
}

/* --- one name --------------------------------------------------------------------------------- */

static const char *safe(const struct row_names *names, const char *text)
{
    return str_safe(&names->ctx->perm, text, 64);
}

/* "there are x, w, tiles, nodes ...", or the one that was probably meant. */
static void help_names(const struct row_names *names, const char *word)
{
    const int n = names->n_captures + names->row->n_lets + (int)COUNT(bare_names);
    const char **all = arena_array(&names->ctx->scratch, const char *, n);
    int k = 0;

    for (int i = 0; i < names->n_captures; i++)
        all[k++] = names->captures[i];
    for (int i = 0; i < names->row->n_lets; i++)
        all[k++] = names->row->lets[i].name;
    for (size_t i = 0; i < COUNT(bare_names); i++)
        all[k++] = bare_names[i];
    json_help_nearest(names->ctx, word, all, (size_t)n);
}

/* All that the capture has, and the one that was probably meant. */
static void help_fields(const struct row_names *names, const char *capture, const char *field)
{
    int steps = MAX_STEPS;
    const enum op op = captured_op(names->row->pattern, capture, &steps);
    const char *all[COUNT(value_fields) + 64];
    struct str list = { .arena = &names->ctx->perm };
    const char *nearest;
    size_t n = 0, known = 0;

    if (op != OP_COUNT) {
        const struct attr_schema *schema = attrs_schema(op_row(op)->attrs);

        for (int i = 0; i < schema->n_fields && n + 1 < 64; i++)
            all[n++] = schema->fields[i].name;
        all[n++] = "op";
    }
    for (size_t i = 0; i < COUNT(value_fields); i++)
        all[n++] = value_fields[i];
    for (size_t i = 0; i < n; i++)
        if (pattern_knows(names->row->pattern, capture, all[i]))
            all[known++] = all[i];
    nearest = strlen(field) > 2 && strlen(field) <= 64 ? str_nearest(field, all, known) : NULL;
    if (nearest)
        str_printf(&list, "did you mean '%s'? ", nearest);
    str_printf(&list, "%s has ", capture);
    for (size_t i = 0; i < known; i++)
        str_printf(&list, "%s%s", i ? ", " : "", all[i]);
    diag_help(names->ctx, "%s", str_text(&list));
}

enum beside { BESIDE_NOTHING, BESIDE_EQUALITY, BESIDE_LOGIC, BESIDE_NUMBERS };

/* What the sign in front of (behind) a word asks of it; s points at its last (first) character. */
static enum beside beside(const char *text, const char *s, bool in_front)
{
    if (*s == '=')
        return in_front && s > text && strchr("<>", s[-1]) ? BESIDE_NUMBERS : BESIDE_EQUALITY;
    if (*s == '!')
        return in_front ? BESIDE_LOGIC : BESIDE_EQUALITY;
    if (*s == '&' || *s == '|')
        return BESIDE_LOGIC;
    return *s && strchr("+-*/%<>,[", *s) ? BESIDE_NUMBERS : BESIDE_NOTHING;
}

/* Whether the word stands where only a number makes sense: beside a sign of arithmetic or order, in
 * the parentheses of a function, or as a truth by itself. Words beside == != ? : are text. */
static bool stands_as_number(const char *text, size_t offset, const char *word)
{
    const char *left, *right;
    enum beside a, b;

    while (text[offset] == '(' || isspace((unsigned char)text[offset]))
        offset++;
    if (strncmp(text + offset, word, strlen(word)) != 0)
        return false;
    left = text + offset;
    while (left > text && (left[-1] == '(' || isspace((unsigned char)left[-1])))
        if (*--left == '(' && left > text && (isalnum((unsigned char)left[-1]) || left[-1] == '_'))
            return true;
    right = text + offset + strlen(word);
    while (*right == ')' || isspace((unsigned char)*right))
        right++;
    a = left > text ? beside(text, left - 1, true) : BESIDE_NOTHING;
    b = beside(text, right, false);
    if (a == BESIDE_NUMBERS || b == BESIDE_NUMBERS)
        return true;
    return (a == BESIDE_LOGIC || b == BESIDE_LOGIC) && a != BESIDE_EQUALITY && b != BESIDE_EQUALITY;
}

static void name_error(struct row_names *names, size_t offset, const char *message)
{
    source_error(names->ctx, names->source, offset, "%s", message);
    names->ok = false;
}

static void see_field(struct row_names *names, const char *name, const char *field, size_t offset)
{
    if (strcmp(name, "out") != 0 && !is_in(name, names->captures, (size_t)names->n_captures)) {
        name_error(names, offset,
                   arena_printf(&names->ctx->perm,
                                let_index(names, name) >= 0
                                    ? "'%s' is defined by let and has no fields"
                                    : "the pattern captures nothing under '%s'",
                                safe(names, name)));
        help_names(names, name);
        return;
    }
    if (pattern_knows(names->row->pattern, name, field))
        return;
    name_error(names, offset,
               arena_printf(&names->ctx->perm, "%s has no field '%s'", name, safe(names, field)));
    help_fields(names, name, field);
}

static void see_name(void *user, const char *name, const char *field, size_t offset)
{
    struct row_names *names = user;
    const int let = let_index(names, name);

    if (field) {
        see_field(names, name, field, offset);
        return;
    }
    if (let >= 0 && names->let >= 0)
        names->uses[names->let * names->row->n_lets + let] = true;
    if (let >= 0 || is_in(name, names->captures, (size_t)names->n_captures) ||
        is_in(name, bare_names, COUNT(bare_names)) ||
        !stands_as_number(expression_text(names->expression), offset, name))
        return;
    name_error(names, offset,
               arena_printf(&names->ctx->perm, "unknown name '%s' here", safe(names, name)));
    help_names(names, name);
}

/* float32 and the like, as others call our element types; NULL = nothing like that. */
static const char *usual_dtype(struct arena *arena, const char *word)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = { { "float", "f32" }, { "double", "f64" }, { "half", "f16" } },
      families[] = { { "bfloat", "bf" }, { "float", "f" }, { "fp", "f" },
                     { "uint", "u" },    { "int", "i" },   { "s", "i" } };

    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(word, names[i].theirs) == 0)
            return names[i].ours;
    for (size_t i = 0; i < COUNT(families); i++)
        if (str_starts(word, families[i].theirs)) {
            const char *made =
                arena_printf(arena, "%s%.20s", families[i].ours, word + strlen(families[i].theirs));

            if (dtype_from_name(made) != DTYPE_NONE)
                return made;
        }
    return NULL;
}

static void wrong_dtype(struct row_names *names, const char *word, size_t offset)
{
    const char *usual = usual_dtype(&names->ctx->perm, word), *all[DTYPE_COUNT];
    size_t n = 0;

    name_error(names, offset,
               arena_printf(&names->ctx->perm, "'%s' is not an element type", safe(names, word)));
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++)
        all[n++] = dtype_name((enum dtype)d);
    if (usual)
        diag_help(names->ctx, "did you mean '%s'?", usual);
    else
        json_help_nearest(names->ctx, word, all, n);
}

static void wrong_op(struct row_names *names, const char *word, size_t offset)
{
    const char *all[OP_COUNT], *nearest;

    name_error(names, offset,
               arena_printf(&names->ctx->perm, "'%s' is not an operator", safe(names, word)));
    if (op_from_text_name(word) != OP_COUNT) { /* nn.relu: the field says it without nn. */
        diag_help(names->ctx, "did you mean '%s'?", op_text_name(op_from_text_name(word)));
        return;
    }
    for (int op = 0; op < OP_COUNT; op++)
        all[op] = op_text_name((enum op)op);
    nearest = strlen(word) > 2 && strlen(word) <= 64 ? str_nearest(word, all, OP_COUNT) : NULL;
    if (nearest)
        diag_help(names->ctx, "did you mean '%s'?", nearest);
    else
        diag_help(names->ctx, "docs/guide/operators.md lists them");
}

/* A word that no value of this field is would never be found equal. */
static void see_comparison(void *user, const char *field, const char *word, bool bare,
                           size_t offset)
{
    struct row_names *names = user;

    if (bare && (let_index(names, word) >= 0 || is_in(word, bare_names, COUNT(bare_names)) ||
                 is_in(word, names->captures, (size_t)names->n_captures)))
        return;
    if (strcmp(field, "dtype") == 0 && dtype_from_name(word) == DTYPE_NONE)
        wrong_dtype(names, word, offset);
    if (strcmp(field, "op") == 0 && (op_from_text_name(word) == OP_COUNT ||
                                     strcmp(op_text_name(op_from_text_name(word)), word) != 0))
        wrong_op(names, word, offset);
}

static void check_expression(struct row_names *names, const struct expression *expression,
                             const struct source *source, int let)
{
    if (!expression)
        return;
    names->expression = expression;
    names->source = source;
    names->let = let;
    expression_names(expression, see_name, names);
    expression_comparisons(expression, see_comparison, names);
}

/* --- lets ------------------------------------------------------------------------------------- */

static bool circle(struct row_names *names, int from)
{
    struct str text = { .arena = &names->ctx->perm };
    int i = 0;

    while (names->path[i] != from)
        i++;
    for (; i < names->n_path; i++)
        str_printf(&text, "%s -> ", names->row->lets[names->path[i]].name);
    str_add(&text, names->row->lets[from].name);
    return source_error(names->ctx, &names->row->lets[from].source, 0,
                        "these definitions form a cycle: %s", str_text(&text));
}

/* Recursion is as deep as there are lets, at most MAX_LETS. */
static bool follow(struct row_names *names, int let)
{
    const int n = names->row->n_lets;
    int depth = 0;
    bool ok = true;

    names->depth[let] = -1;
    names->path[names->n_path++] = let;
    for (int i = 0; i < n; i++) {
        if (!names->uses[let * n + i])
            continue;
        if (names->depth[i] < 0) {
            ok = circle(names, i) && ok;
            continue;
        }
        if (names->depth[i] == 0)
            ok = follow(names, i) && ok;
        depth = names->depth[i] > depth ? names->depth[i] : depth;
    }
    names->n_path--;
    names->depth[let] = depth + 1;
    if (depth + 1 != MAX_LET_DEPTH + 1)
        return ok;
    return source_error(names->ctx, &names->row->lets[let].source, 0,
                        "'%s' uses definitions nested more than %d deep",
                        names->row->lets[let].name, MAX_LET_DEPTH);
}

static bool check_lets(struct row_names *names)
{
    const struct composite_row *row = names->row;
    bool ok = true;

    for (int i = 0; i < row->n_lets; i++)
        if (is_in(row->lets[i].name, names->captures, (size_t)names->n_captures))
            ok = source_error(names->ctx, &row->lets[i].source, 0,
                              "'%s' is already a capture of the pattern", row->lets[i].name);
    for (int i = 0; i < row->n_lets; i++)
        if (names->depth[i] == 0)
            ok = follow(names, i) && ok;
    return ok;
}

bool row_check_names(struct ctx *ctx, const struct composite_row *row)
{
    const int n = row->n_lets;
    struct row_names names = { .ctx = ctx,
                               .row = row,
                               .uses = arena_array(&ctx->scratch, bool, n *n),
                               .depth = arena_array(&ctx->scratch, int, n),
                               .path = arena_array(&ctx->scratch, int, n),
                               .ok = true };

    names.captures = pattern_captures(row->pattern, &ctx->scratch, &names.n_captures);
    for (int i = 0; i < names.n_captures; i++)
        if (reserved_name(names.captures[i]))
            names.ok =
                source_error(ctx, &row->source, 0, "nothing can be captured as '%s': it is %s",
                             names.captures[i], reserved_name(names.captures[i]));
    for (int i = 0; i < n; i++)
        check_expression(&names, row->lets[i].value, &row->lets[i].source, i);
    for (int i = 0; i < row->n_conditions; i++)
        check_expression(&names, row->conditions[i].test, &row->conditions[i].source, -1);
    check_expression(&names, row->cost_ns, &row->cost_source, -1);
    check_expression(&names, row->scratch, &row->scratch_source, -1);
    return check_lets(&names) && names.ok;
}
