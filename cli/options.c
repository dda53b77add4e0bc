#define _GNU_SOURCE /* getopt_long */
#include "cli/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { LETTER_BASE = 256 }; /* getopt_long returns LETTER_BASE + index for a long option */

static void unknown_option(struct ctx *ctx, const char *word)
{
    const char *names[OPTION_COUNT], *nearest;
    const size_t n = strcspn(word, "=");

    for (int i = 0; i < OPTION_COUNT; i++)
        names[i] = option_rows[i].name;
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
        names[i] = command_rows[i].name;
    diag_error(ctx, DIAG_USAGE, NULL, "unknown command '%s'", str_safe(&ctx->perm, word, 80));
    nearest = str_nearest(word, names, COMMAND_COUNT);
    if (nearest)
        diag_help(ctx, "did you mean '%s'?", nearest);
    else
        diag_help(ctx, "'relayc --help' lists the commands");
}

enum { N_LONGS = OPTION_COUNT + ALIAS_COUNT };

static struct option long_option(const char *name, int option)
{
    return (struct option){ name, option_rows[option].argument ? required_argument : no_argument,
                            NULL, LETTER_BASE + option };
}

/* The tables of getopt_long, made from the options. '-' in front: operands come as option 1, so
 * that options may follow them. */
static void make_tables(struct option *longs, char *letters)
{
    *letters++ = '-';
    *letters++ = ':';
    for (int i = 0; i < OPTION_COUNT; i++) {
        longs[i] = long_option(option_rows[i].name, i);
        if (option_rows[i].letter) {
            *letters++ = option_rows[i].letter;
            if (option_rows[i].argument)
                *letters++ = ':';
        }
    }
    for (int i = 0; i < ALIAS_COUNT; i++)
        longs[OPTION_COUNT + i] = long_option(option_aliases[i].name, (int)option_aliases[i].option);
    longs[N_LONGS] = (struct option){ NULL, 0, NULL, 0 };
    *letters = '\0';
}

static int option_of_letter(int letter)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_rows[i].letter && option_rows[i].letter == letter)
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
        if (strcmp(command_rows[i].name, word) == 0)
            args->command = (enum command)i;
    if (args->command == COMMAND_COUNT)
        unknown_command(ctx, word);
}

/* What can only be said once the command is known. */
static void check_usage(struct ctx *ctx, const struct arguments *args)
{
    const enum command c = args->command;

    for (int i = 0; i < OPTION_COUNT; i++)
        if (args->options[i].n && !(option_rows[i].commands & (1 << c))) {
            diag_error(ctx, DIAG_USAGE, NULL, "'relayc %s' has no option --%s",
                       command_rows[c].name, option_rows[i].name);
            diag_help(ctx, "'relayc %s --help' lists its options", command_rows[c].name);
        }
    if (args->n_operands > command_rows[c].most)
        diag_error(ctx, DIAG_USAGE, NULL, "'relayc %s' takes %s, not also '%s'",
                   command_rows[c].name, command_rows[c].operands,
                   str_safe(&ctx->perm, args->operands[command_rows[c].most], 80));
    if (args->n_operands < command_rows[c].least && !has_option(args, OPTION_PASSES) &&
        !has_option(args, OPTION_OPERATORS) &&
        strcmp(option_text(args, OPTION_TARGET, ""), "help") != 0 &&
        strcmp(option_text(args, OPTION_BOARD, ""), "help") != 0) {
        diag_error(ctx, DIAG_USAGE, NULL, "'relayc %s' needs %s", command_rows[c].name,
                   command_rows[c].operands);
        diag_help(ctx, "'relayc %s --help' shows how it is used", command_rows[c].name);
    }
}

static bool is_shared(int option)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (i != option && option_rows[i].letter &&
            option_rows[i].letter == option_rows[option].letter)
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
            if (option_rows[k].letter == option_rows[i].letter &&
                (option_rows[k].commands & (1 << args->command)))
                meant = k;
        for (int k = 0; k < shared[i].n; k++)
            option_add(ctx, &args->options[meant], shared[i].at[k]);
    }
}

bool arguments_parse(struct ctx *ctx, int argc, char **argv, struct arguments *args)
{
    struct option longs[N_LONGS + 1];
    char letters[2 * OPTION_COUNT + 3];
    struct option_values shared[OPTION_COUNT] = { 0 }; /* given by letters that options share */
    bool named = false;
    int c;

    *args = (struct arguments){ .command = COMMAND_COUNT };
    make_tables(longs, letters);
    opterr = 0;
    optind = 0; /* GNU: start again, also in a test that parses several lines */
    while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        const int short_option = option_of_letter(c);

        if (c == 1)
            operand(ctx, args, &named, optarg);
        else if (c == ':')
            diag_error(ctx, DIAG_USAGE, NULL, "option '%s' needs a value",
                       str_safe(&ctx->perm, argv[optind - 1], 80));
        else if (c == '?' && optopt >= LETTER_BASE)
            diag_error(ctx, DIAG_USAGE, NULL, "option --%s takes no value",
                       option_rows[optopt - LETTER_BASE].name);
        else if (c == '?')
            unknown_option(ctx,
                           optopt ? arena_printf(&ctx->perm, "-%c", optopt) : argv[optind - 1]);
        else if (short_option >= 0 && is_shared(short_option))
            option_add(ctx, &shared[short_option], optarg ? optarg : "");
        else
            option_add(ctx, &args->options[c >= LETTER_BASE ? c - LETTER_BASE : short_option],
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
