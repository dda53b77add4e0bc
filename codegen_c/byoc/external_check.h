/* external_check.h - the templates of a target, before a model is read. */
#ifndef CODEGEN_C_BYOC_EXTERNAL_CHECK_H
#define CODEGEN_C_BYOC_EXTERNAL_CHECK_H

#include "partition/target.h"

/* Blocks and braces of all templates; the keys of those whose keys are known: of composites, where
 * no hook adds any, and of the prologue. False after errors (DIAG_TEMPLATE, with file and line). */
bool external_check_templates(struct ctx *ctx, const struct target *target);

#endif
