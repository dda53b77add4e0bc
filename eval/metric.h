/* metric.h - metrics by name: rows of metric.def. */
#ifndef EVAL_METRIC_H
#define EVAL_METRIC_H

#include <stdbool.h>

#include "base/arena.h"

enum metric {
#define METRIC(symbol, name, labels, percent, what) METRIC_##symbol,
#include "eval/metric.def"
#undef METRIC
    METRIC_COUNT
};

/* Labels that a metric needs; FLOATS: the results of the float model (reference.h). */
enum labels { LABELS_NOTHING, LABELS_CLASSES, LABELS_BOXES, LABELS_FLOATS };

bool metric_parse(const char *text, enum metric *out); /* false: unknown name */
const char *metric_name(enum metric metric);
const char *metric_purpose(enum metric metric);
enum labels metric_labels(enum metric metric);
bool metric_is_share(enum metric metric); /* a share of samples, shown in percent */
bool metric_is_better(enum metric metric, double value, double than); /* for mse, smaller is
                                                                         better */
const char *metric_list(struct arena *arena); /* "top1, top5 ...", for messages */

#endif
