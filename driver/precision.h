/* precision.h - the request of --precision and related options; shared by precision.c and
 * precision_report.c. */
#ifndef DRIVER_PRECISION_H
#define DRIVER_PRECISION_H

#include "driver/driver.h"
#include "driver/split.h"
#include "frontend/tensors/samples.h"
#include "quantize/quantize.h"

struct precision_request {
    struct quantize_options options;
    struct qtable qtable;
    bool has_broken_qtable; /* malformed rows; names are still collected */
    struct calib_table calib;
    const char *data;
    struct preprocessing how;
    bool has_how;
    long long limit;
    struct split split; /* of data */
    struct quantize_report report;
    int n_floats, n_float_products; /* nodes left in floats although integers were requested */
    const char **float_names;       /* [n_floats], raw */
    const char *numbers;            /* "weights f8e4m3, data f8e4m3: 3 products" */
    bool done;
    const struct calibration_source *stand_in; /* without --data: generated numbers, for sizes only;
                                                  else NULL */
};

/* --- precision_options.c ---------------------------------------------------------------------- */

/* Samples to quantise with: eval's --data is what it tests on. */
enum option_id data_option(const struct driver_state *driver);

/* --limit, or eval's --calib-limit. */
enum option_id limit_option(const struct driver_state *driver);

/* --- precision_conflicts.c -------------------------------------------------------------------- */

/* False after USAGE errors: options that contradict each other or have no effect. */
bool precision_check_request(struct driver_state *driver, const struct precision_request *r);

/* --- data_free.c: without --data -------------------------------------------------------------- */

/* True if what needs no data is done where there is none. */
bool is_data_free(const struct driver_state *driver);

/* True if formats and scales are chosen: nobody has named any. Backends take f8e4m3 by name, and
 * integers sum it in fewer bits. */
bool chooses_formats(const struct driver_state *driver);

/* The text of --precision; fp8 and fp8w with data, where no format is named: fp8=auto, fp8w=auto. */
const char *precision_asked_for(const struct driver_state *driver);

/* Warns if the estimated loss is above the floor. */
void precision_check_loss(struct driver_state *driver, const struct precision_request *r);

/* --- precision_report.c: warnings about the result -------------------------------------------- */

/* Warns of --keep-f32 names that match no product. */
void precision_check_kept(struct driver_state *driver, const struct precision_request *r);

/* Number of products that are quantised in the model itself; and a warning if nearly all are. */
int precision_count_quantized(const struct module *module);
void precision_check_quantized(struct driver_state *driver, const struct precision_request *r,
                               int n_small);

/* Finds nodes that compute in floats although the precision asks for integers (int8, or FP8 with
 * --arithmetic integer), and warns of them by name. */
void precision_check_floats(struct driver_state *driver, struct precision_request *r,
                            const struct module *module);

/* Formats of products: "weights f8e4m3, data f8e4m3: 3 products". NULL = no products. */
const char *precision_list_numbers(struct arena *arena, const struct module *module);

#endif
