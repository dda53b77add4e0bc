/* pools.c - compile --pool: the memories that the arena is spread over. */
#include <string.h>

#include "base/str.h"
#include "driver/board.h"

static bool bad_pool(struct driver_state *driver, const char *text, const char *why)
{
    diag_error(driver->ctx, DIAG_USAGE, NULL, "--pool: '%s': %s",
               str_safe(&driver->ctx->perm, text, 80), why);
    diag_help(driver->ctx,
              "for example --pool dtcm=64K,fast --pool sram=512K --pool psram=8M,slow");
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
static bool parse_pool(struct driver_state *driver, const char *text, struct codegen_pool *pool)
{
    char *words = arena_strdup(&driver->ctx->perm, text), *rest = strchr(words, '=');

    if (!rest)
        return bad_pool(driver, text, "the form is NAME=BYTES");
    *rest++ = '\0';
    pool->name = words;
    if (strcmp(c_identifier(&driver->ctx->perm, words), words) != 0)
        return bad_pool(driver, text, "the name is not valid in C symbols");
    words = rest + strcspn(rest, ",");
    if (*words)
        *words++ = '\0';
    if (!parse_bytes(rest, &pool->bytes) || !pool->bytes)
        return bad_pool(driver, text, "it needs a number of bytes such as 65536 or 64K");
    for (; *words; words = rest) {
        rest = words + strcspn(words, ",");
        if (*rest)
            *rest++ = '\0';
        if (!parse_attribute(pool, words))
            return bad_pool(driver, text,
                            "after the bytes: fast, slow, section=NAME, weights or const");
    }
    if (pool->takes == POOL_OF_BOTH && !pool->section)
        return bad_pool(driver, text,
                        "weights are constants, which the linker places: add section=NAME");
    return true;
}

static bool add_pool(struct driver_state *driver, const struct codegen_pool *pool)
{
    struct codegen_pool *more =
        arena_array(&driver->ctx->perm, struct codegen_pool, driver->n_pools + 1);

    for (int i = 0; i < driver->n_pools; i++) {
        more[i] = driver->pools[i];
        if (strcmp(more[i].name, pool->name) == 0)
            return diag_error(driver->ctx, DIAG_USAGE, NULL, "--pool: '%s' is given twice",
                              pool->name);
    }
    more[driver->n_pools++] = *pool;
    driver->pools = more;
    return true;
}

/* One flash is where constants are anyway: --flash judges it. */
static bool add_board(struct driver_state *driver)
{
    bool ok = true, several = false;

    if (!driver->board)
        return diag_error(driver->ctx, DIAG_USAGE, NULL,
                          driver->args.command == COMMAND_COMPILE
                              ? "--pool board has no effect without --board"
                              : "--pool board needs compile --board");
    for (int i = 0; i < driver->board->n_pools; i++)
        several = several || (driver->board->pools[i].is_flash && driver->board->pools[i].section);
    for (int i = 0; i < driver->board->n_pools; i++) {
        const struct board_pool *pool = &driver->board->pools[i];
        const struct codegen_pool memory = { c_identifier(&driver->ctx->perm, pool->name),
                                             pool->bytes, pool->speed, pool->section,
                                             pool->is_flash ? POOL_OF_CONSTANTS : POOL_OF_ARENA };

        ok = ((pool->is_flash && !several) || add_pool(driver, &memory)) && ok;
    }
    return ok;
}

bool prepare_pools(struct driver_state *driver)
{
    const struct option_values *given = &driver->args.options[OPTION_POOL];
    bool ok = true;

    for (int i = 0; i < given->n; i++) {
        struct codegen_pool pool = { .name = NULL };

        if (strcmp(given->at[i], "board") == 0)
            ok = add_board(driver) && ok;
        else
            ok = parse_pool(driver, given->at[i], &pool) && add_pool(driver, &pool) && ok;
    }
    return ok;
}
