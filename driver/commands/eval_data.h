/* eval_data.h - labelled data and metrics from the options; for all commands that measure task
 * accuracy. */
#ifndef DRIVER_COMMANDS_EVAL_DATA_H
#define DRIVER_COMMANDS_EVAL_DATA_H

#include "driver/driver.h"
#include "driver/split.h"
#include "eval/answers.h"
#include "frontend/tensors/samples.h"
#include "quantize/calibrate.h"

struct eval_request {
    int n_metrics;
    enum metric metrics[METRIC_COUNT]; /* in the order given */
    struct task task;
    const char *data, *labels;
    struct preprocessing how;
    bool has_how;
    bool is_present; /* --present: derive classes from boxes */
    int present_class;
    double present_share;
    long long limit;    /* 0 = all */
    struct split split; /* of data */
};

/* Parses --data, --labels, --preprocess, --metric, --decode and related options. Reports all USAGE
 * errors. */
bool eval_request_parse(struct driver_state *driver, struct eval_request *out);

/* Labelled samples for the parameters of fn: --limit of them, evenly spread. */
struct eval_data {
    struct samples *samples;
    struct truth truth;
    struct reference *reference; /* request->task's; NULL = not wanted */
    int64_t n_there;
    const int64_t *part; /* [n_part] numbers of the samples of --samples; NULL = all */
    int64_t n_part;
    struct calibration_source source; /* the chosen samples, numbered from 0 */
};

/* Reads the labels and checks them against fn's results and request->task, whose truth then points
 * into *out: do not move it. False after errors. Call eval_data_close in any case. */
bool eval_data_open(struct driver_state *driver, struct eval_request *request,
                    const struct function *fn, struct eval_data *out);
void eval_data_close(struct eval_data *data);

#endif
