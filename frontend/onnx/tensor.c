#include "frontend/onnx/tensor.h"

#include <assert.h>
#include <string.h>

#include "base/str.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "relayc needs a little-endian host: payloads are used as they are in the file"
#endif

/* The field that holds the elements of a type when they are not in raw_data. */
static const uint32_t typed_field[DTYPE_COUNT] = {
    [DTYPE_BF16] = 5,       [DTYPE_BOOL] = 5,   [DTYPE_F16] = 5,        [DTYPE_F32] = 4,
    [DTYPE_F64] = 10,       [DTYPE_I16] = 5,    [DTYPE_I32] = 5,        [DTYPE_I64] = 7,
    [DTYPE_I8] = 5,         [DTYPE_U16] = 5,    [DTYPE_U32] = 11,       [DTYPE_U64] = 11,
    [DTYPE_U8] = 5,         [DTYPE_F8E4M3] = 5, [DTYPE_F8E4M3FNUZ] = 5, [DTYPE_F8E5M2] = 5,
    [DTYPE_F8E5M2FNUZ] = 5, [DTYPE_F4E2M1] = 5, [DTYPE_I4] = 5,         [DTYPE_U4] = 5,
    [DTYPE_I2] = 5,         [DTYPE_U2] = 5,     [DTYPE_F8E8M0] = 5,
};

enum { RAW_DATA = 9 };

/* Types of the format that have no row in dtype.def. */
static const struct {
    int32_t code;
    const char *name;
} unsupported_types[] = {
    { 8, "string" },      { 14, "complex64" },  { 15, "complex128" },
    { 27, "float6e2m3" }, { 28, "float6e3m2" },
};

/* "tensor "name"", or "tensor" when it has none. */
static const char *describe(struct ctx *ctx, const char *what, const char *name)
{
    return *name ? arena_printf(&ctx->perm, "%s \"%s\"", what, str_safe(&ctx->perm, name, 120))
                 : what;
}

static bool malformed(struct ctx *ctx, const struct origin *origin, const Onnx__TensorProto *proto,
                      const char *problem)
{
    return diag_error(ctx, DIAG_ONNX_TENSOR, origin, "%s %s", describe(ctx, "tensor", proto->name),
                      problem);
}

enum dtype onnx_dtype(struct ctx *ctx, const struct origin *origin, const char *what,
                      const char *name, int32_t code)
{
    const enum dtype dtype = dtype_from_onnx(code);

    if (dtype != DTYPE_NONE)
        return dtype;
    for (size_t i = 0; i < sizeof unsupported_types / sizeof *unsupported_types; i++)
        if (unsupported_types[i].code == code) {
            diag_error(ctx, DIAG_UNSUPPORTED_TYPE, origin, "%s has the element type %s",
                       describe(ctx, what, name), unsupported_types[i].name);
            return DTYPE_NONE;
        }
    diag_error(ctx, DIAG_ONNX_TENSOR, origin, "%s has the unknown element type %d",
               describe(ctx, what, name), code);
    return DTYPE_NONE;
}

bool tensor_decode_type(struct ctx *ctx, const struct origin *origin,
                        const Onnx__TensorProto *proto, struct type *out)
{
    const enum dtype dtype = onnx_dtype(ctx, origin, "tensor", proto->name, proto->data_type);

    if (dtype == DTYPE_NONE)
        return false;
    if (proto->n_dims > MAX_RANK)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, origin,
                          "%s has rank %zu, at most %d is supported",
                          describe(ctx, "tensor", proto->name), proto->n_dims, MAX_RANK);
    *out = type_make(dtype, (int)proto->n_dims, proto->dims);
    for (int i = 0; i < out->rank; i++)
        if (out->dim[i] < 0)
            return malformed(ctx, origin, proto, "has a negative dimension");
    return type_check_size(ctx, origin, out);
}

/* --- elements of 2 and 4 bits ----------------------------------------------------------------- */
/* The format stores four or two of them in a byte, the first one in the lowest bits; an int32_data
 * element is such a byte. relayc has one per byte, i2 and i4 sign-extended. */

static bool is_packed(enum dtype dtype)
{
    return dtype_packed_bits(dtype) < 8;
}

static void unpack(const uint8_t *bytes, const struct tensor *out)
{
    const int bits = dtype_packed_bits(out->type.dtype), each = 8 / bits, sign = 1 << (bits - 1);
    const int64_t n = type_elements(&out->type);
    uint8_t *quantized = out->data;

    for (int64_t i = 0; i < n; i++) {
        const int code = bytes[i / each] >> bits * (int)(i % each) & (2 * sign - 1);

        quantized[i] = (uint8_t)(dtype_is_signed(out->type.dtype) ? (code ^ sign) - sign : code);
    }
}

/* --- payloads in the model -------------------------------------------------------------------- */

/* What the payload fields of one TensorProto hold. */
struct payload {
    uint32_t field;       /* the one that occurs; 0 = none */
    uint64_t n;           /* elements; of raw_data: occurrences */
    const uint8_t *bytes; /* of raw_data, or of a packed list that came in one piece, else NULL */
    size_t size;
};

static enum wire_type element_type(uint32_t field)
{
    return field == 4 ? WIRE_FIXED32 : field == 10 ? WIRE_FIXED64 : WIRE_VARINT;
}

/* Calls `see` for each element of one occurrence of a typed field. */
typedef bool see_element(void *user, uint64_t value);

static bool each_element(const struct wire_field *field, see_element *see, void *user)
{
    const enum wire_type element = element_type(field->number);
    const size_t step = element == WIRE_FIXED32 ? 4 : 8;
    struct wire_cursor cursor = { field->bytes, field->bytes + field->size };
    uint64_t value;

    if (field->type == element)
        return see(user, field->value);
    if (field->type != WIRE_BYTES || (element != WIRE_VARINT && field->size % step))
        return false;
    while (cursor.at < cursor.end) {
        value = 0;
        if (element == WIRE_VARINT && !wire_varint(&cursor, &value))
            return false;
        if (element != WIRE_VARINT) {
            memcpy(&value, cursor.at, step);
            cursor.at += step;
        }
        if (!see(user, value))
            return false;
    }
    return true;
}

static bool count_element(void *user, uint64_t value)
{
    (void)value;
    ++*(uint64_t *)user;
    return true;
}

/* False, with the problem, when the fields contradict each other. */
static bool survey(const struct wire_span *span, const uint8_t *file, struct payload *out,
                   const char **problem)
{
    struct wire_cursor cursor = { file + span->offset, file + span->offset + span->size };
    struct wire_field field;
    const char *reason;
    int n_pieces = 0;

    *out = (struct payload){ 0 };
    *problem = NULL;
    while (wire_next(&cursor, &field, &reason)) {
        if (!wire_is_payload(field.number) || (field.type == WIRE_BYTES && !field.size))
            continue;
        if (out->field && out->field != field.number)
            *problem = "has its payload in several fields";
        out->field = field.number;
        out->bytes = field.type == WIRE_BYTES && ++n_pieces == 1 ? field.bytes : NULL;
        out->size = field.size;
        if (field.number == RAW_DATA)
            out->n++;
        else if (field.number != 6 && !each_element(&field, count_element, &out->n))
            *problem = "has a broken list of elements";
    }
    if (out->field == RAW_DATA && out->n > 1)
        *problem = "has several raw_data fields";
    else if (out->field == RAW_DATA && !out->bytes)
        *problem = "has a broken raw_data field";
    return !*problem;
}

struct store {
    enum dtype dtype;
    uint8_t *at;
    int64_t low, high; /* what the type can hold, for fields wider than it */
    bool out_of_range;
};

static bool store_element(void *user, uint64_t value)
{
    struct store *store = user;
    const size_t bytes = dtype_bytes(store->dtype);

    if (bytes < 8 && typed_field[store->dtype] != 4) {
        /* int32 is sign-extended to 64 bits on the wire. */
        const int64_t number = typed_field[store->dtype] == 5 ? (int32_t)(uint32_t)value
                               : value > INT64_MAX            ? INT64_MAX
                                                              : (int64_t)value;

        if (number < store->low || number > store->high)
            store->out_of_range = true;
    }
    memcpy(store->at, &value, bytes);
    store->at += bytes;
    return true;
}

static struct store store_for(const struct type *type, void *data)
{
    const int bits = 8 * (int)dtype_bytes(type->dtype);
    struct store store = { .dtype = type->dtype, .at = data };

    if (type->dtype == DTYPE_BOOL) {
        store.high = 1;
    } else if (is_packed(type->dtype)) { /* a byte, which may have been an int8_t or a uint8_t */
        store.low = INT8_MIN;
        store.high = UINT8_MAX;
    } else if (dtype_kind(type->dtype) == KIND_INT && bits < 64) {
        store.low = -((int64_t)1 << (bits - 1));
        store.high = -store.low - 1;
    } else if (bits < 64) {
        store.high = ((int64_t)1 << bits) - 1;
    }
    return store;
}

/* Decodes a typed field into bulk. */
static bool decode_typed(struct tensor_reader *reader, const struct wire_span *span,
                         uint32_t number, struct tensor *out, const char **problem)
{
    struct wire_cursor cursor = { reader->file + span->offset,
                                  reader->file + span->offset + span->size };
    struct bulk bulk = { NULL, 0 };
    struct store store;
    struct wire_field field;
    const char *reason;
    uint8_t *packed = NULL;

    *out = tensor_new(reader->bulk, &out->type);
    if (is_packed(out->type.dtype))
        packed = bulk_alloc(&bulk, type_packed_bytes(&out->type));
    store = store_for(&out->type, packed ? packed : out->data);
    while (wire_next(&cursor, &field, &reason))
        if (field.number == number && !each_element(&field, store_element, &store))
            break;
    if (packed)
        unpack(packed, out);
    bulk_release(&bulk);
    *problem = "has an element that its type cannot hold";
    return !store.out_of_range;
}

/* Borrows the bytes of the mapping, or copies them where the type's alignment asks for it; then the
 * pages of the file are given back. */
static void take_bytes(struct tensor_reader *reader, const struct mapping *mapping, bool mapped,
                       size_t offset, struct tensor *out)
{
    const uint8_t *bytes = mapping->data + offset;
    const size_t n = type_packed_bytes(&out->type);
    const bool packed = is_packed(out->type.dtype);

    if (n && !packed && (uintptr_t)bytes % dtype_bytes(out->type.dtype) == 0) {
        out->data = (void *)(uintptr_t)bytes;
        return;
    }
    out->data = bulk_alloc(reader->bulk, type_bytes(&out->type));
    if (!n)
        return;
    if (packed)
        unpack(bytes, out);
    else
        memcpy(out->data, bytes, n);
    if (mapped)
        file_forget(mapping, offset, n);
}

/* A bool is 0 or 1 everywhere in the program. */
static bool bools_are_sound(const struct tensor *tensor)
{
    const uint8_t *data = tensor->data;
    const int64_t n = tensor->type.dtype == DTYPE_BOOL ? type_elements(&tensor->type) : 0;

    for (int64_t i = 0; i < n; i++)
        if (data[i] > 1)
            return false;
    return true;
}

/* numpy_helper of onnx 1.18 writes one code of FLOAT4E2M1 per byte, against its own format. No file
 * in that format is that large. */
static bool is_unpacked(const struct type *type, const struct payload *payload)
{
    const int64_t n = type_elements(type);

    if (type->dtype != DTYPE_F4E2M1 || n < 2 || payload->size != (size_t)n)
        return false;
    for (int64_t i = 0; i < n; i++)
        if (payload->bytes[i] > 15)
            return false;
    return true;
}

static const char *field_name(uint32_t number)
{
    return protobuf_c_message_descriptor_get_field(&onnx__tensor_proto__descriptor, number)->name;
}

static bool decode_inline(struct tensor_reader *reader, const struct origin *origin,
                          const Onnx__TensorProto *proto, const struct payload *payload,
                          struct tensor *out)
{
    const struct wire_span *span = &reader->image->tensors[proto->payload];
    const uint64_t bytes = (uint64_t)type_packed_bytes(&out->type);
    const uint64_t n = is_packed(out->type.dtype) ? bytes : (uint64_t)type_elements(&out->type);
    const bool raw = payload->field == RAW_DATA;
    const char *problem;

    if (payload->field && !raw && payload->field != typed_field[out->type.dtype])
        return diag_error(reader->ctx, DIAG_ONNX_TENSOR, origin,
                          "%s is of type %s but has its payload in %s",
                          describe(reader->ctx, "tensor", proto->name), dtype_name(out->type.dtype),
                          field_name(payload->field));
    if (raw && is_unpacked(&out->type, payload)) {
        out->data = bulk_alloc(reader->bulk, payload->size);
        memcpy(out->data, payload->bytes, payload->size);
        return true;
    }
    if (raw ? payload->size != bytes : payload->n != n)
        return diag_error(reader->ctx, DIAG_ONNX_TENSOR, origin,
                          "%s has a payload of %llu %s, its type %s needs %llu",
                          describe(reader->ctx, "tensor", proto->name),
                          (unsigned long long)(raw ? payload->size : payload->n),
                          raw ? "bytes" : "elements", type_text(&reader->ctx->perm, &out->type),
                          (unsigned long long)(raw ? bytes : n));
    if (n == 0 || (payload->bytes && payload->size == bytes &&
                   (raw || element_type(payload->field) != WIRE_VARINT))) {
        const struct mapping file = { reader->file, reader->source->model.size };
        const size_t offset = n ? (size_t)(payload->bytes - reader->file) : 0;

        take_bytes(reader, &file, file.size > 0, offset, out);
        return true;
    }
    return decode_typed(reader, span, payload->field, out, &problem) ||
           malformed(reader->ctx, origin, proto, problem);
}

bool tensor_decode(struct tensor_reader *reader, const struct origin *origin,
                   const Onnx__TensorProto *proto, struct tensor *out)
{
    const bool external = proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    struct payload payload;
    struct mapping *mapping;
    const char *problem;
    size_t offset;

    assert(proto->payload < reader->image->n_tensors); /* wire.c wrote it, no file can */
    if (!tensor_decode_type(reader->ctx, origin, proto, &out->type))
        return false;
    if (!survey(&reader->image->tensors[proto->payload], reader->file, &payload, &problem))
        return malformed(reader->ctx, origin, proto, problem);
    if (!external && proto->n_external_data)
        return malformed(reader->ctx, origin, proto,
                         "lists external data, but its location is not external");
    if (external && payload.field)
        return malformed(reader->ctx, origin, proto,
                         "has a payload although its location is external");
    if (!external && !decode_inline(reader, origin, proto, &payload, out))
        return false;
    if (external) {
        if (!external_bytes(reader, origin, proto, type_packed_bytes(&out->type), &mapping,
                            &offset))
            return false;
        take_bytes(reader, mapping, true, offset, out);
    }
    return bools_are_sound(out) || malformed(reader->ctx, origin, proto,
                                             "is of type bool but holds other bytes than 0 and 1");
}
