/* emit_kernels.h - --shared-kernels: relayc_kernels.h and relayc_kernels.c, the helpers of a set of networks that are
 * linked into one program.
 *
 * A helper goes there if at least two networks have it, all that have it have the same text, and so it is with the
 * helpers that it reads. Functions with loops are compiled once, in relayc_kernels.c; what compilers put into its
 * callers stays `static`, in the header. */
#ifndef CODEGEN_C_EMIT_EMIT_KERNELS_H
#define CODEGEN_C_EMIT_EMIT_KERNELS_H

#include "base/file.h"
#include "base/str.h"

struct codegen;
struct model_parts;

struct kernels {
    const char *header, *source; /* what stands in the two files, without banners */
    uint32_t id;                 /* checksum of both, which NAME.c compares */
    int n;                       /* helpers shared; 0: no files */
    int n_functions;             /* of which these are compiled once */
};

/* Takes the helpers that are shared out of the parts of all n networks, and sets their codegen->kernels. */
struct kernels *kernels_share(struct codegen *const all[], struct model_parts *parts, int n);

/* In NAME.c: #include "relayc_kernels.h", and whether that is of the same compilation. */
void add_kernels_include(struct codegen *codegen, struct str *out);

/* Writes both files; paths [2] become theirs. */
void emit_kernels(struct codegen *const all[], int n, const struct kernels *kernels,
                  const char *paths[]);

#endif
