/* temporary.h - temporary files and folders, removed at the end of the run.
 *
 * Each has a recognisable name and is locked (flock) while its process lives. It is renamed or
 * removed by its owner, removed on a signal or out of memory (base/interrupt.h), or, after SIGKILL
 * or a power cut, removed by the next run that writes to the folder and finds it unlocked. */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include <stdbool.h>

#include "base/ctx.h"

enum { TEMPORARY_NAME_BYTES = 33 }; /* with the final NUL */

/* A new name, "relayc-" and 25 digits of which the last eight are a checksum. */
void temporary_name(char name[TEMPORARY_NAME_BYTES]);
bool temporary_is_name(const char *name);

/* Makes a locked file next to `path`, open for writing; -1 with errno. *out is its path, whose
 * address identifies it in other functions. */
int temporary_open(struct arena *arena, const char *path, const char **out);

/* Makes a folder in `parent`. NULL with errno. */
const char *temporary_folder(struct arena *arena, const char *parent);

/* Makes a folder in $TMPDIR or /tmp, after removing leftovers of dead processes (once). NULL after
 * an error. */
const char *temporary_work_folder(struct ctx *ctx);

/* Makes the folder `path`, which is removed if the run fails while it is empty. 0, or errno (EEXIST
 * if it exists). *out is NULL unless it was made. */
int temporary_make_folder(struct arena *arena, const char *path, const char **out);

/* Stops tracking a path that was renamed or stays. NULL is fine. */
void temporary_forget(const char *path);

/* Removes a file, or a folder with its content; a folder of temporary_make_folder only if empty. */
void temporary_remove(const char *path);

/* Removes all temporary files. Async-signal-safe. */
void temporary_remove_all(void);

/* Removes leftovers of this user's dead processes from the folder. */
void temporary_sweep(const char *folder);

/* The folder of a path, "." if it names none. */
const char *folder_of(struct arena *arena, const char *path);

#endif
