#include "driver/board.h"

#include <stdint.h>
#include <string.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "base/json/read.h"

static const char folder[] = "boards/";

static const struct {
    const char *word;
    enum pool_speed speed;
} speeds[] = { { "fast", POOL_FAST }, { "slow", POOL_SLOW } };

/* 65536, or "64K". */
static size_t read_bytes(struct json_file *json, const cJSON *pool)
{
    const cJSON *item = json_get(pool, "bytes");
    size_t bytes = 0;

    if (!item)
        json_error(json, pool, "the pool has no \"bytes\"");
    else if (!cJSON_IsString(item))
        bytes = (size_t)json_get_limit(json, pool, "bytes");
    else if (!parse_bytes(item->valuestring, &bytes))
        json_error(json, item, "'%s' is not a number of bytes, such as 65536, 64K or 1M",
                   str_safe(&json->ctx->perm, item->valuestring, 80));
    return bytes;
}

static enum pool_speed read_speed(struct json_file *json, const cJSON *pool)
{
    const char *word = json_get_text(json, pool, "speed");

    for (size_t i = 0; word && i < sizeof speeds / sizeof *speeds; i++)
        if (strcmp(speeds[i].word, word) == 0)
            return speeds[i].speed;
    if (word)
        json_error(json, json_get(pool, "speed"), "a pool is fast or slow, not '%s'",
                   str_safe(&json->ctx->perm, word, 80));
    return POOL_NORMAL;
}

static void read_pool(struct json_file *json, const cJSON *item, struct board_pool *pool)
{
    static const char *const known[] = { "name", "bytes", "kind", "speed", "section" };
    const char *kind;

    if (!json_members(json, item, known, sizeof known / sizeof *known))
        return;
    kind = json_get_text(json, item, "kind");
    *pool = (struct board_pool){ .name = json_get_text(json, item, "name"),
                                 .bytes = read_bytes(json, item),
                                 .is_flash = kind && strcmp(kind, "flash") == 0,
                                 .speed = read_speed(json, item),
                                 .section = json_get_text(json, item, "section") };
    if (!pool->name)
        json_error(json, item, "the pool has no \"name\"");
    if (!kind || (!pool->is_flash && strcmp(kind, "ram") != 0))
        json_error(json, kind ? json_get(item, "kind") : item,
                   "the \"kind\" of a pool is \"ram\" or \"flash\"");
}

static void read_board(struct json_file *json, struct board *board)
{
    static const char *const known[] = { "name", "chip", "target", "clock_mhz", "source", "pools" };
    const cJSON *pools, *item;
    const char *target;

    if (!json_members(json, json->root, known, sizeof known / sizeof *known))
        return;
    board->name = json_get_text(json, json->root, "name");
    board->chip = json_get_text(json, json->root, "chip");
    board->source = json_get_text(json, json->root, "source");
    board->clock_mhz = json_get_rate(json, json->root, "clock_mhz");
    target = json_get_text(json, json->root, "target");
    board->machine = machine_find(json->ctx, target ? target : "generic");
    json->failed = json->failed || !board->machine;
    if (!board->name)
        json_error(json, json->root, "the board has no \"name\"");
    pools = json_get_list(json, json->root, "pools");
    if (!pools && !json->failed)
        json_error(json, json->root, "the board has no \"pools\"");
    board->pools = arena_array(&json->ctx->perm, struct board_pool, cJSON_GetArraySize(pools));
    cJSON_ArrayForEach(item, pools)
    {
        read_pool(json, item, &board->pools[board->n_pools++]);
    }
}

static const struct board *read_text(struct ctx *ctx, const char *name, const char *text)
{
    struct board *board = arena_new(&ctx->perm, struct board);
    struct json_file json;
    bool ok;

    if (json_open(ctx, name, text, &json))
        read_board(&json, board);
    ok = json.root && !json.failed;
    json_close(&json);
    return ok ? board : NULL;
}

/* "nucleo-h743zi" of the i-th embedded file; NULL if it is no board. */
const char *board_shipped(struct arena *arena, size_t i)
{
    const char *path = embedded_files[i].path;

    if (!str_starts(path, folder))
        return NULL;
    return arena_strndup(arena, path + strlen(folder),
                         strlen(path) - strlen(folder) - strlen(".json"));
}

static void unknown_board(struct ctx *ctx, const char *name)
{
    const char **names = arena_array(&ctx->perm, const char *, n_embedded_files), *nearest;
    size_t n = 0;

    for (size_t i = 0; i < n_embedded_files; i++)
        if ((names[n] = board_shipped(&ctx->perm, i)) != NULL)
            n++;
    diag_error(ctx, DIAG_USAGE, NULL, "--board: unknown board '%s'",
               str_safe(&ctx->perm, name, 80));
    nearest = str_nearest(name, names, n);
    if (nearest)
        diag_help(ctx, "did you mean '%s'?", nearest);
    else
        diag_help(ctx, "--board help lists them; a file of your own ends in .json");
}

const struct board *board_read(struct ctx *ctx, const char *name)
{
    const struct embedded_file *shipped =
        embedded_find(arena_printf(&ctx->perm, "%s%s.json", folder, name));
    struct mapping file;
    const char *text;

    if (shipped)
        return read_text(ctx, shipped->path, shipped->text);
    if (!str_ends(name, ".json")) {
        unknown_board(ctx, name);
        return NULL;
    }
    if (!file_map(ctx, name, &file))
        return NULL;
    text = arena_strndup(&ctx->perm, (const char *)file.data, file.size);
    file_unmap(&file);
    return read_text(ctx, name, text);
}

const struct board_pool *board_greatest(const struct board *board, bool flash)
{
    const struct board_pool *greatest = NULL;

    for (int i = 0; i < board->n_pools; i++)
        if (board->pools[i].is_flash == flash &&
            (!greatest || board->pools[i].bytes > greatest->bytes))
            greatest = &board->pools[i];
    return greatest;
}
