/* temp_dir.h - a folder of its own for a test, in $TMPDIR, removed with everything in it. Failure
 * to create it ends the test program. A failing test leaves its folder for inspection; tests/run
 * gives each program its own $TMPDIR and removes it. */
#ifndef TESTS_SUPPORT_TEMP_DIR_H
#define TESTS_SUPPORT_TEMP_DIR_H

#include <stddef.h>

#include "base/arena.h"

struct temp_dir {
    struct arena arena;
    const char *path;
};

struct temp_dir temp_dir_new(void);
void temp_dir_free(struct temp_dir *dir);

/* The path of `name` in the folder. */
const char *temp_path(struct temp_dir *dir, const char *name);

/* Writes a file and returns its path. */
const char *temp_file(struct temp_dir *dir, const char *name, const void *bytes, size_t n);

#endif
