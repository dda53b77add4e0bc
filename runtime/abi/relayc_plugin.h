/* relayc_plugin.h - what a shared object says to relayc, to take parts of a graph for a target that
 * is not part of relayc. C99, or C++; nothing else is needed. docs/guide/plugin.md has an example.
 *
 * The shared object exports one function, relayc_plugin_get. relayc asks it for a version of this
 * interface and gets a table of functions; each of them may be missing (NULL).
 *
 * Rules
 *  - One call at a time, from one thread. A plug-in may serve several targets.
 *  - What relayc hands over (graph, names, payloads) is read-only and lives until the function
 *    returns. What a plug-in hands over with refuse, fail and add_* is copied before these return.
 *    Nobody frees what the other one made.
 *  - The table and its name live as long as the process. A shared object is never unloaded.
 *  - A function of the plug-in returns normally: no exit, no longjmp, no C++ exception.
 *  - The same graph must get the same answer, always: what relayc writes is reproducible.
 *  - Texts end with a zero byte and are UTF-8. */
#ifndef RELAYC_PLUGIN_H
#define RELAYC_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RELAYC_PLUGIN_VERSION 1

enum { RELAYC_MAX_RANK = 8 };

/* Constant numbers: row-major, without gaps, little-endian, aligned to their elements. */
struct relayc_tensor {
    const char *dtype; /* "f32", "i8", "f8e4m3", ...: docs/design/ir.md lists them */
    int32_t rank;      /* 0 = a scalar */
    int64_t dim[RELAYC_MAX_RANK];
    const void *data;
    size_t bytes;
};

/* assemble: where a value of the region lies while it runs. */
enum relayc_place_kind {
    RELAYC_INPUT,   /* the index-th argument of the region */
    RELAYC_OUTPUT,  /* the index-th result */
    RELAYC_SCRATCH, /* the region's working memory, at `offset` (a multiple of 16) */
    RELAYC_CONSTANT /* the payload, see `constant` */
};

struct relayc_place {
    const char *value; /* its name in the first function of the graph */
    enum relayc_place_kind kind;
    int32_t index;
    size_t offset, bytes;
};

/* What a function of the plug-in is asked about, and what it may do. */
struct relayc_call {
    uint32_t version;      /* RELAYC_PLUGIN_VERSION of the relayc that calls */
    const char *target;    /* "mynpu" */
    const char *composite; /* "mynpu.conv2d_act"; assemble: "" */

    /* JSON text, {"functions": [...]}; docs/guide/graph-json.md describes the functions. The first
     * one is the composite or the region, the others are those that it calls. A composite has the
     * key "captures" besides: what the names of the pattern are, {"w": "conv1.weight"}. Constants
     * of more than 16 elements are without their numbers: `constant` gives them. */
    const char *graph;

    const struct relayc_place *places; /* assemble: of all values of the region; else NULL */
    size_t n_places;
    size_t scratch_bytes;       /* assemble: what RELAYC_SCRATCH places and call_scratch take up */
    const size_t *call_scratch; /* assemble: per node of the first function, where in the working
                                 * memory a composite has the bytes of its row's "scratch" */
    size_t n_call_scratch;

    /* The payload of a constant, by its name in `graph`; function NULL = the first one. 1, or 0 if
     * there is no such constant (then *tensor is unchanged). */
    int (*constant)(const struct relayc_call *call, const char *function, const char *name,
                    struct relayc_tensor *tensor);

    /* The value that a name of the pattern stands for; of an operator: its output. data is NULL
     * where it is no constant. 1, or 0 if the function has no such capture. */
    int (*capture)(const struct relayc_call *call, const char *function, const char *capture,
                   struct relayc_tensor *tensor);

    /* Say why not, and return 0, so that one may write: return call->refuse(call, "k is 11", "k <=
     * 7"). refuse: the graph is fine, but not for this target. fail: something went wrong. */
    int (*refuse)(const struct relayc_call *call, const char *found, const char *wanted);
    int (*fail)(const struct relayc_call *call, const char *message);

    /* lower: ${key} of the composite's template becomes this text, this number, or the C expression
     * of a constant array with these numbers. A key consists of letters, digits, '_' and '.'.
     * layout is for the comment at the array, NULL = none. add_array returns 0 when the tensor
     * makes no sense; that fails the call. */
    void (*add_text)(const struct relayc_call *call, const char *key, const char *text);
    void (*add_int)(const struct relayc_call *call, const char *key, int64_t number);
    int (*add_array)(const struct relayc_call *call, const char *key,
                     const struct relayc_tensor *tensor, const char *layout);

    /* lower, assemble: adds bytes of working memory to what relayc counts itself. */
    void (*add_scratch)(const struct relayc_call *call, size_t bytes);

    /* assemble: the stream goes on with these bytes. */
    void (*add_stream)(const struct relayc_call *call, const void *bytes, size_t n);

    void *host; /* relayc's */
};

/* What a plug-in can do. Where a function is missing, target.json says all there is to say. */
struct relayc_plugin {
    uint32_t version; /* RELAYC_PLUGIN_VERSION */
    const char *name; /* for messages: "mynpu plug-in 2.1" */

    /* Whether the target takes this match of one of its rows, whose conditions hold: 1, or 0 behind
     * refuse. Asked often, for graphs that are not taken in the end: no side effects. */
    int (*check)(const struct relayc_call *call);

    /* Estimated nanoseconds of a composite without hand-over; negative = as target.json says. */
    double (*cost_ns)(const struct relayc_call *call);

    /* Adds keys for a composite's template. 1, or 0 behind fail or refuse, which end the
     * compilation. */
    int (*lower)(const struct relayc_call *call);

    /* Format "stream": the whole region as bytes. Results as for lower. */
    int (*assemble)(const struct relayc_call *call);
};

/* The one function that a plug-in exports. NULL = it does not know this version. */
const struct relayc_plugin *relayc_plugin_get(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
