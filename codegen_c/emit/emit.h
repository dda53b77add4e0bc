/* emit.h - the generated files under construction: what the parts of codegen_c share. */
#ifndef CODEGEN_C_EMIT_EMIT_H
#define CODEGEN_C_EMIT_EMIT_H

#include "codegen_c/codegen.h"
#include "codegen_c/plan/plan.h"
#include "codegen_c/select/kernel.h"
#include "codegen_c/text/names.h"

/* A region that reads an array. */
struct weight_reader {
    const struct function *fn;
    struct weight_reader *next;
};

/* A constant array of the generated code. */
struct weight {
    const char *c_name; /* its symbol */
    const char
        *expression;    /* how functions read it: c_name, or c_name.v when it is a union of words */
    const char *name;   /* the ONNX name, raw */
    struct type type;   /* of the elements, for the reader */
    struct type stored; /* of the array in C: the same, or (packed) bytes or 16-bit words */
    bool packed;
    const void *data;
    const char *layout; /* "" = row-major of the type */
    uint32_t crc32;
    double least, greatest; /* of the numbers; both NaN where there are none */
    bool words;             /* stored as a union of 64-bit words and the elements */
    int region;             /* the first that reads it */
    uint64_t
        traffic; /* bytes of it that regions load in one run (codegen_c/plan/order/traffic.h) */
    struct weight_reader *counted;   /* the regions that are in that sum */
    const struct codegen_pool *pool; /* that takes it, if that has a section; NULL = none */
    uint64_t readers;    /* C files that read it: bit 0 is NAME.c, the others are those of
                            codegen->modules */
    int file;            /* index of its weights file */
    struct weight *next; /* in order of first use */
};

struct weights {
    struct map by_content; /* dtype, size, crc32 and a number -> struct weight */
    struct weight *first, *last;
    int n;
    size_t bytes;
};

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
    struct map defined; /* names that templates and helpers define (codegen_c/text/reserve.h) */
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

/* --- codegen.c -----------------------------------------------------------------------------------
 */

/* From the module on: regions, their text, and the plan but offsets. *again, if it was true:
 * whether main has got a better order, so that all is to be done again. */
bool codegen_prepare(struct codegen *codegen, bool *again);

/* Then the offsets, and what depends on them. */
bool codegen_pack(struct codegen *codegen);

/* --- plan_attempts.c ----------------------------------------------------------------------------
 */

/* Both, until what is wanted fits, or else the best that was found: in other orders, in stripes
 * (--ram), in pools. `fresh` is *codegen as it began. Main may have got another order, and regions
 * of layers in stripes. */
bool plan_anyhow(struct codegen *codegen, const struct codegen *fresh);

/* --- result.c -----------------------------------------------------------------------------------
 */

/* *codegen->result, of a packed plan, and room for the names of the files. */
void fill_result(struct codegen *codegen);

/* --- weights.c -----------------------------------------------------------------------------------
 */

/* The array with this content, made if there is none yet, for the file `reader` (a bit of
 * weight.readers); region (NULL = none) is counted when it is the first to read it. */
struct weight *weights_read(struct codegen *codegen, int reader, const struct region *region,
                            const char *name, const struct type *type, const void *data,
                            const char *layout);

/* As weights_read, of codes without a gap between them: type_packed_bytes in all, the first code in
 * the lowest bits. The array is one of uint8_t; of uint16_t for f16 and bf16. */
struct weight *weights_read_packed(struct codegen *codegen, int reader, const struct region *region,
                                   const char *name, const struct type *type, const void *data,
                                   const char *layout);

/* A bit stream: as weights_read, but aligned to 8 bytes. */
struct weight *weights_stream(struct codegen *codegen, int reader, const char *name,
                              const struct type *type, const void *data);

/* Least and greatest number of all arrays, for their comments. */
void weights_find_ranges(struct codegen *codegen);

/* --- literal.c -----------------------------------------------------------------------------------
 */

/* Element i as a C literal (see bind_literal); true in *needs_math when it uses <math.h>. */
const char *literal_of_element(struct arena *arena, enum dtype dtype, const void *data, int64_t i,
                               bool *needs_math);
const char *literal_of_number(struct arena *arena, enum dtype dtype, double number,
                              bool *needs_math);

/* --- emit_text.c ---------------------------------------------------------------------------------
 */

/* Appends head, the items separated by ", ", and tail, in lines of at most 100 columns; further
 * lines begin in column `indent`. */
void add_list(struct str *out, const char *head, int n, const char *const *items, const char *tail,
              int indent);

/* "conv1 (Conv) + relu1 (Relu)" of the ONNX nodes that a region stands for, in lines that go on
 * with `line_start`. */
const char *origin_comment(struct arena *arena, const struct region *region,
                           const char *line_start);

/* "conv1 + relu1", cut, for tables; what only quantises is left out where anything else is there.
 */
const char *origin_short(struct arena *arena, const struct region *region);

/* What a region is called after: the ONNX node that computes most of it, as that reads best; the
 * value that it makes where relayc put it beside a node to store that in another type. */
const char *region_title(const struct region *region);

/* "[1,3,224,224]", "f32 [1,3,224,224]". */
const char *shape_brackets(struct arena *arena, const struct type *type);
const char *shape_comment(struct arena *arena, const struct type *type);

/* "const float data[3 * 224 * 224]": a parameter of NAME_run. */
const char *array_parameter(struct arena *arena, const struct type *type, const char *name,
                            bool is_const);

/* "x f32 [1,6,6,2], x2 f32 [1] -> y f32 [1,4,4,3]" of a region with its names. */
const char *shapes_comment(struct codegen *codegen, const struct region *region);

/* The banner's lines about where the file comes from. */
void add_banner(struct codegen *codegen, struct str *out, const char *suffix);

/* A comment line that separates the sections of a file. */
void add_section(struct str *out, const char *title);

/* --- emit_*.c ------------------------------------------------------------------------------------
 */

void emit_header(struct codegen *codegen);
void emit_model(struct codegen *codegen);
void emit_weights(struct codegen *codegen); /* NAME_weights.h, NAME_weights.c ...; none if inline */
void emit_json(struct codegen *codegen);    /* last: it lists the other files */

/* ram.c: whether the arena is no larger than options->ram allows; else an error which says what
 * stands at the peak. After plan_pack. */
bool ram_check(struct codegen *codegen);

/* Decides where the arrays stand: codegen->inline_weights, weight->file, codegen->n_weight_files.
 */
void place_weights(struct codegen *codegen);

/* "kws_weights_2.c" of file 1. */
const char *weights_file(struct codegen *codegen, int file);

/* Whether the file `reader` reads any array. */
bool weights_are_read(const struct codegen *codegen, int reader);

/* Where arrays stand inline: definitions of those that the file `reader` is the first to read, and
 * declarations of others that it reads. */
void write_inline_weights(struct codegen *codegen, struct writer *out, int reader);

/* The includes of a file that reads arrays: system headers (their names are keys of the map), and
 * NAME_weights.h where it needs that. */
void add_includes(struct codegen *codegen, struct str *out, const struct map *headers, int reader);

/* Whether any pool takes constants; for plan_pack then what there is to take, and afterwards
 * weight->pool. */
bool pools_take_constants(const struct codegen *codegen);
void offer_constants(struct codegen *codegen);
void settle_constants(struct codegen *codegen);

/* Of a pool that takes constants: "KWS_IN_DTCM ", the attribute of their section; "" = none. */
const char *section_macro(struct codegen *codegen, const struct codegen_pool *pool);

/* Whether NAME_run has a pointer to the pool. */
bool pool_has_arena(const struct codegen *codegen, int pool);

/* The value that a block reaches into (struct block, `before`), by its name in C. */
const char *reached_name(struct codegen *codegen, int block);

/* Of a pool in NAME_run: the parameter "arena", or "arena_dtcm"; the pointer "base", "base_dtcm".
 */
const char *pool_arena(struct codegen *codegen, int pool);

/* The arrays that the entry takes: inputs, then outputs; none where they are in the arena. */
int entry_arrays(const struct codegen *codegen);
const struct value *entry_array(const struct codegen *codegen, int i, const char **c_name);

/* What the entry demands of an array's address: its type's bytes, but 4 where these are 8, which is
 * as much as some 32-bit machines give. */
size_t entry_alignment(const struct value *value);
const char *pool_base(struct codegen *codegen, int pool);

/* Whether inputs and outputs are in the arena: then they are no parameters of NAME_run. */
bool io_is_inside(const struct codegen *codegen);

/* The name of the function of NAME.h that says where: "kws_input_data". */
const char *io_accessor(struct codegen *codegen, const char *c_name, bool is_input);

/* Where that is: "arena_sram" and bytes. */
const char *io_arena(struct codegen *codegen, const struct value *value);
size_t io_offset(const struct codegen *codegen, const struct value *value);

/* NAME_run and NAME_step; "int NAME_run(const float x[...], ...)" and the tail behind it. */
void add_entry(struct codegen *codegen, struct str *out);
void add_prototype(struct codegen *codegen, struct str *out, bool step, const char *tail);

/* Opens an output file and notes it in the result: NAME and the suffix, or a name of its own. */
struct writer *emit_open(struct codegen *codegen, const char *suffix);
struct writer *emit_open_named(struct codegen *codegen, const char *name);

/* What is alive where most is, for the result. */
void find_peak(struct codegen *codegen);

/* Of NAME.h: the measured stack, and the checks of --ram and --flash; nothing without them. */
void add_budget(struct codegen *codegen, struct str *out);

/* choose_kernels.c: the kernel of each region, and what depends on it alone; false after errors. */
bool choose_kernels(struct codegen *codegen);

/* share.c, for --optimize size: finds regions whose functions differ in constant arrays and
 * comments only, gives them one name and one function that takes the arrays. Before the regions are
 * written; false after errors. */
bool share_regions(struct codegen *codegen);

/* "array1", by which a region that takes arrays calls this one. */
const char *array_name(struct codegen *codegen, const struct region *region,
                       const struct weight *weight);

#endif
