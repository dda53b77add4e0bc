/* spec.c - reads the JSON that says how pictures are prepared. */
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "frontend/tensors/image/preprocess.h"

enum { MAX_SPEC_BYTES = 1 << 20 };

struct reader {
    struct ctx *ctx;
    const char *path;
    bool ok;
};

static bool spec_error(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool spec_error(struct reader *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    diag_error(r->ctx, DIAG_PREPROCESSING, NULL, "%s: %s", str_safe(&r->ctx->perm, r->path, 4096),
               arena_vprintf(&r->ctx->perm, format, args));
    va_end(args);
    return r->ok = false;
}

/* A misspelt member would silently do nothing. */
static void check_members(struct reader *r, const cJSON *object, const char *where,
                          const char *const *known, size_t n)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, object)
    {
        const char *nearest = str_nearest(item->string, known, n);
        bool found = false;

        for (size_t i = 0; i < n; i++)
            found |= strcmp(known[i], item->string) == 0;
        if (found)
            continue;
        spec_error(r, "%s has no member '%s'", where, str_safe(&r->ctx->perm, item->string, 80));
        if (nearest)
            diag_help(r->ctx, "did you mean '%s'?", nearest);
    }
}

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static int take_side(struct reader *r, const cJSON *object, const char *where, const char *name)
{
    const cJSON *item = member(object, name);

    if (cJSON_IsNumber(item) && item->valuedouble >= 1 && item->valuedouble <= MAX_IMAGE_SIDE &&
        item->valuedouble == floor(item->valuedouble))
        return item->valueint;
    spec_error(r, "%s: '%s' is not a whole number from 1 to %d", where, name, MAX_IMAGE_SIDE);
    return 1;
}

/* Which of the words; `missing` when the member is absent. */
static int take_word(struct reader *r, const cJSON *object, const char *name,
                     const char *const *words, int missing)
{
    const cJSON *item = member(object, name);
    const char *text = cJSON_GetStringValue(item);
    struct str list = { .arena = &r->ctx->perm };

    if (!item)
        return missing;
    for (int i = 0; words[i]; i++) {
        if (text && strcmp(words[i], text) == 0)
            return i;
        str_printf(&list, "%s\"%s\"", i ? (words[i + 1] ? ", " : " or ") : "", words[i]);
    }
    spec_error(r, "'%s' is not %s", name, str_text(&list));
    return missing;
}

static void take_real(struct reader *r, const cJSON *object, const char *name, double *out)
{
    const cJSON *item = member(object, name);

    if (!item)
        return;
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
        spec_error(r, "'%s' is not a finite number", name);
    else
        *out = item->valuedouble;
}

/* One number for all channels, or one for each. */
static void take_per_channel(struct reader *r, const cJSON *object, const char *name, int n,
                             double out[3])
{
    const cJSON *item = member(object, name), *number;
    int i = 0;

    if (!item)
        return;
    if (cJSON_IsNumber(item)) {
        take_real(r, object, name, &out[0]);
        out[1] = out[2] = out[0];
        return;
    }
    if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != n) {
        spec_error(r, "'%s' is neither a number nor an array of %d, one for each channel", name, n);
        return;
    }
    cJSON_ArrayForEach(number, item)
    {
        if (!cJSON_IsNumber(number) || !isfinite(number->valuedouble))
            spec_error(r, "'%s': element %d is not a finite number", name, i);
        out[i++] = number->valuedouble;
    }
}

static void take_resize(struct reader *r, const cJSON *object, struct preprocessing *out)
{
    static const char *const known[] = { "mode",      "size", "width", "height",
                                         "antialias", "fill", "place", "round" };
    static const char *const modes[] = { "shorter", "exact", "letterbox", NULL };
    static const char *const places[] = { "centre", "top-left", NULL };
    static const char *const rounds[] = { "nearest", "down", NULL };
    const cJSON *antialias = member(object, "antialias");

    if (!cJSON_IsObject(object) || !member(object, "mode")) {
        spec_error(r, "'resize' is not an object with a 'mode'");
        return;
    }
    check_members(r, object, "'resize'", known, sizeof known / sizeof *known);
    out->resize = (enum resize_mode)(1 + take_word(r, object, "mode", modes, 0));
    if (out->resize == RESIZE_SHORTER) {
        out->size = take_side(r, object, "'resize'", "size");
    } else {
        out->width = take_side(r, object, "'resize'", "width");
        out->height = take_side(r, object, "'resize'", "height");
    }
    if (antialias && !cJSON_IsBool(antialias))
        spec_error(r, "'antialias' is not true or false");
    out->antialias = !antialias || cJSON_IsTrue(antialias);
    take_real(r, object, "fill", &out->fill);
    if (out->fill < 0 || out->fill > 255)
        spec_error(r, "'fill' is not in 0 .. 255");
    out->top_left = take_word(r, object, "place", places, 0) == 1;
    out->round_down = take_word(r, object, "round", rounds, 0) == 1;
}

static void take_crop(struct reader *r, const cJSON *object, struct preprocessing *out)
{
    static const char *const known[] = { "width", "height" };

    if (!cJSON_IsObject(object)) {
        spec_error(r, "'crop' is not an object");
        return;
    }
    check_members(r, object, "'crop'", known, sizeof known / sizeof *known);
    out->crop_width = take_side(r, object, "'crop'", "width");
    out->crop_height = take_side(r, object, "'crop'", "height");
}

static void take_dtype(struct reader *r, const cJSON *root, struct preprocessing *out)
{
    const cJSON *item = member(root, "dtype");
    const char *text = cJSON_GetStringValue(item);
    const enum dtype dtype = text ? dtype_from_name(text) : DTYPE_NONE;

    if (!item)
        return;
    if (dtype_is_float(dtype) || dtype_is_integer(dtype))
        out->dtype = dtype;
    else
        spec_error(r, "'dtype' is not an element type, such as \"f32\" or \"u8\"");
}

static void take_spec(struct reader *r, const cJSON *root, struct preprocessing *out)
{
    static const char *const known[] = { "resize", "crop", "channels", "scale",
                                         "mean",   "std",  "layout",   "dtype" };
    static const char *const orders[] = { "RGB", "BGR", "gray", NULL };
    static const char *const layouts[] = { "NCHW", "NHWC", NULL };
    int n_channels;

    check_members(r, root, "the file", known, sizeof known / sizeof *known);
    if (member(root, "resize"))
        take_resize(r, member(root, "resize"), out);
    if (member(root, "crop"))
        take_crop(r, member(root, "crop"), out);
    out->channels = (enum channel_order)take_word(r, root, "channels", orders, CHANNELS_RGB);
    out->nhwc = take_word(r, root, "layout", layouts, 0) == 1;
    n_channels = out->channels == CHANNELS_GRAY ? 1 : 3;
    take_real(r, root, "scale", &out->scale);
    take_per_channel(r, root, "mean", n_channels, out->mean);
    take_per_channel(r, root, "std", n_channels, out->std);
    for (int i = 0; i < n_channels && r->ok; i++)
        if (out->std[i] == 0)
            spec_error(r, "'std' is 0; elements are divided by it");
    take_dtype(r, root, out);
}

struct preprocessing preprocessing_default(void)
{
    return (struct preprocessing){
        .scale = 1, .std = { 1, 1, 1 }, .antialias = true, .dtype = DTYPE_F32
    };
}

bool preprocessing_parse(struct ctx *ctx, const char *path, const char *text, size_t n,
                         struct preprocessing *out)
{
    struct reader r = { ctx, path, true };
    const char *end = text;
    cJSON *root = n <= MAX_SPEC_BYTES ? cJSON_ParseWithLengthOpts(text, n, &end, false) : NULL;
    int line = 1;

    *out = preprocessing_default();
    for (const char *at = text; at < end && at < text + n; at++)
        line += *at == '\n';
    if (!root)
        spec_error(&r, "line %d: this is not JSON", line);
    else if (!cJSON_IsObject(root))
        spec_error(&r, "it is not a JSON object");
    else
        take_spec(&r, root, out);
    cJSON_Delete(root);
    return r.ok;
}

bool preprocessing_read(struct ctx *ctx, const char *path, struct preprocessing *out)
{
    struct mapping mapping;
    bool ok;

    if (!file_map(ctx, path, &mapping))
        return false;
    ok = preprocessing_parse(ctx, path, (const char *)mapping.data, mapping.size, out);
    file_unmap(&mapping);
    return ok;
}
