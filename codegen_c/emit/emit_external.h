/* emit_external.h - the files of backends, and what NAME.json says of them. */
#ifndef CODEGEN_C_EMIT_EMIT_EXTERNAL_H
#define CODEGEN_C_EMIT_EMIT_EXTERNAL_H

#include <cjson/cJSON.h>

#include "codegen_c/byoc/external.h"

/* --- emit_external.c -------------------------------------------------------------------------- */

/* NAME_TARGET.h and NAME_TARGET.c of every module, and the files beside them. */
void emit_external(struct codegen *codegen);

/* How many files that will be at most, and whether no two files have the same name. */
int external_count_files(const struct codegen *codegen);
bool external_check_files(struct codegen *codegen);

/* "kws_dnnl.h", and "kws_dnnl_conv1.json". */
const char *module_file(struct codegen *codegen, const struct external_module *module,
                        const char *end);
const char *graph_file(struct codegen *codegen, const struct external *external);

/* Estimated nanoseconds of the region by the rates of its target and of c, hand-over included; 0
 * where these are unknown. */
void external_estimate(struct codegen *codegen, const struct external *external, double *here,
                       double *host);

/* Fills host_files and host_flags of the result. */
void external_host_files(struct codegen *codegen);

/* --- emit_constants.c ------------------------------------------------------------------------- */

/* Tables for functions of the user's: declarations for NAME_TARGET.h, definitions for
 * NAME_TARGET.c. */
void declare_constants(struct codegen *codegen, struct str *out, const struct external *external);
void define_constants(struct codegen *codegen, struct str *out, const struct external *external);

/* --- emit_json_modules.c ---------------------------------------------------------------------- */

/* What NAME.json says of targets, where there are others than c. */
void add_modules_json(struct codegen *codegen, cJSON *root);

/* What the entry of a region says of another target's: compiler, composites. */
void add_external_json(struct codegen *codegen, const struct external *external, cJSON *region);

#endif
