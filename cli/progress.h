/* progress.h - what a long step shows on a terminal: one line, rewritten, from its second second on. Nothing elsewhere,
 * with --quiet or with --json. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the thread that shows how long a step of unknown length takes. */
void progress_start(bool shown);

/* Ends the thread and erases the line. */
void progress_stop(void);

/* A step of unknown length begins; `what` is a literal. */
void progress_step(const char *what);

/* Of n parts `done` are there; done = 0 begins, n = 0 ends. */
void progress_count(const char *what, int64_t done, int64_t n);

/* Erases the line, before anything else is printed. */
void progress_clear(void);

#endif
