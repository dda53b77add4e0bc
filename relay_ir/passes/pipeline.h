/* pipeline.h - the passes: one file and one row of the table in pipeline.c each. The runner
 * verifies, dumps, times and sweeps after each pass. */
#ifndef RELAY_IR_PASSES_PIPELINE_H
#define RELAY_IR_PASSES_PIPELINE_H

#include <stdio.h>

#include "relay_ir/ir.h"
#include "relay_ir/validate/validate.h"

struct rule;

enum {
    MAX_REGION_NODES = 24, /* of a host region, so that generated functions stay readable */
    MAX_REGION_PARAMS = 8  /* of a host region with several nodes, decoders not counted */
};

struct pass {
    const char *name;                    /* "fold_constant" */
    const char *purpose;                 /* one line, for --passes */
    bool (*run)(struct module *module);  /* in place; false after an error. No static state. */
    const struct rule *(*rules)(int *n); /* rewrite rules; NULL = none */
    enum promise promise;                /* how main's results may change, see validate.h */
};

enum { PIPELINE_N_FUSE = 4 /* passes at the end of the table: PIPELINE_FUSE */ };

/* Quantisation (quantize/quantize.h) and the partitioner (partition/partition.h) run between the
 * parts. */
enum pipeline_part {
    PIPELINE_WHOLE,
    PIPELINE_PREPARE, /* before convert_layout */
    PIPELINE_FUSE,    /* PIPELINE_LAYOUT and PIPELINE_REGIONS */
    PIPELINE_LAYOUT,  /* convert_layout, sink_views, unshare_dequantize */
    PIPELINE_REGIONS  /* fuse_ops */
};

struct pipeline_options {
    enum pipeline_part part;
    const char *dump_after; /* name of a pass (after each of its runs), "all", or NULL */
    const char *stop_after; /* run up to and including the last run of this pass; NULL = all */
    bool keep_recurrent;    /* skip unroll_recurrent: int8 has kernels for recurrent layers */
    bool time_passes;       /* a line per pass on `log`: milliseconds, nodes before and after */
    bool stats;             /* a line per rewrite rule on `log`: how often it fired */
    FILE *log;              /* for dumps, times and statistics */
    struct validation *validation; /* checks each step; NULL = none */
};

/* The whole pipeline in order; *n rows. A pass may occur more than once. */
const struct pass *pipeline_passes(int *n);
const struct pass *pipeline_find(const char *name); /* NULL if there is none */

bool pipeline_run(struct module *module, const struct pipeline_options *options);

/* Runs a pass of another table with the runner's chores; `user` is passed through. */
bool pipeline_run_step(struct module *module, const char *name, enum promise promise,
                       bool (*run)(struct module *module, void *user), void *user,
                       const struct pipeline_options *options);

/* pipeline_run with translation validation of the module from its present state to the end
 * (--check-passes). A network that costs more than `limit` is not evaluated, see validate.h. */
bool pipeline_run_checked(struct module *module, const struct pipeline_options *options,
                          double limit);

/* Runs one pass with the runner's chores, and validates it if that is cheap (tests). */
bool pipeline_run_one(struct module *module, const char *name);

/* Output of fuse_ops, on which the engine and code generators rely:
 *  - main holds `call` nodes of region functions, and `reshape` nodes (views);
 *  - a region has at most one anchor (a node that is not element-wise). Every other node is
 *    element-wise, and its output has the shape of the anchor's output (without an anchor: of the
 *    region's result); its other operands are region parameters or constants that broadcast to
 *    that shape;
 *  - except decoders (relay_ir/region.h), which convert a parameter to f32 for one reader in the
 *    region: a decoder has any shape that its reader accepts. The reader is an element-wise node,
 *    or the anchor at an input that op_decodes names: then the decoder is the prologue of that
 *    input. Only decoders precede the anchor;
 *  - a region with element-wise nodes after its anchor has one result. Otherwise the results are
 *    all outputs of the anchor, less unread ones where op_leaves_results;
 *  - constants are bound inside the region, which may have no parameters then;
 *  - fn->compiler is "c"; fn->composite is "c." and the operators' names joined by '_', without
 *    "nn."; fn->name is the name of the first result, unique in the module;
 *  - every result of main is an output of a call, or a view of one, and no two share it: a result
 *    that is a parameter, a constant or another result is the output of a `copy` region;
 *  - existing calls of regions with another compiler are unchanged.
 *
 * A function with a compiler is finished: passes work on main only, so running the pipeline again
 * changes nothing. */

/* Groups that fuse_ops would form now: per node->id (functions are numbered) a pointer that
 * identifies the region, NULL for views. In ctx->scratch. */
const void **fuse_ops_groups(struct module *module);

/* Passes, in alphabetical order. */
bool pass_canonicalize(struct module *module);
bool pass_common_subexpr(struct module *module);
bool pass_convert_layout(struct module *module);
bool pass_dead_code(struct module *module);
bool pass_drop_dead_channels(struct module *module);
bool pass_fake_quant_to_exact(struct module *module); /* only for quantize.h's `exact` */
bool pass_fake_quant_to_integer(struct module *module);
bool pass_flush_tiny_weights(struct module *module);
bool pass_fold_constant(struct module *module);
bool pass_fold_dequantize(struct module *module);
bool pass_fold_scale_axis(struct module *module);
bool pass_fuse_ops(struct module *module);
bool pass_infer_type(struct module *module);
bool pass_widen_halves(struct module *module);
bool pass_inline_functions(struct module *module);
bool pass_simplify_expr(struct module *module);
bool pass_simplify_inference(struct module *module);
bool pass_sink_views(struct module *module);
bool pass_unroll_recurrent(struct module *module);
bool pass_unshare_dequantize(struct module *module);

#endif
