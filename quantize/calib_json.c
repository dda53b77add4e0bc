/* calib_json.c - reads the JSON form: strictly what calib_write_json writes, in any order and
 * layout; members that are not known are ignored, so that later versions may add some. */
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "quantize/calib_forms.h"

struct reader {
    struct ctx *ctx;
    const char *path;
    const char *where; /* the tensor, for messages */
    bool ok;
};

static void wrong(struct reader *r, const char *member, const char *wanted)
{
    r->ok = calib_error(r->ctx, r->path, "%s: '%s' is not %s", r->where, member, wanted);
}

/* Doubles hold counts exactly up to 2^53. */
static const double max_count = 9007199254740992.0;

static bool is_count(const cJSON *item)
{
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= max_count &&
           item->valuedouble == floor(item->valuedouble);
}

static double take_number(struct reader *r, const cJSON *object, const char *member)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, member);

    if (cJSON_IsNumber(item) && isfinite(item->valuedouble))
        return item->valuedouble;
    wrong(r, member, "a finite number");
    return 0;
}

static uint64_t take_count(struct reader *r, const cJSON *object, const char *member)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, member);

    if (is_count(item))
        return (uint64_t)item->valuedouble;
    wrong(r, member, "a whole number of at least 0");
    return 0;
}

static const char *take_text(struct reader *r, const cJSON *object, const char *member)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, member));
    const char *name = text ? str_unescape(&r->ctx->perm, text, strlen(text)) : NULL;

    if (name)
        return name;
    wrong(r, member, "a text with no escape but \\xNN");
    return "";
}

static void take_thresholds(struct reader *r, const cJSON *object, struct calib_tensor *out)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(object, "thresholds"), *item;

    if (!cJSON_IsObject(all)) {
        wrong(r, "thresholds", "an object");
        return;
    }
    out->thresholds = arena_array(&r->ctx->perm, struct calib_threshold, cJSON_GetArraySize(all));
    cJSON_ArrayForEach(item, all)
    {
        struct calib_threshold *threshold = &out->thresholds[out->n_thresholds++];

        threshold->method = arena_strdup(&r->ctx->perm, item->string);
        threshold->value = item->valuedouble;
        if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble) || item->valuedouble < 0)
            wrong(r, str_safe(&r->ctx->perm, item->string, 80), "a threshold of at least 0");
    }
}

static void take_bins(struct reader *r, const cJSON *list, struct histogram *out)
{
    const cJSON *item;
    uint64_t sum = 0;
    int n = 0;

    cJSON_ArrayForEach(item, list)
    {
        if (n == HISTOGRAM_BINS || !is_count(item)) {
            wrong(r, "histogram", "at most 2048 whole numbers of at least 0");
            return;
        }
        out->bins[n] = (uint64_t)item->valuedouble;
        sum += out->bins[n++];
    }
    if (sum != out->n || out->zeros > out->bins[0])
        wrong(r, "histogram", "in accord with 'count' and 'zeros'");
    if (out->limit < 0)
        wrong(r, "limit", "a number of at least 0");
}

static void take_histogram(struct reader *r, const cJSON *object, struct calib_tensor *out)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "histogram");

    if (!list)
        return;
    if (!cJSON_IsArray(list)) {
        wrong(r, "histogram", "an array");
        return;
    }
    out->histogram = arena_new(&r->ctx->perm, struct histogram);
    out->histogram->n = take_count(r, object, "count");
    out->histogram->zeros = take_count(r, object, "zeros");
    out->histogram->limit = take_number(r, object, "limit");
    if (r->ok)
        take_bins(r, list, out->histogram);
}

static void take_tensor(struct reader *r, const cJSON *object, struct map *names,
                        struct calib_tensor *out)
{
    if (!cJSON_IsObject(object)) {
        r->ok = calib_error(r->ctx, r->path, "%s is not an object", r->where);
        return;
    }
    out->name = take_text(r, object, "name");
    out->shape = take_text(r, object, "shape");
    out->min = take_number(r, object, "min");
    out->max = take_number(r, object, "max");
    out->mean = take_number(r, object, "mean");
    if (out->min > out->max)
        wrong(r, "min", "smaller than 'max'");
    if (cJSON_HasObjectItem(object, "non_finite"))
        out->non_finite = take_count(r, object, "non_finite");
    take_thresholds(r, object, out);
    take_histogram(r, object, out);
    if (map_get(names, out->name))
        r->ok = calib_error(r->ctx, r->path, "%s: a second tensor '%s'", r->where,
                            str_safe(&r->ctx->perm, out->name, 200));
    map_set(names, out->name, r);
}

static void take_table(struct reader *r, const cJSON *root, struct calib_table *out)
{
    const char *schema = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "schema"));
    const cJSON *tensors = cJSON_GetObjectItemCaseSensitive(root, "tensors"), *item;
    struct arena arena = { NULL };
    struct map names = { .arena = &arena };

    if (!schema || strcmp(schema, CALIB_SCHEMA) != 0) {
        r->ok = calib_error(r->ctx, r->path, "its 'schema' is not " CALIB_SCHEMA);
        return;
    }
    out->model = take_text(r, root, "model");
    out->n_samples = (int64_t)take_count(r, root, "samples");
    if (take_count(r, root, "histogram_bins") != HISTOGRAM_BINS)
        wrong(r, "histogram_bins", "2048");
    if (!cJSON_IsArray(tensors)) {
        wrong(r, "tensors", "an array");
        return;
    }
    out->at = arena_array(&r->ctx->perm, struct calib_tensor, cJSON_GetArraySize(tensors));
    cJSON_ArrayForEach(item, tensors)
    {
        r->where = arena_printf(&r->ctx->perm, "tensor %d", out->n);
        take_tensor(r, item, &names, &out->at[out->n++]);
    }
    arena_release(&arena);
}

bool calib_read_json(struct ctx *ctx, const char *path, const char *text, size_t n,
                     struct calib_table *out)
{
    struct reader r = { .ctx = ctx, .path = path, .where = "the table", .ok = true };
    const char *end = text;
    cJSON *root = cJSON_ParseWithLengthOpts(text, n, &end, false);
    int line = 1;

    for (const char *at = text; at < end && at < text + n; at++)
        line += *at == '\n';
    if (!root)
        return calib_error(ctx, path, "line %d: this is not JSON", line);
    take_table(&r, root, out);
    cJSON_Delete(root);
    return r.ok;
}
