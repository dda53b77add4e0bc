/* machine.c - --target, --optimize, --winograd: which processor the C is for, and how it is
 * written. */
#include <string.h>

#include "cli/board.h"
#include "cli/cli.h"
#include "codegen_c/machine/machine.h"
#include "codegen_c/text/parallel.h"

static bool wants_list(const struct cli *cli)
{
    return strcmp(option_text(&cli->args, OPTION_TARGET, ""), "help") == 0;
}

bool show_machines_wanted(struct cli *cli)
{
    if (!wants_list(cli))
        return false;
    list_machines(cli);
    return true;
}

bool prepare_machine(struct cli *cli)
{
    static const char *const sizes[] = { "auto", "off", "f2", "f4", NULL };
    static const char *const aims[] = { "speed", "size", NULL }, *const when[] = { "on", "off",
                                                                                   NULL };
    int winograd = WINOGRAD_AUTO, aim = 0, keeps = 0;
    long long parts = 0;
    bool ok = option_word(cli->ctx, &cli->args, OPTION_WINOGRAD, sizes, WINOGRAD_AUTO, &winograd);

    ok = option_word(cli->ctx, &cli->args, OPTION_OPTIMIZE, aims, 0, &aim) && ok;
    cli->optimize_size = aim == 1;
    ok = option_word(cli->ctx, &cli->args, OPTION_SKIP_ZEROS, when, aim, &keeps) &&
         ok; /* size: off */
    cli->keep_zeros = keeps == 1;
    ok = option_integer(cli->ctx, &cli->args, OPTION_PARALLEL, 0, &parts) && ok;
    if (parts > MAX_PARTS || (parts < 2 && has_option(&cli->args, OPTION_PARALLEL)))
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL, "--parallel: from 2 to %d parts", MAX_PARTS);
    cli->parts = parts > MAX_PARTS ? MAX_PARTS : (int)parts;
    ok = option_bytes(cli->ctx, &cli->args, OPTION_RAM, 0, &cli->ram) && ok;
    if (cli->ram == 0 && has_option(&cli->args, OPTION_RAM) && ok)
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL, "--ram: an arena of 0 bytes");

    cli->deterministic = has_option(&cli->args, OPTION_DETERMINISTIC);
    cli->io_in_arena = has_option(&cli->args, OPTION_IO_IN_ARENA);
    cli->machine =
        machine_find(cli->ctx, option_text(&cli->args, OPTION_TARGET,
                                           cli->board ? cli->board->machine->name : "generic"));
    /* Four times the weights and a larger arena are no usual choice for C that may go anywhere, or
     * that is to be small. */
    if ((cli->machine == &machines[0] || cli->optimize_size) &&
        !has_option(&cli->args, OPTION_WINOGRAD))
        winograd = WINOGRAD_OFF;
    cli->winograd = (enum winograd)winograd;
    return cli->machine && prepare_tuning(cli) && ok;
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
