/* list.c - `--target help`, `--board help` and `--passes`: what there is to choose from. */
#include <string.h>

#include "base/embedded.h"
#include "cli/cli.h"
#include "codegen_c/machine/machine.h"
#include "driver/board.h"

static bool wants_list(const struct cli *cli)
{
    return strcmp(option_text(&cli->driver->args, OPTION_TARGET, ""), "help") == 0;
}

static cJSON *machine_json(const struct machine *m)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "name", m->name);
    cJSON_AddStringToObject(json, "description", m->description);
    cJSON_AddNumberToObject(json, "lanes", m->lanes);
    cJSON_AddNumberToObject(json, "registers", m->registers);
    cJSON_AddBoolToObject(json, "fpu", m->fpu);
    cJSON_AddBoolToObject(json, "fma", m->fma);
    cJSON_AddStringToObject(json, "dot", machine_dot_name(m->dot));
    cJSON_AddNumberToObject(json, "l1_bytes", (double)m->l1_bytes);
    cJSON_AddNumberToObject(json, "l2_bytes", (double)m->l2_bytes);
    cJSON_AddBoolToObject(json, "far_l3", m->far_l3);
    cJSON_AddStringToObject(json, "flags", m->flags);
    return json;
}

void list_machines(struct cli *cli)
{
    const char *host = machine_host()->name;
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "machines") : NULL;

    say(cli, "%-14s lanes  fpu  dot    for\n", "--target");
    for (size_t i = 0; i < n_machines; i++) {
        const struct machine *m = &machines[i];

        say(cli, "%-14s %5s  %-3s  %-5s  %s\n", m->name,
            m->lanes ? arena_printf(&cli->ctx->perm, "%d", m->lanes) : "-", m->fpu ? "yes" : "no",
            m->dot == DOT_NONE ? "-" : machine_dot_name(m->dot), m->description);
        if (list)
            cJSON_AddItemToArray(list, machine_json(m));
    }
    say(cli, "%-14s the machine that relayc runs on: %s\n", "host", host);
    if (cli->json)
        cJSON_AddStringToObject(cli->json, "host", host);
}

bool show_machines_wanted(struct cli *cli)
{
    if (!wants_list(cli))
        return false;
    list_machines(cli);
    return true;
}

static cJSON *board_json(const struct board *board)
{
    cJSON *json = cJSON_CreateObject(), *pools;

    cJSON_AddStringToObject(json, "name", board->name);
    cJSON_AddStringToObject(json, "chip", board->chip ? board->chip : "");
    cJSON_AddStringToObject(json, "target", board->machine->name);
    cJSON_AddNumberToObject(json, "clock_mhz", board->clock_mhz);
    cJSON_AddStringToObject(json, "source", board->source ? board->source : "");
    pools = cJSON_AddArrayToObject(json, "pools");
    for (int i = 0; i < board->n_pools; i++) {
        cJSON *pool = cJSON_CreateObject();

        cJSON_AddStringToObject(pool, "name", board->pools[i].name);
        cJSON_AddNumberToObject(pool, "bytes", (double)board->pools[i].bytes);
        cJSON_AddStringToObject(pool, "kind", board->pools[i].is_flash ? "flash" : "ram");
        cJSON_AddItemToArray(pools, pool);
    }
    return json;
}

static bool list_boards(struct cli *cli)
{
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "boards") : NULL;
    struct arena *arena = &cli->ctx->perm;

    say(cli, "%-22s %-13s %-10s %5s  %s\n", "--board", "chip", "--target", "MHz", "pools");
    for (size_t i = 0; i < n_embedded_files; i++) {
        const char *name = board_shipped(arena, i);
        const struct board *board = name ? board_read(cli->ctx, name) : NULL;

        if (name && !board)
            return false;
        if (!board)
            continue;
        say(cli, "%-22s %-13s %-10s %5.0f ", board->name, board->chip, board->machine->name,
            board->clock_mhz);
        for (int p = 0; p < board->n_pools; p++)
            say(cli, " %s %s", board->pools[p].name, bytes_text(arena, board->pools[p].bytes));
        say(cli, "\n");
        if (list)
            cJSON_AddItemToArray(list, board_json(board));
    }
    return true;
}

bool show_boards_wanted(struct cli *cli)
{
    return strcmp(option_text(&cli->driver->args, OPTION_BOARD, ""), "help") == 0 &&
           list_boards(cli);
}

void list_passes(struct cli *cli)
{
    int n;
    const struct listed_pass *passes = list_all_passes(&cli->ctx->perm, &n);

    for (int i = 0; i < n; i++)
        printf("%2d  %-21s %s%s%s%s\n", i + 1, passes[i].name, passes[i].purpose,
               passes[i].option ? " (--" : "", passes[i].option ? passes[i].option : "",
               passes[i].option ? ")" : "");
}
