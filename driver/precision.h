/* precision.h - what precision.c and precision_report.c share: the request of --precision and its
 * companions. */
#ifndef DRIVER_PRECISION_H
#define DRIVER_PRECISION_H

#include "driver/driver.h"
#include "frontend/tensors/samples.h"
#include "quantize/quantize.h"

struct precision_request {
    struct quantize_options options;
    struct qtable qtable;
    bool has_broken_qtable; /* rows that cannot be read, beside which names are still looked for */
    struct calib_table calib;
    const char *data;
    struct preprocessing how;
    bool has_how;
    long long limit;
    struct quantize_report report;
    int n_floats, n_float_products; /* nodes in floats where integers were asked for */
    const char **float_names;       /* [n_floats], raw */
    const char *numbers;            /* "weights f8e4m3, data f8e4m3: 3 products" */
    bool done;
    const struct calibration_source *stand_in; /* where there is no --data: numbers that are made
                                                  up, for sizes only; else NULL */
};

/* --- precision_report.c: what is worth a word once all is decided --- */

/* Warns of --keep-f32 that names no product. */
void precision_check_kept(struct driver_state *driver, const struct precision_request *r);

/* The products whose numbers are small in the model itself, and a warning where there is little
 * else. */
int precision_count_small(const struct module *module);
void precision_check_small(struct driver_state *driver, const struct precision_request *r,
                           int n_small);

/* Finds the nodes that compute in floats though their precision is for integers (int8, or FP8 with
 * --arithmetic integer), and warns of them by name. */
void precision_check_floats(struct driver_state *driver, struct precision_request *r,
                            const struct module *module);

/* Which formats products read now: "weights f8e4m3, data f8e4m3: 3 products". NULL = no products.
 */
const char *precision_list_numbers(struct arena *arena, const struct module *module);

#endif
