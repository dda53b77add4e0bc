/* plugin_call.h - one call of a plug-in's function: what it is shown, and what it may do. */
#ifndef PARTITION_PLUGIN_CALL_H
#define PARTITION_PLUGIN_CALL_H

#include "partition/target.h"
#include "relay_ir/json/print.h"
#include "runtime/abi/relayc_plugin.h"

struct plugin_call {
    struct relayc_call call; /* its `host` is this struct */
    struct arena *arena;
    int n_parts; /* the functions of call.graph */
    struct json_part *parts;
    struct lowering *lowering;  /* lower, assemble; NULL: add_* are mistakes of the plug-in */
    const char *found, *wanted; /* of the first `refuse`; NULL = there was none */
    const char *failure;        /* of the first `fail`, or what was wrong with add_*; NULL */
    uint8_t *stream;
    size_t n_stream, stream_capacity;
};

/* About a match of the row: a composite function that partition has made, or nodes of main. */
struct plugin_call *plugin_call_match(struct arena *arena, const struct composite_row *row,
                                      const struct match *match);

/* About a region. NULL after an INTERNAL error. */
struct plugin_call *plugin_call_region(struct lowering *lowering, const struct target *target,
                                       const struct region_view *region);

#endif
