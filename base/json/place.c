/* place.c - see place.h.
 *
 * needs    a text that cJSON accepts
 * gives    line and column of every item
 * method   text and tree are walked side by side: cJSON keeps all members in the order of the text.
 *          The walk is as deep as the tree, which cJSON limits */
#include "base/json/place.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"

struct scanner {
    struct json_file *json;
    const char *at;
    const char *line_start;
    int line;
};

static int column(const struct scanner *scanner)
{
    return (int)(scanner->at - scanner->line_start) + 1;
}

static void step(struct scanner *scanner)
{
    if (*scanner->at == '\0')
        return;
    if (*scanner->at++ == '\n') {
        scanner->line++;
        scanner->line_start = scanner->at;
    }
}

/* Blanks, and the punctuation that says no more than the tree does. */
static void skip_between(struct scanner *scanner)
{
    while (*scanner->at && ((unsigned char)*scanner->at <= ' ' || strchr(",:", *scanner->at)))
        step(scanner);
}

static void skip_string(struct scanner *scanner)
{
    for (step(scanner); *scanner->at && *scanner->at != '"'; step(scanner))
        if (*scanner->at == '\\')
            step(scanner);
    step(scanner);
}

static bool place_error(struct json_file *json, int line, int at_column, const char *message)
{
    const struct source source = { .file = json->name, .line = line, .column = at_column };

    json->failed = true;
    return source_error(json->ctx, &source, 0, "%s", message);
}

/* What no text of a target needs, and what a terminal would obey. */
static bool is_plain(const char *raw, const char *said)
{
    for (; *said; said++)
        if ((unsigned char)*said < ' ' || *said == 0x7f)
            return false;
    for (; *raw && *raw != '"'; raw++)
        if (*raw == '\\') {
            if (strncmp(raw, "\\u0000", 6) == 0)
                return false;
            raw += raw[1] != '\0';
        }
    return true;
}

static void check_string(struct scanner *scanner, const char *said)
{
    if (!is_plain(scanner->at + 1, said))
        place_error(scanner->json, scanner->line, column(scanner),
                    "this text has a line break or another control character in it");
}

static void place_item(struct scanner *scanner, const cJSON *item)
{
    struct json_place *place = &scanner->json->places[scanner->json->n_places++];
    const char close = cJSON_IsArray(item) ? ']' : '}';

    *place = (struct json_place){ .item = item };
    if (item->string) {
        skip_between(scanner);
        place->key_line = scanner->line;
        place->key_column = column(scanner);
        check_string(scanner, item->string);
        skip_string(scanner);
    }
    skip_between(scanner);
    place->line = scanner->line;
    place->column = column(scanner) + cJSON_IsString(item);
    place->offset = (size_t)(scanner->at - scanner->json->text) + (cJSON_IsString(item) ? 1 : 0);
    if (cJSON_IsString(item)) {
        check_string(scanner, item->valuestring);
        skip_string(scanner);
        return;
    }
    if (!cJSON_IsArray(item) && !cJSON_IsObject(item)) {
        while (*scanner->at && (unsigned char)*scanner->at > ' ' && !strchr(",]}", *scanner->at))
            step(scanner);
        return;
    }
    step(scanner);
    for (const cJSON *child = item->child; child; child = child->next)
        place_item(scanner, child);
    skip_between(scanner);
    if (*scanner->at == close)
        step(scanner);
}

static int count_items(const cJSON *item)
{
    int n = 1;

    for (const cJSON *child = item->child; child; child = child->next)
        n += count_items(child);
    return n;
}

static int by_address(const void *a, const void *b)
{
    const cJSON *x = ((const struct json_place *)a)->item,
                *y = ((const struct json_place *)b)->item;

    return (x > y) - (x < y);
}

static const struct json_place *find_place(const struct json_file *json, const cJSON *item)
{
    const struct json_place key = { .item = item };

    return bsearch(&key, json->places, (size_t)json->n_places, sizeof key, by_address);
}

struct source json_source(const struct json_file *json, const cJSON *item)
{
    const struct json_place *place = find_place(json, item);

    return (struct source){ json->name, place->line, place->column,
                            cJSON_IsString(item) ? json->text + place->offset : NULL };
}

struct source json_key_source(const struct json_file *json, const cJSON *item)
{
    const struct json_place *place = find_place(json, item);

    if (!item->string)
        return json_source(json, item);
    return (struct source){ json->name, place->key_line, place->key_column, NULL };
}

/* cJSON keeps both members of two with one key and finds the first. */
static void refuse_doubles(struct json_file *json, const cJSON *object)
{
    struct map seen = { .arena = &json->ctx->scratch };

    for (const cJSON *child = object->child; child; child = child->next) {
        if (child->string && map_get(&seen, child->string)) {
            const struct source source = json_key_source(json, child);
            const struct source first = json_key_source(json, map_get(&seen, child->string));

            json->failed = true;
            source_error(json->ctx, &source, 0, "the key '%s' is given twice",
                         str_safe(&json->ctx->perm, child->string, 64));
            diag_note(json->ctx, "first in line %d", first.line);
        } else if (child->string) {
            map_set(&seen, child->string, (void *)(uintptr_t)child);
        }
        if (child->child)
            refuse_doubles(json, child);
    }
}

/* Where a key should begin and does not, cJSON stops one byte too late. */
static const char *stop_of(const char *text, const char *end)
{
    const char *last = end - 1, *before = end - 2;

    if (end - text < 2 || (unsigned char)*last <= ' ' || *last == '"')
        return end;
    while (before > text && (unsigned char)*before <= ' ')
        before--;
    return *before == ',' || (*before == '{' && *last != '}') ? last : end;
}

static bool syntax_error(struct json_file *json, const char *end)
{
    struct scanner scanner = { json, json->text, json->text, 1 };

    while (scanner.at < end && *scanner.at)
        step(&scanner);
    place_error(json, scanner.line, column(&scanner),
                *scanner.at
                    ? arena_printf(&json->ctx->perm, "malformed JSON at '%s'",
                                   str_safe(&json->ctx->perm,
                                            arena_strndup(&json->ctx->perm, scanner.at, 1), 8))
                    : "malformed JSON: the text ends too early");
    diag_help(json->ctx, "JSON has neither comments nor commas behind the last element, and at "
                         "most 1000 levels of brackets");
    return false;
}

bool json_open(struct ctx *ctx, const char *name, const char *text, struct json_file *out)
{
    struct scanner scanner = { out, text, text, 1 };
    const char *end = text;

    *out = (struct json_file){ .ctx = ctx, .name = name, .text = text };
    out->root = cJSON_ParseWithLengthOpts(text, strlen(text) + 1, &end, true);
    if (!out->root)
        return syntax_error(out, stop_of(text, end));
    if (str_starts(text, "\xEF\xBB\xBF"))
        scanner.at = scanner.line_start = text + 3;
    out->places = arena_array(&ctx->perm, struct json_place, count_items(out->root));
    place_item(&scanner, out->root);
    qsort(out->places, (size_t)out->n_places, sizeof *out->places, by_address);
    refuse_doubles(out, out->root);
    return !out->failed;
}

void json_close(struct json_file *json)
{
    cJSON_Delete(json->root);
    json->root = NULL;
}
