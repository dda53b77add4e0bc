#include "frontend/onnx/wire.h"

#include <string.h>

#include "frontend/onnx/onnx.pb-c.h"

bool wire_varint(struct wire_cursor *cursor, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 70 && cursor->at < cursor->end; shift += 7) {
        const uint8_t byte = *cursor->at++;

        *value |= (uint64_t)(byte & 0x7f) << (shift < 64 ? shift : 63);
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool fail(const char **reason, const char *why)
{
    *reason = why;
    return false;
}

static bool read_fixed(struct wire_cursor *cursor, size_t size, struct wire_field *field)
{
    if ((size_t)(cursor->end - cursor->at) < size)
        return false;
    for (size_t i = 0; i < size; i++)
        field->value |= (uint64_t)cursor->at[i] << (8 * i);
    cursor->at += size;
    return true;
}

static bool read_value(struct wire_cursor *cursor, struct wire_field *field, const char **reason)
{
    switch (field->type) {
    case WIRE_VARINT:
        return wire_varint(cursor, &field->value) ||
               fail(reason, "a number is cut off or too long");
    case WIRE_FIXED32:
        return read_fixed(cursor, 4, field) || fail(reason, "a 4-byte number is cut off");
    case WIRE_FIXED64:
        return read_fixed(cursor, 8, field) || fail(reason, "an 8-byte number is cut off");
    case WIRE_BYTES:
        if (!wire_varint(cursor, &field->value))
            return fail(reason, "a length is cut off or too long");
        if (field->value > (uint64_t)(cursor->end - cursor->at))
            return fail(reason, "a length goes beyond the end of what contains it");
        field->bytes = cursor->at;
        cursor->at += field->value;
        return true;
    default: return fail(reason, "an unknown wire type");
    }
}

bool wire_next(struct wire_cursor *cursor, struct wire_field *field, const char **reason)
{
    uint64_t tag;

    *reason = NULL;
    if (cursor->at == cursor->end)
        return false;
    if (!wire_varint(cursor, &tag) || tag > UINT32_MAX || tag >> 3 == 0)
        return fail(reason, "a field number is broken");
    *field = (struct wire_field){ .number = (uint32_t)tag >> 3, .type = (enum wire_type)(tag & 7) };
    field->bytes = cursor->at;
    if (!read_value(cursor, field, reason))
        return false;
    field->size = (size_t)(cursor->at - field->bytes);
    return true;
}

/* --- the walk --------------------------------------------------------------------------------- */

/* The walk is done twice: first to check and to measure (image NULL), then to write. */
struct scan {
    struct ctx *ctx;
    const uint8_t *file;
    uint8_t *image;
    size_t n;                  /* bytes written so far */
    struct wire_span *tensors; /* NULL while measuring */
    uint32_t n_tensors;
    uint32_t n_messages;
    int depth;
};

static void put(struct scan *scan, const void *bytes, size_t n)
{
    if (scan->image && n)
        memcpy(scan->image + scan->n, bytes, n);
    scan->n += n;
}

static void put_varint(struct scan *scan, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;

    for (; value > 0x7f; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    put(scan, bytes, n);
}

enum { PAYLOAD_INDEX = 1000 }; /* the field TensorProto.payload */

/* A length that is known only when its content has been written always takes 5 bytes. */
enum { LENGTH_BYTES = 5 };

static void put_length_at(struct scan *scan, size_t at, size_t length)
{
    for (int i = 0; scan->image && i < LENGTH_BYTES; i++)
        scan->image[at + (size_t)i] =
            (uint8_t)((length >> (7 * i) & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
}

static bool broken(struct scan *scan, const ProtobufCMessageDescriptor *message, const uint8_t *at,
                   const char *reason)
{
    diag_error(scan->ctx, DIAG_ONNX_FORMAT, NULL, "the file is malformed at byte %zu: %s",
               (size_t)(at - scan->file), reason);
    diag_note(scan->ctx, "in a %s", message->short_name);
    return false;
}

static enum wire_type wire_type_of(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32: return WIRE_FIXED32;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64: return WIRE_FIXED64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return WIRE_BYTES;
    default: return WIRE_VARINT;
    }
}

/* The elements of a packed field: whole, and as many bytes as there are. */
static bool packed_is_sound(const struct wire_field *field, enum wire_type element)
{
    struct wire_cursor cursor = { field->bytes, field->bytes + field->size };
    uint64_t value;

    if (element != WIRE_VARINT)
        return field->size % (element == WIRE_FIXED32 ? 4 : 8) == 0;
    while (cursor.at < cursor.end)
        if (!wire_varint(&cursor, &value))
            return false;
    return true;
}

static bool scan_message(struct scan *scan, const ProtobufCMessageDescriptor *message,
                         const uint8_t *bytes, size_t size);

static bool scan_child(struct scan *scan, const ProtobufCMessageDescriptor *message,
                       const struct wire_field *field)
{
    size_t length_at;
    bool ok;

    put_varint(scan, (uint64_t)field->number << 3 | WIRE_BYTES);
    length_at = scan->n;
    scan->n += LENGTH_BYTES;
    scan->depth++;
    ok = scan_message(scan, message, field->bytes, field->size);
    scan->depth--;
    put_length_at(scan, length_at, scan->n - length_at - LENGTH_BYTES);
    return ok;
}

static bool scan_field(struct scan *scan, const ProtobufCMessageDescriptor *message,
                       const ProtobufCFieldDescriptor *known, const struct wire_field *field)
{
    const enum wire_type wanted = wire_type_of(known);
    const bool packed = known->label == PROTOBUF_C_LABEL_REPEATED && wanted != WIRE_BYTES &&
                        field->type == WIRE_BYTES;

    if (!packed && field->type != wanted)
        return broken(scan, message, field->bytes, "a field is encoded as another type");
    if (packed && !packed_is_sound(field, wanted))
        return broken(scan, message, field->bytes, "a packed list is cut off");
    if (known->type == PROTOBUF_C_TYPE_STRING && memchr(field->bytes, 0, field->size))
        return broken(scan, message, field->bytes, "a text contains a NUL byte");
    if (known->type == PROTOBUF_C_TYPE_MESSAGE)
        return scan_child(scan, known->descriptor, field);
    put_varint(scan, (uint64_t)field->number << 3 | field->type);
    if (field->type == WIRE_BYTES)
        put_varint(scan, field->size);
    put(scan, field->bytes, field->size);
    return true;
}

bool wire_is_payload(uint32_t number)
{
    static const uint32_t fields[] = { 4, 5, 6, 7, 9, 10, 11 };

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (number == fields[i])
            return true;
    return false;
}

/* What is not copied to the image: payloads, and our own index, which no file may spell. */
static bool is_left_out(const ProtobufCMessageDescriptor *message, uint32_t number)
{
    return message == &onnx__tensor_proto__descriptor &&
           (number == PAYLOAD_INDEX || wire_is_payload(number));
}

static void put_tensor(struct scan *scan, const uint8_t *bytes, size_t size)
{
    put_varint(scan, (uint64_t)PAYLOAD_INDEX << 3 | WIRE_VARINT);
    put_varint(scan, scan->n_tensors);
    if (scan->tensors)
        scan->tensors[scan->n_tensors] = (struct wire_span){ (size_t)(bytes - scan->file), size };
    scan->n_tensors++;
}

static bool scan_message(struct scan *scan, const ProtobufCMessageDescriptor *message,
                         const uint8_t *bytes, size_t size)
{
    struct wire_cursor cursor = { bytes, bytes + size };
    struct wire_field field;
    uint64_t seen = 0; /* fields that may occur once, by their index in the descriptor */
    const char *reason;

    if (scan->depth >= WIRE_MAX_DEPTH)
        return broken(scan, message, bytes, "messages are nested more than 100 deep");
    if (++scan->n_messages > WIRE_MAX_MESSAGES)
        return broken(scan, message, bytes, "more than 1000000 messages");
    while (wire_next(&cursor, &field, &reason)) {
        const ProtobufCFieldDescriptor *known =
            protobuf_c_message_descriptor_get_field(message, field.number);
        uint64_t bit;

        if (!known || is_left_out(message, field.number))
            continue;
        bit = (uint64_t)1 << (known - message->fields);
        if (known->label == PROTOBUF_C_LABEL_OPTIONAL && (seen & bit))
            return broken(scan, message, field.bytes, "a field that may occur once occurs twice");
        seen |= bit;
        if (!scan_field(scan, message, known, &field))
            return false;
    }
    if (reason)
        return broken(scan, message, cursor.at, reason);
    if (message == &onnx__tensor_proto__descriptor)
        put_tensor(scan, bytes, size);
    return true;
}

bool wire_scan(struct ctx *ctx, const ProtobufCMessageDescriptor *root, const uint8_t *file,
               size_t size, struct arena *arena, struct wire_image *out)
{
    struct scan measure = { .ctx = ctx, .file = file }, write = measure;

    if (size > WIRE_MAX_BYTES)
        return diag_error(ctx, DIAG_ONNX_FORMAT, NULL,
                          "the file has %zu bytes, a protobuf file has at most %d", size,
                          WIRE_MAX_BYTES);
    if (!scan_message(&measure, root, file, size))
        return false;
    write.image = arena_alloc(arena, measure.n);
    write.tensors = arena_array(arena, struct wire_span, measure.n_tensors);
    if (!scan_message(&write, root, file, size))
        return false;
    *out = (struct wire_image){ write.image, write.n, write.tensors, write.n_tensors };
    return true;
}

/* --- unpacking -------------------------------------------------------------------------------- */

struct budget {
    struct arena *arena;
    size_t left;
    bool exceeded;
};

static void *budget_alloc(void *data, size_t size)
{
    struct budget *budget = data;

    if (size > budget->left) {
        budget->exceeded = true;
        return NULL;
    }
    budget->left -= size;
    return arena_alloc(budget->arena, size);
}

static void budget_free(void *data, void *pointer)
{
    (void)data; /* dies with the arena */
    (void)pointer;
}

ProtobufCMessage *wire_unpack(struct ctx *ctx, const ProtobufCMessageDescriptor *root,
                              const struct wire_image *image, struct arena *arena)
{
    struct budget budget = { .arena = arena, .left = 16 * image->size + ((size_t)64 << 20) };
    ProtobufCAllocator allocator = { budget_alloc, budget_free, &budget };
    ProtobufCMessage *message =
        protobuf_c_message_unpack(root, &allocator, image->size, image->bytes);

    if (!message && budget.exceeded)
        diag_error(ctx, DIAG_ONNX_FORMAT, NULL,
                   "unpacking the file takes too much memory for its size");
    else if (!message)
        diag_error(ctx, DIAG_ONNX_FORMAT, NULL, "the file does not unpack as a %s",
                   root->short_name);
    return message;
}
