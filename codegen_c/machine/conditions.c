/* conditions.c - keeps or drops the lines of a text by its preprocessor conditions. */
#include "codegen_c/machine/conditions.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"

/* --- facts ------------------------------------------------------------------------------------ */

struct facts {
    const struct machine *machine;
    struct arena *arena;
    struct map own; /* name -> struct own: macros that the texts define */
};

struct own {
    int n;             /* definitions left */
    bool under;        /* a definition is conditional, or the macro is undefined somewhere */
    const char *value; /* value of the last definition */
};

static struct macro_fact fact_of(void *user, const char *name)
{
    const struct facts *facts = user;
    const struct own *own = map_get(&facts->own, name);
    struct macro_fact fact = { .is = MACRO_UNKNOWN };
    char *end;

    if (own && own->n == 0)
        fact.is = MACRO_UNDEFINED;
    else if (own && own->n == 1 && !own->under) {
        if (map_get(&facts->own, own->value))
            return fact_of(user, own->value); /* another name of that macro */
        fact.is = MACRO_DEFINED;
        fact.number = strtol(own->value, &end, 10);
        fact.has_number = end != own->value && *end == '\0';
    } else if (!own && machine_never_defines(facts->machine, name)) {
        fact.is = MACRO_UNDEFINED;
    }
    return fact;
}

/* The same where the compiler is given the CPU's flags. */
static struct macro_fact fact_with_flags(void *user, const char *name)
{
    const struct facts *facts = user;
    struct macro_fact fact = fact_of(user, name);

    if (!map_get(&facts->own, name) && machine_defines(facts->machine, name))
        fact.is = MACRO_DEFINED;
    return fact;
}

/* The same where no instructions are there but the least of the architecture. */
static struct macro_fact fact_without(void *user, const char *name)
{
    const struct facts *facts = user;
    struct macro_fact fact = fact_of(user, name);

    if (!map_get(&facts->own, name) && macro_is_of_instructions(name))
        fact.is = MACRO_UNDEFINED;
    return fact;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* The line and its continuation lines, without the last newline. */
static const char *next_line(struct arena *arena, const char **text)
{
    const char *end = *text + strcspn(*text, "\n"), *line;

    while (end > *text && end[-1] == '\\' && *end)
        end += 1 + strcspn(end + 1, "\n");
    line = arena_strndup(arena, *text, (size_t)(end - *text));
    *text = *end ? end + 1 : end;
    return line;
}

/* The rest of a line that begins with "#NAME ", or NULL. */
static const char *directive(const char *line, const char *name)
{
    const size_t n = strlen(name);

    line += strspn(line, " ");
    if (*line++ != '#')
        return NULL;
    line += strspn(line, " ");
    if (strncmp(line, name, n) != 0 || (line[n] && !strchr(" \t(!", line[n])))
        return NULL;
    return line + n + strspn(line + n, " \t");
}

static bool opens(const char *line)
{
    return directive(line, "if") || directive(line, "ifdef") || directive(line, "ifndef");
}

static void note_definitions(struct facts *facts, const char *text)
{
    int depth = 0;

    while (*text) {
        const char *line = next_line(facts->arena, &text), *rest = directive(line, "define");
        const bool begins = rest != NULL;
        const char *name;
        struct own *own;
        size_t n;

        depth += opens(line) ? 1 : directive(line, "endif") ? -1 : 0;
        if (!begins && !(rest = directive(line, "undef")))
            continue;
        n = strcspn(rest, " \t(");
        name = arena_strndup(facts->arena, rest, n);
        own = map_get(&facts->own, name);
        if (!own) {
            own = arena_new(facts->arena, struct own);
            map_set(&facts->own, name, own);
        }
        own->n += begins;
        own->under |= depth > 0 || !begins || rest[n] == '(';
        if (begins)
            own->value = rest[n] == ' ' ? rest + n + strspn(rest + n, " ") : "";
    }
}

/* --- conditions ------------------------------------------------------------------------------- */

/* An #if with its other branches. */
struct chain {
    bool dropped; /* the whole chain is inside dropped text */
    bool kept;    /* the lines of this branch stay */
    bool open;    /* an #if was written */
    bool decided; /* a branch was true: the following ones do not count */
    bool
        best; /* a branch is true with the CPU's flags: of the following ones those of lesser CPUs do not count */
};

enum { DEEPEST = 16 };

struct filter {
    struct facts *facts;
    struct str out;
    struct chain chains[DEEPEST];
    int depth;
    bool after_cut; /* the next blank line may be redundant */
    bool changed;
};

static struct chain *top(struct filter *filter)
{
    return &filter->chains[filter->depth - 1];
}

static bool keeps(struct filter *filter)
{
    return filter->depth == 0 || (top(filter)->kept && !top(filter)->dropped);
}

static void add_line(struct filter *filter, const char *line)
{
    const bool is_blank = *line == '\0';
    const bool doubled = filter->out.n >= 2 && str_ends(filter->out.text, "\n\n");

    if (!(is_blank && doubled && filter->after_cut))
        str_printf(&filter->out, "%s\n", line);
    filter->after_cut &= is_blank;
}

/* The condition of an #if or #elif, and the comment after it. */
static const char *condition_text(struct filter *filter, const char *rest, const char **comment)
{
    const char *end = strstr(rest, "/*");
    size_t n = end ? (size_t)(end - rest) : strlen(rest);

    *comment = end ? end : "";
    while (n && (rest[n - 1] == ' ' || rest[n - 1] == '\t'))
        n--;
    return arena_strndup(filter->facts->arena, rest, n);
}

static int truth_of(struct filter *filter, const char *text, macro_lookup *lookup)
{
    const char *reduced;

    return condition_reduce(filter->facts->arena, text, lookup, filter->facts, &reduced);
}

/* A branch with this condition, NULL for #else. */
static void begin_arm(struct filter *filter, const char *line, const char *rest)
{
    struct chain *chain = top(filter);
    const char *comment = "", *reduced = NULL, *text = NULL;
    int truth = 1;

    if (chain->dropped)
        return;
    chain->kept = false;
    if (!chain->decided && rest) {
        text = condition_text(filter, rest, &comment);
        truth = condition_reduce(filter->facts->arena, text, fact_of, filter->facts, &reduced);
    }
    if (chain->best && text && truth_of(filter, text, fact_without) == 0)
        truth = 0;
    if (chain->decided || truth == 0) {
        filter->changed = filter->after_cut = true;
        return;
    }
    chain->kept = true;
    chain->decided = truth == 1;
    chain->best |= text && truth_of(filter, text, fact_with_flags) == 1;
    if (truth == CONDITION_OPEN && reduced == text &&
        (chain->open || directive(line, "elif") == NULL))
        add_line(filter, line);
    else if (truth == CONDITION_OPEN)
        add_line(filter,
                 arena_printf(filter->facts->arena, "#%s %s%s%s", chain->open ? "elif" : "if",
                              reduced, *comment ? " " : "", comment));
    else if (chain->open)
        add_line(filter, rest ? "#else" : line);
    filter->changed |= truth != CONDITION_OPEN ? rest != NULL || !chain->open : reduced != text;
    filter->after_cut |= truth == 1 && !chain->open;
    chain->open |= truth == CONDITION_OPEN;
}

static void begin_chain(struct filter *filter, const char *line)
{
    const char *rest = directive(line, "if"), *name = directive(line, "ifdef");
    const bool dropped = !keeps(filter);
    struct arena *arena = filter->facts->arena;

    assert(filter->depth < DEEPEST);
    filter->chains[filter->depth++] = (struct chain){ .dropped = dropped };
    if (!rest)
        rest = name ? arena_printf(arena, "defined %s", name)
                    : arena_printf(arena, "!defined %s", directive(line, "ifndef"));
    begin_arm(filter, line, rest);
}

static void end_chain(struct filter *filter, const char *line)
{
    const struct chain chain = filter->chains[--filter->depth];

    if (chain.open)
        add_line(filter, line);
    else
        filter->after_cut = true;
}

static const char *filtered(struct facts *facts, const char *text, bool *changed)
{
    struct filter filter = { .facts = facts, .out = { .arena = facts->arena } };

    while (*text) {
        const char *line = next_line(facts->arena, &text), *rest;

        if (opens(line))
            begin_chain(&filter, line);
        else if ((rest = directive(line, "elif")))
            begin_arm(&filter, line, rest);
        else if (directive(line, "else"))
            begin_arm(&filter, line, NULL);
        else if (directive(line, "endif"))
            end_chain(&filter, line);
        else if (keeps(&filter))
            add_line(&filter, line);
    }
    *changed |= filter.changed;
    return str_text(&filter.out);
}

void conditions_resolve(struct arena *arena, const struct machine *machine, const char **texts,
                        int n)
{
    struct facts facts = { .machine = machine, .arena = arena, .own = { .arena = arena } };
    bool changed = machine->arch != ARCH_ANY;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < facts.own.n; i++)
            *(struct own *)facts.own.entries[i].value = (struct own){ 0 };
        for (int i = 0; i < n; i++)
            note_definitions(&facts, texts[i]);
        for (int i = 0; i < n; i++)
            texts[i] = filtered(&facts, texts[i], &changed);
    }
}
