/* eval.h - labelled data and metrics, as eval's options name them; for every command that judges a
 * model by its task. */
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
    bool is_present; /* --present: classes from boxes */
    int present_class;
    double present_share;
    long long limit; /* 0 = all */
};

/* From --data, --labels, --preprocess, --metric, --decode and their companions. USAGE errors, all
 * at once. */
bool eval_request_parse(struct cli *cli, struct eval_request *out);

/* Labelled samples for the parameters of fn, which is only looked at here: --limit of them, spread
 * evenly. */
struct eval_data {
    struct samples *samples;
    struct truth truth;
    int64_t n_there;
    struct calibration_source source; /* n, load: of those that are chosen, by their number */
};

/* Reads the labels, and checks that these, fn's results and request->task fit together; the task's
 * truth is that of *out then, which must stay where it is. False after errors; to be closed either
 * way. */
bool eval_data_open(struct cli *cli, struct eval_request *request, const struct function *fn,
                    struct eval_data *out);
void eval_data_close(struct eval_data *data);

#endif
