/* pipeline.h - the passes: each one file and one row of the table in pipeline.c, run by one runner
 * that verifies, dumps, times and sweeps after each. */
#ifndef RELAY_IR_PASSES_PIPELINE_H
#define RELAY_IR_PASSES_PIPELINE_H

#include <stdio.h>

#include "relay_ir/ir.h"
#include "relay_ir/validate/validate.h"

struct rule;

enum {
    MAX_REGION_NODES = 24, /* of a region of "c": generated functions are read by people */
    MAX_REGION_PARAMS = 8  /* of one with more than one node, decoders not counted */
};

struct pass {
    const char *name;                    /* "fold_constant" */
    const char *purpose;                 /* one line, for --passes */
    bool (*run)(struct module *module);  /* in place; false after an error. No static state. */
    const struct rule *(*rules)(int *n); /* its rewrite rules; NULL = it has none */
    enum promise promise;                /* of what main computes, see validate.h */
};

enum { PIPELINE_N_FUSE = 4 /* passes at the end of the table: PIPELINE_FUSE */ };

/* Quantisation and the partitioner run in between, see quantize/quantize.h and
 * partition/partition.h. */
enum pipeline_part {
    PIPELINE_WHOLE,
    PIPELINE_PREPARE, /* what stands before convert_layout */
    PIPELINE_FUSE,    /* the other two */
    PIPELINE_LAYOUT,  /* convert_layout, sink_views, unshare_dequantize */
    PIPELINE_REGIONS  /* fuse_ops */
};

struct pipeline_options {
    enum pipeline_part part;
    const char *dump_after; /* name of a pass (after each of its runs), "all", or NULL */
    const char *stop_after; /* run up to and including the last run of this pass; NULL = all */
    bool keep_recurrent;    /* no unroll_recurrent: int8 has layers of one step as they are */
    bool time_passes;       /* a line per pass on `log`: milliseconds, nodes before and after */
    bool stats;             /* a line per rewrite rule on `log`: how often it fired */
    FILE *log;              /* where dumps, times and statistics go */
    struct validation *validation; /* judges each step; NULL = none */
};

/* The whole pipeline, in order; *n rows. A pass may stand there more than once. */
const struct pass *pipeline_passes(int *n);
const struct pass *pipeline_find(const char *name); /* NULL if there is none */

bool pipeline_run(struct module *module, const struct pipeline_options *options);

/* A pass of another table, with the runner's chores: its `user` is handed through. */
bool pipeline_run_step(struct module *module, const char *name, enum promise promise,
                       bool (*run)(struct module *module, void *user), void *user,
                       const struct pipeline_options *options);

/* The same, judged by translation validation from the module as it is now to what is left at the
 * end
 * (--check-passes). A network that costs more than `limit` is not judged, see validate.h. */
bool pipeline_run_checked(struct module *module, const struct pipeline_options *options,
                          double limit);

/* One pass with the runner's chores, and judged where that is no great work (tests). */
bool pipeline_run_one(struct module *module, const char *name);

/* What fuse_ops leaves behind, and what engines and code generators rely on:
 *  - main consists of `call` nodes of region functions and of `reshape` nodes (views);
 *  - a region has at most one anchor (a node that is not element-wise); every other node is
 *    element-wise and its output has the shape of the anchor's output (without an anchor: of the
 *    region's result); its other operands are region parameters or constants that broadcast to that
 *    shape;
 *  - except decoders (relay_ir/region.h): a node that makes f32 of the small numbers of a
 * parameter, and that one node of the region reads, may have any shape that its reader takes. The
 * reader is an element-wise node, or the anchor at an input that op_decodes names: then the decoder
 * is the prologue of that input. Nothing but decoders stands before the anchor;
 *  - a region with element-wise nodes behind its anchor has one result; a region without has all
 *    outputs of its anchor as results, less those that nobody reads where op_leaves_results;
 *  - constants are bound inside the region (which may have no parameters then); fn->compiler is
 * "c", fn->composite is "c." and the operators' names joined by '_' without "nn."; fn->name is the
 *    name of the first result, unique in the module;
 *  - every result of main is an output of a call, or a view of one, and no two share it: a result
 *    that is a parameter, a constant or another result is the output of a `copy` region;
 *  - calls of regions with another compiler, which were there before, stay as they are.
 *
 * A function with a compiler is finished: the passes work on main only. So the pipeline may run
 * again over a module that has passed it, and changes nothing. */

/* Which nodes of main fuse_ops would put into one region, if it ran now: by node->id (functions are
 * numbered), one pointer per region, NULL for views. Memory of ctx->scratch. */
const void **fuse_ops_groups(struct module *module);

/* Passes, in alphabetical order. */
bool pass_canonicalize(struct module *module);
bool pass_common_subexpr(struct module *module);
bool pass_convert_layout(struct module *module);
bool pass_dead_code(struct module *module);
bool pass_fake_quant_to_exact(struct module *module); /* of quantize.h's `exact` only */
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
