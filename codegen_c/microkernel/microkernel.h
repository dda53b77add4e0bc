/* microkernel.h - the C files of templates/helpers/microkernel, written for a register shape.
 *
 * A file has words in capitals for what varies, its axes: templates/helpers/microkernel/microkernel.h lists them. A
 * binder sets each of those that its file has; what it does not set stays in the output, and no compiler knows it. */
#ifndef CODEGEN_C_MICROKERNEL_MICROKERNEL_H
#define CODEGEN_C_MICROKERNEL_MICROKERNEL_H

#include "codegen_c/core/kernel.h"

struct microkernel {
    struct str axes;         /* "#define ADD(sum, x, w) sum += x * w;", a line each */
    const char *pixels;      /* MR in the output: "PIXELS_64" */
    const char *each_pixel;  /* the lists of pixels ... */
    const char *each_vector; /* ... and of a pixel's vectors: "EACH_VECTOR_64" */
    int mr, nr;              /* the shape, if it is known: lists are written out; else 0 */
};

/* Sets an axis, "ADD(sum, x, w)", to a text of any number of lines. */
void axis_set(struct microkernel *kernel, const char *head, const char *text);
void axis_setf(struct microkernel *kernel, const char *head, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The text of a file, its keys expanded, with these axes and lists. */
const char *microkernel_text(struct arena *arena, const struct microkernel *kernel,
                             const char *text);

/* The lists of MR by NR registers, "#define NAME(DO) DO(0) DO(1)". */
const char *microkernel_lists(struct arena *arena, const struct microkernel *kernel);

/* Adds the function as a helper: of the file, "tile_taps", whose comments have these keys. Returns its name. */
const char *bind_microkernel(struct bind *bind, const char *name, const char *file,
                             const struct microkernel *kernel, struct keys *keys);

#endif
