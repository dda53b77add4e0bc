/* npz.c - a zip archive of .npy members. Sizes come from the central directory and are held against
 * what unpacking yields; caps keep a small file from unpacking into a huge one. */
#include <string.h>
#include <zip.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/str.h"
#include "frontend/tensors/formats.h"

enum {
    MAX_MEMBERS = 100000,
    MAX_RATIO = 1000 /* unpacked to packed; deflate cannot do more than 1032 (RFC 1951) */
};
static const uint64_t max_total = (uint64_t)1 << 34; /* 16 GiB of all members together */

struct archive {
    struct ctx *ctx;
    const char *path;
    size_t size; /* of the file */
    zip_t *zip;
    struct map names;
    uint64_t packed, unpacked; /* of the members so far */
};

/* The checked size of a member, and its name. */
static bool check_member(struct archive *a, zip_uint64_t index, zip_stat_t *st)
{
    const zip_uint64_t wanted =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;

    zip_stat_init(st);
    if (zip_stat_index(a->zip, index, 0, st) != 0 || (st->valid & wanted) != wanted)
        return tensor_file_error(a->ctx, a->path, NULL, "member %llu has no proper entry",
                                 (unsigned long long)index);
    if (!str_ends(st->name, ".npy"))
        return tensor_file_error(a->ctx, a->path, st->name, "it is not a .npy member");
    if (map_get(&a->names, st->name))
        return tensor_file_error(a->ctx, a->path, st->name, "two members have this name");
    if (st->comp_method != ZIP_CM_STORE && st->comp_method != ZIP_CM_DEFLATE)
        return tensor_file_error(a->ctx, a->path, st->name,
                                 "it is packed by method %u; stored and deflated members are read",
                                 (unsigned)st->comp_method);
    if (st->size / MAX_RATIO > st->comp_size || st->size > max_total - a->unpacked ||
        st->comp_size > a->size - a->packed)
        return tensor_file_error(a->ctx, a->path, st->name, "%llu packed bytes cannot hold %llu",
                                 (unsigned long long)st->comp_size, (unsigned long long)st->size);
    a->packed += st->comp_size;
    a->unpacked += st->size;
    return true;
}

/* Unpacks exactly `size` bytes; libzip checks the CRC when the end is read. */
static bool unpack_member(struct archive *a, zip_uint64_t index, const zip_stat_t *st,
                          uint8_t *bytes)
{
    zip_file_t *file = zip_fopen_index(a->zip, index, 0);
    uint64_t n = 0;
    zip_int64_t got = 0;
    uint8_t beyond;

    while (file && n < st->size && (got = zip_fread(file, bytes + n, st->size - n)) > 0)
        n += (uint64_t)got;
    if (file && n == st->size)
        got = zip_fread(file, &beyond, 1);
    if (file)
        zip_fclose(file);
    if (!file || n != st->size || got != 0)
        return tensor_file_error(a->ctx, a->path, st->name, "it does not unpack to its %llu bytes",
                                 (unsigned long long)st->size);
    return true;
}

static bool read_member(struct archive *a, zip_uint64_t index, struct bulk *bulk,
                        struct named_tensor *out)
{
    zip_stat_t st;
    uint8_t *bytes;
    char *name;

    if (!check_member(a, index, &st))
        return false;
    name = arena_strdup(&a->ctx->perm, st.name);
    map_set(&a->names, name, name);
    bytes = bulk_alloc(bulk, (size_t)st.size);
    out->name = arena_strndup(&a->ctx->perm, name, strlen(name) - strlen(".npy"));
    return unpack_member(a, index, &st, bytes) &&
           npy_read(a->ctx, a->path, name, bytes, (size_t)st.size, true, bulk, &out->tensor);
}

static bool zip_failure(struct ctx *ctx, const char *path, zip_error_t *error)
{
    tensor_file_error(ctx, path, NULL, "%s", str_safe(&ctx->perm, zip_error_strerror(error), 200));
    zip_error_fini(error);
    return false;
}

static void discard(void *zip, size_t size)
{
    (void)size;
    zip_discard(zip);
}

bool npz_read(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
              struct bulk *bulk, struct named_tensors *out)
{
    struct archive a = { .ctx = ctx, .path = path, .size = size, .names = { .arena = &ctx->perm } };
    zip_error_t error;
    zip_source_t *source;
    zip_int64_t n;
    bool ok = true;

    zip_error_init(&error);
    source = zip_source_buffer_create(bytes, size, 0, &error);
    a.zip = source ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error) : NULL;
    if (!a.zip) {
        zip_source_free(source);
        return zip_failure(ctx, path, &error);
    }
    memory_own(a.zip, discard, 0);
    n = zip_get_num_entries(a.zip, 0);
    if (n > MAX_MEMBERS)
        ok = tensor_file_error(ctx, path, NULL, "it has %lld members", (long long)n);
    out->at = arena_array(&ctx->perm, struct named_tensor, ok ? n : 0);
    for (out->n = 0; ok && out->n < n; out->n++)
        ok = read_member(&a, (zip_uint64_t)out->n, bulk, &out->at[out->n]);
    memory_disown(a.zip);
    zip_discard(a.zip);
    zip_error_fini(&error);
    return ok;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* One member, stored, dated to the first day of the format so that the same tensors give the same
 * bytes. The image lives in the arena until the archive is closed. */
static bool add_member(zip_t *zip, struct arena *arena, const struct named_tensor *tensor)
{
    const struct npy_image image = npy_image(arena, &tensor->tensor);
    const size_t size = image.header_bytes + image.payload_bytes;
    char *bytes = arena_alloc(arena, size);
    zip_source_t *source;
    zip_int64_t index;

    memcpy(bytes, image.header, image.header_bytes);
    if (image.payload_bytes)
        memcpy(bytes + image.header_bytes, image.payload, image.payload_bytes);
    source = zip_source_buffer(zip, bytes, size, 0);
    index =
        zip_file_add(zip, arena_printf(arena, "%s.npy", tensor->name), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return false;
    }
    return zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) == 0 &&
           zip_file_set_dostime(zip, (zip_uint64_t)index, 0, 1 << 5 | 1, 0) == 0;
}

static bool copy_source(zip_source_t *source, struct writer *writer)
{
    char buffer[4096];
    zip_int64_t n;

    if (zip_source_open(source) != 0)
        return false;
    while ((n = zip_source_read(source, buffer, sizeof buffer)) > 0)
        writer_write(writer, buffer, (size_t)n);
    zip_source_close(source);
    return n == 0;
}

bool npz_write(struct ctx *ctx, struct writer *writer, const struct named_tensors *tensors)
{
    struct arena arena = { NULL };
    zip_error_t error;
    zip_source_t *source;
    zip_t *zip = NULL;
    bool ok;

    zip_error_init(&error);
    source = zip_source_buffer_create(NULL, 0, 0, &error);
    if (source) {
        zip_source_keep(source); /* closing the archive must not take its bytes away */
        zip = zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error);
    }
    ok = zip != NULL;
    for (int i = 0; ok && i < tensors->n; i++)
        ok = add_member(zip, &arena, &tensors->at[i]);
    ok = ok && zip_close(zip) == 0 && copy_source(source, writer);
    if (!ok)
        diag_error(ctx, DIAG_FILE_WRITE, NULL, "cannot make the .npz file: %s",
                   str_safe(&ctx->perm, zip ? zip_strerror(zip) : zip_error_strerror(&error), 200));
    if (!ok && zip)
        zip_discard(zip);
    zip_source_free(source);
    zip_error_fini(&error);
    arena_release(&arena);
    return ok;
}
