#include "driver/part.h"

#include <string.h>

#include "base/str.h"

/* A list of names as it grows. */
struct names {
    struct arena *arena;
    int n;
    const char **at;
};

static void add_name(struct names *list, const char *text, size_t n)
{
    const char **at = arena_array(list->arena, const char *, list->n + 1);

    if (list->n)
        memcpy(at, list->at, (size_t)list->n * sizeof *at);
    at[list->n++] = arena_strndup(list->arena, text, n);
    list->at = at;
}

/* Adds the names of "A,B,C", the first n bytes of text. False if one is empty. */
static bool add_names(struct names *list, const char *text, size_t n)
{
    for (const char *end = text + n; text < end;) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const size_t length = (size_t)((comma ? comma : end) - text);

        if (!length || (comma && comma + 1 == end))
            return false;
        add_name(list, text, length);
        text += length + (comma != NULL);
    }
    return true;
}

static bool malformed(struct driver_state *driver, enum option_id option, const char *text,
                      const char *wanted, const char *example)
{
    diag_error(driver->ctx, DIAG_USAGE, NULL, "--%s: '%s' is not %s", option_name(option),
               str_safe(&driver->ctx->perm, text, 120), wanted);
    diag_help(driver->ctx, "for example --%s %s", option_name(option), example);
    return false;
}

bool read_part(struct driver_state *driver, struct import_options *options)
{
    const struct option_values *cuts = &driver->args.options[OPTION_CUT_AT];
    const struct option_values *parts = &driver->args.options[OPTION_EXTRACT];
    struct names to = { .arena = &driver->ctx->perm }, from = to;
    bool ok = true;

    for (int i = 0; i < cuts->n; i++)
        if (!*cuts->at[i] || !add_names(&to, cuts->at[i], strlen(cuts->at[i])))
            ok = malformed(driver, OPTION_CUT_AT, cuts->at[i], "NAME,NAME,...", "boxes,scores");
    for (int i = 0; i < parts->n; i++) {
        const char *text = parts->at[i], *dots = strstr(text, "..");

        if (!dots || !dots[2 * (dots == text)] || !add_names(&from, text, (size_t)(dots - text)) ||
            !add_names(&to, dots + 2, strlen(dots + 2)))
            ok = malformed(driver, OPTION_EXTRACT, text, "A,...,A..B,...,B",
                           "features..boxes,scores");
    }
    options->n_to = to.n;
    options->to = to.at;
    options->n_from = from.n;
    options->from = from.at;
    return ok;
}

const char *part_options(const struct driver_state *driver, bool for_a_shell)
{
    static const enum option_id options[] = { OPTION_CUT_AT, OPTION_EXTRACT };
    struct str text = { .arena = &driver->ctx->perm };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        for (int k = 0; k < driver->args.options[options[i]].n; k++) {
            const char *value = driver->args.options[options[i]].at[k];

            str_printf(&text, " --%s %s", option_name(options[i]),
                       for_a_shell ? for_shell(driver, value) : value);
        }
    if (has_option(&driver->args, OPTION_DEQUANTIZE))
        str_printf(&text, " --%s", option_name(OPTION_DEQUANTIZE));
    return str_text(&text);
}
