/* cmd_completion.c - completion scripts of shells, from the tables of driver/options.h. */
#include <string.h>

#include "base/embedded.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "codegen_c/machine/machine.h"
#include "driver/board.h"

/* What comes behind an option. */
enum argument_kind { NO_VALUE, ANY_VALUE, FILE_VALUE, WORD_VALUE };

static enum argument_kind kind_of(enum option_id option)
{
    const char *argument = option_rows[option].argument;

    if (!argument)
        return NO_VALUE;
    if (option_choices(option) || option == OPTION_TARGET || option == OPTION_BOARD)
        return WORD_VALUE;
    return strstr(argument, "FILE") || strstr(argument, "PATH") || strstr(argument, "DIR") ||
                   strstr(argument, "TABLE") || strstr(argument, ".onnx")
               ? FILE_VALUE
               : ANY_VALUE;
}

/* Separated by spaces. */
static const char *words_of(struct arena *arena, enum option_id option)
{
    struct str words = { .arena = arena };

    if (option == OPTION_TARGET) {
        for (size_t i = 0; i < n_machines; i++)
            str_printf(&words, "%s ", machines[i].name);
        str_add(&words, "host help");
    } else if (option == OPTION_BOARD) {
        for (size_t i = 0; i < n_embedded_files; i++)
            if (board_shipped(arena, i))
                str_printf(&words, "%s ", board_shipped(arena, i));
        str_add(&words, "help");
    } else {
        str_add(&words, option_choices(option));
    }
    return str_text(&words);
}

/* Behind `relayc help`: commands and topics. Behind others: files. */
static const char *operands_of(struct arena *arena, enum command command)
{
    struct str words = { .arena = arena };
    const char *topic;

    if (command == COMMAND_COMPLETION)
        return "bash zsh fish";
    if (command != COMMAND_HELP)
        return "";
    for (int i = 0; i < COMMAND_COUNT; i++)
        str_printf(&words, "%s%s", i ? " " : "", command_rows[i].name);
    for (size_t i = 0; (topic = topic_name(arena, i)) != NULL; i++)
        if (*topic)
            str_printf(&words, " %s", topic);
    return str_text(&words);
}

/* --- bash ------------------------------------------------------------------------------------- */

/* "-o|--output-dir|..." of all options of this kind. */
static const char *names_of_kind(struct arena *arena, enum argument_kind kind)
{
    struct str names = { .arena = arena };

    for (int i = 0; i < OPTION_COUNT; i++)
        if (kind_of((enum option_id)i) == kind) {
            if (option_rows[i].letter)
                str_printf(&names, "%s-%c", names.n ? "|" : "", option_rows[i].letter);
            str_printf(&names, "%s--%s", names.n ? "|" : "", option_rows[i].name);
        }
    return str_text(&names);
}

static void print_bash(struct arena *arena)
{
    fputs("# bash completion of relayc, printed by 'relayc completion bash'\n"
          "_relayc()\n"
          "{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= "
          "word words=\n"
          "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
          "        case $word in -*) ;; *) command=$word; break ;; esac\n"
          "    done\n"
          "    if [ \"$cur\" = = ]; then cur=; elif [ \"$prev\" = = ]; then "
          "prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
          "    case $prev in\n",
          stdout);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (kind_of((enum option_id)i) == WORD_VALUE)
            printf("    --%s) words='%s' ;;\n", option_rows[i].name,
                   words_of(arena, (enum option_id)i));
    printf("    %s)\n        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n        return ;;\n",
           names_of_kind(arena, FILE_VALUE));
    printf("    %s) return ;;\n    *)\n        case $command in\n        '') words='",
           names_of_kind(arena, ANY_VALUE));
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("%s ", command_rows[i].name);
    fputs("--help --version' ;;\n", stdout);
    for (int c = 0; c < COMMAND_COUNT; c++) {
        printf("        %s) words='%s", command_rows[c].name, operands_of(arena, (enum command)c));
        for (int i = 0; i < OPTION_COUNT; i++)
            if (command_has((enum command)c, (enum option_id)i))
                printf(" --%s", option_rows[i].name);
        fputs("' ;;\n", stdout);
    }
    fputs("        esac ;;\n"
          "    esac\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
          "    case $cur in -*) ;; *)\n"
          "        [ -z \"$command\" ] || [ \"${prev#--}\" != \"$prev\" ] && [ -n "
          "\"${COMPREPLY[*]}\" ] ||\n"
          "            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
          "    esac\n"
          "}\n"
          "complete -o filenames -F _relayc relayc\n",
          stdout);
}

/* --- zsh, fish -------------------------------------------------------------------------------- */

/* The first clause of a help text, within single quotes; `escaped`: characters that need a backslash. */
static const char *summary(struct arena *arena, const char *help, const char *escaped)
{
    struct str text = { .arena = arena };
    size_t n = strcspn(help, ";(");

    while (n && (help[n - 1] == ' ' || help[n - 1] == ','))
        n--;
    for (size_t i = 0; i < n; i++) {
        if (help[i] == '\'')
            str_add(&text, "'\\''");
        else if (strchr(escaped, help[i]))
            str_printf(&text, "\\%c", help[i]);
        else
            str_addn(&text, &help[i], 1);
    }
    return str_text(&text);
}

static void print_zsh_option(struct arena *arena, enum command command, enum option_id option)
{
    static const char *const actions[] = { [ANY_VALUE] = " ", [FILE_VALUE] = "_files" };
    const struct option_row *row = &option_rows[option];
    const enum argument_kind kind = kind_of(option);
    const char *text = summary(arena, option_help(option, command), "[]:\\"), *action;

    for (int letter = 0; letter < 1 + !!row->letter; letter++) {
        const char *name = letter ? arena_printf(arena, "-%c", row->letter)
                                  : arena_printf(arena, "--%s", row->name);

        printf(" \\\n            '*%s%s[%s]", name, row->argument && !letter ? "=" : "", text);
        if (row->argument) {
            action = kind == WORD_VALUE ? arena_printf(arena, "(%s)", words_of(arena, option))
                                        : actions[kind];
            printf(":%s:%s", summary(arena, row->argument, "[]:\\"), action);
        }
        putchar('\'');
    }
}

static void print_zsh(struct arena *arena)
{
    fputs("#compdef relayc\n# zsh completion of relayc, printed by 'relayc completion zsh'\n"
          "_relayc() {\n"
          "    local -a commands\n"
          "    commands=(\n",
          stdout);
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("        '%s:%s'\n", command_rows[i].name,
               summary(arena, command_rows[i].summary, ":\\"));
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    local command=$words[2]\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $command in\n",
          stdout);
    for (int c = 0; c < COMMAND_COUNT; c++) {
        const char *operands = operands_of(arena, (enum command)c);

        printf("    %s)\n        _arguments", command_rows[c].name);
        for (int i = 0; i < OPTION_COUNT; i++)
            if (command_has((enum command)c, (enum option_id)i))
                print_zsh_option(arena, (enum command)c, (enum option_id)i);
        if (*operands)
            printf(" \\\n            '*:topic:(%s)' ;;\n", operands);
        else
            fputs(" \\\n            '*:file:_files' ;;\n", stdout);
    }
    fputs("    esac\n}\n_relayc \"$@\"\n", stdout);
}

static void print_fish(struct arena *arena)
{
    fputs("# fish completion of relayc, printed by 'relayc completion fish'\n", stdout);
    for (int c = 0; c < COMMAND_COUNT; c++) {
        const char *name = command_rows[c].name, *operands = operands_of(arena, (enum command)c);

        printf("complete -c relayc -n __fish_use_subcommand -f -a %s -d '%s'\n", name,
               summary(arena, command_rows[c].summary, "\\"));
        if (*operands)
            printf("complete -c relayc -n '__fish_seen_subcommand_from %s' -f -a '%s'\n", name,
                   operands);
        for (int i = 0; i < OPTION_COUNT; i++) {
            const enum argument_kind kind = kind_of((enum option_id)i);

            if (!command_has((enum command)c, (enum option_id)i))
                continue;
            printf("complete -c relayc -n '__fish_seen_subcommand_from %s' -l %s", name,
                   option_rows[i].name);
            if (option_rows[i].letter)
                printf(" -s %c", option_rows[i].letter);
            if (kind == FILE_VALUE)
                fputs(" -r", stdout);
            else if (kind != NO_VALUE)
                printf(" -x%s%s%s", kind == WORD_VALUE ? " -a '" : "",
                       kind == WORD_VALUE ? words_of(arena, (enum option_id)i) : "",
                       kind == WORD_VALUE ? "'" : "");
            printf(" -d '%s'\n",
                   summary(arena, option_help((enum option_id)i, (enum command)c), "\\"));
        }
    }
}

bool command_completion(struct cli *cli)
{
    static const struct {
        const char *shell;
        void (*print)(struct arena *arena);
    } shells[] = { { "bash", print_bash }, { "zsh", print_zsh }, { "fish", print_fish } };
    const char *shell = cli->driver->args.operands[0];

    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].shell, shell) == 0) {
            shells[i].print(&cli->ctx->perm);
            return true;
        }
    return diag_error(cli->ctx, DIAG_USAGE, NULL,
                      "completion: expected bash, zsh or fish, found '%s'",
                      str_safe(&cli->ctx->perm, shell, 80));
}
