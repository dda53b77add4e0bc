/* eval.h - relayc eval: metrics of a task over labelled data. */
#ifndef DRIVER_COMMANDS_EVAL_H
#define DRIVER_COMMANDS_EVAL_H

#include "driver/commands/eval_data.h"

struct evaluation {
    struct driver_state *driver;
    struct eval_request request;
    struct eval_data data;
    int n_threads;
    bool with_code; /* --with generated; false: oneDNN */
    bool against;   /* --against f32 */
    struct module *module;
    struct answers *f32; /* of the model as it is; NULL without `against` */
    struct answers *now;
};

/* Runs the model on all samples. False after an error. Call driver_eval_free in any case. *out must
 * not move before. */
bool driver_eval(struct driver_state *driver, struct evaluation *out);
void driver_eval_free(struct evaluation *evaluation);

#endif
