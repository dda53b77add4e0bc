/* configure.h - a region's function before it is printed: its kernel's answers, in numbers and keys.
 *
 * Plans are made of configurations: trials of other orders and of depth-first tiling configure
 * regions again, and only those of the plan that is kept are printed (codegen_c/print/print_region.h). */
#ifndef CODEGEN_C_SELECT_CONFIGURE_H
#define CODEGEN_C_SELECT_CONFIGURE_H

#include "base/embedded.h"
#include "codegen_c/core/kernel.h"
#include "codegen_c/select/numbers.h"

/* "const float *restrict x" */
struct parameter {
    const char *type; /* "const float *" */
    bool alone;       /* nothing else points there: restrict */
    const char *name;
};

/* All that the template of a function needs. */
struct region_function {
    struct region *region;
    const char *name; /* of the function in C: the region's, or that of one of its parts */
    const struct embedded_file *template;
    struct keys keys;
    struct number_variables numbers;
    const struct parameter *parameters;
    int n_parameters;

    /* Of a region in parts: bytes of scratch of each, and the function that runs one. NULL = it is
     * whole. */
    size_t part_scratch;
    const char *run;

    /* Functions that stand in front of it: of regions that it computes in stripes. */
    struct region_function *before, *last_before, *next;
};

/* The kernel, which is chosen, fills in region->config and the keys of the function `name`. NULL
 * after errors. */
struct region_function *configure_function(struct codegen *codegen, struct region *region,
                                           const char *name);

/* Configures a region of main into emitted[region->index], unless it shares an earlier region's
 * function. To be called again after the plan changes region->place. False after errors. */
bool configure_region(struct codegen *codegen, struct region *region);

/* The parameter's declaration. */
const char *parameter_text(struct arena *arena, const struct parameter *parameter);

/* Adds a function to be printed before the one being bound. */
void bind_function_before(struct bind *bind, struct region_function *function);

/* "x f32 [1,6,6,2], x2 f32 [1] -> y f32 [1,4,4,3]" of a region with its names. */
const char *shapes_comment(struct codegen *codegen, const struct region *region);

#endif
