/* machine.c - --target, --optimize, --winograd: which processor the C is for, and how it is
 * written. */
#include <string.h>

#include "codegen_c/machine/machine.h"
#include "codegen_c/print/parallel.h"
#include "driver/board.h"
#include "driver/driver.h"

bool prepare_machine(struct driver_state *driver)
{
    static const char *const sizes[] = { "auto", "off", "f2", "f4", NULL };
    static const char *const aims[] = { "speed", "balanced", "size", NULL }, *const when[] = {
        "on", "off", NULL
    };
    enum { SPEED, BALANCED, SIZE };
    int winograd = WINOGRAD_AUTO, aim = SPEED, keeps = 0;
    long long parts = 0;
    bool ok =
        option_word(driver->ctx, &driver->args, OPTION_WINOGRAD, sizes, WINOGRAD_AUTO, &winograd);

    driver->machine = machine_find(
        driver->ctx, option_text(&driver->args, OPTION_TARGET,
                                 driver->board ? driver->board->machine->name : "generic"));
    if (driver->machine && machine_is_microcontroller(driver->machine))
        aim = BALANCED;
    ok = option_word(driver->ctx, &driver->args, OPTION_OPTIMIZE, aims, aim, &aim) && ok;
    driver->share = aim != SPEED;
    driver->optimize_size = aim == SIZE;
    ok =
        option_word(driver->ctx, &driver->args, OPTION_SKIP_ZEROS, when, aim == SIZE, &keeps) && ok;
    driver->keep_zeros = keeps == 1;
    ok = option_integer(driver->ctx, &driver->args, OPTION_PARALLEL, 0, &parts) && ok;
    if (parts > MAX_PARTS || (parts < 2 && has_option(&driver->args, OPTION_PARALLEL)))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--parallel: expected 2 to %d", MAX_PARTS);
    driver->parts = parts > MAX_PARTS ? MAX_PARTS : (int)parts;
    ok = option_bytes(driver->ctx, &driver->args, OPTION_RAM, 0, &driver->ram) && ok;
    if (driver->ram == 0 && has_option(&driver->args, OPTION_RAM) && ok)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--ram: found 0 bytes, expected at least 1");

    driver->deterministic = has_option(&driver->args, OPTION_DETERMINISTIC);
    driver->io_in_arena = has_option(&driver->args, OPTION_IO_IN_ARENA);
    /* Four times the weights and a larger arena are no usual choice for C that may go anywhere, or
     * that is to be small. */
    if ((driver->machine == &machines[0] || driver->optimize_size) &&
        !has_option(&driver->args, OPTION_WINOGRAD))
        winograd = WINOGRAD_OFF;
    driver->winograd = (enum winograd)winograd;
    return driver->machine && prepare_tuning(driver) && ok;
}
