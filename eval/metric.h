/* metric.h - what can be asked of a network's answers, by name: rows of metric.def. */
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

/* What has to be known of the samples. */
enum labels { LABELS_NOTHING, LABELS_CLASSES, LABELS_BOXES };

bool metric_parse(const char *text, enum metric *out); /* false: there is none of that name */
const char *metric_name(enum metric metric);
const char *metric_purpose(enum metric metric);
enum labels metric_labels(enum metric metric);
bool metric_is_share(enum metric metric); /* a share of the samples: shown in percent */
bool metric_is_better(enum metric metric, double value, double than); /* mse: smaller is */
const char *metric_list(struct arena *arena); /* "top1, top5 ...", for messages */

#endif
