/* kernel_case.h - one application of an operator as a row of a table, for the tests of kernels: the
 * rows of a table become the regions of one network, whose generated C is compared with the
 * reference evaluators. */
#ifndef TESTS_SUPPORT_KERNEL_CASE_H
#define TESTS_SUPPORT_KERNEL_CASE_H

#include "codegen_c/codegen.h"
#include "relay_ir/ir.h"

/* Inputs are separated by ';': "f32[2,3]" is a parameter, "const f32[4]" a constant, "_" absent;
 * "i64[3] 0 1 -1" gives the numbers (too few start again from the first), else they are random. */
struct kernel_case {
    const char *kernel; /* the one that must take it */
    const char *op;     /* "nn.conv2d" */
    const char *attrs;  /* "strides=[2,2], groups=2": those that are not 0, false or empty */
    const char *inputs;
};

/* Runs all rows. Behind operators that others may follow in the same loop nest stand such
 * operators, in rotation: bias and relu; a residual and relu; a factor per element and a
 * comparison, which changes the type; nothing. */
void kernel_cases_check(const struct kernel_case *rows, int n, double tolerance);

/* The same with --winograd, and for a machine (NULL = generic). */
void kernel_cases_check_as(const struct kernel_case *rows, int n, double tolerance,
                           enum winograd winograd, const struct machine *machine);

/* The same where scratch would be what the arena depends on: a few bytes lie there besides, and all
 * regions do without (their low-scratch form), or with most_scratch bytes. */
void kernel_cases_check_low_scratch(const struct kernel_case *rows, int n, double tolerance,
                                    size_t most_scratch, const struct machine *machine);

#define KERNEL_CASES_CHECK(rows, tolerance)                                                        \
    kernel_cases_check(rows, (int)(sizeof(rows) / sizeof *(rows)), tolerance)

#endif
