/* kernel.h - a kernel is one record: which regions it takes, how it fills its template, what else
 * it can.
 *
 * The template (templates/kernels/FAMILY/NAME.c.tmpl) holds the C text of the region function;
 * bind computes every key in it, chooses and packs the weights, and says how much scratch it needs.
 * Functions of the generated file that several kernels share are helpers: runtime/embed/NAME.h. */
#ifndef CODEGEN_C_CORE_KERNEL_H
#define CODEGEN_C_CORE_KERNEL_H

#include "codegen_c/codegen.h"
#include "codegen_c/core/knob.h"
#include "codegen_c/core/operand.h"
#include "codegen_c/sums.h"
#include "codegen_c/machine/features.h"
#include "codegen_c/machine/machine.h"
#include "codegen_c/text/template.h"
#include "relay_ir/guard.h"
#include "relay_ir/region.h"

/* How a result may lie over what its region reads (codegen_c/core/overlap.h). */
struct overlap {
    int param;    /* of the region: what is read */
    size_t bytes; /* that the result begins in front of it, or more … */
    bool exact;   /* … or no more */
};

/* How a region is computed: what selection and the binder say of it. */
struct kernel_config {
    const struct kernel *kernel;    /* NULL of regions that other targets run */
    const struct kernel_form *form; /* of the kernel, which took the region */
    int parts;              /* that may run at the same time (parallel.h); 1 = it is whole */
    bool can_overlap;       /* its result may reach into what it reads … */
    struct overlap overlap; /* … so */
    size_t scratch_bytes;   /* an extra `void *scratch` parameter, after the results; 0 = none */
    size_t scratch_naive;   /* what it would be without sharing, where that differs; else 0 */
    size_t parallel_loop;   /* where in its text the loop begins that //#parallel stands above */
    int winograd_tile;      /* outputs in each direction; 0 = another kernel */
    size_t winograd_more;   /* bytes of its weights beyond those of direct products */
    size_t amx_more;        /* bytes of its weights' parts beyond those of the weights; 0 = none */
    bool pairs;             /* sums by pairs of products (codegen_c/kernels/conv/conv_pairs.c) */
    bool leaves_zeros_out;  /* it may read no weights of inputs that are 0 (zeros.h) */
    bool planes_apart;      /* planes of the anchor's input 0 are read where they lie
                              (operand.plane_rows) */
    struct knob_range knobs[KNOB_COUNT]; /* what there is to choose */
    struct features features;            /* of its time, if the binder tells them */
};

/* Where the plan put what a region reads and writes (codegen_c/core/plan.h). */
struct region_memory {
    bool in_place;    /* the first result lies over a parameter of the same size … */
    int over;         /* … this one: they are one argument, and have one name */
    bool overlaps;    /* config.overlap is made use of: no `restrict` for the two */
    bool low_scratch; /* it is to do without the scratch that it can spare */
    const struct operand *operands;        /* [n_params], and … */
    const struct operand *result_operands; /* … of the results; NULL: all lie side by side */
    const bool *absent; /* [n_params] of a concatenation: lies in the result already, and is no
                           parameter in C; NULL = none */
};

/* One region function: what is asked for, how it is computed, and where its arrays lie. What is
 * printed of it is in struct emitted (codegen_c/core/state.h). */
struct region {
    struct function *fn;
    struct node *call;   /* in main */
    struct node *anchor; /* the node that is not element-wise; NULL = an element-wise chain. What
                            stands before it are decoders (relay_ir/region.h): its prologue */
    const struct machine *machine; /* that the C is written for; never NULL */
    enum winograd winograd;        /* --winograd */
    bool amx;        /* products of floats by AMX are wanted: they pay for the whole network */
    bool keep_zeros; /* --skip-zeros off */
    const struct choice *choice; /* how to write it (knob.h); NULL = as usual */
    bool
        choice_is_hint; /* of a larger variant (--vary): what does not fit here is left out silently */
    /* Of many variants (--vary): the size of the result varies, and its last dim. Text that depends on neither is
     * better then, as all have one function. */
    bool size_varies, columns_vary;
    const char *c_name;        /* "region_conv1": an identifier, unique in the file */
    const char *own_name;      /* the same, also where c_name is that of a shared function */
    int index;                 /* execution order */
    int variant;               /* relay_ir/variants.h; 0 without */
    size_t largest;            /* bytes of the largest value between regions: scratch that fits
                                    beside what is read without being more costs no memory */
    struct external *external; /* another target runs it: no anchor and no kernel; else NULL */
    struct guards guards;      /* it runs only if these hold */

    struct kernel_config config;
    struct region_memory place;

    const char *const *params;  /* C names of fn's parameters: "x", "x2", "residual" */
    const char *const *results; /* and of its results: "y", "y2" */
};

/* What bind works with. Keys go into `keys`; everything else is remembered for the emitters. */
struct bind {
    struct ctx *ctx;
    struct arena *arena; /* lives as long as the emission */
    struct region *region;
    struct region_function *function; /* that becomes its own (configure.h) */
    struct keys *keys;
    const struct machine *machine; /* that the C is written for; never NULL */
    struct codegen *codegen;       /* opaque here: the output under construction */
};

struct kernel_form {
    const enum op *operators; /* of the anchor: OPS(OP_CONV1D, OP_CONV2D); CHAINS = there is none */
    /* False: *why says what was found and wanted. */
    bool (*accepts)(const struct region *region, const char **why);
    bool (*bind)(struct bind *bind);
    bool late; /* tried at the kernel's second place in kernels.def */
};

enum { OPS_END = OP_COUNT + 1, MAX_FORMS = 7 };
#define OPS(...) ((const enum op[]){ __VA_ARGS__, (enum op)OPS_END })
#define CHAINS OPS(OP_COUNT)

/* A kernel is one record, kernel_NAME, at the end of its file; what has no function it cannot do.
 */
struct kernel {
    const char *name; /* "conv_direct"; its template is NAME.c.tmpl in the folder of its family */
    enum sum_order sums;
    bool fuses; /* products and sums are rounded once, where the text of the C fuses them */
    bool fails; /* its function is an int, 1 where a number of this run is none that the network was
                      compiled for: NAME_run returns NAME_WRONG_NUMBER */
    bool in_place; /* y may be the anchor's input 0 (of a chain: any operand) where shape and type
                      agree: element i is written after its last read */
    /* Whether the region can read input i of its anchor, and write its results, where pixels are
     * parts of greater ones. A pixel is what lies along the last dim of the value, in as many
     * elements as that has. What writes so, with one anchor result, reads element-wise operands of
     * the result's shape so as well. */
    bool (*reads_strided)(const struct region *region, int input);
    bool (*writes_strided)(const struct region *region);
    /* Whether the result of this region may begin in front of what the anchor's input 0 reads, and
     * reach into it, and how many bytes in front, at least (codegen_c/core/overlap.h). */
    bool (*overlaps)(const struct region *region, struct overlap *overlap);
    /* How many bytes of scratch the region takes from the arena in its usual form; 0 = it has no
     * low-scratch form. */
    size_t (*spares)(const struct region *region);
    struct kernel_form forms[MAX_FORMS]; /* up to one without operators */
};

#define KERNEL(name) extern const struct kernel kernel_##name;
#define LATE(name)
#include "codegen_c/core/kernels.def"
#undef KERNEL
#undef LATE

/* Its template (base/embedded.h); NULL if there is none. */
const struct embedded_file *kernel_template(struct arena *arena, const struct kernel *kernel);

/* Of regions that are computed together in stripes (codegen_c/plan/depth_first/stripe_text.c). */
extern const struct kernel kernel_stripes;

/* Of results without elements, whatever the anchor (codegen_c/kernels/move/nothing.c). */
extern const struct kernel kernel_nothing;

/* The kernel for a region, whose form is set: of those that accept it the one that is chosen
 * (KNOB_KERNEL, which gets their names), usually the first, or kernel_nothing. NULL after a
 * NO_KERNEL error which lists every candidate and why it was refused. */
const struct kernel *kernel_choose(struct ctx *ctx, struct region *region);

/* The first that takes the region, which is chosen where nobody says otherwise; NULL = none. */
const struct kernel *kernel_usual(const struct region *region);

/* The kernel of this name if it takes the region, whose form is set then; else NULL. */
const struct kernel *kernel_named(struct region *region, const char *name);

/* Whether the region's kernel can read input i of its anchor, or write its results, with a pixel stride.
 */
bool kernel_reads_strided(const struct region *region, int input);
bool kernel_writes_strided(const struct region *region);

/* Whether the region's result may lie over what the anchor's input 0 reads, and nothing else. */
bool kernel_overlaps(const struct region *region, struct overlap *overlap);

/* Whether the region's function returns an int that is to be 0 (struct kernel). */
bool kernel_fails(const struct region *region);

/* Bytes of scratch that the region takes in its usual form; 0 = it has no low-scratch form. */
size_t kernel_spares(const struct region *region);

/* --- for bind functions --------------------------------------------------------------------- */

void bind_int(struct bind *bind, const char *key, int64_t value);
void bind_flag(struct bind *bind, const char *key, bool on); /* for //#if */
void bind_text(struct bind *bind, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A C literal of `number` in this type; floats exact: decimal where six digits are enough, else hex
 * ("0.5f", "0x1.99999ap-4f", "INFINITY"). */
const char *bind_literal(struct bind *bind, enum dtype dtype, double number);

/* The C expression by which the region function reads `value`: a parameter's name ("x", "x2",
 * "residual"), or the name of a constant array, which is thereby put into the weights file with its
 * row-major layout. */
const char *bind_operand(struct bind *bind, struct value *value);

/* What the region reads for input i of its anchor: a parameter or a constant. Where the input has a
 * decoder, it is that which the decoder reads, of another type than the input. */
struct value *anchor_source(const struct region *region, int i);

/* C text around an element of that, which makes it an element of the input: "f8e4m3_to_f32(" and
 * ") * 0.5f"; both empty where there is no decoder. An element read twice is decoded twice. */
void bind_reads(struct bind *bind, int i, const char **get, const char **got);

/* The expression of an array with numbers of the training that are no weights: its own, whatever
 * its content. */
const char *bind_own_array(struct bind *bind, const char *name, const struct type *type,
                           const void *data, const char *layout);

/* As bind_operand, of a constant that bind made of such numbers. */
const char *bind_own_operand(struct bind *bind, const struct value *constant);

/* As bind_operand for a constant, but stored in another order: `packed` (bulk memory of this type;
 * taken over) replaces the payload; `layout` is for the comment ("OHWI"). */
const char *bind_packed(struct bind *bind, struct value *value, const struct type *type,
                        const void *packed, const char *layout);

/* As bind_packed for quantised values, one per element in memory: those of less than 8 bits
 * lie side by side in the array, the first in the lowest bits. Arrays of uint8_t (int8_t for i8,
 * uint16_t for f16 and bf16). f32, the scales of quantised values, is taken as well. */
const char *bind_quantized(struct bind *bind, const char *name, const struct type *type,
                           const void *quantized, const char *layout);

/* Bytes of scratch that the region's function needs, from the arena, aligned to 16: adds the
 * parameter `void *scratch` (restrict) to "params". */
void bind_scratch(struct bind *bind, size_t bytes);

/* Whether the text says where a product and a sum are rounded once (docs/guide/deterministic.md;
 * for Helium always). */
bool sums_are_fused(const struct bind *bind);

/* Whether numbers of any size, subnormal ones, too, have the same bits everywhere
 * (--deterministic). */
bool bits_are_promised(const struct bind *bind);

/* Whether functions of other shapes are to have the same text where that costs next to nothing
 * (codegen_c/print/fold.h): on scalar cores, unless --optimize speed. */
bool functions_are_shared(const struct bind *bind);

/* Region i of the network, whose kernel is chosen; NULL behind the last. Where functions are shared, a kernel may write
 * a function so that another region has the same. */
const struct region *bind_region_at(const struct bind *bind, int i);

/* A helper that the text uses: "erf_f32" is runtime/embed/erf_f32.h, pasted once into the file;
 * "f8e4m3_to_f32" and the like are made by codec.c.
 * Lines with # are not pasted: includes of system headers move to the top of the file, an include
 * of "runtime/embed/NAME.h" asks for that helper as well, guards vanish. */
void bind_helper(struct bind *bind, const char *name);
void bind_include(struct bind *bind, const char *header); /* "math.h" */
void bind_include_if(struct bind *bind, const char *header, const char *condition);

/* A helper made from a template, such as the decoder of a number format: its function if the file
 * has it already, else NULL; and the function, when it is made. The template has the key `fn`. */
const char *bind_own_helper(struct bind *bind, const char *name);
const char *bind_new_helper(struct bind *bind, const char *name, const char *path,
                            struct keys *keys);

/* Where an element-wise statement stands in the loop nest of the template. Expressions need no
 * parentheses around them. */
struct position {
    int rank;                    /* of the region's output */
    const char *coord[MAX_RANK]; /* C expression of each output coordinate ("oc"), "0" where the
                                    dim is 1; NULL where this dim and the following ones, up to
                                    one that is not NULL, have a common coordinate, which no
                                    operand is broadcast along in part */
    const char *linear;          /* C expression of the row-major index: where an element lies in
                                    what lies side by side, whatever y does */
    const char *pixel, *channel; /* C expressions, of kernels whose pixels may be apart: linear is
                                    pixel * channels + channel; without operators around */
    int lanes;   /* of this many channels, the last dim, they are those of the first;
                                    0 = of one element */
    bool hoists; /* of lanes: constants of these channels are read before a loop over
                    positions, in lines of key "of_channels" */
};

/* How many channels at a time (16, 8 or 4; they divide `channels`) the element-wise nodes behind
 * the anchor can be written for at such a position; 0 = one by one. For bytes whose operands are
 * numbers or lie side by side, as the result does, on machines with vectors of which compilers do
 * not make good use by themselves. Then the text is of vectors (i32x16:
 * templates/helpers/lanes_i32.c.tmpl), and so is acc. Measured: docs/lab/measured.md. */
int epilogue_lanes(struct bind *bind, const struct position *position, int64_t channels);

/* Turns the element-wise nodes of the region into statements and sets
 *   key "epilogue"   lines such as: const float add_1 = acc + conv1_bias[oc];   (possibly none)
 *   key "result"     the expression to store
 * `acc` is the C expression of the anchor's result at this position (NULL in a chain). The
 * statements must stand right before the only write to that element of y, because an operand of the
 * same shape may be y itself: the plan lets results overwrite residuals that nobody needs any more.
 * The variables are called after their operators and numbered (add_1, relu_2), operands that are
 * used twice x_1; templates keep clear of names that end in '_' and a number. */
bool bind_epilogue(struct bind *bind, const char *acc, const struct position *position);

/* How templates with loops over rows of results (of `n` elements side by side, in y and in quantised values
 * that are read along) have these decoded and encoded by vectors. */
struct epilogue_row {
    struct position start; /* of a row's first element: its index is "start" */
    const char *i;         /* C: which element of the row `position` is */
    const char *n, *most;  /* C: how many a row has; the most, a constant */
    int64_t multiple;      /* that how many always is one of */
};

/* As bind_epilogue, of an element "at" of such a row. Sets also
 *   key "decoded"   lines before the loop: arrays of numbers that were quantised values (possibly none)
 *   keys "packed", "pack"
 *                   whether the result is a number that is still to be encoded; statements that do
 *                   so behind the loop, with all of an array `result` to y[start]
 *   keys "uses_at", "uses_oc", "uses_start"
 *                   whether these have to be declared */
bool bind_row_epilogue(struct bind *bind, const char *acc, const struct position *position,
                       const struct epilogue_row *row);

/* The keys every template has: fn, params (the parameter list), t (C type of y), and the comment
 * lines `origin` ("conv1 (Conv) + relu1 (Relu)") and `shapes` ("x f32 [1,6,6,2] -> y ..."), which
 * may have several lines and stand in the comment above the function, in lines that begin with a
 * slash and a star, and with a blank and a star. Set by the emitter; params only after bind. */

#endif
