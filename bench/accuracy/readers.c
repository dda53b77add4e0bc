#include "bench/accuracy/readers.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/file.h"
#include "base/str.h"
#include "frontend/tensors/image/preprocess.h"

enum {
    DIGIT_BYTES = 28 * 28,
    KEYWORD_BYTES = 490,
    KEYWORD_ZERO = 83,
    FRAME = 128,        /* numbers of a frame of sound */
    WINDOW = 5 * FRAME, /* of what the network sees of them */
    LINE = 512
};

static const float keyword_scale = 0.5847029f;

/* --- folders ---------------------------------------------------------------------------------- */

static void add_path(struct ctx *ctx, struct collection *c, int *capacity, const char *path,
                     int label)
{
    if (c->n == *capacity) {
        const int room = *capacity ? 2 * *capacity : 64;
        const char **paths = arena_array(&ctx->perm, const char *, room);
        int *labels = arena_array(&ctx->perm, int, room);

        if (c->n) {
            memcpy(paths, c->paths, (size_t)c->n * sizeof *paths);
            memcpy(labels, c->labels, (size_t)c->n * sizeof *labels);
        }
        c->paths = paths;
        c->labels = labels;
        *capacity = room;
    }
    c->paths[c->n] = path;
    c->labels[c->n++] = label;
}

/* "file label" in each line. */
static bool read_label_lines(struct ctx *ctx, struct collection *c)
{
    const char *path = arena_printf(&ctx->perm, "%s/labels.txt", c->folder);
    FILE *file = fopen(path, "r");
    char line[LINE], name[LINE];
    int capacity = 0, label, number = 0;

    if (!file)
        return diag_error(ctx, DIAG_FILE_READ, NULL, "cannot open %s", path);
    while (fgets(line, sizeof line, file)) {
        number++;
        if (sscanf(line, "%511s %d", name, &label) != 2 || label < 0) {
            fclose(file);
            return diag_error(ctx, DIAG_FILE_READ, NULL, "%s:%d: wanted is 'file label'", path,
                              number);
        }
        add_path(ctx, c, &capacity, arena_printf(&ctx->perm, "%s/%s", c->folder, name), label);
    }
    fclose(file);
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All images, in the order of their names, without labels. */
static bool list_images(struct ctx *ctx, struct collection *c, const char *folder)
{
    DIR *dir = opendir(folder);
    int capacity = 0;

    if (!dir)
        return diag_error(ctx, DIAG_FILE_READ, NULL, "cannot open the folder %s", folder);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        const char *dot = strrchr(entry->d_name, '.');

        if (dot && (strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0 ||
                    strcasecmp(dot, ".png") == 0))
            add_path(ctx, c, &capacity, arena_printf(&ctx->perm, "%s/%s", folder, entry->d_name),
                     -1);
    }
    closedir(dir);
    if (c->n)
        qsort(c->paths, (size_t)c->n, sizeof *c->paths, compare_names);
    return true;
}

/* 1 when a person's box covers at least 0.5 % of the image, else 0; -1 after an error. */
static int find_person(struct ctx *ctx, const char *folder, const char *image)
{
    const char *slash = strrchr(image, '/') + 1;
    const char *path = arena_printf(&ctx->perm, "%s/labels/%.*s.txt", folder,
                                    (int)(strrchr(slash, '.') - slash), slash);
    FILE *file = fopen(path, "r");
    int class, person = 0;
    double x, y, w, h;

    if (!file) /* an image without any box */
        return 0;
    while (fscanf(file, "%d %lf %lf %lf %lf", &class, &x, &y, &w, &h) == 5)
        person |= class == 0 && w * h >= 0.005;
    if (!feof(file)) {
        diag_error(ctx, DIAG_FILE_READ, NULL, "%s: wanted is 'class x y width height'", path);
        person = -1;
    }
    fclose(file);
    return person;
}

static bool list_persons(struct ctx *ctx, struct collection *c)
{
    if (!list_images(ctx, c, arena_printf(&ctx->perm, "%s/images", c->folder)))
        return false;
    for (int i = 0; i < c->n; i++) {
        c->labels[i] = find_person(ctx, c->folder, c->paths[i]);
        if (c->labels[i] < 0)
            return false;
    }
    return true;
}

/* --- whole files ------------------------------------------------------------------------------ */

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* An IDX file of bytes whose items have `size` of them. */
static const uint8_t *read_idx(struct ctx *ctx, const char *path, size_t header, size_t size,
                               struct bulk *bulk, int *n)
{
    gzFile file = gzopen(path, "rb");
    uint8_t head[16];
    uint8_t *bytes = NULL;
    bool ok = file && gzread(file, head, (unsigned)header) == (int)header;

    if (ok) {
        *n = (int)big_endian(head + 4);
        ok = *n > 0 && *n < 1 << 20;
    }
    if (ok) {
        bytes = bulk_alloc(bulk, (size_t)*n * size);
        ok = gzread(file, bytes, (unsigned)((size_t)*n * size)) == (int)((size_t)*n * size);
    }
    if (file)
        gzclose(file);
    if (ok)
        return bytes;
    diag_error(ctx, DIAG_FILE_READ, NULL, "%s is missing, or no IDX file", path);
    return NULL;
}

static bool read_digits(struct ctx *ctx, struct collection *c, struct bulk *bulk)
{
    int n_labels;
    const uint8_t *labels =
        read_idx(ctx, arena_printf(&ctx->perm, "%s/t10k-labels-idx1-ubyte.gz", c->folder), 8, 1,
                 bulk, &n_labels);

    c->bytes = read_idx(ctx, arena_printf(&ctx->perm, "%s/t10k-images-idx3-ubyte.gz", c->folder),
                        16, DIGIT_BYTES, bulk, &c->n);
    if (!labels || !c->bytes)
        return false;
    if (n_labels != c->n)
        return diag_error(ctx, DIAG_FILE_READ, NULL, "%s has %d images and %d labels", c->folder,
                          c->n, n_labels);
    c->labels = arena_array(&ctx->perm, int, c->n);
    for (int i = 0; i < c->n; i++)
        c->labels[i] = labels[i];
    return true;
}

/* The one file of the folder. */
static bool read_windows(struct ctx *ctx, struct collection *c, struct bulk *bulk)
{
    const char *path =
        arena_printf(&ctx->perm, "%s/%s", c->folder, "ad01_normal_id_01_00000000_hist_librosa.bin");
    struct mapping mapping;
    void *bytes;

    if (!file_map(ctx, path, &mapping))
        return false;
    bytes = bulk_alloc(bulk, mapping.size);
    memcpy(bytes, mapping.data, mapping.size);
    c->bytes = bytes;
    c->n = ((int)(mapping.size / sizeof(float)) - WINDOW) / FRAME + 1;
    file_unmap(&mapping);
    c->labels = arena_array(&ctx->perm, int, c->n);
    memset(c->labels, -1, (size_t)c->n * sizeof *c->labels);
    return true;
}

bool collection_open(struct ctx *ctx, const char *folder, const struct network *network,
                     bool labelled, struct bulk *bulk, struct collection *out)
{
    bool ok = false;

    *out = (struct collection){ .kind = network->kind,
                                .folder = folder,
                                .preprocess = network->preprocess };
    if (!labelled)
        ok = list_images(ctx, out, folder);
    else
        switch (network->kind) {
        case DATA_IMAGES:
        case DATA_KEYWORD: ok = read_label_lines(ctx, out); break;
        case DATA_PERSON: ok = list_persons(ctx, out); break;
        case DATA_DIGITS: ok = read_digits(ctx, out, bulk); break;
        case DATA_WINDOWS: ok = read_windows(ctx, out, bulk); break;
        }
    if (ok && out->n == 0)
        return diag_error(ctx, DIAG_FILE_READ, NULL, "%s holds no data", folder);
    return ok;
}

/* --- one sample ------------------------------------------------------------------------------- */

static bool read_image(const struct collection *c, struct ctx *ctx, const char *path,
                       const struct type *type, float *out)
{
    struct arena arena = { NULL };
    struct bulk bulk = { 0 };
    struct preprocessing how;
    struct mapping mapping;
    struct image image;
    struct tensor tensor;
    bool ok = preprocessing_parse(ctx, c->folder, c->preprocess, strlen(c->preprocess), &how) &&
              file_map(ctx, path, &mapping);

    if (!ok)
        return false;
    ok = image_decode(ctx, path, mapping.data, mapping.size, &arena, &image) &&
         preprocess_image(ctx, path, &how, &image, type, &arena, &bulk, &tensor);
    if (ok)
        memcpy(out, tensor.data, type_bytes(type));
    file_unmap(&mapping);
    arena_release(&arena);
    bulk_release(&bulk);
    return ok;
}

static bool read_keyword(struct ctx *ctx, const char *path, float *out)
{
    struct mapping mapping;
    bool ok;

    if (!file_map(ctx, path, &mapping))
        return false;
    ok = mapping.size == KEYWORD_BYTES ||
         diag_error(ctx, DIAG_FILE_READ, NULL, "%s has %zu bytes, wanted are %d", path,
                    mapping.size, KEYWORD_BYTES);
    for (int i = 0; ok && i < KEYWORD_BYTES; i++)
        out[i] = (float)((int8_t)mapping.data[i] - KEYWORD_ZERO) * keyword_scale;
    file_unmap(&mapping);
    return ok;
}

static int64_t elements_of(const struct collection *c)
{
    switch (c->kind) {
    case DATA_DIGITS: return DIGIT_BYTES;
    case DATA_KEYWORD: return KEYWORD_BYTES;
    case DATA_WINDOWS: return WINDOW;
    default: return 0; /* images are made to fit */
    }
}

bool collection_read(const struct collection *c, struct ctx *ctx, int index,
                     const struct type *type, float *out)
{
    const int64_t n = elements_of(c);

    if (type->dtype != DTYPE_F32 || (n && n != type_elements(type)))
        return diag_error(ctx, DIAG_INPUT_MISMATCH, NULL, "%s is no data for an input %s",
                          c->folder, type_text(&ctx->perm, type));
    switch (c->kind) {
    case DATA_IMAGES:
    case DATA_PERSON: return read_image(c, ctx, c->paths[index], type, out);
    case DATA_KEYWORD: return read_keyword(ctx, c->paths[index], out);
    case DATA_DIGITS:
        for (int i = 0; i < DIGIT_BYTES; i++)
            out[i] = ((const uint8_t *)c->bytes)[(size_t)index * DIGIT_BYTES + (size_t)i];
        return true;
    case DATA_WINDOWS:
        memcpy(out, (const float *)c->bytes + (size_t)index * FRAME, WINDOW * sizeof *out);
        return true;
    }
    return false;
}
