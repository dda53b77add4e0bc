/* obsolete.h - files of an earlier run that a set of output files replaces by none. */
#ifndef BASE_OBSOLETE_H
#define BASE_OBSOLETE_H

#include "base/file.h"

/* output_commit removes the file at `path` once all others are in place. */
void output_obsolete(struct output_set *set, const char *path);

#endif
