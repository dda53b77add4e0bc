/* embedded.h - the template and runtime/embed files, as text inside the binary (made by the
 * Makefile with codegen_c/embed.awk), so that an installed relayc needs no data folder. */
#ifndef CODEGEN_C_EMBEDDED_H
#define CODEGEN_C_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
    const char *path; /* "templates/kernels/conv2d.c.tmpl" */
    const char *text;
};

extern const struct embedded_file embedded_files[];
extern const size_t n_embedded_files;

#endif
