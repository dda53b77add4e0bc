/* host_compile.h - runs the C compiler on generated files. */
#ifndef RUNTIME_ENGINE_HOST_COMPILE_H
#define RUNTIME_ENGINE_HOST_COMPILE_H

#include <stdbool.h>

#include "base/ctx.h"

/* One call of a compiler. Words are separated by blanks. */
struct host_compile {
    const char *compiler;     /* "cc", "ccache gcc -m32"; NULL = $CC, else "cc" */
    const char *mode, *flags; /* "-std=c99 -shared -fPIC", "-O2": in this order, so flags win */
    const char *libs;         /* linker options after the files: "-ldnnl"; NULL = -lm only */
    const char *include_dir;
    const char *const *files; /* sources and objects */
    int n_files;
    const char *run_in; /* working directory of the compiler; NULL = the present one */
    const char *output; /* the compiler's messages go to OUTPUT.log, which is kept */
    bool warn;          /* -Wall, and compiler messages become warnings if it builds */
};

/* False after an error with the first lines of the compiler's messages. */
bool host_compile(struct ctx *ctx, const struct host_compile *job);

#endif
