/* qtable.h - text file with a precision per node, written by hand or by searches:
 *
 *   # comment
 *   node_name  mode  [weights=FORMAT] [data=FORMAT] [scale=RULE] [scale-weights=RULE]
 *
 * Fields are separated by blanks. The mode is one of precision.def, or "fp8=f8e3m4,f8e4m3" as
 * --precision has it. The other fields come in any order, or without keys in the order above, with
 * "-" for defaults; scale is the rule for data. A name with blanks, '#' or quotes stands in double
 * quotes, with \" \\ and \xNN for a byte. Node names are those of the ONNX file (of the node, or of
 * its first output); a node that was fused from several matches each of them. TPU-MLIR's modes F32,
 * INT8, F8E4M3, F8E5M2, F16, BF16 (in any case) are read as f32, int8, fp8=f8e4m3, fp8=f8e5m2, f16w
 * and bf16w. */
#ifndef QUANTIZE_QTABLE_H
#define QUANTIZE_QTABLE_H

#include "base/file.h"
#include "quantize/precision.h"
#include "relay_ir/ir.h"

struct qtable_row {
    const char *name; /* raw text of the model */
    struct precision precision;
    int line; /* in the file; 0 = generated */
};

struct qtable {
    const char *path; /* "" = generated */
    int n;
    struct qtable_row *rows;
    struct map by_name;        /* name -> struct qtable_row * */
    int n_broken;              /* malformed rows: */
    struct qtable_row *broken; /* name and line only */
};

/* Reads a qtable; reports all errors (DIAG_QTABLE) with line numbers, up to a limit. In
 * ctx->perm. */
bool qtable_read(struct ctx *ctx, const char *path, struct qtable *out);
bool qtable_read_bytes(struct ctx *ctx, const char *path, const char *text, size_t n,
                       struct qtable *out);

/* Writes rows that read back equal. */
void qtable_write(struct writer *writer, const struct qtable *qtable);

/* Row of a node, by a name of its origins, then by an output's name; NULL if none. */
const struct qtable_row *qtable_find(const struct qtable *qtable, const struct node *node);

/* Reports every row (malformed ones too) that matches no node of fn, with the nearest names; warns
 * if a node matches two different rows. */
bool qtable_check(struct ctx *ctx, const struct qtable *qtable, const struct function *fn);

#endif
