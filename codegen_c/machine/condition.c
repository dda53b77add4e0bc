/* condition.c - reduces one preprocessor condition: recursive descent in three-valued logic. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/machine/conditions.h"

/* The value of a subcondition, and the precedence of its text. */
struct part {
    int truth;        /* 0, 1, CONDITION_OPEN */
    const char *text; /* text of an open one */
    enum binding { BINDS_OR, BINDS_AND, BINDS_UNARY } binds;
};

struct reader {
    struct arena *arena;
    const char *at;
    macro_lookup *lookup;
    void *user;
    bool changed; /* some term was decided */
    bool failed;  /* not a supported form */
};

static struct part known(struct reader *reader, bool truth)
{
    reader->changed = true;
    return (struct part){ .truth = truth, .binds = BINDS_UNARY };
}

static struct part open_part(const char *text, enum binding binds)
{
    return (struct part){ .truth = CONDITION_OPEN, .text = text, .binds = binds };
}

static bool taken(struct reader *reader, const char *symbol)
{
    reader->at += strspn(reader->at, " \t\\\n");
    if (strncmp(reader->at, symbol, strlen(symbol)) != 0)
        return false;
    reader->at += strlen(symbol);
    return true;
}

static const char *word(struct reader *reader)
{
    const char *begin;

    taken(reader, "");
    begin = reader->at;
    while (isalnum((unsigned char)*reader->at) || *reader->at == '_')
        reader->at++;
    if (reader->at == begin)
        reader->failed = true;
    return arena_strndup(reader->arena, begin, (size_t)(reader->at - begin));
}

/* The value of a macro or number, if known. */
static bool number_of(struct reader *reader, const char *name, long *number)
{
    char *end;
    struct macro_fact fact;

    *number = strtol(name, &end, 10);
    if (*end == '\0')
        return true;
    if (isdigit((unsigned char)*name)) /* 201112L */
        return false;
    fact = reader->lookup(reader->user, name);
    *number = fact.number;
    return fact.is == MACRO_DEFINED && fact.has_number;
}

static struct part comparison(struct reader *reader, const char *left)
{
    static const char *const symbols[] = { "==", "!=", ">=", "<=", ">", "<" };
    long a, b;

    for (int i = 0; i < (int)(sizeof symbols / sizeof *symbols); i++) {
        const char *right;

        if (!taken(reader, symbols[i]))
            continue;
        right = word(reader);
        if (!number_of(reader, left, &a) || !number_of(reader, right, &b))
            return open_part(arena_printf(reader->arena, "%s %s %s", left, symbols[i], right),
                             BINDS_UNARY);
        return known(reader, i == 0   ? a == b
                             : i == 1 ? a != b
                             : i == 2 ? a >= b
                             : i == 3 ? a <= b
                             : i == 4 ? a > b
                                      : a < b);
    }
    reader->failed = true; /* a name alone, a call: __has_feature(...) */
    return open_part(left, BINDS_UNARY);
}

static struct part is_defined(struct reader *reader)
{
    const bool in_parentheses = taken(reader, "(");
    const char *name = word(reader);
    const struct macro_fact fact = reader->lookup(reader->user, name);

    if (in_parentheses && !taken(reader, ")"))
        reader->failed = true;
    return fact.is == MACRO_UNKNOWN
               ? open_part(arena_printf(reader->arena, "defined %s", name), BINDS_UNARY)
               : known(reader, fact.is == MACRO_DEFINED);
}

static struct part either(struct reader *reader);

static const char *bound(struct reader *reader, struct part part, enum binding binds)
{
    return part.binds < binds ? arena_printf(reader->arena, "(%s)", part.text) : part.text;
}

/* Conditions are our helpers' own: nesting is as deep as somebody wrote it. */
static struct part unary(struct reader *reader)
{
    struct part part;

    if (taken(reader, "!")) {
        part = unary(reader);
        return part.truth == CONDITION_OPEN
                   ? open_part(arena_printf(reader->arena, "!%s", bound(reader, part, BINDS_UNARY)),
                               BINDS_UNARY)
                   : known(reader, !part.truth);
    }
    if (taken(reader, "(")) {
        part = either(reader);
        if (!taken(reader, ")"))
            reader->failed = true;
        return part;
    }
    {
        const char *name = word(reader);

        return strcmp(name, "defined") == 0 ? is_defined(reader) : comparison(reader, name);
    }
}

/* Terms joined by && or ||: a decided one decides all, or is dropped. */
static struct part joined(struct reader *reader, const char *symbol, enum binding binds,
                          bool decides, struct part (*term)(struct reader *))
{
    struct part all = term(reader);

    while (!reader->failed && taken(reader, symbol)) {
        const struct part next = term(reader);

        if (all.truth == decides || next.truth == (int)!decides)
            continue;
        if (next.truth == decides || all.truth == (int)!decides)
            all = next;
        else
            all = open_part(arena_printf(reader->arena, "%s %s %s", bound(reader, all, binds),
                                         symbol, bound(reader, next, binds)),
                            binds);
    }
    return all;
}

static struct part both(struct reader *reader)
{
    return joined(reader, "&&", BINDS_AND, false, unary);
}

static struct part either(struct reader *reader)
{
    return joined(reader, "||", BINDS_OR, true, both);
}

int condition_reduce(struct arena *arena, const char *text, macro_lookup *lookup, void *user,
                     const char **reduced)
{
    struct reader reader = { .arena = arena, .at = text, .lookup = lookup, .user = user };
    const struct part part = either(&reader);

    taken(&reader, "");
    *reduced = text;
    if (reader.failed || *reader.at || !reader.changed)
        return CONDITION_OPEN;
    *reduced = part.text;
    return part.truth;
}
