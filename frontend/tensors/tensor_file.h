/* tensor_file.h - tensors in files: .npy (format versions 1 to 3), .npz, and .pb (one ONNX
 * TensorProto). Files are recognised by their content. Malformed files give DIAG_TENSOR_FILE; sizes
 * are checked before allocation. */
#ifndef FRONTEND_TENSORS_TENSOR_FILE_H
#define FRONTEND_TENSORS_TENSOR_FILE_H

#include "base/file.h"
#include "relay_ir/type.h"

struct named_tensor {
    const char *name; /* member of a .npz, tensor name of a .pb, "" for .npy */
    struct tensor tensor;
};

struct named_tensors {
    int n;
    struct named_tensor *at; /* in file order */
};

/* Reads all tensors of a file; payloads go to bulk, names and the list to ctx->perm. */
bool tensor_file_read(struct ctx *ctx, const char *path, struct bulk *bulk,
                      struct named_tensors *out);

/* tensor_file_read from memory; `path` is for messages. `bytes` are not borrowed. */
bool tensor_file_read_bytes(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                            struct bulk *bulk, struct named_tensors *out);

/* Reads a file with exactly one tensor. */
bool tensor_file_read_one(struct ctx *ctx, const char *path, struct bulk *bulk, struct tensor *out);

/* Writes a .npy file, version 1. bfloat16, which numpy lacks, is widened to f32 (exactly), and FP8
 * is written as u8 bit patterns. */
void npy_write(struct writer *writer, const struct tensor *tensor);

/* Writes a .npz file, uncompressed and without time stamps. False after an error. */
bool npz_write(struct ctx *ctx, struct writer *writer, const struct named_tensors *tensors);

#endif
