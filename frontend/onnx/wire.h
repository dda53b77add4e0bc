/* wire.h - checks a protobuf file before protobuf-c reads it.
 *
 * protobuf-c recurses without a limit, allocates per message and keeps unknown fields, so a small
 * hostile file can end the process. One pass over the mapped file, driven by the descriptors that
 * protoc-c made from onnx.proto, checks encoding and limits and writes an image: known fields only,
 * without tensor payloads. protobuf-c unpacks the image, whose size is that of the graph, not of
 * the weights. */
#ifndef FRONTEND_ONNX_WIRE_H
#define FRONTEND_ONNX_WIRE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

enum {
    WIRE_MAX_DEPTH = 100,        /* nesting, as in Google's library */
    WIRE_MAX_MESSAGES = 1000000, /* per file */
    WIRE_MAX_BYTES = 0x7fffffff  /* protobuf's limit; larger models use external data */
};

/* How a field is encoded. */
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;       /* of VARINT; bits of FIXED32 and FIXED64 */
    const uint8_t *bytes; /* BYTES: the content; others: the encoded value */
    size_t size;
};

struct wire_cursor {
    const uint8_t *at, *end;
};

/* Reads the next field. False at the end (*reason NULL), and on a broken encoding (*reason
 * describes it). */
bool wire_next(struct wire_cursor *cursor, struct wire_field *field, const char **reason);

/* Reads a varint of at most 10 bytes. False if there is none. */
bool wire_varint(struct wire_cursor *cursor, uint64_t *value);

/* Position of a TensorProto's body, payload included, in the file. */
struct wire_span {
    size_t offset, size;
};

/* True if this field of TensorProto holds a payload (raw_data, float_data ...). */
bool wire_is_payload(uint32_t number);

struct wire_image {
    const uint8_t *bytes;
    size_t size;
    const struct wire_span *tensors; /* indexed by TensorProto.payload */
    uint32_t n_tensors;
};

/* Checks `file` as a message of type `root` and makes its image in the arena. False after an error
 * with the position. */
bool wire_scan(struct ctx *ctx, const ProtobufCMessageDescriptor *root, const uint8_t *file,
               size_t size, struct arena *arena, struct wire_image *out);

/* Unpacks the image into the arena, with at most 16 times its size plus 64 MiB. NULL after an
 * error. */
ProtobufCMessage *wire_unpack(struct ctx *ctx, const ProtobufCMessageDescriptor *root,
                              const struct wire_image *image, struct arena *arena);

#endif
