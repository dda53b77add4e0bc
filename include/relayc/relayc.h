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
 * by name: a new option needs no new function.
 *
 * Ownership. A context owns all that its functions return. Texts and diagnostics stay valid until
 * the next call on that context, other than relayc_next_*, relayc_diagnostic_*, relayc_file and
 * relayc_number. Arguments are copied.
 *
 * Errors. Functions that can fail return a relayc_status and record diagnostics (errors and
 * warnings); the next call clears them. A context stays usable after an error. Output files are
 * written all together or not at all.
 *
 * Memory. When memory runs out, the call returns RELAYC_NO_MEMORY and releases all that it
 * acquired: memory, files, mappings, descriptors. Internally the failed allocation unwinds to the
 * call by longjmp, over relayc's own frames only; a log function must not exit by longjmp or a C++
 * exception. Two limits: with the option "data", oneDNN runs the network; it and OpenMP's runtime
 * end the process if one of their own allocations fails (a table of `relayc calibrate`, the option
 * "calib", avoids it). And relayc installs allocation hooks in cJSON when the first context is made;
 * other users of cJSON in the process see plain malloc and free.
 *
 * Threads. Contexts are independent: one thread at a time may use a context, different threads may
 * use different contexts at once. relayc has no other visible state, installs no signal handler and
 * prints nothing. */
#ifndef RELAYC_RELAYC_H
#define RELAYC_RELAYC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RELAYC_VERSION_MAJOR 0
#define RELAYC_VERSION_MINOR 2
#define RELAYC_VERSION_PATCH 0
#define RELAYC_VERSION "0.2.0"

/* Version of the library in use, which may be newer than this header: as text, "0.2.0", and as a
 * number, 10000 * major + 100 * minor + patch (200). */
const char *relayc_version(void);
int relayc_version_number(void);

/* Result of a call. All but RELAYC_NO_MEMORY are the exit codes of the program `relayc`. */
typedef enum relayc_status {
    RELAYC_OK = 0,
    RELAYC_FAILED = 1, /* the model cannot be compiled, or exceeds a budget */
    RELAYC_USAGE = 2,  /* wrong option or value */
    RELAYC_IO = 3,     /* a file cannot be read or written */
    RELAYC_NO_MEMORY = 4,
    RELAYC_BUG = 70 /* a bug in relayc */
} relayc_status;

/* --- contexts --------------------------------------------------------------------------------- */

typedef struct relayc_context relayc_context;

relayc_context *relayc_new(void); /* NULL: out of memory */
void relayc_free(relayc_context *context);

/* --- options ---------------------------------------------------------------------------------- */

/* Sets an option of `relayc compile` for all later compilations. `name` has no dashes; an option
 * without an argument takes NULL or "". Repeated calls accumulate for options that may be repeated,
 * such as "shape"; for others the last value counts. relayc_compile checks the values. */
relayc_status relayc_set(relayc_context *context, const char *name, const char *value);

/* Restores an option to its default; all options if name is NULL. */
relayc_status relayc_unset(relayc_context *context, const char *name);

typedef struct relayc_option {
    size_t size;      /* set by the caller to sizeof(relayc_option); no more than that is filled */
    const char *name; /* "precision" */
    const char *argument; /* "TYPE"; NULL: takes no value */
    const char *help;
} relayc_option;

/* Option number `index` of those that relayc_set takes, in the order of --help. Returns 0 past the
 * last one. Needs no context; the texts live as long as the library. */
int relayc_option_at(size_t index, relayc_option *out);

/* --- compiling -------------------------------------------------------------------------------- */

/* Compiles the model at the path `model` ("-": standard input) and writes the output files. */
relayc_status relayc_compile(relayc_context *context, const char *model);

/* Path of the index-th file written, NULL past the last one. */
const char *relayc_file(const relayc_context *context, size_t index);

/* A figure of the last compilation by its name in `relayc compile --json`: arena_bytes,
 * weight_bytes, regions, onnx_nodes, macs. Returns 0, and sets *out to 0, if the name is unknown or
 * nothing was compiled. */
int relayc_number(const relayc_context *context, const char *name, unsigned long long *out);

/* --- diagnostics ------------------------------------------------------------------------------ */

typedef struct relayc_diagnostic relayc_diagnostic;

typedef enum relayc_severity { RELAYC_ERROR, RELAYC_WARNING } relayc_severity;

/* Iterates over the diagnostics of the last call, in order: pass NULL for the first one; NULL
 * ends. */
const relayc_diagnostic *relayc_next_diagnostic(const relayc_context *context,
                                                const relayc_diagnostic *previous);

int relayc_diagnostic_code(const relayc_diagnostic *diagnostic); /* 301 of R0301 */
relayc_severity relayc_diagnostic_severity(const relayc_diagnostic *diagnostic);

/* Printable text, possibly of several lines; NULL: none. */
const char *relayc_diagnostic_message(const relayc_diagnostic *diagnostic); /* never NULL */
const char *relayc_diagnostic_note(const relayc_diagnostic *diagnostic);
const char *relayc_diagnostic_help(const relayc_diagnostic *diagnostic);
const char *relayc_diagnostic_file(const relayc_diagnostic *diagnostic);
const char *relayc_diagnostic_node(const relayc_diagnostic *diagnostic);     /* name in the model */
const char *relayc_diagnostic_operator(const relayc_diagnostic *diagnostic); /* ONNX operator */
long relayc_diagnostic_node_index(const relayc_diagnostic *diagnostic);      /* -1: none */

/* Explanation of a code, as printed by `relayc explain`; NULL: unknown code. */
const char *relayc_explain(int code);

/* --- log -------------------------------------------------------------------------------------- */

typedef enum relayc_log_kind {
    RELAYC_LOG_NOTE, /* an information, such as a backend that took no node */
    RELAYC_LOG_TEXT, /* output of dump-after, time-passes, stats and check-passes, in whole lines or
                        pieces of them */
    RELAYC_LOG_WORK  /* progress of a longer task: "ways to make it fit 2/7" */
} relayc_log_kind;

/* Receives everything but diagnostics, in the thread of relayc_compile and while it runs. It must
 * return, and must not call a function with this context. NULL (the default): no log. */
typedef void relayc_log_function(void *user, relayc_log_kind kind, const char *text);
void relayc_set_log(relayc_context *context, relayc_log_function *function, void *user);

#ifdef __cplusplus
}
#endif

#endif
