/* eval.h - labelled data and metrics from the options; for all commands that measure task
 * accuracy. */
#ifndef CLI_EVAL_H
#define CLI_EVAL_H

#include "cli/cli.h"
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
    long long limit; /* 0 = all */
};

/* Parses --data, --labels, --preprocess, --metric, --decode and related options. Reports all USAGE
 * errors. */
bool eval_request_parse(struct cli *cli, struct eval_request *out);

/* Labelled samples for the parameters of fn: --limit of them, evenly spread. */
struct eval_data {
    struct samples *samples;
    struct truth truth;
    int64_t n_there;
    struct calibration_source source; /* the chosen samples, numbered from 0 */
};

/* Reads the labels and checks them against fn's results and request->task, whose truth then points
 * into *out: do not move it. False after errors. Call eval_data_close in any case. */
bool eval_data_open(struct cli *cli, struct eval_request *request, const struct function *fn,
                    struct eval_data *out);
void eval_data_close(struct eval_data *data);

#endif
