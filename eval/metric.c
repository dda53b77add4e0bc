#include "eval/metric.h"

#include <string.h>

#include "base/str.h"

static const struct {
    const char *name;
    enum labels labels;
    bool is_share;
    const char *what;
} rows[METRIC_COUNT] = {
#define METRIC(symbol, name, labels, percent, what) { name, LABELS_##labels, percent, what },
#include "eval/metric.def"
#undef METRIC
};

bool metric_parse(const char *text, enum metric *out)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (strcmp(rows[i].name, text) == 0) {
            *out = (enum metric)i;
            return true;
        }
    return false;
}

const char *metric_name(enum metric metric)
{
    return rows[metric].name;
}

const char *metric_purpose(enum metric metric)
{
    return rows[metric].what;
}

enum labels metric_labels(enum metric metric)
{
    return rows[metric].labels;
}

bool metric_is_share(enum metric metric)
{
    return rows[metric].is_share;
}

bool metric_is_better(enum metric metric, double value, double than)
{
    return metric == METRIC_MSE ? value < than : value > than;
}

const char *metric_list(struct arena *arena)
{
    struct str str = { .arena = arena };

    for (int i = 0; i < METRIC_COUNT; i++)
        str_printf(&str, "%s%s", i ? ", " : "", rows[i].name);
    return str_text(&str);
}
