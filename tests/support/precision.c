#include "tests/support/precision.h"

#include <check.h>

#include "driver/precision.h"
#include "tests/support/expect.h"

/* As scales and biases come from the case's samples, or are as they are, nothing is estimated. */
static void give(struct driver_state *driver, const char *const *shapes,
                 const struct precision_case *mode)
{
    driver_give(driver, OPTION_NAME, "net");
    driver_give(driver, OPTION_PRECISION, mode->precision);
    driver_give(driver, OPTION_NO_DATA_FREE, "");
    driver_give(driver, OPTION_THREADS, "1");
    driver_give(driver, OPTION_CHECK_PASSES, "");
    if (mode->exact)
        driver_give(driver, OPTION_ARITHMETIC, "integer");
    if (mode->quantized_io)
        driver_give(driver, OPTION_QUANTIZED_IO, "");
    for (; shapes && *shapes; shapes++)
        driver_give(driver, OPTION_SHAPE, *shapes);
}

struct module *precision_network(struct ctx *ctx, const char *path, const char *const *shapes,
                                 const struct precision_case *mode,
                                 const struct calibration_source *samples)
{
    struct driver_state driver = driver_begin(ctx, COMMAND_COMPILE);

    driver.args.operands[0] = path;
    give(&driver, shapes, mode);
    ck_assert_msg(driver_prepare(&driver), "%s", expect_text(ctx));
    if (mode->calibrated)
        driver.precision->stand_in = samples;
    ck_assert_msg(driver_run(&driver, STAGE_FUSE), "%s", expect_text(ctx));
    driver_free(&driver);
    return driver.module;
}
