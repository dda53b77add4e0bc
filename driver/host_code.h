/* host_code.h - generated C for this machine, in a folder that goes away again; for run, verify and
 * bench. */
#ifndef DRIVER_HOST_CODE_H
#define DRIVER_HOST_CODE_H

#include "codegen_c/codegen.h"
#include "driver/driver.h"
#include "runtime/engine/generated.h"

struct host_code {
    const char *dir;
    int n_files;
    const char **files; /* generated, and what the targets add to them on this machine */
    struct codegen_result result;
    struct generated *generated; /* NULL before host_code_build */
};

/* Generates the module's C (after the passes) for driver->machine as "model" into a new folder,
 * with these choices of knobs (NULL: as --tune-log says). False after an error. To be freed either
 * way.
 */
bool host_code_write(struct driver_state *driver, struct module *module, bool step,
                     const struct choices *choices, struct host_code *out);

/* The same with these options, but for their folder. */
bool host_code_write_as(struct driver_state *driver, struct module *module,
                        const struct codegen_options *options, struct host_code *out);

/* As host_code_write, then builds it with the host's compiler and loads it. */
bool host_code_build(struct driver_state *driver, struct module *module, bool step,
                     struct host_code *out);

/* Writes the adapter (runtime/engine/adapter.h) of code that host_code_write wrote. */
bool host_code_adapter(struct driver_state *driver, const struct module *module, bool step,
                       const struct host_code *code, const char *path);

/* A new folder and nothing else. False after an error. */
bool host_code_folder(struct driver_state *driver, struct host_code *out);

/* The path of a file of the folder: it goes away with the folder. */
const char *host_code_path(struct driver_state *driver, const struct host_code *code,
                           const char *name);

/* After the compiler or the linker has refused the code, as the last diagnostic says: adds whose
 * business it is. */
void host_code_explain(struct driver_state *driver, const struct module *module,
                       const struct host_code *code);

void host_code_free(struct host_code *code);

#endif
