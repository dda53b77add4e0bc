/* host_compile.h - the C compiler, run on generated files. */
#ifndef RUNTIME_ENGINE_HOST_COMPILE_H
#define RUNTIME_ENGINE_HOST_COMPILE_H

#include <stdbool.h>

#include "base/ctx.h"

/* One call of a compiler. Words are separated by blanks. */
struct host_compile {
    const char *compiler;     /* "cc", "ccache gcc -m32"; NULL = $CC, else "cc" */
    const char *mode, *flags; /* "-std=c99 -shared -fPIC", "-O2": in this order, so flags win */
    const char *libs;         /* behind the files: "-ldnnl"; NULL = none but -lm */
    const char *include_dir;
    const char *const *files; /* sources and objects */
    int n_files;
    const char *run_in; /* a folder that the compiler runs in; NULL = where we are */
    const char *output; /* what the compiler says goes to OUTPUT.log, which stays */
    bool warn;          /* -Wall, and what the compiler says is a warning though it builds */
};

/* False after an error, which carries the first lines of the compiler's messages. */
bool host_compile(struct ctx *ctx, const struct host_compile *job);

#endif
