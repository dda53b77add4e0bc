/* relayc.h - the compiler relayc as a library: from a trained network to C files.
 *
 *     relayc_context *relayc = relayc_new();
 *
 *     relayc_set(relayc, "output-dir", "gen");
 *     relayc_set(relayc, "precision", "fp8");
 *     if (relayc_compile(relayc, "kws.onnx") != RELAYC_OK)
 *         for (const relayc_diagnostic *d = relayc_next_diagnostic(relayc, NULL); d;
 *              d = relayc_next_diagnostic(relayc, d))
 *             fprintf(stderr, "%s\n", relayc_diagnostic_message(d));
 *     relayc_free(relayc);
 *
 * C99 and C++11. Options are those of `relayc compile` (`relayc compile --help`, relayc_option_at),
 * by name, so that a new option needs no new function.
 *
 * Ownership. A context owns all that its functions return. Texts and diagnostics are valid until
 * the next call with the same context that is not one of the relayc_next_, relayc_diagnostic_,
 * relayc_file and relayc_number functions. What is given to a function is copied.
 *
 * Errors. Functions that can fail return a relayc_status and leave diagnostics, warnings among
 * them; the next call begins anew. After an error a context can be used as before, and no file has
 * changed: the files of a compilation appear all together or not at all.
 *
 * Memory. When memory runs out, the call returns RELAYC_NO_MEMORY, with everything that it had
 * acquired released: memory, files, mappings, descriptors. Inside, the allocation that fails jumps
 * back to the call (longjmp), over relayc's own frames only: a log function must not leave by
 * longjmp or by a C++ exception. One thing is beyond that: with the option "data", oneDNN runs the
 * network, and ends the process where an allocation of its own fails; a table of `relayc calibrate`
 * (the option "calib") does without. And cJSON, where the process has it, allocates through
 * relayc's hooks once a context was made; they behave like malloc and free to everybody else.
 *
 * Threads. Contexts are independent of each other: each may be used by one thread at a time,
 * different ones by different threads at the same time. There is no state outside of contexts that
 * a caller could see; no signal handler is installed, and nothing is printed. */
#ifndef RELAYC_RELAYC_H
#define RELAYC_RELAYC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RELAYC_VERSION_MAJOR 0
#define RELAYC_VERSION_MINOR 1
#define RELAYC_VERSION_PATCH 0
#define RELAYC_VERSION "0.1.0"

/* Of the library that runs, which may be newer than this header: "0.1.0", and as one number, 100
 * (10000 * major + 100 * minor + patch). */
const char *relayc_version(void);
int relayc_version_number(void);

/* What came of a call. But for RELAYC_NO_MEMORY these are the exit codes of the program. */
typedef enum relayc_status {
    RELAYC_OK = 0,
    RELAYC_FAILED = 1, /* the model cannot be compiled, or does not fit */
    RELAYC_USAGE = 2,  /* an option, or its value, is wrong */
    RELAYC_IO = 3,     /* a file cannot be read or written */
    RELAYC_NO_MEMORY = 4,
    RELAYC_BUG = 70 /* of relayc */
} relayc_status;

/* --- contexts --------------------------------------------------------------------------------- */

typedef struct relayc_context relayc_context;

relayc_context *relayc_new(void); /* NULL: no memory */
void relayc_free(relayc_context *context);

/* --- options ---------------------------------------------------------------------------------- */

/* Gives an option of `relayc compile`, by its name without dashes, for all compilations to come. An
 * option without a value takes NULL or "". One that may be given several times, such as "shape", is
 * given once more; of others the last value counts. The value itself is judged by relayc_compile.
 */
relayc_status relayc_set(relayc_context *context, const char *name, const char *value);

/* Takes back all that was set of an option; of all options where name is NULL. */
relayc_status relayc_unset(relayc_context *context, const char *name);

typedef struct relayc_option {
    size_t size; /* sizeof(relayc_option), set by the caller: a newer library fills no more than
                    that */
    const char *name;     /* "precision" */
    const char *argument; /* "TYPE"; NULL: it takes no value */
    const char *help;
} relayc_option;

/* The options that relayc_set takes, by number from 0, in the order of --help. 0: there are no
 * more. Needs no context; the texts live as long as the library. */
int relayc_option_at(size_t index, relayc_option *out);

/* --- compiling -------------------------------------------------------------------------------- */

/* Compiles the model (a path; "-" is standard input) as the options say, and writes the files. */
relayc_status relayc_compile(relayc_context *context, const char *model);

/* The files that were written, in order; NULL: there are no more. */
const char *relayc_file(const relayc_context *context, size_t index);

/* A number of the compilation, by its name in `relayc compile --json`: arena_bytes, weight_bytes,
 * regions, onnx_nodes, macs. 0: there is none of that name, or no compilation; *out is 0 then. */
int relayc_number(const relayc_context *context, const char *name, unsigned long long *out);

/* --- diagnostics ------------------------------------------------------------------------------ */

typedef struct relayc_diagnostic relayc_diagnostic;

typedef enum relayc_severity { RELAYC_ERROR, RELAYC_WARNING } relayc_severity;

/* Those of the last call, in order: the first one for NULL; NULL: there are no more. */
const relayc_diagnostic *relayc_next_diagnostic(const relayc_context *context,
                                                const relayc_diagnostic *previous);

int relayc_diagnostic_code(const relayc_diagnostic *diagnostic); /* 301 of R0301 */
relayc_severity relayc_diagnostic_severity(const relayc_diagnostic *diagnostic);

/* Texts of one line or several, printable; NULL where there is none. */
const char *relayc_diagnostic_message(const relayc_diagnostic *diagnostic); /* never NULL */
const char *relayc_diagnostic_note(const relayc_diagnostic *diagnostic);
const char *relayc_diagnostic_help(const relayc_diagnostic *diagnostic);
const char *relayc_diagnostic_file(const relayc_diagnostic *diagnostic);
const char *relayc_diagnostic_node(const relayc_diagnostic *diagnostic); /* its name in the model */
const char *relayc_diagnostic_operator(const relayc_diagnostic *diagnostic); /* its ONNX operator */
long relayc_diagnostic_node_index(const relayc_diagnostic *diagnostic);      /* -1: none */

/* What a code means, as `relayc explain` tells; NULL: there is no such code. */
const char *relayc_explain(int code);

/* --- log -------------------------------------------------------------------------------------- */

typedef enum relayc_log_kind {
    RELAYC_LOG_NOTE, /* worth knowing, such as a target that took nothing */
    RELAYC_LOG_TEXT, /* what dump-after, time-passes, stats and check-passes print: lines, long ones
                        in pieces */
    RELAYC_LOG_WORK  /* what a longer work is at: "ways to make it fit 2/7" */
} relayc_log_kind;

/* The function gets what is no diagnostic, while relayc_compile runs, in its thread. It must
 * return, and must not call a function with the same context. NULL: nobody listens, as at first. */
typedef void relayc_log_function(void *user, relayc_log_kind kind, const char *text);
void relayc_set_log(relayc_context *context, relayc_log_function *function, void *user);

#ifdef __cplusplus
}
#endif

#endif
