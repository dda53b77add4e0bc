/* embedded.h - files embedded in the binary, so that an installed relayc needs no data folder:
 * templates, runtime/embed, runtime/abi, backend files (listed in the Makefile; table made by
 * base/embed.awk). */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
    const char *path; /* within the project: "templates/kernels/conv/conv.c.tmpl" */
    const char *text;
};

extern const struct embedded_file embedded_files[];
extern const size_t n_embedded_files;

/* File by path; NULL if there is none. */
const struct embedded_file *embedded_find(const char *path);

/* File of this name in a folder of `folder` ("templates/kernels/"); NULL if there is none. */
const struct embedded_file *embedded_find_below(const char *folder, const char *name);

#endif
