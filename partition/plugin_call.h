/* plugin_call.h - context of one call into a plug-in. */
#ifndef PARTITION_PLUGIN_CALL_H
#define PARTITION_PLUGIN_CALL_H

#include "partition/target.h"
#include "relay_ir/json/print.h"
#include "runtime/abi/relayc_plugin.h"

struct plugin_call {
    struct relayc_call call; /* its `host` is this struct */
    struct arena *arena;
    int n_parts; /* number of functions in call.graph */
    struct json_part *parts;
    struct lowering *lowering;  /* lower, assemble; NULL: add_* is an error */
    const char *found, *wanted; /* from the first `refuse`; NULL = none */
    const char *failure;        /* from the first `fail` or invalid add_*; NULL = none */
    uint8_t *stream;
    size_t n_stream, stream_capacity;
};

/* For a match of the row: an outlined composite function, or nodes of main. */
struct plugin_call *plugin_call_match(struct arena *arena, const struct composite_row *row,
                                      const struct match *match);

/* For a region. NULL after an INTERNAL error. */
struct plugin_call *plugin_call_region(struct lowering *lowering, const struct target *target,
                                       const struct region_view *region);

#endif
