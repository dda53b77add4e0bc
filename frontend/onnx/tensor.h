/* tensor.h - TensorProto to struct tensor: payloads are borrowed from the mapped file if they are
 * dense, little-endian and aligned, else decoded into bulk. */
#ifndef FRONTEND_ONNX_TENSOR_H
#define FRONTEND_ONNX_TENSOR_H

#include "base/file.h"
#include "base/map.h"
#include "frontend/onnx/onnx.pb-c.h"
#include "frontend/onnx/wire.h"
#include "relay_ir/type.h"

/* A file of external data, mapped once. */
struct external_file {
    const char *location; /* as spelled in the model */
    struct mapping mapping;
    const char *refused; /* why it could not be mapped; NULL = it is mapped */
    struct external_file *next;
};

/* Mappings that tensors borrow from; must outlive them. */
struct tensor_source {
    struct mapping model;            /* size 0 if the caller owns the model's bytes */
    struct external_file *externals; /* in the reader's arena */
};

/* Unmaps all; signature of module->free_source. */
void tensor_source_free(void *source);

struct tensor_reader {
    struct ctx *ctx;
    struct arena *arena; /* must live as long as the source */
    struct bulk *bulk;   /* for decoded payloads */
    const uint8_t *file; /* the model's bytes and image */
    const struct wire_image *image;
    const char *external_dir; /* folder of external data; NULL = not allowed */
    struct tensor_source *source;
    struct map external_files; /* location -> struct external_file; its arena may die earlier */
};

/* Decodes a tensor. Errors name the node `origin`, or the tensor if it is NULL. */
bool tensor_decode(struct tensor_reader *reader, const struct origin *origin,
                   const Onnx__TensorProto *proto, struct tensor *out);

/* Declared type, without the payload. False after an error. */
bool tensor_decode_type(struct ctx *ctx, const struct origin *origin,
                        const Onnx__TensorProto *proto, struct type *out);

/* Element type of an ONNX code; DTYPE_NONE after an error about `what` ("tensor", "input")
 * `name`. */
enum dtype onnx_dtype(struct ctx *ctx, const struct origin *origin, const char *what,
                      const char *name, int32_t code);

/* Location of a tensor's bytes in external data. False after an error. Private to tensor.c. */
bool external_bytes(struct tensor_reader *reader, const struct origin *origin,
                    const Onnx__TensorProto *proto, size_t wanted, struct mapping **mapping,
                    size_t *offset);

#endif
