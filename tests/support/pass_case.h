/* pass_case.h - a rewrite as a row of a table: the graph before and after, as IR text. */
#ifndef TESTS_SUPPORT_PASS_CASE_H
#define TESTS_SUPPORT_PASS_CASE_H

#include "relay_ir/passes/rewrite.h"

/* Attributes that most rows do not care about. */
#define CONV "{strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, " NCHW
#define CONV_PADDED "{strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, " NCHW
#define NCHW "data_layout=\"NCHW\", kernel_layout=\"OIHW\"}"

struct pass_case {
    const char *rule;   /* which this row is about; NULL for passes without rules */
    const char *before; /* see graph_parse */
    const char *after;  /* payloads do not matter; NULL = the rule must not fire */
};

/* Runs the pass on `before`: the graph must become `after`, the rule must have fired, and random
 * inputs must give the same results up to rounding. */
void pass_case_check(const char *pass, const struct pass_case *row);

/* The same of a pass that stands in no table. */
void pass_case_check_run(bool (*run)(struct module *module), const struct pass_case *row);

/* Every rule of a pass, from `first` to `last` of its table, has a row in which it fires. */
void pass_case_coverage(const struct rule *rules, int n_rules, const char *first, const char *last,
                        const struct pass_case *rows, int n_rows);

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

#endif
