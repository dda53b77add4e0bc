/* region_table.h - the banner's list of regions: function, ONNX nodes, kernel, result. */
#ifndef CODEGEN_C_EMIT_REGION_TABLE_H
#define CODEGEN_C_EMIT_REGION_TABLE_H

#include "base/str.h"

struct codegen;

/* Lines of at most 100 columns: a cell that is too wide for its column goes on in the next line. */
void add_region_table(struct codegen *codegen, struct str *out);

#endif
