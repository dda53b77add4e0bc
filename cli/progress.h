/* progress.h - progress line on a terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct cli;

struct progress {
    bool shown; /* stderr is a terminal */
    bool begun;
    double start, last; /* seconds */
};

struct progress progress_begin(const struct cli *cli);

/* "[####    ] 3/23 calibrating, 4 s, ETA 20 s", once the work has taken a second. done > 0. */
void progress_show(struct progress *progress, const char *what, int64_t done, int64_t n);

/* Erases the line. */
void progress_end(struct progress *progress);

#endif
