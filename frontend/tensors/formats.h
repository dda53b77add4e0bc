/* formats.h - readers and writers of single formats, for tensor_file.c. */
#ifndef FRONTEND_TENSORS_FORMATS_H
#define FRONTEND_TENSORS_FORMATS_H

#include "frontend/tensors/tensor_file.h"

/* Reports an error about a file, and a member unless NULL. Returns false. */
bool tensor_file_error(struct ctx *ctx, const char *path, const char *member, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* Reads one array. With `keep`, bytes belong to bulk and may be borrowed. */
bool npy_read(struct ctx *ctx, const char *path, const char *member, const uint8_t *bytes,
              size_t size, bool keep, struct bulk *bulk, struct tensor *out);

bool npz_read(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
              struct bulk *bulk, struct named_tensors *out);

/* A tensor as a .npy file: header, then payload. */
struct npy_image {
    char *header;
    size_t header_bytes;
    const void *payload;
    size_t payload_bytes;
};
struct npy_image npy_image(struct arena *arena, const struct tensor *tensor);

#endif
