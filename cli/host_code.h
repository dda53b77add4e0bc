/* host_code.h - generated C for this machine, in a folder that goes away again; for run and verify.
 */
#ifndef CLI_HOST_CODE_H
#define CLI_HOST_CODE_H

#include "cli/cli.h"
#include "codegen_c/codegen.h"
#include "runtime/engine/generated.h"

enum { HOST_CODE_MADE = 3 }; /* files that generated_build adds */

struct host_code {
    const char *dir, *made[HOST_CODE_MADE];
    int n_files;
    const char **files; /* generated, and what the targets add to them on this machine */
    struct codegen_result result;
    struct generated *generated;
};

/* For cli->machine. Generates, builds and loads the module's C (after the passes). False after an
 * error. To be freed either way. */
bool host_code_build(struct cli *cli, struct module *module, bool step, struct host_code *out);
void host_code_free(struct host_code *code);

#endif
