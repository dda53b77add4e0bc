/* make.h - test models written as code. */
#ifndef TESTS_MAKE_MAKE_H
#define TESTS_MAKE_MAKE_H

#include "tests/support/onnx_builder.h"

struct recipe {
    const char *name;
    void (*make)(struct onnx_builder *b);
};

/* Golden cases: one operator, one fusion or one mistake each. NAME.onnx -> tests/golden/cases/NAME.c or
 * NAME.err. */
extern const struct recipe good_cases[], bad_cases[];
extern const int n_good_cases, n_bad_cases;

/* Networks made of common blocks, run on every target. NAME/model.onnx. */
extern const struct recipe networks[];
extern const int n_networks;

/* A network, and the same with one node inserted: how much of the generated C changes? */
extern const struct recipe versions[];
extern const int n_versions;

#endif
