/* tensor_file.h - tensors in files: .npy (format versions 1 to 3), .npz, and .pb (one ONNX
 * TensorProto). Files are recognised by their content. Malformed files give DIAG_TENSOR_FILE with
 * what was found; sizes are checked before anything is allocated. */
#ifndef FRONTEND_TENSORS_TENSOR_FILE_H
#define FRONTEND_TENSORS_TENSOR_FILE_H

#include "base/file.h"
#include "relay_ir/type.h"

struct named_tensor {
    const char *name; /* the member's name in a .npz, the tensor's in a .pb, "" in a .npy */
    struct tensor tensor;
};

struct named_tensors {
    int n;
    struct named_tensor *at; /* in the order of the file */
};

/* Reads all tensors of a file; payloads go to bulk, names and the list to ctx->perm. */
bool tensor_file_read(struct ctx *ctx, const char *path, struct bulk *bulk,
                      struct named_tensors *out);

/* The same from memory; `path` is for messages. Nothing of `bytes` is borrowed. */
bool tensor_file_read_bytes(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                            struct bulk *bulk, struct named_tensors *out);

/* Exactly one tensor. */
bool tensor_file_read_one(struct ctx *ctx, const char *path, struct bulk *bulk, struct tensor *out);

/* Writes a .npy file, version 1. numpy has no bfloat16, which is widened to f32 (exactly), and no
 * FP8, of which the bits are written as u8. */
void npy_write(struct writer *writer, const struct tensor *tensor);

/* Writes a .npz file whose members are stored, not compressed, without time stamps. False after an
 * error. */
bool npz_write(struct ctx *ctx, struct writer *writer, const struct named_tensors *tensors);

#endif
