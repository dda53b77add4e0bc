/* generated.h - executor of generated C: builds it with the host's compiler and calls it.
 *
 * Independent of the code generator: it takes NAME.h and the .c files of a folder, adds a small
 * adapter, builds a shared object there and loads it. */
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
    const char *dir;          /* folder of the files, and of the objects */
    const char *const *files; /* paths; only .c files count */
    int n_files;
    const char *compiler; /* "cc", "ccache gcc -m32"; NULL = $CC, else "cc" */
    const char *flags;    /* separated by blanks; NULL = "-O2" */
    const char *libs;     /* linker options after the files: "-ldnnl"; NULL = -lm only */
    bool step;            /* NAME_step() exists */
    struct adapter_memory memory;
    bool warn;                              /* turn compiler warnings (-Wall) into diagnostics */
    const struct generated_region *regions; /* NULL = messages have numbers only */
    int n_regions;
};

struct generated;

/* Builds and loads the code of fn (main). NULL after an error with the first lines of the
 * compiler's messages. */
struct generated *generated_build(struct ctx *ctx, const struct function *fn,
                                  const struct generated_options *options);

/* Another caller of the same code, with an arena of its own: for another thread. `of` must outlive
 * it. Generated C keeps no state; functions of backends may. */
struct generated *generated_again(struct ctx *ctx, const struct generated *of);

/* A function of a region that does not return 0 is an error (REGION_FAILED). A crash ends the
 * process with exit code 1: a line on standard error says where, and temporary files are removed.
 *
 * Outputs are allocated in bulk, as by interpret(). The arena is filled with 0xFF bytes (NaN)
 * first, to expose reads of unwritten memory. */
bool generated_run(struct generated *generated, const struct tensor *inputs, struct tensor *outputs,
                   struct bulk *bulk);

/* Region by region: begin, then each region in turn; arena and outputs may be read in between.
 * begin allocates the outputs. */
bool generated_begin(struct generated *generated, const struct tensor *inputs,
                     struct tensor *outputs, struct bulk *bulk);
bool generated_step(struct generated *generated, int region);
/* Code for several sizes (--vary): from now on it runs as fn, the network of these ones. */
void generated_take_sizes(struct generated *generated, const struct function *fn,
                          const int32_t *sizes);
const void *generated_arena(const struct generated *generated);

void generated_free(struct generated *generated); /* NULL is fine */

#endif
