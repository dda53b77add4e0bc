/* qtable.h - a text file that says the precision node by node, written by people and by searches:
 *
 *   # comment
 *   node_name  mode  [weights=FORMAT] [data=FORMAT] [scale=RULE] [scale-weights=RULE]
 *
 * Fields are separated by blanks. The mode is one of precision.def, or "fp8=f8e3m4,f8e4m3" as
 * --precision has it. The other fields may stand in any order, or without their keys in the order
 * given here, "-" for what is not said; scale is the rule for data. A name with blanks, '#' or
 * quotes stands in double quotes, with \" \\ and \xNN for a byte. Node names are those of the ONNX
 * file (of the node, or of its first output); a node that was fused from several answers to each of
 * them. TPU-MLIR's modes F32, INT8, F8E4M3, F8E5M2, F16, BF16 (in any case) are read as f32, int8,
 * fp8=f8e4m3, fp8=f8e5m2, f16w and bf16w. */
#ifndef QUANTIZE_QTABLE_H
#define QUANTIZE_QTABLE_H

#include "base/file.h"
#include "quantize/precision.h"
#include "relay_ir/ir.h"

struct qtable_row {
    const char *name; /* raw text of the model */
    struct precision precision;
    int line; /* in the file; 0 = made here */
};

struct qtable {
    const char *path; /* "" = made here */
    int n;
    struct qtable_row *rows;
    struct map by_name;        /* name -> struct qtable_row * */
    int n_broken;              /* rows that could not be read beyond their names: */
    struct qtable_row *broken; /* name and line only */
};

/* The errors of the file (DIAG_QTABLE), each with its line: all, up to a limit that no file written
 * by hand reaches. All memory is of ctx->perm. */
bool qtable_read(struct ctx *ctx, const char *path, struct qtable *out);
bool qtable_read_bytes(struct ctx *ctx, const char *path, const char *text, size_t n,
                       struct qtable *out);

/* Reading it gives the same rows. */
void qtable_write(struct writer *writer, const struct qtable *qtable);

/* The row of a node, by one of its origins' names, then by the name of one of its outputs; NULL if
 * none. */
const struct qtable_row *qtable_find(const struct qtable *qtable, const struct node *node);

/* An error for every row, broken ones too, that no node of fn answers to, with the nearest names; a
 * warning where one node answers to two rows that differ. */
bool qtable_check(struct ctx *ctx, const struct qtable *qtable, const struct function *fn);

#endif
