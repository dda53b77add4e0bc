#define _GNU_SOURCE /* getopt_long */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum {
#define COMMAND(symbol, name, operands, least, most, summary) C_##symbol = 1 << COMMAND_##symbol,
#include "cli/commands.def"
#undef COMMAND
    C_MODEL = C_BENCH | C_COMPARE | C_COMPILE | C_EVAL | C_INSPECT | C_RUN | C_TARGETS | C_TUNE |
              C_VERIFY,
    C_ANY = (1 << COMMAND_COUNT) - 1
};

static const struct {
    const char *name, *operands;
    int least, most;
    const char *summary;
} commands[COMMAND_COUNT] = {
#define COMMAND(symbol, name, operands, least, most, summary)                                      \
    { name, operands, least, most, summary },
#include "cli/commands.def"
#undef COMMAND
};

static const struct {
    const char *name;
    char letter;
    const char *argument;
    int commands;
    const char *help;
} options[OPTION_COUNT] = {
#define OPTION(symbol, name, letter, argument, commands, help)                                     \
    { name, letter, argument, commands, help },
#include "cli/options.def"
#undef OPTION
};

enum { LETTER_BASE = 256 }; /* getopt_long returns LETTER_BASE + index for a long option */

const char *option_name(enum option_id option)
{
    return options[option].name;
}

const char *command_name(enum command command)
{
    return commands[command].name;
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
    return diag_error(ctx, DIAG_USAGE, NULL, "--%s: '%s' is not %s", options[option].name,
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

static void add_value(struct ctx *ctx, struct option_values *values, const char *text)
{
    const char **at = arena_array(&ctx->perm, const char *, values->n + 1);

    if (values->n)
        memcpy(at, values->at, (size_t)values->n * sizeof *at);
    at[values->n++] = text;
    values->at = at;
}

static void unknown_option(struct ctx *ctx, const char *word)
{
    const char *names[OPTION_COUNT], *nearest;
    const size_t n = strcspn(word, "=");

    for (int i = 0; i < OPTION_COUNT; i++)
        names[i] = options[i].name;
    diag_error(ctx, DIAG_USAGE, NULL, "unknown option '%s'", str_safe(&ctx->perm, word, 80));
    nearest = str_starts(word, "--")
                  ? str_nearest(arena_strndup(&ctx->perm, word + 2, n > 2 ? n - 2 : 0), names,
                                OPTION_COUNT)
                  : NULL;
    if (nearest)
        diag_help(ctx, "did you mean --%s?", nearest);
}

static void unknown_command(struct ctx *ctx, const char *word)
{
    const char *names[COMMAND_COUNT], *nearest;

    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    diag_error(ctx, DIAG_USAGE, NULL, "unknown command '%s'", str_safe(&ctx->perm, word, 80));
    nearest = str_nearest(word, names, COMMAND_COUNT);
    if (nearest)
        diag_help(ctx, "did you mean '%s'?", nearest);
    else
        diag_help(ctx, "'relayc --help' lists the commands");
}

/* The tables of getopt_long, made from the options. '-' in front: operands come as option 1, so
 * that options may follow them. */
static void make_tables(struct option *longs, char *letters)
{
    *letters++ = '-';
    *letters++ = ':';
    for (int i = 0; i < OPTION_COUNT; i++) {
        longs[i] =
            (struct option){ options[i].name, options[i].argument ? required_argument : no_argument,
                             NULL, LETTER_BASE + i };
        if (options[i].letter) {
            *letters++ = options[i].letter;
            if (options[i].argument)
                *letters++ = ':';
        }
    }
    longs[OPTION_COUNT] = (struct option){ NULL, 0, NULL, 0 };
    *letters = '\0';
}

static int option_of_letter(int letter)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options[i].letter && options[i].letter == letter)
            return i;
    return -1;
}

static void operand(struct ctx *ctx, struct arguments *args, bool *named, const char *word)
{
    if (*named) {
        const char **at = arena_array(&ctx->perm, const char *, args->n_operands + 1);

        if (args->n_operands)
            memcpy(at, args->operands, (size_t)args->n_operands * sizeof *at);
        at[args->n_operands++] = word;
        args->operands = at;
        return;
    }
    *named = true;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, word) == 0)
            args->command = (enum command)i;
    if (args->command == COMMAND_COUNT)
        unknown_command(ctx, word);
}

/* What can only be said once the command is known. */
static void check_usage(struct ctx *ctx, const struct arguments *args)
{
    const enum command c = args->command;

    for (int i = 0; i < OPTION_COUNT; i++)
        if (args->options[i].n && !(options[i].commands & (1 << c))) {
            diag_error(ctx, DIAG_USAGE, NULL, "'relayc %s' has no option --%s", commands[c].name,
                       options[i].name);
            diag_help(ctx, "'relayc %s --help' lists its options", commands[c].name);
        }
    if (args->n_operands > commands[c].most)
        diag_error(ctx, DIAG_USAGE, NULL, "'relayc %s' takes %s, not also '%s'", commands[c].name,
                   commands[c].operands,
                   str_safe(&ctx->perm, args->operands[commands[c].most], 80));
    if (args->n_operands < commands[c].least && !has_option(args, OPTION_PASSES) &&
        !has_option(args, OPTION_OPERATORS) &&
        strcmp(option_text(args, OPTION_TARGET, ""), "help") != 0 &&
        strcmp(option_text(args, OPTION_BOARD, ""), "help") != 0) {
        diag_error(ctx, DIAG_USAGE, NULL, "'relayc %s' needs %s", commands[c].name,
                   commands[c].operands);
        diag_help(ctx, "'relayc %s --help' shows how it is used", commands[c].name);
    }
}

static bool is_shared(int option)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (i != option && options[i].letter && options[i].letter == options[option].letter)
            return true;
    return false;
}

/* A letter that two options share means the one that the command has. */
static void settle_letters(struct ctx *ctx, struct arguments *args,
                           const struct option_values *shared)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        int meant = i;

        for (int k = 0; k < OPTION_COUNT && args->command != COMMAND_COUNT; k++)
            if (options[k].letter == options[i].letter &&
                (options[k].commands & (1 << args->command)))
                meant = k;
        for (int k = 0; k < shared[i].n; k++)
            add_value(ctx, &args->options[meant], shared[i].at[k]);
    }
}

bool arguments_parse(struct ctx *ctx, int argc, char **argv, struct arguments *args)
{
    struct option longs[OPTION_COUNT + 1];
    char letters[2 * OPTION_COUNT + 3];
    struct option_values shared[OPTION_COUNT] = { 0 }; /* given by letters that options share */
    bool named = false;
    int c;

    *args = (struct arguments){ .command = COMMAND_COUNT };
    make_tables(longs, letters);
    opterr = 0;
    optind = 0; /* GNU: start anew, also in a test that parses several lines */
    while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        const int short_option = option_of_letter(c);

        if (c == 1)
            operand(ctx, args, &named, optarg);
        else if (c == ':')
            diag_error(ctx, DIAG_USAGE, NULL, "option '%s' needs a value",
                       str_safe(&ctx->perm, argv[optind - 1], 80));
        else if (c == '?' && optopt >= LETTER_BASE)
            diag_error(ctx, DIAG_USAGE, NULL, "option --%s takes no value",
                       options[optopt - LETTER_BASE].name);
        else if (c == '?')
            unknown_option(ctx,
                           optopt ? arena_printf(&ctx->perm, "-%c", optopt) : argv[optind - 1]);
        else if (short_option >= 0 && is_shared(short_option))
            add_value(ctx, &shared[short_option], optarg ? optarg : "");
        else
            add_value(ctx, &args->options[c >= LETTER_BASE ? c - LETTER_BASE : short_option],
                      optarg ? optarg : "");
    }
    for (; optind < argc; optind++) /* behind "--" */
        operand(ctx, args, &named, argv[optind]);
    settle_letters(ctx, args, shared);
    if (args->command != COMMAND_COUNT && !has_option(args, OPTION_HELP) &&
        !has_option(args, OPTION_VERSION))
        check_usage(ctx, args);
    return ctx->diags.n_errors == 0;
}

void print_overview(FILE *out)
{
    fputs("relayc: from a trained neural network (ONNX) to self-contained C\n\n"
          "  relayc compile kws.onnx -o gen/        write kws.h, kws.c, kws_weights.c, kws.json\n"
          "  relayc verify kws.onnx                 file = passes = oneDNN = generated C?\n"
          "  relayc run kws.onnx -i x.npy --output y.npy\n\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-9s  %s\n", commands[i].name, commands[i].summary);
    fputs("\n'relayc COMMAND --help' for the options; docs/ for the rest.\n", out);
}

static void print_option(FILE *out, int i)
{
    char left[64];

    snprintf(left, sizeof left, "%c%c%s --%s%s%s", options[i].letter ? '-' : ' ',
             options[i].letter ? options[i].letter : ' ', options[i].letter ? "," : " ",
             options[i].name, options[i].argument ? " " : "",
             options[i].argument ? options[i].argument : "");
    if (strlen(left) > 28)
        fprintf(out, "  %s\n  %28s  %s\n", left, "", options[i].help);
    else
        fprintf(out, "  %-28s  %s\n", left, options[i].help);
}

void print_command_help(FILE *out, enum command command)
{
    fprintf(out, "relayc %s %s [options]: %s\n\n", commands[command].name,
            commands[command].operands, commands[command].summary);
    for (int any = 0; any < 2; any++) {
        for (int i = 0; i < OPTION_COUNT; i++)
            if ((options[i].commands & (1 << command)) && (options[i].commands == C_ANY) == any)
                print_option(out, i);
        fputs(any ? "" : "\n", out);
    }
    fputs("\nExit codes: 0 ok, 1 the model or a check failed, 2 usage, 3 input or output, "
          "70 bug in relayc, 130 interrupted.\n",
          out);
}
