/* qtable.h - a text file that says the precision node by node, written by people and by searches:
 *
 *   # comment
 *   node_name  mode  [weights=FORMAT] [data=FORMAT] [scale=RULE]
 *
 * Fields are separated by blanks; the three last ones may stand in any order, or without their key
 * in the order given here, "-" for what is not said. A name with blanks or '#' stands in double
 * quotes, with
 * \" and \\. Node names are those of the ONNX file (of the node, or of its first output); a node
 * that was fused from several answers to each of them. TPU-MLIR's modes F32, INT8, F8E4M3, F8E5M2
 * (in any case) are read as f32, int8, fp8=f8e4m3, fp8=f8e5m2; F16 and BF16 as f16w and bf16w. */
#ifndef QUANTIZE_QTABLE_H
#define QUANTIZE_QTABLE_H

#include "base/file.h"
#include "quantize/precision.h"
#include "relay_ir/ir.h"

struct qtable_row {
    const char *name;
    struct precision precision;
    int line;
};

struct qtable {
    const char *path; /* "" = made here */
    int n;
    struct qtable_row *rows;
    struct map by_name; /* name -> struct qtable_row * */
};

/* All errors of the file at once, each with its line (DIAG_QTABLE). */
bool qtable_read(struct ctx *ctx, const char *path, struct qtable *out);
bool qtable_read_bytes(struct ctx *ctx, const char *path, const char *text, size_t n,
                       struct qtable *out);

void qtable_write(struct writer *writer, const struct qtable *qtable);

/* The row of a node, by one of its origins' names, by the name of one of its outputs; NULL if none.
 */
const struct qtable_row *qtable_find(const struct qtable *qtable, const struct node *node);

/* An error for every row that no node of fn answers to, with the nearest names. */
bool qtable_check(struct ctx *ctx, const struct qtable *qtable, const struct function *fn);

#endif
