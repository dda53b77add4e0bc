/* npy.c - one array in numpy's format: magic, version, the length of a header, the header, the
 * elements. The header is a Python dictionary, of which exactly the literal grammar that numpy
 * writes is read: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } */
#include <string.h>

#include "base/str.h"
#include "frontend/tensors/formats.h"

enum { MAX_HEADER = 64 * 1024 };

static const struct {
    const char *descr;
    enum dtype dtype;
} descrs[] = {
    { "|b1", DTYPE_BOOL }, { "|i1", DTYPE_I8 },  { "|u1", DTYPE_U8 },  { "<i2", DTYPE_I16 },
    { "<u2", DTYPE_U16 },  { "<i4", DTYPE_I32 }, { "<u4", DTYPE_U32 }, { "<i8", DTYPE_I64 },
    { "<u8", DTYPE_U64 },  { "<f2", DTYPE_F16 }, { "<f4", DTYPE_F32 }, { "<f8", DTYPE_F64 },
};

enum { N_DESCRS = sizeof descrs / sizeof *descrs };

static const uint8_t magic[6] = { 0x93, 'N', 'U', 'M', 'P', 'Y' };

/* --- the header ------------------------------------------------------------------------------- */

struct header {
    const char *at, *end; /* what is left to read */
    char descr[16];
    bool fortran_order;
    int rank;
    int64_t dim[MAX_RANK];
    unsigned seen; /* a bit per key */
};

static void skip_spaces(struct header *h)
{
    while (h->at < h->end && *h->at == ' ')
        h->at++;
}

/* Takes the text if it comes next, spaces before it included. */
static bool take(struct header *h, const char *text)
{
    const size_t n = strlen(text);

    skip_spaces(h);
    if ((size_t)(h->end - h->at) < n || memcmp(h->at, text, n) != 0)
        return false;
    h->at += n;
    return true;
}

static bool take_quoted(struct header *h, char *out, size_t size)
{
    size_t n = 0;
    char quote;

    skip_spaces(h);
    if (h->at == h->end || (*h->at != '\'' && *h->at != '"'))
        return false;
    quote = *h->at++;
    while (h->at < h->end && *h->at != quote && *h->at != '\\' && n + 1 < size)
        out[n++] = *h->at++;
    out[n] = '\0';
    return h->at < h->end && *h->at++ == quote;
}

static bool take_dim(struct header *h, int64_t *dim)
{
    const char *start;

    skip_spaces(h);
    start = h->at;
    *dim = 0;
    for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
        if (__builtin_mul_overflow(*dim, (int64_t)10, dim) ||
            __builtin_add_overflow(*dim, (int64_t)(*h->at - '0'), dim))
            return false;
    return h->at > start;
}

static bool take_shape(struct header *h)
{
    if (!take(h, "("))
        return false;
    while (!take(h, ")")) {
        if (h->rank == MAX_RANK || !take_dim(h, &h->dim[h->rank++]))
            return false;
        /* A tuple of one has its comma; between others it is needed, behind the last allowed. */
        if (!take(h, ","))
            return h->rank > 1 && take(h, ")");
    }
    return true;
}

static bool take_descr(struct header *h)
{
    return take_quoted(h, h->descr, sizeof h->descr);
}

static bool take_order(struct header *h)
{
    h->fortran_order = take(h, "True");
    return h->fortran_order || take(h, "False");
}

static bool take_entry(struct header *h)
{
    static const struct {
        const char *key;
        bool (*take_value)(struct header *);
    } keys[] = { { "descr", take_descr },
                 { "fortran_order", take_order },
                 { "shape", take_shape } };
    char key[16];

    if (!take_quoted(h, key, sizeof key) || !take(h, ":"))
        return false;
    for (unsigned k = 0; k < sizeof keys / sizeof *keys; k++)
        if (strcmp(keys[k].key, key) == 0 && !(h->seen & 1u << k)) {
            h->seen |= 1u << k;
            return keys[k].take_value(h);
        }
    return false;
}

static bool parse_header(struct header *h)
{
    if (!take(h, "{"))
        return false;
    while (!take(h, "}")) {
        if (!take_entry(h))
            return false;
        if (take(h, ","))
            continue;
        if (!take(h, "}"))
            return false;
        break;
    }
    return take(h, "\n") && h->at == h->end && h->seen == 7;
}

/* Finds the header behind the magic and moves *payload behind it. NULL, or what is wrong. */
static const char *find_header(const uint8_t *bytes, size_t size, struct header *h, size_t *payload)
{
    size_t start, n;

    if (size < 10 || memcmp(bytes, magic, sizeof magic) != 0)
        return "it does not begin as a .npy file";
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return "its format version is not 1.0, 2.0 or 3.0";
    start = bytes[6] == 1 ? 10 : 12;
    if (size < start)
        return "it is cut off";
    n = (size_t)(bytes[8] | bytes[9] << 8);
    if (bytes[6] > 1)
        n |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (n > MAX_HEADER)
        return "its header is longer than 64 KiB";
    if (n > size - start)
        return "its header is cut off";
    *h = (struct header){ .at = (const char *)bytes + start,
                          .end = (const char *)bytes + start + n };
    *payload = start + n;
    return parse_header(h) ? NULL : "its header is not the dictionary that numpy writes";
}

/* --- reading ---------------------------------------------------------------------------------- */

static enum dtype dtype_of_descr(const char *descr)
{
    for (size_t i = 0; i < N_DESCRS; i++)
        if (strcmp(descrs[i].descr, descr) == 0)
            return descrs[i].dtype;
    return DTYPE_NONE;
}

/* Column-major elements to row-major: the coordinates count up as an odometer in the order of the
 * result, and `from` follows. */
static void copy_transposed(const struct type *type, const uint8_t *from, uint8_t *to)
{
    const size_t bytes = dtype_bytes(type->dtype);
    const int64_t n = type_elements(type);
    int64_t step[MAX_RANK], coord[MAX_RANK] = { 0 }, index = 0;

    for (int d = 0; d < type->rank; d++)
        step[d] = d ? step[d - 1] * type->dim[d - 1] : 1;
    for (int64_t i = 0; i < n; i++) {
        memcpy(to + (size_t)i * bytes, from + (size_t)index * bytes, bytes);
        for (int d = type->rank - 1; d >= 0; d--) {
            index += step[d];
            if (++coord[d] < type->dim[d])
                break;
            index -= step[d] * type->dim[d];
            coord[d] = 0;
        }
    }
}

static bool bools_are_sound(const struct type *type, const uint8_t *data)
{
    const int64_t n = type->dtype == DTYPE_BOOL ? type_elements(type) : 0;

    for (int64_t i = 0; i < n; i++)
        if (data[i] > 1)
            return false;
    return true;
}

bool npy_read(struct ctx *ctx, const char *path, const char *member, const uint8_t *bytes,
              size_t size, bool keep, struct bulk *bulk, struct tensor *out)
{
    struct header h;
    size_t at;
    const char *problem = find_header(bytes, size, &h, &at);
    const enum dtype dtype = problem ? DTYPE_NONE : dtype_of_descr(h.descr);

    if (problem)
        return tensor_file_error(ctx, path, member, "%s", problem);
    if (dtype == DTYPE_NONE)
        return tensor_file_error(ctx, path, member,
                                 "its elements are '%s'; bool, integers and floats up to 64 bits, "
                                 "little-endian, are read",
                                 str_safe(&ctx->perm, h.descr, sizeof h.descr));
    out->type = type_make(dtype, h.rank, h.dim);
    if (!type_check_size(ctx, NULL, &out->type))
        return false;
    if (size - at != type_bytes(&out->type))
        return tensor_file_error(ctx, path, member, "it has %zu bytes of elements, %s needs %zu",
                                 size - at, type_text(&ctx->perm, &out->type),
                                 type_bytes(&out->type));
    if (!bools_are_sound(&out->type, bytes + at))
        return tensor_file_error(ctx, path, member, "its bools are other bytes than 0 and 1");
    out->data = (void *)(uintptr_t)(bytes + at);
    if (keep && !h.fortran_order && (uintptr_t)out->data % dtype_bytes(dtype) == 0)
        return true;
    *out = tensor_new(bulk, &out->type);
    if (h.fortran_order)
        copy_transposed(&out->type, bytes + at, out->data);
    else if (size > at)
        memcpy(out->data, bytes + at, size - at);
    return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

static const char *descr_of_dtype(enum dtype dtype)
{
    if (dtype == DTYPE_I4 || dtype == DTYPE_I2)
        return "|i1";
    if (dtype_kind(dtype) == KIND_MINIFLOAT || dtype_kind(dtype) == KIND_EXPONENT ||
        dtype == DTYPE_U4 || dtype == DTYPE_U2)
        return "|u1";
    for (size_t i = 0; i < N_DESCRS; i++)
        if (descrs[i].dtype == dtype)
            return descrs[i].descr;
    return NULL;
}

/* bfloat16 as f32. */
static const void *widened(struct arena *arena, const struct tensor *tensor)
{
    const int64_t n = type_elements(&tensor->type);
    float *data = arena_array(arena, float, n);

    for (int64_t i = 0; i < n; i++)
        data[i] = (float)tensor_at(tensor, i);
    return data;
}

struct npy_image npy_image(struct arena *arena, const struct tensor *tensor)
{
    const struct type *type = &tensor->type;
    const char *descr = descr_of_dtype(type->dtype);
    struct npy_image image = { .payload = descr ? tensor->data : widened(arena, tensor) };
    struct str text = { .arena = arena };
    size_t n;

    image.payload_bytes =
        (size_t)type_elements(type) * (descr ? dtype_bytes(type->dtype) : sizeof(float));
    str_addn(&text, (const char *)magic, sizeof magic);
    str_addn(&text, "\1\0\0\0", 4);
    str_printf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr ? descr : "<f4");
    for (int i = 0; i < type->rank; i++)
        str_printf(&text, i == 0 ? "%lld," : i == 1 ? " %lld" : ", %lld", (long long)type->dim[i]);
    str_add(&text, "), }");
    do
        str_add(&text, " ");
    while ((text.n + 1) % 64);
    str_add(&text, "\n");
    n = text.n - 10;
    text.text[8] = (char)(n & 0xff);
    text.text[9] = (char)(n >> 8);
    image.header = text.text;
    image.header_bytes = text.n;
    return image;
}

void npy_write(struct writer *writer, const struct tensor *tensor)
{
    struct arena arena = { NULL };
    const struct npy_image image = npy_image(&arena, tensor);

    writer_write(writer, image.header, image.header_bytes);
    writer_write(writer, image.payload, image.payload_bytes);
    arena_release(&arena);
}
