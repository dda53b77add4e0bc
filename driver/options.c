#include "driver/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

const struct command_row command_rows[COMMAND_COUNT] = {
#define COMMAND(symbol, name, operands, least, most, summary)                                      \
    { name, operands, least, most, summary },
#include "driver/commands.def"
#undef COMMAND
};

const struct option_row option_rows[OPTION_COUNT] = {
#define OPTION(symbol, name, letter, argument, commands, reader, help)                             \
    { name, letter, argument, commands, READ_BY_##reader, help },
#include "driver/options.def"
#undef OPTION
};

static const struct {
    enum option_id first;
    const char *title;
} groups[] = {
#define OPTION(symbol, name, letter, argument, commands, reader, help)
#define GROUP(symbol, title) { OPTION_##symbol, title },
#include "driver/options.def"
#undef OPTION
};

static const struct {
    enum option_id option;
    int commands;
    const char *help;
} option_words[] = {
#define WORDS(symbol, commands, help) { OPTION_##symbol, commands, help },
#include "driver/option_words.def"
#undef WORDS
};

const char *option_group(enum option_id option)
{
    const char *title = "";

    for (size_t i = 0; i < sizeof groups / sizeof *groups && groups[i].first <= option; i++)
        title = groups[i].title;
    return title;
}

const char *option_help(enum option_id option, enum command command)
{
    for (size_t i = 0; i < sizeof option_words / sizeof *option_words; i++)
        if (option_words[i].option == option && (option_words[i].commands & (1 << command)))
            return option_words[i].help;
    return option_rows[option].help;
}

static const char *const choices[OPTION_COUNT] = {
#define CHOICES(symbol, words) [OPTION_##symbol] = words,
#include "driver/option_choices.def"
#undef CHOICES
};

const char *option_choices(enum option_id option)
{
    return choices[option];
}

const struct option_alias option_aliases[ALIAS_COUNT] = {
#define ALIAS(symbol, name) { name, OPTION_##symbol },
#include "driver/aliases.def"
#undef ALIAS
};

const char *option_name(enum option_id option)
{
    return option_rows[option].name;
}

const char *command_name(enum command command)
{
    return command_rows[command].name;
}

bool has_option(const struct arguments *args, enum option_id option)
{
    return args->options[option].n > 0;
}

const char *option_text(const struct arguments *args, enum option_id option, const char *missing)
{
    const struct option_values *values = &args->options[option];

    return values->n ? values->at[values->n - 1] : missing;
}

static bool bad_value(struct ctx *ctx, enum option_id option, const char *found, const char *wanted)
{
    return diag_error(ctx, DIAG_USAGE, NULL, "--%s: '%s' is not %s", option_rows[option].name,
                      str_safe(&ctx->perm, found, 80), wanted);
}

bool option_real(struct ctx *ctx, const struct arguments *args, enum option_id option,
                 double missing, double *out)
{
    const char *text = option_text(args, option, NULL);
    char *end;

    *out = missing;
    if (!text)
        return true;
    *out = strtod(text, &end);
    return (end != text && !*end && isfinite(*out) && *out >= 0) ||
           bad_value(ctx, option, text, "a number of at least 0");
}

bool option_integer(struct ctx *ctx, const struct arguments *args, enum option_id option,
                    long long missing, long long *out)
{
    const char *text = option_text(args, option, NULL);
    char *end;

    *out = missing;
    if (!text)
        return true;
    errno = 0;
    *out = strtoll(text, &end, 0);
    return (end != text && !*end && !errno && *out >= 0) ||
           bad_value(ctx, option, text, "a whole number of at least 0");
}

bool parse_bytes(const char *text, size_t *out)
{
    static const char letters[] = "KMG";
    const size_t n_digits = strspn(text, "0123456789"), n = strspn(text, "0123456789.");
    const char *suffix = text + n, *letter = *suffix ? strchr(letters, *suffix) : NULL;
    const double unit = letter ? (double)(1 << 10 * (letter - letters + 1)) : 1;
    char *end;
    double number;

    if (n_digits == 0 || (n > n_digits && !letter))
        return false;
    number = strtod(text, &end) * unit;
    if (end != suffix || number >= 1e15)
        return false;
    *out = (size_t)number;
    suffix += letter != NULL;
    return !*suffix || strcmp(suffix, "B") == 0 || (letter && strcmp(suffix, "iB") == 0);
}

const char *bytes_text(struct arena *arena, size_t bytes)
{
    const bool mega = bytes >= 1 << 20 && bytes % (1 << 20) == 0;

    if (mega || (bytes >= 1 << 10 && bytes % (1 << 10) == 0))
        return arena_printf(arena, "%zu%c", bytes >> (mega ? 20 : 10), mega ? 'M' : 'K');
    return arena_printf(arena, "%zu", bytes);
}

bool option_bytes(struct ctx *ctx, const struct arguments *args, enum option_id option,
                  size_t missing, size_t *out)
{
    const char *text = option_text(args, option, NULL);

    *out = missing;
    return !text || parse_bytes(text, out) ||
           bad_value(ctx, option, text, "a number of bytes such as 65536, 64K or 1.5M");
}

bool option_word(struct ctx *ctx, const struct arguments *args, enum option_id option,
                 const char *const *words, int missing, int *out)
{
    const char *text = option_text(args, option, NULL);
    struct str list = { .arena = &ctx->perm };

    *out = missing;
    if (!text)
        return true;
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return true;
        }
        str_printf(&list, "%s%s", i ? (words[i + 1] ? ", " : " or ") : "", words[i]);
    }
    return bad_value(ctx, option, text, str_text(&list));
}

void option_add(struct ctx *ctx, struct option_values *values, const char *text)
{
    const char **at = arena_array(&ctx->perm, const char *, values->n + 1);

    if (values->n)
        memcpy(at, values->at, (size_t)values->n * sizeof *at);
    at[values->n++] = text;
    values->at = at;
}

enum option_id option_find(const char *name)
{
    int i = 0;

    while (i < OPTION_COUNT && strcmp(option_rows[i].name, name) != 0)
        i++;
    for (int k = 0; i == OPTION_COUNT && k < ALIAS_COUNT; k++)
        if (strcmp(option_aliases[k].name, name) == 0)
            return option_aliases[k].option;
    return (enum option_id)i;
}
