/* context.h - state of the public API (include/relayc/relayc.h).
 *
 * Each call that can fail runs in a memory_guard with its own ctx, which lives until the next call.
 * The options outlive calls and do not belong to the memory owner: a failed call does not lose
 * them. */
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

/* One call, in memory of its ctx. */
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
    struct setting *settings; /* in the order given */
    relayc_log_function *log;
    void *log_user;
    struct call *call;                  /* last call; NULL = none yet, or out of memory */
    struct relayc_diagnostic no_memory; /* diagnostic for out of memory */
    const struct relayc_diagnostic *first;
    const char *name, *text; /* arguments of the current call */
    relayc_status status;
};

/* Drops the last call's diagnostics and runs a call's body inside a guard. The body starts with
 * context_begin and ends with context_end. */
relayc_status context_call(relayc_context *context, void (*body)(void *context));
void context_begin(relayc_context *context); /* makes context->call */
void context_end(relayc_context *context);   /* stores diagnostics and status */

/* options.c: drops the settings of an option; OPTION_COUNT: all. */
void context_drop(relayc_context *context, enum option_id option);

/* log.c: events of a compilation, and a text stream for --dump-after and others. */
struct driver_events log_events(relayc_context *context);
FILE *log_open(relayc_context *context);
void log_close(FILE *stream); /* NULL is fine */

#endif
