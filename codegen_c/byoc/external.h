/* external.h - regions that another target than c runs: calls of main whose callee's `compiler` is
 * another name than "c". partition.h says at its end what such functions look like.
 *
 * Per target that is used, a module: NAME_TARGET.h declares a function for each of its regions,
 * NAME_TARGET.c holds what there is of them (docs/guide/backends.md): for FORMAT_C functions made
 * of the composites' templates, for FORMAT_STREAM functions made of the region template and a bit
 * stream, for FORMAT_EXTERN and FORMAT_JSON tables of constants.
 *
 * The values between the composites of a region, and the composites' own working memory, are packed
 * into one block of memory, which the plan of main knows as the scratch of the region. */
#ifndef CODEGEN_C_BYOC_EXTERNAL_H
#define CODEGEN_C_BYOC_EXTERNAL_H

#include <cjson/cJSON.h>

#include "codegen_c/core/state.h"

/* A composite of a region, in the order of running. */
struct external_composite {
    struct node *call; /* in the region's function */
    struct function *fn;
    const struct composite_row *row;
    struct match *match;
    struct lowering lowering;    /* what hooks->lower said */
    size_t scratch_bytes;        /* of its own; 0 = none */
    size_t scratch_offset;       /* in the region's scratch */
    const char *scratch_name;    /* of the pointer in the region's function */
    bool reads_scratch;          /* the text mentions it */
    const char *const *captures; /* names of all captures of the pattern */
    int n_captures;
    const char *text;
};

/* A constant that a region reads. */
struct external_constant {
    const char *name; /* raw */
    const struct weight *weight;
    struct external_constant *next;
};

struct external {
    struct region *region;
    struct external_module *module;
    struct function *fn;
    int n_composites;
    struct external_composite *composites;

    /* By value id of fn. */
    const struct value **root;  /* where it is stored: of a view, its input; see in_place */
    struct region_place *place; /* of the root, or of its own where results are copied */
    const char **name;          /* C name of the pointer; of roots; NULL for constants */
    bool *is_read;              /* of roots: the text mentions the name */

    int n_copies; /* results that are stored somewhere else already: copied at the end */
    const struct value **copies; /* index into fn->ret->inputs is the result */
    int *copy_results;

    struct block *blocks; /* values in between, and scratch of the composites */
    int n_blocks;
    size_t inner_bytes;       /* of the blocks packed */
    size_t inner_bound;       /* no packing needs less */
    size_t *call_scratch;     /* by node id: offset of a composite's scratch */
    struct lowering lowering; /* what hooks->assemble said */
    const struct weight *stream;
    struct external_constant *constants, *last_constant; /* in order of first use */
    int n_constants;
    const char *text; /* of its function in NAME_TARGET.c; NULL = the user's */
};

/* The files of one target. */
struct external_module {
    const struct target *target;
    int reader;           /* see weight.readers; its place in codegen->modules and 1 */
    struct map includes;  /* "math.h" */
    const char *prologue; /* expanded */
};

/* --- external.c ------------------------------------------------------------------------------- */

/* Whether another target than c runs the function. */
bool is_external(const struct function *fn);

/* Looks up the target and the rows of a region, and finds the captures again. False after errors.
 */
bool external_prepare(struct codegen *codegen, struct region *region);

/* The function's text, arrays and scratch. False after errors. */
bool write_external(struct codegen *codegen, struct region *region);

/* The array with this content, for the region. */
const struct weight *external_read(struct codegen *codegen, struct external *external,
                                   const char *name, const struct type *type, const void *data,
                                   const char *layout);

/* Multiply-accumulate operations of its composites. */
int64_t external_macs(const struct function *fn);

/* --- external_plan.c -------------------------------------------------------------------------- */

/* Places and names of all values, and region->scratch_bytes. Scratch of composites is known. */
void external_plan(struct codegen *codegen, struct external *external);

/* --- external_fields.c ------------------------------------------------------------------------ */

/* A field of a type ("rank", "dim2"), of an operator's attributes ("strides", "strides0",
 * "n_strides"); NULL for another name. */
const char *external_type_field(struct arena *arena, const struct type *type, const char *field);
const char *external_attr_field(struct codegen *codegen, struct external_module *module,
                                const struct node *node, const char *field);

/* What an expression gives, and a number, as C text. */
const char *external_term(struct codegen *codegen, struct external_module *module,
                          const struct term *term);
const char *external_real(struct codegen *codegen, struct external_module *module, double number,
                          enum dtype dtype);

/* --- external_keys.c -------------------------------------------------------------------------- */

/* What an array of a hook is called: "conv1.multipliers". */
const char *external_array_name(struct codegen *codegen, const struct node *call, const char *key);

/* The C expression of a value's memory for a composite, NULL for one that has none. Where it is
 * written, arrays are made and names count as read. */
const char *external_memory(struct codegen *codegen, struct external *external,
                            const struct value *value, bool written, const char **why);

/* The keys of a composite's template, and of a region's. */
void external_composite_keys(struct codegen *codegen, struct external *external,
                             struct external_composite *composite, struct keys *keys);
void external_region_keys(struct codegen *codegen, struct external *external, struct keys *keys);

/* --- external_text.c -------------------------------------------------------------------------- */

/* The text of a function of the module; false after errors. */
bool external_write_c(struct codegen *codegen, struct external *external);
bool external_write_stream(struct codegen *codegen, struct external *external);

/* The text in front of the functions. */
bool external_write_prologue(struct codegen *codegen, struct external_module *module);

/* "int kws_dnnl_conv1(const float *input0, float *output0)" and the tail. */
void external_prototype(struct codegen *codegen, struct str *out, const struct external *external,
                        const char *tail);

/* --- emit_external.c -------------------------------------------------------------------------- */

/* NAME_TARGET.h and NAME_TARGET.c of every module, and the files beside them. */
void emit_external(struct codegen *codegen);

/* How many files that will be at most, and whether no two files have the same name. */
int external_count_files(const struct codegen *codegen);
bool external_check_files(struct codegen *codegen);

/* The region of that number if it is one of the module's, else NULL. */
const struct external *region_of(const struct codegen *codegen,
                                 const struct external_module *module, int region);

/* "kws_dnnl.h", and "kws_dnnl_conv1.json". */
const char *module_file(struct codegen *codegen, const struct external_module *module,
                        const char *end);
const char *graph_file(struct codegen *codegen, const struct external *external);

/* Estimated nanoseconds of the region by the rates of its target and of c, hand-over included; 0
 * where they say nothing. */
void external_estimate(struct codegen *codegen, const struct external *external, double *here,
                       double *host);

/* Fills host_files and host_flags of the result. */
void external_host_files(struct codegen *codegen);

/* --- emit_constants.c ------------------------------------------------------------------------- */

/* "kws_mynpu_conv1_constants" */
const char *constants_table(struct codegen *codegen, const struct external *external);

/* Tables for functions of the user's: declarations for NAME_TARGET.h, definitions for
 * NAME_TARGET.c.
 */
void declare_constants(struct codegen *codegen, struct str *out, const struct external *external);
void define_constants(struct codegen *codegen, struct str *out, const struct external *external);

/* Whether a module's functions are the user's, and its file has tables for them (relayc_abi.h). */
bool module_has_tables(const struct external_module *module);

/* --- emit_json_modules.c ---------------------------------------------------------------------- */

/* What NAME.json says of targets, where there are others than c. */
void add_modules_json(struct codegen *codegen, cJSON *root);

/* What the entry of a region says of another target's: compiler, composites. */
void add_external_json(struct codegen *codegen, const struct external *external, cJSON *region);

#endif
