/* codegen.h - from a module of region functions (after the pass pipeline) to C files. */
#ifndef CODEGEN_C_CODEGEN_H
#define CODEGEN_C_CODEGEN_H

#include "base/file.h"
#include "codegen_c/sums.h"
#include "partition/target.h"
#include "relay_ir/ir.h"

struct choices; /* codegen_c/core/knob.h */
struct features;
struct knob_range;
struct machine; /* codegen_c/machine/machine.h */

enum weights_form {
    WEIGHTS_AUTO,   /* in NAME.c up to a few KiB, else in NAME_weights.c */
    WEIGHTS_INLINE, /* in NAME.c */
    WEIGHTS_FILE    /* in NAME_weights.c, NAME_weights_2.c ... (a compiler's memory grows with the
                       number of initialisers of one file) */
};

/* Which convolutions of 3 x 3 take fewer multiplications, for more memory and larger errors
 * (docs/design/kernels.md): where that pays, none, or all that can, by tiles of 2 x 2 or 4 x 4
 * outputs. */
enum winograd { WINOGRAD_AUTO, WINOGRAD_OFF, WINOGRAD_F2, WINOGRAD_F4 };

/* What a C compiler made of the code that these options ask for, without --cc's own lines. */
struct codegen_measured {
    const char *compiler; /* "arm-none-eabi-gcc -O2 -mcpu=cortex-m4" */
    uint64_t text, rodata, data, bss;
    size_t other_flash; /* what these take of it, less the weights */
    bool has_stack;
    size_t stack;       /* the most that NAME_run takes, its own frame included … */
    const char *beyond; /* … without that of these functions of libraries: "expf, memset"; "" */
};

/* A memory that takes a part of the arena, for which NAME_run gets a pointer, or constants, which
 * the linker puts there, or both. Constants that no pool takes are where compilers put them. */
enum pool_speed { POOL_NORMAL, POOL_FAST, POOL_SLOW };
struct codegen_pool {
    const char *name; /* an identifier: "dtcm" */
    size_t bytes;
    enum pool_speed speed;
    const char *section; /* of the linker script: an attribute of constants; for the arena a word
                            in the header. NULL = not said; constants: where they usually are */
    enum { POOL_OF_ARENA, POOL_OF_BOTH, POOL_OF_CONSTANTS } takes; /* both only with a section */
};

struct codegen_options {
    const struct targets *targets; /* whose regions main may call; NULL = all regions are c's */
    const struct machine *machine; /* that the C is written for; NULL = generic */
    const char *name;         /* model name: file stem and prefix of all symbols; an identifier */
    const char *dir;          /* where the files go */
    const char *model_file;   /* base name of the model, for the banner; raw text */
    const char *model_sha256; /* hex, for the banner; "" = none */
    const char *version;      /* of relayc, for NAME.h and NAME.json; NULL = not said */
    const char *command;      /* options that matter, for the banner, "" = defaults */
    const char *numbers;      /* the precision that was chosen, for the banner; NULL = none */
    const struct choices *choices; /* how regions are written; NULL = as usual */
    enum weights_form weights;
    enum winograd winograd;
    /* The most that the arena may take; 0: as much as it needs. */
    size_t ram;
    bool step;  /* also emit NAME_step(), which runs one region */
    bool ships; /* with step: NAME_run() is as without, and does not call NAME_step() */
    int parts; /* of regions, that may run at the same time (codegen_c/print/parallel.h); 0, 1: none */
    bool deterministic; /* the same bits everywhere, or errors (codegen_c/print/deterministic.h) */
    bool
        keep_zeros; /* products with inputs that are 0 are computed, too (codegen_c/core/zeros.h) */
    bool share;     /* regions that differ in constants only share a function */
    bool optimize_size;                   /* the same, and no stripes for speed */
    bool guard;                           /* codegen_c/emit/guard.h */
    const struct codegen_result *largest; /* --vary: of the first variant alone, for reports */
    bool io_in_arena;                     /* inputs and outputs as well; NAME.h says where */
    int n_pools;                          /* 0 = one arena, of any size */
    const struct codegen_pool *pools;
    const struct codegen_measured *measured; /* for NAME.h and NAME.json; NULL = not measured */
    size_t ram_bytes, flash_bytes;           /* NAME.h checks that all fits; 0 = no such budget; the
                                                caller judges before, and not `ram` */
};

/* Where a value of main lives while the generated code runs. */
struct codegen_place {
    enum { PLACE_INPUT, PLACE_OUTPUT, PLACE_ARENA, PLACE_CONSTANT } kind;
    int index;     /* of the input or output array */
    size_t offset; /* in the output, or in the arena, of which pools are pieces, one behind the
                      other: bytes */
    int64_t pixel_stride; /* elements from a pixel (one along the last dim) to the next; 0: dense */
};

/* One region function, in execution order; NAME_step(i) runs it. */
struct codegen_region {
    const struct node *call; /* in main; its outputs are the region's results */
    const char *c_name;
    const char *compiler;            /* the target that runs it; NULL = ours */
    const char *kernel;              /* its name; NULL = the target's business */
    enum sum_order sums;             /* of the kernel; another's are not simulated */
    const char *signature;           /* codegen_c/select/signature.h; NULL where compiler is not */
    bool chosen;                     /* options->choices had something for it */
    const struct knob_range *knobs;  /* [KNOB_COUNT] what there is to choose (knob.h); likewise */
    const struct features *features; /* of its time (features.h); likewise */
    bool overlaps; /* its result overlaps what it reads (codegen_c/core/overlap.h) */
    int64_t macs;
    size_t weight_bytes;                 /* of the arrays that it is the first to read */
    const struct codegen_place *results; /* [call->n_outputs], valid right after the region ran */
};

/* What the arena holds while the region runs that needs most of it. */
struct codegen_peak {
    const char *region; /* its function; NULL = the arena is empty */
    size_t bytes;       /* alive, rounded as in the arena */
    int n;
    struct codegen_alive {
        const char *name; /* of the first value of the block, raw; NULL = the region's scratch */
        size_t bytes;
    } * alive; /* the greatest first */
};

/* What was made, for the command's summary and for verify. Everything in the arena of ctx->perm. */
struct codegen_result {
    size_t arena_bytes;
    bool arena_optimal; /* no order of the regions and no offsets need less: false with --pool */
    size_t arena_lower_bound, arena_order_bound; /* no offsets in this order need less; no order */
    /* Before any layers are in stripes: every intermediate its own place; what codegen_c/plan/in_place_only.h
     * says of the paper's reuse, and the most of that at once. */
    size_t arena_naive_bytes, arena_in_place_bytes, arena_in_place_alive;
    size_t arena_whole_bytes; /* what it would be without stripes, where there are some, or where
                                 they did not help; else 0 */
    int n_stripes,
        n_striped; /* regions that are computed in stripes, and of how many they consist */
    size_t weight_bytes;
    const size_t *pool_bytes;          /* [n_pools] of the arena, in each of options->pools, … */
    const size_t *pool_constant_bytes; /* … and of constants */
    const size_t *pool_room; /* as pool_bytes, rounded up so that they may lie one behind the other
                                in one memory, each where it may begin: offsets of places are those
                                in there */
    size_t state_bytes;      /* of struct NAME_state, which is the caller's; 0 = none */
    const size_t *state_at;  /* [module->n_states] where each lies in that */
    /* Where struct NAME_state lies if it stands behind the pools in one memory: see pool_room. */
    size_t state_place;
    size_t io_bytes; /* of inputs and outputs, which are the caller's */
    struct codegen_peak peak;
    /* Of the regions that --winograd is about: how many there are, the bytes of their weights
     * beyond those of direct products, and the scratch of that with the most; how many take two
     * products by one multiplication; and how many multiply matrices by AMX, with weights in parts.
     */
    int n_winograd, n_pairs, n_amx;
    size_t winograd_weight_bytes, winograd_scratch_bytes, amx_weight_bytes;
    int n_skips; /* regions that leave out inputs that are 0: their time depends on the data */
    int n_regions, n_onnx_nodes;
    const struct codegen_region *regions; /* [n_regions] */
    const struct codegen_place *places;   /* by id of main's values */
    int64_t macs;
    int n_plans;  /* that were made: in other orders, in stripes, in pools */
    int n_packed; /* constants put into the order of a kernel, for all plans together */
    int n_printed; /* templates expanded, one for each function of a region; 0 before codegen_print */
    int n_files;
    const char **files; /* [n_files] paths written, in order */
    const char *json;   /* the text of NAME.json; NULL with plan_only */

    /* What the targets used need beside the files to be built and run on this machine: further
     * files, of which the .c are compiled as well, and words for the compiler, behind the files
     * ("-ldnnl"). */
    int n_host_files;
    const struct codegen_host_file {
        const char *name, *text;
    } * host_files;
    const char *host_flags; /* never NULL */
};

/* Selects kernels and plans until a plan fits; `result` gets its numbers, the module its order and
 * its tiled regions. Prints nothing. options and result must outlive the plan. NULL after errors. */
struct planned_code *codegen_plan(struct module *module, const struct codegen_options *options,
                                  struct codegen_result *result);

/* Prints a plan, once: NAME.h, NAME.c, NAME_weights.c (where there are weights outside), for every
 * target that runs regions NAME_TARGET.h, NAME_TARGET.c and its headers, and NAME.json into `set`,
 * which the caller commits. False after errors. */
bool codegen_print(struct planned_code *code, struct output_set *set);

/* Of --shared-kernels. */
struct kernels_result {
    int n, n_functions; /* helpers that several networks share; of which these are compiled once */
    const char *files[2]; /* relayc_kernels.h, relayc_kernels.c; NULL where nothing is shared */
};

/* Prints several plans, for one program, with what their networks share in files of its own. */
bool codegen_print_set(struct planned_code *const codes[], int n, struct output_set *set,
                       struct kernels_result *shared);

void codegen_free(struct planned_code *code); /* NULL is fine */

/* The numbers of a plan, which is not printed. False after errors. */
bool codegen_sizes(struct module *module, const struct codegen_options *options,
                   struct codegen_result *result);

/* Plans and prints. False after errors. */
bool codegen_c(struct module *module, const struct codegen_options *options, struct output_set *set,
               struct codegen_result *result);

/* An identifier from any text: letters, digits and '_' kept, every run of others one '_'; none at
 * the beginning (such names are the compiler's) or the end; a leading digit gets 'n' in front, a
 * keyword or name of the standard library a trailing '_'; cut at 48 characters. In the arena. */
const char *c_identifier(struct arena *arena, const char *text);

#endif
