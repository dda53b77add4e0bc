#include "frontend/tensors/tensor_file.h"

#include <string.h>

#include "base/str.h"
#include "frontend/onnx/tensor.h"
#include "frontend/tensors/formats.h"

bool tensor_file_error(struct ctx *ctx, const char *path, const char *member, const char *format,
                       ...)
{
    struct arena *arena = &ctx->perm;
    const char *what;
    va_list args;

    va_start(args, format);
    what = arena_vprintf(arena, format, args);
    va_end(args);
    return diag_error(ctx, DIAG_TENSOR_FILE, NULL, "cannot read %s%s%s: %s",
                      str_safe(arena, path, 4096), member ? ", member " : "",
                      member ? str_safe(arena, member, 120) : "", what);
}

/* One TensorProto, by the same scan and decoder as those of a model. */
static bool pb_read(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                    struct bulk *bulk, struct named_tensor *out)
{
    struct arena arena = { NULL };
    struct wire_image image;
    struct tensor_source source = { .externals = NULL };
    struct tensor_reader reader = { .ctx = ctx,
                                    .arena = &arena,
                                    .bulk = bulk,
                                    .file = bytes,
                                    .image = &image,
                                    .source = &source,
                                    .external_files = { .arena = &arena } };
    const Onnx__TensorProto *proto = NULL;
    struct tensor tensor;
    bool ok;

    if (wire_scan(ctx, &onnx__tensor_proto__descriptor, bytes, size, &arena, &image))
        proto = (const Onnx__TensorProto *)wire_unpack(ctx, &onnx__tensor_proto__descriptor, &image,
                                                       &arena);
    ok = proto && tensor_decode(&reader, NULL, proto, &tensor);
    if (ok) {
        out->name = arena_strdup(&ctx->perm, proto->name);
        out->tensor = tensor_new(bulk, &tensor.type);
        memcpy(out->tensor.data, tensor.data, type_bytes(&tensor.type));
    } else {
        diag_note(ctx, "reading %s", str_safe(&ctx->perm, path, 4096));
    }
    arena_release(&arena);
    return ok;
}

static bool begins(const uint8_t *bytes, size_t size, const char *magic, size_t n)
{
    return size >= n && memcmp(bytes, magic, n) == 0;
}

bool tensor_file_read_bytes(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                            struct bulk *bulk, struct named_tensors *out)
{
    *out = (struct named_tensors){ 0 };
    if (begins(bytes, size, "PK\3\4", 4) || begins(bytes, size, "PK\5\6", 4))
        return npz_read(ctx, path, bytes, size, bulk, out);
    out->n = 1;
    out->at = arena_new(&ctx->perm, struct named_tensor);
    out->at->name = "";
    if (begins(bytes, size, "\x93NUMPY", 6))
        return npy_read(ctx, path, NULL, bytes, size, false, bulk, &out->at->tensor);
    if (str_ends(path, ".pb"))
        return pb_read(ctx, path, bytes, size, bulk, out->at);
    return tensor_file_error(ctx, path, NULL,
                             size ? "it is neither a .npy nor a .npz file" : "it is empty");
}

bool tensor_file_read(struct ctx *ctx, const char *path, struct bulk *bulk,
                      struct named_tensors *out)
{
    struct mapping mapping;
    bool ok;

    if (!file_map(ctx, path, &mapping))
        return false;
    ok = tensor_file_read_bytes(ctx, path, mapping.data, mapping.size, bulk, out);
    file_unmap(&mapping);
    return ok;
}

bool tensor_file_read_one(struct ctx *ctx, const char *path, struct bulk *bulk, struct tensor *out)
{
    struct named_tensors all;

    if (!tensor_file_read(ctx, path, bulk, &all))
        return false;
    if (all.n != 1)
        return tensor_file_error(ctx, path, NULL, "it holds %d tensors, expected one", all.n);
    *out = all.at->tensor;
    return true;
}
