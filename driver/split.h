/* split.h - parts of the data: what calibrates, what selects and what is reported on are different
 * samples.
 *
 * Without a list (--split) a sample's part follows from a hash of its file's name, of stacked
 * samples from that of its number: a quarter calibrates, a quarter selects, half is reported on.
 * More data moves no file to another part. */
#ifndef DRIVER_SPLIT_H
#define DRIVER_SPLIT_H

#include "driver/driver.h"
#include "frontend/tensors/samples.h"

enum split_part { SPLIT_ALL, SPLIT_CALIBRATION, SPLIT_SELECTION, SPLIT_REPORT };

struct split {
    enum split_part part;
    const char *list;       /* --split; NULL = the rule */
    bool calibrates_others; /* other data calibrates: its quarter selects, too */
};

const char *split_part_name(enum split_part part); /* "calibration" */

/* Reads --samples and --split. False after a USAGE error. */
bool split_parse(struct driver_state *driver, struct split *out);

/* Numbers of the part's samples, in the order in which they are used, so that the first N are a
 * random choice; of a list, in its order. In ctx->perm. NULL after an error: the part is empty. */
const int64_t *split_samples(struct ctx *ctx, const struct split *split,
                             const struct samples *samples, int64_t *n);

/* Opens samples and keeps those of the part. NULL after an error. */
struct samples *split_open(struct ctx *ctx, const struct split *split, const char *path,
                           const struct function *fn, const struct preprocessing *how);

#endif
