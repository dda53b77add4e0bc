/* tried.c - reads what searches have tried (tried.h). */
#include "report/tried.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "report/read.h"

static struct tried *add(struct ctx *ctx, struct tried_list *list)
{
    if (list->n == list->room) {
        struct tried *larger = arena_array(&ctx->perm, struct tried, 2 * list->room + 64);

        if (list->n)
            memcpy(larger, list->at, (size_t)list->n * sizeof *larger);
        list->at = larger;
        list->room = 2 * list->room + 64;
    }
    list->at[list->n] = (struct tried){ "?",         "trial",     (double)NAN, (double)NAN,
                                        (double)NAN, (double)NAN, (double)NAN, (double)NAN };
    return &list->at[list->n++];
}

/* Infinite losses are texts in a .jsonl, null in JSON: unknown here, as they cannot be drawn. */
static double number_in(const cJSON *json, const char *key)
{
    const cJSON *item = json ? cJSON_GetObjectItemCaseSensitive(json, key) : NULL;

    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

static const char *text_or(const char *text, const char *missing)
{
    return text ? text : missing;
}

/* --- relayc search: PREFIX.jsonl, an object a line behind the first ---------------------------- */

static bool read_lines(struct reader *reader, const char *text, struct tried_list *trials)
{
    const char *line = strchr(text, '\n');

    while (line && *++line) {
        const char *end = strchr(line, '\n');
        cJSON *json;
        struct tried *tried;

        if (!end)
            break; /* not finished yet */
        json =
            read_json_text(reader, arena_strndup(&reader->ctx->perm, line, (size_t)(end - line)));
        if (!json)
            return false;
        tried = add(reader->ctx, trials);
        tried->what = text_or(read_text(reader, json, "what"), "?");
        tried->loss = number_in(json, "loss");
        tried->cosine = number_in(json, "cos");
        tried->value = number_in(json, "task");
        cJSON_Delete(json);
        line = end;
    }
    trials->from = reader->path;
    return !reader->failed;
}

/* --- JSON -------------------------------------------------------------------------------------- */

static void read_front(struct reader *reader, const cJSON *root, struct tried_list *points)
{
    const cJSON *json;

    cJSON_ArrayForEach(json, read_list(reader, root, "front"))
    {
        struct tried *tried = add(reader->ctx, points);
        const cJSON *score = read_object(reader, json, "score");

        tried->what = text_or(read_text(reader, json, "network"), "?");
        tried->state = "front";
        tried->flash = number_in(json, "flash");
        tried->ram = number_in(json, "ram");
        tried->seconds = number_in(json, "seconds");
        tried->loss = number_in(score, "loss");
        tried->cosine = number_in(score, "cos");
        tried->value = number_in(score, "metric");
    }
}

/* What failed has no numbers, and is not shown. */
static void read_recipes(struct reader *reader, const cJSON *root, struct tried_list *points)
{
    const char *best = read_text(reader, root, "recommended");
    const cJSON *json;

    points->metric = read_text(reader, root, "metric");
    cJSON_ArrayForEach(json, read_list(reader, root, "recipes"))
    {
        const char *state = text_or(read_text(reader, json, "state"), "?");
        const char *what = text_or(read_text(reader, json, "recipe"), "?");
        struct tried *tried;

        if (strcmp(state, "failed") == 0)
            continue;
        tried = add(reader->ctx, points);
        tried->what = what;
        tried->state = best && strcmp(best, what) == 0 ? "recommended" : state;
        tried->flash = number_in(json, "weight_bytes");
        tried->ram = number_in(json, "arena_bytes");
        tried->seconds = number_in(json, "seconds");
        tried->loss = number_in(json, "loss");
        tried->value = number_in(json, "value");
    }
}

static bool read_one(struct reader *reader, const char *text, struct tried_list *points)
{
    cJSON *root = read_json_text(reader, text);
    const char *schema = root ? read_text(reader, root, "schema") : NULL;

    if (!root)
        return false;
    if (schema && str_starts(schema, "relayc-search-"))
        read_front(reader, root, points);
    else if (schema && str_starts(schema, "relayc-quantize-"))
        read_recipes(reader, root, points);
    else
        read_error(reader,
                   "it is no report of relayc search or relayc quantize with --json, and no "
                   ".jsonl of relayc search");
    points->from = reader->path;
    cJSON_Delete(root);
    return !reader->failed;
}

bool tried_read(struct ctx *ctx, const char *path, struct tried_list *trials,
                struct tried_list *points)
{
    struct reader reader = { ctx, path, false };
    struct mapping file;
    const char *text;

    if (!file_map(ctx, path, &file))
        return false;
    text = arena_strndup(&ctx->perm, (const char *)file.data, file.size);
    file_unmap(&file);
    return str_starts(text, "{\"relayc_search\"") ? read_lines(&reader, text, trials)
                                                  : read_one(&reader, text, points);
}
