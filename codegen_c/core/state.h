/* emit.h - struct codegen, the generated files under construction, which all parts of codegen_c
 * share. */
#ifndef CODEGEN_C_CORE_STATE_H
#define CODEGEN_C_CORE_STATE_H

#include "codegen_c/codegen.h"
#include "codegen_c/core/kernel.h"
#include "codegen_c/core/plan.h"
#include "codegen_c/core/weights.h"
#include "codegen_c/text/names.h"

/* What the emitters know of a region besides struct region. */
struct emitted {
    struct region_function *function; /* as it is configured (codegen_c/select/configure.h); NULL of
                                         other targets', and where same_as is not */
    const char *text;                 /* of that, once it is printed */
    const char *origin;           /* comment lines: what it stands for; NULL = its own ONNX nodes */
    const struct weight **arrays; /* of a shared function (share.c): the constants that it … */
    int n_arrays;                 /* … gets behind its other arguments, as array1, array2 ... */
    bool takes_arrays;            /* whether it does */
    const struct region *same_as; /* an earlier region that has its function; NULL = it has one */
    const char *signature;        /* NULL of other targets' */
    int64_t macs;
    size_t weight_bytes; /* of the arrays that it is the first to read */
};

/* A function that the generated C has once. */
struct helper {
    const char *from; /* "runtime/embed/erf_f32.h" */
    const char *text; /* a file as it is, or (own) the text of the function once it is printed */
    bool own;         /* made from a template: */
    const char *function; /* the name */
    const char *template; /* the text */
    struct keys keys;
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
    struct external_module *modules; /* targets other than c that are used, in order of use */
    int n_modules;
    struct weights weights;
    struct map helpers;  /* name -> struct helper, in the order in which they are pasted */
    struct map includes; /* "math.h" */
    const char **input_names, **output_names; /* parameters of NAME_run */
    const char **local_names;                 /* pointers into the arena, by value id of the root */
    struct plan plan;
    size_t ram;     /* that stripes are to fit in; 0 = none are wanted */
    bool one_arena; /* --pool is not looked at yet */
    bool inline_weights;
    int n_split; /* regions in parts: see parallel.h */
    bool fused;  /* products of tiles are fused in the text: for Helium, and for all machines with
                  * FMA if --deterministic or rounded as ONNX has it */
    bool strict; /* --deterministic, and there are floats: see deterministic.h */
    bool amx;    /* products of floats by AMX are wanted */
    int n_weight_files;
    struct writer **writers; /* [result->n_files] */
};

enum { GUARD_ZONE = 64 }; /* --guard: bytes before the first block of the arena and after each */

/* Whether --guard has anything to watch: there is an arena. */
bool is_guarded(const struct codegen *codegen);

/* Whether inputs and outputs lie in the arena, and are no parameters of NAME_run. */
bool io_is_inside(const struct codegen *codegen);

/* Of a pool in NAME_run: the parameter "arena", or "arena_dtcm"; the pointer "base", "base_dtcm".
 */
const char *pool_arena(struct codegen *codegen, int pool);
const char *pool_base(struct codegen *codegen, int pool);

#endif
