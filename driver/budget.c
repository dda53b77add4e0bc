/* budget.c - compile --ram, --flash, --board: whether the network fits, and what would make it. */
#include <string.h>

#include "base/str.h"
#include "driver/board.h"
#include "driver/precision.h"

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

static void take_board(struct driver_state *driver, bool flash)
{
    struct budget *budget = &driver->budget;
    const struct board_pool *pool = board_greatest(driver->board, flash);
    const char *source;

    if (!pool ||
        (!flash && has_option(&driver->args, OPTION_POOL))) /* each pool has its own limit */
        return;
    source = arena_printf(&driver->ctx->perm, "the pool %s of %s", pool->name, driver->board->name);
    if (flash && !budget->flash) {
        budget->flash = pool->bytes;
        budget->flash_source = source;
    } else if (!flash && !budget->ram) {
        budget->ram = pool->bytes;
        budget->ram_source = source;
    }
}

bool prepare_budget(struct driver_state *driver)
{
    struct budget *budget = &driver->budget;
    const char *board = option_text(&driver->args, OPTION_BOARD, NULL);
    bool ok;

    *budget = (struct budget){ .ram_source = "--ram", .flash_source = "--flash", .fits = true };
    ok = option_bytes(driver->ctx, &driver->args, OPTION_RAM, 0, &budget->ram);
    ok = option_bytes(driver->ctx, &driver->args, OPTION_FLASH, 0, &budget->flash) && ok;
    if (board) {
        driver->board = board_read(driver->ctx, board);
        ok = driver->board && ok;
    }
    if (driver->board) {
        take_board(driver, false);
        take_board(driver, true);
    }
    if (has_option(&driver->args, OPTION_FORCE) && !budget->ram && !budget->flash && ok)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--force has no effect without --ram, --flash or --board");
    return ok;
}

static struct need find_need(const struct codegen_options *options,
                             const struct codegen_result *result)
{
    const struct codegen_measured *measured = options->measured;
    struct need need = { result->arena_bytes + result->state_bytes, result->weight_bytes };

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

/* --- what would make it fit ------------------------------------------------------------------- */

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
static bool make_stand_in(struct driver_state *driver, const struct module *module,
                          struct calibration_source *source)
{
    struct tensor *made,
        *inputs = arena_array(&driver->ctx->perm, struct tensor, module->main->n_params + 1);

    if (!load_inputs(driver, module->main, &made))
        return false;
    for (int i = 0; i < module->main->n_params; i++)
        inputs[i] = made[i];
    *source = (struct calibration_source){ .n = 1, .load = load_random, .user = inputs };
    return true;
}

static bool try_module(struct driver_state *trial, const struct codegen_options *options,
                       struct module *module, struct codegen_result *result)
{
    struct codegen_options own = *options;
    struct calibration_source stand_in;
    struct precision_request *precision = trial->precision;

    if (!precision->data && !precision->options.calib) {
        if (!make_stand_in(trial, module, &stand_in))
            return false;
        precision->stand_in = &stand_in;
    }
    if (!run_passes(trial, module))
        return false;
    own.winograd = trial->winograd;
    if (own.n_pools == 0 && trial->n_pools > 0) { /* each has its own limit */
        own.n_pools = trial->n_pools;
        own.pools = trial->pools;
        own.ram = own.ram_bytes = 0;
    }
    return codegen_sizes(module, &own, result);
}

/* What it would need with the change; false where the model does not take it. */
static bool try_change(struct driver_state *driver, const struct codegen_options *options,
                       const struct change *change, struct need *need)
{
    static const enum option_id silent[] = { OPTION_DUMP_AFTER, OPTION_TIME_PASSES, OPTION_STATS,
                                             OPTION_QUANTIZE_LOG };
    struct driver_state trial = *driver;
    struct diags saved = diag_save(driver->ctx);
    struct codegen_result result;
    struct module *module = NULL;
    const char *value = change->value;
    bool ok;

    trial.args.options[change->option] = (struct option_values){ 1, &value };
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        trial.args.options[silent[i]].n = 0;
    trial.events = NULL;
    trial.validation = NULL;
    trial.offload.partition = NULL;
    trial.code = NULL;
    ok = prepare_precision(&trial) && (change->option != OPTION_POOL || prepare_pools(&trial));
    if (ok)
        trial.precision->options.data_free = false; /* sizes do not depend on the estimate */
    if (change->option == OPTION_WINOGRAD)
        trial.winograd = WINOGRAD_OFF;
    ok = ok && (module = load_model(&trial)) != NULL;
    ok = ok && try_module(&trial, options, module, &result);
    if (ok)
        *need = find_need(options, &result);
    partition_free(trial.offload.partition);
    driver->bulk = trial.bulk;
    module_free(module);
    diag_restore(driver->ctx, saved);
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

static bool may_help(struct driver_state *driver, const struct change *change,
                     const struct budget *budget, const struct codegen_result *result)
{
    const char *now = option_text(&driver->args, OPTION_PRECISION, "f32");

    if (change->option == OPTION_POOL) /* of the greatest the arena is too much */
        return result->arena_bytes > budget->ram && ram_of_pools(driver->board) &&
               !has_option(&driver->args, OPTION_RAM) && !has_option(&driver->args, OPTION_POOL);
    if (change->option == OPTION_WINOGRAD)
        return result->n_winograd + result->n_pairs + result->n_amx > 0;
    return strcmp(now, change->value) != 0 && !has_option(&driver->args, OPTION_QTABLE) &&
           !has_option(&driver->args, OPTION_FP8_PARAMS);
}

/* In their order, up to the first that is enough: the model is compiled again for each. */
static void suggest_changes(struct driver_state *driver)
{
    struct budget *budget = &driver->budget;
    struct str text = { .arena = &driver->ctx->perm };
    bool found = false;

    if (strcmp(driver->args.operands[0], "-") == 0) /* a pipe cannot be read again */
        return;
    for (int i = 0; i < N_CHANGES && !found; i++) {
        const char *name = option_name(changes[i].option);
        struct budget all = *budget;
        struct need need;

        if (!may_help(driver, &changes[i], budget, &driver->result) ||
            !try_change(driver, &driver->codegen, &changes[i], &need))
            continue;
        driver_progress(driver, "trying to fit", i + 1, N_CHANGES);
        if (changes[i].option == OPTION_POOL)
            all.ram = ram_of_pools(driver->board);
        found = fits(&all, &need);
        str_printf(&text, "%s--%s %s %s: RAM %zu bytes, flash %zu", text.n ? "\n" : "", name,
                   changes[i].value, found ? "fits" : "is not enough", need.ram, need.flash);
        budget->changes[budget->n_changes++] =
            (struct budget_change){ name, changes[i].value, need.ram, need.flash, found };
    }
    driver_progress(driver, "trying to fit", 0, 0);
    if (text.n)
        diag_help(driver->ctx, "%s", str_text(&text));
}

/* --- the verdict ------------------------------------------------------------------------------ */

static void note_peak(struct driver_state *driver, const struct codegen_options *options,
                      const struct codegen_result *result)
{
    const struct codegen_peak *peak = &result->peak;
    struct str text = { .arena = &driver->ctx->perm };

    if (peak->region) {
        str_printf(&text, "peak in %s:", peak->region);
        for (int i = 0; i < peak->n && i < MOST_ALIVE; i++)
            str_printf(&text, "%s %s of %zu bytes", i ? "," : "",
                       peak->alive[i].name ? str_safe(&driver->ctx->perm, peak->alive[i].name, 60)
                                           : "its scratch",
                       peak->alive[i].bytes);
        if (peak->n > MOST_ALIVE)
            str_printf(&text, " and %d more", peak->n - MOST_ALIVE);
        str_add(&text, "\n");
    }
    if (result->n_stripes)
        str_printf(&text,
                   "%d layers are tiled depth-first already, to the smallest size found; without "
                   "tiling the arena takes %zu\n",
                   result->n_striped, result->arena_whole_bytes);
    if (result->state_bytes)
        str_printf(&text, "what the network keeps from run to run takes %zu of it\n",
                   result->state_bytes);
    if (options->measured && options->measured->has_stack)
        str_printf(&text, "the stack takes %zu of it\n", options->measured->stack);
    if (options->io_in_arena)
        str_add(&text, "inputs and outputs are in the arena");
    else
        str_printf(&text, "inputs and outputs, %zu bytes, belong to the caller and are not counted",
                   result->io_bytes);
    diag_note(driver->ctx, "%s", str_text(&text));
}

static bool judge(struct driver_state *driver)
{
    struct budget *budget = &driver->budget;
    const struct codegen_options *options = &driver->codegen;
    const struct codegen_result *result = &driver->result;
    const struct need need = find_need(options, result);

    budget->is_judged = true;
    budget->ram_needed = need.ram;
    budget->flash_needed = need.flash;
    budget->fits = fits(budget, &need);
    if (budget->fits)
        return true;
    if (budget->flash && need.flash > budget->flash) {
        diag_error(driver->ctx, DIAG_RAM, NULL,
                   "the network needs %zu bytes of flash, %zu more than %s allows (%zu)",
                   need.flash, need.flash - budget->flash, budget->flash_source, budget->flash);
        if (options->measured)
            diag_note(driver->ctx, "weights %zu bytes, code %zu", result->weight_bytes,
                      need.flash - result->weight_bytes);
        else
            diag_note(driver->ctx, "weights only: --cc COMPILER adds the code");
    }
    if (budget->ram && need.ram > budget->ram) {
        diag_error(driver->ctx, DIAG_RAM, NULL,
                   "the network needs %zu bytes of RAM, %zu more than %s allows (%zu)", need.ram,
                   need.ram - budget->ram, budget->ram_source, budget->ram);
        note_peak(driver, options, result);
    }
    suggest_changes(driver);
    return false;
}

bool stage_budget(struct driver_state *driver)
{
    return judge(driver) || has_option(&driver->args, OPTION_FORCE);
}
