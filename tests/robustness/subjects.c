/* subjects.c - sound files. */
#include <string.h>
#include <zip.h>

#include "base/str.h"
#include "driver/driver.h"
#include "frontend/onnx/import.h"
#include "frontend/tensors/tensor_file.h"
#include "relay_ir/json.h"
#include "relay_ir/text.h"
#include "tests/robustness/robustness.h"

static uint64_t seed_of(const char *name)
{
    uint64_t hash = 14695981039346656037u;

    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 1099511628211u;
    return hash;
}

static struct subject subject(struct arena *arena, const char *name, enum kind kind,
                              const void *bytes, size_t size)
{
    return (struct subject){ arena_strdup(arena, name), kind, arena_memdup(arena, bytes, size),
                             size, seed_of(name) };
}

/* "build/networks/mobile/model.onnx" -> "mobile.onnx" */
static const char *short_name(struct arena *arena, const char *path)
{
    const char *name = strrchr(path, '/');
    const char *folder = name;

    name = name ? name + 1 : path;
    if (!folder || strcmp(name, "model.onnx") != 0)
        return name;
    while (folder > path && folder[-1] != '/')
        folder--;
    return arena_printf(arena, "%.*s.onnx", (int)(name - 1 - folder), folder);
}

/* All passes, with all that the accelerators take given to them. */
static bool run_all_passes(struct module *module)
{
    struct driver_state driver = driver_begin(module->ctx, COMMAND_INSPECT);
    bool ok;

    driver_give(&driver, OPTION_OFFLOAD, "sim_npu,cmsis_nn,dnnl");
    driver_give(&driver, OPTION_NO_COST, "");
    ok = prepare_offload(&driver) && run_passes(&driver, module);
    driver_free(&driver);
    return ok;
}

/* The module after all passes, so that damage reaches what code generators rely on. */
static int add_json(struct arena *arena, struct module *module, const char *dir, const char *name,
                    struct subject *out)
{
    const char *path = arena_printf(arena, "%s/%s.json", dir, name);
    struct output_set set = { .ctx = module->ctx };
    struct mapping file;

    if (!run_all_passes(module) ||
        !module_write_json(module, &set, path, arena_printf(arena, "%s/%s.bin", dir, name)) ||
        !output_commit(&set) || !file_map(module->ctx, path, &file))
        return 0;
    *out = subject(arena, arena_printf(arena, "%s.json", name), KIND_JSON, file.data, file.size);
    file_unmap(&file);
    return 1;
}

int load_model_subjects(struct arena *arena, const char *path, const char *dir, struct subject *out)
{
    const char *name = short_name(arena, path);
    struct ctx *ctx = ctx_new(path);
    struct str text = { .arena = &ctx->perm };
    struct module *module = NULL;
    struct mapping file;
    int n = 0;

    if (file_map(ctx, path, &file)) {
        out[n++] = subject(arena, name, KIND_MODEL, file.data, file.size);
        module = onnx_import_bytes(ctx, out->bytes, out->size, NULL, &(struct import_options){ 0 });
        file_unmap(&file);
    } else {
        diag_print(ctx, stdout, false, 1);
    }
    if (module) {
        module_print(module, &text);
        out[n++] = subject(arena, arena_printf(arena, "%s.ir", name), KIND_TEXT, str_text(&text),
                           strlen(str_text(&text)));
        n += add_json(arena, module, dir, name, &out[n]);
    }
    module_free(module);
    ctx_free(ctx);
    return n;
}

/* --- tensor files ----------------------------------------------------------------------------- */

/* A TensorProto: dims 2 and 3, FLOAT, name "w", 24 bytes of raw_data. */
static const uint8_t tensor_proto[] = "\x08\x02\x08\x03\x10\x01\x42\x01w\x4A\x18"
                                      "\0\0\200?\0\0\0@\0\0@@\0\0\200@\0\0\240@\0\0\300@";

static bool write_npy_and_npz(struct ctx *ctx, const char *npy, const char *npz)
{
    float numbers[6] = { 1, 2, 3, 4, 5, 6 };
    int64_t more[3] = { -1, 0, 1 };
    struct named_tensor members[] = {
        { "a", { { .dtype = DTYPE_F32, .rank = 2, .dim = { 2, 3 } }, numbers } },
        { "b", { { .dtype = DTYPE_I64, .rank = 1, .dim = { 3 } }, more } },
    };
    struct output_set set = { .ctx = ctx };

    npy_write(output_open(&set, npy), &members[0].tensor);
    return npz_write(ctx, output_open(&set, npz), &(struct named_tensors){ 2, members }) &&
           output_commit(&set);
}

/* What numpy's savez_compressed writes: relayc only writes stored members. */
static bool write_deflated(const char *path, const struct mapping *npy)
{
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    zip_source_t *source = zip ? zip_source_buffer(zip, npy->data, npy->size, 0) : NULL;
    const zip_int64_t at = source ? zip_file_add(zip, "a.npy", source, 0) : -1;

    return at >= 0 && zip_set_file_compression(zip, (zip_uint64_t)at, ZIP_CM_DEFLATE, 9) == 0 &&
           zip_close(zip) == 0;
}

int make_tensor_subjects(struct arena *arena, const char *dir, struct subject *out)
{
    static const char *const names[] = { "tensor.npy", "stored.npz", "deflated.npz" };
    enum { N_FILES = sizeof names / sizeof *names };
    const char *path[N_FILES];
    struct ctx *ctx = ctx_new(NULL);
    struct mapping file;
    int n = 0;

    for (int i = 0; i < N_FILES; i++)
        path[i] = arena_printf(arena, "%s/%s", dir, names[i]);
    if (write_npy_and_npz(ctx, path[0], path[1]) && file_map(ctx, path[0], &file)) {
        const bool ok = write_deflated(path[2], &file);

        file_unmap(&file);
        for (; ok && n < N_FILES && file_map(ctx, path[n], &file); n++) {
            out[n] = subject(arena, names[n], KIND_TENSORS, file.data, file.size);
            file_unmap(&file);
        }
    }
    out[n++] = subject(arena, "tensor.pb", KIND_TENSORS, tensor_proto, sizeof tensor_proto - 1);
    diag_print(ctx, stdout, false, 0);
    ctx_free(ctx);
    return n == N_TENSOR_SUBJECTS ? n : 0;
}
