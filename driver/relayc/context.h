/* context.h - what the parts of the public face (include/relayc/relayc.h) share.
 *
 * Each call that can fail works in a memory_guard with a ctx of its own, which lives until the next
 * one. What outlives calls, the options, is not the owner's: a failed call takes nothing of it. */
#ifndef DRIVER_RELAYC_CONTEXT_H
#define DRIVER_RELAYC_CONTEXT_H

#include "driver/driver.h"
#include "include/relayc/relayc.h"

struct relayc_diagnostic {
    int code;
    relayc_severity severity;
    const char *file, *node, *operator_name, *message, *note, *help;
    long node_index;
    const struct relayc_diagnostic *next;
};

struct setting {
    struct setting *next;
    enum option_id option;
    char value[];
};

/* One call, in the memory of its ctx. */
struct call {
    struct ctx *ctx;
    struct driver_state driver;
    struct driver_events events;
    struct output_set outputs;
    bool is_compiled;
    size_t n_files;
    const char **files;
};

struct relayc_context {
    struct memory_owner *owner;
    struct setting *settings; /* in the order in which they were given */
    relayc_log_function *log;
    void *log_user;
    struct call *call;                  /* the last one; NULL = none yet, or memory ran out in it */
    struct relayc_diagnostic no_memory; /* … then this is what it says */
    const struct relayc_diagnostic *first;
    const char *name, *text; /* what the call at work was given */
    relayc_status status;
};

/* Runs a call's body with the context, inside a guard; the last call's diagnostics are gone then.
 * The body begins with context_begin and ends with context_end. */
relayc_status context_call(relayc_context *context, void (*body)(void *context));
void context_begin(relayc_context *context); /* makes context->call */
void context_end(relayc_context *context);   /* keeps its diagnostics, and the status */

/* options.c: forgets what was set; OPTION_COUNT: all. */
void context_drop(relayc_context *context, enum option_id option);

/* log.c: the events of a compilation, and a stream of text for --dump-after and the like. */
struct driver_events log_events(relayc_context *context);
FILE *log_open(relayc_context *context);
void log_close(FILE *stream); /* NULL is fine */

#endif
