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
            return bad_pool(cli, text, "behind the bytes come fast, slow or section=NAME");
    }
    return true;
}

static bool add_pool(struct cli *cli, struct codegen_options *options,
                     const struct codegen_pool *pool)
{
    struct codegen_pool *more =
        arena_array(&cli->ctx->perm, struct codegen_pool, options->n_pools + 1);

    for (int i = 0; i < options->n_pools; i++) {
        more[i] = options->pools[i];
        if (strcmp(more[i].name, pool->name) == 0)
            return diag_error(cli->ctx, DIAG_USAGE, NULL, "--pool: '%s' is there twice",
                              pool->name);
    }
    more[options->n_pools++] = *pool;
    options->pools = more;
    return true;
}

static bool add_board(struct cli *cli, struct codegen_options *options)
{
    bool ok = true;

    if (!cli->board)
        return diag_error(cli->ctx, DIAG_USAGE, NULL, "--pool board says nothing without --board");
    for (int i = 0; i < cli->board->n_pools; i++) {
        const struct board_pool *pool = &cli->board->pools[i];
        const struct codegen_pool ram = { c_identifier(&cli->ctx->perm, pool->name), pool->bytes,
                                          pool->speed, pool->section };

        ok = (pool->is_flash || add_pool(cli, options, &ram)) && ok;
    }
    return ok;
}

bool prepare_pools(struct cli *cli, struct codegen_options *options)
{
    const struct option_values *given = &cli->args.options[OPTION_POOL];
    bool ok = true;

    for (int i = 0; i < given->n; i++) {
        struct codegen_pool pool = { .name = NULL };

        if (strcmp(given->at[i], "board") == 0)
            ok = add_board(cli, options) && ok;
        else
            ok = parse_pool(cli, given->at[i], &pool) && add_pool(cli, options, &pool) && ok;
    }
    if (options->n_pools && options->guard)
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL, "--guard watches one arena, without --pool");
    return ok;
}

void report_pools(struct cli *cli, const struct codegen_options *options,
                  const struct codegen_result *result)
{
    for (int p = 0; p < options->n_pools; p++)
        say(cli, "  %-7s %zu of %zu bytes\n", options->pools[p].name, result->pool_bytes[p],
            options->pools[p].bytes);
}
