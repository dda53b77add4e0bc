/* relayc_plugin.h - interface of a plug-in: a shared object with the hooks of a backend that is not
 * built into relayc. C99 or C++, no dependencies. docs/guide/plugin.md has an example.
 *
 * The shared object exports one function, relayc_plugin_get. relayc calls it with a version of this
 * interface and gets a table of functions, each of which may be NULL.
 *
 * Rules
 *  - One call at a time, from one thread. A plug-in may serve several backends.
 *  - Data from relayc (graph, names, payloads) is read-only and valid until the function returns.
 *    Arguments of refuse, fail and add_* are copied. Neither side frees memory of the other.
 *  - The table and its name live as long as the process. A shared object is never unloaded.
 *  - A function of the plug-in returns normally: no exit, no longjmp, no C++ exception.
 *  - Answers depend on the graph only: output of relayc is reproducible.
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

/* Constant data: row-major, dense, little-endian, aligned to its elements. */
struct relayc_tensor {
    const char *dtype; /* "f32", "i8", "f8e4m3", ...: docs/design/ir.md lists them */
    int32_t rank;      /* 0 = a scalar */
    int64_t dim[RELAYC_MAX_RANK];
    const void *data;
    size_t bytes;
};

/* assemble: location of a value of the region at run time. */
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

/* Subject of a call into the plug-in, and the functions that it may use. */
struct relayc_call {
    uint32_t version;      /* RELAYC_PLUGIN_VERSION of the relayc that calls */
    const char *target;    /* "mynpu" */
    const char *composite; /* "mynpu.conv2d_act"; assemble: "" */

    /* JSON text, {"functions": [...]}; docs/guide/graph-json.md describes the functions. The first
     * one is the composite or the region, the others are those that it calls. A composite also has
     * the key "captures": the values of the pattern's names, {"w": "conv1.weight"}. Constants of
     * more than 16 elements have no values here: `constant` returns them. */
    const char *graph;

    const struct relayc_place *places; /* assemble: of all values of the region; else NULL */
    size_t n_places;
    size_t scratch_bytes;       /* assemble: size of the working memory, call_scratch included */
    const size_t *call_scratch; /* assemble: per node of the first function, offset in the working
                                   memory of the bytes for its row's "scratch" */
    size_t n_call_scratch;

    /* The payload of a constant, by its name in `graph`; function NULL = the first one. 1, or 0 if
     * there is no such constant (then *tensor is unchanged). */
    int (*constant)(const struct relayc_call *call, const char *function, const char *name,
                    struct relayc_tensor *tensor);

    /* The value of a capture; of an operator, its output. data is NULL unless it is a constant. 1,
     * or 0 if the function has no such capture. */
    int (*capture)(const struct relayc_call *call, const char *function, const char *capture,
                   struct relayc_tensor *tensor);

    /* Report a reason and return 0: return call->refuse(call, "k is 11", "k <= 7"). refuse: the
     * backend does not support the graph. fail: an error. */
    int (*refuse)(const struct relayc_call *call, const char *found, const char *wanted);
    int (*fail)(const struct relayc_call *call, const char *message);

    /* lower: ${key} of the composite's template expands to this text, this number, or the C
     * expression of a constant array with this data. A key consists of letters, digits, '_' and
     * '.'. layout is for the comment at the array, NULL = none. add_array returns 0 for an invalid
     * tensor; that fails the call. */
    void (*add_text)(const struct relayc_call *call, const char *key, const char *text);
    void (*add_int)(const struct relayc_call *call, const char *key, int64_t number);
    int (*add_array)(const struct relayc_call *call, const char *key,
                     const struct relayc_tensor *tensor, const char *layout);

    /* lower, assemble: adds bytes of working memory to what relayc counts itself. */
    void (*add_scratch)(const struct relayc_call *call, size_t bytes);

    /* assemble: appends bytes to the stream. */
    void (*add_stream)(const struct relayc_call *call, const void *bytes, size_t n);

    void *host; /* private to relayc */
};

/* Functions of a plug-in. A NULL function leaves the matter to target.json. */
struct relayc_plugin {
    uint32_t version; /* RELAYC_PLUGIN_VERSION */
    const char *name; /* for messages: "mynpu plug-in 2.1" */

    /* Does the backend accept this match of a row whose conditions hold? 1, or 0 after refuse.
     * Called often, also for graphs that are not taken in the end: no side effects. */
    int (*check)(const struct relayc_call *call);

    /* Estimated nanoseconds of a composite without hand-over; negative = by target.json. */
    double (*cost_ns)(const struct relayc_call *call);

    /* Adds keys for a composite's template. 1, or 0 after fail or refuse, which end the
     * compilation. */
    int (*lower)(const struct relayc_call *call);

    /* Format "stream": encodes the region as bytes. Results as for lower. */
    int (*assemble)(const struct relayc_call *call);
};

/* The function that a plug-in exports. NULL = unknown version. */
const struct relayc_plugin *relayc_plugin_get(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
