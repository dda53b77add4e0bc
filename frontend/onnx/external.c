/* external.c - tensor payloads in files beside the model. The location is text of an untrusted
 * file: the kernel keeps it beneath the folder (file_map_beneath), numbers are compared without
 * sums that could overflow, and a key that the format does not know is an error. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/tensor.h"

struct location {
    const char *path;
    const char *offset, *length; /* decimal text; NULL = not given */
};

static bool refuse(struct tensor_reader *reader, const struct origin *origin,
                   const Onnx__TensorProto *proto, const char *location, const char *reason)
{
    struct arena *arena = &reader->ctx->perm;

    return diag_error(reader->ctx, DIAG_ONNX_EXTERNAL, origin,
                      "external data \"%s\" of tensor \"%s\" cannot be used: %s",
                      str_safe(arena, location, 200), str_safe(arena, proto->name, 120), reason);
}

static bool read_keys(struct tensor_reader *reader, const struct origin *origin,
                      const Onnx__TensorProto *proto, struct location *out)
{
    const char *ignored[2] = { NULL, NULL };
    const struct {
        const char *key;
        const char **value;
    } keys[] = {
        { "location", &out->path },  { "offset", &out->offset },  { "length", &out->length },
        { "checksum", &ignored[0] }, { "basepath", &ignored[1] },
    };

    *out = (struct location){ NULL, NULL, NULL };
    for (size_t i = 0; i < proto->n_external_data; i++) {
        const Onnx__StringStringEntryProto *entry = proto->external_data[i];
        size_t k = 0;

        while (k < sizeof keys / sizeof *keys && strcmp(keys[k].key, entry->key) != 0)
            k++;
        if (k == sizeof keys / sizeof *keys)
            return refuse(reader, origin, proto, entry->key, "this key is not of the format");
        if (*keys[k].value)
            return refuse(reader, origin, proto, entry->key, "this key occurs twice");
        *keys[k].value = entry->value;
    }
    return out->path || refuse(reader, origin, proto, "", "the location is missing");
}

static bool read_decimal(const char *text, size_t *out)
{
    *out = 0;
    if (!*text)
        return false;
    for (; *text; text++)
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(*out, (size_t)10, out) ||
            __builtin_add_overflow(*out, (size_t)(*text - '0'), out))
            return false;
    return true;
}

/* The kernel refuses a path that leaves the folder; one that wanders through '..' inside it is not
 * what an exporter writes, and refused as well. */
static bool has_dot_dot(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return true;
    }
    return false;
}

static struct external_file *external_open(struct tensor_reader *reader, const char *location)
{
    struct external_file *file = map_get(&reader->external_files, location);

    if (file)
        return file;
    file = arena_new(reader->arena, struct external_file);
    file->location = arena_strdup(reader->arena, location);
    file->next = reader->source->externals;
    reader->source->externals = file;
    map_set(&reader->external_files, file->location, file);
    if (!reader->external_dir)
        file->refused = "this model must hold all its data itself";
    else if (has_dot_dot(location))
        file->refused = "the path contains '..'";
    else if (!file_map_beneath(reader->ctx, reader->external_dir, location, &file->mapping,
                               &file->refused))
        file->mapping.size = 0;
    reader->ctx->limits.model_bytes += (int64_t)file->mapping.size;
    return file;
}

bool external_bytes(struct tensor_reader *reader, const struct origin *origin,
                    const Onnx__TensorProto *proto, size_t wanted, struct mapping **mapping,
                    size_t *offset)
{
    struct arena *arena = &reader->ctx->perm;
    struct external_file *file;
    struct location location;
    size_t length = wanted;

    if (!read_keys(reader, origin, proto, &location))
        return false;
    *offset = 0;
    if (location.offset && !read_decimal(location.offset, offset))
        return refuse(reader, origin, proto, location.path, "the offset is not a number of bytes");
    if (location.length && !read_decimal(location.length, &length))
        return refuse(reader, origin, proto, location.path, "the length is not a number of bytes");
    file = external_open(reader, location.path);
    if (file->refused) {
        refuse(reader, origin, proto, location.path, file->refused);
        if (reader->external_dir)
            diag_help(reader->ctx, "--external-data-dir DIR names the folder that holds the data");
        return false;
    }
    if (*offset > file->mapping.size || length > file->mapping.size - *offset)
        return refuse(reader, origin, proto, location.path,
                      arena_printf(arena, "needs %zu bytes at %zu, the file has %zu", length,
                                   *offset, file->mapping.size));
    if (length != wanted)
        return refuse(reader, origin, proto, location.path,
                      arena_printf(arena, "it has %zu bytes there, the tensor's type needs %zu",
                                   length, wanted));
    *mapping = &file->mapping;
    return true;
}

void tensor_source_free(void *pointer)
{
    struct tensor_source *source = pointer;

    for (struct external_file *file = source->externals; file; file = file->next)
        file_unmap(&file->mapping);
    file_unmap(&source->model);
}
