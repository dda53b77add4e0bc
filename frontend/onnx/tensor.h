/* tensor.h - TensorProto to struct tensor: payloads are borrowed from the mapped file when they lie
 * there as the program wants them (dense, little-endian, aligned), else decoded into bulk. */
#ifndef FRONTEND_ONNX_TENSOR_H
#define FRONTEND_ONNX_TENSOR_H

#include "base/file.h"
#include "base/map.h"
#include "frontend/onnx/onnx.pb-c.h"
#include "frontend/onnx/wire.h"
#include "relay_ir/type.h"

/* A file of external data, mapped once for all tensors that lie in it. */
struct external_file {
    const char *location; /* as the model spells it */
    struct mapping mapping;
    const char *refused; /* why it could not be mapped; NULL = it is mapped */
    struct external_file *next;
};

/* The mappings that tensors borrow from; lives as long as they do. */
struct tensor_source {
    struct mapping model;            /* size 0 when somebody else owns the model's bytes */
    struct external_file *externals; /* in the arena of the reader */
};

/* Unmaps everything; fits module->free_source. */
void tensor_source_free(void *source);

struct tensor_reader {
    struct ctx *ctx;
    struct arena *arena; /* must live as long as the source */
    struct bulk *bulk;   /* where decoded payloads go */
    const uint8_t *file; /* the model's bytes and image */
    const struct wire_image *image;
    const char *external_dir; /* the folder of external data; NULL = there must be none */
    struct tensor_source *source;
    struct map external_files; /* location -> struct external_file; its arena may die earlier */
};

/* False after an error about the node `origin`, or about the tensor by its name when NULL. */
bool tensor_decode(struct tensor_reader *reader, const struct origin *origin,
                   const Onnx__TensorProto *proto, struct tensor *out);

/* The type that the proto declares, without its payload. False after an error. */
bool tensor_decode_type(struct ctx *ctx, const struct origin *origin,
                        const Onnx__TensorProto *proto, struct type *out);

/* DTYPE_NONE after an error that names the type; `what` is what has it ("tensor", "input"). */
enum dtype onnx_dtype(struct ctx *ctx, const struct origin *origin, const char *what,
                      const char *name, int32_t code);

/* Where a tensor's bytes lie in external data. False after an error; declared here for tensor.c. */
bool external_bytes(struct tensor_reader *reader, const struct origin *origin,
                    const Onnx__TensorProto *proto, size_t wanted, struct mapping **mapping,
                    size_t *offset);

#endif
