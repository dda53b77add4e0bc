/* units.h - what a search decides about, one by one: the regions of the network that read data or
 * hold weights. All nodes of a region have one precision: inside of one nothing is stored. Regions
 * of one name in the model (what the importer made of one ONNX node) are one unit, because a qtable
 * could not tell them apart. */
#ifndef SEARCH_UNITS_H
#define SEARCH_UNITS_H

#include "quantize/calib_table.h"
#include "relay_ir/ir.h"

struct unit {
    const char *name; /* of the product in it, if there is one: as a qtable has it */
    enum op op;       /* likewise */
    int n_rows;
    const char **rows; /* every name that a qtable needs a row for; the first is `name` */
    int n_reads;
    const char **reads; /* the tensors whose calibration decides how its data is stored */
    int64_t macs, n_weights;
    int n_results;
    const char **results; /* values that other units (or the caller) read */
    int n_next;
    int *next; /* units that read these, ascending */
};

struct units {
    int n;
    struct unit *at; /* in the order of execution */
};

/* Of a module that has been through PIPELINE_PREPARE. All of ctx->perm. Units without anything that
 * could be stored small (comparisons, recurrent cells) are left out. */
struct units units_of(struct ctx *ctx, struct module *module);

#endif
