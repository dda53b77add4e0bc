/* wire.h - what happens to a protobuf file before protobuf-c may see it.
 *
 * protobuf-c recurses without a limit, allocates per message and keeps unknown fields, so a small
 * hostile file can end the process (trust.md 0). Here one walk over the mapped file, driven by the
 * descriptors that protoc-c made from onnx.proto, checks the encoding and its limits and writes an
 * image of it: the known fields only, tensor payloads left out. protobuf-c unpacks the image, whose
 * size is that of the graph and not of the weights. */
#ifndef FRONTEND_ONNX_WIRE_H
#define FRONTEND_ONNX_WIRE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

enum {
    WIRE_MAX_DEPTH = 100,        /* nested messages, the limit of Google's own library */
    WIRE_MAX_MESSAGES = 1000000, /* in one file */
    WIRE_MAX_BYTES =
        0x7fffffff /* protobuf's own limit; larger models keep weights in other files */
};

/* How a field is encoded. */
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;       /* of VARINT; bits of FIXED32 and FIXED64 */
    const uint8_t *bytes; /* of BYTES; of the others: how the value is encoded */
    size_t size;
};

struct wire_cursor {
    const uint8_t *at, *end;
};

/* Reads the next field and moves on. False at the end, and also when the encoding is broken: then
 * *reason says how (it is NULL at a proper end). */
bool wire_next(struct wire_cursor *cursor, struct wire_field *field, const char **reason);

/* One varint of at most 10 bytes. False when there is none. */
bool wire_varint(struct wire_cursor *cursor, uint64_t *value);

/* Where the body of a TensorProto, payload included, lies in the file. */
struct wire_span {
    size_t offset, size;
};

/* Whether this field of TensorProto holds a payload (raw_data, float_data ...). */
bool wire_is_payload(uint32_t number);

struct wire_image {
    const uint8_t *bytes;
    size_t size;
    const struct wire_span *tensors; /* TensorProto.payload is an index into it */
    uint32_t n_tensors;
};

/* Checks `file` as a message of the type `root` and makes its image in the arena. False after an
 * error that says where the encoding breaks. */
bool wire_scan(struct ctx *ctx, const ProtobufCMessageDescriptor *root, const uint8_t *file,
               size_t size, struct arena *arena, struct wire_image *out);

/* The message unpacked into the arena, within a budget of 16 times the image's size and 64 MiB.
 * NULL after an error. */
ProtobufCMessage *wire_unpack(struct ctx *ctx, const ProtobufCMessageDescriptor *root,
                              const struct wire_image *image, struct arena *arena);

#endif
