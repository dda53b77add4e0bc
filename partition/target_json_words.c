/* target_json_words.c - names, element types, operators and files in a target.json. */
#include <string.h>

#include "base/str.h"
#include "partition/target_json.h"

static const char *safe(struct loader *loader, const char *text)
{
    return str_safe(&loader->ctx->perm, text, 64);
}

const char *target_json_name(struct loader *loader, const cJSON *object, const char *whose)
{
    const char *name = json_get_text(&loader->json, object, "name");

    if (!json_get(object, "name"))
        json_error(&loader->json, object, "%s has no name", whose);
    if (!name || is_identifier(name))
        return name;
    json_error(&loader->json, json_get(object, "name"), "'%s' is not a name for %s",
               safe(loader, name), whose);
    diag_help(loader->ctx, "letters, digits and '_', at most 64, no digit first");
    return NULL;
}

enum dtype target_json_dtype(struct loader *loader, const cJSON *item, const char *text)
{
    const enum dtype dtype = text ? dtype_from_name(text) : DTYPE_NONE;
    const char *names[DTYPE_COUNT];
    size_t n = 0;

    if (!text || dtype != DTYPE_NONE)
        return dtype;
    for (int i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++)
        names[n++] = dtype_name((enum dtype)i);
    json_error(&loader->json, item, "unknown element type '%s'", safe(loader, text));
    json_help_nearest(loader->ctx, text, names, n);
    return DTYPE_NONE;
}

enum op target_json_op(struct loader *loader, const cJSON *item)
{
    const char *text = json_item_text(&loader->json, item);
    const char *names[2 * OP_COUNT];
    enum op op = text ? op_from_name(text) : OP_COUNT;
    size_t n = 0;

    if (op == OP_COUNT && text)
        op = op_from_name(arena_printf(&loader->ctx->perm, "nn.%.64s", text));
    if (op != OP_COUNT || !text)
        return op;
    for (int i = 0; i < OP_COUNT; i++) {
        names[n++] = op_name((enum op)i);
        if (str_starts(op_name((enum op)i), "nn."))
            names[n++] = op_name((enum op)i) + 3;
    }
    json_error(&loader->json, item, "unknown operator '%s'", safe(loader, text));
    if (strlen(text) <= 64 && str_nearest(text, names, n))
        diag_help(loader->ctx, "did you mean '%s'?", str_nearest(text, names, n));
    else
        diag_help(loader->ctx, "relay_ir/ops.def and docs/guide/operators.md have all operators");
    return OP_COUNT;
}

bool is_file_name(const char *name)
{
    if (*name == '.' || *name == '-' || *name == '\0' || strlen(name) > 128)
        return false;
    for (; *name; name++)
        if (!(*name >= 'a' && *name <= 'z') && !(*name >= 'A' && *name <= 'Z') &&
            !(*name >= '0' && *name <= '9') && !strchr("_.-+", *name))
            return false;
    return true;
}

static const char *target_json_file(struct loader *loader, const cJSON *item, const char *name)
{
    const char *reason = "no such file";
    const char *text;

    if (!is_file_name(name)) {
        json_error(&loader->json, item, "'%s' is not a plain file name", safe(loader, name));
        diag_help(loader->ctx,
                  "letters, digits and any of _ . - +; the file is in the target's folder itself");
        return NULL;
    }
    if (map_get(&loader->texts, name))
        return map_get(&loader->texts, name);
    text = loader->folder->read(loader->folder->user, name, &reason);
    map_set(&loader->texts, name, (void *)(uintptr_t)text);
    if (text)
        return map_get(&loader->texts, name);
    json_error(&loader->json, item, "cannot read '%s': %s", safe(loader, name), reason);
    diag_help(loader->ctx, "files are searched in the folder of %s", loader->json.name);
    return NULL;
}

const char *target_json_file_of(struct loader *loader, const cJSON *object, const char *key)
{
    const char *name = json_get_text(&loader->json, object, key);

    return name ? target_json_file(loader, json_get(object, key), name) : NULL;
}

int target_json_files(struct loader *loader, const cJSON *list, const char ***names,
                      const char ***texts)
{
    struct map seen = { .arena = &loader->ctx->scratch };
    const size_t most = (size_t)cJSON_GetArraySize(list);
    int n = 0;

    *names = arena_array(&loader->ctx->perm, const char *, most);
    *texts = arena_array(&loader->ctx->perm, const char *, most);
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next) {
        const char *name = json_item_text(&loader->json, item);
        const char *text;

        if (!name)
            continue;
        if (map_get(&seen, name)) {
            json_error(&loader->json, item, "'%s' is given twice", name);
            continue;
        }
        map_set(&seen, name, (void *)(uintptr_t)name);
        text = target_json_file(loader, item, name);
        if (text) {
            (*names)[n] = name;
            (*texts)[n++] = text;
        }
    }
    return n;
}
