/* embedded.h - files that are part of the binary as text, so that an installed relayc needs no data
 * folder: templates, runtime/embed, runtime/abi, the targets' files (the Makefile lists them and
 * makes the table with base/embed.awk). */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
    const char *path; /* within the project: "templates/kernels/conv2d.c.tmpl" */
    const char *text;
};

extern const struct embedded_file embedded_files[];
extern const size_t n_embedded_files;

/* NULL if there is none. */
const struct embedded_file *embedded_find(const char *path);

#endif
