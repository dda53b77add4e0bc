#include "codegen_c/plan/reserve.h"

#include <string.h>

#include "base/embedded.h"
#include "codegen_c/core/state.h"

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* How long the identifier is that the text begins with, keys in it included. */
static size_t word_length(const char *text)
{
    size_t n = 0;

    while (is_word(text[n]) || (text[n] == '$' && text[n + 1] == '{'))
        n += text[n] == '$' ? strcspn(text + n, "}") + 1 : 1;
    return n;
}

/* A name that begins with a key is handed out by names_unique; one of several is no name that people
 * give. */
static void add_name(struct arena *arena, struct map *names, const char *name, size_t n)
{
    static const int numbers[] = { 2, 4, 8, 16, 32 };
    const char *whole = arena_strndup(arena, name, n), *key = strstr(whole, "${"), *end;

    if (n == 0 || key == whole || (*whole >= '0' && *whole <= '9'))
        return;
    if (!key) {
        map_set(names, whole, names);
        return;
    }
    end = strchr(key, '}') + 1;
    if (strchr(key + 1, '$'))
        return;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        map_set(names, arena_printf(arena, "%.*s%d%s", (int)(key - whole), whole, numbers[i], end),
                names);
}

/* Whether a line of the text is "#undef NAME". */
static bool is_undefined(const char *text, const char *name, size_t n)
{
    static const char undef[] = "#undef ";

    for (const char *at = strstr(text, undef); at; at = strstr(at + 1, undef)) {
        const char *word = at + strlen(undef);

        if (word_length(word) == n && strncmp(word, name, n) == 0)
            return true;
    }
    return false;
}

/* The identifier before `end`. */
static void add_name_before(struct arena *arena, struct map *names, const char *start,
                            const char *end)
{
    const char *last = start;

    for (const char *at = start; at < end; at += word_length(at) ? word_length(at) : 1)
        if (word_length(at))
            last = at;
    add_name(arena, names, last, word_length(last));
}

/* Behind attributes: "static __attribute__((unused)) int f(". */
static const char *behind_attributes(const char *at)
{
    const char *attribute;

    while ((attribute = strstr(at, "__attribute__((")) && attribute < at + strcspn(at, "([;={\n"))
        at = strstr(attribute, "))") + 2;
    return at;
}

/* typedef uint32_t a, b __attribute__((...)); */
static void add_types(struct arena *arena, struct map *names, const char *line)
{
    const char *members_end = strstr(line, "} "), *attribute, *end;

    if (str_starts(line, "typedef struct ") && members_end)
        line = members_end;
    end = line + strcspn(line, ";");
    attribute = strstr(line, " __attribute__");
    if (attribute && attribute < end)
        end = attribute;
    while (line < end) {
        const size_t n = strcspn(line, ",;");
        const char *stop = line + n < end ? line + n : end;

        add_name_before(arena, names, line, stop);
        line = stop + 1;
    }
}

/* enum { A, B = 2 }; */
static void add_constants(struct arena *arena, struct map *names, const char *at)
{
    const char *end = strchr(at, '}');

    while (end && at < end) {
        at += strspn(at, " \n{,");
        add_name(arena, names, at, word_length(at));
        at += strcspn(at, ",}");
        at += at < end;
    }
}

/* "INLINE_F32 float exp_f32(float v)" */
static bool is_function(const char *line)
{
    const size_t n = strcspn(line, "(\n");

    return word_length(line) && line[n] == '(' && memchr(line, ' ', n);
}

void find_defined_names(struct arena *arena, const char *text, struct map *names)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *start = line;
        size_t n;

        if (str_starts(line + strspn(line, " "), "#define ")) {
            start = strstr(line, "#define ") + strlen("#define ");
            n = word_length(start);
            if (!is_undefined(text, start, n))
                add_name(arena, names, start, n);
        } else if (str_starts(line, "typedef ")) {
            add_types(arena, names, line);
        } else if (str_starts(line, "enum {")) {
            add_constants(arena, names, line + strlen("enum"));
        } else if (str_starts(line, "static ") || is_function(line)) {
            start = behind_attributes(line);
            add_name_before(arena, names, start, start + strcspn(start, "([;="));
        }
    }
}

struct map defined_names(struct arena *arena)
{
    static const char *const folders[] = { "templates/kernels/", "templates/helpers/",
                                           "runtime/embed/" };
    struct map names = { .arena = arena };

    for (size_t i = 0; i < n_embedded_files; i++)
        for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
            if (str_starts(embedded_files[i].path, folders[k]))
                find_defined_names(arena, embedded_files[i].text, &names);
    return names;
}

/* What the emitters write themselves. */
static const char *const own[] = { "CACHE_LINE", "NOINLINE", "part_begin", "run_parts" };

/* With NAME_ in front. */
static const char *const with_name[] = { "run",      "step",       "weights", "parallel_for",
                                         "fits_ram", "fits_flash", "overrun" };
static const char *const with_upper[] = {
    "OK",          "NULL_POINTER", "MISALIGNED_ARENA", "NO_REGION",   "REGION_FAILED",
    "ARENA_BYTES", "ARENA_ALIGN",  "REGIONS",          "INCLUDED",    "WRONG_ARITHMETIC",
    "PARTS",       "THREADS",      "WEIGHTS_H",        "STACK_BYTES", "RAM_BYTES",
    "FLASH_BYTES", "WEIGHT_BYTES", "CODE_BYTES",       "DATA_BYTES",  "MISALIGNED_ARRAY",
    "OVERLAP",     "OVERRUN",      "STATE_BYTES",      "CODE_ID",     "DATA_ID",
    "NO_FLOAT",    "MODEL_SHA256", "RELAYC_VERSION",   "WRONG_NUMBER"
};

/* Those of the user (--custom-op). */
static void reserve_functions(struct codegen *codegen)
{
    for (const struct function *fn = codegen->module->functions; fn; fn = fn->next)
        for (const struct node *node = fn->first; node; node = node->next)
            if (node->op == OP_CUSTOM)
                names_reserve(&codegen->names, node->attrs.custom.function);
}

void reserve_names(struct codegen *codegen)
{
    struct names *names = &codegen->names;
    struct arena *arena = &codegen->arena;

    names_init(names, arena);
    for (size_t i = 0; i < sizeof with_name / sizeof *with_name; i++)
        names_reserve(names, arena_printf(arena, "%s_%s", codegen->options->name, with_name[i]));
    for (size_t i = 0; i < sizeof with_upper / sizeof *with_upper; i++)
        names_reserve(names, arena_printf(arena, "%s_%s", codegen->upper, with_upper[i]));
    if (codegen->module->n_states) {
        names_reserve(names, arena_printf(arena, "%s_state", codegen->options->name));
        names_reserve(names, arena_printf(arena, "%s_reset", codegen->options->name));
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        names_reserve(names, own[i]);
    reserve_functions(codegen);
    for (size_t i = 0; i < codegen->defined.n; i++)
        names_reserve(names, codegen->defined.entries[i].key);
}
