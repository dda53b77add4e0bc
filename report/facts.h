/* facts.h - what NAME.json says of a compilation (docs/guide/files.md), as structs.
 *
 * Files of older versions of relayc lack some members: texts are NULL then, numbers 0, unless a
 * comment says otherwise. All texts are escaped already (str_safe), and live in ctx->perm. */
#ifndef REPORT_FACTS_H
#define REPORT_FACTS_H

#include "base/ctx.h"

struct fact_value {
    const char *name, *dtype;
    const char *shape; /* "1x25x5x64" */
    int n_wholes;
    const char **wholes; /* values that it is stored within, the inner first */
    double elements;
    double bytes; /* 0 = unknown, of formats narrower than a byte */
};

/* An ONNX node. */
struct fact_node {
    const char *name, *op_type, *output;
    const char *key; /* the name, or OP_TYPE:OUTPUT where it has none */
};

/* How numbers are distributed: bins of equal width from min to max. */
struct fact_spread {
    double min, max, mean, std; /* NaN = unknown */
    int n_bins;                 /* 0 = unknown */
    double *bins;
};

struct fact_region {
    const char *function, *kernel, *signature;
    const char *compiler; /* the backend that runs it; NULL = generated C */
    const char *data;     /* element type of what it reads: "f32", "i8" */
    const char *weights;  /* element type of its weights; NULL = it has none */
    int n_nodes;
    struct fact_node *nodes;
    int n_inputs, n_results;
    struct fact_value *inputs, *results;
    int n_sources;
    int *sources;       /* regions that write what it reads, each once */
    const char *output; /* shape of the first result */
    double macs, weight_bytes, scratch_bytes;
    double arena_bytes;  /* in use while it runs, from the map of the arena */
    double seconds;      /* measured (--latency-log); 0 = unknown */
    double cycles;       /* estimated, of the target (estimate.c); 0 = none */
    double estimate;     /* seconds, by a backend's cost model or from cycles; 0 = none */
    double sqnr, cosine; /* of its result against f32 (--compare); NaN = unknown */
    struct fact_spread values, quantised, noise; /* of its result (--compare) */
};

/* A constant array of the generated C. */
struct fact_weight {
    const char *symbol, *name, *dtype, *shape, *crc32;
    const char *layout; /* "" = row-major; NULL = unknown */
    double elements, bytes;
    double least, greatest, mean, deviation; /* NaN = unknown */
    int region;                              /* the first that reads it; -1 = unknown */
};

/* A block of the arena, alive from the region that writes it to the last that reads it. */
struct fact_block {
    double offset, bytes;
    int written, last_read;
    const char *what; /* its values, or whose scratch it is */
    bool is_scratch;
};

struct fact_file {
    const char *name, *crc32;
    double bytes;
};

/* Sections of the compiled code, with compile --cc. */
struct fact_measured {
    const char *compiler; /* NULL = not measured */
    double text, rodata, data, bss;
    double stack; /* negative = unknown */
};

struct facts {
    const char *path;   /* of NAME.json, as given */
    const char *folder; /* that has it, and the C files */
    const char *name, *relayc, *options, *target;
    const char *model_file, *model_sha256;
    double onnx_nodes, macs, weight_bytes;
    double arena_bytes, arena_lower_bound; /* no offsets in this order of the regions need less */
    double arena_order_bound;              /* no order of the regions needs less */
    double arena_without_sharing;
    bool arena_is_optimal;
    double io_bytes; /* of inputs and outputs, which are the caller's; 0 with --io-in-arena */
    struct fact_measured measured;
    int n_inputs, n_outputs, n_regions, n_weights, n_blocks, n_files;
    struct fact_value *inputs, *outputs;
    struct fact_region *regions; /* in execution order */
    struct fact_weight *weights;
    struct fact_block *blocks;
    struct fact_file *files;
};

/* Whether the text is a NAME.json: an object with "schema": "relayc-model". */
bool facts_are_in(const char *text);

/* Reads a NAME.json, or its text, which messages call `path`. NULL after errors. */
struct facts *facts_read(struct ctx *ctx, const char *path);
struct facts *facts_parse(struct ctx *ctx, const char *path, const char *text);

/* sources.c: fills the sources of all regions. */
void find_sources(struct ctx *ctx, struct facts *facts);

/* The path of the only NAME.json of a folder. NULL after an error. */
const char *facts_find(struct ctx *ctx, const char *folder);

/* Flash: weights, or what the compiler made of all files where that was measured. */
double facts_flash(const struct facts *facts);

/* RAM: the arena and, where they were measured, data, bss and the stack; not the inputs and outputs,
 * which are the caller's. */
double facts_ram(const struct facts *facts);

/* "conv1 + relu1", at most `limit` nodes by name; "-" for none. */
const char *region_label(struct arena *arena, const struct fact_region *region, int limit);

/* "Conv", or "Conv+Relu": the operators of its nodes, each once. */
const char *region_operators(struct arena *arena, const struct fact_region *region);

/* "i8", or "f8e4m3 weights, f32 data": one word where both are the same; "-" if unknown. */
const char *region_precision(struct arena *arena, const struct fact_region *region);

#endif
