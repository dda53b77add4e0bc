/* cmd_help.c - relayc help: a command, an option, a topic, a diagnostic's code. */
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/help.h"

static enum command find_command(const char *name)
{
    int found = COMMAND_COUNT;

    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(command_rows[i].name, name) == 0)
            found = i;
    return (enum command)found;
}

static bool unknown(struct cli *cli, const char *word)
{
    struct arena *arena = &cli->ctx->perm;
    const char **names, *topic, *nearest;
    size_t n = 0, i = 0;

    while (topic_name(arena, i))
        i++;
    names = arena_array(arena, const char *, COMMAND_COUNT + OPTION_COUNT + i);
    for (int c = 0; c < COMMAND_COUNT; c++)
        names[n++] = command_rows[c].name;
    for (i = 0; (topic = topic_name(arena, i)) != NULL; i++)
        if (*topic)
            names[n++] = topic;
    for (int o = 0; o < OPTION_COUNT; o++)
        names[n++] = option_rows[o].name;
    nearest = str_nearest(word, names, n);
    diag_error(cli->ctx, DIAG_USAGE, NULL, "no help for '%s'", str_safe(arena, word, 80));
    if (nearest)
        diag_help(cli->ctx, "did you mean '%s'?", nearest);
    else
        diag_help(cli->ctx, "'relayc help' lists the commands and topics");
    return false;
}

/* True if there was one; *code is set. */
static bool is_code(const char *word)
{
    return (*word == 'R' || *word == 'r') && strspn(word + 1, "0123456789") == 4 && !word[5];
}

bool command_help(struct cli *cli)
{
    static const char *const forms[] = { "text", "man", NULL };
    const struct arguments *args = &cli->driver->args;
    const char *word = args->n_operands ? args->operands[0] : NULL;
    const enum command command = word ? find_command(word) : COMMAND_COUNT;
    const char *text = word ? topic_text(&cli->ctx->perm, word) : NULL;
    const enum option_id option = word ? option_find(word) : OPTION_COUNT;
    int form;

    if (!option_word(cli->ctx, args, OPTION_FORMAT, forms, 0, &form))
        return false;
    if (form == 1 && word && command == COMMAND_COUNT)
        return diag_error(cli->ctx, DIAG_USAGE, NULL,
                          "only commands have manual pages, '%s' is none",
                          str_safe(&cli->ctx->perm, word, 80));
    if (form == 1) {
        print_manual(stdout, &cli->ctx->perm, command);
    } else if (!word) {
        print_overview(stdout);
        print_topics(stdout);
    } else if (command != COMMAND_COUNT) {
        print_command_help(stdout, command);
    } else if (text) {
        print_topic(stdout, text + strcspn(text, "\n") + 1);
    } else if (option != OPTION_COUNT) {
        print_option_help(stdout, option);
    } else if (is_code(word)) {
        return command_explain(cli);
    } else {
        return unknown(cli, word);
    }
    return true;
}
