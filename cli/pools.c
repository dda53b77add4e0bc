/* pools.c - compile --pool: the memories that the arena is spread over. */
#include <string.h>

#include "base/str.h"
#include "cli/board.h"
#include "cli/budget.h"

static bool bad_pool(struct cli *cli, const char *text, const char *why)
{
    diag_error(cli->ctx, DIAG_USAGE, NULL, "--pool: '%s': %s", str_safe(&cli->ctx->perm, text, 80),
               why);
    diag_help(cli->ctx, "for example --pool dtcm=64K,fast --pool sram=512K --pool psram=8M,slow");
    return false;
}

static bool parse_attribute(struct codegen_pool *pool, const char *word)
{
    if (strcmp(word, "fast") == 0)
        pool->speed = POOL_FAST;
    else if (strcmp(word, "slow") == 0)
        pool->speed = POOL_SLOW;
    else if (str_starts(word, "section=") && word[8])
        pool->section = word + 8;
    else if (strcmp(word, "weights") == 0)
        pool->takes = POOL_OF_BOTH;
    else if (strcmp(word, "const") == 0)
        pool->takes = POOL_OF_CONSTANTS;
    else
        return false;
    return true;
}

/* "dtcm=64K,fast,section=.dtcm" */
static bool parse_pool(struct cli *cli, const char *text, struct codegen_pool *pool)
{
    char *words = arena_strdup(&cli->ctx->perm, text), *rest = strchr(words, '=');

    if (!rest)
        return bad_pool(cli, text, "the form is NAME=BYTES");
    *rest++ = '\0';
    pool->name = words;
    if (strcmp(c_identifier(&cli->ctx->perm, words), words) != 0)
        return bad_pool(cli, text, "the name cannot be a part of C symbols");
    words = rest + strcspn(rest, ",");
    if (*words)
        *words++ = '\0';
    if (!parse_bytes(rest, &pool->bytes) || !pool->bytes)
        return bad_pool(cli, text, "it needs a number of bytes such as 65536 or 64K");
    for (; *words; words = rest) {
        rest = words + strcspn(words, ",");
        if (*rest)
            *rest++ = '\0';
        if (!parse_attribute(pool, words))
            return bad_pool(cli, text,
                            "behind the bytes come fast, slow, section=NAME, weights or const");
    }
    if (pool->takes == POOL_OF_BOTH && !pool->section)
        return bad_pool(
            cli, text, "weights are constants, which the linker puts there: section=NAME says how");
    return true;
}

static bool add_pool(struct cli *cli, const struct codegen_pool *pool)
{
    struct codegen_pool *more = arena_array(&cli->ctx->perm, struct codegen_pool, cli->n_pools + 1);

    for (int i = 0; i < cli->n_pools; i++) {
        more[i] = cli->pools[i];
        if (strcmp(more[i].name, pool->name) == 0)
            return diag_error(cli->ctx, DIAG_USAGE, NULL, "--pool: '%s' is there twice",
                              pool->name);
    }
    more[cli->n_pools++] = *pool;
    cli->pools = more;
    return true;
}

/* One flash is where constants are anyway: --flash judges it. */
static bool add_board(struct cli *cli)
{
    bool ok = true, several = false;

    if (!cli->board)
        return diag_error(cli->ctx, DIAG_USAGE, NULL,
                          cli->args.command == COMMAND_COMPILE
                              ? "--pool board says nothing without --board"
                              : "--pool board is of compile, which has --board");
    for (int i = 0; i < cli->board->n_pools; i++)
        several = several || (cli->board->pools[i].is_flash && cli->board->pools[i].section);
    for (int i = 0; i < cli->board->n_pools; i++) {
        const struct board_pool *pool = &cli->board->pools[i];
        const struct codegen_pool memory = { c_identifier(&cli->ctx->perm, pool->name), pool->bytes,
                                             pool->speed, pool->section,
                                             pool->is_flash ? POOL_OF_CONSTANTS : POOL_OF_ARENA };

        ok = ((pool->is_flash && !several) || add_pool(cli, &memory)) && ok;
    }
    return ok;
}

bool prepare_pools(struct cli *cli)
{
    const struct option_values *given = &cli->args.options[OPTION_POOL];
    bool ok = true;

    for (int i = 0; i < given->n; i++) {
        struct codegen_pool pool = { .name = NULL };

        if (strcmp(given->at[i], "board") == 0)
            ok = add_board(cli) && ok;
        else
            ok = parse_pool(cli, given->at[i], &pool) && add_pool(cli, &pool) && ok;
    }
    return ok;
}

/* As for a command that has no --board. */
void repeat_pools(struct cli *cli)
{
    static const char *const speeds[] = {
        [POOL_NORMAL] = "", [POOL_FAST] = ",fast", [POOL_SLOW] = ",slow"
    };
    static const char *const takes[] = {
        [POOL_OF_ARENA] = "", [POOL_OF_BOTH] = ",weights", [POOL_OF_CONSTANTS] = ",const"
    };

    for (int p = 0; p < cli->n_pools; p++) {
        const struct codegen_pool *pool = &cli->pools[p];
        struct arena *arena = &cli->ctx->perm;

        say(cli, " --pool %s",
            for_shell(cli, arena_printf(arena, "%s=%s%s%s%s%s", pool->name,
                                        bytes_text(arena, pool->bytes), speeds[pool->speed],
                                        pool->section ? ",section=" : "",
                                        pool->section ? pool->section : "", takes[pool->takes])));
    }
}

void report_pools(struct cli *cli, const struct codegen_options *options,
                  const struct codegen_result *result)
{
    for (int p = 0; p < options->n_pools; p++) {
        const struct codegen_pool *pool = &options->pools[p];

        say(cli, "  %-7s %zu of %zu bytes", pool->name,
            result->pool_bytes[p] + result->pool_constant_bytes[p], pool->bytes);
        if (pool->takes != POOL_OF_ARENA)
            say(cli, ", %zu of them constants", result->pool_constant_bytes[p]);
        say(cli, "\n");
    }
}
