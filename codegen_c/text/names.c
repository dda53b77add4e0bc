/* names.c - C identifiers and comment text out of what a model calls things. */
#include "codegen_c/text/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/codegen.h"

enum { MAX_IDENTIFIER = 48 };

/* Sorted. Keywords of C and C++ (the header is for both), and names of the standard library that
 * the generated code or its helpers use. */
static const char *const reserved[] = {
    "EOF",       "INFINITY",  "NAN",       "NULL",          "alignas",
    "alignof",   "and",       "and_eq",    "asm",           "auto",
    "bitand",    "bitor",     "bool",      "break",         "case",
    "catch",     "char",      "class",     "co_await",      "co_return",
    "co_yield",  "compl",     "concept",   "const",         "const_cast",
    "consteval", "constexpr", "constinit", "continue",      "decltype",
    "default",   "delete",    "do",        "double",        "dynamic_cast",
    "else",      "enum",      "errno",     "explicit",      "export",
    "extern",    "false",     "float",     "for",           "friend",
    "goto",      "if",        "inline",    "int",           "int16_t",
    "int32_t",   "int64_t",   "int8_t",    "intptr_t",      "long",
    "main",      "memcpy",    "memmove",   "memset",        "mutable",
    "namespace", "new",       "noexcept",  "not",           "not_eq",
    "nullptr",   "operator",  "or",        "or_eq",         "private",
    "protected", "ptrdiff_t", "public",    "register",      "reinterpret_cast",
    "requires",  "restrict",  "return",    "short",         "signed",
    "size_t",    "sizeof",    "static",    "static_assert", "static_cast",
    "struct",    "switch",    "template",  "this",          "thread_local",
    "throw",     "true",      "try",       "typedef",       "typeid",
    "typename",  "typeof",    "uint16_t",  "uint32_t",      "uint64_t",
    "uint8_t",   "uintptr_t", "union",     "unsigned",      "using",
    "virtual",   "void",      "volatile",  "wchar_t",       "while",
    "xor",       "xor_eq",
};

static int compare_words(const void *key, const void *word)
{
    return strcmp(key, *(const char *const *)word);
}

static bool is_reserved(const char *name)
{
    return bsearch(name, reserved, sizeof reserved / sizeof *reserved, sizeof *reserved,
                   compare_words) != NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Not isalnum: the locale has no say in C. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

const char *c_identifier(struct arena *arena, const char *text)
{
    char out[MAX_IDENTIFIER + 3];
    size_t n = 0;

    for (; *text && n < MAX_IDENTIFIER; text++) {
        const bool keep = is_letter(*text) || is_digit(*text);

        if (keep && n == 0 && is_digit(*text))
            out[n++] = 'n';
        if (keep)
            out[n++] = *text;
        else if (n > 0 && (*text == '_' || out[n - 1] != '_'))
            out[n++] = '_'; /* identifiers that begin with '_' belong to the compiler */
    }
    while (n > 0 && out[n - 1] == '_')
        n--;
    if (n == 0)
        out[n++] = 'n';
    out[n] = '\0';
    if (is_reserved(out)) {
        out[n++] = '_';
        out[n] = '\0';
    }
    return arena_strdup(arena, out);
}

void names_init(struct names *names, struct arena *arena)
{
    *names =
        (struct names){ .arena = arena, .taken = { .arena = arena }, .next = { .arena = arena } };
}

void names_reserve(struct names *names, const char *name)
{
    map_set(&names->taken, name, names);
}

const char *names_unique(struct names *names, const char *wanted)
{
    const char *name = wanted;
    int *next;

    if (map_get(&names->taken, name)) {
        next = map_get(&names->next, wanted);
        if (!next) {
            next = arena_new(names->arena, int);
            *next = 2;
            map_set(&names->next, wanted, next);
        }
        do
            name = arena_printf(names->arena, "%s_%d", wanted, (*next)++);
        while (map_get(&names->taken, name));
    }
    names_reserve(names, name);
    return name;
}

/* Whether c would, behind the character `before`, make something of a comment's own syntax. */
static bool is_dangerous(char before, char c)
{
    return (before == '*' && c == '/') || (before == '/' && (c == '*' || c == '/')) ||
           (before == '?' && c == '?');
}

const char *comment_safe(struct arena *arena, const char *text, size_t limit)
{
    struct str out = { .arena = arena };
    char before = ' ';

    for (; *text && out.n < limit; text++) {
        const bool printable = *text >= ' ' && *text < 127 && *text != '\\';
        const char c = printable ? *text : '_';

        if (is_dangerous(before, c))
            str_add(&out, " ");
        str_addn(&out, &c, 1);
        before = c;
    }
    if (*text)
        str_add(&out, "...");
    return str_text(&out);
}

const char *upper_case(struct arena *arena, const char *name)
{
    char *out = arena_strdup(arena, name);

    for (char *c = out; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return out;
}
