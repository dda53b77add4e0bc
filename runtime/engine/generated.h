/* generated.h - the third executor: generated C, built with the host's compiler and called.
 *
 * Knows nothing of the code generator: it takes NAME.h and the .c files of a folder, writes a small
 * adapter beside them, builds a shared object there and loads it. */
#ifndef RUNTIME_ENGINE_GENERATED_H
#define RUNTIME_ENGINE_GENERATED_H

#include "relay_ir/ir.h"
#include "runtime/engine/adapter.h"

/* For messages: a region by its index. */
struct generated_region {
    const char *name;            /* "npu_conv1, npu: npu.conv2d_act" */
    const struct origin *origin; /* NULL = unknown */
};

struct generated_options {
    const char *name;         /* of the model: NAME.h, NAME_run */
    const char *dir;          /* where the files are, and where the objects go */
    const char *const *files; /* the .c files (paths; others are passed over) */
    int n_files;
    const char *compiler; /* "cc", "ccache gcc -m32"; NULL = $CC, else "cc" */
    const char *flags;    /* separated by blanks; NULL = "-O2" */
    const char *libs;     /* likewise, behind the files: "-ldnnl"; NULL = none but -lm */
    bool step;            /* NAME_step() is there */
    struct adapter_memory memory;
    bool warn;                              /* of what the compiler says (-Wall) though it builds */
    const struct generated_region *regions; /* NULL = messages have numbers only */
    int n_regions;
};

struct generated;

/* Builds and loads. fn (main) gives the number of inputs and outputs. NULL after an error, which
 * carries the first lines of the compiler's messages. */
struct generated *generated_build(struct ctx *ctx, const struct function *fn,
                                  const struct generated_options *options);

/* A function of a region that does not return 0 is an error (REGION_FAILED). A crash ends the
 * process with exit code 1: a line on standard error says where, and remembered temporaries are
 * removed.
 *
 * As interpret(): outputs are allocated in bulk. The arena is filled with 0xFF bytes (NaN) first,
 * so that reading what was never written shows. */
bool generated_run(struct generated *generated, const struct tensor *inputs, struct tensor *outputs,
                   struct bulk *bulk);

/* Step by step: begin, then each region in turn; the arena and the outputs can be read in between.
 * inputs as above; outputs are allocated by begin. */
bool generated_begin(struct generated *generated, const struct tensor *inputs,
                     struct tensor *outputs, struct bulk *bulk);
bool generated_step(struct generated *generated, int region);
const void *generated_arena(const struct generated *generated);

void generated_free(struct generated *generated); /* NULL is fine */

#endif
