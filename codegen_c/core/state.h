/* state.h - struct codegen: one compilation's regions, plan, weights, helpers and output files. */
#ifndef CODEGEN_C_CORE_STATE_H
#define CODEGEN_C_CORE_STATE_H

#include "codegen_c/codegen.h"
#include "codegen_c/core/kernel.h"
#include "codegen_c/core/plan.h"
#include "codegen_c/core/weights.h"
#include "codegen_c/text/names.h"

/* What is printed of a region, by its index. */
struct emitted {
    struct region_function *function; /* its configuration (codegen_c/select/configure.h); NULL for
                                         a backend's region, and if same_as is set */
    const char *text;                 /* C of `function`; NULL until printed */
    const char *origin; /* comment lines with the ONNX nodes; NULL = those of the region */
    const struct weight **arrays; /* constants passed to a shared function (print/share.c) … */
    int n_arrays;                 /* … after its other arguments, as array1, array2 ... */
    bool takes_arrays;            /* true for a shared function */
    const struct region *same_as; /* earlier region with the same function; NULL = none */
    const char *shape;            /* of a function for several shapes: the constant that it is given
                                     first (print/fold.h); NULL = another function */
    const char *shape_type;       /* with --vary, `shape` is the numbers and this the struct */
    const char *signature;        /* codegen_c/select/signature.h; NULL for a backend's region */
    int64_t macs;
    size_t weight_bytes; /* of arrays that no earlier region reads */
};

/* A helper function, printed once per file. */
struct helper {
    const char *from;     /* "runtime/embed/erf_f32.h" */
    const char *text;     /* the file; of a template, its expansion once printed */
    bool own;             /* made from a template; then: */
    const char *function; /* its name */
    const char *template; /* the template's text */
    struct keys keys;
    /* What its words become (codegen_c/microkernel/microkernel.h); NULL = it has none. */
    struct microkernel *microkernel;
};

struct codegen {
    struct ctx *ctx;
    struct arena arena; /* dies with the emission */
    struct module *module;
    const struct codegen_options *options;
    const struct machine *machine; /* options->machine, never NULL */
    const char *upper;             /* "KWS" */
    struct output_set *set;
    struct codegen_result *result;
    struct map defined; /* names that templates and helpers define (codegen_c/plan/reserve.h) */
    struct names names; /* of file scope in NAME.c; locals of NAME_run avoid these as well */
    struct region *regions;
    struct emitted *emitted; /* [n_regions] */
    int n_regions;
    int n_listed; /* regions in NAME.json and in lists: those of the first variant, which is the largest (--vary) */
    struct external_module *modules; /* backends in use, in order of first use */
    int n_modules;
    struct weights weights;
    bool readable; /* all constants are written as numbers: they are few enough for a C compiler */
    struct packed *packed; /* of all plans (codegen_c/core/packed.h) */
    struct map hints; /* choices of the first variant, by the name of a region's result (--vary) */
    struct map helpers;    /* name -> struct helper, in the order in which they are pasted */
    struct map functions;  /* texts of functions that regions of several networks share (print/fold.h), in the order in
                            * which they are pasted */
    struct map includes;   /* "math.h" */
    struct map includes_if; /* "arm_acle.h" -> the condition under which it is included */
    const char **input_names, **output_names; /* parameters of NAME_run */
    const char **initials; /* [module->n_states] the array that a state begins as; NULL = uniform */
    const char **local_names;                 /* pointers into the arena, by value id of the root */
    struct plan plan;
    size_t ram;     /* limit for depth-first tiling, in bytes; 0 = no tiling */
    bool one_arena; /* --pool is not applied yet */
    bool inline_weights;
    int n_split; /* regions divided among workers (codegen_c/print/parallel.h) */
    bool fused;  /* products of tiles are fused in the text: for Helium, and for all machines with
                  * FMA if --deterministic or rounded as ONNX has it */
    bool strict; /* --deterministic, and there are floats: see deterministic.h */
    bool amx;    /* products of floats by AMX are wanted */
    struct variant_group *variant_groups; /* --vary (emit/emit_variants.c) */
    struct loops *loops; /* calls that repeat themselves (emit/emit_loops.c); NULL = not looked for */
    const struct kernels *kernels; /* --shared-kernels (emit/emit_kernels.h); NULL = none */
    uint32_t code_id, data_id; /* checksums of the code and of the constants (emit/identity.h) */
    int n_weight_files;
    struct writer **writers; /* [result->n_files] */
};

enum { GUARD_ZONE = 64 }; /* --guard: bytes before the first block of the arena and after each */

/* Whether --guard has anything to watch: there is an arena. */
bool is_guarded(const struct codegen *codegen);

/* Whether inputs and outputs lie in the arena, and are no parameters of NAME_run. */
bool io_is_inside(const struct codegen *codegen);

/* C names of a pool in NAME_run: its parameter "arena" or "arena_dtcm", its pointer "base" or
 * "base_dtcm". */
const char *pool_arena(struct codegen *codegen, int pool);
const char *pool_base(struct codegen *codegen, int pool);

#endif
