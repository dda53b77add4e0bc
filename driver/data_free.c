/* data_free.c - which formats --precision chooses, what it does without --data, and what it says of the loss. */
#include <math.h>
#include <string.h>

#include "driver/precision.h"

/* Noise of the scores of classes, by their signal, from which on compile warns: what costs some
 * two points of top-1 (docs/lab/accuracy.md). */
static const double floor_of_noise = 0.0144;

/* A qtable alone says all: what a search has judged is made, and nothing else. */
static bool is_by_qtable_alone(const struct driver_state *driver)
{
    return has_option(&driver->args, OPTION_QTABLE) && !has_option(&driver->args, OPTION_PRECISION);
}

bool is_data_free(const struct driver_state *driver)
{
    return !has_option(&driver->args, data_option(driver)) &&
           !has_option(&driver->args, OPTION_CALIB) && !is_by_qtable_alone(driver) &&
           !has_option(&driver->args, OPTION_NO_DATA_FREE) &&
           driver->args.command != COMMAND_SEARCH;
}

/* Whether formats, scales or what computes with them are given. */
static bool names_formats(const struct driver_state *driver)
{
    static const enum option_id named[] = {
        OPTION_SCALE,   OPTION_SCALE_WEIGHTS, OPTION_FORMATS,
        OPTION_OFFLOAD, OPTION_FP8_PARAMS,    OPTION_ARITHMETIC
    };

    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (has_option(&driver->args, named[i]))
            return true;
    return strchr(option_text(&driver->args, OPTION_PRECISION, ""), '=') != NULL;
}

bool chooses_formats(const struct driver_state *driver)
{
    return is_data_free(driver) && !names_formats(driver);
}

const char *precision_asked_for(const struct driver_state *driver)
{
    const char *text = option_text(&driver->args, OPTION_PRECISION, "f32");
    const bool has_data =
        has_option(&driver->args, data_option(driver)) || has_option(&driver->args, OPTION_CALIB);

    if (!has_data || driver->args.command == COMMAND_SEARCH || names_formats(driver))
        return text;
    return strcmp(text, "fp8") == 0 ? "fp8=auto" : strcmp(text, "fp8w") == 0 ? "fp8w=auto" : text;
}

void precision_check_loss(struct driver_state *driver, const struct precision_request *r)
{
    const double noise = r->report.noise;
    const char *mode = precision_text(&driver->ctx->perm, &r->options.precision);

    if (!(noise > floor_of_noise))
        return;
    diag_warn(driver->ctx, DIAG_QUANTIZE, NULL,
              "without data, precision %s is likely to lose accuracy: on synthetic inputs the "
              "results differ by %.0f %% of what they are",
              mode, 100 * sqrt(noise));
    diag_note(driver->ctx, "relayc eval measures it on labelled data");
    diag_help(driver->ctx, r->options.precision.has_data
                               ? "give --data DIR (and --preprocess FILE for images), by which "
                                 "scales are found and biases corrected, or store weights alone in "
                                 "8 bits: --precision int8w"
                               : "give --data DIR (and --preprocess FILE for images), by which "
                                 "biases are corrected, or take more bits: --precision int8w");
}
