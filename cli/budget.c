#include "cli/budget.h"

#include <string.h>

#include "base/str.h"
#include "cli/precision.h"
#include "cli/progress.h"

/* What a memory has to hold. */
struct need {
    size_t ram, flash;
};

/* Changes that may help, from the one that changes least of what the network computes. */
static const struct change {
    enum option_id option;
    const char *value;
} changes[] = {
    { OPTION_POOL, "board" },      { OPTION_WINOGRAD, "off" },   { OPTION_PRECISION, "f16w" },
    { OPTION_PRECISION, "int8w" }, { OPTION_PRECISION, "fp8w" }, { OPTION_PRECISION, "int8" },
    { OPTION_PRECISION, "fp8" },
};

enum { N_CHANGES = sizeof changes / sizeof *changes, MOST_ALIVE = 8 };

bool show_boards_wanted(struct cli *cli)
{
    return strcmp(option_text(&cli->args, OPTION_BOARD, ""), "help") == 0 && list_boards(cli);
}

static void take_board(struct cli *cli, struct budget *budget, bool flash)
{
    const struct board_pool *pool = board_greatest(cli->board, flash);
    const char *source;

    if (!pool || (!flash && has_option(&cli->args, OPTION_POOL))) /* each pool has its own limit */
        return;
    source = arena_printf(&cli->ctx->perm, "the pool %s of %s", pool->name, cli->board->name);
    if (flash && !budget->flash) {
        budget->flash = pool->bytes;
        budget->flash_source = source;
    } else if (!flash && !budget->ram) {
        budget->ram = pool->bytes;
        budget->ram_source = source;
    }
}

bool prepare_budget(struct cli *cli, struct budget *budget)
{
    const char *board = option_text(&cli->args, OPTION_BOARD, NULL);
    bool ok;

    *budget = (struct budget){ .ram_source = "--ram", .flash_source = "--flash" };
    ok = option_bytes(cli->ctx, &cli->args, OPTION_RAM, 0, &budget->ram);
    ok = option_bytes(cli->ctx, &cli->args, OPTION_FLASH, 0, &budget->flash) && ok;
    if (board) {
        cli->board = board_read(cli->ctx, board);
        ok = cli->board && ok;
    }
    if (cli->board) {
        take_board(cli, budget, false);
        take_board(cli, budget, true);
    }
    if (has_option(&cli->args, OPTION_FORCE) && !budget->ram && !budget->flash && ok)
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL,
                        "--force says nothing without --ram, --flash or --board");
    return ok;
}

static struct need find_need(const struct codegen_options *options,
                             const struct codegen_result *result)
{
    const struct codegen_measured *measured = options->measured;
    struct need need = { result->arena_bytes, result->weight_bytes };

    if (measured) {
        need.ram += measured->stack + (size_t)(measured->data + measured->bss);
        need.flash += measured->other_flash;
    }
    return need;
}

static bool fits(const struct budget *budget, const struct need *need)
{
    return (!budget->ram || need->ram <= budget->ram) &&
           (!budget->flash || need->flash <= budget->flash);
}

/* --- what would make it fit --------------------------------------------------------------------
 */

static bool load_random(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                        struct tensor *inputs)
{
    const struct tensor *given = user;

    (void)ctx;
    (void)bulk;
    (void)index;
    for (int i = 0; given[i].data; i++)
        inputs[i] = given[i];
    return true;
}

/* One set of random inputs: int8 asks what tensors hold, and its sizes do not depend on it. */
static bool make_stand_in(struct cli *cli, const struct module *module,
                          struct calibration_source *source)
{
    struct tensor *made,
        *inputs = arena_array(&cli->ctx->perm, struct tensor, module->main->n_params + 1);

    if (!load_inputs(cli, module->main, &made))
        return false;
    for (int i = 0; i < module->main->n_params; i++)
        inputs[i] = made[i];
    *source = (struct calibration_source){ .n = 1, .load = load_random, .user = inputs };
    return true;
}

static bool try_module(struct cli *trial, const struct codegen_options *options,
                       struct module *module, struct codegen_result *result)
{
    struct codegen_options own = *options;
    struct output_set set = { .ctx = trial->ctx };
    struct calibration_source stand_in;
    struct precision_request *precision = trial->precision;

    if (!precision->data && !precision->options.calib) {
        if (!make_stand_in(trial, module, &stand_in))
            return false;
        precision->stand_in = &stand_in;
    }
    if (!run_passes(trial, module))
        return false;
    own.plan_only = true;
    own.winograd = trial->winograd;
    if (own.n_pools == 0 && trial->n_pools > 0) { /* each has its own limit */
        own.n_pools = trial->n_pools;
        own.pools = trial->pools;
        own.ram = own.ram_bytes = 0;
    }
    return codegen_c(module, &own, &set, result);
}

/* What it would need with the change; false where the model does not take it. */
static bool try_change(struct cli *cli, const struct codegen_options *options,
                       const struct change *change, struct need *need)
{
    static const enum option_id silent[] = { OPTION_DUMP_AFTER, OPTION_TIME_PASSES, OPTION_STATS,
                                             OPTION_QUANTIZE_LOG };
    struct cli trial = *cli;
    struct diags saved = diag_save(cli->ctx);
    struct codegen_result result;
    struct module *module = NULL;
    const char *value = change->value;
    bool ok;

    trial.args.options[change->option] = (struct option_values){ 1, &value };
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        trial.args.options[silent[i]].n = 0;
    trial.json = NULL;
    trial.quiet = true;
    trial.offload.partition = NULL;
    ok = prepare_precision(&trial) && (change->option != OPTION_POOL || prepare_pools(&trial));
    if (change->option == OPTION_WINOGRAD)
        trial.winograd = WINOGRAD_OFF;
    ok = ok && (module = load_model(&trial)) != NULL;
    ok = ok && try_module(&trial, options, module, &result);
    if (ok)
        *need = find_need(options, &result);
    partition_free(trial.offload.partition);
    cli->bulk = trial.bulk;
    module_free(module);
    diag_restore(cli->ctx, saved);
    return ok;
}

/* Bytes of all memories of the board that the arena may lie in; 0 where there are not several. */
static size_t ram_of_pools(const struct board *board)
{
    size_t bytes = 0;
    int n = 0;

    for (int i = 0; board && i < board->n_pools; i++)
        if (!board->pools[i].is_flash) {
            bytes += board->pools[i].bytes;
            n++;
        }
    return n > 1 ? bytes : 0;
}

static bool may_help(struct cli *cli, const struct change *change, const struct budget *budget,
                     const struct codegen_result *result)
{
    const char *now = option_text(&cli->args, OPTION_PRECISION, "f32");

    if (change->option == OPTION_POOL) /* of the greatest the arena is too much */
        return result->arena_bytes > budget->ram && ram_of_pools(cli->board) &&
               !has_option(&cli->args, OPTION_RAM) && !has_option(&cli->args, OPTION_POOL);
    if (change->option == OPTION_WINOGRAD)
        return result->n_winograd + result->n_pairs + result->n_amx > 0;
    return strcmp(now, change->value) != 0 && !has_option(&cli->args, OPTION_QTABLE) &&
           !has_option(&cli->args, OPTION_FP8_PARAMS);
}

/* In their order, up to the first that is enough: the model is compiled again for each. */
static void suggest_changes(struct cli *cli, const struct budget *budget,
                            const struct codegen_options *options,
                            const struct codegen_result *result, cJSON *json)
{
    cJSON *list = json ? cJSON_AddArrayToObject(json, "changes") : NULL;
    struct str text = { .arena = &cli->ctx->perm };
    struct progress progress = progress_begin(cli);
    bool found = false;

    if (strcmp(cli->args.operands[0], "-") == 0) /* a pipe cannot be read again */
        return;
    for (int i = 0; i < N_CHANGES && !found; i++) {
        const char *name = option_name(changes[i].option);
        struct budget all = *budget;
        struct need need;
        bool enough;

        if (!may_help(cli, &changes[i], budget, result) ||
            !try_change(cli, options, &changes[i], &need))
            continue;
        progress_show(&progress, "ways to make it fit", i + 1, N_CHANGES);
        if (changes[i].option == OPTION_POOL)
            all.ram = ram_of_pools(cli->board);
        enough = fits(&all, &need);
        str_printf(&text, "%s--%s %s %s: RAM %zu bytes, flash %zu", text.n ? "\n" : "", name,
                   changes[i].value, enough ? "fits" : "is not enough", need.ram, need.flash);
        found = enough;
        if (list) {
            cJSON *row = cJSON_CreateObject();

            cJSON_AddStringToObject(row, "option", name);
            cJSON_AddStringToObject(row, "value", changes[i].value);
            cJSON_AddNumberToObject(row, "ram", (double)need.ram);
            cJSON_AddNumberToObject(row, "flash", (double)need.flash);
            cJSON_AddBoolToObject(row, "fits", enough);
            cJSON_AddItemToArray(list, row);
        }
    }
    progress_end(&progress);
    if (text.n)
        diag_help(cli->ctx, "%s", str_text(&text));
}

/* --- the verdict -------------------------------------------------------------------------------
 */

static void note_peak(struct cli *cli, const struct codegen_options *options,
                      const struct codegen_result *result)
{
    const struct codegen_peak *peak = &result->peak;
    struct str text = { .arena = &cli->ctx->perm };

    if (peak->region) {
        str_printf(&text, "most is alive in %s:", peak->region);
        for (int i = 0; i < peak->n && i < MOST_ALIVE; i++)
            str_printf(&text, "%s %s of %zu bytes", i ? "," : "",
                       peak->alive[i].name ? str_safe(&cli->ctx->perm, peak->alive[i].name, 60)
                                           : "its scratch",
                       peak->alive[i].bytes);
        if (peak->n > MOST_ALIVE)
            str_printf(&text, " and %d more", peak->n - MOST_ALIVE);
        str_add(&text, "\n");
    }
    if (result->n_stripes)
        str_printf(&text,
                   "%d layers are in stripes already, which is the least that was found; layer by "
                   "layer the arena takes %zu\n",
                   result->n_striped, result->arena_whole_bytes);
    if (options->measured && options->measured->has_stack)
        str_printf(&text, "the stack takes %zu of it\n", options->measured->stack);
    if (options->io_in_arena)
        str_add(&text, "inputs and outputs are in the arena");
    else
        str_printf(&text, "inputs and outputs, %zu bytes, are the caller's and not counted",
                   result->io_bytes);
    diag_note(cli->ctx, "%s", str_text(&text));
}

static cJSON *add_memory(cJSON *json, const char *name, size_t allowed, size_t needed)
{
    cJSON *memory = json && allowed ? cJSON_AddObjectToObject(json, name) : NULL;

    if (memory) {
        cJSON_AddNumberToObject(memory, "allowed", (double)allowed);
        cJSON_AddNumberToObject(memory, "needed", (double)needed);
        cJSON_AddBoolToObject(memory, "fits", needed <= allowed);
    }
    return memory;
}

bool check_budget(struct cli *cli, const struct budget *budget,
                  const struct codegen_options *options, const struct codegen_result *result)
{
    const struct need need = find_need(options, result);
    cJSON *json = cli->json && (budget->ram || budget->flash)
                      ? cJSON_AddObjectToObject(cli->json, "budget")
                      : NULL;

    add_memory(json, "ram", budget->ram, need.ram);
    add_memory(json, "flash", budget->flash, need.flash);
    if (fits(budget, &need))
        return true;
    if (budget->flash && need.flash > budget->flash) {
        diag_error(cli->ctx, DIAG_RAM, NULL,
                   "the network needs %zu bytes of flash, %zu more than %s allows (%zu)",
                   need.flash, need.flash - budget->flash, budget->flash_source, budget->flash);
        if (options->measured)
            diag_note(cli->ctx, "weights %zu bytes, code %zu", result->weight_bytes,
                      need.flash - result->weight_bytes);
        else
            diag_note(cli->ctx, "weights only: --cc COMPILER adds the code");
    }
    if (budget->ram && need.ram > budget->ram) {
        diag_error(cli->ctx, DIAG_RAM, NULL,
                   "the network needs %zu bytes of RAM, %zu more than %s allows (%zu)", need.ram,
                   need.ram - budget->ram, budget->ram_source, budget->ram);
        note_peak(cli, options, result);
    }
    suggest_changes(cli, budget, options, result, json);
    return false;
}

static void report_memory(struct cli *cli, const char *name, size_t allowed, size_t needed)
{
    if (allowed)
        say(cli, " %s %zu of %zu bytes (%.1f %%)", name, needed, allowed,
            100.0 * (double)needed / (double)allowed);
}

void report_budget(struct cli *cli, const struct budget *budget,
                   const struct codegen_options *options, const struct codegen_result *result)
{
    const struct need need = find_need(options, result);

    if (!budget->ram && !budget->flash)
        return;
    say(cli, fits(budget, &need) ? "  fits   " : "  exceeds");
    report_memory(cli, "RAM", budget->ram, need.ram);
    say(cli, budget->ram && budget->flash ? "," : "");
    report_memory(cli, "flash", budget->flash, need.flash);
    say(cli, "\n");
}
