/* temporary.h - files and folders that must not outlive the run that made them.
 *
 * Each has a name that only relayc makes and is locked (flock) while its process lives. So it goes
 * away in one of three ways: its owner renames or removes it, a signal or the end of memory removes
 * it (base/interrupt.h), or, after SIGKILL or a power cut, the next run that writes to the same
 * folder finds it unlocked and removes it. */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include <stdbool.h>

#include "base/ctx.h"

enum { TEMPORARY_NAME_BYTES = 33 }; /* with its end */

/* A new name, "relayc-" and 25 digits of which the last eight are a checksum. */
void temporary_name(char name[TEMPORARY_NAME_BYTES]);
bool temporary_is_name(const char *name);

/* A new file beside the file `path`, open for writing and locked; -1 with errno. *out is its path,
 * by whose address the other functions know it. */
int temporary_open(struct arena *arena, const char *path, const char **out);

/* A new folder in `parent`. NULL with errno. */
const char *temporary_folder(struct arena *arena, const char *parent);

/* The same in $TMPDIR, or /tmp, where what dead processes left is removed first (once). NULL after
 * an error. */
const char *temporary_work_folder(struct ctx *ctx);

/* Makes the folder `path`, which goes away again if the run fails while it is empty. 0, or errno;
 * EEXIST if it is there. *out is NULL unless it was made. */
int temporary_make_folder(struct arena *arena, const char *path, const char **out);

/* It was renamed, or stays. NULL is fine. */
void temporary_forget(const char *path);

/* Removes it; a folder with all that is in it, a folder of temporary_make_folder if it is empty. */
void temporary_remove(const char *path);

/* Removes all of them. For signal handlers, too. */
void temporary_remove_all(void);

/* Removes what dead processes of this user left in the folder. */
void temporary_sweep(const char *folder);

/* The folder of a path, "." if it names none. */
const char *folder_of(struct arena *arena, const char *path);

#endif
