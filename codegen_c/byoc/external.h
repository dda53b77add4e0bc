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
    struct keys keys; /* of its template, FORMAT_C */
    const char *text; /* NULL until printed */
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
    const char **copy_names; /* C expressions of their memory */

    struct block *blocks; /* values in between, and scratch of the composites */
    int n_blocks;
    size_t inner_bytes;       /* of the blocks packed */
    size_t inner_bound;       /* no packing needs less */
    size_t *call_scratch;     /* by node id: offset of a composite's scratch */
    struct lowering lowering; /* what hooks->assemble said */
    const struct weight *stream;
    struct external_constant *constants, *last_constant; /* in order of first use */
    int n_constants;
    struct keys keys; /* of the region's template, FORMAT_C and FORMAT_STREAM */
    const char *text; /* of its function in NAME_TARGET.c; NULL until printed, or the user's */
};

/* The files of one target. */
struct external_module {
    const struct target *target;
    int reader;           /* see weight.readers; its place in codegen->modules and 1 */
    struct map includes;  /* "math.h" */
    const char *prologue; /* NULL until printed */
};

/* --- external.c ------------------------------------------------------------------------------- */

/* Whether another target than c runs the function. */
bool is_external(const struct function *fn);

/* Looks up the target and the rows of a region, and finds the captures again. False after errors.
 */
bool external_prepare(struct codegen *codegen, struct region *region);

/* Select: arrays, scratch, and all keys of the templates, which are not expanded. False after
 * errors. */
bool configure_external(struct codegen *codegen, struct region *region);

/* Print: the texts of all regions' functions and of the modules, each template once. False after
 * errors. */
bool print_externals(struct codegen *codegen);

/* The array with this content, for the region. */
const struct weight *external_read(struct codegen *codegen, struct external *external,
                                   const char *name, const struct type *type, const void *data,
                                   const char *layout);

/* The region of that number if it is one of the module's, else NULL. */
const struct external *region_of(const struct codegen *codegen,
                                 const struct external_module *module, int region);

/* Whether a module's functions are the user's, and its file has tables for them (relayc_abi.h). */
bool module_has_tables(const struct external_module *module);

/* "kws_mynpu_conv1_constants" */
const char *constants_table(struct codegen *codegen, const struct external *external);

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

/* The keys of the templates of a region; false after errors. The region of FORMAT_STREAM has its
 * stream. */
bool external_ask_c(struct codegen *codegen, struct external *external);
bool external_ask_stream(struct codegen *codegen, struct external *external);

/* external->text, and of FORMAT_C that of its composites. False after errors. */
bool external_print(struct codegen *codegen, struct external *external);

/* module->prologue. False after errors. */
bool external_print_prologue(struct codegen *codegen, struct external_module *module);

/* "int kws_dnnl_conv1(const float *input0, float *output0)" and the tail. */
void external_prototype(struct codegen *codegen, struct str *out, const struct external *external,
                        const char *tail);

#endif
