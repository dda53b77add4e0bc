/* importer.h - the importer's state, shared by import.c (operators) and interface.c (inputs and
 * outputs). Not for converters. */
#ifndef FRONTEND_TFLITE_IMPORTER_H
#define FRONTEND_TFLITE_IMPORTER_H

#include "base/map.h"
#include "frontend/custom_op.h"
#include "frontend/tflite/convert.h"

struct import {
    struct ctx *ctx;
    struct module *module;
    struct tfl_model model;
    struct tfl_graph *graph; /* whose operators are converted: main, or a body (control.c) */
    int depth;               /* of bodies */
    int64_t n_rounds;        /* of loops, all together */
    struct map used;         /* subgraphs that are branches, by number */
    struct tfl_keeping keeping;
    int n_custom; /* operators that are C functions of the user */
    struct custom_op *custom;
    bool is_over; /* a limit was reported: no further conversion */
};

/* The tensor with this number; NULL for -1 of an operator, *ok false after an error. */
struct tfl_tensor *tfl_import_tensor(struct import *im, const struct origin *origin,
                                     const char *what, size_t i, int64_t index, bool *ok);

/* Whether relayc reads such a tensor; else an error, against the operator that does. */
bool tfl_import_readable(struct import *im, const struct origin *origin,
                         const struct tfl_tensor *tensor);

/* Converts the operators of im->graph; false if a limit was reported. */
bool tfl_import_operators(struct import *im);

/* A custom operator as a call of the user's function. */
bool tfl_convert_custom(struct tfl_node *node, struct custom_op *custom);

/* Parameters and results of main. */
void tfl_import_inputs(struct import *im);
void tfl_import_outputs(struct import *im);

#endif
