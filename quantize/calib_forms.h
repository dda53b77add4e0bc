/* calib_forms.h - readers of the two calibration file formats; private to calib_table.c. */
#ifndef QUANTIZE_CALIB_FORMS_H
#define QUANTIZE_CALIB_FORMS_H

#include "quantize/calib_table.h"

#define CALIB_SCHEMA "relayc-calibration-1"

enum { MAX_CALIB_BYTES = 256 << 20 };

/* Returns false. */
bool calib_error(struct ctx *ctx, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool calib_read_json(struct ctx *ctx, const char *path, const char *text, size_t n,
                     struct calib_table *out);
bool calib_read_text(struct ctx *ctx, const char *path, const char *text, size_t n,
                     struct calib_table *out);

#endif
