/* units.h - units of a precision search: regions that read data or hold weights. All nodes of a
 * region share a precision, since nothing is stored inside. Regions with one name in the model
 * (made from one ONNX node) are one unit, since a qtable cannot tell them apart. */
#ifndef SEARCH_UNITS_H
#define SEARCH_UNITS_H

#include "quantize/calib_table.h"
#include "relay_ir/ir.h"

struct unit {
    const char *name; /* name of its product, if any, as in a qtable */
    enum op op;       /* operator of the product, if any */
    int n_rows;
    const char **rows; /* all names that need a qtable row; the first is `name` */
    int n_reads;
    const char **reads; /* tensors whose calibration sets the scales of its data */
    int64_t macs, n_weights;
    int n_results;
    const char **results; /* values read by other units or returned */
    int n_next;
    int *next; /* units that read them, ascending */
};

struct units {
    int n;
    struct unit *at; /* in execution order */
};

/* Units of a module that has passed PIPELINE_PREPARE, in ctx->perm. Units without quantisable
 * values (comparisons, recurrent cells) are left out. */
struct units units_of(struct ctx *ctx, struct module *module);

#endif
