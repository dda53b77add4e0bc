/* pattern.c - questions about patterns, and the names that their texts use.
 *
 * A step of a chain is shared by the places where the next step reads it. Walks go to it by
 * pattern_previous, and stop where a step reads it (scope), so that they meet every part once. */
#include "partition/pattern.h"

#include <limits.h>
#include <string.h>

#include "base/str.h"
#include "partition/pattern_parse.h"

const char *op_text_name(enum op op)
{
    return str_starts(op_name(op), "nn.") ? op_name(op) + strlen("nn.") : op_name(op);
}

const char *op_short_name(enum op op)
{
    const char *dot = strrchr(op_name(op), '.');

    return dot ? dot + 1 : op_name(op);
}

static bool is_quantised(enum op op)
{
    return str_starts(op_name(op), "qnn.");
}

enum op op_from_text_name(const char *name)
{
    enum op op = op_from_name(name);

    for (int i = 0; op == OP_COUNT && i < OP_COUNT; i++)
        if (strcmp(op_text_name((enum op)i), name) == 0)
            op = (enum op)i;
    for (int i = 0; op == OP_COUNT && i < OP_COUNT; i++)
        if (!is_quantised((enum op)i) && strcmp(op_short_name((enum op)i), name) == 0)
            op = (enum op)i;
    for (int i = 0; op == OP_COUNT && i < OP_COUNT; i++)
        if (strcmp(op_short_name((enum op)i), name) == 0)
            op = (enum op)i;
    return op;
}

const char *op_class_name(enum op_pattern op_class)
{
    switch (op_class) {
    case PATTERN_ELEMWISE: return "elemwise";
    case PATTERN_BROADCAST: return "broadcast";
    case PATTERN_INJECTIVE: return "injective";
    case PATTERN_REDUCE: return "reduce";
    case PATTERN_OUT_FUSABLE: return "out_fusable";
    default: return NULL;
    }
}

bool names_has(const struct names *names, const char *name)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->at[i], name) == 0)
            return true;
    return false;
}

void names_add(struct names *names, const char *name)
{
    if (names->n == names->capacity) {
        const char **more = arena_array(names->arena, const char *, 2 * names->n + 16);

        if (names->n)
            memcpy(more, names->at, (size_t)names->n * sizeof *more);
        names->at = more;
        names->capacity = 2 * names->n + 16;
    }
    names->at[names->n++] = name;
}

const char *names_own(struct names *names, enum op op)
{
    const char *name = op_short_name(op);

    for (int i = 2; names_has(names, name); i++)
        name = arena_printf(names->arena, "%s_%d", op_short_name(op), i);
    names_add(names, name);
    return name;
}

const struct pattern *pattern_previous(const struct pattern *pattern)
{
    if (pattern->previous)
        return pattern->previous;
    return pattern->kind == PAT_OPTIONAL ? pattern->args[1] : NULL;
}

static int add_lengths(int a, int b)
{
    return a > INT_MAX - b ? INT_MAX : a + b;
}

static int length(const struct pattern *pattern, const struct pattern *scope);

/* Of the pattern without what is before it in its chain. */
static int step_length(const struct pattern *pattern, const struct pattern *scope)
{
    int sum = pattern->kind == PAT_OP || pattern->kind == PAT_OP_CLASS;

    if (pattern->kind == PAT_DOMINATES)
        return INT_MAX;
    for (int i = 0; i < pattern->n_args; i++) {
        const int one = length(pattern->args[i], scope);

        if (pattern->kind == PAT_ALTERNATIVE || pattern->kind == PAT_OPTIONAL)
            sum = one > sum ? one : sum;
        else
            sum = add_lengths(sum, one);
    }
    return sum;
}

static int length(const struct pattern *pattern, const struct pattern *scope)
{
    const struct pattern *previous = pattern_previous(pattern);

    if (pattern == scope)
        return 0;
    if (!previous || previous == scope)
        return step_length(pattern, scope);
    return add_lengths(length(previous, scope), step_length(pattern, previous));
}

int pattern_length(const struct pattern *pattern)
{
    return length(pattern, NULL);
}

/* Calls see() for every part once, in the order of the text; stops when it returns true. */
static bool walk(const struct pattern *pattern, const struct pattern *scope,
                 bool (*see)(void *user, const struct pattern *part), void *user)
{
    const struct pattern *previous = pattern_previous(pattern);

    if (pattern == scope)
        return false;
    if (previous && previous != scope) {
        if (walk(previous, scope, see, user))
            return true;
        scope = previous;
    }
    if (see(user, pattern))
        return true;
    for (int i = 0; i < pattern->n_args; i++)
        if (walk(pattern->args[i], scope, see, user))
            return true;
    return false;
}

static bool mentions(void *user, const struct pattern *part)
{
    const enum op op = *(const enum op *)user;

    return (part->kind == PAT_OP && part->op == op) ||
           (part->kind == PAT_OP_CLASS && part->op_class == op_row(op)->pattern);
}

bool pattern_mentions(const struct pattern *pattern, enum op op)
{
    return walk(pattern, NULL, mentions, &op);
}

static bool add_capture(void *user, const struct pattern *part)
{
    struct names *names = user;

    if (part->capture && !names_has(names, part->capture))
        names_add(names, part->capture);
    return false;
}

const char **pattern_captures(const struct pattern *pattern, struct arena *arena, int *n)
{
    struct names names = { .arena = arena };

    walk(pattern, NULL, add_capture, &names);
    *n = names.n;
    return names.at;
}

/* --- what fields the scope of a match has ----------------------------------------------------- */

struct question {
    const char *name, *field;
    bool found, known;
};

static bool is_among(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(*words, word) == 0)
            return true;
    return false;
}

static bool is_value_field(const char *field)
{
    static const char *const fields[] = { "dtype",    "rank",  "shape", "dim",
                                          "elements", "bytes", "const", NULL };

    return is_among(field, fields);
}

static bool is_constant_field(const char *field)
{
    static const char *const fields[] = { "value", "min", "max", NULL };

    return is_among(field, fields);
}

/* Whether a capture of this part can have the field. */
static bool part_knows(const struct pattern *part, const char *field)
{
    const struct attr_schema *schema;

    if (is_value_field(field))
        return true;
    switch (part->kind) {
    case PAT_WILDCARD:
    case PAT_CONSTANT: return is_constant_field(field);
    case PAT_VARIABLE: return false;
    case PAT_OP:
        schema = attrs_schema(op_row(part->op)->attrs);
        for (int i = 0; i < schema->n_fields; i++)
            if (strcmp(schema->fields[i].name, field) == 0)
                return true;
        return strcmp(field, "op") == 0;
    case PAT_ALTERNATIVE:
        for (int i = 0; i < part->n_args; i++)
            if (part_knows(part->args[i], field))
                return true;
        return false;
    case PAT_TUPLE_GET:
    case PAT_OPTIONAL: return part_knows(part->args[0], field);
    case PAT_DOMINATES: return part_knows(part->args[2], field);
    default: return strcmp(field, "op") == 0;
    }
}

static bool answer(void *user, const struct pattern *part)
{
    struct question *question = user;

    if (!part->capture || strcmp(part->capture, question->name) != 0)
        return false;
    question->found = true;
    question->known = !question->field || part_knows(part, question->field);
    return question->known;
}

bool pattern_knows(const struct pattern *pattern, const char *name, const char *field)
{
    static const char *const bare[] = { "nodes",       "macs",         "weight_bytes",
                                        "input_bytes", "output_bytes", NULL };
    struct question question = { .name = name, .field = field };

    if (strcmp(name, "out") == 0)
        return field && (is_value_field(field) || part_knows(pattern, field));
    walk(pattern, NULL, answer, &question);
    return question.found ? question.known : !field && is_among(name, bare);
}
