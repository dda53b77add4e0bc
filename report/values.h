/* values.h - reads the numbers of constant arrays back from the generated C.
 *
 * NAME.json has no numbers; the C files beside it do. A file whose checksum is not the one that
 * NAME.json states is not read: it belongs to another compilation. */
#ifndef REPORT_VALUES_H
#define REPORT_VALUES_H

#include "base/file.h"
#include "base/map.h"
#include "report/facts.h"

struct values {
    struct ctx *ctx;
    const struct facts *facts;
    struct map definitions; /* symbol -> struct definition */
    struct mapping *files;  /* [facts->n_files]; data NULL = not read */
};

/* Finds the arrays in the C files of facts->folder. Missing files are no error. */
void values_open(struct ctx *ctx, const struct facts *facts, struct values *out);
void values_close(struct values *values);

/* The weight's elements as numbers, codes of packed formats as codes; *n of them. NULL = the files
 * do not have it. The caller frees it with block_free. */
double *values_read(const struct values *values, const struct fact_weight *weight, size_t *n);

#endif
