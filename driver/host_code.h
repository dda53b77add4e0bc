/* host_code.h - generated C for the host, in a temporary folder; for run, verify and bench. */
#ifndef DRIVER_HOST_CODE_H
#define DRIVER_HOST_CODE_H

#include "codegen_c/codegen.h"
#include "driver/driver.h"
#include "runtime/engine/generated.h"

struct host_code {
    const char *dir;
    int n_files;
    const char **files; /* generated files, and the backends' host files */
    struct codegen_result result;
    struct generated *generated; /* NULL before host_code_build */
};

/* Generates C for driver->machine as "model" into a new folder; the module has passed all passes.
 * choices NULL: those of --tune-log. False after an error. Call host_code_free in any case. */
bool host_code_write(struct driver_state *driver, struct module *module, bool step,
                     const struct choices *choices, struct host_code *out);

/* host_code_write with given options, except the folder. */
bool host_code_write_as(struct driver_state *driver, struct module *module,
                        const struct codegen_options *options, struct host_code *out);

/* host_code_write; then builds with the host's compiler and loads the result. */
bool host_code_build(struct driver_state *driver, struct module *module, bool step,
                     struct host_code *out);

/* Writes the adapter (runtime/engine/adapter.h) for code from host_code_write. */
bool host_code_adapter(struct driver_state *driver, const struct module *module, bool step,
                       const struct host_code *code, const char *path);

/* Makes the folder only. False after an error. */
bool host_code_folder(struct driver_state *driver, struct host_code *out);

/* Path of a file in the folder, deleted with it. */
const char *host_code_path(struct driver_state *driver, const struct host_code *code,
                           const char *name);

/* Adds a hint to the last diagnostic, a compiler or linker error, about the likely cause. */
void host_code_explain(struct driver_state *driver, const struct module *module,
                       const struct host_code *code);

/* Options of the host's compiler for driver->machine. */
const char *host_code_flags(struct driver_state *driver);

void host_code_free(struct host_code *code);

#endif
