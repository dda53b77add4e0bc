/* truth_boxes.c - labels of detections: YOLO's text files. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/str.h"
#include "eval/truth.h"
#include "frontend/tensors/image/image.h"

enum { COLUMNS = 5 };

/* "FOLDER/NAME.txt" for ".../NAME.jpg" */
static const char *label_path(struct ctx *ctx, const char *folder, const char *image)
{
    const char *slash = strrchr(image, '/'), *name = slash ? slash + 1 : image;
    const char *dot = strrchr(name, '.');

    return arena_printf(&ctx->perm, "%s/%.*s.txt", folder,
                        (int)(dot ? (size_t)(dot - name) : strlen(name)), name);
}

static bool parse_row(const char *line, const struct image_size *size, struct box *out)
{
    double numbers[COLUMNS];
    char *end;

    for (int i = 0; i < COLUMNS; i++) {
        numbers[i] = strtod(line, &end);
        if (end == line || !(numbers[i] >= (i ? -1.0 : 0.0)) || numbers[i] > (i ? 2 : 1e6))
            return false;
        line = end;
    }
    if (line[strspn(line, " \t\r")] || numbers[0] != (double)(int)numbers[0])
        return false;
    *out = (struct box){ .x0 = (numbers[1] - numbers[3] / 2) * size->width,
                         .y0 = (numbers[2] - numbers[4] / 2) * size->height,
                         .x1 = (numbers[1] + numbers[3] / 2) * size->width,
                         .y1 = (numbers[2] + numbers[4] / 2) * size->height,
                         .class = (int)numbers[0] };
    return true;
}

static bool read_rows(struct ctx *ctx, const char *path, const struct image_size *size,
                      struct boxes *out)
{
    struct mapping mapping;
    char *text, *line;
    int64_t most = 1;
    int number = 0;
    bool ok = true;

    if (!file_map(ctx, path, &mapping))
        return false;
    text = arena_strndup(&ctx->perm, (const char *)mapping.data, mapping.size);
    file_unmap(&mapping);
    for (const char *at = text; *at; at++)
        most += *at == '\n';
    out->at = arena_array(&ctx->perm, struct box, most);
    for (; text && *text; text = line) {
        line = strchr(text, '\n');
        if (line)
            *line++ = '\0';
        number++;
        if (!text[strspn(text, " \t\r")])
            continue;
        if (parse_row(text, size, &out->at[out->n])) {
            out->n++;
            continue;
        }
        ok = diag_error(ctx, DIAG_LABELS, NULL, "%s:%d: '%s' is not a box",
                        str_safe(&ctx->perm, path, 4096), number, str_safe(&ctx->perm, text, 80));
        diag_help(ctx, "expected 'CLASS CX CY WIDTH HEIGHT', in parts of the image");
    }
    return ok;
}

static bool read_size(struct ctx *ctx, const char *path, struct image_size *out)
{
    struct arena arena = { NULL };
    struct mapping mapping;
    struct image image = { 0 };
    bool ok;

    if (!file_map(ctx, path, &mapping))
        return false;
    ok = image_decode(ctx, path, mapping.data, mapping.size, &arena, &image);
    *out = (struct image_size){ image.width, image.height };
    file_unmap(&mapping);
    arena_release(&arena);
    return ok;
}

bool truth_read_boxes(struct ctx *ctx, const char *folder, const char *const *paths, int64_t n,
                      struct truth *out)
{
    struct stat st;
    int64_t n_files = 0;
    bool ok = true;

    *out = (struct truth){ .n = n };
    if (!paths)
        return diag_error(ctx, DIAG_LABELS, NULL, "box labels need images, and the data has none");
    if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
        return diag_error(ctx, DIAG_FILE_READ, NULL, "%s is not a folder of label files",
                          str_safe(&ctx->perm, folder, 4096));
    out->boxes = arena_array(&ctx->perm, struct boxes, n);
    out->sizes = arena_array(&ctx->perm, struct image_size, n);
    for (int64_t i = 0; i < n; i++) {
        const char *path = label_path(ctx, folder, paths[i]);

        ok = read_size(ctx, paths[i], &out->sizes[i]) && ok;
        if (stat(path, &st) != 0)
            continue;
        n_files++;
        ok = read_rows(ctx, path, &out->sizes[i], &out->boxes[i]) && ok;
        for (int64_t k = 0; k < out->boxes[i].n; k++)
            if (out->boxes[i].at[k].class >= out->n_classes)
                out->n_classes = out->boxes[i].at[k].class + 1;
    }
    if (ok && n && n_files == 0) {
        ok = diag_error(ctx, DIAG_LABELS, NULL, "%s has no label file for any of %lld images",
                        str_safe(&ctx->perm, folder, 4096), (long long)n);
        diag_help(ctx, "the first one is %s",
                  str_safe(&ctx->perm, label_path(ctx, folder, paths[0]), 4096));
    }
    return ok;
}

void truth_is_present(struct ctx *ctx, struct truth *truth, int class, double share)
{
    truth->classes = arena_array(&ctx->perm, int, truth->n);
    truth->n_classes = 2;
    for (int64_t i = 0; i < truth->n; i++) {
        const double area = (double)truth->sizes[i].width * truth->sizes[i].height;

        for (int64_t k = 0; k < truth->boxes[i].n; k++) {
            const struct box *box = &truth->boxes[i].at[k];

            truth->classes[i] |=
                box->class == class && (box->x1 - box->x0) * (box->y1 - box->y0) >= share * area;
        }
    }
}
